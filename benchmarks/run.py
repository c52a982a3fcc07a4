"""This library beside its peers: `make bench` runs all that takes minutes, and writes `benchmarks/results.md`, and `results.csv`.

    python benchmarks/run.py            # training steps and epochs, the loss, scale, memory, the start, reading, loading, writing: about two hours
    python benchmarks/run.py --imdb     # also IMDB, three seeds, the baselines and transfer: more than two hours
"""
import subprocess, sys
from pathlib import Path
from fastcore.script import call_parse

here = Path(__file__).parent

def run(*args):
    "Run a script with this Python, show what it prints, and return it"
    print('$ python', *args)
    res = subprocess.run([sys.executable, *map(str, args)], stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    print(res)
    return f"`python {' '.join(map(str, args))}`\n\n{res}"

steps = [[], ['--real',.71], ['--dtype','bf16'], ['--task','lm','--t',128],
         ['--task','lm','--t',128,'--v',30_000]]

@call_parse
def main(
    imdb:bool=False, # Also train on IMDB
    rounds:int=15, # Training steps of each model that are timed
):
    "Measure, and write `benchmarks/results.md`"
    table = here/'results.csv'
    table.unlink(missing_ok=True)
    parts = [run('benchmarks/train_step.py', '--rounds', rounds, '--out', table, *o) for o in steps]
    parts += [run(f'benchmarks/{o}.py', '--out', table)
              for o in ('loss','scale','epoch','memory','start','read','loader')]
    parts += [run('benchmarks/generate.py', '--size', size, '--out', table)
              for size in ('small','gpt2')]
    if imdb:
        parts += [run('benchmarks/train_step.py', '--data', 'imdb', '--bs', 32, '--t', 512,
                      '--rounds', rounds), run('benchmarks/padding.py')]
        parts += [run('examples/imdb.py', recipe, '--seed', seed)
                  for recipe in ('bag','plain','labels') for seed in range(3)]
        parts += [run('benchmarks/imdb_baselines.py', what) for what in ('tfidf', 'awd_lstm')]
        parts += [run('examples/imdb_transfer.py')]
    (here/'results.md').write_text('# Results\n\n' + '\n\n'.join(parts))
    print('Written to', here/'results.md')
