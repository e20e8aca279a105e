#!/usr/bin/env python3
"""Redfish services that change, err and attack: none of it switches another machine, leaks a password or takes more than its time."""
import contextlib
import gzip
import hashlib
import itertools
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

from probe import PowerProbe
from redfish_service import V1, RedfishService
from test_redfish import RESET, SYSTEM, probe, refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

OTHER = "4c4c4544-0042-5110-8036-b6c04f593132"  # a machine


def test_another_machine_right_before():
    """Another machine answers at the address when the shutdown comes: nothing is sent. A wake is. So is what follows once the
    machine is back; and a login that has ended in between is no way around it."""
    with RedfishService() as bmc, probe(bmc) as p:
        was = bmc["1"].uuid
        assert p("identify")["uuid"] == was
        bmc["1"].uuid = OTHER
        for verb in ("same shut_down", "same cut"):
            refused(p(verb), "EPERM", "another controller answers", was, OTHER, "Nothing was requested")
        assert not bmc.resets and bmc["1"].is_on()
        assert p("wake")["ok"] and bmc.resets.pop()[2] == "On"
        bmc["1"].uuid, bmc["1"].serial = was, "SN-other"  # one placeholder for both machines
        refused(p("same shut_down"), "EPERM", "serial SN-1", "serial SN-other")
        bmc["1"].serial = "SN-1"
        assert p("same shut_down")["ok"] and not bmc["1"].is_on()
        bmc["1"].put("power", 1)
        bmc.events[RESET] = lambda: (setattr(bmc["1"], "uuid", OTHER), bmc.tokens.clear())  # between the look and the reset
        refused(p("same cut"), "EPERM", "another controller answers")
        assert bmc["1"].is_on() and len(bmc.resets) == 1, bmc.resets


def test_another_machine_every_second_time():
    """Two controllers at one address: whichever answers, no shutdown is sent."""
    with RedfishService() as bmc, probe(bmc) as p:
        bmc["1"].uuids = itertools.cycle([bmc["1"].uuid, OTHER])
        for _ in range(4):
            assert p("identify")["ok"]
            refused(p("same shut_down"), "EPERM", "another controller answers")
        assert not bmc.resets


def certificate(bmc):
    """Its fingerprint, as other programs tell it."""
    pem = ssl.get_server_certificate(("127.0.0.1", bmc.port))
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def test_certificate_as_identity():
    """A controller without a serial number is known by its certificate; one with a number stays the same under a new one."""
    with RedfishService() as bmc:
        for serial in (None, "", "To be filled by O.E.M.", "0000000000"):
            bmc["1"].serial = serial
            with probe(bmc) as p:
                assert p("identify")["mark"] == f"certificate SHA-256 {certificate(bmc)}", serial
        was = certificate(bmc)
        bmc.renew_certificate()
        with probe(bmc, tls_verify="false") as p:
            assert p("identify")["mark"] == f"certificate SHA-256 {certificate(bmc)}" != f"certificate SHA-256 {was}"
            bmc["1"].serial = "CZJ1234"
            assert p("identify")["mark"] == "serial CZJ1234"
            bmc.renew_certificate()
            bmc.stop()
            bmc.start()
            assert p("identify")["mark"] == "serial CZJ1234"
            assert p("same shut_down")["ok"]


def test_another_key_right_before():
    """The connection of the reset leads to another controller, which would take it: same password, no sessions. It gets nothing.
    A controller that has a new certificate just now is asked once more, and obeys."""
    with RedfishService() as bmc, probe(bmc, tls_verify="false") as p:
        bmc.sessions_offered = False
        assert p("identify")["ok"]
        was = bmc["1"].uuid

        def becomes_another():
            bmc.renew_certificate()
            bmc["1"].uuids = itertools.chain([was], itertools.repeat(OTHER))  # this answer is the last of the old one

        for verb in ("same shut_down", "same cut"):
            bmc["1"].uuids = None
            assert p("identify")["uuid"] == was
            bmc.events[f"GET {SYSTEM}"] = becomes_another
            refused(p(verb), "EPERM", "another controller answers", was, OTHER, "Nothing was requested")
            assert not bmc.resets
        bmc["1"].uuids = None
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        assert p("same shut_down")["ok"] and len(bmc.resets) == 1 and not bmc["1"].is_on()
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        assert p("wake")["ok"] and len(bmc.resets) == 2
        bmc["1"].serial = None  # now the certificate is what it is known by
        assert p("identify")["ok"]
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        refused(p("same shut_down"), "EPERM", "another controller answers", "certificate SHA-256")
        assert len(bmc.resets) == 2


# ---- services that attack ----

BOMB = gzip.compress(b" " * (64 << 20), 1)


class Raw:
    """A TLS server that answers every request by act(connection), byte by byte as it likes."""

    def __init__(self, bmc, act):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(bmc.cert, bmc.key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.act, self.over = act, threading.Event()
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with contextlib.suppress(OSError), self.context.wrap_socket(connection, server_side=True) as tls:
            heard = b""
            while not self.over.is_set() and (piece := tls.recv(4096)):
                heard += piece
                if b"\r\n\r\n" in heard:
                    heard = b""
                    self.act(tls, self.over)

    def close(self):
        self.over.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def one_byte_a_second(tls, over):
    tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while not over.wait(1):
        tls.sendall(b" ")


def slow_headers(tls, over):
    tls.sendall(b"HTTP/1.1 200 OK\r\nX-A: ")
    while not over.wait(0.2):
        tls.sendall(b"a")


def header_flood(tls, over):
    tls.sendall(b"HTTP/1.1 200 OK\r\n")
    while not over.is_set():
        tls.sendall(b"X-Flood: " + b"a" * 1000 + b"\r\n")


def endless_body(tls, over):
    tls.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not over.is_set():
        tls.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")


def said_100_mb(tls, _):
    tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n" + b" " * 4096)


def gzip_bomb(tls, _):
    tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB) + BOMB)


def breaks_in_the_body(tls, _):
    tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
    tls.unwrap().close()


def deep(tls, _):
    body = b'{"a":' * 10000 + b"1" + b"}" * 10000
    tls.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def continues_for_ever(tls, over):
    while not over.is_set():
        tls.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


ATTACKS = {one_byte_a_second: "ETIMEDOUT", slow_headers: "ETIMEDOUT", header_flood: "EPROTO", endless_body: "EPROTO", said_100_mb: None,
           gzip_bomb: "EPROTO", breaks_in_the_body: "ECONNRESET", deep: "EPROTO", continues_for_ever: None}
LIMIT_S = 4


def test_attacks():
    """Each ends within the call's time, in a sentence; the password is in none."""
    with RedfishService() as bmc, contextlib.ExitStack() as stack:
        for act, error in ATTACKS.items():
            raw = Raw(bmc, act)
            stack.callback(raw.close)
            with PowerProbe("redfish", url=raw.url, username="admin", password_file=bmc.password_file, ca_file=bmc.ca_file, name="esx1",
                            timeout_s=LIMIT_S) as p:
                began = time.monotonic()
                answer = p("chassis")
                assert not answer["ok"] and answer["error"] in ((error,) if error else ("EPROTO", "ETIMEDOUT")), (act, answer)
                assert answer["ms"] < LIMIT_S * 1000 + 1500 and time.monotonic() - began < 40, (act, answer)
                assert raw.url in answer["text"] or "/redfish/v1/" in answer["text"], (act, answer)
                assert bmc.password not in answer["text"]


def test_check_config_under_attack():
    """All of them at once are as quick as the slowest, and each has its line."""
    with RedfishService() as bmc, contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        raws = {act.__name__: Raw(bmc, act) for act in ATTACKS}
        for raw in raws.values():
            stack.callback(raw.close)
        config = pathlib.Path(folder) / "ballast.yaml"
        config.write_text(json.dumps({
            "cluster": "test", "source": {"kind": "sim"}, "state_dir": f"{folder}/state", "socket": f"{folder}/s",
            "power": {"hosts": {name.replace("_", "-"): {"timeout_s": LIMIT_S, "redfish": {
                "url": raw.url, "username": "admin", "password_file": bmc.password_file, "ca_file": str(bmc.ca_file)}}
                for name, raw in raws.items()}}}))
        began = time.monotonic()
        done = subprocess.run([os.environ["BALLAST"], "check-config", config, "--connect", "--format", "json"], capture_output=True, text=True,
                              timeout=120)
        took = time.monotonic() - began
        checks = [c for c in json.loads(done.stdout)["checks"] if c["area"] == "controllers"]
        assert took < 60, took
        for name in raws:
            mine = [c for c in checks if f"host {name.replace('_', '-')}: " in c["text"]]
            assert [c["verdict"] for c in mine] == ["problem"], (name, checks)
        assert bmc.password not in done.stdout + done.stderr


def test_led_elsewhere():
    """Redirects and links to another host: it is asked nothing, and sees no password and no token."""
    with RedfishService() as bmc, RedfishService() as other:
        for status in (301, 302, 303, 307, 308):
            for pattern in (f"GET {SYSTEM}", f"POST {V1}/SessionService/Sessions", RESET):
                bmc.instead = {pattern: (status, {"Location": other.url + V1 + "/"}, b"")}
                with probe(bmc, timeout_s=20) as p:
                    assert not p("cut")["ok"], (status, pattern)
        bmc.instead = {}
        bmc.absolute = other.url
        with probe(bmc) as p:
            assert p("cut")["ok"]
        assert not other.requests and not other.connections, other.requests


def test_watts_of_a_liar():
    """What no host draws is no reading, in whatever way it is written."""
    with RedfishService() as bmc, probe(bmc) as p:
        chassis = f"{V1}/Chassis/1/EnvironmentMetrics"
        for text in (b"NaN", b"1e308", b"-1", b'"180"', b"Infinity", b"1e999", b"100001", b"true", b"[180]", b"{}", b"-0.001"):
            bmc.instead[f"GET {chassis}"] = (200, {}, b'{"PowerWatts": {"Reading": ' + text + b"}}")
            refused(p("watts"), "EPROTO")
        bmc.instead.clear()
        assert p("watts")["watts"] == 180


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
