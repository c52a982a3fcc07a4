"""Time of one training step, this library beside `nn.TransformerEncoder` and x-transformers.

All models do the same work: the same vocabulary, learned positions, width, heads, depth, activation, order of the norm,
mean over the tokens and linear head, cross-entropy, backward and one step of AdamW, in train mode, without padding.
The models take turns, step by step, so that a change in the speed of the machine meets all of them; quoted is the median
over the rounds of the time of a step, and of its ratio to our step of the same round, with the 10th and 90th percentile.

    pip install -e '.[bench]'
    python benchmarks/train_step.py --rounds 30 --threads 2
"""
import platform, time
from datetime import date
import numpy as np, torch, torch.nn.functional as F
from torch import nn
from fastcore.script import call_parse
from transformers_from_scratch.models import TransformerClassifier

def ours(v, k, heads, depth, t, n_out, p):
    return TransformerClassifier(v, n_out, k, heads, depth, max_len=t, dropout=p, head_dropout=0., act_cls=nn.GELU)

class TorchClassifier(nn.Module):
    "`nn.TransformerEncoder` between the same embeddings and the same head"
    def __init__(self, v, k, heads, depth, t, n_out, p):
        super().__init__()
        self.tokens,self.positions,self.dropout = nn.Embedding(v, k),nn.Embedding(t, k),nn.Dropout(p)
        layer = nn.TransformerEncoderLayer(k, heads, 4*k, p, F.gelu, batch_first=True, norm_first=True)
        layer.self_attn.dropout,layer.dropout.p = 0.,0.   # as in the other models: dropout on the output of each layer only
        self.encoder = nn.TransformerEncoder(layer, depth, nn.LayerNorm(k), enable_nested_tensor=False)
        self.head = nn.Linear(k, n_out)
    def forward(self, x):
        h = self.dropout(self.tokens(x) + self.positions.weight[:x.shape[1]])
        return self.head(self.encoder(h).mean(1))

class XClassifier(nn.Module):
    "x-transformers' encoder with the same head; its heads are set to the same width, its attention to the fused kernel"
    def __init__(self, v, k, heads, depth, t, n_out, p):
        super().__init__()
        from x_transformers import Encoder, TransformerWrapper
        self.body = TransformerWrapper(num_tokens=v, max_seq_len=t, emb_dropout=p, return_only_embed=True, use_abs_pos_emb=True, attn_layers=Encoder(
            dim=k, depth=depth, heads=heads, attn_dim_head=k//heads, attn_flash=True, attn_sublayer_dropout=p, ff_sublayer_dropout=p))
        self.head = nn.Linear(k, n_out)
    def forward(self, x): return self.head(self.body(x).mean(1))

def cpu():
    "The name of the processor"
    try: return next(o.split(':')[1].strip() for o in open('/proc/cpuinfo') if o.startswith('model name'))
    except (OSError, StopIteration): return platform.processor() or platform.machine()

def step(model, opt, x, y):
    start = time.perf_counter()
    F.cross_entropy(model(x), y).backward(); opt.step(); opt.zero_grad()
    return time.perf_counter()-start

@call_parse
def main(
    rounds:int=30, # Steps of each model that are timed
    threads:int=2, # Threads for torch
    bs:int=16, # Texts in a batch
    t:int=256, # Tokens in a text
    k:int=256, # Width
    heads:int=8, # Heads
    depth:int=4, # Blocks
    v:int=10_000, # Vocabulary
):
    "Print a table of the time of a training step of each library"
    torch.set_num_threads(threads)
    print(f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads; '
          f'batch {bs}, {t} tokens, k={k}, heads={heads}, depth={depth}, vocabulary {v}, fp32, {rounds} rounds\n')
    print('| dropout | model | parameters | ms a step (median) | ratio to ours (10 % – median – 90 %) |\n|---|---|---|---|---|')
    for p in (0., 0.1):
        models = {}
        for name,make in {'transformers_from_scratch':ours, 'nn.TransformerEncoder':TorchClassifier, 'x-transformers':XClassifier}.items():
            torch.manual_seed(0)
            model = make(v, k, heads, depth, t, 2, p).train()
            models[name] = model,torch.optim.AdamW(model.parameters(), 1e-4)
        times = {name:[] for name in models}
        for i in range(rounds+3):                          # the first three rounds warm up
            x,y = torch.randint(2, v, (bs,t)),torch.randint(0, 2, (bs,))
            for name in np.random.permutation(list(models)):
                secs = step(*models[name], x, y)
                if i>2: times[name].append(secs)
        base = np.array(times['transformers_from_scratch'])
        for name,(model,_) in models.items():
            lo,mid,hi = np.percentile(np.array(times[name])/base, [10,50,90])
            print(f'| {p} | {name} | {sum(o.numel() for o in model.parameters()):,} | {1000*np.median(times[name]):.0f} | {lo:.2f} – {mid:.2f} – {hi:.2f} |')
