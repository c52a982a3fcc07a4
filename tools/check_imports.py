"""Do the modules keep to the plan of the house? And a picture of which imports which.

The network (`network` below) knows torch, `fastai.basics` and itself: nothing of fastai's data or learners. The repairs of fastai
know neither the network nor the learners. And a module imports only from floors below its own; the number of its notebook is its floor. Does `all` give the names
of each module, is there one version, and do programs beside the library still call it as it is? `make lint` asks, and draws the picture."""
import ast, inspect, re, sys
from configparser import ConfigParser
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

root, lib = Path(__file__).resolve().parent.parent, 'transformers_from_scratch'

network = 'attention layers faster models classifier windows seq2seq mlm fast_step beams caches sampling turns bag'.split()
others = {'torch','functools','itertools','threading','timeit','types','typing','warnings','weakref'}       # what the network may import besides

def imports(path):
    "Our modules that `path` imports, and the others, with their full names"
    ours,theirs = set(),set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level: ours.add(node.module)
        elif isinstance(node, ast.ImportFrom): theirs.add(node.module)
        elif isinstance(node, ast.Import): theirs |= {o.name for o in node.names}
    return ours,theirs

def house(folder):
    "`(notebook, imports of ours, other imports)` by module, from the lowest floor up"
    rooms = {}
    for path in Path(folder).glob('[a-z]*.py'):
        if path.stem=='all': continue
        notebook = re.search(r'File to edit: \.\./nbs/(\S+)\.ipynb', path.read_text())[1]
        rooms[path.stem] = notebook,*imports(path)
    return dict(sorted(rooms.items(), key=lambda o: o[1][0]))

def faults(rooms):
    "What does not keep to the plan"
    for name,(notebook,ours,theirs) in rooms.items():
        for o in ours:
            if o in rooms and rooms[o][0].split('_')[0]>=notebook.split('_')[0]: yield f'{notebook} imports {rooms[o][0]}, which is not below it'
        if name in network:
            for o in ours-set(network): yield f'{notebook} is of the network, and imports {o}'
            for o in theirs:
                if o!='fastai.basics' and o.split('.')[0] not in others: yield f'{notebook} is of the network, and imports {o}'
        if name=='fastai_repairs':
            for o in ours-{'text'}: yield f'{notebook} knows of {o}'

def picture(rooms):
    "An SVG: the network on the left, fastai around it on the right, and an arrow to what is imported, unless it comes along with another"
    def all_of(name): return {o for n in rooms[name][1] for o in (n, *all_of(n))}
    direct = {n: {o for o in rooms[n][1] if not any(o in all_of(p) for p in rooms[n][1]-{o})} for n in rooms}
    level = {}
    for n in rooms: level[n] = 1+max((level[o] for o in rooms[n][1]), default=-1)
    at,used = {},{}
    for n in rooms:
        side = 0 if n in network else 1
        i = used.get((side,level[n]), 0); used[side,level[n]] = i+1
        at[n] = (30+side*310+i*150, 40+(max(level.values())-level[n])*64)
    height,width = 64*(max(level.values())+1)+60,max(x for x,_ in at.values())+160
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="sans-serif" font-size="13" role="img">',
           '<title>Which module imports which: the network on the left, fastai around it on the right</title>',
           '<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#888"/></marker></defs>',
           f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>',
           f'<rect x="12" y="28" width="306" height="{height-40}" rx="8" fill="#eef4fb"/><text x="24" y="20" fill="#333">the network: torch, fastai.basics</text>',
           f'<rect x="328" y="28" width="{width-340}" height="{height-40}" rx="8" fill="#fdf3e7"/><text x="340" y="20" fill="#333">fastai around it: data, learners, repairs</text>']
    for n,froms in direct.items():
        for o in sorted(froms):
            (x,y),(x2,y2) = at[n],at[o]
            out.append(f'<path d="M{x+65} {y+32}C{x+65} {y+52} {x2+65} {y2-22} {x2+65} {y2}" fill="none" stroke="#888" marker-end="url(#a)"/>')
    for n,(x,y) in at.items():
        fill = '#cfe2f7' if n in network else '#f9dcb8'
        out.append(f'<rect x="{x}" y="{y}" width="130" height="32" rx="5" fill="{fill}" stroke="#999"/>'
                   f'<text x="{x+65}" y="{y+14}" text-anchor="middle" fill="#111">{n}</text><text x="{x+65}" y="{y+27}" text-anchor="middle" font-size="10" fill="#555">{rooms[n][0]}</text>')
    return '\n'.join(out+['</svg>\n'])

def lost(rooms):
    "What `all` does not give, and versions that differ"
    everything = import_module(f'{lib}.all')
    for name in rooms:
        # what other modules use is no tool of a user's, and kits for tests are imported by their module
        if name in ('guards','files','descriptions','check_attention','check_model'): continue
        module = import_module(f'{lib}.{name}')
        for o in module.__all__:
            if getattr(everything, o, None) is not getattr(module, o): yield f'{o} of {name} is not what `all` gives'
    cp = ConfigParser(interpolation=None); cp.read(root/'settings.ini')
    says = cp['DEFAULT']['version'],import_module(lib).__version__,version(lib)
    if len(set(says))>1: yield f'settings.ini, __init__.py and pip name the versions {", ".join(says)}'

def misfits():
    "Calls in examples, benchmarks and tools with more arguments in order than are taken"
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
    rooms = house(root/lib)
    wrong = [*faults(rooms),*lost(rooms),*misfits()]
    (root/'nbs/images/imports.svg').write_text(picture(rooms))
    print(*wrong, f'Imports: {len(rooms)} modules, {len(wrong)} faults', sep='\n')
    sys.exit(bool(wrong))
