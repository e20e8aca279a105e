#!/usr/bin/env python3
"""The libvirt collector against real libvirtd with QEMU: what virsh says is what it must see. Then hosts that hang, vanish, are named twice,
refuse, or never greet: each has its fault, and costs the others no time."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

from daemon import PATIENCE, wait_for
from lab import Lab
from probe import Probe, by_id

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

HOSTS, DOMAINS = 32, 40
SCALE_S = 2  # for all of them, on a quiet machine
HOST_TIMEOUT_S = 10
SLACK_S = 9  # of a loaded machine, for what takes no time; less than HOST_TIMEOUT_S, so that a second time-out shows

OFF = """<domain type='qemu'><name>db</name><uuid>6f1f2a10-93b4-4c5e-8d3c-0d4b1f7a2c01</uuid><title>Customer database</title>
<memory unit='MiB'>64</memory><vcpu>2</vcpu><memtune><hard_limit unit='MiB'>48</hard_limit></memtune>
<cputune><shares>200</shares><period>100000</period><quota>25000</quota></cputune>
<os><type arch='x86_64' machine='pc'>hvm</type></os>
<devices><disk type='file' device='disk'><source file='/var/lib/libvirt/images/db.img'/><target dev='vda'/></disk></devices></domain>"""


def probe(uris, **more):
    keys = {f"hosts.{name}.uri": uri for name, uri in uris.items()}
    return Probe("libvirt", **keys, host_timeout_s=HOST_TIMEOUT_S, timeout_s=60, **more)


def collect(p):
    """Hosts and VMs by name; the snapshot must be possible."""
    answer = p("collect")
    assert answer["ok"] and answer["freeze"] == "ok", answer
    return {h["name"]: h for h in answer["hosts"]}, {v["name"]: v for v in answer["vms"]}


def has_state(p, host, state):
    """Whether it has it now; a machine that is busy with the start of a host may answer late."""
    return any(h["name"] == host and h["state"] == state for h in p("collect").get("hosts", []))


def cpu_s(lab, host, guest):
    return int(re.search(r"cpu\.time=(\d+)", lab.virsh(host, f"domstats --cpu-total {guest}"))[1]) / 1e9


def check_figures(lab, p):
    """Load as virsh measures it over the same time; memory as QEMU holds it."""
    lab.load("vms 1: cpu 50 mem 24")
    wait_for("the guest works", lambda: lab.guests()["vm1"]["load"]["mem"] == 24)
    for _ in range(PATIENCE):  # both measure the same time only where neither is kept waiting
        collect(p)
        began, before = time.monotonic(), cpu_s(lab, "hv1", "vm1")
        collect(p)
        time.sleep(5)
        hosts, vms = collect(p)
        share = (cpu_s(lab, "hv1", "vm1") - before) / (time.monotonic() - began)
        sample = vms["vm1"]["sample"]
        used = sample["cpu_used_mhz"] / sample["core_mhz"]
        if abs(used - share) < 0.25 * share + 0.05:
            break
    assert hosts["hv1"]["state"] == hosts["hv2"]["state"] == "on", hosts
    assert hosts["hv1"]["offers"]["hardware_uuid"] == lab.virsh("hv1", "capabilities").split("<uuid>")[1].split("<")[0]
    assert 0 < used and abs(used - share) < 0.25 * share + 0.05, (used, share)
    assert used > vms["vm3"]["sample"]["cpu_used_mhz"] / sample["core_mhz"], vms["vm3"]["sample"]
    assert 4000 < sample["interval_ms"] < 60000 and sample["cpu_ready_ms"] >= 0, sample
    rss = int(re.search(r"balloon\.rss=(\d+)", lab.virsh("hv1", "domstats --balloon vm1"))[1]) / 1024
    assert abs(sample["mem_consumed_mb"] + sample["mem_overhead_mb"] - rss) < 0.2 * rss, (sample, rss)
    assert {name: v["host"] for name, v in vms.items()} == {"vm1": "hv1", "vm3": "hv1", "vm2": "hv2", "vm4": "hv2"}
    assert all(v["needs"]["cpu_mode"] in hosts["hv2"]["offers"]["cpu_modes"] and not v["needs"]["immovable"] for v in vms.values()), vms
    assert hosts["hv1"]["mem_free_mb"] < hosts["hv1"]["mem_mb"]
    lab.load("all: cpu 1 mem 8")  # what follows only waits

def check_states(lab, p):
    """Paused, migrated, defined twice, off."""
    lab.virsh("hv2", "suspend vm2")
    lab.virsh("hv1", f"migrate --live --p2p --persistent vm3 {lab.uri('hv2')}")  # its definition stays behind on hv1
    definition = pathlib.Path(lab.dir.name) / "off.xml"
    definition.write_text(OFF)
    lab.virsh("hv1", f"define {definition}")
    assert "vm3" in lab.virsh("hv1", "list --all --name") and "vm3" in lab.virsh("hv2", "list --name")
    hosts, vms = collect(p)
    assert vms["vm2"]["state"] == "on" and vms["vm2"]["needs"]["immovable"] == "its pause", vms["vm2"]
    assert vms["vm3"]["host"] == "hv2" and vms["vm3"]["state"] == "on" and not vms["vm3"]["demand_unknown"], vms["vm3"]
    db = vms["db"]
    assert (db["state"], db["host"], db["vcpus"], db["mem_mb"]) == ("off", "hv1", 2, 64), db
    assert db["labels"] == {"title": "Customer database"} and db["mem"]["limit"] == 48, db
    core = hosts["hv1"]["cpu_mhz"] / hosts["hv1"]["cores"]
    assert abs(db["cpu"]["limit"] - 0.5 * core) < 1 and db["cpu"]["shares"] == 2000, db
    assert "shared_paths" in db["needs"]["immovable"], db
    lab.virsh("hv2", "resume vm2")


def check_hang(lab, p):
    """A libvirtd that answers no more: disconnected after a while, at once from then on, and back when it goes on."""
    pid = lab.hosts()["hv2"]["libvirtd_pid"]
    collect(p)
    os.kill(pid, signal.SIGSTOP)
    try:
        hosts, vms = collect(p)
        assert p.took_s < HOST_TIMEOUT_S + SLACK_S, p.took_s
        assert (hosts["hv1"]["state"], hosts["hv2"]["state"]) == ("on", "disconnected"), hosts
        assert vms["vm2"]["host"] == "hv2" and vms["vm2"]["state"] == "on" and vms["vm2"]["demand_unknown"], vms["vm2"]
        assert not vms["vm1"]["demand_unknown"], vms["vm1"]
        for _ in range(3):
            hosts, _ = collect(p)
            assert hosts["hv2"]["state"] == "disconnected" and p.took_s < SLACK_S, p.took_s
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_for("it is back", lambda: has_state(p, "hv2", "on"))


def check_power_cut(lab, p):
    """A host that is gone: its VMs stay where they were seen. When it is back, they are off, and said to be so."""
    lab.power("hv2", "off")
    wait_for("it is disconnected", lambda: has_state(p, "hv2", "disconnected"))
    _, vms = collect(p)
    assert vms["vm2"]["host"] == "hv2" and vms["vm2"]["state"] == "on" and vms["vm2"]["demand_unknown"], vms["vm2"]
    assert vms["vm1"]["state"] == "on", vms["vm1"]
    collect(p)
    assert p.took_s < SLACK_S, p.took_s
    lab.power("hv2", "on")
    wait_for("it is back", lambda: has_state(p, "hv2", "on"))


def check_twins(lab):
    """One libvirt under two names: neither host can be used, and the log says why."""
    with probe({"a": lab.uri("hv1"), "b": lab.uri("hv1"), "c": lab.uri("hv2")}) as p:
        hosts, vms = collect(p)
        assert {n: h["state"] for n, h in hosts.items()} == {"a": "disconnected", "b": "disconnected", "c": "on"}, hosts
        assert vms["vm1"]["needs"]["immovable"], vms["vm1"]
        assert "hosts a and b have the same UUID" in p.close()


def check_before_the_start(lab, folder):
    """What an admin is told before the service starts."""
    configuration = folder / "ballast.yaml"
    configuration.write_text(f"cluster: lab\nstate_dir: {folder}\nsource:\n  kind: libvirt\n  hosts:\n    hv1: {{uri: \"{lab.uri('hv1')}\"}}\n"
                             f"    gone: {{uri: \"qemu+unix:///system?socket={folder}/nothing\"}}\n")
    done = subprocess.run([os.environ["BALLAST"], "check-config", "--connect", configuration], capture_output=True, text=True, timeout=100)
    for words in ("hv1 answers: libvirt ", "THE CONNECTION TO hv1 IS NOT ENCRYPTED", "gone: Failed to connect"):
        assert words in done.stdout + done.stderr, (words, done.stdout + done.stderr)


def threads_of(p):
    return len(os.listdir(f"/proc/{p.process.pid}/task"))


def silent_socket(folder):
    """Accepts connections and never says a word."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "silent"))
    listener.listen(16)
    return listener, f"qemu+unix:///system?socket={folder}/silent"


def check_refusals(lab, folder):
    """Nobody there; a peer that never greets. The one that answers is there all the same."""
    listener, silent = silent_socket(folder)
    with listener:
        with probe({"gone": f"qemu+unix:///system?socket={folder}/nothing"}) as p:
            answer = p("collect")
            assert not answer["ok"] and "gone: " in answer["text"] and "No such file" in answer["text"], answer
        with probe({"dumb": silent}) as p:
            answer = p("collect")
            # the connection and the look have the same time limit: whichever is noticed first
            assert not answer["ok"] and re.search(f"dumb: no (connection for|answer within) {HOST_TIMEOUT_S} s", answer["text"]), answer
        with probe({"dumb": silent, "hv1": lab.uri("hv1")}) as p:
            for _ in range(3):
                hosts, _ = collect(p)
                assert (hosts["dumb"]["state"], hosts["hv1"]["state"]) == ("disconnected", "on"), hosts
            assert p.took_s < SLACK_S, p.took_s
            before = threads_of(p)
            for _ in range(8):
                collect(p)
            assert threads_of(p) < before + 3, "a thread stays behind at each look"
            log = p.close()
            assert "THE CONNECTION IS NOT ENCRYPTED" in log and log.count("dumb: no") == 1, log


def made_up_host(folder, number):
    """A host of libvirt's test driver."""
    domains = "".join(f"<domain type='test'><name>h{number}v{i}</name><uuid>{number:08x}-0000-4000-8000-{i:012x}</uuid><memory unit='MiB'>1024"
                      f"</memory><vcpu>2</vcpu><os><type arch='x86_64'>hvm</type></os></domain>" for i in range(1, DOMAINS + 1))
    path = folder / f"h{number}.xml"
    path.write_text("<node><cpu><mhz>2000</mhz><model>x86_64</model><active>16</active><nodes>1</nodes><sockets>1</sockets><cores>16</cores>"
                    f"<threads>1</threads></cpu><memory>67108864</memory>{domains}</node>")
    return path


def check_scale(lab, folder):
    """32 hosts of 40 domains, of libvirt's test driver behind one real libvirtd, and a host that never greets beside them."""
    listener, silent = silent_socket(folder)
    door = lab.folder / "hv1/run/libvirt-sock"
    uris = {f"h{i}": f"test+unix://{made_up_host(folder, i)}?socket={door}" for i in range(1, HOSTS + 1)}
    seconds = {}
    with listener:
        for what, hosts in (("without", uris), ("with", {"dumb": silent, **uris})):
            with probe(hosts) as p:
                collect(p)
                for _ in range(3):
                    found, vms = collect(p)
                    seconds[what] = min(seconds.get(what, 1e9), p.took_s)
                assert len(vms) == HOSTS * DOMAINS and sum(h["state"] == "on" for h in found.values()) == HOSTS, len(vms)
    print(f"{HOSTS} hosts of {DOMAINS} domains: {seconds['without']:.2f} s, with one more that hangs {seconds['with']:.2f} s")
    assert seconds["without"] < SCALE_S * PATIENCE, seconds
    assert seconds["with"] < 2 * seconds["without"] + 1, seconds


def test_collect():
    with Lab(hosts=2, vms=4, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with probe({host: lab.uri(host) for host in ("hv1", "hv2")}) as p:
            check_figures(lab, p)
            check_states(lab, p)
            check_hang(lab, p)
            check_twins(lab)
            check_power_cut(lab, p)
        (folder / "1").mkdir()
        (folder / "2").mkdir()
        check_before_the_start(lab, folder)
        check_refusals(lab, folder / "1")
        check_scale(lab, folder / "2")


def measured(p, wanted, lab):
    """The guest's sample over some seconds in which it does what is wanted."""
    lab.load(wanted)
    wait_for("the guests have understood", lambda: all(g["load"] == g["wanted"] for g in lab.guests().values()))
    time.sleep(3)  # its balloon reports every second or two
    collect(p)
    time.sleep(4)
    _, vms = collect(p)
    return vms["vm1"], vms["vm1"]["sample"]["cpu_ready_ms"] / vms["vm1"]["sample"]["interval_ms"]


def measured_rate(lab):
    """QEMU samples few pages of a small guest, so that a measurement may find none of them written to. A collector asks for the next one after
    ten minutes, another collector at once."""
    with probe({"hv1": lab.uri("hv1")}) as new:
        wait_for("its rate was measured", lambda: collect(new)[1]["vm1"]["dirty_mb_s"] is not None)
        return collect(new)[1]["vm1"]["dirty_mb_s"]


def test_pressure():
    """Under contention the time that a guest waits for a CPU rises, by the guest's own word the memory that it uses; QEMU measures how fast it
    is written to."""
    with Lab(hosts=1, vms=3, options=["--no-service", "--host-cpu", "25"]) as lab, probe({"hv1": lab.uri("hv1")}) as p:
        idle, idle_waits = measured(p, "all: cpu 1 mem 8", lab)
        busy, busy_waits = measured(p, "all: cpu 100 mem 40 dirty 2000", lab)
        told = {key: int(value) / 1024 for key, value in re.findall(r"^(\w+) (\d+)$", lab.virsh("hv1", "dommemstat vm1"), re.M)}
        used = busy["sample"]["mem_guest_used_mb"]
        print(f"idle, busy: memory {idle['sample']['mem_guest_used_mb']:.0f}, {used:.0f} MiB, waiting {idle_waits:.2f}, {busy_waits:.2f} of the time")
        assert busy_waits > idle_waits + 0.1, (idle_waits, busy_waits)
        assert used > idle["sample"]["mem_guest_used_mb"] + 25 and used > 40, (idle, busy)
        assert abs(used - (told["available"] - told.get("usable", told["unused"]))) < 3, (used, told)
        wait_for("a rate of it was measured", lambda: measured_rate(lab) > 0)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
