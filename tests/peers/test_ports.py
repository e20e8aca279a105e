#!/usr/bin/env python3
"""The ports that tests reserve before a server listens on them: each belongs to one process and is free."""
import contextlib
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest.mock

import ports
from daemon import wait_for

HERE = pathlib.Path(__file__).resolve().parent
N_PROCESSES, N_THREADS = 4, 4
FEW = ports.own_range()[-64:]  # what those in the test quarrel over

# Takes ports of FEW until there are none, in threads, and keeps them until its standard input ends.
TAKER = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import ports
sys.stdin.readline()
mine = []
def take():
    while True:
        try:
            mine.append(ports.take(range(int(sys.argv[2]), int(sys.argv[3]))))
        except RuntimeError:
            return
threads = [threading.Thread(target=take) for _ in range(int(sys.argv[4]))]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(*mine, flush=True)
sys.stdin.read()
"""


def taker(among):
    return subprocess.Popen([sys.executable, "-c", TAKER, str(HERE), str(among[0]), str(among[-1] + 1), str(N_THREADS)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def taken(process):
    return [int(word) for word in process.stdout.readline().split()]


def none_left(among):
    try:
        ports.take(among)
    except RuntimeError:
        return True
    return False


@contextlib.contextmanager
def alone():
    """Two runs of this test on one machine would take FEW from each other."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        def mine():
            try:
                s.bind("\0ballast-tests/test_ports")
                return True
            except OSError:
                return False

        wait_for("the other runs of this test end", mine, 120, 0.1)
        yield


def test_each_port_is_of_one_process():
    """Whoever takes them, at the same time, in whatever thread; and what a process had is free again when it was killed."""
    with alone():
        free = [p for p in FEW if ports.is_free(p)]
        assert len(free) > len(FEW) / 2, f"only {len(free)} of {FEW} are free on this machine"
        processes = [taker(FEW) for _ in range(N_PROCESSES)]
        try:
            for p in processes:
                p.stdin.write("go\n")
            every = [port for p in processes for port in taken(p)]
            assert len(every) == len(set(every)), f"given twice: {sorted(p for p in set(every) if every.count(p) > 1)}"
            assert set(every) <= set(FEW)
            assert len(every) > len(free) / 2, f"{len(every)} of {len(free)}"  # other tests may have one of them
            assert none_left(every), "one of them is given away while its process lives"
        finally:
            for p in processes:
                p.kill()
                p.communicate()
        assert ports.take(FEW) in FEW


def test_what_somebody_has_is_not_free():
    """UDP or TCP, IPv4 or IPv6, here or everywhere."""
    for family, address in (*ports.ADDRESSES, (socket.AF_INET6, "::")):
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            port = ports.take()
            try:
                s = socket.socket(family, kind)
                s.bind((address, port))
            except OSError as e:
                assert e.errno in ports.NO_SUCH_ADDRESS, f"{address}:{port} was given, and is not free: {e}"
                continue
            with s:
                assert not ports.is_free(port), f"{address}, {kind}"
            assert ports.is_free(port), f"{address}, {kind}"


def test_where_a_connection_lingers_is_not_free():
    """Who listens there without SO_REUSEADDR would fail."""
    port = ports.take()
    with socket.create_server(("127.0.0.1", port)) as server, socket.create_connection(("127.0.0.1", port)) as client:
        peer, _ = server.accept()
        peer.close()  # the first to go is the one that waits (RFC 9293, 3.6.1)
        assert client.recv(1) == b""
    assert not ports.is_free(port)


def test_the_range_is_below_what_the_system_gives():
    """Else an outgoing connection takes a port between the stop and the start of whatever listens there."""
    with tempfile.TemporaryDirectory(prefix="ballast-ports-") as folder, unittest.mock.patch.object(ports, "RANGE"):
        for low, last in ((32768, 32767), (49152, 32767), (20000, 19999), (1024, 32767), (10240, 32767)):
            ports.RANGE = pathlib.Path(folder) / "range"
            ports.RANGE.write_text(f"{low}\t60999\n")
            assert ports.own_range()[-1] == last, f"{low}: {ports.own_range()}"
    low = int(ports.RANGE.read_text().split()[0])
    port = ports.take()
    assert ports.FIRST <= port <= ports.LAST
    assert port < low or low < ports.FIRST + ports.ENOUGH, f"{port} of {low}"


if __name__ == "__main__":
    for test in (test_each_port_is_of_one_process, test_what_somebody_has_is_not_free, test_where_a_connection_lingers_is_not_free,
                 test_the_range_is_below_what_the_system_gives):
        test()  # one after another: they change what all of them ask
