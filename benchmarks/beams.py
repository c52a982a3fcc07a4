"""Beam search beside Hugging Face's: the score of the best text, by random GPT-2s in `load_pretrained`.

    .venv-bench/bin/python benchmarks/beams.py          # 200 searches, a minute
"""
import os, platform, tempfile
from datetime import date
os.environ['HF_HUB_OFFLINE'] = '1'
import transformers as hf
from fastcore.script import call_parse
from transformers_from_scratch.all import *

penalties,stop_id = (0.,.5,1.,1.5,2.),5

def score(model, prompt, ids, penalty):
    "What `model` says of `ids` behind `prompt`, up to the stop, in one pass"
    ids = ids[:ids.index(stop_id)+1] if stop_id in ids else ids
    with torch.no_grad(): log_p = model(torch.cat([prompt[0], tensor(ids)])[None])[0,len(prompt[0])-1:-1].log_softmax(-1)
    return log_p.gather(1, tensor(ids)[:,None]).sum().item()/len(ids)**penalty

@call_parse
def main(
    n:int=200, # Searches
    n_words:int=20 # Longest text
):
    "Print how often the best text of one is better than that of another"
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    best = defaultdict(list)
    for i in range(n):
        torch.manual_seed(i)
        penalty = penalties[i%len(penalties)]
        theirs = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=23, n_positions=32, n_embd=16, n_layer=2, n_head=2, bos_token_id=0,
                                                  eos_token_id=stop_id, initializer_range=(.3,.6,1.)[i%3])).eval()
        with tempfile.TemporaryDirectory() as folder:
            theirs.save_pretrained(folder)
            ours = load_pretrained(folder).model.eval()
        prompt = torch.randint(6, 23, (1,4))
        for early in (False,'never',True):
            ids = theirs.generate(prompt, num_beams=4, max_new_tokens=n_words, length_penalty=penalty, eos_token_id=stop_id,
                                  pad_token_id=stop_id, do_sample=False, early_stopping=early)
            best[f'HF, early_stopping={early!r}'].append(score(ours, prompt, ids[0,4:].tolist(), penalty))
        for early in (False,True):
            found = generate_beams(ours, prompt, n_words, beams=4, stop_id=stop_id, length_penalty=penalty, early_stop=early)[0][0]
            ids = [*found.ids.tolist(), *[stop_id]*found.stopped]
            best[f'ours, early_stop={early}'].append(score(ours, prompt, ids, penalty))
    print(f'{n} searches, {platform.machine()}, torch {torch.__version__}, transformers {hf.__version__}, {date.today()}')
    table = {a: {b: sum(y>x+1e-4 for x,y in zip(best[a], best[b])) for b in best} for a in best}
    print('how often the best text of the column is better than that of the row:')
    print(pd.DataFrame(table).T.to_string())
