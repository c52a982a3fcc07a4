"""Files: one format for all, the config of a model, pretrained weights, a corpus of ids larger than memory. Knows `nn`, `compat` and `data`."""
