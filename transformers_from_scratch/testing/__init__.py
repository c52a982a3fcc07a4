"""Checks that every model and every attention must pass, ours and yours. Knows `nn`, `generate`, `text` and `files`; nothing knows it."""
from .attention import check_attention, compare_attention
from .command import model_of
from .model import check_model, check_tokenizer
