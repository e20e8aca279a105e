#!/usr/bin/env python3
"""A day and a night of a Proxmox VE cluster (proxmox/) with a real ballastd in full automation, while faults are injected and it is killed:
it balances, empties a node, puts nodes to standby, wakes another when one fails, and has all back in the morning. The simulated cluster itself
checks the rules at each arrival, and the votes at each instant.

A second test: what HA and an admin do by themselves (HA's maintenance mode, failback, shutdown_policy=migrate) is expected, not fought."""
import collections
import datetime
import os
import pathlib
import random
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import Skip, run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Fault, Server, manager  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402
from test_proxmox_service import Gremlins, check_moves, spread  # noqa: E402

LONG = bool(os.environ.get("BALLAST_TEST_LONG"))
SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261127"))
BUSY = ("approved", "starting", "running", "verifying")
STAYS = 4  # n1 to n4 never sleep: they are never proven to wake
SPEED = 4 if LONG else 8  # seconds of the cluster's clock in one of ours
DPM = {"enabled": True, "automation": "automatic", "watch_s": 0, "low_s": 10, "boot_s": 5, "changes_max": 3, "bursts": False, "off_min_s": 3600, "time_zone": "UTC"}
LATE_S = 30  # how much faults, a kill, and a busy machine may delay the last node
NEVER = ["2099-01-01 for 1s"]


class Site:
    """The cluster, its guests, and its rules, which it checks at each arrival."""

    def __init__(self, nodes, version="9.1"):
        self.c = Cluster(version, nodes=nodes)
        began = time.time()
        self.c.clock = lambda: began + SPEED * (time.time() - began)
        self.c.down_s, self.c.boot_s, self.c.migration_rate = SPEED, 2 * SPEED, GIB / 2
        self.c.watch, self.c.ha.acts = self.arrived, True
        self.apart, self.at, self.joined, self.broken = [], {}, [], []

    def arrived(self, guest, origin):
        for group in self.apart:
            if guest in group and any(g.node == guest.node and g is not guest for g in group):
                self.broken.append(f"{guest.vmid} came to {guest.node}, where another one of its group is")
        if guest.vmid in self.at and guest.node not in self.at[guest.vmid]:
            self.broken.append(f"{guest.vmid} left {origin} for {guest.node}")

    def populate(self, guests, seed, sleep):
        """Most of the load on the first third of the nodes; a third of the guests by HA; each kind of rule, of HA and of tags, all of which n4 has
        guests of; containers where no node is to sleep."""
        c, r = self.c, random.Random(seed)
        names = list(c.nodes)
        hot = names[:max(2, len(names) // 3)]
        for i in range(guests):
            ct = i % 20 == 7
            node = "n4" if i == 7 else names[i // 20 % 3] if ct else r.choice(hot) if i % 2 else r.choice(names)
            g = c.add(100 + i, node, kind="lxc" if ct else "qemu", cpu=r.choice((0.2, 0.4, 0.6)) if node in hot else 0.05,
                      mem=3 * GIB // 2, host_used=r.choice((2, 3, 4)) * GIB // 4, used=GIB // 4)
            if i % 3 == 0 and not ct:
                c.manage(g)
        free, managed = ([g for g in c.guests.values() if g.kind == "qemu" and (g.sid() in c.ha.resources) == ha] for ha in (False, True))
        members = len(names) - sleep - 1  # as many as keep a free node at night
        for group in (free[:members], managed[:members]):
            for g, node in zip(group, names[1:]):
                g.node = node
        for g in free[:members]:
            g.tags = "plb_anti_affinity_web"
        c.add_rule("apart", type="resource-affinity", resources=",".join(g.sid() for g in managed[:members]), affinity="negative")
        pair, ha_pair, pinned, near, likes = free[-2:], managed[-2:], free[-3], managed[-3], managed[-4]
        for g, node in ((pair[0], "n4"), (pair[1], "n5"), (ha_pair[0], "n4"), (ha_pair[1], "n5"), (pinned, "n4"), (near, "n4"), (likes, "n3")):
            g.node = node
        for g in pair:
            g.tags = "plb_affinity_app"
        pinned.tags = "plb_pin_n3;plb_pin_n4"
        c.add_rule("pair", type="resource-affinity", resources=",".join(g.sid() for g in ha_pair), affinity="positive")
        c.add_rule("near", resources=near.sid(), nodes="n2,n4", strict=1)
        c.add_rule("likes", resources=likes.sid(), nodes="n3:2,n1:1")
        self.apart, self.joined, self.likes = [free[:members], managed[:members]], [pair, ha_pair], likes
        self.at = {pinned.vmid: {"n3", "n4"}, near.vmid: {"n2", "n4"}}

    def check_rules(self):
        equal("broken rules", self.broken, [])
        for group in self.apart:
            nodes = [g.node for g in group]
            equal("apart", len(set(nodes)), len(nodes))
        for vmid, nodes in self.at.items():
            assert self.c.guests[vmid].node in nodes, (vmid, self.c.guests[vmid].node, nodes)
        equal("requests that HA's own rules refused", [t.log for t in self.c.tasks.values() if t.kind == "hamigrate" and t.exit not in (None, "OK")], [])

    def check_votes(self):
        """No request takes the votes below the quorum and one more, whatever else is on its way down; nor is there an instant when what was
        requested has done so."""
        below = [a for a in self.c.asked if a[1] < 1]
        equal("shutdowns that leave less than the quorum and one more vote", below, [])
        assert self.c.lowest is None or self.c.lowest >= 1, self.c.lowest

    def asleep(self):
        return [n.name for n in self.c.nodes.values() if not n.online and n.died is None]

    def set_load(self, cpu):
        with self.c.lock:
            for g in self.c.guests.values():
                g.cpu = cpu


class Troubles(Gremlins):
    """Those of power, too."""

    no_quorum = False  # at night a lost quorum wakes all nodes, as it should

    def fault_quorum(self):
        if self.no_quorum:
            return self.fault_refusal()
        return super().fault_quorum()

    def fault_lost_power_answer(self):
        self.s.faults.append(Fault("/nodes/[^/]+/status", method="POST", arrives=True, times=1, drop=True))

    def fault_lost_wake(self):
        self.s.faults.append(Fault("/nodes/[^/]+/wakeonlan", method="POST", times=2, drop=True))

    def fault_node_status(self):
        self.s.faults.append(Fault("/cluster/ha/status/manager_status", code=500, reason="got timeout", times=3))


def instant(t):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")


class Night:
    """One ballastd on the site, with its kills and the times of its phases."""

    def __init__(self, site, server, daemon):
        self.site, self.c, self.s, self.d = site, site.c, server, daemon
        self.began, self.kills, self.phases = time.time(), 0, {}

    def done(self, phase):
        self.phases[phase] = time.time() - self.began
        print(f"{self.phases[phase]:6.1f} s {phase}", flush=True)

    def kill_while(self, *states):
        """At a moment when such an action is on its way."""
        wait_for("an action", lambda: self.d.actions(*states), 60)
        self.kill()

    def kill(self):
        self.d.kill()
        self.kills += 1
        self.d.start()

    def idle(self):
        return not self.d.actions(*BUSY)

    def set_dpm(self, **more):
        self.d.write(dpm={**DPM, **more})
        self.d.process.send_signal(signal.SIGHUP)

    def prove(self, *names):
        """Each node that may sleep is proven to wake, while the cluster is empty."""
        for name in names:
            wait_for(f"the request for {name}", lambda: self.d.run("wake", name, "--verify").returncode == 0, 30)
            wait_for(f"the proof of {name}", lambda: name in self.c.wakes and self.c.nodes[name].online and self.idle(), 30)

    def balance(self, kills):
        before = spread(self.c)
        for _ in range(kills):
            self.kill_while("starting", "running", "verifying")
            time.sleep(3)
        wait_for("balance", lambda: self.idle() and self.d.imbalance()[0] <= 1.5 * self.d.imbalance()[1], 90)  # what is left is not worth a move
        after = spread(self.c)
        assert after < before / 1.5, (before, after)
        self.site.check_rules()
        print(f"spread {before:.3f} -> {after:.3f}")

    def evacuate(self, node):
        there = len(self.c.guests_of(node))
        assert there > 0
        wait_for(f"maintenance of {node}", lambda: self.d.run("maintenance", "enter", node).returncode == 0, 30)
        self.kill_while("starting", "running", "verifying")
        wait_for(f"{node} is empty", lambda: not self.c.guests_of(node) and self.idle(), 120)
        wait_for("its end", lambda: self.d.run("maintenance", "exit", node).returncode == 0, 30)
        self.site.check_rules()
        print(f"{there} guests left {node}")

    def sleep(self, count):
        """As many nodes as the votes allow, and no more."""
        self.site.set_load(0.02)
        self.set_dpm()
        self.kill_while("starting", "running", "verifying")
        wait_for(f"{count} nodes asleep", lambda: len(self.site.asleep()) >= count and self.idle(), 120)
        time.sleep(4)  # two passes
        self.site.check_votes()
        equal("asleep", len(self.site.asleep()), count)
        self.site.check_rules()
        print(f"asleep: {self.site.asleep()}, guests on {len({g.node for g in self.c.guests.values()})} nodes")

    def fail(self):
        """A node fails: another is woken at once."""
        name = next(n for n in reversed(self.c.nodes) if self.c.nodes[n].online)
        began = time.time()
        with self.c.lock:
            woken = len(self.c.wakes)
            manager.failed(self.c, name)
        wait_for("another is woken", lambda: len(self.c.wakes) > woken, 30, 0.05)
        took = time.time() - began
        managed = {g.vmid for g in self.c.guests_of(name) if g.sid() in self.c.ha.resources}
        wait_for("it is on", lambda: self.c.votes()[0] > self.c.votes()[1], 30)
        wait_for("HA recovers", lambda: managed <= set(self.c.ha.recovered), 60)
        self.kill()  # in the dark: the next process has never seen the nodes that sleep
        wait_for("a pass", lambda: self.d.status()["pass"], 30)
        print(f"{name} failed, {self.c.wakes[woken:]} woken after {took:.1f} s, {len(managed)} guests recovered by HA")
        return name, took

    def morning(self, count, seconds):
        """All are back by the time of dpm.ready_by, in so many seconds; the load does not rise."""
        sleeps = self.site.asleep()
        equal("asleep until the morning", len(sleeps), count)
        ready = time.time() + seconds
        self.set_dpm(ready_by=[instant(ready)])
        if LONG:
            self.kill_while("starting", "running", "verifying")
        wait_for("all are back", lambda: not self.site.asleep(), seconds + 10)
        early = ready - time.time()
        assert early > -LATE_S, f"back {-early:.1f} s too late"
        print(f"{sleeps} back {early:.1f} s before the morning")
        return early


def night(nodes, proven, guests, faults, every, kills, sleep, length):
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    site = Site(nodes)
    c = site.c
    with Server(c, nodes=["n1", "n2", "n3"]) as s:
        source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 5,
                  "url": s.urls[0], "other_urls": s.urls[1:], "restart_containers": True}
        with Daemon(source, interval_s=3 if LONG else 2, migration_threshold=4, cool_down_s=2, automation="full", proxlb_tags="mandatory",
                    dpm={**DPM, "windows": NEVER}) as d:
            run = Night(site, s, d)
            d.start()
            wait_for("a pass", lambda: d.status()["pass"], 30)
            run.prove(*list(c.nodes)[-proven:])
            run.done("proven")
            with c.lock:
                site.populate(guests, SEED, sleep)
            troubles = Troubles(c, s, SEED, every)
            troubles.start()
            run.balance(kills)
            run.done("balanced")
            run.evacuate("n4")
            run.done("evacuated")
            troubles.no_quorum = True
            run.sleep(sleep)
            run.done("asleep")
            failed, took = run.fail()
            run.done("failure")
            early = run.morning(sleep - 1, length)
            run.done("morning")
            wait_for("all faults", lambda: sum(troubles.counts.values()) >= faults, every * faults)
            troubles.stop()
            with c.lock:
                manager.repaired(c, failed)
            wait_for("rest", lambda: run.idle() and all(p[0].node == p[1].node for p in site.joined) and site.likes.node == "n3", 60)
            done, own = check_moves(c, d, troubles.foreign)
            d.stop()
        assert not s.problems, s.problems
    site.check_votes()
    site.check_rules()
    equal("guests that were on a node that Ballast shut down", c.lost, [])
    print(f"seed {SEED}: {nodes} nodes, {guests} guests: {sum(own.values())} guests moved, {len(c.asked)} shutdowns, {len(c.wakes)} wakes, at least "
          f"{min(a[1] for a in c.asked)} votes above the quorum at requests, {c.lowest} at any instant; woken {took:.1f} s after a failure, "
          f"back {early:.1f} s before the morning; {run.kills} kills, {sum(troubles.counts.values())} faults {dict(troubles.counts)}, "
          f"{len(s.requests)} requests, {sum(done.values())} moves in the history")


# ---- what HA does by itself ----

def own_moves(c, first):
    """(vmid, to) of the migrations that Ballast has asked for, from this task on."""
    found = []
    for t in list(c.tasks.values())[first:]:
        if t.user.startswith("ballast") and "migrat" in t.kind:
            found.append((int(t.ident), t.target if hasattr(t, "target") else re.search(r"to node (\S+)", t.log[0]).group(1)))
    return found


def watch(c, first, seconds, what, bad):
    """None of Ballast's migrations of these seconds may be one of those."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with c.lock:
            equal(what, [m for m in own_moves(c, first) if bad(*m)], [])
        time.sleep(0.5)


def test_what_ha_does_by_itself():
    """HA's maintenance mode: HA moves its guests and brings them back; Ballast moves the others, none there, and does not shut the node down.
    A shutdown with shutdown_policy=migrate, and failback: Ballast lets both happen."""
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    site = Site(7)
    c = site.c
    with Server(c, nodes=["n1", "n2"]) as s:
        source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 10,
                  "url": s.urls[0], "other_urls": s.urls[1:]}
        with Daemon(source, interval_s=3, migration_threshold=4, cool_down_s=2, automation="full", dpm={**DPM, "windows": NEVER}) as d:
            run = Night(site, s, d)
            d.start()
            wait_for("a pass", lambda: d.status()["pass"], 30)
            run.prove("n5")  # the only node that may sleep
            with c.lock:
                for i in range(28):
                    g = c.add(100 + i, f"n{i % 7 + 1}", cpu=0.05, mem=GIB, host_used=GIB // 2, used=GIB // 4)
                    if i >= 14:
                        c.manage(g)
                c.add_rule("likes", resources=c.guests[119].sid(), nodes="n6:2,n1:1")
                theirs = {n: {g.vmid for g in c.guests_of(n) if g.sid() in c.ha.resources} for n in ("n5", "n6")}
                first, shutdowns = len(c.tasks), len(c.asked)
                c.nodes["n5"].maintenance = True
            run.set_dpm()
            wait_for("n5 is empty", lambda: not c.guests_of("n5"), 60)
            watch(c, first, 10, "moves to a node in maintenance, or of what HA moves", lambda vm, to: to == "n5" or vm in theirs["n5"])
            equal("HA's own", {vm for vm, origin, _ in c.ha.own if origin == "n5"}, theirs["n5"])
            equal("a node in maintenance is not shut down", c.asked[shutdowns:], [])
            equal("its state", {h["id"]: h["state"] for h in d.json("hosts")}["n5"], "maintenance")

            run.set_dpm(windows=NEVER)
            with c.lock:
                c.nodes["n5"].maintenance, first = False, len(c.tasks)
            wait_for("HA brings them back", lambda: {g.vmid for g in c.guests_of("n5")} >= theirs["n5"], 60)
            watch(c, first, 10, "moves of what HA has brought back", lambda vm, to: vm in theirs["n5"])

            with c.lock:
                first, woken = len(c.tasks), len(c.wakes)
                manager.shut_down(c, "n6")
            wait_for("n6 is off", lambda: not c.nodes["n6"].online, 60)
            wait_for("n6 is on", lambda: c.nodes["n6"].online, 60)
            wait_for("failback", lambda: {g.vmid for g in c.guests_of("n6")} >= theirs["n6"], 60)
            watch(c, first, 10, "moves of what HA moves", lambda vm, to: vm in theirs["n6"])
            equal("no packet to a node that comes back by itself", c.wakes[woken:], [])
            equal("nothing was cancelled", [x for x in s.changes if x[0] == "DELETE"], [])
            wait_for("n6 serves again", lambda: {h["id"]: h["state"] for h in d.json("hosts")}["n6"] == "on", 30)

            equal("no shutdown by Ballast so far", c.asked[shutdowns:], [])
            run.set_dpm()  # the above can fail: without maintenance n5 is put down
            wait_for("n5 sleeps", lambda: site.asleep() == ["n5"], 60)
            d.stop()
        assert not s.problems, s.problems
    site.check_votes()
    print(f"{len(c.ha.own)} moves by HA itself, {len(own_moves(c, 0))} by Ballast")


def test_night():
    night(*((16, 12, 400, 100, 2.5, 3, 6, 40) if LONG else (7, 3, 84, 12, 3, 1, 2, 12)))


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
