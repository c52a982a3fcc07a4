"""The same few labels and the same held-out texts for every method, ours or Hugging Face's:

    from few_labels import split
    train,test = split('trec', 100, seed=0)   # data frames with columns text and label

Of TREC and MR a fixed fifth is held out, of IMDB 2,000 reviews of its test set. So a seed changes
the training set, never the test set. Needs pandas and numpy only, as it is imported
in two environments.
"""
import numpy as np, pandas as pd
from pathlib import Path

data = Path.home()/'.fastai'/'data'

def held_out(df):
    "The rows to train on, and the held-out fifth, which is the same for all seeds"
    order = np.random.RandomState(42).permutation(len(df))
    n = len(df)//5
    return df.iloc[order[n:]],df.iloc[order[:n]]

def draw(df, n, seed):
    "`n` random rows of `df` with each label among them, or all rows"
    if n is None: return df
    rng,n_classes = np.random.RandomState(seed),df.label.nunique()
    if not n_classes<=n<=len(df):
        raise ValueError(f'{n} labels of {n_classes} classes, {len(df)} texts')
    while True: # Often once is enough; of TREC a label is in 1.6 % of the rows
        res = df.iloc[rng.permutation(len(df))[:n]]
        if res.label.nunique()==n_classes: return res

def reviews(part, n, seed):
    "`n` random reviews of `part` of IMDB, half of them positive, or all of them"
    rng,rows = np.random.RandomState(seed),[]
    for label in ('neg','pos'):
        files = sorted((data/'imdb'/part/label).glob('*.txt'))
        picked = files if n is None else [files[i] for i in rng.permutation(len(files))[:n//2]]
        rows += [(o.read_text(encoding='utf8'), label) for o in picked]
    return pd.DataFrame(rows, columns=['text','label'])

def split(name, n_labels, seed):
    "`n_labels` (None: all) texts of 'imdb', 'trec' or 'mr' to train on, and those to test on"
    if name=='imdb':
        if n_labels is not None and n_labels%2: raise ValueError('Half of them are of each class')
        train,test = reviews('train', n_labels, seed),reviews('test', 2000, 42)
    else:
        train,test = held_out(pd.read_csv(data/name/'train.csv'))
        train = draw(train, n_labels, seed)
    return train.reset_index(drop=True),test.reset_index(drop=True)

def split_each(name, per, seed):
    "`per` texts of each label of 'imdb', 'trec' or 'mr' to train on, and those to test on"
    if name=='imdb': return split(name, 2*per, seed)
    train,test = held_out(pd.read_csv(data/name/'train.csv'))
    rng = np.random.RandomState(seed)
    rows = [o.iloc[rng.permutation(len(o))[:per]] for _,o in train.groupby('label')]
    return pd.concat(rows).reset_index(drop=True),test.reset_index(drop=True)
