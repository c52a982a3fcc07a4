"""Check the layering of imports, and draw it.

A package imports only from packages that stand before it in `order`; `exceptions` lists those that may import from fewer, or stand
outside of the order. The modules of a package do not import each other in a circle. `nn` and `generate` import torch,
`fastai.basics` and the standard library besides. Further: each package says in its `__init__` what lives there, `all` has the names
of each module, the version is the same everywhere, and examples, benchmarks and tools call the library with arguments that it takes.
`make lint` runs this."""
import ast, inspect, re, sys
from configparser import ConfigParser
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.metadata import version
from importlib.util import resolve_name
from pathlib import Path
from textwrap import wrap

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'

order = 'nn generate speed compat data files learner callbacks export'.split()
exceptions = dict(compat='nn', export='nn generate speed compat data files learner', testing='nn generate compat files')
network = 'nn','generate'                                    # these know no text, no data and no learners
hidden = ('compat.ensure','files.format','files.config','learner.checks','testing.attention','testing.model')   # not in `all`

packages = [*order, *(o for o in exceptions if o not in order)]
def allowed(package):
    "Packages from which `package` may import, beside itself"
    return exceptions[package].split() if package in exceptions else order[:order.index(package)]

def package_of(name): return name.split('.')[0]

def imports(path):
    "Modules of ours that `path` imports, as `package.module`, and the others with their full names"
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding='utf8'))):
        if isinstance(node, ast.Import): names |= {o.name for o in node.names}
        if isinstance(node, ast.ImportFrom):
            name = resolve_name('.'*node.level + (node.module or ''), f'{lib}.{path.parent.name}')
            names |= {f'{name}.{o.name}' for o in node.names} if package_of(name)==lib and name.count('.')<2 else {name}
    ours = {o.removeprefix(f'{lib}.') for o in names if package_of(o)==lib}
    return ours,{o for o in names if package_of(o)!=lib}

def modules(folder):
    "`(notebook, imports of ours, other imports)` by `package.module`, in the order of packages and notebooks"
    found = {}
    for path in sorted(Path(folder).rglob('[a-z]*.py')):
        name = '.'.join(path.relative_to(folder).with_suffix('').parts)
        if name!='all': found[name] = re.search(r'File to edit: \S*nbs/(\S+)\.ipynb', path.read_text(encoding='utf8'))[1],*imports(path)
    return dict(sorted(found.items(), key=lambda o: (packages.index(p) if (p := package_of(o[0])) in packages else -1, o[1][0])))

def faults(found):
    "Imports that break the order, misnamed notebooks, and packages without a docstring"
    for name,(notebook,ours,theirs) in found.items():
        package = package_of(name)
        if '.' not in name or package not in packages: yield f'{name} stands in none of the packages {", ".join(packages)}'; continue
        if not re.fullmatch(rf'\d\d_{re.escape(name)}', notebook): yield f'{notebook} makes {name}: name it NN_{name}.ipynb'
        for o in sorted(ours):
            if package_of(o) not in (package,*allowed(package)): yield f'{name} imports {o}: {package} knows {" ".join(allowed(package)) or "none of ours"}'
        for o in sorted(theirs) if package in network else ():
            if o!='fastai.basics' and package_of(o) not in {'torch',*sys.stdlib_module_names}: yield f'{name} imports {o}: {package} knows torch and fastai.basics'
    try: TopologicalSorter({n: ours for n,(_,ours,_) in found.items()}).prepare()
    except CycleError as e: yield f'modules import each other in a circle: {" <- ".join(e.args[1])}'
    for o in packages:
        if not (import_module(f'{lib}.{o}').__doc__ or '').strip(): yield f'{lib}/{o}/__init__.py has no docstring'

def arrows(found):
    "The packages that each package imports from, without those that another one of them imports from"
    direct = {p: {package_of(o) for n,(_,ours,_) in found.items() if package_of(n)==p for o in ours}-{p} for p in packages}
    def below(p): return {o for q in direct[p] for o in (q,*below(q))}
    return {p: [q for q in packages if q in qs and not any(q in below(o) for o in qs)] for p,qs in direct.items()}

def picture(found):
    "An SVG: a box for each package with its modules, and an arrow to each package that it needs, unless another arrow implies it"
    needs,level = arrows(found),{}
    for p in packages: level[p] = 1+max((level[o] for o in needs[p]), default=-1)
    width,gap,at,y = 900,34,{},12
    for i in range(max(level.values()), -1, -1):
        row = [p for p in packages if level[p]==i]
        whole = len(row)==1 and row[0] not in (*network,'speed')       # the left half is for what works without fastai's data
        text = {p: wrap(', '.join(n.split('.',1)[1] for n in found if package_of(n)==p), 120 if whole else 62) for p in row}
        height = 34+17*max(map(len, text.values()))
        for j,p in enumerate(row): at[p] = 12+j*444,y,width-24 if whole else 432,height,text[p]
        y += height+gap
    y += 12-gap
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" width="{width}" height="{y}" font-family="sans-serif" font-size="14" role="img">',
           '<title>Packages and their modules; an arrow leads to a package that is needed</title>',
           '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>',
           f'<rect width="{width}" height="{y}" rx="8" fill="#fff"/>']
    for p,(x,top,w,h,lines) in at.items():
        fill = '#cfe2f7' if p in network else '#d9ead3' if p=='speed' else '#eee' if p not in order else '#f9dcb8'
        out += [f'<rect x="{x}" y="{top}" width="{w}" height="{h}" rx="6" fill="{fill}" stroke="#999"/>',
                f'<text x="{x+12}" y="{top+21}" font-weight="bold" fill="#111">{p}</text>',
                *(f'<text x="{x+12}" y="{top+41+17*i}" font-size="13" fill="#333">{o}</text>' for i,o in enumerate(lines))]
    for p,qs in needs.items():
        for i,q in enumerate(qs):
            (x,top,w,h,_),(x2,top2,w2,_,_) = at[p],at[q]
            start = x+w*(i+1)/(len(qs)+1)
            end = start if x2<start<x2+w2 and w>w2 or x==x2 and w==w2 else x2+w2*(.75 if start>x2+w2 else .25 if start<x2 else .5)
            curve = f'V{top2-1}' if start==end else f'C{start:.0f} {top2} {end:.0f} {top+h} {end:.0f} {top2-1}'
            out.append(f'<path d="M{start:.0f} {top+h}{curve}" fill="none" stroke="#555" stroke-width="1.3" marker-end="url(#a)"/>')
    return '\n'.join([*out,'</svg>\n'])

def lost(found):
    "Names that `all` lacks, and versions that differ"
    everything = import_module(f'{lib}.all')
    for name in found:
        module = None if name in hidden else import_module(f'{lib}.{name}')
        for o in module.__all__ if module else ():
            if getattr(everything, o, None) is not getattr(module, o): yield f'{o} of {name} is not what `all` gives'
    cp = ConfigParser(interpolation=None); cp.read(root/'settings.ini')
    versions = cp['DEFAULT']['version'],import_module(lib).__version__,version(lib)
    if len(set(versions))>1: yield f'settings.ini, __init__.py and pip name the versions {", ".join(versions)}'

def misfits():
    "Calls in examples, benchmarks and tools with more positional arguments than are taken"
    everything = vars(import_module(f'{lib}.all'))
    for path in sorted(o for folder in ('examples','benchmarks','tools') for o in (root/folder).glob('*.py')):
        tree = ast.parse(path.read_text(encoding='utf8'))
        own = {o.name for o in ast.walk(tree) if isinstance(o, (ast.FunctionDef,ast.ClassDef))}
        for o in ast.walk(tree):
            name = getattr(o.func, 'id', '') if isinstance(o, ast.Call) else ''
            f = None if name in own else everything.get(name)
            if not str(getattr(f, '__module__', '')).startswith(lib) or any(isinstance(a, ast.Starred) for a in o.args): continue
            try: inspect.signature(f).bind_partial(*o.args)
            except TypeError as e: yield f'{path.relative_to(root)}:{o.lineno}: {name}: {e}'

if __name__ == '__main__':
    sys.path.insert(0, str(root))
    found = modules(root/lib)
    wrong = [*faults(found),*lost(found),*misfits()]
    if not wrong: (root/'nbs/images/imports.svg').write_text(picture(found))
    print(*wrong, f'Imports: {len(found)} modules in {len(packages)} packages, {len(wrong)} faults', sep='\n')
    sys.exit(bool(wrong))
