"""Gemma-like LM: RMSNorm with (1 + weight), logits capped by tanh, attention scores capped too."""
import torch
from torch import nn
import torch.nn.functional as F


class GemmaRMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class GemmaBlock(nn.Module):
    def __init__(self, d, h, cap, dropout=0.1):
        super().__init__()
        self.h, self.cap, self.dropout = h, cap, dropout
        self.q_proj, self.o_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.k_proj, self.v_proj = nn.Linear(d, d // h, bias=False), nn.Linear(d, d // h, bias=False)   # multi-query
        self.gate, self.up, self.down = nn.Linear(d, 64, bias=False), nn.Linear(d, 64, bias=False), nn.Linear(64, d, bias=False)
        self.norm1, self.norm2 = GemmaRMSNorm(d), GemmaRMSNorm(d)

    def forward(self, x, cos, sin):
        b, t, d = x.shape
        y = self.norm1(x)
        q = self.q_proj(y).view(b, t, self.h, -1).transpose(1, 2)
        k, v = self.k_proj(y)[:, None], self.v_proj(y)[:, None]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        s = q @ k.transpose(2, 3) * q.size(-1) ** -0.5
        s = self.cap * torch.tanh(s / self.cap)
        s = s + torch.full((t, t), torch.finfo(s.dtype).min, dtype=s.dtype, device=s.device).triu(1)
        a = F.dropout(s.softmax(-1), self.dropout, training=self.training) @ v
        x = x + self.o_proj(a.transpose(1, 2).reshape(b, t, d))
        y = self.norm2(x)
        return x + self.down(F.gelu(self.gate(y), approximate='tanh') * self.up(y))


class GemmaLM(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, max_len=64, attn_cap=5.0, final_cap=3.0):
        super().__init__()
        self.final_cap = final_cap
        self.embed_tokens = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(GemmaBlock(d, h, attn_cap) for _ in range(n))
        self.norm = GemmaRMSNorm(d)
        inv = 1.0 / (10000 ** (torch.arange(0, d // h, 2).float() / (d // h)))
        ang = torch.outer(torch.arange(max_len).float(), inv).repeat(1, 2)
        self.register_buffer('cos', ang.cos(), persistent=False)
        self.register_buffer('sin', ang.sin(), persistent=False)

    def forward(self, ids):
        t = ids.size(1)
        assert t <= self.cos.size(0)
        x = self.embed_tokens(ids) * self.embed_tokens.embedding_dim ** 0.5
        for layer in self.layers:
            x = layer(x, self.cos[:t], self.sin[:t])
        logits = F.linear(self.norm(x), self.embed_tokens.weight)
        return self.final_cap * torch.tanh(logits / self.final_cap)


def make():
    return GemmaLM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': None, 'window': None, 'max_len': 64, 'padding': None, 'output': 'tensor',
        'says': 'model(ids) -> (b, t, 50), all logits between -3 and 3'}
