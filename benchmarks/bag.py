"""The accuracy of a bag of n-grams on IMDB, `mr` and `trec`: after counting alone, and after each epoch; and the seconds of reading, counting and training.

    python benchmarks/bag.py imdb                 # the films of a fifth of the training reviews held out
    python benchmarks/bag.py imdb --final         # all training reviews; the test reviews are used once, after the last epoch
    python benchmarks/bag.py trec --seed 1        # a tenth held out, sampled by the seed
    python benchmarks/bag.py trec --labels 150 --n-grams 1 --epochs 20 --lr 3e-2 --bs 16 --tok fastai     # few short texts

Prints a line of JSON. `--tok words` is lower-cased words and signs, `fastai` its own tokenizer, `subwords` an `ExactSubwordTokenizer` of 30,000 pieces.
"""
import json, re, sys, time
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parent.parent/o) for o in ('examples',''))]
import imdb
from train_step import cpu
from transformers_from_scratch.all import *

class Words:
    "Lower-cased words and signs"
    rules = []
    def __call__(self, items): return (re.findall(r'\w+|[^\w\s]', str(o).replace('<br />', ' ').lower()) for o in items)

toks = dict(fastai=lambda: None, words=Words,
            subwords=lambda: ExactSubwordTokenizer(30_000))

def table(data, final, seed):
    "Columns `text`, `label`, `is_valid`"
    if data!='imdb':
        df = pd.read_csv(Path.home()/f'.fastai/data/{data}/train.csv')
        return df.assign(is_valid=np.random.RandomState(seed).permutation(len(df))<len(df)//10)
    return imdb.table(untar_data(URLs.IMDB), ['train','test'], 0. if final else .2)

@call_parse
def main(
    data:str, # 'imdb', 'mr' or 'trec'
    tok:str='words', # 'words', 'fastai' or 'subwords'
    final:bool=False, # Evaluate on the test reviews, once?
    epochs:int=1, # Epochs, after counting
    lr:float=None, # Learning rate; None: that of `bag_learner`
    n_grams:int=3, # Words in the longest n-gram
    scale:float=None, # As in `bag_learner`
    bs:int=64, # Texts in a batch
    labels:int=0, # Labels to train on, sampled by the seed; 0 is all
    threads:int=1, # Threads for torch
    seed:int=0, # Seed of the order, and of what is held out
):
    "Print accuracies in percent, and seconds"
    torch.set_num_threads(threads)
    said,start,seconds = dict(locals()),time.time(),{}
    said.pop('threads')
    def took(what):
        nonlocal start
        seconds[what],start = round(time.time()-start, 1),time.time()
    df = table(data, final, seed)
    if labels: df = pd.concat([df[~df.is_valid].sample(labels, random_state=seed), df[df.is_valid]], ignore_index=True)
    start = time.time()
    set_seed(seed)
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=bs, val_bs=64,
                                  tok_tfm=toks[tok](), max_vocab=10**6, min_freq=2, num_workers=0, device='cpu')
    took('reading')
    more = {n: o for n,o in dict(lr=lr, scale=scale).items() if o is not None}
    learn = bag_learner(dls, n_grams=n_grams, metrics=accuracy, **more)
    took('counting')
    res = []
    with learn.no_bar(), learn.no_logging():
        if not final: res.append(learn.validate())
        took('validating')
        learn.fit_one_cycle(epochs, cbs=SkipValidation() if final else [])
        took('training')
        if final: res.append(learn.validate())
        else: res += [o[1:] for o in learn.recorder.values]
    print(json.dumps(dict(said, rows=learn.model.n_rows, texts=len(dls.train_ds), held_out=len(dls.valid_ds),
                          accuracy=[round(100*o[1], 2) for o in res], loss=[round(o[0], 4) for o in res], seconds=seconds,
                          threads=threads, cpu=cpu(), date=str(date.today()))), flush=True)
