"""Where does a transformer from scratch pay off? Questions (`trec`) and sentences of film reviews (`mr`): a bag of n-grams, a transformer, and both in one model.

    python benchmarks/short_texts.py trec --seeds 3      # a tenth held out, sampled by the seed
    python benchmarks/short_texts.py mr --seeds 1 --first 10
    python benchmarks/short_texts.py mr --labels 100 --encoder output/imdb/hour-0/models/reader.safetensors   # from an encoder of `imdb.py`

Prints a line of JSON for each seed. Nothing was tuned on these figures but the bag's `scale` and rate, on seed 10.
"""
import json, sys, time
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), *(str(Path(__file__).parent.parent/o) for o in ('examples',''))]
from bag import table
from gated_bag import add_bag
from train_step import cpu
from transformers_from_scratch.all import *

@call_parse
def main(
    data:str, # 'mr' or 'trec'
    seeds:int=3, # Runs
    first:int=0, # The first seed
    k:int=128, # Width
    depth:int=2, # Blocks
    epochs:int=10, # Epochs of the transformer
    lr:float=1e-3, # Its highest learning rate
    word_dropout:float=.2, # Share of the words that are dropped
    labels:int=0, # Labels to train on, sampled by the seed; 0 is all
    encoder:str='', # The file of a pretrained encoder; its sizes replace `k` and `depth`
    threads:int=1, # Threads for torch
):
    "Print accuracies in percent, and seconds"
    torch.set_num_threads(threads)
    said = dict(locals())
    for seed in range(first, first+seeds):
        set_seed(seed)
        df = table(data, False, seed)
        if labels: df = pd.concat([df[~df.is_valid].sample(labels, random_state=seed), df[df.is_valid]], ignore_index=True)
        sizes,vocab = dict(k=k, heads=4, depth=depth, max_len=128),dict(min_freq=2)
        if encoder:
            about = read_description(Path(encoder))
            sizes |= {n: about.encoder[n] for n in ('k','heads','depth')} | dict(attn_cls=SelfAttentionAutoRegressive)
            vocab = dict(text_vocab=about.vocab)
        dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=16 if labels else 32,
                                      num_workers=0, device='cpu', **vocab)
        bags = dict(scale=.03, lr=1e-2, metrics=accuracy)
        right,seconds = {},{}
        for what in ('bag','transformer','both'):
            set_seed(seed)
            start = time.time()
            if what=='bag': learn = bag_learner(dls, **bags)
            else:
                learn = transformer_classifier_learner(dls, pool=mean_max_pool, word_dropout=word_dropout, metrics=accuracy, **sizes)
                if encoder: learn.load_encoder(Path(encoder).absolute()).unfreeze()
            with learn.no_bar(), learn.no_logging():
                if what=='both': add_bag(learn, epochs=3, **bags)
                if what=='bag': learn.fit_one_cycle(3)
                else: learn.fit_one_cycle(epochs, lr)
                right[what],seconds[what] = round(100*learn.validate()[1], 2),round(time.time()-start, 1)
        print(json.dumps(dict(said, first=None, seeds=None, seed=seed, right=right, seconds=seconds, texts=len(dls.train_ds), held_out=len(dls.valid_ds),
                              cpu=cpu(), date=str(date.today()))), flush=True)
