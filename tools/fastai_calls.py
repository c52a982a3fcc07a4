"""Run 100 calls of fastai without this library and with it: `python tools/fastai_calls.py`. Each line of `calls` is run in two processes.

The comment names the repairs that explain a difference. With these undone, the line must give what it gives without this library. Any
other difference is an error, and so is a named repair without one."""
import builtins, multiprocessing as mp, sys, tempfile, warnings
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

calls = '''
accuracy(tensor([[.1,.9],[.8,.2]]), tensor([1,1]))
accuracy_multi(tensor([[.1,.9],[.8,-.2]]), tensor([[0,1],[1,1]]))
top_k_accuracy(torch.eye(6), tensor([0,1,2,3,4,0]), k=2)
skm_to_fastai(skm.f1_score)(tensor([1,0,1]), tensor([1,1,1]))
CrossEntropyLossFlat()(tensor([[1.,2.]]), tensor([0]))
CrossEntropyLossFlat().decodes(tensor([[1.,2.]])), CrossEntropyLossFlat().activation(tensor([[1.,2.]]))
BCEWithLogitsLossFlat(thresh=.4)(tensor([[1.,2.]]), tensor([[0.,1.]]))
MSELossFlat()(tensor([[1.],[2.]]), tensor([1.,4.]))
SchedCos(1, 0)(tensor([0.,.5,1.])), combine_scheds([.5,.5], [SchedLin(0,1), SchedNo(1,1)])(.25)
sys.modules['fastai.basics'].init_args(3)  # fastai.basics.init_args
ColSplitter('valid')(reviews)
ColSplitter('label', on='b')(reviews)
GrandparentSplitter()([Path('train/a/1'), Path('valid/a/2')])
Categorize(['x','y'])('y'), MultiCategorize(['x','y'])(['y']), OneHotEncode(2)([1])
Categorize(['x','y'])('z')
Datasets([1,2,3], [[lambda o: o*2],[lambda o: o/2]], splits=[[0,1],[2]])[2]
[b[0].tolist() for b in TfmdDL([(i,) for i in range(5)], bs=2, drop_last=True, num_workers=0)]
DataBlock((TransformBlock,RegressionBlock), get_x=lambda o: tensor(o*1.), get_y=lambda o: o*2.).dataloaders(list(range(8)), bs=2, num_workers=0).one_batch()
DataBlock((TransformBlock,CategoryBlock), get_y=lambda o: 'ab'[o%2], splitter=IndexSplitter([0,1])).dataloaders(list(range(8)), bs=2, num_workers=0).vocab
DataBlock((TransformBlock,MultiCategoryBlock), get_y=lambda o: list('abc'[:o%4])).dataloaders(list(range(8)), bs=2, num_workers=0).vocab
tabular_dls().one_batch()
tabular().validate()
tabular().get_preds()
tabular().predict(numbers.iloc[0])
tabular().get_preds(dl=tabular_dls().test_dl(numbers[:3]))
shown(tabular().show_results)
Interpretation.from_learner(tabular()).top_losses(3)
Interpretation.from_learner(tabular())[[3,1]]
Interpretation.from_learner(tabular()).top_losses(99)
Interpretation.from_learner(tabular()).top_losses(3, items=True)[2]
ClassificationInterpretation.from_learner(tabular()).confusion_matrix()
shown(ClassificationInterpretation.from_learner(tabular()).print_classification_report)
fitted(tabular(), cbs=[GradientClip(.1), EarlyStoppingCallback()])
fitted(tabular(opt_func=SGD)), fitted(tabular(opt_func=Lamb))
CollabDataLoaders.from_df(ratings, bs=4, seed=1, num_workers=0).one_batch()
reloaded(tabular()).get_preds()[0]
fix_html('a<br />b'), replace_rep('aaaa'), replace_wrep('so so so so '), replace_maj('It'), replace_all_caps('I AM')
make_vocab(Counter('aaabbbcc'), min_freq=2)
tokens(Tokenizer(SpacyTokenizer()), "It's SO good, isn't it?")
list(SpacyTokenizer()(['so \\ud83d']))  # SpacyTokenizer.__call__
Tokenizer(lambda items: [['a b']], rules=[])('')  # Tokenizer._tokenize1
tokenize_df(reviews[:2], 'review', tok=BaseTokenizer(), n_workers=0)[0]
Numericalize(['xxunk','xxpad','a','b'])(['a','b','c'])
Numericalize(['xxunk','xxpad','a','b'])([])  # Numericalize.encodes
Pad_Chunk(seq_len=2)([(TensorText([5,6,7,8]),tensor(0)), (TensorText([9]),tensor(1))])
Pad_Chunk()([(TensorText([]).long(),)])[0][0].shape  # Pad_Chunk.before_call
[b[0].tolist() for b in SortedDL([(TensorText([1]*n),) for n in (1,3,2,3)], bs=2, num_workers=0, before_batch=pad_input)]
[[o.tolist() for o in b] for b in LMDataLoader([torch.arange(9)], bs=2, seq_len=3)]
len(LMDataLoader([torch.arange(99)], bs=9, seq_len=3).new([torch.arange(5)]))  # LMDataLoader.new
TextBlock(Tokenizer(BaseTokenizer()), vocab=['xxunk','xxpad','a']).dls_kwargs['before_batch'].pad_idx
TextBlock(Tokenizer(BaseTokenizer()), vocab=['[PAD]','a']).dls_kwargs['before_batch'].pad_idx  # TextBlock.__init__
Numericalize().min_freq==3, TextBlock.from_df('review', tok=BaseTokenizer()).type_tfms[1].min_freq==3
text().one_batch(), text().vocab
text(is_lm=True, seq_len=5).one_batch()
text(label_col='stars', y_block=RegressionBlock).one_batch()[1]
text(label_col='tags', label_delim=';', y_block=MultiCategoryBlock).vocab[1]
text(label_col='tags', label_delim=';').vocab[1]  # TextDataLoaders.from_df
text(dl_type=WeightedDL, valid_pct=0, wgts=np.ones(40)).one_batch()[0].shape
text(cls=Wide, wide=3).wide
text(text_col='stars').one_batch()[0].shape
text(text_col=['label','review']).vocab[0]
text(valid_col='truthy').valid_ds.items.index
text(df=pd.concat([reviews, reviews[['stars']]], axis=1)).one_batch()[0].shape
type(text(bs=4.)).__name__, text(bs=0), text(batch_sz=3).bs
text(bs=0)
text(seq_len='72').one_batch()
text(label_col='mood')  # TextDataLoaders.from_df
text(df=reviews[:0])
text(df=reviews.assign(label=[None]+['a']*39)).vocab[1]  # TextDataLoaders.from_df
text(df=reviews.assign(label=['a',1]*20)).vocab[1]
TextDataLoaders.from_folder(folder/'none', tok_tfm=BaseTokenizer())
from_csv('review;label\\ngood, long;a\\nbad;b\\n').vocab[1]
from_csv('review,label\\n"good; long",a\\nbad,b\\n').vocab[1]
from_csv('review\\ngood one\\nbad one\\n', is_lm=True, text_col='review').vocab  # TextDataLoaders.from_csv + TextDataLoaders.from_df + Tokenizer.setup
from_csv('')  # TextDataLoaders.from_csv
text().test_dl(['a good film','bad']).one_batch()
text().test_dl([]), text().test_dl([None]).one_batch()
text().test_dl(reviews).dataset[0]  # DataLoaders.test_dl
text().test_dl(reviews.rename(columns=dict(review='text'))).dataset[0]
tokens_of(files(['train']))  # Tokenizer.encodes(Path) + Tokenizer.setup
shown(text().show_batch)  # fastai.text.data.display_df
fitted(mean(text())), mean(text()).get_preds()
mean(text()).predict('a good film')
shown(mean(text()).show_results)  # fastai.text.learner.show_results(TensorText) + fastai.text.learner.display_df
Interpretation.from_learner(mean(text()))[[0,1]][1]  # Interpretation.__getitem__
Interpretation.from_learner(mean(text())).top_losses(4)
Interpretation.from_learner(mean(text(label_col='stars', y_block=RegressionBlock), 1)).top_losses(99)
shown(Interpretation.from_learner(mean(text(label_col='stars', y_block=RegressionBlock), 1)).plot_top_losses, 1)
shown(Interpretation.from_learner(mean(tagged())).plot_top_losses, 1)  # fastai.text.learner.display_df + Interpretation.__getitem__
ClassificationInterpretation.from_learner(mean(tagged())).confusion_matrix()  # ClassificationInterpretation.confusion_matrix
shown(ClassificationInterpretation.from_learner(mean(tagged())).print_classification_report)
fitted(language_model())
shown(language_model().show_results)  # fastai.text.learner.display_df
language_model().predict('a good', 3, no_bar=True, no_unk=False)
Interpretation.from_learner(bigrams()).top_losses(2, items=True)[2].map(len)
Interpretation.from_learner(bigrams())[[1,0]][0].shape
shown(Interpretation.from_learner(bigrams()).plot_top_losses, 2)
text_classifier_learner(text(), AWD_LSTM, pretrained=False, config=small_classifier, seq_len=8).validate()
text_classifier_learner(text(), AWD_LSTM, pretrained=False, config=small_classifier).predict('a good film')
len(text_classifier_learner(text(), AWD_LSTM, pretrained=False, config=small_classifier).opt_func(trainable).param_lists)
'''
lines = [o.partition('  # ') for o in calls.strip().splitlines()]
lines = [(code, [o.strip() for o in rows.split(' + ')] if rows else []) for code,_,rows in lines]

setting = '''
import sklearn.metrics as skm
from fastai.text.all import *
from fastai.tabular.all import *
from fastai.collab import *
folder = Path(tempfile.mkdtemp())
tokenize_df.__defaults__ = 0,*tokenize_df.__defaults__[1:]  # in this process: each table is small
reviews = pd.DataFrame(dict(review=['a good film','a really bad film','so good so good','bad']*10, label=list('abab')*10, stars=[4.,1.,5.,2.]*10,
                            tags=['x','x;y','y','x']*10, valid=[0,0,0,1,1]*8, truthy=['','yes']*20))
numbers = pd.DataFrame(dict(x=np.linspace(-1, 1, 40), y=['a','b','b','a']*10))
ratings = pd.DataFrame(dict(user=list('abcd')*5, item=list('vwxyz')*4, rating=[1.,2.,3.,4.,5.]*4))

class Wide(TextDataLoaders):
    @classmethod
    def from_dblock(cls, dblock, source, wide=1, **kwargs):
        res = super().from_dblock(dblock, source, **kwargs)
        res.wide = wide
        return res

def text(df=None, cls=TextDataLoaders, **kwargs):
    kwargs = dict(text_col='review', valid_col='valid', bs=4, num_workers=0, tok_tfm=BaseTokenizer()) | kwargs
    if not kwargs.get('is_lm'): kwargs = dict(label_col='label') | kwargs
    if 'valid_pct' in kwargs: kwargs.pop('valid_col')
    return cls.from_df(ifnone(df, reviews), **kwargs)

def tagged(): return text(label_col='tags', label_delim=';', y_block=MultiCategoryBlock)
def from_csv(s, **kwargs):
    (folder/'some.csv').write_text(s)
    return TextDataLoaders.from_csv(folder, 'some.csv', tok_tfm=BaseTokenizer(), valid_pct=.5, bs=1, seq_len=1, num_workers=0, **kwargs)

count = itertools.count()
def files(folders):
    texts = folder/f'texts{next(count)}'
    for i in range(4): (texts/('train' if i<2 else 'test')/'ab'[i%2]/f'{i}.txt').mk_write('a good film')
    return DataBlock((TextBlock.from_folder(texts, folders=folders, tok=BaseTokenizer(), n_workers=0),CategoryBlock), get_items=get_text_files,
                     get_y=parent_label, splitter=GrandparentSplitter(valid_name='test')).dataloaders(texts, bs=2, num_workers=0)

def tokens(tok, s): return list(tok(s))
def tokens_of(dls): return [o[0].tolist() for o in dls.valid_ds]
def bare(learn): return learn.remove_cb(ProgressCallback)
def tabular_dls():
    return TabularDataLoaders.from_df(numbers, y_names='y', cont_names=['x'], procs=[Normalize], valid_idx=list(range(20,40)), bs=8, num_workers=0)
def tabular(**kwargs): return bare(tabular_learner(tabular_dls(), layers=[4], metrics=accuracy, path=folder, **kwargs))
def mean(dls, n=None):
    v = len(dls.vocab[0] if is_listy(dls.vocab[0]) else dls.vocab)
    model = nn.Sequential(nn.Embedding(v, n or len(dls.vocab[1])), Lambda(lambda x: x.mean(1)))
    return bare(Learner(dls, model))
def bigrams():
    dls = text(is_lm=True, seq_len=5)
    v = len(dls.vocab)
    return bare(Learner(dls, nn.Sequential(nn.Embedding(v, 8), nn.Linear(8, v)), loss_func=CrossEntropyLossFlat()))
small = dict(awd_lstm_lm_config, emb_sz=8, n_hid=8, n_layers=1)
small_classifier = dict(awd_lstm_clas_config, emb_sz=8, n_hid=8, n_layers=1)
def language_model(): return bare(language_model_learner(text(is_lm=True, seq_len=5), AWD_LSTM, pretrained=False, config=small, metrics=Perplexity()))
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
'''

def plain(o):
    "Values that can be compared and written to a file: numbers with five digits, types by name"
    if isinstance(o, float): return f'{o:.5g}'
    if o is None or isinstance(o, (str,int)): return o
    if type(o).__name__=='DataFrame': return [list(map(str, o.columns)), plain(o.values)]
    if hasattr(o, 'requires_grad'): return [type(o).__name__, str(o.dtype), plain(o.tolist())]
    if hasattr(o, 'tolist'): return plain(o.tolist())                     # of NumPy and pandas
    if isinstance(o, dict): return [[plain(k),plain(v)] for k,v in o.items()]
    if isinstance(o, (list,tuple,map)) or type(o).__name__ in ('L','CategoryMap'): return [plain(x) for x in o]
    return str(o) if type(o).__name__=='dtype' else type(o).__name__

def result(code, names):
    "The plain value of `code`, or the name of its error"
    names['set_seed'](0)
    try:
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()): return plain(eval(code, names))
    except Exception as e: return type(e).__name__

def run(ours):
    "The result of each line; with this library also the results of those with repairs where these are undone"
    warnings.simplefilter('ignore')
    InteractiveShell.clear_instance()   # that of a notebook, which shows tables in its own way
    vars(builtins).pop('get_ipython', 0)
    names = dict(tempfile=tempfile, warnings=warnings, redirect_stdout=redirect_stdout, StringIO=StringIO)
    if ours:
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
        import transformers_from_scratch.all
    exec(setting, names)
    res = dict(given=[result(code, names) for code,_ in lines], undone={})
    if ours:
        from transformers_from_scratch.text.repairs import _table
        for code,rows in lines:
            for o in rows: _table[o].remove()
            if rows: res['undone'][code] = result(code, names)
            for o in rows: _table[o].put()
    return res

def compare():
    "`(code, without, with, repairs, right)` of each line; `right` where its repairs explain the difference"
    copy = sys.platform=='linux' and 'transformers_from_scratch' not in sys.modules  # of this process, which may have imported fastai
    with mp.get_context('fork' if copy else 'spawn').Pool(2, maxtasksperchild=1) as pool: without,ours = pool.map(run, (False,True), chunksize=1)
    for (code,rows),a,b in zip(lines, without['given'], ours['given'], strict=True):
        yield code,a,b,rows,(a!=b and ours['undone'][code]==a) if rows else a==b

if __name__=='__main__':
    seen = list(compare())
    for code,a,b,rows,right in seen:
        if a!=b or not right: print('ok ' if right else 'NOT', code[:90], str(a)[:60], str(b)[:60], *rows, sep=' | ')
    wrong = [o for o in seen if not o[-1]]
    print(f'{len(seen)} calls: {sum(a!=b for _,a,b,_,_ in seen)} differ, {len(wrong)} of them for no reason of ours')
    sys.exit(bool(wrong))
