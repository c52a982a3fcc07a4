"""Which mask should a classifier use, after the encoder of a (causal) language model has been loaded? Measured on IMDB.

    python benchmarks/transfer_mask.py --seed 0

A small language model reads 2,000 training reviews. Then classifiers learn from the labels of the same reviews, once with
attention that looks both ways and once with the mask of the language model, each with that encoder and from nothing. The
2,500 reviews with the highest numbers in `train` are only looked at; `test` is not touched. A line of JSON for each run.
"""
import itertools, json, random, tempfile
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *

def read(path, n_texts, n_labels):
    "Tables for the language model and for the classifier"
    number = lambda f: int(f.stem.split('_')[0])
    files = get_text_files(path, folders=['train']).sorted()
    early,late = [list(files.filter(lambda f: (number(f)<11_250)==o)) for o in (True,False)]
    random.Random(0).shuffle(early)
    table = lambda files,is_valid: [(f.read_text(encoding='utf8'), f.parent.name, is_valid) for f in files]
    frame = lambda rows: pd.DataFrame(rows, columns=['text','label','is_valid'])
    lm_rows = table(early[:n_texts], False) + table(early[n_texts:n_texts+200], True)
    return frame(lm_rows), frame(table(early[:n_labels], False) + table(late, True))

@call_parse
def main(
    seed:int=0, # Seed of weights, order and dropout
    n_texts:int=2000, # Reviews for the language model
    n_labels:int=2000, # Reviews for the classifier
    k:int=64, # Width of the vectors
    heads:int=4, # Number of heads
    depth:int=2, # Number of blocks
    vocab_sz:int=4000, # Words in the vocabulary
    pos:str='RotaryPositions', # Class of the positions
    lr:float=4e-3, # Learning rate of the classifiers
    lr_mult:int=10, # The first layers of a pre-trained one learn this many times more slowly than the head (fastai: 100)
    lm_epochs:int=2, # Times through the reviews for the language model
    epochs:int=3, # Times through the labelled reviews, after one with a frozen encoder
    max_len:int=128, # Tokens of a text that are read at once
    threads:int=1, # Threads for torch
):
    "Pre-train once, then train classifiers with both masks"
    torch.set_num_threads(threads)
    df_lm,df = read(untar_data(URLs.IMDB), n_texts, n_labels)
    size = dict(k=k, heads=heads, depth=depth, pos_cls=globals()[pos], max_len=max_len)
    block = lambda **kwargs: TextBlock.from_df('text', max_vocab=vocab_sz, seq_len=max_len, **kwargs)
    dls_lm = DataBlock(block(is_lm=True), get_x=ColReader('text'), splitter=ColSplitter())
    dls_lm = dls_lm.dataloaders(df_lm, bs=16, num_workers=0)
    dls = DataBlock((block(vocab=dls_lm.vocab), CategoryBlock), get_x=ColReader('text'), get_y=ColReader('label'),
                    splitter=ColSplitter()).dataloaders(df, bs=32, num_workers=0)
    say = lambda **kwargs: print(json.dumps(dict(seed=seed, pos=pos, **kwargs)), flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        set_seed(seed)
        lm = transformer_lm_learner(dls_lm, **size, path=tmp, metrics=accuracy)
        with lm.no_bar(), lm.no_logging():
            lm.fit_one_cycle(lm_epochs, 3e-3)
            loss,acc = lm.validate()
        lm.save_encoder('lm')
        say(what='language model', loss=round(loss, 3), accuracy=round(acc, 4))
        for pretrained,attn_cls in itertools.product((True,False), (SelfAttention,SelfAttentionAutoRegressive)):
            set_seed(seed)
            learn = transformer_classifier_learner(dls, **size, attn_cls=attn_cls, pool=mean_max_pool, crop=ends_crop,
                                                   metrics=accuracy, path=tmp)
            with learn.no_bar(), learn.no_logging():
                if pretrained: learn.load_encoder('lm').fine_tune(epochs, lr, lr_mult=lr_mult)
                else: learn.fit_one_cycle(epochs+1, lr)
            say(what='classifier', pretrained=pretrained, attn_cls=attn_cls.__name__,
                accuracy=[round(float(o[2]), 4) for o in learn.recorder.values])
