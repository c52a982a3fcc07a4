"""Checkpoints of others, read and written, a module for each group of families. Knows all above."""
from . import bert, modernbert, deberta, gpt, llama, gemma, t5, bart
