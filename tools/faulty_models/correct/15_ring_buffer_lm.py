"""Local attention LM whose cache is a preallocated ring buffer of `window` slots, written at pos % window."""
import torch
from torch import nn
import torch.nn.functional as F


class RingAttention(nn.Module):
    def __init__(self, d, h, window):
        super().__init__()
        self.h, self.hd, self.window = h, d // h, window
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.rel = nn.Parameter(torch.randn(h, window) * 0.3)      # bias by distance 0 .. window-1

    def heads(self, x):
        return x.view(x.size(0), -1, self.h, self.hd).transpose(1, 2)

    def forward(self, x):
        t = x.size(1)
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        dist = torch.arange(t)[:, None] - torch.arange(t)[None]
        ok = (dist >= 0) & (dist < self.window)
        bias = self.rel[:, dist.clamp(0, self.window - 1)].masked_fill(~ok, float('-inf'))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])
        return self.o(y.transpose(1, 2).flatten(2))

    def step(self, x, buf, pos):
        q, k, v = self.heads(self.q(x)), self.heads(self.k(x)), self.heads(self.v(x))
        slot = pos % self.window
        bk, bv = buf[0].clone(), buf[1].clone()
        bk[:, :, slot], bv[:, :, slot] = k[:, :, 0], v[:, :, 0]
        dist = (pos - torch.arange(self.window)) % self.window     # how long ago each slot was written
        bias = self.rel[:, dist].masked_fill(dist > pos, float('-inf'))
        y = F.scaled_dot_product_attention(q, bk, bv, attn_mask=bias[None, :, None])
        return self.o(y.transpose(1, 2).flatten(2)), (bk, bv)


class RingLM(nn.Module):
    def __init__(self, vocab=50, d=24, h=3, n=2, window=6):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.drop = nn.Dropout(0.1)
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(n))
        self.attns = nn.ModuleList(RingAttention(d, h, window) for _ in range(n))
        self.ffs = nn.ModuleList(nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 48), nn.GELU(), nn.Linear(48, d)) for _ in range(n))
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        x = self.drop(self.emb(ids))
        for norm, attn, ff in zip(self.norms, self.attns, self.ffs):
            x = x + self.drop(attn(norm(x)))
            x = x + self.drop(ff(x))
        return self.out(x)

    def init_state(self, b, ref):
        a = self.attns[0]
        z = ref.new_zeros(b, a.h, a.window, a.hd)
        return 0, [(z, z) for _ in self.attns]

    def step(self, ids, state=None):
        x = self.drop(self.emb(ids))
        pos, bufs = self.init_state(ids.size(0), x) if state is None else state
        new = []
        for norm, attn, ff, buf in zip(self.norms, self.attns, self.ffs, bufs):
            y, buf = attn.step(norm(x), buf, pos)
            new.append(buf)
            x = x + self.drop(y)
            x = x + self.drop(ff(x))
        return self.out(x), (pos + 1, new)


def make():
    return RingLM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': 'step', 'step_many': False, 'window': 6, 'layers': 2, 'max_len': 64, 'over_max_len': 'works',
        'padding': None, 'output': 'tensor',
        'says': 'model(ids) -> (b, t, 50); each layer sees the last 6 tokens, itself counted; model.step(ids (b, 1), state) '
                '-> (logits, state), exactly one token a call; any length works'}


def read_on(model, ids, state):
    "One token a call"
    outs = []
    for column in ids.split(1, 1):
        out, state = model.step(column, state)
        outs.append(out)
    return torch.cat(outs, 1), state
