"""A causal classifier as in GPT2ForSequenceClassification: the last real token is pooled."""
import torch
from torch import nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.ln1, self.ln2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn_in, self.attn_out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.fc, self.proj = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        q, k, v = (z.unflatten(-1, (self.h, -1)).transpose(1, 2) for z in self.attn_in(self.ln1(x)).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0)
        x = x + F.dropout(self.attn_out(y.transpose(1, 2).flatten(2)), self.p, self.training)
        return x + F.dropout(self.proj(F.gelu(self.fc(self.ln2(x)))), self.p, self.training)


class GPTForSequenceClassification(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, max_len=64, pad_token_id=0, num_labels=3, p=0.1):
        super().__init__()
        self.pad_token_id, self.p = pad_token_id, p
        self.wte = nn.Embedding(vocab, d)
        self.wpe = nn.Embedding(max_len, d)
        self.h = nn.ModuleList(Layer(d, h, p) for _ in range(n))
        self.ln_f = nn.LayerNorm(d)
        self.score = nn.Linear(d, num_labels, bias=False)

    def forward(self, input_ids):
        b, t = input_ids.shape
        x = self.wte(input_ids) + self.wpe(torch.arange(t, device=input_ids.device))
        x = F.dropout(x, self.p, self.training)
        for layer in self.h:
            x = layer(x)
        logits = self.score(self.ln_f(x))
        # causal attention: what stands to the right of the last real token cannot change it
        idx = torch.arange(t, device=input_ids.device)
        last = (idx * (input_ids != self.pad_token_id)).argmax(-1)
        return logits[torch.arange(b, device=input_ids.device), last]


def make():
    return GPTForSequenceClassification()


CALL = {'vocab_sz': 50, 'pad_idx': 0, 'mask': None, 'mask_true_is': None, 'causal': True, 'kind': 'classifier',
        'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 3, 'output': 'tensor',
        'says': 'model(ids) -> (b, 3); id 0 is padding, on the right'}
