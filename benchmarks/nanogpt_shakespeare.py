"""nanoGPT's recipe for a CPU on tiny Shakespeare, to compare `examples/shakespeare.py` with, rewritten from its README and config:
4 layers, 4 heads, width 128, context 64, batch 12, 2,000 steps of AdamW from 1e-3 to 1e-4, no dropout, no biases, GELU, tied
embedding; every 250 steps the loss of 20 batches of training and of validation. Its times include that, as there.

    python benchmarks/nanogpt_shakespeare.py
    python benchmarks/nanogpt_shakespeare.py --ours                  # the same recipe, with a `TransformerLM` of this library
    python benchmarks/nanogpt_shakespeare.py --held-out first        # validated on the first tenth of the text, not on the last

With `--ours` all else is the same: sizes, the weights to start from, batches and steps. What differs is the code of the model, so the loss
must come out the same, and the time may not. `--own-start` starts it from weights as this library initializes them instead.
"""
import json, math, time
from functools import partial
import torch, torch.nn.functional as F
from torch import nn
from fastai.basics import fastai_cfg
from fastcore.script import call_parse, store_true
from transformers_from_scratch.all import (FeedForward, SelfAttentionAutoRegressive, TransformerLM,
                                           use_fast_layers)

class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        linear = lambda a,b: nn.Linear(a, b, bias=False)
        self.heads,self.norm1,self.norm2 = heads,nn.LayerNorm(d, bias=False),nn.LayerNorm(d,
            bias=False)
        self.qkv,self.proj,self.up,self.down = (linear(d, 3*d),linear(d, d),linear(d,
            4*d),linear(4*d, d))
    def forward(self, x):
        q,k,v = (o.unflatten(-1, (self.heads,-1)).transpose(1,2)
                 for o in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v,
                                                         is_causal=True).transpose(1,
            2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

class GPT(nn.Module):
    def __init__(self, v, d=128, depth=4, heads=4, t=64):
        super().__init__()
        self.tokens,self.positions = nn.Embedding(v, d),nn.Embedding(t, d)
        self.blocks,self.norm = (nn.Sequential(*[Block(d, heads) for _ in range(depth)]),
                                 nn.LayerNorm(d, bias=False))
        for name,p in self.named_parameters():
            last = name.endswith(('proj.weight','down.weight'))
            if p.dim()==2: nn.init.normal_(p, std=.02/math.sqrt(2*depth) if last else .02)
    def forward(self, x):
        return (self.norm(self.blocks(self.tokens(x) + self.positions.weight[:x.shape[1]]))
                @ self.tokens.weight.T)

def as_ours(gpt, v, own_start):
    "A `TransformerLM` of the sizes of `gpt`, and unless `own_start` with its weights; draws nothing from the random generator of batches"
    no_bias = {n: partial(o, bias=False) for n,o in dict(attn_cls=SelfAttentionAutoRegressive,
                                                         ff_cls=FeedForward,
                                                         norm_cls=nn.LayerNorm).items()}
    with torch.random.fork_rng():
        model = use_fast_layers(TransformerLM(v, k=128, heads=4, depth=4, max_len=64, pad_idx=None,
                                              dropout=0., act_cls=nn.GELU, **no_bias))
    assert sum(p.numel() for p in model.parameters())==sum(p.numel() for p in gpt.parameters())
    if own_start: return model
    pairs = [(model[0].embedding.weight, gpt.tokens.weight),
             (model[0].positions.embedding.weight, gpt.positions.weight)]
    for a,b in zip(model[0].blocks, gpt.blocks):
        q,k,v = b.qkv.weight.chunk(3)
        pairs += [(a.attention.toqueries.weight, q), (a.attention.tokeys.weight, k),
                  (a.attention.tovalues.weight, v), (a.attention.unifyheads.weight,
                                                     b.proj.weight), (a.ff.up.weight,
            b.up.weight), (a.ff.down.weight, b.down.weight)]
    with torch.no_grad():
        for to,o in pairs: to.copy_(o)
        x = torch.arange(64)[None]
        torch.testing.assert_close(model(x), gpt(x), atol=1e-5, rtol=1e-4)          # the same model
    return model

@call_parse
def main(
    seed:int=1337, # Seed of weights and batches
    threads:int=2, # Threads for torch
    ours:store_true=False, # Train a `TransformerLM` of this library
    own_start:store_true=False, # Start it from weights as this library initializes them
    held_out:str='last', # Which tenth of the text to validate on, 'last' or 'first'; nothing was tuned on the first
):
    "Train, and print the loss on a tenth of the text: of its last 20 batches, and of all of it"
    if held_out not in ('last','first'):
        raise SystemExit(f"--held-out must be 'last' or 'first', not {held_out!r}")
    torch.set_num_threads(threads); torch.manual_seed(seed)
    text = (fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8')
    where,n = {c: i for i,c in enumerate(sorted(set(text)))},int(.9*len(text))
    if held_out=='first': text = text[len(text)-n:]+text[:len(text)-n]
    ids,model = torch.tensor([where[c] for c in text]),GPT(len(where))
    data = dict(train=ids[:n], val=ids[n:])
    if ours or own_start: model = as_ours(model, len(where), own_start)
    groups = [[p for p in model.parameters() if (p.dim()>1)==o] for o in (True,False)]
    opt = torch.optim.AdamW([dict(params=ps, weight_decay=wd) for ps,wd in zip(groups, (.1,0))],
                            lr=1e-3, betas=(.9,.99))
    def batch(part):
        at = torch.randint(len(data[part])-64, (12,)).tolist()
        return [torch.stack([data[part][i+j:i+j+64] for i in at]) for j in (0,1)]
    def loss(x, y, **kwargs): return F.cross_entropy(model(x).flatten(0,1), y.flatten(), **kwargs)
    @torch.no_grad()
    def look(): return {o: sum(loss(*batch(o)).item() for _ in range(20))/20 for o in data}
    start,start_cpu = time.time(),time.process_time()
    for i in range(2001):
        lr = 1e-3*(i+1)/101 if i<100 else 1e-4 + .5*(1+math.cos(math.pi*(i-100)/1900))*9e-4
        for g in opt.param_groups: g['lr'] = lr
        if i%250==0: last = look()
        if i==2000: break
        loss(*batch('train')).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad(set_to_none=True)
    secs,cpu_secs,val,k = (time.time()-start,time.process_time()-start_cpu,data['val'],
                           (len(data['val'])-1)//64)
    x,y = (val[j:j+k*64].view(k, 64) for j in (0,1))
    with torch.no_grad():
        whole = (sum(loss(a, b, reduction='sum').item()
                     for a,b in zip(x.split(64), y.split(64)))/(k*64))
    print(json.dumps(dict(secs=round(secs, 1), processor_secs=round(cpu_secs, 1),
                          last_20_batches=round(last['val'], 4), all=round(whole, 4), seed=seed,
                          threads=threads, model='ours, own start' if own_start else 'ours'
                          if ours else 'rewritten', held_out=held_out)))
