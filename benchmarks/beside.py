"""How much slower is this library beside one busy process?

    python benchmarks/beside.py             # 5 minutes on two cores that are otherwise idle
    python benchmarks/beside.py --rounds 5

Training (a classifier, k=256, 4 blocks, 16 x 128 tokens), writing in 8 bits (a language model of the same size, 10,000 words) and reading (the classifier, 32 x 128), each alone and beside a process
that counts. Threads of PyTorch's OpenMP wait for each other by spinning; where a core is taken, the others spin until it is free. `OMP_WAIT_POLICY=PASSIVE`, set before PyTorch is
imported, lets them sleep. Each setting has processes of its own, in turns; quoted is the median over the rounds of each process's median, with the smallest and the largest.
"""
import os, statistics, subprocess, sys, time
from datetime import date
from pathlib import Path
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

settings = {
    'two threads': dict(OMP_NUM_THREADS='2'),
    'two threads, PASSIVE': dict(OMP_NUM_THREADS='2', OMP_WAIT_POLICY='PASSIVE'),
    'two threads, GOMP_SPINCOUNT=1000': dict(OMP_NUM_THREADS='2', GOMP_SPINCOUNT='1000'),
    'one thread': dict(OMP_NUM_THREADS='1')}

def training():
    "Milliseconds of training steps"
    import torch
    from transformers_from_scratch.nn.classifier import TransformerClassifier
    from transformers_from_scratch.fast.layers import use_fast_layers
    model = use_fast_layers(TransformerClassifier(1000, 2, k=256, heads=8, depth=4, max_len=256)).train()
    opt = torch.optim.AdamW(model.parameters(), fused=True)
    ids,labels = torch.randint(2, 1000, (16,128)),torch.randint(0, 2, (16,))
    def step():
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(ids), labels).backward()
        opt.step()
    return timed(step)

def writing(n=50):
    "Milliseconds a token"
    import torch
    from transformers_from_scratch.generate.write import generate
    from transformers_from_scratch.nn.lm import TransformerLM
    from transformers_from_scratch.fast.layers import use_fast_layers
    model = use_fast_layers(TransformerLM(10_000, k=256, heads=8, depth=4, max_len=512).eval())
    ids = torch.randint(2, 10_000, (1,16))
    return [o/n for o in timed(lambda: generate(model, ids, n, temperature=0, quantize='int8'))]

def reading():
    "Milliseconds for a batch of 32 texts"
    import torch
    from transformers_from_scratch.nn.classifier import TransformerClassifier
    from transformers_from_scratch.fast.layers import use_fast_layers
    model = use_fast_layers(TransformerClassifier(1000, 2, k=256, heads=8, depth=4, max_len=256)).eval()
    ids = torch.randint(2, 1000, (32,128))
    with torch.inference_mode(): return timed(lambda: model(ids))

jobs = dict(training=training, writing=writing, reading=reading)

def timed(f, secs=6):
    "Milliseconds of each call of `f`, after three to warm up: ten calls at least"
    for _ in range(3): f()
    took,end = [],time.perf_counter()+secs
    while len(took)<10 or time.perf_counter()<end:
        start = time.perf_counter()
        f()
        took.append(1e3*(time.perf_counter()-start))
    return took

def run(job, env, beside):
    "The median of one process, alone or beside a busy one"
    busy = subprocess.Popen([sys.executable, '-c', 'while True: pass']) if beside else None
    env = {n: o for n,o in os.environ.items() if not n.startswith(('OMP_','GOMP_'))} | env
    try: return float(subprocess.run([sys.executable, __file__, job], env=env, capture_output=True, text=True, check=True).stdout)
    finally:
        if busy: busy.kill(); busy.wait()

def main(rounds):
    import torch
    from train_step import cpu, table
    took = {(job,name,beside): [] for job in jobs for name in settings for beside in (False,True)}
    for _ in range(rounds):
        for job,name,beside in took: took[job,name,beside].append(run(job, settings[name], beside))
    def said(o): return f'{statistics.median(o):.3g} ({min(o):.3g}-{max(o):.3g})'
    rows = []
    for job in jobs:
        best = statistics.median(took[job,'two threads',False])
        for name in settings:
            alone,beside = took[job,name,False],took[job,name,True]
            rows.append({'': job, 'threads': name, 'alone, ms': said(alone), 'beside, ms': said(beside),
                         'beside over alone': f'{statistics.median(beside)/statistics.median(alone):.1f}',
                         'beside over two threads alone': f'{statistics.median(beside)/best:.1f}'})
    table(rows, f'{cpu()}, torch {torch.__version__}, {date.today()}, {rounds} rounds')

if __name__=='__main__':
    if sys.argv[1:2] and sys.argv[1] in jobs: print(statistics.median(jobs[sys.argv[1]]()))
    else: main(int(sys.argv[2]) if sys.argv[1:2]==['--rounds'] else 3)
