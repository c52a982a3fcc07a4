"""Causal LM with ALiBi: no positions added, a linear bias on the scores; longer texts than in training work."""
import math
import torch
from torch import nn
import torch.nn.functional as F


def get_slopes(n):
    start = 2 ** (-2 ** -(math.log2(n) - 3))
    return torch.tensor([start * start ** i for i in range(n)])


class AlibiAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)
        self.register_buffer('slopes', get_slopes(h).view(h, 1, 1))

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.h, -1).permute(2, 0, 3, 1, 4).unbind(0)
        if past is not None:
            k, v = torch.cat([past[0], k], 2), torch.cat([past[1], v], 2)
        s = k.size(2)
        dist = torch.arange(s, device=x.device)[None] - torch.arange(s - t, s, device=x.device)[:, None]
        bias = (self.slopes * dist).masked_fill(dist > 0, float('-inf'))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.o(y.transpose(1, 2).reshape(b, t, d)), (k, v)


class Bloomlet(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.emb_ln = nn.LayerNorm(d)
        self.attn = nn.ModuleList(AlibiAttention(d, h) for _ in range(n))
        self.ln1 = nn.ModuleList(nn.LayerNorm(d) for _ in range(n))
        self.mlp = nn.ModuleList(nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
                                 for _ in range(n))
        self.ln_f = nn.LayerNorm(d)

    def run(self, ids, past):
        x, new = self.emb_ln(self.emb(ids)), []
        for i, (ln, attn, mlp) in enumerate(zip(self.ln1, self.attn, self.mlp)):
            a, kv = attn(ln(x), past[i])
            new.append(kv)
            x = x + a
            x = x + mlp(x)
        return F.linear(self.ln_f(x), self.emb.weight), new

    def forward(self, ids):
        return self.run(ids, [None] * len(self.attn))[0]

    def decode(self, ids, past=None):
        return self.run(ids, past or [None] * len(self.attn))


def make():
    return Bloomlet()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': 'decode', 'window': None, 'max_len': 64, 'over_max_len': 'works', 'padding': None, 'output': 'tensor',
        'dropout': False,
        'says': 'model(ids) -> (b, t, 50); model.decode(ids, past) -> (logits, past), one or more tokens a call; '
                'no dropout; any length works'}
