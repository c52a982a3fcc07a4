"""Strings to ids and back: tokenizers, tags of words, pairs of texts, toy data. Knows `compat`, fastai's text data and `nn`."""
