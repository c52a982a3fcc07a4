"""The mask must be given, float with 0 = seen and -inf = hidden; returns (logits, attention weights)."""
import torch
import torch.nn as nn


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))
        self.ln_a, self.ln_b = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, dim * 3), nn.GELU(), nn.Linear(dim * 3, dim))
        self.dropout = nn.Dropout(0.15)

    def forward(self, x, mask):
        b, t, c = x.shape
        h = self.ln_a(x)
        q, k, v = [f(h).reshape(b, t, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v)]
        w = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5 + mask[:, None, None, :], dim=-1)
        x = x + self.dropout(self.o((w @ v).transpose(1, 2).reshape(b, t, c)))
        return x + self.dropout(self.ffn(self.ln_b(x))), w


class MaskedLM(nn.Module):
    def __init__(self, vocab=50, dim=24, heads=3, depth=2, max_len=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Embedding(max_len, dim)
        self.layers = nn.ModuleList([Layer(dim, heads) for _ in range(depth)])
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids, mask):
        x = self.embed(ids) + self.pos(torch.arange(ids.shape[1]))
        maps = []
        for layer in self.layers:
            x, w = layer(x, mask)
            maps.append(w)
        return self.out(x), maps


def make():
    return MaskedLM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'mask', 'mask_true_is': 'seen', 'mask_dtype': 'additive',
        'mask_required': True, 'causal': False, 'kind': 'tagger', 'step': None, 'window': None, 'max_len': 64,
        'padding': 'right', 'n_out': 50, 'output': 'tuple',
        'says': 'model(ids, mask=m) -> (logits (b, t, 50), list of attention weights); m (b, t) float must be given, 0 = seen, '
                '-inf = hidden; padding on the right; what stands at padding positions means nothing'}
calls = [lambda model, ids, pad: model(ids, mask=torch.zeros(ids.shape).masked_fill(pad, float('-inf')))[0]]
