"""A small encoder kept in float64 throughout; ALBERT-like, one layer's weights used twice; hidden mask; sum pooling."""
import torch
from torch import nn


class SharedLayer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.Tanh(), nn.Dropout(0.1), nn.Linear(2 * d, d))
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def forward(self, x, hidden):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, self.h, 3, d // self.h).unbind(3)
        s = torch.einsum('bihd,bjhd->bijh', q, k) / (d // self.h) ** .5
        s = s.masked_fill(hidden[:, None, :, None], float('-inf'))
        y = torch.einsum('bijh,bjhd->bihd', s.softmax(dim=2), v).reshape(b, n, d)
        x = self.n1(x + self.out(y))
        return self.n2(x + self.ff(x))


class Albertino(nn.Module):
    def __init__(self, vocab=50, e=16, d=32, h=4, repeats=2, max_len=64, n_out=4):
        super().__init__()
        self.repeats = repeats
        self.word, self.pos = nn.Embedding(vocab, e), nn.Embedding(max_len, e)
        self.up = nn.Linear(e, d)
        self.shared = SharedLayer(d, h)
        self.fc = nn.Linear(d, n_out)
        self.double()

    def forward(self, ids, mask=None):
        hidden = torch.zeros_like(ids, dtype=torch.bool) if mask is None else mask.bool()
        x = self.up(self.word(ids) + self.pos(torch.arange(ids.size(1), device=ids.device)))
        for _ in range(self.repeats):
            x = self.shared(x, hidden)
        return self.fc((x * (~hidden)[..., None]).sum(1) / 8)


def make():
    return Albertino()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'mask', 'mask_true_is': 'hidden', 'mask_dtype': 'long', 'causal': False,
        'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 4,
        'output': 'tensor', 'double_only': True,
        'says': 'model(ids, mask=m) -> (b, 4) in float64; m long, 1 = hidden; padding on the right'}
calls = [lambda model, ids, pad: model(ids, mask=pad.long())]
