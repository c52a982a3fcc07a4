"""Write README.md from nbs/index.ipynb, as `nbdev-readme` does where Quarto is installed, and the same everywhere.

Hidden cells are left out; links to notebooks and pictures are made to work from the root of the repository. Cells with `#| eval: false` need data or
weights that no clone has: they and their saved outputs get ~~~ for a fence, which tools/check_readme.py does not run."""
import re
from base64 import b64decode
from os.path import normpath
from pathlib import Path
from nbdev.process import NBProcessor
from nbdev.processors import hide_

root = Path(__file__).resolve().parent.parent
head = '<!-- Made from nbs/index.ipynb by `make lint`. Edit the notebook, not this file. -->'
known = {'hide_input', 'hide_output', 'fig-alt', 'slow', 'eval', 'echo', 'export', 'exportd'}   # beside `hide`, which nbdev takes care of
fence, local_link = r'^(```|~~~).*?^\1', r'(\]\(|<(?:img|a)\b[^>]*?\b(?:src|href)=")(?![a-z]+:|#|/)([^)"\s]+)'

def join(o): return ''.join(o)

def from_root(md):
    "Links as seen from the root, but for those in a code fence"
    def f(m): return m[0] if m[1] else m[2] + normpath(f'nbs/{m[3]}')
    return re.sub(f'{fence}|{local_link}', f, md, flags=re.M | re.S).strip()

def picture(png, alt):
    "A picture among the outputs as a file, named by its alt text, and a link to it"
    if not alt: raise SystemExit('README: a picture in index.ipynb has no alt text: begin its cell with `#| fig-alt: "..."`')
    name = 'readme-' + '-'.join(re.findall(r'\w+', alt.lower())[:4]) + '.png'
    (root/'nbs'/'images'/name).write_bytes(b64decode(png))
    return f'![{alt}](nbs/images/{name})'

def output(o, alt, fence):
    "One saved output as Markdown"
    data = o.get('data', {})
    if 'text/markdown' in data: return from_root(join(data['text/markdown']))
    if 'image/png' in data: return picture(join(data['image/png']), alt)
    txt = join(o.get('text') or data.get('text/plain', '')).strip('\n')
    return f'{fence}text\n{txt}\n{fence}' if txt else ''

def cell_md(c):
    "One cell as a list of pieces of Markdown"
    if c.cell_type == 'markdown': return [from_root(c.source)]
    flags = {k.strip(':'): v for k, v in c.directives_.items()}
    if odd := set(flags)-known: raise SystemExit(f'README: no way is known to render {odd} in index.ipynb')
    fence = '~~~' if flags.get('eval', '').strip()=='false' else '```'
    res = [] if 'hide_input' in flags or flags.get('echo', '').strip()=='false' else [f'{fence}python\n{c.source.strip()}\n{fence}']
    return res if 'hide_output' in flags else res + [output(o, flags.get('fig-alt', '').strip('"'), fence) for o in c.outputs]

nb = NBProcessor(root/'nbs'/'index.ipynb', procs=[hide_], process=True).nb
parts = [head] + [o for c in nb.cells for o in cell_md(c) if o]
(root/'README.md').write_text('\n\n'.join(parts) + '\n', encoding='utf-8')
