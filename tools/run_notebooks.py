"""`nbdev_test`, but each notebook has a process of its own, those that take longest start first, and the last lines say how long all took
together and count them: passed, failed, and skipped (no cell to run). `make test` calls it.

    python tools/run_notebooks.py [nbs/0*.ipynb] --do-print --timing     # the arguments of nbdev_test

A page defines anew what it exports, and so replaces methods in its process: no other notebook may see that. PyTorch and fastai,
which take 3 seconds of a core, are imported once: each process is a copy (`fork`) of this one, where the system can do that safely.
With `TEST_SEED=3` the seeds are other ones, see `tools/seeds.py`."""
import multiprocessing as mp, sys, time
from collections import Counter
from multiprocessing.connection import wait
import seeds
import nbdev.test

# Longest first: then no core waits while the other one runs the longest. What is not named comes after, as nbdev sorts it.
first = 'recipes fast_lane 50_learner.calibration test_learner.bag 47_learner.bag test_learner.tagger translation algorithms test_unusual'.split()
count,work = Counter(),[]
completed = 7    # the exit status of a process whose notebook has passed: a cell may end its process, with 0 as well

def one(test, fn, kwargs):
    "Run the notebook `fn` in this process, and leave with `completed` where it passes"
    if seeds.shift: seeds.start()
    sys.exit(completed if test(fn, **kwargs)[0] else 1)

def parallel(test, files, n_workers=0, pause=0, **kwargs):
    "`(passed, seconds)` of each of `files`, as from `fastcore.parallel`; each runs in a process of its own"
    ctx = mp.get_context('fork' if sys.platform == 'linux' else 'spawn')
    todo = sorted(files, key=lambda fn: first.index(fn.stem) if fn.stem in first else len(first))
    running,results = {},{}
    while todo or running:
        while todo and len(running) < max(n_workers, 1):
            p = ctx.Process(target=one, args=(test, fn := todo.pop(0), kwargs))
            p.start()
            running[p.sentinel] = p,fn,time.time()
        for sentinel in wait(running):
            p,fn,start = running.pop(sentinel)
            p.join()
            results[fn] = p.exitcode==completed, time.time()-start
            if p.exitcode not in (completed, 1): print(f'{fn.name} did not complete: its process ended with {p.exitcode}')
    for fn,(passed,seconds) in results.items():
        work.append(seconds)
        runs = nbdev.test.nb_test_cells(fn, kwargs['skip_flags'], kwargs['force_flags'])
        count['failed' if not passed else 'passed' if runs else 'skipped'] += 1
    return [results[fn] for fn in files]

if __name__ == '__main__':
    if seeds.shift: print(f'Seeds are moved by {seeds.shift}.')
    import fastai.text.all, spacy, torch._dynamo, nbdev.showdoc   # here, for all that follow
    spacy.blank('en')
    nbdev.test.parallel = parallel
    try: nbdev.test.nbdev_test()
    finally:
        print(f'The notebooks took {sum(work):.0f} s, added up.')
        print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    sys.exit(not count['passed'])    # where nothing was found to test, too
