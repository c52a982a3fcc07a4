"""BLEU on Multi30k, German to English, after minutes of training: our model, or `nn.Transformer` of the same size and recipe.

    python benchmarks/translate.py --minutes 30 --seed 0                       # our model; scores of `val`
    python benchmarks/translate.py --minutes 30 --seed 0 --test                # and of test_2016_flickr
    python benchmarks/translate.py --minutes 30 --seed 0 --test --model nn     # nn.Transformer
    python benchmarks/translate.py --minutes 14 --threads 1 --late             # and of beams that search until nothing better can come
    python benchmarks/translate.py --steps 20 --rows 500                       # does it run?

All is tuned on `val`; `test_2016_flickr` is used with `--test` alone. The learning rate follows one cycle of the time (or of the steps), so that the faster model makes more
steps of the same schedule. A minute is one of processor time on each of `--threads` cores (`time.process_time()` divided by them): other programs on the machine do not count. Validation is not counted. `nn.Transformer` has learned positions, as it has no rotary ones, dropout where our blocks have it, the same tied table, data, loss,
optimizer, averaging; for decoding its weights move into our model, which gives the same logits (that is checked). Needs ~/.fastai/data/multi30k, and the extras `subword` and `bleu`.
"""
import json, sys, time
from datetime import date
from pathlib import Path
import sacrebleu, torch
from fastcore.script import call_parse
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]
from train_step import cpu
from transformers_from_scratch.all import *
from transformers_from_scratch.nn.seq2seq import *
from transformers_from_scratch.text.pairs import *
from transformers_from_scratch.learner.seq2seq import *

data = Path.home()/'.fastai'/'data'/'multi30k'

def pairs(part):
    "A table of a part of Multi30k"
    texts = {o: (data/f'{part}.{o}').read_text(encoding='utf8') for o in ('de','en')}
    return pd.DataFrame({o: text.removesuffix('\n').split('\n') for o,text in texts.items()})  # not at U+2028 and its kin

class ByBudget(Callback):
    "One cycle of the learning rate over minutes or steps of training, and then the end"
    order = 55  # behind the recorder, before what averages weights
    def __init__(self, lr, minutes=None, steps=None, pct_start=.1):
        store_attr()
        self.sched = combined_cos(pct_start, lr/25, lr, lr/1e3)
    def before_fit(self): self.secs,self.n = 0.,0
    def before_train(self): self.at = time.process_time()
    def before_batch(self):
        if not self.training: return
        now = time.process_time()
        self.secs,self.at = self.secs + (now-self.at)/torch.get_num_threads(),now
        self.learn.pct_train = min(self.n/self.steps if self.steps else self.secs/60/self.minutes, 1)
        self.opt.set_hyper('lr', self.sched(self.learn.pct_train))
    def after_batch(self):
        if not self.training: return
        self.n += 1
        if self.n==self.steps or self.minutes and self.secs/60>=self.minutes: raise CancelFitException

class Peer(nn.Module):
    "`nn.Transformer` between one table of embeddings, learned positions, and that table again"
    def __init__(self, v, k, heads, depth, hidden_mult, dropout, max_len=256):
        super().__init__()
        self.embedding,self.positions = nn.Embedding(v, k, padding_idx=1),nn.ModuleList([nn.Embedding(max_len, k) for _ in range(2)])
        for o in (self.embedding, *self.positions): nn.init.normal_(o.weight, std=.02)
        self.dropout = nn.Dropout(dropout)
        self.body = nn.Transformer(k, heads, depth, depth, round(k*hidden_mult), dropout, batch_first=True, norm_first=True)
        for o in self.body.modules():  # dropout on the output of each layer only, as in our blocks
            if isinstance(o, nn.MultiheadAttention): o.dropout = 0.
            if isinstance(o, (nn.TransformerEncoderLayer,nn.TransformerDecoderLayer)): o.dropout.p = 0.
    def embed(self, ids, i):
        return self.dropout(self.embedding(ids) + self.positions[i].weight[:ids.shape[1]])
    def forward(self, source, ids, which=None):
        source,pad = left_align(source.as_subclass(torch.Tensor), 1)
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        x = self.body(self.embed(source, 0), self.embed(ids, 1), tgt_mask=mask, src_key_padding_mask=pad, memory_key_padding_mask=pad, tgt_is_causal=True)
        return F.linear(x if which is None else x[which], self.embedding.weight)

@torch.no_grad()
def as_ours(peer, model):
    "`model`, a `TransformerSeq2Seq` with learned positions and biases, with the weights of `peer`"
    def attn(a, b):
        for o,w,bias in zip((b.toqueries, b.tokeys, b.tovalues), a.in_proj_weight.chunk(3), a.in_proj_bias.chunk(3)): o.weight.copy_(w); o.bias.copy_(bias)
        b.unifyheads.load_state_dict(a.out_proj.state_dict())
    model[0].embedding.weight.copy_(peer.embedding.weight)
    for mine,its,pos in zip(model, (peer.body.encoder, peer.body.decoder), peer.positions):
        mine.positions.embedding.weight.copy_(pos.weight)
        mine.norm.load_state_dict(its.norm.state_dict())
        for a,b in zip(its.layers, mine.blocks):
            attn(a.self_attn, b.attention)
            both = [(a.linear1, b.ff.up), (a.linear2, b.ff.down), (a.norm1, b.norm1)]
            if hasattr(b, 'cross'):
                attn(a.multihead_attn, b.cross)
                both += [(a.norm2, b.cross_norm), (a.norm3, b.norm2)]
            else: both += [(a.norm2, b.norm2)]
            for x,y in both: y.load_state_dict(x.state_dict())
    return model

def scores(learn, df, beams, late=False):
    "Seconds, and BLEU with and without capitals, of greedy decoding and of a beam, with `late` also without its early stop"
    res,kinds = {},{'greedy':(1,True), f'beam {beams}':(beams,True)}
    if late: kinds = {f'beam {beams}, late':(beams,False)} | kinds
    for name,(n,early) in kinds.items():
        start = time.perf_counter()
        texts = learn.translate(list(df.de), beams=n, early_stop=early)
        res[name] = dict(seconds=round(time.perf_counter()-start, 1))
        for kind,lc in (('cased',False), ('lc',True)):
            m = sacrebleu.metrics.BLEU(lowercase=lc)
            res[name][kind] = round(m.corpus_score(texts, [list(df.en)]).score, 2)
            res[name][kind+' signature'] = str(m.get_signature())
    return res,texts

def report(result, out):
    "Print a line of JSON, and append it to `out`"
    print(json.dumps(result))
    if out:
        with open(out, 'a') as f: f.write(json.dumps(result)+'\n')

@call_parse
def main(
    model:str='ours', # 'ours', or 'nn': `nn.Transformer`
    minutes:float=None, # Minutes of training: of the process on `threads` cores
    steps:int=None, # Steps, instead
    seed:int=0, # Seed of weights, batches and dropout
    vocab:int=8000, # Joint subwords
    k:int=256, # Width
    heads:int=8, # Heads
    depth:int=3, # Blocks on each side
    hidden_mult:float=4, # Width of the feed-forward network, times k
    dropout:float=.3, # Dropout
    smoothing:float=.1, # Label smoothing
    bs:int=128, # Pairs of a batch; the figures of results.ipynb are of batches of 2,000 tokens
    lr:float=2e-3, # Highest learning rate
    pct_start:float=.1, # Share of the training in which it rises
    average:float=.75, # Weights are averaged from this share of the training on; 1: not
    wd:float=.01, # Weight decay
    eps:float=1e-8, # Adam's epsilon; fastai's own 1e-5 is large beside the gradients of rare words
    sqr_mom:float=.98, # How much of the mean of the squared gradients stays in a step
    bf16:bool=False, # Train in bfloat16, where it is safe?
    beams:int=4, # Beams, beside greedy
    rows:int=None, # Only so many pairs
    threads:int=2, # Threads for torch
    late:bool=False, # Also a beam search without an early stop?
    test:bool=False, # Score test_2016_flickr as well?
    out:str=None # A JSON lines file to append the result to
):
    "Train, translate, and print a line of JSON"
    args = dict(locals())
    if not (minutes or steps): raise SystemExit('how long? --minutes or --steps')
    torch.set_num_threads(threads)
    set_seed(seed)
    train,val = pairs('train')[:rows],pairs('val')[:rows]
    df = pd.concat([train.assign(is_valid=False), val.assign(is_valid=True)], ignore_index=True)
    dls = seq2seq_dataloaders(df, 'de', 'en', ExactSubwordTokenizer(vocab), valid_col='is_valid', bs=bs, num_workers=0)
    size = dict(k=k, heads=heads, depth=depth, hidden_mult=hidden_mult, dropout=dropout)
    kw = dict(loss_func=CrossEntropyLossFlat(label_smoothing=smoothing), metrics=accuracy, wd=wd,
              opt_func=partial(FusedAdamW, eps=eps, sqr_mom=sqr_mom))
    if model=='ours': learn = transformer_seq2seq_learner(dls, **size, pos_cls=RotaryPositions, max_len=None, **kw)
    else:
        peer = Peer(len(text_vocab(dls)), k, heads, depth, hidden_mult, dropout)
        learn = TransformerSeq2SeqLearner(dls, peer, splitter=trainable_params, fast_layers=False, **kw)
    if bf16: learn.to_bf16()
    cbs = [ByBudget(lr, minutes, steps, pct_start)]
    if average<1: cbs.append(AverageWeights(average))
    params = total_params(learn.model)[0]
    with learn.no_bar(): learn.fit(1000, lr, cbs=cbs)
    budget = cbs[0]
    result = dict(args, date=str(date.today()), torch=torch.__version__, cpu=cpu(), parameters=params, steps_made=budget.n,
                  epochs=round(budget.n/len(dls.train), 2), minutes_trained=round(budget.secs/60, 2))
    with learn.no_bar(): result['valid loss'],result['valid accuracy'] = learn.validate()[:2]
    if model!='ours':
        attn = dict(attn_cls=partial(SelfAttention, qkv_bias=True),
                    decoder_cls=partial(TransformerDecoder, attn_cls=partial(SelfAttentionAutoRegressive, qkv_bias=True)))
        ours = TransformerSeq2Seq(len(text_vocab(dls)), **size, max_len=256, **attn)
        as_ours(learn.model, ours).eval()
        source,target = dls.valid.one_batch()
        ids,_ = shift_right(target, target_bos_eos(dls), 1)
        with torch.no_grad(): far = (ours(source, ids)-learn.model.eval()(source, ids)).abs()[ids!=1].max().item()
        assert far<1e-3, far
        learn = TransformerSeq2SeqLearner(dls, ours)
    if bf16: learn.to_fp32()
    parts = dict(val=val) | (dict(test_2016_flickr=pairs('test_2016_flickr')) if test else {})
    for name,o in parts.items(): result[name],texts = scores(learn, o, beams, late)
    for o in list(zip(val.de, learn.translate(list(val.de[:5]), beams=beams), val.en)): print(*o, sep='\n  ')
    report(result, out)
