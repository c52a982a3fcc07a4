"""Check that what the pages print runs where a newcomer copies it: cells that a page hides may not give the others a name.

    python tools/visible_cells.py --names                   # by reading alone, in some seconds; `make lint` does so
    python tools/visible_cells.py [nbs/nn/lm.ipynb ...] [--slow]    # runs each page, some minutes; --slow: cells with `#| slow` and `#| download`, too

Visible is what the site shows: all but cells with `#| hide`, `#| echo: false` or `#| include: false`, those with `#| export`, and `show_doc`.
A page imports what it exports, as any reader does: of a cell with `#| exports` only the private names count, since its code is printed."""
import ast, builtins, os, sys
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from symtable import symtable
import nbdev.test
from fastcore.utils import num_cpus
from nbdev.process import NBProcessor
from common import is_hidden
from run_notebooks import get_ready, parallel

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'
sys.path.insert(0, str(root))
given = {*dir(builtins), '__name__', '__file__', 'display', 'get_ipython'}

def private(c, module):
    "An import of the private names that a cell with `#| exports` defines"
    names = [n for o in c.parsed_() for n in bound(ast.unparse(o)) if n[0] == '_']
    return f'from {lib}.{module} import {",".join(names)}' if names else ''

def visible(path, *args, **kwargs):
    "The notebook `path` with its visible cells alone, as a processor of nbdev"
    p = NBProcessor(path, *args, **kwargs)
    codes = [c for c in p.nb.cells if c.cell_type == 'code']
    module = next((c.directives_['default_exp'] for c in codes if 'default_exp' in c.directives_), None)
    p.nb.cells = [c for c in codes if not is_hidden(c)]
    for c in p.nb.cells:
        c.source = '\n'.join(l for l in c.source.split('\n') if not l.rstrip().endswith('#|hide_line'))
        if 'exports' in c.directives_: c.source = private(c, module)
    return p

def symbols(code):
    "Global symbols of `code` at the top and in its functions"
    todo = [symtable(code, '', 'exec')]
    while todo:
        t = todo.pop()
        yield from (s for s in t.get_symbols() if s.is_global() or t.get_type() == 'module')
        todo += t.get_children()

def bound(code): return {s.get_name() for s in symbols(code) if s.is_assigned() or s.is_imported()}
def loaded(code): return {s.get_name() for s in symbols(code) if s.is_referenced()}

def stars(code):
    "Names from the star imports of `code`"
    for o in ast.walk(ast.parse(code)):
        if isinstance(o, ast.ImportFrom) and o.names[0].name == '*':
            m = import_module(o.module)
            yield from getattr(m, '__all__', [n for n in dir(m) if n[0] != '_'])

def lost(path):
    "`(number of the cell, names)` for visible cells that read names which no visible cell gives"
    known = set(given)
    for c in visible(path).nb.cells:
        if not c.parsed_(): continue
        code = ast.unparse(c.parsed_())
        known |= {*stars(code)} | bound(code)
        if missing := sorted(loaded(code)-known): yield c, missing
        known |= {*missing}                                # said once

def alone(path):
    "`(title, names)` for sections of recipes that read a name of another one, and do not say which they continue"
    known, here, title, may = {*given}, None, '', False
    for c in NBProcessor(path).nb.cells:
        if c.cell_type == 'markdown' and c.source.startswith('## '):
            title, may, here = c.source.split('\n')[0], '*Continues [' in c.source, set()
        elif c.cell_type == 'code' and not is_hidden(c) and c.parsed_():
            code = ast.unparse(c.parsed_())
            (known if here is None else here).update({*stars(code)} | bound(code))
            missing = sorted(loaded(code)-known-(here or set()))
            if missing and not may: yield title, missing

def main():
    p = ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('notebooks', nargs='*')
    p.add_argument('--names', action='store_true', help='read the cells, and run none')
    p.add_argument('--slow', action='store_true', help='run cells with `#| slow` and `#| download`, too')
    a = p.parse_args()
    pages = [o for o in sorted(root.glob('nbs/**/*.ipynb')) if 'tests' not in o.relative_to(root).parts]
    files = sorted(map(Path, a.notebooks)) or pages
    if not a.names: return run(files, 'slow download' if a.slow else '')
    bad = [f'{f.name}, cell {c.id}: {", ".join(names)}' for f in files for c, names in lost(f)]
    bad += [f'{f.name}, {title}: {", ".join(names)}' for f in files if f.stem == 'recipes' for title, names in alone(f)]
    print(*bad, f'Visible cells: {len(files)} pages looked at, {len(bad)} cells read a name that only a hidden cell gives', sep='\n')
    return bad

def run(files, flags):
    "Run the visible cells of each page in a process of its own, as `run_notebooks` does with all cells"
    os.environ.pop('TFS_AUTOTUNE', None)                   # as a reader has it
    get_ready('fastai.text.all')
    nbdev.test.NBProcessor = visible
    kw = dict(skip_flags={'slow', 'download'}, force_flags=flags.split(), basepath=root, cell_timeout=14400)
    results = parallel(nbdev.test.test_nb, [o.absolute() for o in files], n_workers=num_cpus(), **kw)
    bad = [f.name for f, (passed, _) in zip(files, results) if not passed]
    print(f'Visible cells: {len(files)} pages run, {len(bad)} failed', *bad)
    return bad

if __name__ == '__main__': sys.exit(bool(main()))
