"""An optimizer for transformers: Muon for the matrices, AdamW for all else.

    from muon import MuonAdamW
    learn = transformer_lm_learner(dls, pos_cls=RotaryPositions, opt_func=partial(OptimWrapper, opt=MuonAdamW))
    learn.fit_flat_cos(1, slice(3e-3, 0.02), pct_start=.1)      # highest learning rate of AdamW, and of Muon

Made for language models without learned positions, which are a matrix too. It has two groups of its own instead of one for each block,
so `freeze`, `fine_tune` and the like would stop the wrong half.

    python examples/muon.py                                     # compares it with PyTorch's own Muon
"""
import time
from itertools import groupby
import torch

class BatchedMuon(torch.optim.Muon):
    "The steps of `torch.optim.Muon` (Jordan et al. 2024), for all matrices of a shape at once; it needs a gradient for each"
    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            by_shape = lambda p: tuple(p.shape)
            for shape,ps in groupby(sorted(g['params'], key=by_shape), by_shape):
                ps = list(ps)
                grads,state = torch.stack([p.grad for p in ps]),self.state[ps[0]]                     # (n,rows,columns)
                buf = state.setdefault('momentum_buffer', torch.zeros_like(grads)).lerp_(grads, 1-g['momentum'])
                x = (grads.lerp(buf, g['momentum']) if g['nesterov'] else buf).bfloat16()
                x = self.orthogonal(x if shape[0]<=shape[1] else x.mT, g['ns_steps'], *g['ns_coefficients'], g['eps'])
                if shape[0]>shape[1]: x = x.mT
                torch._foreach_mul_(ps, 1 - g['lr']*g['weight_decay'])
                torch._foreach_add_(ps, list(x.to(grads.dtype)), alpha=-g['lr']*max(1, shape[0]/shape[1])**.5)

    @staticmethod
    def orthogonal(x, steps, a, b, c, eps):
        "Newton and Schulz: the same singular vectors, but singular values near 1"
        x = x / x.norm(dim=(1,2), keepdim=True).clamp(min=eps)
        for _ in range(steps):
            gram = x @ x.mT
            x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        return x

class MuonAdamW:
    "Muon for the matrices of the blocks, AdamW for embeddings, norms and biases: two groups, AdamW's first"
    def __init__(self, groups, lr=None):
        ps = [p for group in groups for p in group['params']]
        tables = [ps[0]]                                            # the first parameter of the model is its embedding
        matrix = lambda p: p.dim()==2 and all(p is not o for o in tables)
        rest = torch.optim.AdamW([p for p in ps if not matrix(p)], betas=(.9,.99), weight_decay=0., fused=True)
        self.opts = [rest, BatchedMuon([p for p in ps if matrix(p)], weight_decay=.1)]
    @property
    def param_groups(self): return [g for o in self.opts for g in o.param_groups]
    def step(self):
        for o in self.opts: o.step()
    def zero_grad(self):
        for o in self.opts: o.zero_grad()
    def state_dict(self): return [o.state_dict() for o in self.opts]
    def load_state_dict(self, state):
        for o,s in zip(self.opts, state): o.load_state_dict(s)

def compare(k=96, depth=3, steps=20):
    "Matrices of a language model, and random gradients: how far apart are the two, and how much faster is ours?"
    torch.manual_seed(0)
    sizes = [(k,k)]*(4*depth) + [(4*k,k)]*depth + [(k,4*k)]*depth
    models = [[torch.nn.Parameter(torch.zeros(s)) for s in sizes] for _ in range(2)]
    opts,secs = [o(ps, lr=.02, weight_decay=.1) for o,ps in zip((torch.optim.Muon,BatchedMuon), models)],([],[])
    for _ in range(steps):
        for p,q in zip(*models): p.grad = torch.randn_like(p); q.grad = p.grad.clone()
        for o,s in zip(opts, secs): start = time.perf_counter(); o.step(); s.append(time.perf_counter()-start)
    off = max(((p-q).norm()/p.norm()).item() for p,q in zip(*models))
    ratio = sorted(a/b for a,b in zip(*secs))
    print(f'after {steps} steps the weights differ by {off:.1%} of their size at most; a step is {ratio[steps//2]:.1f} times as fast')
    assert off < .02, 'the two optimizers must do the same, up to the rounding of bfloat16'

if __name__ == '__main__': compare()
