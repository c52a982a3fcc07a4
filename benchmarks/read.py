"""Inference with a classifier: what `predict` takes beside the model, and texts a second through `get_preds`, beside Hugging Face.

    .venv-bench/bin/python benchmarks/read.py --rounds 9

Models have `k=256, heads=8, depth=4`, initial weights, fp32. `predict` gets a text of 250 words on one thread; the model alone gets the ids of the same text, in the same round. For `get_preds` there are texts of mixed length (as in
IMDB: half of them between 140 and 300 tokens, cut at 512) in random order, tokenized before for both; Hugging Face's model reads batches of 64 in that order, each padded to its longest text, and for fairness sorted by length as well.
They take turns, round by round.
"""
import sys, time, warnings
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, quantiles, table
from transformers_from_scratch.all import *

v,sizes = 10_000,dict(k=256, heads=8, depth=4)

def timed(f):
    start = time.perf_counter(); f()
    return time.perf_counter()-start

def get_learner(rng):
    words = [f'w{i}' for i in range(v-20)]
    df = pd.DataFrame(dict(text=[' '.join(words[i:i+100]) for i in range(0, len(words), 100)],
                           label=[i//100%2 for i in range(0, len(words), 100)]))
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label',
                                  text_vocab=[*defaults.text_spec_tok, *words], bs=64)
    learn = transformer_classifier_learner(dls, act_cls=nn.GELU, pos_cls=LearnedPositions, max_len=512, **sizes)
    return learn,' '.join(rng.choice(words, 250))

def hugging_face():
    from transformers import BertConfig, BertForSequenceClassification
    return BertForSequenceClassification(BertConfig(vocab_size=v, hidden_size=sizes['k'],
                                                    num_hidden_layers=sizes['depth'],
                                                    num_attention_heads=sizes['heads'],
                                                    intermediate_size=4*sizes['k'],
                                                    max_position_embeddings=512)).eval()

@torch.inference_mode()
def read(model, texts):
    for some in chunked(texts, 64):
        ids = torch.nn.utils.rnn.pad_sequence(some, batch_first=True)
        mask = torch.arange(ids.shape[1]) < tensor([len(o) for o in some])[:,None]
        model(ids, attention_mask=mask.long())

@call_parse
def main(
    rounds:int=9, # Rounds that are timed
    texts:int=1_000, # Texts for `get_preds`
    threads:int=2, # Threads for `get_preds`
    out:str='', # A CSV file to append to
):
    "Print two tables"
    warnings.simplefilter('ignore')
    set_seed(0); rng = np.random.default_rng(0)
    learn,text = get_learner(rng)
    torch.set_num_threads(1)
    ids = learn.dls.test_dl([text]).one_batch()[0]
    model = learn.model.eval()
    @torch.inference_mode()
    def alone(): model(ids)
    ms = {'`predict`':[], 'the model':[]}
    with learn.no_bar():
        for i in range(5*rounds+3):
            for name,f in (('`predict`',lambda: learn.predict(text)), ('the model',alone)):
                t = timed(f)
                if i>2: ms[name].append(1000*t)
    rest = np.array(ms['`predict`'])-ms['the model']
    rows = [{'':f'{name}, a text of {ids.shape[1]} tokens', 'ms':quantiles(o)}
            for name,o in [*ms.items(), ('what is not the model',rest)]]
    table(rows,
          f'{date.today()}, torch {torch.__version__}, {cpu()}, 1 thread, {5*rounds} rounds', out)

    torch.set_num_threads(threads)
    lens = np.clip(np.exp(rng.normal(np.log(200), .6, texts)), 10, 512).astype(int)
    items = [TensorText(torch.from_numpy(rng.integers(9, len(learn.dls.vocab[0]), n)))
             for n in lens]
    dl = learn.dls.valid.new([(o, TensorCategory(0)) for o in items], num_workers=0)
    fs = {'ours, `get_preds`':lambda: learn.get_preds(dl=dl)}
    try:
        hf,plain = hugging_face(),[o.as_subclass(Tensor) for o in items]
        fs |= {'Hugging Face, in random order':lambda: read(hf, plain),
               'Hugging Face, sorted by length':lambda: read(hf,
            sorted(plain, key=len, reverse=True))}
    except ImportError as e: print(f'left out: Hugging Face ({e})')
    seconds = {name: [] for name in fs}
    with learn.no_bar():
        for i in range(rounds+1):
            for name in rng.permutation(list(fs)):
                t = timed(fs[name])
                if i: seconds[name].append(t)
    base = np.array(seconds['ours, `get_preds`'])
    rows = [{'':f'{name}, {texts:,} texts', 'texts a second':f'{texts/np.median(o):.0f}',
             'time / ours':quantiles(np.array(o)/base)} for name,o in seconds.items()]
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads, '
          f'{rounds} rounds; {lens.sum():,} tokens', out)
