"""Hugging Face's own classes with few labels: a model fine-tuned. Baselines are in `pretrained.py`.

    .venv-bench/bin/python benchmarks/pretrained_hf.py --model FOLDER --data trec --labels 100

FOLDER is that of all-MiniLM-L6-v2 (`examples/minilm.py`). Prints one line of JSON; `--labels 0` takes all.

The default of `--lr` was the best of four for all-MiniLM-L6-v2, with 100 labels, seed 0, a
minute of one thread, by the accuracy on what is held out (so in Hugging Face's favor):

    lr                    2e-5   5e-5   1e-4   3e-4
    trec, 15 epochs       .271   .607   .741   .756
    mr, 8 to 11 epochs    .572   .693   .723   .694
    mr, 15 epochs                       .720   .663
"""
import argparse, copy, json, time, torch
import numpy as np
from few_labels import split
from threadpoolctl import threadpool_limits

max_length = dict(trec=128, mr=128, imdb=256)

# Batches

def tokenize(tok, texts, data):
    "Ids of `texts`, cut to the length for `data`"
    return tok(list(texts), truncation=True, max_length=max_length[data])['input_ids']

def collate(tok, ids):
    "A batch, padded to the longest of `ids`"
    return tok.pad({'input_ids': ids}, return_tensors='pt')

def chunks(idxs, bs):
    "`idxs` in parts of `bs`"
    return [list(idxs[i:i+bs]) for i in range(0, len(idxs), bs)]

def grouped(ids, bs, rng):
    "An epoch of shuffled batches of indices, like lengths together, as Trainer groups them"
    by_length = lambda idxs: sorted(idxs, key=lambda i: -len(ids[i]))
    batches = [b for pool in chunks(rng.permutation(len(ids)), bs*8)
               for b in chunks(by_length(pool), bs)]
    return [batches[i] for i in rng.permutation(len(batches))]

# Fine-tuning

def optimizer(model, lr):
    "AdamW, without weight decay for biases and norms, as Trainer has it"
    is_plain = lambda name: 'bias' in name or 'LayerNorm' in name
    groups = [dict(params=[p for n,p in model.named_parameters() if is_plain(n)==o],
                   weight_decay=wd) for o,wd in ((False,.01), (True,0.))]
    return torch.optim.AdamW(groups, lr=lr)

def train(model, tok, ids, ys, batches, lr):
    "Seconds of one pass over `batches`; `lr` grows for a tenth of it, then falls to 0"
    from transformers import get_linear_schedule_with_warmup
    opt = optimizer(model, lr)
    sched = get_linear_schedule_with_warmup(opt, round(len(batches)*.1), len(batches))
    model.train()
    start = time.time()
    for o in batches:
        model(**collate(tok, [ids[i] for i in o]), labels=ys[o]).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.)
        opt.step(); sched.step(); opt.zero_grad()
    return time.time()-start

def plan(model, tok, ids, ys, args):
    "How many whole epochs fit into the minutes, by the time of some steps with a copy"
    model = copy.deepcopy(model)
    epoch = sorted(grouped(ids, args.bs, np.random.RandomState(0)),
                   key=lambda o: sum(len(ids[i]) for i in o))
    some = [epoch[i] for i in np.linspace(0, len(epoch)-1, 8).round().astype(int)] # Of all lengths
    train(model, tok, ids, ys, some[-2:], args.lr) # The first steps are slow
    per_epoch = train(model, tok, ids, ys, some, args.lr)/len(some)*len(epoch)
    return max(1, min(args.epochs, int(args.minutes*60/per_epoch)))

def predict(model, tok, ids, bs=64):
    "The number of the likeliest class of each text"
    model.eval()
    res = np.zeros(len(ids), int)
    with torch.no_grad():
        for o in chunks(np.argsort([-len(x) for x in ids], kind='stable'), bs):
            res[o] = model(**collate(tok, [ids[i] for i in o])).logits.argmax(-1).numpy()
    return res

def finetune(df, df_test, args):
    "Fine-tune a classifier, all of it"
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    classes = sorted(df.label.unique())
    tok = AutoTokenizer.from_pretrained(args.model)
    torch.manual_seed(args.seed)
    model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=len(classes))
    ids = tokenize(tok, df.text, args.data)
    ys = torch.tensor([classes.index(o) for o in df.label])
    epochs = plan(model, tok, ids, ys, args)
    rng = np.random.RandomState(args.seed)
    torch.manual_seed(args.seed)
    batches = [b for _ in range(epochs) for b in grouped(ids, args.bs, rng)]
    seconds = train(model, tok, ids, ys, batches, args.lr)
    ids = tokenize(tok, df_test.text, args.data)
    pred = predict(model, tok, ids)
    accuracy = float((np.array(classes)[pred]==df_test.label.to_numpy()).mean())
    return dict(lr=args.lr, epochs=epochs, training_minutes=round(seconds/60, 3), accuracy=round(accuracy, 4))

def main():
    "Print what came out, as a line of JSON"
    parser = argparse.ArgumentParser(formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add('--model', required=True, help='folder with the model and its tokenizer')
    add('--data', choices=list(max_length), default='trec', help=' ')
    add('--labels', type=int, default=100, help='0 for all')
    add('--seed', type=int, default=0, help='of labels, head, order and dropout')
    add('--minutes', type=float, default=1.5, help='of training at most, but for one epoch')
    add('--epochs', type=int, default=15, help='at most')
    add('--lr', type=float, default=1e-4, help=' ')
    add('--bs', type=int, default=16, help=' ')
    add('--threads', type=int, default=1, help=' ')
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    df,df_test = split(args.data, args.labels or None, args.seed)
    with threadpool_limits(args.threads): res = finetune(df, df_test, args)
    print(json.dumps(dict(what='finetune', data=args.data, labels=len(df), seed=args.seed, **res,
                          threads=args.threads)))

if __name__=='__main__': main()
