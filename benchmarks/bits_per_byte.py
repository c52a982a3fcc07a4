"""A small language model on tiny Shakespeare, of characters, of pieces by byte-pair encoding, or of words: the same network, the same CPU time, in bits per byte.

    python benchmarks/bits_per_byte.py chars --seed 0
    python benchmarks/bits_per_byte.py bpe --vocab-sz 1000
    python benchmarks/bits_per_byte.py words

The last tenth of the text is for validation. Merges and vocabulary come from the rest alone. The learning rate rises over a twentieth of the time, then falls to 0; all use one thread, and CPU time is that of
the process, of training alone. The blocks are the same, and so is the number of tokens in a row; tables of tokens are as large as their vocabulary. A line of JSON is printed:
`bits_per_byte` is that of `BitsPerByte` on the validation text, whose unknown words have no bytes; `of_all_bytes` divides by all bytes of that text, as if unknown words came for nothing; `spelled` adds 4.75 bits for each of their
letters and for the end of the word, one of 27 signs that are equally likely; `lines_restored` is the share of lines of that text that come back as they were.
"""
import json, time
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *

class CPUTime(Callback):
    "Stops training after some seconds of CPU time, to which the learning rate is bound"
    order = 60
    def __init__(self, seconds, lr): store_attr()
    def before_fit(self): self.start,self.steps = time.process_time(),0
    def before_batch(self):
        if not self.training: return
        done = (time.process_time()-self.start)/self.seconds
        if done>=1: raise CancelFitException()
        self.opt.set_hyper('lr', self.lr*min(done/.05+.02, (1-done)/.95, 1))
        self.steps += 1

@call_parse
def main(
    kind:str, # 'chars', 'bpe' or 'words'
    vocab_sz:int=1000, # Pieces of 'bpe'
    seconds:int=60, # CPU time of training
    seed:int=0, # Seed of weights and order
    k:int=96, # Width of the vectors
    heads:int=3, # Number of heads
    depth:int=3, # Number of blocks
    seq_len:int=128, # Tokens in a row
    bs:int=16, # Rows in a batch
    lr:float=5e-3, # Highest learning rate
    dropout:float=0., # Dropout
):
    "Train a language model for some CPU time, and print its bits per byte"
    torch.set_num_threads(1)
    set_seed(seed)
    df = split_text((fastai_cfg().path('data')/'tinyshakespeare'/'input.txt').read_text(encoding='utf8'))
    train,valid = df.text
    tok,vocab = {'chars':CharTokenizer, 'words':WordTokenizer, 'bpe':partial(BPETokenizer, vocab_sz)}[kind](),None
    if kind=='bpe': tok.setup([train])
    if kind=='words': vocab = make_vocab(Counter(Tokenizer(tok)(train)), min_freq=3)
    dls = TextDataLoaders.from_df(df, text_col='text', valid_col='is_valid', is_lm=True, tok_tfm=tok, text_vocab=vocab,
                                  seq_len=seq_len, bs=bs, num_workers=0)
    stop = CPUTime(seconds, lr)
    lm = transformer_lm_learner(dls, k=k, heads=heads, depth=depth, dropout=dropout, metrics=BitsPerByte(), cbs=[GradientClip(1.), stop])
    with lm.no_bar(), lm.no_logging(): lm.fit(10_000, lr)
    steps = stop.steps
    with lm.no_bar(): loss,bits = lm.validate()
    targets = torch.cat([y for _,y in dls.valid], 1)
    n_tokens,unknown = targets.numel(),(targets==0).sum().item() if kind=='words' else 0
    # the share of the validation text that full rows hold
    n_bytes = len(valid.encode())*n_tokens/len(dls.valid_ds[0][0])
    total = loss*n_tokens/math.log(2)
    tokens,known = Tokenizer(tok)(valid),set(dls.vocab)
    letters = sum(len(o)+1 for o in tokens if o not in known)*n_tokens/len(tokens)
    lines = valid.splitlines()
    back = text_decoder(tok)(list(tokens)).splitlines()
    restored = sum((Counter(lines) & Counter(back)).values())/len(lines)
    print(json.dumps(dict(kind=kind, seed=seed, bits_per_byte=round(bits, 4), of_all_bytes=round(total/n_bytes, 4),
                          spelled=round((total+letters*math.log2(27))/n_bytes, 4), unknown=round(unknown/n_tokens, 4),
                          lines_restored=round(restored, 4), loss=round(loss, 4), perplexity=round(math.exp(loss), 2), vocabulary=len(dls.vocab),
                          bytes_per_token=round(n_bytes/n_tokens, 3), parameters=sum(p.numel() for p in lm.model.parameters()),
                          steps=steps, epochs=round(steps/len(dls.train), 2), seconds=seconds, lr=lr, dropout=dropout)))
