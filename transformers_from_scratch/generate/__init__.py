"""Writing: ids in, ids out; filters and sampling, caches, beam search. Knows `nn`."""
