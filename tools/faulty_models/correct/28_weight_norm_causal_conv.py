"""TCN-like causal LM: dilated convolutions with weight normalisation (parametrization), padded on the left only."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import weight_norm


class TemporalBlock(nn.Module):
    def __init__(self, c, kernel, dilation, p):
        super().__init__()
        self.pad = (kernel - 1) * dilation
        self.conv1 = weight_norm(nn.Conv1d(c, c, kernel, dilation=dilation))
        self.conv2 = weight_norm(nn.Conv1d(c, c, kernel, dilation=dilation))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        y = self.dropout(F.relu(self.conv1(F.pad(x, (self.pad, 0)))))
        y = self.dropout(F.relu(self.conv2(F.pad(y, (self.pad, 0)))))
        return x + y


class TCN(nn.Module):
    def __init__(self, vocab=50, c=24, p=0.1):
        super().__init__()
        self.encoder = nn.Embedding(vocab, c)
        self.blocks = nn.ModuleList([TemporalBlock(c, 3, 2 ** i, p) for i in range(3)])
        self.decoder = nn.Linear(c, vocab)

    def forward(self, ids):
        x = self.encoder(ids).transpose(1, 2)
        for block in self.blocks:
            x = block(x)
        return self.decoder(x.transpose(1, 2))


def make():
    return TCN()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': None, 'window': 29, 'layers': 1, 'max_len': 64, 'over_max_len': 'works', 'padding': None,
        'output': 'tensor',
        'says': 'model(ids) -> (b, t, 50); a token sees itself and the 28 before it; any length works'}
