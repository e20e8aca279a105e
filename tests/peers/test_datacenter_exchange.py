#!/usr/bin/env python3
"""Guests change places on full hosts, and ballastd is killed in the middle of it. The idle host is full, and the host that has room is busy: an idle
guest makes room for a busy one, in two migrations of one group. Each kill comes in one of them or between the two. At no moment is a host
given more guests than it has memory for; no guest is lost, twice, or restarted; the load is even in the end."""
import os
import random
import re
import sys
import threading
import time

from daemon import at_once, wait_for
from datacenter import Datacenter

KILLS = 20 if os.environ.get("BALLAST_TEST_LONG") else 2
GUEST_MIB = 64
UNDER_WAY = ("approved", "starting", "running", "verifying")
EXCHANGE_S = 10  # about as long as its two migrations take
FULL = 3  # guests; a fourth one has no room
SETTINGS = {"interval_s": 2, "cool_down_s": f"10\nmem_admission: configured\nmem_headroom_percent: 0\nmigration_threshold: 4",
            "  host_timeout_s": "5\n  migration: {bandwidth_mbs: 4}"}  # below source: a migration takes some seconds


def say(*words):
    print(*words, flush=True)


def crowded(of, over):
    """Watches for a host with more guests than it has memory for, arriving guests included; returns the violations."""
    found = []

    def look():
        while not over.wait(0.1):
            found.extend((host, names) for host, text in of.on_all("list --name").items() if len(names := text.split()) > FULL)

    thread = threading.Thread(target=look)
    thread.start()
    return found, thread


def make_uneven(of, chance):
    """One of the two full hosts idles, the other two hosts are busy."""
    by_host = {name: [] for name in of.names}
    for vm, hosts in of.where().items():
        by_host[hosts[0]].append(vm[2:])
    roomy, *full = sorted(of.names, key=lambda name: (len(by_host[name]), chance.random()))
    assert [len(by_host[name]) for name in (roomy, *full)] == [FULL - 1, FULL, FULL], by_host
    of.load(f"all: cpu 1 mem 8\nvms {','.join(by_host[full[0]])}: cpu 35 mem 8\nvms {','.join(by_host[roomy])}: cpu 50 mem 8")
    wait_for("the guests have understood", lambda: all(g["load"] == g["wanted"] for g in of.guests().values()))
    say(f"{full[0]} and {roomy} are busy, {full[1]} is idle and full")


def exchange(d):
    """The newest recommendations that are carried out together."""
    groups = {}
    for a in d.json("recommendations"):
        if a["action"] == "migrate" and a["group"]:
            groups.setdefault((a["pass"], a["group"]), []).append(a)
    return max((moves for moves in groups.values() if len(moves) > 1), key=lambda moves: moves[0]["pass"], default=[])


def states(d, moves):
    """The states of the two migrations, in the order in which they begin."""
    now = {a["id"]: a["state"] for a in d.json("history") + d.json("recommendations")}
    return [now[a["id"]] for a in moves]


def kill_in_exchange(of, d, chance):
    make_uneven(of, chance)
    d.start()
    moves = wait_for("an exchange is under way", lambda: any(a["state"] == "running" for a in exchange(d)) and exchange(d), every=0.05)
    time.sleep(chance.uniform(0, EXCHANGE_S))
    before = states(d, moves)
    d.kill()
    d.start()
    wait_for("it has come to an end", lambda: not set(UNDER_WAY) & set(states(d, moves)))
    say(f"ballastd killed when the migrations were {before}; then {states(d, moves)}")
    wait_for("the load is even", lambda: d.imbalance()[0] <= d.imbalance()[1] and not d.actions(*UNDER_WAY))
    d.stop()


def test_kills():
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    with Datacenter(hosts=3, vms=8, options=["--host-cpu", "20"]) as of, of.service(**SETTINGS) as d:
        d.text = re.sub(r"mem_mb: \d+", f"mem_mb: {(FULL + 1) * GUEST_MIB - 1}", d.text)
        d.write()
        since = of.check_guests()
        over = threading.Event()
        found, thread = crowded(of, over)
        try:
            for _ in range(KILLS):
                kill_in_exchange(of, d, chance)
                since = of.wait_for_guests(since)
        finally:
            over.set()
            thread.join()
        assert not found, (seed, found)


if __name__ == "__main__":
    sys.exit(at_once([("test_kills", test_kills)]))
