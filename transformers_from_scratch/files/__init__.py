"""Files: the keywords of a model as JSON, its weights, and a corpus of ids larger than memory. Knows `nn` and `text`."""
