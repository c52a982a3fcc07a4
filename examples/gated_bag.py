"""A classifier whose transformer weighs the phrases of a trained bag of n-grams, as imdb.py trains it

    learn = transformer_classifier_learner(dls, pool=mean_max_pool)
    bag = add_bag(learn)                         # before training; after `load_encoder`
    learn.fit_one_cycle(1, 1e-3)
    learn.export('both.pkl')                     # to load it: `from gated_bag import *`, then `load_learner`

The bag says what a phrase means, and the transformer how much more or less it counts where it stands, by a *gate* for the n-grams that end at each
token: see *A bag that a transformer weighs* on the page *Bag of n-grams*. A bag has memorized its training texts, so in training each text is read with
the numbers of a bag that was trained without it.
"""
from fastai.text.all import *
from transformers_from_scratch.all import *

def text_keys(bag, ids):
    "Keys of the different n-grams of each text `(b,m)`"
    return each_once(ngram_keys(ids.as_subclass(Tensor), bag.n_grams, bag.skip))

def keys_at_words(ids, n_grams, skip):
    "Key of the n-gram of each length that ends at each word `(b,t',n_grams)`; 0 where there is none"
    width = ngram_keys(ids, 1, skip).shape[1]
    parts = ngram_keys(ids, n_grams, skip).split([max(width-n, 0) for n in range(n_grams)], 1)
    return torch.stack([F.pad(o, (width-o.shape[1], 0)) for o in parts], 2)

class GatedBag(Module):
    "Trained bag whose n-grams a transformer weighs; in training its texts get held-out bags"
    def __init__(self,
        n_out:int, # Number of classes, or labels
        k:int, # Width of the transformer's vectors
        n_grams:int=3, # Number of words in the longest n-gram
        skip:tuple=(1,) # Ids that are not words: padding and perhaps special tokens
    ):
        store_attr('n_out,n_grams,skip')
        self.register_buffer('keys', torch.zeros(1).long())  # of the known n-grams, sorted; the first row is for unknown ones
        self.register_buffer('adds', torch.zeros(1, n_out))  # what each adds to the logits
        self.register_buffer('bias', torch.zeros(n_out))
        # of the held-out bags, one for each part of the training texts; they are not in the `state_dict`
        self.register_buffer('bags', torch.zeros(0), persistent=False)
        self.register_buffer('biases', torch.zeros(0), persistent=False)
        self.gain = nn.Parameter(torch.ones(1))
        self.gate = nn.Linear(k, n_grams)
        nn.init.zeros_(self.gate.weight)
        nn.init.zeros_(self.gate.bias)

    @torch.no_grad()
    def load_bag(self,
        bag:NgramBag # A trained bag, of all training texts
    )->Module: # The gated bag itself
        "Copy the n-grams of `bag` and their numbers"
        self.keys = bag.keys.clone()
        self.adds = bag.parts(bag.keys[None])[0]
        self.bias = bag.bias.detach().clone()
        self.bags = self.adds[None][:0]
        self.biases = self.bias[None][:0]
        return self

    @torch.no_grad()
    def hold_out(self,
        bag:NgramBag # A bag trained on all parts except the next one: first without part 0, then without 1, and so on
    ):
        "Add the bag to use for the texts of that part in training"
        self.bags = torch.cat([self.bags, bag.parts(self.keys[None])])     # (bags,1+n_rows,n_out)
        self.biases = torch.cat([self.biases, bag.bias.detach()[None]])    # (bags,n_out)

    def part_of(self,
        ids:Tensor, # Token ids `(b,t)`, padding anywhere
        n_parts:int # Number of parts
    )->Tensor: # `(b,)`, from 0
        "Number of the part that a text belongs to, computed from its n-grams: copies are in the same part"
        return (text_keys(self, ids)**3).sum(1) % n_parts  # cubed: plain sums collide

    def parts(self,
        keys:Tensor, # Of n-grams `(b,m)`
        bag:Tensor=None # Numbers of held-out bags `(b,)`; None: the bag of all texts
    )->Tensor: # `(b,m,n_out)`
        "Contribution of each n-gram to the logits"
        row = torch.searchsorted(self.keys, keys).clamp(max=len(self.keys)-1)
        row = row.where(self.keys[row]==keys, 0)                                             # (b,m)
        if bag is None: return F.embedding(row, self.adds)
        return F.embedding(row + (bag*len(self.keys))[:,None], self.bags.flatten(0, 1))

    def forward(self,
        ids:Tensor # Token ids `(b,t)`, padding anywhere
    )->tuple: # Logits of the bag `(b,n_out)`; contributions of the n-grams `(b,t,n_grams*n_out)`
        "Sum and contributions of n-grams; raises `ValueError` in training without held-out bags"
        ids = ids.as_subclass(Tensor)
        bag,bias = None,self.bias
        if self.training and len(self.keys)>1:
            if not len(self.bags): raise ValueError('the bag has memorized its training texts: call `add_bag(learn)` '
                                                    'before training, also after loading a file')
            bag = self.part_of(ids, len(self.bags))                                          # (b,)
            bias = self.biases[bag]                                                          # (b,n_out)
        keys = keys_at_words(ids, self.n_grams, self.skip).flatten(1)                        # (b,t'*n_grams)
        logits = bias + self.parts(each_once(keys), bag).sum(1)
        adds = self.parts(keys, bag).unflatten(1, (-1,self.n_grams)).flatten(2)              # (b,t',n_grams*n_out)
        is_word = ~torch.isin(ids, ids.new_tensor(self.skip))                                # (b,t)
        return logits,to_columns(adds, is_word.cumsum(1)*is_word)

    def weigh(self,
        logits:Tensor, # Logits of the bag `(b,n_out)`
        adds:Tensor, # Contributions of the n-grams `(b,t',n_grams*n_out)`, at the tokens that are read
        x:Tensor # Vectors of these tokens `(b,t',k)`
    )->Tensor: # Logits `(b,n_out)`
        "Logits of the bag, plus the contribution of each n-gram times its gate, times the gain"
        adds = adds.unflatten(2, (self.n_grams, self.n_out))                                 # (b,t',n_grams,n_out)
        return self.gain * (logits + (self.gate(x)[...,None]*adds).sum((1,2)))

class ClassifierWithBag(TransformerClassifier):
    "Classifier with a `GatedBag` behind its encoder and its head"
    def forward(self,
        ids:Tensor # Token ids `(b,t)`, padding anywhere
    )->Tensor: # Logits `(b,n_out)`
        "Add the logits of the transformer and of the bag"
        logits,adds = self[2](ids)                                                           # (b,n_out), (b,t,n)
        texts = self.align(ids)
        x = self[0](texts.ids, texts.hidden)
        return self[1]((x, texts.pad_mask)) + self[2].weigh(logits, texts.move(adds), x)

    @torch.no_grad()
    def divide_logits(self,
        by:float # A temperature, above 0
    ):
        "Divide the logits of all later predictions, by changing the weights"
        super().divide_logits(by)
        self[2].gain.div_(by)

def in_order(dl):
    "All batches of a loader, each text once"
    return dl.new(shuffle=False, drop_last=False)

def trained(bag_learn, epochs):
    "The bag of a learner, after `epochs`"
    with bag_learn.no_bar(), bag_learn.no_logging(): bag_learn.fit_one_cycle(epochs, cbs=SkipValidation())
    return bag_learn.model.eval()

def add_bag(
    learn:TransformerLearner, # Of a `TransformerClassifier` with a `pool`
    n_parts:int=5, # Parts of the training texts, at least 2
    epochs:int=1, # Epochs of each bag, after counting
    n_grams:int=3, # As in `bag_learner`
    scale:float=.01, # As in `bag_learner`
    **kwargs # For a `BagLearner`, of which each bag has one
)->BagLearner: # The bag alone, trained on all training texts
    "Give a classifier a `GatedBag` of its data; gates of an earlier one are kept"
    model,dls = learn.model,learn.dls
    if type(model) not in (TransformerClassifier,ClassifierWithBag) or model[1].pool is None or n_parts<2:
        raise ValueError(f'{learn}: a `TransformerClassifier` with a `pool`, and two parts or more, can have a bag')
    kwargs = dict(loss_func=learn.loss_func, metrics=list(learn.metrics)) | kwargs
    whole = bag_learner(dls, n_grams, scale, **kwargs)
    skip = trained(whole, epochs).skip
    bag = GatedBag(dls.c, model[0].embedding.embedding_dim, n_grams, skip).to(dls.device).load_bag(whole.model)
    texts = in_order(dls.train)
    items = L(texts.dataset[i] for i in texts.get_idxs())
    part = torch.cat([bag.part_of(ids, n_parts) for ids,_ in texts])
    for i in range(n_parts):
        others = in_order(dls.train.new(items[(part!=i).tolist()]))
        held_out = NgramBag(dls.c, n_grams, skip, scale).count(others)
        data = DataLoaders(others.new(shuffle=True), dls.valid)
        bag.hold_out(trained(BagLearner(data, held_out, **kwargs), epochs))
    learn.model = with_bag(model, bag)
    learn.opt = None  # it does not know the bag
    return whole

def with_bag(model, bag):
    "A `ClassifierWithBag` of the encoder and the head of `model`, and of `bag`, with the gates of an earlier one"
    if len(model)>2 and model[2].n_grams==bag.n_grams: bag.gain,bag.gate = model[2].gain,model[2].gate
    with torch.random.fork_rng(): both = ClassifierWithBag(**model.init_kwargs)
    both[0] = model[0]
    both[1] = model[1]
    return both.append(bag)
