"""What the speedruns found, at desk size: each idea alone and all together, for equal time of one thread.

    OMP_NUM_THREADS=1 nice -n 5 python benchmarks/speedruns.py shakespeare --share .25      # 20 minutes of a core
    OMP_NUM_THREADS=1 nice -n 5 python benchmarks/speedruns.py shakespeare --only 'Muon, rotary, squared ReLU, to 0'     # 6, for nanoGPT's time
    OMP_NUM_THREADS=1 nice -n 5 python benchmarks/speedruns.py imdb                         # 20 minutes

The first row is nanoGPT's recipe for a CPU (`nanogpt_shakespeare.py`), or a small classifier of reviews. First the time of a step of each row is measured, in turns with that of the first; then each row
is trained for as many steps as the time of the first row's steps buys it. Learning rates were chosen on other held-out texts (`--choose`: the last tenth of Shakespeare, the last reviews of `train`)
than those of the table (the first tenth, a quarter of `test`). A line of JSON for each run; what is in the file is not run again. Both data sets are expected in fastai's data folder.
"""
import json, time
from collections import Counter
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse, store_true
sys.path[:0] = [str(Path(__file__).parent/o) for o in ('.','..','../examples','../tools')]
from common import definitions
from keep_memory import keep_memory
from train_step import cpu
from muon import MuonAdamW
from transformers_from_scratch.all import *
from transformers_from_scratch.nn.variants import ScaledHead

# the ideas, from the page
exec(definitions('tutorials/speedruns', *'''ReLUSquared ZeroOutBlock ValueEmbedding CausalValueEmbedding ScaledResidual ScaledBlock ZeroOutScaledBlock
    hand_over Capped'''.split()))

# --- the rows

sizes = dict(shakespeare=dict(k=128, heads=4, depth=4, max_len=64, pad_idx=None, dropout=0.), imdb=dict(k=64, heads=4, depth=2, max_len=128, word_dropout=.1))
base = dict(shakespeare=dict(lr=6e-3, steps=2000), imdb=dict(lr=3e-3, steps=300))  # steps of the first row

def rows_of(task):
    "What differs from the first row: keywords of the model, `hand`, `cap`, `opt`, `lr`, `end` of the learning rate"
    lm = task=='shakespeare'
    attn = partial(SelfAttentionAutoRegressive, bias=False) if lm else SelfAttention
    value = partial(CausalValueEmbedding, bias=False) if lm else ValueEmbedding
    norm = dict(qk_norm=nn.RMSNorm)
    muon = dict(opt=MuonAdamW, lr=2e-2 if lm else 3e-3)
    ideas = {'learning rate down to 0': dict(end=0.),
        'Muon': muon,
        'squared ReLU': dict(act_cls=ReLUSquared),
        'zero projections': dict(block_cls=ZeroOutBlock),
        'norm of queries and keys': dict(attn_cls=partial(attn, **norm)),
        'value embeddings': dict(attn_cls=value, hand=['tokens']),
        'residual scalars': dict(block_cls=ScaledBlock, hand=['first']),
        'capped logits': dict(cap=15.),
        'rotary positions': dict(pos_cls=RotaryPositions),
        'all': dict(muon, lr=6e-3 if lm else 3e-3, end=0., act_cls=ReLUSquared, block_cls=ZeroOutScaledBlock,
                    attn_cls=partial(value, **norm), hand=['tokens','first'], cap=15., pos_cls=RotaryPositions),
        'Muon, rotary, squared ReLU, to 0': dict(muon, lr=1.2e-2 if lm else 3e-3, end=0., act_cls=ReLUSquared, pos_cls=RotaryPositions)}
    # nanoGPT's learning rate is for four times as many steps; of reviews there is one recipe
    start = {'the recipe': dict(lr=1e-3), 'the recipe, learning rate chosen': {}} if lm else {'the recipe': {}}
    return start | ideas

def make(task, v, row):
    "A model and its optimizer"
    row = dict(base[task], opt=FusedAdamW, end=.1, hand=[], cap=None) | row
    lr,steps,opt,end,hand,cap = (row.pop(n) for n in 'lr steps opt end hand cap'.split())
    no_bias = dict(ff_cls=partial(FeedForward, bias=False), norm_cls=partial(nn.LayerNorm, bias=False))
    parts = sizes[task] | dict(act_cls=nn.GELU) | (no_bias if task=='shakespeare' else {}) | row
    if task=='shakespeare': parts = dict(attn_cls=partial(SelfAttentionAutoRegressive, bias=False)) | parts
    if hand and 'tokens' in hand: parts['attn_cls'] = partial(parts['attn_cls'], vocab_sz=v)
    if task=='shakespeare':
        if cap: parts['head_cls'] = partial(ScaledHead, cap=cap)
        model = as_gpt(TransformerLM(v, **parts))
    else:
        model = TransformerClassifier(v, 2, **parts)
        if cap: model[1].squeeze = Capped(cap)
    use_fast_layers(hand_over(model, *hand))
    opt = opt(transformer_splitter(model), lr=lr, mom=.9 if opt is FusedAdamW else .95, sqr_mom=.99, eps=1e-8, wd=.1)
    for p in model.parameters():
        if p.dim()<2: opt.state[p]['do_wd'] = False
    return model,opt,lr,end

@torch.no_grad()
def as_gpt(model):
    "`model` with the initial weights of nanoGPT; what is 0 stays so"
    for name,p in model.named_parameters():
        last = name.endswith(('unifyheads.weight','down.weight'))
        if p.dim()==2 and p.any(): nn.init.normal_(p, std=.02/math.sqrt(2*len(model[0].blocks)) if last else .02)
    return model

# --- the data

class Shakespeare:
    "Random windows of characters; `choose`: the last tenth is held out, else the first"
    def __init__(self, choose):
        text = (fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8')
        where,n = {c: i for i,c in enumerate(sorted(set(text)))},int(.9*len(text))
        if not choose: text = text[len(text)-n:]+text[:len(text)-n]
        ids,self.v = tensor([where[c] for c in text]),len(where)
        self.train,self.valid = ids[:n],ids[n:]

    def batches(self, g):
        while True:
            at = torch.randint(len(self.train)-64, (12,), generator=g).tolist()
            yield [torch.stack([self.train[i+j:i+j+64] for i in at]) for j in (0,1)]

    def held_out(self):
        n = (len(self.valid)-1)//64*64
        yield from zip(*(self.valid[j:j+n].view(-1, 64).split(64) for j in (0,1)))

class Reviews:
    "Reviews as ids of words, a quarter of 128 from the start and the rest from the end; `choose`: without `test`"
    def __init__(self, choose, t=128, v=10_000):
        files = get_text_files(fastai_cfg().path('data')/'imdb', folders=['train'] if choose else ['train','test']).sorted()
        texts = [re.findall(r"\w+|[^\w\s]", o.read_text(encoding='utf8').lower().replace('<br />', ' ')) for o in files]
        held = [int(o.stem.split('_')[0])>=10_000 if choose else o.parts[-3]=='test' for o in files]
        seen = Counter(w for o,h in zip(texts, held) if not h for w in o)
        where = {w: i+2 for i,(w,_) in enumerate(seen.most_common(v-2))}     # 0: unknown, 1: padding
        ids = [tensor([where.get(w, 0) for w in (o if len(o)<=t else o[:t//4]+o[-(t-t//4):])]) for o in texts]
        rows = [(o, int(f.parent.name=='pos')) for o,f in zip(ids, files)]
        self.v,self.train = v,[o for o,h in zip(rows, held) if not h]
        self.valid = [o for o,h in zip(rows, held) if h][::1 if choose else 4]

    @staticmethod
    def batch(rows):
        return nn.utils.rnn.pad_sequence([o for o,_ in rows], True, 1),tensor([y for _,y in rows])

    def batches(self, g):
        while True:
            at = torch.randperm(len(self.train), generator=g).tolist()
            for some in chunked(at, 32*50):  # texts of about one length, in random order
                some = [*chunked(sorted(some, key=lambda i: len(self.train[i][0])), 32)]
                for i in torch.randperm(len(some), generator=g).tolist(): yield self.batch([self.train[j] for j in some[i]])

    def held_out(self):
        for some in chunked(sorted(self.valid, key=lambda o: len(o[0])), 64): yield self.batch(some)

tasks = dict(shakespeare=Shakespeare, imdb=Reviews)

# --- training

def train(model, opt, batches, steps, lr, end, stop=None):
    "`steps` of training, or the first `stop` of them; returns seconds of the processor"
    start,warm = time.process_time(),steps/20
    for i,(x,y) in zip(range(stop or steps), batches):
        at = (i-warm)/(steps-warm)
        now = (i+1)/(warm+1) if i<warm else end + (1-end)*((1-at) if not end else .5*(1+math.cos(math.pi*at)))
        opt.set_hypers(lr=lr*now)
        logits = model(x)
        F.cross_entropy(logits.flatten(0,-2), y.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); opt.zero_grad()
    return time.process_time()-start

@torch.no_grad()
def validate(model, data):
    "Loss, and share of right answers, of what is held out"
    model.eval()
    sums = [(F.cross_entropy(p.flatten(0,-2), y.flatten(), reduction='sum').item(), (p.argmax(-1)==y).sum().item(), y.numel())
            for p,y in ((model(x), y) for x,y in data.held_out())]
    loss,right,n = (sum(o) for o in zip(*sums))
    return loss/n,right/n

def time_steps(task, data, rows, rounds=6, n=5):
    "Time of a step of each row as a multiple of that of the first row: all take turns, median of the rounds"
    made = {name: make(task, data.v, row) for name,row in rows.items()}
    g,secs = torch.Generator().manual_seed(0),{name: [] for name in rows}
    for i in range(rounds+1):
        some = [*itertools.islice(data.batches(g), n)]
        for name,(model,opt,lr,_) in made.items(): secs[name].append(train(model, opt, some, n, 1e-4, .1)/n)
    first = np.array(secs['the recipe'][1:])
    return {name: (float(np.median(np.array(o[1:])/first)), 1000*float(np.median(o[1:]))) for name,o in secs.items()}

@call_parse
def main(
    task:str, # 'shakespeare' or 'imdb'
    seeds:int=3, # Runs of each row
    first:int=0, # The first seed
    only:str='', # Names of rows, with | between them; '' is all
    choose:store_true=False, # Hold out the texts by which learning rates were chosen
    share:float=1., # Share of the steps
    lrs:str='', # Learning rates to try, with | between them; '' is that of the row
    out:Path=Path('output/speedruns.jsonl'), # File to append to
):
    "Train a model for each row and seed that is not in the file, and append a line of JSON for each"
    torch.set_num_threads(1)
    keep_memory()
    data,rows,out = tasks[task](choose),rows_of(task),Path(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.loads(o) for o in out.read_text().splitlines()] if out.exists() else []
    def write(**line):
        lines.append(line)
        with out.open('a') as f: f.write(json.dumps(line)+'\n')
        print(json.dumps(line), flush=True)
    where = dict(date=str(date.today()), torch=torch.__version__, machine=cpu())
    timed = [o['row'] for o in lines if o['kind']=='time' and o['task']==task]
    if new := {name: o for name,o in rows.items() if name not in timed}:
        for name,(ratio,ms) in time_steps(task, data, {'the recipe': {}} | new).items():
            if name in new: write(kind='time', task=task, row=name, ratio=ratio, ms=ms, **where)
    ratios = {o['row']: o['ratio'] for o in lines if o['kind']=='time' and o['task']==task}
    names = only.split('|') if only else [*rows]
    for seed,name,lr in itertools.product(range(first, first+seeds), names, [float(o) for o in lrs.split('|')] if lrs else [None]):
        row = rows[name] | (dict(lr=lr) if lr else {})
        steps = round(base[task]['steps']*share/ratios[name])
        key = dict(kind='run', task=task, row=name, seed=seed, choose=choose, share=share, lr=row.get('lr', base[task]['lr']))
        if any({n: o.get(n) for n in key}==key for o in lines): continue
        set_seed(seed)
        model,opt,lr,end = make(task, data.v, row)
        secs = train(model, opt, data.batches(torch.Generator().manual_seed(seed)), steps, lr, end)
        loss,right = validate(model, data)
        write(**key, steps=steps, secs=round(secs, 1), loss=round(loss, 4), right=round(right, 4), weights=sum(p.numel() for p in model.parameters()), **where)
