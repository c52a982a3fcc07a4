"""What the pages of the site link to: lays the code that they show beside them, with a place for each line, and checks that
every link, picture and file inside the site is there, and that the site keeps what it promises."""
import html, json, re, shutil
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path
from urllib.parse import unquote, urlsplit
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
import yaml
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

def lay_code(path):
    "A page with the Python file `path`, where `#L-7` is its seventh line; returns where the page lies"
    rel = path.relative_to(root)
    to = out/'source'/rel.with_suffix('.html')
    if to.exists(): return to
    to.parent.mkdir(parents=True, exist_ok=True)
    about = out/f'{".".join(rel.with_suffix("").parts[1:])}.html'   # of transformers_from_scratch/nn/attention.py: nn.attention.html
    about = about if about.exists() else out/'index.html'
    links = f'<a href="{relpath(about, to.parent)}">{about.stem}</a> / {rel}'
    code = highlight(path.read_text(encoding='utf-8'), PythonLexer(), HtmlFormatter(linespans='L', wrapcode=True))
    page = code_page.format(name=rel, top=relpath(out, to.parent), links=links, code=code, light=styles('xcode'), dark=styles('github-dark'))
    to.write_text(page, encoding='utf-8')
    return to

def lay(path):
    "Code as a page, any other file of the repository as text"
    if path.suffix == '.py': return lay_code(path)
    to = out/'source'/f'{path.relative_to(root)}.txt'
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, to)
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

def problems(pages, allowed):
    "Missing pages and odd ones, links that lead nowhere or stand there as Markdown, pictures without a text, and files from outside not `allowed`"
    res = [f'missing page: {p}' for p in pages if not (out/p).exists()]
    there = {p.relative_to(out) for p in out.rglob('*.html')}
    res += [f'a page of no notebook: {p}' for p in there.difference(pages) if p.parts[0] != 'source']
    found = {p.resolve(): Links(p.read_text(encoding='utf-8')) for p in out.rglob('*.html')}
    for p, l in found.items():
        name = p.relative_to(out)
        shown = re.sub(r'<(pre|code|script|style)\b.*?</\1>', '', p.read_text(encoding='utf-8'), flags=re.S)
        res += [f'{name}: a link that was not read: {o}' for o in re.findall(r'\]\((?:#|http|\.\./|[\w.]+\.html)[^)]*', shown)]
        if l.mute: res.append(f'{name}: {l.mute} pictures without a text; begin their cell with `#| fig-alt: "..."`')
        for url in sorted(l.links | l.loads):
            u = urlsplit(html.unescape(url))
            if u.scheme or u.netloc:
                if url in l.loads and u.scheme != 'data' and not re.match(allowed, url):
                    res.append(f'{name} loads from outside: {url[:100]}')
                continue
            to = (p.parent/unquote(u.path)).resolve() if u.path else p
            if to.is_dir(): to = to/'index.html'
            if not to.exists() or out not in to.parents: res.append(f'{name}: broken link {url}')
            elif u.fragment and to in found and unquote(u.fragment) not in found[to].ids:
                res.append(f'{name}: no such place {url}')
    return res

# Quarto is seldom at hand where this is built: what it needs was tried with Quarto 1.7.34, and is held here.
settings = {'keep-md': True, 'code-copy': 'hover', 'toc-expand': True, 'html-table-processing': 'none'}
selectors = [
    'main .cell pre > code.sourceCode { white-space: pre-wrap',
    'main table:not(.stacked:not(.plain) table) { display: block; max-width: 100%; overflow-x: auto',
    '.sidebar-item-section > .sidebar-item-container .menu-text { white-space: nowrap']
# `eam` stands in *stream*, but begins no word
searched = dict(nhead='glossary.html#sizes', d_model='glossary.html#sizes', num_heads='glossary.html#sizes',
                NER='nn.classifier.html#token-classification', multilabel='learner.core.html#basetextlearner.predict',
                lr_find='tutorials/learner_in_use.html#the-rest-of-fastai', SelfAttention='nn.attention.html#selfattention', eam=None)
faults = {'the time of an epoch': r'<th>epoch</th>(?:(?!</tr>)[\s\S])*<th>time</th>\s*</tr>', 'a number and its % on two lines': r'>[^<]*\d(</\w+>)?\s%',
          'a heading without underscores': r'\.<strong>init</strong></h',
          'a picture without a width': r'<img (?![^>]*\bwidth=)[^>]*src="data:image/png'}
code = r'<(pre|code|script|style)\b.*?</\1>'

def promises():
    "What the site promises beside its links, and does not keep: settings, the look of pages, and what the search finds"
    yml, css = yaml.safe_load((root/'_quarto.yml').read_text()), (root/'nbs/styles.css').read_text()
    for k, v in settings.items():
        if yml['format']['html'].get(k) != v: yield f'_quarto.yml: format.html.{k} must be {v!r}'
    if yml['website'].get('search') != dict(type='textbox', location='navbar'):
        yield '_quarto.yml: website.search must be a textbox in the navbar'
    yield from (f'styles.css lacks {o}' for o in selectors if o not in css)
    titles = [o['title'] for o in docs_llms.contents()]
    yield from (f'two entries of the sidebar are called {t}' for t in sorted({t for t in titles if titles.count(t) > 1}))
    for p in [o for o in out.rglob('*.html') if out/'source' not in o.parents]:
        s, name = p.read_text(encoding='utf-8'), p.relative_to(out)
        prose = re.sub(code, '', s, flags=re.S)
        yield from (f'{name}: {what}' for what, o in faults.items() if re.search(o, prose))
        if re.search(r'built-in(<[^>]*>|\s)*function \w+(<[^>]*>)*(&gt;|>)', s): yield f'{name}: a raw type'
        if re.search(r'<script[^>]*>define\(.jquery', s): yield f'{name}: a script for widgets'
        if s.count('cell-code') > s.count('code-copy-button"'): yield f'{name}: code without a button to copy it'
    found = json.loads((out/'search.json').read_text(encoding='utf-8'))
    first = {o['section']: o['href'] for o in reversed(found)}
    for w, o in searched.items():
        if first.get(w) != o: yield f'the search for {w} leads to {first.get(w)}, and not to {o}'
