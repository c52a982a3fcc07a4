// What is wrong with the page that is open, as a list of sentences. `tools/check_site.py` runs this.
async scheme => {
  const bad = [], seen = (e, what) => `${what}: ${(e.textContent || e.src || e.tagName).trim().replace(/\s+/g, ' ').slice(0, 60)}`;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), texts = [];
  while (walk.nextNode()) if (walk.currentNode.data.trim()) texts.push([walk.currentNode, walk.currentNode.parentElement]);
  const is = (e, css) => e.closest(css) !== null, shown = e => e.checkVisibility({opacityProperty: true, visibilityProperty: true});
  for (const e of document.querySelectorAll('details')) e.open = true;

  // On a desk code is seen whole, and beside it the button that copies it
  if (innerWidth > 1000) for (const p of document.querySelectorAll('main pre.sourceCode')) {
    const button = (p.closest('.code-copy-outer-scaffold') ?? p).querySelector('.code-copy-button');
    if (p.scrollWidth > p.clientWidth + 1) bad.push(seen(p, 'code is cut off'));
    if (!button || !+getComputedStyle(button).opacity) bad.push(seen(p, 'no button to see that copies'));
  }

  // Markup that a renderer should have taken away; in code it may be meant
  for (const [t, e] of texts) {
    const mark = is(e, 'script, style, .katex, pre, code') ? null : /\{#|:::|\\[([]|\$\$|#\||\$[^$\s][^$]*[^$\s]\$/.exec(t.data);
    if (mark) bad.push(seen(t.parentElement, `raw ${mark[0].slice(0, 20)} in the text`));
  }
  for (const e of document.querySelectorAll('pre')) if (/^\s*#\| ?[a-z]/m.test(e.textContent)) bad.push(seen(e, 'a directive in the code'));
  for (const e of document.querySelectorAll('.katex-error')) bad.push(seen(e, 'formula'));
  for (const e of document.querySelectorAll('.katex-html')) if (e.textContent.includes('\\')) bad.push(seen(e, 'formula with an unknown word'));
  for (const e of document.querySelectorAll('.math')) if (!e.querySelector('.katex, mjx-container')) bad.push(seen(e, 'formula not drawn'));

  // Pictures
  await Promise.all([...document.images].map(i => i.decode().catch(() => 0)));
  for (const i of document.images) {
    if (!i.complete || !i.naturalWidth) bad.push(seen(i, 'picture does not load'));
    if (!i.alt.trim()) bad.push(seen(i, 'picture without a text'));
  }

  // Nothing is wider than the window, unless it stands in a box that scrolls
  const w = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > w + 1) bad.push(`page is ${document.documentElement.scrollWidth} wide, the window ${w}`);
  const boxed = e => { for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; return false; };
  const wide = [...document.querySelectorAll('main *, body > *')].filter(e => e.getBoundingClientRect().right > w + 1 && shown(e) &&
    !is(e, 'svg *, .katex-mathml, .visually-hidden') && !boxed(e));
  for (const e of wide.slice(0, 3)) bad.push(seen(e, `<${e.tagName.toLowerCase()}> goes beyond the window`));

  // No link of a table, on a telephone no word of one, and no `--flag` breaks at the end of a line
  const lines = (t, from, to) => { const r = new Range(); r.setStart(t, from); r.setEnd(t, to); return new Set([...r.getClientRects()].map(o => Math.round(o.top))).size; };
  const cell = innerWidth > 1000 ? 'td a' : 'td:not(.stacked td)', whole = /[\p{L}\p{N}]+|--\w/gu;
  for (const [t, e] of texts) for (const m of is(e, 'pre, script') ? [] : t.data.matchAll(is(e, cell) ? whole : /--\w/g))
    if (lines(t, m.index, m.index + m[0].length) > 1) bad.push(`${m[0]} breaks in two, in ${seen(e, e.tagName)}`);

  // A table keeps the names of its columns: above them, or in each cell
  for (const t of document.querySelectorAll('main table:has(thead th)'))
    if (!shown(t.tHead) && [...t.querySelectorAll('tbody td')].every(e => getComputedStyle(e, '::before').content === 'none')) bad.push(seen(t, 'no names of columns'));

  // Contrast of text and what is behind it, as WCAG computes it
  const rgba = s => { const m = s.match(/[\d.]+/g).map(Number); if (/^color\(srgb/.test(s)) for (let i = 0; i < 3; i++) m[i] *= 255; return [...m, 1].slice(0, 4); };
  const over = (a, b) => a.slice(0, 3).map((c, i) => c*a[3] + b[i]*(1-a[3]));
  const behind = e => e ? over(rgba(getComputedStyle(e).backgroundColor), behind(e.parentElement)) : [255, 255, 255];
  const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= .04045 ? v/12.92 : ((v + .055)/1.055)**2.4); return .2126*r + .7152*g + .0722*b; };
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + .05)/(y + .05); };
  const pale = new Map();
  for (const [t, e] of texts) {
    if (is(e, 'script, style, svg, .katex-mathml') || !shown(e)) continue;
    const bg = behind(e), r = ratio(over(rgba(getComputedStyle(e).color), bg), bg);
    if (r < (is(e, 'main :not(pre) > code') ? 4.5 : 3)) pale.set(e.className + getComputedStyle(e).color, seen(e, `contrast only ${r.toFixed(1)} when ${scheme}`));
  }
  bad.push(...[...pale.values()].slice(0, 5));
  const dark = light(behind(document.body)) < .2;
  if (dark !== (scheme === 'dark')) bad.push(`the page is ${dark ? 'dark' : 'light'} where ${scheme} is wanted`);
  return bad;
}
