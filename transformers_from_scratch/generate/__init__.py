"""Text generation: filters and sampling, caches, beam search; ids in, ids out. Knows `nn`."""
