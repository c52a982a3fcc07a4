"Everything that `from transformers_from_scratch.all import *` gives: fastai's text tools, then ours."
from fastai.text.all import *
# fastai's vision part also has a `SelfAttention`, an image layer, so ours must come last.
from transformers_from_scratch.attention import *
from transformers_from_scratch.layers import *
from transformers_from_scratch.faster import *
from transformers_from_scratch.models import *
from transformers_from_scratch.text import *
from transformers_from_scratch.repair_table import *
from transformers_from_scratch.fastai_repairs import *
from transformers_from_scratch.tokenizer_hooks import *
from transformers_from_scratch.data import *
from transformers_from_scratch.tokenizers import *
from transformers_from_scratch.decoding import *
from transformers_from_scratch.corpus import *
from transformers_from_scratch.sampling import *
from transformers_from_scratch.fast_step import *
from transformers_from_scratch.turns import *
from transformers_from_scratch.pretrained import *
from transformers_from_scratch.learner import *
from transformers_from_scratch.lm_learner import *
from transformers_from_scratch.transfer import *
from transformers_from_scratch.vectors import *
from transformers_from_scratch.distributed import *
from transformers_from_scratch.resume import *
# fastai's `load_model` fills a model that is there; ours makes a learner of a folder.
from transformers_from_scratch.saving import *
from transformers_from_scratch.diverge import *
from transformers_from_scratch.loss_in_parts import *
from transformers_from_scratch.interpret import *
from transformers_from_scratch.lora import *
from transformers_from_scratch.onnx_export import *
from transformers_from_scratch.hf_export import *
from transformers_from_scratch.checks import *
