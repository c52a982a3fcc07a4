"""A language model's loader over 100 million tokens: memory, the time to begin an epoch, and for a batch, beside one million tokens and fastai's own loader.

    .venv-bench/bin/python benchmarks/loader.py --source ~/.fastai/data/imdb --tokens 100_000_000

The reviews of IMDB (`source`, a folder of text files; without it the reference of Python) are tokenized once by fastai's `WordTokenizer`, and their ids repeated in one int32 file until there are so many tokens. Each size is read by a process of its own.
Memory is that of the process beyond what it had before the corpus was opened, and beyond the pages of the mapped file (`RssAnon`).
"""
import json, subprocess, sys, tempfile, time, zlib
from datetime import date
from pathlib import Path
from pydoc_data.topics import topics
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, table
from transformers_from_scratch.all import *
from transformers_from_scratch.files.format import write_file

def repeated(corpus, folder, n):
    "The texts of `corpus`, repeated until there are `n` tokens"
    folder.mkdir(parents=True)
    times = -(-n//corpus.n_tokens)
    texts = np.tile(corpus.lens, times)
    texts = texts[:np.searchsorted(texts.cumsum(dtype=np.int64), n)+1]
    total = int(texts.sum(dtype=np.int64))
    crc = 0
    with open(folder/'tokens.bin', 'wb') as f:
        for i in range(times):
            ids = corpus.ids[:max(min(corpus.n_tokens, total-i*corpus.n_tokens), 0)]
            ids.tofile(f)
            crc = zlib.crc32(ids, crc)
    texts = texts.astype(np.int32)
    texts.tofile(folder/'lengths.bin')
    about = {n: o for n,o in corpus.about.items() if n not in ('version','kind','checksum')}
    write_file(folder/'corpus.json', 'corpus', **about | dict(ids=crc, lengths=zlib.crc32(texts), texts=len(texts)))

def memory():
    return int(re.search(r'RssAnon:\s+(\d+)', Path('/proc/self/status').read_text())[1])/1024

def read(folder, batches=300):
    "Measure one corpus"
    tok,before = Tokenizer(WordTokenizer()),memory()
    start = time.perf_counter()
    corpus = Corpus(folder)
    n = len(corpus)
    dl = CorpusLoader(CorpusTexts(corpus, np.arange(n), tok), bs=64, seq_len=72, shuffle=True)
    opened = time.perf_counter()-start
    def begin(epoch):
        dl.epoch = epoch
        it,start = iter(dl),time.perf_counter()
        x = next(it)[0]
        return it,x,time.perf_counter()-start
    (_,a,first),(_,b,_),(_,c,_),(it,_,second) = map(begin, (1,1,2,3))
    again = torch.equal(a, b) and not torch.equal(a, c)
    times = []
    for _ in range(min(batches, len(dl)-2)):
        start = time.perf_counter(); next(it); times.append(time.perf_counter()-start)
    return dict(tokens=f'{corpus.n_tokens:,}', texts=f'{n:,}',
                **{'MB beyond the map':f'{memory()-before:.0f}', 's to open':f'{opened:.2f}',
                   's to the first batch of an epoch':f'{max(first, second):.2f}',
                   'ms a batch of 64 x 72':f'{1000*np.median(times):.2f} '
                   f'({1000*np.quantile(times, .9):.2f})',
                   'the same order for the same seed':again})

def fastai_loader(folder):
    "The same by fastai's own loader, with all ids in memory"
    corpus,before = Corpus(folder),memory()
    start = time.perf_counter()
    dl = LMDataLoader([corpus[i] for i in range(len(corpus))], bs=64, seq_len=72, shuffle=True,
                      num_workers=0)
    opened,start = time.perf_counter()-start,time.perf_counter()
    it = iter(dl); next(it)
    first,times = time.perf_counter()-start,[]
    for _ in range(min(100, len(dl)-2)):
        start = time.perf_counter(); next(it); times.append(time.perf_counter()-start)
    return dict(tokens=f'{corpus.n_tokens:,}', texts=f'{len(corpus):,}',
                **{'MB beyond the map':f'{memory()-before:.0f}', 's to open':f'{opened:.2f}',
                   's to the first batch of an epoch':f'{first:.2f}',
                   'ms a batch of 64 x 72':f'{1000*np.median(times):.2f} '
                   f'({1000*np.quantile(times, .9):.2f})', 'the same order for the same seed':''})

@call_parse
def main(
    source:str='', # A folder of text files; none is the reference of Python
    tokens:int=100_000_000, # Tokens of the large corpus
    out:str='', # A CSV file to append to
    only:str='', # Only for the processes that this script starts: a folder
    theirs:bool=False, # The same: by fastai's loader?
):
    "Print a table"
    if only: print(json.dumps((fastai_loader if theirs else read)(Path(only)))); return
    with tempfile.TemporaryDirectory() as tmp:
        tmp = Path(tmp)
        start = time.perf_counter()
        files = sorted(get_text_files(Path(source).expanduser())) if source else []
        texts = (o.read_text(encoding='utf8') for o in files) if source else topics.values()
        corpus = tokenize_corpus(texts, tmp/'once')
        print(f'tokenized once, {len(corpus):,} texts with {corpus.n_tokens:,} tokens, '
              f'in {time.perf_counter()-start:.0f} s')
        rows = []
        for n in (1_000_000, tokens):
            repeated(corpus, tmp/str(n), n)
            for more in ([], ['--theirs']):
                says = subprocess.run([sys.executable, __file__, '--only', str(tmp/str(n)),
                                       *more], stdout=subprocess.PIPE, text=True,
                                      check=True).stdout
                rows.append({'':f'{"fastai" if more else "ours"}, {n:,} tokens',
                             **json.loads(says.splitlines()[-1])})
        table(rows, f'{date.today()}, {cpu()}, int32, fastai\'s WordTokenizer, '
              f'{Path(source).name or "the reference of Python"} repeated', out)
