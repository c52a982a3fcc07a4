"""The network: ids in, vectors and logits out. Knows torch and `fastai.basics`, and nothing of text, data or learners."""
