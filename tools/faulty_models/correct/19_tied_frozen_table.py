"""GPT-like LM: output tied to the embedding, frozen sinusoidal table, final bias."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def get_sinusoid_encoding_table(n_position, d_hid):
    table = np.array([[pos / np.power(10000, 2 * (j // 2) / d_hid) for j in range(d_hid)] for pos in range(n_position)])
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return torch.FloatTensor(table)


class Layer(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.w_qs, self.w_ks, self.w_vs = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.fc = nn.Linear(d, d)
        self.layer_norm = nn.LayerNorm(d)
        self.pos_ffn = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, d), nn.Dropout(0.1))
        self.ffn_norm = nn.LayerNorm(d)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = [w(x).view(b, t, self.h, d // self.h).transpose(1, 2) for w in (self.w_qs, self.w_ks, self.w_vs)]
        attn = torch.matmul(q / (d // self.h) ** 0.5, k.transpose(2, 3))
        future = torch.ones(t, t, device=x.device).triu(1).bool()
        attn = self.dropout(F.softmax(attn.masked_fill(future, -1e9), dim=-1))
        y = torch.matmul(attn, v).transpose(1, 2).contiguous().view(b, t, d)
        x = self.layer_norm(x + self.dropout(self.fc(y)))
        return self.ffn_norm(x + self.pos_ffn(x))


class LM(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, max_len=64):
        super().__init__()
        self.word = nn.Embedding(vocab, d)
        self.position = nn.Embedding.from_pretrained(get_sinusoid_encoding_table(max_len, d), freeze=True)
        self.stack = nn.ModuleList([Layer(d, h) for _ in range(n)])
        self.prj = nn.Linear(d, vocab)
        nn.init.normal_(self.word.weight, std=d ** -0.5)
        self.prj.weight = self.word.weight

    def forward(self, seq):
        pos = torch.arange(seq.size(1), device=seq.device)
        x = self.word(seq) * self.word.embedding_dim ** 0.5 + self.position(pos)
        for layer in self.stack:
            x = layer(x)
        return self.prj(x)


def make():
    return LM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': None, 'window': None, 'max_len': 64, 'padding': None, 'output': 'tensor',
        'tied': ('word.weight', 'prj.weight'),
        'says': 'model(ids) -> (b, t, 50); the output matrix is the embedding; the position table is frozen'}
