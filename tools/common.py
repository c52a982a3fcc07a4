"""What the tools share that try things for minutes or hours: running a notebook, and writing a table for the documentation."""
import csv, os, subprocess, sys
from datetime import date
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(root), str(root/'benchmarks')]

def tested(name, *args, folder=root, timeout=None, **env):
    "How `nbdev_test` fails on a notebook of `folder`, or '' where it passes"
    command = [str(Path(sys.executable).parent/'nbdev_test'), f'nbs/{name}.ipynb', *args]
    env = dict(os.environ, OMP_NUM_THREADS='1', MPLBACKEND='Agg', **env)
    try: res = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired: return 'out of time'
    said = res.stdout+res.stderr
    return '' if 'Success.' in said else said or 'failed'

def write(file, rows, place=True):
    "Write `rows` as CSV, each with when and, with `place`, where it came about"
    import torch
    from train_step import cpu
    says = {'when and where': f'{date.today()}, torch {torch.__version__}, {cpu()}'} if place else {'when': date.today()}
    with open(file, 'w', newline='') as f:
        w = csv.DictWriter(f, [*rows[0], *says], lineterminator='\n')
        w.writeheader()
        w.writerows(o | says for o in rows)
