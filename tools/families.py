"""Each key of `config.json` of each family that `load_pretrained` reads, set to other values, alone and in twos: the logits of `transformers` and ours are
equal, or ours refuses the key by name. Each tensor of a file is used, or named as unused; damaged ones are refused. Language models write the same tokens.
With other weights `save_pretrained` writes what `transformers` opens: all weights are found, and the logits are equal.

    make stress WHAT=families                       # all of it, a quarter of an hour on two cores
    make stress WHAT=families ARGS='qwen3 gemma3'   # these only
    make stress WHAT=families ARGS=--files          # the other files of a folder only: tools/family_files.py
    make stress WHAT=families ARGS=--check          # instead: `check_model` on these, and on other families; nbs/data/checked.csv
    make stress WHAT=families ARGS=--defaults       # instead: what each config means without each of its keys; nbs/data/families/defaults.json

It writes the rows of what was run into nbs/data/families.csv, and golden files into nbs/data/families, which tests/pretrained/families.ipynb reads.
"""
import argparse, csv, json, os, random, shutil, sys, tempfile, warnings
os.environ |= dict(OMP_NUM_THREADS='1', TFS_AUTOTUNE='0', HF_HUB_OFFLINE='1', HF_HUB_DISABLE_PROGRESS_BARS='1')
from collections import Counter
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from common import root
import family_files
from datetime import date
import torch, transformers as hf
from safetensors.torch import load_file, save_file
from transformers.activations import ACT2FN
from fastai.text.all import *
from transformers_from_scratch.all import *
from transformers_from_scratch.pretrained.family import CheckpointConfig, families

hf.logging.set_verbosity_error(); hf.logging.disable_progress_bar(); warnings.filterwarnings('ignore')
vocab,k,heads,T,near = 60,32,4,48,8
shape = dict(vocab_size=vocab, hidden_size=k, num_hidden_layers=2, num_attention_heads=heads, intermediate_size=48, max_position_embeddings=T,
             pad_token_id=1, bos_token_id=0, eos_token_id=2)
def llama(**kw): return shape | dict(num_key_value_heads=2) | kw
def llama3(rope_type, **kw): return llama(rope_scaling=dict(rope_type=rope_type, factor=4., **kw))
gemma = dict(head_dim=16, sliding_window=near, query_pre_attn_scalar=16)

# Each case: class of the config, of the model, and what config.json says
cases = dict(
    bert=('Bert','ForMaskedLM',shape), roberta=('Roberta','ForMaskedLM',shape), xlm_roberta=('XLMRoberta','ForMaskedLM',shape),
    camembert=('Camembert','ForMaskedLM',shape), ernie=('Ernie','ForMaskedLM',shape), mpnet=('MPNet','ForMaskedLM',shape),
    distilbert=('DistilBert','ForMaskedLM',dict(vocab_size=vocab, dim=k, n_layers=2, n_heads=heads, hidden_dim=48, max_position_embeddings=T, pad_token_id=1)),
    electra=('Electra','ForMaskedLM',shape|dict(embedding_size=k)), electra_narrow=('Electra','ForMaskedLM',shape|dict(embedding_size=16)),
    albert=('Albert','ForMaskedLM',shape|dict(embedding_size=16)),
    deberta_v2=('DebertaV2','Model',shape|dict(relative_attention=True, position_buckets=8, pos_att_type=['p2c','c2p'], share_att_key=True,
        norm_rel_ebd='layer_norm', position_biased_input=False, type_vocab_size=0, max_relative_positions=-1)),
    modernbert=('ModernBert','ForMaskedLM',shape|dict(num_hidden_layers=4, global_attn_every_n_layers=3, local_attention=near, cls_token_id=0, sep_token_id=2)),
    eurobert=('EuroBert','ForMaskedLM',llama()),
    gpt2=('GPT2','LMHeadModel',dict(vocab_size=vocab, n_embd=k, n_layer=2, n_head=heads, n_positions=T, bos_token_id=0, eos_token_id=2)),
    gpt_neox=('GPTNeoX','ForCausalLM',shape), llama=('Llama','ForCausalLM',llama()),
    llama_linear=('Llama','ForCausalLM',llama3('linear')),
    llama_llama3=('Llama','ForCausalLM',llama3('llama3', low_freq_factor=1., high_freq_factor=4., original_max_position_embeddings=24)),
    llama_yarn=('Llama','ForCausalLM',llama3('yarn', original_max_position_embeddings=24)), llama_wide=('Llama','ForCausalLM',llama(head_dim=16)),
    mistral=('Mistral','ForCausalLM',llama(sliding_window=None)), mistral_near=('Mistral','ForCausalLM',llama(sliding_window=near)),
    qwen2=('Qwen2','ForCausalLM',llama()), qwen2_near=('Qwen2','ForCausalLM',llama(use_sliding_window=True, sliding_window=near, max_window_layers=1)),
    qwen3=('Qwen3','ForCausalLM',llama(head_dim=16)), smollm3=('SmolLM3','ForCausalLM',llama(no_rope_layer_interval=2)),
    phi3=('Phi3','ForCausalLM',llama()), phi3_near=('Phi3','ForCausalLM',llama(sliding_window=near)),
    gemma=('Gemma','ForCausalLM',llama(head_dim=16)), gemma2=('Gemma2','ForCausalLM',llama(**gemma)),
    gemma3=('Gemma3Text','Gemma3ForCausalLM',llama(**gemma, num_hidden_layers=4, sliding_window_pattern=3)))
# They differ from another case in values only: 30 changes of each, drawn
variants = set('xlm_roberta camembert ernie electra_narrow llama_linear llama_llama3 llama_yarn llama_wide mistral_near qwen2_near phi3_near'.split())

# What touches only writing, training, the first weights, or other heads; `dtype` is an argument of both
elsewhere = set('''bos_token_id eos_token_id cls_token_id sep_token_id mask_token_id use_cache initializer_range initializer_factor initializer_cutoff_factor
    transformers_version architectures model_type dtype torch_dtype return_dict output_hidden_states output_attentions id2label label2id problem_type
    chunk_size_feed_forward _name_or_path classifier_pooling classifier_dropout classifier_dropout_prob summary_type summary_use_proj summary_activation
    summary_first_dropout summary_proj_to_labels summary_last_dropout pooler_dropout pooler_hidden_act pooler_hidden_size sparse_prediction
    sparse_pred_ignore_index deterministic_flash_attn reference_compile repad_logits_with_grad hidden_dropout_prob hidden_dropout
    attention_probs_dropout_prob attention_dropout dropout qa_dropout seq_classif_dropout resid_pdrop embd_pdrop attn_pdrop embedding_dropout mlp_dropout
    classifier_proj_size tie_encoder_decoder embd_dropout num_labels'''.split())
# What other families, older files, and common bases may say beside
beside = dict(rotary_pct=.5, rotary_emb_base=500, rope_theta=500., partial_rotary_factor=.5, n_ctx=16, is_decoder=True, is_causal=False, add_cross_attention=True,
    head_dim=16, sliding_window=4, layer_types=['sliding_attention','full_attention'], use_sliding_window=True, max_window_layers=1, attention_bias=True,
    mlp_bias=True, logits_scaling=2., attention_multiplier=.5, residual_multiplier=.5, embedding_multiplier=3., attn_logit_softcapping=1.,
    final_logit_softcapping=1., query_pre_attn_scalar=4, no_rope_layers=[1,0], position_embedding_type='relative_key', embedding_size=16, qk_layernorm=True,
    use_qk_norm=True, scale_emb=2., use_bidirectional_attention=True, use_parallel_residual=False, hidden_activation='relu', hidden_act='relu', n_inner=24,
    num_key_value_heads=1, rms_norm_eps=.1, layer_norm_eps=.1, norm_eps=.1, layer_norm_epsilon=.1, tie_word_embeddings=True, local_rope_theta=500.,
    global_rope_theta=500., rope_local_base_freq=500., local_attention=4, sliding_window_pattern=2, type_vocab_size=3, scale_attn_weights=False,
    use_mrope=True, alibi=True, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, max_position_embeddings=24, intermediate_size=24,
    original_max_position_embeddings=12, rope_interleaved=True, quantization_config=dict(quant_method='x'), per_layer_config={'0': dict(hidden_act='relu')})
absent = object()

def others(key, value):
    "Other values of a key, the likelier ones first"
    if 'act' in key and isinstance(value, str) or key in ('hidden_act','hidden_activation'): return [o for o in ACT2FN if o!=value]
    some = dict(layer_types=[['sliding_attention','full_attention']*2, ['full_attention']*4, ['sliding_attention']*4],
        no_rope_layers=[[1]*4, [0]*4, [0,1]*2], pos_att_type=[['p2c'], ['c2p'], [], 'p2c|c2p', 'c2p|p2c', ['c2p','p2c']], norm_rel_ebd=['none', 'layer_norm|x'],
        position_embedding_type=['relative_key','relative_key_query','rotary'], max_relative_positions=[16,2,0])
    if key in some: return some[key]
    if isinstance(value, bool): return [not value, None]
    if isinstance(value, int): return [2*value, value//2, value+1, 1, 0, None] if value>0 else [1, 4]
    if isinstance(value, float): return [3*value+.25, value/2, 2*value, 0., None]
    if isinstance(value, str): return ['relu', 'none', 'x']
    return [2, near, .5, True, 'relu', [0,1]] if value is None else []

def ropes(cfg):
    "Edits of rotary positions: in one place or two, flat and nested, today's and older spellings"
    now = cfg.get('rope_parameters')
    if not now: return []
    flat = now if 'rope_theta' in now else dict(rope_type='default', rope_theta=1e4)
    l3,yarn = dict(rope_type='llama3', factor=8., low_freq_factor=1., high_freq_factor=4., original_max_position_embeddings=16),dict(rope_type='yarn', factor=4.)
    kinds = [dict(rope_type='linear', factor=4.), l3, yarn, l3|dict(low_freq_factor=.5), l3|dict(high_freq_factor=8.), yarn|dict(beta_fast=4.), yarn|dict(beta_slow=2.),
        yarn|dict(attention_factor=2.), yarn|dict(attention_factor=None), yarn|dict(original_max_position_embeddings=12), yarn|dict(mscale=2.), yarn|dict(mscale=2., mscale_all_dim=1.),
        yarn|dict(truncate=False), dict(type='linear', factor=2.), dict(type='linear', rope_type='default', factor=2.), dict(rope_type='dynamic', factor=2.),
        dict(rope_type='longrope', short_factor=[2.]*4, long_factor=[3.]*4, factor=2.), dict(rope_type='proportional', factor=2.), dict(partial_rotary_factor=.5),
        dict(rope_type='linear', factor=1.), dict(factor=4.), dict(mrope_section=[2,1,1], rope_type='default'), dict(rope_theta=500.), dict(rope_theta=50), {}]
    res = [dict(rope_parameters=flat|o) for o in kinds] + [dict(rope_scaling=o) for o in kinds] + [dict(rope_scaling=o, rope_parameters=absent) for o in kinds]
    res += [dict(rope_parameters=absent, rope_theta=77., rope_scaling=o) for o in kinds[:3]] + [dict(rope_theta=77., rope_parameters=o) for o in (absent, None, {}, kinds[0])]
    res += [dict(rope_parameters=o, **{n: 77.}) for o in (now, absent) for n in ('rotary_emb_base','global_rope_theta','local_rope_theta','rope_local_base_freq')]
    res += [dict(rope_parameters=o, **{n: .5}) for o in (now, absent, flat|dict(partial_rotary_factor=.75)) for n in ('partial_rotary_factor','rotary_pct')]
    nest = {o: flat|dict(rope_theta=t) for o,t in (('full_attention',300.), ('sliding_attention',30.))}
    for more in [{}, dict(rope_theta=77.), dict(rope_scaling=kinds[0]), dict(rope_scaling=yarn), dict(rope_scaling=nest), dict(rope_local_base_freq=77.)]:
        res += [dict(rope_parameters=o, **more) for o in (nest, {n: o|kinds[0] for n,o in nest.items()}, dict(list(nest.items())[:1]), dict(list(nest.items())[1:]))]
    for kind,says in now.items():
        if isinstance(says, dict): res += [dict(rope_parameters=now | {kind: says|o}) for o in kinds] + [dict(rope_parameters=now | {kind: None})]
    return res

def edits(cls, cfg):
    "Lists of edits, and how many of each are tried that are legal for transformers"
    for key,value in cfg.items():
        if key in elsewhere or key=='rope_parameters': continue
        whole = 'act' in key or isinstance(others(key, value)[:1], list) and key in ('layer_types','no_rope_layers','pos_att_type','norm_rel_ebd','position_embedding_type')
        yield [{key: o} for o in others(key, value)],99 if whole else 2
        yield [{key: absent}],1
    for old,new in cls.attribute_map.items():  # the older spelling instead, and beside it
        if new in cfg and new not in elsewhere:
            yield [{old: cfg[new], new: absent}],1
            for o in others(new, cfg[new])[:2]: yield [{old: o, new: absent}],1; yield [{old: o}],1
    yield ropes(cfg),999
    for key in [o for o in beside if o not in cfg]: yield [{key: beside[key]}],1

# Ours may name the keyword that a key became
own_names = dict(hidden_size=['`k`','heads are'], num_attention_heads=['`heads`','`kv_heads`','heads are'], head_dim=['heads are'],
                 num_key_value_heads=['`kv_heads`'], sliding_window=['`window`'])

def name_words(edit):
    "The keys that an edit names, nested ones as well"
    for key,o in edit.items():
        yield from [key, *own_names.get(key, [])]
        if isinstance(o, dict): yield from name_words(o)

class TheyRefuse(Exception): "Their model does not take it either"

class Trial:
    "A family in a folder, and what came of its changes"
    def __init__(self, name, folder):
        cls,model,says = cases[name]
        self.name,self.d,self.counts,self.found,self.legal = name,Path(folder)/'m',Counter(),[],[]
        self.config,self.model = getattr(hf, cls+'Config'),getattr(hf, model if model.startswith('Gemma3') else cls+model)
        self.base = json.loads(self.config(**says).to_json_string())
        self.says = {o: v for o,v in self.base.items() if v is not None or o in ('sliding_window',)}
        self.weights = None

    def save(self, says, weights=None):
        "Write config.json, and the weights of a model made anew for it; returns that"
        shutil.rmtree(self.d, ignore_errors=True); self.d.mkdir(parents=True)
        (self.d/'config.json').write_text(json.dumps(says))
        if weights is not None: return save_file(weights, self.d/'model.safetensors', {'format':'pt'})
        config = self.config.from_pretrained(self.d)
        with torch.device('meta'): size = sum(o.numel() for o in self.model(config).parameters())
        if size>3e6: raise MemoryError('too large to try')
        torch.manual_seed(0)
        config._attn_implementation = 'eager'
        model = randomize(self.model(config))
        model.save_pretrained(self.d)
        (self.d/'config.json').write_text(json.dumps(says))
        return model

    def theirs(self, folder=None):
        "Their model of what is in the folder; it has all its weights from there"
        model,info = self.model.from_pretrained(folder or self.d, output_loading_info=True, attn_implementation='eager', dtype=torch.float32)
        if info['missing_keys'] or info['mismatched_keys']: raise ValueError(f'new: {info}')
        return model.eval()

    def apart(self, theirs, pre):
        "Largest difference of the logits or vectors, over their spread; and ours"
        enc = pre.encoder
        n = min(40, enc.max_len or 40)
        ids = torch.randint(vocab, (3,n), generator=torch.Generator().manual_seed(1)) % min(enc.vocab_sz, vocab)
        if enc.pad_idx<enc.vocab_sz: ids[ids==enc.pad_idx] = (enc.pad_idx+3) % enc.vocab_sz; ids[1,-n//4:] = enc.pad_idx
        real = ids!=enc.pad_idx
        with torch.no_grad():
            try: out = theirs(ids, attention_mask=real.long()) if pre.model is not enc else theirs.base_model(ids, attention_mask=real.long())
            except Exception as e: raise TheyRefuse from e
            want = out.logits if pre.model is not enc else out.last_hidden_state
            if not want[real].isfinite().all(): raise TheyRefuse
            got = pre.model(ids) if pre.model is not enc else enc(ids, pad_mask=~real)
        if want.shape!=got.shape: return math.inf,got[real]
        return ((got-want)[real].abs().max()/want[real].std()).item(),got[real]

    def ours(self): return load_pretrained(self.d, dtype=torch.float32)

    def note(self, what, kind, why=''):
        self.counts[kind] += 1
        if kind=='wrong': self.found.append(f'{self.name} {what}: {why}'[:400]); print('FOUND', self.found[-1], flush=True)

    def change(self, edit, kept=False):
        "Try one edit of config.json; true where theirs takes it"
        says = {o: v for o,v in (self.says | edit).items() if v is not absent}
        what = str({o: 'absent' if v is absent else v for o,v in edit.items()}) + ' kept'*kept
        try: theirs = (self.save(says, self.weights), self.theirs())[1] if kept else self.save(says)
        except Exception: self.counts['theirs refuses'] += 1; return False
        try: pre = self.ours()
        except (ValueError,RuntimeError) as e:  # sizes are refused by PyTorch
            said = str(e).replace(str(self.d), '')
            self.note(what, 'refused' if any(o in said for o in name_words(edit)) or kept else 'wrong', f'refused by another name: {said}')
            return True
        except Exception as e: self.note(what, 'wrong', f'{type(e).__name__}: {e}'); return True
        try: err = self.apart(theirs, pre)[0]
        except TheyRefuse: self.counts['theirs refuses'] += 1; return False
        except Exception as e: self.note(what, 'wrong', f'{type(e).__name__}: {e}'); return True
        self.note(what, 'equal' if err<1e-4 else 'wrong', f'{err:.1e} apart')
        if err<1e-4 and not kept: self.legal.append(edit)
        if not kept and {n: o.shape for n,o in load_file(self.d/'model.safetensors').items()}!={n: o.shape for n,o in self.weights.items()}: self.change(edit, True)
        return True

    def start(self):
        "The family as it is: equal, and its weights are kept"
        model = self.save(self.says)
        self.weights = load_file(self.d/'model.safetensors')
        err,got = self.apart(model, self.ours())
        self.note('as it is', 'equal' if err<1e-4 else 'wrong', f'{err:.1e} apart')
        return got

    def configs(self, pairs):
        "All keys, each alone, then random pairs of those that are equal alone"
        draw,every = random.Random(self.name),[*edits(self.config, self.says)]
        if self.name in variants: every = draw.sample([([o], 1) for some,_ in every for o in some], 30)
        for some,enough in every:
            for o in some:
                if self.change(o): enough -= 1
                if not enough: break
        alone = [*self.legal]
        for _ in range(pairs if alone else 0): self.change(draw.choice(alone) | draw.choice(alone))

    def tensors(self, before):
        "Each tensor changed, not finite, gone, and more of them than there are"
        for name,w in self.weights.items():
            def put(o): self.save(self.says, {n: v for n,v in (self.weights | {name: o}).items() if v is not None})
            put(w + .5*torch.randn(w.shape, generator=torch.Generator().manual_seed(2)))
            pre = self.ours()
            err,got = self.apart(self.theirs(), pre)
            said = any(name.endswith(o) for o in pre.unused)
            self.note(f'{name} changed', 'tensor' if err<1e-4 and (said or not torch.equal(got, before)) else 'wrong', f'{err:.1e} apart, unused: {pre.unused}')
            for what,o in (('nan', w.clone().index_fill_(0, tensor(0), math.nan)), ('inf', w.clone().index_fill_(0, tensor(len(w)-1), math.inf)), ('gone', None)):
                put(o)
                try: pre = self.ours()
                except ValueError as e: ok,why = any(name.endswith(o) for o in re.findall(r"'([\w.]+)'", str(e))),str(e)
                else: ok,why = any(name.endswith(o) for o in pre.unused) or o is None and pre.model is pre.encoder,f'read, unused: {pre.unused}'
                self.note(f'{name} {what}', 'tensor' if ok else 'wrong', why)
        for name in ('extra.weight', first(o for o in self.weights if '.0.' in o).rsplit('.', 2)[0]+'.extra.weight'):
            self.save(self.says, self.weights | {name: torch.ones(3)})
            unused = self.ours().unused
            self.note(f'{name} more', 'tensor' if any(name.endswith(o) for o in unused) else 'wrong', f'unused: {unused}')

    def writing(self, n=30):
        "Greedy tokens, one text and many, padded in front and behind, with a cache and past windows"
        self.save(self.says, self.weights)
        theirs,pre = self.theirs(), self.ours()
        if not isinstance(pre.model, TransformerLM): return
        pad,draw = pre.encoder.pad_idx,torch.Generator().manual_seed(4)
        texts = [torch.randint(3, vocab, (o,), generator=draw) for o in (12,5,9)]
        never = [pad] if pad<vocab else None
        with torch.no_grad():
            want = [theirs.generate(o[None], attention_mask=torch.ones_like(o[None]), max_new_tokens=n, do_sample=False, eos_token_id=None, pad_token_id=0,
                                    suppress_tokens=never)[0,-n:].tolist() for o in texts]
            def rows(front): return torch.stack([F.pad(o, (12-len(o),0) if front else (0,12-len(o)), value=pad) for o in texts])
            got = {'one text': [generate(pre.model, o[None], n, temperature=0)[0,-n:].tolist() for o in texts]}
            for front in (True,False): got[f'padded, front={front}'] = generate(pre.model, rows(front), n, temperature=0)[:,-n:].tolist()
        for what,o in got.items(): self.note(f'writes, {what}', 'writing' if o==want else 'wrong', f'{o} not {want}')

    def back(self, n=10):
        "What `save_pretrained` writes of changed weights is theirs again, as the family is and with edits that were equal"
        draw = random.Random(self.name)
        for edit in [{}, *draw.sample(self.legal, min(n, len(self.legal)))]:
            self.save({o: v for o,v in (self.says | edit).items() if v is not absent})
            pre,what = self.ours(),f'back, {edit}'.replace(str(absent), "'absent'")
            randomize(pre.model)
            try: err = self.apart(self.theirs(pre.save_pretrained(self.d.with_name('back'))), pre)[0]
            except Exception as e: self.note(what, 'wrong', f'{type(e).__name__}: {e}')
            else: self.note(what, 'back' if err<1e-4 else 'wrong', f'{err:.1e} apart')

    def golden(self):
        "Tensors in 8 bits, as multiples of 1/32, and what theirs says; and config.json"
        weights = {n: (o*32).round().to(torch.int8) for n,o in self.weights.items()}
        self.save(self.says, {n: o/32 for n,o in weights.items()})
        theirs,pre = self.theirs(), self.ours()
        ids = torch.randint(3, vocab, (1,16), generator=torch.Generator().manual_seed(5))
        with torch.no_grad(): want = theirs.base_model(ids).last_hidden_state if pre.model is pre.encoder else theirs(ids).logits
        return {f'{self.name}/{n}': o.contiguous() for n,o in (weights | dict(ids=ids.byte(), want=want)).items()},json.dumps(self.says)

@torch.no_grad()
def randomize(model):
    "Draw all weights, so large that each part matters: a bias of 0 could be left out unseen"
    for p in model.parameters(): p.add_(torch.randn_like(p)*.25)
    return model.eval()

def run(name, pairs=40):
    "All of one family: what is counted, found, and golden"
    torch.set_num_threads(1)
    start = time.time()
    with tempfile.TemporaryDirectory() as folder:
        t = Trial(name, folder)
        before = t.start()
        t.configs(pairs); t.tensors(before); t.writing(); t.back()
        print(name, dict(t.counts), f'{time.time()-start:.0f} s', flush=True)
        return name,t.counts,t.found,t.golden()

# Families that ours does not read, and other heads, for `check_model`
pair = dict(vocab_size=vocab, d_model=k, max_position_embeddings=T, encoder_layers=2, decoder_layers=2, encoder_attention_heads=heads, decoder_attention_heads=heads,
            encoder_ffn_dim=48, decoder_ffn_dim=48, pad_token_id=1, decoder_start_token_id=1)
more = dict(
    olmo2=('Olmo2','ForCausalLM',llama()), granite=('Granite','ForCausalLM',llama()), bert_model=('Bert','Model',shape), bert_classifier=('Bert','ForSequenceClassification',shape), bert_tagger=('Bert','ForTokenClassification',shape),
    distilbert_classifier=('DistilBert','ForSequenceClassification',cases['distilbert'][2]), modernbert_classifier=('ModernBert','ForSequenceClassification',cases['modernbert'][2]),
    llama_classifier=('Llama','ForSequenceClassification',llama()), nomic=('NomicBert','Model',shape), phi=('Phi','ForCausalLM',shape), stablelm=('StableLm','ForCausalLM',llama()),
    opt=('OPT','ForCausalLM',dict(vocab_size=vocab, hidden_size=k, num_hidden_layers=2, num_attention_heads=heads, ffn_dim=48, max_position_embeddings=T, word_embed_proj_dim=k, pad_token_id=1)),
    gpt_neo=('GPTNeo','ForCausalLM',dict(vocab_size=vocab, hidden_size=k, num_layers=2, num_heads=heads, max_position_embeddings=T, attention_types=[[['global','local'],1]], window_size=near)),
    bloom=('Bloom','ForCausalLM',dict(vocab_size=vocab, hidden_size=k, n_layer=2, n_head=heads)),
    t5=('T5','ForConditionalGeneration',dict(vocab_size=vocab, d_model=k, d_kv=8, d_ff=48, num_layers=2, num_heads=heads)),
    bart=('Bart','ForConditionalGeneration',pair), marian=('Marian','MarianMTModel',pair))

def checked(name):
    "The family, and what `check_model` says of a small model of it"
    from transformers_from_scratch.testing import check_model
    torch.set_num_threads(1); torch.manual_seed(0)
    config,cls,kw = (cases | more)[name]
    model = getattr(hf, cls, None) or getattr(hf, config+cls)
    report = check_model(model(getattr(hf, f'{config}Config')(**kw)), raises=False)
    named = {o: [f.name for f in report if f.verdict==o] for o in ('held','broken','not promised')}
    used = max(o.diff/o.tol for o in report if o.verdict=='held' and o.tol)
    return dict(family=name, held=len(named['held']), **{n: ' '.join(o) for n,o in named.items() if n!='held'}, largest=f'{used:.1g}',
                seconds=round(sum(o.seconds for o in report), 1)),str(report)

def check(args):
    "Print the reports of what is broken, and write the table"
    with Pool(args.jobs) as pool: found = pool.map(checked, args.names or [*cases,*more], chunksize=1)
    for row,report in found: print(row, *[report]*bool(row['broken']), sep='\n', flush=True)
    if not args.names: pd.DataFrame([o for o,_ in found]).to_csv(root/'nbs/data/checked.csv', index=False)
    return any(o['broken'] for o,_ in found)

def defaults(args):
    "Write what a key means where it is missing: for each key of each config, and for all at once that ours does not need (`*`)"
    out,res = root/'nbs/data/families',{}
    configs = json.loads((out/'configs.json').read_text())
    for name in ('t5','t5_gated','bart','marian'): configs[name] = json.loads((root/'nbs/data/hf'/name/'config.json').read_text())
    unread = elsewhere - set('hidden_dropout_prob dropout resid_pdrop dropout_rate eos_token_id bos_token_id decoder_start_token_id'.split())
    for name,says in configs.items():
        config = hf.CONFIG_MAPPING[says['model_type']]
        def whole(*without): return json.loads(config.from_dict({n: o for n,o in says.items() if n not in without}).to_json_string(use_diff=False))
        def needed(key):
            try: families[says['model_type']](CheckpointConfig(out, {n: o for n,o in says.items() if n!=key}))
            except ValueError: return True
        def means(*keys):
            try: now = whole(*keys)
            except Exception: return
            return {n: o for n,o in now.items() if n not in unread and (n in keys or o!=before.get(n))}
        before,keys = whole(),[n for n in says if n not in unread and n not in ('model_type','vocab_size')]
        optional = [n for n in keys if not needed(n)]
        res[name] = {n: means(n) for n in keys} | {'*': means(*optional)}
    def lines(each, by): return '{\n' + ',\n'.join(f'{by}{json.dumps(n)}: {o}' for n,o in each.items()) + f'\n{by[1:]}' + '}'
    (out/'defaults.json').write_text(lines({n: lines({k: json.dumps(o, sort_keys=True) for k,o in row.items()}, '  ') for n,row in res.items()}, ' ')+'\n')

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--defaults', action='store_true', help='instead, what configs mean that lack a key')
    parser.add_argument('--check', action='store_true', help='`check_model` instead, of further families, too')
    parser.add_argument('--files', action='store_true', help='only the other files of a folder, see tools/family_files.py')
    parser.add_argument('names', nargs='*', help='a family, or several; none: all, and the files are written')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    parser.add_argument('--pairs', type=int, default=40, help='random pairs of changes, for each family')
    args = parser.parse_args()
    if args.check: return check(args)
    if args.defaults: return defaults(args)
    if args.files: return family_files.check(args.names, args.jobs)
    found = []
    with Pool(args.jobs) as pool:
        for name,c,lost,golden in pool.imap(partial(run, pairs=args.pairs), args.names or cases):
            found += lost
            keep(dict(zip(('configs tried','equal','refused by name','wrong','tensors','texts written'),
                          (c['equal']+c['refused']+sum(o[len(name)+1]=='{' for o in lost), c['equal'], c['refused'], c['wrong'], c['tensor'], 3*c['writing'])), family=name), golden)
    print(*found, f'{len(found)} wrong', sep='\n')
    return bool(found) | (not args.names and family_files.check([], args.jobs))

def keep(row, golden):
    "Put a family's row into the table, and its golden tensors and config.json into their files"
    file,out,(tensors,says) = root/'nbs/data/families.csv',root/'nbs/data/families',golden
    rows = {o['family']: o for o in (csv.DictReader(file.open()) if file.exists() else ())}
    rows[row['family']] = {'family': row['family'], **row, 'when': f'{date.today()}, transformers {hf.__version__}'}
    with open(file, 'w', newline='') as f:
        w = csv.DictWriter(f, [*rows[row['family']]], lineterminator='\n')
        w.writeheader(); w.writerows(rows[o] for o in cases if o in rows)
    out.mkdir(exist_ok=True)
    old = load_file(out/'golden.safetensors') if (out/'golden.safetensors').exists() else {}
    save_file({n: o for n,o in old.items() if not n.startswith(row['family']+'/')} | tensors, out/'new')  # the old file is mapped
    (out/'new').rename(out/'golden.safetensors').chmod(0o644)
    configs = json.loads((out/'configs.json').read_text()) if (out/'configs.json').exists() else {}
    (out/'configs.json').write_text(json.dumps(configs | {row['family']: json.loads(says)}, indent=1, sort_keys=True)+'\n')

if __name__=='__main__': sys.exit(main())
