#!/usr/bin/env python3
"""500 clients that follow events and hear nothing for a minute, in a long run for twenty: none is refused or dropped, each hears comments
meanwhile and the next event, and what they cost is given back.

    tests/peers/test_http_streams.py            # BALLAST_STREAM_MINUTES=60: for an hour
"""
import contextlib
import os
import pathlib
import selectors
import socket
import time

from daemon import main, wait_for
from test_http import AT, HOST, Api

STREAMS = 500  # fewer than http.connections_per_address allows
MINUTES = float(os.environ.get("BALLAST_STREAM_MINUTES", 20 if os.environ.get("BALLAST_TEST_LONG") else 1))
KIB_MOST = 256  # of memory a stream; 32 of them are the room for its headers
COMMENT = b":\n\n"


class Stream:
    def __init__(self, api):
        self.socket = socket.create_connection((HOST, api.port), timeout=60)
        self.socket.sendall(f"GET {AT}/events/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {api.tokens['viewer']}\r\n\r\n".encode())
        self.socket.setblocking(False)
        self.comments, self.head, self.tail, self.ended = 0, b"", b"", False

    def read(self):
        try:
            data = self.socket.recv(65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.ended = self.ended or not data
        if len(self.head) < 2000:
            self.head += data[:2000]
        self.comments += (self.tail[-2:] + data).count(COMMENT)
        self.tail = (self.tail + data)[-4000:]


def read_all(streams, selector, seconds, until=lambda: False):
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        for key, _ in selector.select(0.5):
            key.data.read()
            if key.data.ended:
                selector.unregister(key.fileobj)
    return [s for s in streams if s.ended]


def cost(process):
    """Resident KiB, open descriptors, seconds of CPU."""
    folder = pathlib.Path(f"/proc/{process.pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    user, system = (folder / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return int(status["VmRSS"].split()[0]), len(list((folder / "fd").iterdir())), (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def test_many_idle_streams():
    with Api(interval_s=3600) as api, contextlib.ExitStack() as stack, selectors.DefaultSelector() as selector:
        wait_for("a pass", lambda: api.d.status()["pass"])
        before = cost(api.d.process)
        streams = [Stream(api) for _ in range(STREAMS)]
        for s in streams:
            stack.callback(s.socket.close)
            selector.register(s.socket, selectors.EVENT_READ, s)
        read_all(streams, selector, 120, lambda: all(b"retry: " in s.head or s.ended for s in streams))
        refused = [s.head[:300] for s in streams if not s.head.startswith(b"HTTP/1.1 200") or b"retry: " not in s.head]
        assert not refused, f"{len(refused)} refused: {refused[0]}"
        open_ = cost(api.d.process)
        assert not read_all(streams, selector, 60 * MINUTES), "streams ended"
        idle = cost(api.d.process)
        least = int(60 * MINUTES / 20) - 1  # a comment comes every 15 to 20 s
        assert min(s.comments for s in streams) >= least, sorted(s.comments for s in streams)[:9]
        assert api.ask("POST", f"{AT}/pause", "operator")[0] == 200
        read_all(streams, selector, 120, lambda: all(b'"frozen"' in s.tail or s.ended for s in streams))
        deaf = [s.tail[-200:] for s in streams if b'"frozen"' not in s.tail]
        assert not deaf, f"{len(deaf)} have not heard the event: {deaf[0]}"
        kib = (idle[0] - before[0]) / STREAMS
        print(f"{STREAMS} streams: {kib:.1f} KiB each, {open_[1] - before[1]} descriptors; {(idle[2] - open_[2]) / MINUTES:.2f} s of CPU a minute")
        assert kib < KIB_MOST and open_[1] - before[1] <= STREAMS + 10, (before, open_, idle)
        stack.close()
        wait_for("the descriptors are given back", lambda: cost(api.d.process)[1] <= before[1] + 5)


if __name__ == "__main__":
    main(test_many_idle_streams)
