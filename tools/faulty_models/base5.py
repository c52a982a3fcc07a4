"""Causal LM with sliding-window attention, sinusoidal positions and a rolling cache."""
import math
import torch
from torch import nn
from torch.nn import functional as F

WINDOW = 8


def sinusoids(length, channels, max_timescale=10000):
    assert channels % 2 == 0
    log_timescale_increment = math.log(max_timescale) / (channels // 2 - 1)
    inv_timescales = torch.exp(-log_timescale_increment * torch.arange(channels // 2))
    scaled_time = torch.arange(length)[:, None] * inv_timescales[None, :]
    return torch.cat([torch.sin(scaled_time), torch.cos(scaled_time)], dim=1)


class WindowAttention(nn.Module):
    def __init__(self, n_state, n_head, window, p):
        super().__init__()
        self.n_head, self.window = n_head, window
        self.query = nn.Linear(n_state, n_state)
        self.key = nn.Linear(n_state, n_state, bias=False)
        self.value = nn.Linear(n_state, n_state)
        self.out = nn.Linear(n_state, n_state)
        self.drop = nn.Dropout(p)

    def split(self, x):
        return x.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def window_mask(self, t, s, device):
        i = torch.arange(s - t, s, device=device)[:, None]
        j = torch.arange(s, device=device)[None, :]
        return (j <= i) & (i - j < self.window)

    def forward(self, x, cache=None):
        t = x.size(1)
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if cache is not None:
            k = torch.cat([cache['k'], k], dim=2)
            v = torch.cat([cache['v'], v], dim=2)
        scores = q @ k.mT / math.sqrt(q.size(-1))
        allowed = self.window_mask(t, k.size(2), x.device)
        scores = scores.masked_fill(~allowed, float('-inf'))
        w = self.drop(scores.softmax(dim=-1))
        y = (w @ v).transpose(1, 2).flatten(2)
        new_cache = {'k': k[:, :, -self.window:], 'v': v[:, :, -self.window:]}
        return self.out(y), new_cache


class ResidualBlock(nn.Module):
    def __init__(self, n_state, n_head, window, p):
        super().__init__()
        self.attn = WindowAttention(n_state, n_head, window, p)
        self.attn_ln = nn.LayerNorm(n_state)
        self.mlp = nn.Sequential(nn.Linear(n_state, n_state * 3), nn.ReLU(), nn.Linear(n_state * 3, n_state))
        self.mlp_ln = nn.LayerNorm(n_state)
        self.drop = nn.Dropout(p)

    def forward(self, x, cache=None):
        a, cache = self.attn(self.attn_ln(x), cache)
        x = x + self.drop(a)
        x = x + self.drop(self.mlp(self.mlp_ln(x)))
        return x, cache


class LocalLM(nn.Module):
    def __init__(self, n_vocab=50, n_ctx=64, n_state=24, n_head=3, n_layer=2, window=WINDOW, p=0.1):
        super().__init__()
        self.n_ctx = n_ctx
        self.token_embedding = nn.Embedding(n_vocab, n_state)
        self.register_buffer('positions', sinusoids(n_ctx, n_state))
        self.blocks = nn.ModuleList([ResidualBlock(n_state, n_head, window, p) for _ in range(n_layer)])
        self.ln = nn.LayerNorm(n_state)
        self.head = nn.Linear(n_state, n_vocab)

    def embed(self, ids, offset):
        t = ids.size(1)
        if offset + t > self.n_ctx:
            raise ValueError(f'{offset + t} tokens, but only {self.n_ctx} positions')
        return self.token_embedding(ids) + self.positions[offset:offset + t]

    def forward(self, ids):
        x = self.embed(ids, 0)
        for block in self.blocks:
            x, _ = block(x)
        return self.head(self.ln(x))

    def step(self, ids, state=None):
        if state is None:
            state = {'seen': 0, 'layers': [None] * len(self.blocks)}
        x = self.embed(ids, state['seen'])
        layers = []
        for block, cache in zip(self.blocks, state['layers']):
            x, cache = block(x, cache)
            layers.append(cache)
        return self.head(self.ln(x)), {'seen': state['seen'] + ids.size(1), 'layers': layers}


def make():
    return LocalLM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True,
        'kind': 'lm', 'step': 'step', 'window': WINDOW, 'max_len': 64, 'padding': None, 'output': 'tensor', 'layers': 2,
        'says': 'model(ids) -> logits (b, t, 50); each layer sees the last 8 tokens, itself counted; '
                'model.step(ids, state) -> (logits of the new tokens, new state), state=None at first, one or more '
                'tokens a call, an old state may be used again; more than 64 tokens raises'}
