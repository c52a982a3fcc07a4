"""Checkpoints of others, read and written, a module each for the families of encoders, decoders, and pairs of both. Knows all above."""
from . import decoders, encoders, pairs
