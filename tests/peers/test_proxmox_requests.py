#!/usr/bin/env python3
"""How few requests the collector of Proxmox VE takes, in one look and in hours of them, and what is known meanwhile."""
import collections
import contextlib
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from probe import Probe  # noqa: E402
from proxmox import Cluster, Server  # noqa: E402
from test_proxmox_collect import collector, equal, good  # noqa: E402

SHIM = os.environ.get("BALLAST_CLOCK_SHIM", "build/tests/peers/libclock_shim.so")


def test_few_requests():
    """16 nodes with 2,000 guests: ten requests a look and two a node, whoever they are about (P10 of proxmox/complaints.md)."""
    c = Cluster("9.1", nodes=16).fill(125, first=1000)
    with Server(c) as s, collector(s, timeout_s=120) as (p, _):
        inv = good(p)
        first = len(s.requests)
        for _ in range(20):  # what was not read in a third of the time is read in the next
            if not [v for v in inv["vms"] if v["needs"]["immovable"]]:
                break
            inv = good(p)
        equal("all configurations are known", [v["id"] for v in inv["vms"] if v["needs"]["immovable"]], [])
        most, took = 0, []
        for _ in range(5):
            s.requests.clear()
            began = time.monotonic()
            good(p)
            took.append(time.monotonic() - began)
            most = max(most, len(s.requests))
        equal("guests", len(inv["vms"]), 2000)
        assert most <= 10 + 2 * 16, (most, s.requests)
        s.requests.clear()  # what has changed comes on top, and nothing else
        c.guests[1500].tags = "new"
        good(p)
        assert [r for r in s.requests if "/qemu/1500/config" in r] and len(s.requests) <= 10 + 2 * 16 + 1, s.requests
    print(f"2,000 guests on 16 nodes: {first} requests in the first look, at most {most} in a later one, {min(took):.1f} s")


@contextlib.contextmanager
def hours(server, looks, every_s=300, **more):
    """The inventories of so many looks, one every five minutes, each with the requests that it took."""
    with tempfile.TemporaryDirectory() as folder:
        clock = pathlib.Path(folder) / "clock"

        class Later(Probe):
            def command(self):
                return ["env", f"LD_PRELOAD={SHIM}", f"CLOCK_SHIM_FILE={clock}", "CLOCK_SHIM_ALL=1", *super().command()]

        def each():
            for i in range(looks):
                clock.write_text(f"{i * every_s}\n", encoding="utf-8")
                server.requests.clear()
                yield good(p), list(server.requests)

        with Later("proxmox", url=server.urls[0], username=server.token, password_file=server.token_file, ca_file=server.ca_file, **more) as p:
            yield each()


def test_hours():
    """Five hours: no look asks more, each configuration has its turn again, and so has each answer about a node."""
    nodes, of_each, looks = 8, 40, 60
    c = Cluster("9.1", nodes=nodes).fill(of_each, first=1000)
    asked = collections.Counter()
    with Server(c) as s, hours(s, looks) as each:
        for i, (inv, requests) in enumerate(each):
            equal("guests", len(inv["vms"]), nodes * of_each)
            if i == 0:
                continue  # reads every configuration
            assert len(requests) <= 10 + 2 * nodes, (i, len(requests), requests)
            asked.update(r.partition(" ")[2].partition("?")[0] for r in requests)
    equal("configurations that were not read again", [v for v in c.guests if not any(r.endswith(f"/{v}/config") for r in asked)], [])
    for what in ("qemu", "status", "rrddata", "network"):
        equal(what, [n for n in c.nodes if not asked[f"/nodes/{n}/{what}"]], [])


def test_hours_of_version_8():
    """Whether a balloon tells what its guest uses is told guest by guest, and holds until it is told again."""
    c = Cluster("8.4", nodes=2).fill(45, first=1000)
    with Server(c) as s, hours(s, 100) as each:
        for i, (inv, _) in enumerate(each):
            equal(f"look {i}", [v["id"] for v in inv["vms"] if v["sample"]["mem_guest_used_mb"] is None], [])


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
