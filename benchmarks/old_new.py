"""Two versions of this library, side by side: is the new one slower, and are its results the same?

Both are imported into one process, under different names, and take turns, round by round, so that machine noise hits both equally.
Quoted is the median over the rounds of the time, and of the ratio new/old in the same round, with the interval of 95 % of that median. Models are
made and trained with the same seeds, so equal losses and equal texts say that the two compute the same.

    git worktree add --detach /tmp/old SOME_COMMIT
    python benchmarks/old_new.py /tmp/old --rounds 30 --threads 2
"""
import importlib, importlib.util, sys, time
from datetime import date
from pathlib import Path
import numpy as np, torch, torch.nn.functional as F
from fastcore.script import call_parse
sys.path.insert(0, str(Path(__file__).parent))
from train_step import cpu

def package(path, name):
    "The modules of the network in the checkout `path`, as one namespace"
    folder = Path(path)/'transformers_from_scratch'
    spec = importlib.util.spec_from_file_location(name, folder/'__init__.py',
                                                  submodule_search_locations=[str(folder)])
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    names = {}
    before = ('nn.attention nn.layers nn.encoder nn.align nn.classifier nn.lm speed.layers speed.decode '
              'generate.reader generate.generate')  # until 2026-11-29
    now = ('nn.attention nn.blocks nn.encoder nn.align nn.classifier nn.lm fast.layers fast.decode '
           'generate.read generate.write')
    for o in (before if (folder/'speed').exists() else now).split():
        names.update(vars(importlib.import_module(f'{name}.{o}')))
    return type('Package', (), names)

def trainer(model, x, y):
    "A function that takes a step and returns the loss"
    opt = torch.optim.AdamW(model.train().parameters(), 1e-3)
    def step():
        loss = F.cross_entropy(model(x).flatten(0,-2), y.flatten())
        loss.backward(); opt.step(); opt.zero_grad()
        return loss.item()
    return step

def jobs(lib, k, heads, depth, v=8192, t=256):
    "What is timed: functions without arguments, by name"
    def make(cls, *args, **kw):
        torch.manual_seed(0)
        model = cls(v, *args, k=k, heads=heads, depth=depth, **kw)
        # earlier versions do so in their constructors
        return getattr(lib, 'use_fast_layers', lambda model: model)(model)
    torch.manual_seed(1)
    x,padded = torch.randint(2, v, (8,t)),torch.randint(2, v, (8,t))
    for row,n in zip(padded, range(0, 160, 20)): row[:n] = 1
    lm = make(lib.TransformerLM, max_len=4096).eval()
    def write(n, prompt, **kw):
        return lambda: lib.generate(lm, prompt, n, generator=torch.Generator().manual_seed(0),
                                    **kw)[0,-1].item()
    def hooked(f):
        def run():
            handle = lm.register_forward_hook(lambda *_: None)
            res = f(); handle.remove()
            return res
        return run
    short,long = x[:1,:16],torch.randint(2, v, (1,2048))
    return {'training step, classifier': trainer(make(lib.TransformerClassifier, 2, dropout=0.,
                                                      head_dropout=0.), x, torch.randint(0, 2,
        (8,))), 'training step, classifier, padding': trainer(make(lib.TransformerClassifier, 2,
        dropout=0., head_dropout=0.), padded, torch.randint(0, 2, (8,))),
            'training step, language model': trainer(make(lib.TransformerLM, dropout=0.), x[:2],
                                                     x[:2].roll(-1, 1)),
            'write 100 tokens': write(100, short),
            'write 100 tokens, layer by layer': hooked(write(100, short)),
            'write 30 tokens, 8 texts': write(30, x[:8,:16]),
            'read a prompt of 2,048 tokens': write(1, long)}

@call_parse
def main(
    old:str, # A checkout of the old version
    rounds:int=30, # Rounds that are timed
    threads:int=2, # Threads for torch
    k:int=256, # Width
    heads:int=8, # Number of heads
    depth:int=4, # Number of blocks
    only:str='', # Only jobs with this in their name
):
    "Compare the old version with this one"
    torch.set_num_threads(threads)
    both = [jobs(package(path, name), k, heads, depth)
            for path,name in ((old,'old_version'), (Path(__file__).parent.parent,'new_version'))]
    print(f'{cpu()}, {threads} threads, torch {torch.__version__}, {date.today()}, '
          f'{k=}, {heads=}, {depth=}, {rounds} rounds\n')
    print('| job | old, ms | new, ms | new/old | 95 % interval | same result '
          '|\n|---|---|---|---|---|---|')
    for name in both[0]:
        if only not in name: continue
        fs,times,same = [o[name] for o in both],[],True
        for i in range(rounds+2):  # two to warm up
            row = [0,0]
            for j in ((0,1) if i%2 else (1,0)):
                start = time.perf_counter(); row[j] = fs[j](),time.perf_counter()-start
            same &= row[0][0]==row[1][0] or abs(row[0][0]-row[1][0]) < 1e-4
            times.append([o[1] for o in row])
        times = np.array(times[2:])*1000
        ratio = times[:,1]/times[:,0]
        again = np.random.default_rng(0).choice(ratio, (2000,len(ratio)))
        mid,(low,high) = np.median(ratio),np.percentile(np.median(again, 1), [2.5,97.5])
        print(f'| {name} | {np.median(times[:,0]):.1f} | {np.median(times[:,1]):.1f} | '
              f'{mid:.3f} | {low:.3f} to {high:.3f} | {"yes" if same else "no"} |', flush=True)
