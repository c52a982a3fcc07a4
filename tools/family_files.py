"""Each key of each other file of a checkpoint's folder, set to other values, one at a time: `generation_config.json` (and these keys of an old
`config.json`), `tokenizer_config.json`, `special_tokens_map.json`, `added_tokens.json`, and the files of sentence-transformers. What is written, tokens,
texts and vectors are those of Hugging Face, or ours refuses the key or names it in a warning. A part of `make stress WHAT=families`; alone:

    make stress WHAT=families ARGS=--files            # all, some minutes
    make stress WHAT=families ARGS='--files bart bert_tokens sentence'

It writes the rows of what was run into nbs/data/settings.csv, and what Hugging Face gives into nbs/data/hf/settings.json, for tests/pretrained/settings.ipynb.
"""
import csv, json, shutil, tempfile, warnings
from collections import Counter
from datetime import date
from pathlib import Path
import torch, transformers as hf
import tokenizers
from tokenizers import models, pre_tokenizers
from transformers import AutoTokenizer
from common import root
from transformers_from_scratch.all import *

absent = object()
texts = ["The CAT sat, isn't it? Café", 'a [MASK] here <mask> <|endoftext|> the 我 x', '  two  spaces', "the [SEP] x</s> Don't , we 've ' x"]

def answer(f):
    "What `f` returns, or its error, and what it warns of"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter('always')
        try: return f(),' '.join(str(o.message) for o in said),None
        except Exception as e: return None,'',e

class Folder:
    "A folder, what of it is compared, and what came of changes of its files"
    def __init__(self, folder, theirs, ours):
        self.folder,self.theirs,self.ours = folder,theirs,ours
        self.counts,self.found,self.golden = Counter(),[],[]

    def change(self, file, edit):
        "Set keys of a file, compare, and put the file back"
        path = self.folder/file
        old = path.read_bytes() if path.exists() else None
        says = (json.loads(old) if old else {})
        change = (lambda o: {n: v for n,v in (o | edit).items() if v is not absent}) if isinstance(says, dict) else (lambda o: [o[0] | edit, *o[1:]])
        path.write_text(json.dumps(change(says)))
        self.compare(file, edit)
        path.write_bytes(old) if old is not None else path.unlink()

    def compare(self, file, edit):
        want,_,refused = answer(lambda: self.theirs(self.folder))
        got,said,error = answer(lambda: self.ours(self.folder))
        shown = {n: 'absent' if o is absent else o for n,o in edit.items()}
        if refused:
            self.counts['theirs refuses'] += 1
            return
        named = any(n in (str(error) if error else said) for n in edit)
        if error: kind = 'refused' if named else 'wrong'
        else: kind = 'equal' if same(want, got) else 'named' if named else 'wrong'
        if not edit and said: kind = 'wrong'
        self.counts[kind] += 1
        self.golden.append([file, shown, want if kind=='equal' else kind])
        if kind=='wrong':
            self.found.append(f'{self.folder.name} {file} {shown}: {want} is not {error or got} {said}'[:400])
            print('FOUND', self.found[-1], flush=True)

def same(a, b): return a.shape==b.shape and torch.allclose(a, b, atol=1e-5) if isinstance(a, Tensor) else a==b

# Writing
source = torch.randint(13, 59, (1,20), generator=torch.Generator().manual_seed(1))
def write_theirs(cls, pair):
    def inner(d):
        torch.manual_seed(0)
        model = cls.from_pretrained(d).eval()
        ids = source if pair else source[:,:5]
        return model.generate(ids, max_new_tokens=8, attention_mask=torch.ones_like(ids))[0,1 if pair else 5:].tolist()
    return inner

def write_ours(d):
    pre = load_pretrained(d)
    torch.manual_seed(0)
    if pre.marks: return generate(pre.model.bind_source(source), source.new_full((1,1), pre.marks.bos), 8, temperature=0, stop_id=pre.marks.eos)[0,1:].tolist()
    stops = [pre.tokenizer.o2i[o] for o in pre.tokenizer.stops]
    return generate(pre.model, source[:,:5], 8, temperature=0, stop_id=stops or None)[0,5:].tolist()

def writing_edits(first):
    "Values of each key; `first` are ids that are written"
    a,b = first[0],first[-1]
    yield from [{}, *({'max_length': o} for o in (3,20,30)), dict(max_new_tokens=3), *({'min_length': o} for o in (0,30)), dict(min_new_tokens=7), dict(num_beams=3), dict(num_beams=1), dict(num_beams=3, length_penalty=2.),
        dict(do_sample=True), dict(do_sample=True, temperature=.5), dict(do_sample=False), dict(temperature=1.), dict(temperature=.3), dict(top_k=50), dict(top_k=3), dict(top_p=1.), dict(top_p=.5), dict(min_p=.1), dict(typical_p=.5), dict(typical_p=1.),
        dict(repetition_penalty=1.), dict(repetition_penalty=3.), dict(repetition_penalty=.5), dict(no_repeat_ngram_size=0), dict(no_repeat_ngram_size=1), dict(no_repeat_ngram_size=2), dict(encoder_no_repeat_ngram_size=1), dict(encoder_repetition_penalty=2.),
        dict(bad_words_ids=[[a]]), dict(bad_words_ids=[[a,b]]), dict(suppress_tokens=[a]), dict(suppress_tokens=[]), dict(begin_suppress_tokens=[a]), dict(forced_bos_token_id=b), dict(forced_bos_token_id=0), dict(forced_bos_token_id=5),
        dict(forced_eos_token_id=7), dict(forced_eos_token_id=2), dict(eos_token_id=a), dict(eos_token_id=[a]), dict(eos_token_id=[2,a]), dict(eos_token_id=[2,b]), dict(eos_token_id=[a,b]), dict(eos_token_id=None), dict(pad_token_id=1), dict(bos_token_id=9), dict(decoder_start_token_id=9),
        dict(length_penalty=2.), dict(early_stopping=True), dict(num_return_sequences=1), dict(sequence_bias=[[[a],-50.]]), dict(exponential_decay_length_penalty=[1,5.]), dict(renormalize_logits=True), dict(remove_invalid_values=True), dict(epsilon_cutoff=.01), dict(eta_cutoff=.01),
        dict(use_cache=False), dict(output_scores=True), dict(output_attentions=True), dict(return_dict_in_generate=False), dict(transformers_version='4.1'), dict(guidance_scale=1.5), dict(stop_strings=['a']), dict(max_time=5.), dict(token_healing=True), dict(penalty_alpha=.6, top_k=4), dict(mystery=3)]
    for key in 'num_beams min_length temperature forced_bos_token_id suppress_tokens max_length'.split(): yield {key: None}

def writing(name, folder, model, cls, pair):
    "Settings for writing, in generation_config.json, and in an old config.json"
    t = Folder(folder, write_theirs(cls, pair), write_ours)
    words = [f't{i}' for i in range(60)]
    tok = tokenizers.Tokenizer(models.WordLevel({o: i for i,o in enumerate(words)}, unk_token='t3'))
    tok.pre_tokenizer = pre_tokenizers.Whitespace()
    tok.save(str(folder/'tokenizer.json'))
    first = t.theirs(folder)
    file = folder/'generation_config.json'
    # the end of a text that is cut is BART's default
    every = [o for o in writing_edits(first) if not pair or o.get('forced_eos_token_id')!=2]
    for edit in every: t.change(file.name, edit)
    if pair:  # of an old folder, which has no such file
        file.unlink()
        for edit in every: t.change('config.json', edit)
    return t

# Tokens
def tokens_theirs(d):
    tok = AutoTokenizer.from_pretrained(d)
    ids = [tok(o)['input_ids'] for o in texts]
    return ids,[tok.decode(o, skip_special_tokens=True) for o in ids]

def tokens_ours(d):
    tok = HFTokenizer(d)
    tokens = [*tok(texts)]
    return [[tok.o2i[o] for o in text] for text in tokens],[tok.join(o) for o in tokens]

def token_edits(base):
    "Values of each key that is there, and of what others have"
    for key,value in base.items():
        yield {key: absent}
        if isinstance(value, bool): yield {key: not value}
    flags = [dict(lstrip=l, rstrip=r, normalized=n, single_word=False, special=s) for l,r,n,s in ((True,False,False,True),(False,True,False,True),(False,False,True,False))]
    for key in ('do_lower_case','strip_accents','tokenize_chinese_chars','add_prefix_space','keep_accents','split_by_punct','clean_up_tokenization_spaces','split_special_tokens','trim_offsets','legacy','add_bos_token','add_eos_token'):
        yield from [{key: True}, {key: False}]
    yield dict(do_lower_case=False, strip_accents=True)
    for key in ('unk_token','pad_token','mask_token','cls_token','sep_token','bos_token','eos_token','image_token'): yield from [{key: 'the'}, {key: 'NEW'}]
    for key in ('extra_special_tokens','additional_special_tokens'): yield from [{key: ['the']}, {key: ['NEW']}, {key: []}]
    yield dict(extra_special_tokens=dict(image_token='the'))
    for name in ('the','[MASK]','<mask>','</s>','[SEP]','<|endoftext|>','NEW'): yield from [dict(added_tokens_decoder={'900': dict(content=name) | o}) for o in flags]
    yield from [dict(truncation_side='left'), dict(padding_side='left'), dict(model_max_length=4), dict(errors='ignore'), dict(extra_ids=3), dict(chat_template='x'), dict(mystery=3), dict(tokenizer_class='PreTrainedTokenizerFast'),
                dict(tokenizer_class='TokenizersBackend', do_lower_case=False, add_prefix_space=True), dict(tokenizer_class='PreTrainedTokenizerFast', do_lower_case=False)]

def tokens(folder):
    "Settings of a tokenizer"
    t = Folder(folder, tokens_theirs, tokens_ours)
    base = json.loads((folder/'tokenizer_config.json').read_text())
    for edit in [{}, *token_edits(base)]: t.change('tokenizer_config.json', edit)
    for edit in (dict(cls_token='the'), dict(mask_token='the'), dict(pad_token='NEW'), dict(eos_token='the'), dict(unk_token='the'), dict(additional_special_tokens=['the','a']),
                 dict(mask_token=dict(content='<mask>', lstrip=False, rstrip=True, normalized=False, single_word=False))): t.change('special_tokens_map.json', edit)
    for edit in ({'the': 5}, {'NEW': 999}):
        path = folder/'added_tokens.json'
        path.write_text(json.dumps(edit))
        t.compare('added_tokens.json', {'added_tokens': edit})
        path.unlink()
    return t

def made_tokenizers():
    "Tokenizers of the classes of transformers, by the name of a family"
    words = 'the cat sat a here isn it two spaces don we x'.split()
    letters = [*'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', *"',?."]
    pieces = [(o, -float(i+2)) for i,o in enumerate([f'▁{o}' for o in words]+['▁',*letters])]
    unigram = dict(albert=['<pad>','<unk>','[CLS]','[SEP]','[MASK]'], xlm_roberta=['<s>','<pad>','</s>','<unk>','<mask>'], camembert=['<s>NOTUSED','<pad>','</s>NOTUSED','<unk>','<unk>NOTUSED','<s>','</s>','<mask>'],
                   t5=['<pad>','</s>','<unk>'], deberta_v2=['[PAD]','[UNK]','[CLS]','[SEP]','[MASK]'])
    classes = dict(albert='Albert', xlm_roberta='XLMRoberta', camembert='Camembert', t5='T5', deberta_v2='DebertaV2')
    for name,special in unigram.items(): yield name,getattr(hf, classes[name]+'Tokenizer')(vocab=[(o, 0.) for o in special]+pieces)
    start = ['<s>','<pad>','</s>','[UNK]','<mask>']
    yield 'mpnet',hf.MPNetTokenizer(vocab={o: i for i,o in enumerate([*start,*words,*letters,*(f'##{o}' for o in letters)])})
    signs = ['▁',*letters]
    for name,cls,special in (('gemma',hf.GemmaTokenizer,['<pad>','<eos>','<bos>','<unk>','<mask>']),('llama',hf.LlamaTokenizer,['<unk>','<s>','</s>'])):
        merges = [('t','h'),('th','e'),('▁','the'),('▁','a')]
        vocab = [*special, *signs, *(f'<0x{i:02X}>' for i in range(256)), *map(''.join, merges)]
        yield name,cls(vocab={o: i for i,o in enumerate(vocab)}, merges=merges)
    from tokenizers.pre_tokenizers import ByteLevel
    marks = sorted(ByteLevel.alphabet())
    merges = [('t','h'),('th','e'),('Ġ','the'),('Ġ','a')]
    for name,cls,special in (('gpt_neox',hf.GPTNeoXTokenizer,['<|endoftext|>','<|padding|>']),('qwen2',hf.Qwen2Tokenizer,['<|endoftext|>']),('bart',hf.RobertaTokenizer,start)):
        yield name,cls(vocab={o: i for i,o in enumerate([*special, *marks, *map(''.join, merges)])}, merges=merges)

# Sentence encoders
def sentence(folder):
    from sentence_transformers import SentenceTransformer
    def theirs(d): return torch.from_numpy(SentenceTransformer(str(d), device='cpu').encode(['the cat', 'WHAT is the name of it?', 'the movie '*9], show_progress_bar=False))
    def ours(d): return load_pretrained(d).embed(['the cat', 'WHAT is the name of it?', 'the movie '*9], no_bar=True)
    t = Folder(folder, theirs, ours)
    mystery = [dict(mystery=3), dict(mystery=False)]
    for file,edits in {'sentence_bert_config.json': [dict(max_seq_length=6), dict(max_seq_length=None), dict(do_lower_case=True), dict(transformer_task='fill-mask'), dict(module_output_name='x'), dict(processing_kwargs=dict(text=dict(truncation=False))), {}, dict(modality_config=absent), dict(unpad_inputs=True), dict(query_length=3), *mystery],
        'config_sentence_transformers.json': [dict(prompts={}), dict(prompts=dict(passage='the ')), dict(default_prompt_name=None), dict(default_prompt_name='query'), dict(similarity_fn_name='dot'), dict(similarity_fn_name=None), dict(model_type='SparseEncoder'), dict(truncate_dim=2), dict(__version__={}), *mystery],
        '1_Pooling/config.json': [*(dict(pooling_mode=o) for o in ('mean','max','lasttoken','weightedmean','mean_sqrt_len_tokens',['cls','mean'])), dict(pooling_mode=absent), dict(pooling_mode=absent, pooling_mode_cls_token=True), dict(pooling_mode=absent, pooling_mode_max_tokens=True, word_embedding_dimension=8), dict(include_prompt=False), *mystery],
        '2_Dense/config.json': [*(dict(activation_function=f'torch.nn.modules.activation.{o}') for o in ('Tanh','ReLU','GELU','SiLU','Sigmoid','Hardtanh')), dict(activation_function=absent), dict(use_residual=True), dict(in_features=7), dict(bias=True), dict(module_input_name='x'), *mystery],
        '4_Normalize/config.json': [dict(module_input_name='token_embeddings'), *mystery], 'modules.json': [dict(idx=9), dict(name='x'), dict(kwargs=['x']), *mystery],
        'tokenizer_config.json': [dict(model_max_length=5), dict(do_lower_case=False), dict(do_lower_case=True), dict(strip_accents=False), dict(truncation_side='left'), dict(max_length=4)]}.items():
        for edit in edits: t.change(file, edit)
    return t

def run(name):
    "All of one folder: its name, what is counted, found, and golden"
    torch.set_num_threads(1)
    data = root/'nbs/data'
    with tempfile.TemporaryDirectory() as tmp:
        d = Path(tmp)/name
        kept = name.removesuffix('_tokens')
        if name=='sentence':
            shutil.copytree(data/'sentence', d)
            t = sentence(d)
        elif name.endswith('_tokens'):
            made = dict(made_tokenizers()) if not (data/'hf'/kept/'tokenizer.json').exists() or kept in ('llama',) else {}
            if kept in made:
                made[kept].save_pretrained(d)
                (d/'config.json').write_text(json.dumps(dict(model_type=kept.replace('_v2','-v2').replace('xlm_','xlm-'))))
            else: shutil.copytree(data/'hf'/kept, d)
            t = tokens(d)
        else:
            from families import Trial, cases, more, randomize
            pair = name not in cases
            config,cls,kw = (more if pair else cases)[name]
            cls = getattr(hf, cls, None) or getattr(hf, config+cls)
            torch.manual_seed(0)
            more_args = dict(bart=dict(forced_eos_token_id=None), marian=dict(forced_eos_token_id=None, eos_token_id=0, bad_words_ids=[[1]]), t5=dict(decoder_start_token_id=0)).get(name, {})
            model = randomize(cls(getattr(hf, f'{config}Config')(**kw, **more_args)))
            model.save_pretrained(d)
            t = writing(name, d, model, cls, pair)
        print(name, dict(t.counts), flush=True)
    return name,t.counts,t.found,t.golden

names = [*'bart marian t5 gpt2 gpt_neox llama mistral_near qwen2 qwen3 smollm3 phi3 gemma gemma2 gemma3'.split(),
         *(f'{o}_tokens' for o in 'bert roberta gpt2 llama albert xlm_roberta camembert t5 deberta_v2 mpnet gemma gpt_neox qwen2 bart'.split()), 'sentence']

def check(wanted, jobs=1):
    "Run folders, and write the table and the golden file; true for something wrong"
    from multiprocessing import Pool
    found = []
    file,kept = root/'nbs/data/settings.csv',root/'nbs/data/hf/settings.json'
    rows = {o['folder']: o for o in csv.DictReader(file.open())} if file.exists() else {}
    golden = json.loads(kept.read_text()) if kept.exists() else {}
    with Pool(jobs) as pool:
        for name,counts,lost,answers in pool.imap(run, wanted or names):
            found += lost
            rows[name] = dict(folder=name, changed=sum(counts.values())-counts['theirs refuses'], **{o: counts[o] for o in ('equal','named','refused','wrong')}, when=f'{date.today()}, transformers {hf.__version__}')
            if name in ('bert_tokens','gpt2_tokens'): golden[name] = answers
    with open(file, 'w', newline='') as f:
        w = csv.DictWriter(f, [*rows[name]], lineterminator='\n')
        w.writeheader(); w.writerows(rows[o] for o in names if o in rows)
    kept.write_text('{\n'+',\n'.join(f'{json.dumps(n)}: [\n'+',\n'.join(map(json.dumps, o))+']' for n,o in golden.items())+'\n}\n')
    print(*found, f'{len(found)} wrong', sep='\n')
    return bool(found)
