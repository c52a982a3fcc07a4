"""`nbdev_test`, but each notebook has a process of its own, those that take longest start first, and the last lines say how long all took
together and count them: passed, failed, and skipped (no cell to run). `make test` calls it.

    python tools/run_notebooks.py [nbs/nn] --do-print --timing     # the arguments of nbdev_test

A page defines anew what it exports, and so replaces methods in its process: no other notebook may see that. PyTorch and fastai,
which take 3 seconds of a core, and spaCy, are imported once: each process is a copy (`fork`) of this one, where the system can do that safely.
Notebooks that begin by importing all of this library start last, and before them it is imported once as well.
With `TEST_SEED=3` the seeds are other ones, see `tools/seeds.py`; with `ADDRESSES=odd` tensors from files begin elsewhere, see `tools/addresses.py`."""
import gc, importlib, multiprocessing as mp, os, sys, time
from collections import Counter
from multiprocessing.connection import wait
import addresses, seeds
import nbdev.test, spacy

# Longest first: then no core waits while the other one runs the longest. What is not named comes after, as nbdev sorts it.
first = '''tutorials/recipes tests/learner/cures testing/model tests/testing/model tests/use/save tests/train/resume tests/unusual reliability nn/training_by_hand
    nn/seq2seq tests/learner/seq2seq tests/learner/batching tests/learner/tagger tests/text/blocks tests/text/bpe tutorials/algorithms'''.split()
count,work = Counter(),[]
completed = 7    # the exit status of a process whose notebook has passed: a cell may end its process, with 0 as well

def name(fn):
    "The notebook `fn` as the sidebar and the tests name it: `nn/attention`, `tests/nn/attention`"
    return '/'.join(fn.with_suffix('').parts[-3:]).split('nbs/')[-1]

def imports_all(cells):
    "Whether a notebook imports all of this library in the first of `cells`, those aside that its page hides or exports"
    def imports(cell): return 'from transformers_from_scratch.all import' in cell.source
    return any(imports(o) for o in cells) and imports(next(o for o in cells if imports(o) or not o.source.startswith('#|')))

def get_ready(*modules):
    "Import `modules`, which the processes that start from now on have then; none of them looks at what is here to collect garbage"
    for o in modules: importlib.import_module(o)
    gc.freeze()

def one(test, fn, kwargs):
    "Run the notebook `fn` in this process, and leave with `completed` where it passes"
    if seeds.shift: seeds.start()
    sys.exit(completed if test(fn, **kwargs)[0] else 1)

def parallel(test, files, n_workers=0, pause=0, **kwargs):
    "`(passed, seconds)` of each of `files`, as from `fastcore.parallel`; each runs in a process of its own"
    ctx = mp.get_context('fork' if sys.platform == 'linux' else 'spawn')
    cells = {fn: nbdev.test.nb_test_cells(fn, kwargs['skip_flags'], kwargs['force_flags']) for fn in files}
    todo = sorted(files, key=lambda fn: (imports_all(cells[fn]), first.index(name(fn)) if name(fn) in first else len(first)))
    running,results = {},{}
    sys.path.insert(0, str(kwargs['basepath']))
    while todo or running:
        while todo and len(running) < max(n_workers, 1):
            if imports_all(cells[fn := todo.pop(0)]): get_ready('transformers_from_scratch.all')
            p = ctx.Process(target=one, args=(test, fn, kwargs))
            p.start()
            running[p.sentinel] = p,fn,time.time()
        for sentinel in wait(running):
            p,fn,start = running.pop(sentinel)
            p.join()
            results[fn] = p.exitcode==completed, time.time()-start
            if p.exitcode not in (completed, 1): print(f'{name(fn)} did not complete: its process ended with {p.exitcode}')
    for fn,(passed,seconds) in results.items():
        work.append(seconds)
        count['failed' if not passed else 'passed' if cells[fn] else 'skipped'] += 1
    return [results[fn] for fn in files]

if __name__ == '__main__':
    if seeds.shift: print(f'Seeds are moved by {seeds.shift}.')
    get_ready(*'fastai.text.all torch._dynamo nbdev.showdoc IPython.core.magics matplotlib_inline.backend_inline safetensors.torch'.split())
    spacy.blank('en')    # imports what `DataLoaders` of words need: a second of each notebook that has some
    nbdev.test.parallel = parallel
    try: nbdev.test.nbdev_test()
    finally:
        print(f'The notebooks took {sum(work):.0f} s, added up.')
        print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    sys.exit(not count['passed'])    # where nothing was found to test, too
