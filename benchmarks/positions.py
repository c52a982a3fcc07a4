"""Which positions should a classifier have? The same models with learned, rotary and sinusoidal ones, on questions, sentences and reviews.

    python benchmarks/positions.py            # an hour on one core; TREC, MR and IMDB are expected in fastai's data folder
"""
import json, time, warnings
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *

sets = dict(trec=(6, 64, 24), mr=(4, 64, 64), imdb=(3, 24, 256))  # epochs, texts in a batch, longest text in tokens

def read(name):
    "A table of texts and labels; of IMDB 5,000 training reviews"
    path = fastai_cfg().path('data')/name
    if name!='imdb': return pd.read_csv(path/'train.csv')
    files = concat(*((path/'train'/o).ls().sorted()[:2500] for o in ('neg','pos')))
    df = pd.DataFrame(dict(text=[o.read_text() for o in files], label=[o.parent.name for o in files]))
    return df.sample(frac=1, random_state=0).reset_index(drop=True)

@call_parse
def main(seeds:int=3): # Number of seeds: each has different initial weights and a different fifth held out
    warnings.simplefilter('ignore')
    torch.set_num_threads(1)
    for (name,(epochs,bs,max_len)),seed in itertools.product(sets.items(), range(seeds)):
        set_seed(seed)
        dls = TextDataLoaders.from_df(read(name), text_col='text', label_col='label', valid_pct=.2, seed=seed, bs=bs)
        for cls in (LearnedPositions, RotaryPositions, SinusoidalPositions):
            set_seed(seed)
            learn = transformer_classifier_learner(dls, k=128, heads=4, depth=2, max_len=max_len, pos_cls=cls, metrics=accuracy)
            start = time.time()
            with learn.no_bar(), learn.no_logging(): learn.fit_one_cycle(epochs, 1e-3)
            _,loss,right = learn.recorder.values[-1]
            print(json.dumps(dict(data=name, seed=seed, pos=cls.__name__, loss=loss, right=right, secs=time.time()-start)), flush=True)
