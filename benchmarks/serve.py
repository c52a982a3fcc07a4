"""A classifier from texts to answers: its learner's model in PyTorch, and what `export_onnx` writes, in 32 and in 8 bits.

    python benchmarks/serve.py --threads 2      # MiniLM in ~/.fastai/data, beside trec and mr

MiniLM is trained on some labels of each data set, exported, and compared on the held-out texts. Then texts of 16 and of 128 tokens are answered, alone and 32 at once. All contenders
tokenize with the same code and take turns, so that machine noise hits all of them equally: quoted is the median of the time, and of its ratio to that of PyTorch in the same round,
with the 10th and 90th percentile. "By hand" is `quantize_dynamic` of the 32-bit file with its usual settings; it and PyTorch read 32 texts at once, ours as `predict.py` reads them, in batches of 512 tokens,
and so do those that say so, to tell a file from its batches. No thread of onnxruntime spins, or it would take the cores of the
contender that follows. At last the command is started anew, several times, with files that the system has in memory.
"""
import shutil, subprocess, sys, tempfile, time, warnings
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from few_labels import split
from read import timed
from train_step import cpu, quantiles, table
from transformers_from_scratch.all import *
from transformers_from_scratch.use.onnx import _compare,_rows
from transformers_from_scratch.use.predict import Classifier

def trained(name, n, epochs, hf):
    "A classifier with the weights of `hf`, from `n` labels"
    train,test = split(name, n, 0)
    df,pre = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)]),load_pretrained(hf)
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=32,
                                  tok_tfm=pre.tokenizer, text_vocab=pre.vocab, num_workers=0, device='cpu')
    set_seed(0)
    learn = transformer_classifier_learner(dls, pretrained=pre)
    learn.unfreeze()
    with learn.no_bar(), learn.no_logging(): learn.fit_one_cycle(epochs, slice(1e-4, 1e-3), cbs=SkipValidation())
    return learn

def by_hand(folder, to):
    "A copy of an export in 32 bits, whose file is quantized with the usual settings"
    from onnxruntime.quantization import quantize_dynamic
    shutil.copytree(folder, to)
    quantize_dynamic(to/'model.onnx', to/'model.onnx')
    return to

def texts_of(about, n, t):
    "`n` texts of `t` tokens, the two at the ends among them"
    words = [o for o in about['vocab'] if re.fullmatch('[a-z]{4,}', o)]
    rng = np.random.default_rng(0)
    return [' '.join(rng.choice(words, t-2)) for _ in range(n)]

class Session:
    "A model, where a `Classifier` has the session of a file"
    def __init__(self, model): self.model = model
    @torch.inference_mode()
    def run(self, _, given): return [self.model(torch.from_numpy(given['ids'])).numpy()]

@call_parse
def main(
    labels:int=800, # Labels to train on
    epochs:int=2, # Epochs
    n_valid:int=2_000, # Held-out texts to compare, at most
    rounds:int=40, # Rounds of a single text; a quarter of them for 32 texts
    threads:int=2, # Threads
    hf:str='~/.fastai/data/all-MiniLM-L6-v2', # A checkpoint
    out:str='', # A CSV file to append to
):
    "Print three tables"
    warnings.simplefilter('ignore')
    torch.set_num_threads(threads)
    tmp,rows = Path(tempfile.mkdtemp()),[]
    for name in ('mr','trec'):
        learn = trained(name, labels, epochs, Path(hf).expanduser())
        folders = {'32 bits': export_onnx(learn, tmp/f'{name} 32', n_valid=1),
                   '8 bits': export_onnx(learn, tmp/f'{name} 8', 'int8', n_valid=1, min_same=0)}
        folders['8 bits, by hand'] = by_hand(folders['32 bits'], tmp/f'{name} hand')
        model = plain_model(learn.model).eval()
        for kind,folder in folders.items():
            judge = Classifier(folder, threads)
            o = _compare(judge, model, _rows(judge, learn.dls.valid_ds, n_valid))
            rows.append({'data':name, '':kind, 'MB':f"{(folder/'model.onnx').stat().st_size/1e6:.0f}", 'texts':o['texts'],
                         'accuracy':f"{o['accuracy']:.4f}", 'of the learner':f"{o['accuracy_32']:.4f}",
                         'largest change':f"{o['max_change']:.3f}", 'same answers':f"{o['same']:.4f}"})
    where = f'{date.today()}, torch {torch.__version__}, {cpu()}'
    table(rows, f'{where}, {labels} labels, {epochs} epochs', out)

    contenders = {name: Classifier(folder, threads) for name,folder in folders.items()}
    contenders['PyTorch'] = Classifier(folders['32 bits'], threads)
    contenders['PyTorch'].session = Session(model)
    for name in ('8 bits, by hand','PyTorch'): contenders[f'{name}, 512 tokens'] = contenders[name]
    rows = []
    def answer(name, texts):
        one = dict(tokens=sys.maxsize) if name in ('8 bits, by hand','PyTorch') else {}
        contenders[name].probs([contenders[name].ids(o) for o in texts], **one)
    for b,t in ((1,16), (32,16), (1,128), (32,128)):
        texts,took = texts_of(contenders['PyTorch'].about, b, t),{n: [] for n in contenders}
        for i in range(1+(rounds if b==1 else rounds//4)):
            for name in np.random.permutation(list(contenders)):
                o = timed(partial(answer, name, texts))
                if i: took[name].append(o)
        base = np.array(took['PyTorch'])
        rows += [{'texts':f'{b} x {t} tokens', '':name, 'ms':f'{1000*np.median(o):.1f}',
                  'time / PyTorch':quantiles(np.array(o)/base),
                  'time / by hand':quantiles(np.array(o)/took['8 bits, by hand'])} for name,o in took.items()]
    table(rows, f'{where}, {threads} threads, {rounds} rounds', out)

    rows = []
    for name,folder in folders.items():
        command = [sys.executable, '-I', folder/'predict.py', '--threads', '1', 'Who wrote it ?']
        took = [timed(partial(subprocess.run, command, check=True, capture_output=True)) for _ in range(8)]
        rows.append({'':name, 'seconds to the first answer':quantiles(took[1:])})
    table(rows, f'{where}, a process of its own, 1 thread', out)
    shutil.rmtree(tmp)
