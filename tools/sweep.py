"""Runs the notebooks under other seeds, numbers of threads and instruction sets, and lists how often each assertion held, and
with what room: the smallest first. `make test-sweep` takes two hours on two cores: each seed meets each instruction set, with
the numbers of threads in turn (`--all` runs all combinations).

A run is one notebook in a process of its own. All its assertions are counted: one that fails does not end the run. `room` is
the smallest distance from the bound that was seen, in standard deviations of that distance over the runs. Distances are ratios
(their logarithms) where both numbers are above 0, else differences. What came out the same in all runs has no room to tell."""
import ast, json, math, os, shutil, subprocess, sys, time
from argparse import ArgumentParser
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import mean, pstdev

root = Path(__file__).resolve().parent.parent
isas = {'oldest': dict(ATEN_CPU_CAPABILITY='default', ONEDNN_MAX_CPU_ISA='SSE41', MKL_CBWR='COMPATIBLE'),
        'avx2': dict(ATEN_CPU_CAPABILITY='avx2', ONEDNN_MAX_CPU_ISA='AVX2', MKL_CBWR='AVX2'), 'own': {}}

# One run: count what holds

class Recorder(ast.NodeTransformer):
    "Rewrites the assertions of a cell so that each is written down under its line; those at the top do not end the run"
    def __init__(self): self.cell,self.rows,self.depth,self.keys,self.hushed = 0,{},0,[],0

    def key(self, node): return f'{self.cell}: {ast.unparse(node)[:300]}'

    def visit_FunctionDef(self, node):
        self.depth += 1
        node = self.generic_visit(node)
        self.depth -= 1
        return node
    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef

    def visit_Assert(self, node):
        key = self.key(node)
        test = self.distances(node.test, key)
        if self.depth: return ast.copy_location(ast.Assert(self.ask('truth', key, test), node.msg), node)
        return ast.copy_location(ast.Expr(self.ask('truth', key, test)), node)

    def visit_Expr(self, node):
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.startswith(('test_','check_'))): return node
        inner = ast.Lambda(ast.arguments([], [], None, [], [], None, []), call)
        return ast.copy_location(ast.Expr(self.ask('call', self.key(call), inner, ast.Constant(self.depth>0))), node)

    def ask(self, name, key, *args):
        f = ast.Attribute(ast.Name('_sweep', ast.Load()), name, ast.Load())
        return ast.Call(f, [ast.Constant(key), *args], [])

    def distances(self, node, key):
        "`node` with its comparisons measured, where all of them have to hold"
        again = lambda o: self.distances(o, key)
        match node:
            case ast.BoolOp(op=ast.And()): node.values = list(map(again, node.values))
            case ast.Call(func=ast.Name(id='all'), args=[ast.GeneratorExp() as g]): g.elt = again(g.elt)
            case ast.Call(func=ast.Attribute(attr='all') as f): f.value = again(f.value)
            case ast.Compare():
                ops = ast.Constant(' '.join(type(o).__name__ for o in node.ops))
                return self.ask('compare', key, ops, node.left, *node.comparators)
        return node

    def write(self, key, held, value=None, bound=None, room=None):
        if self.hushed: return
        row = self.rows.setdefault(key, dict(held=True, room=None))
        row['held'] &= held
        if room is not None and (row['room'] is None or room < row['room']): row.update(room=room, value=value, bound=bound)

    def compare(self, key, ops, *values):
        import operator as o
        named = dict(Eq=o.eq, NotEq=o.ne, Lt=o.lt, LtE=o.le, Gt=o.gt, GtE=o.ge, Is=o.is_, IsNot=o.is_not,
                     In=lambda a,b: a in b, NotIn=lambda a,b: a not in b)
        res = None
        for op,a,b in zip(ops.split(), values, values[1:]):
            one = named[op](a, b)
            res = one if res is None else res & one
            if op[:2] in ('Lt', 'Gt'): self.measure(key, *((a,b) if op[0]=='L' else (b,a)), swap=op[0]=='G')
        return res

    def measure(self, key, low, high, swap=False):
        import numpy as np
        try: low,high = np.broadcast_arrays(*(np.asarray(getattr(o, 'detach', lambda: o)(), dtype=float) for o in (low,high)))
        except (TypeError, ValueError, RuntimeError): return
        if not low.size: return
        i = np.nanargmin((high-low).ravel()) if not np.isnan(high-low).all() else 0
        a,b = float(low.ravel()[i]),float(high.ravel()[i])
        if a==0 or not math.isfinite(b-a): return                                 # nothing is off, or nothing is a number
        self.write(key, True, *((b,a) if swap else (a,b)), math.log(b/a) if min(a, b)>0 else b-a)

    def truth(self, key, held):
        held = bool(held)
        self.write(key, held)
        return held

    def call(self, key, f, again):
        self.keys.append(key)
        try:
            f()
            self.write(key, True)
        except AssertionError:
            self.write(key, False)
            if again: raise
        finally: self.keys.pop()

    @contextmanager
    def hush(self):
        self.hushed += 1
        try: yield
        finally: self.hushed -= 1

def listen(rec):
    "Let fastcore's tests tell `rec` how close it was; what is meant to fail is not counted"
    import fastcore.test as t
    close,fail = t.is_close,t.test_fail
    def is_close(a, b, eps=1e-5):
        import numpy as np
        if rec.keys:
            try:
                with rec.hush(): a,b = ((o if hasattr(o, '__array__') or isinstance(o, (int,float,str)) else list(o)) for o in (a,b))
                off = np.abs(np.asarray(getattr(a, 'detach', lambda: a)(), float)-np.asarray(getattr(b, 'detach', lambda: b)(), float)).max()
                rec.measure(rec.keys[-1], off, eps)
            except (TypeError, ValueError, RuntimeError): pass
        return close(a, b, eps)
    def test_close(a, b, eps=1e-5): t.test(a, b, lambda a,b: is_close(a, b, eps), 'close')
    def test_fail(*args, **kwargs):
        with rec.hush(): fail(*args, **kwargs)
    t.test_close,t.test_fail = test_close,test_fail

def run_one(nb, out):
    "Run the notebook `nb` under what the environment says, and write what held to `out`"
    import seeds                                                                  # shifts the seeds, if it is told to
    import torch
    from execnb.shell import CaptureShell
    from fastcore.xtras import working_directory
    from nbdev.config import get_config
    from nbdev.process import NBProcessor
    from nbdev.test import _skip_cell
    sys.path.insert(0, str(root))
    os.environ['IN_TEST'] = '1'
    rec,start = Recorder(),time.time()
    listen(rec)
    cells = NBProcessor(nb, rm_directives=False, process=True).nb
    skip,shell = _skip_cell(cells, get_config(nb.parent).tst_flags.split()),CaptureShell(nb)
    shell.user_ns['_sweep'] = rec
    shell.ast_transformers.append(rec)
    failed = {}
    with working_directory(nb.parent):
        for c in cells.cells:
            if skip(c): continue
            rec.cell = c.idx_
            shell.cell(c)
            if shell.exc: failed[c.idx_] = f'{type(shell.exc).__name__}: {shell.exc}'[:300]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(dict(rows=rec.rows, failed=failed, seconds=round(time.time()-start),
                                   isa=torch.backends.cpu.get_cpu_capability())))

# All runs

def plan(seeds, threads, names, full=False):
    "Combinations `(seed, threads, instruction set)`: all, or each seed with each instruction set"
    if full: return list(product(seeds, threads, names))
    return [(s, threads[(i+j)%len(threads)], name) for i,s in enumerate(seeds) for j,name in enumerate(names)]

def run_all(jobs_of, out, jobs):
    "Run each of `jobs_of`; as many at once as keeps a core for each of their threads"
    todo = [o for o in jobs_of if not result(out, *o).exists()]
    done = []
    def one(job):
        nb,seed,t,isa = job
        env = os.environ | isas[isa] | dict(TEST_SEED=str(seed), OMP_NUM_THREADS=str(t), MKL_NUM_THREADS=str(t), MPLBACKEND='Agg')
        cmd = [sys.executable, __file__, '--one', str(nb), '--out', str(result(out, *job))]
        res = subprocess.run(cmd, env=env, cwd=root, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        done.append(job)
        print(f'{len(done):4} of {len(todo)}: {label(nb)}, seed {seed}, threads {t}, {isa}' + (f': no result\n{res.stderr[-2000:]}' if res.returncode else ''), flush=True)
    for t in sorted({o[2] for o in todo}):
        with ThreadPoolExecutor(max(1, jobs//t)) as pool: list(pool.map(one, [o for o in todo if o[2]==t]))
    return [o for o in todo if not result(out, *o).exists()]

def label(nb): return Path(nb).relative_to(root/'nbs').with_suffix('').as_posix()
def result(out, nb, seed, threads, isa): return out/f'{seed}-{threads}-{isa}'/f'{label(nb).replace("/", "-")}.json'

def table(runs):
    "A row for each assertion: where, how often it held, its tightest value and bound, room; the smallest room first"
    found = defaultdict(list)
    for nb,seed,threads,isa,res in runs:
        for key,row in res['rows'].items(): found[nb,key].append(row | dict(run=f'{seed}-{threads}-{isa}'))
        for cell,error in res['failed'].items(): found[nb,f'{cell}: {error}'].append(dict(held=False, room=None, run=f'{seed}-{threads}-{isa}'))
    res = []
    for (nb,key),rows in found.items():
        held,rooms = sum(o['held'] for o in rows),[o['room'] for o in rows if o['room'] is not None]
        worst = min((o for o in rows if o['room'] is not None), key=lambda o: o['room'], default={})
        sd = pstdev(rooms) if rooms else 0
        room = min(rooms)/sd if sd > 0 else math.inf
        bad = [o['run'] for o in rows if not o['held']]
        res.append(dict(nb=nb, test=key, held=held, n=len(rows), value=worst.get('value'), bound=worst.get('bound'), room=room, mean=mean(rooms) if rooms else None, bad=bad))
    return sorted(res, key=lambda o: (o['held']==o['n'], o['room']))

def show(rows, n):
    num = lambda o: '' if o is None or o == math.inf else f'{o:.3g}'
    print('| notebook | cell: assertion | held | tightest | bound | room (sd) | failed in |\n|---|---|---|---|---|---|---|')
    for o in rows[:n]:
        test = ' '.join(o['test'].split()).replace('|', '\\|')[:110]
        print(f'| {o["nb"]} | {test} | {o["held"]}/{o["n"]} | {num(o["value"])} | {num(o["bound"])} | {num(o["room"])} | {" ".join(o["bad"][:4])} |')

def main():
    p = ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('notebooks', nargs='*', type=Path, help='notebooks to run; all if none is named')
    p.add_argument('--seeds', nargs='+', type=int, default=[0,1,2,3,4], help='what is added to the seeds of the notebooks')
    p.add_argument('--threads', nargs='+', type=int, default=[1,2], help='threads of PyTorch')
    p.add_argument('--isa', nargs='+', choices=isas, default=list(isas), help='instruction sets; `own` is what this machine has')
    p.add_argument('--all', action='store_true', help='run all combinations')
    p.add_argument('--jobs', type=int, default=os.cpu_count(), help='cores to use')
    p.add_argument('--out', type=Path, default=root/'output/sweep', help='a folder for what was found')
    p.add_argument('--rows', type=int, default=40, help='rows of the table to print')
    p.add_argument('--resume', action='store_true', help='keep the results that are there')
    p.add_argument('--one', type=Path, help='run this notebook here and now, and write to --out')
    a = p.parse_args()
    if a.one: return run_one(a.one.resolve(), a.out)
    if not a.resume: shutil.rmtree(a.out, ignore_errors=True)
    from nbdev.config import get_config
    from nbdev.doclinks import nbglob
    from nbdev.test import nb_test_cells
    nbs = [o.resolve() for o in a.notebooks] or [p for p in sorted(nbglob(root/'nbs', as_path=True)) if nb_test_cells(p, get_config(root).tst_flags.split())]
    jobs = [(nb,*o) for o in plan(a.seeds, a.threads, a.isa, a.all) for nb in nbs]
    lost = run_all(jobs, a.out, a.jobs)
    runs = [(label(o[0]),*o[1:],json.loads(f.read_text())) for o in jobs if (f := result(a.out, *o)).exists()]
    rows = table(runs)
    (a.out/'table.json').write_text(json.dumps(rows))
    show(rows, a.rows)
    bad,varied = sum(o['held']<o['n'] for o in rows),sum(o['room']<math.inf for o in rows)
    failed = sum(bool(res['failed']) or not all(o['held'] for o in res['rows'].values()) for *_,res in runs) + len(lost)
    print(f'\n{len(rows)} assertions, {varied} of them with a distance that varies, {bad} that did not always hold')
    print(f'Runs: {len(runs)+len(lost)-failed} passed, {failed} failed')
    sys.exit(bool(failed))

if __name__ == '__main__': main()
