"""Muon for the matrices of blocks, AdamW for all else, as one `opt_func`: the class of nbs/tutorials/speedruns.ipynb, for the examples beside this file."""
from fastai.basics import *
from transformers_from_scratch.fast.layers import *

class MuonAdamW(FusedAdamW):
    "Muon for the matrices of blocks (Jordan et al. 2024), which alone decay; AdamW for all else"
    def __init__(self, params, lr, mom=.95, wd=.1, times=1., adjust='match_rms_adamw', **kwargs):
        super().__init__(params, lr, mom=mom, wd=wd, **kwargs)
        self.matrices = {p for ps in self.param_lists[1:-1] for p in ps if p.dim()==2}
        self.muon = torch.optim.Muon([*self.matrices], adjust_lr_fn=adjust)
        self.times = times  # Muon's learning rate is so many times AdamW's

    def parts(self, group):
        "What is left to AdamW"
        others = [p for p in group['params'] if p not in self.matrices]
        return [dict(group, params=others, weight_decay=0.)]

    def for_muon(self, group):
        "What is Muon's, with the learning rate, momentum and weight decay of this group"
        matrices = [p for p in group['params'] if p in self.matrices]
        return dict(self.muon.defaults, params=matrices, lr=self.times*group['lr'],
                    momentum=group['betas'][0], weight_decay=group['weight_decay'])

    def step(self):
        super().step()
        self.muon.state = self.opt.state  # one state, which a learner saves
        self.muon.param_groups = [self.for_muon(group) for group in self.opt.param_groups]
        self.muon.step()
        for p in self.matrices: self.opt.state[p].setdefault('step', tensor(0.))  # AdamW loads no state without one
