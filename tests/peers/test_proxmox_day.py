#!/usr/bin/env python3
"""A day of a Proxmox VE cluster (proxmox/) that carries more than its guests: processes of one node take 85 % of its CPU, of another nearly all its
memory, and guests write to their memory faster than their part of a gigabit link. A real ballastd in full automation relieves both nodes, empties
a third, saves power at night, and has all nodes back in the morning. No copy is stopped, none goes to the two nodes, and neither sleeps."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import Skip, run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Server  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402
from test_proxmox_night import DPM, LONG, NEVER, Night, Site  # noqa: E402

MIB = 1 << 20
LINK = 110 * MIB
WRITES = 15 * MIB
MEM = (64 if LONG else 16) * GIB
USED = (1280 if LONG else 384) * MIB
HEADROOM = 0.8
EACH = 12 if LONG else 5  # guests of a node


class Day(Site):
    def __init__(self):
        super().__init__(7)
        c = self.c
        c.clock = time.time
        c.down_s, c.boot_s, c.migration_rate, c.link = 1, 2, GIB, LINK
        for node in c.nodes.values():
            node.mem = MEM

    def populate(self):
        self.c.fill(EACH)
        for g in self.c.guests.values():
            g.mem, g.host_used, g.used, g.writes = 2 * USED, USED, USED // 2, WRITES
        self.c.nodes["n1"].own_load = 0.85
        self.c.nodes["n2"].own_mem = MEM * 63 // 64 - EACH * USED
        self.set_load(0.25)

    def check(self):
        """What holds at each moment after the first moves."""
        c = self.c
        equal("copies that were stopped", c.cancelled, [])
        equal("guests that came to a node that is full of its own", [a for a in c.arrivals if a[2] in ("n1", "n2")], [])
        full = {n.name: round(c.mem_used(n) / n.mem, 2) for n in c.nodes.values() if n.online and n.name != "n2" and c.mem_used(n) > HEADROOM * n.mem}
        equal("nodes above their headroom of memory", full, {})


def test_day():
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    site = Day()
    c = site.c
    with Server(c, nodes=["n3", "n4", "n5"]) as s:
        source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 10,
                  "url": s.urls[0], "other_urls": s.urls[1:]}
        with Daemon(source, interval_s=3, cool_down_s=30, automation="full", dpm={**DPM, "windows": NEVER}) as d:
            run = Night(site, s, d)
            d.start()
            wait_for("a pass", lambda: d.status()["pass"], 30)
            run.prove("n1", "n2", "n6", "n7")  # the first two could sleep, too
            run.done("proven")
            with c.lock:
                site.populate()
            n1, n2 = c.nodes["n1"], c.nodes["n2"]
            wait_for("n1 is relieved", lambda: c.load(n1) <= 1 and len(c.guests_of("n1")) < EACH, 120)
            wait_for("n2 is relieved", lambda: c.mem_used(n2) < MEM * 31 // 32 and run.idle(), 240)
            site.check()
            run.done(f"relieved: {len(c.guests_of('n1'))} guests on n1, {len(c.guests_of('n2'))} on n2")

            there = len(c.guests_of("n3"))
            assert d.run("maintenance", "enter", "n3").returncode == 0
            wait_for("n3 is empty", lambda: not c.guests_of("n3") and run.idle(), 60 + 40 * there)
            assert d.run("maintenance", "exit", "n3").returncode == 0
            site.check()
            run.done("evacuated")

            site.set_load(0.02)
            run.set_dpm()
            wait_for("two nodes asleep", lambda: len(site.asleep()) >= 2 and run.idle(), 300)
            time.sleep(8)
            equal("asleep", set(site.asleep()), {"n6", "n7"})
            site.check()
            site.check_votes()
            why = {n: d.json("explain", "--host", n)["check"] for n in ("n1", "n2")}
            equal("what keeps the nodes with own use on", why, {"n1": "own_use", "n2": "own_use"})
            run.done("asleep")

            run.morning(2, 30)
            run.done("morning")
            site.check()
            d.stop()
        assert not s.problems, s.problems
    equal("guests that were on a node that Ballast shut down", c.lost, [])
    sent = sum(t.sent for t in c.tasks.values() if hasattr(t, "sent"))
    alone = len(c.arrivals) * USED * (1 + WRITES / (LINK - WRITES))
    print(f"{len(c.arrivals)} guests moved, {sent / GIB:.1f} GiB were copied, one at a time it were {alone / GIB:.1f} GiB")
    thrice = len(c.arrivals) * USED * (1 + WRITES / (LINK / 3 - WRITES))  # three at a time: on a busy machine copies overlap longer
    assert sent <= thrice, (sent, alone, thrice)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
