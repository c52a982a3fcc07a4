"""Peak memory of one forward and backward through attention, against the length of the text.

    .venv-bench/bin/python benchmarks/memory.py --out memory.csv

Each figure is that of a process of its own: the most that it held, less what it held before (`VmHWM`), after a short text that warms up. One text, `k=256, heads=8`,
fp32, two threads. What takes more than `--limit` GB is left out.
"""
import subprocess, sys
from datetime import date
from pathlib import Path
import torch
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from loss import peak

k,heads = 256,8


def layer(what):
    "A function of `x (1,t,k)`"
    from transformers_from_scratch.nn.attention import SelfAttention,SelfAttentionAutoRegressive
    from torch import nn
    if what.startswith('ours'):
        cls = SelfAttentionAutoRegressive if 'causal' in what else SelfAttention
        attn = cls(k, heads, wide=False, dropout=.1*('attn_dropout' in what))
        def f(x):
            if 'padding' not in what: return attn(x)
            pad_mask = torch.zeros(x.shape[:2], dtype=torch.bool); pad_mask[:,:5] = True
            return attn(x, pad_mask=pad_mask, pos=(torch.arange(x.shape[1])-5).clamp(min=0)[None])
        return f
    if what=='written out':
        attn = SelfAttention(k, heads, wide=False)
        return lambda x: attn(x, need_weights=True)[0]
    if what=='nn.MultiheadAttention':
        attn = nn.MultiheadAttention(k, heads, batch_first=True)
        return lambda x: attn(x, x, x, need_weights=False)[0]

kinds = ['ours', 'ours, causal', 'ours, causal, padding in front', 'ours, attn_dropout',
         'nn.MultiheadAttention', 'written out']

def measure(what, t):
    "MB that forward and backward add"
    torch.set_num_threads(2); torch.manual_seed(0)
    f = layer(what)
    def step(t): f(torch.randn(1, t, k, requires_grad=True)).sum().backward()
    step(64); before = peak(); step(t)
    return peak()-before

@call_parse
def main(
    out:str='', # A CSV file to append to
    limit:float=8., # GB that a measurement may take, estimated from the shorter text
    one:str='', # Only measure this, and print it
    t:int=0, # At this length
):
    "Print a table of peak memory against length"
    if one: return print(measure(one, t))
    from train_step import cpu, table
    lengths,rows = [256,1024,2048,4096,8192,16384],[]
    for what in kinds:
        row,last = {'MB':what},0.
        for n in lengths:
            if last*4.5 > limit*1024: row[f'{n:,}'] = ''; continue
            res = subprocess.run([sys.executable, __file__, '--one', what, '--t', str(n)],
                                 capture_output=True, text=True, check=True)
            last = float(res.stdout); row[f'{n:,}'] = f'{last:.0f}'
        rows.append(row)
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}: MB of forward and '
          f'backward through attention, one text, k={k}, heads={heads}, fp32', out)
