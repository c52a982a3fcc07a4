"""What is on the disk: one format for all files, the config of a model, pretrained weights, a corpus of ids. Knows `nn`, `compat` and `data`."""
