"""Write the pages that run in the docs, nbs/images/pages, from IMDB and TREC in fastai's data folder: `python tools/live_pages.py`.

With a file, `python tools/live_pages.py imdb.html`, write one page of all of IMDB's bag instead. A few minutes either way."""
import sys
from pathlib import Path
from transformers_from_scratch.all import *

data, here = fastai_cfg().path('data'), Path(__file__).resolve().parent.parent/'nbs/images/pages'

def reviews():
    "IMDB: what was trained on, and the test reviews for comparison"
    files = [o for part in ('train', 'test') for kind in ('neg', 'pos') for o in sorted((data/'imdb'/part/kind).glob('*.txt'))]
    rows = [(o.read_text(encoding='utf8').replace('<br />', ' '), o.parent.name, o.parts[-3]=='test') for o in files]
    return pd.DataFrame(rows, columns=['text', 'label', 'is_valid'])

def questions():
    "TREC, a fifth of it for comparison, with the names of its classes"
    names = dict(ABBR='abbreviation', DESC='description', ENTY='thing', HUM='person', LOC='place', NUM='number')
    df = pd.read_csv(data/'trec'/'train.csv')
    return df.assign(label=df.label.astype(str).replace(names), is_valid=np.random.default_rng(0).random(len(df))<.2)

def trained(df, epochs, scale=.01, **kwargs):
    set_seed(42)
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', tok_tfm=PatternTokenizer(),
                                  num_workers=0, **kwargs)
    learn = bag_learner(dls, scale=scale, metrics=accuracy)
    learn.fit_one_cycle(epochs)
    return learn

if __name__=='__main__':
    review = 'I was bored at first, but what a wonderful cast: a clever and moving film, one of the best I have seen.'
    if len(sys.argv)>1:
        export_page(trained(reviews(), 1, bs=64), sys.argv[1], 'Sentiment of a film review', review)
    else:
        export_page(trained(reviews(), 1, bs=64, max_vocab=10_000), here/'sentiment.html', 'Sentiment of a film review', review,
                    n_phrases=50_000, min_same=.95)
        export_page(trained(questions(), 3, scale=.3, bs=64, min_freq=1), here/'questions.html', 'What does this question ask for?',
                    'Who was the first person on the moon?', n_valid=2000, min_same=.98)
