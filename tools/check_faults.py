"""Does `check_model` find the faults in `tools/faulty_models`, name their causes, and leave correct models alone?

    python tools/check_faults.py              # 30 correct models, 60 faults, 20 later ones: two minutes
    python tools/check_faults.py --only 09    # in full what is said of one

Prints what is said of each, and how many were found. Whether a cause is right is for a reader to judge: the fault stands beside it."""
import sys, warnings
from pathlib import Path
from types import ModuleType
from fastcore.script import call_parse
sys.path.insert(0, str(Path(__file__).parent/'faulty_models'))
from faults import correct, faulty
from transformers_from_scratch.testing import check_model

def checked(name, source):
    "The reports on a model, one for each of its `calls`"
    module = ModuleType(name)
    sys.modules[name] = module  # for pickle
    exec(compile(source, name, 'exec'), vars(module))
    promises,names = module.CALL,vars(module)
    pad_idx = 0 if promises['mask'] else promises['pad_idx']
    def read_on(model, ids, state): return getattr(model, promises['step'])(ids, state)
    step = names.get('read_on', read_on) if promises['step'] else None
    for i,call in enumerate(names.get('calls', [None])):
        # of two texts the first is the source
        causal = promises['causal'] and promises['kind']!='classifier' and (promises['kind']!='seq2seq' or i==1)
        yield check_model(module.make, promises['vocab_sz'], pad_idx, call=call, step=step, causal=causal or None,
                          left=promises['padding']=='either', raises=False,
                          max_len=None if promises.get('over_max_len')=='works' else promises['max_len'],
                          branches=promises['step'] and promises.get('state_reusable', True))

@call_parse
def main(
    only:str='', # Part of a name: only these, in full
):
    "Check the models of `faulty_models`"
    warnings.filterwarnings('ignore')
    groups = dict(correct=[(n, s, None) for n,s in correct()], faults=[*faulty('faults')], later=[*faulty('later')])
    for group,models in groups.items():
        found = tried = seconds = 0
        for name,source,fault in models:
            if only not in name: continue
            reports = [*checked(name, source)]
            found += not all(reports)
            tried += 1
            seconds = max(seconds, *[sum(o.seconds for o in report) for report in reports])
            print(f"{group} {name}: {fault['fault'] if fault else 'correct'}")
            for report in reports:
                if only: print(report)
                else:
                    for o in report.broken: print(f'    {o.name}: {o.why}; {o.cause}')
        print(f'{group}: {found} of {tried} broken; the longest check took {seconds:.1f} s\n', flush=True)
