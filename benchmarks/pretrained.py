"""A pretrained encoder on few and many labels, beside its baselines. Hugging Face's side is `pretrained_hf.py`; both are trained on the same labels.

    python benchmarks/pretrained.py FOLDER --data trec --labels 100 --seed 0               # one line of JSON
    python benchmarks/pretrained.py FOLDER --data imdb --labels 100 --epochs 8 --max-len 256 --crop head_tail_crop
    python benchmarks/pretrained.py FOLDER --data imdb --labels 100 --what frozen          # or nothing, tfidf

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it). `--labels 0` takes all. The recipe is fastai's: the head is trained first, then all weights, the lower
blocks with smaller learning rates. `--lora-r 8` trains low-rank updates of the attention instead. Time is that of training alone; the test texts are read once, at the end.
"""
import json, sys, time
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
sys.path.insert(0, str(Path(__file__).parent))
from few_labels import split

def dls_of(pre, train, test, bs):
    df = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)], ignore_index=True)
    return TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid',
                                   tok_tfm=pre.tokenizer, text_vocab=pre.vocab, bs=bs,
                                   num_workers=0)

def frozen(pre, train, test, max_len):
    "Accuracy of a logistic regression on vectors of texts; cross-validation on the labels chooses C"
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    x,x_test = (pre.embed(o.text.tolist(), max_len=max_len, no_bar=True).numpy()
                for o in (train, test))
    model = GridSearchCV(LogisticRegression(max_iter=2000), dict(C=[.1,1,10,100]), cv=5)
    return model.fit(x, train.label).score(x_test, test.label)

def tfidf(train, test):
    "Accuracy of a logistic regression on TF-IDF of words and bigrams"
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    model = make_pipeline(TfidfVectorizer(ngram_range=(1,2), sublinear_tf=True),
                          LogisticRegression(C=10, max_iter=1000))
    return model.fit(train.text, train.label).score(test.text, test.label)

def nothing(train, test, bs, max_len, crop, epochs):
    "A small transformer of words, trained from scratch"
    df = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)], ignore_index=True)
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid',
                                  bs=bs, num_workers=0)
    return transformer_classifier_learner(dls, k=64, heads=4, depth=2, pos_cls=LearnedPositions, max_len=max_len, crop=crop,
                                          pool=mean_max_pool, word_dropout=.1, metrics=accuracy)

@call_parse
def main(
    model:str, # Folder of the checkpoint
    what:str='fine_tune', # 'fine_tune', 'frozen' (a logistic regression on its vectors), 'nothing' (a small transformer of words), 'tfidf'
    data:str='trec', # 'imdb', 'trec' or 'mr'
    labels:int=100, # Labels to train on; 0 is all
    seed:int=0, # Seed of the choice of labels and of all else that is random
    epochs:int=8, # Epochs of all of it, after those of the head
    head_epochs:int=1, # Epochs of the head alone, before
    lr:float=1e-3, # Highest learning rate of the head while it is trained alone; half of it afterwards
    lr_mult:float=10., # That of the embedding is so many times smaller
    bs:int=16, # Texts in a batch
    max_len:int=128, # Tokens of a text to read
    crop:str='head_crop', # Which of them
    dropout:float=.1, # Dropout
    word_dropout:float=.1, # Share of the tokens that are dropped in training
    lora_r:int=0, # Rank of the updates for LoRA; 0 trains all weights
    threads:int=2, # Threads for torch
    bf16:bool=False, # Compute in bfloat16 where it is safe?
):
    "Print the accuracy of fine-tuning, or of a baseline"
    torch.set_num_threads(threads); set_seed(seed)
    pre,crop_f = load_pretrained(model),globals()[crop]
    train,test = split(data, labels or None, seed)
    start,res = time.time(),None
    if what=='frozen': res = frozen(pre, train, test, max_len)
    elif what=='tfidf': res = tfidf(train, test)
    else:
        if what=='nothing': learn = nothing(train, test, bs, max_len, crop_f, epochs)
        else:
            learn = transformer_classifier_learner(dls_of(pre, train, test, bs), pretrained=pre,
                                                   max_len=max_len, crop=crop_f, dropout=dropout,
                                                   word_dropout=word_dropout, metrics=accuracy)
        if lora_r: add_lora(learn, r=lora_r)
        learn.remove_cb(ProgressCallback)
        start = time.time()
        with learn.no_logging():
            if what=='nothing': learn.fit_one_cycle(epochs, lr, cbs=SkipValidation())
            else:
                learn.fine_tune(epochs, lr, freeze_epochs=head_epochs, lr_mult=lr_mult,
                                cbs=[SkipValidation()] + [BF16Precision()]*bf16)
    minutes = (time.time()-start)/60
    if res is None: res = learn.validate()[1]
    recipe = dict(epochs=epochs, head_epochs=head_epochs, lr=lr, lr_mult=lr_mult, bs=bs,
                  max_len=max_len, crop=crop, dropout=dropout, word_dropout=word_dropout,
                  lora=lora_r, bf16=bf16)
    print(json.dumps(dict(what=what, data=data, labels=len(train), seed=seed,
                          accuracy=round(float(res), 4), training_minutes=round(minutes, 2),
                          n_test=len(test), threads=threads,
                          **(recipe if what in ('fine_tune','nothing') else {}))), flush=True)
