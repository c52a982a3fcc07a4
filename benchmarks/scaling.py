"""How large should a model be? Losses of seven sizes of a language model of characters, 10,000 to 3 million weights, on an eighth to all of tiny Shakespeare, which
the page *How large should it be* fits and draws.

    python benchmarks/scaling.py OUT.jsonl --seeds 2                                  # half an hour on a core of its own
    python benchmarks/scaling.py OUT.jsonl --widths 16,64,160 --parts .125 --epochs 8   # as many characters, but the same eighth eight times
    python benchmarks/scaling.py OUT.jsonl --widths 32,64 --parts 1 --epochs 4          # all of them four times; 32 also with --epochs 7
    python benchmarks/scaling.py RATES.jsonl --parts .25 --factors .3,1,3             # is the learning rate right?

One line of JSON is appended for each run, and a run that is there already is not repeated. A part of the text is its beginning; the last tenth of all of it is for validation.
Seconds are those of the processor (one thread) for training alone. Widths grow, the depth stays 3, and the learning rate falls with the root of the width.
"""
import json, time
from datetime import date
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *

def one(k, part, epochs, factor, seed, text, seq_len=128, bs=8, depth=3):
    "Train a model of width `k` for `epochs` on a part of the text, and describe it"
    set_seed(seed)
    tok,train = CharTokenizer(),int(.9*len(text))
    df = pd.DataFrame(dict(text=[text[:int(train*part)], text[train:]], is_valid=[False,True]))
    dls = TextDataLoaders.from_df(df, text_col='text', valid_col='is_valid', is_lm=True, tok_tfm=tok, seq_len=seq_len, bs=bs, num_workers=0,
                                  text_vocab=tok.make_vocab(Counter(first(tok([text])))))  # a part of the text has the vocabulary of all
    lm = transformer_lm_learner(dls, k=k, heads=k//16, depth=depth, max_len=seq_len, pos_cls=RotaryPositions, dropout=0., cbs=GradientClip(1.))
    lr = factor*.04/k**.5
    with lm.no_bar(), lm.no_logging():
        start = time.process_time()
        lm.fit_one_cycle(epochs, lr, pct_start=.1, cbs=SkipValidation())
        secs = time.process_time()-start
        loss,train_loss = lm.validate()[0],lm.validate(0)[0] if epochs>1 else None
    return dict(k=k, part=part, epochs=epochs, factor=factor, seed=seed, weights=sum(p.numel() for p in lm.model.parameters()),
                tokens=epochs*len(dls.train)*bs*seq_len, lr=round(lr, 5), loss=round(loss, 4), train_loss=train_loss and round(train_loss, 4),
                secs=round(secs, 1), torch=torch.__version__, date=str(date.today()))

def numbers(s, kind=float): return [kind(o) for o in s.split(',')]

@call_parse
def main(
    out:str, # File to append to
    widths:str='16,32,64,96,128,160,288', # Widths of the vectors, multiples of 16, with commas
    parts:str='.125,.25,.5,1', # Shares of the text to train on
    epochs:int=1, # How often it is read
    factors:str='1', # Multiples of the learning rate
    seeds:int=1, # Number of seeds
):
    "Append a line of JSON for each model"
    torch.set_num_threads(1)
    text,out = (fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8'),Path(out)
    keys = 'k','part','epochs','factor','seed'
    done = {tuple(json.loads(o)[k] for k in keys) for o in out.read_text().splitlines()} if out.exists() else set()
    for part,k,factor,seed in itertools.product(numbers(parts), numbers(widths, int), numbers(factors), range(seeds)):
        if (k,part,epochs,factor,seed) in done: continue
        with out.open('a') as f: print(json.dumps(one(k, part, epochs, factor, seed, text)), file=f)
