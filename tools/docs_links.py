"""Links of the pages: put the code that they show beside them, with an anchor for each line, and check that
every link, picture and file inside the site is there, and that no page holds what none may."""
import html, json, re, shutil, subprocess
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path
from urllib.parse import unquote, urlsplit
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
import docs_llms

root = Path(__file__).resolve().parent.parent
out = root/'_docs'

code_page = '''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title><link rel="icon" href="{top}/images/favicon.svg"><style>
:root {{ color-scheme: light dark; }}
body {{ margin: 1rem auto; max-width: 66rem; padding: 0 1rem; overflow-wrap: anywhere; font-family: system-ui, sans-serif; }}
pre {{ overflow-x: auto; font-size: .8rem; line-height: 1.45; }}
pre span:target {{ background: #ffb30040; }}
{light}
@media (prefers-color-scheme: dark) {{ body {{ background: #222; color: #ddd; }} a {{ color: #8ab4f8; }}
{dark} }}
</style></head><body><p>{links}</p>{code}</body></html>'''

def styles(name): return HtmlFormatter(style=name).get_style_defs('.highlight')

def lay(path):
    "Put a file of the repository beside the pages, Python as a page where `#L-7` is its seventh line; returns where it lies"
    rel = path.relative_to(root)
    to = out/'source'/(rel.with_suffix('.html') if path.suffix == '.py' else f'{rel}.txt')
    if to.exists(): return to
    to.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != '.py': return shutil.copy2(path, to)
    about = out/Path(*rel.parts[1:]).with_suffix('.html')   # of transformers_from_scratch/nn/attention.py: nn/attention.html
    about = about if about.exists() else out/'index.html'
    links = f'<a href="{relpath(about, to.parent)}">{about.relative_to(out)}</a> / {rel}'
    code = highlight(path.read_text(encoding='utf-8'), PythonLexer(), HtmlFormatter(linespans='L', wrapcode=True))
    page = code_page.format(name=rel, top=relpath(out, to.parent), links=links, code=code, light=styles('xcode'), dark=styles('github-dark'))
    to.write_text(page, encoding='utf-8')
    return to

def mend_links():
    "Lay what pages link to beside them, and link to that; `source` links lead to a line of a module"
    def mend(m, page):
        path, _, place = m[2].partition('#')
        p = (root/re.sub(r'.*?\bblob/[^/]+/', '', path)) if 'blob/' in path else (page.parent/unquote(path)).resolve()
        if not p.is_file() or out in p.parents or root not in p.parents: return m[0]
        return f'{m[1]}{relpath(lay(p), page.parent)}{re.sub("^L", "#L-", place)}"'
    for p in out.rglob('*.html'):
        s = p.read_text(encoding='utf-8')
        new = re.sub(r'(<a\b[^>]*href=")((?![a-z]+:)(?:\.\./|[^"]*\bblob/)[^"]*)"', lambda m: mend(m, p), s)
        if new != s: p.write_text(new, encoding='utf-8')

class Links(HTMLParser):
    "The ids of a page, its links, what it loads, and its pictures without a text"
    def __init__(self, s):
        super().__init__()
        self.ids, self.links, self.loads, self.mute = set(), set(), set(), 0
        self.feed(s)
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.ids |= {a[k] for k in ('id', 'name') if a.get(k)}
        if tag == 'a' and a.get('href'): self.links.add(a['href'])
        if tag == 'img': self.mute += not (a.get('alt') or '').strip()
        for k in ('src', 'href'):
            if tag in ('link', 'script', 'img', 'source') and a.get(k): self.loads.add(a[k])

# What people type, and where the first hit of the search leads. `eam` stands in *stream*, but begins no word
by_hand, blocks = 'nn/training_by_hand.html', 'nn/blocks.html'
searched = {
    'nhead': 'glossary.html#sizes', 'd_model': 'glossary.html#sizes', 'num_heads': 'glossary.html#sizes', 'SelfAttention': 'nn/attention.html#selfattention',
    'NER': 'nn/classifier.html#token-classification', 'multilabel': 'learner/core.html#basetextlearner.predict', 'eam': None,
    'lr_find': 'tutorials/learner_in_use.html#the-rest-of-fastai', 'positional encoding': f'{blocks}#positions', 'RoPE': f'{blocks}#rotary',
    'warmup': f'{by_hand}#warm-up-and-schedules', 'learning rate schedule': f'{by_hand}#warm-up-and-schedules',
    'weight initialization': f'{by_hand}#weight-initialization', 'gradient descent': f'{by_hand}#one-step', 'optimizer': f'{by_hand}#one-step',
    'how to train a transformer': f'{by_hand}#the-loop', 'layer norm': 'glossary.html#layers-and-positions', 'skip connection': f'{blocks}#the-block',
    'softmax': 'tutorials/fast_lane.html#a-weighted-average', 'KV cache': 'generate/read.html#the-cache', 'FlashAttention': 'nn/attention.html#two-ways-to-average',
    'cross attention': 'nn/seq2seq.html#a-block-with-cross-attention', 'beam search': 'generate/beams.html', 'tokenizer': 'text/tokenizers.html',
    'what is a token': 'course/tokens.html', 'sequence to sequence': 'nn/seq2seq.html', 'zero-shot': 'use/zero_shot.html', 'GPU': 'tutorials/gpu.html'}

def first_hits(words):
    "Where the first hit of the search leads for each of `words`, or None: `search.js` itself, in node"
    entries = (out/'search.json').read_text(encoding='utf-8')
    program = f'''globalThis.window = globalThis; {(root/'tools/search.js').read_text(encoding='utf-8')}
        const fuse = new Fuse({entries});
        console.log(JSON.stringify({json.dumps(words)}.map(w => fuse.search(w, {{limit: 1}})[0]?.item.href ?? null)))'''
    return json.loads(subprocess.run(['node', '-'], input=program, capture_output=True, text=True, check=True).stdout)

code = r'<(pre|code|script|style)\b.*?</\1>'
# in what stands outside of code, and anywhere
in_prose = {'a link that was not read': r'\]\((?:#|http|\.\./|[\w.]+\.html)[^)]*',
            'the time of an epoch': r'<th>epoch</th>(?:(?!</tr>)[\s\S])*<th>time</th>\s*</tr>',
            'a number and its % on two lines': r'>[^<]*\d(</\w+>)?\s%', 'a heading without underscores': r'\.<strong>init</strong></h',
            'a picture without a width': r'<img (?![^>]*\bwidth=)[^>]*src="data:image/png'}
anywhere = {'a raw type': r'built-in(<[^>]*>|\s)*function \w+(<[^>]*>)*(&gt;|>)|function \w+ at (<[^>]*>)*0x', 'a script for widgets': r'<script[^>]*>define\(.jquery'}

def lost(url, p, found):
    "Why the link `url` of the page `p` leads nowhere in the site, or None"
    u = urlsplit(html.unescape(url))
    to = (p.parent/unquote(u.path)).resolve() if u.path else p
    if to.is_dir(): to = to/'index.html'
    if not to.exists() or out not in to.parents: return 'broken link'
    if u.fragment and to in found and unquote(u.fragment) not in found[to].ids: return 'no such place'

def problems(pages, allowed):
    "Missing pages and odd ones, links that lead nowhere, files from outside not `allowed`, what no page may hold, and what the search does not find"
    there = {p.resolve(): p.read_text(encoding='utf-8') for p in out.rglob('*.html')}
    found = {p: Links(s) for p, s in there.items()}
    yield from (f'missing page: {p}' for p in pages if out/p not in there)
    for p, s in there.items():
        name, l = p.relative_to(out), found[p]
        if l.mute: yield f'{name}: {l.mute} pictures without a text; begin their cell with `#| fig-alt: "..."`'
        for url in sorted(l.links | l.loads):
            u = urlsplit(url)
            if not u.scheme and not u.netloc: yield from (f'{name}: {why} {url}' for why in [lost(url, p, found)] if why)
            elif url in l.loads and u.scheme != 'data' and not re.match(allowed, url): yield f'{name} loads from outside: {url[:100]}'
        if name.parts[0] in ('source', 'images'): continue
        if name not in pages: yield f'a page of no notebook: {name}'
        prose = re.sub(code, '', s, flags=re.S)
        for faults, text in ((in_prose, prose), (anywhere, s)):
            yield from (f'{name}: {what}: {m[0][:80]}' for what, o in faults.items() for m in re.finditer(o, text))
        if s.count('cell-code') > s.count('code-copy-button"'): yield f'{name}: code without a button to copy it'
    titles = [o['title'] for o in docs_llms.contents()]
    yield from (f'two entries of the sidebar are called {t}' for t in sorted({t for t in titles if titles.count(t) > 1}))
    if not shutil.which('node'): return
    for w, got in zip(searched, first_hits([*searched])):
        if got and got.rstrip('#') != searched[w] or bool(got) != bool(searched[w]): yield f'the search for {w} leads to {got}, and not to {searched[w]}'
