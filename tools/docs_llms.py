"""Write the site for language models: `llms.txt`, a list of the pages with what each is for (https://llmstxt.org), and all of
them in `llms-full.txt`. The pages themselves are Markdown that the renderer writes; its list has neither the promises nor the
sections of the sidebar in `_quarto.yml`. And write the index that the search of the site reads."""
import html, json, re, shutil
from itertools import groupby
from pathlib import Path
import yaml
from nbdev.config import nbpath2html

root = Path(__file__).resolve().parent.parent

def sidebar():
    "`(section, notebook)` of each entry of the sidebar; `Start` is what stands outside of any section. A page with others folded under it is no section"
    def entries(o, section):
        if not isinstance(o, dict) or 'section' not in o: return [(section, o['href'] if isinstance(o, dict) else o)]
        head = [(section, o['href'])] if 'href' in o else []
        return head + [e for p in o['contents'] or [] for e in entries(p, section if head else o['section'])]
    yml = yaml.safe_load((root/'_quarto.yml').read_text())
    res = [e for o in yml['website']['sidebar']['contents'] for e in entries(o, 'Start')]
    pages = [page for _,page in res]
    if twice := {o for o in pages if pages.count(o)>1}: raise SystemExit(f'_quarto.yml: the sidebar has {", ".join(sorted(twice))} twice')
    return res

def source(c): return ''.join(c['source'])
def cells(n, kind):
    "The sources of the cells of that kind in the notebook `n`"
    return [source(c) for c in json.loads((root/'nbs'/n).read_text(encoding='utf-8'))['cells'] if c['cell_type'] == kind]

def contents():
    "The table of the site: a row for each page, with its section, notebook, address, title and promise, in the order of the sidebar"
    for section, n in sidebar():
        top = '\n'.join(cells(n, 'markdown')[:3])
        title, promise = (re.search(f'^{mark} (.+)', top, re.M)[1] for mark in '#>')
        yield dict(section=section, notebook=n, page=nbpath2html(Path(n)).as_posix(), title=title, promise=promise)

def write(out):
    "Write `llms.txt` with the promise of each page, and `llms-full.txt`, into the folder `out`"
    rows = [*contents()]
    short, full = ['# {title}\n\n> {promise}\n'.format(**next(o for o in rows if o['notebook'] == 'index.ipynb'))], []
    for section, pages in groupby(rows, lambda o: o['section']):
        short.append(f'## {section}\n')
        for o in pages:
            page = out/o['page']
            file = next(f for f in (page.with_suffix('.llms.md'), page.with_suffix('.html.md')) if f.exists())  # of smalldocs, of nbdev
            odd = r'^(\[source\]\(/blob/.*|<a href="\./blob/[^>]*>source</a>|<!-- WARNING.*)\n+'
            full.append(re.sub(odd, '', file.read_text(encoding='utf-8'), flags=re.M))
            file.write_text(full[-1], encoding='utf-8')
            short.append(f'- [{o["title"]}]({file.relative_to(out).as_posix()}): {o["promise"]}')
        short.append('')
    short.append('## Optional\n\n- [All pages in one file](llms-full.txt): text, code and printed results\n')
    (out/'llms.txt').write_text('\n'.join(short), encoding='utf-8')
    (out/'llms-full.txt').write_text('\n\n'.join(full), encoding='utf-8')

def search_words(rows):
    "For each word of the glossary what the search says of it: names from elsewhere lead there, ours to the page that their row links to"
    res, titles = {}, {o['notebook']: o['title'] for o in rows}
    for l in '\n'.join(cells('glossary.ipynb', 'markdown')).splitlines():
        if l.startswith('## '): place = 'Glossary', 'glossary.html#' + l[3:].lower().replace(' ', '-')
        if not l.startswith('| ') or l.startswith('| here'): continue
        here, what, elsewhere = [o.strip() for o in re.split(r'(?<!\\)\|', l)[1:-1]]
        link = re.search(r'\]\(([\w./]+)(#[\w.-]+)?\)', what)
        page = (titles[link[1]], f'{nbpath2html(Path(link[1]))}{link[2] or ""}') if link else place
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
    rows, safe = [*contents()], html.escape if (out/'site_libs/quarto-search').exists() else str    # Quarto's search shows the text as HTML
    found = [dict(section=head, title=o['title'], href=f'{o["page"]}#{at}', text=text) for o in rows
             for at, head, text in sections((out/o['page']).read_text(encoding='utf-8'))]
    there = {o['section'].lower() for o in found}
    found += [dict(section=w, **o) for w, o in search_words(rows).items() if w.lower() not in there]
    for o in found: o |= dict(objectID=f'{o["href"]}-{o["section"]}', text=safe(o['text']))
    (out/'search.json').write_text(json.dumps(found, ensure_ascii=False), encoding='utf-8')
    for p in out.rglob('fuse.min.js'): shutil.copy2(root/'tools/search.js', p)
