"""Does a classifier learn more from masked tokens than from next tokens? Pretraining of the same minutes on IMDB, then the same fine-tuning:

    python benchmarks/masked.py --minutes 15 --seeds 3 --out masked.jsonl       # IMDB in ~/.fastai/data/imdb; some two hours
    python benchmarks/masked.py --minutes 1 --texts 2000 --labels 200 --epochs 1 --held-out 200

A minute is one of computing: the processor time of this process, of all its threads, divided by `--threads`. So another program on the same machine takes
nothing from a training, as long as the threads are really as many as there are cores. Loading its data is counted, too; validation is not.

Models of one size are pretrained on `train` and `unsup`, once with masked tokens, once from left to right, each for so many minutes; a third one is not pretrained. Then each is trained on
labeled reviews of `train`, and validated on others: of `train` (nothing is chosen on them either), or with `--test` of the test set. A line of JSON for each way and seed.
"""
import json, time, warnings
from fastcore.script import call_parse
from transformers_from_scratch.all import *

imdb = Path.home()/'.fastai'/'data'/'imdb'

def seconds():
    "Processor time of this process, for each of its threads"
    return time.process_time()/torch.get_num_threads()

class Minutes(Callback):
    "Ends training after so many minutes; learning rates follow the elapsed time, not the steps"
    order,run_valid = 5,False
    def __init__(self, minutes, lr): self.minutes,self.lr = minutes,lr
    def before_fit(self): self.start,self.tokens,self.steps = seconds(),0,0
    def before_batch(self):
        gone = (seconds()-self.start)/60/self.minutes
        if gone>=1: raise CancelFitException
        self.opt.set_hyper('lr', combined_cos(.1, self.lr/25, self.lr, self.lr/1e4)(gone))
        self.tokens += self.xb[0].numel(); self.steps += 1

def reviews(part, n, rng):
    "`n` reviews of `part` as a table of texts and labels, all if None"
    files = sorted(o for d in ('neg','pos','unsup') for o in (imdb/part/d).glob('*.txt'))
    if part=='unsup': files = sorted((imdb/part).glob('**/*.txt'))
    files = [files[i] for i in rng.permutation(len(files))[:n]]
    return pd.DataFrame(dict(text=[o.read_text(encoding='utf8') for o in files], label=[o.parent.name for o in files]))

def pretrain(make, dls, minutes, lr, folder, **size):
    "Pretrain for so many minutes, and save the encoder; returns steps, tokens and validation loss"
    learn = make(dls, path=folder, **size)
    clock = Minutes(minutes, lr)
    with learn.no_bar(), learn.no_logging(): learn.fit(10**6, lr, cbs=clock)
    learn.save_encoder('reader')
    with learn.no_bar(): loss = learn.validate()[0]
    return dict(steps=clock.steps, tokens=clock.tokens, valid_loss=round(loss, 4))

def finetune(dls, folder, epochs, lr, causal, load, **size):
    "Accuracy of a classifier that starts from the encoder, or from scratch"
    attn = dict(attn_cls=SelfAttentionAutoRegressive) if causal else {}
    learn = transformer_classifier_learner(dls, path=folder, max_len=256, crop=head_tail_crop, pool=mean_max_pool,
                                           metrics=accuracy, **attn, **size)
    if load: learn.load_encoder('reader').unfreeze()
    start = seconds()
    with learn.no_bar(), learn.no_logging(): learn.fit_one_cycle(epochs, slice(lr/10, lr) if load else lr)
    took = round(seconds()-start)
    with learn.no_bar(): return dict(accuracy=round(learn.validate()[1], 4), tuning=took)

@call_parse
def main(
    minutes:float=15, # Minutes of computing for pretraining, each way
    seeds:int=1, # Runs of each way: different texts, different weights
    first:int=0, # The first seed
    only:str=None, # One of the ways: masked, causal, nothing; None is all
    texts:int=None, # Texts for pretraining; None is all of train and unsup
    labels:int=2000, # Labeled reviews to train on
    held_out:int=5000, # Reviews to validate on
    test:bool_arg=False, # Validate on reviews of the test set, instead of others of train?
    epochs:int=6, # Epochs of fine-tuning
    lr:float=2e-3, # Learning rate of both
    mask_p:float=.15, # Share of masked tokens
    k:int=192, # Width
    depth:int=4, # Blocks
    seq_len:int=128, # Tokens in a row of pretraining
    bs:int=32, # Rows of a batch
    threads:int=2, # Threads for torch
    folder:str='/tmp/masked', # Where tokens and encoders go
    out:str='masked.jsonl', # File to append to, a line of JSON for each way and seed
):
    "Pretrain, fine-tune, validate; a line for each"
    torch.set_num_threads(threads)
    warnings.filterwarnings('ignore', message='.*positions|.*IProgress')
    size,folder = dict(k=k, heads=k//32, depth=depth),Path(folder)
    for seed in range(first, first+seeds):
        rng = np.random.default_rng(seed)
        train = reviews('train', None, rng)
        few = pd.concat([train[:labels], reviews('test', held_out, rng) if test else train[labels:labels+held_out]])
        few['is_valid'] = np.arange(len(few))>=labels
        # no pretraining on what is validated on
        read = pd.concat([train[:labels] if test else train.drop(index=train.index[labels:labels+held_out]),
                          reviews('unsup', None, rng)] if not texts else [train[:labels], reviews('unsup', texts, rng)])
        name = f'corpus_{seed}_{texts}_{labels}_{held_out}_{test}'
        dls = lm_dataloaders(read.text, folder/name, bs=bs, seq_len=seq_len, valid_pct=.02,
                             max_vocab=20_000, seed=seed, check=False)
        rated = TextDataLoaders.from_df(few, text_col='text', label_col='label', valid_col='is_valid', bs=bs,
                                        text_vocab=text_vocab(dls), num_workers=0)
        ways = dict(masked=(partial(transformer_mlm_learner, mask_p=mask_p), False), causal=(transformer_lm_learner, True),
                    nothing=(None, False))
        for way,(make,causal) in ways.items():
            if only and way!=only: continue
            set_seed(seed)
            had = pretrain(make, dls, minutes, lr, folder, **size) if make else {}
            set_seed(seed)
            # an encoder of a language model sees the past, or both sides: each is tried
            for mask in ([True, False] if causal else [False]):
                res = finetune(rated, folder, epochs, lr, mask, bool(make), **size)
                says = dict(way=way, date=time.strftime('%F'), threads=threads, causal_classifier=mask, seed=seed, minutes=minutes, labels=labels, test=test, **size,
                            mask_p=mask_p, **had, **res)
                print(says, flush=True)
                with open(out, 'a') as f: f.write(json.dumps(says)+'\n')
