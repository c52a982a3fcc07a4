"""Tokens a second of translation: with caches and without, with four beams and with one, beside CTranslate2.

    .venv-bench/bin/python benchmarks/decode.py --rounds 7

All have the same initial weights, in fp32: an encoder and a decoder of `depth` blocks each, one table of embeddings, tied. Every text gets as many tokens as the others, since the end-of-text token is banned, so that all do
the same work; quoted tokens are those of the best text of each source. 'search' is what a step of four beams takes beside the model, for which a reader with random logits stands. Each library runs in
a process of its own, and all take turns in random order, round by round; quoted are medians, and of the ratios in the same round the 10 and 90 % as well. Before that it is checked whether all generate the same.
"""
import json, subprocess, sys, tempfile, time
from datetime import date
from pathlib import Path
import numpy as np, torch
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu, table
from generate import quantiles, timed

pad, start, stop = 1, 2, 3

def translator(v, k, heads, depth, max_len=256):
    from transformers_from_scratch.nn.seq2seq import TransformerSeq2Seq
    torch.manual_seed(0)
    model = TransformerSeq2Seq(v, k=k, heads=heads, depth=depth, max_len=max_len).eval()
    for p in model.parameters(): p.data += .05*torch.randn(p.shape)  # initial ones hardly differ from word to word
    return model

def ours(**size):
    from transformers_from_scratch.generate.beams import search_beams
    from transformers_from_scratch.speed.layers import use_fast_layers
    from transformers_from_scratch.generate.generate import generate
    model = use_fast_layers(translator(**size))
    def write(ids, n, **kw):
        with torch.no_grad():
            return generate(model.bind_source(ids), torch.full((len(ids),1), start), n, banned=[stop], **kw)[:,1:].tolist()
    class Random:
        def __init__(self, b): self.all = torch.randn(8, 4*b, size['v']); self.logits,self.n = self.all[0,:b],0
        def append(self, ids): self.n += 1; self.logits = self.all[self.n%8]
        def select(self, rows): pass
    reader = {}  # its random logits are made in the first round
    def search(ids, n):
        r = reader.setdefault(len(ids), Random(len(ids)))
        r.logits = r.all[0,:len(ids)]
        search_beams(r, n, beams=4)
    return {'greedy': lambda ids,n: write(ids, n, temperature=0), 'greedy, no cache': lambda ids,n: write(ids, n, temperature=0, cache=False),
            'one beam': lambda ids,n: write(ids, n, beams=1), 'four beams': lambda ids,n: write(ids, n, beams=4), 'search': search}

def ctranslate2(v, k, heads, depth):
    import ctranslate2
    from ctranslate2.specs import common_spec, transformer_spec
    model = translator(v, k, heads, depth)
    spec = transformer_spec.TransformerSpec.from_config((depth,depth), heads, pre_norm=True, activation=common_spec.Activation.RELU)
    def give(to, *layers):
        to.weight = torch.cat([o.weight.detach() for o in layers]).numpy()
        biases = [torch.zeros(len(o.weight)) if o.bias is None else o.bias.detach() for o in layers]
        to.bias = torch.cat(biases).numpy()
    def norm(to, o): to.gamma,to.beta = o.weight.detach().numpy(),o.bias.detach().numpy()
    for to,o in ((spec.encoder, model[0]), (spec.decoder, model[1])):
        embeddings = to.embeddings[0] if isinstance(to.embeddings, list) else to.embeddings
        embeddings.weight,to.scale_embeddings = o.embedding.weight.detach().numpy(),False
        to.position_encodings.encodings = o.positions.embedding.weight.detach().numpy()
        norm(to.layer_norm, o.norm)
        for layer,block in zip(to.layer, o.blocks):
            a = block.attention
            norm(layer.self_attention.layer_norm, block.norm1); norm(layer.ffn.layer_norm, block.norm2)
            give(layer.self_attention.linear[0], a.toqueries, a.tokeys, a.tovalues); give(layer.self_attention.linear[1], a.unifyheads)
            give(layer.ffn.linear_0, block.ff.up); give(layer.ffn.linear_1, block.ff.down)
            if hasattr(block, 'cross'):
                c = block.cross
                norm(layer.attention.layer_norm, block.cross_norm)
                for to_,parts in zip(layer.attention.linear, ((c.toqueries,), (c.tokeys, c.tovalues), (c.unifyheads,))): give(to_, *parts)
    spec.decoder.projection.weight = model[2].linear.weight.detach().numpy()
    words = [f't{i}' for i in range(v)]
    spec.register_source_vocabulary(words); spec.register_target_vocabulary(words)
    spec.config.bos_token,spec.config.eos_token,spec.config.unk_token,spec.config.decoder_start_token = f't{start}',f't{stop}','t0',f't{start}'
    spec.config.add_source_eos = spec.config.add_source_bos = False
    spec.validate(); spec.optimize(quantization=None)
    folder = tempfile.TemporaryDirectory()
    spec.save(folder.name)
    lib = ctranslate2.Translator(folder.name, device='cpu', intra_threads=torch.get_num_threads(), inter_threads=1, compute_type='float32')
    def write(ids, n, beams, folder=folder):
        out = lib.translate_batch([[words[i] for i in o] for o in ids.tolist()], beam_size=beams, max_decoding_length=n, min_decoding_length=n,
                                  suppress_sequences=[[words[pad]]], length_penalty=1)
        return [[int(w[1:]) for w in o.hypotheses[0]] for o in out]
    return {'CTranslate2, greedy': lambda ids,n: write(ids, n, 1), 'CTranslate2, four beams': lambda ids,n: write(ids, n, 4)}

peers = [ours, ctranslate2]

def serve(peer, size):
    "A library in a process of its own: a line of JSON in, seconds or ids out"
    out,sys.stdout = sys.stdout,sys.stderr
    try: fs = {p.__name__:p for p in peers}[peer](**size)
    except ImportError as e: print(json.dumps(dict(missing=str(e))), file=out, flush=True); return
    print(json.dumps(list(fs)), file=out, flush=True)
    for line in sys.stdin:
        name,b,t,n,answer = json.loads(line)
        ids = torch.randint(9, size['v'], (b,t), generator=torch.Generator().manual_seed(0))
        print(json.dumps(fs[name](ids, n) if answer else timed(lambda: fs[name](ids, n) and None)), file=out, flush=True)

class Peer:
    def __init__(self, peer, size, threads):
        self.p = subprocess.Popen([sys.executable, __file__, '--peer', peer.__name__, '--threads', str(threads), *(f'--{n}={o}' for n,o in size.items())],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        first = json.loads(self.p.stdout.readline() or '{"missing":"it stopped"}')
        self.names,self.missing = ([],first['missing']) if isinstance(first, dict) else (first,None)

    def __call__(self, *job):
        print(json.dumps(job), file=self.p.stdin, flush=True)
        return json.loads(self.p.stdout.readline())

@call_parse
def main(
    rounds:int=7, # Rounds that are timed
    threads:int=2, # Threads for each library
    b:int=32, # Number of texts
    t:int=20, # Tokens of each source
    n:int=64, # Tokens to generate for each
    v:int=8000, # Size of the vocabulary
    k:int=256, # Width
    heads:int=8, # Heads
    depth:int=3, # Blocks of the encoder, and of the decoder
    out:str='', # A CSV file to append to
    peer:str='', # Only for the processes that this script starts
):
    "Print a table of tokens a second"
    torch.set_num_threads(threads)
    size,rng = dict(v=v, k=k, heads=heads, depth=depth),np.random.default_rng(0)
    if peer: return serve(peer, size)
    all_peers = [Peer(o, size, threads) for o in peers]
    for o,p in zip(peers, all_peers):
        if p.missing: print(f'left out: {o.__name__} ({p.missing})')
    runs = {name: p for p in all_peers for name in p.names}
    texts = {name: f(name, b, t, n, True) for name,f in runs.items() if name!='search'}  # and all are warm
    for name,like in (('greedy, no cache','greedy'), ('one beam','greedy'), ('CTranslate2, greedy','greedy'), ('CTranslate2, four beams','four beams')):
        if name in texts: print(f'{name}: {sum(map(list.__eq__, texts[name], texts[like]))} of {b} texts are those of {like}')
    seconds = {name: [] for name in runs}
    for _ in range(rounds):
        for name in rng.permutation(list(runs)): seconds[name].append(runs[name](name, b, t, n, False))
    seconds = {name: np.array(o) for name,o in seconds.items()}
    rows = [{'': name, 'tokens a second': '' if name=='search' else f'{b*n/np.median(o):,.0f}', 'seconds': f'{np.median(o):.2f}',
             'speed, greedy is 1': quantiles(seconds['greedy']/o)} for name,o in seconds.items()]
    table(rows, f'{date.today()}, torch {torch.__version__}, {cpu()}, {threads} threads; {b} sources of {t} tokens, {n} written, {v=:,}, {k=}, {heads=}, {depth}+{depth} blocks, '
          f'medians of {rounds} rounds', out)
