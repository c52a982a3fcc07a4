"""Export: a trained learner as a folder without pickles, as ONNX, for Hugging Face, on its hub. Knows `learner` and all above, not `callbacks`."""
