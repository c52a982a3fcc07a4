"""Masked max pooling after attention; mask is float with 1. = seen."""
import torch
from torch import nn, einsum


class PreNorm(nn.Module):
    def __init__(self, dim, fn):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.fn = fn

    def forward(self, x, **kw):
        return self.fn(self.norm(x), **kw) + x


class Attn(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim, bias=False)
        self.to_kv = nn.Linear(dim, 2 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(0.2)

    def forward(self, x, mask):
        b, n, d = x.shape
        split = lambda z: z.view(b, n, self.heads, -1).permute(0, 2, 1, 3)
        q, (k, v) = split(self.to_q(x)), map(split, self.to_kv(x).chunk(2, dim=-1))
        dots = einsum('bhid,bhjd->bhij', q, k) * (d // self.heads) ** -.5
        dots = dots.masked_fill(~mask[:, None, None], -torch.finfo(dots.dtype).max)
        out = einsum('bhij,bhjd->bhid', self.drop(dots.softmax(-1)), v)
        return self.to_out(out.permute(0, 2, 1, 3).reshape(b, n, d))


class Net(nn.Module):
    def __init__(self, dim=32, depth=2, heads=4, vocab=50, classes=7, max_len=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList([])
        for _ in range(depth):
            self.layers.append(nn.ModuleList([
                PreNorm(dim, Attn(dim, heads)),
                PreNorm(dim, nn.Sequential(nn.Linear(dim, dim * 2), nn.ReLU(), nn.Linear(dim * 2, dim)))]))
        self.to_logits = nn.Linear(dim, classes)

    def forward(self, x, lens_mask=None):
        mask = torch.ones_like(x, dtype=torch.bool) if lens_mask is None else lens_mask > 0.5
        x = self.emb(x) + self.pos(torch.arange(x.shape[1], device=x.device))
        for attn, ff in self.layers:
            x = attn(x, mask=mask)
            x = ff(x)
        x = x.masked_fill(~mask[..., None], -1e30).amax(dim=1)
        return self.to_logits(x)


def make():
    return Net()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'lens_mask', 'mask_true_is': 'seen', 'mask_dtype': 'float',
        'causal': False, 'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'right',
        'n_out': 7, 'output': 'tensor',
        'says': 'model(ids, lens_mask=m) -> (b, 7); m float, 1. = seen and 0. = padding; padding on the right'}
calls = [lambda model, ids, pad: model(ids, lens_mask=(~pad).float())]
