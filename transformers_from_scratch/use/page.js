"use strict";
// Answers texts with what `export_page` has written. `page` is its table: sets of characters, a vocabulary, and what each
// phrase adds to each class. The notebook use/page explains it.

function reader(page) {
  const fill = pattern => pattern.replace(/\{(\w)\}/g, (_, name) => page.sets[name]);
  const wordPattern = new RegExp(fill(page.pattern), "gu");
  const gone = new RegExp(page.sets.g ? fill("[{g}]") : "(?!)", "gu");        // characters that WordPiece drops
  const escaped = page.specials.map(o => o.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
  const specials = new RegExp(`(${escaped.join("|") || "(?!)"})`);            // strings that are a token each
  const ids = new Map(page.vocab.split("\n").map((token, id) => [token, id]));
  const ranks = new Map((page.merges ?? []).map((pair, rank) => [pair, rank]));       // byte-pair encoding: the first is joined first
  const skip = new Set(page.skip);
  const bytes = text => [...new TextEncoder().encode(text)].map(b => page.bytes[b]);

  const decoded = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));

  function readKeys() {                                                       // gaps, in digits of 7 bits, the lowest first
    const rows = new Map();
    let key = 0, gap = 0, unit = 1;
    for (const byte of decoded(page.keys)) {
      gap += (byte & 127) * unit;
      unit *= 128;
      if (byte > 127) continue;
      key += gap;
      rows.set(key, rows.size);
      [gap, unit] = [0, 1];
    }
    return rows;
  }
  const rows = readKeys();
  const first = page.target === "category" ? 1 : 0;                           // of classes the first is 0
  const parts = new Int8Array(decoded(page.parts).buffer);                    // all of a class, then all of the next one
  const part = (row, c) => c < first ? 0 : page.units[c] * parts[(c - first) * rows.size + row];

  function pieces(word) {                                                     // WordPiece: the longest that fits, again and again
    if ([...word].length > page.longest) return [page.unk];
    const found = [];
    let start = 0;
    while (start < word.length) {
      const piece = end => (start ? page.prefix : "") + word.slice(start, end);
      let end = word.length;
      while (end > start && !ids.has(piece(end))) end--;
      if (end === start) return [page.unk];
      found.push(piece(end));
      start = end;
    }
    return found;
  }

  function pairs(word) {                                                      // byte-pair encoding
    let found = bytes(word);
    for (;;) {
      let first = Infinity;
      for (let i = 1; i < found.length; i++) first = Math.min(first, ranks.get(`${found[i - 1]} ${found[i]}`) ?? Infinity);
      if (first === Infinity) return found;
      const joined = [];
      for (const next of found) {
        if (joined.length && ranks.get(`${joined.at(-1)} ${next}`) === first) joined.push(joined.pop() + next);
        else joined.push(next);
      }
      found = joined;
    }
  }

  const same = text => text;
  const kind = {
    words: {clean: same, tokens: word => [page.lower ? word.toLowerCase() : word], special: same},
    pieces: {clean: bertClean, tokens: pieces, special: same},
    bytes: {clean: same, tokens: pairs, special: text => bytes(text).join("")},
  }[page.kind];

  function bertClean(text) {
    text = text.replace(gone, "");
    if (page.strip) text = text.normalize("NFD").replace(gone, "");
    return page.lower ? [...text].map(c => c.toLowerCase()).join("") : text;
  }

  function split(text) {                                                      // words, and the ids of each
    const words = [];
    const add = (word, tokens) => words.push({text: word, ids: tokens.map(o => ids.get(o) ?? 0).filter(i => !skip.has(i))});
    text.replace(/[\ud800-\udfff]/gu, "?").split(specials).forEach((text, i) => {
      if (i % 2) add(text, [kind.special(text)]);
      else for (const [word] of kind.clean(text).matchAll(wordPattern)) add(word, kind.tokens(word));
    });
    return words;
  }

  function phrases(words) {                                                   // row of each known phrase: where it stands
    const tokens = words.flatMap((word, at) => word.ids.map(id => ({id, at})));
    const found = new Map();
    for (let n = 1; n <= page.n_grams; n++) {
      for (let end = n; end <= tokens.length; end++) {
        const span = tokens.slice(end - n, end);
        const row = rows.get(span.reduce((key, o) => key * page.base + o.id + 1, 0));
        if (row === undefined) continue;
        if (!found.has(row)) found.set(row, []);
        found.get(row).push(span);
      }
    }
    return found;
  }

  function answer(text) {
    const words = split(text);
    const found = phrases(words);
    const logits = page.bias.map((bias, c) => [...found.keys()].reduce((sum, row) => sum + part(row, c), bias));
    const most = Math.max(...logits);
    const exps = logits.map(x => Math.exp(x - most));
    const total = exps.reduce((a, b) => a + b);
    const one = page.target === "category";
    const probs = one ? exps.map(x => x / total) : logits.map(x => 1 / (1 + Math.exp(-x)));
    const best = logits.indexOf(most);
    const scores = words.map(() => 0);                                        // of each word, for the best class
    for (const [row, spans] of found) {
      const all = logits.map((_, c) => part(row, c));
      const others = (all.reduce((a, b) => a + b) - all[best]) / (all.length - 1);
      const lead = one ? all[best] - others : all[best];
      for (const span of spans) for (const {at} of span) scores[at] += lead / spans.length / span.length;
    }
    return {logits, probs, best, words: words.map(o => o.text), ids: words.flatMap(o => o.ids), scores};
  }
  return answer;
}

function show(page, answer, text) {
  const {probs, best, words, scores} = answer(text);
  const order = probs.map((_, c) => c).sort((a, b) => probs[b] - probs[a]);
  const element = (tag, text, style) => Object.assign(document.createElement(tag), {textContent: text, style});
  const bars = order.slice(0, 6).map(c => {
    const bar = element("div", `${page.classes[c]} ${(100 * probs[c]).toFixed(1)} %`, `--share:${100 * probs[c]}%`);
    bar.className = page.target === "category" ? (c === best ? "yes" : "") : (probs[c] > page.thresh ? "yes" : "");
    return bar;
  });
  const most = scores.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-9);
  const marks = words.flatMap((word, i) => {
    const color = scores[i] > 0 ? "33,120,200" : "230,120,20";
    const mark = element("span", word, `background:rgba(${color},${(Math.abs(scores[i]) / most * .75).toFixed(2)})`);
    mark.title = scores[i].toFixed(3);
    return page.kind === "bytes" ? [mark] : [mark, " "];
  });
  document.getElementById("classes").replaceChildren(...bars);
  const shown = document.getElementById("words");
  shown.replaceChildren();
  for (const mark of marks) shown.append(mark);                               // a book is more than a call takes as arguments
}

if (typeof module !== "undefined") module.exports = {reader, show};
