"""One hour: from a bigram to a transformer, in plain PyTorch. Each step adds one part, is trained, and adds a row to
a table of validation losses. nbs/course/one_hour.ipynb explains each step; here is its code in one file.

    python one_hour.py        # one seed: two minutes of one core
    python one_hour.py 3      # three seeds, and their spread
"""
import sys
import math, time
from pydoc_data.topics import topics      # the text: Python's own reference, which comes with Python
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)                                      # so small a model gains nothing from more
text = '\n'.join(topics[name] for name in sorted(topics))
vocab = sorted(set(text))
char2id = {char: i for i,char in enumerate(vocab)}
ids = torch.tensor([char2id[char] for char in text])
v,cut = len(vocab),len(ids)*9//10
train_ids,valid_ids = ids[:cut],ids[cut:]                     # the last tenth is for validation
b,t,k = 16,64,64                                              # texts in a batch, tokens in a text, width

def batch(ids):
    "Random pieces of a text, and the same pieces one character later, each `(b,t)`"
    starts = torch.randint(len(ids)-t, (b,1))
    x = starts + torch.arange(t)
    return ids[x],ids[x+1]

def loss_of(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())   # of (b*t,v) logits and (b*t,) targets

@torch.no_grad()
def valid_loss(model):
    torch.manual_seed(1)                                      # the same 80 batches for all models
    return sum(loss_of(model, *batch(valid_ids)).item() for _ in range(80))/80

def fit(make, seed=0, steps=600, lr=8e-3):
    "Make a model, train it, and return it with its validation loss"
    torch.manual_seed(seed)
    model = make()
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    for _ in range(steps):
        loss = loss_of(model, *batch(train_ids))
        loss.backward()
        opt.step()
        opt.zero_grad()
    return model,valid_loss(model)

class LanguageModel(nn.Module):
    "Characters to vectors, a `body` that changes the vectors, and vectors to logits of the next character"
    def __init__(self, body, positions=True, norm=False):
        super().__init__()
        self.embedding = nn.Embedding(v, k)
        self.positions = nn.Embedding(t, k) if positions else None
        self.body = body
        self.norm = nn.LayerNorm(k) if norm else nn.Identity()
        self.tologits = nn.Linear(k, v, bias=False)

    def forward(self, ids):                                   # (b,t)
        x = self.embedding(ids)                               # (b,t,k)
        if self.positions: x = x + self.positions.weight[:ids.shape[1]]
        return self.tologits(self.norm(self.body(x)))         # (b,t,v)

class Head(nn.Module):
    "Each character takes a weighted average of itself and of those before it"
    def __init__(self):
        super().__init__()
        self.toqueries,self.tokeys,self.tovalues = (nn.Linear(k, k, bias=False) for _ in range(3))

    def forward(self, x):                                     # (b,t,k)
        queries,keys,values = self.toqueries(x),self.tokeys(x),self.tovalues(x)
        scores = queries @ keys.mT / k**.5                    # (b,t,t)
        later = torch.ones(scores.shape[1:]).triu(1).bool()   # True: comes later
        return scores.masked_fill(later, -math.inf).softmax(-1) @ values

class Heads(nn.Module):
    "Four averages instead of one, each of a quarter of the width, joined by a last matrix"
    def __init__(self, heads=4):
        super().__init__()
        self.heads = heads
        self.toqueries,self.tokeys,self.tovalues = (nn.Linear(k, k, bias=False) for _ in range(3))
        self.unifyheads = nn.Linear(k, k)

    def split(self, x):                                       # (b,t,k) -> (b,h,t,s)
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):                                     # (b,t,k)
        queries,keys,values = (self.split(f(x)) for f in (self.toqueries, self.tokeys, self.tovalues))
        scores = queries @ keys.mT / queries.shape[-1]**.5    # (b,h,t,t)
        later = torch.ones(scores.shape[2:]).triu(1).bool()
        out = scores.masked_fill(later, -math.inf).softmax(-1) @ values     # (b,h,t,s)
        return self.unifyheads(out.transpose(1, 2).flatten(2))              # (b,t,k)

def feed_forward(): return nn.Sequential(nn.Linear(k, 4*k), nn.ReLU(), nn.Linear(4*k, k))

class Block(nn.Module):
    "Attention, then a feed-forward network; each adds to what came in (`residual`), and gets it normalized (`norm`)"
    def __init__(self, residual=True, norm=True):
        super().__init__()
        self.residual = residual
        self.attention,self.ff = Heads(),feed_forward()
        self.norm1,self.norm2 = (nn.LayerNorm(k) if norm else nn.Identity() for _ in range(2))

    def forward(self, x):                                     # (b,t,k)
        for part,norm in ((self.attention,self.norm1), (self.ff,self.norm2)):
            change = part(norm(x))
            x = x + change if self.residual else change
        return x

steps = {
    'bigram':                 lambda: LanguageModel(nn.Identity(), positions=False),
    'one head':               lambda: LanguageModel(Head(), positions=False),
    'with positions':         lambda: LanguageModel(Head()),
    'four heads':             lambda: LanguageModel(Heads()),
    'with a feed-forward':    lambda: LanguageModel(nn.Sequential(Heads(), feed_forward())),
    'three such blocks':      lambda: LanguageModel(nn.Sequential(*(Block(residual=False, norm=False) for _ in range(3)))),
    'with residuals':         lambda: LanguageModel(nn.Sequential(*(Block(norm=False) for _ in range(3)))),
    'with norms':             lambda: LanguageModel(nn.Sequential(*(Block() for _ in range(3))), norm=True)}

@torch.no_grad()
def write(model, prompt, n=300, temperature=.7):
    "`prompt`, and `n` characters that are drawn one after the other"
    ids = torch.tensor([[char2id[char] for char in prompt]])  # (1,t)
    for _ in range(n):
        logits = model(ids[:,-t:])[:,-1]                      # (1,v): of the last character
        drawn = torch.multinomial((logits/temperature).softmax(-1), 1)
        ids = torch.cat([ids, drawn], 1)
    return ''.join(vocab[i] for i in ids[0].tolist())

if __name__ == '__main__':
    seeds = range(int(sys.argv[1]) if sys.argv[1:] else 1)
    print(f'{len(ids):,} characters, {v} different ones; a guess has the loss log {v} = {math.log(v):.2f}')
    for name,make in steps.items():
        start = time.process_time()
        fits = [fit(make, seed) for seed in seeds]
        losses = [loss for _,loss in fits]
        spread = f'  ({min(losses):.2f} to {max(losses):.2f})' if len(losses)>1 else ''
        print(f'{name:20} {sum(losses)/len(losses):.2f}{spread}   {time.process_time()-start:.0f} s')
    print(write(fits[0][0], 'The '))
