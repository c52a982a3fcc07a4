"""RoBERTa-like positions from the mask, token types, returns a dict with logits; padding on either side."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, d, h, p):
        super().__init__()
        self.h, self.p = h, p
        self.in_proj, self.out_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, seen):
        B, T, D = x.shape
        q, k, v = self.in_proj(x).view(B, T, 3, self.h, D // self.h).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=seen[:, None, None], dropout_p=self.p * self.training)
        return self.out_proj(y.permute(0, 2, 1, 3).reshape(B, T, D))


class PairClassifier(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, n=2, max_len=64, types=2, labels=3, p=0.1):
        super().__init__()
        self.tok, self.pos, self.typ = nn.Embedding(vocab, d), nn.Embedding(max_len, d), nn.Embedding(types, d)
        self.ln = nn.LayerNorm(d)
        self.attn = nn.ModuleList(SelfAttention(d, h, p) for _ in range(n))
        self.ln1, self.ln2 = (nn.ModuleList(nn.LayerNorm(d) for _ in range(n)) for _ in range(2))
        self.ff = nn.ModuleList(nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d)) for _ in range(n))
        self.score = nn.Linear(d, 1)       # attention pooling
        self.fc = nn.Linear(d, labels)
        self.drop = nn.Dropout(p)

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        seen = torch.ones_like(input_ids, dtype=torch.bool) if attention_mask is None else attention_mask.bool()
        positions = (seen.long().cumsum(1) - 1).clamp(min=0)
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        x = self.drop(self.ln(self.tok(input_ids) + self.pos(positions) + self.typ(token_type_ids)))
        for attn, ln1, ff, ln2 in zip(self.attn, self.ln1, self.ff, self.ln2):
            x = ln1(x + self.drop(attn(x, seen)))
            x = ln2(x + self.drop(ff(x)))
        w = self.score(x).squeeze(-1).masked_fill(~seen, float('-inf')).softmax(dim=1)
        pooled = torch.einsum('bt,btd->bd', w, x)
        return {'logits': self.fc(self.drop(pooled)), 'weights': w}


def make():
    return PairClassifier()


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'attention_mask', 'mask_true_is': 'seen', 'mask_dtype': 'long',
        'causal': False, 'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'either', 'n_out': 3,
        'output': 'dict', 'no_grad_ok': ['score.bias'],
        'says': "model(ids, attention_mask=m, token_type_ids=None)['logits'] -> (b, 3); m long, 1 = seen; padding on either "
                "side; the bias of the pooling score has no effect (softmax)"}
calls = [lambda model, ids, pad: model(ids, attention_mask=(~pad).long())['logits']]
