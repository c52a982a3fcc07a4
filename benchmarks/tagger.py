"""Named entities of WNUT 2017: a tagger from a pretrained encoder for so many minutes, beside a conditional random field with the shapes of words.

    python benchmarks/tagger.py FOLDER --seed 0 --minutes 15         # one line of JSON: span F1 on `valid`, as seqeval counts it
    python benchmarks/tagger.py FOLDER --seed 1 --out tagger.jsonl   # append it to a file as well
    python benchmarks/tagger.py FOLDER --what crf                    # the baseline; python-crfsuite, of the extra `bench`

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it); the data are `train.conll` and `valid.conll` in fastai's data folder, under `wnut17`.
All weights are trained at once, the lower blocks with smaller learning rates; these follow the clock, so that training ends with the minutes. Nothing is tuned on `valid`,
which is used once, at the end.

A minute is one of processor time: that of this process, divided by `--threads`. On a machine that others use, too, training gets as far as it would alone;
`seconds` are wall-clock time, from the data to the result.
"""
import json, time
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *

class ByTheClock(Callback):
    "One cycle of the learning rate in `minutes` of processor time of each of `threads`, then training ends"
    def __init__(self, minutes, threads, warm=.1): store_attr()
    def before_fit(self):
        self.start,self.most,self.n = time.process_time(),[o['lr'] for o in self.opt.hypers],0
        self.at = combined_cos(self.warm, .04, 1, 1e-3)
    def before_batch(self):
        done = (time.process_time()-self.start)/self.threads/60/self.minutes
        if done>=1: raise CancelFitException()
        for o,lr in zip(self.opt.hypers, self.most): o['lr'] = lr*float(self.at(done))
    def after_batch(self): self.n += 1

def read(path):
    parts = {o: read_conll(path/f'{o}.conll') for o in ('train','valid')}
    return pd.concat([o.assign(is_valid=n=='valid') for n,o in parts.items()], ignore_index=True)

def tagger(folder, df, seed, minutes, lr, lr_mult, bs, dropout, threads):
    "Span F1 of a tagger, its accuracy and loss, and its epochs of training"
    set_seed(seed, reproducible=True)
    pre = load_pretrained(folder)
    dls = TagDataLoaders.from_df(df, valid_col='is_valid', tok_tfm=pre.tokenizer, bs=bs,
                                 tag_vocab=sorted(set(df.tags.explode())), num_workers=0)
    learn = transformer_tagger_learner(dls, pretrained=pre, dropout=dropout, head_dropout=dropout,
                                       metrics=[SpanF1(), TagAccuracy()])
    learn.unfreeze()
    clock = ByTheClock(minutes, threads)
    with learn.no_bar(), learn.no_logging():
        learn.dls.valid,valid = learn.dls.valid.new(dls.valid_ds.new_empty()),learn.dls.valid
        learn.fit(10_000, slice(lr/lr_mult, lr), cbs=clock)
        loss,f1,acc = learn.validate(dl=valid)
    return dict(f1=f1, accuracy=acc, loss=loss, epochs=clock.n/len(dls.train))

def shape(word):
    "A word's shape: `Xxx-99`, runs cut to three"
    for a,b in (('[A-Z]','X'), ('[a-z]','x'), ('[0-9]','9')): word = re.sub(a, b, word)
    return re.sub(r'(.)\1{3,}', r'\1\1\1', word)

def features(words):
    "The features of each word for the baseline: itself, its beginning and end, its shape, and those of its neighbors"
    def of(w): return [w.lower(), shape(w), f'<{w[:3].lower()}', f'{w[-3:].lower()}>']
    own = [of(w) for w in words]
    near = [('-1',-1), ('+1',1)]
    return [[*(f'{i}={o}' for i,o in enumerate(own[j])), 'bias',
             *(f'{n}{i}={o}' for n,d in near if 0<=j+d<len(words) for i,o in enumerate(own[j+d]))]
            for j in range(len(words))]

def crf(df):
    "Span F1 of a conditional random field"
    import pycrfsuite
    trainer = pycrfsuite.Trainer(verbose=False)
    for o in df[~df.is_valid].itertuples(): trainer.append(features(o.words), o.tags)
    trainer.set_params({'c1':.1, 'c2':.01, 'max_iterations':200, 'feature.possible_transitions':True})
    file = Path(tempfile.mkdtemp())/'crf'
    trainer.train(str(file))
    model = pycrfsuite.Tagger(); model.open(str(file))
    valid = df[df.is_valid]
    true,said = ({(i,*s) for i,o in enumerate(its) for s in tag_spans(o)}
                 for its in (valid.tags, [model.tag(features(o)) for o in valid.words]))
    return dict(f1=2*len(true & said)/(len(true)+len(said)))

@call_parse
def main(
    folder:str, # Folder of the checkpoint
    what:str='tagger', # 'tagger', or 'crf' for the baseline
    seed:int=0, # Seed of all that is random
    minutes:float=15, # Time to train
    lr:float=4e-4, # Highest learning rate of the head
    lr_mult:float=5., # That of the embedding is so many times smaller
    bs:int=16, # Texts in a batch
    dropout:float=.1, # Dropout
    threads:int=2, # Threads for torch
    out:str=None, # A file to which the line is appended
):
    "Print the span F1 on `valid`"
    torch.set_num_threads(threads)
    df,start = read(fastai_cfg().path('data')/'wnut17'),time.time()
    args = dict(what=what) if what=='crf' else dict(what=what, seed=seed, minutes=minutes, lr=lr, lr_mult=lr_mult,
                                                    bs=bs, dropout=dropout, threads=threads)
    res = crf(df) if what=='crf' else tagger(folder, df, **{n: o for n,o in args.items() if n!='what'})
    line = json.dumps(args | {n: round(o, 4) for n,o in res.items()} | dict(seconds=round(time.time()-start)))
    print(line)
    if out:
        with open(out, 'a') as f: print(line, file=f)
