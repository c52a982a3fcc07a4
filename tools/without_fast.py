"""Test that the package `fast` can be deleted: copy the repository without it, and run there the pages and tests of `nn`,
`generate` and `testing` that need no learner. `make test-without-fast` runs this.

    python tools/without_fast.py [nbs/nn/*.ipynb ...]        # these only"""
import os, subprocess, sys, tempfile
from fnmatch import fnmatch
from pathlib import Path
from common import copy_tracked

lib = 'transformers_from_scratch'
kept = ('nbs/nn/*', 'nbs/generate/*', 'nbs/testing/attention.ipynb', 'nbs/testing/checks.ipynb', 'nbs/testing/trial.ipynb', 'nbs/tests/nn/*', 'nbs/tests/generate/*', 'nbs/tests/testing/*')
# the finder of an editable install knows where `fast` is: a process that starts in the copy drops it
no_finder = """import sys
sys.meta_path[:] = [o for o in sys.meta_path if not getattr(o, '__module__', '').startswith('__editable__')]
"""
check = f"""import {lib}.generate.write, importlib.util, os
assert {lib}.__path__ == [os.path.abspath('{lib}')], {lib}.__path__
assert importlib.util.find_spec('{lib}.fast') is None, 'fast is still there'
"""

def main(kept):
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp).resolve()
        copy_tracked(folder, lambda o: o.startswith(f'{lib}/fast/') or o.endswith('.ipynb') and not any(fnmatch(o, k) for k in kept))
        lines = (folder/lib/'all.py').read_text().splitlines(keepends=True)
        (folder/lib/'all.py').write_text(''.join(o for o in lines if f'{lib}.fast.' not in o))
        (folder/'sitecustomize.py').write_text(no_finder)
        env = dict(os.environ, PYTHONPATH=str(folder))
        def run(*args): return subprocess.run([sys.executable, *args], cwd=folder, env=env).returncode
        return run('-c', check) or run('tools/run_notebooks.py', '--do-print')

if __name__=='__main__': sys.exit(main(sys.argv[1:] or kept))
