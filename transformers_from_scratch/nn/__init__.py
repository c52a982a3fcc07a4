"""The network: ids in, vectors and logits out; attention, layers, encoder, and a model for each task. Knows torch and `fastai.basics`, and nothing of text, data or learners."""
