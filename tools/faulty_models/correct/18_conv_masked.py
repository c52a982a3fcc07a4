"""Gated convolutions with residuals; hidden positions are zeroed before each convolution; masked mean."""
import torch
from torch import nn
import torch.nn.functional as F


class GLUBlock(nn.Module):
    def __init__(self, d, kernel):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.conv = nn.Conv1d(d, 2 * d, kernel, padding=kernel // 2)

    def forward(self, x, keep):
        y = self.norm(x) * keep
        y = F.glu(self.conv(y.transpose(1, 2)), dim=1).transpose(1, 2)
        return x + y


class ConvClassifier(nn.Module):
    def __init__(self, vocab=50, d=32, depth=2, kernel=5, classes=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.blocks = nn.ModuleList(GLUBlock(d, kernel) for _ in range(depth))
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(d, classes)

    def forward(self, ids, padding_mask=None):
        if padding_mask is None:
            padding_mask = torch.zeros_like(ids, dtype=torch.bool)
        x = self.emb(ids)
        keep = (~padding_mask)[..., None].to(x.dtype)
        for block in self.blocks:
            x = block(x, keep)
        x = (x * keep).sum(1) / keep.sum(1)
        return self.fc(self.drop(x))


def make():
    return ConvClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'padding_mask', 'mask_true_is': 'hidden', 'mask_dtype': 'bool',
        'causal': False, 'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'over_max_len': 'works',
        'padding': 'either', 'n_out': 4, 'output': 'tensor', 'local': False,
        'says': 'model(ids, padding_mask=m) -> (b, 4); m bool, True = hidden; padding on either side; any length works'}
calls = [lambda model, ids, pad: model(ids, padding_mask=pad)]
