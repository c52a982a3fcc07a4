"""SetFit on few labels: the other side of `contrastive.py`, with the same texts and the same weights, in an environment of its own (`make .venv-bench/.installed`):

    .venv-bench/bin/python benchmarks/contrastive_setfit.py FOLDER --data trec --per 8 --seeds 10
    .venv-bench/bin/python benchmarks/contrastive_setfit.py FOLDER --data trec --labels 100 --seeds 3 --pairs 20
    .venv-bench/bin/python benchmarks/contrastive_setfit.py FOLDER --data trec --per 8 --seeds 1 --pairs all

One line of JSON for each draw. Seconds are those of the processor, so that other programs don't count; `--pairs 20` is `num_iterations=20`, as in its published scripts, and the default here; `--pairs all` is the default of SetFit 1.2.
"""
import argparse, contextlib, json, logging, os, resource, sys, time, warnings
from pathlib import Path
sys.path.insert(0, str(Path(__file__).parent))
from few_labels import split, split_each

def one(args, seed):
    "Train and test on one draw"
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments
    train,test = split_each(args.data, args.per, seed) if args.per else split(args.data, args.labels, seed)
    if args.n_test: test = test.sample(args.n_test, random_state=0)
    model = SetFitModel.from_pretrained(args.model)
    model.model_body.max_seq_length = args.max_len
    pairs = {} if args.pairs=='all' else dict(num_iterations=int(args.pairs))
    how = TrainingArguments(batch_size=16, num_epochs=1, seed=seed, report_to='none', save_strategy='no', output_dir='/tmp/setfit', **pairs)
    start = time.process_time()
    with contextlib.redirect_stdout(sys.stderr):  # it prints losses
        Trainer(model=model, args=how, train_dataset=Dataset.from_pandas(train[['text','label']])).train()
    took = time.process_time()-start
    right = [a==b for a,b in zip(list(model.predict(test.text.tolist())), test.label)]
    return dict(what='SetFit', data=args.data, per=args.per, labels=len(train), seed=seed, pairs=args.pairs, accuracy=round(sum(right)/len(right), 4),
                train_cpu_s=round(took, 1), peak_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss//1024, n_test=len(test))

if __name__=='__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('model'); parser.add_argument('--data', default='trec'); parser.add_argument('--pairs', default='20')
    for name,value in (('per',0), ('labels',100), ('seeds',10), ('first',0), ('max-len',128), ('n-test',0), ('threads',1)):
        parser.add_argument(f'--{name}', type=int, default=value)
    args = parser.parse_args()
    os.environ['OMP_NUM_THREADS'] = str(args.threads)
    warnings.filterwarnings('ignore'); logging.disable(logging.WARNING)
    import torch; torch.set_num_threads(args.threads)
    for seed in range(args.first, args.first+args.seeds): print(json.dumps(one(args, seed)), flush=True)
