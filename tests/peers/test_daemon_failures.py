#!/usr/bin/env python3
"""ballastd against a vSphere simulator whose relocations fail: to one host, or all of them."""
import contextlib
import sys
import time

import vcsim
from daemon import Daemon, wait_for
from relay import Relay
from at_once import run_tests  # noqa: E402

BUSY = ("approved", "starting", "running", "verifying")
EAGER = {"interval_s": 5, "automation": "full", "migration_threshold": 4, "cool_down_s": 600}
HOSTS = 4


@contextlib.contextmanager
def lab(loads, avoid, **simulator):
    """4 hosts, 48 VMs; loads: of the VMs of each host in the order of the hosts' names."""
    with vcsim.Vcsim(hosts=HOSTS, vms=48, slow_ms=300, tls=False, **simulator) as sim:
        api = sim.client()
        names = sorted(api.hosts())
        load = {api.hosts()[name]: mhz for name, mhz in zip(names, loads)}
        for vm, host in api.placement().items():
            api.set_load(vm, cpu_mhz=load[host], active_mb=8, consumed_mb=16)
        with Relay(sim.url) as relay:
            source = {"kind": "vsphere", "url": relay.url, "username": sim.username, "password_file": sim.password_file,
                      "cluster": sorted(api.clusters())[0], "timeout_s": 30}
            with Daemon(source, **{**EAGER, "avoid": avoid}) as d:
                yield api, names, relay, d


def faults(d):
    status = d.status()
    return [f["text"] for f in status["faults"] or () if f["code"] == "avoid"] if status["pass"] else []


def test_an_evacuation_ends_although_its_preferred_host_refuses():
    refuses = f"DC0_C0_H{HOSTS - 1}"  # the one with the least load
    with lab((100, 100, 100, 20), {"pause_s": 3600}, extra=("-refuse-hosts", refuses)) as (api, names, relay, d):
        assert refuses in names, names
        leaves = names[0]
        mine = {vm for vm, host in api.placement().items() if host == api.hosts()[leaves]}
        d.start()
        wait_for("a pass", lambda: d.status()["pass"], 30)
        d.run("maintenance", "enter", leaves)
        wait_for("an empty host", lambda: api.hosts()[leaves] not in api.placement().values(), 90)
        there = api.hosts()[refuses]
        assert not any(api.placement()[vm] == there for vm in mine)
        tried = max(relay.relocations[vm] for vm in mine)
        failed = [a for a in d.actions("failed") if a["vm"] in mine]
        assert failed and all(a["to"] == there for a in failed), failed
        assert tried <= 2, relay.relocations  # there, and then elsewhere
        assert len(failed) <= 8, len(failed)  # those under way when the third had failed
        said = wait_for("the faults", lambda: faults(d), 30)
        host = [text for text in said if f"{refuses} receives no VMs before" in text]
        assert host and "the destination did not answer" in host[0], said
        events = d.cli("events", "--since", "0", "--format", "json")  # all: the moves since have more than the last 50
        assert "receives no VMs before" in events and "the destination did not answer" in events
        listed = d.cli("recommendations")
        assert "not tried again yet" in listed and refuses in listed, listed
        d.kill()  # what was learned survives
        d.start()
        said = wait_for("the faults after a restart", lambda: faults(d), 30)
        assert any(f"{refuses} receives no VMs before" in text for text in said), said
        d.run("run", "--retry")
        wait_for("nothing avoided", lambda: not faults(d), 30)
        d.stop()


def test_optional_moves_pause_when_most_fail():
    with lab((480, 100, 100, 100), {"pause_s": 3600, "cluster_failures": 6}, fail_relocate=True) as (api, names, relay, d):
        before = api.placement()
        d.start()
        said = wait_for("the pause", lambda: [t for t in faults(d) if t.startswith("Only mandatory moves")], 90)
        assert "of the last moves failed" in said[0] and "the destination did not answer" in said[0], said
        wait_for("the end of what had begun", lambda: not d.actions(*BUSY), 60)
        tried = relay.counts["RelocateVM_Task"]
        assert 6 <= tried <= 20, tried
        time.sleep(15)
        assert relay.counts["RelocateVM_Task"] == tried and api.placement() == before
        d.run("maintenance", "enter", names[1])  # mandatory moves are tried all the same
        wait_for("a mandatory try", lambda: relay.counts["RelocateVM_Task"] > tried, 60)
        d.stop()


if __name__ == "__main__":
    vcsim.main(lambda: vcsim.build() and sys.exit(run_tests(globals())))
