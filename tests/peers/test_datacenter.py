#!/usr/bin/env python3
"""A day of a small datacenter on real hypervisors: four libvirt hosts with 16 guests, all load on two of the hosts. ballastd in full automation
proves that hosts wake, evens the load out by live migrations, empties two hosts at night and switches them off through their controllers, and
has them back when the load returns. The guests count for themselves how long they have been up: none restarts. Figures are printed."""
import signal
import sys
import time

from daemon import at_once, wait_for
from datacenter import Datacenter, show_times

BUSY = "cpu 30 mem 24 dirty 200"  # percent of a host
BUSY_GUESTS = 10  # together they take three hosts
IDLE = "all: cpu 2 mem 8"
MEASURED_S = 8
RISE = 1.15  # of the CPU time that guests get, by balancing; more on a quiet machine


def say(*words):
    print(*words, flush=True)


def took(since):
    return f"{time.monotonic() - since:.0f} s"


def measure(of, d):
    d.cli("pause")
    ret = of.delivered(MEASURED_S)
    d.cli("resume")
    return ret


def show_delivered(title, delivered, where):
    by_host = {}
    for vm, (used, waited) in delivered.items():
        by_host.setdefault(where[vm][0], []).append((used, waited))
    say(f"{title}: {sum(used for used, _ in delivered.values()):.0f} % of a CPU delivered to {len(delivered)} guests; by host: " + ", ".join(
        f"{host} {sum(u for u, _ in guests):.0f} % to {len(guests)} (waiting {sum(w for _, w in guests):.0f} %)" for host, guests in sorted(by_host.items())))


def prove(d, hosts):
    """`ballast wake HOST --verify` of all: emptied, off, and back."""
    since = time.monotonic()
    for host in hosts:
        d.cli("wake", host, "--verify")
    wait_for(f"{hosts} are proven", lambda: all(h["wake_verified"] and h["state"] == "on" for h in d.json("hosts") if h["id"] in hosts), 90)
    say(f"{' and '.join(hosts)} proven after {took(since)}")


def wait_until_even(d, began):
    wait_for("the load is even", lambda: d.imbalance()[0] <= d.imbalance()[1] and not d.actions("approved", "starting", "running", "verifying"), 60)
    say("even after {}: imbalance {:.3f}, target {:.3f}".format(took(began), *d.imbalance()))


def test_day():
    with Datacenter(hosts=4, vms=16, options=["--host-cpu", "25"]) as of, of.service(**{
            "interval_s": 4, "cool_down_s": 20, "  low_s": 10, "  watch_s": 10, "  off_min_s": 120}) as d:
        since = of.check_guests()
        d.start()
        wait_for("the hosts have been read", lambda: d.status()["pass"])

        # Two hosts are proven to wake, and empty after it. Then the guests become busy: all load is on the other two.
        prove(d, ["hv3", "hv4"])
        since = of.check_guests(since)
        where = of.where()
        assert {host for hosts in where.values() for host in hosts} == {"hv1", "hv2"}, where
        d.cli("pause")
        busy = ",".join(str(n) for n in range(1, BUSY_GUESTS + 1))
        of.load(f"{IDLE}\nvms {busy}: {BUSY}")
        wait_for("the guests have understood", lambda: all(g["load"] == g["wanted"] for g in of.guests().values()))
        d.write(**{"  automation": "automatic"})
        d.process.send_signal(signal.SIGHUP)
        before = measure(of, d)
        show_delivered("before", before, where)
        began = time.monotonic()
        wait_for("hosts have received guests", lambda: len({host for hosts in of.where().values() for host in hosts}) == 4)
        wait_until_even(d, began)

        def risen():
            after = measure(of, d)
            show_delivered("after", after, of.where())
            return sum(used for used, _ in after.values()) > RISE * sum(used for used, _ in before.values())

        wait_for("the guests get more CPU time", risen, 60)
        since = of.wait_for_guests(since)
        assert show_times(d)

        # Night.
        of.load(IDLE)
        began = time.monotonic()

        def asleep():
            return [h["id"] for h in d.json("hosts") if h["state"] == "standby"]

        def night():
            """Both sleep; or the second is kept on because the load of the day came so suddenly, as that depends on what else this machine does."""
            off = asleep()
            return len(off) == 2 or (len(off) == 1 and all("quiet_short" in d.cli("explain", "--host", host) for host in {"hv3", "hv4"} - set(off)))

        wait_for("hosts are in standby", night, 100)
        off = asleep()
        say(f"in standby after {took(began)}: {off}")
        assert all("is off" in of.power(host, "status") for host in off)
        since = of.wait_for_guests(since)
        assert {hosts[0] for hosts in of.where().values()} == set(of.names) - set(off)
        size = {h["id"]: h["cores"] for h in d.json("hosts")}
        d.kill()  # in the dark: the next process has never read the hosts that sleep
        d.start()
        wait_for("the hosts have been read", lambda: d.status()["pass"])
        assert sorted(asleep()) == sorted(off) and {h["id"]: h["cores"] for h in d.json("hosts")} == size

        # Morning: the load comes back.
        of.load(f"{IDLE}\nvms {busy}: {BUSY}")
        began = time.monotonic()
        wait_for("all hosts are on", lambda: all(h["state"] == "on" for h in d.json("hosts")), 60)
        say(f"on after {took(began)}")
        wait_for("they carry load", lambda: {hosts[0] for hosts in of.where().values()} == set(of.names), 60)
        wait_until_even(d, began)
        of.wait_for_guests(since)
        show_delivered("then", measure(of, d), of.where())


if __name__ == "__main__":
    sys.exit(at_once([("test_day", test_day)]))
