"""fastai underneath: what its `DataLoaders` hold, and repairs of what fails in it on valid input. Knows fastai alone."""
