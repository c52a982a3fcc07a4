"Everything that `from transformers_from_scratch.all import *` gives: fastai's text tools, then ours."
from importlib.util import find_spec
from fastai.text.all import *
# fastai's vision part also has a `SelfAttention`, an image layer, so ours must come last.
if find_spec('transformers_from_scratch.attention'): from transformers_from_scratch.attention import *
if find_spec('transformers_from_scratch.layers'): from transformers_from_scratch.layers import *
if find_spec('transformers_from_scratch.models'): from transformers_from_scratch.models import *
if find_spec('transformers_from_scratch.data'): from transformers_from_scratch.data import *
if find_spec('transformers_from_scratch.learner'): from transformers_from_scratch.learner import *
