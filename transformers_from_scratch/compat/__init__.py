"""Compatibility with fastai: repairs of what fails in it on valid input, what `DataLoaders` hold, errors for wrong arguments. Knows fastai and `nn`."""
