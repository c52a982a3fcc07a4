"""Tokens a second of text generation, and the time to read a long prompt: this library beside its peers.

    .venv-bench/bin/python benchmarks/generate.py --rounds 9
    .venv-bench/bin/python benchmarks/generate.py --size gpt2 --rounds 9

All but AWD_LSTM, which is fastai's, have the same sizes; all have initial weights, fp32 unless noted, and decode greedily (AWD_LSTM samples, it has no other way). Each runs in a process of
its own, since thread pools of several libraries in one process get in each other's way; they take turns in random order, round by round, each after a few tokens of warm-up.
Quoted are the median over the rounds, and of the ratio to Hugging Face in the same round with its 10 and 90 %. The memory limit is the time to read all weights once (the fastest of five sums of a tensor as large), measured in each
round as well: for a single text no method that reads each weight for each token is faster. What a model needs before the first token, such as laying out weights, is in the time.
"""
import json, statistics, subprocess, sys, tempfile, time, warnings
from datetime import date
from pathlib import Path
import numpy as np, torch
from fastcore.script import bool_arg, call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, quantiles, table
from keep_memory import keep_memory

sizes = dict(small=dict(v=10_000, k=256, heads=8, depth=4),
             gpt2=dict(v=50_257, k=768, heads=12, depth=12))
jobs = dict(small={1:200, 8:200, 64:100}, gpt2={1:100, 8:50, 64:10})  # texts, and tokens to generate
max_len = 2048

def ours(v, k, heads, depth):
    from transformers_from_scratch.fast.layers import use_fast_layers
    from transformers_from_scratch.nn.lm import TransformerLM
    from transformers_from_scratch.generate.write import generate
    from torch import nn
    model = TransformerLM(v, k=k, heads=heads, depth=depth, max_len=max_len, act_cls=nn.GELU)
    use_fast_layers(model.eval())
    def f(ids, n, quantize=None): generate(model, ids, n, temperature=0, quantize=quantize)
    def plain(ids, n):  # a hook keeps `generate` from its fast decoder
        handle = model.register_forward_hook(lambda *_: None)
        f(ids, n); handle.remove()
    return {'ours': f, 'ours, `quantize="bf16"`': lambda *o: f(*o, 'bf16'),
            'ours, `quantize="int8"`': lambda *o: f(*o, 'int8'), 'ours, module by module': plain}

def predict(v, k, heads, depth):
    "`predict` of our Learner, and that of fastai's AWD_LSTM, on the same vocabulary; one text"
    from fastai.text.all import AWD_LSTM, BaseTokenizer, TextDataLoaders, defaults, language_model_learner, pd
    from transformers_from_scratch.all import LearnedPositions, generate, nn, transformer_lm_learner
    words = [f'w{i}' for i in range(v-9)]
    df = pd.DataFrame(dict(text=[' '.join(words[i:i+50]) for i in range(0, len(words), 50)]*2))
    dls = TextDataLoaders.from_df(df, text_col='text', is_lm=True, tok_tfm=BaseTokenizer(),
                                  text_vocab=[*defaults.text_spec_tok, *words], seq_len=72, bs=4)
    lm,awd = transformer_lm_learner(dls, k=k, heads=heads, depth=depth, max_len=max_len, pos_cls=LearnedPositions,
                                    act_cls=nn.GELU),language_model_learner(dls, AWD_LSTM,
        pretrained=False)
    text = ' '.join(words[5:12])
    # a tenth, times ten
    return {'ours, `predict`': lambda ids,n: lm.predict(text, n, temperature=0, no_bar=True),
            'ours, `generate` beside `predict`': lambda ids,n: generate(lm.model, ids, n,
        temperature=0), "AWD_LSTM, `predict`": lambda ids,n: awd.predict(text, n//10, no_bar=True)
            and 10}

def hugging_face(v, k, heads, depth):
    from transformers import GPT2Config, GPT2LMHeadModel
    model = GPT2LMHeadModel(GPT2Config(vocab_size=v, n_positions=max_len, n_embd=k, n_layer=depth,
                                       n_head=heads, bos_token_id=0, eos_token_id=None)).eval()
    return {'Hugging Face': lambda ids,n: model.generate(ids, attention_mask=torch.ones_like(ids),
                                                         max_new_tokens=n, do_sample=False,
                                                         use_cache=True, pad_token_id=1)}

def x_transformers(v, k, heads, depth):
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper
    layers = Decoder(dim=k, depth=depth, heads=heads, attn_dim_head=k//heads, attn_flash=True)
    model = AutoregressiveWrapper(TransformerWrapper(num_tokens=v, max_seq_len=max_len,
                                                     attn_layers=layers)).eval()
    return {'x-transformers': lambda ids,n: model.generate(ids, n, cache_kv=True, temperature=0.)}

def ctranslate2(v, k, heads, depth, kind=None):
    import ctranslate2
    from ctranslate2.converters.transformers import GPT2Loader
    from ctranslate2.specs import common_spec, transformer_spec
    from transformers import GPT2Config, GPT2LMHeadModel
    hf = GPT2LMHeadModel(GPT2Config(vocab_size=v, n_positions=max_len, n_embd=k, n_layer=depth,
                                    n_head=heads))
    spec = transformer_spec.TransformerDecoderModelSpec.from_config(depth, heads, pre_norm=True,
        activation=common_spec.Activation.GELUTanh)
    GPT2Loader().set_decoder(spec.decoder, hf.transformer)
    GPT2Loader().set_linear(spec.decoder.projection, hf.lm_head)
    spec.register_vocabulary([f't{i}' for i in range(v)])
    spec.config.bos_token,spec.config.eos_token,spec.config.unk_token = 't0','t1','t2'
    spec.validate(); spec.optimize(quantization=kind)
    folder = tempfile.TemporaryDirectory()
    spec.save(folder.name)
    model = ctranslate2.Generator(folder.name, device='cpu',
                                  intra_threads=torch.get_num_threads(), inter_threads=1,
                                  compute_type=kind or 'float32')
    def f(ids, n, folder=folder):
        model.generate_batch([[f't{i}' for i in o] for o in ids.tolist()], max_length=n,
                             min_length=n, sampling_topk=1, include_prompt_in_result=False)
    return {f"CTranslate2{', int8' if kind else ''}": f}

def ctranslate2_int8(**size): return ctranslate2(kind='int8', **size)

def gguf_file(path, v, k, heads, depth):
    "A GGUF file of GPT-2 with random weights of 8 bits"
    import gguf
    kind,rng,file = gguf.GGMLQuantizationType.Q8_0,np.random.default_rng(0),gguf.GGUFWriter(path, 'gpt2')
    file.add_context_length(max_len); file.add_embedding_length(k); file.add_block_count(depth)
    file.add_feed_forward_length(4*k); file.add_head_count(heads); file.add_layer_norm_eps(1e-5)
    file.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    # the bytes, as GPT-2 writes them, then words that nothing asks for
    seen = [*range(33, 127), *range(161, 173), *range(174, 256)]
    tokens = [chr(o) for o in seen] + [chr(256+i) for i in range(256-len(seen))]
    tokens += [f'Ġt{i}' for i in range(v-len(tokens))]
    file.add_tokenizer_model('gpt2'); file.add_tokenizer_pre('gpt-2'); file.add_token_list(tokens)
    file.add_token_types([1]*v); file.add_token_merges(['Ġ t'])
    file.add_bos_token_id(v-1); file.add_eos_token_id(v-1)
    def add(name, *shape, quantized=True):
        x = rng.normal(0, .02, shape).astype(np.float32)
        if quantized: file.add_tensor(name, gguf.quants.quantize(x, kind), raw_dtype=kind)
        else: file.add_tensor(name, x)
    def norm(name):
        file.add_tensor(f'{name}.weight', np.ones(k, np.float32))
        file.add_tensor(f'{name}.bias', np.zeros(k, np.float32))
    add('token_embd.weight', v, k); add('position_embd.weight', max_len, k, quantized=False)
    norm('output_norm')
    for i in range(depth):
        for name in ('attn_norm','ffn_norm'): norm(f'blk.{i}.{name}')
        for name,(n_out,n_in) in dict(attn_qkv=(3*k,k), attn_output=(k,k), ffn_up=(4*k,k), ffn_down=(k,4*k)).items():
            add(f'blk.{i}.{name}.weight', n_out, n_in)
            file.add_tensor(f'blk.{i}.{name}.bias', np.zeros(n_out, np.float32))
    file.write_header_to_file(); file.write_kv_data_to_file(); file.write_tensors_to_file(); file.close()
    return path

def llama_cpp(**size):
    import xllamacpp
    folder = tempfile.TemporaryDirectory()
    params = xllamacpp.CommonParams()
    params.model.path = gguf_file(f'{folder.name}/model.gguf', **size)
    params.n_ctx,params.n_parallel,params.n_gpu_layers = max_len,1,0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = torch.get_num_threads()
    server = xllamacpp.Server(params)
    def f(ids, n, folder=folder):
        server.handle_completions(dict(prompt=ids[0].tolist(), n_predict=n, temperature=0, ignore_eos=True, cache_prompt=False))
    return {'llama.cpp, Q8_0': f}

def memory(v, k, heads, depth):
    "The time to read all weights once, for each token"
    weights = torch.randn(v*k + max_len*k + depth*(12*k*k + 13*k) + 2*k)
    def f(ids, n):
        time.sleep(n*min(timed(weights.sum) for _ in range(5)))
    return {'memory limit': f}

peers = [ours, predict, hugging_face, x_transformers, ctranslate2, ctranslate2_int8, llama_cpp, memory]
one_text = ('llama.cpp, Q8_0','ours, `predict`','ours, `generate` beside `predict`','AWD_LSTM, `predict`',
            'memory limit')

def timed(f, *args):
    start,times = time.perf_counter(),f(*args)
    return (time.perf_counter()-start)*(times if type(times) is int else 1)

def serve(peer, size, keep):
    "A peer in a process of its own: a line of JSON in, seconds out"
    if keep: keep_memory()
    warnings.simplefilter('ignore')
    torch.manual_seed(0)
    out,sys.stdout = sys.stdout,sys.stderr
    try: fs = {p.__name__:p for p in peers}[peer](**sizes[size])
    except ImportError as e: print(json.dumps(dict(missing=str(e))), file=out, flush=True); return
    print(json.dumps(list(fs)), file=out, flush=True)
    for line in sys.stdin:
        name,b,t,n = json.loads(line)
        ids = torch.randint(9, sizes[size]['v'], (b,t))
        fs[name](ids[:,:8], 12)
        print(json.dumps(timed(fs[name], ids, n)), file=out, flush=True)

class Peer:
    def __init__(self, peer, size, threads, keep):
        self.p = subprocess.Popen([sys.executable, __file__, '--peer', peer.__name__, '--size',
                                   size, '--threads', str(threads), '--keep', str(int(keep))], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = json.loads(self.p.stdout.readline() or '{"missing":"it stopped"}')
        self.names,self.missing = ([],first['missing']) if isinstance(first, dict) else (first,None)

    def __call__(self, *job):
        print(json.dumps(job), file=self.p.stdin, flush=True)
        return json.loads(self.p.stdout.readline())

def measure(runs, job, rounds, rng):
    "Seconds of each by name, an array of one for each round"
    seconds = {name: [] for name in runs}
    for i in range(rounds+1):                              # the first round warms up
        for name in rng.permutation(list(runs)):
            t = runs[name](name, *job)
            if i: seconds[name].append(t)
    return {name: np.array(o) for name,o in seconds.items()}

@call_parse
def main(
    rounds:int=9, # Rounds that are timed
    threads:int=2, # Threads for each library
    size:str='small', # 'small', or 'gpt2'
    out:str='', # A CSV file to append to
    keep:bool_arg=True, # Keep freed memory, as our learners do, for all of them?
    peer:str='', # Only for the processes that this script starts
):
    "Print tables of tokens a second"
    torch.set_num_threads(threads)
    if peer: return serve(peer, size, keep)
    all_peers,rng = [Peer(o, size, threads, keep) for o in peers],np.random.default_rng(0)
    for o,p in zip(peers, all_peers):
        if p.missing: print(f'left out: {o.__name__} ({p.missing})')
    runs = {name: p for p in all_peers for name in p.names}
    says = f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads; {", ".join(f"{n}={o:,}" for n,o in sizes[size].items())}, medians of {rounds} rounds'
    for b,n in jobs[size].items():
        seconds = measure({name: p for name,p in runs.items() if b==1 or name not in one_text},
                          (b,8,n), rounds, rng)
        rows,hf,limit = [],seconds.get('Hugging Face'),seconds.get('memory limit')
        for name,o in sorted(seconds.items(), key=lambda o: statistics.median(o[1])):
            row = {'':f'{name}, {b} text{"s"[:b>1]}',
                   'tokens a second':f'{b*n/np.median(o):,.0f}',
                   'times Hugging Face':'' if hf is None else quantiles(hf/o)}
            if limit is not None: row['of the memory limit'] = f'{np.median(limit/o):.0%}'
            rows.append(row)
        table(rows, f'{says}; {n} new tokens', out)
    names = {name: p for name,p in runs.items() if name
             in ('ours','Hugging Face','x-transformers','CTranslate2')}
    seconds = measure(names, (1,2000,1), rounds, rng)
    rows = [{'':f'{name}, 2,000 tokens read and one written', 'seconds':f'{np.median(o):.3f}',
             'times Hugging Face':quantiles(seconds['Hugging Face']/o)
             if 'Hugging Face' in seconds else ''} for name,o in sorted(seconds.items(),
        key=lambda o: statistics.median(o[1]))]
    table(rows, says, out)
