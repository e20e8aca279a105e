#!/usr/bin/env python3
"""Alarms of ballastd to real receivers: an HTTPS server that also hangs, lies, redirects and floods, an SMTP server with STARTTLS and AUTH,
and commands; whichever of them, or the service, dies."""
import base64
import email
import email.policy
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's aiosmtpd
try:
    from aiosmtpd.controller import Controller
    from aiosmtpd.smtp import SMTP, AuthResult
except ImportError:
    if sys.executable != SYSTEM_PYTHON and os.path.exists(SYSTEM_PYTHON) and not os.environ.get("BALLAST_SYSTEM_PYTHON"):
        os.execve(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv], {**os.environ, "BALLAST_SYSTEM_PYTHON": "1"})
    print("skipped: aiosmtpd is missing (packaging/need peers)")
    sys.exit(77)

import ports  # noqa: E402
from daemon import SIM, Daemon, main, wait_for  # noqa: E402

QUIET = {"automation": "manual", "interval_s": 3600}
KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()


class Certificates:
    """An authority, and a certificate of localhost."""

    def __init__(self):
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-alarms-")
        at = pathlib.Path(self.dir.name)
        self.cert, self.key = str(at / "cert.pem"), str(at / "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
                        "-out", self.cert, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                       check=True, capture_output=True)

    def server(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.cert, self.key)
        return context


CERTS = Certificates()


class Receiver:
    """A webhook receiver; `behave` says what happens to a request: a status, or a word."""

    def __init__(self):
        self.seen, self.behave, self.headers, self.lock = [], 200, {}, threading.Lock()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                behave = receiver.behave
                with receiver.lock:
                    receiver.seen.append({"path": self.path, "headers": dict(self.headers), "body": body, "behave": behave,
                                          "time": time.monotonic()})
                if behave == "hang":
                    time.sleep(60)
                    return
                if behave == "close":
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                if behave == "endless":
                    self.send_response(200)
                    self.end_headers()
                    try:
                        while True:
                            self.wfile.write(b"x" * 65536)
                    except OSError:
                        return
                self.send_response(behave)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                answer = b"taken\r\nwith thanks" if behave == 200 else b"no"
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *args):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.socket = CERTS.server().wrap_socket(self.server.socket, server_side=True)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exc):
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"https://localhost:{self.server.server_port}/hook/sec-ret?x=1"

    def target(self, d, **more):
        secret = d.folder / "secret"
        secret.write_text(SECRET + "\n")
        secret.chmod(0o600)
        return {"url": self.url, "secret_file": str(secret), "ca_file": CERTS.cert, "severity": "notice", "interval_s": 1, **more}

    def messages(self, *behaviours):
        """Verified, those that were answered well unless others are asked for."""
        with self.lock:
            seen = list(self.seen)
        return [verified(s) for s in seen if s["behave"] in (behaviours or (200,))]


def verified(request):
    """By the text of the specification: HMAC-SHA256 over ID.TIMESTAMP.BODY."""
    h = {k.lower(): v for k, v in request["headers"].items()}
    signed = f"{h['webhook-id']}.{h['webhook-timestamp']}.".encode() + request["body"]
    expected = "v1," + base64.b64encode(hmac.new(KEY, signed, hashlib.sha256).digest()).decode()
    assert hmac.compare_digest(expected, h["webhook-signature"]), h
    assert "." not in h["webhook-id"] and abs(int(h["webhook-timestamp"]) - time.time()) < 3600, h
    assert h["content-type"].startswith("application/cloudevents+json"), h
    message = json.loads(request["body"])
    assert message["specversion"] == "1.0" and message["source"] == "/ballast/test" and message["id"] == h["webhook-id"]
    return message


def alarms(messages):
    return [m for m in messages if m["type"] == "io.ballast.alarm"]


def numbers(messages):
    """Of all listed events, each message once: it may come again with its id."""
    return [e["id"] for m in {m["id"]: m for m in alarms(messages)}.values() for e in m["data"]["events"]]


def talk(d, n=1):
    """Two events of the severity notice each."""
    for _ in range(n):
        d.request({"command": "pause"})
        d.request({"command": "resume"})


def notices(d):
    return [e["id"] for e in d.json("events", "--since", "0") if e["severity"] in ("notice", "warning", "error")]


def of(d, name):
    return next(t for t in d.status()["alarms"] if t["target"] == name)


def test_webhook():
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"hook": r.target(d), "quiet": {**r.target(d), "kinds": ["wake_failed"]}})
        d.start()
        talk(d)
        first = wait_for("an alarm", lambda: alarms(r.messages()))[0]
        assert first["data"]["cluster"] == "test" and first["data"]["severity"] == "notice" and first["data"]["target"] == "hook"
        assert [e["kind"] for e in first["data"]["events"]] == ["frozen", "thawed"] and first["data"]["more"] == 0, first
        talk(d)
        wait_for("the others", lambda: len(numbers(r.messages())) >= 4)
        assert numbers(r.messages()) == notices(d), (numbers(r.messages()), notices(d))
        wait_for("the service has the receiver's answer", lambda: of(d, "hook")["waiting"] == 0)
        assert of(d, "hook")["failing_since"] is None and of(d, "quiet")["delivered"] == 0, d.status()["alarms"]
        said = d.cli("alarm", "test", "hook")
        assert said == f"delivered: https://localhost:{r.server.server_port}: HTTP status 200: taken  with thanks\n", said
        assert 'no target "none"' in d.cli("alarm", "test", "none", code=1)
        reply = d.request({"command": "alarm_test", "target": "hook"})  # by its schema, too
        assert reply["ok"] and reply["answer"].endswith("HTTP status 200: taken  with thanks"), reply
        assert any(m["type"] == "io.ballast.test" for m in r.messages())
        done = subprocess.run([os.environ["BALLAST"], "check-config", "--connect", str(d.config)], capture_output=True, text=True, timeout=300)
        assert f"hook: https://localhost:{r.server.server_port}: connected; nothing was sent" in " ".join(done.stdout.split()), done.stdout + done.stderr
        metrics = d.cli("metrics")
        assert 'ballast_alarms_failing{cluster="test",target="hook"} 0' in metrics, metrics[-500:]
        log = d.log.read_text()
        assert "sec-ret" not in log and SECRET not in log and "sec-ret" not in d.cli("status", "--format", "json"), log


def test_what_a_receiver_does():
    """Each failure is tried again with the same id, nothing is lost, nothing comes out of order, and the other target goes on."""
    with Receiver() as r, Receiver() as good, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"bad": r.target(d), "good": good.target(d)})
        d.start()
        for behave, words in ((500, "HTTP status 500"), ("close", "connection broke"), (302, "redirects are not followed"),
                              ("endless", "larger than 1 MiB")):
            r.behave, r.headers = behave, {"Location": good.url} if behave == 302 else {}
            before = len(good.messages())
            talk(d)
            wait_for(f"{behave}: it fails", lambda: of(d, "bad")["failing_since"] and words in of(d, "bad")["error"])
            wait_for("the other goes on", lambda: len(good.messages()) > before)
            assert "alarms" in d.cli("status") and "bad: NOT DELIVERED" in d.cli("status"), d.cli("status")
            r.behave = 200
            d.process.send_signal(1)  # a reload tries at once
            wait_for(f"{behave}: it is over", lambda: of(d, "bad")["failing_since"] is None)
            again = r.messages(behave)
            assert {m["id"] for m in again} <= {m["id"] for m in r.messages()}, "another id"
        wait_for("all", lambda: set(notices(d)) <= set(numbers(r.messages())) and set(notices(d)) <= set(numbers(good.messages())))
        assert numbers(r.messages()) == sorted(numbers(r.messages())) == numbers(good.messages())


def test_retry_after():
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"hook": r.target(d)})
        d.start()
        r.behave, r.headers = 429, {"Retry-After": "30"}
        talk(d)
        target = wait_for("it fails", lambda: of(d, "hook")["failing_since"] and of(d, "hook")["next_attempt"] and of(d, "hook"))
        assert 25 <= at(target["next_attempt"]) - at(target["failing_since"]) <= 31, target
        for wrong in ("-5", "soon", "99999999999999999999", "Thu, 99 Foo 2026 00:00:00 GMT"):
            r.headers = {"Retry-After": wrong}
            n = len(r.seen)
            d.process.send_signal(1)
            wait_for(f"Retry-After: {wrong}", lambda: len(r.seen) > n)
            wait_for("another attempt is planned", lambda: of(d, "hook")["next_attempt"])
            assert at(of(d, "hook")["next_attempt"]) - time.time() < 3700, of(d, "hook")
        r.behave = 200
        d.process.send_signal(1)
        wait_for("it is over", lambda: set(notices(d)) <= set(numbers(r.messages())))


def at(text):
    import datetime
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_service_dies():
    """kill -9 before, during and after an attempt: every event arrives, a message that comes again has its id and its text."""
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"hook": r.target(d)})
        d.start()
        for behave, pause in ((200, 0), (200, 2.2), ("hang", 0), (500, 0), (200, 4)):
            r.behave = behave
            n = len(r.seen)
            talk(d)
            if behave != 200:
                wait_for("an attempt", lambda: len(r.seen) > n)
            time.sleep(pause)
            d.kill()
            r.behave = 200
            d.start()
        wait_for("all", lambda: set(notices(d)) <= set(numbers(r.messages())))
        by_id = {}
        for m in r.messages(200, 500, "hang"):
            assert by_id.setdefault(m["id"], m) == m, "the same id, another message"
        assert numbers(r.messages()) == notices(d)


def test_storm_and_first_events():
    """A new target begins now; many events are one message that counts them."""
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.start()
        talk(d, 3)
        old = notices(d)
        d.write(alarms={"hook": r.target(d, interval_s=600)})
        d.process.send_signal(1)
        wait_for("the target", lambda: d.status()["alarms"])
        d.cli("alarm", "test", "hook")  # counts for nothing
        talk(d, 500)
        wait_for("the alarm", lambda: alarms(r.messages()))
        assert len(alarms(r.messages())) == 1, len(alarms(r.messages()))
        assert not set(old) & set(numbers(r.messages()))
        d.write(alarms={"hook": r.target(d, interval_s=1)})
        d.process.send_signal(1)
        wait_for("the rest", lambda: of(d, "hook")["waiting"] == 0, 120)
        assert len(alarms(r.messages())) <= 4, len(alarms(r.messages()))
        assert sum(len(m["data"]["events"]) + m["data"]["more"] for m in alarms(r.messages())) == len(set(notices(d)) - set(old))
        assert all(len(m["data"]["events"]) <= 20 for m in alarms(r.messages()))


def test_reload_and_removal():
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"hook": {**r.target(d), "url": "https://localhost:9/"}})
        d.start()
        talk(d)
        wait_for("it fails", lambda: of(d, "hook")["failing_since"])
        d.write(alarms={"hook": r.target(d)})
        d.process.send_signal(1)
        wait_for("nothing was lost", lambda: len(numbers(r.messages())) == 2)
        d.settings.pop("alarms")
        d.write()
        d.process.send_signal(1)
        wait_for("none", lambda: d.status()["alarms"] == [])
        talk(d)
        time.sleep(4)
        assert len(numbers(r.messages())) == 2


class Mailbox:
    def __init__(self):
        self.mails, self.refuse, self.dots = [], None, []

    async def handle_DATA(self, server, session, envelope):
        if self.refuse:
            return self.refuse
        assert session.ssl and session.authenticated
        self.mails.append((envelope.mail_from, envelope.rcpt_tos, envelope.original_content or envelope.content))
        return "250 stored"


def authenticate(server, session, envelope, mechanism, data):
    good = (data.login, data.password) == (b"ballast", b"pass word")
    return AuthResult(success=good, handled=False)  # the server answers


class MailServer:
    def __init__(self, tls=True):
        self.box = Mailbox()
        outer = self

        class Tls(Controller):
            def factory(self):
                return SMTP(outer.box, tls_context=CERTS.server() if tls else None, require_starttls=tls, auth_required=tls,
                            authenticator=authenticate, hostname="localhost")

        self.controller = Tls(self.box, hostname="127.0.0.1", port=ports.take())

    def __enter__(self):
        self.controller.start()
        return self

    def __exit__(self, *exc):
        self.controller.stop()

    def target(self, d, password="pass word", **more):
        secret = d.folder / "mail.password"
        secret.write_text(password + "\n")
        secret.chmod(0o600)
        return {"url": f"smtp://localhost:{self.controller.port}", "username": "ballast", "password_file": str(secret), "ca_file": CERTS.cert,
                "from": "ballast@example.com", "to": ["ops@example.com", "oncall@example.com"], "severity": "notice", "interval_s": 1, **more}


def read_mail(raw):
    assert all(byte < 128 for byte in raw) and all(len(line) <= 998 for line in raw.split(b"\r\n"))
    return email.message_from_bytes(raw, policy=email.policy.default)


def test_mail():
    with MailServer() as s, Daemon(SIM, **{**QUIET, "cluster": "Zürich ☃ ===\u2028x"}) as d:
        d.write(alarms={"mail": s.target(d, digest="*:*:00/10")})
        d.start()
        done = subprocess.run([os.environ["BALLAST"], "check-config", "--connect", str(d.config)], capture_output=True, text=True, timeout=300)
        assert "connected, login accepted for ballast; nothing was sent" in " ".join(done.stdout.split()), done.stdout + done.stderr
        assert not [m for m in s.box.mails if b"alarm" in m[2]]
        talk(d)
        wait_for("mail", lambda: [m for m in s.box.mails if "digest" not in read_mail(m[2])["Subject"]])
        sender, to, raw = [m for m in s.box.mails if "digest" not in read_mail(m[2])["Subject"]][0]
        mail = read_mail(raw)
        assert sender == "ballast@example.com" and to == ["ops@example.com", "oncall@example.com"]
        assert mail["Subject"].startswith("[Zürich ☃ === x] 2 alarms"), mail["Subject"]
        assert mail["From"] == "ballast@example.com" and mail["To"] == "ops@example.com, oncall@example.com" and mail["Date"]
        assert mail["Message-ID"].endswith("@example.com>") and mail["Auto-Submitted"] == "auto-generated"
        text = mail.get_content()
        assert "notice  paused" in text and "Zürich ☃" in text, text
        said = d.cli("alarm", "test", "mail")
        assert "delivered: smtp://localhost" in said and "250" in said, said
        digest = wait_for("a digest", lambda: [m for m in s.box.mails if "digest" in read_mail(m[2])["Subject"]])[0]
        assert "moves        none" in read_mail(digest[2]).get_content(), read_mail(digest[2]).get_content()
        s.box.refuse = "554 not this one"
        talk(d)
        wait_for("refused", lambda: of(d, "mail")["failing_since"] and "554 not this one" in of(d, "mail")["error"])


def test_mail_that_must_not_go():
    """A wrong password, a server without TLS, one that is not trusted."""
    with MailServer() as s, MailServer(tls=False) as clear, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"login": s.target(d)})
        d.start()
        for change, words in (({"password": "wrong"}, "login of ballast is refused"),
                              ({"url": f"smtp://localhost:{clear.controller.port}"}, "offers no STARTTLS"),
                              ({"ca_file": None}, "certificate cannot be trusted")):
            target = s.target(d, **change)
            if target["ca_file"] is None:
                del target["ca_file"]
            d.write(alarms={"login": target})
            d.process.send_signal(1)
            time.sleep(1)
            said = wait_for(words, lambda: (lambda t: words in t and t)(d.run("alarm", "test", "login").stderr))
            assert "wrong" not in said.replace("wrong usage", ""), said
            if "password" in change:  # accounts get locked
                talk(d)
                wait_for("it is refused", lambda: of(d, "login")["failing_since"] and of(d, "login")["next_attempt"])
                assert 590 <= at(of(d, "login")["next_attempt"]) - at(of(d, "login")["failing_since"]) <= 610, of(d, "login")
        assert not s.box.mails and not clear.box.mails


def test_commands():
    with Daemon(SIM, **QUIET) as d:
        out = d.folder / "mails"
        out.mkdir()
        script = d.folder / "deliver"
        script.write_text(f"#!/bin/sh\ncat > {out}/$$.tmp && mv {out}/$$.tmp {out}/$$.eml; echo \"$@\"\n")
        script.chmod(0o755)
        fails = d.folder / "fails"
        fails.write_text("#!/bin/sh\nyes | head -c 1000000 >&2; printf '\\033[31mno spool\\n' >&2; exit 75\n")
        fails.chmod(0o755)
        hangs = d.folder / "hangs"
        hangs.write_text("#!/bin/sh\ntrap '' TERM\nsleep 1000 & yes\n")
        hangs.chmod(0o755)
        common = {"severity": "notice", "interval_s": 1}
        d.write(alarms={"good": {"command": [str(script), "-t", "a b;$(reboot)"], "to": ["ops@example.com"], **common},
                        "fails": {"command": [str(fails)], **common}, "hangs": {"command": [str(hangs)], **common},
                        "gone": {"command": ["/nonexistent"], **common}})
        d.start()
        talk(d)
        mail = read_mail(wait_for("a mail", lambda: list(out.glob("*.eml")))[0].read_bytes())
        assert mail["To"] == "ops@example.com" and mail["Subject"].startswith("[test] 2 alarms") and "paused" in mail.get_content() and "frozen" not in mail.get_content()
        wait_for("it fails", lambda: "exit code 75:  [31mno spool" in (of(d, "fails")["error"] or ""))
        wait_for("it is missing", lambda: "No such file" in (of(d, "gone")["error"] or ""))
        wait_for("it is killed", lambda: "was killed" in (of(d, "hangs")["error"] or ""), 90)
        assert "delivered:" in d.cli("alarm", "test", "good") and "a b;$(reboot)" in d.cli("alarm", "test", "good")
        d.run("alarm", "test", "nobody")
        n = len(list(out.glob("*.eml")))
        talk(d)
        wait_for("the good one goes on", lambda: len(list(out.glob("*.eml"))) > n)
        begun = time.monotonic()
        d.stop()
        assert time.monotonic() - begun < 30 and not running(hangs), "a command outlives the service"


def running(path):
    found = []
    for p in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(path).encode() in (p / "cmdline").read_bytes():
                found.append(p.name)
        except OSError:
            pass
    return found


if __name__ == "__main__":
    main(test_webhook, test_what_a_receiver_does, test_retry_after, test_service_dies, test_storm_and_first_events, test_reload_and_removal,
         test_mail, test_mail_that_must_not_go, test_commands)
