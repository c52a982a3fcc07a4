"""Regularised in training by word dropout and LayerDrop, deterministic in eval; padding by id on either side."""
import torch
from torch import nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, h)     # time first
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.l1, self.l2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x, pad):
        x = self.n1(x + self.mha(x, x, x, key_padding_mask=pad)[0])
        return self.n2(x + self.l2(F.relu(self.l1(x))))


class WordDropoutTagger(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, tags=8, max_len=64, pad=0, unk=2, token_dropout=0.1, layerdrop=0.1):
        super().__init__()
        self.pad, self.unk, self.token_dropout, self.layerdrop = pad, unk, token_dropout, layerdrop
        self.emb = nn.Embedding(vocab, d, padding_idx=pad)
        self.pos = nn.Embedding(max_len + 1, d, padding_idx=0)
        self.layers = nn.ModuleList(Layer(d, h) for _ in range(n))
        self.out = nn.Linear(d, tags)

    def forward(self, ids):
        pad = ids == self.pad
        pos = (~pad).long().cumsum(1) * (~pad)
        if self.training and self.token_dropout > 0:
            drop = (torch.rand(ids.shape, device=ids.device) < self.token_dropout) & ~pad
            ids = ids.masked_fill(drop, self.unk)
        x = (self.emb(ids) + self.pos(pos)).transpose(0, 1)
        for layer in self.layers:
            if self.training and torch.rand(()) < self.layerdrop:
                continue
            x = layer(x, pad)
        return self.out(x).transpose(0, 1)


def make():
    return WordDropoutTagger()


CALL = {'vocab_sz': 50, 'pad_idx': 0, 'mask': None, 'mask_true_is': None, 'causal': False, 'kind': 'tagger',
        'step': None, 'window': None, 'max_len': 64, 'padding': 'either', 'n_out': 8, 'output': 'tensor',
        'pad_row_frozen': True,
        'says': 'model(ids) -> (b, t, 8); id 0 is padding, on either side; what stands at padding positions means nothing; '
                'in training words are replaced by id 2 and whole layers are skipped at random'}
