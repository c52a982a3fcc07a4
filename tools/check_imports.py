"""Check the layering of imports, and write the table of packages and their picture into CONTRIBUTING.md.

A package imports only from packages that stand before it in `order`; `exceptions` lists those that may import from fewer, or stand
outside of the order. A notebook is named as its module: `nbs/nn/attention.ipynb`. The modules of a package do not import each other in a circle. `nn` and `generate` import torch,
`fastai.basics` and the standard library besides. Further: each package says in its `__init__` what lives there, `all` has the names
of each module, every name that a function uses is there, none is defined twice, what a script imports is there, and the version is the same everywhere. `make lint` runs this."""
import ast, builtins, dis, re, sys
from configparser import ConfigParser
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import CodeType

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'

order = 'nn text generate fast files pretrained learner train use'.split()
exceptions = dict(generate='nn', fast='nn generate', files='nn text', testing='nn generate text files')
network = 'nn','generate'                                    # these know no text, no data and no learners
hidden = ('use.predict','text.ensure','files.format','files.describe','learner.checks',*(f'pretrained.{o}' for o in 'encoders decoders pairs'.split()),*(f'testing.{o}' for o in 'attention causes checks command model parts pieces trial'.split()))   # not in `all`

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
        if notebook!=name.replace('.', '/'): yield f'nbs/{notebook}.ipynb makes {name}: name it nbs/{name.replace(".", "/")}.ipynb'
        odd = [o for o in ours if package_of(o) not in (package,*allowed(package))]
        if package in network: odd += [o for o in theirs if o!='fastai.basics' and package_of(o) not in {'torch',*sys.stdlib_module_names}]
        yield from (f'{name} imports {o}, which {package} may not' for o in sorted(odd))
    try: TopologicalSorter({n: ours for n,(_,ours,_) in found.items()}).prepare()
    except CycleError as e: yield f'modules import each other in a circle: {" <- ".join(e.args[1])}'
    for o in packages:
        if not (import_module(f'{lib}.{o}').__doc__ or '').strip(): yield f'{lib}/{o}/__init__.py has no docstring'

def arrows(found):
    "The packages that each package imports from, without those that another one of them imports from"
    direct = {p: {package_of(o) for n,(_,ours,_) in found.items() if package_of(n)==p for o in ours}-{p} for p in packages}
    def below(p): return {o for q in direct[p] for o in (q,*below(q))}
    return {p: [q for q in packages if q in qs and not any(q in below(o) for o in qs)] for p,qs in direct.items()}

def rows(found):
    "A row for each package: its name, modules, and docstring"
    for p in packages:
        names = ', '.join(n.split('.')[1] for n in found if package_of(n)==p)
        about = ' '.join(import_module(f'{lib}.{p}').__doc__.split())
        yield f'| `{p}` | {names} | {about} |'

def draw(found, path):
    "Write into the Markdown file `path` the table of packages, and a Mermaid diagram: an arrow to each package that one needs, unless another arrow implies it"
    lines = '\n'.join(f'  {p} --> {q}' for p,qs in arrows(found).items() for q in qs)
    text = path.read_text(encoding='utf8')
    text = re.sub(r'(```mermaid\ngraph TD\n).*?(\n```)', rf'\g<1>{lines}\2', text, flags=re.S)
    text = re.sub(r'(\| package \|.*?\n\|[-|]+\n).*?(?=\n\n)', lambda m: m[1]+'\n'.join(rows(found)), text, flags=re.S)
    path.write_text(text, encoding='utf8')

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

def codes(code):
    "A code object and those within it"
    yield code
    for o in code.co_consts:
        if isinstance(o, CodeType): yield from codes(o)

def undefined(found):
    "Names that functions of a module use, and that nothing defines: ruff can't see them behind `import *`"
    for name in found:
        module = import_module(f'{lib}.{name}')
        used = {i.argval for code in codes(compile(Path(module.__file__).read_text(encoding='utf8'), name, 'exec'))
                for i in dis.get_instructions(code) if i.opname=='LOAD_GLOBAL'}
        for o in sorted(used):
            if not hasattr(module, o) and not hasattr(builtins, o): yield f'{name} uses `{o}`, which it does not import'

def replaced(found):
    "Functions, methods, patches and classes that a later one of the same name replaces: ruff's F811 is off, for those of `dispatch`"
    for name in found:
        module = ast.parse(Path(import_module(f'{lib}.{name}').__file__).read_text(encoding='utf8'))
        for owner in (module, *(o for o in module.body if isinstance(o, ast.ClassDef))):
            names = []
            for o in owner.body:
                if not isinstance(o, (ast.FunctionDef,ast.ClassDef)) or o.name in ('encodes','decodes'): continue      # a `Transform` has one for each type
                decorators = [ast.unparse(d) for d in o.decorator_list]
                if any(d.endswith(('.dispatch','.setter')) for d in decorators): continue
                of = ast.unparse(o.args.args[0].annotation)+'.' if 'patch' in decorators else ''
                names.append(of+o.name)
            for o in sorted({o for o in names if names.count(o)>1}): yield f'{name} defines `{o}` twice: the second replaces the first'

def absent():
    "What scripts import first of all, and which is neither a file here nor installed"
    folders = root,*(root/o for o in ('tools','benchmarks','examples','tools/faulty_models'))
    for script in sorted(o for folder in folders[1:] for o in folder.glob('*.py')):
        body = ast.parse(script.read_text(encoding='utf8')).body
        names = [o.module for o in body if isinstance(o, ast.ImportFrom)] + [a.name for o in body if isinstance(o, ast.Import) for a in o.names]
        for name in {o.split('.')[0] for o in names} - {'transformers','datasets','setfit','sentence_transformers'}:     # of .venv-bench
            if not any((o/f'{name}.py').exists() for o in folders) and find_spec(name) is None: yield f'{script.name} imports `{name}`, which is not there'

if __name__ == '__main__':
    sys.path.insert(0, str(root))
    found = modules(root/lib)
    wrong = [*faults(found),*lost(found),*undefined(found),*replaced(found),*absent()]
    if not wrong: draw(found, root/'CONTRIBUTING.md')
    print(*wrong, f'Imports: {len(found)} modules in {len(packages)} packages, {len(wrong)} faults', sep='\n')
    sys.exit(bool(wrong))
