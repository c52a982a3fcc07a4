"""What importing this library changes in fastai: nothing. `python tools/fastai_calls.py` runs 20 programs of fastai in three
processes each: without this library, with it imported before fastai, and after. `walk` compares all attributes of fastai, fastcore,
fasttransform, plum and spaCy before and after the import of every module of the library."""
import ast, builtins, importlib, multiprocessing as mp, pkgutil, plum, sys, tempfile, types, warnings
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

root = str(Path(__file__).resolve().parent.parent)

setting = '''
from fastai.text.all import *
folder = Path(tempfile.mkdtemp())
for f in (tokenize_df,sys.modules['fastai.text.core']._tokenize_files):  # in this process: each table is small
    f.__defaults__ = *(0 if o is defaults.cpus else o for o in f.__defaults__),
reviews = pd.DataFrame(dict(review=['a good film','a really bad film','so good so good','bad']*10, label=list('abab')*10, stars=[4.,1.,5.,2.]*10,
                            tags=['x','x;y','y','x']*10, valid=[0,0,0,1,1]*8, truthy=['','yes']*20))

def text(df=None, **kwargs):
    kwargs = dict(text_col='review', valid_col='valid', bs=4, num_workers=0, tok_tfm=BaseTokenizer()) | kwargs
    if not kwargs.get('is_lm'): kwargs = dict(label_col='label') | kwargs
    if 'valid_pct' in kwargs: kwargs.pop('valid_col')
    return TextDataLoaders.from_df(ifnone(df, reviews), **kwargs)

def tagged(): return text(label_col='tags', label_delim=';', y_block=MultiCategoryBlock)
count = itertools.count()
def bare(learn): return learn.remove_cb(ProgressCallback)
small = dict(awd_lstm_lm_config, emb_sz=8, n_hid=8, n_layers=1)
small_classifier = dict(awd_lstm_clas_config, emb_sz=8, n_hid=8, n_layers=1)
def fitted(learn, **kwargs):
    with learn.no_logging(): learn.fit(1, **kwargs)
    return learn.recorder.values
def reloaded(learn):
    learn.path = folder
    learn.export('some.pkl')
    with warnings.catch_warnings(action='ignore'): res = load_learner(folder/'some.pkl')
    res.dls = learn.dls
    return bare(res)
def shown(f, *args, **kwargs):
    with redirect_stdout(StringIO()) as s: f(*args, **kwargs)
    return s.getvalue()
def losses(make, dls, n=2, **kwargs):
    "The losses of the first batches of a learner"
    class Keep(Callback):
        def after_batch(self):
            seen.append(self.loss.item())
            if len(seen)==n: raise CancelFitException
    seen = []
    set_seed(3)
    learn = make(dls, **kwargs)
    learn.dls.train.rng = random.Random(3)
    with learn.no_logging(): learn.fit(1, .01, cbs=Keep())
    return seen
def words(**kwargs): return dict(tok=BaseTokenizer(), n_workers=0) | kwargs
def classifier(dls, **kwargs):
    return bare(text_classifier_learner(dls, AWD_LSTM, pretrained=False, config=small_classifier, path=folder, **kwargs))
def lm(dls, **kwargs): return bare(language_model_learner(dls, AWD_LSTM, pretrained=False, config=small, path=folder, **kwargs))
def reviews_in_files():
    texts = folder/f'texts{next(count)}'
    for i,o in enumerate(reviews.itertuples()): (texts/('valid' if o.valid else 'train')/o.label/f'{i}.txt').mk_write(o.review)
    return texts
'''

# What fastai's docs do, each with the result that is compared. `ours` is fastai's module of blocks, or ours.
programs = '''
# a classifier from a table: tutorial.text
dls = text()
learn = classifier(dls, metrics=accuracy)
fitted(learn), learn.validate(), learn.predict('a good film')

# a classifier from folders: tutorial.text
dls = TextDataLoaders.from_folder(reviews_in_files(), valid='valid', tok_tfm=BaseTokenizer(), bs=4, num_workers=0)
learn = classifier(dls, metrics=accuracy)
dls.vocab, fitted(learn)

# the same with a DataBlock: tutorial.text
block = DataBlock(blocks=(TextBlock.from_folder(path := reviews_in_files(), **words()), CategoryBlock), get_items=get_text_files,
                  get_y=parent_label, splitter=GrandparentSplitter(valid_name='valid'))
dls = block.dataloaders(path, path=path, bs=4, num_workers=0)
dls.one_batch(), fitted(classifier(dls))

# a language model, and what it writes: tutorial.text
learn = lm(text(is_lm=True, seq_len=5), metrics=[accuracy, Perplexity()])
fitted(learn), learn.predict('a good', 5, temperature=.75, no_bar=True)

# from the language model to a classifier: tutorial.text
first = lm(dls_lm := text(is_lm=True, seq_len=5))
fitted(first)
first.save_encoder('finetuned')
learn = classifier(text(text_vocab=dls_lm.vocab))
learn.load_encoder('finetuned')
learn.freeze_to(-2)
fitted(learn), [len(o) for o in learn.opt.param_lists]

# several labels of a text: docs of DataBlock
learn = classifier(tagged(), metrics=accuracy_multi)
fitted(learn), learn.predict('a good film')

# a table and a DataBlock: docs of TextBlock
block = DataBlock(blocks=(TextBlock.from_df('review', seq_len=72, **words()), CategoryBlock), get_x=ColReader('text'), get_y=ColReader('label'),
                  splitter=ColSplitter('valid'))
dls = block.dataloaders(reviews, bs=4, num_workers=0)
shown(block.summary, reviews)[:0], dls.vocab, [o[0].tolist() for o in dls.train_ds]

# a language model and a DataBlock: docs of TextBlock
block = DataBlock(blocks=TextBlock.from_df('review', is_lm=True, **words()), get_x=ColReader('text'), splitter=RandomSplitter(.2, seed=1))
dls = block.dataloaders(reviews, bs=2, seq_len=6, num_workers=0)
dls.one_batch(), dls.valid.one_batch(), fitted(lm(dls))

# numbers as targets
learn = classifier(text(label_col='stars', y_block=RegressionBlock), y_range=(0,6), metrics=rmse)
fitted(learn), learn.predict('a good film')

# Interpretation: docs of it
learn = classifier(text())
interp = ClassificationInterpretation.from_learner(learn)
interp.confusion_matrix(), interp.most_confused(), interp.top_losses(3), shown(interp.print_classification_report), interp[0]

# two columns of texts
dls = text(df=reviews.assign(title='on '+reviews.label), text_col=['title','review'])
dls.one_batch(), dls.vocab, fitted(classifier(dls))

# transforms by hand: tutorial of the mid-level API
tfms = [attrgetter('review'), Tokenizer(BaseTokenizer()), Numericalize(min_freq=1)]
splits = ColSplitter('valid')(reviews)
dsets = Datasets(reviews, [tfms, [attrgetter('label'), Categorize()]], splits=splits, dl_type=SortedDL)
dls = dsets.dataloaders(bs=4, before_batch=pad_input, num_workers=0)
dls.one_batch(), dsets.decode(dsets[0]), shown(dsets.show, dsets[1])

# tokenizers and a vocabulary: docs of text.core
tok = Tokenizer.from_df('review', tok=BaseTokenizer(), n_workers=0)
splits = ColSplitter('valid')(reviews)
dsets = Datasets(reviews, [[tok, attrgetter('text'), Numericalize()]], splits=splits, dl_type=LMDataLoader)
dls = dsets.dataloaders(bs=2, seq_len=7, num_workers=0)
tok.counter, tok.lengths, dls.one_batch()

# export, and another learner of the file
learn = classifier(text())
fitted(learn)
again = reloaded(learn)
[o.get_preds()[0] for o in (learn, again)], again.predict('so bad')

# save and load; test_dl with labels
learn = classifier(text())
learn.save('some')
fitted(learn)
learn.load('some')
learn.get_preds(dl=learn.dls.test_dl(reviews.rename(columns=dict(review='text')), with_labels=True))

# schedules, lr_find and callbacks
learn = classifier(text(), metrics=accuracy)
found = learn.lr_find(num_it=8, show_plot=False)
with learn.no_logging(): learn.fine_tune(1, .01, cbs=[SaveModelCallback(fname='best'), CSVLogger(folder/'log.csv')])
found, learn.recorder.values, (folder/'log.csv').read_text().split()[0]

# texts from a file
reviews.to_csv(folder/'reviews.csv', index=False)
dls = TextDataLoaders.from_csv(folder, 'reviews.csv', text_col='review', label_col='label', valid_col='valid', tok_tfm=BaseTokenizer(), bs=4, num_workers=0)
dls.one_batch(), fitted(classifier(dls)), shown(dls.show_batch, max_n=2)

# weights of classes, a loss and an optimizer of one's own
learn = classifier(text(), loss_func=CrossEntropyLossFlat(weight=tensor([1.,2.])), opt_func=partial(Adam, wd=.1), metrics=[F1Score(), RocAucBinary()])
fitted(learn, cbs=[GradientAccumulation(8), MixUp(.4)][:1]), learn.get_preds(with_loss=True)

# blocks of the library in fastai's learner: the losses of the first batches are those with fastai's blocks
kw = dict(text_col='review', label_col='label', valid_col='valid', bs=4, tok_tfm=BaseTokenizer(), num_workers=0)
ours_,theirs = losses(classifier, ours.TextDataLoaders.from_df(reviews, **kw)), losses(classifier, text())
ours_==theirs, theirs

# and for a language model
kw = dict(text_col='review', valid_col='valid', bs=4, tok_tfm=BaseTokenizer(), is_lm=True, seq_len=5, num_workers=0)
ours_,theirs = losses(lm, ours.TextDataLoaders.from_df(reviews, **kw)), losses(lm, text(is_lm=True, seq_len=5))
ours_==theirs, theirs
'''
programs = [o.strip() for o in programs.strip().split('\n\n')]

def plain(o):
    "Values that can be compared and written to a file: numbers with five digits, types by name"
    if isinstance(o, float): return f'{o:.5g}'
    if isinstance(o, str): return str(o)
    if o is None or isinstance(o, int): return o
    if type(o).__name__=='DataFrame': return [list(map(str, o.columns)), plain(o.values)]
    if hasattr(o, 'requires_grad'): return [type(o).__name__, str(o.dtype), plain(o.tolist())]
    if hasattr(o, 'tolist'): return plain(o.tolist())                     # of NumPy and pandas
    if isinstance(o, dict): return [[plain(k),plain(v)] for k,v in o.items()]
    if isinstance(o, (list,tuple,map)) or type(o).__name__ in ('L','CategoryMap'): return [plain(x) for x in o]
    return str(o) if type(o).__name__=='dtype' else type(o).__name__

def value(code, names):
    "What the statements of `code` end with"
    *lines,last = ast.parse(code).body
    exec(compile(ast.Module(lines, []), 'program', 'exec'), names)
    return eval(compile(ast.Expression(last.value), 'program', 'eval'), names)

def result(code, names):
    "The plain value of `code`, or the name of its error"
    names = dict(names)
    names['set_seed'](0)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()): return plain(value(code, names))
    except Exception as e: return f'{type(e).__name__}: {e}'.replace(str(names['folder']), 'folder')

def run(when, every=1):
    "The result of each program where the library is imported `when`"
    warnings.simplefilter('ignore')
    InteractiveShell.clear_instance()   # that of a notebook, which shows tables in its own way
    vars(builtins).pop('get_ipython', 0)
    sys.path.insert(0, root)
    if when=='before': importlib.import_module('transformers_from_scratch.all')
    names = dict(tempfile=tempfile, warnings=warnings, redirect_stdout=redirect_stdout, StringIO=StringIO)
    exec(setting, names)
    if when=='after': importlib.import_module('transformers_from_scratch.all')
    names['ours'] = importlib.import_module('fastai.text.data' if when=='never' else 'transformers_from_scratch.text.blocks')
    return [result(o, names) for o in programs[every-1::every]]

def _apart(f, *args, n=1):
    "`f` of each of `args`, each in a process that has not imported the library"
    copy = sys.platform=='linux' and 'transformers_from_scratch' not in sys.modules  # of this one, which may have imported fastai
    with mp.get_context('fork' if copy else 'spawn').Pool(n, maxtasksperchild=1) as pool: return pool.map(f, args, chunksize=1)

def compare(every=1):
    "The code, and its result where the library is imported never, before and after; `every=4`: of each fourth"
    return [*zip(programs[every-1::every], *_apart(partial(run, every=every), 'never', 'before', 'after', n=2), strict=True)]

def differs(row): return not str(row[1])==str(row[2])==str(row[3])

packages = 'fastai','fastcore','fasttransform','plum','spacy'
more = 'builtins','json','pathlib','random','numpy','pandas','torch.nn','torch.utils.data'  # where a patch would be felt, too
trial = '''
from transformers_from_scratch.all import *
folder = Path(tempfile.mkdtemp())
dls = TextDataLoaders.from_df(toy_reviews(40), text_col='text', label_col='label', valid_col='is_valid', bs=8, num_workers=0, tok_tfm=BaseTokenizer())
learn = transformer_classifier_learner(dls, k=16, heads=2, depth=1, metrics=accuracy, path=folder)
learn.remove_cb(ProgressCallback)
with learn.no_logging(): learn.fit(1)
learn.predict('a good film'), learn.show_results(max_n=2), Interpretation.from_learner(learn).top_losses(3), dls.show_batch(max_n=2)
load_transformer_learner(learn.save_transformer(folder/'some')), learn.export('some.pkl'), load_learner(folder/'some.pkl').predict('a good film')
if find_spec('accelerate'): sys.modules['transformers_from_scratch.train.processes']._text_trainer(False, cpu=True)
shutil.rmtree(folder)
'''

def import_all(package):
    "Import the modules of a package that can be imported here"
    for o in pkgutil.walk_packages(importlib.import_module(package).__path__, f'{package}.', onerror=str):
        try: importlib.import_module(o.name)
        except (Exception,SystemExit): pass

def _within(o):
    "What can be changed of a value without replacing it"
    if isinstance(o, (classmethod,staticmethod)): o = o.__func__
    if isinstance(o, plum.Function): return {f.signature.types: f.implementation for f in o.methods}
    if isinstance(o, types.FunctionType):
        more = {k: x for k,x in vars(o).items() if k not in caches}
        return dict(more, code=o.__code__, defaults=o.__defaults__, kwdefaults=str(o.__kwdefaults__))
    if isinstance(o, property): return dict(get=o.fget, set=o.fset, delete=o.fdel)
    if isinstance(o, (list,tuple,set)): return dict(enumerate(o))
    return dict(o) if type(o) is dict else {}

# what Python keeps for later, and where `delegates` notes the loader of the last data, whosever they are
caches = '__warningregistry__','_abc_impl','__builtins__','__annotations__','__slotnames__','_instances','__signature__','__delwrap__'

def _attributes(o): return {n: (x, _within(x)) for n,x in [*vars(o).items()] if n not in caches}

def state():
    "`(name, module or class, its attributes)` of these packages"
    found,todo = {},[(n, o) for n,o in sys.modules.items() if n.split('.')[0] in packages or n in more]
    while todo:
        name,o = todo.pop()
        if id(o) in found: continue
        found[id(o)] = name,o,_attributes(o)
        for n,(x,_) in found[id(o)][2].items():
            if type(x) is types.SimpleNamespace: todo.append((f'{name}.{n}', x))                             # `defaults`
            if isinstance(x, type) and str(x.__module__).split('.')[0] in (*packages,*more,'torch'): todo.append((f'{x.__module__}.{x.__qualname__}', x))
    return [*found.values()]

def _is_ours(f): return any(str(getattr(o, '__module__', '')).startswith('transformers_from_scratch') for o in f)
def _same(a, b): return a is b or type(a) is type(b) and isinstance(a, (str,int,float,tuple)) and a==b

def walk(_=None):
    "What importing and using every module of the library changes: `(number of attributes, those that differ, new methods of dispatchers)`"
    warnings.simplefilter('ignore')
    sys.path.insert(0, root)
    importlib.import_module('spacy')
    for o in packages[:3]: import_all(o)
    before = state()
    import_all('transformers_from_scratch')
    with redirect_stdout(StringIO()),redirect_stderr(StringIO()): exec(trial, globals() | dict(__name__='trial'))
    differ,gained = [],{}
    for name,o,then in before:
        now = _attributes(o)
        differ += [f'{name}.{n}' for n in then.keys()^now.keys()]
        for n in then.keys()&now.keys():
            (x,a),(y,b) = then[n],now[n]
            new = {*b}-{*a} if isinstance(y, plum.Function) else set()
            if new and all(map(_is_ours, new)): gained[y.__name__] = len(new)
            elif new: differ.append(f'{name}.{n}')
            if x is not y and not _same(x, y) or {*a}-{*b} or {*b}-{*a}-new or not all(_same(a[k], b[k]) for k in a): differ.append(f'{name}.{n}')
    return sum(len(o) for _,_,o in before),sorted({*differ}),gained

if __name__=='__main__':
    seen = compare()
    wrong = [*filter(differs, seen)]
    for o in wrong: print('NOT', *(str(x)[:200] for x in o), sep='\n    ')
    print(f'{len(programs)} programs: {len(wrong)} differ')
    (n,differ,gained), = _apart(walk, None)
    print(f'{n:,} attributes: {len(differ)} differ', *differ, *(f'{o} has {k} more methods, for classes of ours' for o,k in gained.items()), sep='\n')
    sys.exit(bool(wrong or differ))
