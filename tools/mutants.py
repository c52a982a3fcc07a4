"""Put faults into the exported cells, one at a time, and run the notebooks that concern them, until one fails. `make stress WHAT=mutants`
writes what was caught, and by which notebook, to `nbs/data/mutants.csv`; it takes two hours on two cores.

    python tools/mutants.py --check                 # only whether the code of each fault stands where it should

Each fault is a typical slip: the module it goes into, what it is, the code as it stands there (once in the exported cells of the module's
notebook), the code with the fault, and which modules, pages or tests to run next. The page of a module and its tests are run first. Tools such as
mutmut mutate modules and run pytest; here the code and its tests are cells of the same notebook, so a fault goes into a copy of the
repository, which is exported from."""
import argparse, json, os, re, subprocess, sys, tempfile, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from common import copy_tracked, root, tested, write

def page(name): return name.replace('.', '/')                                            # the notebook of a module
tests = {'nn.variants': 'nn.blocks', 'testing.trial': 'testing.model', 'testing.checks': 'testing.model', 'testing.pieces': 'testing.model', 'nn.encoder': 'nn.models', 'nn.align': 'nn.models',
         'nn.classifier': 'nn.models', 'nn.lm': 'nn.models', 'nn.mlm': 'learner.mlm', 'nn.seq2seq': 'learner.seq2seq', 'nn.bag': 'learner.bag',
         'generate.sample': 'generate.write', 'generate.read': 'generate.write', 'fast.attention': 'fast.layers', 'text.ensure': 'learner.core',
         'text.info': 'learner.checks', 'learner.turns': 'learner.core_threads', 'pretrained.decoders': 'pretrained.core', 'pretrained.encoders': 'pretrained.families',
         'pretrained.family': 'pretrained.core', 'pretrained.pairs': 'pretrained.core', 'text.loaders': 'text.blocks', 'text.hf': 'text.tokenizers'}  # where not named after the module
faults = [
    ('train.contrastive', 'texts of another label count as alike', '(y[:,None]==y).float()', '(y[:,None]>=y).float()', []),
    ('train.contrastive', 'a text is like itself', '(y[:,None]==y).float().fill_diagonal_(0)', '(y[:,None]==y).float()', []),
    ('train.contrastive', 'a pair is parted', 'order += pair', 'order += pair[:1]', []),
    ('text.entities', 'entities may overlap', 'ensure(one.end<=other.start,', 'ensure(True,', []),
    ('text.entities', 'an entity may end in a word', 'ensure(whole,', 'ensure(inside,', []),
    ('use.page', 'frequent phrases count no more than rare ones', 'per_text = grad * bag.ratios', 'per_text = bag.ratios**2', []),
    ('use.page', 'too few answers stay', "if compared['same']<min_same: raise", "if compared['same']<0: raise", []),
    ('use.onnx', 'vectors are not made of length 1', 'return F.normalize(x, dim=-1) if self.normalize else x', 'return x', ['tests/use/predict']),
    ('use.onnx', 'the bound of answers is not looked at', "elif not compared['same']>=min_same:", "elif compared['same']<0:", ['tests/use/onnx']),
    ('use.onnx', 'scales are from a few texts of validation', 'few = len(source.dls.valid_ds)<200', 'few = len(source.dls.valid_ds)<2', ['tests/use/predict']),
    ('use.predict', 'special tokens at the end are cut off', 'ids[:limit-n_last] + ids[len(ids)-n_last:]', 'ids[:limit]', ['tests/use/predict']),
    ('use.predict', 'no prompt is put before a text', 'self.ids(o, before)', 'self.ids(o)', ['tests/use/predict']),
    ('use.predict', 'a tag is read at the second piece of a word', 'firsts.append((i, [starts[j] for j in own]))', 'firsts.append((i, [starts[j]+1 for j in own]))', ['tests/use/predict']),
    ('use.predict', 'a text of JSON lines loses its other columns', 'for row in map(_with_answer, rows, answers): print', 'for row in answers: print', ['tests/use/predict']),
    ('use.zero_shot', 'the mean is added instead of taken off', 'copy_(-weight@mean)', 'copy_(weight@mean)', []),
    ('testing.trial', 'noise hides behind zeros', 'moves * size * torch', '0 * torch', []),
    ('testing.trial', 'padding is never told', 'else ids==self.pad_idx', 'else ids<0', []),
    ('testing.trial', 'NaN is no difference', 'nan_to_num(math.inf)', 'nan_to_num(0.)', []),
    ('testing.checks', 'a batch of one is not tried with padding', 'for b in (1,2,width): yield', 'for b in (2,width): yield', []),
    ('testing.checks', 'texts of different lengths are not tried in one batch', 'for lengths in ((2,most,1,3), (most,1,2)):', 'for lengths in ():', ['tests/testing/strangers']),
    ('testing.pieces', 'prompts are padded nowhere', "trial.ragged((width,1,2), 'front')", "trial.ragged((width,)*3, 'front')", ['tests/testing/strangers']),
    ('testing.trial', 'what copies share is not looked for', 'if self.noisy: return', 'return', ['tests/testing/strangers']),
    ('testing.checks', 'training has no gradients', "outs = [trial.outputs(ids, model=model)[0].detach() for _ in range(4)]", "outs = [trial.out(ids, model=model) for _ in range(4)]", ['tests/testing/strangers']),
    ('testing.pieces', 'pieces are longer than the model reads', 'while sum(mixed)>t:', 'while sum(mixed)>24:', ['tests/testing/strangers']),
    ('learner.checks', 'accuracy that counts padding passes with a loss of your own', "'tags': (nn.CrossEntropyLoss,", "'tags': (CrossEntropyLossFlat,", []),
    ('testing.pieces', 'texts are not read in turns', 'for turns in ((0,1)*3, (0,)*3+(1,)*3):', 'for turns in ():', []),
    ('testing.attention', 'later keys are not hidden', 'hidden | _later(hidden)', 'hidden', []),
    ('testing.attention', 'gradients are not compared', "assert_near(x, want, f'the gradient of {name} must", "assert_near(x, x, f'the gradient of {name} must", []),
    ('testing.checks', 'loading is into the same model', "trial.fresh(seed=1).to(trial.dtype)", 'trial.fresh()', []),
    ('train.resume', 'as many threads as here', "torch.set_num_threads(kernels.pop('threads'))", "kernels.pop('threads')", []),
    ('train.resume', 'the first step is not compared', 'if same or self.force: return', 'return', []),
    ('train.resume', 'another loss goes on', 'step = self._of_process_0([self.loss.mean().item(), nn', 'step = self._of_process_0([0., nn', []),
    ('train.resume', 'other last digits are another run', 'rtol=1e-2 if in_16_bits else 1e-4', 'rtol=0', []),
    ('train.resume', 'the step of another save is compared', "if step and step['save']==state['save']:", 'if step:', []),
    ('train.resume', 'the order of items does not count', 'for item in items: total', 'for item in sorted(items, key=str): total', []),
    ('train.resume', 'a hyperparameter that a schedule has moved is another run', "if n!='mom': settings[n]", "settings[n]", []),
    ('train.resume', 'what counts in an argument is another run', 'self.first_seen.setdefault(n, value)', 'value', []),
    ('train.resume', 'a clipping that is new goes on', "if not _is_custom(cb): settings[name] = 'there'", 'pass', []),
    ('train.resume', 'a training that is done may have had other settings', 'if len(state[\'fits\'])<n: return', 'if len(state[\'fits\'])!=n: raise CancelFitException', []),
    ('train.resume', 'what was unfrozen is frozen again', "p.requires_grad_(n not in state['frozen'])", 'pass', []),
    ('train.resume', 'what was changed and forced is the old value', 'if n in hypers[0]: self.opt.set_hyper', 'if not n: self.opt.set_hyper', []),
    ('train.resume', 'a full disk ends the training', 'if first: raise', 'raise', []),
    ('train.precision', 'the choice of this machine counts, not that of the file', 'enabled=self.low)', 'enabled=self.emulate or has_bf16())', ['train.resume']),
    ('train.average', 'the next epoch trains on from the mean', 'if self.trained: self._set_weights(self.trained)', 'pass', []),
    ('train.average', 'a second fit goes on with the old mean', '            self.n = 0\n            self.mean', '            self.mean', []),
    ('train.lora', 'the settings of the parts do not count', 'parts = lasting_settings(model,', 'parts = L(model,', []),
    ('train.resume', 'frozen weights are not compared', "settings['frozen'] = [n for n,p in learn.model.named_parameters() if not p.requires_grad]", 'pass', []),
    ('train.resume', 'a fit that was refused counts', 'self.fits.pop()  # a fit that was refused is none\n            raise', 'raise', []),
    ('text.loaders', 'other items have the old rows', 'if self.tl.items is not self.items: self.refresh()', 'pass', []),
    ('text.loaders', 'equal numbers of other classes are one cell', 'return (type(cell),cell) if', 'return cell if', []),
    ('text.loaders', 'a table that is changed in place is kept under its old cells', 'if self._key(i, columns)!=key: self.refresh()', 'pass', []),
    ('text.loaders', 'a copy has the rows of the first', 'rows is None or rows.dataset is not dataset', 'rows is None', []),
    ('fast.decode', 'a call of its own is skipped', ' or cls.__call__ is not nn.Module.__call__', '', []),
    ('fast.decode', 'a norm of keys alone is left out', 'is not _unchanged for o in (self.q_norm, self.k_norm))', 'is not _unchanged for o in (self.q_norm,))', []),
    ('files.describe', 'what short texts do not show is not compared', '    if same:  # settings', '    if False:  # settings', []),
    ('train.lora', 'some frozen weights are not compared', "if n not in trained}\n    target", "if n not in trained and 'bias' in n}\n    target", []),
    ('train.lora', 'names of classes are not compared', '[target.kind, *map(str, target.classes)]', '[target.kind]', []),
    ('learner.checks', 'a fit that ends by a NaN says nothing', '        "Warn where `TerminateOnNaNCallback` has ended the fit, too"\n        self.after_train()', '        "Nothing"', ['tutorials/recipes']),
    ('fast.layers', 'weight decay for biases and norms, too', 'params=others, weight_decay=0.)', 'params=others)', []),
    ('fast.layers', 'what is written to the hyperparameters of a group is lost', 'set_item_pg(self.group, self.names[name], value)', 'pass', []),
    ('train.chunked_loss', 'the loss in parts forgets the last part', 'for part in parts]', 'for part in [*parts][:-1]]', ['reliability']),
    ('text.pairs', 'the two sides of a table have a vocabulary each', 'target.vocab = source.vocab', 'pass', []),
    ('fast.decode', 'logits of the first token of a prompt', 'head(x[:,-1:])', 'head(x[:,:1])', []),
    ('fast.decode', 'the fast decoder under autocast', "if learns or torch.is_autocast_enabled('cpu') or why_slow(model)", 'if learns or why_slow(model)', ['generate.read', 'generate.write']),
    ('fast.decode', 'queries and keys are normed alike', 'self.k_norm(x[:,h:h+g])', 'self.q_norm(x[:,h:h+g])', ['testing.model']),
    ('fast.decode', 'attention of a class of its own is taken for plain', 'return usual and not overridden and not _has_hooks(part)', 'return usual and not _has_hooks(part)', []),
    ('fast.decode', 'a layer with a hook is exchanged', 'return not _has_hooks(layer) and _is_of_class(layer', 'return _is_of_class(layer', []),
    ('fast.decode', 'the window of a fast step is one wider', 'seen & (k_pos>q_pos-window)', 'seen & (k_pos>=q_pos-window)', []),
    ('fast.decode', 'a column cache that grows forgets its keys', 'for new,part in zip(self._parts(), old): new[:,:,:n] = part[:,:,:n]', 'pass', []),
    ('fast.decode', 'heads of a group read the keys of others', 'ints(heads)//(heads//h)', 'ints(heads)%h', []),
    ('fast.decode', 'a column cache shows padding', 'scores = scores.masked_fill(~seen, -math.inf)', 'pass', []),
    ('fast.decode', 'a reordered column cache moves only the tokens of a `KVCache`', 'def _filled(self): return self.room', 'def _filled(self): return self.n', []),
    ('fast.decode', 'a product that overflows is used', 'return bool((product(x) - x@w.t()).abs().max()<1e-3)', 'product(x); return True', []),
    ('fast.decode', 'vectors have the scale of their neighbors', 'ifnone(sizes, x).float().abs().amax(1, keepdim=True)', 'ifnone(sizes, x).float().abs().amax().repeat(len(x),1)', []),
    ('generate.read', 'a prompt of many texts sees what comes', 'is_causal=t>1 and seen is None', 'is_causal=False', ['fast.decode']),
    ('fast.decode', 'keys too large for 16 bits', 'kv.abs().amax()>32', 'False', []),
    ('text.tags', 'a word of a text gets a space that is not there', "space = ' '*text[max(start-1, 0):start].isspace()", "space = ' '", []),
    ('text.tags', 'a window of a text begins at its first word, without the space', 'begin = places[start-1][1] if start else 0', 'begin = places[start][0]', []),
    ('text.tags', 'words beyond the border of a window are learned too', 'window = [labels[j] if j in predicted else None for j in inside]', 'window = [labels[j] for j in inside]', []),
    ('text.tags', 'a word without a tag goes on with the one before', 'if _is_tag(tag) else -99', 'if _is_tag(tag) else -100', []),
    ('text.tags', 'a Chinese sentence is one word', r"_letters = '[^\\W\u3040-\u30ff\u3400-\u9fff]+'", r"_letters = '\\w+'", []),
    ('learner.tagger', 'windows of other texts are joined', 'texts[number] += window_tags', 'texts[number//2] += window_tags', []),
    ('learner.tagger', 'a span that windows cut counts twice', 'rows = self.rows or [(i,i)', 'rows = [(i,i)', []),
    ('learner.tagger', 'windows are joined in the order of their lengths', 'in sorted(zip(rows, tags)):', 'in zip(rows, tags):', []),
    ('learner.tagger', 'special tokens and padding are taken for words', '[len(head):][window.firsts]', '[window.firsts]', []),
    ('learner.tagger', 'the loss of a text hangs on the padding beside it', 'rows.sum(1)/has_tag.sum(1)', 'rows.mean(1)', []),
    ('learner.tagger', 'gradients are accumulated over pieces, not over texts', 'MixedPrecision.order-5', '20', ['tests/learner/batching']),
    ('learner.tagger', 'what was broken off answers for the next batch', 'self.whole_batch = None\n        if not len', 'pass\n        if not len', []),
    ('use.calibrate', 'a temperature for answers that are all right', 'bool(any_wrong & better)', 'bool(better)', []),
    ('nn.seq2seq', 'the stop of a target stands behind its padding', 'value=pad_idx).scatter(1, n, marks.eos)', 'value=marks.eos)', []),
    ('learner.seq2seq', 'a limit of words that follows the batch', 'min(n_words, model[1].max_len or n_words)', 'min(n_words, max(map(len, sources))+50)', []),
    ('learner.seq2seq', 'accuracy counts padding', '(targets[real],)', '(targets.flatten(),)', []),
    ('nn.classifier', 'a temperature makes answers surer', 'for p in self[1].linear.parameters(): p.div_(by)', 'for p in self[1].linear.parameters(): p.mul_(by)', ['use.calibrate']),
    ('nn.bag', 'an n-gram reaches into padding', 'key.masked_fill(pad_mask | (at<n), 0)', 'key.masked_fill(at<n, 0)', []),
    ('nn.bag', 'a word counts as often as it stands there', 'keys[:,1:].masked_fill(repeated, 0)', 'keys[:,1:]', []),
    ('nn.bag', 'a class against all texts, not against the rest', '(n_texts[:,None]-counts)[known]', 'n_texts[:,None].expand_as(counts)[known]', []),
    ('nn.bag', 'an unknown n-gram has the ratio of its neighbour', 'row = row.where(self.keys[row]==keys, 0)', 'pass', []),
    ('learner.bag', 'texts of the last, smaller batch are not counted', 'dls.train.new(shuffle=False, drop_last=False)', 'dls.train.new(shuffle=False)', []),
    ('learner.bag', 'a phrase that stands twice counts twice', 'bag.parts(keys)[0] / times[which,None]', 'bag.parts(keys)[0]', []),
    ('learner.bag', 'on a GPU pairs stand at other words', 'keys = keys[:,keys[0]>0]', 'pass', []),
    ('generate.beams', 'a search ends with the first stops', 'self.early_stop = early_stop or beams==1', 'self.early_stop = True', []),
    ('generate.beams', 'one beam is not greedy', 'self.early_stop = early_stop or beams==1', 'self.early_stop = early_stop', []),
    ('generate.beams', 'the bound is the length of the best that has ended', 'bound = log_p/self.n_words**self.length_penalty', 'bound = log_p/max(len(self.found[0].ids), 1)**self.length_penalty', []),
    ('generate.beams', 'the stop is no word of the length', 'max(len(ids)+stopped, 1)', 'max(len(ids), 1)', []),
    ('generate.beams', 'an unlikely stop ends a text', '(stops & log_p.isfinite())[:,:beams]', '(stops & log_p.isfinite())', []),
    ('generate.beams', 'a stopped text goes on', 'log_p = log_p.masked_fill(stops, -math.inf)', 'pass', []),
    ('generate.read', 'a beam keeps the keys of another', 'self.kv[moved,:,:n] = new', 'pass', ['generate.beams']),
    ('text.loaders', 'a label that changes is not noticed', 'if rows is not None: rows.refresh()\n        return super().create_batches', 'return super().create_batches', []),
    ('text.loaders', 'a vocabulary that changes is not noticed', '            self.kept = {}\n            self.state = state', '            self.state = state', []),
    ('text.loaders', 'a tokenizer or a rule of the user is known', 'and (not isinstance(f, Tokenizer) or is_repeatable(f))', '', []),
    ('text.loaders', 'a transform of the user is called once', 'self.later_tfms = fs[len(self.known_tfms):]', 'self.known_tfms,self.later_tfms = fs,[]', []),
    ('text.loaders', 'chunks of padding stand behind', 'start = n//self.seq_len*self.seq_len if self.pad_first else 0', 'start = 0', []),
    ('text.loaders', 'nothing goes between texts', 'self.between = vocab.index(token) if token in vocab else None', 'self.between = None', ['tests/text/tokenizer_hooks']),
    ('text.blocks', 'columns of 0 and 1 are the labels 0 and 1', "return MultiCategoryBlock(encoded=True, vocab=cols)", "pass", []),
    ('text.loaders', 'a transform in place spoils what is kept', 'numbers.to(dtype, copy=True)', 'numbers.to(dtype)', []),
    ('text.loaders', 'a language model reads the texts of the last epoch', '        self.make_chunks()\n        return super().create_batches', '        return super().create_batches', []),
    ('text.loaders', 'an object that is changed in place is as it was', 'if not isinstance(cell, (list,L)): return', 'if not isinstance(cell, (list,L)): return id(cell)', []),
    ('text.blocks', 'rows longer than the header are cut', 'if longer: raise', 'if False: raise', []),
    ('text.blocks', 'a file with semicolons has one column', 'if uncut: raise', 'if False: raise', []),
    ('text.loaders', 'all ids are made for a language model before its first batch', 'if lens is not None and not changed: return', 'if False: return', ['tests/text/blocks']),
    ('text.blocks', 'letters are labels', 'if strings and reads_letters', 'if False', []),
    ('text.folders', 'special cases of a tokenizer are not looked at', 'post,sorted(map(str, special.items())),', 'post,', ['tests/text/folders']),
    ('text.folders', 'a text is counted by each of its paths', '[*map(Path.absolute, self.find_counted()), *files', '[*self.find_counted(), *files', ['tests/text/folders']),
    ('text.tokenizers', 'a rule for tokens of the user is known', '[*tok.rules, *defaults.text_postproc_rules]', '[*tok.rules]', ['tests/text/folders']),
    ('learner.core', 'predictions in the order of the loader', "isinstance(data, SortedDL)", "isinstance(dl, SortedDL)", ['tests/learner/core_predict']),
    ('learner.checks', "any function called so is fastai's", 'ClassificationInterpretation.confusion_matrix.__code__ in callers', "'confusion_matrix' in [o.co_name for o in callers]", ['tests/learner/core_predict']),
    ('learner.checks', 'labels that differ in capitals are not told', '.split()).casefold()', '.split())', []),
    ('learner.checks', 'texts on both sides of the split are not told', 'if n_both>max(9, .05*len(valid_texts)):', 'if False:', []),
    ('learner.checks', 'texts of a folder are not compared', 'and o.absolute() in hashes]', 'and o in hashes and False]', ['tests/text/folders']),
    ('text.ensure', 'folds are for validation', 'if o not in (0, 1)]', 'if isinstance(o, str)]', []),
    ('text.ensure', 'a column that occurs twice', 'if twice: raise', 'if False: raise', []),
    ('text.loaders', 'the target of a table to test with is its source', 'return holds_tokens(tok.tok_text_col) and not has_texts', 'return holds_tokens(tok.tok_text_col)', ['tests/text/pairs']),
    ('text.folders', 'another encoding has the same tokens', 'L(encoding),libs', 'libs', []),
    ('text.folders', 'a text that has changed is read as it was', 'self.texts.get(self._key(data)) if', 'self.texts.get(self.keys.get(path.absolute(), self._key(data))) if', ['tests/text/folders']),
    ('text.folders', 'words of the validation set are counted', 'if file in counted: count', 'if True: count', ['tests/text/folders']),
    ('text.info', "a tokenizer of ours in fastai's is taken", 'if left_out: raise ValueError', 'if False: raise ValueError', ['text.blocks']),
    ('text.ensure', 'half a surrogate pair is let through', "return str(text).encode(errors='replace').decode()", 'return str(text)', ['reliability']),
    ('nn.windows', 'a text of one token more than windows hold loses its end', '(extra+step-1)//step', '(extra+step-2)//step', []),
    ('generate.sample', 'top-k of as many as there are leaves one out', 'logits.topk(min(top_k, logits.shape[-1]))', 'logits.topk(min(top_k, logits.shape[-1]-1))', []),
    ('generate.read', 'a text of exactly `max_len` tokens is cut', 'n if n<=limit else', 'n if n<limit else', []),
    ('generate.beams', 'exactly as many stopped texts as beams are not enough', 'if self.early_stop and len(self.found)>=self.beams: return', 'if self.early_stop and len(self.found)>self.beams: return', []),
    ('text.bpe', 'a pair that occurs exactly `min_freq` times is not joined', '-heap[0][0]>=min_freq', '-heap[0][0]>min_freq', []),
    ('text.tags', 'words that just fill a window are cut', 'size+sizes[end]<=most:', 'size+sizes[end]<most:', ['learner.tagger']),
    ('learner.lm', 'a text of one token more than a window is read in two', 'end = min(start+max_len, n-1)', 'end = min(start+max(max_len-1, 1), n-1)', []),
    ('nn.variants', 'waves are blended by their lengths, not by their turns', 'return ((turns-self.few)/(self.many-self.few)).clamp(0, 1)', 'return ((1/turns-1/self.few)/(1/self.many-1/self.few)).clamp(0, 1)', ['tests/pretrained/families']),
    ('nn.variants', 'the first wave that YaRN slows is rounded', 'max(math.floor(wave_with(self.many)), 0)', 'max(round(wave_with(self.many)), 0)', ['tests/pretrained/families']),
    ('nn.variants', 'wide buckets of T5 as those of DeBERTa', 'math.log(farthest/exact)*(n-exact)', 'math.log((farthest-1)/exact)*(n-exact)', ['tests/pretrained/families']),
    ('nn.variants', 'wide buckets of DeBERTa as those of T5', 'math.log((self.farthest-1)/near)*(near-1)', 'math.log(self.farthest/near)*(near-1)', ['tests/pretrained/families']),
    ('pretrained.decoders', 'the root of the width is a whole number', 'scale=k**.5), **args)', 'scale=float(round(k**.5))), **args)', ['tests/pretrained/families']),
    ('pretrained.decoders', 'scores are divided by the root of the width of a head', "cfg('query_pre_attn_scalar', default=256, kind=float)**-.5", "cfg('head_dim', default=256, kind=float)**-.5", ['tests/pretrained/families']),
    ('pretrained.family', 'the ratio of widths has two digits', 'return width//k if width%k==0 else width/k', 'return width//k if width%k==0 else round(width/k, 2)', ['tests/pretrained/families']),
    ('pretrained.decoders', 'heads may only be wider than k/heads', "if width!=k//heads or k%heads: attn['head_width'] = width", "if width>k//heads or k%heads: attn['head_width'] = width", ['tests/pretrained/families']),
    ('pretrained.encoders', 'the slow base is that of other families', "'global_rope_theta', 160_000.)", "'global_rope_theta')", ['tests/pretrained/families']),
    ('pretrained.decoders', 'blocks with a window rotate as slowly as the others', "rotary_of(cfg, 'sliding_attention', 'rope_local_base_freq'))", "rotary_of(cfg, 'sliding_attention', 'rope_local_base_freq', 1e6))", ['tests/pretrained/families']),
    ('pretrained.pairs', 'embeddings are scaled where nothing says so', "if cfg('scale_embedding', default=False) else None", "if cfg('scale_embedding', default=True) else None", ['tests/pretrained/families']),
    ('pretrained.pairs', 'from another distance on all are in one bucket', "cfg('relative_attention_max_distance', default=128, kind=int)", "cfg('relative_attention_max_distance', default=256, kind=int)", ['tests/pretrained/families']),
    ('pretrained.family', 'the length of training is that of Llama 3.1', "default=rope('original_max_position_embeddings', default=length, kind=int))", "default=rope('original_max_position_embeddings', default=8192, kind=int))", ['tests/pretrained/families']),
    ('pretrained.family', 'quick waves of YaRN are others where nothing says which', "many=rope('beta_fast', default=32, kind=float) or 32.", "many=rope('beta_fast', default=16, kind=float) or 32.", ['tests/pretrained/families']),
    ('pretrained.encoders', 'a config that adds positions is read', 'position_biased_input=True)', 'position_biased_input=False)', ['tests/pretrained/families']),
    ('pretrained.decoders', 'layers read one after the other where nothing says so', "cfg('use_parallel_residual', default=True)", "cfg('use_parallel_residual', default=False)", ['tests/pretrained/families']),
    ('generate.beams', 'one candidate less than may be needed', 'log_p, 2*beams, banned)', 'log_p, 2*beams-1, banned)', []),
    ('generate.sample', 'a warning where the best is exactly as likely as the cutoff', 'if (best<epsilon_cutoff).any()', 'if (best<=epsilon_cutoff).any()', []),
    ('learner.tagger', 'windows leave no room for the last token', 'math.inf)-len(head+tail)', 'math.inf)-len(head)', []),
    ('pretrained.decoders', 'of three blocks of SmolLM3 one does not rotate', "cfg('no_rope_layer_interval', default=4, kind=int)", "cfg('no_rope_layer_interval', default=3, kind=int)", ['tests/pretrained/families']),
    ('pretrained.pairs', 'padding of Marian is its last word', 'marks=(pad,0), pad=pad', 'marks=(pad,0), pad=pad-1', ['tests/pretrained/families']),
    ('nn.variants', 'YaRN with a factor below 1 blurs', '.1*math.log(max(self.factor, 1))+1)', '.1*math.log(self.factor)+1)', ['tests/pretrained/families']),
    ('nn.seq2seq', 'one norm before both attentions', 'x = x + self.dropout(look(self.cross_norm(x)))', 'x = x + self.dropout(look(self.norm1(x)))', []),
    ('nn.seq2seq', 'padding of the source is seen', 'source=vectors, source_pad=source_pad)', 'source=vectors, source_pad=None)', []),
    ('nn.mlm', 'the mask stands for all masked words', '.masked_fill(u<.8*p, mask_id)', '.masked_fill(u<p, mask_id)', []),
    ('learner.mlm', 'the riddles of a validation change', 'draws = None if self.training else', 'draws = None if True else', []),
    ('learner.mlm', 'the riddles of a text hang on the texts beside it', '*real).sum(1, keepdim=True)', '*real).sum()', ['tests/learner/batching']),
    ('learner.mlm', 'a batch without a word has no loss', ' | real & ~is_word[ids].any(1, keepdim=True)', '', []),
    ('learner.core', 'a short piece of a row counts as much as a long one', 'n = learn.n_items(weighted=is_loss)', 'n = tensor(find_bs(self.yb))', ['tests/learner/batching']),
    ('learner.core', 'a text of one word weighs as much as one of sixty', 'self.loss_grad*processes*share', 'self.loss_grad*(rows/(rows_before+rows))', ['tests/learner/batching']),
    ('learner.core', 'a process with few words weighs as much as one with many', ': torch.distributed.all_reduce(x)', ': x', ['tests/learner/batching']),
    ('learner.core', 'gradients that wait for a step keep their size', 'p.grad *= items_before*rows_now/(self.step_items*rows_before)', 'pass', ['tests/learner/batching']),
    ('learner.core', 'the class weights of a loss are not counted', 'return weight.to(y.device)[y[counted]].sum()', 'return counted.sum()', ['tests/learner/batching']),
    ('learner.tagger', 'a batch without a word that counts makes the loss NaN', 'if not self.loss.dim() and not len(self.pred):', 'if False:', ['tests/learner/batching']),
    ('learner.mlm', 'special tokens are hidden', "is_word[special_ids(vocab)] = False", 'pass', []),
    ('nn.windows', 'the last window is short', 'start = torch.minimum(begin, last_begin)', 'start = begin.expand(len(last_begin), -1, -1)', []),
    ('nn.windows', 'an empty window has a say', 'return pool(logits.view(*empty.shape, logits.shape[-1]), empty)', 'return pool(logits.view(*empty.shape, logits.shape[-1]), empty & False)', []),
    ('learner.core', 'a keyword that was passed is dropped with those of another head', 'names |= {*given, *asked}', 'pass', ['tests/pretrained/core']),
    ('learner.mlm', 'a loaded model hides another share of words', 'return dict(mask_p=self.mask_tokens.p)', 'return {}', ['tests/learner/mlm']),
    ('nn.seq2seq', 'a source is read in training mode', 'with eval_mode(list(self[0].modules())): vectors', 'vectors', []),
    ('nn.attention', 'attention dropout in evaluation too', 'p = self.dropout if self.training else 0.\n    return self.average', 'p = self.dropout\n    return self.average', ['nn.blocks', 'testing.model']),
    ('nn.attention', 'the fast causal way does not see padding', 'for o in (pos, mask, pad_mask))', 'for o in (pos, mask))', ['reliability']),
    ('nn.attention', 'queries after a cache begin at position 0', 'pos = torch.arange(tk-t, tk-t+tq, device=device)', 'pos = torch.arange(tq, device=device)', ['generate.read', 'generate.write']),
    ('nn.attention', 'written-out dropout is never applied', 'out = F.dropout(weights, dropout, training=dropout>0) @ v', 'out = weights @ v', ['testing.model']),
    ('nn.classifier', '`vocab_dropout` in evaluation too', 'drops = (self.word_dropout,self.vocab_dropout) if self.training else ()', 'drops = (self.word_dropout*self.training,self.vocab_dropout)', ['testing.model']),
    ('generate.write', 'the repetition penalty covers the prompt alone', 'if repetition_penalty!=1: text = torch.cat([text, new[:,None]], 1)', 'pass', ['reliability']),
    ('generate.sample', '`epsilon_cutoff` after the temperature', 'logits = keep_epsilon(logits, epsilon_cutoff)', 'logits = keep_epsilon(logits/(temperature or 1), epsilon_cutoff)*(temperature or 1)', ['reliability']),
    ('generate.sample', '`min_p` is absolute', 'p < min_p*p.amax(-1, keepdim=True)', 'p < min_p', []),
    ('generate.sample', 'top-p: `>` for `>=`', 'rest = better >= top_p', 'rest = better > top_p', ['reliability']),
    ('generate.sample', 'a draw of exactly 0', 'u = 1 - torch.rand(', 'u = torch.rand(', ['reliability']),
    ('nn.blocks', 'the block passes `dropout` as `attn_dropout`', 'self.attention = _make(attn_cls, k, heads, wide=wide, dropout=attn_dropout)', 'self.attention = _make(attn_cls, k, heads, wide=wide, dropout=dropout)', ['nn.encoder']),
    ('nn.blocks', 'no dropout in the feed-forward network', 'self.act,self.dropout = act_cls(),nn.Dropout(dropout)', 'self.act,self.dropout = act_cls(),nn.Dropout(0.)', ['nn.encoder']),
    ('nn.blocks', 'no dropout after attention with the norm first', 'x = x + self.dropout(self.attention(self.norm1(x), **kwargs))', 'x = x + self.attention(self.norm1(x), **kwargs)', ['nn.encoder']),
    ('nn.blocks', 'positions begin at 0.2', 'nn.init.normal_(self.embedding.weight, std=0.02)', 'nn.init.normal_(self.embedding.weight, std=0.2)', ['nn.encoder']),
    ('nn.attention', 'a mask turned round', 'scores = scores.masked_fill(mask, -math.inf)', 'scores = scores.masked_fill(~mask, -math.inf)', []),
    ('nn.attention', 'scores divided by the width, not its root', '(q / q.shape[-1]**0.5) @', '(q / q.shape[-1]) @', []),
    ('nn.attention', 'the future hidden, and the present', 'return k_pos > q_pos if', 'return k_pos >= q_pos if', []),
    ('nn.attention', 'scores of 16 bits', '(o.to(torch.promote_types(o.dtype, torch.float)) for o in (query, key, value))', '(query, key, value)', ['testing.model']),
    ('nn.attention', 'keys are not turned', 'k = rotate(k, key_pos)', 'pass', ['nn.blocks']),
    ('nn.attention', 'heads share keys in the wrong order', 'o.repeat_interleave(self.heads//self.kv_heads, 1) for o in (k, v)', 'o.repeat(1, self.heads//self.kv_heads, 1, 1) for o in (k, v)', ['reliability']),
    ('nn.blocks', 'one norm for both layers', 'self.norm1,self.norm2 = norm_cls(k),norm_cls(k)', 'self.norm1 = self.norm2 = norm_cls(k)', ['nn.encoder']),
    ('nn.blocks', 'the gate and the values change places', 'self.down(self.act(self.gate(x)) * self.up(x))', 'self.down(self.gate(x) * self.act(self.up(x)))', ['pretrained.core']),
    ('nn.blocks', 'turned the other way', 'torch.cat([-sin,sin], -1)', 'torch.cat([sin,-sin], -1)', ['pretrained.core']),
    ('fast.layers', 'dropout does not scale what it keeps', 'return torch.where(mask, x, 0).mul_(1/share_kept)', 'return torch.where(mask, x, 0)', ['nn.encoder']),
    ('fast.layers', 'the gradient of a bias counts one text', 'grad_b = rows.sum(0)', 'grad_b = rows[0]', ['nn.encoder']),
    ('fast.attention', 'bfloat16 attention without large scores in 32 bits', 'if not max(o.abs() for o in scores.aminmax())<=8:', 'if False:', ['testing.model']),
    ('nn.classifier', 'padding counts in the mean', 'return x.masked_fill(pad_mask[...,None], 0).sum(1) / n', 'return x.masked_fill(pad_mask[...,None], 0).sum(1) / x.shape[1]', []),
    ('nn.classifier', 'the head of a text that is cut is one short', 'return rank < max_len', 'return rank < max_len-1', ['reliability']),
    ('nn.align', 'ids are not checked from below', 'not 0<=low<=high<=largest', 'not high<=largest', []),
    ('nn.encoder', 'dropout of embeddings left out', 'return dropout(x)', 'return x', ['testing.model']),
    ('nn.lm', 'the head is not tied', 'if tie_weights: self.linear.weight = embedding.weight', 'if tie_weights: self.linear.weight = nn.Parameter(embedding.weight.detach().clone())', []),
    ('nn.align', 'answers for tokens do not go back to their places', 'return x if self.columns is None else to_columns(x, self.columns)', 'return x', ['testing.model']),
    ('nn.classifier', 'the last token is the first', 'return first_pool(x.flip(1), pad_mask.flip(1))', 'return first_pool(x, pad_mask)', []),
    ('generate.read', 'the cache forgets where it was after it grew', 'if old is not None: self.kv[:,:,:n] = old[:,:,:n]', 'if old is not None: self.kv[:,:,:n-1] = old[:,:,:n-1]', ['reliability']),
    ('generate.read', 'a long text keeps its start', 'ids = self.text[:,-width:]', 'ids = self.text[:,:width]', ['reliability']),
    ('generate.sample', 'top-k keeps one more', 'logits.topk(min(top_k, logits.shape[-1]))', 'logits.topk(min(top_k+1, logits.shape[-1]))', ['reliability']),
    ('generate.sample', 'a negative score is divided, too', 'torch.where(old>0, old/penalty, old*penalty)', 'old/penalty', ['reliability']),
    ('learner.core', 'negative targets are not counted', "counted = (y!=getattr", "counted = (y>=0) & (y!=getattr", []),
    ('fast.decode', 'weights are not laid out anew after training', 'if old_sums.dtype==sums.dtype and torch.equal(old_sums, sums):', 'if True:', ['generate.read', 'generate.write']),
    ('fast.decode', 'biases left out with 8 bits', 'self.store = weights,self.joined()[1]', 'self.store = weights,None', []),
    ('learner.core', 'matrices do not decay', 'if p.dim()<2', 'if p.dim()<3', []),
    ('learner.checks', 'a loss with a call of its own is taken for PyTorch\'s', " or type(loss).__call__ is not cls.__call__", '', []),
    ('text.tags', 'a blank of any kind ends a word', "[o for o in line.split(' ') if o]", 'line.split()', []),
    ('nn.variants', 'the token between two texts is of the second', 'types = (ends.cumsum(1)>ends).long()', 'types = ends.cumsum(1).clamp(max=1)', []),
    ('text.hf', 'texts are joined where no file says how', 'self.pairs = end is not None and bool(special[end])', 'self.pairs = True', ['tests/pretrained/use']),
    ('text.hf', 'a third text keeps its mark', "[re.sub(rf' {FLD} \\d+ ', ' ', o) for o in two.groups()]", '[*two.groups()]', ['tests/pretrained/use']),
    ('text.info', 'types of texts that are not marked', "len(text_columns(dls))<2 or tok.kwargs.get('mark_fields') is False", 'len(text_columns(dls))<2', ['tests/pretrained/use']),
    ('learner.core', 'two texts of one type', "dict(type_sep=type_sep(dls)) | embed.keywords", 'embed.keywords', ['tests/pretrained/use']),
    ('text.hf', 'spaces stay that SentencePiece removes', 'if spec.remove_extra_whitespaces:', 'if False:', ['tests/pretrained/use']),
    ('text.hf', 'pieces of the other language as cheap as those of this one', 'all_scores = dict.fromkeys(ids, -2e4) | dict.fromkeys(foreign, -1e4) | scores', 'all_scores = dict.fromkeys(ids, 0.) | scores', ['tests/pretrained/use']),
    ('text.hf', "a file of another family's tokenizer is read", 'for name,(models,*_) in _spm_files.items() if kind in (None,*models)', 'for name in _spm_files', ['tests/pretrained/use']),
    ('text.tokenizers', 'a special token leaves a trace', "for o in tokens if o not in _special_tokens)", 'for o in tokens)', ['reliability']),
    ('files.corpus', 'the first token of a text is that of the next', "ends.searchsorted(places, 'right')", "ends.searchsorted(places, 'left')", ['reliability']),
    ('files.corpus', 'every epoch has the order of the first', 'np.random.default_rng([self.seed, epoch])', 'np.random.default_rng([self.seed, 0])', []),
    ('files.corpus', 'a look at a batch counts as an epoch', 'finally: self.epoch = epoch', 'finally: pass', []),
    ('files.corpus', 'a run goes on with the first texts', 'if check or not finished: _ensure_same_texts(texts, about, folder)', 'if finished: _ensure_same_texts(texts, about, folder)', []),
    ('files.corpus', 'the beginning of other texts is gone on with', 'same = (n,crc)==(about.texts,about.crc)', 'same = n==about.texts', []),
    ('files.corpus', 'the ids of the first pass stay', 'ids = id_of[part]', 'ids = np.array(part)', []),
    ('learner.core', 'texts come in the order of their lengths', "preds = self.get_preds(dl=dl, **kwargs)[0]", "preds = self.get_preds(dl=dl, reorder=False, **kwargs)[0]", ['reliability']),
    ('learner.core', 'answers about numbers begin at 0', "bias.copy_(tensor(means))", 'pass', []),
    ('text.ensure', 'a factory swallows what it leaves out', 'refused = first(kwargs.keys() & {*but})', 'refused = None', []),
    ('learner.core', 'the crop that was chosen is lost', "crop=crop, **kwargs)", "crop=head_crop, **kwargs)", []),
    ('learner.core', 'what `pretrained` has is not asked', 'if start is None: given = dict(', 'if True: given = dict(', ['pretrained.core']),
    ('text.info', 'padding is always id 1', 'if pad_tfm: return pad_tfm.pad_idx', 'if pad_tfm: return 1', ['learner.checks']),
    ('text.info', 'labels made of a column by a function are taken for the column', 'if get_y.pref or get_y.suff: return', 'pass', ['learner.checks']),
    ('learner.checks', 'labels of validation are not looked at', 'in dict(training=dls.train_ds, validation=dls.valid_ds).items():', 'in dict(training=dls.train_ds).items():', ['learner.core']),
    ('learner.checks', 'data of another vocabulary are trained on', 'if len(vocabs)==len(known) and all(', 'if True or all(', ['learner.core']),
    ('learner.checks', 'a `dl` that was refused is looked at again', "            self.learn.dl = None", "pass", []),
    ('learner.checks', 'each prediction is compared with all targets', "return losses.isclose(losses[0]).tolist()==[True,True,False]", "return False", []),
    ('learner.checks', 'weights of classes are lost', 'flatten=flatten, weight=loss.weight, ', 'flatten=flatten, ', []),
    ('learner.checks', 'one output for two classes', "ensure(not one_output,", "ensure(True,", []),
    ('learner.core', 'norms that fastai does not know decay', 'if with_bias: states +=', 'if False: states +=', []),
    ('learner.core', 'a batch of pairs weighs its padding, too', 'n = learn.n_items(weighted=is_loss)', 'n = tensor(learn.xb[-1].numel()) if len(learn.xb)==3 else learn.n_items(weighted=is_loss)', ['tests/learner/batching']),
    ('learner.core', 'the count of words goes on after a step', 'items_before = self.step_items if rows_before else 0', "items_before = vars(self).get('step_items', 0)", ['tests/learner/batching']),
    ('learner.core', 'the loss of masked words is weighed by texts', 'n = learn.n_items(weighted=is_loss)', "n = tensor(find_bs(self.xb)) if hasattr(learn, 'mask_tokens') else learn.n_items(weighted=is_loss)", ['tests/learner/batching']),
    ('learner.lm', 'nothing ends a text', "if not go_on: stop_tokens +=", "if False: stop_tokens +=", []),
    ('text.hf', 'types that begin with 1 change at the last token', 'return start-1 if start else None', 'return start-1 if 1 in xs[1:] else None', ['tests/text/pairs']),
    ('text.pairs', 'the marks of a text are found from an empty one', "text_ids(dls, word or 'a', part=1)", "text_ids(dls, '', part=1)", []),
    ('learner.checks', 'the last NaN is told, not the first', 'nan.index(True)', 'len(nan)-1', []),
    ('learner.checks', 'tags of a `dl` may stand in another order', 'x is y or [*x]==[*y]', 'x is y or {*x}=={*y}', []),
    ('learner.checks', 'label smoothing that was chosen is lost', 'ignore_index=loss.ignore_index, label_smoothing=loss.label_smoothing', 'ignore_index=loss.ignore_index', []),
    ('learner.checks', 'settings of a loss that is a `partial` are lost', 'loss = torch_cls(**kwargs)', 'loss = torch_cls()', []),
    ('train.processes', 'the row of a process without any counts', 'self.n_rows = end-start', 'self.n_rows = max(end-start, 1)', []),
    ('train.processes', 'the next fit begins with another order of texts', 'set_loader_order(self.whole, order)', 'set_loader_order(self.whole, order | dict(idxs=None))', []),
    ('train.processes', 'each process has an order of its own', 'idxs = from_process_0([*map(int, self.own_idxs())])', 'idxs = [*map(int, self.own_idxs())]', []),
    ('train.processes', 'rows are gathered in another order', 'torch.cat(parts).to', 'torch.cat(parts[::-1]).to', ['tests/train/processes']),
    ('learner.turns', 'no turn is taken', 'with model_lock(self.model): res = f(self, *args, **kwargs)', 'res = f(self, *args, **kwargs)', ['learner.core']),
    ('learner.turns', 'a prediction that raises leaves its mark', '    finally: learn.predicts = predicts', '    else: learn.predicts = predicts', []),
    ('learner.turns', 'a metric forgets the batches before a prediction', '*metrics, *learn.metrics]', '*metrics]', ['tests/learner/turns']),
    ('learner.turns', 'gradients that wait for a step are lost', 'for p,grad in grads: p.grad = grad', 'pass', ['tests/learner/turns']),
    ('train.chunked_loss', 'the head stays switched off', 'finally: del head.forward', 'finally: pass', []),
    ('learner.lm', 'a window scores its first token twice', 'first = end+1', 'first = end', ['reliability']),
    ('text.detokenize', 'what may begin a stop string is shown at once', 'begun = [n for stop in self.stops for n in range(1, len(stop)) if new.endswith(stop[:n])]', 'begun = []', []),
    ('learner.lm', 'all texts end with the first that is done', 'if all(o.done for o in writers): break', 'if any(o.done for o in writers): break', []),
    ('files.describe', 'a large model is made of a wrong file', 'with on_meta_device(): check_shapes(cls(**keywords), weights)', 'pass', []),
    ('use.save', 'a tagger is saved as a classifier', 'for cls in type(learn).__mro__:', 'for cls in type(learn).__mro__[::-1]:', ['tests/use/hub']),
    ('files.describe', 'new tokens begin with zeros', 'return rows[old_place].where(is_old, mean)', 'return rows[old_place].where(is_old, torch.zeros_like(mean))', []),
    ('files.format', 'a file with NaN is written', 'if infinite or x.isnan().any():', 'if infinite:', []),
    ('files.format', 'a file that has changed is read', 'if about.checksum!=checksum(about, tensors):', 'if False:', []),
    ('files.format', 'what is written goes over the old file', 'new = Path(beside)/path.name', 'new = path', []),
    ('files.describe', 'a custom class passes for ours of the same name', 'if _find_part(name) is value else', 'if _find_part(name) else', []),
    ('use.save', 'another custom class of the same name passes', 'if now.shape!=then.shape or not (now-then)', 'if now.shape!=then.shape and not (now-then)', []),
    ('use.save', 'answers of the first place alone are compared', 'return out.flatten().tolist()', 'return out.flatten()[:16].tolist()', ['tests/use/save']),
    ('use.hub', 'a label becomes a link', "f\"    {' '.join(str(o).split())}\"", "f\"{' '.join(str(o).split())}\"", ['tests/use/hub']),
    ('files.describe', 'a model that was changed by hand is saved', '    if not same:\n        raise ValueError("a model made', '    if rebuilt is None:\n        raise ValueError("a model made', []),
    ('learner.explain', 'of texts in windows the first tokens are explained', "if len(model)==2 and not getattr(model, 'windows', None):", 'if len(model)==2:', []),
    ('pretrained.decoders', 'keys and values change places', "'attention.tovalues':'attn.c_attn#2'", "'attention.tovalues':'attn.c_attn#1'", []),
    ('pretrained.family', 'another base of the angles, where a config says none', 'base:float=10_000. # The base', 'base:float=1_000. # The base', []),
    ('pretrained.decoders', "another eps of GPT-2's norms, where a config says none", "cfg('layer_norm_epsilon', default=1e-5", "cfg('layer_norm_epsilon', default=1e-6", []),
    ('pretrained.decoders', "the eps of Llama's norms is not read", "norm = partial(norm_cls, eps=cfg('rms_norm_eps', default=1e-6, kind=float))", "norm = partial(norm_cls, eps=1e-6)", []),
    ('pretrained.family', 'the base beside the other numbers counts first', "rope('rope_theta', default=cfg(name, default=base, kind=float), kind=float)", "cfg(name, default=rope('rope_theta', default=base, kind=float), kind=float)", []),
    ('pretrained.core', 'weights that are not finite are read', 'if not torch.stack(w.aminmax()).isfinite().all():', 'if False:', ['tests/pretrained/families']),
    ('pretrained.family', 'two spellings of a key need not agree', "if self.values[other]!=value: self.bad", "if False: self.bad", ['tests/pretrained/families']),
    ('pretrained.encoders', 'the output layer of its own is not found', "'1.linear':'cls.predictions.decoder|cls.predictions'}", "'1.linear':'cls.predictions'}", []),
    ('pretrained.write', 'a bias of its own is written as the tied one', "if tied and name=='1.linear.bias': module", "if name=='1.linear.bias': module", ['tests/pretrained/families']),
    ('files.format', 'the second of two tensors of one name counts', 'if name in self.at: raise ValueError(', 'if False: raise ValueError(', ['tests/pretrained/core']),
    ('files.format', 'of a pickle in parts the first is converted', 'return parts or files[:1]', 'return files[:1]', ['tests/pretrained/core']),
    ('pretrained.family', 'classes are named in the order of the file', "[str(names[str(i)]) for i in range(n)]", "[*map(str, names.values())]", ['tests/pretrained/families']),
    ('learner.core', 'a head for other classes comes along', 'same_target = start.target==info.target', 'same_target = start.target', ['tests/pretrained/core']),
    ('learner.checks', 'classes in another order are loaded', "if then==now: continue", "if sorted(then)==sorted(now): continue", ['tests/learner/core']),
    ('files.describe', 'a window is wider than the texts that are tried', 'return min(largest+1, 512)', 'return 64', []),
    ('train.resume', 'a setting of a part goes unseen', 'return {n: str(o) for n,o in found.items()} |', "return", []),
    ('pretrained.core', 'an embedding that config.json ties is tied, whatever the file has', "family.tied = same(family.out, 'embedding.weight')", 'family.tied = True', ['tests/pretrained/families']),
    ('pretrained.family', 'the older spelling of rotary positions does not count', "cfg.values.get('rope_scaling') or cfg('rope_parameters', default={})", "cfg('rope_parameters', default={})", ['tests/pretrained/families']),
    ('pretrained.decoders', 'a share of the head under the name of other families is read', "cfg('rotary_pct', default=.25, kind=float)", "cfg('rotary_pct', 'partial_rotary_factor', default=.25, kind=float)", ['tests/pretrained/families']),
    ('nn.variants', 'a window shows one key more', '>= self.window', '> self.window', ['nn.attention']),
    ('nn.variants', 'scores are divided, too, where they have a scale', 'q * (self.scale*self.s**0.5)', 'q * self.scale', []),
    ('nn.encoder', 'a list gives all blocks its first value', 'n: of_block(i, o) for n,o', 'n: of_block(0, o) for n,o', ['tests/nn/blocks']),
    ('nn.blocks', 'all blocks rotate as the first', 'return [rotations[i] for i in self.which]', 'return [rotations[0] for i in self.which]', []),
    ('nn.blocks', 'what is not rotated is lost', 'torch.cat([q, rest], -1) if rest.shape[-1] else q', 'torch.cat([q, q[...,:rest.shape[-1]]], -1) if rest.shape[-1] else q', ['nn.variants']),
    ('nn.variants', 'both sides of a distance share buckets', 'later = (distance>0).long()*n', 'later = 0', []),
    ('nn.variants', 'a key asks for the distance the other way round', 'by_key.gather(-1, row.mT.expand', 'by_key.gather(-1, row.expand', []),
    ('nn.variants', 'quick waves are slowed, too', 'return waves*kept + waves/self.factor*(1-kept)', 'return waves/self.factor', []),
    ('nn.variants', 'logits are capped before they are divided', 'x = super().forward(x) / self.by', 'x = super().forward(x)', []),
    ('pretrained.core', 'padding that ends texts is padding', "if family.lm and pad in L(cfg('bos_token_id'))+ends: pad = rows", "if family.lm and pad==cfg('bos_token_id'): pad = rows", []),
    ('train.lora', 'the change is not scaled', 'return super().forward(x) + F.linear(few, self.lora_b)*self.scale', 'return super().forward(x) + F.linear(few, self.lora_b)', []),
    ('learner.lm', 'end tokens are kept in a prompt', 'return ids[:len(ids)-n_last] or', 'return ids or', ['pretrained.core']),
    ('learner.lm', 'of several prompts all end with the first that ends', 'if len(ended)==len(tokens): return', 'if ended: return', []),
    ('nn.attention', 'a padding mask off by one', 'pad_mask = pad_mask[...,None,None,:]', 'pad_mask = pad_mask.roll(1, -1)[...,None,None,:]', []),
    ('nn.attention', 'the last token sees all, of another text, too', 'tq==t==1 and key_pos is pos', 'tq==t==1', []),
    ('nn.variants', 'a window is forgotten in short texts', 'span<=self.window)', 'span<=self.window+1)', ['nn.attention']),
    ('nn.attention', 'the weights of a causal layer are those of one that looks ahead', 'device=q.device).triu(1)', 'device=q.device).triu(2)', []),
    ('generate.sample', 'top-p before top-k', "    if top_k is not None: logits = keep_top_k(logits, top_k)\n    if top_p is not None: logits = keep_top_p(logits, top_p)", "    if top_p is not None: logits = keep_top_p(logits, top_p)\n    if top_k is not None: logits = keep_top_k(logits, top_k)", []),
    ('generate.sample', '`banned` after `epsilon_cutoff`', "    if banned is not None: logits = forbid_ids(logits, banned)\n    if epsilon_cutoff is not None: logits = keep_epsilon(logits, epsilon_cutoff)", "    if epsilon_cutoff is not None: logits = keep_epsilon(logits, epsilon_cutoff)\n    if banned is not None: logits = forbid_ids(logits, banned)", []),
    ('nn.classifier', 'a head of another class breaks the model', "getattr(self[1], 'pool', mean_pool) is None", 'self[1].pool is None', []),
    ('nn.blocks', 'heads of odd width are rotated', 'if self.s%2: raise', 'if False: raise', ['nn.encoder']),
    ('nn.align', '`vocab_dropout` without a padding id', 'keep = keep & ~dropped[ids.clamp(0, v)]', 'keep = real_tokens(ids.masked_fill(dropped[ids.clamp(0, v)], pad), pad)', ['nn.classifier']),
    ('nn.lm', '`looks_ahead` leaves a model in evaluation mode', 'with eval_mode(encoder.modules()): x =', 'encoder.eval(); x =', []),
    ('nn.attention', 'a size of a graph that must be a bool', 'enable_gqa=bool(query.shape[1]!=key.shape[1])', 'enable_gqa=query.shape[1]!=key.shape[1]', []),
    ('nn.encoder', 'a slice of a model is made as a model', 'return nn.Sequential(*[*self][i]) if isinstance(i, slice) else super().__getitem__(i)', 'return super().__getitem__(i)', ['nn.classifier']),
    ('nn.seq2seq', "the encoder's keywords win over those of the decoder", 'other = kwargs | (decoder_cls.keywords if isinstance(decoder_cls, partial) else {})', 'other = (decoder_cls.keywords if isinstance(decoder_cls, partial) else {}) | kwargs', ['nn.seq2seq', 'tests/pretrained/core']),
    ('nn.variants', 'the halves of waves change places', 'torch.cat([waves[...,::2], waves[...,1::2]], -1)', 'torch.cat([waves[...,1::2], waves[...,::2]], -1)', []),
    ('pretrained.pairs', "the decoder's distances have two sides", 'pos_cls=partial(buckets, both=False))', 'pos_cls=buckets)', ['tests/pretrained/core']),
    ('pretrained.pairs', 'the logits of T5 v1.1 are divided', "by = k**.5 if cfg('scale_decoder_outputs', default=not untied) else 1.", 'by = k**.5', ['tests/pretrained/core']),
    ('pretrained.pairs', 'an older spelling of the division is not read', "cfg('scale_decoder_outputs', default=not untied)", "cfg('scale_decoder_outputs', default=True)", ['tests/pretrained/core']),
    ('pretrained.pairs', 'embeddings are not scaled', "scale = k**.5 if cfg('scale_embedding', default=False) else None", 'scale = None', []),
    ('pretrained.core', 'a bias of logits is looked for in each file', "family.head.keywords['bias'] = has('2.linear.bias')", "family.head.keywords['bias'] = '2.linear.bias' in family.names", ['tests/pretrained/core']),
    ('pretrained.core', 'two tables that differ are one', "if not same('embedding.weight', '1.embedding.weight'):", 'if False:', ['tests/pretrained/core']),
    ('pretrained.core', 'two tables of one tensor learn as one', 'state[name] = piece.clone()', 'state[name] = piece', ['tests/pretrained/core']),
    ('pretrained.family', 'what is written begins with, as config.json says alone', 'keys,own = _token_keys,json.loads(read_text(file))', 'keys,own = _token_keys,{}', ['tests/pretrained/core']),
    ('generate.read', 'token 0 is never forced', 'if forced is not None and max(self.lengths)==1:', 'if forced and max(self.lengths)==1:', ['tests/pretrained/settings']),
    ('generate.write', 'a text has one end', "[*L(stop_id), *getattr(encoder, 'ends', ())]", '[*L(stop_id)]', ['tests/pretrained/settings']),
    ('generate.beams', 'beams know one end', 'new.new_tensor([*L(stop_id)])', 'new.new_tensor([*L(stop_id)][:1])', ['tests/pretrained/settings']),
    ('learner.seq2seq', 'a text that is sampled goes on after its other ends', 'rows.new_tensor(stop_id)', 'rows.new_tensor(stop_id[:1])', ['tests/pretrained/settings']),
    ('pretrained.core', 'ends of a language model are those of config.json', 'HFTokenizer(path, rows, eos=ends)', "HFTokenizer(path, rows, eos=L(cfg('eos_token_id')))", ['tests/pretrained/settings']),
    ('pretrained.family', 'what an old config.json says of writing is not named', '[*_token_keys, *_writing],{},cfg.file', '[*_token_keys],{},cfg.file', ['tests/pretrained/settings']),
    ('pretrained.family', 'a setting of 0 is none', "return value not in (None, '', [], {}, usual.get(name, False))", "return value not in (None, '', [], {}, 0, usual.get(name, False))", ['tests/pretrained/settings']),
    ('pretrained.core', 'keys of dense layers that nothing reads are silent', '(pooling, *later, inputs, settings,', '(pooling, inputs, settings,', ['tests/pretrained/settings']),
    ('text.hf', 'what tokenizer_config.json turns off stays on', 'if key in settings: setattr', 'if settings.get(key): setattr', ['tests/pretrained/settings']),
    ('text.hf', 'another first or last token is silent', 'return name in added and habits.get(key) in (None,name)', 'return name in added', ['tests/pretrained/settings']),
    ('text.hf', 'a token of another kind is silent', "getattr(ours, key, None)==value for", "ours is not None for", ['tests/pretrained/settings']),
    ('text.hf', 'pieces that a user defined are taken after others', '0. if o.type==4 else o.score', '-9. if o.type==4 else o.score', ['tests/pretrained/use']),
    ('text.hf', 'line ends that are pieces become spaces', '[o for o in kept if change(o)!=o]', '[]', ['tests/pretrained/use']),
    ('pretrained.write', 'settings that were changed since reading are not compared', 'if now.get(name)!=then.get(name):', 'if False:', ['tests/use/hub_export']),
    ('pretrained.write', 'the numbers that were written are not compared', 'if not torch.equal(w.cpu(), read[name]):', 'if False:', ['tests/use/hub_export']),
    ('pretrained.write', 'files of an earlier checkpoint stay', 'for name in checkpoint_files(folder): (folder/name).unlink()', 'pass', ['tests/use/hub_export']),
    ('use.save', 'the files of a checkpoint are not saved', "write_checkpoint_files(folder/'checkpoint', self.checkpoint_files or {})", 'pass', ['tests/use/hub_export']),
    ('learner.seq2seq', 'what a checkpoint begins with is not asked', 'if first is not None: marks', 'if False: marks', ['tests/learner/seq2seq']),
    ('learner.checks', 'the worst perplexity is taken for the best', '        cb.comp = comp\n', '        pass\n', []),
    ('learner.checks', 'what has to be gained keeps its sign', 'cb.min_delta *= -1', 'pass', []),
    ('learner.checks', 'a metric of unknown direction is taken as rising', 'if comp is None and guess is np.greater:', 'if False:', []),
    ('learner.checks', 'what is passed as `comp` does not count', 'if cb.comp is not guess or metric is None: return', 'if metric is None: return', []),
    ('learner.checks', 'an epoch without a number counts as one that is no better', '= value is not None and value==value', '= value is not None', []),
    ('learner.checks', 'the weights of an earlier training are loaded', "cb.run = has_best or vars(cb).get('at_end', False)", 'pass', []),
    ('learner.checks', '`validate` is tracked', '            cb.run = self.run\n', '            pass\n', []),
    ('learner.checks', 'two means are mixed in a loss', 'ensure(not isinstance(inner, LabelSmoothingCrossEntropy)', 'ensure(True or not isinstance(inner, LabelSmoothingCrossEntropy)', ['tests/learner/batching']),
    ('learner.tagger', 'words without a tag count', 'least_target = 0', 'least_target = -99', ['tests/learner/batching']),
    ('learner.core', 'a sum is a mean', "=='sum'", "=='no'", ['tests/learner/batching']),
    ('learner.seq2seq', 'targets are as wide as those of this process', 'F.pad(targets, (0,width-ids.shape[1])', 'F.pad(targets, (0,0)', ['tests/train/processes']),
    ('learner.turns', 'a callback rests after a Ctrl-C', 'for cb in learn.cbs: cb.run = True', 'pass', ['tests/learner/checks']),
    ('train.resume', 'what machines decide is not told', 'if other: warn(', 'if False: warn(', []),
    ('fast.attention', 'this machine decides whether 16 bits are used', "return autotuned.setdefault('bfloat16', bf16_slowdown()<1.2)", 'return bf16_slowdown()<1.2', ['tests/train/resume']),
]

def put(folder, name, old, new):
    "The notebook of the module `name` in `folder`, and what it holds with a fault in it"
    file = folder/f'nbs/{page(name)}.ipynb'
    nb = json.loads(file.read_text())
    def source(cell): return ''.join(cell['source'])
    cells = [o for o in nb['cells'] if o['cell_type']=='code' and '#| export' in source(o)]
    n = sum(source(o).count(old) for o in cells)
    if n!=1: raise ValueError(f'{name}: {old!r} stands there {n} times, but must once')
    for o in cells: o['source'] = source(o).replace(old, new)
    return file,json.dumps(nb)

def notebooks(name, more):
    "The notebooks to run: the page of a module and its tests, then the others and theirs"
    def of(n):
        if '.' not in n: return [n]
        found = [o for t in dict.fromkeys((n, tests.get(n, n))) for o in sorted((root/'nbs/tests').glob(f'{page(t)}*.ipynb'))]
        return [page(n), *(o.relative_to(root/'nbs').with_suffix('').as_posix() for o in found)]
    return list(dict.fromkeys(o for n in (name,*more) for o in of(n)))

def run(folder, name, nightly, minutes):
    "Messages of a notebook that fails in `folder`, or '' if it passes"
    args,env = (['--flags', 'slow', '--cell-timeout', '14400'],dict(NIGHTLY='1')) if nightly else ([],{})
    return tested(name, *args, folder=folder, timeout=60*minutes*(6 if nightly else 1), PYTHONPATH=str(folder), **env)

def export(folder):
    "Make the modules from the notebooks"
    env = dict(os.environ, PYTHONPATH=str(folder))
    subprocess.run([str(Path(sys.executable).parent/'nbdev-export')], cwd=folder, env=env, capture_output=True, check=True)

def attempt(folder, fault, nightly, minutes):
    "Name of the notebook that fails with a fault, or ''"
    name,what,old,new,more = fault
    start,(file,faulty) = time.time(),put(folder, name, old, new)
    before = file.read_text()
    file.write_text(faulty)
    try:
        export(folder)
        caught = next((o + ' (out of time)'*(how=='out of time') + ' (nightly)'*nightly
                       for o in notebooks(name, more) if (how := run(folder, o, nightly, minutes))), '')
    finally: file.write_text(before)
    print(f"{'caught by '+caught if caught else 'NOT CAUGHT':30} {name}: {what} ({time.time()-start:.0f} s)", flush=True)
    return caught

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('only', nargs='*', help='parts of the names of faults or notebooks; none: all of them')
    p.add_argument('--workers', type=int, default=os.cpu_count(), help='runs at the same time')
    p.add_argument('--minutes', type=float, default=10, help='for each notebook, six times as many at night; one that takes longer has failed')
    p.add_argument('--out', default='nbs/data/mutants.csv', help='a CSV file to write, if all were tried')
    p.add_argument('--check', action='store_true', help='only look whether the code of each fault is there')
    args = p.parse_args()
    some = [o for o in faults if not args.only or any(x in o[0] or x in o[1] for x in args.only)]
    for o in some: put(root, o[0], *o[2:4])                                             # raises an error where the code is gone
    if args.check: return print(f'{len(some)} faults: the code of each stands where it should')
    folders,start,found = Queue(),time.time(),{}
    def each(f, todo):
        "`f(folder, o, nightly, minutes)` of all of `todo`, each in a folder of its own"
        def one(o):
            folder = folders.get()
            try: return f(folder, o, nightly, args.minutes)
            finally: folders.put(folder)
        with ThreadPoolExecutor(args.workers) as pool: return list(pool.map(one, todo))
    with tempfile.TemporaryDirectory() as tmp:
        for i in range(args.workers):
            copy_tracked(folder := Path(tmp)/str(i))
            folders.put(folder)
        for nightly in (False,True):                                                      # what `make test` runs, then what `make test-all` does
            left = [o for o in some if not found.get(o[:2])]
            names = sorted({n for o in left for n in notebooks(o[0], o[4])})
            for o in list(folders.queue) if names else (): export(o)                      # of the last fault nothing stays
            bad = [n for n,how in zip(names, each(run, names)) if how]
            if bad: sys.exit(f"without a fault these fail already: {', '.join(bad)}")     # nothing is caught by what fails anyway
            print(f'without a fault {len(names)} notebooks pass ({(time.time()-start)/60:.0f} minutes)', flush=True)
            found |= dict(zip([o[:2] for o in left], each(attempt, left)))
            print(f'{sum(map(bool, found.values()))} of {len(some)} faults caught in {(time.time()-start)/60:.0f} minutes', flush=True)
    rows = [dict(fault=o[1], notebook=page(o[0]), caught=found[o[:2]]) for o in some]
    if not args.only: write(root/args.out, rows, place=False)
    return not all(found.values())

if __name__=='__main__': sys.exit(main())
