"""Less time for the same results: layers, attention, a step of one token on a CPU. Knows `nn` and `generate`,
which work without this package: they reach it through `use_fast_layers(model)` and a look-up when a text is written."""
