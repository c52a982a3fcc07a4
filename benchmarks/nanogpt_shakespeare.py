"""nanoGPT's recipe for a CPU on tiny Shakespeare, to compare `examples/shakespeare.py` with, rewritten from its README and config:
4 layers, 4 heads, width 128, context 64, batch 12, 2,000 steps of AdamW from 1e-3 to 1e-4, no dropout, no biases, GELU, tied
embedding; every 250 steps a look at 20 batches of training and of validation. Its times include these looks, as there.

    python benchmarks/nanogpt_shakespeare.py
"""
import json, math, time
import torch, torch.nn.functional as F
from torch import nn
from fastai.basics import fastai_cfg
from fastcore.script import call_parse

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        linear = lambda a,b: nn.Linear(a, b, bias=False)
        self.heads,self.norm1,self.norm2 = heads,nn.LayerNorm(d, bias=False),nn.LayerNorm(d, bias=False)
        self.qkv,self.proj,self.up,self.down = linear(d, 3*d),linear(d, d),linear(d, 4*d),linear(4*d, d)
    def forward(self, x):
        q,k,v = (o.unflatten(-1, (self.heads,-1)).transpose(1,2) for o in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1,2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

class GPT(nn.Module):
    def __init__(self, v, d=128, depth=4, heads=4, t=64):
        super().__init__()
        self.tokens,self.positions = nn.Embedding(v, d),nn.Embedding(t, d)
        self.blocks,self.norm = nn.Sequential(*[Block(d, heads) for _ in range(depth)]),nn.LayerNorm(d, bias=False)
        for name,p in self.named_parameters():
            last = name.endswith(('proj.weight','down.weight'))
            if p.dim()==2: nn.init.normal_(p, std=.02/math.sqrt(2*depth) if last else .02)
    def forward(self, x):
        return self.norm(self.blocks(self.tokens(x) + self.positions.weight[:x.shape[1]])) @ self.tokens.weight.T

@call_parse
def main(
    seed:int=1337, # Seed of weights and batches
    threads:int=2, # Threads for torch
):
    "Train, and print the loss on the last tenth of the text: of its last 20 batches, and of all of it"
    torch.set_num_threads(threads); torch.manual_seed(seed)
    text = (fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8')
    where = {c: i for i,c in enumerate(sorted(set(text)))}
    ids,n = torch.tensor([where[c] for c in text]),int(.9*len(text))
    data,model = dict(train=ids[:n], val=ids[n:]),GPT(len(where))
    groups = [[p for p in model.parameters() if (p.dim()>1)==o] for o in (True,False)]
    opt = torch.optim.AdamW([dict(params=ps, weight_decay=wd) for ps,wd in zip(groups, (.1,0))], lr=1e-3, betas=(.9,.99))
    def batch(part):
        at = torch.randint(len(data[part])-64, (12,)).tolist()
        return [torch.stack([data[part][i+j:i+j+64] for i in at]) for j in (0,1)]
    def loss(x, y, **kwargs): return F.cross_entropy(model(x).flatten(0,1), y.flatten(), **kwargs)
    @torch.no_grad()
    def look(): return {o: sum(loss(*batch(o)).item() for _ in range(20))/20 for o in data}
    start = time.time()
    for i in range(2001):
        lr = 1e-3*(i+1)/101 if i<100 else 1e-4 + .5*(1+math.cos(math.pi*(i-100)/1900))*9e-4
        for g in opt.param_groups: g['lr'] = lr
        if i%250==0: last = look()
        if i==2000: break
        loss(*batch('train')).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad(set_to_none=True)
    secs,val,k = time.time()-start,data['val'],(len(data['val'])-1)//64
    x,y = (val[j:j+k*64].view(k, 64) for j in (0,1))
    with torch.no_grad(): whole = sum(loss(a, b, reduction='sum').item() for a,b in zip(x.split(64), y.split(64)))/(k*64)
    print(json.dumps(dict(secs=round(secs, 1), last_20_batches=round(last['val'], 4), all=round(whole, 4), seed=seed, threads=threads)))
