"""Mixture of experts (Switch-like top-1 routing, no capacity limit, deterministic) with padding by id and mean pooling."""
import torch
from torch import nn
import torch.nn.functional as F


class SwitchFF(nn.Module):
    def __init__(self, d, hidden, n_experts):
        super().__init__()
        self.gate = nn.Linear(d, n_experts, bias=False)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, hidden), nn.ReLU(), nn.Linear(hidden, d))
                                     for _ in range(n_experts))

    def forward(self, x):
        flat = x.reshape(-1, x.size(-1))
        prob, which = self.gate(flat).softmax(-1).max(-1)
        out = torch.zeros_like(flat)
        for i, expert in enumerate(self.experts):
            sel = (which == i).nonzero(as_tuple=True)[0]
            if sel.numel():
                out = out.index_add(0, sel, expert(flat[sel]) * prob[sel, None])
        return out.view_as(x)


class MoELayer(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.mha = nn.MultiheadAttention(d, h, dropout=p, batch_first=True)
        self.moe = SwitchFF(d, 2 * d, 4)

    def forward(self, x, pad):
        y = self.ln1(x)
        x = x + self.mha(y, y, y, key_padding_mask=pad, need_weights=False)[0]
        return x + self.moe(self.ln2(x))


class MoEClassifier(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, classes=4, max_len=64, pad_idx=0, p=0.1):
        super().__init__()
        self.pad_idx = pad_idx
        self.emb = nn.Embedding(vocab, d, padding_idx=pad_idx)
        self.pos = nn.Embedding(max_len, d)
        self.layers = nn.ModuleList(MoELayer(d, h, p) for _ in range(n))
        self.head = nn.Linear(d, classes)

    def forward(self, ids):
        pad = ids.eq(self.pad_idx)
        x = self.emb(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for layer in self.layers:
            x = layer(x, pad)
        x = x.masked_fill(pad[..., None], 0.).sum(1) / (~pad).sum(1, keepdim=True)
        return self.head(x)


def make():
    return MoEClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': 0, 'mask': None, 'mask_true_is': None, 'causal': False, 'kind': 'classifier',
        'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 4, 'output': 'tensor',
        'no_grad_ok': ['experts'],
        'says': 'model(ids) -> (b, 4); id 0 is padding, on the right; an expert to which no token goes gets no gradient'}
