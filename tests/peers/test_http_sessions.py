#!/usr/bin/env python3
"""Sessions of browsers: a token is exchanged for a cookie. What the cookie may do, when it ends, and what its thief may not do: other
origins, no or a wrong CSRF token, cookies with odd bytes, fixed sessions, many sign-ins, tries without a valid token. With TLS, too.
dashboard/test/session_page.mjs looks in a real browser: a page that is loaded anew stays signed in; one whose session ends asks
again, and what its user was about is still there."""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import tempfile
import threading
import time

from daemon import PATIENCE, main, schemas, wait_for
from test_http import AT, HOST, Api, make_certificate
from test_report_page import find_browser, skip

ROOT = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LOOK = ROOT / "dashboard/test/session_page.mjs"
SESSION = "/api/v1/session"
PER_TOKEN = 10


def is_reply(reply):
    schemas.check_reply("session", reply)
    return reply


class Browser:
    """What a browser keeps: the cookie, and in the page the CSRF token."""

    def __init__(self, api, role="operator", how="body"):
        self.api, self.role = api, role
        token = api.tokens.get(role, role)

        def signed_in():
            self.status, self.headers, data = api.ask("POST", SESSION, token if how == "header" else None,
                                                      {"token": token} if how == "body" else None)
            assert self.status in (200, 429), (self.status, data)
            return self.status == 200 and is_reply(json.loads(data))

        self.reply = wait_for("the sign-in", signed_in)  # several a second are too many
        self.cookie = self.headers["Set-Cookie"].split(";")[0]
        self.csrf = self.reply["session"]["csrf_token"]

    def ask(self, method, path, body=None, csrf="own", **headers):
        sent = {"Cookie": self.cookie, **headers}
        if csrf:
            sent["X-CSRF-Token"] = self.csrf if csrf == "own" else csrf
        return self.api.ask(method, path, None, body, sent)

    def is_in(self):
        status = self.ask("GET", f"{AT}/hosts")[0]
        assert status in (200, 401, 429), status
        return status == 200


def refusals_may_go_on(api):
    """After ten requests without a valid token an address gets one a second."""
    wait_for("the next try", lambda: api.get(f"{AT}/hosts", None)[0] == 401)
    time.sleep(11)


def sign_in_and_out(api):
    assert is_reply(api.json(SESSION, None)) == {"ok": True, "who": None, "role": None, "session": None}
    for how in ("body", "header"):
        b = Browser(api, how=how)
        assert (b.reply["who"], b.reply["role"]) == ("a-operator (token)", "operator"), b.reply
        assert re.fullmatch(rf"ballast-{api.port}=[0-9a-f]{{64}}; Path=/; HttpOnly; SameSite=Strict", b.headers["Set-Cookie"]), b.headers
        assert b.csrf not in b.cookie and api.tokens["operator"] not in json.dumps(b.reply)
        again = json.loads(b.ask("GET", SESSION)[2])
        assert again == b.reply, (again, b.reply)
        assert b.is_in()
    done = json.loads(b.ask("POST", f"{AT}/pause")[2])
    assert done == {"ok": True} and api.d.status()["frozen_by"] == "a-operator (token)"
    assert b.ask("POST", f"{AT}/resume")[0] == 200
    assert b.ask("GET", f"{AT}/snapshot")[0] == 403, "an operator is no admin"
    status, headers, data = b.ask("DELETE", SESSION)
    assert status == 200 and json.loads(data)["session"] is None, data
    assert "Max-Age=0" in headers["Set-Cookie"] and f"ballast-{api.port}=;" in headers["Set-Cookie"], headers
    assert not b.is_in(), "the cookie is good after the sign-out"
    api.problem(400, "invalid-request", "DELETE", SESSION, "operator")
    reply = api.json(SESSION, "viewer")
    assert reply["session"] is None and reply["who"] == "a-viewer (token)", reply
    log = api.d.log.read_text()
    assert re.search(r"HTTP: a-operator \(token\), role operator, signed in from 127\.0\.0\.1", log), log
    assert re.search(r"HTTP: a-operator \(token\) signed out from 127\.0\.0\.1", log), log
    for secret in (b.cookie.split("=")[1], b.csrf, api.tokens["operator"]):
        assert secret not in log
        for file in api.d.folder.glob("state/*"):
            assert secret.encode() not in file.read_bytes(), f"{file} has a secret"


def other_origins(api):
    """The thief has the cookie, as a page of another site makes the browser send it."""
    b = Browser(api)
    for csrf in (None, "0" * 64, b.csrf[:-1], b.csrf + "0", "own"):
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://{HOST}:{api.port + 1}"},
                        {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "cross-site"}, {}):
            if csrf == "own" and not headers:
                continue
            for method, path in (("POST", f"{AT}/pause"), ("DELETE", SESSION), ("POST", "/api/v1/tokens")):
                status, _, data = b.ask(method, path, csrf=csrf, **headers)
                assert status == 403, (method, path, csrf, headers, status, data)
    for headers in ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
                    {"Origin": "http://evil.example"}):
        assert b.ask("GET", SESSION, **headers)[0] == 403, headers
    assert b.ask("GET", SESSION, **{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate"})[0] == 200
    assert api.d.status()["frozen_since"] is None and b.is_in()
    log = api.d.log.read_text()
    assert re.search(r"POST \S+/pause refused for a-operator \(token\) at 127\.0\.0\.1: a request by a session", log), log
    for origin, status in (("http://evil.example", 403), ("null", 403), (f"http://{HOST}:{api.port}", 200)):
        assert api.ask("POST", SESSION, None, {"token": api.tokens["viewer"]}, {"Origin": origin})[0] == status, origin
    # a form of another site can send no JSON
    assert api.ask("POST", SESSION, None, json.dumps({"token": api.tokens["viewer"]}), {"Content-Type": "text/plain"})[0] == 415
    assert api.ask("POST", SESSION, None, "token=" + api.tokens["viewer"], {"Content-Type": "application/x-www-form-urlencoded"})[0] == 415
    assert b.ask("POST", f"{AT}/pause", Origin=f"http://{HOST}:{api.port}")[0] == 200
    assert b.ask("POST", f"{AT}/resume", Origin=f"http://{HOST}:{api.port}")[0] == 200


def fixed_sessions(api):
    """A cookie that was there before the sign-in never becomes a session; one that is a session ends."""
    name = f"ballast-{api.port}"
    given = "a" * 64
    status, headers, _ = api.ask("POST", SESSION, "viewer", None, {"Cookie": f"{name}={given}"})
    assert status == 200 and given not in headers["Set-Cookie"], headers
    assert api.ask("GET", f"{AT}/hosts", None, headers={"Cookie": f"{name}={given}"})[0] == 401
    thief = Browser(api, "viewer")
    status, headers, _ = api.ask("POST", SESSION, "operator", None, {"Cookie": thief.cookie})
    assert status == 200 and headers["Set-Cookie"].split(";")[0] != thief.cookie
    assert not thief.is_in(), "the session before is good after the sign-in"
    # a late answer to the session before must not take away the cookie of the next one
    status, headers, _ = thief.ask("GET", f"{AT}/hosts")
    assert status in (401, 429) and "Set-Cookie" not in headers, headers


def odd_cookies(api):
    b = Browser(api)
    name, value = b.cookie.split("=")
    assert b.ask("GET", SESSION, Cookie=f"a=b; {name}={value} ; c")[0] == 200
    assert b.ask("GET", SESSION, Cookie=f"x{name}=1; {name}x=2; {name}={value}")[0] == 200
    refusals_may_go_on(api)
    for cookie in (f"{name}={value}0", f"{name}={value[:-1]}", f"{name}=", f"{name}={value.upper()}G", f'{name}="{value}"',
                   f"{name}={value}; {name}={value}", f"{name}={value}; {name}={'0' * 64}", f"{name}={value[:-1]}\x80", f"{name}={value}%00"):
        def refused(c=cookie):
            status, headers, _ = api.ask("GET", f"{AT}/hosts", None, headers={"Cookie": c.encode("latin1")})
            assert status in (401, 429), (c, status)
            assert "Max-Age=0" in headers["Set-Cookie"], headers
            return status == 401
        wait_for("the refusal", refused)
    for cookie in (b"", b";;;===", b"=" * 8000, b"a=b;" * 4000, name.encode(), b"\x01\xff" * 100):
        answer = api.raw(b"GET %s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nConnection: close\r\n\r\n" % (SESSION.encode(), cookie))
        # b"": thousands of cookies do not fit in the room of a request's headers, libmicrohttpd hangs up
        assert answer.startswith((b"HTTP/1.1 200", b"HTTP/1.1 4")) or (answer == b"" and len(cookie) > 10000), (cookie[:40], answer[:200])
        assert b"csrf" not in answer and b"<open>" not in answer, (cookie[:40], answer[:200])
    many = b"".join(b"Cookie: %s=%064d\r\n" % (name.encode(), i) for i in range(300))
    assert not api.raw(b"GET %s/hosts HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (AT.encode(), many), 5).startswith(b"HTTP/1.1 2")
    # a bad token beside a good cookie is refused: one of them is not what its sender thinks
    def both():
        status = b.ask("GET", f"{AT}/hosts", Authorization="Bearer ballast_x")[0]
        assert status in (401, 429), status
        return status == 401
    wait_for("the refusal", both)
    assert b.is_in()


def bodies(api):
    good = api.tokens["viewer"]
    for body in ("{}", '{"token": 7}', '{"token": null}', "[]", '"x"', json.dumps({"token": good, "role": "admin"}), ""):
        status, _, data = api.ask("POST", SESSION, None, body, {"Content-Type": "application/json"})
        assert status == 400, (body, status, data)
    assert api.ask("POST", SESSION, None, " " * 2000, {"Content-Type": "application/json"})[0] == 413
    status = api.ask("POST", SESSION, None, {"token": good + "0" * 200})[0]
    assert status in (401, 429), status


def many_sign_ins(api):
    """One browser more than a token may have ends the one that was used least lately; tries are slow."""
    refusals_may_go_on(api)
    first = Browser(api, "viewer")
    second = Browser(api, "viewer")
    rest = []
    for _ in range(PER_TOKEN - 1):
        time.sleep(1.1)
        assert first.is_in()
        rest.append(Browser(api, "viewer"))
    assert first.is_in() and all(b.is_in() for b in rest) and not second.is_in()
    refusals_may_go_on(api)
    statuses = [api.ask("POST", SESSION, None, {"token": "ballast_" + f"{i:064x}"})[0] for i in range(40)]
    assert set(statuses) == {401, 429} and statuses.count(401) < 20, statuses
    assert api.ask("POST", SESSION, None, {"token": api.tokens["viewer"]})[0] in (200, 429)
    statuses = []
    threads = [threading.Thread(target=lambda: statuses.append(api.ask("POST", SESSION, "viewer")[0])) for _ in range(60)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert set(statuses) <= {200, 429} and statuses.count(429) > 20, statuses
    refusals_may_go_on(api)
    assert Browser(api).is_in()


def ends_with_its_token(api):
    token = api.d.cli("token", "create", "leaving", "--role", "operator").strip()
    b = Browser(api, token)
    stream = api.connect()
    stream.request("GET", f"{AT}/events/stream", headers={"Cookie": b.cookie})
    reply = stream.getresponse()
    assert reply.status == 200 and reply.readline()
    api.d.cli("token", "revoke", "leaving")
    began = time.monotonic()
    reply.read()  # until the service ends it
    assert time.monotonic() - began < 1 * PATIENCE, "the stream of a revoked token goes on"
    assert not b.is_in()
    assert "its token was revoked or has expired" in api.d.log.read_text()
    short = api.d.cli("token", "create", "short", "--role", "viewer", "--expires", "4s").strip()
    b = Browser(api, short)
    wait_for("it expires", lambda: not b.is_in(), 60, 0.5)
    # by bearer token, too
    token = api.d.cli("token", "create", "leaving", "--role", "viewer").strip()
    stream = api.connect()
    stream.request("GET", f"{AT}/events/stream", headers={"Authorization": f"Bearer {token}"})
    reply = stream.getresponse()
    assert reply.status == 200 and reply.readline()
    api.d.cli("token", "revoke", "leaving")
    reply.read()


def ends_at_a_restart(api):
    b = Browser(api)
    assert b.is_in()
    api.d.stop()
    api.d.start()
    wait_for("an inventory", lambda: api.get("/readyz", None)[0] == 200)
    assert not b.is_in()
    assert Browser(api).is_in()


def test_sessions():
    with Api() as api:
        sign_in_and_out(api)
        other_origins(api)
        fixed_sessions(api)
        bodies(api)
        odd_cookies(api)
        many_sign_ins(api)
        ends_with_its_token(api)
        ends_at_a_restart(api)


def test_time_is_over():
    """The time since the last request, and since the sign-in. What is asked now and then lasts until the second."""
    with Api(http={"session_idle_s": 10, "session_s": 30}) as api:
        idle, used = Browser(api), Browser(api)
        stream = api.connect()
        stream.request("GET", f"{AT}/events/stream", headers={"Cookie": used.cookie})
        reply = stream.getresponse()
        assert reply.status == 200 and reply.readline()
        began = time.monotonic()
        while time.monotonic() < began + 15:
            assert used.is_in()
            time.sleep(2)
        assert not idle.is_in(), "it was idle for 15 s"
        assert used.is_in()
        wait_for("its end", lambda: not used.is_in(), 120, 1)
        assert time.monotonic() - began > 25
        reply.read()  # the stream ends, too
        assert "its time is over" in api.d.log.read_text()


def test_tls():
    with tempfile.TemporaryDirectory(prefix="ballast-sessions-") as folder:
        cert, key, ca = make_certificate(pathlib.Path(folder), "one", 1001)
        with Api(tls=ssl.create_default_context(cafile=str(ca)), http={"cert_file": str(cert), "key_file": str(key)}) as api:
            b = Browser(api)
            cookie = b.headers["Set-Cookie"]
            assert re.fullmatch(rf"__Host-ballast-{api.port}=[0-9a-f]{{64}}; Path=/; HttpOnly; SameSite=Strict; Secure", cookie), cookie
            assert b.is_in()
            assert b.ask("POST", f"{AT}/pause", Origin=f"http://{HOST}:{api.port}")[0] == 403, "the origin is not https"
            assert b.ask("POST", f"{AT}/pause", Origin=f"https://{HOST}:{api.port}")[0] == 200
            assert b.ask("GET", SESSION, Cookie=b.cookie.replace("__Host-", ""))[0] == 200
            assert json.loads(b.ask("GET", SESSION, Cookie=b.cookie.replace("__Host-", ""))[2])["session"] is None, "a name without its prefix"
            jar = pathlib.Path(folder) / "jar"
            curl = ["curl", "-sS", "--cacert", str(ca), "-b", str(jar), "-c", str(jar)]
            done = subprocess.run([*curl, "-H", "Content-Type: application/json", "-d", "@-", f"https://{HOST}:{api.port}{SESSION}"],
                                  input=json.dumps({"token": api.tokens["viewer"]}), capture_output=True, text=True, check=True, timeout=60)
            assert json.loads(done.stdout)["role"] == "viewer", done
            done = subprocess.run([*curl, f"https://{HOST}:{api.port}{AT}/status"], capture_output=True, text=True, check=True, timeout=60)
            assert json.loads(done.stdout)["ok"], done


def test_in_a_browser():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    with Api() as api:
        if api.get("/", None)[0] == 404:
            skip("the pages are not built: dashboard/build, then configure again")
        api.ask("POST", f"{AT}/passes", "operator")
        case = {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens}
        done = subprocess.run(["node", str(LOOK)], input=json.dumps(case), text=True, timeout=600, check=False,
                              env={**os.environ, "CHROMIUM": browser})
        assert done.returncode == 0, "see above"


if __name__ == "__main__":
    main(test_sessions, test_time_is_over, test_tls, test_in_a_browser)
