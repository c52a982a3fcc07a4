"""Writes the site for language models: `llms.txt`, a list of the pages with what each is for (https://llmstxt.org), and all of
them in `llms-full.txt`. The pages themselves are Markdown that the renderer writes; its list has neither the promises nor the
sections of the sidebar in `_quarto.yml`. And writes what the search of the site knows."""
import html, json, re, shutil
from itertools import chain
from pathlib import Path
import yaml
from nbdev.config import nbpath2html

root = Path(__file__).resolve().parent.parent

def sidebar(there=True):
    "Each section of the sidebar and its notebooks, where `Start` is what stands outside of any; or those that are not there"
    res, lost = {}, []
    def add(o, section='Start'):
        if isinstance(o, dict) and 'section' in o: return [add(p, o['section']) for p in o['contents'] or []]
        name = o['href'] if isinstance(o, dict) else o
        if (root/'nbs'/name).exists(): res.setdefault(section, []).append(name)
        else: lost.append(name)
    for o in yaml.safe_load((root/'_quarto.yml').read_text())['website']['sidebar']['contents']: add(o)
    return res if there else lost

def cells(nb): return json.loads(nb.read_text(encoding='utf-8'))['cells']
def text(o): return ''.join(o)

def about(nb):
    "The title of a notebook, and its promise in one line"
    top = '\n'.join(text(c['source']) for c in cells(nb)[:3] if c['cell_type'] == 'markdown')
    return re.search(r'^# (.+)', top, re.M)[1], re.search(r'^> (.+)', top, re.M)[1]

def copy(out, name):
    "The page of a notebook as Markdown, which smalldocs, or nbdev with Quarto, has laid beside it"
    page = out/nbpath2html(Path(name))
    return next(o for o in (page.with_suffix('.llms.md'), page.with_suffix('.html.md')) if o.exists())

def write(out):
    "Write `llms.txt` with the promise of each page, and `llms-full.txt`, into the folder `out`"
    title, promise = about(root/'nbs/index.ipynb')
    short, full = [f'# {title}', '', f'> {promise}'], []
    for section, names in sidebar().items():
        short += ['', f'## {section}', '']
        for n in names:
            file = copy(out, n)
            odd = r'^(\[source\]\(/blob/.*|<a href="\./blob/[^>]*>source</a>|<!-- WARNING.*)\n+'
            md = re.sub(odd, '', file.read_text(encoding='utf-8'), flags=re.M)
            file.write_text(md, encoding='utf-8')
            full.append(md)
            short.append('- [{}]({}): {}'.format(about(root/'nbs'/n)[0], file.relative_to(out).as_posix(), about(root/'nbs'/n)[1]))
    short += ['', '## Optional', '', '- [All pages in one file](llms-full.txt): text, code and printed results', '']
    (out/'llms.txt').write_text('\n'.join(short), encoding='utf-8')
    (out/'llms-full.txt').write_text('\n\n'.join(full), encoding='utf-8')

def search_words():
    "For each word of the glossary what the search says of it: names from elsewhere lead there, ours to the page that their row links to"
    res, pages = {}, {n: root/'nbs'/n for n in chain(*sidebar().values())}
    lines = '\n'.join(text(c['source']) for c in cells(pages['glossary.ipynb']) if c['cell_type'] == 'markdown').splitlines()
    for l in lines:
        if l.startswith('## '): place = 'Glossary', 'glossary.html#' + l[3:].lower().replace(' ', '-')
        if not l.startswith('| ') or l.startswith('| here'): continue
        here, what, elsewhere = [o.strip() for o in re.split(r'(?<!\\)\|', l)[1:-1]]
        link = re.search(r'\]\(([\w./]+)(#[\w.-]+)?\)', what)
        page = (about(pages[link[1]])[0], f'{nbpath2html(Path(link[1]))}{link[2] or ""}') if link else place
        ours = [o.strip('` ') for o in here.split(',')] + re.findall(r'"(.+?)"', elsewhere)
        said = re.sub(r'\[(.*?)\]\(.*?\)', r'\1', f'{here}: {what}').replace('`', '').replace('*', '')
        for w, (title, href) in [*((o, page) for o in ours), *((o, place) for o in re.findall(r'`(.+?)`', elsewhere))]:
            res.setdefault(w, dict(title=title, href=href, text=said))
    return res

def sections(page):
    "Yield id, heading and text of each section of a page; what stands above the first has neither of the two"
    s = re.search(r'<main\b.*</main>', page, flags=re.S)[0]
    s = re.sub(r'<(script|style|header|nav|button|details)\b.*?</\1>|<a [^>]*float:right.*?</a>', '', s, flags=re.S)
    parts = re.split(r'<h[1-6]\b[^>]*data-anchor-id="([^"]+)"[^>]*>(.*?)</h[1-6]>', s, flags=re.S)
    def plain(s): return ' '.join(html.unescape(re.sub('<[^>]+>', '', re.sub(r'</(p|li|t[dh]|div)>', ' ', s))).split())
    for at, head, text in zip(['', *parts[1::3]], ['', *parts[2::3]], parts[::3]): yield at, plain(head), plain(text)

def write_search(out):
    "Write `search.json`, in which both renderers search: the sections of all pages, and the words of the glossary behind them"
    found, safe = [], html.escape if (out/'site_libs/quarto-search').exists() else str    # Quarto's search shows the text as HTML
    for n in chain(*sidebar().values()):
        page = nbpath2html(Path(n)).as_posix()
        for at, head, text in sections((out/page).read_text(encoding='utf-8')):
            found.append(dict(section=head, title=about(root/'nbs'/n)[0], href=f'{page}#{at}', text=text))
    there = {o['section'].lower() for o in found}
    found += [dict(section=w, **o) for w, o in search_words().items() if w.lower() not in there]
    for o in found: o |= dict(objectID=f'{o["href"]}-{o["section"]}', text=safe(o['text']))
    (out/'search.json').write_text(json.dumps(found, ensure_ascii=False), encoding='utf-8')
    for p in out.rglob('fuse.min.js'): shutil.copy2(root/'tools/search.js', p)
