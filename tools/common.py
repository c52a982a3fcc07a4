"""Functions that tools, tests and benchmarks share: running a notebook, what a page hides or defines, writing a table for the documentation, and copying the repository."""
import ast, csv, json, multiprocessing, os, shutil, subprocess, sys
from datetime import date
from pathlib import Path

root = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(root), str(root/'benchmarks')]

def is_hidden(c):
    "Whether the site does not show the code of a cell"
    d = c.directives_
    return {'hide', 'export', 'exporti', 'default_exp'} & {*d} or 'false' in (d.get('echo'), d.get('include')) or c.source.lstrip().startswith('show_doc')

def tested(name, *args, folder=root, timeout=None, **env):
    "Messages of `nbdev_test` where it fails on a notebook of `folder`, or '' where it passes"
    command = [str(Path(sys.executable).parent/'nbdev_test'), f'nbs/{name}.ipynb', *args]
    env = dict(os.environ, OMP_NUM_THREADS='1', MPLBACKEND='Agg', **env)
    try: res = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired: return 'out of time'
    said = res.stdout+res.stderr
    return '' if 'Success.' in said else said or 'failed'

def run_anew(code, *args):
    """The exit status of `code` in a process that has imported nothing of this library: nightly, and where a notebook is run by hand, a new
    Python; in other tests a copy of this one, which has imported PyTorch and fastai, that has forgotten the library"""
    if os.getenv('NIGHTLY') or not os.getenv('IN_TEST'): return subprocess.run([sys.executable, '-c', code, *args]).returncode
    def run():
        for o in [*sys.modules]:
            if o.startswith('transformers_from_scratch'): del sys.modules[o]
        sys.argv[1:] = args
        exec(code, dict(__name__='__main__'))
    (p := multiprocessing.get_context('fork').Process(target=run)).start()
    p.join()
    return p.exitcode

def definitions(page, *names):
    "The source of functions and classes that a page defines, for tests and benchmarks that use the same ones"
    found = {}
    for cell in json.loads((root/f'nbs/{page}.ipynb').read_text(encoding='utf8'))['cells']:
        source = ''.join(cell['source'])
        if cell['cell_type']!='code' or not any(f' {o}(' in source or f'class {o}:' in source for o in names): continue
        lines = source.splitlines()
        for o in ast.parse(source).body:
            if getattr(o, 'name', '') not in names: continue
            start = min(x.lineno for x in [o, *o.decorator_list])
            found.setdefault(o.name, '\n'.join(lines[start-1:o.end_lineno]))
    return '\n\n'.join(found[o] for o in names)

def write(file, rows, place=True):
    "Write `rows` as CSV, each with when and, with `place`, where it came about"
    import torch
    from train_step import cpu
    says = {'when and where': f'{date.today()}, torch {torch.__version__}, {cpu()}'} if place else {'when': date.today()}
    with open(file, 'w', newline='') as f:
        w = csv.DictWriter(f, [*rows[0], *says], lineterminator='\n')
        w.writeheader()
        w.writerows(o | says for o in rows)

def copy_tracked(folder, skip=lambda name: False):
    "Copy what git tracks, as it is in the working tree, without the files whose names `skip` is true for"
    listed = subprocess.run(['git', 'ls-files', '-z'], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split('\0')):
        if skip(name) or not (root/name).exists(): continue
        (folder/name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root/name, folder/name, follow_symlinks=False)
