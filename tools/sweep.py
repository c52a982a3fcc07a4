"""Run the notebooks with other seeds, numbers of threads and instruction sets, and list which of them failed, and where. Each seed meets
each instruction set, with the numbers of threads in turn. `make stress WHAT=sweep` takes two hours on two cores.

    python tools/sweep.py nbs/learner/explain.ipynb --isa oldest --threads 1       # five seeds, minutes"""
import argparse, os, re, subprocess, sys
from collections import defaultdict
from pathlib import Path

root = Path(__file__).resolve().parent.parent
isas = {'oldest': dict(ATEN_CPU_CAPABILITY='default', ONEDNN_MAX_CPU_ISA='SSE41', MKL_CBWR='COMPATIBLE'),
        'avx2': dict(ATEN_CPU_CAPABILITY='avx2', ONEDNN_MAX_CPU_ISA='AVX2', MKL_CBWR='AVX2'), 'own': {}}

def run(notebooks, seed, threads, isa, log):
    "Run the notebooks as `make test` does; returns the names of those that failed, and writes what was said to `log`"
    env = os.environ | isas[isa] | dict(TEST_SEED=str(seed), OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads), MPLBACKEND='Agg')
    command = [sys.executable, 'tools/run_notebooks.py', *notebooks, '--n-workers', str(max(1, os.cpu_count()//threads))]
    res = subprocess.run(command, cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    log.write_text(res.stdout)
    return re.findall(r'^\t(\S+\.ipynb)$', res.stdout, flags=re.M) or ['no notebook ran to its end']*bool(res.returncode)

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('notebooks', nargs='?', help='a notebook, a folder or a pattern; all if none is named')
    p.add_argument('--seeds', nargs='+', type=int, default=[*range(5)], help='sets of seeds; 0 is as written')
    p.add_argument('--threads', nargs='+', type=int, default=[1,2], help='threads of PyTorch')
    p.add_argument('--isa', nargs='+', choices=isas, default=[*isas], help="instruction sets; `own` is the machine's")
    p.add_argument('--out', type=Path, default=root/'output/sweep', help='a folder for what the runs say')
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    failed,n = defaultdict(list),0
    for i,seed in enumerate(a.seeds):
        for j,isa in enumerate(a.isa):
            threads,n = a.threads[(i+j)%len(a.threads)],n+1
            log = a.out/f'{seed}-{threads}-{isa}.txt'
            names = run([a.notebooks] if a.notebooks else [], seed, threads, isa, log)
            print(f'{n} of {len(a.seeds)*len(a.isa)}: seed {seed}, threads {threads}, {isa}: {", ".join(names) or "all passed"}', flush=True)
            for o in names: failed[o].append(log.name)
    for name,logs in sorted(failed.items(), key=lambda o: -len(o[1])): print(f'{name} failed in {len(logs)} of {n} runs: {" ".join(logs)} in {a.out}')
    print(f'{n} runs, {len(failed)} notebooks that did not always pass')
    sys.exit(bool(failed))

if __name__ == '__main__': main()
