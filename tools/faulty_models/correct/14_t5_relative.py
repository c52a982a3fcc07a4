"""Bidirectional tagger with T5's relative position buckets; a mask hides padding on either side."""
import math
import torch
from torch import nn


class T5LayerNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)


def relative_position_bucket(rel, num_buckets=16, max_distance=32):
    num_buckets //= 2
    ret = (rel > 0).long() * num_buckets
    n = rel.abs()
    max_exact = num_buckets // 2
    large = max_exact + (torch.log(n.float().clamp(min=1) / max_exact) / math.log(max_distance / max_exact)
                         * (num_buckets - max_exact)).long()
    return ret + torch.where(n < max_exact, n, large.clamp(max=num_buckets - 1))


class T5Attention(nn.Module):
    def __init__(self, d_model, heads, has_bias, dropout=0.1):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.q, self.k, self.v, self.o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(16, heads) if has_bias else None

    def compute_bias(self, n, device):
        pos = torch.arange(n, device=device)
        return self.relative_attention_bias(relative_position_bucket(pos[None, :] - pos[:, None])).permute(2, 0, 1)[None]

    def forward(self, x, mask, bias=None):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(3, 2)            # T5 does not scale
        if bias is None:
            bias = self.compute_bias(n, x.device)
        scores = scores + bias + mask
        w = nn.functional.dropout(scores.softmax(-1), self.dropout, training=self.training)
        return self.o((w @ v).transpose(1, 2).reshape(b, n, d)), bias


class T5Encoder(nn.Module):
    def __init__(self, vocab=50, d=32, heads=4, layers=2, tags=11):
        super().__init__()
        self.shared = nn.Embedding(vocab, d)
        self.attn = nn.ModuleList(T5Attention(d, heads, i == 0) for i in range(layers))
        self.ln1 = nn.ModuleList(T5LayerNorm(d) for _ in range(layers))
        self.ln2 = nn.ModuleList(T5LayerNorm(d) for _ in range(layers))
        self.wi = nn.ModuleList(nn.Linear(d, 2 * d, bias=False) for _ in range(layers))
        self.wo = nn.ModuleList(nn.Linear(2 * d, d, bias=False) for _ in range(layers))
        self.final = T5LayerNorm(d)
        self.tag = nn.Linear(d, tags)

    def forward(self, input_ids, attention_mask=None):
        x = self.shared(input_ids)
        if attention_mask is None:
            attention_mask = torch.ones_like(input_ids)
        mask = (1 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        bias = None
        for ln1, attn, ln2, wi, wo in zip(self.ln1, self.attn, self.ln2, self.wi, self.wo):
            a, bias = attn(ln1(x), mask, bias)
            x = x + a
            x = x + wo(wi(ln2(x)).relu())
        return {'logits': self.tag(self.final(x))}


def make():
    return T5Encoder()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'attention_mask', 'mask_true_is': 'seen', 'mask_dtype': 'long',
        'causal': False, 'kind': 'tagger', 'step': None, 'window': None, 'max_len': 64, 'over_max_len': 'works',
        'padding': 'either', 'n_out': 11, 'output': 'dict',
        'says': "model(ids, attention_mask=m)['logits'] -> (b, t, 11); m long, 1 = seen; padding on either side; "
                "what stands at padding positions means nothing; any length works"}
calls = [lambda model, ids, pad: model(ids, attention_mask=(~pad).long())['logits']]
