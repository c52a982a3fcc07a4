"""What is left of padding: the share of real tokens in the batches of IMDB, TREC and MR, sorted as fastai sorts them, and in random order.

    python benchmarks/padding.py            # of IMDB every fifth review of `train`
"""
from fastai.text.all import *
from fastcore.script import call_parse

def share(lens, batches, max_len):
    "Real tokens / all tokens, texts cut to `max_len`"
    cut = [np.minimum(lens[b], max_len) for b in batches]
    return sum(o.sum() for o in cut)/sum(o.max()*len(o) for o in cut)

def texts(name):
    "The texts of a data set in fastai's folder"
    folder = fastai_cfg().path('data')/name
    if name!='imdb': return pd.read_csv(folder/'train.csv').text
    return pd.Series([o.read_text(encoding='utf8') for o in get_text_files(folder, folders=['train']).sorted()[::5]])

@call_parse
def main():
    "Print a table of shares"
    set_seed(0)
    print('| data | texts in a batch | cut to | training | validation | random order |\n|---|---|---|---|---|---|')
    for name in ('imdb','trec','mr'):
        lens = np.array([len(o) for _,o in parallel_tokenize(texts(name).tolist(), WordTokenizer(), defaults.text_proc_rules, n_workers=2)])
        def batches(idxs, bs): return [np.array(o) for o in chunked(idxs, bs)]
        for bs,t in [(bs,t) for bs in (16,32,64,128) for t in ((256,512,1024) if name=='imdb' else (512,))]:
            kinds = [SortedDL(range(len(lens)), res=list(lens), bs=bs, shuffle=o).get_idxs() for o in (True,False)]
            kinds.append(np.random.permutation(len(lens)))
            print(f'| {name} | {bs} | {t:,} | ' + ' | '.join(f'{share(lens, batches(o, bs), t):.1%}' for o in kinds) + ' |', flush=True)
