"""What `from transformers_from_scratch.all import *` adds to the import of fastai, in seconds.

    python benchmarks/start.py --rounds 15

Fresh processes take turns; each reports how long its own import took, from compiled modules: the first round writes them, as the first import on any machine does.
"""
import os, subprocess, sys
from datetime import date
from pathlib import Path
import numpy as np, torch
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

def seconds(code):
    "Seconds that the last line of `code` takes in a process of its own"
    *before,last = code.split('\n')
    prog = '\n'.join([*before, 'import time; start = time.perf_counter()', last,
                      'print(time.perf_counter()-start)'])
    return float(subprocess.run([sys.executable, '-c', prog], capture_output=True, text=True,
                                check=True, cwd=Path(__file__).parent.parent,
                                env=os.environ | dict(PYTHONDONTWRITEBYTECODE='')).stdout)

@call_parse
def main(
    rounds:int=15, # Processes of each kind
    out:str='', # A CSV file to append to
):
    "Print a table of seconds"
    from train_step import cpu, table
    ours = 'from transformers_from_scratch.all import *'
    kinds = {'fastai.text.all':'from fastai.text.all import *',
             'transformers_from_scratch.all, after it':'from fastai.text.all import *\n'+ours}
    took = {o: [] for o in kinds}
    for i in range(rounds+1):                              # the first round warms up
        for o in np.random.permutation(list(kinds)):
            secs = seconds(kinds[o])
            if i: took[o].append(secs)
    rows = [{'import':name, **{q: f'{np.percentile(o, p):.3f}'
                               for q,p in (('10 %',10),('median',50),('90 %',90))}}
            for name,o in took.items()]
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}: seconds, {rounds} rounds',
          out)
