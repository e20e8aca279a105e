#!/usr/bin/env python3
"""Receivers of alarms that attack: web servers that hang, flood, lead elsewhere or pose as another, mail servers that stall in each phase, commands
that leave processes behind; a target that fails for long, over kills; what must not be told."""
import json
import os
import socket
import threading
import time

from test_alarms import (CERTS, QUIET, SIM, Certificates, Daemon, MailServer, Receiver, alarms, main, notices, numbers, of, read_mail, running,
                         talk, wait_for)
from test_clock import Clock

ATTEMPT_S = 30  # ALARM_ATTEMPT_S


class Server:
    """Gives each connection to `serve`, in a thread; with TLS from the start unless certificates are None."""

    def __init__(self, serve, certificates=CERTS):
        self.serve, self.certificates = serve, certificates
        self.accepted = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        try:
            with connection:
                if self.certificates:
                    connection = self.certificates.server().wrap_socket(connection, server_side=True)
                self.serve(connection)
        except OSError:
            pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def stay(connection):
    """Until the other side goes."""
    connection.settimeout(300)
    while connection.recv(65536):
        pass


def some(connection):
    piece = connection.recv(65536)
    if not piece:
        raise OSError("closed")
    return piece


def request(connection):
    head = some(connection)
    while b"\r\n\r\n" not in head:
        head += some(connection)
    head, body = head.split(b"\r\n\r\n", 1)
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += some(connection)


def answers(head, endless=b"", body=b""):
    def serve(connection):
        request(connection)
        connection.sendall(head + body)
        while endless:
            connection.sendall(endless)
        stay(connection)
    return serve


def drips(connection):
    """The status at once, and a header that never ends, a byte a second."""
    request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"a")
        time.sleep(1)


OK = b"HTTP/1.1 200 OK\r\n"


def test_web_servers():
    """None costs more than its attempt, gets what it must not have, or delays another; nothing is lost once they behave."""
    trap = Server(stay, None)
    other = Certificates()  # another authority
    asked = []  # of those that are not trusted
    behaviours = {
        # name: server, words of the error
        "silent": (Server(stay, None), "no answer in time"),
        "hangs": (Server(lambda c: (request(c), stay(c))), "no answer in time"),
        "drips": (Server(drips), "no answer in time"),
        "big": (Server(answers(OK + b"Content-Length: 10485760\r\n\r\n", body=b"x" * 10485760)), "larger than 1 MiB"),
        "headers": (Server(answers(OK, endless=b"X: " + b"y" * 4000 + b"\r\n")), "headers"),
        "garbage": (Server(answers(b"\0" * 100000 + b"\r\n\r\n")), "HTTP/0.9"),
        "to_a_file": (Server(answers(b"HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n")), "redirects are not followed"),
        "to_the_host": (Server(answers(f"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:{trap.port}/latest/meta-data\r\nContent-Length: 0\r\n\r\n"
                                       .encode())), "redirects are not followed"),
        "asks_a_login": (Server(answers(b'HTTP/1.1 401 No\r\nWWW-Authenticate: Negotiate\r\nContent-Length: 0\r\n\r\n')), "HTTP status 401"),
        "wrong_ca": (Server(lambda c: asked.append(some(c)), other), "certificate cannot be trusted"),
        "wrong_name": (Server(lambda c: asked.append(some(c))), "certificate cannot be trusted"),
        "escapes": (Server(answers(b"HTTP/1.1 500 No\r\nContent-Length: 28\r\n\r\n", body=b"\033[2J\r\nforged: line\x9b31m\xff\xfe 123")), "HTTP status 500:"),
    }
    with Receiver() as good, Daemon(SIM, **QUIET) as d:
        targets = {name: {**good.target(d), "url": f"https://localhost:{server.port}/hook"} for name, (server, _) in behaviours.items()}
        targets["wrong_name"]["url"] = targets["wrong_name"]["url"].replace("localhost", "127.0.0.1")
        d.write(alarms={**targets, "good": good.target(d)})
        d.start()
        talk(d)
        begun = time.monotonic()
        wait_for("the good one has it", lambda: alarms(good.messages()))
        for name, (_, words) in behaviours.items():
            wait_for(f"{name}: {words}", lambda: words in (of(d, name)["error"] or ""), 2 * ATTEMPT_S)
            before = time.monotonic()
            d.request({"command": "status"})
            assert time.monotonic() - before < 5, "the service waits for a receiver"
        assert time.monotonic() - begun < 3 * ATTEMPT_S
        assert trap.accepted == 0, "a redirect was followed"
        assert not asked, asked
        text = d.cli("status", "--format", "json") + d.cli("status") + d.log.read_text()
        assert "root:" not in text and "\033[2J" not in text and "\nforged" not in text and "\x9b" not in text, text
        used_kb = int(next(line.split()[1] for line in open(f"/proc/{d.process.pid}/status", encoding="ascii") if line.startswith("VmHWM")))
        assert used_kb < 400_000, used_kb
        begun = time.monotonic()
        talk(d)
        wait_for("the good one goes on", lambda: len(numbers(good.messages())) == 4)
        d.write(alarms={"hangs": good.target(d), "good": good.target(d)})
        d.process.send_signal(1)
        wait_for("nothing was lost", lambda: [m for m in alarms(good.messages()) if m["data"]["target"] == "hangs"] and of(d, "hangs")["waiting"] == 0)
        got = [m for m in alarms(good.messages()) if m["data"]["target"] == "hangs"]
        assert set(notices(d)) - {e["id"] for m in got for e in m["data"]["events"]} <= set(notices(d)[4:]), got
        d.stop()
    for server in [trap, *(server for server, _ in behaviours.values())]:
        server.listener.close()


class StallingMail(Server):
    """A mail server that says nothing any more in one phase, or floods there."""

    def __init__(self, phase, flood=b""):
        self.phase, self.flood = phase, flood
        super().__init__(self.talk, None)

    def reached(self, connection, phase):
        if phase != self.phase:
            return
        while self.flood:
            connection.sendall(self.flood)
        stay(connection)
        raise OSError

    def talk(self, connection):
        tls = False
        self.reached(connection, "banner")
        connection.sendall(b"220 stall ESMTP\r\n")
        lines = connection.makefile("rb")
        for line in lines:
            verb = line.split()[0].upper().decode("ascii", "replace").split(":")[0]
            self.reached(connection, f"{'tls ' if tls else ''}{verb}")
            if verb == "EHLO":
                connection.sendall(b"250-stall\r\n250 " + (b"AUTH PLAIN" if tls else b"STARTTLS") + b"\r\n")
            elif verb == "STARTTLS":
                connection.sendall(b"220 go on\r\n")
                self.reached(connection, "handshake")
                connection = CERTS.server().wrap_socket(connection, server_side=True)
                lines, tls = connection.makefile("rb"), True
                self.go_on(connection, lines)
                return
            else:
                connection.sendall(b"250 well\r\n")

    def go_on(self, connection, lines):
        for line in lines:
            verb = line.split()[0].upper().decode("ascii", "replace")
            self.reached(connection, f"tls {verb}")
            if verb == "AUTH":
                connection.sendall(b"334 \r\n")
                next(lines)
                connection.sendall(b"235 welcome\r\n")
            elif verb == "EHLO":
                connection.sendall(b"250-stall\r\n250 AUTH PLAIN\r\n")
            elif verb == "DATA":
                connection.sendall(b"354 go on\r\n")
                while next(lines) != b".\r\n":
                    pass
                self.reached(connection, "tls end")
                connection.sendall(b"250 stored\r\n")
            else:
                connection.sendall(b"250 well\r\n")


PHASES = ("banner", "EHLO", "STARTTLS", "handshake", "tls EHLO", "tls AUTH", "tls MAIL", "tls RCPT", "tls DATA", "tls end")
FLOODS = {"flood_of_lines": b"250-more\r\n" * 1000, "flood_in_a_line": b"250-" + b"x" * 65536}


def test_mail_servers_that_stall():
    with MailServer() as well, Daemon(SIM, **QUIET) as d:
        servers = {f"stall{i}": StallingMail(phase) for i, phase in enumerate(PHASES)} \
            | {name: StallingMail("EHLO", flood) for name, flood in FLOODS.items()}
        targets = {name: {**well.target(d), "url": f"smtp://localhost:{server.port}"} for name, server in servers.items()}
        d.write(alarms={**targets, "well": well.target(d)})
        d.start()
        talk(d)
        begun = time.monotonic()
        wait_for("the good one has it", lambda: well.box.mails)
        for name, server in servers.items():
            error = wait_for(f"{name} ({server.phase})", lambda: of(d, name)["error"], 2 * ATTEMPT_S)
            assert name in FLOODS or "no answer in time" in error, (server.phase, error)
            assert "pass word" not in error, error
        assert time.monotonic() - begun < 3 * ATTEMPT_S
        wait_for("attempts are under way again", lambda: sum(s.accepted for s in servers.values()) > len(servers))
        begun = time.monotonic()
        d.stop()
        assert time.monotonic() - begun < 20, "stalling servers delay the stop"
        for server in servers.values():
            server.listener.close()


def test_one_recipient_is_gone():
    """The others get the mail, and the log says who does not."""
    with MailServer() as s, Daemon(SIM, **QUIET) as d:
        async def handle_RCPT(server, session, envelope, address, options):
            if address == "gone@example.com" or s.box.refuse:
                return "550 no such user here"
            envelope.rcpt_tos.append(address)
            return "250 well"

        s.box.handle_RCPT = handle_RCPT
        d.write(alarms={"mail": s.target(d, to=["gone@example.com", "ops@example.com"])})
        d.start()
        talk(d)
        assert wait_for("the mail", lambda: s.box.mails)[0][1] == ["ops@example.com"]
        wait_for("it is logged", lambda: "not to all recipients: 550 no such user here" in d.log.read_text())
        assert of(d, "mail")["failing_since"] is None and "not to all recipients: 550" in d.cli("alarm", "test", "mail")
        talk(d)
        wait_for("another", lambda: len([m for m in s.box.mails if b"alarms, the worst" in m[2]]) == 2)
        assert d.log.read_text().count("not to all recipients") == 1
        s.box.refuse = True  # all of them
        talk(d)
        wait_for("it fails", lambda: "refuses the mail: 550" in (of(d, "mail")["error"] or ""))


def test_alarm_failed():
    """A receiver refuses for more than ten minutes: an event says so, to the other target. Then, after a kill, it takes the message, once."""
    with Receiver() as r, Receiver() as other, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"bad": r.target(d), "other": other.target(d, kinds=["alarm_failed", "alarm_back"])})
        clock = Clock(d)
        r.behave = 503
        d.start()
        talk(d)
        failing = wait_for("it is refused", lambda: of(d, "bad")["failing_since"])
        assert not kinds(d, "alarm_failed")
        clock.set(660)
        failed = wait_for("an event", lambda: kinds_or_none(d, "alarm_failed"))
        assert len(failed) == 1 and failed[0]["severity"] == "warning" and failed[0]["data"]["target"] == "bad", failed
        assert "alarms cannot be delivered to bad: https://localhost" in failed[0]["data"]["text"] and "503" in failed[0]["data"]["text"], failed
        assert of(d, "bad")["failing_since"] == failing, "the restart forgot since when"
        told = wait_for("the other is told", lambda: alarms(other.messages()))[0]
        assert [e["kind"] for e in told["data"]["events"]] == ["alarm_failed"], told
        d.kill()
        n = len(r.seen)
        d.start()
        wait_for("it is tried again, from the store", lambda: len(r.seen) > n)
        assert len(kinds(d, "alarm_failed")) == 1 and of(d, "bad")["failing_since"] == failing
        d.kill()
        r.behave = 200
        d.start()
        wait_for("it is delivered", lambda: of(d, "bad")["delivered"])
        back = wait_for("an event", lambda: kinds(d, "alarm_back"))
        assert len(back) == 1 and back[0]["data"]["target"] == "bad", back
        wait_for("the other is told", lambda: len(alarms(other.messages())) == 2)
        first = [m for m in alarms(r.messages(503))]
        got = [m for m in alarms(r.messages()) if m["id"] == first[0]["id"]]
        assert len(got) == 1 and all(m == got[0] for m in first if m["id"] == got[0]["id"]), "delivered once, and as it was tried"
        assert [e["kind"] for e in got[0]["data"]["events"]] == ["frozen", "thawed"], got
        of_own = [e for m in alarms(r.messages()) for e in m["data"]["events"] if e["kind"].startswith("alarm_")]
        assert not of_own, of_own
        d.stop()


def kinds(d, kind):
    return [e for e in d.json("events", "--since", "0") if e["kind"] == kind]


def kinds_or_none(d, kind):
    """While the service begins anew because of the clock nobody answers."""
    done = d.run("events", "--since", "0", "--kind", kind, "--format", "json")
    return json.loads(done.stdout) if done.returncode == 0 else None


def test_a_digest_among_events():
    """Events that come without end do not keep the digest back."""
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        d.write(alarms={"hook": r.target(d, digest="*:*:00/5", interval_s=2)})
        d.start()
        over = threading.Event()

        def go_on():
            while not over.is_set():
                talk(d)
                time.sleep(0.05)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            wait_for("digests", lambda: sum(m["type"] == "io.ballast.digest" for m in r.messages()) >= 2)
        finally:
            over.set()
            thread.join()
        assert len(alarms(r.messages())) >= 2
        wait_for("the rest", lambda: of(d, "hook")["waiting"] == 0)


def test_what_is_not_told():
    """The path of a webhook's url may be its secret: no log, event, reply or other target has it, also after a reload that changes it."""
    with Receiver() as r, Daemon(SIM, **QUIET) as d:
        target = r.target(d)
        d.write(alarms={"hook": {**target, "url": f"https://localhost:{r.server.server_port}/k3y-one"}, "all": r.target(d, severity="info")})
        d.start()
        talk(d)
        wait_for("alarms", lambda: len(numbers(r.messages())) >= 4)
        said = []
        for path in ("k3y-two", "k3y-three?key=k3y-four"):
            d.write(alarms={"hook": {**target, "url": f"https://localhost:{r.server.server_port}/{path}"}, "all": r.target(d, severity="info")})
            said.append(d.cli("config", "diff", code=1) + d.run("config", "diff", "--format", "json").stdout)
            assert "alarms" in said[-1], said
            n = len(kinds(d, "configuration"))
            d.process.send_signal(1)
            wait_for("the change is an event", lambda: len(kinds(d, "configuration")) > n)
        wait_for("it is an alarm", lambda: [m for m in alarms(r.messages()) if "what is not shown here has changed" in json.dumps(m)])
        said += [d.cli("events", "--format", "json"), d.log.read_text(), d.cli("status", "--format", "json"), d.cli("metrics"),
                 json.dumps(alarms(r.messages()))]
        assert not [s for s in said if "k3y-" in s or "sec-ret" in s], said
        assert r.seen[-1]["path"] != "/k3y-one"


def test_commands_that_stay():
    """A command that leaves a process behind has delivered; names are data, whatever a shell would make of them."""
    name = "a`touch p1`$(touch p2);touch p3|\"'&>p4 \\ \033[31m"
    with Daemon(SIM, **{**QUIET, "cluster": name.replace("\033", "")}) as d:
        forks = d.folder / "forks"
        forks.write_text("#!/bin/sh\ncat > \"$0.eml\"\nsleep 25 &\necho taken\n")
        floods = d.folder / "floods"
        floods.write_text("#!/bin/sh\nexec yes\n")
        for script in (forks, floods):
            script.chmod(0o755)
        common = {"severity": "notice", "interval_s": 1, "to": ["ops@example.com"]}
        d.write(alarms={"forks": {"command": [str(forks)], **common}, "floods": {"command": [str(floods)], **common}})
        d.start()
        talk(d)
        begun = time.monotonic()
        wait_for("it has delivered", lambda: of(d, "forks")["delivered"], 15)
        assert time.monotonic() - begun < 20, "a process in the background is waited for"
        mail = read_mail((d.folder / "forks.eml").read_bytes())
        assert "a`touch p1`$(touch p2);touch p3|\"'&>p4 \\" in mail["Subject"] + mail.get_content(), mail
        wait_for("it is killed", lambda: "has not ended within 30 s and was killed" in (of(d, "floods")["error"] or ""), 90)
        assert not [p for p in ("p1", "p2", "p3", "p4") if (d.folder / p).exists() or os.path.exists(p)]
        wait_for("nothing is left of it", lambda: not running(floods))
        d.stop()


if __name__ == "__main__":
    main(test_web_servers, test_mail_servers_that_stall, test_one_recipient_is_gone, test_alarm_failed, test_a_digest_among_events,
         test_what_is_not_told, test_commands_that_stay)
