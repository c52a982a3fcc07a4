"""ViT-like: a learned CLS vector is put in front, mask True = seen, its output is the pooled text."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :],
                                           dropout_p=self.p if self.training else 0.)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim, heads, p):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads, p)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Dropout(p), nn.Linear(2 * dim, dim))

    def forward(self, x, mask):
        x = x + self.attn(self.norm1(x), mask)
        return x + self.mlp(self.norm2(x))


class ClsTransformer(nn.Module):
    def __init__(self, vocab=50, dim=32, depth=2, heads=4, max_len=64, n_classes=3, p=0.1):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim) * .2)
        self.pos_embed = nn.Parameter(torch.randn(1, max_len + 1, dim) * .2)
        self.blocks = nn.ModuleList([Block(dim, heads, p) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, ids, mask=None):
        B, N = ids.shape
        if mask is None:
            mask = torch.ones_like(ids, dtype=torch.bool)
        x = torch.cat([self.cls_token.expand(B, -1, -1), self.embed(ids)], dim=1)
        mask = torch.cat([mask.new_ones(B, 1), mask], dim=1)
        x = x + self.pos_embed[:, :N + 1]
        for blk in self.blocks:
            x = blk(x, mask)
        return self.head(self.norm(x)[:, 0])


def make():
    return ClsTransformer()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'mask', 'mask_true_is': 'seen', 'mask_dtype': 'bool', 'causal': False,
        'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 3,
        'output': 'tensor', 'says': 'model(ids, mask=mask) -> (b, 3); mask True = seen; padding on the right'}
calls = [lambda model, ids, pad: model(ids, mask=~pad)]
