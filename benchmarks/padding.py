"""What is left of padding: the share of real tokens in the batches of IMDB, sorted as fastai sorts them, and in random order.

    python benchmarks/padding.py
"""
from fastai.text.all import *
from fastai.text.core import fn_lengths_pkl
from fastcore.script import call_parse

def share(lens, batches, max_len):
    "Real tokens / all tokens, texts cut to `max_len`"
    cut = [np.minimum(lens[b], max_len) for b in batches]
    return sum(o.sum() for o in cut)/sum(o.max()*len(o) for o in cut)

@call_parse
def main():
    "Print a table of shares"
    set_seed(0)
    path = untar_data(URLs.IMDB)
    TextDataLoaders.from_folder(path, valid='test')  # tokenizes, once
    lens = {n: np.array([o for f,o in load_pickle(path.parent/'imdb_tok'/fn_lengths_pkl).items()
                         if str(f).startswith(n)]) for n in ('train','test')}
    print('| texts in a batch | cut to | training | validation | random order '
          '|\n|---|---|---|---|---|')
    for bs in (16,32,64):
        def sort(l, shuffle):
            return [np.array(o) for o in chunked(SortedDL(range(len(l)), res=list(l), bs=bs,
                                                          shuffle=shuffle).get_idxs(), bs)]
        kinds = [(lens['train'],sort(lens['train'], True)),
                 (lens['test'],sort(lens['test'], False)),
                 (lens['train'],[np.array(o)
                                 for o in chunked(np.random.permutation(len(lens['train'])),
                                                  bs)])]
        for t in (256,512,1024):
            print(f"| {bs} | {t:,} | " + ' | '.join(f'{share(l, b, t):.1%}' for l,b in kinds)
                  + ' |')
