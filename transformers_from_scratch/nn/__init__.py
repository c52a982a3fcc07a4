"""The network: ids in, vectors and logits out; attention, blocks, encoder, and a model for each task. Knows torch and `fastai.basics`."""
