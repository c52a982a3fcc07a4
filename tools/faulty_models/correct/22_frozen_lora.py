"""A frozen encoder with LoRA adapters: the B matrices start at zero, so the A matrices get no gradient at the first step."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Module):
    def __init__(self, d_in, d_out, r=4, alpha=8):
        super().__init__()
        self.base = nn.Linear(d_in, d_out)
        self.base.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(r, d_in) / r)
        self.lora_B = nn.Parameter(torch.zeros(d_out, r))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.base(x) + self.dropout(x) @ self.lora_A.T @ self.lora_B.T * self.scaling


class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.v = LoRALinear(d, d), LoRALinear(d, d)
        self.k, self.o = nn.Linear(d, d), nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        for m in (self.norm1, self.norm2, self.k, self.o, self.up, self.down):
            m.requires_grad_(False)

    def forward(self, x, mask):
        y = self.norm1(x)
        q, k, v = (f(y).unflatten(-1, (self.h, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(a.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, vocab=50, d=32, h=4, depth=2, n_class=3, max_len=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, d).requires_grad_(False)
        self.pos = nn.Embedding(max_len, d).requires_grad_(False)
        self.blocks = nn.ModuleList(Block(d, h) for _ in range(depth))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, n_class)

    def forward(self, ids, attention_mask=None):
        x = self.embed(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        for block in self.blocks:
            x = block(x, mask)
        return (self.head(self.norm(x)[:, 0]),)


def make():
    m = Model()
    # as after some training: the adapters of the second block have moved, those of the first are new
    for lin in (m.blocks[1].q, m.blocks[1].v):
        nn.init.normal_(lin.lora_B, std=0.1)
    return m


CALL = {'vocab_sz': 50, 'pad_idx': None, 'mask': 'attention_mask', 'mask_true_is': 'seen', 'mask_dtype': 'bool',
        'causal': False, 'kind': 'classifier', 'step': None, 'window': None, 'max_len': 64, 'padding': 'right', 'n_out': 3,
        'output': 'tuple', 'no_grad_ok': ['lora_A'],
        'says': 'model(ids, attention_mask=m)[0] -> (b, 3); m bool, True = seen; padding on the right; most weights are '
                'frozen, lora_A of the first block gets a zero gradient until lora_B has moved'}
calls = [lambda model, ids, pad: model(ids, attention_mask=~pad)[0]]
