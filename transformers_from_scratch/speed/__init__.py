"""Speed: faster layers, attention, an optimizer, and a step of one token on a CPU; with the same results. Knows `nn` and `generate`,
which work without this package: they reach it through `use_fast_layers(model)` and a look-up when a text is written."""
