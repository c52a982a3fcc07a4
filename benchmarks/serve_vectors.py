"""Vectors of texts by MiniLM: what `export_onnx` writes for onnxruntime and OpenVINO, in 32 and in 8 bits, beside fastembed, and OpenVINO in 8 bits by hand.

    .venv-bench/bin/python benchmarks/serve_vectors.py --threads 1      # MiniLM in ~/.fastai/data, beside trec and imdb_sample

The rivals read a file with the usual inputs (`input_ids`, `attention_mask`, `token_type_ids`), exported from transformers' own model. fastembed runs it as it is. "By hand" is what OpenVINO's users do: the same file,
`nncf.quantize` with its settings for transformers and the same 300 texts, the checkpoint's tokenizer in batches, all texts padded and read at once, mean, length 1. Tokenizing is part of each time. All contenders take
turns in random order, so that the noise of the machine hits all equally; quoted are medians of milliseconds a text, and of the ratio to a rival in the same round, with the 10th and 90th percentile.
Recall is the share of the ten nearest of 600 texts that are those of PyTorch in 32 bits. At last a process of its own answers one text, several times, with files that the system has in memory.
"""
import importlib.util, shutil, subprocess, sys, tempfile, warnings
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from read import timed
from train_step import cpu, quantiles, table
from transformers_from_scratch.all import *
from transformers_from_scratch.use.onnx import _neighbors
from transformers_from_scratch.use.predict import Embedder

def usual_file(mini, to):
    "The checkpoint with `model.onnx` as the hub has it: three inputs, the vectors of the tokens"
    from transformers import AutoModel
    class Hidden(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = AutoModel.from_pretrained(mini, attn_implementation='eager')
        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state
    shutil.copytree(mini, to)
    ids = torch.randint(1000, 20000, (2,9))
    dims = {0: torch.export.Dim('batch'), 1: torch.export.Dim('length', max=512)}
    torch.onnx.export(Hidden().eval().requires_grad_(False), (ids, torch.ones_like(ids), torch.zeros_like(ids)), dynamo=True, verbose=False,
                      opset_version=18, input_names=['input_ids','attention_mask','token_type_ids'],
                      output_names=['last_hidden_state'], dynamic_shapes=(dims,)*3).save(to/'model.onnx')
    return to

def by_hand(folder, texts, threads):
    "OpenVINO in 8 bits, as its users write it"
    import nncf, openvino
    from tokenizers import Tokenizer
    tok = Tokenizer.from_file(str(folder/'tokenizer.json'))
    tok.enable_truncation(256)
    tok.enable_padding()
    def inputs(texts):
        rows = tok.encode_batch(texts)
        return dict(input_ids=np.array([o.ids for o in rows]), attention_mask=np.array([o.attention_mask for o in rows]),
                    token_type_ids=np.array([o.type_ids for o in rows]))
    model = openvino.Core().read_model(folder/'model.onnx')
    model = nncf.quantize(model, nncf.Dataset([inputs([o]) for o in texts]), model_type=nncf.ModelType.TRANSFORMER, subset_size=len(texts))
    run = openvino.compile_model(model, 'CPU', dict(PERFORMANCE_HINT='LATENCY', INFERENCE_NUM_THREADS=threads))
    def embed(texts):
        given = inputs(texts)
        mask = given['attention_mask'][...,None]
        x = (run(given)[0]*mask).sum(1)/mask.sum(1)
        return x/np.linalg.norm(x, axis=1, keepdims=True)
    return embed

def fast_embed(folder, threads):
    "fastembed with the same weights; None where it is not installed"
    if importlib.util.find_spec('fastembed') is None: return
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    TextEmbedding.add_custom_model(model='mini', pooling=PoolingType.MEAN, normalization=True, dim=384,
                                   sources=ModelSource(url='none'), model_file='model.onnx')
    model = TextEmbedding('mini', specific_model_path=str(folder), threads=threads)
    return lambda texts: np.stack([*model.embed(texts)])

@call_parse
def main(
    rounds:int=20, # Rounds of one text; a quarter of them for 32
    threads:int=1, # Threads
    hf:str='~/.fastai/data/all-MiniLM-L6-v2', # The checkpoint
    out:str='', # A CSV file to append to
):
    "Print three tables"
    warnings.simplefilter('ignore')
    torch.set_num_threads(threads)
    tmp,mini,data = Path(tempfile.mkdtemp()),Path(hf).expanduser(),fastai_cfg().path('data')
    questions = pd.read_csv(data/'trec'/'train.csv').text.tolist()
    reviews = pd.read_csv(data/'imdb_sample'/'texts.csv').text.tolist()
    texts = questions[:150]+reviews[:150]
    pre = load_pretrained(mini)
    bits = {8: export_onnx(pre, tmp/'8', 'int8', engine='openvino', texts=texts, min_same=0),
            32: export_onnx(pre, tmp/'32', engine='openvino', texts=texts[:20])}
    contenders = {f'{engine}, {n} bits': Embedder(bits[n], threads, engine) for n in bits for engine in ('onnx','openvino')}
    contenders['PyTorch'] = lambda texts: pre.embed(texts, no_bar=True).numpy()
    usual = usual_file(mini, tmp/'usual')
    contenders['OpenVINO, 8 bits, by hand'] = by_hand(usual, texts, threads)
    rival = fast_embed(usual, threads)
    if rival: contenders['fastembed'] = rival
    where = f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads, {rounds} rounds'

    held_out = questions[-600:]
    near = _neighbors(contenders['PyTorch'](held_out))
    def recall(f): return np.mean([np.isin(*o).mean() for o in zip(_neighbors(f(held_out)), near)])
    rows = []
    for data_name,some,b in (('questions',held_out,1), ('questions',held_out,32), ('reviews',reviews[-200:],1), ('reviews',reviews[-200:],32)):
        took = {n: [] for n in contenders}
        for i in range(1+(rounds if b==1 else max(rounds//4, 3))):
            batch = [some[(i*b+j)%len(some)] for j in range(b)]
            for name in np.random.permutation(list(contenders)):
                seconds = timed(partial(contenders[name], batch))
                if i: took[name].append(seconds)
        hand = np.array(took['OpenVINO, 8 bits, by hand'])
        for name,o in took.items():
            row = {'texts':f'{b} {data_name}', '':name, 'ms a text':f'{1000*np.median(o)/b:.2f}', 'time / by hand':quantiles(np.array(o)/hand)}
            if rival: row['time / fastembed'] = quantiles(np.array(o)/took['fastembed'])
            rows.append(row)
    table(rows, where, out)
    table([{'':n, 'recall at 10, questions':f'{recall(f):.3f}'} for n,f in contenders.items()], where, out)

    rows = []
    for n,folder in bits.items():
        for engine in ('onnx','openvino'):
            command = [sys.executable, folder/'predict.py', '--threads', str(threads), '--engine', engine, 'Who wrote it ?']
            took = [timed(partial(subprocess.run, command, check=True, capture_output=True)) for _ in range(6)]
            rows.append({'':f'{engine}, {n} bits', 'seconds to the first answer':quantiles(took[1:])})
    table(rows, f'{where}, a process of its own', out)
    shutil.rmtree(tmp)
