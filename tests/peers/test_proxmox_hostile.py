#!/usr/bin/env python3
"""The actuator of Proxmox VE against a cluster that errs and lies (proxmox/): answers of other types, tasks of other guests, requests that hang
one by one, guests and nodes that vanish in mid-move. Nothing is begun on what was not understood, nothing twice, and no other guest's task is
followed."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from proxmox import Fault, tasks  # noqa: E402
from test_proxmox_actuator import equal, posts, world  # noqa: E402

JUNK = ([], {}, None, "x", 7, [1, None, "x", {"upid": 7, "type": [], "name": {}}], {"status": 7, "ha": [], "manager_status": 1})
MOVE, START = ("migrate", "uid", 100, "n1", "n2"), ("power_on_vm", "uid", 100, "n2")
TRANSIENT = ("EPROTO", "EAGAIN", "EBUSY", "ETIMEDOUT", "ECONNRESET")


def populate(c, q, ha):
    guest = c.add(100, "n1", status="running" if q is MOVE else "stopped")
    if ha:
        c.manage(guest, state="started" if q is MOVE else "stopped")
    return guest


def test_answers_of_other_types():
    """Of each request that a decision needs: it is not understood, so it is asked again later; nothing is begun."""
    needed = {"check": ("/nodes/n1/qemu/100/status/current", "/nodes/n1/tasks", "/cluster/status", "/nodes/n1/qemu/100/migrate"),
              "start": ("/nodes/n1/qemu/100/status/current", "/nodes/n1/tasks")}
    lists = ("/nodes/n1/tasks",)  # empty ones are answers, and rows that are not understood are skipped
    for q in (MOVE, START):
        for ha in (False, True):
            with world() as (c, s, p):
                populate(c, q, ha)
                for verb, paths in needed.items():
                    for path in paths + (("/cluster/ha/status/manager_status",) if ha else ()):
                        for data in JUNK:
                            if isinstance(data, list) and path in lists:
                                continue
                            if isinstance(data, dict) and ("manager_status" in path or path.endswith("/migrate")):
                                continue  # as from a cluster that has no manager; the lists in it are optional
                            s.twists[:] = [(path, lambda _, given=data: given)]
                            told = p(verb, *q)
                            assert not told["ok"] and told["error"] in TRANSIENT, (verb, path, data, told)
                equal("nothing was begun", posts(s), [])
                s.twists.clear()
                assert p("check", *q)["ok"]


def test_answers_while_it_runs():
    """What is not understood says nothing of the task."""
    for ha in (False, True):
        with world() as (c, s, p):
            populate(c, MOVE, ha).host_used = 60 << 30
            task = p("start", *MOVE)["task"]
            for path in (".*/tasks/.*/status", "/nodes/n1/qemu/100/status/current", "/cluster/ha/status/manager_status")[:3 if ha else 1]:
                for data in JUNK:
                    if isinstance(data, dict) and "manager_status" in path:
                        continue
                    s.twists[:] = [(path, lambda _, given=data: given)]
                    told = p("poll", task)
                    assert not told["ok"] and told["error"] in TRANSIENT, (path, data, told)
            s.twists[:] = [(".*/log", lambda _: {"n": "x"})]
            assert p("poll", task)["ok"], "the log is no part of it"
            s.twists.clear()
            equal("asked once", len(posts(s)), 1)


def test_task_of_another_guest():
    """The answer names a task of another guest or node: it is not followed, and the right one is found."""
    for q in (MOVE, START):
        with world() as (c, s, p):
            populate(c, q, False).host_used = 60 << 30
            c.add(101, "n1", host_used=60 << 30)
            other = tasks.migrate(c, c.guests[101], "n2", "admin@pam", True)
            for lie in (other, other.replace(":101:", ":100:").replace(":n1:", ":n3:"), "UPID:", "", None, 7, [other]):
                s.twists[:] = [("/nodes/n1/qemu/100/migrate", lambda data, given=lie: given if isinstance(data, str) else data)]
                told = p("start", *q)
                assert not told["ok"] and told["error"] == "EPROTO", (lie, told)
                s.twists.clear()
                found = p("start", *q)
                assert found["ok"] and ":qmigrate:100:" in found["task"], found
                equal("one task", [t.ident for t in c.tasks.values()], ["101", "100"])
                c.tasks[found["task"]].cancel()
                del c.tasks[found["task"]]


def test_each_request_hangs():
    """One request of a call never ends: the call does, within its time, and what it began is found by the next one."""
    for q in (MOVE, START):
        for ha in (False, True):
            for at in range(7):
                with world(settings={"timeout_s": 1}) as (c, s, p):
                    populate(c, q, ha).host_used = 60 << 30
                    s.faults.append(Fault(".*", hang_s=3, drop=True, times=1, after=at, arrives=True))
                    told = p("start", *q)
                    assert p.took_s < 2.5, (at, told)
                    s.faults.clear()
                    again = p("start", *q)
                    if not told["ok"]:
                        assert told["error"] in TRANSIENT, (at, told)
                    assert again["ok"] or again["error"] in TRANSIENT, (at, told, again)
                    assert len(posts(s)) <= 1 or q is START and len([r for r in posts(s) if "migrate" in r]) == 1, (at, posts(s))


def test_guest_that_vanishes():
    """In mid-move: an inventory tells."""
    for ha in (False, True):
        with world() as (c, s, p):
            populate(c, MOVE, ha)
            task = p("start", *MOVE)["task"]
            if ha:
                c.ha.queue.clear()
            else:
                c.tasks.pop(task)
            del c.guests[100]
            c.jump(3)
            told = p("poll", task)
            equal("gone", (told["state"], told["gone"]), ("failed", True))
            told = p("start", *MOVE)
            equal("nor begun again", (told["error"], len(posts(s))), ("ENOENT", 1))


def test_node_that_leaves():
    """The destination leaves the cluster between check and start, and in mid-move."""
    with world(nodes=4, addresses=["n4"]) as (c, s, p):
        populate(c, MOVE, False).host_used = 60 << 30
        node = c.nodes.pop("n2")
        told = p("check", *MOVE)
        assert not told["ok"] and told["error"] == "ENOENT" and "no node n2" in told["text"], told
        assert not p("start", *MOVE)["ok"]
        c.nodes["n2"] = node
        task = p("start", *MOVE)["task"]
        c.nodes["n2"].online = False
        c.jump(100)
        told = p("poll", task)
        equal("it failed, and the guest is where it was", (told["state"], told["gone"], c.guests[100].node), ("failed", False, "n1"))
        assert c.nodes.pop("n1")
        told = p("poll", task)
        assert not told["ok"], told


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
