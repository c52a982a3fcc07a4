"""A step of `MuonAdam`, and of PyTorch's own: `torch.optim.Muon` for the matrices of the blocks, a fused AdamW for all else.

    python benchmarks/muon.py --threads 2

The gradients are random and stay; both take turns, and the ratio is taken within a round. Quoted are the median, and the 10th and 90th percentile of the ratio.
"""
import sys
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, table
from transformers_from_scratch.all import *

sizes = {'Shakespeare, k=128, 4 blocks': dict(vocab_sz=65, k=128, heads=4, depth=4), 'k=256, 4 blocks': dict(vocab_sz=10_000, k=256, heads=8, depth=4)}

def with_gradients(**size):
    "A language model; the same each time"
    torch.manual_seed(0)
    model = TransformerLM(max_len=128, **size)
    for p in model.parameters(): p.grad = torch.randn_like(p)*1e-2
    return model

def ours(model):
    "A step of `MuonAdam`"
    return MuonAdam(transformer_splitter(model), lr=1e-4).step

def theirs(model):
    "A step of PyTorch's Muon and AdamW"
    matrices = {p for p in model[0].blocks.parameters() if p.dim()==2}
    opts = [torch.optim.Muon([*matrices], lr=1e-4, adjust_lr_fn='match_rms_adamw'),
            torch.optim.AdamW([p for p in model.parameters() if p not in matrices], lr=1e-4, fused=True)]
    return lambda: [o.step() for o in opts]

def timed(f):
    "Milliseconds of a call"
    start = time.perf_counter()
    f()
    return 1e3*(time.perf_counter()-start)

@call_parse
def main(
    rounds:int=15, # Rounds that are timed
    threads:int=2, # Threads for torch
):
    "Print a table"
    torch.set_num_threads(threads)
    rows = []
    for name,size in sizes.items():
        steps = [make(with_gradients(**size)) for make in (ours, theirs)]
        for _ in range(2): [f() for f in steps]
        took = np.array([[timed(f) for f in steps] for _ in range(rounds)])
        low,mid,high = np.quantile(took[:,1]/took[:,0], [.1,.5,.9])
        rows.append({'': name, 'MuonAdam, ms': f'{np.median(took[:,0]):.1f}', "PyTorch's, ms": f'{np.median(took[:,1]):.1f}', 'times ours': f'{mid:.2f} ({low:.2f}-{high:.2f})'})
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads, {rounds} rounds')
