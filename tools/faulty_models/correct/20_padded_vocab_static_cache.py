"""gpt-fast-like: static KV cache written at the input positions, rows 50..63 of the embedding are never used."""
import torch
import torch.nn as nn
from torch.nn import functional as F


class KVCache:
    """Preallocated keys and values for one stream of generation."""

    def __init__(self, layers, shape, ref):
        self.k = [ref.new_zeros(shape) for _ in range(layers)]
        self.v = [ref.new_zeros(shape) for _ in range(layers)]
        self.pos = 0


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(dim, 3 * dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def forward(self, x, input_pos, cache=None, layer=None):
        b, t, d = x.shape
        q, k, v = [z.view(b, t, self.heads, -1).transpose(1, 2) for z in self.wqkv(x).split(d, dim=-1)]
        if cache is not None:
            cache.k[layer][:, :, input_pos] = k
            cache.v[layer][:, :, input_pos] = v
            k, v = cache.k[layer], cache.v[layer]
        mask = torch.arange(k.size(2), device=x.device)[None, :] <= input_pos[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(b, t, d))


class Transformer(nn.Module):
    def __init__(self, vocab=50, padded_vocab=64, dim=32, heads=4, n_layer=2, max_seq_length=64):
        super().__init__()
        self.vocab, self.heads, self.max_seq_length = vocab, heads, max_seq_length
        self.tok_embeddings = nn.Embedding(padded_vocab, dim)   # rounded up to a multiple of 64
        self.pos_embeddings = nn.Embedding(max_seq_length, dim)
        self.attn = nn.ModuleList(Attention(dim, heads) for _ in range(n_layer))
        self.norm1 = nn.ModuleList(nn.LayerNorm(dim) for _ in range(n_layer))
        self.norm2 = nn.ModuleList(nn.LayerNorm(dim) for _ in range(n_layer))
        self.ff = nn.ModuleList(nn.Sequential(nn.Linear(dim, 64), nn.SiLU(), nn.Dropout(.1), nn.Linear(64, dim))
                                for _ in range(n_layer))
        self.output = nn.Linear(dim, padded_vocab, bias=False)

    def body(self, ids, input_pos, cache=None):
        x = self.tok_embeddings(ids) + self.pos_embeddings(input_pos)
        for i in range(len(self.attn)):
            x = x + self.attn[i](self.norm1[i](x), input_pos, cache, i)
            x = x + self.ff[i](self.norm2[i](x))
        return self.output(x)[..., :self.vocab]

    def forward(self, ids):
        return self.body(ids, torch.arange(ids.size(1), device=ids.device))

    @torch.no_grad()
    def step(self, ids, cache=None):
        b, t = ids.shape
        if cache is None:
            w = self.output.weight
            cache = KVCache(len(self.attn), (b, self.heads, self.max_seq_length, w.size(1) // self.heads), w)
        logits = self.body(ids, torch.arange(cache.pos, cache.pos + t, device=ids.device), cache)
        cache.pos += t
        return logits, cache


def make():
    return Transformer()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': 'step', 'window': None, 'max_len': 64, 'padding': None, 'output': 'tensor', 'state_reusable': False,
        'says': 'model(ids) -> (b, t, 50); model.step(ids, cache) -> (logits, cache); the cache is written in place, so an '
                'old one may not be used again; one or more tokens a call; 14 embedding rows are never used'}
