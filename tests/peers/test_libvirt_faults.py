#!/usr/bin/env python3
"""Hosts that contradict each other, and peers that are late, cut off, huge or odd: real libvirtd and QEMU, and a relay before one of them.
No VM is lost or shown twice without a word, and no host costs the others their look."""
import contextlib
import pathlib
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

from daemon import wait_for
from lab import Lab
from libvirt_relay import LibvirtRelay
from probe import Probe

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

HOST_TIMEOUT_S = 10
DOMAINS, NETWORKS = 500, 1000
ODD = "Größe \"1\" & 'zwei' <日本> ${x} %s;"

# Every read of its disk fails; its firmware reads the first sector.
BROKEN = """<domain type='qemu' xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'><name>broken</name>
<uuid>6f1f2a10-93b4-4c5e-8d3c-0d4b1f7a2c02</uuid><memory unit='MiB'>32</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type></os>
<devices><emulator>/usr/bin/qemu-system-x86_64</emulator><controller type='usb' model='none'/><memballoon model='none'/></devices>
<qemu:commandline><qemu:arg value='-blockdev'/>
<qemu:arg value='{"driver":"blkdebug","node-name":"bad","image":{"driver":"null-co","size":1048576},
"inject-error":[{"event":"none","iotype":"read","errno":5}]}'/>
<qemu:arg value='-device'/><qemu:arg value='virtio-blk-pci,drive=bad,rerror=stop,bootindex=1'/></qemu:commandline></domain>"""


def domain(name, uuid, more=""):
    return (f"<domain type='qemu'><name>{name}</name><uuid>{uuid}</uuid>{more}<memory unit='MiB'>32</memory><vcpu>1</vcpu>"
            "<os><type arch='x86_64' machine='pc'>hvm</type></os></domain>")


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def probe(uris, **more):
    keys = {f"hosts.{name}.uri": uri for name, uri in uris.items()}
    return Probe("libvirt", **keys, host_timeout_s=HOST_TIMEOUT_S, timeout_s=60, **more)


def collect(p):
    """States of the hosts, and VMs by id; the snapshot must be possible."""
    answer = p("collect")
    assert answer["ok"] and answer["freeze"] == "ok", answer
    return {h["name"]: h["state"] for h in answer["hosts"]}, {v["id"]: v for v in answer["vms"]}


def look(p, hosts):
    """As soon as the hosts have these states; gives the VMs."""
    def there():
        found, vms = collect(p)
        return found == hosts and (vms,)
    return wait_for(f"hosts are {hosts}", there)[0]


ON = {"hv1": "on", "hv2": "on"}


def check_run_twice(lab, p, vm, folder):
    """The same guest started on both hosts by hand."""
    text = lab.virsh("hv1", "dumpxml --inactive vm1")
    (folder / "vm1.xml").write_text(text)
    lab.virsh("hv2", f"define {folder}/vm1.xml")
    assert look(p, ON)[vm]["host"] == "hv1"  # defined twice, running once
    lab.virsh("hv2", "start vm1")
    wait_for("it is there twice", lambda: {vm, f"{vm}@hv2"} <= set(look(p, ON)))  # at first it may be a migration
    vms = look(p, ON)
    for uid in (vm, f"{vm}@hv2"):
        assert "running on two hosts at once" in vms[uid]["needs"]["immovable"], vms[uid]
    lab.virsh("hv1", "destroy vm1")
    vms = look(p, ON)
    assert vms[vm]["host"] == "hv2" and vms[vm]["state"] == "on" and f"{vm}@hv2" not in vms, vms[vm]
    assert not p("collect")["source_faults"]
    lab.virsh("hv2", "destroy vm1")
    vms = look(p, ON)
    assert any("is off, and is defined on hv1 and on hv2" in f for f in p("collect")["source_faults"])
    assert vms[vm]["state"] == "off" and f"{vm}@hv2" not in vms, vms
    with probe({"hv1": lab.uri("hv1"), "hv2": f"qemu+unix:///system?socket={folder}/nothing"}) as other:
        _, vms = collect(other)
        assert vms[vm]["if_all_sleep"], "it may run on the host that was not seen"


def check_io_error(lab, p, folder):
    (folder / "broken.xml").write_text(BROKEN)
    lab.virsh("hv1", f"create {folder}/broken.xml")
    wait_for("QEMU pauses it", lambda: "I/O error" in lab.virsh("hv1", "domstate --reason broken"))
    lab.virsh("hv1", "suspend vm3")
    vms = {v["name"]: v for v in look(p, ON).values()}
    assert (vms["broken"]["state"], vms["broken"]["needs"]["immovable"]) == ("on", "its pause after an I/O error"), vms["broken"]
    assert (vms["vm3"]["state"], vms["vm3"]["needs"]["immovable"]) == ("on", "its pause"), vms["vm3"]
    assert any("VM broken" in f and "paused after an I/O error" in f for f in p("collect")["source_faults"])
    lab.virsh("hv1", "resume vm3")
    lab.virsh("hv1", "destroy broken")


def check_migrating(lab, p):
    """Seen on both hosts while it moves: one VM, on the source, which is left alone."""
    lab.load("vms 3: cpu 5 mem 24")
    wait_for("the guest has written its memory", lambda: lab.guests()["vm3"]["load"]["mem"] == 24)
    vm = lab.virsh("hv1", "domuuid vm3").strip()
    mover = subprocess.Popen(["virsh", "--quiet", "--connect", lab.uri("hv1"), "migrate", "--live", "--p2p", "--bandwidth", "1", "vm3", lab.uri("hv2")],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for("the destination waits", lambda: "vm3" in lab.virsh("hv2", "list --all --name").split())
        vms = look(p, ON)
        assert mover.poll() is None, "the migration was too fast"
        assert (vms[vm]["host"], vms[vm]["state"], vms[vm]["automation"]) == ("hv1", "on", "disabled"), vms[vm]
        assert sum(v["name"] == "vm3" for v in vms.values()) == 1
        lab.virsh("hv1", "domjobabort vm3")
    finally:
        mover.kill()
        mover.wait()
    wait_for("it is over", lambda: "vm3" not in lab.virsh("hv2", "list --all --name").split())
    assert look(p, ON)[vm]["automation"] != "disabled"


def check_uuids(lab, p):
    """Another UUID than before; then that of the other host."""
    first, second = (lab.hosts()[host]["uuid"] for host in ("hv1", "hv2"))
    lab.reconfigure("hv1", host_uuid="6f1f2a10-93b4-4c5e-8d3c-0d4b1f7a2c03")
    before = set(look(p, ON))
    assert any("another UUID than before" in f for f in p("collect")["source_faults"])
    lab.reconfigure("hv1", host_uuid=second)
    vms = look(p, {"hv1": "disconnected", "hv2": "disconnected"})
    assert set(vms) == before and all(v["state"] != "on" or v["demand_unknown"] for v in vms.values()), vms
    lab.reconfigure("hv1", host_uuid=first)
    assert set(look(p, ON)) == before
    log = p.close()
    assert f"another UUID than before, 6f1f2a10-93b4-4c5e-8d3c-0d4b1f7a2c03 instead of {first}" in log, log
    assert log.count(f"hosts hv1 and hv2 have the same UUID {second}") == 1, log
    assert log.count("runs on hv1 and on hv2 at once") == 1, log


def test_contradictions():
    with Lab(hosts=2, vms=4, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with probe({host: lab.uri(host) for host in ON}) as p:
            check_run_twice(lab, p, lab.virsh("hv1", "domuuid vm1").strip(), folder)
            check_io_error(lab, p, folder)
            check_migrating(lab, p)
            check_uuids(lab, p)


# ---- a relay before a host

class Relay:
    """Between the collector and a libvirtd: holds answers back, ends them in the middle, changes bytes of them."""

    def __init__(self, target):
        self.target = (target, 16509)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.uri = f"qemu+tcp://127.0.0.1:{self.listener.getsockname()[1]}/system"
        self.late_s, self.cut_after, self.spoil = 0.0, None, None
        self.sockets = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.target)
                self.sockets += [near, far]
                threading.Thread(target=self._requests, args=(near, far), daemon=True).start()
                threading.Thread(target=self._answers, args=(far, near), daemon=True).start()

    def _requests(self, near, far):
        with contextlib.suppress(OSError):
            while data := near.recv(65536):
                far.sendall(data)
        self._end(near, far)

    def _answers(self, far, near):
        sent = 0
        with contextlib.suppress(OSError):
            while data := far.recv(65536):
                time.sleep(self.late_s)
                if self.spoil and sent > 400:
                    place = self.spoil.randrange(len(data))
                    data = data[:place] + bytes([self.spoil.randrange(256)]) + data[place + 1:]
                if self.cut_after is not None and sent + len(data) > self.cut_after:
                    near.sendall(data[:max(0, self.cut_after - sent)])
                    break
                near.sendall(data)
                sent += len(data)
        self._end(near, far)

    def _end(self, *ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def drop(self):
        self._end(*self.sockets)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.drop()
        for each in self.sockets:
            each.close()


def test_relay():
    with Lab(hosts=2, vms=4, options=["--no-service"]) as lab, Relay(lab.uri("hv2").split("/")[2]) as relay:
        with probe({"hv1": lab.uri("hv1"), "hv2": relay.uri}) as p:
            before = set(look(p, ON))
            # late: a look of some 20 calls takes longer than it may, and is used when it comes
            relay.late_s = 1.0
            _, vms = collect(p)
            assert set(vms) == before
            wait_for("it counts as disconnected", lambda: collect(p)[0] == {"hv1": "on", "hv2": "disconnected"})
            relay.late_s = 0.0
            look(p, ON)
            # the connection ends at any byte of an answer
            for cut in (0, 1, 27, 28, 100, 2000, 5000, 9000):
                relay.cut_after = cut
                relay.drop()
                wait_for(f"it is lost after {cut} bytes", lambda: collect(p)[0]["hv2"] == "disconnected")
                relay.cut_after = None
                assert set(look(p, ON)) == before, cut
            # within the features of its CPU, which a look can do without
            relay.cut_after = 20000
            relay.drop()
            assert all(set(collect(p)[1]) == before for _ in range(3))
            relay.cut_after = None
            assert set(look(p, ON)) == before
            # lies: whatever libvirt makes of them, the collector and the other host live on
            relay.spoil = random.Random(1)
            for _ in range(25):
                relay.drop()
                answer = p("collect")
                assert answer["ok"] and {h["name"]: h["state"] for h in answer["hosts"]}["hv1"] == "on", answer
            relay.spoil = None
            relay.drop()
            assert set(look(p, ON)) >= before


def test_comparison_that_hangs():
    """A host that answers all but the comparison of a CPU was seen all the same, and says so."""
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab, LibvirtRelay(lab.uri("hv2")) as relay:
        relay.held = {relay.COMPARE_CPU}
        with probe({"hv1": lab.uri("hv1"), "hv2": relay.uri}) as p:
            found, vms = collect(p)
            relay.wait_for_call(relay.COMPARE_CPU)
            assert found == ON and {v["host"] for v in vms.values() if v["state"] == "on"} == set(ON), (found, vms)
            hosts = {h["name"]: h for h in p("collect")["hosts"]}
            assert hosts["hv2"]["state"] == "disconnected", hosts["hv2"]  # its thread is stuck
            relay.held = set()
            vms = look(p, ON)
            hosts = {h["name"]: h for h in p("collect")["hosts"]}
            assert all(v["needs"]["cpu_mode"] in hosts["hv2"]["offers"]["cpu_modes"] for v in vms.values()), (vms, hosts["hv2"])


# ---- much, and odd

def fill(lab, host):
    """As on its disk: libvirt's protocol takes no description above 4 MiB."""
    etc = lab.files(host) / "etc/qemu"
    for i in range(DOMAINS):
        (etc / f"many{i}.xml").write_text(domain(f"many{i}", f"00000000-0000-4000-8000-{i:012x}"))
    for which, (name, lines) in enumerate((("large", 100000), ("huge", 400000))):
        note = "<n:note xmlns:n='http://ballast.example/n'>" + "<n:line>0123456789</n:line>" * lines + "</n:note>"
        (etc / f"{name}.xml").write_text(domain(name, f"6f1f2a10-93b4-4c5e-8d3c-00000000000{which}", f"<metadata>{note}</metadata>"))
    networks = etc / "networks/autostart"
    networks.mkdir(parents=True, exist_ok=True)
    for i in range(NETWORKS):
        path = networks.parent / f"net{i}.xml"
        path.write_text(f"<network><name>net{i}</name><uuid>00000001-0000-4000-8000-{i:012x}</uuid><forward mode='bridge'/><bridge name='vmbr0'/></network>")
        (networks / path.name).symlink_to(f"/etc/libvirt/qemu/networks/{path.name}")
    (lab.files(host) / "run/network/autostarted").unlink(missing_ok=True)  # as after a boot
    lab.reconfigure(host)


def test_much():
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        fill(lab, "hv1")
        odd = pathlib.Path(name) / "odd.xml"
        odd.write_text(domain(escaped(ODD), "6f1f2a10-93b4-4c5e-8d3c-0d4b1f7a2c06", f"<title>{escaped(ODD)}</title>"))
        lab.virsh("hv1", f"define {odd}")
        wait_for("all networks are there", lambda: len(lab.virsh("hv1", "net-list --name").split()) >= NETWORKS)
        lab.virsh("hv1", "start huge")
        with probe({host: lab.uri(host) for host in ON}) as p:
            look(p, ON)
            vms = look(p, ON)
            print(f"{DOMAINS} domains and {NETWORKS} networks, two descriptions of 3 and 10 MB: {p.took_s:.2f} s")
            names = {v["name"]: v for v in vms.values()}
            assert ODD in names and names[ODD]["labels"]["title"] == ODD, names
            assert sum(v["name"].startswith("many") for v in vms.values()) == DOMAINS
            assert names["large"]["vcpus"] == 1 and names["large"]["needs"]["immovable"] is None, names["large"]
            assert names["huge"]["state"] == "on" and names["huge"]["demand_unknown"] and names["huge"]["needs"]["immovable"], names["huge"]


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
