"""Train, explain and take apart small text transformers with fastai, built from scratch in notebooks

```python
from fastai.text.all import *
from transformers_from_scratch.all import *

set_seed(42)
df = toy_reviews(3000)
# yours: pd.read_csv('reviews.csv'), and valid_pct=0.2, seed=42 instead of valid_col
dls = TextDataLoaders.from_df(df, text_col='text', label_col='label', valid_col='is_valid', bs=32)
learn = transformer_classifier_learner(dls, k=64, heads=4, depth=2, max_len=64, metrics=accuracy)
learn.fit_one_cycle(6, 2e-3)
```

```python
learn.explain('The cast is far from bad.')      # which words decided
# Other learners, from dataloaders of fastai:
#   transformer_lm_learner       a language model: learn.predict('The film', n_words=40) writes
#   transformer_mlm_learner      masked words
#   transformer_seq2seq_learner  from one text to another
#   transformer_tagger_learner   a label for each word
#   bag_learner                  counts of words and phrases, in seconds
# load_pretrained(folder or name) reads a checkpoint of Hugging Face: an encoder for `pretrained=` of a learner.
# from transformers_from_scratch.testing import check_model: tries any PyTorch model that reads ids.
```"""

__version__ = "0.1.0"
