#!/usr/bin/env python3
"""The service's clock and those of the hosts differ by 40 days or an hour, either way: memory that guests report still counts,
moves are made once and followed to their end. On libvirt it is the service's clock that is shifted; on Proxmox VE nodes' clocks differ, too."""
import pathlib
import sys
import time

from daemon import Daemon, at_once, wait_for
from datacenter import Datacenter
from probe import Probe
from proxmox import Cluster, Server
from proxmox.cluster import GIB
from test_clock import HOUR_S, SHIM, Clock

APART = (40 * 24 * HOUR_S, -40 * 24 * HOUR_S, HOUR_S, -HOUR_S)


def under_way(d):
    return d.actions("approved", "starting", "running", "verifying")


def moves(d):
    return [(a["vm_name"], a["to"], a["state"]) for a in d.json("history", "--limit", 100) if a["action"] == "migrate" and a["started"]]


class Shifted(Probe):
    """A collector whose clock is that much ahead of the hosts'."""

    def __init__(self, of, file):
        self.file = file
        super().__init__("libvirt", **{f"hosts.{host}.uri": of.uri(host) for host in of.names}, timeout_s=30)

    def command(self):
        return ["env", f"LD_PRELOAD={SHIM}", f"CLOCK_SHIM_FILE={self.file}", *super().command()]


def check_memory(of):
    """That guests report how much memory they use does not depend on clocks."""
    file = pathlib.Path(of.dir.name) / "clock"
    file.write_text("0\n")
    with Shifted(of, file) as p:
        for by in (0, *APART):
            file.write_text(f"{by}\n")
            wait_for(f"{by} s apart, all report", lambda: all(vm["sample"]["mem_guest_used_mb"] is not None for vm in p("collect")["vms"]), 10)


def test_libvirt():
    with Datacenter(hosts=2, vms=2) as of, of.service(**{"interval_s": 2, "cool_down_s": 1}) as d:
        of.load("all: cpu 3 mem 8")
        wait_for("the guests have understood", lambda: all(g["load"] == g["wanted"] for g in of.guests().values()))
        since = of.check_guests()
        check_memory(of)
        clock = Clock(d)
        for n, by in enumerate(APART):
            target = of.names[n % 2]
            clock.set(by)
            d.pin(target)
            d.start()
            wait_for(f"{by} s apart, all have moved", lambda: d.status()["pass"] and set(d.placement().values()) == {target} and not under_way(d))
            d.stop()
        of.wait_for_guests(since)
        clock.set(0)
        d.start()
        done = moves(d)
        assert {state for _, _, state in done} == {"done"} and len(done) <= len(of.vms) * len(APART), done
        print(f"libvirt: {len(done)} moves, all done", flush=True)
        d.stop()


def test_proxmox():
    for by in APART:
        c = Cluster("9.1", nodes=3)
        c.migration_rate, c.ha.round_s = 2 * GIB, 1
        c.clock = lambda by=by: time.time() + by
        for i, node in enumerate(c.nodes.values()):
            node.clock_error = 120 * (i - 1)
        for i in range(4):
            c.add(100 + i, "n1", cpu=0.02, cores=2, mem=GIB, host_used=GIB // 2, used=GIB // 4)
            if i % 2:
                c.manage(c.guests[100 + i])
        with Server(c, nodes=["n1", "n2"]) as s:
            source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 10,
                      "url": s.urls[0], "other_urls": s.urls[1:]}
            with Daemon(source, interval_s=2, cool_down_s=1, automation="full", rules={"there": {
                    "kind": "host-affinity", "vms": "*", "hosts": ["n3"]}}) as d:
                d.start()
                wait_for(f"{by} s apart, all have moved", lambda: {g.node for g in c.guests.values()} == {"n3"} and not under_way(d), every=0.1)
                time.sleep(1)
                done = moves(d)
                arrived = sorted((vmid, to) for vmid, _, to in c.arrivals)
                assert arrived == [(vmid, "n3") for vmid in sorted(c.guests)], arrived
                assert len(done) == len(arrived) and {state for _, _, state in done} == {"done"}, done
                print(f"Proxmox VE, {by} s apart: {len(done)} moves, all done", flush=True)
                d.stop()


if __name__ == "__main__":
    sys.exit(at_once([("test_libvirt", test_libvirt), ("test_proxmox", test_proxmox)]))
