"""From texts to trained transformers, three times, in about four minutes on two CPU cores.

    python examples/demo.py               # or: make demo

First on generated reviews in which the order of the words decides, then on the 1,000 reviews of fastai's IMDB_SAMPLE,
if they are on disk or can be fetched within five seconds. Both times a bag-of-words logistic regression is trained on
the same reviews: on the first set it can't win, on the second it is hard to beat. Then a language model is trained on
the reference of the Python language that every Python ships, and generates text. The results are saved in `output/`.
"""
import os; os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # before PyTorch is there: its threads sleep while they wait, so that other programs slow them less
import matplotlib; matplotlib.use('Agg')
import gzip, io, tarfile, time, urllib.request
from pydoc_data.topics import topics
from fastai.text.all import *
from fastcore.script import call_parse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from transformers_from_scratch.all import *

def fetch(url, secs):
    "The contents of `url`; an `OSError` if they have not arrived within `secs` seconds, or not all of them"
    deadline,data = time.monotonic()+secs,b''
    with urllib.request.urlopen(url, timeout=secs) as response:
        size = int(response.headers['Content-Length'] or 0)
        while chunk := response.read1(1<<16):  # `read` would wait until all of it is there
            data += chunk
            if time.monotonic()>deadline: raise TimeoutError(f'it took longer than {secs} seconds')
    if len(data)<size: raise OSError(f'only {len(data)} of {size} bytes arrived')
    return data

def imdb_sample(secs=5):
    "IMDB_SAMPLE as a DataFrame: from the disk, or else from the network within `secs` seconds, or else None"
    try:
        texts = fastai_cfg().path('data')/'imdb_sample'/'texts.csv'
        if there := texts.exists(): data = texts.read_bytes()
        else:
            tar = gzip.decompress(fetch(URLs.IMDB_SAMPLE, secs))
            with tarfile.open(fileobj=io.BytesIO(tar), mode='r:') as archive:
                data = archive.extractfile({Path(o.name).name: o
                                            for o in archive}['texts.csv']).read()
        df = pd.read_csv(io.BytesIO(data))[['label', 'text', 'is_valid']]
        if not there:  # only what could be read is kept
            texts.parent.mkdir(parents=True, exist_ok=True)
            (part := texts.with_suffix('.part')).write_bytes(data)
            part.replace(texts)
    except Exception as e:  # whatever it is, the demo can do without them
        return print(f'\nIMDB_SAMPLE: left out, since it could not be fetched ({type(e).__name__}: '
                     f'{str(e).strip()})')
    print(f'\nIMDB_SAMPLE: {"found in" if there else "fetched into"} {texts.parent}')
    return df

def bag_of_words(df, valid=None):
    "Accuracy of a logistic regression on the counts of the words, on the same split"
    train,valid = df[~df.is_valid],ifnone(valid, df[df.is_valid])
    model = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(train.text,
        train.label)
    return model.score(valid.text, valid.label)

def train(title, df, epochs, lr, **model):
    "Train a classifier on `df`, compare it, and return its Learner with its training curves"
    print(f'\n{title}: {(~df.is_valid).sum()} reviews to train on, '
          f'{df.is_valid.sum()} to validate on')
    set_seed(42)
    dls = TextDataLoaders.from_df(df, path='output', text_col='text', label_col='label',
                                  valid_col='is_valid', bs=32)
    learn = transformer_classifier_learner(dls, metrics=accuracy, **model)
    start = time.time()
    learn.fit_one_cycle(epochs, lr)
    # kept here, since `predict` empties the recorder
    learn.curves = np.array(learn.recorder.values)
    n_params = sum(p.numel() for p in learn.model.parameters())
    print(f'  transformer       accuracy {learn.curves[-1,2]:6.1%}   '
          f'({time.time()-start:.0f} s of training, {n_params:,} parameters)')
    print(f'  bag of words      accuracy {bag_of_words(df):6.1%}')
    return learn

def reference():
    "Python's own reference, a row for each topic, split so that no paragraph is in both parts"
    paragraphs = {topic: {' '.join(p.split()) for p in text.split('\n\n') if len(p.split())>=8} for topic,text in topics.items()}
    count = Counter(p for ps in paragraphs.values() for p in ps)
    alone = [topic for topic,ps in paragraphs.items() if all(count[p]==1 for p in ps)]
    valid = sorted(alone, key=lambda o: (-len(topics[o]), o))[1::4]
    return pd.DataFrame([(text, topic in valid) for topic,text in topics.items()], columns=['text', 'is_valid'])

def write():
    "Train a language model on the reference of the Python language, generate text, and return its Learner"
    print("\nA language model of Python's own reference:")
    set_seed(42)
    dls = TextDataLoaders.from_df(reference(), path='output', text_col='text',
                                  valid_col='is_valid', is_lm=True, bs=16, seq_len=64)
    learn = transformer_lm_learner(dls, k=128, heads=4, depth=2, max_len=128,
                                   pos_cls=RotaryPositions, metrics=[accuracy, Perplexity()])
    start = time.time()
    learn.fit_one_cycle(8, 3e-3)
    print(f'  {time.time()-start:.0f} s of training, vocabulary of '
          f'{len(dls.vocab):,}; if every word were equally likely, '
          f'the perplexity would be {len(dls.vocab):,}')
    for text in ('The import statement', 'If the class', 'A list is'):
        text = learn.predict(text, 25, temperature=0.5, top_p=0.9, seed=0, no_bar=True,
                             decoder=join_words)
        print('  …', ' '.join(text.split()))
    return learn

def plot_curves(learners, fname):
    "Loss and accuracy by epoch, one row a Learner"
    fig,axs = plt.subplots(len(learners), 2, figsize=(9, 3*len(learners)), squeeze=False,
                           layout='constrained')
    for (title,learn),(left,right) in zip(learners.items(), axs):
        epochs = range(1, len(learn.curves)+1)
        left.plot(epochs, learn.curves[:,0], label='training')
        left.plot(epochs, learn.curves[:,1], label='validation')
        left.set(title=title, xlabel='epoch', ylabel='loss'); left.legend()
        right.plot(epochs, learn.curves[:,2], color='tab:green')
        right.set(title=title, xlabel='epoch', ylabel='accuracy', ylim=(0.4,1.02))
    fig.savefig(fname, dpi=100)

@call_parse
def main():
    "Train on two sets of reviews, compare with a bag of words, predict, and save"
    out,learners = Path('output'),{}
    out.mkdir(exist_ok=True)
    toy = toy_reviews(3000)
    learners['toy reviews'] = learn = train('toy reviews', toy, epochs=6, lr=2e-3, k=64, heads=4,
                                            depth=2, max_len=64)
    hard = toy[toy.is_valid & toy.hard]
    with learn.no_bar(): preds,_ = learn.get_preds(dl=learn.dls.test_dl(hard.text))
    right = preds.argmax(1) == tensor(hard.label.map(learn.dls.vocab[1].o2i).tolist())
    print(f'  accuracy where the order of the words decides: transformer {right.float().mean():.1%}, '
          f'bag of words {bag_of_words(toy, hard):.1%}')
    if (df := imdb_sample()) is not None:
        learners['IMDB_SAMPLE'] = train('IMDB_SAMPLE', df, epochs=8, lr=2e-3, k=64, heads=1,
                                        depth=1, max_len=256, pool=mean_max_pool, crop=head_tail_crop,
                                        word_dropout=0.4)
        print('  (800 reviews are few for a model trained from scratch; '
              'examples/imdb.py trains on 25,000)')
    lm = write()

    print('\nThree sentences, classified by the model of the toy reviews:')
    for text in ('Not a dull film but a wonderful one.', 'Not a wonderful film but a dull one.',
                 'The story is anything but boring.'):
        with learn.no_bar(): label,_,probs = learn.predict(text)
        print(f'  {text:40} {label} ({probs.max():.0%})')
    for title,learn in (learners | {'language model': lm}).items():
        learn.save_transformer(out/title.replace(' ', '_').lower())
    plot_curves(learners, out/'curves.png')
    made = sorted(f'  {o.name}' for o in out.iterdir() if o.suffix=='.png'
                  or (o/'model.safetensors').exists())
    print('\nSaved in', out.absolute(), *made,
          "Open one with `load_transformer_learner('output/toy_reviews').predict('A dull film.')`.", sep='\n')
