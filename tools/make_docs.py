"""Build the documentation into _docs: with Quarto where it is on the PATH, else with smalldocs.

nbdev fills in what `show_doc` says and leaves hidden cells out; a renderer makes pages of that. smalldocs needs some
help: it ignores `output-file`, and shows pictures at their size in pixels. Nothing is loaded from other hosts: KaTeX, which
draws the formulas, is vendored, and theme fonts are removed. At the end every link inside the
site is checked."""
import json, re, shutil, subprocess, sys, tarfile, tempfile
from base64 import b64decode
from io import BytesIO
from os.path import relpath
from pathlib import Path
from nbdev.config import nbpath2html
from nbdev.doclinks import _get_exps, nbglob
from nbdev.quarto import _fix_quarto_nav, refresh_quarto_yml
from nbdev.quarto_render import render_quarto
from nbdev.serve import proc_nbs
from PIL import Image
import docs_llms
from docs_llms import source
from docs_links import mend_links, out, problems, root

katex_version = '0.16.11'
katex_files = r'package/(LICENSE|dist/(katex\.min\.(js|css)|contrib/auto-render\.min\.js|fonts/.*\.woff2))'
katex_host = r'https://cdn\.jsdelivr\.net/npm/katex@[^/]+/dist'
# Quarto loads require.js and jQuery for widgets, of which there are none here, and tells the one of the other
outside_script = rf'<script\b[^>]*\bsrc="(?!{katex_host})(?:https?:)?//[^>]*></script>\n?|<script\b[^>]*>define\(.jquery.*?</script>\n?'

no_pages = '^([_.]|tests$)'                                        # folders whose notebooks are not rendered
def notebooks(): return sorted(Path(p).relative_to(root/'nbs').as_posix() for p in nbglob(root/'nbs', skip_folder_re=no_pages))
def pages(): return [nbpath2html(Path(n)) for n in notebooks()]

def odd_notebooks():
    "Notebooks that the sidebar lacks or nbdev would spoil, lessons that don't say what a reader has to know, and lines too long to read"
    named = dict(map(reversed, docs_llms.sidebar()))
    yield from (f'{n} stands in the sidebar, but not in nbs' for n in named.keys()-notebooks())
    for n in notebooks():
        if n not in named: yield f'{n} does not stand in the sidebar'
        texts = docs_llms.cells(n, 'markdown')
        if any(l.strip() and l[0] not in '#>' for l in texts[0].splitlines()):
            yield f'{n}: put what follows the summary into a cell of its own, or nbdev drops it'
        if named.get(n, 'Start') not in ('Start', 'Reference') and n not in ('glossary.ipynb', 'tutorials/not_here.ipynb') and not any(o.startswith('*Needs ') for o in texts[:4]): yield f'{n}: no line "*Needs ..."'
        for l in '\n'.join(docs_llms.cells(n, 'code')).split('\n'):
            if len(l) > 120 and not l.startswith('#|'): yield f'{n}: a line of {len(l)} characters: {l[:60]}'

def own_fold(c):
    "A cell with `#| exports` and a fold of its own, without the one that nbdev puts before it"
    added = '#| code-fold: show\n#| code-summary: "Exported source"\n'
    rest = source(c).removeprefix(added)
    if rest != source(c) and '#| code-fold:' in rest: c['source'] = rest

def with_line(m):
    "The link to the source of what was imported, with the line that nbdev did not find"
    line = _get_exps(m[1]).get(m[3])
    return f'{m[1]}#L{line}{m[2]}' if line else m[0]

def plain_types(data):
    "Signatures say `callable`, not `<built-in function callable>`, an address, nor `__main__.`; tables of epochs have no times, which are a noisy machine's"
    if '<th>epoch</th>' in (html := ''.join(data.get('text/html', ''))):
        data['text/html'] = re.sub(r'\s*(<th>time</th>|<td>[\d:]+</td>)(?=\s*</tr>)', '', html)
    if md := ''.join(data.get('text/markdown', '')):
        data.pop('text/plain', None)                                    # the same once more
        md = re.sub(r'<(?:built-in )?function (\w+)( at 0x\w+)?>', r'\1', md.replace('__main__.', ''))
        data['text/markdown'] = re.sub(r'(transformers_from_scratch/[\w/]+\.py)#LNone(.*?^#+ (\S+))', with_line, md, flags=re.M | re.S)

def as_text(c):
    "Turn the output of `show_doc` into text, with the full name above it: headings of an output are not in the contents"
    name = c['cell_type'] == 'code' and re.search(r'^show_doc\(([\w.]+)', source(c), flags=re.M)
    if not name: return c
    says = ''.join(c['outputs'][0]['data']['text/markdown'])
    says = re.sub(r'^### .*', lambda _: '### ' + name[1].replace('__', r'\_\_'), says, flags=re.M)
    return dict(cell_type='markdown', metadata={}, source=says)

def one_link(s):
    "`[`name`](page)` stays a link to that page: nbdev makes a link of the name inside it, too"
    return re.sub(r'\[([^\[\]\n]*)\[(`[^`\n]+`)\]\([^()\n]*\)([^\[\]\n]*)\]\(([^()\n]+)\)', r'[\1\2\3](\4)', s)

def mended(nb):
    "A notebook that nbdev has processed, as a renderer needs it: with plain types"
    for c in nb['cells']:
        own_fold(c)
        for o in c.get('outputs', []): plain_types(o.get('data', {}))
    nb['cells'] = [as_text(c) for c in nb['cells']]
    for c in nb['cells']:
        if c['cell_type'] == 'markdown': c['source'] = one_link(source(c))
    return nb

def stage(folder):
    "Put the notebooks, as nbdev makes them ready for a renderer, and what stands beside them into `folder`"
    refresh_quarto_yml()
    proc = proc_nbs(root/'nbs', n_workers=2, force=True, skip_folder_re=no_pages)
    for p in sorted(proc.rglob('*')):
        rel = p.relative_to(proc)
        if not p.is_file() or rel.parts[0] == '_docs': continue
        to = folder/(nbpath2html(rel).with_suffix('.ipynb') if p.suffix == '.ipynb' else rel)
        to.parent.mkdir(parents=True, exist_ok=True)
        if p.suffix == '.ipynb': to.write_text(json.dumps(mended(json.loads(p.read_text(encoding='utf-8')))), encoding='utf-8')
        else: shutil.copy2(p, to)

def katex():
    "KaTeX in a folder of this environment, taken from npm the first time; None where that cannot be had"
    d = Path(sys.prefix)/'share'/f'katex-{katex_version}'
    if d.exists() or not shutil.which('npm'): return d if d.exists() else None
    with tempfile.TemporaryDirectory() as tmp:
        command = ['npm', 'pack', '--silent', '--fetch-retries=0', '--fetch-timeout=30000', f'katex@{katex_version}']
        if subprocess.run(command, cwd=tmp, capture_output=True).returncode: return
        with tarfile.open(next(Path(tmp).glob('*.tgz'))) as t:
            t.extractall(tmp, [o for o in t if re.fullmatch(katex_files, o.name)], filter='data')
        shutil.move(Path(tmp)/'package'/'LICENSE', Path(tmp)/'package'/'dist')
        d.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(Path(tmp)/'package'/'dist', d)
    return d

def widen(m):
    "The tag of a picture, with the width at which to show it: that at 100 dots an inch, where it says that it has more ('retina')"
    if ' width=' in m[0]: return m[0]
    png = Image.open(BytesIO(b64decode(m[1])))
    dpi = png.info.get('dpi', (100,))[0]
    return f'<img width="{round(png.width*100/dpi) if dpi > 110 else png.width}"{m[0][4:]}'

def no_break(s):
    "`90.5 %` stays on one line, and `--flag` in code; other code is left alone"
    def keep(m):
        if m[1] == 'code': return re.sub(r'(?<![\w-])--\w[\w-]*', r'<span class="text-nowrap">\g<0></span>', m[0])
        return f'{m[2]}&nbsp;%' if m[2] else m[0]
    return re.sub(r'<(pre|code|script|style)\b.*?</\1>|(\d(?:</\w+>)?)\s%', keep, s, flags=re.S)

def finish():
    "Pictures at their intended width, KaTeX beside the pages, and no other scripts and no fonts from another host"
    lib = katex()
    if lib: shutil.copytree(lib, out/'site_libs'/'katex', dirs_exist_ok=True)
    else: print('NB: npm could not bring KaTeX, so the pages load it, for the formulas, from its public host.')
    for p in out.rglob('*.html'):
        s = p.read_text(encoding='utf-8')
        if lib: s = re.sub(katex_host, relpath(out/'site_libs'/'katex', p.parent), s)
        s = re.sub(outside_script, '', s)
        s = re.sub(r'<img\b[^>]*src="data:image/png;base64,([^"]+)"[^>]*>', widen, s)
        p.write_text(no_break(s), encoding='utf-8')
    for p in out.rglob('*.css'):
        s = p.read_text(encoding='utf-8')
        new = re.sub(r'@import\s*(?:url\("?|")https://fonts\.googleapis\.com[^)"]*"?\)?\s*;', '', s)
        if new != s: p.write_text(new, encoding='utf-8')

def by_smalldocs(site):
    "Render the folder `site`, with a Markdown copy of each page"
    known = ('format-links', 'commonmark', 'html-math-method', 'html.grid', 'output-file', 'broken link',
             'respect-user-color-scheme', 'html-table-processing', 'keep-md')
    yml = site/'_quarto.yml'
    yml.write_text(yml.read_text(encoding='utf-8').replace('\nwebsite:\n', '\nwebsite:\n  llms-txt: true\n'), encoding='utf-8')
    r = subprocess.run([sys.executable, '-m', 'smalldocs.cli', 'render', '--quiet', site], stderr=subprocess.PIPE, text=True)
    for l in r.stderr.splitlines():
        if not any(o in l for o in known): print(l)
    if r.returncode: sys.exit(r.returncode)

def by_quarto(site):
    "Render the folder `site`, as `nbdev-docs` does"
    try: render_quarto(site, site/'_docs', n_workers=2)
    except RuntimeError as e: sys.exit(str(e))
    _fix_quarto_nav(site/'_docs')

def stop(bad):
    "Print the problems, if there are any, and exit"
    print(*bad, sep='\n', end='\n' if bad else '')
    if bad: sys.exit(f'Docs: {len(bad)} problems, see above.')

def main():
    stop([*odd_notebooks()])
    if '--notebooks' in sys.argv: return
    quarto = shutil.which('quarto')
    print('Building the docs with', 'Quarto.' if quarto else 'smalldocs (Quarto is not on the PATH).', flush=True)
    with tempfile.TemporaryDirectory() as tmp:
        stage(Path(tmp))
        (by_quarto if quarto else by_smalldocs)(Path(tmp))
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(Path(tmp)/'_docs', out)
    finish()
    mend_links()
    docs_llms.write(out)
    docs_llms.write_search(out)
    stop([*problems(pages(), katex_host)])
    print(f'Docs: {len(pages())} pages, {out}/index.html')

if __name__ == '__main__': main()
