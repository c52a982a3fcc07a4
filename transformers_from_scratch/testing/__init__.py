"""Checks that every model and every attention must pass, ours and yours. Knows `nn`, `generate` and `files`; nothing knows it."""
