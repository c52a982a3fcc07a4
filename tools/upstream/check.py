"""Run the scripts of these reports: in plain fastai, where each must fail, with its patch applied, where it must not, and with this library
imported before, where it fails in the same way: nothing of fastai is changed.

    python tools/upstream/check.py [REPORT.md ...]      # all of them: three minutes on a core"""
import re, shutil, subprocess, sys, tempfile
from pathlib import Path
import fastai

here = Path(__file__).resolve().parent

def block(md, lang): return re.search(rf'^```{lang}\n(.*?)^```', md, flags=re.M | re.S)[1]

def run(code, folder):
    "The last line of an error of `code`, run with the modules of `folder`; None if there is none"
    done = subprocess.run([sys.executable, '-c', f'import sys; sys.path.insert(0, {str(folder)!r})\n{code}'],
                          cwd=folder, capture_output=True, text=True)
    return (done.stderr.strip().split('\n')[-1] or 'failed') if done.returncode else None

def without_path(said): return re.sub(r'/\S*|\d+', '', said or '')

def patched(diff, folder):
    "A copy of fastai in `folder`, with `diff` applied"
    shutil.copytree(Path(fastai.__file__).parent, folder/'fastai', ignore=shutil.ignore_patterns('__pycache__'))
    subprocess.run(['git', 'apply', '-'], input=diff, text=True, cwd=folder, check=True)

wrong = 0
for file in map(Path, sys.argv[1:] or sorted(here.glob('*.md'))):
    md = file.read_text(encoding='utf-8')
    code = block(md, 'python')
    with tempfile.TemporaryDirectory() as d:
        plain, imported = run(code, d), run(f'sys.path.insert(0, {str(here.parents[1])!r})\nimport transformers_from_scratch.all\n{code}', d)
        patched(block(md, 'diff'), Path(d))
        mended = run(code, d)
    ok = plain and not mended and without_path(imported)==without_path(plain)
    wrong += not ok
    print(f"{'ok   ' if ok else 'WRONG'} {file.stem}: {plain}", *[f'({n}: {o})' for n, o in (('patched', mended), ('imported', without_path(imported)!=without_path(plain) and imported)) if o], flush=True)
sys.exit(f'{wrong} reports are not what they say' if wrong else 0)
