#!/usr/bin/env python3
"""The start of guests by the actuator of Proxmox VE, against the tests' own cluster (proxmox/): on the node where the guest is, and on
another one, to which it is migrated first; with and without HA; and what can go wrong on the way."""
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import Skip, run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Fault, Server, tasks  # noqa: E402
from test_proxmox_actuator import VERSIONS, equal, posts, world  # noqa: E402


def act(p, verb, vm=100, to="n2"):
    return p(verb, "power_on_vm", "uid", vm, to)


def good(p, verb, *what):
    told = act(p, verb, *what)
    assert told["ok"], told
    return told["task"]


def bad(p, verb, error, text, *what):
    told = act(p, verb, *what)
    assert not told["ok"] and told["error"] == error and text in told["text"], told


def poll(p, task, vm=100, to="n2", *only):
    """As the service does: (answer, the name under which the task goes on)."""
    told = p("poll", "power_on_vm", "uid", vm, to, task, *only)
    assert told["ok"], told
    return told, told["task"] or task


def follow(c, p, task, vm=100, to="n2", most=40):
    """To its end; each poll some seconds after the last one."""
    names = [task]
    for _ in range(most):
        told, task = poll(p, task, vm, to)
        if task != names[-1]:
            names.append(task)
        if told["state"] in ("succeeded", "failed"):
            return told, names
        c.jump(3)
    raise AssertionError((told, names))


def kinds(names):
    """["HA", "qmstart", ...]"""
    return [n.split(":")[5] if n.startswith("UPID") else "HA start" if n.split(":")[3] == n.split(":")[4] else "HA move" for n in names]


def off(c, vmid=100, node="n1", ha=False, **more):
    guest = c.add(vmid, node, status="stopped", **more)
    if ha:
        c.manage(guest, state="stopped")
    return guest


# ---- as it should be ----

def test_off_moves():
    """A guest that is off is only moved, of each version, kind of guest and manager; not one that runs, or whose disk is not shared."""
    for version in VERSIONS:
        for kind in ("qemu", "lxc"):
            for ha in (False, True):
                with world(version) as (c, s, p):
                    guest = off(c, kind=kind, ha=ha)
                    move = ("migrate_off", "uid", 100, "n1", "n2")
                    assert not p("check", "migrate", *move[1:])["ok"], "it does not run"
                    told = p("check", *move)
                    assert told["ok"], told
                    task = p("start", *move)["task"]
                    for _ in range(40):
                        end = p("poll", task)
                        if end["state"] in ("succeeded", "failed"):
                            break
                        c.jump(3)
                    equal("it is there, and off", (end["state"], guest.status, guest.node, c.starts), ("succeeded", "stopped", "n2", []))
                    equal("asked once", posts(s), [f"POST /nodes/n1/{kind}/100/migrate"])
                    equal("nothing is left to do", p("check", *move)["error"], "ESTALE")
                    guest.status = "running"
                    told = p("check", "migrate_off", "uid", 100, "n2", "n1")
                    assert told["error"] == "ESTALE" and "is not off any more" in told["text"], told


def test_starts():
    """On its node, and on another one, of each version, kind of guest and manager. Every route and parameter is compared with the description."""
    for version in VERSIONS:
        for kind in ("qemu", "lxc"):
            for ha in (False, True):
                for node in ("n2", "n1"):
                    with world(version) as (c, s, p):
                        guest = off(c, node=node, kind=kind, ha=ha)
                        good(p, "check")
                        equal("a check changes nothing", posts(s), [])
                        end, names = follow(c, p, good(p, "start"))
                        equal("it runs", (end["state"], guest.status, guest.node, c.starts), ("succeeded", "running", "n2", [(100, "n2")]))
                        first = [] if node == "n2" else [f"POST /nodes/n1/{kind}/100/migrate"]
                        equal("asked once each", posts(s), [*first, f"POST /nodes/n2/{kind}/100/status/start"])
                        assert kinds(names)[-1] == {"qemu": "qmstart", "lxc": "vzstart"}[kind] or ha, names
                        if first:
                            equal("options of what is off", s.changes[0][2], {"target": "n2"})
                        bad(p, "start", "ESTALE", "runs already, on n2")
                        bad(p, "check", "ESTALE", "runs already, on n2", 100, "n1")
                        assert not s.problems, s.problems


def test_refusals():
    with world(nodes=4, addresses=["n2"], settings={"restart_containers": "false"}) as (c, s, p):
        c.storages["shared"].nodes = ["n1", "n2", "n3"]
        off(c)
        off(c, 101, storage="local-lvm")
        off(c, 102, config={"hostpci0": "0000:01:00.0"})
        off(c, 103, kind="lxc")
        bad(p, "check", "EPERM", "may not move to n4: unavailable_storages shared", 100, "n4")
        bad(p, "check", "EPERM", "a disk that is not shared, local-lvm:vm-101-disk-0 (local_disks)", 101)
        good(p, "check", 101, "n1")  # where its disk is
        bad(p, "check", "EPERM", "uses a device of its node (hostpci0)", 102)
        good(p, "check", 103)  # one that is off is not restarted
        c.nodes["n3"].online = False
        bad(p, "check", "EHOSTDOWN", "the destination n3 is offline", 100, "n3")
        c.quorate = False
        bad(p, "check", "EAGAIN", "no quorum")
        bad(p, "start", "EAGAIN", "no quorum")
        c.quorate = None
        bad(p, "check", "ENOENT", "no node n9", 100, "n9")
        bad(p, "check", "ENOENT", "no guest 999", 999)
        bad(p, "check", "EINVAL", "no VMID", "x")
        equal("nothing was begun", [r for r in posts(s) if "migrate" not in r], [])
        c.nodes["n1"].online = False  # where the guest is
        bad(p, "check", "EHOSTDOWN", "")
        c.nodes["n1"].online = True
        c.accounts[s.token].acl["/"] -= {"VM.PowerMgmt"}
        bad(p, "start", "EPERM", "VM.PowerMgmt", 100, "n1")
        c.accounts[s.token].acl["/"] |= {"VM.PowerMgmt"}
        c.start_fails = lambda _: "start failed: QEMU exited with code 1"
        end, _ = follow(c, p, good(p, "start", 100, "n1"), 100, "n1")
        equal("the task's own reason", (end["state"], end["why"]), ("failed", "node n1: start failed: QEMU exited with code 1"))


def test_locks():
    """Waited for, before the move and before the start; a suspended guest has a lock with which it is started where it is."""
    with world() as (c, s, p):
        guest = off(c, lock="backup")
        bad(p, "check", "EBUSY", "is locked (backup)")
        bad(p, "check", "EBUSY", "is locked (backup)", 100, "n1")
        bad(p, "start", "ESTALE", "is locked (backup)", 100, "n1")
        guest.lock = ""
        task = good(p, "start")
        c.jump(2)
        guest.lock = "snapshot"  # as soon as it has arrived
        s.twists.append((".*/qemu/100/status/current", lambda row: {**row, "lock": "snapshot"} if guest.node == "n2" else row))
        c.tasks[task].end = lambda t: (tasks.Migration.arrive(t), setattr(guest, "lock", "snapshot"))[0]
        for _ in range(3):
            told, task = poll(p, task)
            equal("it waits", (told["state"], told["task"], guest.node), ("running", "", "n2"))
            c.jump(60)
        guest.lock, s.twists[:] = "", []
        end, names = follow(c, p, task)
        equal("then it runs", (end["state"], c.starts), ("succeeded", [(100, "n2")]))
        sleeper = off(c, 101, lock="suspended")
        bad(p, "check", "EBUSY", "is locked (suspended)", 101)
        good(p, "check", 101, "n1")
        end, _ = follow(c, p, good(p, "start", 101, "n1"), 101, "n1")
        equal("resumed", (end["state"], sleeper.status, sleeper.lock), ("succeeded", "running", ""))


# ---- others, and lost answers ----

def test_started_by_somebody_else():
    """Before the request, before the second step, and at the same moment: the guest runs, which is what was wanted."""
    with world() as (c, s, p):
        off(c)
        tasks.start(c, c.guests[100], "admin@pam")
        bad(p, "start", "EBUSY", "is being started on n1 by somebody else")
        c.jump(2)
        bad(p, "start", "ESTALE", "runs already, on n1")
        guest = off(c, 101)
        task = good(p, "start", 101)
        c.jump(2)
        p("poll", task)
        guest.status = "running"
        end, _ = follow(c, p, task, 101)
        equal("nothing more is asked", (end["state"], [r for r in posts(s) if "101" in r]), ("succeeded", ["POST /nodes/n1/qemu/101/migrate"]))
        guest = off(c, 102, "n2")
        task = good(p, "start", 102)
        guest.status = "running"  # by another request, which this one does not find
        c.tasks[task].fails, c.tasks[task].due = "VM 102 already running", 0
        equal("no failure", follow(c, p, task, 102)[0]["state"], "succeeded")
        off(c, 103, "n2")
        foreign = tasks.start(c, c.guests[103], "admin@pam")
        equal("a start that runs there is adopted", good(p, "start", 103), foreign)
        equal("nothing was begun for it", [r for r in posts(s) if "103" in r], [])


class Meanwhile(Fault):
    """Lets time pass before the request is answered, once."""

    def __init__(self, path, cluster, seconds):
        super().__init__(path, times=1)
        self.cluster, self.seconds = cluster, seconds

    def strikes(self, method, path):
        if super().strikes(method, path):
            self.cluster.jump(self.seconds)
        return False


def test_start_that_ends_while_the_guest_is_looked_at():
    """After the guest was seen off, and before its tasks are listed: a second start would fail."""
    with world() as (c, s, p):
        off(c)
        tasks.start(c, c.guests[100], "admin@pam")
        s.faults[:] = [Meanwhile(r".*/tasks.*", c, 5)]
        bad(p, "start", "ESTALE", "runs already, on n1")
        equal("nothing was begun", posts(s), [])


def test_lost_answers():
    """Of the move and of the start, in each way, with and without HA: each happens once."""
    lost = ({"drop": True}, {"code": 596, "reason": "Connection timed out"}, {"body": b"<html>"}, {"hang_s": 2, "drop": True})
    for ha in (False, True):
        with world(settings={"timeout_s": 1}) as (c, s, p):
            for vmid, (how, arrives, call) in enumerate(((h, a, w) for h in lost for a in (False, True) for w in ("migrate", "start")), 100):
                off(c, vmid, "n1" if call == "migrate" else "n2", ha)
                s.faults[:] = [Fault(f".*/qemu/{vmid}/.*{call}", times=1, method="POST", arrives=arrives, **how)]
                told = act(p, "start", vmid)
                assert not told["ok"] and told["error"] in ("ECONNRESET", "EPROTO", "ETIMEDOUT"), (how, told)
                c.jump(3 if ha else 0)
                again = wait_for("an answer", lambda: (lambda told: told if told.get("error") != "EAGAIN" else None)(act(p, "start", vmid)))
                if again["ok"]:
                    equal(f"{how} {arrives} {call}", follow(c, p, again["task"], vmid)[0]["state"], "succeeded")
                else:  # it has ended by now
                    assert arrives and call == "start" and again["error"] == "ESTALE", again
                of = [t.kind for t in c.tasks.values() if t.ident == str(vmid)]
                equal(f"{how} {arrives} {call}: each once", (c.guests[vmid].status, sorted(set(of)) == sorted(of)), ("running", True))
                c.jump(60)


def test_lost_answer_of_the_second_step():
    for ha in (False, True):
        with world(settings={"timeout_s": 1}) as (c, s, p):
            off(c, ha=ha)
            task = good(p, "start")
            s.faults[:] = [Fault("/nodes/n2/qemu/100/status/start", times=1, method="POST", arrives=True, code=596, reason="Connection timed out")]
            for _ in range(40):
                told = p("poll", "power_on_vm", "uid", 100, "n2", task)
                if not told["ok"]:
                    break
                task = told["task"] or task
                c.jump(3)
            equal("said as what it is", told["error"], "ECONNRESET")
            c.jump(2 if ha else 0)
            end, _ = follow(c, p, task)
            equal("once", (end["state"], [t.kind for t in c.tasks.values() if t.kind.endswith("start")][:1], c.starts),
                  ("succeeded", ["hastart" if ha else "qmstart"], [(100, "n2")]))
            equal("asked once", len([r for r in posts(s) if r.endswith("start")]), 1)


def test_called_off():
    """While the service is paused, or after the start was cancelled, the guest that has arrived is not started."""
    with world() as (c, s, p):
        off(c)
        task = good(p, "start")
        c.jump(2)
        told, _ = poll(p, task, 100, "n2", "only")
        equal("not started", (told["state"], told["gone"], c.guests[100].node, c.guests[100].status), ("failed", False, "n2", "stopped"))
        assert "called off" in told["why"], told
        equal("no request", len(posts(s)), 1)
        off(c, 101, "n2")
        bad(p, "adopt", "ESRCH", "no start of guest 101", 101)
        bad(p, "adopt", "ESRCH", "no migration of guest 101", 101, "n1")


def test_guest_that_vanishes():
    with world() as (c, s, p):
        off(c)
        task = good(p, "start")
        c.jump(2)
        p("poll", task)
        del c.guests[100]
        told, _ = poll(p, task)
        equal("an inventory tells", (told["state"], told["gone"]), ("failed", True))
        off(c, 101)
        task = good(p, "start", 101)
        c.jump(2)
        p("poll", task)
        c.guests[101].node = "n3"  # moved on by somebody else
        told, _ = poll(p, task, 101)
        equal("nor is it started elsewhere", (told["state"], told["gone"], c.guests[101].status), ("failed", True, "stopped"))


# ---- HA ----

def test_ha_that_does_not():
    """HA accepts the start and nothing happens; the manager is dead; the start fails; HA chooses the nodes."""
    with world() as (c, s, p):
        off(c, node="n2", ha=True)
        c.ha.drop = 1
        task = good(p, "start")
        assert task.startswith("HA:vm:100:n2:n2:"), task
        c.jump(20)
        equal("it may come yet", poll(p, task)[0]["state"], "queued")
        c.jump(40)
        end, _ = poll(p, task)
        equal("it did not", (end["state"], end["gone"], c.starts), ("failed", False, []))
        assert "HA accepted the start of guest 100 on n2 and did not begin it (state stopped)" in end["why"], end
        equal("a request that came to nothing is repeated", (c.jump(60), good(p, "start"), len(posts(s)))[2], 2)
        off(c, 101, "n2", ha=True)
        c.ha.stopped = c.clock()
        task = good(p, "start", 101)
        c.jump(60)
        equal("a manager that makes no rounds is waited for", poll(p, task, 101)[0]["state"], "queued")
        told = p("cancel", task)
        equal("not taken back", told["error"], "EOPNOTSUPP")
        c.ha.stopped = None
        c.jump(20)
        equal("it goes on", follow(c, p, task, 101)[0]["state"], "succeeded")
        off(c, 102, "n2", ha=True)
        c.start_fails = lambda _: "start failed: no space left"
        end, _ = follow(c, p, good(p, "start", 102), 102)
        equal("the reason of HA's own task", (end["state"], end["why"]), ("failed", "node n2: start failed: no space left"))
        c.start_fails = None
        off(c, 103, "n1", ha=True)
        c.ha.drop = 1
        end, _ = follow(c, p, good(p, "start", 103), 103)
        assert end["state"] == "failed" and "HA accepted the migration of guest 103 to n2" in end["why"], end
        equal("nor is it started where it is", c.guests[103].status, "stopped")
    with world() as (c, s, p):
        off(c, node="n2", ha=True)
        c.ha.max_workers = 0  # the manager has read it, and the node has no time for it
        task = good(p, "start")
        c.jump(120)
        equal("it may come yet", poll(p, task)[0]["state"], "queued")
        again = good(p, "start")
        equal("not asked twice", (again.split(":")[:5], len(posts(s))), (task.split(":")[:5], 1))
        c.ha.max_workers = 4
        equal("it goes on", follow(c, p, again)[0]["state"], "succeeded")
    with world() as (c, s, p):
        off(c, ha=True)
        off(c, 101)
        c.options = {"crs": {"ha": "static", "ha-rebalance-on-start": 1}}
        bad(p, "check", "EPERM", "HA chooses the node of guest 100 itself")
        bad(p, "start", "EPERM", "HA chooses the node of guest 100 itself")
        good(p, "check", 101)
        equal("nothing was begun", posts(s), [])


# ---- the service ----

def outcome(d, vm):
    found = wait_for(f"{vm}: an end", lambda: [a for a in d.json("history", "--limit", "20") if a["vm"] == str(vm)
                                               and a["state"] in ("done", "failed", "cancelled")], 60)
    equal(f"{vm}: {found[0]['why']}", found[0]["state"], "done")
    return found[0]


def place(d, vm):
    d.cli("place", "--apply", str(vm))
    return outcome(d, vm)


def test_service():
    """`ballast place --apply` starts guests where it has chosen, also when the service is killed between the move and the start."""
    if "BALLASTD" not in os.environ:
        raise Skip("BALLASTD is not set: run this with meson test")
    c = Cluster("9.1", nodes=3)
    for i in range(8):
        c.add(200 + i, "n1", cores=4, cpu=0.45)  # n1 is the fullest
    off(c, 100)
    off(c, 101, ha=True)
    off(c, 102, config={"hostpci0": "0000:01:00.0"})  # n1 only, though others have more room
    c.ha.round_s = 2
    with Server(c) as s:
        source = {"kind": "proxmox", "username": s.token, "password_file": s.token_file, "ca_file": s.ca_file, "timeout_s": 10, "url": s.urls[0]}
        with Daemon(source, interval_s=5, automation="manual") as d:
            d.start()
            done = place(d, 100)
            equal("where it was placed", (c.guests[100].node != "n1", c.guests[100].node, c.guests[100].status), (True, done["to"], "running"))
            place(d, 102)
            equal("its device", (c.guests[102].node, c.guests[102].status), ("n1", "running"))
            hold = Fault("/nodes/n[23]/qemu/101/status/start", code=500, reason="got timeout", method="POST")
            s.faults.append(hold)
            d.cli("place", "--apply", "101")
            wait_for("moved, not started", lambda: c.guests[101].node != "n1", 60)
            time.sleep(1)
            d.kill()
            s.faults.remove(hold)
            equal("not yet", c.guests[101].status, "stopped")
            d.start()
            wait_for("it goes on", lambda: c.guests[101].status == "running", 60)
            outcome(d, 101)
            equal("each once", sorted(t.kind for t in c.tasks.values() if t.ident == "101"), ["hamigrate", "hastart", "qmigrate", "qmstart"])
            d.stop()
        assert not s.problems, s.problems


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
