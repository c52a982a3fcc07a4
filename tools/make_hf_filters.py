"""Ask Hugging Face's logits processors for answers to hold our filters against, in an environment that has `transformers`:

    python tools/make_hf_filters.py > nbs/files/hf_filters.json

Not in the environment of the project: beside fastai's torchvision and a torch without CUDA, `transformers` does not import.
"""
import json,torch,transformers
from transformers import (RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper)

torch.manual_seed(0)
logits,ids = (torch.randn(3,12)*2).round(decimals=3),torch.randint(0, 12, (3,5))
cases = [(TemperatureLogitsWarper, [.5, 1.7]), (TopKLogitsWarper, [1, 4, 12]), (TopPLogitsWarper, [.05, .5, .9, .99]),
         (RepetitionPenaltyLogitsProcessor, [.8, 1.3, 2.])]
def row(o): return [None if x==float('-inf') else round(x, 6) for x in o]
results = [(cls.__name__.replace('LogitsWarper', '').replace('LogitsProcessor', ''), arg, [row(o) for o in cls(arg)(ids, logits.clone()).tolist()])
           for cls,args in cases for arg in args]
print(json.dumps(dict(version=transformers.__version__, logits=logits.tolist(), ids=ids.tolist(), results=results)))
