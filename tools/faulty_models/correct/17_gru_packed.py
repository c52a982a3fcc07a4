"""Bidirectional GRU over packed sequences; padding on the right by its id, last states pooled."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence


class GRUClassifier(nn.Module):
    def __init__(self, vocab=50, emb=24, hidden=16, classes=5, pad_idx=1):
        super().__init__()
        self.pad_idx = pad_idx
        self.embedding = nn.Embedding(vocab, emb, padding_idx=pad_idx)
        self.dropout = nn.Dropout(0.25)
        self.rnn = nn.GRU(emb, hidden, num_layers=2, bidirectional=True, batch_first=True, dropout=0.25)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, text):
        lengths = text.ne(self.pad_idx).sum(dim=1)
        embedded = self.dropout(self.embedding(text))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        _, hidden = self.rnn(packed)
        hidden = self.dropout(torch.cat((hidden[-2], hidden[-1]), dim=1))
        return self.fc(hidden)


def make():
    return GRUClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': 1, 'mask': None, 'mask_true_is': None, 'causal': False, 'kind': 'classifier',
        'step': None, 'window': None, 'max_len': 64, 'over_max_len': 'works', 'padding': 'right', 'n_out': 5,
        'output': 'tensor', 'pad_row_frozen': True,
        'says': 'model(ids) -> (b, 5); id 1 is padding, on the right; any length works'}
