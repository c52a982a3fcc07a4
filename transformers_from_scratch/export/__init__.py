"""What others open and call: a folder without pickles, ONNX, Hugging Face. Knows `learner` and all above, not `callbacks`."""
