"""What smaller weights cost a trained language model: its perplexity with weights in 32 bits, in bfloat16 and in eight bits.

    .venv-bench/bin/python benchmarks/small_weights.py --source ~/.fastai/data/imdb/train --reviews 8_000

A model of `k=256, heads=8, depth=4` and 10,000 words is trained once through the reviews; held-out reviews are then read token by token, as `generate` reads its own text, by the fast decoder with each kind of weights, four texts at a time and forty: for more than four, vectors are rounded as well.
"""
import sys, tempfile
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, table
from transformers_from_scratch.all import *

@torch.inference_mode()
def loss(model, rows, weights, n):
    "The losses of all tokens of `rows (n,t)` but the first two, `n` rows at a time"
    res = []
    for some in rows.split(n):
        reader = LMReader(model, some[:,:1], quantize=weights)
        for i in range(1, rows.shape[1]-1):
            reader.append(some[:,i])
            res.append(F.cross_entropy(reader.logits, some[:,i+1], reduction='none'))
        assert reader.step
    return torch.cat(res).double()

@call_parse
def main(
    source:str='', # A folder of text files
    reviews:int=8_000, # Texts to train on and to hold out from
    rows:int=80, # Pieces of held-out text to read
    t:int=256, # Tokens of each
    threads:int=2, # Threads for torch
    seed:int=0, # Seed
    out:str='', # A CSV file to append to
):
    "Train, measure, and print a table"
    torch.set_num_threads(threads); set_seed(seed)
    texts = [o.read_text(encoding='utf8')
             for o in L(sorted(get_text_files(Path(source).expanduser()))).shuffle()[:reviews]]
    with tempfile.TemporaryDirectory() as tmp:
        dls = lm_dataloaders(texts, tmp, max_vocab=10_000, valid_pct=.03, bs=32, seq_len=128,
                             seed=seed)
        learn = transformer_lm_learner(dls, max_len=t, pos_cls=RotaryPositions, act_cls=nn.GELU,
                                       metrics=Perplexity()).to_bf16().remove_cbs(
            ProgressCallback)
        learn.fit_one_cycle(1, 2e-3)
        model,held = learn.model.float().eval(),dls.valid_ds
        ids = torch.cat([held[i] for i in range(len(held))])
        ids = ids[:rows*t].as_subclass(Tensor).view(-1, t)
        losses = {(w,n): loss(model, ids, w, n) for n in (4,40) for w in (None,'bf16','int8')}
        says = [{'':f'weights={w!r}, {n} texts at a time', 'perplexity':f'{o.mean().exp():.3f}',
                 'against 32 bits':f'{100*((o.mean()-losses[None,n].mean()).exp()-1):+.3f} %'}
                for (w,n),o in losses.items()]
        table(says, f'{date.today()}, torch {torch.__version__}, {cpu()}; {ids.numel():,} '
              f'held-out tokens, {len(dls.train_ds):,} reviews of '
              f'{Path(source).name or "?"} to train on, seed {seed}', out)
