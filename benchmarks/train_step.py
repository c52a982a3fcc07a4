"""Time of one training step, this library beside its peers and beside the matrix products alone.

    make bench                                              # makes the environment, and runs this among others
    .venv-bench/bin/python benchmarks/train_step.py --rounds 15
    .venv-bench/bin/python benchmarks/train_step.py --dtype bf16
    .venv-bench/bin/python benchmarks/train_step.py --data imdb --bs 32 --t 512      # batches as TextDataLoaders makes them
    .venv-bench/bin/python benchmarks/train_step.py --task lm --t 128

All models do the same work: the same vocabulary, learned positions, width, heads, depth, GELU, dropout after each layer, mean over the real tokens and a linear head (or, as
language models, the head tied to the embedding), cross-entropy in 32 bits, backward, and one step of the same fused AdamW, in train mode. They take turns, step by step and in
random order, so that machine noise hits all models equally; quoted is the median over the rounds of the time of a step, and of its ratio to our step of the
same round, with the 10th and 90th percentile. "Products alone" are the matrix products of such a step, attention's included, each by the faster of PyTorch's two libraries for it.
A peer that is not installed is left out, and named.
"""
import csv, platform, sys, time
from contextlib import nullcontext
from datetime import date
from importlib.metadata import version
from pathlib import Path
import numpy as np, torch, torch.nn.functional as F
from torch import nn
from fastcore.script import bool_arg, call_parse
sys.path.insert(0, str(Path(__file__).parent.parent))
from keep_memory import keep_memory
from transformers_from_scratch.fast.layers import use_fast_layers
from transformers_from_scratch.nn.classifier import TransformerClassifier
from transformers_from_scratch.nn.lm import TransformerLM

pad = 1

class Classifier(nn.Module):
    "The mean of the outputs of `body(ids, pad_mask)` for real tokens, and a linear head"
    def __init__(self, k, n_out=2):
        super().__init__()
        self.head = nn.Linear(k, n_out)
    def forward(self, x):
        pad_mask = x==pad if (x==pad).any() else None
        h = self.body(x, pad_mask)
        if pad_mask is None: return self.head(h.mean(1))
        real = ~pad_mask[...,None]
        return self.head((h*real).sum(1)/real.sum(1))

# Peers: each returns a module `ids -> logits`

def ours(task, v, k, heads, depth, t, p):
    "Our model with the layers that learners give it"
    kw = dict(k=k, heads=heads, depth=depth, max_len=t, dropout=p, act_cls=nn.GELU)
    return use_fast_layers(TransformerLM(v, **kw) if task=='lm'
                           else TransformerClassifier(v, 2, head_dropout=0., **kw))

def pytorch(task, v, k, heads, depth, t, p):
    "`nn.TransformerEncoder` between the same embeddings and the same head"
    class Body(Classifier):
        def __init__(self):
            super().__init__(k)
            self.tokens,self.positions,self.dropout = (nn.Embedding(v, k,
                padding_idx=pad),nn.Embedding(t, k),nn.Dropout(p))
            layer = nn.TransformerEncoderLayer(k, heads, 4*k, p, F.gelu, batch_first=True,
                                               norm_first=True)
            # as in the other models: dropout on the output of each layer only
            layer.self_attn.dropout,layer.dropout.p = 0.,0.
            self.encoder = nn.TransformerEncoder(layer, depth, nn.LayerNorm(k),
                                                 enable_nested_tensor=False)
        def body(self, x, pad_mask=None, causal=False):
            h = self.dropout(self.tokens(x) + self.positions.weight[:x.shape[1]])
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]) if causal else None
            return self.encoder(h, mask=mask, src_key_padding_mask=pad_mask, is_causal=causal)
        def forward(self, x):
            return (F.linear(self.body(x, causal=True), self.tokens.weight) if task=='lm'
                    else super().forward(x))
    return Body()

def x_transformers(task, v, k, heads, depth, t, p):
    "x-transformers with the same head; its heads are set to the same width, its attention to the fused kernel"
    from x_transformers import Decoder, Encoder, TransformerWrapper
    layers = (Decoder if task=='lm' else Encoder)(dim=k, depth=depth, heads=heads,
                                                  attn_dim_head=k//heads, attn_flash=True,
                                                  attn_sublayer_dropout=p, ff_sublayer_dropout=p)
    make = lambda **kw: TransformerWrapper(num_tokens=v, max_seq_len=t, emb_dropout=p,
                                           use_abs_pos_emb=True, attn_layers=layers, **kw)
    if task=='lm': return make(tie_embedding=True)
    class Body(Classifier):
        def __init__(self): super().__init__(k); self.inner = make(return_only_embed=True)
        def body(self, x, pad_mask):
            return self.inner(x, mask=None if pad_mask is None else ~pad_mask)
    return Body()

def hugging_face(task, v, k, heads, depth, t, p):
    "BERT with the same head (its norm comes last, and it adds a token type), or GPT-2"
    from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel
    if task=='lm':
        cfg = GPT2Config(vocab_size=v, n_positions=t, n_embd=k, n_layer=depth, n_head=heads,
                         activation_function='gelu', resid_pdrop=p, embd_pdrop=p, attn_pdrop=0.,
                         bos_token_id=0, eos_token_id=0, attn_implementation='sdpa',
                         use_cache=False)
        class LM(nn.Module):
            def __init__(self): super().__init__(); self.inner = GPT2LMHeadModel(cfg)
            def forward(self, x): return self.inner(x).logits
        return LM()
    cfg = BertConfig(vocab_size=v, hidden_size=k, num_hidden_layers=depth,
                     num_attention_heads=heads, intermediate_size=4*k, max_position_embeddings=t,
                     hidden_dropout_prob=p, attention_probs_dropout_prob=0., pad_token_id=pad,
                     attn_implementation='sdpa')
    class Body(Classifier):
        def __init__(self):
            super().__init__(k)
            self.inner = BertModel(cfg, add_pooling_layer=False)
        def body(self, x, pad_mask):
            return self.inner(x, attention_mask=None if pad_mask is None
                              else (~pad_mask).long()).last_hidden_state
    return Body()

def formula(task, v, k, heads, depth, t, p):
    "Attention as tutorials write it: all scores at once"
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1,self.norm2,self.qkv,self.out = (nn.LayerNorm(k),nn.LayerNorm(k),
                                                       nn.Linear(k, 3*k),nn.Linear(k, k))
            self.ff,self.drop = (nn.Sequential(nn.Linear(k, 4*k), nn.GELU(),
                                               nn.Linear(4*k, k)),nn.Dropout(p))
        def forward(self, x, hidden):
            q,k_,v_ = self.qkv(self.norm1(x)).unflatten(-1, (3,heads,-1)).permute(2,0,3,1,4)
            scores = q @ k_.transpose(-2,-1) / (k//heads)**.5
            if hidden is not None: scores = scores.masked_fill(hidden, -torch.inf)
            x = x + self.drop(self.out((scores.softmax(-1) @ v_).transpose(1,2).flatten(2)))
            return x + self.drop(self.ff(self.norm2(x)))
    class Body(Classifier):
        def __init__(self):
            super().__init__(k)
            self.tokens,self.positions,self.norm,self.drop = (nn.Embedding(v, k,
                padding_idx=pad),nn.Embedding(t, k),nn.LayerNorm(k),nn.Dropout(p))
            self.blocks = nn.ModuleList(Block() for _ in range(depth))
        def body(self, x, pad_mask=None):
            h,n = self.drop(self.tokens(x) + self.positions.weight[:x.shape[1]]),x.shape[1]
            hidden = (torch.ones(n, n, dtype=torch.bool).triu(1) if task=='lm' else None
                      if pad_mask is None else pad_mask[:,None,None])
            for o in self.blocks: h = o(h, hidden)
            return self.norm(h)
        def forward(self, x):
            return F.linear(self.body(x), self.tokens.weight) if task=='lm' else super().forward(x)
    return Body()

peers = {'transformers_from_scratch':ours, 'nn.TransformerEncoder':pytorch,
         'Hugging Face':hugging_face, 'x-transformers':x_transformers,
         'as tutorials write it':formula}

# Work

def cpu():
    "The name of the processor"
    try:
        return next(o.split(':')[1].strip() for o in open('/proc/cpuinfo')
                    if o.startswith('model name'))
    except (OSError, StopIteration): return platform.processor() or platform.machine()

def random_batches(v, bs, t, real):
    "Batches of random ids; with `real` below 1 the lengths are spread evenly, up to `t`, and that share of the tokens is real"
    while True:
        x = torch.randint(2, v, (bs,t))
        if real<1:
            lens = torch.linspace(max(2*real-1, 0)*t, t, bs).round().long().clamp(min=1)
            x = x.where(torch.arange(t) < lens[:,None], pad)
        yield x,torch.randint(0, 2, (bs,))

def imdb_batches(v, bs, t):
    "Training batches of IMDB as `TextDataLoaders` sorts and pads them, cut to `t` tokens, padding behind, and the size of their vocabulary"
    from fastai.text.all import TextDataLoaders, URLs, untar_data
    dls = TextDataLoaders.from_folder(untar_data(URLs.IMDB), valid='test', bs=bs)
    def batches():
        while True:
            for x,y in dls.train:
                x = torch.Tensor.as_subclass(x, torch.Tensor)
                front = (x==pad).cumprod(1).sum(1, keepdim=True)  # fastai pads in front
                x = x.gather(1, (torch.arange(x.shape[1]) + front) % x.shape[1])[:,:t]
                yield (x[:,:max(1, int((x!=pad).sum(1).max()))].contiguous(),
                       torch.Tensor.as_subclass(y, torch.Tensor).long())
    return batches(),len(dls.vocab[0])

def products(bs, t, k, heads, depth, v, task, dtype):
    "A function that does the matrix products of a step, and their number of operations"
    n,s = bs*t,k//heads
    shapes = [(n,k,3*k),(n,k,k),(n,k,4*k),(n,4*k,k)]*depth + ([(n,k,v)] if task=='lm' else [])
    ops = 3*sum(2*a*b*c for a,b,c in shapes) + depth*7*2*bs*t*t*k
    data = {o: (torch.randn(o[0],o[1], dtype=dtype), torch.randn(o[2],o[1], dtype=dtype),
                torch.randn(o[0],o[2], dtype=dtype)) for o in set(shapes)}
    q,w = torch.randn(bs*heads, t, s, dtype=dtype),torch.randn(bs*heads, t, t, dtype=dtype)
    one = (torch.ops.mkldnn._linear_pointwise if hasattr(torch.ops.mkldnn, '_linear_pointwise')
           else None)
    by = {'MKL': F.linear, 'oneDNN': (lambda x,w: one(x, w, None, 'none', [], '')) if one
          else F.linear}
    def best(shape):
        "The faster library for `x Wᵀ` and for `g W` of a shape"
        x,w,g = data[shape]
        def secs(f): return min(timed(f) for _ in range(3))
        return [min(by.values(), key=lambda f: secs(lambda: f(a,b))) for a,b in ((x,w), (g,w.t()))]
    how = {o: best(o) for o in data}
    def run():
        for o in shapes:
            (x,w_,g),(forward,back) = data[o],how[o]
            forward(x, w_); back(g, w_.t()); g.t() @ x
        for _ in range(depth):
            for _ in range(3): q @ q.transpose(1,2)
            for _ in range(4): w @ q
    return run,ops

def timed(f):
    start = time.perf_counter(); f()
    return time.perf_counter()-start

def quantiles(o):
    "The median of `o`, and the 10th and 90th percentile"
    return '{1:.2f} ({0:.2f}-{2:.2f})'.format(*np.quantile(o, [.1,.5,.9]))

def step(model, opt, x, y, task, auto):
    with auto():
        out = model(x)
    if task=='lm': loss = F.cross_entropy(out[:,:-1].flatten(0,1).float(), x[:,1:].flatten())
    else: loss = F.cross_entropy(out.float(), y)
    loss.backward(); opt.step(); opt.zero_grad()

def table(rows, about, file=None):
    "Print rows as Markdown, and append them to `file` as CSV, a line for each cell"
    print(f"{about}\n\n| {' | '.join(rows[0])} |\n|{'---|'*len(rows[0])}")
    for o in rows: print(f"| {' | '.join(map(str, o.values()))} |")
    if file:
        new = not Path(file).exists()
        with open(file, 'a', newline='') as f:
            out = csv.writer(f)
            if new: out.writerow(['measured','row','column','value'])
            for name,*cells in map(dict.items, rows):
                out.writerows((about, name[1], *o) for o in cells)

def compiled(*args):
    "Ours as one graph; it is compiled in the first step, which is not counted"
    return torch.compile(ours(*args))

def measure(rounds=15, task='classifier', data='random', dtype='fp32', real=1., bs=16, t=256,
            k=256, heads=8, depth=4, v=10_000, dropout=.1, only='', with_compiled=False,
            names=None):
    "The seconds of each model by round, the models, and what was measured"
    torch.manual_seed(0); np.random.seed(0)
    auto = nullcontext if dtype=='fp32' else lambda: torch.autocast('cpu', torch.bfloat16)
    models,versions = {},[f'torch {torch.__version__}']
    if data=='imdb': batches,v = imdb_batches(v, bs, t)
    else: batches = random_batches(v, bs, t, real)
    for name,make in (peers | ({'ours, torch.compile':compiled} if with_compiled else {})).items():
        if make not in (ours,compiled) and (only not in name or (names and name not in names)):
            continue
        try: model = make(task, v, k, heads, depth, t, dropout).train()
        except ImportError as e: print(f'left out: {name} ({e})'); continue
        models[name] = model,torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
        if make in (hugging_face, x_transformers):
            lib = 'transformers' if make is hugging_face else 'x-transformers'
            versions.append(f'{lib} {version(lib)}')
    limit,ops = products(bs, t, k, heads, depth, v, task,
                         torch.float if dtype=='fp32' else torch.bfloat16)
    alone = data=='random' and real==1
    times,shares = {name:[] for name in [*models, *['products alone']*alone]},[]
    for i in range(rounds+3):                              # the first three rounds warm up
        x,y = next(batches)
        shares.append((x!=pad).float().mean().item())
        for name in np.random.permutation(list(times)):
            secs = timed(limit if name=='products alone'
                         else lambda: step(*models[name], x, y, task, auto))
            if i>2: times[name].append(secs)
    about = (f"{date.today()}, {', '.join(versions)}, {cpu()}, "
             f"{torch.get_num_threads()} threads; {task}, {data} batches of {bs}, {t} "
             f"tokens, {np.mean(shares):.0%} of them real, k={k}, heads={heads}, "
             f"depth={depth}, vocabulary {v}, dropout {dropout}, {dtype}, {rounds} rounds")
    if alone:
        about += (f"; {ops/1e9:.0f} Gflop a step, products alone "
                  f"{ops/1e9/np.median(times['products alone']):.0f} Gflop/s")
    return {n: np.array(o) for n,o in times.items()},models,about

@call_parse
def main(
    rounds:int=15, # Steps of each model that are timed
    threads:int=2, # Threads for torch
    task:str='classifier', # 'classifier' or 'lm', a language model
    data:str='random', # 'random', or 'imdb' (a classifier)
    dtype:str='fp32', # 'fp32', or 'bf16' for autocast
    real:float=1., # Share of random tokens that are real
    bs:int=16, # Texts in a batch
    t:int=256, # Tokens in a text
    k:int=256, # Width
    heads:int=8, # Heads
    depth:int=4, # Blocks
    v:int=10_000, # Vocabulary
    dropout:float=.1, # Dropout
    keep:bool_arg=True, # Keep freed memory, for all of them?
    only:str='', # Only peers whose name contains this, and ours
    with_compiled:bool=False, # Also ours under `torch.compile`, which needs a C++ compiler
    out:str='', # A CSV file to append to
):
    "Print a table of the time of a training step of each library"
    torch.set_num_threads(threads)
    if keep: keep_memory()
    times,models,about = measure(rounds, task, data, dtype, real, bs, t, k, heads, depth, v,
                                 dropout, only, with_compiled)
    rows = []
    for name,o in times.items():
        lo,mid,hi = np.percentile(o/times['transformers_from_scratch'], [10,50,90])
        params = (f'{sum(o.numel() for o in models[name][0].parameters()):,}' if name in models
                  else '')
        rows.append({'':name, 'parameters':params, 'ms a step':f'{1000*np.median(o):.0f}',
                     'times ours, 10 %':f'{lo:.2f}', 'median':f'{mid:.2f}', '90 %':f'{hi:.2f}'})
    table(rows, about, out)
