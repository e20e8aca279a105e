#!/usr/bin/env python3
"""Clients of the API over HTTP that are many or slow: 64 connections on a large cluster while passes run, a request that trickles, an answer that is
read slowly or not at all. Whether passes become later is measured by tests/bench/http_load.py."""
import http.client
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

from daemon import BALLAST, PATIENCE, SIM, main, wait_for
from test_http import AT, HOST, Api

CONNECTIONS = 64
ANSWERS = 10 * CONNECTIONS  # more than that
LARGE = 6 << 20  # bytes: more than the kernel keeps for a connection whose other end does not read
LOAD_S = 60 if os.environ.get("BALLAST_TEST_LONG") else 5


def slow_request(api, at_once, slowly):
    """A byte every two seconds: the connection ends after half a minute, not after a day."""
    began = time.monotonic()
    with socket.create_connection((HOST, api.port), timeout=60) as s:
        s.sendall(at_once)
        for byte in slowly:
            try:
                s.sendall(bytes([byte]))
                s.settimeout(2)
                if s.recv(1) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        else:
            raise AssertionError("a slow request was never ended")
    assert 20 < time.monotonic() - began < 120


def slow_headers(api):
    slow_request(api, b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: " + b"a" * 100)


def slow_body(api):
    head = (f"POST {AT}/pause HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.tokens['operator']}\r\n"
            "Content-Type: application/json\r\nContent-Length: 200\r\n\r\n").encode()
    slow_request(api, head, b"{" + b" " * 199)
    assert api.d.status()["frozen_since"] is None, "half a request was carried out"


def ask_snapshot(api):
    """A connection with a small window, whose answer of megabytes is not read."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(60)
    s.connect((HOST, api.port))
    s.sendall(f"GET {AT}/snapshot HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.tokens['admin']}\r\nConnection: close\r\n\r\n".encode())
    return s


def slow_reader(api):
    """Reads a little at a time, and has all of it in the end; others are answered meanwhile."""
    whole = api.get(f"{AT}/snapshot", "admin")[2]
    assert len(whole) > LARGE, len(whole)
    with ask_snapshot(api) as s:
        got, longest, piece = b"", 0, len(whole) // 40
        while chunk := s.recv(piece):
            got += chunk
            if len(got) % piece < len(chunk):
                began = time.monotonic()
                assert api.get(f"{AT}/hosts?limit=1")[0] == 200
                longest = max(longest, time.monotonic() - began)
                time.sleep(0.2)
    assert got.startswith(b"HTTP/1.1 200 ") and got.partition(b"\r\n\r\n")[2] == whole
    assert longest < 10, f"another client waited for {longest:.1f} s"


def connections(port):
    """Those that the service has not closed."""
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(local.endswith(f":{port:04X}") and state == "01" for _, local, _, state, *_ in rows)


def no_reader(api):
    """Who reads nothing loses the connection after half a minute."""
    unread = [ask_snapshot(api) for _ in range(20)]
    wait_for("they are connected", lambda: connections(api.port) >= 20, 10)
    began = time.monotonic()
    wait_for("they are ended", lambda: connections(api.port) == 0, 40, 0.5)
    assert 10 < time.monotonic() - began < 160
    assert api.json(f"{AT}/hosts?limit=1")["hosts"]
    for s in unread:
        got = 0
        try:
            while chunk := s.recv(1 << 20):
                got += len(chunk)
        except ConnectionResetError:
            pass
        assert got < LARGE, "all of it was sent"
        s.close()


def test_load():
    """64 connections read the hosts of a large cluster while passes run: no answer but 200, no connection refused or lost."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cluster.json")
        path.write_bytes(subprocess.run([BALLAST, "generate", "--hosts", "1000", "--vms", "10000"], check=True, capture_output=True).stdout)
        with Api({**SIM, "file": str(path)}, interval_s=3600) as api:
            wait_for("a pass", lambda: api.d.status()["pass"])
            answered, wrong, ended = [0] * CONNECTIONS, [], threading.Event()

            def client(i):
                try:
                    c = api.connect()
                    while not ended.is_set():
                        status, headers, data = api.ask("GET", f"{AT}/hosts", connection=c)
                        if status != 200 or headers["X-Total-Count"] != "1000" or not data.endswith(b"}\n"):
                            wrong.append((status, data[-200:]))
                        answered[i] += 1
                    c.close()
                except (OSError, http.client.HTTPException) as e:
                    wrong.append(repr(e))

            threads = [threading.Thread(target=client, args=(i,)) for i in range(CONNECTIONS)]
            for t in threads:
                t.start()
            passes, began = 0, time.monotonic()
            while (took := time.monotonic() - began) < LOAD_S or passes < 2 or (sum(answered) <= ANSWERS and took < PATIENCE * LOAD_S):
                passes += api.d.request({"command": "run"})["ok"]
            ended.set()
            for t in threads:
                t.join()
            print(f"{sum(answered)} answers in {took:.0f} s, {passes} passes")
            assert not wrong, (len(wrong), wrong[:3])
            assert min(answered) > 0 and sum(answered) > ANSWERS, answered


def slow_clients(part):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "cluster.json")
        path.write_bytes(subprocess.run([BALLAST, "generate", "--hosts", "500", "--vms", "15000"], check=True, capture_output=True).stdout)
        with Api({"kind": "file", "file": str(path)}, interval_s=3600) as api:
            wait_for("a pass", lambda: api.d.status()["pass"])
            part(api)


def test_slow_headers():
    with Api() as api:
        slow_headers(api)


def test_slow_body():
    with Api() as api:
        slow_body(api)


def test_slow_reader():
    slow_clients(slow_reader)


def test_no_reader():
    slow_clients(no_reader)


if __name__ == "__main__":
    main(test_slow_headers, test_slow_body, test_slow_reader, test_no_reader, test_load)
