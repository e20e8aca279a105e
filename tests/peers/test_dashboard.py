#!/usr/bin/env python3
"""The dashboard of a running service. Its files over HTTP: types, tags, policy, paths that lead nowhere. Then in a real browser
(Chromium, headless): signs in, approves by a click and sees the move end, rejects by keyboard; a viewer has no buttons; a refused
action is told in a sentence; why a VM stays, standby, wake, maintenance, pause, history by their pages; names that hold markup are
text; on a telephone and on a screen, light and dark, axe-core objects to nothing; each page of 1,000 hosts and 30,000 VMs is updated in
time. dashboard/test/service_page.mjs and service_load.mjs look."""
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from daemon import BALLAST, main
from test_http import HOST, Api
from test_report_page import find_browser, skip

ROOT = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LOOK = ROOT / "dashboard/test/service_page.mjs"
LOOK_S = 1200
LOAD = ROOT / "dashboard/test/service_load.mjs"
HOSTS, VMS = 1000, 30000
UPDATE_MS = 100  # of processor time
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")


def files(api):
    """What the daemon gives without a token, and how."""
    status, headers, page = api.get("/", None)
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8", headers
    assert headers["Content-Security-Policy"] == POLICY and headers["X-Content-Type-Options"] == "nosniff", headers
    assert headers["Cache-Control"] == "private, no-cache", headers
    assert api.get("/", None, **{"If-None-Match": headers["ETag"]})[::2] == (304, b"")
    assert api.ask("HEAD", "/", None)[::2] == (200, b"")
    names = re.findall(rb'(?:src|href)="(/assets/[^"]+)"', page)
    types = {b"js": "text/javascript; charset=utf-8", b"css": "text/css; charset=utf-8", b"svg": "image/svg+xml"}
    assert {n.rsplit(b".", 1)[1] for n in names} == set(types), names
    for name in names:
        status, headers, data = api.get(name.decode(), None)
        assert status == 200 and headers["Content-Type"] == types[name.rsplit(b".", 1)[1]], (name, headers)
        assert "immutable" in headers["Cache-Control"] and headers["Content-Security-Policy"] == POLICY, headers
        status, headers, again = api.get(name.decode(), None, **{"If-None-Match": headers["ETag"]})
        assert status == 304 and again == b"" and data, (name, status)
    assert b"<script>" not in page and b"style=" not in page and b"http://" not in page.split(b"<!--")[0], page[:500]
    for path in ("/assets/..%2findex.html", "/assets/..%2F..%2Freport.html", "/assets/index.html", "/assets/none.js", "/assets/%2e%2e%2fx",
                 "/assets/" + "a" * 4000):
        api.problem(404, "not-found", "GET", path, None)
    for path in ("/assets/../index.html", "/assets/%2e%2e", "/assets/", "//", "/assets//x", "/assets/%00"):
        status = api.get(path, "viewer")[0]
        assert status == 400, (path, status)
    api.problem(405, "method-not-allowed", "POST", "/", "admin", {})
    api.problem(401, "unauthorized", "GET", "/index.html", None)
    document = api.json("/api/v1/clusters", "operator")
    assert (document["who"], document["role"]) == ("a-operator (token)", "operator"), document


def browser_or_skip():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    return browser


def change(file, snapshot, seed):
    """Each VM asks for up to a twentieth less than in the snapshot."""
    any_ = random.Random(seed)
    changed = json.loads(snapshot)
    for vm in changed["vms"]:
        for resource in ("cpu", "mem"):
            if vm.get(resource, {}).get("demand"):
                vm[resource]["demand"] = round(vm[resource]["demand"] * any_.uniform(0.95, 1), 3)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(changed))
    fresh.rename(file)


def test_large_cluster():
    """Each page, while the figures of all hosts and VMs change."""
    browser = browser_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cluster.json"
        snapshot = subprocess.run([BALLAST, "generate", "--hosts", str(HOSTS), "--vms", str(VMS), "--seed", "1", "--shape", "skewed"],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
        change(file, snapshot, 0)
        vm = next(v for v in json.loads(snapshot)["vms"] if v["state"] == "on")
        case = {"update_ms": UPDATE_MS, "hosts": HOSTS, "vms": VMS, "host": vm["host"], "vm": vm["id"], "vm_name": vm["name"]}
        with Api({"kind": "file", "file": str(file)}, interval_s=3600) as api:
            if api.get("/", None)[0] == 404:
                skip("the pages are not built: dashboard/build, then configure again")
            api.ask("POST", "/api/v1/clusters/test/passes", "operator")
            case |= {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens}
            with subprocess.Popen(["node", str(LOAD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "CHROMIUM": browser}) as look:
                try:
                    print(json.dumps(case), file=look.stdin, flush=True)
                    for seed, _ in enumerate(change_or_print(look.stdout), 2):
                        change(file, snapshot, seed)
                        assert api.ask("POST", "/api/v1/clusters/test/passes", "operator")[0] == 200
                        print("changed", file=look.stdin, flush=True)
                    assert look.wait(timeout=LOOK_S) == 0, "see above"
                finally:
                    look.kill()


def change_or_print(lines):
    """The lines that ask for new figures; the others are printed."""
    for line in lines:
        if line.strip() == "change":
            yield line
        else:
            print(line, end="", flush=True)


def test_in_a_browser():
    browser = browser_or_skip()
    with Api() as api:
        if api.get("/", None)[0] == 404:
            skip("the pages are not built: dashboard/build, then configure again")
        files(api)
        api.ask("POST", "/api/v1/clusters/test/passes", "operator")
        case = {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens, "shots": os.environ.get("SHOTS")}
        done = subprocess.run(["node", str(LOOK)], input=json.dumps(case), text=True, timeout=LOOK_S, check=False,
                              env={**os.environ, "CHROMIUM": browser})
        assert done.returncode == 0, "see above"
        ended = api.d.json("history")
        assert [a for a in ended if a["state"] == "done" and a["approved_by"] == "a-operator (token)"], ended


if __name__ == "__main__":
    if not shutil.which("node"):
        sys.exit(skip("no node"))
    main(test_in_a_browser, test_large_cluster)
