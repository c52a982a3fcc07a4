"""Open every page of the built site in Chromium, at the width of a desk and of a telephone, light and dark, and list what is
wrong: errors in the console, requests to other hosts, files that don't come, and what `check_page.js` looks for in a page. Then
search, follow what is found, copy code, and press the button for light and dark.

Needs Playwright and a browser, else it is skipped: `pip install -e '.[site]'`, and `playwright install chromium` or a
Chromium or Chrome that is on the PATH or named in the environment as CHROMIUM. `--shots DIR` saves pictures of all pages."""
import os, shutil, sys
from argparse import ArgumentParser
from contextlib import contextmanager
from pathlib import Path
from docs_links import searched

root = Path(__file__).resolve().parent.parent
browsers = 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'
site = 'http://localhost/'                                      # where the pages seem to lie; nothing listens there
widths = {'desk': 1280, 'phone': 360}

def launch(playwright):
    "A browser: the one that is named, else Playwright's own, else one that is on the PATH"
    exe = os.environ.get('CHROMIUM')
    if not exe and not Path(playwright.chromium.executable_path).exists():
        exe = next(filter(None, map(shutil.which, browsers)), None)
    return playwright.chromium.launch(executable_path=exe)

@contextmanager
def window(browser, folder, width):
    "A page `width` pixels wide on the site that lies in `folder`, and what is wrong with it so far"
    bad = []
    phone = dict(is_mobile=True, has_touch=True) if width < 600 else {}
    context = browser.new_context(viewport=dict(width=width, height=900), reduced_motion='reduce', **phone)
    context.grant_permissions(['clipboard-read', 'clipboard-write'], origin=site)
    def serve(route):
        url = route.request.url.split('#')[0].split('?')[0]
        file = folder/url.removeprefix(site)
        if not url.startswith(site): bad.append(f'request to outside: {url[:100]}')
        elif not file.is_file(): bad.append(f'no such file: {url}')
        else: return route.fulfill(path=file)
        route.abort()
    context.route(lambda url: not url.startswith(('data:', 'blob:')), serve)
    page = context.new_page()
    page.on('pageerror', lambda e: bad.append(f'error: {e}'[:200]))
    page.on('console', lambda m: m.type in ('error', 'assert') and bad.append(f'console: {m.text}'[:200]))
    yield page, bad
    context.close()

def shoot(page, path, width):
    "Pictures of the page from top to bottom"
    height = page.evaluate('document.documentElement.scrollHeight')
    for i, y in enumerate(range(0, height, 2400)):
        clip = dict(x=0, y=y, width=width, height=min(2400, height-y))
        page.screenshot(path=path.with_name(f'{path.name}-{i}.png'), full_page=True, clip=clip)

def look(page, bad, name, shots):
    "The complaints about the page `name`, light and dark"
    js, width = (root/'tools/check_page.js').read_text(encoding='utf-8'), page.viewport_size['width']
    size = 'phone' if width < 600 else 'desk'
    bad.clear()
    for scheme in ('light', 'dark'):
        page.emulate_media(color_scheme=scheme)
        page.goto(site+name)
        page.evaluate('document.fonts.ready.then(() => new Promise(r => setTimeout(r, 120)))')
        bad += page.evaluate(js, scheme)
        bad += used(widgets, page)
        if shots: shoot(page, shots/f'{name[:-5].replace("/", "-")}-{size}-{scheme}', width)
    return list(dict.fromkeys(bad))

def search(page, word, place):
    "Search for `word`, and go to the first hit, which has to be `place`, or there has to be none; what is wrong"
    page.goto(site+'index.html')
    for menu in ('.navbar-toggler:visible', '.aa-DetachedSearchButton:visible'):                  # a telephone, and Quarto's
        for button in page.locator(menu).all(): button.tap()
    field = page.locator('.smalldocs-search input:visible, .aa-Input:visible').first
    hits = page.locator('.smalldocs-search-results a, .aa-Item a')
    hit = hits.first
    field.fill(word if place else 'attention')
    hit.wait_for()                                                                # now the index is there
    if not place: field.fill(word); return page.locator('.search-none, .quarto-search-no-results').wait_for()
    yield from (f'the search for {word} finds {o[:80]!r}' for o in hits.all_inner_texts() if word.isalnum() and word.lower() not in o.lower())
    box = hit.bounding_box()
    if box['x'] < 0 or box['x']+box['width'] > page.viewport_size['width']+1: yield 'the hits stand outside the window'
    hit.click()
    page.wait_for_load_state()
    if page.url.rstrip('#') != site+place: yield f'the search for {word} leads to {page.url}, and not to {place}'
    if '#' in place and not page.locator(f'[id="{page.url.partition("#")[2]}"]').is_visible(): yield f'there is no {page.url}'

def buttons(page):
    "Press the buttons that copy code, and that for light and dark; what is wrong"
    page.goto(site+'index.html')
    copy = page.locator('.code-copy-button').first
    copy.click()
    want = copy.evaluate('e => e.closest("pre, .code-copy-outer-scaffold").querySelector("code").innerText')
    got = page.evaluate('navigator.clipboard.readText()')
    if got.strip() != want.strip() or not got.strip(): yield f'the button copies {got[:60]!r}, and not {want[:60]!r}'
    for menu in page.locator('.navbar-toggler:visible').all(): menu.tap()
    for want in ('attached', 'detached'):                                                         # dark, and light again
        page.locator('.quarto-color-scheme-toggle:visible').first.click()
        page.locator(':is(html, body).quarto-dark').first.wait_for(state=want)

def widgets(page):
    "Move every control of the widgets of the page that is open; what shows no change is wrong"
    def moves(control):
        if control.evaluate('e => e.tagName') == 'SELECT': control.select_option(index=1)
        elif control.get_attribute('type') == 'range':
            control.evaluate('e => { e.value = (+e.min + +e.max)/2; e.dispatchEvent(new Event("input")); }')
        else: control.click()
    for widget in page.locator('main .widget').all():
        for control in widget.locator('select, input, button, [tabindex] + [tabindex]').all():
            before = widget.inner_text()
            moves(control)
            if widget.inner_text() == before: yield f'nothing changes in a widget after {control.evaluate("e => e.outerHTML")[:80]}'

def used(f, *args):
    "The complaints of `f`; also if what it waits for does not come"
    from playwright.sync_api import Error
    try: return list(f(*args))
    except Error as e: return [f'{f.__name__} {args[1:]}: {e.message[:300]}']

def check(browser, folder, pages, shots):
    "The complaints about all `pages`"
    for name, width in widths.items():
        with window(browser, folder, width) as (page, bad):
            for o in pages: yield from (f'{o}, {name}: {b}' for b in look(page, bad, o, shots))
            page.set_default_timeout(10_000)
            page.emulate_media(color_scheme='light')
            bad.clear()
            for o in searched.items(): bad += used(search, page, *o)
            yield from (f'{name}: {b}' for b in dict.fromkeys(bad + used(buttons, page)))

def main():
    p = ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('pages', nargs='*', help='pages to look at, such as index.html; all of them if none is named')
    p.add_argument('--site', type=Path, default=root/'_docs', help='the folder with the built site')
    p.add_argument('--shots', type=Path, help='a folder for pictures of the pages')
    p.add_argument('--required', action='store_true', help='fail where there is no Playwright or no browser')
    a = p.parse_args()
    pages = a.pages or sorted(n for o in a.site.rglob('*.html') if not (n := o.relative_to(a.site).as_posix()).startswith('images/'))
    if not pages: sys.exit(f'Site: no pages in {a.site}. `make docs` builds them.')
    if a.shots: a.shots.mkdir(parents=True, exist_ok=True)
    def skip(why): sys.exit(f'Site: {why}' if a.required else print(f'Site: skipped, for {why}'))
    try: from playwright.sync_api import Error, sync_playwright
    except ImportError: skip("there is no Playwright here: pip install -e '.[site]'")
    with sync_playwright() as playwright:
        try: browser = launch(playwright)
        except Error as e: skip(f'no browser starts: {e.message.splitlines()[0][:200]}')
        bad = list(check(browser, a.site, pages, a.shots))
        says = f'Chromium {browser.version}'
    print(*bad, f'Site: {len(pages)} pages opened in {says}, {len(bad)} complaints', sep='\n')
    sys.exit(bool(bad))

if __name__ == '__main__': main()
