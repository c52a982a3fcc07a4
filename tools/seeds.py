"""Other seeds for the notebooks: with `TEST_SEED=3` in the environment, 3 is added to every seed that they set, and what they
never seed starts from 3. `python tools/seeds.py ARGS` is `nbdev_test ARGS` under these seeds; `make test SEED=3` calls it.

A test that holds for one seed only is no test. Nothing in a notebook has to know of this file."""
import os, random, sys

if __name__ != 'seeds': import seeds                # by its name, for workers that are spawned and for what gets pickled
else:
    shift = int(os.environ.get('TEST_SEED') or 0)
    if shift:
        import numpy as np, torch
        def shifted(f): return lambda seed=None, *args, **kw: f(seed+shift if isinstance(seed, int) else seed, *args, **kw)

        class Random(random.Random):
            def seed(self, a=None, version=2): super().seed(a+shift if isinstance(a, int) else a, version)

        class Generator(torch.Generator):
            def manual_seed(self, seed):
                "A seed that is passed to the library, as in `predict(seed=1)`, stays: other processes are asked for the same"
                caller = sys._getframe(1).f_globals.get('__name__', '')
                return super().manual_seed(seed if caller.startswith('transformers_from_scratch.') else seed+shift)

        random.seed, np.random.seed, torch.manual_seed = map(shifted, (random.seed, np.random.seed, torch.manual_seed))
        random.Random, torch.Generator = Random, Generator
        for f in (random.seed, np.random.seed, torch.manual_seed): f(0)

if __name__ == '__main__':
    from nbdev.test import nbdev_test
    nbdev_test()
