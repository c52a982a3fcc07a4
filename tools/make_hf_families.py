"""Make small random models and tokenizers of Hugging Face's families, and what they answer:

    make .venv-bench/.installed      # the environment of `make bench`
    .venv-bench/bin/python tools/make_hf_families.py

It writes into nbs/data/hf, and beside it hf_filters.json: what Hugging Face's filters make of random scores. A folder per family holds what Hugging Face itself saves, and
golden.safetensors:

- ids: tokens without padding; hidden: what the model says to them, behind its last norm;
  logits: for the first 32 tokens of the vocabulary, as the rest takes room and tells no more
- pooled (bert): what the pooler makes of the first token; types, types_hidden (bert): the same
  ids with types of token
- targets (encoder-decoders): what the decoder reads beside ids; logits: all of them; pad_ids: ids, cut and
  padded behind; pad_logits: for each row without its padding; generated: 30 greedy tokens for pad_ids
- generated (decoders): ids[:2,:4] and six greedy tokens after them
- pad_ids, pad_mask (True at padding), pad_hidden, pad_logits: padded in front, behind, in the
  middle. Positions count real tokens. What stands at padding is 0 in the answers. gpt2, llama,
  smollm and qwen2 have no token for it: there it is id 0

bert_fill, roberta_fill and distilbert_fill hold a model with the head for masked words, a tokenizer, and
fill.json: texts, and what Hugging Face's fill-mask pipeline puts in the place of the mask.

tokenizers.json holds texts, what the tokenizers in those folders make of them, and what they
read back from that.

    .venv-bench/bin/python tools/make_hf_families.py --check FOLDER

opens what `save_pretrained` wrote, FOLDER/gpt2 and so on, and compares it with the golden files.
"""
import argparse, json, re, shutil, torch, transformers as hf
from collections import Counter
from pathlib import Path
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

n_logits = 32
seeds = dict(t5=22, t5_gated=13, bart=3, marian=30, olmo2=2)  # of models that would write one token all the time

# Tokenizers

sentences = """The cat sat on the mat and looked at the other cat.
What is the name of the city where the river meets the sea?
This movie is bring and slow, but the actors are not bad at all.
I don't think that there was anything better in the whole year 2019.
The film was good, the book was better, and the music was the best of all.
How many people live in the city, and what do they do there?
She said that they were looking for something new, something bold.
When the rain came down, the children ran into the house.
A café in the old city is where naïve poets meet.
The quick brown fox jumps over the lazy dog.
There are 10 numbers: 0 1 2 3 4 5 6 7 8 9!
他 is he and 我 is I; that is all the Chinese there is.""".split('\n')

texts = ['The cat sat on the mat.', 'WHAT is The Name of the CITY?', 'two  spaces   and more',
         ' a space in front', 'a line\nand another\n\none', 'a smile 😀 and a 👩‍💻',
         'café naïve Ünïcödé', '我是他', '', 'a {} in the text, and {}again',
         'In 2019 there were 1,234,567 of them: 3.5%',
         'internationalization' + 'ness'*5 + ' of the movie',
         "I don't think they're \"new\"; we've seen it!"]
specials = dict(bert=('[MASK]','[SEP]'), gpt2=('<|endoftext|>',)*2, roberta=('<mask>','</s>'),
                llama=('<s>','</s>'))

def train_bpe(texts, pre, size, **kwargs):
    "Vocabulary and merges of a BPE trained on `texts` cut up by `pre`"
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre
    tok.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, show_progress=False, **kwargs))
    model = json.loads(tok.to_str())['model']
    return model['vocab'],[tuple(o) for o in model['merges']]

def byte_tokenizer(cls, size, special_tokens, last):
    "Byte-level BPE; `special_tokens` have the first ids, and `last` has the last"
    pre = pre_tokenizers.ByteLevel(add_prefix_space=False)
    vocab,merges = train_bpe(sentences, pre, size, special_tokens=special_tokens, initial_alphabet=sorted(pre.alphabet()))
    vocab[last] = len(vocab)
    return cls(vocab=vocab, merges=merges)

def word_pieces(texts):
    "Letters, frequent endings and frequent words of `texts`"
    norm,pre = normalizers.BertNormalizer(),pre_tokenizers.BertPreTokenizer()
    words = Counter(w for o in texts for w,_ in pre.pre_tokenize_str(norm.normalize_str(o)))
    ends = Counter(w[-n:] for w in words for n in (2,3) if len(w)>n)
    def often(counts, n): return sorted(o for o,c in counts.items() if c>=n)
    letters = sorted(set(''.join(words)))
    res = letters + ['##'+o for o in letters+often(ends, 3)] + often(words, 2)
    return list(dict.fromkeys(res))

def bert_tokenizer():
    """WordPiece in lower case, with lengths set in its file as in that of all-MiniLM-L6-v2. Not by
    WordPieceTrainer: that gives other ids each time"""
    vocab = ['[PAD]','[UNK]','[CLS]','[SEP]','[MASK]'] + word_pieces(sentences)
    res = hf.BertTokenizer(vocab={o:i for i,o in enumerate(vocab)})
    res.backend_tokenizer.enable_truncation(8)
    res.backend_tokenizer.enable_padding(length=8, pad_id=0, pad_token='[PAD]')
    return res

def llama_tokenizer():
    "BPE of words with their space in front, <s> first, bytes for letters it doesn't know"
    count = Counter(''.join(sentences))
    frequent = [''.join(o if count[o]>5 else ' ' for o in s) for s in sentences]
    pieces,merges = train_bpe(frequent, pre_tokenizers.Metaspace(), 44)
    vocab = ['<unk>','<s>','</s>'] + [f'<0x{i:02X}>' for i in range(256)]
    vocab += sorted(pieces, key=pieces.get)
    vocab = {o:i for i,o in enumerate(vocab)}
    return hf.LlamaTokenizer(vocab=vocab, merges=merges, add_bos_token=True)

def make_tokenizers(out):
    "Write tokenizers and tokenizers.json, and say how many ids each has"
    made = dict(bert=bert_tokenizer(), gpt2=byte_tokenizer(hf.GPT2Tokenizer, 276, [], '<|endoftext|>'),
                roberta=byte_tokenizer(hf.RobertaTokenizer, 280, ['<s>','<pad>','</s>','<unk>'], '<mask>'), llama=llama_tokenizer())
    for name,tok in made.items(): tok.save_pretrained(out/name)
    results = json.dumps({name: answers(out/name, name) for name in made}, ensure_ascii=False)
    (out/'tokenizers.json').write_text(results+'\n', encoding='utf8')
    return {name: len(tok) for name,tok in made.items()}

def answers(folder, name):
    "What the tokenizer in `folder` makes of `texts`"
    tok = hf.AutoTokenizer.from_pretrained(folder)
    raw = Tokenizer.from_file(str(folder/'tokenizer.json'))
    raw.no_truncation(); raw.no_padding()
    def answer(text):
        ids = tok(text)['input_ids']
        decoded = tok.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        assert ids==raw.encode(text).ids and decoded==raw.decode(ids), (name, text)
        return dict(text=text, ids=ids, decoded=decoded)
    return [answer(o.format(*specials[name])) for o in texts]

# Models

def families(size):
    "Name to class and config. `size` has the number of ids of each tokenizer"
    shape = dict(hidden_size=8, num_attention_heads=2, num_hidden_layers=2, intermediate_size=16)
    dry = dict(hidden_dropout_prob=0., attention_probs_dropout_prob=0.)
    bert = dict(shape, max_position_embeddings=16, type_vocab_size=2, hidden_act='gelu', pad_token_id=0, **dry)
    roberta = dict(shape, max_position_embeddings=18, pad_token_id=1, bos_token_id=0, eos_token_id=2, **dry)
    distil = dict(dim=8, n_heads=2, n_layers=2, hidden_dim=16, max_position_embeddings=16, dropout=0., attention_dropout=0.,
                  seq_classif_dropout=0., qa_dropout=0.)
    gpt2 = dict(n_embd=8, n_head=2, n_layer=2, n_positions=16, activation_function='gelu_new', resid_pdrop=0., embd_pdrop=0.,
                attn_pdrop=0., summary_first_dropout=0., bos_token_id=size['gpt2']-1, eos_token_id=size['gpt2']-1)
    llama = dict(shape, max_position_embeddings=16, num_key_value_heads=1, rms_norm_eps=1e-5)
    tied = dict(llama, tie_word_embeddings=True, bos_token_id=None, eos_token_id=None)
    rope = dict(rope_type='default', rope_theta=100000.)
    factors = dict(embedding_multiplier=3., attention_multiplier=.3, residual_multiplier=.5, logits_scaling=2.)
    t5 = dict(vocab_size=20, d_model=8, d_kv=3, d_ff=16, num_layers=2, num_decoder_layers=1, num_heads=2, decoder_start_token_id=0,
              relative_attention_num_buckets=8, relative_attention_max_distance=12, dropout_rate=0.)
    pair = dict(vocab_size=20, d_model=8, encoder_layers=2, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=4,
                encoder_ffn_dim=16, decoder_ffn_dim=24, max_position_embeddings=40, dropout=0.)
    marian = dict(pad_token_id=1, decoder_start_token_id=1, eos_token_id=0, scale_embedding=True, activation_function='swish')
    return dict(
        bert=(hf.BertModel, hf.BertConfig(vocab_size=size['bert'], **bert)),
        bert_mlm=(hf.BertForMaskedLM, hf.BertConfig(vocab_size=20, **bert)),
        distilbert=(hf.DistilBertModel, hf.DistilBertConfig(vocab_size=20, **distil)),
        roberta=(hf.RobertaModel, hf.RobertaConfig(vocab_size=size['roberta'], **roberta)),
        gpt2=(hf.GPT2LMHeadModel, hf.GPT2Config(vocab_size=size['gpt2'], **gpt2)),
        llama=(hf.LlamaForCausalLM, hf.LlamaConfig(vocab_size=size['llama'], bos_token_id=1, eos_token_id=2, tie_word_embeddings=False, **llama)),
        smollm=(hf.LlamaForCausalLM, hf.LlamaConfig(vocab_size=20, rope_parameters=rope, **tied | dict(num_key_value_heads=2))),
        qwen2=(hf.Qwen2ForCausalLM, hf.Qwen2Config(vocab_size=20, **tied | dict(rms_norm_eps=1e-6))),
        # of the tutorial "A family of your own"
        olmo2=(hf.Olmo2ForCausalLM, hf.Olmo2Config(vocab_size=20, **tied | dict(pad_token_id=None))),
        granite=(hf.GraniteForCausalLM, hf.GraniteConfig(vocab_size=20, **tied | factors | dict(tie_word_embeddings=False))),
        t5=(hf.T5ForConditionalGeneration, hf.T5Config(**t5)),
        t5_gated=(hf.T5ForConditionalGeneration, hf.T5Config(**t5, feed_forward_proj='gated-gelu', tie_word_embeddings=False)),
        bart=(hf.BartForConditionalGeneration, hf.BartConfig(**pair)),
        marian=(hf.MarianMTModel, hf.MarianConfig(**pair | marian)))

@torch.no_grad()
def randomize(model):
    "Draw all weights, so large that each part matters: a bias of 0 could be left out unseen"
    if hasattr(model, 'final_logits_bias'): model.final_logits_bias.normal_()
    for name,p in model.named_parameters():
        if not p.requires_grad: continue  # Marian's table of waves
        if p.dim()>1: p.normal_(std=.4)
        else: p.normal_(std=.2).add_(float(name.endswith('weight')))
    for m in model.modules():
        if isinstance(m, torch.nn.Embedding) and m.padding_idx is not None:
            m.weight[m.padding_idx] = 0
    return model.eval()

def answer(model, ids, **kwargs):
    "Hidden states and, of a language model, logits"
    hidden = model.base_model(input_ids=ids, **kwargs).last_hidden_state
    is_lm = model.base_model is not model
    return hidden, model(input_ids=ids, **kwargs).logits if is_lm else None

def positions(config, real):
    "Number of each real token among the real ones, as RoBERTa counts or as the others do"
    count = real.long().cumsum(1)
    if config.model_type=='roberta': return count*real + config.pad_token_id
    return (count-1).clamp(min=0)

def named(prefix, hidden, logits):
    "Answers under their names in the file"
    res = {prefix+'hidden': hidden}
    return res if logits is None else {**res, prefix+'logits': logits[...,:n_logits]}

def padded(model, ids):
    "`ids` with padding in front, behind and in the middle, and the answers to that"
    mask = torch.zeros_like(ids, dtype=torch.bool)
    mask[0,:3] = mask[1,-2:] = mask[2,4:6] = True
    pad_ids = torch.full_like(ids, model.config.pad_token_id or 0)
    for o,row,m in zip(pad_ids, ids, mask): o[~m] = row[:(~m).sum()]
    outs = answer(model, pad_ids, attention_mask=(~mask).long(),
                  position_ids=positions(model.config, ~mask))
    outs = [None if o is None else o.masked_fill(mask[...,None], 0) for o in outs]
    for i,m in enumerate(mask):
        for o,alone in zip(outs, answer(model, pad_ids[i:i+1,~m])):
            if o is not None: torch.testing.assert_close(o[i,~m], alone[0], atol=1e-5, rtol=0)
    return dict(pad_ids=pad_ids, pad_mask=mask, **named('pad_', *outs))

def generate(model, ids, n=6):
    "`ids` and `n` greedy tokens, where no other one is nearly as likely, and not always one token"
    out = model.generate(ids, max_new_tokens=n, do_sample=False, eos_token_id=None,
                         pad_token_id=0, attention_mask=torch.ones_like(ids))
    best = model(out).logits[:,ids.shape[1]-1:-1].topk(2)
    assert torch.equal(out[:,-n:], best.indices[...,0])
    assert (best.values[...,0]-best.values[...,1]).min()>1e-3
    assert max(len(set(o)) for o in out[:,-n:].tolist())>3
    return out

def golden_pair(model):
    "Logits for two texts, alone; the same with padding in the first; and 30 greedy tokens for that"
    cfg = model.config
    ids,targets = torch.randint(3, cfg.vocab_size, (2,3,9))
    targets[:,0] = cfg.decoder_start_token_id
    lengths,pad_ids = (9,7,4),torch.full_like(ids, cfg.pad_token_id)
    for o,row,n in zip(pad_ids, ids, lengths): o[:n] = row[:n]
    alone = [model(input_ids=row[None,:n], decoder_input_ids=o[None]).logits for row,o,n in zip(ids, targets, lengths)]
    mask = (pad_ids!=cfg.pad_token_id).long()
    out = model.generate(pad_ids, attention_mask=mask, max_new_tokens=30, do_sample=False, num_beams=1, eos_token_id=None,
                         forced_eos_token_id=None)
    best = model(input_ids=pad_ids, attention_mask=mask, decoder_input_ids=out).logits[:,:-1].topk(2)
    assert torch.equal(out[:,1:], best.indices[...,0]) and (best.values[...,0]-best.values[...,1]).min()>1e-3
    assert min(len(set(o)) for o in out.tolist())>3, [len(set(o)) for o in out.tolist()]
    return dict(ids=ids, targets=targets, logits=model(input_ids=ids, decoder_input_ids=targets).logits, pad_ids=pad_ids,
                pad_logits=torch.cat(alone), generated=out)

@torch.no_grad()
def golden(model):
    "All that golden.safetensors holds of `model`"
    if model.config.is_encoder_decoder: return golden_pair(model)
    ids = torch.randint(5, model.config.vocab_size, (3,9))
    res = dict(ids=ids, **named('', *answer(model, ids)), **padded(model, ids))
    if model.config.model_type=='bert':
        types = torch.randint(0, 2, (3,9))
        res.update(types=types, types_hidden=answer(model, ids, token_type_ids=types)[0])
    if isinstance(model, hf.BertModel): res['pooled'] = model(ids).pooler_output
    if model.can_generate(): res['generated'] = generate(model, ids[:2,:4])
    return {k:v.contiguous() for k,v in res.items()}

def make_model(folder, cls, config, seed):
    "Write one model and its golden.safetensors"
    torch.manual_seed(seed + seeds.get(folder.name, 0))
    model = randomize(cls(config))
    model.save_pretrained(folder)
    (folder/'generation_config.json').unlink(missing_ok=True)
    made_by = f'{cls.__name__} of transformers {hf.__version__}'
    save_file(golden(model), folder/'golden.safetensors', metadata=dict(made_by=made_by))
    for o in folder.iterdir(): o.chmod(0o644) # safetensors writes files for their owner alone
    print(folder.name, sum(o.stat().st_size for o in folder.iterdir()), 'bytes')

def make_filler(folder, cls, config, tok, seed):
    "Write one model with its tokenizer, and what it fills in: `(token, probability)` of the likeliest five"
    torch.manual_seed(seed)
    model = randomize(cls(config))
    model.save_pretrained(folder); tok.save_pretrained(folder)
    (folder/'generation_config.json').unlink(missing_ok=True)
    fill = hf.pipeline('fill-mask', model=model, tokenizer=tok, device='cpu')
    some = ['The {} sat.', '{} was it.', 'a {} and {}.', 'the old{}']
    def answer(text):
        found = fill(text.replace('{}', tok.mask_token))
        rows = found if isinstance(found[0], list) else [found]
        return text.replace('{}', '[MASK]'),[[(tok.convert_ids_to_tokens(o['token']), o['score']) for o in row] for row in rows]
    (folder/'fill.json').write_text(json.dumps([answer(o) for o in some], ensure_ascii=False)+'\n', encoding='utf8')
    for o in folder.iterdir(): o.chmod(0o644)

def fillers(out, size, seed):
    "The models that fill in masked words; they share the settings of their family"
    made = families(size)
    for name,cls,tok in (('bert',hf.BertForMaskedLM,'bert'), ('roberta',hf.RobertaForMaskedLM,'roberta'),
                         ('distilbert',hf.DistilBertForMaskedLM,'bert')):
        config = made[name][1]
        config.vocab_size = size[tok]
        make_filler(out/f'{name}_fill', cls, config, hf.AutoTokenizer.from_pretrained(out/tok), seed)

@torch.no_grad()
def check_pair(folder, g):
    "As `check_folder`, for an encoder and a decoder: thirty greedy tokens are the same"
    model,info = hf.AutoModelForSeq2SeqLM.from_pretrained(folder, output_loading_info=True)
    assert not any(info[o] for o in ('missing_keys','unexpected_keys')), info
    mask = (g['pad_ids']!=model.config.pad_token_id).long()
    wrote = model.eval().generate(g['pad_ids'], attention_mask=mask, max_new_tokens=30, do_sample=False, num_beams=1, eos_token_id=None,
                                  forced_eos_token_id=None)
    assert torch.equal(wrote, g['generated'])
    return (model(input_ids=g['ids'], decoder_input_ids=g['targets']).logits-g['logits']).abs().max().item()

def check_folder(folder, golden):
    "The largest difference of what Hugging Face reads in `folder` from `golden`, through its tokenizer as well"
    g,name = load_file(golden/'golden.safetensors'),golden.name
    if 'targets' in g: return check_pair(folder, g)
    model = (hf.AutoModelForCausalLM if 'generated' in g else hf.AutoModel).from_pretrained(folder).eval()
    with torch.no_grad(): res = model(g['ids'], output_hidden_states=True)
    worst = (res.hidden_states[-1]-g['hidden']).abs().max().item()
    if 'generated' in g: worst = max(worst, (res.logits[...,:g['logits'].shape[-1]]-g['logits']).abs().max().item())
    if not (folder/'tokenizer.json').exists(): return worst
    tok = hf.AutoTokenizer.from_pretrained(folder)
    for o in json.loads((golden.parent/'tokenizers.json').read_text())[name]:
        inputs = tok(o['text'], return_tensors='pt', truncation=True, max_length=16)
        assert tok(o['text'])['input_ids']==o['ids'], (name, o)
        if not inputs['input_ids'].numel(): continue
        with torch.no_grad(): a,b = (model(output_hidden_states=True, **x).hidden_states[-1] for x in (inputs, dict(input_ids=inputs['input_ids'])))
        worst = max(worst, (a-b).abs().max().item())
    return worst

def check(folder, golden):
    "Print the differences, and fail above 1e-4"
    hf.utils.logging.set_verbosity_error()
    found = {o.name: check_folder(o, golden/o.name) for o in sorted(folder.iterdir()) if (golden/o.name/'golden.safetensors').exists()}
    print(*(f'{n}: {o:.1e}' for n,o in found.items()), sep='\n')
    assert found and max(found.values()) < 1e-4

def filters():
    "What the filters for writing make of random scores; None where a token is ruled out"
    torch.manual_seed(0)
    logits,ids = (torch.randn(3,12)*2).round(decimals=3),torch.randint(0, 12, (3,5))
    cases = dict(TemperatureLogitsWarper=[.5, 1.7], TopKLogitsWarper=[1, 4, 12], TopPLogitsWarper=[.05, .5, .9, .99],
                 RepetitionPenaltyLogitsProcessor=[.8, 1.3, 2.])
    def row(o): return [None if x==float('-inf') else round(x, 6) for x in o]
    results = [(re.sub('Logits.*', '', name), arg, [row(o) for o in getattr(hf, name)(arg)(ids, logits.clone()).tolist()])
               for name,args in cases.items() for arg in args]
    return dict(version=hf.__version__, logits=logits.tolist(), ids=ids.tolist(), results=results)

def main(out, seed):
    "Write all of it into the folder `out`, and beside it what the filters answer"
    torch.set_num_threads(1)
    (out.parent/'hf_filters.json').write_text(json.dumps(filters())+'\n')
    shutil.rmtree(out, ignore_errors=True)
    size = make_tokenizers(out)
    for name,(cls,config) in families(size).items(): make_model(out/name, cls, config, seed)
    fillers(out, size, seed)

if __name__=='__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--out', type=Path, default=Path(__file__).resolve().parent.parent/'nbs/data/hf')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--check', type=Path, help='folder of folders that `save_pretrained` wrote')
    args = parser.parse_args()
    hf.utils.logging.disable_progress_bar()
    if args.check: check(args.check, args.out)
    else: main(args.out, args.seed)
