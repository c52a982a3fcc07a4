"""One score a text; the linear layers hold int8 weights in buffers (no gradients), only norms and the head train."""
import torch
from torch import nn
import torch.nn.functional as F


class Int8Linear(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        w = torch.empty(d_out, d_in)
        nn.init.kaiming_uniform_(w, a=5 ** 0.5)
        scale = w.abs().amax(dim=1, keepdim=True) / 127
        self.register_buffer('qweight', torch.round(w / scale).to(torch.int8))
        self.register_buffer('scale', scale)
        self.register_buffer('bias', torch.zeros(d_out))

    def forward(self, x):
        return F.linear(x, self.qweight.to(x.dtype) * self.scale.to(x.dtype), self.bias.to(x.dtype))


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv, self.o, self.up, self.down = Int8Linear(d, 3 * d), Int8Linear(d, d), Int8Linear(d, 2 * d), Int8Linear(2 * d, d)

    def forward(self, x, seen):
        q, k, v = self.qkv(self.n1(x)).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None])
        x = x + self.o(y.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.n2(x))))


class Scorer(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, max_len=64, pad_idx=0):
        super().__init__()
        self.pad_idx = pad_idx
        self.emb, self.pos = nn.Embedding(vocab, d), nn.Embedding(max_len, d)
        self.layers = nn.ModuleList(Layer(d, h) for _ in range(n))
        self.drop = nn.Dropout(0.1)
        self.score = nn.Linear(d, 1)

    def forward(self, ids):
        seen = ids != self.pad_idx
        x = self.emb(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for layer in self.layers:
            x = layer(x, seen)
        x = x.masked_fill(~seen[..., None], 0.).sum(1) / seen.sum(1, keepdim=True)
        return self.score(self.drop(x))


def make():
    return Scorer()


CALL = {'vocab_sz': 50, 'pad_idx': 0, 'mask': None, 'mask_true_is': None, 'causal': False, 'kind': 'classifier',
        'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 1, 'output': 'tensor',
        'says': 'model(ids) -> (b, 1), one score; id 0 is padding, on the right; int8 weights are buffers and never train'}
