"""What a part is worth: language models of characters that differ in one part, trained for equal minutes on tiny Shakespeare.

Each model gets as many steps as fit into the minutes (the time of a step is measured first, over 20 of them), and its learning rate rises and falls over just
these steps. So a part that is slower has to make up for it. Time is that of the processor, on one thread, which other programs on the machine disturb little. The loss is
that of the last tenth of the text, all of it, in nats for a character. The optimizer is AdamW with the same settings for all.

    python benchmarks/parts.py --minutes 2 --seed 0
"""
import time
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu
from transformers_from_scratch.all import *

class ALiBi(SelfAttentionAutoRegressive):
    "A score sinks with the distance, in each head at its own rate (Press et al. 2022)"
    def score_bias(self, q_pos, k_pos):
        slopes = 2**(-8/self.heads*torch.arange(1, self.heads+1, device=q_pos.device))
        return -slopes[:,None,None] * (q_pos - k_pos)

class DistanceTable(Module):
    "A number for each head and each distance, up to `n-1`; farther is as far"
    def __init__(self, heads, n=32): self.weight = nn.Parameter(torch.zeros(heads, n))
    def forward(self, q_pos, k_pos):
        far = (q_pos - k_pos).clamp(0, self.weight.shape[1]-1)
        return self.weight[torch.arange(len(self.weight))[:,None,None], far]

class RelativeBias(SelfAttentionAutoRegressive):
    "Adds to each score the entry of a table, which all blocks share, for its distance (Raffel et al. 2020)"
    def __init__(self, k, heads=8, table=None, **kwargs):
        super().__init__(k, heads, **kwargs)
        self.table = table
    def score_bias(self, q_pos, k_pos): return self.table(q_pos, k_pos)

def parts(heads):
    "Keywords of `TransformerLM`, by name"
    causal = SelfAttentionAutoRegressive
    return {'default (learned positions, LayerNorm, ReLU)': {},
            'RMSNorm': dict(norm_cls=nn.RMSNorm),
            'SwiGLU, two thirds as wide': dict(ff_cls=GatedFeedForward),
            f'grouped queries, {heads//2} heads of keys for {heads}': dict(
        attn_cls=partial(causal, kv_heads=heads//2)),
            'norm of queries and keys': dict(attn_cls=partial(causal, qk_norm=nn.RMSNorm)),
            'rotary positions': dict(pos_cls=RotaryPositions),
            'no positions': dict(pos_cls=Positions),
            'ALiBi, no other positions': dict(attn_cls=ALiBi, pos_cls=Positions),
            'relative bias, no other positions': dict(attn_cls=partial(RelativeBias,
        table=DistanceTable(heads)), pos_cls=Positions), 'norm last': dict(norm_first=False),
            'as in Llama: RMSNorm, SwiGLU, rotary, grouped queries, no bias': dict(
        norm_cls=nn.RMSNorm, pos_cls=RotaryPositions, ff_cls=partial(GatedFeedForward,
        bias=False), attn_cls=partial(causal, kv_heads=heads//2, bias=False))}

def train(model, ids, n_steps, lr, bs, t):
    "`n_steps` on random pieces of `ids`; the learning rate rises for a tenth of them, then falls to 0"
    opt = torch.optim.AdamW(model.train().parameters(), lr, betas=(.9,.98), weight_decay=.01)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min((i+1)/(.1*n_steps),
        (n_steps-i)/(.9*n_steps)))
    for _ in range(n_steps):
        x = torch.stack([ids[i:i+t+1] for i in torch.randint(0, len(ids)-t, (bs,)).tolist()])
        F.cross_entropy(model(x[:,:-1]).flatten(0,1), x[:,1:].flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad(); sched.step()

@torch.no_grad()
def valid_loss(model, ids, t):
    rows = ids[:(len(ids)-1)//t*t+1]
    x,y = rows[:-1].view(-1, t),rows[1:].view(-1, t)
    model.eval()
    return (sum(F.cross_entropy(model(a).flatten(0,1), b.flatten(), reduction='sum').item()
                for a,b in zip(x.split(64), y.split(64)))/y.numel())

@call_parse
def main(
    minutes:float=2, # Minutes of training for each model
    k:int=128, # Width of the vectors
    heads:int=4, # Number of heads
    depth:int=4, # Number of blocks
    t:int=128, # Characters in a sequence
    bs:int=16, # Sequences in a batch
    lr:float=2e-3, # Highest learning rate
    seed:int=0, # Seed of weights and batches
):
    "Train a model with each part, and print the table"
    torch.set_num_threads(1)
    text = (fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8')
    chars = sorted(set(text)); ids = tensor([2+chars.index(c) for c in text])
    cut = int(.9*len(ids))
    print(f'{cpu()}, 1 thread, torch {torch.__version__}, {date.today()}, '
          f'{minutes:g} minutes each, {seed=}, {k=}, {heads=}, {depth=}, {t=}, {bs=}\n')
    print('| part | parameters | steps | loss |\n|---|---|---|---|')
    for name in parts(heads):
        def make():
            set_seed(seed)
            model = TransformerLM(len(chars)+2, k=k, heads=heads, depth=depth, max_len=t,
                                  dropout=0., **parts(heads)[name])
            return use_fast_layers(model)
        train(make(), ids[:cut], 3, lr, bs, t)
        start = time.process_time()
        train(make(), ids[:cut], 20, lr, bs, t)
        secs = (time.process_time()-start)/20
        model,n = make(),int(minutes*60/secs)
        train(model, ids[:cut], n, lr, bs, t)
        print(f'| {name} | {sum(p.numel() for p in model.parameters()):,} | {n:,} | '
              f'{valid_loss(model, ids[cut:], t):.3f} |', flush=True)
