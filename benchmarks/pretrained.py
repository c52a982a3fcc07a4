"""A pre-trained encoder on few and many labels, beside what it has to beat. Hugging Face's side is `pretrained_hf.py`; both learn from the same labels.

    python benchmarks/pretrained.py --model FOLDER --data trec --labels 100 --seed 0      # one line of JSON
    python benchmarks/pretrained.py --model FOLDER --data imdb --labels 100 --epochs 12 --crop ends_crop

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it). `--labels 0` takes all. The recipe is fastai's: the head learns first, then all of it, the lower blocks
more slowly. `--lora 8` trains low-rank changes of the attention instead. Time is that of training alone; the texts to check with are read once, at the end.
"""
import json, sys, time
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent/'examples'))
from few_labels import split
from imdb import SkipValidation

def dls_of(pre, train, test, bs):
    df = pd.concat([train.assign(is_valid=False), test.assign(is_valid=True)], ignore_index=True)
    return TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', tok_tfm=pre.tokenizer, text_vocab=pre.vocab, bs=bs, num_workers=0)

@call_parse
def main(
    model:str, # Folder of the checkpoint
    data:str='trec', # 'imdb', 'trec' or 'mr'
    labels:int=100, # Labels to learn from; 0 is all
    seed:int=0, # Which labels, and all else that is drawn
    epochs:int=8, # Epochs of all of it, after those of the head
    head_epochs:int=1, # Epochs of the head alone, before
    lr:float=1e-3, # Highest learning rate of the head while it learns alone; half of it afterwards
    lr_mult:float=10., # That of the embedding is so many times smaller
    bs:int=16, # Texts in a batch
    max_len:int=128, # Tokens of a text to read
    crop:str='head_crop', # Which of them
    dropout:float=.1, # Dropout
    lora_r:int=0, # Rank of the changes for LoRA; 0 trains all weights
    n_test:int=0, # Texts to check with; 0 is all
    threads:int=2, # Threads for torch
):
    "Print what fine-tuning gives"
    torch.set_num_threads(threads); set_seed(seed)
    pre = load_pretrained(model)
    train,test = split(data, labels or None, seed)
    if n_test: test = test.sample(n_test, random_state=0)
    dls = dls_of(pre, train, test, bs)
    learn = transformer_classifier_learner(dls, pretrained=pre, max_len=max_len, crop=globals()[crop], dropout=dropout, metrics=accuracy)
    if lora_r: lora(learn, r=lora_r)
    learn.remove_cb(ProgressCallback)
    start = time.time()
    with learn.no_logging(): learn.fine_tune(epochs, lr, freeze_epochs=head_epochs, lr_mult=lr_mult, cbs=SkipValidation())
    minutes = (time.time()-start)/60
    print(json.dumps(dict(data=data, labels=len(train), seed=seed, accuracy=round(learn.validate()[1], 4), training_minutes=round(minutes, 2), epochs=epochs,
        head_epochs=head_epochs, lr=lr, lr_mult=lr_mult, bs=bs, max_len=max_len, crop=crop, dropout=dropout, lora=lora_r, n_test=len(test), threads=threads)), flush=True)
