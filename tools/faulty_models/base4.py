"""Llama-like causal LM: rotary positions, grouped key/value heads, RMSNorm, functional KV cache."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def rope_table(head_dim, max_len, theta=10000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, head_dim, 2).float() / head_dim))
    angles = torch.outer(torch.arange(max_len).float(), freqs)
    return angles.cos(), angles.sin()


def apply_rope(x, cos, sin):
    # x: (b, t, heads, head_dim); cos, sin: (t, head_dim / 2)
    x1, x2 = x.chunk(2, dim=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


def repeat_kv(x, n_rep):
    # (b, s, kv_heads, hd) -> (b, s, kv_heads * n_rep, hd)
    b, s, kv, hd = x.shape
    return x[:, :, :, None, :].expand(b, s, kv, n_rep, hd).reshape(b, s, kv * n_rep, hd)


class Attention(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, max_len, dropout):
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        self.head_dim = dim // n_heads
        self.n_rep = n_heads // n_kv_heads
        self.dropout = dropout
        self.wq = nn.Linear(dim, n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(n_heads * self.head_dim, dim, bias=False)
        cos, sin = rope_table(self.head_dim, max_len)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, pos, past=None):
        b, t, _ = x.shape
        q = self.wq(x).view(b, t, self.n_heads, self.head_dim)
        k = self.wk(x).view(b, t, self.n_kv_heads, self.head_dim)
        v = self.wv(x).view(b, t, self.n_kv_heads, self.head_dim)
        q = apply_rope(q, self.cos[pos], self.sin[pos])
        k = apply_rope(k, self.cos[pos], self.sin[pos])
        if past is not None:
            k = torch.cat([past[0], k], dim=1)
            v = torch.cat([past[1], v], dim=1)
        present = (k, v)
        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)
        s = k.size(1)
        mask = torch.ones(t, s, dtype=torch.bool, device=x.device).tril(diagonal=s - t)
        out = F.scaled_dot_product_attention(
            q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), attn_mask=mask,
            dropout_p=self.dropout if self.training else 0.0)
        return self.wo(out.transpose(1, 2).reshape(b, t, -1)), present


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads, max_len, dropout):
        super().__init__()
        self.attention = Attention(dim, n_heads, n_kv_heads, max_len, dropout)
        self.feed_forward = FeedForward(dim, 2 * dim)
        self.attention_norm = RMSNorm(dim)
        self.ffn_norm = RMSNorm(dim)

    def forward(self, x, pos, past=None):
        a, present = self.attention(self.attention_norm(x), pos, past)
        x = x + a
        return x + self.feed_forward(self.ffn_norm(x)), present


class TinyLlama(nn.Module):
    def __init__(self, vocab_size=50, dim=32, n_layers=2, n_heads=4, n_kv_heads=2, max_len=64, dropout=0.1):
        super().__init__()
        self.max_len = max_len
        self.tok_embeddings = nn.Embedding(vocab_size, dim)
        self.layers = nn.ModuleList(
            [Block(dim, n_heads, n_kv_heads, max_len, dropout) for _ in range(n_layers)])
        self.norm = RMSNorm(dim)
        self.output = nn.Linear(dim, vocab_size, bias=False)

    def forward(self, ids):
        pos = torch.arange(ids.size(1), device=ids.device)
        x = self.tok_embeddings(ids)
        for layer in self.layers:
            x, _ = layer(x, pos)
        return self.output(self.norm(x))

    def step(self, ids, state=None):
        """ids: (b, n) new tokens, n >= 1; state: None at first, then what the last call returned."""
        start = 0 if state is None else state[0][0].size(1)
        pos = torch.arange(start, start + ids.size(1), device=ids.device)
        x = self.tok_embeddings(ids)
        new_state = []
        for i, layer in enumerate(self.layers):
            x, present = layer(x, pos, None if state is None else state[i])
            new_state.append(present)
        return self.output(self.norm(x)), new_state


def make():
    return TinyLlama()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True,
        'kind': 'lm', 'step': 'step', 'window': None, 'max_len': 64, 'padding': None, 'output': 'tensor',
        'says': 'model(ids) -> logits (b, t, 50); model.step(ids, state) -> (logits of the new tokens, new state), '
                'state=None at first, one or more tokens a call, an old state may be used again; '
                'more than 64 tokens raises'}
