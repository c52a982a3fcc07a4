"""Reads what `nbdev_test --do-print` wrote, and counts the notebooks: passed, failed, and skipped (no cell to run).

`nbdev_test` exits with 0 where it found nothing to test, so its word alone is not enough.

    python tools/count_tests.py LOG ['nbs/0*.ipynb']     # what was to run, if not all: a notebook, a folder or a pattern"""
import re, sys
from fnmatch import fnmatch
from pathlib import Path
from nbdev.config import get_config
from nbdev.doclinks import nbglob
from nbdev.test import nb_test_cells

log = Path(sys.argv[1]).read_text(encoding='utf-8', errors='replace')
cfg = get_config()
what = sys.argv[2] if len(sys.argv) > 2 else ''
nbs = {p.name: p.resolve() for p in nbglob(as_path=True)}
if what: nbs = {n: p for n, p in nbs.items() if Path(what).resolve() in (p, *p.parents) or fnmatch(str(p), str(Path(what).resolve()))}   # as nbdev_test does
runs = {n for n, p in nbs.items() if nb_test_cells(p, cfg.tst_flags.split())}
done = {Path(o).name for o in re.findall(r'- Completed (.+?\.ipynb)', log)}
bad = {n for o in log.split('nbdev Tests Failed On The Following Notebooks')[1:] for n in re.findall(r'^\t(\S+\.ipynb)$', o, re.M)}

failed = {n for n in runs if n in bad or n not in done}
if not failed and not 'Success.' in log: failed = runs
for n in sorted(failed): print('failed:' if n in bad else 'did not complete:', n)
print(f'{len(runs)-len(failed)} passed, {len(failed)} failed, {len(nbs)-len(runs)} skipped')
sys.exit(bool(failed) or not runs)
