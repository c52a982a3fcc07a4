"""A language model of characters on tiny Shakespeare: 1.1 million characters, the last tenth of them for validation.

    python examples/shakespeare.py                     # about a minute and a half on two CPU cores
    python examples/shakespeare.py --k 160 --heads 5 --depth 6 --epochs 3 --dropout 0.1       # a quarter of an hour
    python examples/shakespeare.py --held-out first    # validated on the first tenth: nothing was tuned on it

The text is expected in fastai's data folder (`~/.fastai/data/tinyshakespeare/input.txt`); `--file` takes any other text.
Matrices are trained with Muon, all other parameters with AdamW (`MuonAdamW`, in muon.py). In a minute and a half a small
model that reads the text twice learns more than a large one that reads it once; with more time the large one wins. The learning
rate falls along a straight line to 0, which was better here than a cosine (by 0.015).
"""
import os; os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # before PyTorch is there: its threads sleep while they wait, so that other programs slow them less
import json, time
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
from muon import MuonAdamW

class ReLUSquared(Module):
    "The square of the positive part (So et al. 2021, Primer)"
    def forward(self, x): return F.relu(x).square()

class Minutes(Callback):
    "Measures the time of training, without that of the last validation"
    def before_fit(self): self.start = time.time()
    def after_train(self): self.learn.train_secs = time.time()-self.start

@call_parse
def main(
    file:str=None, # A text; None is tiny Shakespeare in fastai's data folder
    k:int=96, # Width of the vectors
    heads:int=3, # Number of heads
    depth:int=3, # Number of blocks
    seq_len:int=128, # Characters in a sequence
    bs:int=8, # Sequences in a batch
    epochs:int=2, # Epochs
    lr:float=8e-3, # Highest learning rate
    dropout:float=0., # Dropout of embeddings and of the outputs of the layers
    seed:int=0, # Seed of weights, order and dropout
    threads:int=2, # Threads for torch
    held_out:str='last', # Which tenth of the text to validate on, 'last' or 'first'; rate and schedule were tuned on the last
    n:int=400, # Characters to generate at the end
):
    "Train a language model of characters, and generate text"
    if held_out not in ('last','first'):
        raise SystemExit(f"--held-out must be 'last' or 'first', not {held_out!r}")
    torch.set_num_threads(threads)
    set_seed(seed)
    file = Path(file) if file else fastai_cfg().path('data')/'tinyshakespeare'/'input.txt'
    if not file.exists():
        raise SystemExit(f'{file} is not there: fetch input.txt of "tinyshakespeare", or name '
                         'another text with --file')
    text = file.read_text(encoding='utf8')
    tenth = len(text)-int(.9*len(text))
    # the validation set is the end of the text
    if held_out=='first': text = text[tenth:]+text[:tenth]
    df = split_text(text, valid_pct=.1)
    dls = TextDataLoaders.from_df(df, path='output', text_col='text', valid_col='is_valid',
                                  is_lm=True, tok_tfm=CharTokenizer(), seq_len=seq_len, bs=bs)
    lm = transformer_lm_learner(dls, k=k, heads=heads, depth=depth, pos_cls=RotaryPositions,
                                act_cls=ReLUSquared, dropout=dropout,
                                opt_func=MuonAdamW, cbs=[GradientClip(1.), Minutes()])
    start = time.time()
    # a short warmup, then down
    schedule = combine_scheds([.05,.95], [SchedLin(lr/20, lr), SchedLin(lr, 0)])
    lm.fit(epochs, cbs=ParamScheduler({'lr': schedule}))
    total = time.time()-start
    Path('output').mkdir(exist_ok=True)
    lm.save_transformer('output/shakespeare')  # `load_transformer_learner` asks for `act_cls=ReLUSquared`
    print(json.dumps(dict(loss=round(lm.recorder.values[-1][-1], 4),
                          training_secs=round(lm.train_secs, 1),
                          with_validation_secs=round(total, 1),
                          parameters=sum(p.numel() for p in lm.model.parameters()),
                          threads=threads, seed=seed, k=k, heads=heads, depth=depth,
                          seq_len=seq_len, bs=bs, epochs=epochs, lr=lr,
                          dropout=dropout, held_out=held_out)))
    print(lm.predict('\n', n, temperature=.8, seed=1, no_bar=True))
