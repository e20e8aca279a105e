#!/usr/bin/env python3
"""CPU controls of VMs on a real libvirtd: with two pools on a full host the guests' CPU time follows the pools; what an admin has set of a VM in no
pool stays; what Ballast has set travels with a migration, and is given back when the pools leave the configuration."""
import json
import pathlib
import re
import signal
import sys
import time

from daemon import Daemon, wait_for
from lab import Lab

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip, run_tests  # noqa: E402

PASS_S = 5
MEASURE_S = 12
OFF = 0.1  # of a part of the CPU
POOLS = {"gold": {"vms": "vm[12]", "cpu": {"shares": 3000}}, "silver": {"vms": "vm[34]", "cpu": {"shares": 1000}}}
OWN = 700  # the weight that vm5 has from its admin


def need_controls(lab):
    try:
        controls(lab, "hv1", "vm1")
    except AssertionError as e:
        raise Skip(f"no control groups for CPU here: {e}") from e


def controls(lab, host, guest, *options):
    said = lab.virsh(host, f"schedinfo {guest} {' '.join(options)}")
    return {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) *: (-?\d+)$", said, re.M)}


def cpu_s(lab, host, guest):
    return int(re.search(r"cpu\.time=(\d+)", lab.virsh(host, f"domstats --cpu-total {guest}"))[1]) / 1e9


def parts(lab, guests):
    """Of the CPU time that they got together, by guest."""
    before = {g: cpu_s(lab, "hv1", g) for g in guests}
    time.sleep(MEASURE_S)
    got = {g: cpu_s(lab, "hv1", g) - before[g] for g in guests}
    return {g: got[g] / sum(got.values()) for g in guests}


def share_one_cpu(lab, guests):
    """Between several CPUs the kernel divides by weights only roughly."""
    for g in guests:
        lab.virsh("hv1", f"vcpupin {g} 0 0 --live")
        lab.virsh("hv1", f"emulatorpin {g} 0 --live")


def capacity_mhz(lab):
    """Of a host, as the configuration has to say where several hosts share a machine."""
    mhz = float(re.search(r"cpu MHz\s*: ([\d.]+)", pathlib.Path("/proc/cpuinfo").read_text())[1])
    return int(mhz * lab.status()["capacity"]["cpu_percent"] / 100)


def weights(lab, *guests):
    return [controls(lab, "hv1", g)["cpu_shares"] for g in guests]


def are(values, expected):
    """As far as Ballast makes them: changes below 5 % are not sent."""
    return all(abs(is_ - should) <= 0.05 * should for is_, should in zip(values, expected))


def metadata(lab, host, guest, *options):
    return "own-controls" in lab.virsh(host, f"dumpxml {guest} {' '.join(options)}")


def daemon(lab, hosts=("hv1",), cpu_controls="live", **settings):
    source = {"kind": "libvirt", "hosts": {h: {"uri": lab.uri(h), "cpu_mhz": capacity_mhz(lab)} for h in hosts}, "cpu_controls": cpu_controls, "host_timeout_s": 60, "timeout_s": 90}
    return Daemon(source, interval_s=PASS_S, automation="partial", **settings)


def check_pools(lab):
    """Three of four parts go to gold, whatever else; before, each guest had a quarter."""
    lab.load("vms 1-4: cpu 1000")
    guests = ("vm1", "vm2", "vm3", "vm4")
    wait_for("the guests work", lambda: all(lab.guests()[g]["load"]["cpu"] > 0 for g in guests))
    share_one_cpu(lab, guests)
    lab.virsh("hv1", f"schedinfo vm5 --live --set cpu_shares={OWN}")
    even = parts(lab, guests)
    assert abs(even["vm1"] + even["vm2"] - 0.5) < OFF, even
    with daemon(lab, pools=POOLS).start() as d:
        wait_for("the weights are set", lambda: are(weights(lab, *guests), [1536, 1536, 512, 512]))
        got = parts(lab, guests)
        gold = got["vm1"] + got["vm2"]
        print(f"# gold had {even['vm1'] + even['vm2']:.3f} of the CPU time, and has {gold:.3f} with 3 : 1")
        assert abs(gold - 0.75) < OFF / 2 and abs(got["vm1"] - got["vm2"]) < OFF, got
        assert weights(lab, "vm5", "vm6") == [OWN, 1024]
        assert metadata(lab, "hv1", "vm1") and not metadata(lab, "hv1", "vm1", "--inactive")
        assert not metadata(lab, "hv1", "vm5")
        events = d.request({"command": "events", "limit": 1000})["events"]
        assert sum("settings of VMs" in str(e) for e in events) == 1, events  # once, not at each pass
        status = json.dumps(d.request({"command": "status"}))
        assert "pools." not in status, status
        d.write(pools={})
        d.process.send_signal(signal.SIGHUP)
        wait_for("they are given back", lambda: weights(lab, *guests) == [1024] * 4)
        wait_for("nothing is left", lambda: not any(metadata(lab, "hv1", g) for g in guests))
        assert weights(lab, "vm5") == [OWN]


def check_limit(lab):
    """A limit of a VM is a quota of the whole VM, in its definition, too; its own one comes back, also with `off`."""
    lab.virsh("hv1", "schedinfo vm6 --live --config --set vcpu_quota=20000")
    mhz = capacity_mhz(lab) // 4
    with daemon(lab, cpu_controls="persistent", vms=[{"name": "vm6", "cpu": {"limit": mhz}, "mem": {"limit": 32}}]).start() as d:
        for where in ("--live", "--config"):
            wait_for("the limit is set", lambda w=where: controls(lab, "hv1", "vm6", w)["vcpu_quota"] == -1)
            assert 1000 <= controls(lab, "hv1", "vm6", where)["global_quota"] < 100000, where
        assert metadata(lab, "hv1", "vm6", "--inactive")
        status = json.dumps(d.request({"command": "status"}))
        assert "vms.0 sets what the source does not have of the memory of 1 VM, so no hypervisor enforces it" in status, status
        d.settings["source"]["cpu_controls"] = "off"
        d.write()
        d.stop()
        d.start()
        for where in ("--live", "--config"):
            wait_for("it is given back", lambda w=where: controls(lab, "hv1", "vm6", w)["global_quota"] == -1)
            assert controls(lab, "hv1", "vm6", where)["vcpu_quota"] == 20000
        wait_for("nothing is left", lambda: not metadata(lab, "hv1", "vm6") and not metadata(lab, "hv1", "vm6", "--inactive"))


def test_controls():
    with Lab(hosts=1, vms=6, options=("--host-cpu", "60", "--cpu-controls", "--no-service")) as lab:
        need_controls(lab)
        check_pools(lab)
        check_limit(lab)


def test_after_a_migration():
    """The settings go with the guest, and are given back where it is then."""
    with Lab(hosts=2, vms=4, options=("--cpu-controls", "--no-service")) as lab:
        need_controls(lab)
        with daemon(lab, hosts=("hv1", "hv2"), pools={"gold": {"vms": "vm1", "cpu": {"shares": 3000}}}).start() as d:
            wait_for("the weight is set", lambda: are(weights(lab, "vm1"), [3072]))
            lab.virsh("hv1", f"migrate --live --p2p --persistent --undefinesource vm1 {lab.uri('hv2')}")
            assert metadata(lab, "hv2", "vm1") and are([controls(lab, "hv2", "vm1")["cpu_shares"]], [3072])
            d.write(pools={})
            d.process.send_signal(signal.SIGHUP)
            wait_for("it is given back", lambda: controls(lab, "hv2", "vm1")["cpu_shares"] == 1024)
            wait_for("nothing is left", lambda: not metadata(lab, "hv2", "vm1"))


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
