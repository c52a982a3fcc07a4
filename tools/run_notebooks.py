"""`nbdev_test`, but each notebook has a process of its own, and those that take longest start first. `make test` calls it.

    python tools/run_notebooks.py [nbs/0*.ipynb] --do-print --timing     # the arguments of nbdev_test

A page defines anew what it exports, and so replaces methods in its process: no other notebook may see that. PyTorch and fastai,
which take 3 seconds of a core, are imported once: each process is a copy (`fork`) of this one, where the system can do that safely.
With `TEST_SEED=3` the seeds are other ones, see `tools/seeds.py`."""
import multiprocessing as mp, os, sys, time
from multiprocessing.connection import wait
import seeds
import nbdev.test

# Longest first: then no core waits while the other one runs the longest. What is not named comes after, as nbdev sorts it.
first = '25_interpret 21_learner algorithms generation 22_lm_learner 91_check_model from_awd_lstm serving'.split()

def one(test, fn, kwargs):
    "Run the notebook `fn` in this process, and leave with 0 where it passes"
    if seeds.shift: seeds.start()
    sys.exit(not test(fn, **kwargs)[0])

def parallel(test, files, n_workers=0, pause=0, **kwargs):
    "Whether each of `files` passes, and the seconds it took: as `fastcore.parallel` would say, of processes that run one each"
    if not n_workers: return [test(fn, **kwargs) for fn in files]
    ctx = mp.get_context('fork' if sys.platform == 'linux' else 'spawn')
    todo = sorted(files, key=lambda fn: first.index(fn.stem) if fn.stem in first else len(first))
    running,results = {},{}
    while todo or running:
        while todo and len(running) < n_workers:
            p = ctx.Process(target=one, args=(test, fn := todo.pop(0), kwargs))
            p.start()
            running[p.sentinel] = p,fn,time.time()
        for sentinel in wait(running):
            p,fn,start = running.pop(sentinel)
            p.join()
            results[fn] = p.exitcode==0, time.time()-start
    return [results[fn] for fn in files]

if __name__ == '__main__':
    if seeds.shift: print(f'Seeds are moved by {seeds.shift}.')
    import fastai.text.all, spacy, torch._dynamo   # here, for all that follow
    spacy.blank('en')
    nbdev.test.parallel = parallel
    nbdev.test.nbdev_test()
