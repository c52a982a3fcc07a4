"""Does it pay off to read long reviews in windows? Accuracy on 2,000 test reviews of IMDB of a model that reads 128 tokens at once.

    python benchmarks/windows.py              # two seeds; three quarters of an hour on one core

Models are trained with `head_crop`, with `head_tail_crop` and with windows, on the same 4,000 reviews; each is evaluated with its crop, and with windows.
"""
import warnings
from fastcore.script import call_parse
from transformers_from_scratch.all import *

def reviews(path, part, n, rng):
    "`n` reviews of a part, half of them positive"
    return [(o.read_text(), label, part=='test') for label in ('pos','neg')
            for o in rng.sample(sorted((path/part/label).iterdir(), key=str), n//2)]

@call_parse
def main(
    seeds:int=2, # Training runs of each kind
    max_len:int=128, # Tokens that are read at once
    only:str=None, # One kind of training: 'head', 'ends' or 'windows'; None is all
):
    "Train, evaluate, and print a line for each training run"
    warnings.filterwarnings('ignore')
    torch.set_num_threads(1)
    path,rng = fastai_cfg().path('data')/'imdb',random.Random(0)
    rows = reviews(path, 'train', 4000, rng) + reviews(path, 'test', 2000, rng)
    df = pd.DataFrame(rows, columns=['text','label','is_valid'])
    df['text'] = df.text.str.replace('<br />', ' ')
    dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=32, num_workers=0, seed=0)
    longer = np.mean([len(o[0])>max_len for o in dls.valid_ds])
    print(f'{longer:.0%} of the test reviews are longer than {max_len} tokens')
    asked = {'crop': None, 'mean': in_windows, 'max': partial(in_windows, pool=max_pool),
             'mean, overlap 0': partial(in_windows, overlap=0), 'mean, overlap half': partial(in_windows, overlap=max_len//2)}
    kinds = dict(head=(head_crop,None), ends=(head_tail_crop,None), windows=(head_crop,in_windows))
    kinds = {n: o for n,o in kinds.items() if only in (None,n)}
    for seed,(kind,(crop,windows)) in itertools.product(range(seeds), kinds.items()):
        set_seed(seed)
        learn = transformer_classifier_learner(dls, k=64, heads=4, depth=2, max_len=max_len, dropout=.2, word_dropout=.3,
                                               metrics=accuracy, crop=crop, windows=windows)
        start,res = time.time(),{}
        with learn.no_bar(), learn.no_logging():
            learn.fit_one_cycle(4, 4e-3)
            took = time.time()-start
            for name,o in asked.items():
                use_windows(learn.model, o)
                res[name] = round(learn.validate()[1], 4)
        print(f'seed {seed}, trained with {kind}, {took:.0f} s: {res}', flush=True)
