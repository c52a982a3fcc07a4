"""Text data: tokenizers, from tokens back to text, tags of words, pairs of texts, ids that are made once, toy data. Knows `compat`, fastai's text data and `nn`."""
