"""Kill trainings at random moments, start them again, and compare with a training that nobody killed: weights, the optimizer,
curves, the table, and the next random numbers have to be the same to the last bit. `make stress WHAT=kills` does it 20 times for a classifier
and 20 times for a language model, and writes `nbs/data/kills.csv`; it takes five to ten minutes on two cores.

Each trial trains three times: without `Resume`, with it and nobody kills, and killed. That one is a process group of its own, with
the workers that read data, and gets a `SIGKILL` when a random time has passed: a moment of the clock, not a batch. So it may be in the
middle of a step or of a save, while data are read, in validation, or between epochs. Then it is started again, with another seed, so
that all that is equal comes from the file. Every fifth trial begins each time with a new interpreter; the others are forked from one
that has imported the library. A kill before the first save has nothing to go on from: that training begins anew, which needs its own
seed, and does not count. Nor does a kill after the end.

`python tools/kills.py --cost` measures instead what `Resume` costs at its default interval, and writes `nbs/data/resume_cost.csv`."""
import argparse, hashlib, json, os, random, shutil, signal, sys, tempfile, time, traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from pydoc_data.topics import topics

import common
from common import root
from transformers_from_scratch.all import *
from transformers_from_scratch.train.resume import _read

fits = dict(fit_one_cycle=(3, 1e-2), fit_flat_cos=(3, 1e-2), fit=(3, 1e-2), fine_tune=(2, 1e-2))      # `fine_tune` trains twice, 3 epochs in all
kinds = dict(classifier=['reviews'], lm=['reviews','reference','corpus'])

# ------------------------------------------------------------------------------------------------ a training
def make(job):
    "Make the learner that `job` describes"
    bs,where,tok = job['bs'],Path(job['folder']),BaseTokenizer()
    df = toy_reviews(320)
    if job['data']=='reference': df = pd.DataFrame(dict(text=[*topics.values()], is_valid=[i%4==1 for i in range(len(topics))]))
    df['text'] = df['text'].str[:500]
    metrics,kw = [accuracy],dict(k=32, heads=2, depth=2, dropout=.2, path=where)
    if job['data']=='corpus':
        dls = lm_dataloaders(df.text, where/'corpus', bs=bs, seq_len=16, tok=tok, num_workers=job['workers'])
    else:
        more = dict(label_col='label') if job['kind']=='classifier' else dict(is_lm=True, seq_len=16)
        dls = TextDataLoaders.from_df(df, text_col='text', valid_col='is_valid', bs=bs, num_workers=job['workers'], tok_tfm=tok, **more)
    if job['kind']=='classifier': return transformer_classifier_learner(dls, max_len=32, attn_dropout=.1, metrics=metrics, **kw)
    return transformer_lm_learner(dls, metrics=[*metrics, Perplexity()], **kw)

class Where(Callback):
    "Write where the training is into a file, which a `SIGKILL` leaves"
    def __init__(self, folder, order): self.order,self.fd = order,os.open(Path(folder)/'where', os.O_RDWR|os.O_CREAT)
    def __call__(self, event_name):
        says = ' '.join(map(str, (event_name, self.order, int(self.training), getattr(self, 'epoch', 0), getattr(self, 'iter', 0))))
        os.pwrite(self.fd, says.ljust(60).encode(), 0)

def bits(o):
    "Hash of all bits of `o`"
    h = hashlib.sha256()
    def add(o):
        if isinstance(o, Tensor): h.update(f'{o.dtype} {tuple(o.shape)}'.encode()+o.detach().contiguous().numpy().tobytes())
        elif isinstance(o, np.ndarray): h.update(f'{o.dtype} {o.shape}'.encode()+o.tobytes())
        elif isinstance(o, dict): add(sorted(o)); add([o[n] for n in sorted(o)])
        elif isinstance(o, (list,tuple,L)):
            h.update(f'{len(o)} of'.encode())
            for x in o: add(x)
        else: h.update(repr(float(o) if isinstance(o, (float,np.floating)) else o).encode()+b';')
    add(o)
    return h.hexdigest()[:16]

def ends(learn, cbs, table):
    "Hashes of what has to be equal at the end of a training"
    rec = learn.recorder
    last = [list(map(str, o[:-1])) for o in table[-learn.n_epoch:]]                      # without the time
    res = dict(weights=learn.model.state_dict(), optimizer=learn.opt.state_dict(), losses=list(rec.losses), lrs=list(rec.lrs),
               iters=list(rec.iters), smooth=rec.smooth_loss.value, values=rec.values, table=last, counts=[(o.wait, float(o.best)) for o in cbs],
               python=[random.random() for _ in range(9)], numpy=np.random.rand(9), torch=torch.rand(9), batches=list(itertools.islice(learn.dls.train, 5)))
    return {n: bits(o) for n,o in res.items()}

def train(job):
    "Train, and write the hashes of the end"
    folder = Path(job['folder'])
    torch.set_num_threads(1); set_seed(job['seed'])
    learn,table = make(job),[]
    cbs = [EarlyStoppingCallback(patience=9), ReduceLROnPlateau(patience=1, min_delta=9.)] if job['counts'] else []
    resume = [Resume('run', every=job['every'])] if job['resume'] else []
    if job['accumulate']: resume.append(GradientAccumulation(32))
    learn.logger = table.append
    (folder/'began').touch()
    start = time.time()
    with learn.no_bar(): getattr(learn, job['fit'])(*fits[job['fit']], cbs=[*cbs, *resume, Where(folder, 99), Where(folder, 101)])
    seconds = time.time()-start
    (folder/'end').write_text(json.dumps(dict(seconds=seconds, **ends(learn, cbs, table))))

# ------------------------------------------------------------------------------------------------ killing it
def begin(job, **kw):
    "Start a training in a process group of its own"
    job = job|kw
    for o in ('began','end','where'): (Path(job['folder'])/o).unlink(missing_ok=True)
    def run():
        os.setsid()
        log = os.open(Path(job['folder'])/'log', os.O_WRONLY|os.O_CREAT|os.O_APPEND)
        os.dup2(log, 1); os.dup2(log, 2)
        if job['fresh']: os.execv(sys.executable, [sys.executable, __file__, '--train', json.dumps(job)])
        train(job)
    process = get_context('fork').Process(target=run)
    process.start()
    return process

def wait(process, folder, moment=None):
    "Wait for the end of a training, or kill it `moment` seconds after it began; returns whether it was killed"
    due = math.inf
    while process.exitcode is None:
        if moment is not None and due==math.inf and (folder/'began').exists(): due = time.time()+moment
        if time.time()<due: time.sleep(min(.002 if moment is not None else .02, due-time.time()))
        else:
            os.killpg(process.pid, signal.SIGKILL)
            process.join()
    if process.exitcode==-signal.SIGKILL: return True
    if process.exitcode: raise RuntimeError(f'a training failed: {(folder/"log").read_text()[-3000:]}')
    return False

def found(folder):
    "Training, epoch and batch that the next start will find, and whether that training is done; None if nothing was saved"
    try: o = _read(folder/"models/run/now.pth")
    except ValueError: return
    return o and (len(o['fits']),o['epoch'],o['batch'],o['done'])

def doing(folder, again):
    "Phase, epoch and batch in which a training was killed; `again` if it went on from a file"
    says = ((folder/'where').read_text().split() if (folder/'where').exists() else []) or ['before_fit','99','0','0','0']
    name,order,training,epoch,batch = says[0],*map(int, says[1:])
    ours = order==99 and name in ('before_fit','before_train','after_batch','after_fit')     # `Resume` comes next
    if ours and name=='before_fit': what = 'reading the file'
    elif ours and training: what = 'saving'
    elif name in ('before_fit','after_fit','after_cancel_fit','before_epoch','after_epoch','after_train','after_validate','after_cancel_epoch'): what = 'between epochs'
    elif name=='before_train' and again: what = 'on the way to its batch'
    elif not training: what = 'validation'
    elif name=='before_train' or (name=='after_batch' and order==101): what = 'next batch'
    else: what = 'step'
    return what,epoch,batch

def trial(job):
    "Three trainings, of which one is killed; a row for the table"
    rng,tmp,ends,kills,anew,late = random.Random(job['number']),Path(tempfile.mkdtemp(prefix='kills')),[],[],0,0
    def folder(name): (tmp/name).mkdir(exist_ok=True); return tmp/name
    try:
        for name in ('whole','watched'):
            wait(begin(job, folder=str(folder(name)), resume=name=='watched', fresh=False), folder(name))
            ends.append(json.loads((folder(name)/'end').read_text()))
        while len(ends)<3:
            where,kills,left = folder('killed'),[],ends[1]['seconds']
            while True:
                again = found(where) is not None
                seed = rng.randrange(10**6) if again else job['number']
                moment = rng.uniform(0, max(left, .05)) if len(kills)<job['kills'] else None
                if not wait(begin(job, folder=str(where), seed=seed), where, moment): break
                was,left = found(where),left-moment
                if was is None: anew,left = anew+1,ends[1]['seconds']
                elif was[3] and was[0]==(2 if job['fit']=='fine_tune' else 1): kills = []; break
                else: kills.append((doing(where, again), was))
            if kills: ends.append(json.loads((where/'end').read_text()))
            else: shutil.rmtree(where); late += 1
    except RuntimeError as e: print(e, flush=True); ends += [{}]*(3-len(ends))               # a training that fails is none that goes on
    finally: shutil.rmtree(tmp, ignore_errors=True)
    wrong = {name: [n for n in ends[0] if n!='seconds' and ends[0][n]!=o[n]] if o else ['failed'] for name,o in (('watched',ends[1]),('killed',ends[2]))}
    return dict(job, kills=kills, anew=anew, late=late, wrong=wrong, seconds=ends[1].get('seconds'))

# ------------------------------------------------------------------------------------------------ what it costs
class Timed(Resume):
    "`Resume` that notes the seconds it takes after each batch, and ends the training after `n`; the recorder holds `past` batches before"
    def __init__(self, n, past=0, **kwargs):
        super().__init__('cost', **kwargs)
        self.n,self.past,self.took = n,past,[]
    def before_fit(self):
        for o,x in ((self.recorder.losses, tensor(.5)), (self.recorder.lrs, 1e-3)): o += [x]*self.past
        super().before_fit()
    def after_batch(self):
        start = time.perf_counter()
        super().after_batch()
        self.took.append(time.perf_counter()-start)
        if len(self.took)==self.n: raise CancelFitException

def timed(n, *args, **kwargs):
    "Train a model of the usual size, with 10,000 words: the seconds in all, those after each batch, and the size of a file in MB"
    dls = TextDataLoaders.from_df(toy_reviews(1000), text_col='text', label_col='label', valid_col='is_valid', bs=16, num_workers=0, tok_tfm=BaseTokenizer())
    with tempfile.TemporaryDirectory(prefix='kills') as folder:
        learn = Learner(dls, TransformerClassifier(10_000, 2, k=256, heads=8, depth=4), loss_func=CrossEntropyLossFlat(), opt_func=FusedAdamW, path=folder)
        resume,start = Timed(n, *args, **kwargs),time.perf_counter()
        with learn.no_bar(), learn.no_logging(): learn.fit(1000, 1e-4, cbs=resume)
        return time.perf_counter()-start,resume.took,max(o.stat().st_size for o in Path(folder, 'models/cost').iterdir())/2**20

def cost(rounds, seconds):
    "Share of `Resume` in the five minutes between two saves, computed from its parts; and in real trainings with more saves"
    torch.set_num_threads(1)
    parts,real = [],[]
    def mid(o): return float(np.median(o))
    timed(3)
    for i in range(rounds):
        total,took,_ = timed(60)
        saves = {n: timed(6, n, every=1) for n in (0, 100_000, 1_000_000)}
        o = dict(batch=total/60, idle=mid(took), mb=saves[0][2]) | {n: mid(took[1:]) for n,(_,took,_) in saves.items()}
        parts.append(o | {f'share {n}': 100*(o[n]/300 + o['idle']/o['batch']) for n in saves})
    p = {n: [o[n] for o in parts] for n in parts[0]}
    n_real = round(seconds/mid(p['batch']))
    for i in range(rounds if seconds else 0):
        total,took,_ = timed(n_real, minutes=seconds/60/6)
        saves = sum(o>.1*max(took) for o in took)
        real.append(dict(saves=saves, total=total, clock=100*sum(took)/total, parts=100*(saves*mid(p[0])+n_real*mid(p['idle']))/total))
    def says(what, o, unit, f=1., digits=0):
        o = [x*f for x in o]
        return {'what': what, 'median': f'{mid(o):.{digits}f} {unit}', 'lowest and highest': f'{min(o):.{digits}f} to {max(o):.{digits}f}'}
    rows = [says('a save, the optimizer included, writes', p['mb'], 'MB'), says('a batch takes', p['batch'], 'ms', 1e3),
            says('after a batch, when no save is due', p['idle'], 'µs', 1e6)]
    for n,after in ((0,''), (100_000,' after 100,000 batches'), (1_000_000,' after 1,000,000 batches')):
        rows += [says(f'a save{after} takes', p[n], 'ms', 1e3), says('of the 5 minutes between two saves'+after.replace(' ', ', ', 1), p[f'share {n}'], '%', 1, 3)]
    if real:
        r = {n: [o[n] for o in real] for n in real[0]}
        rows += [says(f'a real training of {n_real} batches, {mid(r["saves"]):.0f} saves', r['total'], 's', 1, 1),
                 says('of which it took, by the clock', r['clock'], '%', 1, 2), says('by the parts above', r['parts'], '%', 1, 2)]
    for o in rows: print(' | '.join(o.values()))
    if real and rounds>=5: common.write(root/'nbs/data/resume_cost.csv', rows)
    return max(p['share 0'])>=1

# ------------------------------------------------------------------------------------------------ all of it
def jobs(kind, n, rng):
    "Settings of `n` trials: each equally often, in a random order"
    def some(*choices): return rng.sample([choices[i%len(choices)] for i in range(n)], n)
    cols = dict(data=some(*kinds[kind]), workers=some(0,1,0,2), fit=some(*fits), kills=some(1,1,2,1,1,3), fresh=some(*[False]*4, True), counts=some(False, True), accumulate=some(False, False, True))
    for i in range(n):
        bs = 8 if kind=='lm' else rng.choice((8,12))
        yield dict(kind=kind, bs=bs, every=rng.choice((1, 1, 2, 3, 5, 8, 13, 21)), number=rng.randrange(10**6), resume=True, **{o: c[i] for o,c in cols.items()})

def row(o):
    def at(what, epoch, batch): return f'{what}, {epoch}:{batch}'
    def file(fit, epoch, batch, done): return f'{"training 2, " if fit>1 else ""}{epoch}:{batch}'
    return {'kind': 'language model' if o['kind']=='lm' else o['kind'], 'data': o['data'], 'workers': o['workers'], 'training': o['fit']+(', gradients of 32 texts' if o['accumulate'] else ''), 'every': o['every'],
            'started': 'new interpreter' if o['fresh'] else 'forked', 'killed': len(o['kills']), 'killed at (epoch:batch)': '; '.join(at(*a) for a,_ in o['kills']),
            'went on from': '; '.join(file(*b) for _,b in o['kills']), 'the same bits': 'no: '+', '.join(o['wrong']['killed']) if o['wrong']['killed'] else 'yes'}

def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('--n', type=int, default=20); p.add_argument('--kinds', nargs='*', default=list(kinds), choices=kinds)
    p.add_argument('--seed', type=int, default=None, help='moments and settings; another one in each run')
    p.add_argument('--cost', action='store_true', help='what `Resume` costs, instead')
    p.add_argument('--rounds', type=int, default=5, help='of `--cost`'); p.add_argument('--seconds', type=float, default=40, help='of each real training of `--cost`, 0 for none')
    p.add_argument('--train', help=argparse.SUPPRESS)
    args = p.parse_args()
    if args.train: return train(json.loads(args.train))
    if args.cost: return cost(args.rounds, args.seconds)
    torch.set_num_threads(1)
    seed,start,res = random.randrange(10**6) if args.seed is None else args.seed,time.time(),[]
    rng = random.Random(seed)
    todo = [o for kind in args.kinds for o in jobs(kind, args.n, rng)]
    for o in todo: o['seed'] = o['number']                                               # of the training that is not killed
    with ProcessPoolExecutor(2, mp_context=get_context('fork')) as pool:
        for f in as_completed([pool.submit(trial, o) for o in todo]):
            res.append(f.result())
            print(f"{len(res):3} of {len(todo)}, {time.time()-start:4.0f} s: {' | '.join(map(str, row(res[-1]).values()))}", flush=True)
            if res[-1]['wrong']['watched']: print(f"    without a kill not the same: {', '.join(res[-1]['wrong']['watched'])}", flush=True)
    res.sort(key=lambda o: [x['number'] for x in todo].index(o['number']))
    bad,kills = [o for o in res if any(o['wrong'].values())],[a[0] for o in res for a,_ in o['kills']]
    print(f'seed {seed}: {len(res)} trainings killed {len(kills)} times ({", ".join(f"{n} {o}" for o,n in Counter(kills).most_common())}), {len(bad)} not the same')
    print(f"{sum(o['anew'] for o in res)} kills before the first save, {sum(o['late'] for o in res)} after the end: not counted; {(time.time()-start)/60:.0f} minutes")
    if not bad and args.n>=20 and args.kinds==list(kinds): common.write(root/'nbs/data/kills.csv', [row(o) for o in res])
    return bool(bad)

if __name__=='__main__': sys.exit(main())
