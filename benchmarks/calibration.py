"""How honest are the probabilities of a classifier of film reviews, before and after `calibrate`?

    python examples/imdb.py labels --seed 0                    # first train one
    python benchmarks/calibration.py output/imdb/labels-0/all.pkl

The temperature is fitted on 2,000 reviews of `test`, sampled with seed 0; error, loss and accuracy are those of the others. Prints a line of JSON.
"""
import json, sys
from pathlib import Path
from fastai.text.all import *
from fastcore.script import call_parse
from transformers_from_scratch.all import *
sys.path.insert(0, str(Path(__file__).parent.parent/'examples'))
from gated_bag import *  # classes of the pickle
from imdb import table

def calibration_error(logits, y, n_bins=10):
    "Mean distance between confidence and accuracy, in `n_bins` of equal size"
    confidence,predicted = logits.softmax(1).max(1)
    order = confidence.argsort()
    distances = [len(o)*(confidence[o].mean()-(predicted==y)[o].float().mean()).abs() for o in order.chunk(n_bins)]
    return sum(distances).item()/len(y)

@call_parse
def main(
    file:str, # What `imdb.py` exported
    threads:int=2, # Threads for torch
):
    "Print calibration error, loss and accuracy before and after, and the temperature"
    torch.set_num_threads(threads)
    learn,df = load_learner(file),table(untar_data(URLs.IMDB), ['test'])
    fit = df.sample(2000, random_state=0)
    def dl(df): return learn.dls.test_dl(df, with_labels=True)
    def look():
        with learn.no_bar(): logits,y = learn.get_preds(dl=dl(df.drop(fit.index)), act=noop)
        error,loss,acc = calibration_error(logits, y),F.cross_entropy(logits, y).item(),accuracy(logits, y).item()
        return dict(error=round(error, 4), loss=round(loss, 4), accuracy=round(100*acc, 2))
    before = look()
    with learn.no_bar(): temperature = learn.calibrate(dl=dl(fit))
    print(json.dumps(dict(file=file, temperature=round(temperature, 3), before=before, after=look(), reviews=len(df)-len(fit))))
