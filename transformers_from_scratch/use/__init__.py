"""Uses of a trained model: embed, label by descriptions, calibrate, save, and serve without PyTorch. Knows all above."""
