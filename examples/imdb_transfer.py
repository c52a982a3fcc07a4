"""Pretrain, then classify: a language model is trained on reviews without labels, then its encoder becomes a classifier of reviews.

    python examples/imdb_transfer.py                              # the recipe of the README: about an hour of training on two cores
    python examples/imdb_transfer.py --stage lm                   # only the language model; its encoder is in models/ afterwards
    python examples/imdb_transfer.py --stage classifier           # only the classifier, from the encoder that is there
    python examples/imdb_transfer.py --stage classifier --pretrained 0   # the same classifier from scratch, for comparison

The language model reads some of the labeled training reviews (without their labels) and of the unlabeled ones; none of `test`.
The classifier trains on the 25,000 labeled reviews, and reads `test` once, at the end.
"""
import os; os.environ.setdefault('OMP_WAIT_POLICY', 'PASSIVE')  # before PyTorch is there: its threads sleep while they wait, so that other programs slow them less
import json, random, time
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
from muon import MuonAdamW

def splitter(holdout):
    "`test` for validation; or with `holdout` the last numbers of `train`, as in `imdb.table`"
    if not holdout: return GrandparentSplitter(train_name='train', valid_name='test')
    return FuncSplitter(lambda o: int(o.stem.split('_')[0]) >= 12_500*(1-holdout))

def lm_dls(path, n, vocab_sz, bs, seq_len):
    "`n` reviews of `train` and `unsup`, sampled at random, as one stream of words; 250 more of `unsup` for validation"
    pick = lambda folders,n,seed: random.Random(seed).sample(get_text_files(path,
        folders=folders).sorted(), n)
    valid = set(pick(['unsup'], 250, 1))
    files = [o for o in pick(['train','unsup'], n+250, 0) if o not in valid][:n]
    block = DataBlock(blocks=TextBlock.from_folder(path, folders=['train','unsup'], is_lm=True,
                                                   max_vocab=vocab_sz, seq_len=seq_len),
                      get_items=lambda o: L(files) + L(sorted(valid)),
                      splitter=FuncSplitter(lambda o: o in valid))
    return block.dataloaders(path, path=path, bs=bs, seq_len=seq_len)

def classifier_dls(path, vocab, bs, holdout):
    "The labeled reviews, as ids of `vocab`"
    folders = ['train'] if holdout else ['train','test']
    block = DataBlock(blocks=(TextBlock.from_folder(path, folders=['train','unsup'], vocab=vocab,
                                                    seq_len=256), CategoryBlock),
                      get_items=lambda o: get_text_files(o, folders=folders).sorted(),
                      get_y=parent_label, splitter=splitter(holdout))
    return block.dataloaders(path, path=path, bs=bs)

def mean_max_last_pool(x, pad_mask):
    "Mean, maximum, and the last token, which has seen the whole text"
    return torch.cat([mean_max_pool(x, pad_mask), last_pool(x, pad_mask)], -1)

# the learning rate of matrices rises to .02, where that of all else rises to .003: so this recipe was tuned
Muon = partial(MuonAdamW, times=.02/.003, adjust='original')

def minutes_of(f):
    start = time.time()
    f()
    return round((time.time()-start)/60, 1)

@call_parse
def main(
    stage:str='both', # 'lm', 'classifier' or 'both'
    k:int=256, # Width of the vectors
    heads:int=4, # Number of heads
    depth:int=4, # Number of blocks
    vocab_sz:int=10_000, # Words in the vocabulary
    reviews:int=17_000, # Reviews that the language model reads, of the 25,000 of `train` and 50,000 of `unsup`, 74,750 at most
    seq_len:int=256, # Tokens in a sequence of the language model
    lm_bs:int=16, # Sequences in its batches
    lm_lr:float=3e-3, # Its highest learning rate
    max_len:int=320, # Tokens of a review that the classifier reads
    bs:int=32, # Reviews in its batches
    epochs:int=2, # Epochs of the classifier
    lr:float=1e-3, # Its highest learning rate, for the head; a tenth of it for the embedding
    word_dropout:float=0.1, # Share of the words that it drops in training
    dropout:float=0.1, # Dropout everywhere else in the classifier
    pretrained:int=1, # Load the encoder of the language model?
    causal:int=1, # Does a token of the classifier see only the tokens before it, as in the language model?
    bf16:int=1, # Compute in bfloat16 where it is safe?
    seed:int=0, # Seed of weights, order and dropout
    threads:int=2, # Threads for torch
    holdout:float=0., # Part of `train` to validate on instead of `test`
    part:float=1., # For experiments: run only this part of each epoch
):
    "Train a language model and then a classifier on IMDB, and print its accuracy on the test reviews"
    torch.set_num_threads(threads)
    set_seed(seed)
    path,cbs,result = untar_data(URLs.IMDB),[BF16Precision()] if bf16 else [],dict(seed=seed,
        threads=threads, k=k, heads=heads, depth=depth)
    if part<1: cbs = cbs + [ShortEpochCallback(pct=part, short_valid=False)]
    model = dict(k=k, heads=heads, depth=depth, pos_cls=RotaryPositions)
    dls = lm_dls(path, reviews, vocab_sz, lm_bs, seq_len)
    if stage in ('lm','both'):
        lm = transformer_lm_learner(dls, **model, max_len=max_len, dropout=0., metrics=accuracy,
                                    cbs=cbs + [GradientClip(1.)],
                                    opt_func=Muon)
        minutes = minutes_of(lambda: lm.fit_flat_cos(1, lm_lr, pct_start=.1,
                                                     cbs=SkipValidation()))
        loss,acc = lm.validate()
        lm.save_encoder('imdb')
        lm.save_transformer(lm.path/'imdb_lm')
        result.update(lm_minutes=minutes, lm_loss=round(loss, 4),
                      perplexity=round(math.exp(loss), 1), lm_accuracy=round(acc, 4),
                      reviews=reviews)
        print(json.dumps(result))
        print(lm.predict('This film is', 60, temperature=.8, top_p=.9, seed=1, no_bar=True))
    if stage in ('classifier','both'):
        dls = classifier_dls(path, dls.vocab, bs, holdout)
        attn_cls = SelfAttentionAutoRegressive if causal else SelfAttention
        learn = transformer_classifier_learner(dls, **model, max_len=max_len,
                                               pool=mean_max_last_pool, crop=head_tail_crop,
                                               attn_cls=attn_cls, dropout=dropout,
                                               word_dropout=word_dropout, metrics=accuracy,
                                               cbs=cbs)
        if pretrained: learn.load_encoder('imdb').unfreeze()
        minutes = minutes_of(lambda: learn.fit_one_cycle(epochs, slice(lr/10, lr),
                                                         cbs=SkipValidation()))
        loss,acc = learn.validate()
        # `load_transformer_learner` asks for `pool=mean_max_last_pool`
        learn.save_transformer(learn.path/'imdb_transfer')
        result.update(accuracy=round(acc, 4), loss=round(loss, 4), classifier_minutes=minutes,
                      epochs=epochs, pretrained=bool(pretrained), causal=bool(causal),
                      checked_on='part of train' if holdout else 'test')
    print(json.dumps(result))
