"""Ways to train: transfer, low rank, contrastive, mixed precision, means of weights, several processes, and going on after a kill. Knows all above."""
