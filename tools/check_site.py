"""Opens every page of the built site in a headless Chromium, at the width of a desk and of a telephone, light and dark, and
lists what is wrong: errors in the console, requests to other hosts, files that don't come, markup left in the text, formulas
that were not drawn, pictures that don't show, text without contrast, pages wider than the window, and on a desk code that is
cut off or that has no button to copy it. Then it searches.

Speaks the DevTools protocol with the browser through two pipes. `--shots DIR` saves pictures of all pages."""
import json, os, select, shutil, subprocess, sys, tempfile, threading, time
from argparse import ArgumentParser
from base64 import b64decode
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from docs_links import searched

root = Path(__file__).resolve().parent.parent
browsers = 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'
flags = '''--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
--disable-sync --disable-extensions --disable-dev-shm-usage --hide-scrollbars --remote-debugging-pipe'''.split()
relay = """import fcntl, os, sys
for to, o in enumerate([fcntl.fcntl(int(o), fcntl.F_DUPFD, 10) for o in sys.argv[1:3]], 3): os.dup2(o, to)
os.execv(sys.argv[3], sys.argv[3:])"""                                     # the browser wants its pipes as 3 and 4
widths = {'desk': 1280, 'phone': 360}
cut_code = """[...document.querySelectorAll('main .cell pre.sourceCode')].flatMap(p => {
  const button = p.closest('.cell').querySelector('.code-copy-button'), start = p.textContent.slice(0, 60), details = p.closest('details');
  if (details) details.open = true;
  return [...(p.scrollWidth > p.clientWidth + 1 ? [`code is cut off: ${start}`] : []),
          ...(button && +getComputedStyle(button).opacity > 0 ? [] : [`no button to see that copies: ${start}`])]; }).slice(0, 3)"""

class Browser:
    "A headless browser; `ask` sends a command and waits for its answer, `events` keeps what the browser says unasked"
    def __init__(self, exe, home):
        read, child_out = os.pipe()
        child_in, self.write = os.pipe()
        self.read, self.buf, self.events, self.n, self.tab = read, b'', [], 0, None
        cmd = [sys.executable, '-c', relay, str(child_in), str(child_out), exe, *flags, f'--user-data-dir={home}', 'about:blank']
        self.proc = subprocess.Popen(cmd, pass_fds=(child_in, child_out), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        for o in (child_in, child_out): os.close(o)
        target = self.ask('Target.createTarget', url='about:blank')['targetId']
        self.tab = self.ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for o in ('Page', 'Runtime', 'Network', 'Log'): self.ask(f'{o}.enable')

    def message(self, end):
        while b'\0' not in self.buf:
            if not select.select([self.read], [], [], max(end-time.time(), 0))[0]: raise TimeoutError('the browser does not answer')
            more = os.read(self.read, 1<<16)
            if not more: raise EOFError('the browser has gone')
            self.buf += more
        one, self.buf = self.buf.split(b'\0', 1)
        return json.loads(one)

    def ask(self, method, **params):
        self.n += 1
        msg = dict(id=self.n, method=method, params=params) | ({'sessionId': self.tab} if self.tab else {})
        os.write(self.write, json.dumps(msg).encode()+b'\0')
        while True:
            m = self.message(time.time()+60)
            if m.get('id') == self.n:
                if 'error' in m: raise RuntimeError(f'{method}: {m["error"]}')
                return m['result']
            if 'method' in m: self.events.append(m)

    def run(self, js):
        res = self.ask('Runtime.evaluate', expression=js, awaitPromise=True, returnByValue=True)
        if 'exceptionDetails' in res: raise RuntimeError(json.dumps(res['exceptionDetails'])[:500])
        return res['result'].get('value')

    def open(self, url, width, scheme):
        self.ask('Emulation.setDeviceMetricsOverride', width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.scheme(scheme)
        self.events.clear()
        self.ask('Page.navigate', url=url)
        end = time.time()+60
        while not any(o['method'] == 'Page.loadEventFired' for o in self.events):
            m = self.message(end)
            if 'method' in m: self.events.append(m)
        self.settle()

    def scheme(self, name):
        self.ask('Emulation.setEmulatedMedia', features=[dict(name='prefers-color-scheme', value=name)])
    def settle(self): self.run('document.fonts.ready.then(() => new Promise(r => setTimeout(r, 120)))')

    def shoot(self, path, width):
        height = self.run('document.documentElement.scrollHeight')
        for i, y in enumerate(range(0, height, 2400)):
            clip = dict(x=0, y=y, width=width, height=min(2400, height-y), scale=1)
            png = self.ask('Page.captureScreenshot', captureBeyondViewport=True, clip=clip)['data']
            path.with_name(f'{path.name}-{i}.png').write_bytes(b64decode(png))

def said(events, site):
    "What the browser complained of while it loaded a page, and requests that left the site"
    for m in events:
        kind, p = m['method'], m['params']
        if kind == 'Runtime.exceptionThrown': yield 'error: ' + p['exceptionDetails'].get('exception', {}).get('description', '?')[:200]
        elif kind == 'Runtime.consoleAPICalled' and p['type'] in ('error', 'assert'): yield f'console: {p["args"]}'[:200]
        elif kind == 'Log.entryAdded' and p['entry']['level'] == 'error': yield f'{p["entry"]["text"]} {p["entry"].get("url", "")}'[:200]
        elif kind == 'Network.requestWillBeSent' and not p['request']['url'].startswith((site, 'data:', 'blob:')):
            yield f'request to outside: {p["request"]["url"][:100]}'

def with_browser(exe, f):
    "`f` of a new browser; again with another one, if it hangs"
    for last in (False, True):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            b = Browser(exe, home)
            try: return f(b)
            except (TimeoutError, EOFError):
                if last: raise
            finally:
                b.proc.kill()
                b.proc.wait()

def check(b, site, page, shots):
    "The complaints about a page"
    js, bad = (root/'tools/check_page.js').read_text(encoding='utf-8'), []
    for name, width in widths.items():
        b.open(f'{site}/{page}', width, 'light')
        found = list(said(b.events, site)) + (b.run(cut_code) if name == 'desk' else [])
        for scheme in ('light', 'dark'):
            b.scheme(scheme)
            b.settle()
            found += b.run(f'({js})("{scheme}")')
            if shots: b.shoot(shots/f'{str(page)[:-5].replace("/", "-")}-{name}-{scheme}', width)
        bad += [f'{page}, {name}: {o}' for o in dict.fromkeys(found)]
    return bad

def search(b, site):
    "The complaints about the search, what it finds first, and the button for light and dark"
    js, bad = (root/'tools/check_search.js').read_text(encoding='utf-8'), []
    for name, width in widths.items():
        for word, place in searched.items():
            b.open(f'{site}/index.html', width, 'light')
            bad += [f'{name}: {o}' for o in b.run(f'({js})("{word}")')]
            first = b.run('document.querySelector(".smalldocs-search-results a, .aa-Item a")?.href') or ''
            if not first.endswith(place): bad.append(f'{name}: the search for {word} finds {first} first, and not {place}')
    return bad

def main():
    p = ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument('pages', nargs='*', help='pages to look at, such as index.html; all of them if none is named')
    p.add_argument('--site', default=str(root/'_docs'), help='the folder with the built site')
    p.add_argument('--shots', type=Path, help='a folder for pictures of the pages')
    a = p.parse_args()
    exe = next(filter(None, map(shutil.which, browsers)), None)
    if not exe: return print(f'Site: skipped, for there is no browser here; looked for {", ".join(browsers)}.')
    pages = a.pages or sorted(o.relative_to(a.site).as_posix() for o in Path(a.site).rglob('*.html'))
    if not pages: sys.exit(f'Site: no pages in {a.site}. `make docs` builds them.')
    if a.shots: a.shots.mkdir(parents=True, exist_ok=True)
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args): pass
    server = ThreadingHTTPServer(('127.0.0.1', 0), partial(Quiet, directory=a.site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    site = f'http://127.0.0.1:{server.server_port}'
    bad = [o for page in pages for o in with_browser(exe, lambda b: check(b, site, page, a.shots))]
    bad += with_browser(exe, lambda b: search(b, site))
    for o in bad: print(o)
    print(f'Site: {len(pages)} pages opened in {Path(exe).name}, {len(bad)} complaints')
    sys.exit(bool(bad))

if __name__ == '__main__': main()
