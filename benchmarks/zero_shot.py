"""Zero-shot: what descriptions of the classes are worth, and what their words change.

    python benchmarks/zero_shot.py FOLDER

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py` fetches it). For TREC and MR it prints the accuracy on the held-out fifth: by the names of the classes, by a sentence each, by several; with and
without the mean of each class over the training texts, which are read without their labels. `by hand` is the nearest vector among those of `embed`, without a classifier.
"""
import json, sys, warnings
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
sys.path.insert(0, str(Path(__file__).parent))
from few_labels import split

words = {
    'trec': {
        'names': dict(ABBR='abbreviation', DESC='description', ENTY='entity', HUM='human', LOC='location', NUM='number'),
        'a sentence': dict(ABBR='This question asks what an abbreviation stands for.', DESC='This question asks for a definition, a description or a reason.',
            ENTY='This question asks for a thing, such as an animal, a food or a product.', HUM='This question asks who a person or a group is.',
            LOC='This question asks for a place, such as a city or a country.', NUM='This question asks for a number, a date or an amount.'),
        'several': dict(ABBR=['What does it stand for?','What is the abbreviation of this?','What is the full form of the acronym?'],
            DESC=['What is this?','How does it work?','Why does this happen?','What does the word mean?'],
            ENTY=['What animal is it?','What kind of food is that?','What is the name of the book?','What color is it?','Which sport is this?'],
            HUM=['Who was the man?','Who invented it?','What person did that?','Which company made it?'],
            LOC=['Where is it?','What city is that?','In which country does it lie?','Which state is it in?'],
            NUM=['How many are there?','When did it happen?','How much does it cost?','How old is it?','How far is it?'])},
    'mr': {
        'names': dict(neg='negative', pos='positive'),
        'a sentence': dict(neg='This is a negative review of a bad film.', pos='This is a positive review of a good film.'),
        'several': dict(neg=['This film is terrible.','A dull and boring movie.','It was a waste of time.','I hated it.'],
                        pos=['This film is wonderful.','A moving and funny movie.','It is worth seeing.','I loved it.'])}}

@call_parse
def main(
    model:str, # Folder of the checkpoint
    n_test:int=0, # Held-out texts; 0 is all
    threads:int=2, # Threads for torch
):
    "Print a line of JSON for each set of words"
    torch.set_num_threads(threads)
    warnings.filterwarnings('ignore')
    pre = load_pretrained(model)
    for name,sets in words.items():
        train,test = split(name, None, 0)
        if n_test: test = test.sample(n_test, random_state=0)
        vectors = pre.embed(test.text.tolist(), no_bar=True)
        for says,classes in sets.items():
            labels = sorted(test.label.unique())
            assert labels==sorted(classes), labels
            rows = torch.stack([F.normalize(pre.embed(L(classes[o])).mean(0), dim=-1) for o in labels])
            want = tensor([labels.index(o) for o in test.label])
            right = dict(by_hand=((vectors@rows.T).argmax(1)==want).float().mean().item())
            for key,texts in (('zero_shot',None), ('mean_off',train.text.tolist())):
                learn = zero_shot(pre, classes, texts)
                with learn.no_bar(): preds = learn.get_preds(dl=learn.dls.test_dl(test.text.tolist()))[0]
                right[key] = (preds.argmax(1)==want).float().mean().item()
            print(json.dumps(dict(data=name, words=says, **{k: round(o, 4) for k,o in right.items()})), flush=True)
