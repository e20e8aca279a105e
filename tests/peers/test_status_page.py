#!/usr/bin/env python3
"""The status page: plain HTML without JavaScript. By token (curl) and by session, whose sign-in is a form; its forms from elsewhere;
in a text browser of 80 columns (w3m); names that hold markup; and in Chromium without JavaScript, on a telephone, dark and light,
axe-core objecting to nothing (dashboard/test/status_page.mjs)."""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import ports
from daemon import main, wait_for
from test_http import AT, HOST, Api
from test_report_page import find_browser, skip

ROOT = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LOOK = ROOT / "dashboard/test/status_page.mjs"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
VOID = {"meta", "input", "br"}


class Tags(html.parser.HTMLParser):
    """Each tag is closed in its order; text and attributes as a browser sees them."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open)

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.text += data


def page(answer, status=200):
    is_, headers, data = answer
    assert is_ == status and headers["Content-Type"] == "text/html; charset=utf-8", (is_, headers, data[:300])
    policy = headers["Content-Security-Policy"]
    assert re.fullmatch(r"default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'", policy), policy
    assert headers["Cache-Control"] == "private, no-store" and headers["X-Frame-Options"] == "DENY", headers
    assert headers["Referrer-Policy"] == "same-origin", headers
    tags = Tags(data.decode())
    assert not {t for t, _ in tags.tags} & {"script", "img", "iframe", "link", "object"}
    assert not [a for _, attrs in tags.tags for a in attrs if a.startswith("on") or a == "style"]
    return tags


def shows(api, tags):
    """The figures of the other replies."""
    status = api.json(f"{AT}/status")["status"]
    hosts = api.json(f"{AT}/hosts?limit=10000")["hosts"]
    for h in hosts:
        assert h["name"] in tags.text and h["state"].replace("_", " ") in tags.text, h
    for f in status["faults"]:
        assert f["text"] in tags.text, f
    assert status["automation"] in tags.text and status["cluster"] in tags.text
    waits = [a for a in api.json(f"{AT}/recommendations?limit=10000")["recommendations"] if a["state"] == "recommended"]
    assert waits, "nothing waits"
    for a in waits[:50]:
        assert a["text"] in tags.text, a


def by_token(api):
    tags = page(api.get("/status"))
    shows(api, tags)
    assert ("meta", {"http-equiv": "refresh", "content": "30"}) in tags.tags
    assert "sign-out" not in str(tags.tags)
    assert not [t for t in page(api.get("/status?refresh=0")).tags if t[1].get("http-equiv")]
    assert ("meta", {"http-equiv": "refresh", "content": "5"}) in page(api.get("/status?refresh=5")).tags
    for wrong in ("refresh=x", "refresh=4", "refresh=", "refresh=99999", "refresh=1&refresh=2", "x=1"):
        api.problem(400, "invalid-request", "GET", f"/status?{wrong}")
    api.problem(401, "unauthorized", "GET", "/status", "ballast_" + "0" * 64)
    done = subprocess.run(["curl", "-sSf", "-H", f"Authorization: Bearer {api.tokens['viewer']}", f"http://{HOST}:{api.port}/status"],
                          capture_output=True, text=True, timeout=60, check=True)
    shows(api, Tags(done.stdout))
    assert api.ask("HEAD", "/status")[0] == 200
    assert api.ask("POST", f"{AT}/pause", "operator")[0] == 200
    assert "paused by a-operator (token)" in page(api.get("/status")).text
    assert api.ask("POST", f"{AT}/resume", "operator")[0] == 200


def post(api, path, fields, headers=None):
    body = urllib.parse.urlencode(fields) if isinstance(fields, dict) else fields
    return api.ask("POST", path, None, body, {**FORM, **(headers or {})})


def sign_in(api, role="viewer", **headers):
    def done():
        status, got, data = post(api, "/status", {"token": api.tokens[role]}, headers)
        assert status in (303, 429), (status, data)
        return status == 303 and got
    got = wait_for("the sign-in", done)
    assert got["Location"] == "/status", got
    return got["Set-Cookie"].split(";")[0]


def by_form(api):
    tags = page(api.get("/status", None), 401)
    assert [a for t, a in tags.tags if t == "form"] == [{"method": "post", "action": "/status"}] and "Token" in tags.text
    cookie = sign_in(api, Origin=f"http://{HOST}:{api.port}", **{"Sec-Fetch-Site": "same-origin"})
    tags = page(api.get("/status", None, Cookie=cookie))
    shows(api, tags)
    csrf = [a["value"] for t, a in tags.tags if a.get("name") == "csrf_token"]
    session = json.loads(api.get("/api/v1/session", None, Cookie=cookie)[2])["session"]
    assert csrf == [session["csrf_token"]]
    own = {"Cookie": cookie, "Origin": f"http://{HOST}:{api.port}"}
    for fields, headers in (({"csrf_token": "0" * 64}, own), ({}, own), ("csrf_token=%00", own), (f"csrf_token={csrf[0]}&csrf_token={csrf[0]}", own),
                            ({"csrf_token": csrf[0]}, {**own, "Origin": "http://evil.example"}), ({"csrf_token": csrf[0]}, {**own, "Origin": "null"}),
                            ({"csrf_token": csrf[0]}, {"Cookie": cookie, "Sec-Fetch-Site": "same-site"}),
                            ({"csrf_token": csrf[0]}, {**own, "Content-Type": "text/plain"})):
        page(post(api, "/status/sign-out", fields, headers), 403)
    assert api.get("/status", None, Cookie=cookie)[0] == 200, "signed out by another site"
    status, headers, _ = post(api, "/status/sign-out", {"csrf_token": csrf[0]}, own)
    assert status == 303 and headers["Location"] == "/status" and "Max-Age=0" in headers["Set-Cookie"], headers
    tags = page(api.get("/status", None, Cookie=cookie), 401)
    assert "there is no such session" in tags.text and "Token" in tags.text
    assert post(api, "/status/sign-out", {})[0] == 303
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        page(post(api, "/status", {"token": api.tokens["viewer"]}, headers), 403)
    for fields in ("", "token", "token=%zz", "token=a&token=b", "token=%00", "token=\xff" * 3):
        status = post(api, "/status", fields.encode("latin1"))[0]
        assert status in (400, 401, 429), (fields, status)
    assert post(api, "/status", "token=" + "a" * 2000)[0] == 413
    assert post(api, "/status", {"token": api.tokens["viewer"]}, {"Content-Type": "application/json"})[0] == 400
    tags = page(post(api, "/status", {"token": '"><script>alert(1)</script>'}), 401)
    assert "alert(1)" not in tags.text
    statuses = {post(api, "/status", {"token": f"ballast_{i:064x}"})[0] for i in range(30)}
    assert statuses == {401, 429}, statuses


def in_a_text_browser(api):
    if not shutil.which("w3m"):
        return
    with tempfile.TemporaryDirectory(prefix="ballast-status-") as home:
        env = {**os.environ, "HOME": home}
        url = f"http://{HOST}:{api.port}/status"
        form = subprocess.run(["w3m", "-dump", "-cols", "80", url], capture_output=True, text=True, timeout=60, check=True, env=env).stdout
        assert "Token" in form and "[Sign in]" in form, form
        text = subprocess.run(["w3m", "-dump", "-cols", "80", "-header", f"Authorization: Bearer {api.tokens['viewer']}", url],
                              capture_output=True, text=True, timeout=60, check=True, env=env).stdout
        names = [h["name"] for h in api.json(f"{AT}/hosts?limit=10000")["hosts"]]
        assert all(n in text for n in names) and "Waiting for a person" in text, text
        assert max(map(len, text.splitlines())) <= 80, text


def test_page():
    with Api() as api:
        api.ask("POST", f"{AT}/passes", "operator")
        by_token(api)
        by_form(api)
        in_a_text_browser(api)


def test_who_is_not_told():
    """A broker that is down and a target of alarms that fails are faults, with why."""
    broker, target = ports.take(), ports.take()
    with Api(mqtt={"url": f"mqtt://{HOST}:{broker}"}, alarms={
            "ops": {"url": f"http://{HOST}:{target}/x", "severity": "info", "interval_s": 1},
            "fine": {"command": ["/bin/true"], "severity": "info", "interval_s": 1}}) as api:
        assert api.ask("POST", f"{AT}/pause", "operator")[0] == 200  # an event

        def status():
            return api.json(f"{AT}/status")["status"]
        failing = wait_for("the target fails", lambda: [a for a in status()["alarms"] if a["failing_since"]], 60)
        wait_for("the broker fails", lambda: status()["mqtt"]["error"], 60)
        assert [a["target"] for a in failing] == ["ops"], failing
        faults = page(api.get("/status")).text.partition("Faults")[2].partition("Waiting for a person")[0]
        assert f"The MQTT broker is not connected: mqtt://{HOST}:{broker} since " in faults, faults
        assert "Alarms are not delivered to ops since " in faults and "fine" not in faults, faults
        assert failing[0]["error"] in faults, faults


def test_in_a_browser():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    with Api() as api:
        api.ask("POST", f"{AT}/passes", "operator")
        case = {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens, "shots": os.environ.get("SHOTS")}
        done = subprocess.run(["node", str(LOOK)], input=json.dumps(case), text=True, timeout=600, check=False,
                              env={**os.environ, "CHROMIUM": browser})
        assert done.returncode == 0, "see above"


if __name__ == "__main__":
    main(test_page, test_who_is_not_told, test_in_a_browser)
