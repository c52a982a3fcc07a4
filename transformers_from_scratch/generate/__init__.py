"""Writing: ids in, ids out, token by token or by a beam search. Knows `nn`."""
