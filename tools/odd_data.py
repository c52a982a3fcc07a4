"""Data with mistakes that people make: for each kind, random tables, folders and files, each of which must be read right, or be refused with
what to do, which is then done. `python tools/odd_data.py [KIND ...]` tries 1,000; `make stress WHAT=torture` calls it, `make test` tries one of each.
Folders and corpora have theirs in `tests/text/folders` and `tests/files/corpus`."""
import io, json, os, random, re, shutil, sys, tempfile, warnings
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from common import definitions
from transformers_from_scratch.all import *

kinds,tok = {},BaseTokenizer()
def kind(f): kinds[f.__name__.replace('_', ' ')] = f; return f

class Draw(random.Random):
    "What is drawn of a random table"
    def word(self): return ''.join(self.choices('abcdefghijklmnopqrstuvwxyz', k=self.randint(2, 6)))
    def text(self): return ' '.join(self.word() for _ in range(self.randint(3, 12)))
    def names(self, n): return self.sample('text review body title label verdict stars mood topic note tags'.split(), n)
    def table(self, *labels, n=None):
        "`(table, names)` of a column of texts, and of labels"
        n,names = n or self.randint(24, 60),self.names(1+max(len(labels), 1))
        labels = labels or [self.sample(['neg','pos','so-so','new','old'], self.randint(2, 4))]
        cols = {names[0]: [f'{self.text()} {i}' for i in range(n)]}
        for name,o in zip(names[1:], labels): cols[name] = [o[i%len(o)] for i in range(n)]
        df = pd.DataFrame(cols | dict(is_valid=[i%5==0 for i in range(n)])).sample(frac=1, random_state=self.randrange(99)).reset_index(drop=True)
        # each class is in both parts
        for name in names[1:]: assert all(df[name][df.is_valid==o].nunique()==df[name].nunique() for o in (True,False)), df
        return df,names

def data(df, names, **kwargs):
    kwargs = dict(text_col=names[0], valid_col='is_valid', tok_tfm=tok, bs=8, num_workers=0) | kwargs
    if not kwargs.get('is_lm'): kwargs = dict(label_col=names[1]) | kwargs
    return TextDataLoaders.from_df(df, **kwargs)

def learner(dls, **kwargs): return transformer_classifier_learner(dls, k=8, heads=2, depth=1, **kwargs).remove_cb(ProgressCallback)

def refused(f, *says, error=ValueError):
    "The message of the error that `f` raises, which has all of `says`"
    try: f()
    except error as e:
        said = ' '.join([str(e), *getattr(e, '__notes__', [])])
        lost = [o for o in says if o not in said]
        assert not lost, f'{lost} not in: {said}'
        return said
    raise AssertionError('silent')

def quoted(said, start):
    "The call in an error that begins with `start`"
    return re.search(rf'`({re.escape(start)}[^`]*)`', said)[1]

def told(f):
    "The result of `f`, and its warnings that are ours"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter('always')
        res = f()
    return res,[str(o.message) for o in seen if str(o.message)[:5]=='`dls`']

def slip(r, name):
    "`name` with a slip of the keyboard"
    i = r.randrange(1, len(name)-1)
    return r.choice([name[:i]+name[i+1:], name[:i]+name[i]+name[i:], name[:i]+name[i+1]+name[i]+name[i+2:] if name[i]!=name[i+1] else name+'s'])

@kind
def an_unknown_keyword(r, folder):
    df,names = r.table()
    usual = 'valid_pct valid_col num_workers'.split()
    f,known = r.choice([
        (partial(TextDataLoaders.from_df, df), [*usual,*'text_col label_col label_delim y_block text_vocab tok_tfm min_freq max_vocab backwards'.split()]),
        (partial(TextDataLoaders.from_folder, folder), 'valid_pct splitter text_vocab encoding extensions min_freq max_vocab num_workers'.split()),
        (partial(TagDataLoaders.from_df, df), [*usual,*'words_col tags_col tag_vocab max_words overlap'.split()]),
        (partial(seq2seq_dataloaders, df, *names), [*usual,*'max_vocab min_freq before_batch drop_last'.split()])])
    csv = r.random()<.2
    if csv:
        df.to_csv(folder/'some.csv', index=False)
        f,known = partial(TextDataLoaders.from_csv, folder, 'some.csv'),'valid_pct label_col num_workers text_vocab'.split()
    name = r.choice(known)
    wrong = slip(r, name)
    if wrong not in known: refused(lambda: f(**{wrong: 1}), f"'{wrong}'", f'did you mean `{name}`', error=TypeError)

@kind
def keywords_of_the_block(r, folder):
    df,names = r.table()
    df[names[0]] = [o+' same'*r.randint(1, 3) for o in df[names[0]]]
    n,least = r.randint(9, 40),r.randint(1, 3)
    words = [o for o in data(df, names, max_vocab=n, min_freq=1).vocab[0] if o!='xxfake']
    assert len(words)<=n, words
    count = Counter(w for o in df[names[0]] for w in o.split())
    words = {*data(df, names, min_freq=least, rules=[]).vocab[0]}
    assert {o for o in words if o[:2]!='xx'}=={o for o,k in count.items() if k>=least and o[:2]!='xx'}
    mark = r.word()
    dls = data(df, names, rules=[lambda t: f'{mark}1 {t}'], min_freq=1)
    assert all(dls.vocab[0][x[0]]==f'{mark}1' for x,_ in dls.train_ds)
    m = r.randint(1, 3)
    class Few(Transform):
        def encodes(self, x:TensorText): return x[:m]
    assert data(df, names, item_tfms=Few()).one_batch()[0].shape[1]==m

@kind
def columns_of_0_and_1(r, folder):
    n = r.randint(2, 4)
    cols = [[0,1],[0,0,1,1],[1,1,1,0],[1,0,0]][:n]
    df,names = r.table(*cols)
    if r.random()<.3: df[names[1:]] = df[names[1:]].astype(bool)
    dls = data(df, names, label_col=names[1:])
    for ds in (dls.train_ds, dls.valid_ds):
        assert [y.tolist() for _,y in ds]==ds.tls[1].items[names[1:]].to_numpy(float).tolist()
    said = refused(lambda: learner(data(df, names, label_col=names[1:], y_block=MultiCategoryBlock)), 'columns of 0 and 1')
    again = data(df, names, label_col=names[1:], y_block=eval(quoted(said, 'y_block=')[8:]))
    learn = learner(dls)
    assert [*map(str, text_target(dls).classes)]==names[1:]==[*map(str, text_target(again).classes)]
    want = learn.predict('a b c')
    learn.path = folder
    learn.export('some.pkl')
    with warnings.catch_warnings(action='ignore'): others = load_learner(folder/'some.pkl'),load_transformer_learner(learn.save_transformer(folder/'saved'))
    for o in others:
        with o.no_bar(): got = o.predict('a b c')
        assert got[2].allclose(want[2]) and [*got[0]]==[*want[0]] and [*text_target(o.dls).classes]==names[1:], got

@kind
def gaps(r, folder):
    df,names = r.table()
    df['other'] = [r.text() for _ in df.index]
    cols = r.sample([names[0],'other',names[1]], r.randint(1, 3))
    for o in cols: df[o] = df[o].mask([i in r.sample(range(len(df)), r.randint(1, 3)) for i in df.index])
    cols = [o for o in cols if df[o].isna().any()]
    if not cols: return
    make = lambda df: data(df, names, text_col=[names[0],'other'])
    said = refused(lambda: make(df), *map(repr, cols), 'dropna')
    fixed = eval(quoted(said, 'df.dropna'))
    dls = make(fixed)
    assert len(dls.train_ds)+len(dls.valid_ds)==len(fixed)==df[[names[0],'other',names[1]]].notna().all(axis=1).sum()

@kind
def likely_mistakes(r, folder):
    df,names = r.table(n=r.randint(120, 300))
    text,label = names
    valid,train = df.index[df.is_valid],df.index[~df.is_valid]
    done = r.sample(['case','twins','blank'], r.choice([0,0,1,1,2]))
    if {'case','blank'}<={*done}: done.remove('case')   # one sentence is said of both
    says = []
    a = df[label].iloc[0]
    if 'case' in done or 'blank' in done:
        some = [o for part in (valid, train) for o in [i for i in part if df[label][i]==a][:3]]
        df.loc[some, label] = a.upper() if 'case' in done else a+' '
        says.append("`df['label'].replace(")
    if 'twins' in done:
        k = r.randint(max(10, len(valid)//20+1), len(valid)//2)
        same = train[:k]
        df.loc[valid[:k], text] = df[text][same].tolist()
        df.loc[valid[:k], label] = df[label][same].tolist()
        says.append(f'{k:,} of {len(valid):,} validation texts')
    dls = data(df, names)
    known = {*df[label][~df.is_valid]}
    if not {*df[label][df.is_valid]}<=known: return refused(lambda: learner(dls), 'labels that its classes lack')
    _,said = told(lambda: learner(dls))
    if not done: assert not said, said
    else:
        assert len(said)==1 and all(o in said[0] for o in says), (done, says, said)
        cures = re.findall(r"`(df[^`]*)`", said[0])
        for o in cures: eval(o.replace("'label'", repr(label)).replace("'text'", repr(text)))
        if 'case' in done: assert len({a,a.upper()} & {*eval(cures[0].replace("'label'", repr(label)))})==1

@kind
def a_label_of_validation_only(r, folder):
    several = r.random()<.7
    df,names = r.table(['a','a;b','b'] if several else ['a','b'])
    at = df.index[df.is_valid][r.randrange(2)]
    df.loc[at, names[1]] = 'a;new' if several else 'new'
    kwargs = dict(label_delim=';') if several else {}
    if several and r.random()<.5: kwargs['y_block'] = MultiCategoryBlock
    block = 'MultiCategoryBlock' if several else 'CategoryBlock'
    try: said = refused(lambda: learner(data(df, names, **kwargs)), "'new'", f'{block}(vocab=')
    except KeyError as e: said = str(e)
    kwargs['y_block'] = eval(quoted(said, 'y_block=')[8:].replace('[...]', "['a','b','new']"))
    learn = learner(data(df, names, **kwargs))
    assert math.isfinite(learn.validate()[0]) and [*learn.dls.vocab[1]]==['a','b','new']

@kind
def numbers_that_are_texts(r, folder):
    df,names = r.table([0,1,2])
    label = names[1]
    big = r.random()<.5
    us = big and r.random()<.3   # a comma groups digits
    group = r.choice('. ')
    def written(x): return f'{x:,.2f}' if us else f'{x:,.2f}'.replace(',', '_').replace('.', ',').replace('_', group)
    values = [r.uniform(2e3 if big else 1, 9e6 if big else 9) for _ in df.index]
    df[label] = [*map(written, values)]
    block = r.choice([None, RegressionBlock, RegressionBlock()])
    said = refused(lambda: data(df, names, y_block=block), repr(label), repr(df[label].iloc[0]), 'row 0', "decimal=','")
    df.to_csv(folder/'some.csv', index=False)
    file = folder/'some.csv'
    decimal,grouped = re.findall('`(pd.read_csv[^`]*)`', said)
    fixed = eval(grouped if us else decimal, dict(pd=pd, file=file))
    assert np.allclose(fixed[label], values, atol=.01)
    dls = data(fixed, names, y_block=RegressionBlock)
    assert np.allclose([float(y) for _,y in dls.train_ds], fixed[label][~fixed.is_valid].tolist())

@kind
def lists_in_cells(r, folder):
    df,names = r.table()
    text,label = names
    if r.random()<.5:
        kind,some = r.choice([int,str]),r.choice([list,tuple,np.array,L])
        df[text] = [some([kind(r.randrange(100)) for _ in range(r.randint(2, 8))]) for _ in df.index]
        said = refused(lambda: data(df, names), repr(text), 'holds lists', error=TypeError)
        lists = df[text].tolist()
        df[text] = eval(quoted(said, 'df['))
        dls = data(df, names, rules=[], min_freq=1, tok_tfm=eval(quoted(said, 'tok_tfm=')[8:]))
        for ds in (dls.train_ds, dls.valid_ds):
            for i,(x,_) in zip(ds.items.index, ds): assert [dls.vocab[0][j] for j in x]==[*map(str, lists[i])]
    else:
        kind = r.choice([list,np.array,L])
        df[label] = [kind([o]) if r.random()<.5 else kind([o,'more']) for o in df[label]]
        said = refused(lambda: data(df, names), repr(label), 'holds lists')
        dls = data(df, names, y_block=eval(quoted(said, 'y_block=')[8:]))
        assert text_target(dls).kind=='labels' and 'more' in dls.vocab[1]
        one = eval(quoted(said, 'df.assign'))
        assert text_target(data(one, names)).kind=='category'

@kind
def a_csv(r, folder):
    df,names = r.table()
    df[names[0]] = [f'{o}{r.choice(["", ", so", "; so", " | so", chr(9)+"so"])} {r.choice(["", "é", "语", chr(34)+"quoted"+chr(34)])}' for o in df[names[0]]]
    sep,encoding = r.choice(',;|\t'),r.choice(['utf8','utf-8-sig','utf-16','cp1252'])
    (folder/'some.csv').write_bytes(df.to_csv(index=False, sep=sep).replace('\n', r.choice(['\n','\r\n'])).encode(encoding, errors='replace'))
    read = partial(TextDataLoaders.from_csv, folder, 'some.csv', text_col=names[0], label_col=names[1], valid_col='is_valid', tok_tfm=tok, bs=8, num_workers=0)
    if encoding in ('utf-16','cp1252') and not (folder/'some.csv').read_bytes().isascii(): refused(read, 'some.csv', f"encoding='{encoding}'")
    if sep!=',': refused(partial(read, encoding=encoding))  # by us, or by pandas where a text has commas
    dls = read(encoding=encoding, delimiter=sep)
    assert len(dls.train_ds)==(~df.is_valid).sum() and {*dls.vocab[1]}=={*df[names[1]]}

@kind
def columns_of_the_users_own(r, folder):
    df,_ = r.table()
    words = [r.text().split() for _ in df.index]
    own = r.sample(['_valid','text_number','window','index','text','text_length','label'], 3)
    df = pd.DataFrame(dict(words=words, tags=[['A' if len(w)<4 else 'B' for w in o] for o in words], is_valid=df.is_valid) |
                      {o: [r.choice([0,1,'x']) for _ in words] for o in own})
    dls = TagDataLoaders.from_df(df, valid_col='is_valid', bs=4, num_workers=0, max_words=r.choice([5,128]), overlap=2)
    for ds,flag in ((dls.train_ds, False),(dls.valid_ds, True)):
        items = ds.tls[1].items
        want = df[df.is_valid==flag]
        assert {*own}<={*items} and {map_key(o) for o in items[own].to_numpy()}=={map_key(o) for o in want[own].to_numpy()}
        assert {w for o in items.words for w in o}=={w for o in want.words for w in o}
def map_key(o): return tuple(map(str, o))

@kind
def a_language_model_of_a_folder(r, folder):
    parts = {o: [r.text() for _ in range(r.randint(4, 12))] for o in ('train','valid')}
    for o,texts in parts.items():
        for i,t in enumerate(texts): (folder/'texts'/o/r.choice(['','deep/'])/f'{i}.txt').mk_write(t)
    (folder/'texts'/'test'/'1.txt').mk_write('other words')
    dls = TextDataLoaders.from_folder(folder/'texts', is_lm=True, tok_tfm=tok, rules=[], min_freq=1, bs=2, seq_len=3, num_workers=0)
    for ds,o in ((dls.train_ds,'train'),(dls.valid_ds,'valid')):
        assert sorted(' '.join(dls.vocab[i] for i in tuplify(x)[0]) for x in ds)==sorted(parts[o])
    assert math.isfinite(transformer_lm_learner(dls, k=8, heads=2, depth=1).remove_cb(ProgressCallback).validate()[0])

# characters at which `str.splitlines` splits, or which look like nothing, are a part of a text
odd_words = ['a\u2028b', 'c\x85d', 'e\x0cf', '10\xa0000', '\u3000', '\u200b', '"', '"so', "it's", ',', ';', '|', '#', '-', 'NA', 'None', '0.5', 'ü', '语', 'O', '_', '-X-']
odd_tags = 'O B-x I-x E-x S-x M-x L-x U-x B-a-b O-x o 0 _ - NN X-ray B_x x-B None nan NA 1 -100 О'.split()   # the last is Cyrillic
ends = '\n', '\r\n', '\r', '\r\r\n'

def encoded(r, text):
    "`(bytes, encoding to pass, or None for UTF-8)`"
    name = r.choice(['utf8','utf8','utf-8-sig','utf-16','utf-16-le','utf-16-be','utf-32'])
    wide = None if name.startswith('utf-8') or name=='utf8' else name
    return text.encode(name, errors='surrogatepass' if not wide else 'strict'),wide

def read_wide(f, wide, **kwargs):
    "What `f` reads; in a wide encoding it is an error that names one, which is typed in"
    if wide is None: return f(**kwargs)
    said = refused(lambda: f(**kwargs), 'pass `encoding=`')
    # UTF-16 that begins with a letter of two bytes other than 0 says no more than that it is not UTF-8
    named = re.search(r"as encoding='(utf[\w-]+)'", said)
    return f(encoding=named[1] if named else wide, **kwargs)

@kind
def lines_of_conll(r, folder):
    tabs,n_cols = r.random()<.5,r.randint(2, 5)
    w = r.randrange(n_cols-1)
    sep,odd = '\t' if tabs else ' ',[o for o in odd_words if not re.search('[ \t]', o)]
    def word(): return r.choice(odd) if r.random()<.3 else r.word()
    texts = [[(word(), r.choice(odd_tags)) for _ in range(r.randint(1, 6))] for _ in range(r.randint(2, 7))]
    if tabs: texts[0][0] = ('two words', 'O')   # and so that there is a tab
    # the first cell is no comment, and no end of a document
    def cells(word, tag): return [*(r.word() for _ in range(w)), word, *(r.word() for _ in range(n_cols-2-w)), tag]
    lines,at = [],[]   # and which of them are words
    for text in texts:
        if r.random()<.3: lines.append(r.choice(['-DOCSTART- -X- O O', '-DOCSTART-', '-DOCSTART-\tO'][:2+tabs]))
        lines += ['']*r.randint(0, 2)
        if tabs and r.random()<.3: lines.append('# sent_id = 1')
        for o in text: at.append(len(lines)); lines.append(sep.join(cells(*o)) + ' '*(r.random()<.1))
        lines += [r.choice(['', ' ', '\t'])]
    bad,end,at_words = None,r.choice(ends),dict(words=w) if w else {}
    if r.random()<.5:
        bad = r.choice(at[1:] or at)
        parts = lines[bad].rstrip(' ').split(sep)
        fault = r.choice(['no tag','a gap','one more','no first cell','a tab for nothing'][:5 if tabs else 3])
        if fault=='no tag': parts = parts[:-1]
        elif fault=='a gap' and tabs: parts[r.choice([w,-1])] = ''
        elif fault=='no first cell': parts[0] = ''
        elif fault=='a tab for nothing': parts += ['']
        else: parts.insert(w, 'more')
        whole,lines[bad] = lines[bad],sep.join(parts)
        # a cell alone in a text that begins with `#` is a comment by its form
        if tabs and lines[bad][:1]=='#' and sep not in lines[bad] or not lines[bad].strip(): lines[bad],bad = whole,None
    if end=='\r\r\n' and r.random()<.5: end = '\n'
    def write():
        data,wide = encoded(r, end.join(lines) + end*(r.random()<.7))
        (folder/'some.conll').write_bytes(data)
        return wide
    read = partial(read_conll, folder/'some.conll')
    if bad is not None:
        wide = write()
        refused(partial(read, **at_words, **({} if wide is None else dict(encoding=wide))), f'line {bad+1}:')
        lines[bad] = whole
    df = read_wide(read, write(), **at_words)
    got = [[*zip(*o)] for o in df.values.tolist()]
    assert got==texts, (got, texts)
    if r.random()<.2:   # numbered in their first lines alone, as Kaggle has it
        numbered = [f'Sentence: {i}\t{a}\t{b}' if not j else f'\t{a}\t{b}' for i,t in enumerate(texts) for j,(a,b) in enumerate(t)]
        if any(o[0]=='\t' for o in numbered):
            (folder/'some.conll').write_text('\n'.join(numbered), encoding='utf8')
            for kw in ({}, dict(words=1)): refused(partial(read, **kw), 'line ')

@kind
def lines_of_a_csv(r, folder):
    n,sep = r.randint(8, 30),r.choice(',;|\t')
    def text(i):
        words = [f'{i}'] + [r.choice(odd_words) if r.random()<.3 else r.word() for _ in range(r.randint(2, 6))]
        if r.random()<.2: words.insert(1, '\n')   # a cell of several lines
        r.shuffle(words)
        return ' '.join(words)
    df = pd.DataFrame(dict(text=[text(i) for i in range(n)], label=['p' if i%2 else 'n' for i in range(n)], is_valid=[i%4>1 for i in range(n)]))
    raw = r.random()<.3   # without quotes around cells: no cell has the delimiter, or several lines
    if raw: df.text = [' '.join(o.replace(sep, ' ').split(' ')).replace('\n', ' ') for o in df.text]
    header = r.random()<.8
    data = df.to_csv(index=False, sep=sep, header=header, **(dict(quoting=3, escapechar='\\') if raw else {}), lineterminator='\n')
    if raw: data = '\n'.join(([sep.join(df)] if header else []) + [sep.join(map(str, o)) for o in df.values]) + '\n'
    bytes_,wide = encoded(r, data.replace('\n', r.choice(ends)))
    (folder/'some.csv').write_bytes(bytes_)
    names = dict(text_col='text', label_col='label', valid_col='is_valid') if header else dict(text_col=0, label_col=1, valid_col=2, header=None)
    read = partial(TextDataLoaders.from_csv, folder, 'some.csv', **names, tok_tfm=BaseTokenizer(split_char='\0'), rules=[], min_freq=1, bs=2, num_workers=0)
    kw = {} if sep==',' else dict(delimiter=sep)
    enc = {} if wide is None else dict(encoding=wide)
    if sep!=',' and header: refused(partial(read, **enc))
    def found(dls):
        return {dls.vocab[0][x[0]].replace('▁', ' '): str(dls.vocab[1][int(y)]) for ds in (dls.train_ds, dls.valid_ds) for x,y in ds}
    want = dict(zip(df.text, df.label))
    try: dls = read_wide(partial(read, **kw), wide)
    except Exception as e:
        # a cell that begins with a quote takes lines that follow it, or pandas finds no end of it
        assert raw and any(o.startswith('"') for o in df.text), e
        dls = read(**kw, **enc, quoting=eval(quoted(str(e), 'quoting=')[8:]) if '`quoting=' in str(e) else 3)
    got = found(dls)
    # a quote at both ends of a cell, and no more, means its inside in any CSV
    if raw and got!=want: got = found(read(**kw, **enc, quoting=3)); assert len(got)==len(want)
    assert got==want, {*got.items()}^{*want.items()}

@kind
def parallel_lines(r, folder):
    n = r.randint(10, 30)
    def line(i): return ' '.join(r.choice(odd_words) if r.random()<.3 else r.word() for _ in range(r.randint(2, 6))) + r.choice([' ','\r'][:1+(i%5==0)]) + str(i)
    sides = {o: [line(i) for i in range(n)] for o in ('de','en')}
    for o,texts in sides.items():
        crlf,mark = r.random()<.3,r.random()<.3
        if crlf: texts = sides[o] = [t.replace('\r', '') for t in texts]
        text = '\n'.join(texts) + '\n'*(r.random()<.8)
        (folder/f'some.{o}').write_bytes(('\ufeff'*mark + text.replace('\n', '\r\n' if crlf else '\n')).encode('utf8'))
    scope = dict(globals(), folder=folder)
    exec(definitions('tutorials/translation', 'captions'), scope)
    df = scope['captions']('some')
    assert df.de.tolist()==sides['de'] and df.en.tolist()==sides['en'], df
    dls = seq2seq_dataloaders(df, 'de', 'en', CharTokenizer(), valid_pct=0., min_freq=1, bs=4, num_workers=0)
    def text(ids, part): return text_tokenizer(dls, part).tok.join([text_vocab(dls, part)[i] for i in ids])
    got,want = {(text(x, 0), text(y, 1)) for x,y in dls.train_ds},{*zip(sides['de'], sides['en'])}
    assert got==want, got^want

def try_one(i, names=None):
    "`(kind, error)` of the random data `i`; the error is None where they are read right, or refused"
    names = names or [*kinds]
    name = names[i%len(names)]
    set_seed(i)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try: return name,kinds[name](Draw(i), Path(folder)) and None
        except Exception as e: return name,f'{type(e).__name__}: {e}'[:600]

def right_data():
    "Warnings of ours for data sets that are as they are, where these are here: none"
    files = [fastai_path('data')/o for o in ('imdb_sample/texts.csv','trec/train.csv')]
    return [told(lambda: learner(TextDataLoaders.from_csv(o.parent, o.name, text_col='text', label_col='label', seed=seed, tok_tfm=tok)))[1]
            for o in files if o.exists() for seed in range(3)]

def main(n=1000, names=None):
    "Try `n` random data: how many of each kind, and the errors"
    with get_context('fork' if sys.platform=='linux' else 'spawn').Pool(2) as pool: seen = pool.starmap(try_one, [(i, names) for i in range(n)], chunksize=20)
    return Counter(o for o,_ in seen),[(i,*o) for i,o in enumerate(seen) if o[1]]

if __name__=='__main__':
    count,lost = main(names=sys.argv[1:])
    for o in lost[:40]: print(*o)
    print(*(f'{k:>5} {o}: {sum(x[1]==o for x in lost)} lost' for o,k in count.items()), sep='\n')
    sys.exit(bool(lost))
