"""Writes README.md from nbs/index.ipynb, the same with and without Quarto.

Hidden cells are left out; links to notebooks and pictures are made to work from the root of the repository."""
import json, re
from base64 import b64decode
from pathlib import Path

root = Path(__file__).resolve().parent.parent
head = '<!-- Made from nbs/index.ipynb by `make readme`. Edit the notebook, not this file. -->\n'

def join(o): return ''.join(o) if isinstance(o, list) else o

def directives(src):
    "The names of the `#|` lines that open a cell, and the code below them"
    lines, names = src.split('\n'), {}
    while lines and lines[0].startswith('#|'):
        name, _, val = lines.pop(0)[2:].strip().partition(':')
        names[name.split()[0] if name else ''] = val.strip()
    return names, '\n'.join(lines).strip('\n')

def from_root(md):
    "Links as seen from the root: a local target gets `nbs/` before it, and `../` goes away"
    def f(m):
        url = m[2]
        if re.match(r'[a-z]+:|#|/', url): return m[0]
        return m[1] + (url[3:] if url.startswith('../') else f'nbs/{url}')
    md = re.sub(r'(\]\()([^)\s]+)', f, md)
    return re.sub(r'(<(?:img|a)\b[^>]*?\b(?:src|href)=")([^"]+)', f, md)

def fences(md, f):
    "Apply `f` to the parts of `md` that are not in a code fence"
    return ''.join(o if i % 2 else f(o) for i, o in enumerate(re.split(r'(^```.*?^```[^\n]*$)', md, flags=re.M | re.S)))

def picture(png, alt):
    "A picture among the outputs as a file, named by its alt text, and a link to it"
    if not alt: raise SystemExit('README: a picture in index.ipynb has no alt text: begin its cell with `#| fig-alt: "..."`')
    name = 'readme-' + '-'.join(re.findall(r'\w+', alt.lower())[:4]) + '.png'
    (root/'nbs'/'images'/name).write_bytes(b64decode(png))
    return f'![{alt}](nbs/images/{name})'

def output(o, alt):
    "One saved output as Markdown"
    data = o.get('data', {})
    if 'text/markdown' in data: return from_root(join(data['text/markdown']).strip())
    if 'image/png' in data: return picture(join(data['image/png']), alt)
    txt = join(o['text'] if 'text' in o else data.get('text/plain', '')).strip('\n')
    return f'```text\n{txt}\n```' if txt else ''

def cell_md(c):
    "One cell as a list of pieces of Markdown"
    src = join(c['source'])
    if c['cell_type'] == 'markdown':
        md = re.sub(r'^:::.*\n?', '', src, flags=re.M)  # Quarto's boxes: the text stays
        return [fences(md, from_root).strip()]
    if c['cell_type'] != 'code': return []
    flags, code = directives(src)
    if {'hide', 'default_exp'} & set(flags) or flags.get('include') == 'false': return []
    res = []
    if code and 'hide_input' not in flags and flags.get('echo') != 'false': res.append(f'```python\n{code}\n```')
    if 'hide_output' not in flags and flags.get('output') != 'false': res += [output(o, flags.get('fig-alt', '').strip('"')) for o in c.get('outputs', [])]
    return res

nb = json.loads((root/'nbs'/'index.ipynb').read_text(encoding='utf-8'))
parts = [o for c in nb['cells'] for o in cell_md(c) if o]
(root/'README.md').write_text(head + '\n' + '\n\n'.join(parts) + '\n', encoding='utf-8')
