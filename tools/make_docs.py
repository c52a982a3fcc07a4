"""Builds the documentation into _docs: with Quarto where it is on the PATH, else with smalldocs.

nbdev fills in what `show_doc` says and leaves hidden cells out; a renderer makes pages of that. smalldocs needs some
help: it ignores `output-file`, shows pictures at their size in pixels, and loads KaTeX, which draws the formulas, from
another host. At the end every link inside the site is checked."""
import html, json, re, shutil, subprocess, sys, tarfile, tempfile
from base64 import b64decode
from html.parser import HTMLParser
from os.path import relpath
from pathlib import Path
from urllib.parse import unquote, urlsplit
from nbdev.config import get_config, nbpath2html
from nbdev.doclinks import nbglob

root, katex_version = Path(__file__).resolve().parent.parent, '0.16.11'
out = root/'_docs'
katex_host = r'https://cdn\.jsdelivr\.net/npm/katex@[^/]+/dist'

def pages(): return sorted(nbpath2html(Path(p).relative_to(root/'nbs')) for p in nbglob(root/'nbs'))

def plain_names(s):
    "`00_attention.ipynb` -> `attention.ipynb`: pages are named as nbdev's links name them"
    return re.sub(r'\b\d+[a-zA-Z0-9]*_(\w[\w-]*\.ipynb)', r'\1', s)

def processed():
    "The notebooks as nbdev makes them ready for a renderer, in the folder _proc"
    from nbdev.quarto import refresh_quarto_yml
    from nbdev.serve import proc_nbs
    refresh_quarto_yml()
    return proc_nbs(root/'nbs', n_workers=2, force=True)

def stage(src, dst):
    "Copy `src` to `dst` with plain names"
    for p in sorted(src.rglob('*')):
        rel = p.relative_to(src)
        if not p.is_file() or rel.parts[0] == '_docs': continue
        if p.suffix == '.ipynb': rel = nbpath2html(rel).with_suffix('.ipynb')
        (dst/rel).parent.mkdir(parents=True, exist_ok=True)
        if p.suffix == '.yml': (dst/rel).write_text(plain_names(p.read_text(encoding='utf-8')), encoding='utf-8')
        elif p.suffix != '.ipynb': shutil.copy2(p, dst/rel)
        else:
            nb = json.loads(p.read_text(encoding='utf-8'))
            for c in nb['cells']:
                if c['cell_type'] == 'markdown': c['source'] = plain_names(''.join(c['source']))
            (dst/rel).write_text(json.dumps(nb), encoding='utf-8')

def katex():
    "KaTeX in a folder of this environment, taken from npm the first time; None where that cannot be had"
    d = Path(sys.prefix)/'share'/f'katex-{katex_version}'
    if d.exists(): return d
    if not shutil.which('npm'): return
    with tempfile.TemporaryDirectory() as tmp:
        cmd = ['npm', 'pack', '--silent', '--fetch-retries=0', '--fetch-timeout=30000', f'katex@{katex_version}']
        r = subprocess.run(cmd, cwd=tmp, capture_output=True)
        tgz = next(Path(tmp).glob('*.tgz'), None)
        if r.returncode or not tgz: return
        with tarfile.open(tgz) as t: t.extractall(tmp, filter='data')
        dist, new = Path(tmp)/'package'/'dist', Path(tmp)/'new'
        names = 'katex.min.js', 'katex.min.css', 'contrib/auto-render.min.js'
        for p in [*(dist/o for o in names), *dist.glob('fonts/*.woff2')]:
            (new/p.relative_to(dist)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(p, new/p.relative_to(dist))
        shutil.copy2(Path(tmp)/'package'/'LICENSE', new)
        d.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(new, d)
    return d

def img_width(png):
    "The width in pixels at which to show a PNG: that at 100 dots an inch, where it says that it has more ('retina')"
    px, at = int.from_bytes(png[16:20], 'big'), png.find(b'pHYs')
    dpi = int.from_bytes(png[at+4:at+8], 'big')*.0254 if at > 0 else 100
    return round(px*100/dpi) if dpi > 110 else px

def finish():
    "What smalldocs leaves: pictures at their intended width, and KaTeX beside the pages"
    lib = katex()
    if lib: shutil.copytree(lib, out/'site_libs'/'katex', dirs_exist_ok=True)
    else: print('NB: npm could not bring KaTeX, so the pages load it, for the formulas, from its public host.')
    def width(m): return f'{m[0]} width="{img_width(b64decode(m[1]))}"'
    for p in out.rglob('*.html'):
        s = p.read_text(encoding='utf-8')
        if lib: s = re.sub(katex_host, relpath(out/'site_libs'/'katex', p.parent), s)
        s = re.sub(r'<img src="data:image/png;base64,([^"]+)"', width, s)
        p.write_text(s, encoding='utf-8')

class Links(HTMLParser):
    "The ids of a page, its links, and what it loads"
    def __init__(self, s):
        super().__init__()
        self.ids, self.links, self.loads = set(), set(), set()
        self.feed(s)
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        self.ids |= {a[k] for k in ('id', 'name') if a.get(k)}
        if tag == 'a' and a.get('href'): self.links.add(a['href'])
        for k in ('src', 'href'):
            if tag in ('link', 'script', 'img', 'source') and a.get(k): self.loads.add(a[k])

def problems():
    "Pages that are missing, links inside the site that lead nowhere, and files that a page would load from outside"
    res = [f'missing page: {p}' for p in pages() if not (out/p).exists()]
    found = {p.resolve(): Links(p.read_text(encoding='utf-8')) for p in out.rglob('*.html')}
    for p, l in found.items():
        for url in sorted(l.links | l.loads):
            u = urlsplit(html.unescape(url))
            if u.scheme or u.netloc:
                if url in l.loads and u.scheme != 'data' and not re.match(katex_host, url):
                    res.append(f'{p.name} loads from outside: {url[:100]}')
                continue
            to = (p.parent/unquote(u.path)).resolve() if u.path else p
            if to.is_dir(): to = to/'index.html'
            if not to.exists() or out not in to.parents: res.append(f'{p.name}: broken link {url}')
            elif u.fragment and to in found and unquote(u.fragment) not in found[to].ids:
                res.append(f'{p.name}: no such place {url}')
    return res

def by_smalldocs():
    "Copy, render, and mend"
    known = ('format-links', 'commonmark', 'html-math-method', 'html.grid', 'output-file', 'broken link')
    with tempfile.TemporaryDirectory() as tmp:
        stage(processed(), Path(tmp))
        cmd = [sys.executable, '-m', 'smalldocs.cli', 'render', '--quiet', tmp]
        r = subprocess.run(cmd, stderr=subprocess.PIPE, text=True)
        for l in r.stderr.splitlines():
            if not any(o in l for o in known): print(l)
        if r.returncode: sys.exit(r.returncode)
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(Path(tmp)/'_docs', out)
    finish()

def by_quarto(): subprocess.run([Path(sys.executable).parent/'nbdev-docs'], check=True)

def mend_links():
    "Lay files of the repository that pages link to beside them, as text; drop links to an address not yet there"
    def f(m, page):
        p = (page.parent/unquote(m[2])).resolve()
        if not p.is_file() or out in p.parents or root not in p.parents: return m[0]
        to = out/'source'/f'{p.relative_to(root)}.txt'
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(p, to)
        return f'{m[1]}{relpath(to, page.parent)}"'
    for p in out.rglob('*.html'):
        s = p.read_text(encoding='utf-8')
        new = re.sub(r'<a\b[^>]*href="(?![a-z]+:)[^"]*blob/[^"]*"[^>]*>source</a>', '', s)
        new = re.sub(r'(<a\b[^>]*href=")(\.\./[^"#]*)"', lambda m: f(m, p), new)
        if new != s: p.write_text(new, encoding='utf-8')

def main():
    quarto = shutil.which('quarto')
    print('Building the docs with', 'Quarto.' if quarto else 'smalldocs (Quarto is not on the PATH).', flush=True)
    (by_quarto if quarto else by_smalldocs)()
    mend_links()
    bad = [] if quarto else problems()
    for o in bad: print(o)
    if bad: sys.exit(f'Docs: {len(bad)} problems, see above.')
    print(f'Docs: {len(pages())} pages, {out}/index.html')

if __name__ == '__main__': main()
