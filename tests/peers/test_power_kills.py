#!/usr/bin/env python3
"""ballastd is killed at any moment of power changes: a host is emptied, goes to standby and wakes again, on vCenter (vcsim) with a controller
(ipmi_sim), and on Proxmox VE. Afterwards the host is on and in service, each VM runs once, none was shut down, and no host was asked to go
down twice but on its way down. BALLAST_TEST_LONG: 80 kills."""
import contextlib
import json
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import ipmi_sim  # noqa: E402
import vcsim  # noqa: E402
from at_once import run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Server  # noqa: E402
from proxmox.cluster import GIB  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402

KILLS = 40 if os.environ.get("BALLAST_TEST_LONG") else 3  # in each of both
BUSY = ("approved", "starting", "running", "verifying")
END_S = 30


def busy(d):
    return [a["action"] for a in d.actions(*BUSY)]


def cycle(d, host):
    d.cli("wake", host, "--verify")


def killed_again_and_again(name, d, host, check):
    """check(): whether all is as it was before. A cycle is measured first; then each is killed at a moment of its own, until enough kills came
    while a power change was under way."""
    chance = random.Random(seed := random.randrange(1 << 32))
    for _ in range(2):  # the first one waits for what a new service has to learn
        began = time.monotonic()
        cycle(d, host)
        wait_for(f"a cycle without a kill ({name})", lambda: not busy(d) and check(), END_S)
    length, done, kills, moments = time.monotonic() - began, 2, 0, []
    try:
        while kills < KILLS:
            cycle(d, host)
            time.sleep(chance.uniform(0, length))
            at = busy(d)
            d.kill()
            kills += bool(at)
            moments.append(",".join(at) or "-")
            d.start()
            wait_for(f"all is well again ({name})", lambda: d.run("hosts").returncode == 0 and not busy(d) and check(), END_S)
            done += 1
            assert done < 4 * KILLS + 5, f"only {kills} of {done} kills in a power change: {moments}"
    except BaseException:
        told = [line for line in d.log.read_text().splitlines() if "pass_done" not in line]
        print(f"{name}, seed {seed}: {moments}, {busy(d)}, as before: {check()}", d.cli("history"), *told[-40:], sep="\n", flush=True)
        raise
    ended = [a for a in d.json("history", "--limit", 1000) if a["action"] in ("power_off", "power_on")]
    equal("each power change has ended once", sorted({a["id"] for a in ended}), sorted(a["id"] for a in ended))
    failed = [(a["action"], a["state"], a["why"]) for a in ended if a["state"] != "done"]
    print(f"{name}: killed {kills} times in a power change, {done - 2 - kills} times beside one, {done} cycles of {length:.0f} s, not done {failed} "
          f"(seed {seed}): {moments}", flush=True)


def lab():
    c = Cluster("9.1", nodes=5)
    c.down_s, c.boot_s, c.migration_rate, c.ha.round_s = 1, 2, 2 * GIB, 1
    for i in range(10):
        c.add(100 + i, f"n{i % 5 + 1}", cpu=0.02, cores=2, mem=GIB, host_used=GIB // 2, used=GIB // 4)
        if i % 3 == 0:
            c.manage(c.guests[100 + i])
    return c


def quick(s):
    source = {"kind": "proxmox", "username": s.user, "password_file": s.password_file, "ca_file": s.ca_file, "timeout_s": 10, "url": s.urls[0],
              "other_urls": s.urls[1:]}
    return Daemon(source, interval_s=2, cool_down_s=1, automation="full", dpm={"enabled": False, "boot_s": 5})


def is_well(c):
    n = c.nodes["n5"]
    return n.online and n.goes_down is None and not c.lost and all(g.status == "running" and not g.lock for g in c.guests.values())


def test_never_read():
    """Killed right after the request: the next process finds a node that does not answer, and has never read its size."""
    c = lab()
    with Server(c, nodes=["n1", "n2"]) as s, quick(s) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"], 30)
        cycle(d, "n5")
        wait_for("the request", lambda: c.nodes["n5"].goes_down, 30, every=0.01)
        d.kill()
        time.sleep(c.down_s + 0.5)
        d.start()
        wait_for("all is well again", lambda: d.run("hosts").returncode == 0 and not busy(d) and is_well(c), 30)
        d.stop()


def test_proxmox():
    c = lab()
    with Server(c, nodes=["n1", "n2"]) as s:
        downs = []  # whether the node was on its way down already

        def before(n):
            if s.requests[n] == "POST /nodes/n5/status":
                downs.append(c.nodes["n5"].goes_down is not None)

        s.before = before
        with quick(s) as d:
            d.start()
            wait_for("a pass", lambda: d.status()["pass"], 30)
            killed_again_and_again("Proxmox VE", d, "n5", lambda: is_well(c))
            d.stop()
        equal("guests that went down", c.lost, [])
        equal("nodes that are on", [n.name for n in c.nodes.values() if n.online], list(c.nodes))
        print(f"Proxmox VE: {len(downs)} shutdowns requested, {sum(downs)} of a node on its way down, {len(c.wakes)} wakes", flush=True)
        assert len(downs) - sum(downs) == len(c.wakes), (downs, c.wakes)


def test_vsphere():
    with contextlib.ExitStack() as stack:
        sim = stack.enter_context(vcsim.Vcsim(hosts=3, vms=6, tls=False))
        api = sim.client()
        names = {ref: name for name, ref in api.hosts().items()}
        host = sorted(api.placement().values())[0]
        vms = set(api.placement())
        told, lost = [], []

        def reach(reached):
            client = sim.client()
            client.set_all([("HostSystem", host, "runtime.connectionState", "connected" if reached else "notResponding", "HostSystemConnectionState"),
                            ("HostSystem", host, "runtime.powerState", "poweredOn" if reached else "unknown", "HostSystemPowerState")])

        def switched(_, what, value):
            told.append((what, value))
            if what == "shutdown":
                lost.extend(vm for vm, at in sim.client().placement().items() if at == host)
                reach(False)
            elif (what, value) == ("power", 1):
                reach(True)

        bmc = stack.enter_context(ipmi_sim.Controllers(["bmc"], hook=switched))["bmc"]
        source = {"kind": "vsphere", "url": sim.url, "username": sim.username, "password_file": sim.password_file,
                  "cluster": sorted(api.clusters())[0], "timeout_s": 30}
        d = stack.enter_context(Daemon(source, interval_s=2, automation="full", cool_down_s=1, dpm={"enabled": False, "boot_s": 5}))
        d.write(power={"hosts": {names[host]: {"methods": ["ipmi"], "ipmi": {
            "address": bmc.address, "username": bmc.username, "workarounds": list(ipmi_sim.WORKAROUNDS), "password_file": str(bmc.password_file)}}}})
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0, 30)
        wait_for("the controller", lambda: d.run("confirm-controller", names[host]).returncode == 0, 30)

        def check():
            read = api.get("HostSystem", host, "runtime.inMaintenanceMode", "runtime.connectionState")
            return bmc.is_on() and read["runtime.inMaintenanceMode"].text == "false" and read["runtime.connectionState"].text == "connected"

        killed_again_and_again("vSphere with IPMI", d, names[host], check)
        d.stop()
        equal("VMs", set(api.placement()), vms)
        equal("VMs that went down", lost, [])
        off = [vm for vm in vms if api.get("VirtualMachine", vm, "runtime.powerState")["runtime.powerState"].text != "poweredOn"]
        equal("VMs that are off", off, [])
        again = [n for n, change in enumerate(told[1:], 1) if change == ("shutdown", 0) and told[n - 1] == change]
        cuts = [change for change in told if change == ("power", 0)]
        print(f"vSphere with IPMI: {json.dumps(told)}, {len(again)} shutdowns requested of a host on its way down", flush=True)
        equal("power cuts", cuts, [])


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
