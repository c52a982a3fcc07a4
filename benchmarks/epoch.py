"""An epoch through `Learner.fit`, classifier and language model: this library, its peers in a plain `Learner`, and fastai's own AWD_LSTM.

    .venv-bench/bin/python benchmarks/epoch.py --rounds 3

The data are the first 250 reviews of IMDB_SAMPLE, as `TextDataLoaders` reads them. Ours, `nn.TransformerEncoder` and Hugging Face have
`k=256, heads=8, depth=4`, dropout 0.1, and read 256 tokens of a review; they take the optimizer that is fastest with each: ours its own, the peers `torch.optim.AdamW(fused=True)`. AWD_LSTM is as fastai's
`text_classifier_learner` and `language_model_learner` make it, a larger model (24 million parameters and up), untrained. Weights and data are fresh in each round; nothing is validated.
"""
import sys, time
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, hugging_face, pytorch, table
from transformers_from_scratch.all import *

sizes = dict(k=256, heads=8, depth=4, dropout=.1)
adamw = partial(OptimWrapper, opt=torch.optim.AdamW, fused=True)

class Cropped(Module):
    "A peer that gets what ours reads: 256 tokens of each text, padding behind"
    def __init__(self, inner): self.inner = inner
    def forward(self, x): return self.inner(left_align(x.as_subclass(Tensor), 1, 256, head_crop)[0])

class Waits(Callback):
    "Seconds that training waits for batches"
    run_valid = False
    def before_train(self): self.since = time.perf_counter()
    def before_batch(self): self.seconds = getattr(self, 'seconds', 0) + time.perf_counter()-self.since
    def after_batch(self): self.since = time.perf_counter()

def get_dls(task):
    df = pd.read_csv(untar_data(URLs.IMDB_SAMPLE)/'texts.csv')[:250]
    if task=='lm':
        return TextDataLoaders.from_df(df, text_col='text', is_lm=True, valid_pct=.02, bs=64,
                                       seq_len=72, seed=0)
    return TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_pct=.02, bs=16,
                                   seed=0)

def learners(task):
    "Functions that make a Learner for `dls`"
    def plain(dls, make):
        v,t = len(dls.vocab if task=='lm' else dls.vocab[0]),72 if task=='lm' else 256
        model = make(task, v, sizes['k'], sizes['heads'], sizes['depth'], t, sizes['dropout'])
        return Learner(dls, model if task=='lm' else Cropped(model), CrossEntropyLossFlat(),
                       opt_func=adamw)
    if task=='lm':
        mine,awd = partial(transformer_lm_learner, max_len=72),partial(language_model_learner,
            arch=AWD_LSTM, pretrained=False)
    else:
        mine,awd = partial(transformer_classifier_learner,
                           max_len=256),partial(text_classifier_learner, arch=AWD_LSTM,
                                                pretrained=False)
    return {'transformers_from_scratch': partial(mine, act_cls=nn.GELU, **sizes),
            'nn.TransformerEncoder': partial(plain, make=pytorch),
            'Hugging Face': partial(plain, make=hugging_face),
            'AWD_LSTM, as fastai makes it': awd}

@call_parse
def main(
    rounds:int=3, # Epochs of each
    threads:int=2, # Threads for torch
    only:str='', # Only libraries with this in their name
    out:str='', # A CSV file to append to
):
    "Print a table of seconds an epoch, and how much of them training waits for data"
    torch.set_num_threads(threads)
    rows = []
    for task in ('classifier','lm'):
        makes,times,waits = {n: o for n,o in learners(task).items() if only in n},{},{}
        for i in range(rounds):
            for name in np.random.permutation(list(makes)):
                set_seed(i)
                learn = makes[name](get_dls(task))
                params = sum(o.numel() for o in learn.model.parameters())
                with learn.no_bar(), learn.no_logging():
                    start = time.perf_counter(); learn.fit(1, 1e-3, cbs=[SkipValidation(), wait := Waits()])
                times.setdefault((name,params), []).append(time.perf_counter()-start)
                waits.setdefault((name,params), []).append(wait.seconds)
        base = np.array(min(times.items(), key=lambda o: o[0][0]!='transformers_from_scratch')[1])
        for (name,params),t in sorted(times.items(), key=lambda o: list(makes).index(o[0][0])):
            rows.append({'':f'{name}, {task}', 'parameters':f'{params:,}',
                         'seconds an epoch':f'{np.median(t):.1f}',
                         'of them waiting for data':f'{np.median(waits[name,params]):.2f}',
                         'times ours':f'{np.median(np.array(t)/base):.2f}'})
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads: '
          f'an epoch through `Learner.fit`, {rounds} rounds', out)
