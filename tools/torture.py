"""Run the list of checks, the properties and data with mistakes with far more examples than `make test` does, and write what was tried, and what
was lost, to `nbs/data/torture.csv`, which the page *How it is tested* shows. `make stress WHAT=torture` takes twenty minutes on two cores;
ARGS names some of `notebooks`, or `odd_data`."""
import json, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from common import root, tested, write

notebooks = 'testing/model', 'reliability'

def odd_data(file):
    "Try data with mistakes, and add a row to `file`; the errors"
    import odd_data
    count,lost = odd_data.main()
    with open(file, 'a') as f:
        print(json.dumps(dict(what='tables, folders and files with mistakes', tried=sum(count.values()), lost=len(lost),
                              limit=f'{len(count)} kinds: read right, or refused with what to do, which was done')), file=f)
    return '\n'.join(map(str, lost))

def main():
    chosen = sys.argv[1:] or [*notebooks, 'odd_data']
    with tempfile.TemporaryDirectory() as tmp:
        file, failed, start = Path(tmp)/'rows', [], time.time()
        file.touch()
        def run(name):
            if bad := tested(name, '--cell-timeout', '14400', TORTURE=str(file)): failed.append(name); print(bad[-5000:])
        with ThreadPoolExecutor() as pool: list(pool.map(run, [o for o in chosen if o!='odd_data']))
        if 'odd_data' in chosen and (bad := odd_data(file)): failed.append('odd_data'); print(bad[-5000:])
        rows = [json.loads(o) for o in file.read_text().splitlines()]
    for o in rows: print(f"{o['tried']:>8,} {o['what']}: {o['lost']} lost ({o['limit']})")
    print(f"{(time.time()-start)/60:.0f} minutes; {'failed: '+', '.join(failed) if failed else 'nothing failed'}")
    if not failed and not sys.argv[1:]:
        write(root/'nbs/data/torture.csv', [{'what was tried': o['what'], 'times': f"{o['tried']:,}", 'lost': o['lost'], 'to what limit': o['limit']} for o in rows])
    return bool(failed)

if __name__=='__main__': sys.exit(main())
