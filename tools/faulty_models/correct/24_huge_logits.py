"""A causal LM whose logits are scaled to the thousands (small temperature); relative, not absolute, accuracy counts."""
import torch
import torch.nn as nn


class HotLM(nn.Module):
    def __init__(self, vocab=50, d=32, heads=4, layers=2, max_len=64, temperature=1e-3):
        super().__init__()
        self.temperature = temperature
        self.embed = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(max_len, d)
        layer = nn.TransformerEncoderLayer(d, heads, 2 * d, 0.1, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, layers, norm=nn.LayerNorm(d), enable_nested_tensor=False)
        self.head = nn.Linear(d, vocab)

    def forward(self, ids):
        t = ids.size(1)
        x = self.embed(ids) + self.pos.weight[torch.arange(t, device=ids.device)]
        causal = nn.Transformer.generate_square_subsequent_mask(t, device=x.device, dtype=x.dtype)
        return self.head(self.body(x, mask=causal)) / self.temperature


def make():
    return HotLM()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'lm',
        'step': None, 'window': None, 'max_len': 64, 'padding': None, 'output': 'tensor', 'logit_scale': 1000,
        'says': 'model(ids) -> (b, t, 50), logits of size about 1000'}
