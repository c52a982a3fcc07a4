"""Memory that is kept for the next step, for benchmarks in which all libraries shall have it."""
import ctypes, os

def keep_memory(n=2**30):
    "Keep up to `n` bytes of freed memory, if the C library is that of GNU and its environment says nothing else; memory may grow without end"
    try: mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError): return  # another C library
    if {'MALLOC_TRIM_THRESHOLD_','MALLOC_MMAP_THRESHOLD_'} & {*os.environ}: return
    mallopt(-1, n)  # M_TRIM_THRESHOLD
    if not mallopt(-3, n): mallopt(-3, 2**25)  # M_MMAP_THRESHOLD; old libraries allow 32 MB
