"""How the cost of a training step grows with length, depth, width and vocabulary, this library beside two peers.

    .venv-bench/bin/python benchmarks/scale.py --rounds 5

One size changes at a time, the others stay as in `train_step.py`; a batch has 4,096 tokens whatever their length. The models take turns, step by step.
"""
import sys
from datetime import date
from pathlib import Path
import numpy as np, torch
from fastcore.script import call_parse
sys.path.insert(0, str(Path(__file__).parent))
from train_step import cpu, measure, peers, table

sizes = {'length':[dict(t=t, bs=4096//t) for t in (64,256,1024,2048)],
         'depth':[dict(depth=d) for d in (1,2,4,8)], 'width':[dict(k=k) for k in (128,256,512)],
         'vocabulary of a language model':[dict(v=v, t=128, bs=32, task='lm')
                                           for v in (5_000,30_000,60_000)]}
chosen = [next(iter(peers)), 'nn.TransformerEncoder', 'Hugging Face']

@call_parse
def main(
    rounds:int=5, # Steps of each model at each size
    threads:int=2, # Threads for torch
    dtype:str='fp32', # 'fp32', or 'bf16' for autocast
    out:str='', # A CSV file to append to
):
    "Print a table of milliseconds, and of the ratio to ours"
    torch.set_num_threads(threads)
    rows = []
    for what,settings in sizes.items():
        for o in settings:
            times = measure(rounds, dtype=dtype, names=chosen, **o)[0]
            row,base = {'':f"{what} {next(iter(o.values())):,}"},times[chosen[0]]
            for name in chosen:
                t = times.get(name)
                row[name] = ('' if t is None else f'{1000*np.median(t):.0f}' if t is base
                             else f'{1000*np.median(t):.0f} ({np.median(t/base):.2f})')
            rows.append(row); print(row, flush=True)
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads: '
          f'ms of a step (times ours), {dtype}, {rounds} rounds', out)
