"""How long a `TextIndex` takes to find the nearest of many texts, and what memory it needs beyond the vectors.

    python benchmarks/search.py                  # a million random vectors of 384 numbers, two threads
"""
import time
from transformers_from_scratch.all import *
from fastcore.script import call_parse

def memory(name): return int(re.search(rf'{name}:\s+(\d+)', Path('/proc/self/status').read_text())[1])/1024

@call_parse
def main(
    n:int=1_000_000, # Number of vectors
    k:int=384, # Their width
    threads:int=2 # Threads of PyTorch
):
    "Print a table of seconds and MB"
    torch.set_num_threads(threads); torch.manual_seed(0)
    table = F.normalize(torch.randn(n, k), dim=-1)
    index = TextIndex(SimpleNamespace(embed=lambda texts: table[[int(o) for o in texts]]))
    index.texts,index._room = [*map(str, range(n))],table
    print(f'| {n:,} texts, {k} numbers each ({table.nbytes/2**20:,.0f} MB) | best of five, s | CPU s | MB more |\n|---|---|---|---|')
    def show(name, f, times=5):
        Path('/proc/self/clear_refs').write_text('5')  # Linux: the peak starts anew
        before,took,cpu = memory('VmRSS'),[],[]
        for _ in range(times):
            start,work = time.perf_counter(),time.process_time()
            f()
            took.append(time.perf_counter()-start); cpu.append(time.process_time()-work)
        print(f'| {name} | {min(took):.2f} | {min(cpu):.2f} | {memory("VmHWM")-before:.0f} |', flush=True)
    show('one query, 10 hits', lambda: index.search('7'))
    show('256 queries, 10 hits each', lambda: index.search([*map(str, range(256))]), 1)
    index.texts = index.texts[:20_000]
    show(f'near duplicates of {len(index):,}', lambda: index.duplicates(.9), 1)
    assert index.search('7', n=1)[0].id==7
