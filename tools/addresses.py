"""Other addresses for tensors from files: with `ADDRESSES=odd` in the environment, what safetensors reads begins at an odd multiple of the
size of its numbers, as it may by the length of a file's header. `tools/run_notebooks.py` imports this file.

Some processors add up a product in another order then, so that its last digits differ (an AMD EPYC with AVX-512 does, where `MKL_CBWR` is not
set). So a test may ask for equal bits only where the same operations run on the same memory."""
import os, safetensors

def moved(t):
    "A copy of a tensor, at an odd multiple of the size of its numbers"
    room = t.new_empty(t.numel()+1)
    even = room.data_ptr()//t.element_size()%2==0
    return room[int(even):][:t.numel()].view(t.shape).copy_(t)

class SafeOpen:
    "`safetensors.safe_open`, whose tensors are moved"
    def __init__(self, *args, f=safetensors.safe_open, **kwargs): self.file = f(*args, **kwargs)
    def __getattr__(self, name): return getattr(self.file, name)
    def __enter__(self): return self
    def __exit__(self, *args): return self.file.__exit__(*args)
    def get_tensor(self, name): return moved(self.file.get_tensor(name))

if os.environ.get('ADDRESSES')=='odd': safetensors.safe_open = SafeOpen
