"""The library on one GPU beside its peers: is it right, how long are a training step and a batch of `Learner.fit`, how fast does it write?

    python benchmarks/gpu.py                        # all parts, in some minutes
    python benchmarks/gpu.py --parts right,fit      # some of them
    python benchmarks/gpu.py --dry                  # small sizes on a CPU: does it run?

Needs the packages of `make bench`; a peer that is not installed is left out. Times of steps are medians by CUDA events; all models do the same work, as in
train_step.py. `fit` is compared with a plain loop over batches that are ready on the card, and writing with a step of plain PyTorch that is captured once as
a CUDA graph. A loss in parts is timed beside PyTorch's own (2.13), and batches of new widths beside known ones. What goes wrong in one part is printed, and the others go on.
"""
import statistics, sys, time, traceback
from contextlib import nullcontext
from datetime import date
from pathlib import Path
import numpy as np, pandas as pd, torch, torch.nn.functional as F
from torch import nn
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent.parent), str(Path(__file__).parent)]
from fastai.text.all import *
from transformers_from_scratch.all import *
from transformers_from_scratch.testing.model import check_model
import train_step

dev,dry = 'cuda',False

def wait():
    if dev=='cuda': torch.cuda.synchronize()

def seconds(f, n=10, warmup=3):
    "Median seconds of a call"
    for _ in range(warmup): f()
    times = []
    for _ in range(n):
        wait()
        start = time.perf_counter()
        f()
        wait()
        times.append(time.perf_counter()-start)
    return statistics.median(times)

def memory():
    return torch.cuda.max_memory_allocated()/2**30 if dev=='cuda' else math.nan

# Is it right?

def right():
    "`check_model` on the card, and random models in 64 bits beside the CPU"
    torch.backends.cuda.matmul.allow_tf32 = False
    small = dict(k=32, heads=4, depth=2)
    kinds = dict(classifier=lambda **kw: TransformerClassifier(40, 3, **small | dict(max_len=32) | kw),
                 lm=lambda **kw: TransformerLM(40, **small | dict(max_len=32) | kw))
    for name,make in kinds.items():
        check_model(make, device=dev)
        print(f'check_model {name}: passed')
    worst,positions = 0.,[LearnedPositions,SinusoidalPositions,RotaryPositions]
    for i in range(6 if dry else 60):
        torch.manual_seed(i)
        kw = dict(k=64, heads=[2,4,8][i%3], depth=2, max_len=64, pos_cls=positions[i//3%3], norm_first=bool(i%2))
        lm = i%4<2
        model = (TransformerLM(90, **kw) if lm else TransformerClassifier(90, 3, **kw)).double().eval()
        ids = torch.randint(2, 90, (5,40))
        ids[torch.rand(5, 40) < [0,.3,.6][i%3]] = 1
        ids[:,20] = 5
        outs = []
        for device in ('cpu',dev):
            model.to(device).zero_grad()
            out = model(ids.to(device))
            out.square().mean().backward()
            grads = [p.grad.cpu().clone() for p in model.parameters() if p.grad is not None]
            outs.append([out.detach().cpu(), *grads])
        worst = max(worst, *((a-b).abs().max().item() for a,b in zip(*outs)))
        if not lm: continue
        prompt = ids[:,:21]
        how = dict(cached=dict(temperature=0), uncached=dict(temperature=0, cache=False), beams=dict(beams=3),
                   drawn=dict(top_p=.9, repetition_penalty=1.2, stop_id=7, generator=torch.Generator()))
        for name,o in how.items():
            def write(d):
                if 'generator' in o: o['generator'].manual_seed(i)
                return generate(model.to(d), prompt.to(d), 30, **o).cpu()
            a,b = write('cpu'),write(dev)
            if not torch.equal(a, b): print(f'generate, {name}: other ids on {dev} for {kw}')
    print(f'random models in 64 bits, outputs and gradients: {worst:.1e} from the CPU at most')

# A training step

def step_ms(name, task, v, k, heads, depth, t, bs, bf16, real=1., how=()):
    "Milliseconds of a step of a peer, and gigabytes; `how` it is done: 'compiled', 'in parts', 'in parts by PyTorch'"
    torch.manual_seed(0)
    ids,y = next(train_step.random_batches(v, bs, t, real))
    ids,y = ids.to(dev),y.to(dev)
    torch.backends.cuda.matmul.allow_tf32 = bf16
    with torch.device(dev):
        model = train_step.peers[name](task, v, k, heads, depth, t, .1).to(dev).train()
        opt = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
        auto = (lambda: torch.autocast(dev, torch.bfloat16)) if bf16 else nullcontext
        run = torch.compile(model) if 'compiled' in how else model
        if dev=='cuda': torch.cuda.reset_peak_memory_stats()
        def step(): train_step.step(run, opt, ids, y, task, auto)
        def in_parts():
            model[1].forward = noop  # as `ChunkedLoss` does
            loss_of = F.linear_cross_entropy if 'in parts by PyTorch' in how else chunked_cross_entropy
            with auto(): loss = loss_of(run(ids)[:,:-1].flatten(0, 1), model[1].linear.weight, ids[:,1:].flatten())
            loss.backward(); opt.step(); opt.zero_grad()
        res = seconds(in_parts if any('in parts' in o for o in how) else step, 2 if dry else 10, 3 if dry else 5)
    return 1e3*res,memory()

def steps():
    "Steps of all peers"
    ours,hf = 'transformers_from_scratch','Hugging Face'
    small,bert = dict(v=10000, k=256, heads=8, depth=4, t=256),dict(v=30000, k=768, heads=12, depth=12, t=512, bs=32)
    gpt2 = dict(v=50257, k=768, heads=12, depth=12, t=1024, bs=16)
    if dry: small,bert,gpt2 = (dict(v=100, k=16, heads=2, depth=1, t=16) | (dict(bs=2) if o else {}) for o in (0,1,1))
    peers = [o for o in train_step.peers if not o.startswith('as')]
    compiled,parts = ('compiled',),[('in parts',),('in parts by PyTorch',)]
    work = [('classifier k=256, 16 x 256', 'classifier', small|dict(bs=16), False, 1., []),
            ('the same, bf16', 'classifier', small|dict(bs=16), True, 1., [compiled]),
            ('language model k=256, 32 x 256, bf16', 'lm', small|dict(bs=32), True, 1., parts),
            ("BERT's size, 32 x 512, bf16", 'classifier', bert, True, 1., [compiled]),
            ('the same, 55 % real tokens', 'classifier', bert, True, .55, [compiled]),
            ("GPT-2's size, 16 x 1,024, bf16", 'lm', gpt2, True, 1., [compiled,*parts,('in parts','compiled')])]
    for title,task,size,bf16,real,ways in work:
        for name in peers:
            for how in [(), *(ways if name==ours else [compiled] if name==hf and compiled in ways else [])]:
                if dry and 'compiled' in how: continue
                label = ', '.join((name, *how))
                try: ms,gb = step_ms(name, task, bf16=bf16, real=real, how=how, **size)
                except Exception as e: print(f'{title} | {label} | {type(e).__name__}: {str(e)[:100]}')
                else: print(f'{title} | {label} | {ms:.2f} ms | {gb:.1f} GB', flush=True)
                if dev=='cuda': torch.cuda.empty_cache()
                torch._dynamo.reset()

# `Learner.fit`

def reviews(n):
    "A table of random texts of 120 to 250 words"
    rng = np.random.default_rng(0)
    words = [f'w{i}' for i in range(3000)]
    return pd.DataFrame(dict(text=[' '.join(rng.choice(words, int(rng.integers(120, 250)))) for _ in range(n)],
                             label=rng.choice(['a','b'], n), is_valid=np.arange(n)>=n-100))

class Ready:
    "Batches that are on the card, in the place of a loader"
    def __init__(self, dl): self.batches = [tuple(o.as_subclass(Tensor) for o in b) for b in dl]

def fit():
    "A batch of `fit`, of loading alone, and of a plain loop over batches that are ready"
    df,kw = reviews(300 if dry else 3000),dict(valid_col='is_valid', bs=32, num_workers=0, tok_tfm=BaseTokenizer(), device=dev)
    size = dict(k=16, heads=2, depth=1) if dry else dict(k=256, heads=8, depth=4)
    data = dict(classifier=TextDataLoaders.from_df(df, text_col='text', label_col='label', **kw),
                lm=TextDataLoaders.from_df(df, text_col='text', is_lm=True, seq_len=128, **kw))
    for name,dls in data.items():
        n,make = len(dls.train),transformer_lm_learner if name=='lm' else transformer_classifier_learner
        for bf16 in (False,True):
            learn = make(dls, **size)
            if bf16: learn.to_bf16()
            with learn.no_bar(), learn.no_logging():
                ms = seconds(lambda: learn.fit(1, 1e-4, cbs=SkipValidation()), 2, 1)*1e3/n
            loading = seconds(lambda: [*dls.train], 2, 1)*1e3/n
            batches,model = Ready(dls.train).batches,make(dls, **size).model.to(dev).train()
            opt = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
            def loop():
                for x,y in batches:
                    with torch.autocast(dev, torch.bfloat16, enabled=bf16): out = model(x)
                    F.cross_entropy(out.float().flatten(0, -2), y.flatten()).backward()
                    opt.step()
                    opt.zero_grad()
            plain = seconds(loop, 2, 1)*1e3/n
            print(f'fit, {name}{", bf16" if bf16 else ""}: {ms:.2f} ms a batch, plain loop {plain:.2f}, ratio {ms/plain:.2f}, loading alone {loading:.2f}')
    if dev=='cuda': waits(make(dls, **size), dls)
    widths()

def widths():
    "Does a batch of a new width take longer than one of a known width, in bf16? PyTorch may plan cuDNN's attention for each"
    model = TransformerClassifier(3000, 2, k=64 if dry else 256, heads=4, depth=2).to(dev).train()
    def step(t):
        ids = torch.randint(2, 3000, (16,t), device=dev)
        ids[::2,-3:] = 1
        with torch.autocast(dev, torch.bfloat16): model(ids).float().square().mean().backward()
    def times(widths): return [1e3*seconds(partial(step, t), 1, 0) for t in widths]
    some = range(101, 111 if dry else 161)
    for t in range(90, 100): step(t)
    for name in ('new','known'): print(f'widths {some[0]} to {some[-1]}, {name}: {statistics.median(ts := times(some)):.2f} ms a batch, the longest {max(ts):.0f}')

def waits(learn, dls):
    "Count how often a step of training waits for the card"
    class Watch(Callback):
        order = 1000
        def before_train(self): torch.cuda.set_sync_debug_mode('warn')
        def after_train(self): torch.cuda.set_sync_debug_mode('default')
    with learn.no_bar(), learn.no_logging(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter('always')
        learn.fit(1, 1e-4, cbs=[SkipValidation(), Watch()])
    n = sum('synchroniz' in str(o.message) for o in told)
    print(f'{n} synchronizations in {len(dls.train)} batches; where: {Counter(f"{Path(o.filename).name}:{o.lineno}" for o in told).most_common(5)}')

# Writing

def graph_of_a_step(k, heads, depth, v, bs, n=256):
    "Tokens a second of a step of plain PyTorch with caches of fixed size, captured as a CUDA graph: a bound"
    kw = dict(device=dev, dtype=torch.bfloat16)
    weights = [[torch.randn(*o, **kw)*.02 for o in ((k,3*k),(k,k),(k,4*k),(4*k,k))] + [torch.zeros(bs, heads, n, k//heads, **kw) for _ in range(2)]
               for _ in range(depth)]
    table = torch.randn(v, k, **kw)*.02
    ids,pos,columns = (torch.zeros(o, dtype=torch.long, device=dev) for o in ((bs,1),1,1))
    columns = torch.arange(n, device=dev)
    def step():
        x,mask = table[ids[:,0]][:,None],(columns<=pos)[None,None,None]
        for qkv,out,up,down,keys,values in weights:
            q,key,value = (F.layer_norm(x, (k,)) @ qkv).view(bs, 1, 3, heads, k//heads).permute(2, 0, 3, 1, 4)
            keys.index_copy_(2, pos, key); values.index_copy_(2, pos, value)
            x = x + F.scaled_dot_product_attention(q, keys, values, mask).transpose(1, 2).reshape(bs, 1, k) @ out
            x = x + F.gelu(F.layer_norm(x, (k,)) @ up) @ down
        ids.copy_((x[:,0] @ table.T).argmax(-1, keepdim=True)); pos.add_(1)
    with torch.inference_mode():
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream): [step() for _ in range(3)]
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph): step()
        def run():
            pos.zero_()
            for _ in range(200): graph.replay()
        return bs*200/seconds(run, 3, 1)

def writing():
    "Tokens a second of `generate` and `predict`, beside Hugging Face and a CUDA graph"
    sizes = dict(v=50257, k=768, heads=12, depth=12),dict(v=10000, k=256, heads=8, depth=4)
    if dry: sizes = (dict(v=100, k=16, heads=2, depth=1),)
    for size in sizes:
        v,k,heads,depth = size.values()
        model = TransformerLM(v, k=k, heads=heads, depth=depth, max_len=1024, act_cls=nn.GELU).to(dev, torch.bfloat16).eval()
        try:
            from transformers import GPT2Config, GPT2LMHeadModel
            theirs = GPT2LMHeadModel(GPT2Config(vocab_size=v, n_positions=1024, n_embd=k, n_layer=depth, n_head=heads, attn_implementation='sdpa'))
            theirs = theirs.to(dev, torch.bfloat16).eval()
            theirs.generation_config.pad_token_id,theirs.generation_config.eos_token_id = 0,None
        except ImportError: theirs = None
        for bs in (1,8,64):
            ids,n = torch.randint(2, v, (bs,8), device=dev),4 if dry else 100
            ours = bs*n/seconds(lambda: generate(model, ids, n, temperature=0), 3, 1)
            text = f"k={k}, {depth} blocks, bf16, {bs} texts: ours {ours:.0f} tokens a second"
            if theirs:
                def run(): theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n, min_new_tokens=n, do_sample=False)
                text += f', Hugging Face {bs*n/seconds(run, 3, 1):.0f}'
            if dev=='cuda': bound = graph_of_a_step(k, heads, depth, v, bs); text += f', a graph of plain PyTorch {bound:.0f}: ours is {ours/bound:.2f} of it'
            print(text)
        ids = torch.randint(2, v, (8,8), device=dev)
        beams = 8*n/seconds(lambda: generate(model, ids, n, beams=4), 2, 1)
        text = f'k={k}, 4 beams, 8 texts: {beams:.0f} tokens a second'
        if theirs:
            def run(): theirs.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=n, min_new_tokens=n, do_sample=False, num_beams=4)
            text += f', Hugging Face {8*n/seconds(run, 2, 1):.0f}'
        print(text)
        def drawn(): [o.tolist() for o in stream_ids(model, ids, n, temperature=.8, top_p=.9, generator=torch.Generator().manual_seed(1))]
        print(f'k={k}, a stream whose ids are looked at, drawn with top_p, 8 texts: {8*n/seconds(drawn, 3, 1):.0f} tokens a second')

@call_parse
def main(
    parts:str='right,steps,fit,writing', # Parts, with commas between them
    dry:bool=False # Small sizes on a CPU?
):
    "Print what the library does on a GPU"
    globals().update(dry=dry, dev='cpu' if dry else 'cuda')
    card = 'a CPU' if dry else torch.cuda.get_device_name()
    print(f'{card}, torch {torch.__version__}, {date.today()}', flush=True)
    for name in parts.split(','):
        start = time.perf_counter()
        try: globals()[name]()
        except Exception: print(f'FAILED {name}: {traceback.format_exc()[-1500:]}')
        print(f'-- {name}: {time.perf_counter()-start:.0f} s', flush=True)
