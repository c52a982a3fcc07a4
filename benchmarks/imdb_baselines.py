"""Baselines on IMDB in the same minutes: the same 25,000 training reviews, the same test reviews.

    python benchmarks/imdb_baselines.py tfidf                   # TF-IDF of words and bigrams, logistic regression
    python benchmarks/imdb_baselines.py nbsvm                   # Naive Bayes weights of words, bigrams and trigrams, logistic regression
    python benchmarks/imdb_baselines.py awd_lstm --minutes 10   # fastai's AWD_LSTM without pretraining

An epoch of AWD_LSTM takes hours on a CPU. So its speed is measured first, and then it is trained for one epoch, with a whole
one-cycle schedule, on as many random reviews as fit into the minutes.
"""
import json, random, re, string, sys, time
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.learner.core import SkipValidation

def reviews(path, folder):
    "Texts and labels"
    files = get_text_files(path, folders=[folder])
    return [o.read_text(encoding='utf8') for o in files],np.array([o.parent.name for o in files])

def tfidf(path):
    "Accuracy and minutes of a logistic regression on TF-IDF of words and bigrams"
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    (x,y),(x_test,y_test) = reviews(path, 'train'),reviews(path, 'test')
    start = time.time()
    model = make_pipeline(TfidfVectorizer(ngram_range=(1,2), min_df=3, sublinear_tf=True),
                          LogisticRegression(C=10, max_iter=1000)).fit(x, y)
    return dict(accuracy=round(model.score(x_test, y_test), 4),
                training_minutes=round((time.time()-start)/60, 2))

def nbsvm(path):
    """Accuracy and minutes of NB-SVM (Wang and Manning, 2012) as it is used for IMDB: which words, bigrams and trigrams are there, times their log count
    ratio, and a linear classifier, whose C a tenth of the training reviews choose; tokens and 800,000 n-grams as in fastai's course of 2017"""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    (x,y),(x_test,y_test) = reviews(path, 'train'),reviews(path, 'test')
    start = time.time()
    split = re.compile(f'([{re.escape(string.punctuation)}“”¨«»®´·º½¾¿¡§£₤‘’])')
    counts = CountVectorizer(ngram_range=(1,3), tokenizer=lambda o: split.sub(r' \1 ', o).split(),
                             token_pattern=None, binary=True, max_features=800_000)
    x = counts.fit_transform(x)
    def ratio(x, positive):
        p,q = (np.asarray(x[o].sum(0))+1 for o in (positive, ~positive))
        return np.log(p/p.sum()) - np.log(q/q.sum())
    def fit(x, y, C):
        r = ratio(x, y=='pos')
        model = LogisticRegression(C=C, solver='liblinear', dual=True, max_iter=200)
        model.fit(x.multiply(r).tocsr(), y)
        return lambda x,y: model.score(x.multiply(r).tocsr(), y)
    held = np.random.RandomState(0).permutation(len(y)) < len(y)//10
    C = max((.01,.1,1.,10.), key=lambda C: fit(x[~held], y[~held], C)(x[held], y[held]))
    score = fit(x, y, C)
    took = (time.time()-start)/60
    return dict(accuracy=round(score(counts.transform(x_test), y_test), 4), C=C,
                training_minutes=round(took, 2))

def awd_lstm(path, minutes, n_check, bs=32):
    "Accuracy of fastai's AWD_LSTM on `n_check` test reviews after `minutes` of training from scratch, and how many reviews it saw in them"
    def learner(n, n_check):
        "For `n` training reviews, padded and sorted as AWD_LSTM needs it"
        pick = lambda folder,n: random.sample(get_text_files(path, folders=[folder]).sorted(), n)
        block = DataBlock(blocks=(TextBlock.from_folder(path, folders=['train'],
                                                        max_vocab=20_000), CategoryBlock),
                          get_y=parent_label, get_items=lambda o: pick('train', n) + pick('test',
            n_check), splitter=GrandparentSplitter(valid_name='test'))
        return text_classifier_learner(block.dataloaders(path, path=path, bs=bs), AWD_LSTM,
                                       pretrained=False, metrics=accuracy)
    def train(learn, lr):
        start = time.time()
        learn.fit_one_cycle(1, lr, cbs=SkipValidation())
        return (time.time()-start)/60
    probe = 6*bs
    n = min(25_000, int(probe*minutes/train(learner(probe, bs), 1e-6)))//bs*bs
    learn = learner(n, n_check)
    minutes = train(learn, 2e-3)
    return dict(accuracy=round(learn.validate()[1], 4),
                checked_on=f'{n_check} of the test reviews', training_minutes=round(minutes, 1),
                reviews_seen=n)

@call_parse
def main(
    what:str, # 'tfidf', 'nbsvm' or 'awd_lstm'
    minutes:float=10., # Minutes of training for 'awd_lstm'
    check:int=320, # Test reviews, sampled at random, to validate 'awd_lstm' on: 2,500 take an hour
    threads:int=2, # Threads for torch
    seed:int=0, # Seed of weights, order and dropout
):
    "Print the accuracy of a baseline on the test reviews"
    torch.set_num_threads(threads); set_seed(seed)
    path = untar_data(URLs.IMDB)
    print(json.dumps(dict(what=what, threads=threads, seed=seed,
                          **(awd_lstm(path, minutes, check) if what=='awd_lstm'
                            else dict(tfidf=tfidf, nbsvm=nbsvm)[what](path)))))
