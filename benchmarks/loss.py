"""The loss of a language model over a large vocabulary: with all logits at once, in parts, and in parts by PyTorch (2.13 and later).

    python benchmarks/loss.py --rounds 15

The loss alone, forward and backward, and then whole training steps of a language model with either loss. The ways take turns, and the ratio is taken within a round.
Memory is that of a process of its own: the most that it held, less what it held before (of a step: before its second one, so model and optimizer are not counted).
"""
import subprocess, sys, time
from datetime import date
from functools import partial
from pathlib import Path
import numpy as np, torch, torch.nn.functional as F
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

def peak():
    "MB that this process held at most (`ru_maxrss` would count what its parent held)"
    return int(next(o for o in open('/proc/self/status') if o.startswith('VmHWM')).split()[1])/1024

def ways():
    from transformers_from_scratch.train.chunked_loss import chunked_cross_entropy
    res = {'whole': lambda h,w,y: F.cross_entropy(h @ w.t(), y),
           'chunked_cross_entropy': chunked_cross_entropy}
    if hasattr(F, 'linear_cross_entropy'):
        res["PyTorch's F.linear_cross_entropy"] = lambda h,w,y: F.linear_cross_entropy(h, w, y,
            options=torch.nn.LinearCrossEntropyOptions())
    return res

def losses(n, k, v):
    "Functions that compute a loss and its gradients"
    h,w,y = (torch.randn(n, k, requires_grad=True),(torch.randn(v, k)*.02).requires_grad_(),
             torch.randint(0, v, (n,)))
    def run(f): f(h, w, y).backward(); h.grad = w.grad = None
    return {name: partial(run, f) for name,f in ways().items()}

def steps(n, k, v):
    "Functions that do a training step of a language model of four blocks, texts of 128 tokens"
    from transformers_from_scratch.train.chunked_loss import chunked_cross_entropy
    from transformers_from_scratch.fast.layers import use_fast_layers
    from transformers_from_scratch.nn.align import align
    from transformers_from_scratch.nn.lm import TransformerLM
    model = use_fast_layers(TransformerLM(v, k=k, max_len=128))
    opt,ids = torch.optim.AdamW(model.parameters(), 1e-4, fused=True),torch.randint(2, v,
        (n//128,129))
    def whole(x, y): return F.cross_entropy(model(x).flatten(0, 1), y.flatten())
    def parts(x, y):
        texts = align(x, model[0])
        return chunked_cross_entropy(model[0](texts.ids, texts.hidden), model[1].linear.weight, y)
    def run(f): f(ids[:,:-1], ids[:,1:]).backward(); opt.step(); opt.zero_grad()
    return {'a step, whole': partial(run, whole), 'a step, in parts': partial(run, parts)}

@call_parse
def main(
    rounds:int=15, # Rounds that are timed
    threads:int=2, # Threads for torch
    n:int=2048, # Tokens
    k:int=256, # Width
    v:int=30_000, # Words
    out:str='', # A CSV file to append to
    one:str='', # Only measure the memory of this way, and print it
):
    "Print a table of time and memory"
    torch.set_num_threads(threads); torch.manual_seed(0)
    if one:
        f = (steps if one.startswith('a step') else losses)(n, k, v)[one]
        if one.startswith('a step'): f()
        Path('/proc/self/clear_refs').write_text('5')      # reset the peak
        before = peak(); f()
        return print(peak()-before)
    from train_step import cpu, table
    rows = []
    for fs,base in ((losses(n, k, v),'chunked_cross_entropy'), (steps(n, k, v),'a step, in parts')):
        times = {o: [] for o in fs}
        for i in range(rounds+2):                              # the first two rounds warm up
            for o in np.random.permutation(list(fs)):
                start = time.perf_counter(); fs[o]()
                if i>1: times[o].append(time.perf_counter()-start)
        for o,t in times.items():
            mb = subprocess.run([sys.executable, __file__, '--one', o, '--threads', str(threads),
                                 '--n', str(n), '--k', str(k), '--v', str(v)],
                                capture_output=True, text=True, check=True).stdout
            lo,mid,hi = np.percentile(np.array(t)/np.array(times[base]), [10,50,90])
            rows.append({'':o, 'ms':f'{1000*np.median(t):.0f}', 'times ours, 10 %':f'{lo:.2f}',
                         'median':f'{mid:.2f}', '90 %':f'{hi:.2f}', 'MB':f'{float(mb):.0f}'})
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads: '
          f'{n} tokens, width {k}, {v} words, fp32, {rounds} rounds', out)
