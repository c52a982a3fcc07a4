"""Runs the list of checks and the properties with far more examples than `make test` does, and writes what was tried, and what
was lost, to `nbs/files/torture.csv`, which the page *How it is tested* shows. `make torture` takes a quarter of an hour on two cores."""
import csv, json, os, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(root/'benchmarks'))
notebooks = '08_checks', 'reliability'

def main():
    import torch
    from train_step import cpu
    with tempfile.TemporaryDirectory() as tmp:
        file, failed, start = Path(tmp)/'rows', [], time.time()
        file.touch()
        env = dict(os.environ, TORTURE=str(file), OMP_NUM_THREADS='1', MPLBACKEND='Agg')
        def run(name):
            command = [Path(sys.executable).parent/'nbdev_test', f'nbs/{name}.ipynb', '--cell-timeout', '14400']
            res = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
            out = res.stdout+res.stderr
            if 'Success.' not in out: failed.append(name); print(out[-5000:])
        with ThreadPoolExecutor() as pool: list(pool.map(run, sys.argv[1:] or notebooks))
        rows = [json.loads(o) for o in file.read_text().splitlines()]
    for o in rows: print(f"{o['tried']:>8,} {o['what']}: {o['lost']} lost ({o['limit']})")
    print(f"{(time.time()-start)/60:.0f} minutes; {'failed: '+', '.join(failed) if failed else 'nothing failed'}")
    if not failed and not sys.argv[1:]:
        says = f'{date.today()}, torch {torch.__version__}, {cpu()}'
        with open(root/'nbs/files/torture.csv', 'w', newline='') as f:
            w = csv.writer(f, lineterminator='\n')
            w.writerow(['what was tried', 'times', 'lost', 'to what limit', 'when and where'])
            for o in rows: w.writerow([o['what'], f"{o['tried']:,}", o['lost'], o['limit'], says])
    return bool(failed)

if __name__=='__main__': sys.exit(main())
