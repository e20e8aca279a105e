#!/usr/bin/env python3
"""A real ballastd in full automation on the tests' own cluster of Proxmox VE (proxmox/), while faults are injected and it is killed."""
import collections
import os
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import Skip, run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Fault, Server, tasks  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402
from test_proxmox_complaints import balanced_by_ballast, settle  # noqa: E402

LONG = bool(os.environ.get("BALLAST_TEST_LONG"))
PATHS = ("/cluster/status", "/cluster/resources", "/cluster/ha/.*", "/nodes/[^/]+/tasks.*", "/nodes/[^/]+/(qemu|lxc)/.*", "/nodes/[^/]+/status")


def populate(c, guests, seed):
    """Most of the load on the first third of the nodes; a third of the guests by HA, rules of HA and of tags, some containers."""
    r = random.Random(seed)
    names = list(c.nodes)
    hot = names[:max(1, len(names) // 3)]
    for i in range(guests):
        node = r.choice(hot) if i % 2 else r.choice(names)
        g = c.add(100 + i, node, kind="lxc" if i % 20 == 7 else "qemu", cpu=r.choice((0.2, 0.4, 0.6)) if node in hot else 0.05,
                  mem=2 * GIB, host_used=r.choice((1, 2)) * GIB, used=GIB // 2)
        if i % 3 == 0:
            c.manage(g)
    vms = [g for g in c.guests.values() if g.kind == "qemu"]
    for g in vms[:2]:
        g.tags = "plb_anti_affinity_web"
        c.ha.resources.pop(g.sid(), None)
    vms[3].tags = f"plb_pin_{vms[3].node}"
    managed = [g for g in vms[4:] if g.sid() in c.ha.resources]
    c.add_rule("apart", type="resource-affinity", resources=",".join(g.sid() for g in managed[:2]), affinity="negative")
    c.add_rule("near", resources=managed[2].sid(), nodes=managed[2].node, strict=1)
    return vms[:2], vms[3], vms[3].node, managed[:2], managed[2], managed[2].node


FAULT_S = 8


class Gremlins(threading.Thread):
    """Injects one fault after another, each for some seconds at most: what nobody has met until then is over. The faults, their order and
    their choices follow from the seed alone."""

    def __init__(self, c, s, seed, every):
        super().__init__(daemon=True)
        self.c, self.s, self.seeds, self.r, self.every = c, s, random.Random(seed), None, every
        self.end, self.counts, self.foreign = threading.Event(), collections.Counter(), collections.Counter()

    def run(self):
        kinds = [getattr(self, name) for name in sorted(dir(self)) if name.startswith("fault_")]
        old = []
        while not self.end.wait(self.every):
            self.r = random.Random(self.seeds.random())  # one for each fault: how many draws it takes changes no later one
            kind = self.r.choice(kinds)
            self.counts[kind.__name__[6:]] += 1
            before = len(self.s.faults)
            kind()
            old += [(time.monotonic() + FAULT_S, f) for f in self.s.faults[before:]]
            over = [f for until, f in old if until <= time.monotonic()]
            self.s.faults[:] = [f for f in self.s.faults if f not in over]
            old = [o for o in old if o[1] not in over]

    def stop(self):
        self.end.set()
        self.join()
        self.s.faults.clear()
        self.c.quorate, self.c.move_fails, self.c.ha.drop = None, None, 0

    def guest(self):
        return self.r.choice(list(self.c.guests.values()))

    def fault_lost_answer(self):
        self.s.faults.append(Fault("/nodes/.*/migrate", method="POST", arrives=True, times=1,
                                   **self.r.choice(({"drop": True}, {"code": 596, "reason": "Connection timed out"}))))

    def fault_lost_request(self):
        self.s.faults.append(Fault("/nodes/.*/migrate", method="POST", times=1, drop=True))

    def fault_no_route(self):
        self.s.faults.append(Fault(self.r.choice(PATHS), code=595, reason="No route to host", times=3))

    def fault_hang(self):
        self.s.faults.append(Fault(self.r.choice(PATHS), hang_s=2, times=2))

    def fault_refusal(self):
        self.s.faults.append(Fault(self.r.choice(PATHS), code=500, reason="got timeout", times=2))

    def fault_backup(self):
        with self.c.lock:
            g = self.guest()
            g.lock = g.lock or "backup"
        self.end.wait(2)
        with self.c.lock:
            g.lock = "" if g.lock == "backup" else g.lock

    def fault_ticket(self):
        self.s.expire_tickets()

    def fault_ha_drops(self):
        self.c.ha.drop += 1

    def fault_quorum(self):
        self.c.quorate = False
        self.end.wait(2)
        self.c.quorate = None

    def fault_foreign_move(self):
        with self.c.lock:
            g = self.guest()
            target = self.r.choice(list(self.c.nodes))
            ready = all(self.c.nodes[n].online and not self.c.nodes[n].goes_down for n in (g.node, target))
            if g.kind == "lxc" or g.lock or g.node == target or tasks.is_ha(self.c, g) or g.tags or not ready or not self.c.is_quorate():
                return
            tasks.migrate(self.c, g, target, "admin@pam", True)
            self.foreign[(g.vmid, g.node, target)] += 1

    def fault_failures(self):
        self.c.move_fails = lambda *_: "online migrate failure - aborting"
        self.end.wait(1)
        self.c.move_fails = None


def spread(c):
    loads = [c.load(n) for n in c.nodes.values() if not n.maintenance]
    mean = sum(loads) / len(loads)
    return (sum((x - mean) ** 2 for x in loads) / len(loads)) ** 0.5


def check_moves(c, d, foreign):
    """What Ballast counts as done has happened, and has happened once: each migration of its own is one of its actions."""
    done = collections.Counter((int(a["vm"]), a["from"], a["to"]) for a in d.json("history", "--limit", "1000")
                               if a["state"] == "done" and a.get("from"))
    began = collections.Counter(c.arrivals) - foreign
    assert not done - collections.Counter(c.arrivals), done - collections.Counter(c.arrivals)
    return done, began


def service(nodes, guests, faults, every):
    """Balance with faults and kills, then a node is evacuated."""
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    c = Cluster("9.1", nodes=nodes)
    began = time.time()
    c.clock = lambda: began + 4 * (time.time() - began)  # a minute of the cluster's is a quarter of ours
    c.migration_rate = GIB / 4
    apart, pinned, pin, ha_apart, near, home = populate(c, guests, 5)
    with Server(c, nodes=["n1", "n2", "n3"]) as s:
        source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 5,
                  "url": s.urls[0], "other_urls": s.urls[1:], "restart_containers": True}
        with Daemon(source, interval_s=5, migration_threshold=4, cool_down_s=10, automation="full", proxlb_tags="mandatory") as d:
            before = spread(c)
            d.start()
            wait_for("a move", lambda: d.actions("running", "verifying"), 40)
            gremlins = Gremlins(c, s, 7, every)
            gremlins.start()
            kills, phases = 0, []
            while sum(gremlins.counts.values()) < faults:
                time.sleep(2)
                if d.actions("running", "starting") and kills < 2 + faults // 30:
                    d.kill()
                    kills += 1
                    d.start()
            gremlins.stop()
            phases.append(time.time() - began)
            wait_for("balance", lambda: spread(c) < before / 1.5 and d.imbalance()[0] <= d.imbalance()[1] and not d.actions("approved", "starting", "running", "verifying"), 150)
            after = spread(c)
            done, own = check_moves(c, d, gremlins.foreign)
            phases.append(time.time() - began)
            wait_for("a look without a fault", lambda: d.run("maintenance", "enter", "n4").returncode == 0, 30)
            wait_for("n4 is empty", lambda: not [g for g in c.guests_of("n4") if g not in (near, pinned)], 150)
            wait_for("all has ended", lambda: not d.actions("starting", "running", "verifying"), 60)
            check_moves(c, d, gremlins.foreign)
            assert apart[0].node != apart[1].node and ha_apart[0].node != ha_apart[1].node, "rules that keep apart"
            equal("pins", (pinned.node, near.node), (pin, home))
            assert not [t for t in c.tasks.values() if t.kind.endswith("zmigrate") and t.exit == "OK" and t.node != "n4"], "containers move off n4 only"
            d.stop()
        assert not s.problems, s.problems
    assert after < before / 1.5, (before, after)
    print(f"{nodes} nodes, {guests} guests: spread {before:.3f} -> {after:.3f}, {sum(done.values())} moves done of {sum(own.values())} that "
          f"arrived, {kills} kills, {sum(gremlins.counts.values())} faults {dict(gremlins.counts)}, {len(s.requests)} requests; faults until {phases[0]:.0f} s, balanced at {phases[1]:.0f} s")


def test_service():
    service(*((16, 400, 100, 1.0) if LONG else (6, 90, 14, 0.7)))


def test_failover_capacity():
    """Proxmox VE has no policy of failover capacity: that of the configuration keeps a node empty, and says what cannot be kept."""
    c = Cluster("9.1", nodes=3)
    for i in range(9):
        c.add(100 + i, f"n{i % 3 + 1}", cores=2, cpu=0.1)
    with balanced_by_ballast(c, ha={"policy": "dedicated", "failover_hosts": ["n3", "n9"]}) as (_, d):
        settle(c, d, least=3)
        equal("guests on n3", len(c.guests_of("n3")), 0)
        equal("faults", [f["text"] for f in d.status()["faults"] if f["code"] == "spare_missing"],
              ["No host of the cluster is the failover host \"n9\" of the configuration (ha.failover_hosts)."])


def test_failover_capacity_is_missing():
    """Two nodes, of which neither has the memory for the other one's guests: a fault, and no move."""
    c = Cluster("9.1", nodes=2)
    for i in range(8):
        c.add(100 + i, f"n{i % 2 + 1}", cores=2, cpu=0.1, mem=12 * GIB, used=10 * GIB, host_used=11 * GIB)
    with balanced_by_ballast(c, ha={"policy": "host_failures"}) as (_, d):
        equal("moves", settle(c, d), [])
        faults = [f["text"] for f in d.status()["faults"] if f["code"] == "spare_missing"]
        assert faults and all(" could not restart: " in text for text in faults), faults


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
