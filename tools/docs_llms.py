"""Writes the site for language models: `llms.txt`, a list of the pages (https://llmstxt.org), and `llms-full.txt`, all of
their text, code and printed results. Both follow the sidebar in `_quarto.yml`. And brings the glossary into the search."""
import json, re
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

def short():
    "The text of `llms.txt`"
    title, promise = about(root/'nbs/index.ipynb')
    res = [f'# {title}', '', f'> {promise}']
    for section, names in sidebar().items():
        res += ['', f'## {section}', '']
        res += ['- [{}]({}): {}'.format(t, nbpath2html(Path(n)), p) for n in names for t, p in [about(root/'nbs'/n)]]
    return '\n'.join([*res, '', '## Optional', '', '- [All pages in one file](llms-full.txt): text, code and printed results', ''])

def fence(s, lang=''): return f'~~~{lang}\n{s.strip()}\n~~~' if s.strip() else ''

def result(o, alt):
    "One result of a cell as Markdown"
    if o['output_type'] == 'stream': return fence(text(o['text'])) if o['name'] == 'stdout' else ''
    data = o.get('data', {})
    if 'text/markdown' in data: return text(data['text/markdown'])
    if any(k.startswith('image/') for k in data): return f'[Picture: {alt}]'
    return fence(text(data.get('text/plain', '')))

def page(nb):
    "A processed notebook as Markdown"
    for c in cells(nb):
        s = text(c['source'])
        if c['cell_type'] == 'markdown':
            if not s.startswith(('<!--', '---\n')): yield s
        elif c['cell_type'] == 'code':
            opts = dict(re.findall(r'^#\|\s*([\w-]+):\s*"?(.*?)"?\s*$', s, re.M))
            code = re.sub(r'^#\|.*\n?', '', s, flags=re.M)
            if opts.get('echo') != 'false': yield fence(code, 'python')
            if opts.get('output') != 'false': yield from (result(o, opts.get('fig-alt', '')) for o in c.get('outputs', []))

def search_words():
    "For each word of the glossary what the search says of it: names from elsewhere lead there, ours to the page that their row links to"
    res, pages = {}, {p.name: p for p in (root/'nbs').glob('*.ipynb')}
    lines = '\n'.join(text(c['source']) for c in cells(pages['glossary.ipynb']) if c['cell_type'] == 'markdown').splitlines()
    for l in lines:
        if l.startswith('## '): place = 'Glossary', 'glossary.html#' + l[3:].lower().replace(' ', '-')
        if not l.startswith('| ') or l.startswith('| here'): continue
        here, what, elsewhere = [o.strip() for o in re.split(r'(?<!\\)\|', l)[1:-1]]
        link = re.search(r'\]\(([\w.]+)(#[\w-]+)?\)', what)
        page = (about(pages[link[1]])[0], f'{nbpath2html(Path(link[1]))}{link[2] or ""}') if link else place
        ours = [o.strip('` ') for o in here.split(',')] + re.findall(r'"(.+?)"', elsewhere)
        said = re.sub(r'\[(.*?)\]\(.*?\)', r'\1', f'{here}: {what}').replace('`', '').replace('*', '')
        for w, (title, href) in [*((o, page) for o in ours), *((o, place) for o in re.findall(r'`(.+?)`', elsewhere))]:
            res.setdefault(w, dict(title=title, href=href, text=said))
    return res

def add_search(out):
    "Write the words of the glossary into `search.json`, behind what is there; a heading of the same name goes first"
    p = out/'search.json'
    found = json.loads(p.read_text(encoding='utf-8'))
    there = {o['section'].lower() for o in found}
    found += [dict(objectID=f'{o["href"]}-{w}', section=w, **o) for w, o in search_words().items() if w.lower() not in there]
    p.write_text(json.dumps(found, ensure_ascii=False), encoding='utf-8')

def write(proc, out):
    "Write both into the folder `out`, from the notebooks that nbdev has processed into `proc`"
    (out/'llms.txt').write_text(short(), encoding='utf-8')
    names = [n for section in sidebar().values() for n in section]
    parts = ['\n\n'.join(['# {}\n\n> {}'.format(*about(root/'nbs'/n)), *filter(None, page(proc/n))]) for n in names]
    (out/'llms-full.txt').write_text('\n\n'.join(parts)+'\n', encoding='utf-8')
