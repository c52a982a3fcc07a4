"""An optimizer for transformers: Muon, which is part of PyTorch since 2.9, for the matrices, AdamW for all else.

    from muon import MuonAdamW
    learn = transformer_lm_learner(dls, pos_cls=RotaryPositions, opt_func=partial(OptimWrapper, opt=MuonAdamW))
    learn.fit_flat_cos(1, slice(3e-3, 0.02), pct_start=.1)      # highest learning rate of AdamW, and of Muon

Made for language models without learned positions, which are a matrix too. It has two groups of its own instead of one for each block,
so `freeze`, `fine_tune` and the like would stop the wrong half.
"""
import torch

class MuonAdamW:
    "Muon (Jordan et al. 2024) for the matrices of the blocks, AdamW for embeddings, norms and biases: two groups in that order"
    def __init__(self, groups, lr=None):
        ps = [p for group in groups for p in group['params']]
        tables = [ps[0]]                                            # the first parameter of the model is its embedding
        matrix = lambda p: p.dim()==2 and all(p is not o for o in tables)
        rest = torch.optim.AdamW([p for p in ps if not matrix(p)], betas=(.9,.99), weight_decay=0., fused=True)
        self.opts = [rest, torch.optim.Muon([p for p in ps if matrix(p)], weight_decay=.1)]
    @property
    def param_groups(self): return [g for o in self.opts for g in o.param_groups]
    def step(self):
        for o in self.opts: o.step()
    def zero_grad(self):
        for o in self.opts: o.zero_grad()
    def state_dict(self): return [o.state_dict() for o in self.opts]
    def load_state_dict(self, state):
        for o,s in zip(self.opts, state): o.load_state_dict(s)
