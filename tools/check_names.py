"""List each public name that lacks a docstring, a docment or an example, and what is not plain English; CI wants an empty list.

Public is what the pages show, as nbdev picks it (exported functions and classes, what is patched in, what `show_doc` is
asked for), and the public methods of our classes. Each parameter and each result needs its comment. An example is a visible
cell of the same page, one that the tests run, which uses the name; a class that a function with an example returns needs
none. What takes the place of a method of a class that is not ours needs a docstring only: its parameters are known.

A docstring, of private functions too, begins with a noun or a verb. The name `o` is for comprehensions and lambdas: elsewhere a
variable is a noun of what it holds; 40 such are allowed.

    python tools/check_names.py --pages _docs     # lists names and docments that are not on their page, which was rendered before"""
import ast, html, inspect, json, re, sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from typing import get_args
from fastai.callback.core import event
from fastcore.docments import docments
from fastcore.utils import nested_attr
from nbdev.doclinks import nbglob
from nbdev.frontmatter import FrontmatterProc
from nbdev.process import NBProcessor
from nbdev.processors import add_show_docs, populate_language

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'
sys.path.insert(0, str(root))
unseen = {'default_exp', 'export', 'exporti', 'exports', 'hide', 'hide_input', 'slow', 'download'}

def page(path):
    "The module that a notebook exports to, the names that its page shows, and those that its visible cells use"
    nb = NBProcessor(path, procs=[FrontmatterProc, populate_language, add_show_docs], process=True).nb
    module, shown, used = None, [], set()
    for c in nb.cells:
        if c.cell_type != 'code': continue
        d, tree = c.directives_, c.parsed_() or []
        module = d.get('default_exp', module)
        calls = [o.value for o in tree if nested_attr(o, 'value.func.id') == 'show_doc']
        shown += [ast.unparse(o.args[0]) for o in calls]
        if calls or unseen & set(d) or 'false' in [d.get(o) for o in ('eval', 'echo', 'include')]: continue
        for o in ast.walk(ast.Module(tree, [])):
            if isinstance(getattr(o, 'ctx', None), ast.Load): used |= {getattr(o, 'id', None), '.'+getattr(o, 'attr', '')}
    return module, shown, used

def is_ours(o): return (getattr(o, '__module__', None) or '').startswith(f'{lib}.')

def replaces(cls, name):
    "Whether `name` stands in for a method of another class, as which PyTorch's `forward` does not count"
    if not is_ours(cls): return True
    if hasattr(cls, 'run_valid') and hasattr(event, name): return True            # an event of a fastai callback, which the training calls
    return name != 'forward' and any(name in vars(o) for o in cls.__mro__[1:])

def is_method(v, cls):
    "Whether `v` is a method of `cls`; what another page patches in is checked there"
    f = inspect.unwrap(getattr(v, '__func__', v))
    return inspect.isroutine(f) and f.__module__ == cls.__module__

def has_result(f):
    "Whether a function returns or yields something; the functions inside it don't count"
    todo = ast.parse(dedent(inspect.getsource(inspect.unwrap(f)))).body[0].body
    while todo:
        o = todo.pop()
        if isinstance(o, (ast.Yield, ast.YieldFrom)) or isinstance(o, ast.Return) and o.value: return True
        if not isinstance(o, (ast.FunctionDef, ast.ClassDef, ast.Lambda)): todo = [*todo, *ast.iter_child_nodes(o)]
    return False

def without_docment(o):
    "Parameters without a docment, and `result` where that has none"
    dm = {} if inspect.isclass(o) and not is_ours(o.__init__) else docments(o, full=True)    # made as a class of others
    result = dm.pop('return', None)
    res = [n for n,d in dm.items() if n not in ('self', 'cls') and d.kind != d.kind.VAR_KEYWORD and not d.docment]
    if inspect.isroutine(o) and not (result and result.docment) and has_result(o): res.append('result')
    return res

def lacks(name, o, cls, used, made):
    "Gaps of the object `o`, a method of `cls` or not a method"
    if not (o.__doc__ or '').strip(): yield 'no docstring'                    # its own, not that of a parent
    short = name.rpartition('.')[-1]
    if cls and replaces(cls, short): return
    if bad := without_docment(o): yield f'no docment for {", ".join(bad)}'
    if cls and short == 'forward': return                                    # `model(x)` calls it
    if not (f'.{short}' in used if cls else {short, f'.{short}'} & used or o in made): yield 'no example'

def check(path):
    "A line for each name of a notebook that lacks something, and the number of names looked at"
    module, shown, used = page(path)
    if not module: return [], 0
    m = import_module(f'{lib}.{module}')
    res = [f'{n}: not shown on the page' for n in m.__all__ if callable(getattr(m, n)) and n not in shown]
    todo = {n: eval(n, vars(m)) for n in shown}
    todo |= {f'{n}.{k}': getattr(o, k) for n,o in todo.items() if inspect.isclass(o) and is_ours(o)
             for k,v in vars(o).items() if k[0] != '_' and is_method(v, o)}
    results = [inspect.signature(o).return_annotation for n,o in todo.items()
               if inspect.isroutine(o) and {n, '.'+n.rpartition('.')[-1]} & used]
    made = [t for o in results for t in (o, *get_args(o))]
    for n,o in todo.items():
        cls = eval(n.rpartition('.')[0] or 'None', vars(m))
        res += [f'{n}: {l}' for l in lacks(n, o, cls if inspect.isclass(cls) else None, used, made)]
    return res, len(todo)

def words(text): return ' '.join(re.findall(r'\w+', text))

def not_on(path, pages):
    "A line for each name that the contents of its page or the search lack, or whose docments are not on the page, and the number of all"
    module, shown, _ = page(path)
    if not module: return [], 0
    file = Path(path).relative_to(root/'nbs').with_suffix('.html').as_posix()
    text = (pages/file).read_text(encoding='utf-8')
    contents = re.findall(r'<a\b[^>]*>(.*?)</a>', re.search(r'<nav id="TOC".*?</nav>', text, flags=re.S)[0], flags=re.S)
    found = [o['section'] for o in json.loads((pages/'search.json').read_text(encoding='utf-8')) if o['href'].startswith(f'{file}#')]
    text, m = words(html.unescape(re.sub('<[^>]+>', ' ', text))), import_module(f'{lib}.{module}')
    notes = {n: [(p, d.docment) for p,d in docments(eval(n, vars(m)), full=True).items() if d.docment] for n in shown}
    lost = {n: [p for p,d in o if words(d.split('\n')[0]) not in text] for n,o in notes.items()}
    res = [f'{n}: its page does not show what is said of {", ".join(o)}' for n,o in lost.items() if o]
    res += [f'{n}: not in the {what}' for what, o in (('contents', contents), ('search', found)) for n in shown if n not in o]
    return res, sum(map(len, notes.values())) + 2*len(shown)

questions = r'(What|Which|Who|How|Why|Where|When|Is|Are|Does|Do|Can|Has|Have|Was|Were|The same)\b|.*\?$'

def english():
    "A line for each docstring that begins with a question or 'The same', and for each `o` outside comprehensions, if there are many"
    bound = []
    for path in sorted((root/lib).rglob('*.py')):
        nodes, short = [*ast.walk(ast.parse(path.read_text(encoding='utf-8')))], path.relative_to(root)
        for n in nodes:
            doc = isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(n)
            if doc and re.match(questions, doc): yield f'{short}: {getattr(n, "name", "the module")}: {doc[:40]!r}… is a question, or says "the same"'
        inside = [n.args for n in nodes if isinstance(n, ast.Lambda)] + [g.target for n in nodes for g in getattr(n, 'generators', ())]
        names = {n for n in nodes if isinstance(n, ast.arg) or isinstance(getattr(n, 'ctx', None), ast.Store)}
        names -= {o for n in inside for o in ast.walk(n)}
        bound += [f'{short}:{n.lineno}: `o`' for n in names if 'o' == getattr(n, 'arg', getattr(n, 'id', ''))]
    if len(bound) > 40: yield from sorted(bound)

def main():
    pages, n = sys.argv[1:], 0
    bad = [] if pages else [*english()]
    for path in sorted(nbglob(root/'nbs')):
        lines, more = not_on(path, Path(pages[1])) if pages else check(path)
        bad, n = bad + [f'{Path(path).relative_to(root)}: {l}' for l in lines], n+more
    print(*bad, f'{"Docments, and names in contents and search" if pages else "Names"}: {n} looked at, {len(bad)} gaps', sep='\n')
    sys.exit(bool(bad))

if __name__ == '__main__': main()
