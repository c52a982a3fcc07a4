"""Faults to plant in the eight base models: a few lines replaced, the fault, its cause in some words, and what shows it. Sixty, and twenty (`later`) that no check was changed for.

Written before the checks of `testing.model` for models of anybody, by somebody who had not seen them; `tools/check_faults.py` runs these."""
from pathlib import Path

ROOT, ITEMS = Path(__file__).parent, []

def fault(name, base, edits, fault, cause, visible, probes, folder='faults', call=None):
    ITEMS.append(dict(name=name, base=base, edits=edits, fault=fault, cause=cause, visible=visible,
                      probes=probes.split(), folder=folder, call=call or {}))

# ---------------------------------------------------------------- base 1: nanoGPT
fault('sees_next_token', 1,
      [("torch.tril(torch.ones(config.block_size, config.block_size))", "torch.tril(torch.ones(config.block_size, config.block_size), diagonal=1)")],
      'The causal mask is built with tril(diagonal=1), so each position also sees the next token.',
      'causal mask off by one', 'Changing token i+1 changes the logits at position i.', 'causal')
fault('mask_after_softmax', 1,
      [("""        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float('-inf'))
        att = F.softmax(att, dim=-1)
""", """        att = F.softmax(att, dim=-1)
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, 0.0)
""")],
      'The causal mask zeroes the weights after the softmax, whose denominator has already summed over the future.',
      'mask applied after softmax', 'Later tokens change earlier logits, and a prefix alone gives other logits than inside a longer text.', 'causal')
fault('softmax_over_queries', 1,
      [("att = F.softmax(att, dim=-1)", "att = F.softmax(att, dim=-2)")],
      'The softmax runs over the queries (dim=-2) instead of over the keys, so weights are normalised with later queries.',
      'softmax over wrong axis', 'Later tokens change earlier logits; a prefix alone gives other logits than inside a longer text.', 'causal')
fault('heads_merged_without_transpose', 1,
      [("y = y.transpose(1, 2).contiguous().view(B, T, C)", "y = y.contiguous().view(B, T, C)")],
      'The heads are put together by view without the transpose back, so time and heads are mixed.',
      'missing transpose mixes heads, time', 'Later tokens change earlier logits; appending tokens changes the logits of the prefix.', 'causal')
fault('untied_by_clone', 1,
      [("self.transformer.wte.weight = self.lm_head.weight  # weight tying", "self.transformer.wte.weight = nn.Parameter(self.lm_head.weight.clone())  # weight tying")],
      'The weights meant to be tied are cloned at construction, so embedding and output are two separate parameters.',
      'weights not tied', 'transformer.wte.weight and lm_head.weight are different parameters: they drift apart after one training step.', 'tied')
fault('dropout_in_eval', 1,
      [("y = self.resid_dropout(self.c_proj(y))", "y = F.dropout(self.c_proj(y), p=self.dropout)")],
      'F.dropout is called without training=self.training in the attention output, so dropout is on in eval as well.',
      'dropout active in eval', 'Two calls in eval on the same ids give different logits.', 'eval_deterministic')
fault('long_input_cropped', 1,
      [("""        b, t = idx.size()
        assert t <= self.config.block_size, f"Cannot forward sequence of length {t}, block size is only {self.config.block_size}"
""", """        idx = idx[:, -self.config.block_size:]
        b, t = idx.size()
""")],
      'A text longer than block_size is cropped to its last 64 tokens without a word.',
      'too long input silently truncated', 'With 70 ids nothing raises and the logits have 64 positions instead of 70.', 'too_long_raises')
fault('strict_mask_first_row', 1,
      [("torch.tril(torch.ones(config.block_size, config.block_size))", "torch.tril(torch.ones(config.block_size, config.block_size), diagonal=-1)"),
       ("float('-inf')", "-1e9")],
      'The causal mask is strict (a token does not see itself), and the empty first row, filled with -1e9, becomes uniform over all tokens.',
      'strict causal mask excludes itself', 'The logits of the first position change with every later token (through its uniform attention).', 'causal')

# ---------------------------------------------------------------- base 2: einsum classifier
fault('mask_inverted', 2,
      [("sim.masked_fill(mask[:, None, None, :], -1e9)", "sim.masked_fill(~mask[:, None, None, :], -1e9)")],
      'The mask is True where a token is hidden, but the attention hides where it is False: only padding is attended to.',
      'mask inverted', 'What stands at hidden positions changes the scores; an all-False mask gives other scores than no mask.', 'pad_content pad_amount_right mask_none_vs_all_seen')
fault('mask_skipped_for_one_row', 2,
      [("        for layer in self.layers:\n            x = layer(x, mask)\n", "        attn_mask = mask if len(ids) > 1 else None  # nothing to pad in a single text\n        for layer in self.layers:\n            x = layer(x, attn_mask)\n")],
      'With a batch of one text the mask is not given to the layers.',
      'mask skipped, batch size one', 'A padded text alone (b=1) gives other scores than in a batch, and its hidden ids change them.', 'pad_content pad_amount_right')
fault('mask_on_queries', 2,
      [("mask[:, None, None, :]", "mask[:, None, :, None]")],
      'The mask is put on the query axis instead of the key axis, so real tokens attend to padding.',
      'mask on queries not keys', 'Ids at hidden positions change the scores, and so does the amount of padding.', 'pad_content pad_amount_right')
fault('padding_in_the_mean', 2,
      [("        if mask is None:\n            return x.mean(dim=1)\n        keep = (~mask).unsqueeze(-1).to(x.dtype)\n        return (x * keep).sum(dim=1) / keep.sum(dim=1).clamp(min=1)\n", "        return x.mean(dim=1)\n")],
      'The mean pooling runs over all positions, padding counted.',
      'padding included in mean pooling', 'Ids at hidden positions and the amount of padding change the scores.', 'pad_content pad_amount_right')
fault('square_mask_taken_for_attention_mask', 2,
      [("            sim = sim.masked_fill(mask[:, None, None, :], -1e9)\n", "            if mask.shape == sim.shape[-2:]:  # an (i, j) attention mask\n                mask = mask[None, None]\n            else:                             # a (b, j) key padding mask\n                mask = mask[:, None, None, :]\n            sim = sim.masked_fill(mask, -1e9)\n")],
      'A padding mask (b, t) with b == t is taken for an attention mask (t, t) and broadcast over the wrong axes.',
      'mask broadcast over wrong dimension', 'Only when the batch has as many rows as positions: hidden ids, and the masks of other rows, change a row.', 'pad_content pad_amount_right')
fault('caller_mask_flipped', 2,
      [("            sim = sim.masked_fill(mask[:, None, None, :], -1e9)\n", "            sim = sim - 1e9 * mask[:, None, None, :]\n"),
       ("keep = (~mask).unsqueeze(-1).to(x.dtype)", "keep = mask.logical_not_().unsqueeze(-1).to(x.dtype)")],
      "The pooling negates the mask in place, so the caller's mask comes back inverted.",
      "caller's mask changed in place", 'The mask tensor given differs after the call; using it again gives other scores.', 'inputs_untouched')
fault('batchnorm_in_the_block', 2,
      [("self.norm2 = nn.LayerNorm(dim)", "self.norm2 = nn.BatchNorm1d(dim)"),
       ("x = self.norm2(x + self.drop(self.ff(x)))", "x = self.norm2((x + self.drop(self.ff(x))).transpose(1, 2)).transpose(1, 2)")],
      'The second norm of each layer is a BatchNorm1d: in training each text is normalised with the whole batch, padding included.',
      'batch normalisation mixes texts', 'In train mode (dropout 0) a row depends on the other rows, and train and eval give different scores.', 'train_p0_vs_eval')

# ---------------------------------------------------------------- base 3: tiny BERT
fault('additive_mask_of_minus_one', 3,
      [("return (1.0 - extended) * torch.finfo(dtype).min", "return (1.0 - extended) * -1.0")],
      'The additive mask is -1 at padding instead of a very large negative number, so padding is still attended to.',
      'additive mask too weak', 'Ids at positions with attention_mask 0 change the logits.', 'pad_content pad_amount_right')
fault('mask_in_first_layer_only', 3,
      [("        for layer_module in self.layer:\n            hidden_states = layer_module(hidden_states, extended_mask)\n", "        hidden_states = self.layer[0](hidden_states, extended_mask)\n        for layer_module in self.layer[1:]:\n            hidden_states = layer_module(hidden_states)\n")],
      'Only the first layer is given the mask; the second attends to padding.',
      'mask missing in later layers', 'Ids at positions with attention_mask 0 change the logits.', 'pad_content pad_amount_right')
fault('cls_taken_at_the_end', 3,
      [('# We "pool" the model by simply taking the hidden state of the first token.\n        first_token_tensor = hidden_states[:, 0]\n        return self.activation(self.dense(first_token_tensor))', '# We "pool" the model by simply taking the hidden state of the [CLS] token.\n        cls_token_tensor = hidden_states[:, -1]\n        return self.activation(self.dense(cls_token_tensor))')],
      'The pooler takes the last position instead of [CLS] at the first, so it takes padding.',
      'pools last position, padding', 'With padding on the right the hidden ids and the amount of padding change the logits.', 'pad_content pad_amount_right')
fault('half_precision_in_eval', 3,
      [("        pooled_output = self.pooler(hidden_states)\n", "        if not self.training:\n            hidden_states = hidden_states.half().to(self.classifier.weight.dtype)  # save memory\n        pooled_output = self.pooler(hidden_states)\n")],
      'In eval the hidden states go through float16 and lose precision.',
      'precision lost, half cast', 'With dropout 0, eval and train differ by about 1e-4, in float32 and in float64 alike.', 'train_p0_vs_eval')
fault('no_tanh_in_eval', 3,
      [("        return self.activation(self.dense(first_token_tensor))", "        pooled_output = self.dense(first_token_tensor)\n        if self.training:\n            pooled_output = self.activation(pooled_output)\n        return pooled_output")],
      "The pooler's tanh is applied in training only; eval takes another path.",
      'eval path differs from training', 'With dropout 0 the logits in train and eval mode differ.', 'train_p0_vs_eval')
fault('dropout_never_on', 3,
      [("nn.Dropout(config.hidden_dropout_prob)", 'nn.Dropout(getattr(config, "dropout_prob", 0.0))', 3),
       ("nn.Dropout(config.attention_probs_dropout_prob)", 'nn.Dropout(getattr(config, "attention_dropout_prob", 0.0))')],
      'The dropout rates are read under names the config does not have, and fall back to 0: the 0.1 configured is never used.',
      'dropout never active in training', 'In train mode two calls give the same logits although the config asks for dropout 0.1.', 'dropout_in_training')
fault('token_type_unused', 3,
      [("        if token_type_ids is None:\n            token_type_ids = torch.zeros_like(input_ids)\n        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)\n", "        embeddings = self.word_embeddings(input_ids)\n")],
      'The token type embedding is built but never added, so token_type_ids are ignored.',
      'parameter unused, no gradient', 'token_type_embeddings.weight gets no gradient, and token_type_ids change nothing.', 'all_params_grad')
fault('mask_taken_for_head_mask', 3,
      [("        extended = attention_mask[:, None, None, :].to(dtype)\n", "        if attention_mask.size(0) == self.config.num_attention_heads:\n            extended = attention_mask[None, :, None, :].to(dtype)  # one mask a head\n        else:\n            extended = attention_mask[:, None, None, :].to(dtype)\n")],
      'When the batch has as many rows as there are heads (4), the mask is broadcast over heads instead of rows.',
      'mask broadcast over heads', 'Only with 4 rows: hidden ids and the other rows\' masks change a row.', 'pad_content pad_amount_right')

# ---------------------------------------------------------------- base 4: tiny Llama
fault('cached_keys_rotated_twice', 4,
      [("        k = apply_rope(k, self.cos[pos], self.sin[pos])\n        if past is not None:\n", "        if past is not None:\n"),
       ("        present = (k, v)\n", "        k_pos = torch.arange(k.size(1), device=x.device)\n        k = apply_rope(k, self.cos[k_pos], self.sin[k_pos])\n        present = (k, v)\n")],
      'The cache keeps keys already rotated and the whole cache is rotated again at every step.',
      'cached keys rotated twice', 'step() token by token differs from forward() after the second token.', 'step_single step_prefill')
fault('offset_not_advanced', 4,
      [("        start = 0 if state is None else state[0][0].size(1)\n        pos = torch.arange(start, start + ids.size(1), device=ids.device)\n", "        pos = torch.arange(ids.size(1), device=ids.device)\n")],
      'step() numbers the new tokens from 0 at every call.',
      'position offset not advanced', 'step() differs from forward() from the second call on; more than 64 tokens do not raise.', 'step_single step_prefill')
fault('offset_counts_calls', 4,
      [("        start = 0 if state is None else state[0][0].size(1)\n", "        if state is None:\n            state = (0, [None] * len(self.layers))\n        start, past = state\n"),
       ("None if state is None else state[i]", "past[i]"),
       ("return self.output(self.norm(x)), new_state", "return self.output(self.norm(x)), (start + 1, new_state)")],
      'The position offset goes up by one a call, not by the number of tokens given.',
      'offset counts calls not tokens', 'One token a call is right; after a call with several tokens (a prompt) step() differs from forward().', 'step_prefill step_chunks')
fault('causal_mask_top_left', 4,
      [(".tril(diagonal=s - t)", ".tril()")],
      'With a cache the causal mask is aligned to the top left corner: a new token sees only the first keys.',
      'causal mask misaligned with cache', 'step() differs from forward() from the second call on.', 'step_single step_prefill step_chunks')
fault('kv_heads_repeated_in_other_order', 4,
      [("        k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)\n", "        if past is None:\n            k, v = repeat_kv(k, self.n_rep), repeat_kv(v, self.n_rep)\n        else:\n            k, v = k.repeat(1, 1, self.n_rep, 1), v.repeat(1, 1, self.n_rep, 1)\n")],
      'With a cache the key/value heads are repeated as 0,1,0,1 instead of 0,0,1,1.',
      'kv heads repeated wrong order', 'step() agrees with forward() for the first call only.', 'step_single step_prefill')
fault('cache_in_mutable_default', 4,
      [("    def step(self, ids, state=None):\n", "    def step(self, ids, state=None, _buffers={}):\n"),
       ("        start = 0 if state is None else state[0][0].size(1)\n", "        if state is None:  # one list a batch size, not to build it anew\n            state = _buffers.setdefault(ids.size(0), [])\n        if state and state[0][0].size(1) + ids.size(1) > self.max_len:\n            state.clear()\n        start = state[0][0].size(1) if state else 0\n"),
       ("None if state is None else state[i]", "state[i] if state else None"),
       ("        return self.output(self.norm(x)), new_state", "        state[:] = new_state\n        return self.output(self.norm(x)), state")],
      'The first state lives in a mutable default argument: it is shared by all calls and all models.',
      'cache shared, mutable default', 'A second text started with state=None goes on after the first one.', 'state_streams')
fault('rmsnorm_over_time', 4,
      [("x.pow(2).mean(-1, keepdim=True)", "x.pow(2).mean(1, keepdim=True)")],
      'RMSNorm takes its mean over the time axis instead of over the features.',
      'normalisation over time axis', 'Later tokens change earlier logits, and step() differs from forward().', 'causal step_single')
fault('chunk_with_cache_not_causal', 4,
      [("        mask = torch.ones(t, s, dtype=torch.bool, device=x.device).tril(diagonal=s - t)\n", "        mask = None\n        if past is None:  # with a cache there is nothing after the new token\n            mask = torch.ones(t, s, dtype=torch.bool, device=x.device).tril()\n")],
      'No causal mask is used when there is a cache, so the tokens of one call see each other in both directions.',
      'cached chunk not causal', 'Single tokens and the first prompt are right; a later call with several tokens differs from forward().', 'step_chunks')
fault('state_changed_in_place', 4,
      [("        new_state = []\n", "        new_state = [None] * len(self.layers) if state is None else state\n"),
       ("None if state is None else state[i]", "new_state[i]"),
       ("            new_state.append(present)\n", "            new_state[i] = present\n")],
      'step() writes the new keys into the state it was given instead of returning a new one.',
      'old state changed in place', 'Going on twice from the same state (two beams) gives two different answers for the same token.', 'state_fork')

# ---------------------------------------------------------------- base 5: local LM
fault('window_one_longer_with_cache', 5,
      [("        allowed = self.window_mask(t, k.size(2), x.device)\n", "        if cache is None or t > 1:\n            allowed = self.window_mask(t, k.size(2), x.device)\n        else:  # the cache already holds the window only\n            allowed = torch.ones(1, k.size(2), dtype=torch.bool, device=x.device)\n")],
      'A cached single step attends to the 8 cached tokens plus itself: a window of 9 instead of 8.',
      'cached window off by one', 'step() one token at a time differs from forward() once more than 8 tokens were seen.', 'step_single')
fault('cache_cut_before_use', 5,
      [("            v = torch.cat([cache['v'], v], dim=2)\n", "            v = torch.cat([cache['v'], v], dim=2)\n            keep = max(self.window, t)\n            k, v = k[:, :, -keep:], v[:, :, -keep:]\n")],
      'The cache is cut to the window before the attention, so the first tokens of a chunk lose keys they should still see.',
      'cache drops keys too early', 'Single tokens are right; a call with several tokens differs from forward().', 'step_chunks')
fault('window_on_both_sides', 5,
      [("return (j <= i) & (i - j < self.window)", "return (i - j).abs() < self.window")],
      'The window mask bounds only the distance, so a token also sees the 7 tokens after it.',
      'window sees the future', 'Later tokens change earlier logits.', 'causal')
fault('cache_kept_on_the_module', 5,
      [("            state = {'seen': 0, 'layers': [None] * len(self.blocks)}\n", "            state = {'seen': 0}\n            self.cache = [None] * len(self.blocks)\n"),
       ("zip(self.blocks, state['layers'])", "zip(self.blocks, self.cache)"),
       ("return self.head(self.ln(x)), {'seen': state['seen'] + ids.size(1), 'layers': layers}", "self.cache = layers\n        return self.head(self.ln(x)), {'seen': state['seen'] + ids.size(1)}")],
      'The keys and values are kept on the module; the state holds the position only.',
      'cache shared between streams', 'Two texts decoded in turns (A, B, A) get each other\'s keys; an old state cannot be used again.', 'state_streams state_fork')
fault('position_from_cache_length', 5,
      [("        x = self.embed(ids, state['seen'])\n", "        first = state['layers'][0]\n        x = self.embed(ids, 0 if first is None else first['k'].size(2))\n")],
      'The position of a new token is the length of the rolling cache, which stops growing at 8.',
      'position offset stops at window', 'step() differs from forward() after 8 tokens; more than 64 tokens do not raise.', 'step_single')
fault('causal_mask_of_minus_one', 5,
      [("scores = scores.masked_fill(~allowed, float('-inf'))", "scores = scores - (~allowed).to(scores.dtype)")],
      'One is subtracted from forbidden scores instead of infinity, so future and far tokens are only damped.',
      'additive mask too weak', 'Later tokens change earlier logits, and tokens beyond the window still count.', 'causal window')

# ---------------------------------------------------------------- base 6: fairseq tagger
fault('positions_count_left_padding', 6,
      [("    mask = tokens.ne(padding_idx).int()\n    return (torch.cumsum(mask, dim=1).type_as(mask) * mask).long() + padding_idx\n", "    mask = tokens.ne(padding_idx).long()\n    positions = torch.arange(1, tokens.size(1) + 1, device=tokens.device).expand_as(tokens)\n    return positions * mask + padding_idx\n")],
      'Positions are numbered from the start of the row, so padding on the left is counted.',
      'positions count left padding', 'Padding on the left changes the tags; on the right it does not.', 'pad_amount_left')
fault('layers_in_a_plain_list', 6,
      [("        self.layers = nn.ModuleList([\n            TransformerEncoderLayer(embed_dim, ffn_dim, num_heads, dropout) for _ in range(num_layers)])\n", "        self.layers = [TransformerEncoderLayer(embed_dim, ffn_dim, num_heads, dropout) for _ in range(num_layers)]\n")],
      'The layers are in a plain Python list: not in parameters() or state_dict(), not moved by .to(), not switched by eval().',
      'layers not registered, plain list', 'Loading the state_dict into a new model gives other outputs; eval() leaves dropout on; .double() does not move them.', 'state_dict')
fault('view_instead_of_transpose', 6,
      [("        x = x.transpose(0, 1)\n        for layer", "        x = x.reshape(x.size(1), x.size(0), -1)\n        for layer"),
       ("        # T x B x C -> B x T x C\n        x = x.transpose(0, 1)\n", "        # T x B x C -> B x T x C\n        x = x.reshape(x.size(1), x.size(0), -1)\n")],
      'Batch first is turned into time first by reshape instead of transpose, so rows are mixed.',
      'reshape mixes rows of batch', 'A row in a batch gives other tags than alone; other rows change it.', 'alone_vs_batch')
fault('padding_ids_overwritten', 6,
      [("        x = self.embed_scale * self.embed_tokens(src_tokens)\n        x = x + self.embed_positions(src_tokens)\n", "        positions = self.embed_positions(src_tokens)\n        src_tokens[encoder_padding_mask] = 3  # any real row of the table, the mask hides it\n        x = self.embed_scale * self.embed_tokens(src_tokens) + positions\n")],
      "Padding ids are overwritten with id 3 in the caller's own tensor.",
      "caller's ids changed in place", 'The ids given differ after the call, and a second call with them takes padding for text.', 'inputs_untouched')
fault('norm_over_the_batch', 6,
      [("class Tagger(nn.Module):\n", "class Norm(nn.Module):\n    def __init__(self, dim, eps=1e-5):\n        super().__init__()\n        self.weight = nn.Parameter(torch.ones(dim))\n        self.bias = nn.Parameter(torch.zeros(dim))\n        self.eps = eps\n\n    def forward(self, x):\n        mean = x.mean(dim=(1, 2), keepdim=True)\n        std = x.std(dim=(1, 2), keepdim=True)\n        return self.weight * (x - mean) / (std + self.eps) + self.bias\n\n\nclass Tagger(nn.Module):\n"),
       ("self.layer_norm = nn.LayerNorm(embed_dim)", "self.layer_norm = Norm(embed_dim)")],
      'The last norm, written by hand, takes mean and deviation over features and batch (inputs are T x B x C).',
      'normalisation over the batch', 'A row in a batch gives other outputs than alone, in eval too.', 'alone_vs_batch')
fault('padding_row_trains', 6,
      [("nn.Embedding(num_embeddings, embed_dim, padding_idx=padding_idx)", "nn.Embedding(num_embeddings, embed_dim)")],
      'The embedding is made without padding_idx: its padding row is zero at first but receives gradient and moves.',
      'padding embedding receives gradient', 'embed_tokens.weight.grad[0] is not zero after a backward over all outputs of a padded batch.', 'pad_row_grad')
fault('noise_in_eval', 6,
      [("        x = x + self.embed_positions(src_tokens)\n", "        x = x + self.embed_positions(src_tokens)\n        x = x + 0.05 * torch.randn_like(x)  # noisy embeddings regularise\n")],
      'Noise is added to the embeddings in every mode, not in training only.',
      'random noise in eval', 'Two calls in eval on the same ids give different outputs.', 'eval_deterministic')
fault('mask_cached_by_shape', 6,
      [("        self.padding_idx = padding_idx\n        self.dropout = dropout\n", "        self.padding_idx = padding_idx\n        self.dropout = dropout\n        self._masks = {}\n"),
       ("        encoder_padding_mask = src_tokens.eq(self.padding_idx)\n", "        if src_tokens.shape not in self._masks:\n            self._masks[src_tokens.shape] = src_tokens.eq(self.padding_idx)\n        encoder_padding_mask = self._masks[src_tokens.shape]\n")],
      'The padding mask is kept by the shape of the ids, so a second batch of that shape gets the mask of the first.',
      'padding mask cached by shape', 'The same batch gives other outputs after another batch of the same shape but other padding.', 'order pad_amount_right')

# ---------------------------------------------------------------- base 7: nn.TransformerEncoder
fault('max_over_padding', 7,
      [("        h = h.masked_fill(pad_mask.unsqueeze(-1), float('-inf'))\n", "")],
      'The max pooling runs over padding positions too.',
      'padding included in max pooling', 'The amount of padding changes the scores.', 'pad_amount_right pad_amount_left')
fault('batch_first_forgotten', 7,
      [("dropout, batch_first=True)", "dropout)"),
       ("src_key_padding_mask=pad_mask)", "src_key_padding_mask=pad_mask.t())")],
      'The encoder layer is made without batch_first=True (the mask was transposed until it fitted), so attention runs across the batch.',
      'batch_first missing, mixes batch', 'A row depends on the other rows of its batch; the order of its tokens is seen only through the positions.', 'alone_vs_batch')
fault('float_padding_mask', 7,
      [("dropout, batch_first=True)", "dropout,\n                                                   activation=nn.functional.silu, batch_first=True)"),
       ("src_key_padding_mask=pad_mask)", "src_key_padding_mask=pad_mask.to(x.dtype))")],
      'The padding mask is cast to float, which nn.TransformerEncoder adds to the scores: +1 for padding instead of hiding it.',
      'float mask added, not hiding', 'The amount of padding changes the scores.', 'pad_amount_right pad_amount_left')
fault('embedding_max_norm', 7,
      [("nn.Embedding(vocab_size, d_model, padding_idx=pad_idx)", "nn.Embedding(vocab_size, d_model, padding_idx=pad_idx, max_norm=1.0)")],
      'The embedding has max_norm=1.0, which rescales the looked-up rows of its weight in place at each forward, in eval too.',
      'weights changed in forward', 'state_dict() differs before and after a forward in eval.', 'weights_unchanged')
fault('last_token_is_padding', 7,
      [("        h = h.masked_fill(pad_mask.unsqueeze(-1), float('-inf'))\n        return h.max(dim=1).values\n", "        lengths = (~pad_mask).sum(dim=1)\n        last = lengths.clamp(max=h.size(1) - 1)\n        return h[torch.arange(h.size(0), device=h.device), last]\n"),
       ("masked max pooling", "last token pooling")],
      'The pooling takes position `length` instead of `length - 1`: the first padding after the text where there is one.',
      'takes padding, not last token', 'Adding padding on the right changes the scores.', 'pad_amount_right',
      call={"'padding': 'either'": "'padding': 'right'", "id 0 is padding, on the left or on the right": "id 0 is padding, on the right"})
fault('random_buffer_not_saved', 7,
      [("        self.emb = nn.Embedding(max_len, d_model)\n", "        self.register_buffer('emb', torch.randn(max_len, d_model) * 0.5, persistent=False)\n"),
       ("self.emb(positions)", "self.emb[positions]")],
      'The position table is a random buffer registered as not persistent, so it is not saved and each new model draws another.',
      'random buffer not in state_dict', 'Loading the state_dict into a new model succeeds but gives other scores.', 'state_dict')
fault('pooling_softmax_over_batch', 7,
      [("        self.fc = nn.Linear(d_model, n_classes)\n", "        self.score = nn.Linear(d_model, 1)\n        self.fc = nn.Linear(d_model, n_classes)\n"),
       ("        h = h.masked_fill(pad_mask.unsqueeze(-1), float('-inf'))\n        return h.max(dim=1).values\n", "        score = self.score(h).masked_fill(pad_mask.unsqueeze(-1), -1e9)\n        weights = torch.softmax(score, dim=0)\n        weights = weights.masked_fill(pad_mask.unsqueeze(-1), 0.)\n        return (weights * h).sum(dim=1)\n"),
       ("masked max pooling", "attention pooling")],
      'The attention pooling takes its softmax over dim 0, the batch, instead of over the tokens.',
      'softmax over the batch', 'A row in a batch gives other scores than alone.', 'alone_vs_batch')
fault('logits_standardised_in_training', 7,
      [("        return self.fc(self.pool(h, pad_mask))\n", "        logits = self.fc(self.pool(h, pad_mask))\n        if self.training:\n            logits = (logits - logits.mean(dim=0)) / (logits.std(dim=0) + 1e-5)\n        return logits\n")],
      'In training the scores are standardised over the batch (and with one row become nan); in eval they are not.',
      'training normalises over batch', 'With dropout 0 train and eval differ, and in train mode a row depends on the others.', 'train_p0_vs_eval')

# ---------------------------------------------------------------- base 8: annotated transformer
fault('cross_attention_unmasked', 8,
      [("self.src_attn(x, m, m, src_mask)", "self.src_attn(x, m, m)")],
      'The cross-attention is not given the source mask, so the decoder attends to source padding.',
      'cross-attention ignores source padding', 'The amount of source padding changes the logits.', 'pad_amount_right')
fault('decoder_not_causal', 8,
      [("        tgt_mask = (tgt != self.pad).unsqueeze(-2)\n        return tgt_mask & subsequent_mask(tgt.size(-1), tgt.device)\n", "        tgt_mask = (tgt != self.pad).unsqueeze(-2)\n        return tgt_mask\n")],
      'The target mask hides padding only; the causal part is missing.',
      'decoder sees future tokens', 'Later target tokens change earlier logits.', 'causal')
fault('source_mask_on_target', 8,
      [("    def make_tgt_mask(self, tgt):\n        tgt_mask = (tgt != self.pad).unsqueeze(-2)\n", "    def make_tgt_mask(self, src, tgt):\n        extra = tgt.size(-1) - src.size(-1)\n        tgt_mask = nn.functional.pad(src != self.pad, (0, extra), value=True).unsqueeze(-2)\n"),
       ("self.make_tgt_mask(tgt)", "self.make_tgt_mask(src, tgt)")],
      'The target self-attention is masked with the padding of the source (cut or filled to fit).',
      'source mask used for target', 'Source padding hides target tokens: padding the source changes the logits when the target reaches that far.', 'pad_amount_right')
fault('memory_detached', 8,
      [("        m = memory\n", "        m = memory.detach()\n")],
      'The memory is detached in the decoder, so the encoder never gets a gradient.',
      'encoder gets no gradient', 'After backward all encoder and source embedding parameters have no gradient.', 'all_params_grad')
fault('memory_kept_from_first_source', 8,
      [("        self.pad = pad\n", "        self.pad = pad\n        self.memory = None\n"),
       ("        memory = self.encode(src, src_mask)\n", "        if self.training or self.memory is None or self.memory.shape[:2] != src.shape:\n            self.memory = self.encode(src, src_mask)  # encode once, decode many times\n        memory = self.memory\n")],
      'In eval the encoded source is kept and used again for every later source of the same shape.',
      'stale encoder memory cached', 'A second source of the same shape gives logits of the first; the answer depends on earlier calls.', 'order context_used')
fault('positions_scaled_by_length', 8,
      [("        x = x + self.pe[:, : x.size(1)]\n", "        n = x.size(1)\n        assert n <= self.pe.size(1)\n        relative = torch.linspace(0, self.pe.size(1) - 1, n, device=x.device).long()\n        x = x + self.pe[:, relative]\n")],
      'Positions are spread over the whole table according to the length of the row, padding and later tokens counted.',
      'positions depend on sequence length', 'A target prefix gives other logits alone than in a longer target, and source padding changes them.', 'causal pad_amount_right')

# ================================================================ later
L = 'later'
fault('mean_by_batch_count', 2,
      [("keep.sum(dim=1).clamp(min=1)", "(keep.sum() / keep.size(0)).clamp(min=1)")],
      'The pooled sum is divided by the average number of real tokens of the batch, not by that of the row.',
      "mean uses batch's count", 'A padded row gives other scores in a batch of texts of other lengths than alone.', 'pad_amount_right', L)
fault('wrong_padding_id', 6,
      [("encoder_padding_mask = src_tokens.eq(self.padding_idx)", "encoder_padding_mask = src_tokens.eq(1)")],
      'Padding is looked for as id 1 (as in fairseq dictionaries) while this model pads with id 0.',
      'wrong padding id masked', 'The amount of padding changes the outputs; a real token with id 1 is invisible to the others.', 'pad_amount_right pad_amount_left', L)
fault('cache_of_first_row', 5,
      [("            k = torch.cat([cache['k'], k], dim=2)\n            v = torch.cat([cache['v'], v], dim=2)\n", "            past_k = cache['k'][:1].expand(k.size(0), -1, -1, -1)  # all rows go on from one prompt\n            past_v = cache['v'][:1].expand(v.size(0), -1, -1, -1)\n            k = torch.cat([past_k, k], dim=2)\n            v = torch.cat([past_v, v], dim=2)\n")],
      'The cached keys and values of the first row are used for all rows.',
      'cache mixes rows of batch', 'With several rows step() differs from forward() in all rows but the first.', 'step_single', L)
fault('heads_split_by_view', 3,
      [("        x = x.view(*x.size()[:-1], self.num_attention_heads, self.attention_head_size)\n        return x.permute(0, 2, 1, 3)\n", "        return x.view(x.size(0), self.num_attention_heads, x.size(1), self.attention_head_size)\n")],
      'The heads are split by one view without the permute, so tokens and heads are mixed and the mask hides the wrong places.',
      'missing permute mixes heads, time', 'Hidden ids and the amount of padding change the logits.', 'pad_content pad_amount_right', L)
fault('untied_by_loading', 1,
      [("    def _init_weights(self, module):\n", "    def load_state_dict(self, state_dict, strict=True, assign=False):\n        \"Loads checkpoints with any vocabulary size.\"\n        result = super().load_state_dict(state_dict, strict=strict, assign=assign)\n        self.transformer.wte.weight = nn.Parameter(state_dict['transformer.wte.weight'].clone())\n        self.lm_head.weight = nn.Parameter(state_dict['lm_head.weight'].clone())\n        return result\n\n    def _init_weights(self, module):\n")],
      'load_state_dict makes two new parameters for embedding and output: after loading they are tied no more.',
      'loading unties weights', 'After load_state_dict the two weights are different parameters and drift apart in training.', 'tied', L)
fault('mean_of_target_added', 8,
      [("        x = self.tgt_embed(tgt)\n", "        x = self.tgt_embed(tgt)\n        x = x + x.mean(dim=1, keepdim=True)  # a summary of the sentence\n")],
      'The mean of the whole target embedding is added to each decoder input, so the labels leak.',
      'future target leaks through mean', 'Later target tokens (and target padding) change earlier logits.', 'causal tgt_pad', L)
fault('positions_clamped', 3,
      [('        if seq_length > self.position_ids.size(1):\n            raise ValueError(f"sequence of {seq_length} tokens is longer than max_position_embeddings")\n        position_ids = self.position_ids[:, :seq_length]\n', '        position_ids = torch.arange(seq_length, device=input_ids.device).unsqueeze(0)\n        position_ids = position_ids.clamp(max=self.position_ids.size(1) - 1)\n')],
      'Positions beyond 63 are clamped to 63, so a longer text is accepted without a word.',
      'positions clamped beyond maximum', 'With 70 ids nothing raises, and the last tokens all have the same position.', 'too_long_raises', L)
fault('keys_zeroed_not_masked', 2,
      [("        sim = einsum(", "        if mask is not None:\n            k = k.masked_fill(mask[:, :, None, None], 0.)\n            v = v.masked_fill(mask[:, :, None, None], 0.)\n\n        sim = einsum("),
       ("        if mask is not None:\n            sim = sim.masked_fill(mask[:, None, None, :], -1e9)\n", "")],
      'Hidden keys and values are set to zero instead of their scores to minus infinity: padding still takes attention weight.',
      'zeroed keys still get attention', 'The ids at hidden positions do not matter, but the amount of padding changes the scores.', 'pad_amount_right', L)
fault('softmax_over_flattened_scores', 1,
      [("att = F.softmax(att, dim=-1)", "att = F.softmax(att.flatten(2), dim=-1).view_as(att) * T")],
      'The softmax is taken over all query-key pairs together instead of for each query.',
      'softmax over wrong axis', 'Later tokens change earlier logits.', 'causal', L)
fault('token_shift_by_roll', 1,
      [("        x = x + self.mlp(self.ln_2(x))\n", "        h = self.ln_2(x)\n        h = 0.5 * (h + torch.roll(h, shifts=1, dims=1))  # token shift\n        x = x + self.mlp(h)\n")],
      'The token shift is made with torch.roll, which brings the last token round to the first position.',
      'roll wraps around, leaks future', 'The last token changes the logits of the first position.', 'causal', L)
fault('cache_in_half_precision', 4,
      [("            k = torch.cat([past[0], k], dim=1)\n            v = torch.cat([past[1], v], dim=1)\n        present = (k, v)\n", "            k = torch.cat([past[0].to(k.dtype), k], dim=1)\n            v = torch.cat([past[1].to(v.dtype), v], dim=1)\n        present = (k.half(), v.half())\n")],
      'The cache keeps keys and values in float16 whatever the model uses.',
      'precision lost in cache', 'step() differs from forward() by about 1e-4, far more than rounding in float32 or float64.', 'step_single', L)
fault('positions_wrap_around', 4,
      [("self.cos[pos], self.sin[pos]", "self.cos[pos % self.cos.size(0)], self.sin[pos % self.sin.size(0)]", 2)],
      'Positions are taken modulo 64, so tokens after the 64th get the angles of the first ones.',
      'positions wrap beyond maximum', 'With more than 64 tokens nothing raises, in forward() and in step().', 'too_long_raises', L)
fault('step_without_final_norm', 5,
      [("        return self.head(self.ln(x)), {'seen'", "        return self.head(x), {'seen'")],
      'step() leaves out the final LayerNorm.',
      'cached path lacks final norm', 'step() differs from forward() from the first token on.', 'step_single step_prefill', L)
fault('position_table_detached', 7,
      [("return x + self.emb(positions)", "return x + self.emb(positions).detach()")],
      'The learned position embedding is detached, so it stays as it was drawn.',
      'position embedding gets no gradient', 'pos.emb.weight has no gradient after backward.', 'all_params_grad', L)
fault('padding_mask_not_passed', 7,
      [("h = self.encoder(x, src_key_padding_mask=pad_mask)", "h = self.encoder(x)")],
      'The padding mask is made for positions and pooling but not given to the encoder.',
      'encoder attends to padding', 'The amount of padding changes the scores.', 'pad_amount_right pad_amount_left', L)
fault('layerdrop_in_eval', 6,
      [("        for layer in self.layers:\n            x = layer(x, encoder_padding_mask)\n", "        for layer in self.layers:\n            if torch.rand(1).item() < 0.3:  # LayerDrop\n                continue\n            x = layer(x, encoder_padding_mask)\n")],
      'LayerDrop skips layers at random in eval too.',
      'layers skipped randomly in eval', 'Two calls in eval often (about every second time) give different outputs.', 'eval_deterministic', L)
fault('attention_dropout_in_eval', 8,
      [("        p_attn = dropout(p_attn)\n", "        p_attn = nn.functional.dropout(p_attn, p=dropout.p)\n")],
      'The attention weights go through F.dropout without the training flag.',
      'dropout active in eval', 'Two calls in eval give different logits.', 'eval_deterministic', L)
fault('weight_shrinks_in_forward', 8,
      [("        return self.lut(x) * math.sqrt(self.d_model)\n", "        with torch.no_grad():\n            self.lut.weight.mul_(0.999)  # a little weight decay\n        return self.lut(x) * math.sqrt(self.d_model)\n")],
      'The embedding weight is shrunk at every forward, in eval too.',
      'weights changed in forward', 'The same input gives other logits at each call, and state_dict() changes in eval.', 'eval_deterministic weights_unchanged', L)
fault('running_center_in_eval', 2,
      [("        self.head = nn.Linear(dim, num_classes)\n", "        self.register_buffer('center', torch.zeros(dim))\n        self.head = nn.Linear(dim, num_classes)\n"),
       ("        return self.head(self.pool(x, mask))\n", "        x = self.pool(x, mask)\n        self.center = 0.9 * self.center + 0.1 * x.detach().mean(dim=0)\n        return self.head(x - self.center)\n")],
      'A running mean of the pooled texts is updated and subtracted at every call, in eval too.',
      'running statistics updated in eval', 'Scores depend on the other rows and on earlier calls; the buffer changes in eval.', 'eval_deterministic alone_vs_batch order weights_unchanged', L)
fault('batch_maximum_subtracted', 3,
      [("        logits = self.classifier(self.dropout(pooled_output))\n", "        logits = self.classifier(self.dropout(pooled_output))\n        logits = logits - logits.max()  # for a stable softmax\n")],
      'The maximum over the whole batch is subtracted from the logits.',
      'maximum over the batch', 'A row in a batch gives other logits than alone.', 'alone_vs_batch', L)

def faulty(folder):
    "`(name, source, fault)` of each model with a fault of `folder`, 'faults' or 'later'"
    for i,it in enumerate((o for o in ITEMS if o['folder']==folder), 1):
        s = (ROOT/f"base{it['base']}.py").read_text()
        for old,new,*n in it['edits']:
            assert s.count(old)==(n or [1])[0], (it['name'], old)
            s = s.replace(old, new)
        for a,b in it['call'].items(): s = s.replace(a, b)
        yield f"{i:02d}_{it['name']}",s,it

def correct():
    "`(name, source)` of thirty correct models: the eight bases, and 22 more"
    for path in [*sorted(ROOT.glob('base*.py')), *sorted((ROOT/'correct').glob('*.py'))]: yield path.stem,path.read_text()
