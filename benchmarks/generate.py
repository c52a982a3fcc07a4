"""Tokens per second when a text is written, this library beside its peers.

All but AWD_LSTM, which is fastai's, have the same sizes; all have fresh weights, one text in the batch, fp32, and draw at temperature 1 without filters. They take turns,
round by round; quoted are the median over the rounds, and of the ratio to Hugging Face in the same round. The memory limit is
the time to read all parameters once, measured in each round as well: no method that reads each weight for each token is faster.

Hugging Face `transformers` does not import beside fastai's torchvision and a torch without CUDA. So this needs an environment
of its own; what is missing there is left out of the table, and said:

    python -m venv bench && bench/bin/pip install torch fastai x-transformers transformers safetensors && bench/bin/pip uninstall -y torchvision
    bench/bin/python benchmarks/generate.py --threads 2
"""
import statistics, sys, time, warnings
from datetime import date
from pathlib import Path
import torch
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from fastai.text.all import *
from train_step import cpu
from transformers_from_scratch.all import *

def ours(sizes, prompt, n):
    v,k,heads,depth,max_len = sizes
    model = TransformerLM(v, k, heads, depth, max_len)
    return {'transformers_from_scratch `generate`': lambda: generate(model, prompt, n),
            'the same through `read`, module by module': hooked(model, prompt, n),
            'the same without a cache': lambda: generate(model, prompt, n//4, cache=False)}

def hooked(model, prompt, n):
    "A plain cached loop: a hook keeps `generate` from its fast step"
    def run():
        handle = model[0].norm.register_forward_hook(lambda *_: None)
        out = generate(model, prompt, n)
        handle.remove()
        return out
    return run

def predict(sizes, prompt, n):
    "`predict` of our Learner, and that of fastai's AWD_LSTM, on the same vocabulary"
    v,k,heads,depth,max_len = sizes
    words = [f'w{i}' for i in range(v-9)]
    df = pd.DataFrame(dict(text=[' '.join(words[i:i+50]) for i in range(0, len(words), 50)]*2))
    tok = BaseTokenizer()
    dls = TextDataLoaders.from_df(df, text_col='text', is_lm=True, tok_tfm=tok, text_vocab=[*defaults.text_spec_tok, *words], seq_len=72, bs=4)
    text = ' '.join(words[5:12])
    lm,awd = transformer_lm_learner(dls, k, heads, depth, max_len=max_len),language_model_learner(dls, AWD_LSTM, pretrained=False)
    return {'`predict` of `transformer_lm_learner`': lambda: lm.predict(text, n, no_bar=True),
            "fastai AWD_LSTM `predict`": lambda: awd.predict(text, n//10, no_bar=True)}

def hugging_face(sizes, prompt, n):
    from transformers import GPT2Config, GPT2LMHeadModel
    v,k,heads,depth,max_len = sizes
    model = GPT2LMHeadModel(GPT2Config(vocab_size=v, n_positions=max_len, n_embd=k, n_layer=depth, n_head=heads, bos_token_id=0, eos_token_id=None)).eval()
    kw = dict(max_new_tokens=n, do_sample=True, top_k=0, use_cache=True, pad_token_id=1)
    return {'Hugging Face GPT-2, cached': lambda: model.generate(prompt, attention_mask=torch.ones_like(prompt), **kw)}

def x_transformers(sizes, prompt, n):
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper
    v,k,heads,depth,max_len = sizes
    layers = Decoder(dim=k, depth=depth, heads=heads, attn_dim_head=k//heads, attn_flash=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=v, max_seq_len=max_len, attn_layers=layers)).eval()
    return {'x-transformers, cached': lambda: model.generate(prompt, n, cache_kv=True, filter_logits_fn=lambda o: o)}

def timed(f):
    start = time.perf_counter()
    out = f()
    return time.perf_counter()-start,out

@call_parse
def main(
    rounds:int=9, # Times that each of them writes a text
    n:int=200, # Tokens to write
    threads:int=2, # Threads for torch
    k:int=256, # Width
    heads:int=8, # Heads
    depth:int=4, # Blocks
    v:int=10_000, # Vocabulary
    max_len:int=512, # Positions
):
    "Print a table of tokens per second"
    warnings.simplefilter('ignore')
    torch.set_num_threads(threads); torch.manual_seed(0)
    sizes,prompt,runs = (v,k,heads,depth,max_len),torch.randint(9, v, (1,8)),{}
    for peer in (ours, hugging_face, x_transformers, predict):
        try: runs.update(peer(sizes, prompt, n))
        except (ImportError,NameError) as e: print(f'left out: {peer.__name__} ({e})')
    parts = {"the same without a cache": n//4, "fastai AWD_LSTM `predict`": n//10}
    weights = torch.cat([p.flatten() for p in TransformerLM(v, k, heads, depth, max_len).parameters()])
    speed = {name: [] for name in [*runs, 'memory limit']}
    for i in range(rounds+1):                              # the first round warms up
        for name in np.random.permutation(list(speed)):
            if name=='memory limit': per_sec = 1/min(timed(weights.sum)[0] for _ in range(5))
            else: per_sec = parts.get(name, n)/timed(runs[name])[0]
            if i: speed[name].append(per_sec)
    print(f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads; batch 1, {n} new tokens, k={k}, heads={heads}, '
          f'depth={depth}, vocabulary {v}, fp32, {len(weights):,} parameters, median of {rounds} rounds\n')
    base = 'Hugging Face GPT-2, cached'
    print('| | tokens a second | times Hugging Face, 10 % | median | 90 % | of the memory limit |\n|---|---|---|---|---|---|')
    for name,o in sorted(speed.items(), key=lambda o: -statistics.median(o[1])):
        part = statistics.median(a/b for a,b in zip(o, speed['memory limit']))
        ratio = [f'{q:.2f}' for q in np.quantile([a/b for a,b in zip(o, speed.get(base, o))], [.1,.5,.9])] if base in speed else ['']*3
        print(f'| {name} | {statistics.median(o):.0f} | {" | ".join(ratio)} | {part:.0%} |')
