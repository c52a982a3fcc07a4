"""An optimizer for transformers: Muon, which is part of PyTorch since 2.9, for the matrices, AdamW for all else.

    from muon import MuonAdamW
    learn = transformer_lm_learner(dls, pos_cls=RotaryPositions, opt_func=partial(OptimWrapper, opt=MuonAdamW))
    learn.fit_flat_cos(1, slice(3e-3, 0.02), pct_start=.1)      # highest learning rate of AdamW, and of Muon

Made for the learners of this library: it asks the splitter, whose first and last group hold the embedding, positions and the head, and
the others a block each. It has two groups of its own instead, so `freeze`, `fine_tune` and the like would stop the wrong half.

    python examples/muon.py                                     # compares it with PyTorch's own Muon
"""
import time
from copy import deepcopy
from itertools import groupby
import torch

class BatchedMuon(torch.optim.Muon):
    "The steps of `torch.optim.Muon` (Jordan et al. 2024), for all matrices of a shape at once"
    def __init__(self, params, lr=1e-3, weight_decay=.1, momentum=.95):
        super().__init__(params, lr=lr, weight_decay=weight_decay, momentum=momentum)

    @torch.no_grad()
    def step(self, closure=None):
        if closure is not None:
            with torch.enable_grad(): closure = closure()
        for g in self.param_groups:
            shape = lambda p: tuple(p.shape)
            for (rows,columns),ps in groupby(sorted((p for p in g['params']
                                                     if p.grad is not None), key=shape), shape):
                ps = list(ps)
                for p in ps:
                    if not self.state[p]:
                        self.state[p]['momentum_buffer'] = torch.zeros_like(p.grad)
                    p.mul_(1 - g['lr']*g['weight_decay'])
                grads,bufs = [p.grad for p in ps],[self.state[p]['momentum_buffer'] for p in ps]
                torch._foreach_lerp_(bufs, grads, 1-g['momentum'])
                x = torch.stack(grads).lerp(torch.stack(bufs),
                                            g['momentum']).bfloat16()  # (n,rows,columns)
                args = g['ns_steps'],*g['ns_coefficients'],g['eps']
                x = self.orthogonal(x, *args) if rows<=columns else self.orthogonal(x.mT, *args).mT
                torch._foreach_add_(ps, list(x.to(ps[0].dtype)),
                                    alpha=-g['lr']*max(1, rows/columns)**.5)
        return closure

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
        # embeddings are matrices too, but tables
        blocks = {id(p) for group in groups[1:-1] for p in group['params']}
        matrix = lambda p: p.dim()==2 and id(p) in blocks
        rest = torch.optim.AdamW([p for p in ps if not matrix(p)], betas=(.9,.99),
                                 weight_decay=0., fused=True)
        self.opts = [rest, BatchedMuon([p for p in ps if matrix(p)], weight_decay=.1)]
    @property
    def param_groups(self): return [g for o in self.opts for g in o.param_groups]
    def step(self):
        for o in self.opts: o.step()
    def zero_grad(self):
        for o in self.opts: o.zero_grad()
    def state_dict(self):
        "As of a single PyTorch optimizer: states by the index of the parameter"
        state,n,groups = {},0,[]
        for o in self.opts:
            its = o.state_dict()
            state |= {n+i: s for i,s in its['state'].items()}
            groups += [dict(g, params=[n+i for i in g['params']]) for g in its['param_groups']]
            n += len(its['param_groups'][0]['params'])
        return dict(state=state, param_groups=groups)
    def load_state_dict(self, state):
        for o,g in zip(self.opts, state['param_groups']):
            first,n = min(g['params'], default=0),len(g['params'])
            o.load_state_dict(dict(state={i: state['state'][first+i] for i in range(n) if state['state'].get(first+i)},
                                   param_groups=[dict(g, params=list(range(n)))]))

def compare(k=96, depth=3, steps=20):
    "Matrices of a language model and random gradients, one of them 0 and one missing now and then: are the steps the same?"
    torch.manual_seed(0)
    sizes = [(k,k)]*(4*depth) + [(4*k,k)]*depth + [(k,4*k)]*depth
    start = [torch.randn(s) for s in sizes]
    models = [[torch.nn.Parameter(o.clone()) for o in start] for _ in range(2)]
    opts,secs = ([o(ps, lr=.02, weight_decay=.1) for o,ps in zip((torch.optim.Muon,BatchedMuon),
        models)],([],[]))
    for i in range(steps):
        for j,(p,q) in enumerate(zip(*models)):
            p.grad = None if j==1 and i%2 else torch.randn_like(p)*(j>0)
            q.grad = None if p.grad is None else p.grad.clone()
        for o,s in zip(opts, secs):
            t = time.perf_counter()
            o.step()
            s.append(time.perf_counter()-t)
        # each can resume where the other stopped
        if i==steps//2: opts[1].load_state_dict(deepcopy(opts[0].state_dict()))
    off = max(((p-q).norm()/(p-o).norm()).item() for o,p,q in zip(start, *models))
    ratio = sorted(a/b for a,b in zip(*secs))
    print(f'after {steps} steps the two differ by {off:.2%} of the way at most; a '
          f'step is {ratio[steps//2]:.1f} times as fast')
    assert off < 1e-3, 'the two optimizers must do the same'

if __name__ == '__main__': compare()
