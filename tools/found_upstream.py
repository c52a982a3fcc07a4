"""What `check_model` found in transformers, in plain PyTorch and transformers: prints a number for each, which should be 0.

    python tools/found_upstream.py        # transformers 5.23; seconds"""
import torch
from transformers import (ConvBertConfig, ConvBertModel, FSMTConfig, FSMTForConditionalGeneration, FalconMambaConfig,
                          FalconMambaForCausalLM, MambaConfig, MambaForCausalLM)

def largest(a, b): return f'{(a-b).abs().max():.0e} of {b.abs().max():.0e}'

@torch.no_grad()
def pieces(cls, config):
    "Six tokens at once, and in two pieces with a cache"
    torch.manual_seed(0)
    model = cls(config(vocab_size=99, hidden_size=32, num_hidden_layers=2, state_size=8)).eval()
    for p in model.parameters(): p += .3*p.std()*torch.randn_like(p) if p.numel()>1 else 0
    ids = torch.randint(3, 99, (1,6))
    first = model(ids[:,:3], use_cache=True)
    second = model(ids[:,3:], cache_params=first.cache_params, use_cache=True)
    print(f'{cls.__name__}, the last three tokens in one piece with a cache:', largest(second.logits, model(ids).logits[:,3:]))
    cache = model(ids[:,:3], use_cache=True).cache_params
    for i in range(3, 6): out = model(ids[:,i:i+1], cache_params=cache, use_cache=True)
    print('    one by one:', largest(out.logits[:,-1], model(ids).logits[:,-1]))

@torch.no_grad()
def future():
    "Logits of FSMT's first target tokens, where the last one is changed"
    torch.manual_seed(0)
    config = FSMTConfig(langs=['en','de'], src_vocab_size=99, tgt_vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2,
                        encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64)
    model = FSMTForConditionalGeneration(config).eval()
    for p in model.parameters(): p += .3*p.std()*torch.randn_like(p) if p.numel()>1 else 0
    source,target = torch.randint(3, 99, (1,5)),torch.randint(3, 99, (1,6))
    other = target.clone()
    other[:,-1] = 3 + target[:,-1]%90
    for kw in ({}, dict(use_cache=False)):
        a,b = (model(source, decoder_input_ids=o, **kw).logits[:,:-1] for o in (target,other))
        print(f'FSMT, earlier logits when the last target token changes, {kw or "as it is called by default"}:', largest(a, b))

@torch.no_grad()
def padding():
    "ConvBERT's vectors of a text, alone and with padding behind it that the mask hides"
    torch.manual_seed(0)
    model = ConvBertModel(ConvBertConfig(vocab_size=99, hidden_size=32, embedding_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)).eval()
    for p in model.parameters(): p += .3*p.std()*torch.randn_like(p) if p.numel()>1 else 0
    ids = torch.randint(3, 99, (1,5))
    padded = torch.nn.functional.pad(ids, (0,4))
    out = model(padded, attention_mask=(padded!=0).long()).last_hidden_state[:,:5]
    print('ConvBERT, a text with padding behind it:', largest(out, model(ids, attention_mask=torch.ones_like(ids)).last_hidden_state))

if __name__=='__main__':
    for cls,config in ((MambaForCausalLM,MambaConfig), (FalconMambaForCausalLM,FalconMambaConfig)): pieces(cls, config)
    future()
    padding()
