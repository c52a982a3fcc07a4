"""`check_model` on a small model of each kind of *transformers* that reads ids: the command of `testing.command`, one process for each.

    python tools/check_upstream.py                    # in .venv-bench; writes nbs/data/upstream.csv. Half an hour of a core
    python tools/check_upstream.py --only qwen3       # the reports of those with this part in their name"""
import csv, inspect, os, resource, warnings
import torch, transformers
from transformers.models.auto import modeling_auto
from fastcore.script import call_parse
from transformers_from_scratch.testing import check_model
from transformers_from_scratch.testing.command import tiny_model

def kinds():
    "Names of the kinds of models that read ids and nothing else"
    mappings = [getattr(modeling_auto, f'MODEL_{o}MAPPING') for o in ('FOR_CAUSAL_LM_','FOR_SEQ_TO_SEQ_CAUSAL_LM_','FOR_MASKED_LM_','')]
    for name,config in transformers.CONFIG_MAPPING.items():
        try:
            says = vars(config())
            found = next(o[config] for o in mappings if config in o)
            takes = [*inspect.signature((found[0] if isinstance(found, tuple) else found).forward).parameters]
        except Exception: continue  # it needs other libraries, has no default configuration, or is no such model
        others = 'vision_config','audio_config','image_size','speech_config'
        if 'input_ids' in takes[:2] and 'vocab_size' in says and not any(o in says for o in others): yield name

def checked(name, seconds):
    "The report on a small model, in a process of its own; a line of text where there is none"
    read,write = os.pipe()
    if child := os.fork():
        os.close(write)
        with open(read) as f: says = f.read()
        os.waitpid(child, 0)
        return says or f'no report within {seconds} s of a core'
    os.close(read)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds,seconds))
    with open(write, 'w') as f:
        try: model = tiny_model(name)
        except BaseException as e: f.write(f'no model: {type(e).__name__}: {e}'[:300])
        else:
            torch.manual_seed(0)
            try: report = check_model(model, raises=False)
            except BaseException as e: f.write(f'no report: {type(e).__name__}: {e}')
            else: f.write(f'{len(report.broken)} broken: {", ".join(o.name for o in report.broken)}; {sum(o.seconds for o in report):.1f} s\n{report}')
    os._exit(0)

@call_parse
def main(
    only:str='', # Part of a name
    after:str='', # Leave out the kinds up to this one
    seconds:int=60, # Limit of a model
    out:str='nbs/data/upstream.csv', # Written unless `only` is given
):
    "Check all kinds"
    warnings.filterwarnings('ignore')
    torch.set_num_threads(1)
    rows = []
    names = [*kinds()]
    if after: names = names[names.index(after)+1:]
    for name in names:
        if only not in name: continue
        first,_,rest = checked(name, seconds).partition('\n')
        print(f'{name}: {first}', flush=True)
        if only or not first.startswith('0'): print(rest, flush=True)
        rows.append((name, first))
    if only or after: return
    with open(out, 'w', newline='') as f: csv.writer(f).writerows([('kind','found'), *rows])
