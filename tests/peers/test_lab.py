#!/usr/bin/env python3
"""The lab: guests whose load is set from outside, live migrations that they survive, power through the controllers, and an end that leaves
nothing. virsh and ipmitool, not the lab, say what is true."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

from daemon import BALLAST, BALLASTD, CALL_S, wait_for
from lab import LAB, Lab, lab, need_lab

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

MEASURED_S = 4
BUILD = pathlib.Path(BALLASTD).absolute().parents[2]


def cpu_s(of, host, guest):
    return int(re.search(r"cpu\.time=(\d+)", of.virsh(host, f"domstats --cpu-total {guest}"))[1]) / 1e9


def cpu_used(of, host, guests):
    """Seconds of CPU that each guest uses in some seconds."""
    before = {guest: cpu_s(of, host, guest) for guest in guests}
    time.sleep(MEASURED_S)
    return {guest: cpu_s(of, host, guest) - before[guest] for guest in guests}


def runs_on(of, host):
    return set(of.virsh(host, "list --name").split())


def processes(folder):
    """The processes with the folder on their command line, or with a working directory in it."""
    ret = []
    for path in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes() + b" " + os.readlink(path / "cwd").encode()
        except OSError:
            continue
        if str(folder).encode() in words and int(path.name) != os.getpid():
            ret.append(words)
    return ret


def namespaces():
    """The network namespaces in which a process runs."""
    ret = set()
    for path in pathlib.Path("/proc").glob("[0-9]*/ns/net"):
        try:
            ret.add(os.readlink(path))
        except OSError:
            pass
    return ret


def links():
    return {name for _, name in socket.if_nameindex()}


def groups(folder):
    """The control groups of the lab in this folder; other tests may have labs of their own."""
    return list(pathlib.Path("/sys/fs/cgroup").glob(f"**/ballast-lab-{zlib.crc32(bytes(folder)):08x}"))


def memory(of, host, guest):
    """What the guest's balloon driver has told libvirt."""
    return dict((word, int(value)) for word, value in (line.split() for line in of.virsh(host, f"dommemstat {guest}").splitlines()))


def used_mib(of, host, guest):
    m = memory(of, host, guest)
    return (m["available"] - m["unused"]) >> 10


def check_load(of):
    """The guest that is told to work works, and the other one does not; memory that it is told to use is the host's no more, and it says so
    to libvirt. A profile may name hosts: the guests that run there."""
    assert runs_on(of, "hv1") == {"vm1", "vm3"} and runs_on(of, "hv2") == {"vm2", "vm4"}
    of.load("vms 1: cpu 60 mem 24")
    wait_for("the guest has understood", lambda: of.guests()["vm1"]["load"]["mem"] == 24)
    used = cpu_used(of, "hv1", ["vm1", "vm3"])
    assert used["vm1"] > 3 * used["vm3"] and used["vm1"] > 0.2, used
    rss = {guest: int(re.search(r"balloon\.rss=(\d+)", of.virsh("hv1", f"domstats --balloon {guest}"))[1]) for guest in ("vm1", "vm3")}
    assert 20 << 10 < rss["vm1"] - rss["vm3"] < 30 << 10, rss
    before = used_mib(of, "hv1", "vm3")
    wait_for("libvirt hears of the memory", lambda: used_mib(of, "hv1", "vm1") == before + 24)
    of.load("all: mem 4\nhosts 2: mem 8 dirty 40")
    wanted = {name: (guest["wanted"]["mem"], guest["wanted"]["dirty"]) for name, guest in of.guests().items()}
    assert wanted == {"vm1": (4, 0), "vm3": (4, 0), "vm2": (8, 40), "vm4": (8, 40)}, wanted
    wait_for("libvirt hears of less", lambda: used_mib(of, "hv1", "vm1") == before + 4)


def check_migration(of):
    """Both under load, so that memory changes on the way; the guest's own count goes on."""
    of.load("all: cpu 10 mem 16 dirty 400")
    before = of.guests()["vm1"]
    of.virsh("hv1", f"migrate --live --p2p --persistent --undefinesource vm1 {of.uri('hv2')}")
    assert runs_on(of, "hv1") == {"vm3"} and runs_on(of, "hv2") == {"vm1", "vm2", "vm4"}
    after = wait_for("it reports from there", lambda: (guest := of.guests()["vm1"])["host"] == "hv2" and guest["up_s"] > before["up_s"] and guest)
    assert after["boot"] == before["boot"] and after["restarts"] == 0, (before, after)
    assert wait_for("it does the same there", lambda: of.guests()["vm1"]["load"]["dirty"] == 400)
    told = memory(of, "hv2", "vm1").get("last_update", 0)
    wait_for("libvirt hears of its memory there", lambda: memory(of, "hv2", "vm1").get("last_update", 0) > told > 0)


def check_power(of):
    """A power cut takes the host's guests and no other; with power they can be started again, and say that they have been."""
    assert "is on" in of.power("hv1", "status")
    of.power("hv1", "off")
    wait_for("the host has gone", lambda: not of.hosts()["hv1"]["answers"])
    assert "is off" in of.power("hv1", "status")
    assert of.guests()["vm3"]["host"] is None and of.guests()["vm1"]["host"] == "hv2"
    of.power("hv1", "on")
    wait_for("the host answers", lambda: of.hosts()["hv1"]["answers"])
    assert "is on" in of.power("hv1", "status") and runs_on(of, "hv1") == set()
    assert "vm3" in of.virsh("hv1", "list --all --name")
    lab("up", "--hosts", 2, "--vms", 4, "--folder", of.folder)
    assert runs_on(of, "hv1") == {"vm3"} and runs_on(of, "hv2") == {"vm1", "vm2", "vm4"}
    guests = of.guests()
    assert guests["vm3"]["restarts"] == 1 and guests["vm1"]["restarts"] == 0, guests
    of.power("hv1", "soft")
    wait_for("it has shut down", lambda: "is off" in of.power("hv1", "status"))


def knows_libvirt(folder):
    """Whether this build has the plug-in."""
    configuration = pathlib.Path(folder) / "ballast.yaml"
    configuration.write_text(f"cluster: c\nstate_dir: {folder}\nsocket: {folder}/s\nsource:\n  kind: libvirt\n  hosts: {{h: {{uri: \"qemu+tcp://h/system\"}}}}\n")
    return subprocess.run([BALLAST, "check-config", configuration], capture_output=True, timeout=CALL_S).returncode == 0


def check_service(of):
    """ballastd reads the hosts and guests of the lab; a build without the plug-in is named, and the lab runs all the same."""
    service = of.status()["service"]
    with tempfile.TemporaryDirectory() as folder:
        if not knows_libvirt(folder):
            assert not service["runs"] and str(BUILD) in service["problem"] and "libvirt" in service["problem"], service
            return
    assert service["runs"], service

    def ask(what):
        done = subprocess.run([BALLAST, what, "--format", "json", "--socket", service["socket"]], capture_output=True, text=True, timeout=CALL_S)
        return json.loads(done.stdout) if done.returncode == 0 else []

    guests = wait_for("it has read the guests", lambda: ask("vms"))
    assert {guest["name"]: guest["host"] for guest in guests} == {"vm1": "hv1", "vm2": "hv2", "vm3": "hv1", "vm4": "hv2"}, guests
    assert [host["id"] for host in ask("hosts")] == ["hv1", "hv2"]
    request = urllib.request.Request(service["dashboard"] + "api/v1/clusters", headers={"Authorization": f"Bearer {service['token']}"})
    with urllib.request.urlopen(request, timeout=CALL_S) as answer:
        assert b'"lab"' in answer.read()
    # What follows says itself where guests run.
    subprocess.run([BALLAST, "pause", "--socket", service["socket"]], check=True, capture_output=True, timeout=CALL_S)


def test_datacenter():
    with Lab(hosts=2, vms=4, options=["--build", BUILD]) as of:
        check_service(of)
        check_load(of)
        check_migration(of)
        check_power(of)
        refused = lab("up", "--hosts", 3, "--folder", of.folder, code=1)
        assert "2 hosts and 4 guests" in refused, refused
        with tempfile.TemporaryDirectory() as other:
            refused = lab("up", "--folder", f"{other}/lab", "--network", of.network, code=1)
            assert "in use here" in refused and "--network" in refused, refused
            assert not os.listdir(other)
        link = next(iter(links() & {f"lab0a63{int(of.network.split('.')[2]):02x}00"}))
        folder = of.folder
        assert groups(folder) or "not enforced" in json.dumps(of.status())
    assert not processes(folder) and link not in links() and not groups(folder)


def test_killed_supervisor():
    """Its processes and namespaces end with it; its files, and what else outlives it, with the next command."""
    for end in ("down", "up"):
        with Lab(hosts=1, vms=0, options=["--no-service"]) as of:
            mine = {os.readlink(f"/proc/{of.process.pid}/ns/net")}
            os.kill(of.process.pid, signal.SIGKILL)
            of.process.wait()
            wait_for("its processes have ended", lambda: not processes(of.folder) and not namespaces() & mine)
            assert of.folder.exists()
            if end == "up":
                lab("up", "--hosts", 1, "--vms", 0, "--no-service", "--folder", of.folder, "--network", of.network)
                assert of.hosts()["hv1"]["answers"]
            lab("down", "--folder", of.folder)
            assert not of.folder.exists() and not processes(of.folder)
            lab("down", "--folder", of.folder)


def test_wrong_words():
    need_lab()
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "x.load"
        for text, word in (("", "no load"), ("all cpu 3", "begins with"), ("all: cpu", "no value"), ("all: cpu 1001", "0-1000"),
                           ("vms a: cpu 3", "list of numbers"), ("all: heat 3", "heat 3"), ("hosts: cpu 3", "begins with")):
            profile.write_text(text)
            for name in (profile, folder + "/none"):
                said = lab("load", name, "--folder", folder, code=1)
                assert "Traceback" not in said and ("no lab runs" in said or "no such file" in said), said
            done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(LAB.parent)!r}); import load; load.parse({text!r})"],
                                  capture_output=True, text=True)
            assert word in done.stderr, (text, done.stderr)
        (pathlib.Path(folder) / "diary").write_text("precious")
        assert "not the lab's" in lab("up", "--folder", folder, code=1)
        assert (pathlib.Path(folder) / "diary").read_text() == "precious"
        assert "/24" in lab("up", "--folder", folder, "--network", "10.99.0.0/16", code=1)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
