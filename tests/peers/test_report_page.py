#!/usr/bin/env python3
"""The page of `ballast simulate --report` in a real browser (Chromium, headless): nothing on its console, nothing loaded or run
from elsewhere, all plots drawn and told in words and tables, values under the pointer and by keyboard, nothing wider than the
window, nothing that axe-core objects to; on a telephone and on a screen, light and dark. A second page has names that hold
markup, a third two policies, a fourth 1,000 hosts, which must be drawn in time. dashboard/test/report_page.mjs looks at them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BALLAST = os.environ["BALLAST"]
ROOT = pathlib.Path(os.environ["BALLAST_SOURCE_DIR"])
LOOK = ROOT / "dashboard/test/report_page.mjs"
SKIP = 77
SIMULATE_S = 300
LOOK_S = 1200
READY_MS = 1500  # of processor time, for 1,000 hosts; five times what it takes
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
PLAIN = ("Six hours", "esx", "shop")
WILD = ("'</title><script>alert(1)</script><!--'", "<img src=x onerror=alert(1)>-and-a-very-long-name.dc1.example.com",
        "</td><script>alert(2)</script>&amp;'pool'")
PLOTS, PLOTS_COMPARED = 12, 20
MAP_ROWS_LEAST = 3  # of a plot's table: a row a host, or 25 times


def skip(why):
    print(why)
    sys.exit(SKIP)


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    return skip("no Chromium: apt install chromium")


def simulated(folder, name, names, hosts, vms, arguments):
    scenario = folder / f"{name}.yaml"
    scenario.write_text(SCENARIO % (names[0], names[1], hosts, names[2], vms, names[2], vms // 2), encoding="utf-8")
    page = folder / f"{name}.html"
    done = subprocess.run([BALLAST, "simulate", str(scenario), "--report", str(page), "--no-progress", *arguments], check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=SIMULATE_S)
    if "built without its pages" in done.stderr:
        skip("the pages are not built: dashboard/build, then configure again")
    return page


def main():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    with tempfile.TemporaryDirectory(prefix="ballast-page.") as name:
        folder = pathlib.Path(name)
        cases = []
        for what, names, hosts, vms, arguments, more in (
                ("8 hosts", PLAIN, 8, 32, [], {}),
                ("names that are no text", WILD, 3, 12, [], {}),
                ("two policies", PLAIN, 32, 128, ["--compare", "dpm.enabled=false", ""], {"plots": PLOTS_COMPARED, "windows": [375]}),
                ("1,000 hosts", PLAIN, 1000, 1000, ["--set", "ballast=false"], {"ready_ms": READY_MS, "windows": [1280]})):
            page = simulated(folder, str(len(cases)), names, hosts, vms, arguments)
            title = names[0].strip("'")  # the quotes are YAML's
            cases.append({"what": what, "page": str(page), "plots": PLOTS, "rows": MAP_ROWS_LEAST, "title": title, **more})
        done = subprocess.run(["node", str(LOOK)], input=json.dumps(cases), text=True, timeout=LOOK_S, check=False,
                              env={**os.environ, "CHROMIUM": browser})
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    main()
