"""Pretrained: checkpoints of others, read and written, a module for each group of families. Knows what stands above: `nn`, `generate`, `speed`, `compat`, `data` and `files`."""
from . import bert, modernbert, deberta, gpt, llama, gemma, t5, bart
