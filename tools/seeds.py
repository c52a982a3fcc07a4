"""Other seeds for the notebooks: with `TEST_SEED=3` in the environment, 3000 is added to every seed that they set, and what
they never seed starts from 3000. `make test SEED=3` does so: `tools/run_notebooks.py` imports this file. It moves
the seeds of `random`, NumPy and PyTorch; not `random_state=`, `default_rng` and other processes. And folders list their files in
another order, as they do on another file system.

A test that holds for one seed only is no test. Nothing in a notebook has to know of this file."""
import contextlib, os, random, sys

if __name__ != 'seeds': import seeds                # by its name, for workers that are spawned and for what gets pickled
else:
    shift = 1000*int(os.environ.get('TEST_SEED') or 0)               # notebooks use neighbouring seeds, so not just 1
    if shift:
        import numpy as np, torch
        moved = lambda o: o+shift if isinstance(o, int) else o
        def shifted(f): return lambda seed=None, *args, **kw: f(moved(seed), *args, **kw)

        def seed(self, a=None, version=2, f=random.Random.seed): f(self, moved(a), version)
        random.Random.seed,random.seed = seed,seed.__get__(random._inst)

        class Generator(torch.Generator):
            def manual_seed(self, seed):
                "Seeds passed to the library, as in `predict(seed=1)`, stay: another process may be asked for the same"
                caller = sys._getframe(1).f_globals.get('__name__', '')
                return super().manual_seed(seed if caller.startswith('transformers_from_scratch.') else moved(seed))

        order = random.Random(shift)
        class Shuffled(contextlib.ExitStack):
            "Entries of `os.scandir` in another order"
            def __init__(self, path='.'):
                super().__init__()
                with scandir(path) as found: found = [*found]
                self.found = iter(order.sample(found, len(found)))
            def __iter__(self): return self
            def __next__(self): return next(self.found)
        scandir = os.scandir
        os.scandir,os.listdir = Shuffled,lambda path='.': [o.name for o in Shuffled(path)]

        np.random.seed, torch.manual_seed = shifted(np.random.seed), shifted(torch.manual_seed)
        torch.Generator = Generator
        def start():
            "A copy of a process (`fork`) has another `random`"
            for f in (random.seed, np.random.seed, torch.manual_seed): f(0)
        start()
