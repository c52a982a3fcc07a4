"""nn.TransformerEncoder in a wrapper: ids -> class scores, masked max pooling."""
import torch
import torch.nn as nn


class PositionalEmbedding(nn.Module):
    def __init__(self, d_model, max_len):
        super().__init__()
        self.emb = nn.Embedding(max_len, d_model)

    def forward(self, x, pad_mask):
        # count real tokens only, so that padding on the left does not shift the text
        positions = ((~pad_mask).long().cumsum(dim=1) - 1).clamp(min=0)
        return x + self.emb(positions)


class TransformerClassifier(nn.Module):
    def __init__(self, vocab_size=50, d_model=32, nhead=4, num_layers=2, dim_feedforward=64, n_classes=6,
                 max_len=64, pad_idx=0, dropout=0.1):
        super().__init__()
        self.pad_idx = pad_idx
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_idx)
        self.pos = PositionalEmbedding(d_model, max_len)
        self.dropout = nn.Dropout(dropout)
        encoder_layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward, dropout, batch_first=True)
        self.encoder = nn.TransformerEncoder(encoder_layer, num_layers, enable_nested_tensor=False)
        self.fc = nn.Linear(d_model, n_classes)

    def pool(self, h, pad_mask):
        h = h.masked_fill(pad_mask.unsqueeze(-1), float('-inf'))
        return h.max(dim=1).values

    def forward(self, ids):
        pad_mask = ids == self.pad_idx
        x = self.embedding(ids)
        x = self.dropout(self.pos(x, pad_mask))
        h = self.encoder(x, src_key_padding_mask=pad_mask)
        return self.fc(self.pool(h, pad_mask))


def make():
    return TransformerClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': 0, 'mask': None, 'mask_true_is': None, 'causal': False,
        'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'either', 'n_out': 6,
        'output': 'tensor', 'pad_row_frozen': True,
        'says': 'model(ids) -> (b, 6); id 0 is padding, on the left or on the right'}
