"""A contrastive start on few labels; SetFit's side is `contrastive_setfit.py`, with the same texts and the same weights.

    python benchmarks/contrastive.py FOLDER --data trec --per 8 --seeds 10           # 8 labels of each class, ten draws
    python benchmarks/contrastive.py FOLDER --data trec --labels 100 --seeds 10      # a hundred labels
    python benchmarks/contrastive.py FOLDER --data trec --per 8 --steps 10,20,40     # how many steps?
    python benchmarks/contrastive.py ours.jsonl --beside setfit.jsonl                # a table, paired by draw

One line of JSON for each draw. FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it). Seconds are those of the processor while it trains, so that other programs don't count.
"""
import gc, json, resource, sys, time, warnings
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
sys.path.insert(0, str(Path(__file__).parent))
from few_labels import split, split_each

def dls_of(pre, train, test):
    df = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)], ignore_index=True)
    return TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=64,
                                   tok_tfm=pre.tokenizer, text_vocab=pre.vocab, num_workers=0)

def one(pre, data, per, labels, seed, steps, max_len, n_test, frozen):
    "Train and test on one draw"
    train,test = split_each(data, per, seed) if per else split(data, labels, seed)
    if n_test: test = test.sample(n_test, random_state=0)
    set_seed(seed); gc.collect()  # what the last draw left
    learn = transformer_classifier_learner(dls_of(pre, train, test), pretrained=pre, max_len=max_len, metrics=accuracy)
    learn.remove_cb(ProgressCallback)
    start = time.process_time()
    with learn.no_logging(): learn.fit_head() if frozen else learn.fit_contrastive(steps)
    took = time.process_time()-start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss//1024
    return dict(what='frozen' if frozen else 'fit_contrastive', data=data, per=per, labels=len(train), seed=seed, steps=steps or round(3*len(train)**.5),
                accuracy=round(learn.validate()[1], 4), train_cpu_s=round(took, 1), peak_mb=peak, n_test=len(test))

def compare(ours, theirs):
    "A row for each cell and each setting of SetFit: means, the difference by draw and its standard error, seconds"
    a,b = (pd.read_json(o, lines=True) for o in (ours, theirs))
    keys = ['data','per','labels','seed']
    both = a.merge(b, on=keys, suffixes=('','_2'))
    for key,o in both.groupby(keys[:-1]+['pairs']):
        d = o.accuracy-o.accuracy_2
        print(f'{key[0]:5} {key[2]:4} labels, pairs={key[3]}, {len(o):2} draws: {o.accuracy.mean():.1%} ({o.accuracy_2.mean():.1%}), {d.mean():+.1%} ± {d.sem():.1%}; '
              f'{o.train_cpu_s.mean():.0f} s ({o.train_cpu_s_2.mean():.0f}); {o.peak_mb.max():,} MB ({o.peak_mb_2.max():,})')

@call_parse
def main(
    model:str, # Folder of the checkpoint; with `beside` the lines of ours
    data:str='trec', # 'imdb', 'trec' or 'mr'
    per:int=0, # Labels of each class; 0: `labels` in all
    labels:int=100, # Labels in all, where `per` is 0
    seeds:int=3, # Number of draws
    first:int=0, # The first of them
    steps:str='', # Numbers of steps, with commas; '': that of the library
    max_len:int=128, # Tokens of a text to read
    n_test:int=0, # Held-out texts; 0 is all
    threads:int=1, # Threads for torch
    frozen:bool=False, # Only fit the last layer to frozen vectors?
    beside:str=None, # File with the lines of `contrastive_setfit.py`: compare, and nothing else
):
    "Print a line of JSON for each draw"
    if beside: return compare(model, beside)
    torch.set_num_threads(threads)
    warnings.filterwarnings('ignore')
    pre = load_pretrained(model)
    for seed,n in itertools.product(range(first, first+seeds), [int(o) for o in steps.split(',')] if steps else [None]):
        print(json.dumps(one(pre, data, per, labels, seed, n, max_len, n_test, frozen)), flush=True)
