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
    "The report on a model, which is called as its `CALL` says"
    module = ModuleType(name)
    sys.modules[name] = module  # for pickle
    exec(compile(source, name, 'exec'), vars(module))
    call = module.CALL
    mask_is = 'added' if call.get('mask_dtype')=='additive' else call['mask_true_is']
    return check_model(module.make, call['vocab_sz'], call['pad_idx'], mask=call['mask'], mask_is=mask_is, step=call['step'], raises=False,
                       causal=call['causal'] and call['kind']!='classifier' or None, left=call['padding']=='either' or None,
                       pieces=call.get('step_many', True), max_len=call['max_len'])

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
            report = checked(name, source)
            found,tried,seconds = found+(not report),tried+1,max(seconds, sum(o.seconds for o in report))
            print(f"{group} {name}: {fault['fault'] if fault else 'correct'}")
            if only: print(report)
            else:
                for o in report.broken: print(f'    {o.name}: {o.why}; {o.cause}')
        print(f'{group}: {found} of {tried} broken; the longest check took {seconds:.1f} s\n', flush=True)
