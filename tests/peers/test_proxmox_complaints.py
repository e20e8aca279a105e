#!/usr/bin/env python3
"""What users of ProxLB have complained of does not happen here: a real ballastd in full automation on the tests' own cluster of Proxmox VE
(proxmox/). proxmox/complaints.md lists the complaints, and the tests of those that other files show.

The cool-down is short and the threshold eager, so that nothing but the decision itself keeps a guest from moving again."""
import collections
import contextlib
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import Skip, run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Fault, Server  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402


@contextlib.contextmanager
def balanced_by_ballast(c, **settings):
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    with Server(c) as s:
        source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 10, "url": s.urls[0]}
        given = {"interval_s": 5, "cool_down_s": 1, "migration_threshold": 4, "automation": "full", "proxlb_tags": "mandatory", **settings}
        with Daemon(source, **given) as d:
            d.start()
            yield s, d
            d.stop()
        assert not s.problems, s.problems


SHORT = 0.8  # of a node's CPU or memory: cpu_headroom_percent, mem_headroom_percent


def now(d):
    return (d.status()["pass"] or {"id": 0})["id"]


def settle(c, d, passes=3, least=0):
    """Waits until so many passes have brought no move, after at least so many moves."""
    seen = [len(c.arrivals), now(d)]

    def quiet():
        moves, at = len(c.arrivals), now(d)
        if moves != seen[0] or [a for a in d.actions() if a["state"] in ("starting", "running", "verifying")] or moves < least:
            seen[:] = moves, at
        return at >= seen[1] + passes
    wait_for("no move any more", quiet, 120)
    return list(c.arrivals)


def once_each(moves):
    often = {vmid: n for vmid, n in collections.Counter(vmid for vmid, *_ in moves).items() if n > 1}
    equal("guests that moved twice", often, {})


def test_P1_ha_job_is_not_the_move():
    """"Done" only when the guest is there, and no more moves under way than a host may have, the queued ones included."""
    c = Cluster("9.1", nodes=3)
    for i in range(16):
        c.manage(c.add(100 + i, "n1", cores=4, cpu=0.3, host_used=4 * GIB))
    c.ha.round_s = 5
    most = 0
    with balanced_by_ballast(c, migrations_per_host=2) as (s, d):
        deadline = time.monotonic() + 240
        while len(c.arrivals) < 5 and time.monotonic() < deadline:
            done = [(int(a["vm"]), a["from"], a["to"]) for a in d.json("history", "--limit", "100") if a["state"] == "done"]
            assert not collections.Counter(done) - collections.Counter(c.arrivals), (done, c.arrivals)
            with c.lock:
                most = max(most, len({sid for _, sid, _ in c.ha.queue} | set(c.ha.moving)))
            time.sleep(0.1)
        settle(c, d, least=5)
    assert 1 <= most <= 2, most


def test_P2_failure_is_not_success():
    c = Cluster("9.1", nodes=3)
    for i in range(8):
        c.add(100 + i, "n1", cores=4, cpu=0.4)
    c.move_fails = lambda *_: "online migrate failure - aborting"
    with balanced_by_ballast(c) as (s, d):
        failed = wait_for("a failure", lambda: [a for a in d.json("history", "--limit", "100") if a["state"] == "failed"], 60)
        equal("nothing arrived, and nothing counts as done",
              (c.arrivals, [a for a in d.json("history", "--limit", "100") if a["state"] == "done"]), ([], []))
        assert all("online migrate failure - aborting" in a["why"] for a in failed), failed
        equal("all are where they were", set(d.placement().values()), {"n1"})


def test_P3_pins_do_not_flap():
    """A guest that may run on two nodes stays on either; one that was pinned before moves no more for it."""
    c = Cluster("9.1", nodes=3)
    for i in range(6):
        c.add(100 + i, f"n{i % 3 + 1}", cores=4, cpu=0.2, tags="plb_pin_n1;plb_pin_n2")
    with balanced_by_ballast(c) as (s, d):
        moves = settle(c, d, least=2)
        equal("those on n3 leave it, once, and no other moves", sorted(vmid for vmid, *_ in moves), [102, 105])
        assert all(to in ("n1", "n2") for *_, to in moves), moves
        with c.lock:
            for g in c.guests.values():
                g.tags = ""
                g.cpu = 0.02
        equal("pins that are gone move nothing", len(settle(c, d)), 2)


def test_P4_no_thrashing():
    """A node is evacuated onto two that are loaded: every guest moves once, and what no move would better stays."""
    c = Cluster("9.1", nodes=3)
    for i in range(18):
        c.add(100 + i, f"n{i % 3 + 1}", cores=4, cpu=0.45, mem=4 * GIB, host_used=3 * GIB, used=3 * GIB)
    with balanced_by_ballast(c) as (s, d):
        settle(c, d)
        equal("even, though full", c.arrivals, [])
        d.cli("maintenance", "enter", "n3")
        wait_for("n3 is empty", lambda: not c.guests_of("n3"), 60)
        moves = settle(c, d)
        once_each(moves)
        equal("only what had to leave", ({origin for _, origin, _ in moves}, len(moves)), ({"n3"}, 6))
        equal("half of it each", sorted(len(c.guests_of(n)) for n in ("n1", "n2")), [9, 9])


def test_P5_no_more_moves_than_it_takes():
    """All load is on one node: it is not emptied, its guests go to both others, and none moves twice."""
    c = Cluster("9.1", nodes=3)
    for i in range(30):
        c.add(100 + i, "n1", cores=2, mem=GIB, used=GIB // 2, host_used=GIB // 2, cpu=0.2)
    with balanced_by_ballast(c) as (s, d):
        moves = settle(c, d, least=4)
        once_each(moves)
        loads = {n: c.load(c.nodes[n]) for n in c.nodes}
        assert max(loads.values()) == loads["n1"] < SHORT, (loads, moves)
        equal("to both", {to for *_, to in moves}, {"n2", "n3"})
        equal("away from the loaded node only", {origin for _, origin, _ in moves}, {"n1"})


def test_P6_rules_only():
    """With threshold 1 the rule is kept, and a cluster however uneven is left as it is."""
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, "n1", cores=4, cpu=0.3, tags="plb_anti_affinity_web" if i < 2 else "")
    with balanced_by_ballast(c, migration_threshold=1) as (s, d):
        moves = settle(c, d, least=1)
    equal("one move", (len(moves), moves[0][0] in (100, 101), c.guests[100].node != c.guests[101].node), (1, True, True))


def test_P7_rules_are_enforced_while_balanced():
    c = Cluster("9.1", nodes=3)
    for i in range(9):
        c.add(100 + i, f"n{i // 3 + 1}", cores=2, cpu=0.1)
    c.guests[100].tags = c.guests[101].tags = "plb_anti_affinity_web"
    c.guests[102].tags = c.guests[105].tags = "plb_affinity_db"
    c.guests[108].tags = "plb_pin_n2"
    with balanced_by_ballast(c) as (s, d):
        moves = settle(c, d, least=3)
        once_each(moves)
    equal("each kind of rule", (c.guests[100].node != c.guests[101].node, c.guests[102].node == c.guests[105].node, c.guests[108].node), (True, True, "n2"))
    assert len(moves) <= 4, moves


def test_P8_ha_groups_and_rules():
    """Kept in both versions, also while guests are moved by others between two requests."""
    for version in ("8.4", "9.1"):
        c = Cluster(version, nodes=4)
        for i in range(10):
            c.manage(c.add(100 + i, "n1", cores=4, cpu=0.35), **({"group": "near"} if version == "8.4" else {}))
        sids = ",".join(g.sid() for g in c.guests.values())
        c.ha.groups = {"near": {"nodes": "n1,n2", "restricted": 1, "nofailback": 0}} if version == "8.4" else {}
        if version != "8.4":
            c.add_rule("near", resources=sids, nodes="n1,n2", strict=1)
            c.add_rule("apart", type="resource-affinity", resources="vm:100,vm:101", affinity="negative")
        c.ha.round_s = 2
        with balanced_by_ballast(c) as (s, d):
            s.faults.append(Fault("/nodes/n1/qemu/10[0-9]/config", code=500, times=5,
                                  reason="Configuration file 'nodes/n1/qemu-server/100.conf' does not exist"))
            if version != "8.4":
                wait_for("they are apart", lambda: c.guests[100].node != c.guests[101].node, 120)
            moves = settle(c, d, least=2)
            once_each(moves)
        equal(f"{version}: by the rule", {to for *_, to in moves}, {"n2"})


def test_P9_version_8():
    """Nothing is sent that version 8 does not know, for guests of both kinds, with and without HA."""
    c = Cluster("8.4", nodes=3)
    for i in range(9):
        c.add(100 + i, "n1", cores=4, cpu=0.35)
    for vmid in (100, 103):
        c.manage(c.guests[vmid])
    c.ha.round_s = 2
    with balanced_by_ballast(c) as (s, d):
        settle(c, d, least=2)
        equal("refused", [a for a in d.json("history", "--limit", "100") if a["state"] == "failed"], [])
        equal("options", {frozenset(given) for _, path, given in s.changes if path.endswith("/migrate")}, {frozenset(("target", "online"))})


def test_P12_no_move_where_nothing_is_short():
    """Unevenly loaded, and far from full."""
    c = Cluster("9.1", nodes=3)
    for i in range(6):
        c.add(100 + i, f"n{min(i, 2) + 1}", cores=2, cpu=0.03 * (i + 1), used=GIB // 2, host_used=GIB)
    with balanced_by_ballast(c, migration_threshold=3) as (s, d):
        equal("moves", settle(c, d, passes=5), [])
        equal("recommendations", d.actions(), [])


def test_P13_cpu_and_memory_together():
    """n1 lacks CPU, n2 memory, n3 nothing: in the end no node lacks either."""
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, "n1", cores=4, cpu=0.3, mem=2 * GIB, used=GIB, host_used=GIB)
    for i in range(10):
        c.add(200 + i, "n2", cores=1, cpu=0.02, mem=6 * GIB, used=int(5.8 * GIB), host_used=6 * GIB)
    with balanced_by_ballast(c) as (s, d):
        moves = settle(c, d, least=4)
        once_each(moves)
    equal("CPU leaves n1, memory n2", {(vmid // 100, origin) for vmid, origin, _ in moves} <= {(1, "n1"), (2, "n2")}, True)
    assert {vmid // 100 for vmid, *_ in moves} == {1, 2}, moves
    used = {n.name: (c.load(n), c.mem_used(n) / n.mem) for n in c.nodes.values()}
    least = SHORT + (1 - SHORT) / 10  # a node that uses less than a tenth of its headroom is left alone
    assert all(cpu < least and mem < least for cpu, mem in used.values()), (used, moves)


def test_P14_node_that_is_too_small():
    """A node that is there for its vote has 2 CPUs and 8 GiB: it gets no guest with more vCPUs, which it would not start, and no more memory than it can hold, though
    another node must be emptied."""
    c = Cluster("9.1", nodes=3)
    c.nodes["n3"].cpus, c.nodes["n3"].mem = 2, 8 * GIB
    for i in range(12):
        c.add(100 + i, "n1", cores=1, cpu=0.1, mem=4 * GIB, used=3 * GIB, host_used=4 * GIB)
    for i in range(8):
        c.add(200 + i, "n1", cores=4, cpu=0.35, mem=GIB, used=GIB // 2, host_used=GIB)
    with balanced_by_ballast(c) as (s, d):
        settle(c, d)
        d.cli("maintenance", "enter", "n1")
        wait_for("n1 is empty", lambda: not c.guests_of("n1"), 60)
        moves = settle(c, d)
        once_each(moves)
        equal("failed", [a for a in d.json("history", "--limit", "100") if a["state"] == "failed"], [])
        told = d.run("explain", "--vm", "200", "--host", "n3").stdout
        assert "can run on 2 of the 3 hosts, but not on n3" in told, told
    equal("guests with 4 vCPUs", {c.guests[200 + i].node for i in range(8)}, {"n2"})
    assert c.guests_of("n3"), moves
    assert c.mem_used(c.nodes["n3"]) <= 8 * GIB, moves


def test_P15_more_guests_than_nodes():
    """Guests that are to be apart and are more than the nodes: as far apart as there are nodes, in peace, and other rules are kept."""
    c = Cluster("9.1", nodes=3)
    for i in range(5):
        c.add(100 + i, "n1", cores=2, cpu=0.1, tags="plb_anti_affinity_web")
    c.add(110, "n1", tags="plb_pin_n2")
    with balanced_by_ballast(c) as (s, d):
        moves = settle(c, d, least=3)
        once_each(moves)
    equal("on all nodes, and the pin", ({c.guests[100 + i].node for i in range(5)}, c.guests[110].node), ({"n1", "n2", "n3"}, "n2"))


def test_P15_ignored_on_a_node_in_maintenance():
    """What is to be ignored is not moved for balance; it leaves a node in maintenance, and its other tags count. One with never_move keeps the node,
    and is named."""
    c = Cluster("9.1", nodes=3)
    c.add(100, "n1", cores=4, cpu=0.9, tags="plb_ignore_me;plb_anti_affinity_web")
    c.add(101, "n1", cores=4, cpu=0.9, tags="plb_ignore_never")
    for vmid in (102, 103):
        c.add(vmid, "n1", cores=4, cpu=0.9)
    c.add(104, "n2", tags="plb_anti_affinity_web")
    with balanced_by_ballast(c, vms=[{"tag": "plb_ignore_never", "never_move": "a licence dongle"}]) as (s, d):
        moves = settle(c, d, least=1)
        assert {vmid for vmid, *_ in moves} <= {102, 103}, moves
        assert "plb_ignore_me" in d.cli("explain", "--vm", "100"), d.cli("explain", "--vm", "100")
        d.cli("maintenance", "enter", "n1")
        wait_for("the others leave", lambda: [g.vmid for g in c.guests_of("n1")] == [101], 60)
        settle(c, d)
        equal("away from the one that it is to be apart from", c.guests[100].node, "n3")
        assert "a licence dongle" in d.cli("explain", "--vm", "101"), d.cli("explain", "--vm", "101")


def test_P15_loads_of_zero():
    """Now and then the API says that running guests use no CPU."""
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, f"n{i % 3 + 1}", cores=4, cpu=0.4)
    looks = [0]

    def zero(rows):
        looks[0] += 1
        return [{**r, "cpu": 0} if looks[0] % 4 == 0 and r.get("node") == "n2" and "vmid" in r else r for r in rows]
    with balanced_by_ballast(c) as (s, d):
        s.twists.append(("/cluster/resources", zero))
        equal("moves", settle(c, d, passes=9), [])
    assert looks[0] >= 8, looks


def test_evacuation_with_a_manager_that_begins_nothing():
    """HA accepts the move of a guest that may go to one node alone, and does not begin it: it is tried again after half a minute, and not at the next
    pass or after a pause of its node. The status says what the evacuation waits for."""
    c = Cluster("9.1", nodes=3)
    c.manage(c.add(100, "n1", tags="licence"))
    c.ha.drop = 1
    ahead = [0]
    c.clock = lambda: time.time() + ahead[0]

    def waits(d):
        return [x for x in d.status()["evacuations"] if x["move"] == "failed" and x["until"]]
    rule = {"kind": "host-affinity", "vms": {"tag": "licence"}, "hosts": ["n1", "n3"]}
    with balanced_by_ballast(c, interval_s=900, cool_down_s=300, rules={"licence": rule}) as (_, d):
        wait_for("a pass", lambda: d.status()["pass"])
        d.cli("maintenance", "enter", "n1")
        wait_for("it is requested", lambda: c.ha.drop == 0, 60)
        ahead[0] += 60
        wait_for("it has failed", lambda: waits(d), 60)
        failed = time.monotonic()
        [x] = waits(d)
        assert (x["host_name"], x["vm"]) == ("n1", "100") and "did not begin it" in x["why"], x
        text = d.cli("status")
        assert "1 leaving" in text and "not tried again before" in text and "did not begin it" in text, text
        wait_for("it leaves", lambda: c.guests[100].node == "n3", 90)
        assert time.monotonic() - failed > 20, "it was not left alone"
        wait_for("nothing is left to be told", lambda: not d.status()["evacuations"], 60)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
