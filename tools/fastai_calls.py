"""What importing and using this library changes in fastai: nothing. `python tools/fastai_calls.py` compares all attributes of fastai, fastcore,
fasttransform, plum and spaCy before and after; and the numbers of a few programs of fastai in three processes: without this library, with it
imported before fastai, and after."""
import ast, builtins, importlib, multiprocessing as mp, pkgutil, plum, sys, tempfile, types, warnings
from contextlib import redirect_stderr, redirect_stdout
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
reviews = pd.DataFrame(dict(text=['a good film','a really bad film','so good so good','bad']*10, label=list('abab')*10, valid=[0,0,0,1,1]*8))
def data(cls=TextDataLoaders, **kwargs):
    return cls.from_df(reviews, text_col='text', valid_col='valid', bs=4, num_workers=0, tok_tfm=BaseTokenizer(), **kwargs)
def fitted(make, dls, config):
    "A learner after some batches from a known state"
    set_seed(3)
    learn = make(dls, AWD_LSTM, pretrained=False, config=config | dict(emb_sz=8, n_hid=8, n_layers=1), path=folder)
    learn.dls.train.rng = random.Random(3)
    learn.remove_cb(ProgressCallback)
    with learn.no_logging(): learn.fit(1, .01, cbs=ShortEpochCallback(.3))
    return learn
def classifier(dls): return fitted(text_classifier_learner, dls, awd_lstm_clas_config)
def lm(dls): return fitted(language_model_learner, dls, awd_lstm_lm_config)
def losses(learn): return [o.item() for o in learn.recorder.losses]
'''

# Programs of fastai's docs, each with the numbers and texts that are compared; in the last line `ours` is the module of our blocks, or fastai's
programs = '''
learn = classifier(data(label_col='label'))
learn.export('some.pkl')
losses(learn), learn.validate(), learn.predict('a good film')[2].tolist(), load_learner(folder/'some.pkl').get_preds(dl=learn.dls.valid)[0].tolist()

interp = ClassificationInterpretation.from_learner(classifier(data(label_col='label')))
interp.confusion_matrix().tolist(), interp.top_losses(3)[0].tolist(), interp.most_confused()

learn = lm(data(is_lm=True, seq_len=5))
losses(learn), learn.predict('a good', 5, temperature=.75, no_bar=True)

[losses(f(data(cls, **kw))) for f,kw in ((classifier, dict(label_col='label')), (lm, dict(is_lm=True, seq_len=5))) for cls in (TextDataLoaders, ours.TextDataLoaders)]
'''.strip().split('\n\n')

def value(code, names):
    "What the statements of `code` end with"
    *lines,last = ast.parse(code).body
    exec(compile(ast.Module(lines, []), 'program', 'exec'), names)
    return eval(compile(ast.Expression(last.value), 'program', 'eval'), names)

def run(when):
    "The value of each program, as text, where the library is imported `when`"
    warnings.simplefilter('ignore')
    InteractiveShell.clear_instance()   # that of a notebook, which shows tables in its own way
    vars(builtins).pop('get_ipython', 0)
    sys.path.insert(0, root)
    if when=='before': importlib.import_module('transformers_from_scratch.all')
    names = dict(tempfile=tempfile)
    exec(setting, names)
    if when=='after': importlib.import_module('transformers_from_scratch.all')
    names['ours'] = importlib.import_module('fastai.text.data' if when=='never' else 'transformers_from_scratch.text.blocks')
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()): return [str(value(o, dict(names))) for o in programs]

def _apart(f, *args, n=1):
    "`f` of each of `args`, each in a process that has not imported the library"
    copy = sys.platform=='linux' and 'transformers_from_scratch' not in sys.modules  # of this one, which may have imported fastai
    with mp.get_context('fork' if copy else 'spawn').Pool(n, maxtasksperchild=1) as pool: return pool.map(f, args, chunksize=1)

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
if find_spec('accelerate'): sys.modules['transformers_from_scratch.train.processes']._text_trainer(cpu=True)
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

def compare():
    "The values of the programs where the library is imported never, before and after"
    return _apart(run, 'never', 'before', 'after', n=2)

if __name__=='__main__':
    never,before,after = compare()
    (n,differ,gained), = _apart(walk, None)
    print('the programs give', 'the same' if never==before==after else f'OTHER RESULTS: {never}, {before}, {after}')
    print(f'{n:,} attributes: {len(differ)} differ', *differ, *(f'{o} has {k} more methods, for classes of ours' for o,k in gained.items()), sep='\n')
    sys.exit(not never==before==after or bool(differ))
