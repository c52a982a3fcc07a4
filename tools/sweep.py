"""Runs the notebooks with other seeds, numbers of threads and instruction sets, and lists how often each assertion held, and
with what room, the smallest first. `make stress WHAT=sweep` takes two hours on two cores: each seed meets each instruction set, with
the numbers of threads in turn.

A run is one notebook in a process of its own. An assertion that fails does not end a run, unless it stands in a function, a
`with` or a `try`: then it ends its cell. `room` is the smallest distance from the bound that was seen, in standard deviations
of that distance over the runs. Distances are logarithms of ratios where both numbers are above 0, else differences. What came
out the same in all runs has no room to tell; of a single run the list has just the smallest distances."""
import argparse, ast, json, math, operator, os, subprocess, sys, time, traceback
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import pstdev

root = Path(__file__).resolve().parent.parent
isas = {'oldest': dict(ATEN_CPU_CAPABILITY='default', ONEDNN_MAX_CPU_ISA='SSE41', MKL_CBWR='COMPATIBLE'),
        'avx2': dict(ATEN_CPU_CAPABILITY='avx2', ONEDNN_MAX_CPU_ISA='AVX2', MKL_CBWR='AVX2'), 'own': {}}

# One run: count what holds

def array(o):
    "Numbers as an array of float64; a `TypeError` or `ValueError` for anything else"
    import numpy as np
    if hasattr(o, 'detach'): o = o.detach().cpu().double()
    return np.asarray(o if hasattr(o, '__array__') or isinstance(o, (int, float)) else list(o), dtype=float)

class Recorder(ast.NodeTransformer):
    "Rewrites the assertions of a cell, so that what they compare is written down under their text"
    def __init__(self): self.cell, self.rows, self.depth, self.keys, self.hushed = 0, {}, 0, [], 0

    def key(self, node): return f'{self.cell}.{node.lineno}: {ast.unparse(node)[:300]}'

    def deeper(self, node):
        self.depth += 1
        node = self.generic_visit(node)
        self.depth -= 1
        return node
    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_With = visit_Try = deeper

    def visit_Assert(self, node):
        self.part = 0
        key = self.key(node)
        test = self.ask('truth', key, self.measured(node.test, key))
        return ast.copy_location(ast.Assert(test, node.msg) if self.depth else ast.Expr(test), node)

    def visit_Expr(self, node):
        call = node.value
        name = getattr(getattr(call, 'func', None), 'id', '')
        if not (isinstance(call, ast.Call) and name.startswith(('test_', 'check_'))): return node
        f = ast.Lambda(ast.arguments([], [], None, [], [], None, []), call)
        return ast.copy_location(ast.Expr(self.ask('call', self.key(call), f, ast.Constant(self.depth>0))), node)

    def ask(self, name, key, *args):
        f = ast.Attribute(ast.Name('_sweep', ast.Load()), name, ast.Load())
        return ast.Call(f, [ast.Constant(key), *args], [])

    def measured(self, node, key):
        "`node` with its comparisons written down, where all of them have to hold"
        again = lambda o: self.measured(o, key)
        match node:
            case ast.BoolOp(op=ast.And()): node.values = list(map(again, node.values))
            case ast.Call(func=ast.Name(id='all'), args=[ast.GeneratorExp() as g]): g.elt = again(g.elt)
            case ast.Call(func=ast.Attribute(attr='all') as f): f.value = again(f.value)
            case ast.Compare():
                ops = ast.Constant(' '.join(type(o).__name__ for o in node.ops))
                part,self.part = self.part,self.part+len(node.ops)
                return self.ask('compare', key, ast.Constant(part), ops, node.left, *node.comparators)
        return node

    def write(self, key, held, part=0, value=None, bound=None, distance=None):
        if self.hushed: return
        row = self.rows.setdefault(key, dict(held=True, parts={}))
        row['held'] &= held
        if distance is None: return
        old = row['parts'].get(part)
        if old is None or distance < old['distance']:
            row['parts'][part] = dict(value=value, bound=bound, distance=distance)

    def compare(self, key, part, ops, *values):
        op = operator
        named = dict(Eq=op.eq, NotEq=op.ne, Lt=op.lt, LtE=op.le, Gt=op.gt, GtE=op.ge, Is=op.is_, IsNot=op.is_not,
                     In=lambda a,b: a in b, NotIn=lambda a,b: a not in b)
        res = None
        for i,(op,a,b) in enumerate(zip(ops.split(), values, values[1:])):
            one = named[op](a, b)
            res = one if res is None else res & one
            if op[0] in 'LG': self.measure(key, part+i, a, b, 1 if op[0]=='L' else -1)
        return res

    def measure(self, key, part, value, bound, sign=1):
        "Write down how far `value` is below `bound`, or above it for a `sign` of -1"
        import numpy as np
        try: value,bound = (o.ravel() for o in np.broadcast_arrays(array(value), array(bound)))
        except (TypeError, ValueError, RuntimeError): return
        if not value.size or not np.isfinite(value-bound).all(): return
        gap = sign*(bound-value)
        if (value>0).all() and (bound>0).all(): gap = sign*np.log(bound/value)
        i = gap.argmin()
        self.write(key, True, part, float(value[i]), float(bound[i]), float(gap[i]))

    def truth(self, key, held):
        self.write(key, bool(held))
        return bool(held)

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
    def test_close(a, b, eps=1e-5):
        a,b = (list(o) if hasattr(o, '__next__') else o for o in (a, b))
        try: off = abs(array(a)-array(b)).max()
        except (TypeError, ValueError, RuntimeError): off = 0
        if rec.keys and off: rec.measure(rec.keys[-1], 0, off, eps)                # exactly equal is no distance
        t.test(a, b, lambda a,b: close(a, b, eps), 'close')
    def test_fail(*args, **kwargs):
        with rec.hush(): fail(*args, **kwargs)
    t.test_close,t.test_fail = test_close,test_fail

def run_one(nb, out):
    "Run the notebook `nb` under what the environment says, and write what held to `out`"
    import seeds                                                                  # moves the seeds, if it is told to
    import torch
    from execnb.shell import CaptureShell
    from fastcore.xtras import working_directory
    from nbdev.config import get_config
    from nbdev.process import NBProcessor
    from nbdev.test import _skip_cell
    sys.path.insert(0, str(root))
    os.environ['IN_TEST'] = '1'
    rec,start,failed = Recorder(),time.time(),{}
    listen(rec)
    cells = NBProcessor(nb, rm_directives=False, process=True).nb
    skip,shell = _skip_cell(cells, get_config(nb.parent).tst_flags.split()),CaptureShell(nb)
    shell.user_ns['_sweep'] = rec
    shell.ast_transformers.append(rec)
    with working_directory(nb.parent):
        for c in cells.cells:
            if skip(c): continue
            rec.cell = c.idx_+1                                                   # as nbdev counts
            shell.cell(c)
            if not (e := shell.exc): continue
            failed[f'{rec.cell}: {type(e).__name__}'] = ''.join(traceback.format_exception(e))[-2000:]
    assert rec in shell.ast_transformers, 'IPython dropped the recorder, since it raised an error'
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(dict(rows=rec.rows, failed=failed, seconds=round(time.time()-start),
                                   isa=torch.backends.cpu.get_cpu_capability())))

# All runs

def label(nb): return Path(nb).relative_to(root/'nbs').with_suffix('').as_posix()
def run_name(seed, threads, isa): return f'{seed}-{threads}-{isa}'
def result(out, nb, *run): return out/run_name(*run)/f'{label(nb).replace("/", "-")}.json'

def plan(seeds, threads, names):
    "Combinations `(seed, threads, instruction set)`: each seed with each instruction set"
    return [(s, threads[(i+j)%len(threads)], name) for i,s in enumerate(seeds) for j,name in enumerate(names)]

def run_all(todo, out, jobs):
    "Run each of `todo`, as many at once as keeps a core for each of their threads; returns those without a result"
    done = []
    def one(job):
        nb,seed,t,isa = job
        kw = dict(TEST_SEED=str(seed), OMP_NUM_THREADS=str(t), MKL_NUM_THREADS=str(t), MPLBACKEND='Agg')
        kw = dict(env=os.environ | isas[isa] | kw, cwd=root, stdin=subprocess.DEVNULL, timeout=3600)
        cmd = [sys.executable, __file__, '--one', str(nb), '--out', str(result(out, *job))]
        try: said = subprocess.run(cmd, capture_output=True, text=True, **kw)
        except subprocess.TimeoutExpired: said = None
        done.append(job)
        why = said.stderr[-2000:] if said else 'an hour is over'
        lost = '' if result(out, *job).exists() else f': no result\n{why}'
        print(f'{len(done):4} of {len(todo)}: {label(nb)}, seed {seed}, threads {t}, {isa}{lost}', flush=True)
    for t in sorted({o[2] for o in todo}):
        with ThreadPoolExecutor(max(1, jobs//t)) as pool: list(pool.map(one, [o for o in todo if o[2]==t]))
    return [o for o in todo if not result(out, *o).exists()]

def part_row(rows, part):
    "The tightest of what was compared in `part` of an assertion, and its room"
    seen = [o['parts'][part] for o in rows if part in o.get('parts', ())]
    ratios = all(o['value']>0 and o['bound']>0 for o in seen)
    for o in seen:                                                                       # one unit for all runs
        if not ratios and o['value']>0 and o['bound']>0:
            o['distance'] = math.copysign(abs(o['bound']-o['value']), o['distance'])
    worst = min(seen, key=lambda o: o['distance'])
    sd,same = pstdev([o['distance'] for o in seen]),len(seen)==len(rows)>1
    alone = worst['distance'] if ratios and worst['distance'] else math.inf              # of a single run
    return worst | dict(room=worst['distance']/sd if sd else math.inf if same else alone, sd=sd)

def table(runs):
    "A row for each assertion, or each of its comparisons: what failed, then what has the smallest room"
    found,n_runs = defaultdict(list),defaultdict(int)
    for nb,*run,res in runs:
        n_runs[nb] += 1
        for key,row in res['rows'].items(): found[nb,key].append(row | dict(run=run_name(*run)))
        told = {k.split('.')[0] for k,o in res['rows'].items() if not o['held']}
        for key in res['failed']:
            if key.endswith(': AssertionError') and key.split(':')[0] in told: continue   # it has its row already
            found[nb,key].append(dict(held=False, run=run_name(*run)))
    res = []
    for (nb,key),rows in found.items():
        row = dict(nb=nb, test=key, n=n_runs[nb], bad=[o['run'] for o in rows if not o['held']])
        row['held'] = row['n']-len(row['bad'])
        parts = sorted({p for o in rows for p in o.get('parts', ())})
        res += [row | part_row(rows, p) for p in parts] or [row | dict(room=math.inf, sd=0)]
    return sorted(res, key=lambda o: (not o['bad'], o['room'], o.get('distance', math.inf)))

def show(rows, n):
    num = lambda o: '' if o is None or o==math.inf else f'{o:.3g}'
    print('Cells and lines are counted as nbdev_test counts them. Failed in: seed-threads-instructions.\n')
    print('| notebook | cell.line: assertion | held | tightest | bound | room | failed in |\n|---|---|---|---|---|---|---|')
    for o in rows[:n]:
        test = ' '.join(o['test'].split()).replace('|', '\\|')[:110]
        numbers = (num(o.get(k)) for k in ('value', 'bound', 'room'))
        print('|', ' | '.join([o['nb'], test, f'{o["held"]}/{o["n"]}', *numbers, ' '.join(o['bad'][:4])]), '|')

def arguments():
    p = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    p.add_argument('notebooks', nargs='*', type=Path, help='notebooks to run; all if none is named')
    p.add_argument('--seeds', nargs='+', type=int, default=[*range(5)], help='sets of seeds; 0 is as written')
    p.add_argument('--threads', nargs='+', type=int, default=[1,2], help='threads of PyTorch')
    p.add_argument('--isa', nargs='+', choices=isas, default=[*isas], help='instruction sets; `own` is the machine\'s')
    p.add_argument('--out', type=Path, default=root/'output/sweep', help='a folder for what was found')
    p.add_argument('--rows', type=int, default=40, help='rows of the table to print')
    p.add_argument('--one', type=Path, help=argparse.SUPPRESS)                    # run this notebook here and now
    return p.parse_args()

def main():
    a = arguments()
    if a.one: return run_one(a.one.resolve(), a.out)
    from nbdev.config import get_config
    from nbdev.doclinks import nbglob
    from nbdev.test import nb_test_cells
    flags = get_config(root).tst_flags.split()
    nbs = a.notebooks or sorted(nbglob(root/'nbs', as_path=True))
    for o in nbs:
        if not (o.is_file() and root/'nbs' in o.resolve().parents): sys.exit(f'{o} is no notebook in {root/"nbs"}')
    nbs = [o.resolve() for o in nbs if nb_test_cells(o, flags)]
    todo = [(nb,*o) for o in plan(a.seeds, a.threads, a.isa) for nb in nbs]
    for o in todo: result(a.out, *o).unlink(missing_ok=True)
    lost = run_all(todo, a.out, os.cpu_count())
    runs = [(label(o[0]),*o[1:],json.loads(f.read_text())) for o in todo if (f := result(a.out, *o)).exists()]
    rows = table(runs)
    (a.out/'table.json').write_text(json.dumps(rows))
    show([o for o in rows if o['bad'] or 'distance' in o], a.rows)
    for nb,*run,res in runs:
        for key,said in res['failed'].items():
            print(f'{nb}, {run_name(*run)}, cell {key}: {said.strip().splitlines()[-1]} ({result(a.out, root/"nbs"/nb, *run)})')
    failed = sum(bool(res['failed']) or not all(o['held'] for o in res['rows'].values()) for *_,res in runs) + len(lost)
    names,bad = ({(o['nb'],o['test']) for o in some} for some in (rows, [o for o in rows if o['bad']]))
    print(f'\n{len(names)} assertions, {len(bad)} of them did not always hold;',
          f'{sum(o["sd"]>0 for o in rows)} comparisons vary from run to run')
    print(f'Runs: {len(runs)+len(lost)-failed} passed, {failed} failed')
    sys.exit(bool(failed))

if __name__ == '__main__': main()
