"""Show that a refactoring changes no result: two states of the package run the scenarios below, each in a process of its own, and their results
(losses, answers, texts, gradients, graphs, files) are compared. Equal means to the bit; sums in another order may be off by some units in
the last place. Differences are listed, and the exit status is 0 only where there are none. All is small, seeded, and on the CPU: four to eight minutes.

    python tools/compare_commits.py COMMIT               # that commit and the working tree
    python tools/compare_commits.py COMMIT HEAD          # two commits, or folders that hold the package
    python tools/compare_commits.py COMMIT . write       # only the scenarios with `write` in their name

A scenario is a function below that yields `(name, value)`. It has to run in both states: commits before 2026-11-29 have other names.
"""
import inspect, os, subprocess, sys, tempfile, warnings
running = sys.argv[1:2]==['--run']
if running: from transformers_from_scratch.all import *
else: from fastai.basics import *
from itertools import pairwise, product

package,root = 'transformers_from_scratch',Path(__file__).resolve().parent.parent

def made_by(state, only):
    "Results of the scenarios with the package in `state`, a commit or a folder"
    with tempfile.TemporaryDirectory() as folder:
        if (Path(state)/package).is_dir(): Path(folder, package).symlink_to((Path(state)/package).resolve())
        else: subprocess.run(f'git archive {state} {package} | tar x -C {folder}', shell=True, cwd=root, check=True)
        env = dict(os.environ, PYTHONPATH=folder, OMP_NUM_THREADS='1', CUDA_VISIBLE_DEVICES='')
        subprocess.run([sys.executable, __file__, '--run', folder, only], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        return torch.load(Path(folder)/'made.pt', weights_only=False)

def compare(a, b):
    "Compare `a` and `b`: 'equal' to the bit, 'rounded', or 'DIFFER', and by how much"
    def short(o): return f'{o.dtype} {[*o.shape]}' if isinstance(o, Tensor) else repr(o)[:300]
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return ('equal','') if type(a) is type(b) and a==b else ('DIFFER',f'{short(a)} | {short(b)}')
    if a.shape!=b.shape or a.dtype!=b.dtype: return 'DIFFER',f'{short(a)} | {short(b)}'
    same = (a==b) | (a.isnan() & b.isnan())
    if same.all(): return 'equal',''
    by = ((a.double()-b.double()).where(~same, 0).abs().max() / a.double().nan_to_num(0, 0, 0).abs().max()).item()
    fine = a.is_floating_point() and by <= 16*torch.finfo(a.dtype).eps
    return 'rounded' if fine else 'DIFFER',f'by {by:.0e} of the largest, {a.dtype}'

def main(old, new=root, only=''):
    a,b = made_by(old, only),made_by(new, only)
    found = dict(equal=0, rounded=0, DIFFER=0, RAISE=0)
    for n in {**a, **b}:
        kind,how = compare(a.get(n, 'not made'), b.get(n, 'not made'))
        if n.endswith('raises'): kind,how = 'RAISE',how or a[n]
        found[kind] += 1
        if how: print(kind, n, how, sep='  ')
    print(', '.join(f'{kind} {n:,}' for kind,n in found.items()))
    return int(bool(found['DIFFER'] or found['RAISE'] or not found['equal']))

# What is below runs in both states.
def run(folder, only=''):
    "Run the scenarios, and save what they make"
    at = Path(sys.modules[package].__file__).parent
    assert at==Path(folder)/package, f'{at} was imported, but should be in {folder}'
    warnings.simplefilter('ignore')
    made,scenarios = {},{n: f for n,f in globals().items() if inspect.isgeneratorfunction(f) and f.__module__=='__main__' and only in n}
    for name,f in scenarios.items():
        set_seed(0)
        try:
            for what,o in f():
                assert f'{name}: {what}' not in made, f'{what} is made twice'
                made[f'{name}: {what}'] = o.detach().as_subclass(Tensor).clone() if isinstance(o, Tensor) else o
        except Exception as e: made[f'{name} raises'] = f'after "{[None, *made][-1]}" {type(e).__name__}: {e}'
    torch.save(made, Path(folder)/'made.pt')

def seeded(seed): return torch.Generator().manual_seed(seed)
def flat(tensors): return torch.cat([o.flatten() for o in tensors])
def lively(model):
    "`model` with weights that are livelier than those at birth, so that nothing is hidden by zeros"
    g = seeded(1)
    for p in model.parameters(): p.data += .3*torch.randn(p.shape, generator=g)
    return model.eval()
def grads(model, out):
    model.zero_grad()
    out.pow(2).mean().backward()
    return flat(p.grad for p in model.parameters() if p.grad is not None)
def attend(layer, *xs, **kwargs):
    "Attention by its body, which takes all keywords, whatever class `layer` is of"
    return MultiHeadAttention.forward(layer, *xs, **kwargs)
def some_ids(b=4, pads=True):
    "Ids `(b,14)`, with padding in front, in the middle, at the end, and nowhere"
    ids = torch.randint(2, 30, (b,14), generator=seeded(3))
    for row,at in zip(ids, (slice(4), slice(3,6), slice(-5,None)) if pads else ()): row[at] = 1
    return ids
def encode(model, ids, types=None):
    "Vectors of texts that a model has aligned, and the padding mask"
    texts = align(ids, model[0], getattr(model, 'crop', None))
    return model[0](texts.ids, texts.hidden, types=texts.move(types)),texts.pad_mask
small = dict(k=16, heads=4, depth=2, max_len=24)
if running: both,causal,turn = SelfAttention,SelfAttentionAutoRegressive,dict(pos_cls=RotaryPositions)
def embeddings(**kwargs): return dict(embed_cls=partial(ShapedEmbeddings, **kwargs))
def window(cls): return type('Window', (cls,), dict(hidden=lambda self, q, k: (k>q) | (k<q-3)))
def slopes(cls): return type('Slopes', (cls,), dict(score_bias=lambda self, q, k: (k-q)*torch.tensor([.5,.2,.1,0])[:,None,None]))

def models():
    "Keywords of models of both kinds, by name"
    return dict(plain={}, sinusoidal=dict(pos_cls=SinusoidalPositions), rotary=turn, no_positions=dict(pos_cls=Positions),
        base=dict(pos_cls=partial(RotaryPositions, base=500)), wide=dict(wide=True), wide_rotary=dict(wide=True, **turn),
        groups=dict(attn_cls=partial(causal, kv_heads=2)), qk_norm=dict(attn_cls=partial(causal, qk_norm=nn.RMSNorm, kv_heads=1), **turn),
        window=dict(attn_cls=window(causal)), slopes=dict(attn_cls=slopes(causal)), biases=dict(attn_cls=partial(causal, qkv_bias=True, bias=False)),
        gated=dict(ff_cls=GatedFeedForward), geglu=dict(ff_cls=partial(GatedFeedForward, bias=False), act_cls=nn.GELU, hidden_mult=2),
        norm_last=dict(norm_first=False), rms=dict(norm_cls=nn.RMSNorm, final_norm=False), embed_norm=embeddings(norm_cls=nn.LayerNorm),
        attn_dropout=dict(attn_dropout=.3), no_dropout=dict(dropout=0.), no_limit=dict(pos_cls=Positions, max_len=None))
def classifiers():
    "Keywords of classifiers: those of `models`, and more"
    return {**models(), **dict(encoder=dict(attn_cls=both), encoder_groups=dict(attn_cls=partial(both, kv_heads=2)),
        encoder_slopes=dict(attn_cls=slopes(both)), word_dropout=dict(word_dropout=.3), vocab_dropout=dict(vocab_dropout=.2),
        cropped=dict(max_len=9), tail=dict(max_len=9, crop=tail_crop), ends=dict(max_len=9, crop=head_tail_crop), max_pool=dict(pool=max_pool),
        first=dict(pool=first_pool, attn_cls=both), last=dict(pool=last_pool), mean_max=dict(pool=mean_max_pool, head_dropout=.5))}

def data(is_lm=False, bs=8, least=1, most=20):
    "`DataLoaders` of made-up words, in texts of many lengths"
    vocab,g = ['xxunk','xxpad',*(f'w{i}' for i in range(2, 30))],seeded(0)
    lengths = torch.randint(least, most, (48,), generator=g).tolist()
    df = pd.DataFrame(dict(text=[' '.join(f'w{i}' for i in torch.randint(2, 30, (n,), generator=g)) for n in lengths],
                           y=[str(n%3) for n in lengths], valid=[i%4==0 for i in range(48)]))
    blocks = [TextBlock.from_df('text', vocab=vocab, tok=BaseTokenizer(), rules=[], is_lm=is_lm, seq_len=12), CategoryBlock][:1 if is_lm else 2]
    block = DataBlock(blocks, get_x=ColReader('text'), get_y=None if is_lm else ColReader('y'), splitter=ColSplitter('valid'))
    return block.dataloaders(df, bs=bs, num_workers=0)
def trained(dls, cbs=(), n=1, **kwargs):
    set_seed(1)
    factory = transformer_lm_learner if isinstance(dls.train, LMDataLoader) else transformer_classifier_learner
    learn = factory(dls, **{**small, 'pos_cls':LearnedPositions, **kwargs}, cbs=cbs)
    with learn.no_bar(), learn.no_logging(): learn.fit(n, 5e-3)
    return learn
def losses(*args, **kwargs): return torch.stack(trained(*args, **kwargs).recorder.losses)
if running: as_fastai = dict(temperature=1., top_p=None, decoder=decode_spec_tokens)  # as fastai does

def learners_learn():
    for is_lm,kinds in ((False,classifiers()), (True,{**models(), 'untied':dict(tie_weights=False)})):
        dls = data(is_lm)
        for n,o in kinds.items():
            learn,name = trained(dls, **o),f'{n}, {is_lm}'
            yield from ((f'{name}, losses',torch.stack(learn.recorder.losses)), (f'{name}, weights',flat(learn.model.parameters())))
            yield from ((f'{name}, names',list(learn.model.state_dict())), (f'{name}, get_preds',learn.get_preds()[0]))
            if is_lm: yield f'{name}, score',[(o.log_prob, o.n) for o in learn.score(['w3 w4', 'w7 w2 w5', 'w9 '*40])]
            else: yield f'{name}, predict',str([learn.predict(o) for o in ('w3 w4 w5', 'w7', 'w9 '*30)])
    long = data(bs=16, least=30, most=60)  # enough numbers for dropout from bytes and for fast products
    yield from (('large',losses(long, k=256, dropout=.2)), ('bf16',losses(long, k=64, cbs=BF16Precision(), attn_cls=both)))
    for n,o in dict(parts=ChunkedLoss(rows=7), bf16=BF16Precision()).items(): yield f'{n}, True',losses(dls, cbs=o)

def learners_write():
    learn = trained(data(is_lm=True))
    lively(learn.model)
    ways = dict(plain={}, greedy=dict(temperature=0), hot=dict(temperature=2.5), top_k=dict(top_k=3), top_p=dict(top_p=.6), min_p=dict(min_p=.1),
        no_min_p=dict(min_p=.99), again=dict(repetition_penalty=1.8), less=dict(repetition_penalty=.5), stop=dict(stop=['w5','w9 w1']),
        last=dict(only_last_word=True), int8=dict(quantize='int8'), bf16=dict(quantize='bf16'),
        many=dict(temperature=.8, top_k=9, top_p=.9, min_p=.01, repetition_penalty=1.2, no_unk=False))
    ways = {n: as_fastai | o for n,o in ways.items()}
    for (n,o),words in product(ways.items(), (3, 40)):  # more than `max_len`: the start of a text is lost
        yield f'{n}, predict {words}',learn.predict('w3 w4 w5', words, seed=1, no_bar=True, **o)
        yield f'{n}, texts {words}',learn.predict(['w3 w4', 'w7', 'w9 '*30], words, seed=2, no_bar=True, **o)
        yield f'{n}, stream {words}',''.join(learn.stream('w9', words, **o))

def trainings_go_on():
    class Stop(Callback):
        def after_epoch(self):
            if self.epoch==1: raise KeyboardInterrupt
    for is_lm in (False, True):
        folder,kw = Path(tempfile.mkdtemp(dir='.')).resolve(),dict(n=4)
        try: trained(data(is_lm), cbs=[Resume(folder), Stop()], **kw)
        except KeyboardInterrupt: pass
        learn = trained(data(is_lm), cbs=Resume(folder), **kw)
        yield from ((f'{is_lm}, losses',torch.stack(learn.recorder.losses)), (f'{is_lm}, weights',flat(learn.model.parameters())))

def models_write():
    ways = dict(plain={}, short=dict(words=4), no_cache=dict(cache=False), only_last=dict(only_last=True), int8=dict(quantize='int8'),
                bf16=dict(quantize='bf16'), many=dict(top_k=6, top_p=.9, repetition_penalty=1.3, banned=[3,5]))
    for (n,o),(b,pads) in product(models().items(), ((1,False), (4,False), (4,True), (6,True))):  # the fast decoder of 6 texts is another
        model = lively(use_fast_layers(TransformerLM(30, **{**small, **o})))
        for way,kw in ways.items():
            if 'quantize' in kw and why_slow(model): continue
            yield f'{n}, {b} {pads} {way}',generate(model, some_ids(b, pads), kw.get('words', 16), **{n: v for n,v in kw.items() if n!='words'}, generator=seeded(5))
    logits = 3*torch.randn(6, 30, generator=seeded(0))
    for f,x in ((scale_temperature,.3), (keep_top_k,3), (keep_top_p,.4), (keep_epsilon,.1), (keep_epsilon,.99)):
        yield f'{f.__name__} {x}',f(logits, x)
    yield from (('penalty',penalize_repetition(logits, some_ids(6), 1.5)), ('forbidden',forbid_ids(logits, tensor([3,4]))))

def models_read():
    for n,o in classifiers().items():
        cls = partial(TransformerClassifier, n_out=3)
        made = dict(classes=cls, types=partial(cls, **embeddings(n_types=2)), beyond=partial(cls, pad_idx=30), numbers=partial(cls, y_range=(0,2)))
        if n!='vocab_dropout': made['no_pad'] = partial(cls, pad_idx=None)
        if n in models(): made |= dict(tokens=partial(cls, pool=None), lm=TransformerLM)
        for (kind,cls),pads in product(made.items(), (False, True)):
            torch.manual_seed(0)
            if n=='embed_norm' and kind=='types': o = {**o, **embeddings(norm_cls=nn.LayerNorm, n_types=2)}
            model,name,ids = use_fast_layers(cls(30, **{**small, **o})),f'{n}, {kind}, {pads}',some_ids(pads=pads)
            yield f'{name}, at birth',flat(model.parameters())
            lively(model)
            if pads: ids[3] = 1  # nothing else
            if kind=='beyond': ids[ids==1] = 30
            args = (ids,torch.arange(14).expand(4, -1)%2) if kind=='types' else (ids,)
            x,mask = encode(model, *args)
            yield from ((name,model(*args)), (f'{name}, mask',mask), (f'{name}, vectors',x.masked_fill(mask[...,None], 0)))
            yield f'{name}, gradient',grads(model, model(*args))
            for dtype in (torch.double, torch.bfloat16, torch.half): yield f'{name}, {dtype}',deepcopy(model).to(dtype)(*args)
            with torch.autocast('cpu', torch.bfloat16): yield f'{name}, autocast',model(*args)
            model.train(); torch.manual_seed(2)
            yield f'{name}, in training',grads(model, model(*args))

def tokens_are_moved():
    for crop,max_len,pad,drop in product((None, head_crop, tail_crop, head_tail_crop, special_crop), (5, 14), (1, None), (0., .4)):
        if crop is None and max_len==5: continue
        encoder = TransformerEncoder(30, 8, 2, 1, max_len=max_len, pad_idx=pad)
        torch.manual_seed(4)
        ids,mask,*_ = align(some_ids(), encoder, crop, drop)
        yield f'{crop and crop.__name__} {max_len} {pad} {drop}',torch.stack([ids,mask.long()])

def texts_are_read_in_pieces():
    pads,ids = torch.arange(14) < tensor([[0],[3],[5],[0]]),some_ids(pads=False)
    for (n,o),padded,learns in product(models().items(), (False, True), (False, True)):
        model,caches,out = lively(use_fast_layers(TransformerLM(30, **{**small, **o}))),[KVCache(room=4) for _ in range(2)],[]
        pos = (torch.arange(14)-pads.sum(1, keepdim=True)).clamp(min=0) if padded else torch.arange(14)
        with torch.set_grad_enabled(learns):
            for i,j in pairwise((0, 5, 6, 9, 14)): out.append(model[0](ids[:,i:j], pads[:,:j] if padded else None, pos[...,i:j], caches))
        yield f'{n}, {padded} {learns}',torch.cat(out, 1).masked_fill(pads[...,None] & padded, 0)

def attention():
    x,y,z = (torch.randn(3, n, 16, generator=seeded(n)) for n in (7, 9, 9))
    kinds = dict(both=both, causal=causal, multi=MultiHeadAttention, cross=MultiHeadAttention, window=window(both), slopes=slopes(both),
                 causal_window=window(causal), causal_slopes=slopes(causal))
    forms = dict(narrow=dict(wide=False), wide=dict(wide=True), groups=dict(wide=True, kv_heads=2, bias=False),
                 norms=dict(wide=False, kv_heads=1, qk_norm=nn.RMSNorm, qkv_bias=True))
    for (kind,cls),(form,kw) in product(kinds.items(), forms.items()):
        layer,rotate = lively(cls(16, 4, dropout=.3, **kw)),RotaryPositions(16, s=16 if kw['wide'] else 4).rotate
        xs,tk = ((x,y,z),9) if kind=='cross' else ((x,),7)
        pads,pos = torch.arange(tk) >= tensor([[tk],[4],[0]]),torch.randint(0, 9, (3,7), generator=seeded(1))
        given = dict(plain={}, pad_mask=dict(pad_mask=pads), mask=dict(mask=torch.rand(3, 1, 7, tk, generator=seeded(2))<.3), pos=dict(pos=pos[0]),
                     hidden=dict(mask=torch.ones(7, tk, dtype=torch.bool)), two=dict(pos=pos),
                     rotate=dict(rotate=rotate), cache=dict(cache=KVCache), turned=dict(rotate=rotate, pos=pos),
                     many=dict(pad_mask=pads, mask=torch.eye(7, tk).bool(), pos=pos, rotate=rotate, cache=KVCache))
        for (n,o),need in product(given.items(), (False, True)):
            def ask(layer, *xs): return tuplify(attend(layer, *xs, need_weights=need, **{n: v() if n=='cache' else v for n,v in o.items()}))
            name = f'{kind} {form} {n} {need}'
            yield from ((name,flat(ask(layer, *xs))), (f'{name} gradient',grads(layer, ask(layer, *xs)[0])))
            for dtype in (torch.half, torch.bfloat16, torch.double): yield f'{name} {dtype}',ask(deepcopy(layer).to(dtype), *(o.to(dtype) for o in xs))[0]
            with torch.autocast('cpu', torch.bfloat16): yield f'{name} autocast',ask(layer, *xs)[0]
            torch.manual_seed(3)
            yield f'{name} in training',ask(layer.train(), *xs)[0]
            layer.eval()
        for cuts,turns in product(((0,3,7), (0,1,2,5,6,7)), (False, True)):
            cache,at,out = KVCache(),torch.arange(7)*2,[]
            for i,j in pairwise(cuts):
                kw = dict(rotate=rotate, pos=at[i:j], pad_mask=pads[:,:j]) if turns else {}
                out.append(attend(layer, x[:,i:j], cache=cache, need_weights=False, **kw))
            yield f'{kind} {form} {cuts} {turns}',torch.cat(out, 1)

def graphs():
    b,t,ids = torch.export.Dim('b', min=1, max=64),torch.export.Dim('t', min=2, max=24),some_ids()
    made = {n: partial(TransformerClassifier, n_out=3) for n in ('plain','encoder','rotary','cropped','groups','slopes')}
    made |= {f'{n}, lm': TransformerLM for n in ('plain','rotary','qk_norm','gated','norm_last','window')}
    for n,cls in made.items():
        model = lively(use_fast_layers(cls(30, **{**small, **classifiers()[n.split(',')[0]]})))
        graph = torch.compile(model, fullgraph=True, dynamic=True, backend='eager')
        program = torch.export.export(model, (ids,), dynamic_shapes=({0:b, 1:t},)).module()
        for i,o in enumerate((ids, some_ids(3, False)[:,:9])): yield from ((f'{n}, compiled {i}',graph(o)), (f'{n}, exported {i}',program(o)))
        torch._dynamo.reset()
        def loss(ws, o): return torch.func.functional_call(model, ws, o[None]).pow(2).mean()
        each = torch.func.vmap(torch.func.grad(loss), in_dims=(None,0))({n: p.detach() for n,p in model.named_parameters()}, ids)
        yield f'{n}, text by text',flat(each.values())

def files():
    path = Path(tempfile.mkdtemp(dir='.')).resolve()
    for n,is_lm in [('encoder',False), *product(('plain','rotary','groups','gated','norm_last'), (False, True))]:
        dls,name = data(is_lm),f'{n}, {is_lm}'
        learn,other,third = (trained(dls, n=i, **classifiers()[n]) for i in (1,2,3))
        learn.path = other.path = third.path = path
        def says(o): return str([o.predict(t, **(dict(n_words=20, seed=0, **as_fastai) if is_lm else {})) for t in ('w3 w4', 'w9')])
        learn.save('state'); learn.export('all.pkl'); learn.save_encoder('encoder')
        yield from ((name,says(learn)), (f'{name}, load',says(other.load('state'))), (f'{name}, load_learner',says(load_learner(path/'all.pkl'))))
        yield from ((f'{name}, load_model',says(load_transformer_learner(learn.save_transformer(path/'model')))), (f'{name}, load_encoder',says(third.load_encoder('encoder'))))
        yield f'{name}, attention_maps',attention_maps(learn, 'w3 w4 w5')[0]
        if is_lm: continue
        yield f'{name}, leave_one_out',[*learn.explain('w3 w4 w5').scores]
        add_lora(learn, r=2)
        with learn.no_bar(), learn.no_logging(): learn.fit(1, 1e-2)
        yield from ((f'{name}, lora',flat(learn.model.parameters())), (f'{name}, merged',says(learn.merge_lora())))

if __name__=='__main__': sys.exit((run if running else main)(*sys.argv[2 if running else 1:]))
