"""`check_model` beside pytest-torch and torchtest2, on the corpus of `tools/faulty_models`: faults found, false alarms, seconds of the processor for a model.

    pip install pytest-torch==1.1.1 torchtest2==0.1.0      # need PyTorch alone
    python benchmarks/check_rivals.py                       # 30 correct models, 60 faults, 20 later ones: four minutes of a core

Each gets all of its checks that fit a model that reads ids, as somebody would call them who knows what the model promises (`CALL` in its file): where padding stands, what the mask means,
how a text is read in pieces. What a check raises but an `AssertionError` counts as nothing found. torchtest2's warnings do not count, nor its *initial_loss*, which is wrong for models of numbers.
"""
import copy, sys, time, warnings
from pathlib import Path
from types import ModuleType
import torch, torch.nn.functional as F
from torch import nn
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent/'tools')]
from check_faults import checked, correct, faulty

close = dict(rtol=1e-4, atol=1e-4)

class Called(nn.Module):
    "A model of the corpus, called as both libraries call: `input_ids`, and `attention_mask` with 1 at real tokens"
    def __init__(self, inner, call):
        super().__init__()
        self.inner,self.call = inner,call

    def mask(self, attention_mask):
        "In the model's own kind"
        hidden = attention_mask==0
        kind = self.call.get('mask_dtype', 'bool')
        if kind=='additive': return torch.zeros(hidden.shape).masked_fill(hidden, float('-inf'))
        mask = hidden if self.call['mask_true_is']=='hidden' else ~hidden
        return mask.to(dict(bool=torch.bool, long=torch.long, float=torch.float)[kind])

    def forward(self, input_ids, attention_mask=None, decoder_input_ids=None):
        if attention_mask is None and self.call.get('mask_required'): attention_mask = torch.ones_like(input_ids)
        given = {} if attention_mask is None or not self.call['mask'] else {self.call['mask']: self.mask(attention_mask)}
        texts = (input_ids,) if decoder_input_ids is None else (input_ids, decoder_input_ids)
        out = self.inner(*texts, **given)
        if isinstance(out, tuple): return out[0]
        if isinstance(out, dict): return out.get('logits', next(iter(out.values())))
        return getattr(out, 'logits', out)

def inputs(call, b=4, seed=0):
    "Random texts of 9 tokens"
    generator = torch.Generator().manual_seed(seed)
    def ids(t): return torch.randint(3, call['vocab_sz'], (b,t), generator=generator)
    res = dict(input_ids=ids(9))
    if call['mask']: res['attention_mask'] = torch.ones_like(res['input_ids'])
    if call['kind']=='seq2seq': res['decoder_input_ids'] = ids(7)
    return res

def pytest_torch(module):
    "Does a check of pytest-torch fail?"
    from pytest_torch.checkpoint import assert_checkpoint_roundtrip
    from pytest_torch.contract import check_inference_contract
    from pytest_torch.invariance import assert_layout_invariant, assert_mask_invariant, assert_padding_invariant
    from pytest_torch.stateful import assert_streaming_equivalent
    from pytest_torch.training import assert_all_params_receive_grad, assert_gradients_finite
    call = module.CALL
    def make(): return Called(module.make(), call)
    model,x = make().eval(),inputs(call)
    def contract(): assert check_inference_contract(model, x, **close).ok
    def loss(out): return out.float().pow(2).mean()
    checks = [contract, lambda: assert_layout_invariant(model, x, **close),
              lambda: assert_checkpoint_roundtrip(make, x, model=model, **close)]
    sides = ['right','left'] if call['padding']=='either' else [call['padding']] if call['padding'] else []
    if call['mask'] or call['pad_idx'] is not None:
        checks += [lambda side=side: assert_padding_invariant(model, x, side=side, pad_value=call['pad_idx'] or 0, **close) for side in sides]
    if call['mask'] and sides:
        y = inputs(call, seed=1)
        y['attention_mask'][0,5:] = y['attention_mask'][2,7:] = 0
        if call['padding']=='left': y['attention_mask'] = y['attention_mask'].flip(1)
        checks.append(lambda: assert_mask_invariant(model, y, vocab_size=call['vocab_sz'], **close))
    if not call.get('no_grad'):
        idle = call.get('no_grad_ok') or []
        idle = tuple(f'*{o}*' for o in ([idle] if isinstance(idle, str) else idle))
        checks += [lambda: assert_gradients_finite(copy.deepcopy(model).train(), x, loss),
                   lambda: assert_all_params_receive_grad(copy.deepcopy(model).train(), x, loss, ignore=idle)]
    if call['step']:
        inner = module.make().eval()
        checks.append(lambda: assert_streaming_equivalent(full_runner=inner, streaming_runner=getattr(inner, call['step']), inputs=x['input_ids'][:2],
            chunk_sizes=[1] if call.get('step_many') is False else [1,3], init_state=lambda: None))
    return any(map(fails, checks))

def fails(check):
    try: check()
    except AssertionError: return True
    except Exception: pass
    return False

def torchtest2(module):
    "Does a check of torchtest2 fail?"
    import torchtest2
    model,x = Called(module.make(), module.CALL).eval(),inputs(module.CALL, b=6)
    with torch.no_grad(): out = model(**x)
    generator = torch.Generator().manual_seed(3)
    if out.dim()>1: y = torch.randint(0, out.shape[-1], out.shape[:-1], generator=generator)
    else: y = torch.randn(out.shape, generator=generator)
    def loss(out, y): return F.cross_entropy(out.flatten(0,-2).float(), y.flatten()) if out.dim()>1 else F.mse_loss(out.float(), y)
    opt = torch.optim.Adam([o for o in model.parameters() if o.requires_grad], lr=1e-2)
    try: return bool(torchtest2.check_model(model, x, y, loss_fn=loss, optimizer=opt, overfit_steps=60, skip=('initial_loss',)).failures)
    except Exception: return False

def ours(module): return not all(checked(module.__name__, module.source))

def load(name, source):
    module = ModuleType(name)
    sys.modules[name],module.source = module,source  # for pickle
    exec(compile(source, name, 'exec'), vars(module))
    return module

if __name__=='__main__':
    warnings.filterwarnings('ignore'); torch.set_num_threads(1)
    groups = dict(correct=[(n, s, None) for n,s in correct()], faults=[*faulty('faults')], later=[*faulty('later')])
    for group,models in groups.items():
        for f in (ours, pytest_torch, torchtest2):
            found,start = 0,time.process_time()
            for name,source,_ in models:
                torch.manual_seed(0)
                found += f(load(name, source))
            print(f'{group}: {f.__name__} {found} of {len(models)}, {(time.process_time()-start)/len(models):.2f} s each', flush=True)
