#!/usr/bin/env python3
"""Changes that libvirt reports are in the inventory within seconds, although passes are ten minutes apart: VMs started, stopped and migrated
by virsh, a host that loses its power. A storm of events causes few inventories, and a libvirtd that restarts is heard again."""
import pathlib
import re
import sys
import time

from daemon import Daemon, wait_for
from lab import Lab

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

INTERVAL_S = 600
SEEN_S = 35      # 10 s between two inventories, and what it takes to make one on a busy machine; without events it is up to 60 s
SILENCE_S = 30  # after 20 a connection is given up (net/libvirt/connections.h), then host_timeout_s for another one
EVENTS = 1000
GAP_S = 10       # engine/source_poll.h


def hosts(d):
    return {h["name"]: h for h in d.request({"command": "hosts"}).get("hosts", [])}


def vms(d):
    return {v["name"]: v for v in d.request({"command": "vms"}).get("vms", [])}


def looks(d):
    """How many inventories were made."""
    return int(float(re.search(r"^ballast_collection_duration_seconds_count\S* (\S+)$", d.request({"command": "metrics"})["metrics"], re.M)[1]))


def triggers(d):
    return [p["trigger"] for p in reversed(d.request({"command": "passes", "limit": 50})["passes"])]


def seen_within(limit_s, what, condition):
    """The condition holds in so many seconds, not counting what the caller has done before."""
    began = time.monotonic()
    wait_for(what, condition, limit_s)
    took_s = time.monotonic() - began
    print(f"{what}: {took_s:.1f} s")
    assert took_s < limit_s, f"{what}: only after {took_s:.1f} s"


def check_vms(lab, d):
    """Each is seen at once; one that a person stops makes a pass, and the next one that starts does not: one early pass in an interval."""
    assert triggers(d) == ["interval"], triggers(d)
    lab.virsh("hv1", "destroy vm3")
    seen_within(SEEN_S, "vm3 is stopped", lambda: vms(d).get("vm3", {}).get("state") != "on")
    wait_for("a pass", lambda: triggers(d) == ["interval", "change"], SEEN_S)
    lab.virsh("hv1", "start vm3")
    seen_within(SEEN_S, "vm3 is started", lambda: vms(d).get("vm3", {}).get("state") == "on")
    lab.virsh("hv1", f"migrate --live --p2p --persistent --undefinesource vm3 {lab.uri('hv2')}")
    seen_within(SEEN_S, "vm3 is migrated", lambda: vms(d)["vm3"]["host"] == hosts(d)["hv2"]["id"])
    assert triggers(d) == ["interval", "change"], triggers(d)


def check_storm(lab, d):
    """A thousand events; then it is quiet again."""
    before, began = looks(d), time.monotonic()
    for _ in range(4):
        lab.virsh("hv1", ";".join(f"desc vm1 --live --title number-{i}" for i in range(EVENTS // 4)))
    time.sleep(GAP_S + 2)
    took_s = time.monotonic() - began
    made = looks(d) - before
    print(f"{EVENTS} events in {took_s:.0f} s: {made} inventories")
    assert 1 <= made <= took_s / GAP_S + 2, (made, took_s)
    assert triggers(d) == ["interval", "change"], triggers(d)


def check_power(lab, d):
    """A host that goes off is seen to be, and makes a pass; when it is back, its events are heard again."""
    lab.power("hv2", "off")
    seen_within(SILENCE_S + SEEN_S, "hv2 is off", lambda: hosts(d)["hv2"]["state"] == "disconnected")
    wait_for("a pass", lambda: triggers(d)[2:] == ["change"], 90)
    why = hosts(d)["hv2"]["disconnected_why"]
    assert why and f"hv2 is disconnected: {why}" in d.cli("hosts") and f"hv2 is disconnected ({why}); its " in d.cli("status"), (why, d.cli("status"))
    assert vms(d)["vm1"]["state"] == "on"
    lab.power("hv2", "on")
    wait_for("hv2 is back", lambda: hosts(d)["hv2"]["state"] == "on", 120)
    time.sleep(GAP_S)
    lab.virsh("hv2", "start vm2")
    seen_within(SEEN_S, "vm2 is started", lambda: vms(d)["vm2"]["state"] == "on")


def test_events():
    with Lab(hosts=2, vms=4, options=["--no-service"]) as lab:
        source = {"kind": "libvirt", "hosts": {host: {"uri": lab.uri(host)} for host in ("hv1", "hv2")}}
        with Daemon(source, interval_s=INTERVAL_S, automation="manual") as d:
            d.start()
            wait_for("all VMs are seen", lambda: sum(v["state"] == "on" for v in vms(d).values()) == 4)
            check_vms(lab, d)
            check_storm(lab, d)
            check_power(lab, d)
            d.stop()  # while connections are open and callbacks registered


def test_exchanged_addresses():
    """Each host answers at the other's address: neither is asked anything before a person says that it is right."""
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab:
        uris = {host: {"uri": lab.uri(host)} for host in ("hv1", "hv2")}
        with Daemon({"kind": "libvirt", "hosts": uris}, interval_s=INTERVAL_S, automation="full") as d:
            d.start()
            wait_for("both are seen", lambda: {h["state"] for h in hosts(d).values()} == {"on"})
            d.stop()
            d.write(source={"kind": "libvirt", "hosts": {"hv1": uris["hv2"], "hv2": uris["hv1"]}})
            d.start()
            wait_for("the hosts are others", lambda: "is another one than before" in str(d.status()["source"]), 60)
            assert not any(h["state"] == "on" for h in hosts(d).values()), hosts(d)
            d.cli("confirm-setting", "source")
            wait_for("both are seen again", lambda: {h["state"] for h in hosts(d).values()} == {"on"}, 60)
            d.stop()


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
