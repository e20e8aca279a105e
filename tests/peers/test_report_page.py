#!/usr/bin/env python3
"""The page of `ballast simulate --report` in a real browser (Chromium, headless, no network): nothing on its console,
nothing wider than the window, everything readable in either colour scheme, values under the pointer; on a telephone and on a
screen. A second page has names that hold markup."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BALLAST = os.environ["BALLAST"]
SKIP = 77
BROWSER_S = 120
CONTRAST_LEAST = 4.5  # WCAG 2.1, 1.4.3
SCENARIO = """
name: %s
duration_s: 21600
seed: 1
settings: {automation: full, dpm: {enabled: true, automation: automatic}}
hosts:
  - {name: "%s", count: %d, cores: 8, core_mhz: 3000, mem_mb: 65536, wake_verified: true}
pools:
  - {name: "%s"}
  - {name: batch}
vms:
  - {name: shop, count: %d, pool: "%s", vcpus: 2, mem_mb: 4096, at: random,
     workload: {cpu: {kind: normal, high: 2500, high_spread: 600, low: 300, low_spread: 100, high_s: 7200, low_s: 7200,
                      step_s: 300}, mem: {kind: constant, level: 3000}}}
  - {name: batch, count: %d, pool: batch, vcpus: 2, mem_mb: 4096, at: random,
     workload: {cpu: {kind: constant, level: 800}, mem: {kind: constant, level: 2048}}}
"""

# Before anything of the page runs.
LISTEN = """<script>
window.probe = {errors: []};
addEventListener('error', e => probe.errors.push(String(e.message)));
addEventListener('securitypolicyviolation', e => probe.errors.push('refused: ' + e.blockedURI));
</script>"""

# After it has: told to the page around this one.
LOOK = """<script>
addEventListener('load', () => {
  const width = document.documentElement.clientWidth;
  probe.width = width;
  probe.page = document.documentElement.scrollWidth;
  probe.wide = [...document.querySelectorAll('main *')].filter(e => !e.closest('.scroll, svg') &&
    e.getBoundingClientRect().right > width + 1).map(e => e.outerHTML.slice(0, 90));
  probe.images = [...document.images].map(i => [i.naturalWidth, i.alt]);
  probe.plots = document.querySelectorAll('.plot').length;
  probe.unnamed = [...document.querySelectorAll('svg[role=img]')].filter(e => !e.getAttribute('aria-label')).length;
  probe.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const rgb = c => c.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = c => rgb(c).map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  probe.pale = [...document.querySelectorAll('h1, p, small, b, th, td, .x span, .y span, summary')].filter(e => {
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) < %s; }).map(e => e.outerHTML.slice(0, 90));
  probe.readings = [...document.querySelectorAll('.plot .area')].map(area => {
    const box = area.getBoundingClientRect(), reading = area.closest('figure').querySelector('.reading');
    const before = reading.textContent;
    area.dispatchEvent(new PointerEvent('pointermove', {clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));
    const under = reading.textContent;
    area.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', cancelable: true}));
    const next = reading.textContent;
    area.dispatchEvent(new PointerEvent('pointerleave'));
    return [under, next, reading.textContent === before];
  });
  document.querySelectorAll('details').forEach(e => { e.open = true; });
  probe.opened = document.documentElement.scrollWidth;
  parent.postMessage(JSON.stringify(probe), '*');
});
</script>""" % CONTRAST_LEAST

AROUND = """<!DOCTYPE html><body><iframe src="%s" width="%d" height="900"></iframe><pre id="told"></pre><script>
addEventListener('message', e => { document.getElementById('told').textContent = e.data; });
</script>"""

failures = []


def check(what, truth, more=""):
    if not truth:
        failures.append(what)
        print(f"FAILED {what}: {more}", flush=True)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    print("no Chromium: apt install chromium")
    sys.exit(SKIP)


def look(folder, page, width, dark):
    """What the page is like in a window so wide, and what the browser complained of."""
    text = page.read_text(encoding="utf-8")
    assert text.count("<head>") == 1 and text.count("</body>") == 1
    (folder / "probed.html").write_text(text.replace("<head>", "<head>" + LISTEN).replace("</body>", LOOK + "</body>"),
                                        encoding="utf-8")
    (folder / "around.html").write_text(AROUND % ("probed.html", width), encoding="utf-8")
    # --no-sandbox: in a container there may be no user namespaces; the page is ours
    done = subprocess.run([browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                           "--disable-component-update", "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND",
                           "--enable-logging=stderr", "--virtual-time-budget=20000", f"--user-data-dir={folder}/profile",
                           *(["--blink-settings=preferredColorScheme=0"] if dark else []), f"--window-size={max(width, 500) + 40},1000",
                           "--dump-dom", (folder / "around.html").as_uri()],
                          capture_output=True, text=True, timeout=BROWSER_S, check=False)
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, flags=re.S)
    console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    if not told or not told[1]:
        check("the page was looked at", False, done.stderr[-2000:])
        return None, console
    unescaped = told[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(unescaped), console


def judge(what, seen, console, width, dark, plots):
    check(f"{what}: nothing on the console", not console, console)
    if seen is None:
        return
    check(f"{what}: no error", not seen["errors"], seen["errors"])
    check(f"{what}: the window is as wide as it should be", abs(seen["width"] - width) <= 20, seen["width"])
    check(f"{what}: the colours that were asked for", seen["dark"] == dark)
    check(f"{what}: nothing is wider than the window", seen["page"] <= seen["width"] and not seen["wide"], seen["wide"][:5])
    check(f"{what}: nor are the tables", seen["opened"] <= seen["width"], seen["opened"])
    check(f"{what}: all plots", seen["plots"] == plots, seen["plots"])
    check(f"{what}: images are there, and are told in words", seen["images"] and all(w > 0 and alt for w, alt in seen["images"]))
    check(f"{what}: plots are told in words", seen["unnamed"] == 0)
    check(f"{what}: text stands out", not seen["pale"], seen["pale"][:5])
    for under, after, back in seen["readings"]:
        check(f"{what}: a time and a value", re.match(r"2026-01-05 \d\d:\d\d: .*\S (-|at least [\d.]+|[\d.,]+( \S+)?|on)$", under), under)
        check(f"{what}: the keyboard moves on", after != under, after)
        check(f"{what}: and back", back)


def simulated(folder, name, names, hosts, *arguments):
    (folder / "scenario.yaml").write_text(SCENARIO % (names[0], names[1], hosts, names[2], 4 * hosts, names[2], 2 * hosts),
                                          encoding="utf-8")
    page = folder / name
    subprocess.run([BALLAST, "simulate", str(folder / "scenario.yaml"), "--report", str(page), *arguments], check=True,
                   stdout=subprocess.DEVNULL, timeout=BROWSER_S)
    return page


PLAIN = ("Six hours", "esx", "shop")
WILD = ("'</title><script>alert(1)</script>'", "<img src=x onerror=alert(1)>-and-a-very-long-name.dc1.example.com",
        "</td><script>alert(2)</script>&amp;'pool'")
PLOTS, PLOTS_COMPARED = 12, 20


def main():
    browser()
    with tempfile.TemporaryDirectory(prefix="ballast-page.") as name:
        folder = pathlib.Path(name)
        cases = [("8 hosts", PLAIN, 8, [], PLOTS), ("names that are no text", WILD, 3, [], PLOTS),
                 ("two policies", PLAIN, 32, ["--compare", "dpm.enabled=false", ""], PLOTS_COMPARED)]
        for what, names, hosts, arguments, plots in cases:
            page = simulated(folder, "page.html", names, hosts, *arguments)
            for width, dark in ((375, False), (1280, True)):
                seen, console = look(folder, page, width, dark)
                judge(f"{what}, {width} px, {'dark' if dark else 'light'}", seen, console, width, dark, plots)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
