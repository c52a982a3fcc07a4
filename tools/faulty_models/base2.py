"""Text classifier, post-norm, einsum attention.  `mask` is True where a token is hidden (padding)."""
import torch
from torch import nn, einsum
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, heads=4, dropout=0.1):
        super().__init__()
        self.heads = heads
        self.scale = (dim // heads) ** -0.5
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        h = self.heads
        q, k, v = self.to_qkv(x).reshape(b, n, 3, h, -1).unbind(dim=2)

        sim = einsum('b i h d, b j h d -> b h i j', q, k) * self.scale
        if mask is not None:
            sim = sim.masked_fill(mask[:, None, None, :], -1e9)
        attn = sim.softmax(dim=-1)
        attn = self.drop(attn)

        out = einsum('b h i j, b j h d -> b i h d', attn, v)
        return self.to_out(out.reshape(b, n, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, mult=2, dropout=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(dim, dim * mult),
            nn.GELU(),
            nn.Dropout(dropout),
            nn.Linear(dim * mult, dim),
        )

    def forward(self, x):
        return self.net(x)


class EncoderLayer(nn.Module):
    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.attn = SelfAttention(dim, heads, dropout)
        self.norm1 = nn.LayerNorm(dim)
        self.ff = FeedForward(dim, dropout=dropout)
        self.norm2 = nn.LayerNorm(dim)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.drop(self.attn(x, mask)))
        x = self.norm2(x + self.drop(self.ff(x)))
        return x


class TextClassifier(nn.Module):
    def __init__(self, num_tokens=50, num_classes=5, dim=32, depth=2, heads=4, max_len=64, dropout=0.1):
        super().__init__()
        self.token_emb = nn.Embedding(num_tokens, dim)
        self.pos_emb = nn.Parameter(torch.randn(max_len, dim) * 0.1)
        self.drop = nn.Dropout(dropout)
        self.layers = nn.ModuleList([EncoderLayer(dim, heads, dropout) for _ in range(depth)])
        self.head = nn.Linear(dim, num_classes)

    def pool(self, x, mask):
        if mask is None:
            return x.mean(dim=1)
        keep = (~mask).unsqueeze(-1).to(x.dtype)
        return (x * keep).sum(dim=1) / keep.sum(dim=1).clamp(min=1)

    def forward(self, ids, mask=None):
        n = ids.shape[1]
        x = self.token_emb(ids) + self.pos_emb[torch.arange(n, device=ids.device)]
        x = self.drop(x)
        for layer in self.layers:
            x = layer(x, mask)
        return self.head(self.pool(x, mask))


def make():
    return TextClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'mask', 'mask_true_is': 'hidden', 'mask_dtype': 'bool',
        'causal': False, 'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64,
        'padding': 'right', 'n_out': 5, 'output': 'tensor',
        'says': 'model(ids, mask=mask) -> (b, 5); mask (b, t) bool, True = hidden, or None; padding on the right'}
calls = [lambda model, ids, pad: model(ids, mask=pad)]
