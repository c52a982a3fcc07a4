"""Texts: strings to ids and back; tokenizers, blocks and loaders of our own, folders, tags of words, pairs of texts, what `dls` hold. Knows fastai, in which it changes nothing, and `nn`."""
