#!/usr/bin/env python3
"""The dashboard of a running service. Its files over HTTP: types, tags, policy, paths that lead nowhere. Then in a real browser
(Chromium, headless): signs in, approves by a click and sees the move end, rejects by keyboard; a viewer has no buttons; a refused
action is told in a sentence; names that hold markup are text; on a telephone and on a screen, light and dark, axe-core objects to
nothing; 1,000 hosts are updated in time. dashboard/test/service_page.mjs looks."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from daemon import main
from test_http import HOST, Api
from test_report_page import find_browser, skip

ROOT = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LOOK = ROOT / "dashboard/test/service_page.mjs"
LOOK_S = 1200
UPDATE_MS = 100  # of processor time for 1,000 hosts
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


def test_in_a_browser():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    with Api() as api:
        if api.get("/", None)[0] == 404:
            skip("the pages are not built: dashboard/build, then configure again")
        files(api)
        api.ask("POST", "/api/v1/clusters/test/passes", "operator")
        case = {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens, "update_ms": UPDATE_MS, "shots": os.environ.get("SHOTS")}
        done = subprocess.run(["node", str(LOOK)], input=json.dumps(case), text=True, timeout=LOOK_S, check=False,
                              env={**os.environ, "CHROMIUM": browser})
        assert done.returncode == 0, "see above"
        ended = api.d.json("history")
        assert [a for a in ended if a["state"] == "done" and a["approved_by"] == "a-operator (token)"], ended


if __name__ == "__main__":
    if not shutil.which("node"):
        sys.exit(skip("no node"))
    main(test_in_a_browser)
