"""Accuracy on IMDB with 25, 50, 100, 200 and 500 labels, for each way to get there: the figures of the tutorial "Few labels".

    python benchmarks/few_labels_curve.py FOLDER --out curve.jsonl      # FOLDER of all-MiniLM-L6-v2; an hour or two on one core
    python benchmarks/few_labels_curve.py FOLDER --out curve.jsonl --sizes 50 --seeds 3 --only 'MiniLM, fine-tuned'

Evaluated on the same 2,000 reviews of the test set. What is in `--out` already is not run again.
"""
import json, subprocess, sys
from pathlib import Path
from fastcore.script import call_parse

ways = {'TF-IDF': dict(what='tfidf'), 'from nothing': dict(what='nothing', lr=2e-3),
        'MiniLM, frozen': dict(what='frozen'), 'MiniLM, fine-tuned': dict(lr=1e-3),
        'MiniLM, LoRA': dict(lr=5e-3, lora_r=8)}
epochs = {'nothing': {25: 40, 50: 30, 100: 20, 200: 14, 500: 8},
          'fine_tune': {25: 24, 50: 16, 100: 12, 200: 8, 500: 4}}

@call_parse
def main(
    model:str, # Folder of the checkpoint
    out:str='curve.jsonl', # File to append to
    seeds:int=1, # Samples of labels
    sizes:str='25,50,100,200,500', # Numbers of labels, with commas between them; 'TF-IDF' takes any
    only:str=None, # One of the ways, by its name; None is all
    threads:int=2, # Threads for torch
):
    "Run what is missing, and print the table"
    out = Path(out)
    done = [json.loads(o) for o in out.read_text().splitlines()] if out.exists() else []
    chosen,sizes = [only] if only else list(ways),[int(o) for o in sizes.split(',')]
    for o in chosen:
        if o not in ways: raise SystemExit(f'--only must be one of {list(ways)}, not {o!r}')
        known = epochs.get(ways[o].get('what', 'fine_tune'))
        if known and not set(sizes)<=set(known):
            raise SystemExit(f'--sizes for {o} must be among {list(known)}, not {sizes}')
    for seed in range(seeds):
        for labels in sizes:
            for way,o in ((way, ways[way]) for way in chosen):
                if any((r['way'],r['labels'],r['seed'])==(way,labels,seed) for r in done): continue
                n = epochs.get(o.get('what', 'fine_tune'), {}).get(labels, 1)
                args = dict(data='imdb', labels=labels + labels%2, seed=seed, max_len=256,
                            crop='head_tail_crop', threads=threads, epochs=n, **o)
                cmd = [sys.executable, str(Path(__file__).parent/'pretrained.py'), model] + [x
                    for k,v in args.items() for x in (f"--{k.replace('_','-')}", str(v))]
                line = next(o for o in subprocess.run(cmd, check=True, capture_output=True,
                                                      text=True).stdout.splitlines()
                            if o.startswith('{"what'))
                done.append({**json.loads(line), 'way':way, 'labels':labels})
                with out.open('a') as f: f.write(json.dumps(done[-1])+'\n')
                print(done[-1], flush=True)
    for way in chosen:
        right = {n: [r['accuracy'] for r in done if (r['way'],r['labels'])==(way,n)] for n in sizes}
        print(way, {n: f'{sum(o)/len(o):.3f}, the mean of {len(o)}' for n,o in right.items() if o})
