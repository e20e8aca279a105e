#!/usr/bin/env python3
"""The actuator of Proxmox VE against the tests' own cluster (proxmox/): one migration after another through the probe, with everything
that can go wrong on the way."""
import contextlib
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from daemon import wait_for  # noqa: E402
from probe import Probe  # noqa: E402
from proxmox import Cluster, Fault, Server, tasks  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402

VERSIONS = ("8.4", "9.1", "9.2")


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def given(server, by="token", **more):
    return {"url": server.urls[0], "username": server.token if by == "token" else server.user,
            "password_file": server.token_file if by == "token" else server.password_file, "ca_file": server.ca_file, "timeout_s": 20,
            "other_urls": server.urls[1] if len(server.urls) > 1 else None, **more}


@contextlib.contextmanager
def world(version="9.1", nodes=3, addresses=None, by="token", settings=None, **more):
    """A cluster whose clock a test sets forward with jump(), its server, and a probe."""
    c = Cluster(version, nodes=nodes, **more)
    ahead = [0.0]
    c.clock = lambda: time.time() + ahead[0]
    c.jump = lambda s: ahead.__setitem__(0, ahead[0] + s)
    with Server(c, nodes=addresses) as s, Probe("proxmox", **given(s, by, **(settings or {}))) as p:
        yield c, s, p


def act(p, verb, vm=100, origin="n1", to="n2"):
    return p(verb, "migrate", "uid", vm, origin, to)


def good(p, verb, *what):
    told = act(p, verb, *what)
    assert told["ok"], told
    return told.get("task")


def bad(p, verb, error, text, *what):
    told = act(p, verb, *what)
    assert not told["ok"] and told["error"] == error and text in told["text"], told


def follow(p, task, until=("succeeded", "failed"), seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        told = p("poll", task)
        assert told["ok"], told
        if told["state"] in until:
            return told
        assert time.monotonic() < deadline, told
        time.sleep(0.1)


def posts(s):
    return [r for r in s.requests if not r.startswith("GET")]


# ---- a migration ----

def test_moves():
    for version in VERSIONS:
        with world(version) as (c, s, p):
            c.add(100, "n1", host_used=2 * GIB)
            good(p, "check")
            equal("a check changes nothing", posts(s), [])
            task = good(p, "start")
            assert task.startswith("UPID:n1:") and ":qmigrate:100:" in task, task
            equal("adopted, not begun twice", [good(p, "start"), good(p, "adopt")], [task] * 2)
            equal("running", follow(p, task, ("running",))["gone"], False)
            done = follow(p, task)
            equal("done", (done["state"], done["downtime_s"], c.guests[100].node), ("succeeded", 0.048, "n2"))
            assert done["took_s"] > 0, done
            equal("one migration", posts(s), ["POST /nodes/n1/qemu/100/migrate"])
            bad(p, "start", "ESTALE", "has arrived on n2 already")
            bad(p, "check", "ESTALE", "on n2 now and no longer on n1", 100, "n1", "n3")
            bad(p, "start", "ENOENT", "no guest 999", 999)
            c.guests[100].status = "stopped"
            bad(p, "check", "ESTALE", "does not run any more", 100, "n2", "n1")
            assert not s.problems, s.problems


def test_progress_and_cancel():
    with world() as (c, s, p):
        c.add(100, "n1", host_used=8 * GIB)
        task = good(p, "start")
        seen = []
        while len(set(seen)) < 3:
            seen.append(p("poll", task)["percent"])
            time.sleep(0.3)
        equal("it gets on", seen, sorted(seen))
        assert p("cancel", task)["ok"]
        end = follow(p, task)
        equal("cancelled", (end["state"], c.guests[100].node, c.guests[100].lock), ("failed", "n1", ""))
        assert "interrupted by signal" in end["why"], end
        equal("it can be begun again", good(p, "start") != task, True)


def test_refusals():
    """Each refusal has the API's own words."""
    with world(nodes=4, settings={"restart_containers": "false"}) as (c, s, p):
        c.storages["shared"].nodes = ["n1", "n2", "n3"]
        c.add(100, "n1")
        c.add(101, "n1", storage="local-lvm")
        c.add(102, "n1", config={"hostpci0": "0000:01:00.0"})
        c.add(103, "n1", kind="lxc")
        bad(p, "check", "EPERM", "may not move to n4: unavailable_storages shared", 100, "n1", "n4")
        bad(p, "check", "EPERM", "a disk that is not shared, local-lvm:vm-101-disk-0 (local_disks)", 101)
        bad(p, "check", "EPERM", "uses a device of its node (hostpci0)", 102)
        bad(p, "check", "EPERM", "would have to be restarted", 103)
        c.nodes["n3"].online = False  # the API calls it allowed
        bad(p, "check", "EHOSTDOWN", "the destination n3 is offline", 100, "n1", "n3")
        c.quorate = False
        bad(p, "check", "EAGAIN", "no quorum")
        bad(p, "start", "EAGAIN", "no quorum")
        c.quorate = None
        bad(p, "check", "ENOENT", "no node n9", 100, "n1", "n9")
        bad(p, "check", "EINVAL", "no VMID", "x/../y")
        c.move_fails = lambda *_: "storage migration failed: no space left"
        task = good(p, "start")
        end = follow(p, task)
        equal("the task's own reason", end["why"], "node n1: storage migration failed: no space left (migration problems)")
        equal("nothing was begun for what was refused", len(posts(s)), 2)
        c.accounts[s.token].acl["/"] -= {"VM.Migrate"}
        bad(p, "check", "EPERM", "VM.Migrate")


def test_options():
    with world(settings={"local_disks": "true", "target_storage": "local-lvm", "bandwidth_mbs": 100, "restart_containers": "true"}) as (c, s, p):
        c.add(100, "n1", storage="local-lvm")
        c.add(101, "n1", kind="lxc")
        good(p, "check")
        follow(p, good(p, "start"))
        good(p, "check", 101)
        task = good(p, "start", 101)
        assert ":vzmigrate:101:" in task, task
        equal("a container", (follow(p, task)["state"], c.guests[101].node), ("succeeded", "n2"))
        equal("options", [given for _, _, given in s.changes], [
            {"target": "n2", "online": "1", "with-local-disks": "1", "with-conntrack-state": "1", "targetstorage": "local-lvm", "bwlimit": "102400"},
            {"target": "n2", "restart": "1", "target-storage": "local-lvm", "bwlimit": "102400"}])
    with world("8.4", settings={"restart_containers": "true"}) as (c, s, p):  # which has no precondition of containers
        c.add(101, "n1", kind="lxc")
        good(p, "check", 101)


def test_states_of_connections():
    """They go along if both nodes can hand them over. Nodes of version 8 refuse the option, and HA ignores it."""
    def option(c, s, p):
        c.add(100, "n1")
        end = follow(p, good(p, "start"))
        equal("moved", (end["state"], s.problems), ("succeeded", []))
        return s.changes[-1][2].get("with-conntrack-state")

    for old, given_option in (((), "1"), (("n1",), None), (("n2",), None), (("n1", "n2"), None)):
        with world("9.1") as (c, s, p):
            for n in old:
                c.nodes[n].version = "8.4.2"
            equal(f"version 8: {old}", option(c, s, p), given_option)
    for name in ("n1", "n2"):
        with world("9.1") as (c, s, p):
            c.nodes[name].keeps_connections = False
            equal(f"{name} cannot", option(c, s, p), None)


def test_locks():
    """The actuator waits for a lock: a lock is neither a refusal nor a failure."""
    with world() as (c, s, p):
        c.add(100, "n1", lock="backup")
        bad(p, "check", "EBUSY", "is locked (backup)")
        bad(p, "start", "ESTALE", "is locked (backup)")  # since it was checked: it is not due now
        c.guests[100].lock = ""
        s.twists.append((".*/status/current", lambda row: {k: v for k, v in row.items() if k != "lock"}))
        c.guests[100].lock = "snapshot"  # set between two requests
        bad(p, "check", "EBUSY", "VM is locked (snapshot)")
        bad(p, "start", "ESTALE", "VM is locked (snapshot)")
        c.guests[100].lock = ""
        follow(p, good(p, "start"))


def test_workers():
    """No more migrations off a node at a time than the datacenter allows."""
    with world() as (c, s, p):
        c.options = {"max_workers": 2}
        for vmid in range(100, 104):
            c.add(vmid, "n1", host_used=30 * GIB)
        good(p, "start", 100)
        good(p, "check", 101)
        good(p, "start", 101)
        bad(p, "check", "EBUSY", "2 migrations, and may 2 (max_workers)", 102)
        c.migration_rate = 1 << 50
        for t in c.tasks.values():
            t.due = 0
        wait_for("they end", lambda: act(p, "check", 102)["ok"], 5)


# ---- lost answers, lost nodes ----

def test_lost_answers():
    """The answer to the request is lost in each way, and the guest moves once."""
    lost = ({"drop": True}, {"code": 596, "reason": "Connection timed out"}, {"code": 504, "reason": "Gateway Time-out"}, {"body": b"<html>"},
            {"hang_s": 2, "drop": True})
    for ha in (False, True):
        with world(settings={"timeout_s": 1}) as (c, s, p):
            for vmid, (how, arrives) in enumerate(((h, a) for h in lost for a in (False, True)), 100):
                guest = c.add(vmid, "n1", host_used=3 * GIB)
                if ha:
                    c.manage(guest)
                s.faults[:] = [Fault(f"/nodes/n1/qemu/{vmid}/migrate", times=1, method="POST", arrives=arrives, **how)]
                told = act(p, "start", vmid)
                assert not told["ok"] and told["error"] in ("ECONNRESET", "EPROTO", "ETIMEDOUT"), (how, told)
                equal("begun", len([t for t in c.tasks.values() if t.ident == str(vmid)]), int(arrives))
                c.jump(3 if ha else 0)  # the queue's task has ended, the manager has not read it
                good(p, "start", vmid)
                equal(f"once: {how}", len([t for t in c.tasks.values() if t.ident == str(vmid)]), 1)
                c.tasks.clear()


def test_lost_answer_and_node():
    """The answer is lost, and then the node does not answer, or refuses what is read: the move may be running, so it has not failed."""
    for how in ({"code": 595, "reason": "No route to host"}, {"code": 500, "reason": "got timeout"}):
        for where in ("", "tasks/.*"):  # the guest, or the log of what is adopted
            with world() as (c, s, p):
                c.add(100, "n1", host_used=60 * GIB)
                s.faults[:] = [Fault("/nodes/n1/qemu/100/migrate", times=1, method="POST", arrives=True, code=596, reason="Connection timed out")]
                equal("lost", act(p, "start")["error"], "ECONNRESET")
                s.faults[:] = [Fault(f"/nodes/n1/{where or '.*'}", **how)]
                bad(p, "start", "EAGAIN", how["reason"])
                s.faults.clear()
                task = good(p, "start")
                c.jump(60)
                equal("adopted", (follow(p, task)["state"], len(posts(s))), ("succeeded", 1))


def test_tickets():
    """A ticket expires between two requests: the refused request is repeated with a new ticket, and moves the guest once."""
    with world(by="password") as (c, s, p):
        c.add(100, "n1")
        real, n = s.who, [0]

        def expire(method, path, headers):
            n[0] += method == "POST" and path.endswith("/migrate")
            if n[0] == 1 and path.endswith("/migrate") and method == "POST":
                s.expire_tickets()
                n[0] += 1
            return real(method, path, headers)
        s.who = expire
        follow(p, good(p, "start"))
        equal("once", (len(c.tasks), c.guests[100].node, s.requests.count("POST /access/ticket")), (1, "n2", 2))


def test_login_at_an_address_that_hangs():
    """Which takes connections and never answers: the next address is asked, at once or, where the time does not suffice for both, by the next call."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        c = Cluster("9.1", nodes=3)
        c.add(100, "n1")
        for timeout_s in (12, 4):
            with Server(c) as s:
                own = {**given(s, "password"), "url": f"https://127.0.0.1:{silent.getsockname()[1]}", "other_urls": s.urls[0], "timeout_s": timeout_s}
                with Probe("proxmox", **own) as p:
                    if timeout_s == 4:
                        bad(p, "check", "EHOSTUNREACH", "https://127.0.0.1")
                    good(p, "check")
                    good(p, "check")
                    assert p.took_s < 3, "the address that answered is asked first"
    with world(addresses=["n2", "n3"], by="password", settings={"timeout_s": 12}) as (c, s, p):
        c.add(100, "n1")
        good(p, "check")
        real = s.who

        def expire(method, path, headers):
            if method == "POST" and path.endswith("/migrate") and not s.faults:
                s.expire_tickets()
                s.faults.append(Fault("/access/ticket", hang_s=30, times=1, drop=True))
            return real(method, path, headers)
        s.who = expire
        follow(p, good(p, "start"))  # nothing but the login has been sent to the first
        equal("once", (len(c.tasks), c.guests[100].node), (1, "n2"))
    with world(addresses=["n1", "n2", "n3"], by="password", settings={"timeout_s": 6}) as (c, s, p):
        s.refusal_s = 3  # longer than a third of the time
        s.put_secret("password", "another")
        bad(p, "check", "EACCES", "user name or password are wrong")
        equal("the refused password is sent once", s.requests.count("POST /access/ticket"), 1)


def test_nodes_that_fail():
    with world(addresses=["n3", "n2"]) as (c, s, p):
        c.add(100, "n1", host_used=20 * GIB)
        task = good(p, "start")
        s.faults.append(Fault("/nodes/n1/.*", code=595, reason="No route to host"))
        told = p("poll", task)
        equal("a node that does not answer says nothing of its task", (told["ok"], told.get("error")), (False, "EHOSTDOWN"))
        s.faults.clear()
        equal("as before", p("poll", task)["state"], "running")
        c.nodes["n1"].online = False
        end = p("poll", task)
        equal("a node that is off", (end["state"], end["gone"]), ("failed", True))
        c.nodes["n1"].online = True
        end = p("poll", task)  # the worker has died with its node
        equal("without a result", (end["state"], end["gone"]), ("failed", True))
        c.guests[100].lock = ""
        c.tasks.clear()
        end = p("poll", task)
        equal("forgotten", (end["state"], end["gone"], c.guests[100].node), ("failed", True, "n1"))
        c.nodes["n3"].online = False  # the address that is asked first
        s.close_connections()
        c.migration_rate = 1 << 50
        equal("by the other address", follow(p, good(p, "start"))["state"], "succeeded")
        told = p("poll", "UPID:n1:zz")
        equal("no task", told["error"], "EINVAL")


def test_somebody_else():
    with world() as (c, s, p):
        c.add(100, "n1", host_used=4 * GIB)
        tasks.migrate(c, c.guests[100], "n3", "admin@pam", True)
        bad(p, "check", "EBUSY", "to n3 by somebody else")
        bad(p, "start", "EBUSY", "to n3 by somebody else")
        wait_for("it arrives", lambda: act(p, "start")["error"] == "ESTALE", 20)
        bad(p, "start", "ESTALE", "on n3 now and no longer on n1")
        equal("nothing was begun", posts(s), [])
        c.add(101, "n1", host_used=4 * GIB)
        tasks.migrate(c, c.guests[101], "n2", "admin@pam", True)
        equal("the same by somebody else is adopted", follow(p, good(p, "start", 101))["state"], "succeeded")
        equal("nothing was begun", posts(s), [])


# ---- guests of HA ----

def test_ha_moves():
    for version in VERSIONS:
        with world(version) as (c, s, p):
            c.manage(c.add(100, "n1"))
            good(p, "check")
            task = good(p, "start")
            assert task.startswith("HA:vm:100:n1:n2:") and ":hamigrate:100:" in task, task
            again = good(p, "start")
            equal("the queue is not asked twice", (again.split(":UPID")[0], len(posts(s))), (task.split(":UPID")[0], 1))
            c.jump(3)  # the queue's task has ended
            equal("OK of the queue is no move", (p("poll", task)["state"], c.guests[100].node), ("queued", "n1"))
            equal("nor is it asked twice now", (good(p, "start").split(":UPID")[0], len(posts(s))), (task.split(":UPID")[0], 1))
            c.jump(10)
            told = p("poll", task)
            assert told["state"] == "running", told
            assert ":qmigrate:100:root@pam" in good(p, "start")
            end = follow(p, task)
            equal("there", (end["state"], c.guests[100].node, len(posts(s))), ("succeeded", "n2", 1))
            assert not s.problems, s.problems


def test_ha_that_does_not():
    """HA accepts the request and begins no migration; the request fails; the manager is dead; the manager moves the guest elsewhere."""
    with world(nodes=4) as (c, s, p):
        for vmid in range(100, 106):
            c.manage(c.add(vmid, "n1"))
        c.ha.drop = 1
        task = good(p, "start")
        c.jump(20)
        equal("it may come yet", p("poll", task)["state"], "queued")
        c.jump(40)
        end = p("poll", task)
        equal("it did not", (end["state"], end["gone"], c.guests[100].node), ("failed", False, "n1"))
        assert "HA accepted the migration of guest 100 to n2 and did not begin it (state started)" in end["why"], end
        c.add_rule("apart", type="resource-affinity", resources="vm:101,vm:110", affinity="negative")
        c.manage(c.add(110, "n2"))
        end = follow(p, good(p, "start", 101))
        assert end["state"] == "failed" and "exit code 255" in end["why"], end
        task = good(p, "start", 102)
        c.nodes["n2"].online = False  # before the manager has read the command
        c.jump(60)
        end = p("poll", task)
        assert end["state"] == "failed" and "did not begin it" in end["why"], end
        c.nodes["n2"].online = True
        task = good(p, "start", 103)
        c.guests[103].node = "n4"  # somebody else, or HA itself
        end = p("poll", task)
        equal("an inventory tells", (end["state"], end["gone"]), ("failed", True))
        c.ha.stopped = c.clock()
        task = good(p, "start", 104)
        c.jump(60)
        equal("a manager that makes no rounds is waited for", p("poll", task)["state"], "queued")
        c.ha.stopped = None
        c.jump(20)
        equal("it goes on", follow(p, task)["state"], "succeeded")
        c.move_fails = lambda *_: "can't migrate VM which uses local devices: hostpci0"
        task = good(p, "start", 105)
        c.jump(11)
        end = follow(p, task)
        assert end["state"] == "failed" and "uses local devices: hostpci0" in end["why"], end
        c.nodes["n3"].maintenance = True
        bad(p, "check", "EHOSTDOWN", "state maintenance", 100, "n1", "n3")


def test_ha_again():
    """A second try does not adopt what has ended, nor a request of which nobody knows how old it is."""
    with world() as (c, s, p):
        c.manage(c.add(100, "n1"))
        c.manage(c.add(101, "n1"))
        c.move_fails = lambda *_: "no space left"
        task = good(p, "start")
        c.jump(11)
        p("poll", task)
        c.jump(5)
        end = follow(p, task)
        assert end["state"] == "failed" and "no space left" in end["why"], end
        c.move_fails = None
        task = good(p, "start")
        equal("asked again", len(posts(s)), 2)
        c.jump(11)
        p("poll", task)
        c.jump(5)
        equal("it moves", (follow(p, task)["state"], c.guests[100].node), ("succeeded", "n2"))
        good(p, "start", 101)
        c.ha.queue.clear()
        c.jump(3600)
        s.twists.append(("/cluster/ha/status/manager_status", lambda told: {
            **told, "manager_status": {k: v for k, v in told["manager_status"].items() if k != "timestamp"}}))
        good(p, "start", 101)
        equal("asked again without the manager's clock", len(posts(s)), 4)


def test_ha_that_falls_silent():
    """The manager has read the request and stops before anything begins: not for ever."""
    with world() as (c, s, p):
        c.manage(c.add(100, "n1"))
        c.ha.max_workers = 0
        c.jump(-700)
        task = good(p, "start")
        c.jump(11)
        p("poll", task)
        c.ha.stopped = c.clock()
        c.jump(200)
        end = p("poll", task)
        equal("an inventory tells", (end["state"], end["gone"], end["why"]), ("failed", True, "the HA manager does not respond"))
        c.ha.stopped = None  # it makes rounds again
        equal("it is waited for", p("poll", task)["state"], "queued")


def test_ha_redirected():
    """After the request somebody else sends the guest to n3: the later task is not this move's, and is not followed."""
    with world() as (c, s, p):
        for vmid in (100, 101):
            c.manage(c.add(vmid, "n1", host_used=60 * GIB))
        for vmid in (100, 101):
            task = good(p, "start", vmid)
            c.ha.queue[:] = [(due, sid, "n3") for due, sid, _ in c.ha.queue]
            s.twists[:] = [(".*/log", lambda rows: [])]
            if vmid == 101:  # the manager tells no destination any more, so the task's log must
                s.twists.append(("/cluster/ha/status/manager_status", lambda told: {
                    **told, "manager_status": {**told["manager_status"], "service_status": {}}}))
                c.jump(11)
                equal("not said yet", p("poll", task)["state"], "queued")
                s.twists.pop(0)
            c.jump(11)
            end = p("poll", task)
            equal("another's", (end["state"], end["gone"], end["why"]), ("failed", False, f"HA migrates guest {vmid} to n3 instead"))
        equal("nothing was cancelled", [r for r in posts(s) if r.startswith("DELETE")], [])


def test_ha_rights():
    """HA's own task is root's: it is seen with Sys.Audit, and stopped with Sys.Modify."""
    with world() as (c, s, p):
        c.manage(c.add(100, "n1", host_used=60 * GIB))
        task = good(p, "start")
        equal("not yet", p("cancel", task)["error"], "EOPNOTSUPP")
        c.jump(11)
        p("poll", task)
        late = good(p, "start")
        assert ":qmigrate:100:root@pam:" in late, late
        told = p("cancel", late)
        assert told["error"] == "EOPNOTSUPP" and "Sys.Modify on /nodes/n1" in told["text"], told
        c.accounts[s.token].acl["/"] |= {"Sys.Modify"}
        assert p("cancel", late)["ok"]
        equal("stopped", follow(p, late)["state"], "failed")


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
