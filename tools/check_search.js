// Search for `word` as a reader would, and press the button for light and dark; a list of what went wrong.
async word => {
  const bad = [], wait = ms => new Promise(r => setTimeout(r, ms)), visible = css => [...document.querySelectorAll(css)].find(e => e.checkVisibility());
  const menu = visible('.navbar-toggler');
  if (menu) { menu.click(); await wait(600); }
  const box = visible('.smalldocs-search input, .aa-Input');
  if (!box) bad.push('no search box to see');
  else {
    box.focus(); box.value = word; box.dispatchEvent(new Event('input', {bubbles: true}));
    let hit;
    for (let i = 0; i < 50 && !hit; i++) { await wait(100); hit = visible('.smalldocs-search-results a, .aa-Item a'); }
    if (!hit || !hit.textContent.includes(word)) bad.push(`the search does not find ${word}`);
    else if (!(await (await fetch(hit.href)).text()).includes(`id="${new URL(hit.href).hash.slice(1)}"`)) bad.push(`the first hit leads to no place: ${hit.href}`);
    else { const r = hit.getBoundingClientRect(); if (r.left < 0 || r.right > innerWidth + 1) bad.push('the hits stand outside the window'); }
  }
  const button = visible('.quarto-color-scheme-toggle'), dark = () => document.querySelector('html.quarto-dark, body.quarto-dark') !== null;
  if (!button) bad.push('no button for light and dark');
  else for (const want of [true, false]) { button.click(); await wait(400); if (dark() !== want) bad.push(`the button does not make the page ${want ? 'dark' : 'light'}`); }
  return bad;
}
