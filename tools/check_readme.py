"""Run the Python of README.md from top to bottom, as a reader would, and compare what it prints with what stands there.

    python tools/check_readme.py            # about two minutes

Blocks in ``` are run, and the ```text below each is compared; blocks in ~~~ need data, weights or folders that no clone has, and are only
compiled. Each kind of processor adds up in an order of its own, so numbers may differ a little. Of a text that a model wrote, the first words
must agree, and it must be at least half and at most twice as long; of a line with marks, all words, and the sides that they speak for."""
import os, re, sys, tempfile
from pathlib import Path
from execnb.shell import CaptureShell

root = Path(__file__).resolve().parent.parent
os.environ['MPLBACKEND'] = 'Agg'

def blocks(md):
    "Yield `(fence, language, code, line)` of each fenced block"
    for m in re.finditer(r'^(```|~~~)(\w*)\n(.*?)^\1$', md, flags=re.M | re.S):
        yield m[1], m[2], m[3].strip('\n'), md[:m.start()].count('\n') + 2

def run(code, shell):
    "Lines that a cell with this code prints, and the value of its last expression"
    out = shell.run(code)
    if shell.exc: raise shell.exc
    said = '\n'.join(''.join(o.get('text') or o.get('data', {}).get('text/plain', '')).strip('\n') for o in out)
    return '\n'.join(o for o in said.split('\n') if '\r' not in o).strip('\n')

def numbers(line): return [(float(o.replace(',', '')), '%' in p) for o, p in re.findall(r'(-?\d[\d,]*\.?\d*)(%?)', line)]

def near(a, b):
    "Compare two numbers of a line, with room for what processors add up in another order"
    (x, percent), (y, _) = a, b
    return abs(x-y) <= (12 if percent else max(.15*abs(x), .15))

def marks(line): return {w: (m[0], len(m)) for w, m in re.findall(r'(\S+?)\[([+-]+)\]', line)}

def alike(want, got):
    "Compare two lines: equal words and near numbers, or a text with the same beginning; words with two marks or three speak for the same side"
    here = marks(got)
    if any(n > 1 and here.get(w, '?')[0] != sign for w, (sign, n) in marks(want).items()): return False
    plain = [re.sub(r'\[[+-]+\]', '', o) for o in (want, got)]
    if re.sub(r'[\d.,]+', '#', plain[0]) == re.sub(r'[\d.,]+', '#', plain[1]): return all(map(near, numbers(plain[0]), numbers(plain[1])))
    a, b = (o.split() for o in plain)
    dull = any(b[i:i+4] == b[i:i+1]*4 for i in range(len(b)-3))
    return not numbers(want) and a[:3] == b[:3] and .5 <= len(b)/len(a) <= 2 and not dull

def compare(want, got):
    "Compare two outputs: 'the same', 'alike', or None"
    if want == got: return 'the same'
    a, b = want.split('\n'), got.split('\n')
    return 'alike' if len(a) == len(b) and all(map(alike, a, b)) else None

def main():
    "Run all blocks, and print how each went; returns the number of those that are wrong"
    found, shell, wrong, out = list(blocks((root/'README.md').read_text(encoding='utf-8'))), CaptureShell(), 0, ''
    for i, (fence, lang, code, line) in enumerate(found):
        if lang == 'python' and fence == '~~~': compile(code, 'README.md', 'exec'); print(f'line {line}: compiled; to run it takes data that no clone has')
        if lang == 'python' and fence == '```':
            out = run(code, shell)
            shown = found[i+1:] and found[i+1][1] == 'text'
            if not shown: print(f'line {line}: ran')
        if lang == 'text' and fence == '```':
            says = compare(code, out)
            print(f'line {line}: {says or "NOT WHAT COMES OUT"}')
            if says != 'the same': print(f'--- README.md\n{code}\n--- here\n{out}')
            wrong += says is None
    if not any(o[:2] == ('```', 'text') for o in found): wrong += 1; print('there is no output in README.md')
    return wrong

if __name__ == '__main__':
    for want, got, res in (('pos 92%  A film.', 'pos 85%  A film.', 'alike'), ('pos 92%  A film.', 'neg 92%  A film.', None), ('pos 92%  A film.', 'pos 52%  A film.', None),
                           ('1,968 words, perplexity 79', '1,968 words, perplexity 85', 'alike'), ('1,968 words, perplexity 79', '968 words, perplexity 79', None),
                           ('a dull[++] film', 'a dull[+] film', 'alike'), ('a dull[++] film', 'a good[++] film', None),
                           ('a dull[+++] film', 'a dull[-] film', None), ('a dull[+++] film', 'a dull[++] film', 'alike'), ('far[++] bad', 'far bad[--]', None), ('The value of the film is good', 'The value of', None), ('It is so good', 'It is a a a a', None), ('A class is a thing', 'A class is that one', 'alike'), ('a\nb', 'a', None), ('x', 'x', 'the same')):
        assert compare(want, got) == res, (want, got)
    sys.path.insert(0, str(root))
    with tempfile.TemporaryDirectory() as d: os.chdir(d); wrong = main(); os.chdir(root)
    sys.exit(f'{wrong} outputs of README.md are not what its code gives' if wrong else 0)
