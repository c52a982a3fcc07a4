"""Text data: tokenizers, from tokens back to text, tags of words, pairs of texts, toy data. Knows `compat`, fastai's text data and `nn`."""
