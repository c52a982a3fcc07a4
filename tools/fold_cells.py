"""Fold in Jupyter, too, what the docs fold or hide: the code of such cells, and what a solution prints. `make lint` runs it."""
from pathlib import Path
from fastcore.nbio import read_nb, write_nb

def folded(cell):
    "The metadata with which Jupyter opens `cell`"
    source = cell.source
    if cell.cell_type!='code' or not ('#| code-fold: true' in source or source.startswith('#| hide')): return {}
    return dict(jupyter=dict(outputs_hidden='#| output: false' in source, source_hidden=True))

def main():
    for page in Path('nbs').rglob('[!.]*.ipynb'):
        if 'tests' in page.parts or '.ipynb_checkpoints' in page.parts: continue
        nb = read_nb(page)
        for cell in nb.cells:
            cell.metadata.pop('jupyter', None)
            cell.metadata.update(folded(cell))
        write_nb(nb, page)

if __name__=='__main__': main()
