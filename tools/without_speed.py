"""Test that the package `speed` can be deleted: copy the repository without it, and run there the pages and tests of `nn`,
`generate` and `testing` that need no learner. `make test-without-speed` runs this.

    python tools/without_speed.py [nbs/0*.ipynb ...]        # these only"""
import os, shutil, subprocess, sys, tempfile
from fnmatch import fnmatch
from pathlib import Path

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'
kept = ('nbs/[012]*.ipynb', 'nbs/8[01]_testing*.ipynb', 'nbs/tests/test_nn.*', 'nbs/tests/test_generate.*', 'nbs/tests/test_testing.*')
# the finder of an editable install knows where `speed` is: a process that starts in the copy drops it
no_finder = """import sys
sys.meta_path[:] = [o for o in sys.meta_path if not getattr(o, '__module__', '').startswith('__editable__')]
"""
check = f"""import {lib}.generate.generate, importlib.util, os
assert {lib}.__path__ == [os.path.abspath('{lib}')], {lib}.__path__
assert importlib.util.find_spec('{lib}.speed') is None, 'speed is still there'
"""

def copy(folder, kept):
    "Copy what git tracks, as it is now, without `speed` and without notebooks that match none of `kept`"
    listed = subprocess.run(['git', 'ls-files', '-z'], cwd=root, capture_output=True, text=True, check=True).stdout
    for o in filter(None, listed.split('\0')):
        skip = o.startswith(f'{lib}/speed/') or o.endswith('.ipynb') and not any(fnmatch(o, k) for k in kept)
        if skip or not (root/o).is_file(): continue
        (folder/o).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root/o, folder/o)
    lines = (folder/lib/'all.py').read_text().splitlines(keepends=True)
    (folder/lib/'all.py').write_text(''.join(o for o in lines if f'{lib}.speed.' not in o))

def main(kept):
    with tempfile.TemporaryDirectory() as tmp:
        folder = Path(tmp).resolve()
        copy(folder, kept)
        (folder/'sitecustomize.py').write_text(no_finder)
        env = dict(os.environ, PYTHONPATH=str(folder))
        def run(*args): return subprocess.run([sys.executable, *args], cwd=folder, env=env).returncode
        return run('-c', check) or run('tools/run_notebooks.py', '--do-print')

if __name__=='__main__': sys.exit(main(sys.argv[1:] or kept))
