#!/usr/bin/env python3
"""A hundred clients start VMs at the same moment, in a cluster with room for sixty; and what others see meanwhile."""
import concurrent.futures
import json
import os
import threading
import time

from daemon import Daemon, main, wait_for

HOSTS, PLACES, CLIENTS = 6, 10, 100
FEW = 16  # clients of one host: decided long before its VMs have started, 5 s later, also on a busy machine
VM_MB = 4096
EAGER = {"interval_s": 5, "automation": "manual"}


def cluster(path, n):
    """Hosts for ten VMs each; all VMs are off, and registered on all hosts in turn."""
    hosts = [{"id": f"h{i}", "name": f"h{i}", "state": "on", "cpu_mhz": 200000, "cores": 80, "mem_mb": VM_MB * PLACES + 3000,
              "reserved_mem_mb": 0} for i in range(n)]
    vms = [{"id": f"vm{i:03d}", "name": f"vm{i:03d}", "host": f"h{i % n}", "state": "off", "vcpus": 2, "mem_mb": VM_MB,
            "mem": {"reservation": VM_MB}}
           for i in range(CLIENTS)]
    path.write_text(json.dumps({"format": "ballast-snapshot/1", "cluster": "test", "time": "2026-01-01T00:00:00Z", "hosts": hosts, "vms": vms}))


def begin(d, hosts, **settings):
    path = d.folder / "cluster.json"
    cluster(path, hosts)
    d.write(source={"kind": "sim", "speed": 1, "file": str(path)}, **settings)
    d.start()
    wait_for("a pass", lambda: d.status()["pass"])


def ask_all(d, clients=CLIENTS):
    """The answers, by VM, of requests that are all sent before the first is answered."""
    ready = threading.Barrier(clients)

    def one(i):
        with d.connect() as s:
            ready.wait()
            s.sendall(json.dumps({"command": "place", "vms": [f"vm{i:03d}"], "apply": True}).encode() + b"\n")
            return d.receive(s)

    with concurrent.futures.ThreadPoolExecutor(clients) as pool:
        return list(pool.map(one, range(clients)))


def full(d):
    """By host: places that are taken, by VMs that run there and by what is on its way."""
    return {h["name"]: h["vms"] + h["mem"]["pending"] // VM_MB for h in d.request({"command": "hosts"})["hosts"]}


def running(d):
    return [v for v in d.json("vms") if v["state"] == "on"]


def test_a_hundred_starts():
    with Daemon({"kind": "sim"}, **EAGER) as d:
        begin(d, HOSTS)
        over, looks, seen, stop = [], [0], [0], threading.Event()

        def watch():
            while not stop.is_set():
                taken = full(d)
                looks[0] += 1
                seen[0] = max(seen[0], sum(taken.values()))
                over.extend(x for x in taken.items() if x[1] > PLACES)
                time.sleep(0.05)

        watcher = threading.Thread(target=watch)
        watcher.start()
        began = time.monotonic()
        answers = ask_all(d)
        took = time.monotonic() - began
        stop.set()
        watcher.join()
        begun = [a for a in answers if a["ok"] and a["actions"]]
        rest = [a for a in answers if not (a["ok"] and a["actions"])]
        print(f"{len(begun)} begun, {len(rest)} not, in {took:.1f} s, {looks[0]} looks, {seen[0]} places at most")
        assert len(begun) == HOSTS * PLACES, [a for a in answers if not a["ok"]][:3]
        for a in rest:  # the words of a cluster that is full, once all that could still fail has arrived
            assert a["ok"] and a["unplaced"] == 1, a
            [fault] = json.loads(a["plan"])["faults"]
            assert fault["code"] == "cannot_place" and "memory" in fault["text"], fault
        assert not over, over
        assert seen[0] == HOSTS * PLACES and looks[0] > 10
        wait_for("all run", lambda: len(running(d)) == HOSTS * PLACES)
        by_host = [sum(v["host"] == f"h{i}" for v in running(d)) for i in range(HOSTS)]
        assert by_host == [PLACES] * HOSTS, by_host
        time.sleep(2 * EAGER["interval_s"])
        assert len(running(d)) == HOSTS * PLACES and not d.actions("failed", "cancelled")
        d.stop()


def test_nobody_waits_for_ever():
    """While what was decided is on its way, whoever has waited for lock_wait_s is told who holds the room."""
    with Daemon({"kind": "sim"}, **EAGER) as d:
        begin(d, 1, placement={"lock_wait_s": 3})
        answers = ask_all(d, FEW)
        refused = [a for a in answers if not a["ok"]]
        assert len(answers) - len(refused) == PLACES, refused[:3]
        for a in refused:
            assert a["code"] == 1 and "placement.lock_wait_s (3 s): action " in a["error"] and "hold the room" in a["error"], a
            assert "approved by root (uid " in a["error"] or os.geteuid() != 0, a
        wait_for("all run", lambda: len(running(d)) == PLACES)
        d.stop()


if __name__ == "__main__":
    main(test_a_hundred_starts, test_nobody_waits_for_ever)
