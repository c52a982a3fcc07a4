"""What the pages of the site link to: lays the code that they show beside them, with a place for each line, and checks that
every link, picture and file inside the site is there."""
import html, re, shutil
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path
from urllib.parse import unquote, urlsplit
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

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
    about = out/f'{path.stem}.html' if rel.parts[0] == root.name else out/'none'
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
    "Missing pages, links inside the site that lead nowhere, pictures without a text, and files from outside not `allowed`"
    res = [f'missing page: {p}' for p in pages if not (out/p).exists()]
    found = {p.resolve(): Links(p.read_text(encoding='utf-8')) for p in out.rglob('*.html')}
    for p, l in found.items():
        name = p.relative_to(out)
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
