"""A server's day: thousands of predictions and streams, and eight threads that ask one learner at once. Each answer is compared with that of a single
thread, and nothing may grow: objects, memory, threads, open files, or what modules remember.

    python tools/load.py                                  # 10,000 predictions, 1,000 streams, 4,000 calls from 8 threads; writes `nbs/data/load.csv`
    python tools/load.py --predictions 200 --streams 100 --calls 200 --out ''
"""
import gc, os, random, sys, time, warnings, weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import active_count

import common
from common import root
warnings.simplefilter('ignore')
from fastcore.script import call_parse
from transformers_from_scratch.all import *
from transformers_from_scratch.learner.turns import _locks
from transformers_from_scratch.fast.decode import _stores

def make(factory, dls, **kwargs):
    "A small learner with weights that are livelier than those at birth"
    learn = factory(dls, k=16, heads=2, depth=2, dropout=.3, metrics=accuracy, **kwargs)
    for p in learn.model.parameters():
        if p.dim()>1: nn.init.normal_(p, std=.5)
    learn.remove_cb(ProgressCallback)
    return learn

class Broken(Exception): pass

def breaks(tokens):
    "A decoder that fails in the middle of a text"
    if len(tokens)>25: raise Broken
    return tokens

def one_stream(lm, text, i, n=12):
    "The text of a stream, or of its beginning: one is read to its end, one closed, one left as it is, and one raises"
    stream,got = lm.stream(text, n, seed=i, **(dict(decoder=breaks) if i%4==3 else {})),[]
    try:
        for o in stream:
            got.append(o)
            if i%4 in (1,2): break
    except Broken: pass
    if i%4==1: stream.close()
    return ''.join(got)

def held():
    "Counts that may not grow"
    gc.collect()
    fds = Path('/proc/self/fd')
    objects = sum(not (type(o) is weakref.ref and o() is None) for o in gc.get_objects())               # pandas keeps dead ones for a while
    return dict(objects=objects, threads=active_count(), files=len(list(fds.iterdir())) if fds.exists() else 0,
                locks=len(_locks), stores=len(_stores))

def rss():
    "Memory in MB that the system has given to this process; 0 where it does not say"
    o = Path('/proc/self/statm')
    return int(o.read_text().split()[1])*os.sysconf('SC_PAGE_SIZE')/2**20 if o.exists() else 0

def same(a, b):
    if isinstance(a, Tensor) and isinstance(b, Tensor): return a.shape==b.shape and torch.allclose(a, b, atol=1e-4)
    return type(a) is type(b) and a==b

def tried(f, *args):
    try: return f(*args)
    except Exception as e: return f'{type(e).__name__}: {e}'

def classifier_jobs(learn, texts):
    "Calls of a classifier, by name: functions of a number"
    def text(i): return texts[i%len(texts)]
    return dict(predict=lambda i: learn.predict(text(i))[2], stream_preds=lambda i: torch.stack(list(learn.stream_preds(texts[i%5:], bs=4))),
        embed=lambda i: learn.embed(texts[:3], no_bar=True), attention=lambda i: attention_maps(learn, text(i))[0],
        explain=lambda i: tensor(list(token_attributions(learn, text(i)).scores)))

def lm_jobs(lm, texts):
    "Calls of a language model, by name: functions of a number"
    ids = torch.arange(10, 20).view(2,5)
    def text(i): return texts[i%len(texts)]
    def in_its_turn(i):
        with in_eval(lm.model): return generate(lm.model, ids, 12, temperature=0)
    return dict(predict=lambda i: lm.predict(text(i), 12, temperature=0, no_bar=True), seeded=lambda i: lm.predict([text(i),text(i+1)], 12, seed=i, no_bar=True),
        int8=lambda i: lm.predict(text(i), 12, seed=i, no_bar=True, quantize='int8'), stream=lambda i: one_stream(lm, text(i), i),
        score=lambda i: tensor([o.log_prob for o in lm.score([text(i),text(i+1)], bs=1)]), generate=in_its_turn,
        attention=lambda i: attention_maps(lm, text(i))[0], explain=lambda i: tensor(list(token_attributions(lm, text(i)).scores)))

def ask(what, learns, jobs, n, training=False, threads=8, kinds=12):
    "A row about `n` calls from so many threads: wrong answers, what has grown, and whether modes, callbacks and loggers are as before"
    rng,names,start = random.Random(0),list(jobs),time.time()
    calls = [(names[i%len(names)],rng.randrange(kinds)) for i in range(n)]
    rng.shuffle(calls)
    want = {c: jobs[c[0]](c[1]) for c in sorted(set(calls))}
    for learn in learns: learn.model.train(training)
    def settings():                                                     # fastai's predictions leave a model in evaluation mode
        return [(None if 'stream_preds' in jobs else [m.training for m in o.model.modules()],list(o.cbs),o.logger,o.create_mbar) for o in learns]
    def wrong_answer(c):
        got = tried(jobs[c[0]], c[1])
        return None if same(got, want[c]) else f'{c}: {str(got)[:200]}'
    before = settings()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(wrong_answer, calls[:32]))
        was,memory = held(),rss()
        wrong = [o for o in pool.map(wrong_answer, calls) if o]
        now,mb = held(),rss()
    for o in wrong[:3]: print(o)
    room = dict(objects=300+n//10)                                      # pools of threads keep a few; a leak is one for each call
    grown = [f'{k} {was[k]:,} to {now[k]:,}' for k in was if now[k]>was[k]+room.get(k, 0)] + [f'memory by {mb-memory:.0f} MB']*(mb>memory+max(16, memory*.03))
    return dict(what=what, calls=n, wrong=len(wrong)+(before!=settings()), grown=', '.join(grown) or 'nothing', objects=f"{was['objects']:,} to {now['objects']:,}",
                memory=f'{memory:.0f} to {mb:.0f} MB', minutes=f'{(time.time()-start)/60:.1f}')

@call_parse
def main(
    predictions:int=10_000, # Predictions, half of a classifier, half of a language model
    streams:int=1_000, # Streams: read to the end, closed early, left open, and broken by an error
    calls:int=4_000, # Calls from eight threads, over classifier and language model, in training and evaluation mode
    out:str=str(root/'nbs/data/load.csv'), # Where to write the table; '' for nowhere
):
    "Exit code 1 if an answer is wrong or anything grows"
    torch.set_num_threads(1); set_seed(42)
    df = toy_reviews(300)
    kw = dict(text_col='text', valid_col='is_valid', num_workers=0)
    learn = make(transformer_classifier_learner, TextDataLoaders.from_df(df, label_col='label', bs=32, **kw))
    lm = make(transformer_lm_learner, TextDataLoaders.from_df(df, is_lm=True, bs=8, seq_len=16, **kw), max_len=40)
    texts = list(df.text[:12])
    ours,theirs = classifier_jobs(learn, texts),lm_jobs(lm, texts)
    tasks = [partial(ask, 'predictions, one after another', [learn,lm], {'classifier':ours['predict'], 'language model':theirs['predict']}, predictions, threads=1),
             partial(ask, 'streams, one after another', [lm], dict(stream=theirs['stream']), streams, threads=1)]
    tasks += [partial(ask, f"8 threads, {name} in {'training' if training else 'evaluation'} mode", [o], jobs, calls//4, training)
              for name,o,jobs in (('classifier',learn,ours), ('language model',lm,theirs)) for training in (True,False)]
    rows = []
    for f in tasks: rows.append(f()); print(rows[-1], flush=True)
    bad = any(o['wrong'] or o['grown']!='nothing' for o in rows)
    if out and not bad: common.write(out, rows)
    sys.exit(int(bad))
