"""Vectors of texts: ours beside Hugging Face's model on the same batches, in turn, and how long and how much it takes to load.

    .venv-bench/bin/python benchmarks/embed.py FOLDER      # of all-MiniLM-L6-v2, see examples/minilm.py

Each is a process of its own with the same threads; the one waits while the other works. A round is all batches; the ratio is taken within a round.
Needs IMDB (`untar_data(URLs.IMDB)`): 512 reviews, cut to 256 tokens, sorted by length, 32 in a batch.
"""
import json, os, subprocess, sys, tempfile, time
from pathlib import Path

worker = '''
import json, sys, time, torch
kind,folder,file,threads = sys.argv[1:5]
torch.set_num_threads(int(threads))
batches = [(torch.tensor(ids), torch.tensor(mask)) for ids,mask in json.load(open(file))]
if kind=='ours':
    from transformers_from_scratch.all import load_pretrained, mean_pool
    encoder = load_pretrained(folder).encoder
    def read(ids, mask): return mean_pool(*encoder(ids))
else:
    from transformers import AutoModel
    model = AutoModel.from_pretrained(folder, attn_implementation='sdpa', add_pooling_layer=False).eval()
    def read(ids, mask):
        hidden,m = model(input_ids=ids, attention_mask=mask).last_hidden_state,mask[...,None].float()
        return (hidden*m).sum(1)/m.sum(1)
print('ready', flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    with torch.inference_mode(): out = torch.cat([read(*o) for o in batches])
    print(json.dumps([time.perf_counter()-start, out[::50,:4].tolist()]), flush=True)
'''

def batches_of(folder, n, max_len, bs):
    "Ids and masks of reviews, sorted by length"
    from fastai.text.all import get_text_files, untar_data, URLs
    from transformers_from_scratch.all import HFTokenizer
    tok = HFTokenizer(folder)
    files = get_text_files(untar_data(URLs.IMDB)/'test').sorted()
    rows = [[tok.o2i[o] for o in tokens] for tokens in tok(f.read_text(encoding='utf8')
        for f in files[::len(files)//n][:n])]
    rows = sorted([o if len(o)<=max_len else o[:max_len-1]+o[-1:] for o in rows], key=len,
                  reverse=True)
    parts = [rows[i:i+bs] for i in range(0, n, bs)]
    pad = lambda part,f: [[f(o) for o in r]+[0]*(len(part[0])-len(r)) for r in part]
    return [(pad(p, int), pad(p, lambda o: 1)) for p in parts],sum(map(len, rows))

def main(folder, rounds=9, threads=2, n=512, max_len=256, bs=32):
    batches,tokens = batches_of(folder, n, max_len, bs)
    with tempfile.TemporaryDirectory() as tmp:
        (file := Path(tmp)/'batches.json').write_text(json.dumps(batches))
        (script := Path(tmp)/'worker.py').write_text(worker)
        def start(kind):
            env = {**os.environ, 'OMP_NUM_THREADS':str(threads)}
            p = subprocess.Popen([sys.executable, script, kind, folder, file, str(threads)],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, env=env)
            assert p.stdout.readline().strip()=='ready'
            return p
        ps = {o: start(o) for o in ('ours','hf')}
        def ask(p): p.stdin.write('go\n'); p.stdin.flush(); return json.loads(p.stdout.readline())
        for p in ps.values(): ask(p)                                                       # warm up
        times = {o: [] for o in ps}
        for i in range(rounds):
            res = {o: ask(ps[o]) for o in (list(ps) if i%2 else list(ps)[::-1])}
            for o,(seconds,_) in res.items(): times[o].append(seconds)
        a,b = (res[o][1] for o in ps)
        worst = max(abs(x-y) for r,s in zip(a, b) for x,y in zip(r, s))
        for p in ps.values(): p.stdin.close(); p.wait()
    ratios = sorted(h/o for o,h in zip(times['ours'], times['hf']))
    med = lambda o: sorted(o)[len(o)//2]
    print(f"{tokens} tokens in {len(batches)} batches, {threads} threads, {rounds} "
          f"rounds; largest difference {worst:.1e}")
    for o in ps: print(f"{o}: {tokens/med(times[o]):,.0f} tokens a second (median)")
    print(f"time of Hugging Face / ours: {med(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")

if __name__=='__main__':
    import argparse
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('folder')
    for o,d in dict(rounds=9, threads=2, n=512, max_len=256, bs=32).items():
        p.add_argument('--'+o.replace('_','-'), type=int, default=d)
    main(**vars(p.parse_args()))
