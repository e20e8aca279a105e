#!/usr/bin/env python3
"""Maintenance of libvirt hosts, which have no such mode: ballastd empties the host by live migrations and keeps the mode itself, also when it
is killed. No guest restarts; none comes to the host meanwhile, and one that a person puts there leaves again."""
import sys

from daemon import at_once, wait_for
from datacenter import Datacenter

PASSES = 4  # in which nothing comes to the host


def state(d, host):
    return next(h["state"] for h in d.json("hosts") if h["id"] == host)


def wait_for_passes(d):
    seen = d.status()["pass"]["id"]
    wait_for("more passes", lambda: d.status()["pass"]["id"] >= seen + PASSES)


def guests_on(of, host):
    return {vm for vm, hosts in of.where().items() if host in hosts}


def test_maintenance():
    with Datacenter(hosts=3, vms=6) as of, of.service(interval_s=2) as d:
        of.load("all: cpu 10 mem 16 dirty 200")
        since = of.check_guests()
        assert guests_on(of, "hv1"), of.where()
        d.start()
        wait_for("the hosts have been read", lambda: d.status()["pass"])
        d.cli("maintenance", "enter", "hv1")
        wait_for("it is in maintenance", lambda: state(d, "hv1") == "maintenance")
        assert not guests_on(of, "hv1"), of.where()
        since = of.wait_for_guests(since)
        assert "maintenance" in d.cli("standby", "hv1", code=1)

        d.kill()
        d.start()
        wait_for("it is still in maintenance", lambda: d.status()["pass"] and state(d, "hv1") == "maintenance")
        wait_for_passes(d)  # the empty host would be the best one for the balance
        assert state(d, "hv1") == "maintenance" and not guests_on(of, "hv1"), of.where()

        # A person does not know of it.
        moved = min(guests_on(of, "hv2"))
        of.virsh("hv2", f"migrate --live --p2p --persistent --undefinesource {moved} {of.uri('hv1')}")
        wait_for("the guest leaves again", lambda: not guests_on(of, "hv1") and state(d, "hv1") == "maintenance")

        d.cli("maintenance", "exit", "hv1")
        wait_for("it is in service", lambda: state(d, "hv1") == "on")
        d.stop()
        d.pin("hv1")
        d.start()
        wait_for("guests come to it", lambda: guests_on(of, "hv1"))
        wait_for("all moves have ended", lambda: not d.actions("approved", "starting", "running", "verifying"))
        of.wait_for_guests(since)


if __name__ == "__main__":
    sys.exit(at_once([("test_maintenance", test_maintenance)]))
