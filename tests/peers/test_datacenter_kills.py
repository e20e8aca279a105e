#!/usr/bin/env python3
"""Guests survive what befalls their migrations: ballastd killed at any moment of them, and a host whose power is cut. virsh and the guests
say it: each runs once, is defined on one host, and has never restarted, except those whose own host lost its power: these run nowhere else
and are still defined there."""
import os
import random
import sys
import threading
import time

from daemon import at_once, wait_for
from datacenter import Datacenter

KILLS = 100 if os.environ.get("BALLAST_TEST_LONG") else 6
LOAD = "all: cpu 4 mem 24 dirty 2000"
SLOWLY = "5\n  migration: {bandwidth_mbs: 4}"  # below source, after host_timeout_s: a migration takes some seconds
PASSES = 4  # after a host has gone
LOOK_S = 0.2 if os.environ.get("BALLAST_TEST_LONG") else 0.5  # a guest that runs twice does so for as long as nothing ends one of both
MOMENT_S = 3.0  # within which of a migration's begin the service is killed


def say(*words):
    print(*words, flush=True)


def moving(d):
    return [a for a in d.json("recommendations") if a["action"] == "migrate" and a["state"] in ("starting", "running", "verifying")]


def never_twice(of, over):
    """Looks all the time for a guest that runs on two hosts; gives what it has found. Hosts are asked one after the other, so a guest that
    arrives in between is asked for again."""
    found = []

    def look():
        while not over.wait(LOOK_S):
            try:
                twice = {vm for vm, hosts in of.where().items() if len(hosts) > 1}
                found.extend((vm, hosts) for vm, hosts in (of.where() if twice else {}).items() if vm in twice and len(hosts) > 1)
            except AssertionError:
                pass  # a host without power

    thread = threading.Thread(target=look)
    thread.start()
    return found, thread


def test_kills():
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    with Datacenter(hosts=3, vms=6) as of, of.service(**{"interval_s": 2, "  host_timeout_s": SLOWLY}) as d:
        of.load(LOAD)
        since = of.check_guests()
        over = threading.Event()
        found, thread = never_twice(of, over)
        try:
            killed = in_migration = 0
            began = time.monotonic()
            while in_migration < KILLS:
                d.pin(of.names[killed % len(of.names)])
                d.start()
                wait_for("a migration is under way", lambda: moving(d), every=0.02)
                time.sleep(chance.uniform(0, MOMENT_S))
                in_migration += bool(moving(d))
                d.kill()
                killed += 1
                assert killed < 3 * KILLS, f"only {in_migration} of {killed} kills in mid-migration: the moments are badly chosen"
            d.start()
            wait_for("all are where they are wanted", lambda: d.status()["pass"] and set(d.placement().values()) == {d.pinned} and not moving(d))
        finally:
            over.set()
            thread.join()
        assert not found, (seed, found)
        wait_for("one definition each", lambda: all(len(hosts) == 1 for hosts in of.where("--all --persistent").values()))
        of.wait_for_guests(since)
        say(f"ballastd killed {in_migration} times in mid-migration, {killed - in_migration} times beside one, in {time.monotonic() - began:.0f} s: "
            f"6 guests, none lost, none twice, none restarted (seed {seed})")


def cut(of, d, which):
    """Cuts the power of the source or the destination of a migration that is under way; gives the host and who ran there."""
    action = wait_for("a migration is under way", lambda: next((a for a in moving(d) if a["state"] == "running"), None), every=0.02)
    host = action[which]
    there = {vm for vm, hosts in of.where("--state-running").items() if hosts == [host]}
    of.power(host, "off")
    say(f"power of {host} cut, the {'source' if which == 'from' else 'destination'} of {action['vm_name']} on its way")
    return host, there


def power_cut(which):
    with Datacenter(hosts=3, vms=6) as of, of.service(**{"interval_s": 2, "  host_timeout_s": SLOWLY}) as d:
        of.load(LOAD)
        since = of.check_guests()
        d.pin("hv2")
        d.start()
        host, there = cut(of, d, which)
        wait_for("it is seen", lambda: any(h["id"] == host and h["state"] == "disconnected" for h in d.json("hosts")))
        seen = d.status()["pass"]["id"]
        wait_for("passes in which nothing may start what ran there", lambda: d.status()["pass"]["id"] >= seen + PASSES)

        def running_elsewhere():  # a guest that arrives somewhere runs nowhere for a moment
            now = of.where()
            return now if of.vms - set(now) <= there else None
        running = wait_for("those that ran elsewhere run", running_elsewhere)
        lost = of.vms - set(running)
        assert all(len(hosts) == 1 for hosts in running.values()), running
        shown = d.placement()
        assert len(shown) == len(of.vms), shown  # a host that does not answer is not taken to be empty
        of.power(host, "on")
        wait_for("it is back", lambda: any(h["id"] == host and h["state"] == "on" for h in d.json("hosts")), 90)
        wait_for("no migration is under way", lambda: not moving(d))
        wait_for("one definition each", lambda: set(of.where("--all --persistent")) == of.vms and
                 all(len(hosts) == 1 for hosts in of.where("--all --persistent").values()))
        of.wait_for_guests(since, lost)
        say(f"{host} is back: {len(lost)} of 6 guests went down with it, all are defined once")


if __name__ == "__main__":
    sys.exit(at_once([("test_kills", test_kills), ("test_power_cut_of_source", lambda: power_cut("from")),
                      ("test_power_cut_of_destination", lambda: power_cut("to"))]))
