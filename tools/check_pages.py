"""Read the pages for faults that a reader meets and no test does; each function below looks for one kind.

    python tools/check_pages.py         # all kinds, in some seconds; `make lint` does so

Two tables belong to it, and are edited by hand:

- `nbs/data/figures.csv` has the figures of README's results. `where` names each page that quotes a figure and words of the line in
  which it stands, as in `index: The same, 8 labels; results: | ours |`. After a new measurement change the value here, run
  this, and go where it says. Each number in the tables of `nbs/index.ipynb` needs a row; units and the page's bold are left out.
- `nbs/data/threads.csv` has the issues and pull requests that pages cite. `checked` is when somebody read the thread; empty: nobody."""
import ast, csv, re, sys
from posixpath import dirname, join, normpath
from fastcore.nbio import mk_cell, new_nb
from nbdev.process import NBProcessor
import docs_llms
from common import is_hidden, root

# words in capitals that are no placeholders
names = set('''ALBERT BART BERT BFGS BIOES BLEU CLIP CONTRIBUTING CUDA ELECTRA EPYC ERNIE FAISS FBGEMM FLAN FSDP FSMT GEGLU GELU GGUF GLUE GPTQ HNSW HTML HTTP HTTPS
               IMDB JSON LSTM MNLI NCCL NLTK NVIDIA ONNX OPUS PEFT REST RLHF RWKV TREC VNNI WNUT YAML'''.split())
# functions that show nothing and return nothing, beside those of a page
quiet = r'(test|check|fit|fine_tune|save|remove)_?\w*|to_csv|update|reset|backward|close|rmtree|shuffle'

def cells(pages, kind):
    "`(page, cell)` for the cells of that kind"
    return ((n, c) for n, cs in pages.items() for c in cs if c.cell_type == kind)

def prose(s):
    "Markdown without code, formulas, HTML and addresses"
    return re.sub(r'```.*?```|~~~.*?~~~|`[^`]*`|\$\$.*?\$\$|\$[^$\n]*\$|</?[a-zA-Z!][^>]*>|(?<=\])\([^)\s]*\)|https?://\S+', ' ', s, flags=re.S)

def placeholders(pages):
    "Words in capitals, as `TODO` or `TEXTS1000`, that stand for what is to be filled in"
    for n, c in cells(pages, 'markdown'):
        for w in re.findall(r'\b(?:[A-Z]{4,}[0-9A-Z]*|TBD|XXX)\b', prose(c.source)):
            if w not in names: yield n, c, f'{w} looks like a placeholder: fill it in, or add a name to `names` of tools/check_pages.py'

def exercises(pages):
    "Exercises without heading, number, place to write, check or solution"
    for n, cs in pages.items():
        here, found = False, []                             # in that section, and `(cell, number, codes)` of each exercise
        for c in cs:
            if c.cell_type == 'markdown':
                for head in (heads := [*re.finditer('^##? (.+)', c.source, re.M)]): here = re.match(r'Exercises?$|Exercise \d+: ', head[1])
                title = re.search(r'^## Exercise (\d+): ', c.source, re.M) or re.search(r'^(?:\*\*|### )?(\d+)\. |^### |^\*\*[A-Z]', c.source[heads[-1].end() if heads else 0:], re.M)
                if here and title: found.append((c, title[1], []))
            elif here and found: found[-1][2].append(c)
            elif '# your turn' in c.source or c.directives_.get('code-summary', '') == '"Solution"':
                yield n, c, 'this belongs to an exercise, under a heading `## Exercises`'
        for i, (c, number, codes) in enumerate(found, 1):
            if number != str(i) and (number or len(found) > 1):
                yield n, c, f'exercise {number or "without a number"}: it is number {i} of this page, so begin with `**{i}. `'
            lacks = [what for what, has in dict(place=lambda o: '...' in o.source and 'check_' not in o.source, check=lambda o: 'def check_' in o.source,
                     solution=lambda o: o.directives_.get('code-summary') == '"Solution"').items() if not any(map(has, codes))]
            if lacks: yield n, c, f'exercise {i} lacks its {", its ".join(lacks)}: a cell with `...`, one with `def check_...`, and a folded "Solution"'

def runs(body):
    "The expressions that run in `body`, where there is what an `if` asks for; none where an error is expected or the output is caught"
    for o in body:
        if isinstance(o, ast.Expr): yield o.value
        elif isinstance(o, ast.With) and re.search('Exception|redirect', ' '.join(map(ast.unparse, o.items))): continue
        elif isinstance(o, (ast.If, ast.For, ast.With)): yield from runs(o.body)

def shows(o, known):
    "Whether the expression `o` is a call that prints or draws; `known`: which functions of the page do so"
    called = isinstance(o, ast.Call) and ast.unparse(o.func)
    if called == 'print': return not any(k.arg == 'file' for k in o.keywords) and "'skipped" not in ast.unparse(o)[:20]
    return called == 'display' or called and known.get(called) == 'shows'

def silent(pages):
    "Visible cells that print, or end with an expression, and have no saved output"
    for n, cs in pages.items():
        known = {}                                          # functions of the page: 'shows', 'returns' or 'nothing'
        for c in cs:
            tree = c.cell_type == 'code' and c.parsed_()
            if not tree: continue
            for f in (o for o in tree if isinstance(o, ast.FunctionDef)):
                returns = any(isinstance(o, ast.Return) and o.value for o in ast.walk(f))
                known[f.name] = 'shows' if any(shows(o, known) for o in runs(f.body)) else 'returns' if returns else 'nothing'
            d, last = c.directives_, tree[-1]
            if c.outputs or is_hidden(c) or 'exports' in d or 'hide_output' in d or d.get('eval') == 'false': continue
            name = isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and ast.unparse(last.value.func)
            void = known.get(name) == 'nothing' or re.fullmatch(quiet, str(name).split('.')[-1]) or is_muted(c, last)
            if any(shows(o, known) for o in runs(tree)) or isinstance(last, ast.Expr) and not void:
                yield n, c, 'nothing is saved of what this cell shows: run it, end it with `;`, or add what returns nothing to `quiet` of tools/check_pages.py'

def is_muted(c, last):
    "Whether a `;` stands after the last expression of a cell"
    return c.source.split('\n')[last.end_lineno-1].encode()[last.end_col_offset:].lstrip().startswith(b';')

def neighbors(pages):
    "Sentences that name the previous or next page without a link to what is the neighbor in the sidebar"
    order = [*pages]
    for n, c in cells(pages, 'markdown'):
        for o in re.split(r'(?<=[.!?:;])\)?\s+(?=\S)|\n\n', c.source):
            for m in re.finditer(r'\b(?:(previous|last|next) (?:page|chapter|tutorial|notebook)s?|page (before|after))\b', o):
                i = order.index(n) + (1 if 'next' in m[0] or 'after' in m[0] else -1)
                wanted = order[i] if 0 <= i < len(order) else 'none'
                links = [normpath(join(dirname(n), l)) for l in re.findall(r'\]\(([^)#\s]+)', o)]
                if wanted not in links: yield n, c, f'"{m[0]}" is {wanted} in the sidebar: link to it in the same sentence, or name the page that you mean'

def rows(name):
    with open(root/'nbs/data'/name, encoding='utf-8', newline='') as f: return [*csv.DictReader(f)]

number = r'(?<![\w.,-])\d[\d,.]*\d(?!\d)|(?<![\w.,-])\d(?![\d.,]*\d)'

def figures(pages, table=None):
    "Figures that are not on a page where `figures.csv` says, and numbers in the tables of README that it lacks"
    table, lines = table or rows('figures.csv'), [(n.removesuffix('.ipynb'), c, l) for n, c in cells(pages, 'markdown') for l in c.source.split('\n')]
    at = {}                                                 # the numbers that a row has for a line
    for row in table:
        for place in row['where'].split('; '):
            page, _, words = place.partition(': ')
            found = [l for n, _, l in lines if n == page and words in l]
            for l in found: at.setdefault(l, set()).update(re.findall(number, row['value']))
            right = any(re.search(rf'(?<![\w.,-]){re.escape(row["value"])}(?!\w|[.,]\d)', l.replace('*', '')) for l in found)
            if not right: yield page, None, f'{row["what"]} is {row["value"]} in figures.csv, but in no line of the page that has the words "{words}"'
    for n, c, l in lines:
        if n == 'index' and re.match(r'\|(?!-)', l):
            for v in re.findall(number, prose(l.partition(' | ')[2])):
                if v not in at.get(l, ()): yield n, c, f'{v} is in no row of figures.csv for this line: {l[:40]}'

def threads(pages, table=None):
    "Issues and pull requests that `threads.csv` lacks or calls otherwise, and rows that no page cites"
    table, cited = table or rows('threads.csv'), set()
    for n, c in ((n, c) for n, cs in pages.items() for c in cs):
        links = [(r, 'issue' if k == 'issues' else 'pull request', i) for r, k, i in re.findall(r'github\.com/([\w.-]+/[\w.-]+)/(issues|pull)/(\d+)', c.source)]
        words = [('', k.lower(), i) for k, more in re.findall(r'\b([Ii]ssue|[Pp]ull request)s?((?:(?:,| and|, and)? #?\d+\b)+)', c.source) for i in re.findall(r'\d+', more)]
        for repo, kind, i in links+words:
            found = [o for o in table if o['number'] == i and repo in ('', o['repo'])]
            cited.update(o['repo']+i for o in found)
            if not found: yield n, c, f'{kind} {repo} {i} is in no row of threads.csv: read the thread, and add it'
            elif not any(o['kind'] == kind for o in found): yield n, c, f'{i} of {found[0]["repo"]} is cited as {kind}, and threads.csv has {found[0]["kind"]}'
    yield from (('threads.csv', None, f'no page cites {o["repo"]} {o["number"]}: remove its row') for o in table if o['repo']+o['number'] not in cited)

def stale(pages):
    "Code or saved outputs with a link to a module that is not there: an older version gave them"
    for n, c in cells(pages, 'code'):
        for o in set(re.findall(r'blob/main/(transformers_from_scratch/\w+/\w+\.py)', f'{c.source} {c.get("outputs")}')):
            if not (root/o).exists(): yield n, c, f'there is no {o}: run the page anew'

# of each check what it finds, and what it doesn't: Markdown, and code after `>`
task = ['## Exercises\n\n**1. A.** Write', '>def my_f(): ...', '>def check_f(f): pass', '>#| code-summary: "Solution"\ncheck_f(1)']
row = dict(what='a', value='8.5', where='index: | us')
thread = dict(repo='a/b', number='7', kind='pull request')
samples = [
    (placeholders, ['with 1,000 TEXTS1000'], ['BERT, `TODO`, [x](http://a/LONG) and $SOME$']),
    (placeholders, ['| MR | TBD |'], ['>TODO = 1']),
    (exercises, [task[0].replace('1', '2'), *task[1:]], task),
    (exercises, task[:2], [task[0].replace('**1. A.**', '**A.**'), *task[1:]]),
    (exercises, ['## Exercise 2: a', *task[1:]], ['## Exercise 1: a', *task[1:]]),
    (exercises, ['## Other', *task[1:]], [*task, '**2. B.** Write', *task[1:]]),
    (silent, ['>x = 1\nx.shape'], ['>x = 1\nx.shape;  # why', '>test_eq(1, 1)', '>#| hide\nx']),
    (silent, ['>def note(a): print(a)', '>if there:\n    note(1)'], ['>def note(a): return a', '>x = note(1)', '>if not there: print("skipped: a")']),
    (silent, ['>def f(a): return a\nf(1)'], ['>def f(a): x[a] = 1\nf(1)', '>#| eval: false\nf']),
    (neighbors, ['See the next page.'], ['See the [next page](b.ipynb#x).']),
    (neighbors, ['See the [next page](c.ipynb).'], ['That is [B](b.ipynb), the next page. Another: [C](c.ipynb).']),
    (stale, ['># blob/main/transformers_from_scratch/nn/gone.py'], ['># blob/main/transformers_from_scratch/nn/blocks.py']),
    (lambda p: figures(p, [row]), ['| us | **8.4** |'], ['| us | **8.5** % |']),
    (lambda p: figures(p, [row]), ['| us | 8.5 | them 9 |'], ['| us | `x9` 8.5 |']),
    (lambda p: threads(p, [thread]), ['issue 7'], ['[pull request 7](https://github.com/a/b/pull/7)']),
    (lambda p: threads(p, [thread]), ['pull requests 7 and 8'], ['see pull request 7']),
    (lambda p: threads(p, [thread]), ['none'], ['># https://github.com/a/b/pull/7'])]

def sample(sources):
    "Two pages, the first of which has these cells"
    nb = new_nb([mk_cell(o.removeprefix('>'), 'code' if o[0] == '>' else 'markdown') for o in sources])
    return {'index.ipynb': NBProcessor(nb=nb).nb.cells, 'b.ipynb': []}

def main():
    for i, (check, faulty, right) in enumerate(samples):
        assert [*check(sample(faulty))] and not [*check(sample(right))], f'sample {i}: a check of the pages does not find its fault, or sees one where none is'
    pages = {n: NBProcessor(root/'nbs'/n).nb.cells for _, n in docs_llms.sidebar()}
    bad = [f'{n}{f", cell {c.id}" if c else ""}: {says}' for f in (placeholders, exercises, silent, neighbors, figures, threads, stale) for n, c, says in f(pages)]
    print(*bad, f'Pages: {len(pages)} read, {len(bad)} faults', sep='\n')
    sys.exit(bool(bad))

if __name__ == '__main__': main()
