"""What each change since BERT and GPT-2 is worth at desk size: small models that differ in one thing, trained for equal steps.

    OMP_NUM_THREADS=1 nice -n 15 python benchmarks/changes.py gpt2       # some ten minutes on a free core
    OMP_NUM_THREADS=1 nice -n 15 python benchmarks/changes.py bert

GPT-2's task is the next character of tiny Shakespeare, BERT's are masked characters of IMDB_SAMPLE (both in fastai's data folder). A seed is one start of weights and
one order of batches, the same for all changes, so differences to the first row are taken seed by seed; to that of rotary positions where a name begins with it. Losses are of the last tenth of the text, in nats for a character.
Milliseconds are processor time, the median of all steps, since other programs on the machine disturb that little. Nothing was tuned.
"""
import time
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu
from transformers_from_scratch.all import *
from transformers_from_scratch.nn.variants import *

size = dict(k=96, heads=4, depth=3, max_len=64, pad_idx=None, dropout=0.)
columns = 'page,change,weights,loss,difference,lowest,highest,ms,when and where'.split(',')

def gpt2_changes():
    "Keywords of `TransformerLM` by change; the first is GPT-2 itself"
    def attn(**kwargs):
        cls = ShapedSelfAttentionAutoRegressive if 'window' in kwargs else SelfAttentionAutoRegressive
        return partial(cls, **dict(qkv_bias=True) | kwargs)
    base = dict(act_cls=nn.GELU, attn_cls=attn())
    no_bias = dict(attn_cls=attn(qkv_bias=False, bias=False), ff_cls=partial(FeedForward, bias=False))
    changes = {'GPT-2': {},
        'RMSNorm': dict(norm_cls=nn.RMSNorm), 'no biases': no_bias, 'rotary positions': dict(pos_cls=RotaryPositions),
        'SwiGLU of equal size': dict(ff_cls=GatedFeedForward, act_cls=nn.SiLU),
        'grouped queries, 4 heads to 1': dict(attn_cls=attn(kv_heads=1)),
        'norm of queries and keys': dict(attn_cls=attn(qk_norm=nn.RMSNorm)),
        'window of 16 in two blocks of three': dict(attn_cls=[attn(window=16), attn(window=16), attn()]),
        'attention beside feed-forward': dict(block_cls=ParallelBlock),
        'norm of what is added': dict(block_cls=OutputNormBlock), 'norms on both sides': dict(block_cls=SandwichBlock),
        'all of Qwen3': dict(norm_cls=nn.RMSNorm, pos_cls=RotaryPositions, act_cls=nn.SiLU,
            ff_cls=partial(GatedFeedForward, bias=False),
            attn_cls=attn(qkv_bias=False, bias=False, kv_heads=1, qk_norm=nn.RMSNorm))}
    return {name: base | o for name,o in changes.items()}

def bert_changes():
    "Keywords of `TransformerMLM` by change, and `p` of masks; the first is BERT itself"
    def attn(cls=SelfAttention, **kwargs): return partial(cls, **dict(qkv_bias=True) | kwargs)
    def near(**kwargs): return attn(ShapedSelfAttention, window=9, **kwargs)
    base = dict(act_cls=nn.GELU, attn_cls=attn(), norm_first=False, embed_cls=partial(ShapedEmbeddings, norm_cls=nn.LayerNorm), head_cls=MLMHead)
    bare,norm = dict(qkv_bias=False, bias=False),partial(nn.LayerNorm, bias=False)
    turn = dict(pos_cls=RotaryPositions)
    modern = dict(turn, norm_first=True, norm_cls=norm, ff_cls=partial(GatedFeedForward, bias=False), p=.3,
        attn_cls=[attn(**bare), near(**bare), near(**bare)])
    changes = {'BERT': {}, 'rotary positions': turn,
        'distances in buckets': dict(pos_cls=partial(BucketPositions, heads=size['heads'], added=True)),
        'disentangled distances': dict(pos_cls=partial(DistanceVectors, n=32), attn_cls=attn(DisentangledAttention)),
        'rotary, norm first': dict(turn, norm_first=True), 'rotary, one block for all': dict(turn, block_cls=SharedBlock),
        'rotary, GEGLU of equal size': dict(turn, ff_cls=GatedFeedForward),
        'rotary, 30 % masked for 15 %': dict(turn, p=.3), 'rotary, all else of ModernBERT': modern}
    return {name: base | o for name,o in changes.items()}

def text_ids(page):
    "Ids of characters of a page's text, and how many different ones there are"
    data = fastai_cfg().path('data')
    if page=='gpt2': text = (data/'tinyshakespeare'/'input.txt').read_text(encoding='utf8')
    else: text = ''.join(o for o in '\n'.join(pd.read_csv(data/'imdb_sample'/'texts.csv').text).lower() if ' '<=o<='~')
    chars = {o: i for i,o in enumerate(sorted(set(text)))}
    return tensor([chars[o] for o in text]),len(chars)

def loss_of(model, x, v, p, g=None, **kwargs):
    "Loss of next characters, or of masked ones"
    if p is None: return F.cross_entropy(model(x[:,:-1]).flatten(0,1), x[:,1:].flatten(), **kwargs)
    hidden,at = mask_tokens(x, torch.arange(v+1)<v, v, p, g)
    return F.cross_entropy(model(hidden, at), x[at], **kwargs)

def train(model, ids, v, p, steps, lr, bs, t):
    "`steps` on random pieces of `ids`; the learning rate rises for a tenth, then falls to 0; returns seconds of each"
    opt = torch.optim.AdamW(model.train().parameters(), lr, betas=(.9,.98), weight_decay=.01)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: min((i+1)/(.1*steps), (steps-i)/(.9*steps)))
    g,secs = torch.Generator().manual_seed(torch.initial_seed()),[]
    for _ in range(steps):
        x = torch.stack([ids[i:i+t] for i in torch.randint(len(ids)-t, (bs,), generator=g).tolist()])
        start = time.process_time()
        loss_of(model, x, v, p, g).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad(); sched.step()
        secs.append(time.process_time()-start)
    return secs

@torch.no_grad()
def valid_loss(model, ids, v, p, t, n=512):
    "Loss of `n` rows of held-out text; masked ones are the same for all"
    rows = ids[:len(ids)//t*t].view(-1, t)
    rows,g = rows[:n],torch.Generator().manual_seed(0)
    losses = [(loss_of(model.eval(), o, v, p, g).item(), len(o)) for o in rows.split(128)]
    return sum(a*b for a,b in losses)/len(rows)

def write(path, page, seen, note):
    "The table of a page, in place of its old one"
    rows = []
    for change,o in seen.items():
        base = seen['rotary positions' if change.startswith('rotary, ') else first(seen)]
        diff = np.array(o['loss'])-np.array(base['loss'])
        rows.append([page, change, o['weights'], *(f'{x:.3f}' for x in (np.mean(o['loss']), diff.mean(), diff.min(), diff.max())),
                     f"{1000*np.median(o['secs']):.1f}", note])
    old = pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame(columns=columns)
    pd.concat([old[old.page!=page], pd.DataFrame(rows, columns=columns)]).to_csv(path, index=False)
    return rows

@call_parse
def main(
    page:str, # 'gpt2' or 'bert'
    steps:int=300, # Steps of training
    seeds:int=3, # Runs of each
    lr:float=2e-3, # Highest learning rate
    bs:int=16, # Texts in a batch
    only:str='', # A part of the names of changes to run, besides the first
    out:Path=Path(__file__).parent.parent/'nbs/data/changes.csv', # Table to write
):
    "Train a model with each change, print the table after each seed, and write it"
    torch.set_num_threads(1)
    ids,v = text_ids(page)
    cut,t,seen,bert = int(.9*len(ids)),size['max_len'],{},page=='bert'
    changes = bert_changes() if bert else gpt2_changes()
    for seed in range(seeds):
        for i,(change,kwargs) in enumerate(changes.items()):
            if i and only not in change: continue
            kwargs,make = {**size, **kwargs},TransformerMLM if bert else TransformerLM
            p = kwargs.pop('p', .15) if bert else None
            set_seed(seed)
            model = use_fast_layers(make(v+bert, **kwargs))
            weights = sum(o.numel() for o in model.parameters())
            secs = train(model, ids[:cut], v, p, steps, lr, bs, t+(not bert))
            loss = valid_loss(model, ids[cut:], v, p and .15, t+(not bert))
            o = seen.setdefault(change, dict(weights=weights, loss=[], secs=[]))
            o['loss'].append(loss); o['secs'] += secs
            print(f'{seed=} {change}: {loss:.3f}, {weights:,} weights, {1000*np.median(secs):.1f} ms a step', flush=True)
        note = (f'{date.today()}, torch {torch.__version__}, {cpu()}, 1 thread; python benchmarks/changes.py '
                f'{page} --steps {steps} --seeds {seed+1}')
        for row in write(out, page, seen, note): print(' | '.join(map(str, row[1:-1])), flush=True)
