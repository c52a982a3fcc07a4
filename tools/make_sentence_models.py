"""Make a small random sentence encoder with sentence-transformers, and the vectors of texts that it gives:

    make .venv-bench/.installed      # the environment of `make bench`
    .venv-bench/bin/python tools/make_sentence_models.py

It writes into nbs/data/sentence what sentence-transformers itself saves (a BERT of nbs/data/hf, the first token, two dense layers, length 1,
prompts), and golden.safetensors: `saved`, its vectors of `texts` (in the metadata), by default, and `saved NAME` with a prompt; `POOL`,
`POOL Dense`, `POOL Normalize`, `POOL Dense Normalize` for each pool, at most 12 tokens, with `linear.weight` and `linear.bias` of the dense
layer; and `lower`, the mean of a RoBERTa that reads lower case.

    .venv-bench/bin/python tools/make_sentence_models.py --check FOLDER

opens what `save_pretrained` wrote of that encoder, and compares."""
import argparse, json, logging, torch
from pathlib import Path
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

here = Path(__file__).resolve().parent.parent/'nbs/data'
texts = ['The cat sat on the mat.', 'WHAT is The Name of the CITY?', 'two  spaces   and more', ' a space in front', 'a line\nand another',
         'a smile 😀 and a 👩‍💻', 'café naïve Ünïcödé', '我是他', '', 'a', 'In 2019 there were 1,234,567 of them: 3.5%',
         'the movie was long and long '*9, "I don't think they're \"new\"; we've seen it!"]

def vectors(model, **kwargs): return torch.from_numpy(model.encode(texts, show_progress_bar=False, **kwargs)).contiguous()

def check(folder):
    "The largest difference of what sentence-transformers reads in `folder` from the golden vectors"
    model,golden = SentenceTransformer(str(folder), device='cpu'),load_file(here/'sentence'/'golden.safetensors')
    pairs = ((vectors(model), 'saved'), *((vectors(model, prompt_name=o), f'saved {o}') for o in ('query','passage')))
    return max((a-golden[name]).abs().max().item() for a,name in pairs)

def make(out, seed):
    "Write the folder `out`"
    torch.manual_seed(seed)
    bert,dense = Transformer(str(here/'hf/bert'), max_seq_length=12),Dense(8, 6)
    saved = SentenceTransformer(modules=[bert, Pooling(8, 'cls'), Dense(8, 6, bias=False, activation_function=None), Dense(6, 5), Normalize()],
        prompts=dict(query='the name of: ', passage='cat '), default_prompt_name='passage', device='cpu')
    golden = {'saved': vectors(saved), **{f'saved {o}': vectors(saved, prompt_name=o) for o in ('query','passage')}, 'saved ': vectors(saved, prompt='')}
    for pool in ('mean','cls','max','lasttoken'):
        for more in ([], [dense], [Normalize()], [dense, Normalize()]):
            name = ' '.join([pool, *(type(o).__name__ for o in more)])
            golden[name] = vectors(SentenceTransformer(modules=[bert, Pooling(8, pool), *more], device='cpu'))
    lower = Transformer(str(here/'hf/roberta'), max_seq_length=12, do_lower_case=True)
    golden['lower'] = vectors(SentenceTransformer(modules=[lower, Pooling(8)], device='cpu'))
    saved.save(str(out), create_model_card=False)
    golden |= {n: o.detach() for n,o in dense.state_dict().items()}
    save_file(golden, out/'golden.safetensors', metadata=dict(texts=json.dumps(texts)))
    for o in out.rglob('*'):
        if o.is_file(): o.chmod(0o644) # safetensors writes files for their owner alone

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--out', type=Path, default=here/'sentence')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--check', type=Path, help='a folder that `save_pretrained` wrote')
    args = parser.parse_args()
    logging.disable()
    if args.check: print(f'{args.check}: largest difference {check(args.check):.0e}')
    else: make(args.out, args.seed)
