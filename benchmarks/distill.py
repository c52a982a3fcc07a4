"""A slow model (MiniLM, `fit_contrastive` on a hundred labels) teaches small ones on texts without labels: accuracy, and milliseconds a text.

    python benchmarks/distill.py FOLDER --data trec --seeds 3 --sizes 500,1000,2000
    python benchmarks/distill.py FOLDER --data mr --seeds 2
    python benchmarks/distill.py FOLDER --data imdb --seeds 1 --blocks 1
    python benchmarks/distill.py FOLDER --data trec --times

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it). The texts without labels are all that `few_labels.split` does not hold out, and 5,000 reviews of IMDB; their labels are not read.
One line of JSON for each model: its accuracy on the held-out texts, how often it agrees with the teacher there, and seconds of the processor for its training.
With `--times` the milliseconds of its forward, on one thread, ids being made before it: of a text alone, and of each of 32 texts of like lengths, as `get_preds` batches them.
All settings were chosen on seed 10 of TREC.
"""
import gc, json, sys, time, warnings
from datetime import date
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
sys.path.insert(0, str(Path(__file__).parent))
from bag import Words
from few_labels import data as folder, held_out, reviews, split
from train_step import cpu
from transformers_from_scratch.all import *

def data_of(df, label_col, tok, vocab=None, bs=32, **kwargs):
    return TextDataLoaders.from_df(df, text_col='text', label_col=label_col, valid_col='is_valid', bs=bs, val_bs=32,
                                   tok_tfm=tok, text_vocab=vocab, num_workers=0, **kwargs)

def right(preds, targs): return (preds.argmax(1)==targs.argmax(1)).float().mean()

def cut(model, depth):
    "The embeddings of `model`, its first blocks, and its head"
    model = deepcopy(model)
    model[0].blocks = model[0].blocks[:depth]
    return model

def fit(learn, epochs, lr):
    learn.unfreeze()  # what `fit_contrastive` left is frozen
    with learn.no_logging(): learn.fit_one_cycle(epochs, lr, cbs=SkipValidation())
    return learn

def contrastive(learn):
    with learn.no_logging(): return learn.fit_contrastive()

def milliseconds(learners, rounds=5):
    "Of a text alone (median), and of each of 32 in a batch; the models take turns, and the best round of each text counts"
    inputs = []
    for learn in learners:
        batches = [b[0].as_subclass(Tensor) for b in learn.dls.valid][:-1]
        rows = [r[r!=pad_id(learn.dls)][None] for x in batches for r in x][::8]
        inputs.append((rows, batches))
    def took(model, x):
        start = time.perf_counter(); model(x)
        return 1000*(time.perf_counter()-start)
    best = [[np.full(len(o), np.inf) for o in both] for both in inputs]
    for _,(learn,both,times) in itertools.product(range(rounds), zip(learners, inputs, best)):
        with torch.no_grad(), in_eval(learn.model):
            for xs,t in zip(both, times): np.minimum(t, [took(learn.model, x) for x in xs], out=t)
    return [dict(ms_one=round(float(np.median(one)), 3), ms_of_32=round(float(many.mean())/32, 3)) for one,many in best]

def all_models(pre, data, labels, seed, blocks, sizes, fit=fit, contrastive=contrastive):
    "Name and function that makes and trains it, of each model; the first is the teacher"
    train,test = split(data, labels, seed)
    rest = reviews('train', 5000, 42) if data=='imdb' else held_out(pd.read_csv(folder/data/'train.csv'))[0]
    rest = rest.text[~rest.text.isin(test.text)]
    few = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)], ignore_index=True)
    pieces,kw = dict(tok=pre.tokenizer, vocab=pre.vocab),dict(metrics=accuracy)
    few_dls = data_of(few, 'label', **pieces)
    def loaded(dls): return transformer_classifier_learner(dls, pretrained=pre, max_len=128, **kw)
    teacher = loaded(few_dls)
    yield 'teacher',lambda: contrastive(teacher)
    # what it says of texts without labels; the held-out ones have theirs
    classes = list(few_dls.vocab[1])
    taught = pd.DataFrame(dict(text=[*train.text, *rest])).drop_duplicates().assign(is_valid=False)
    taught[classes] = teacher.get_preds(dl=few_dls.test_dl(taught.text.tolist(), bs=32))[0].numpy()
    exact = test.assign(is_valid=True, **{o: (test.label==o).astype(float) for o in classes})
    soft = pd.concat([taught, exact], ignore_index=True)
    hard = soft.assign(label=soft[classes].idxmax(axis=1))
    columns = dict(label_col=classes, y_block=RegressionBlock(n_out=len(classes)))
    by_soft,by_hard = dict(loss_func=nn.CrossEntropyLoss(), metrics=right),kw
    soft_dls,hard_dls = data_of(soft, **columns, **pieces),data_of(hard, 'label', **pieces)
    def first_blocks(n): return TransformerLearner(few_dls, cut(loaded(few_dls).model, n).requires_grad_(True), **kw)
    def student(dls, n, how): return fit(TransformerLearner(dls, cut(teacher.model, n), **how), 3, 1e-3)
    for n in blocks:
        yield f'{n} of its blocks, labels alone',lambda: contrastive(first_blocks(n))
        yield f'{n} of its blocks, soft',lambda: student(soft_dls, n, by_soft)
        yield f'{n} of its blocks, hard',lambda: student(hard_dls, n, by_hard)
    for size in sizes:  # as many steps
        some = pd.concat([taught.sample(size, random_state=seed), exact], ignore_index=True)
        dls = data_of(some, **columns, **pieces)
        yield f'1 of its blocks, soft, {size} texts',lambda: fit(
            TransformerLearner(dls, cut(teacher.model, 1), **by_soft), round(3*len(taught)/size), 1e-3)
    hard_words = data_of(hard, 'label', Words(), min_freq=2)
    soft_words = data_of(soft, **columns, tok=Words(), vocab=text_vocab(hard_words))
    few_words = data_of(few, 'label', Words(), text_vocab(hard_words), bs=8)
    small = dict(k=128, heads=4, depth=1, max_len=128)
    def new(dls, epochs, how): return fit(transformer_classifier_learner(dls, **how, **small), epochs, 2e-3)
    yield 'a new block, labels alone',lambda: new(few_words, 20, kw)
    yield 'a new block, soft',lambda: new(soft_words, 10, by_soft)
    yield 'a new block, hard',lambda: new(hard_words, 10, by_hard)
    def bag(dls): return bag_learner(dls, scale=.05, **kw)
    def soft_bag():
        model = bag(hard_words).model.count(soft_words.train.new(shuffle=False, drop_last=False))
        return fit(BagLearner(soft_words, model, **by_soft), 5, 5e-3)
    few_alone = data_of(few, 'label', Words(), bs=8, min_freq=1)
    yield 'bag, labels alone',lambda: fit(bag(few_alone), 5, 5e-3)
    yield 'bag, soft',soft_bag
    yield 'bag, hard',lambda: fit(bag(hard_words), 5, 5e-3)

@call_parse
def main(
    model:str, # Folder of the checkpoint
    data:str='trec', # 'trec', 'mr' or 'imdb'
    labels:int=100, # Texts with labels
    seeds:int=3, # Number of draws of these
    first:int=0, # The first of them
    blocks:str='1,2', # How many of the teacher's blocks a student has, with commas
    sizes:str='', # Numbers of texts to teach one block with, with commas
    times:bool=False, # Measure the milliseconds, of models that have not learned?
):
    "Print a line of JSON for each model"
    torch.set_num_threads(1)
    warnings.filterwarnings('ignore')
    defaults.callbacks = [o for o in defaults.callbacks if o is not ProgressCallback]
    pre = load_pretrained(model)
    blocks,sizes = ([int(o) for o in part.split(',') if o] for part in (blocks, sizes))
    if times:
        fits = dict(fit=lambda learn, *_: learn, contrastive=lambda learn: learn.fit_head())
        made = {name: make() for name,make in all_models(pre, data, labels, first, blocks, [], **fits)}
        for name,o in zip(made, milliseconds(made.values())): print(json.dumps(dict(data=data, model=name, **o)), flush=True)
        seeds = 0
    for seed in range(first, first+seeds):
        said = None
        for name,make in all_models(pre, data, labels, seed, blocks, sizes):
            set_seed(seed); gc.collect()
            start = time.process_time()
            learn = make()
            seconds = time.process_time()-start
            preds,y = learn.get_preds()
            answer,y = preds.argmax(1),y.argmax(1) if y.dim()>1 else y
            if said is None: said = answer
            agree = {n: round((answer==o).float().mean().item(), 4) for n,o in dict(accuracy=y, agrees=said).items()}
            print(json.dumps(dict(data=data, seed=seed, model=name, **agree, train_cpu_s=round(seconds, 1),
                                  texts=len(learn.dls.train_ds), weights=sum(p.numel() for p in learn.model.parameters()))), flush=True)
    print(json.dumps(dict(cpu=cpu(), torch=torch.__version__, date=str(date.today()))))
