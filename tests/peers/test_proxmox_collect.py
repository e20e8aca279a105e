#!/usr/bin/env python3
"""The collector of Proxmox VE against the tests' own cluster (proxmox/): what it makes of it in three versions, and
what it does when addresses, tickets, certificates, rights, nodes and answers fail."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import ports  # noqa: E402
from at_once import Skip, run_tests  # noqa: E402
from probe import Probe, by_id  # noqa: E402
from proxmox import Account, Cluster, Fault, Server  # noqa: E402
from proxmox.cluster import FLAGS, GIB  # noqa: E402

VERSIONS = ("8.4", "9.1", "9.2")
MIB = 1 << 20
CORE = 2100  # MHz, of the CPUs of cluster.py


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


@contextlib.contextmanager
def collector(server, by="token", **more):
    given = {"url": server.urls[0], "username": server.token if by == "token" else server.user,
             "password_file": server.token_file if by == "token" else server.password_file, "ca_file": server.ca_file, "timeout_s": 30,
             "other_urls": server.urls[1] if len(server.urls) > 1 else None, **more}
    p = Probe("proxmox", **given)
    log = []
    try:
        yield p, log
    finally:
        log.append(p.close())
        assert p.process.returncode in (0, 1), f"the probe ended with {p.process.returncode}: {log}"


def good(p):
    inv = p("collect")
    assert inv["ok"], inv
    equal("a snapshot can be built", inv["freeze"], "ok")
    return inv


def bad(p, error, *texts):
    inv = p("collect")
    assert not inv["ok"] and inv["error"] == error and all(t in inv["text"] for t in texts), inv
    return inv["text"]


# ---- what is read ----

def test_hosts_and_guests():
    for version in VERSIONS:
        c = Cluster(version, nodes=3)
        c.nodes["n2"].maintenance = True
        c.nodes["n3"].online = False
        c.ceph = {"mon": ["n1"], "osd": ["n1"]}
        c.add(100, "n1", cores=4, cpu=0.5, tags="web;plb_pin_n1", pool="prod", name="web")
        c.add(101, "n1", kind="lxc")
        c.add(102, "n1", status="stopped")
        c.add(103, "n1", template=True)
        c.add(104, "n3")
        c.add(105, "n1", status="paused")
        c.pools["prod"] = {}
        c.manage(c.guests[100])
        with Server(c) as s, collector(s) as (p, _):
            inv = good(p)
        assert not s.problems, s.problems
        hosts, vms = by_id(inv["hosts"]), by_id(inv["vms"])
        equal("cluster", inv["cluster"], "lab")
        equal("states", {h: hosts[h]["state"] for h in hosts}, {"n1": "on", "n2": "maintenance", "n3": "disconnected"})
        equal("size", (hosts["n1"]["cpu_mhz"], hosts["n1"]["cores"], hosts["n1"]["mem_mb"]), (16 * CORE, 16, 64 * 1024))
        equal("labels", hosts["n1"]["labels"], {"ceph": "mon;osd", "pve": version[0], "votes": "1"})
        equal("never to standby", (hosts["n1"]["serves_storage"], hosts["n1"]["vsan"], hosts["n1"]["dpm"]), (True, False, "disabled"))
        # a template runs nowhere; of the guest of a node that was off from the start no size was ever told
        equal("guests", sorted(vms), ["100", "101", "102", "105"])
        web = vms["100"]
        equal("web", (web["name"], web["host"], web["state"], web["vcpus"], web["mem_mb"], web["labels"], web["folder"]),
              ("web", "n1", "on", 4, 4096, {"tags": "web;plb_pin_n1"}, "/prod"))
        equal("load", web["sample"]["cpu_used_mhz"], 0.5 * 4 * CORE)
        equal("moves", web["needs"]["immovable"], None)
        assert "container" in vms["101"]["needs"]["immovable"] and "paused" in vms["105"]["needs"]["immovable"], vms
        equal("off", vms["102"]["state"], "off")


def test_memory_and_pressure():
    """Each figure in its unit, and the cache of ZFS as free memory (P11 of proxmox/complaints.md)."""
    for version in VERSIONS:
        c = Cluster(version, nodes=1)
        c.nodes["n1"].arc = 8 * GIB
        c.add(100, "n1", cores=2, cpu=0.5, used=1 * GIB, host_used=3 * GIB, psi={"pressurecpusome": 25})
        c.add(101, "n1", balloon=False, host_used=5 * GIB)  # more than the guest has: QEMU's own is in it
        c.add(102, "n1", cpu=1.5)
        c.add(103, "n1", cpu=40.0)
        with Server(c) as s, collector(s) as (p, _):
            inv = good(p)
        vms, n1 = by_id(inv["vms"]), inv["hosts"][0]
        a, b = vms["100"]["sample"], vms["101"]["sample"]
        equal("guest's use", a["mem_guest_used_mb"], 1024)
        equal("backed", a["mem_consumed_mb"], 3072 if version != "8.4" else None)
        equal("no balloon", (b["mem_guest_used_mb"], b["mem_consumed_mb"], b["mem_overhead_mb"]), (None, 4096, 1024))
        free = 64 * 1024 - 2 * 1024 - 3 * 1024 - 5 * 1024 - 2 * 2 * 1024
        equal("the cache of ZFS counts as free, where it is told", n1["mem_free_mb"], free if version != "8.4" else free - 8 * 1024)
        if version == "8.4":
            equal("no pressure", a["cpu_ready_ms"], None)
        else:
            equal("pressure is percent", (a["cpu_ready_ms"], a["interval_ms"], a["cpu_run_ms"]), (2500, 10000, 10000))
        equal("turbo is all of it", vms["102"]["sample"]["cpu_used_mhz"], 2 * CORE)
        equal("the impossible is handed on", vms["103"]["sample"]["cpu_used_mhz"], 40 * 2 * CORE)


def test_memory_that_is_short():
    """What a full node takes from its guests by their balloons; and stalls, if they last five minutes."""
    for version in VERSIONS:
        for full in (False, True):
            c = Cluster(version, nodes=1)
            c.nodes["n1"].psi["pressurememoryfull"] = 20
            c.add(100, "n1", mem=16 * GIB, taken=6 * GIB, config={"balloon": 4096})
            c.add(101, "n1", mem=64 * GIB, host_used=(55 if full else 10) * GIB)
            with Server(c) as s, collector(s) as (p, _):
                for _ in range(3):
                    inv = good(p)
            equal("taken by the balloon", by_id(inv["vms"])["100"].get("ballooned_mb") or 0, 6144 if full else 0)
            equal("pressure", inv["hosts"][0].get("mem_pressure") or 0, 0.2 if version != "8.4" else 0)


def test_needs():
    c = Cluster("9.1", nodes=3)
    c.nodes["n2"].bridges = ["vmbr0"]
    c.nodes["n3"].flags = FLAGS.replace("avx2", "").replace("avx512f ", "")
    why = {
        100: ({}, None),
        101: ({"storage": "local-lvm"}, "scsi0 is on the storage local-lvm, which is not shared"),
        102: ({"config": {"hostpci0": "0000:01:00.0,pcie=1"}}, "hostpci0 is a device of its node"),
        103: ({"config": {"hostpci1": "mapping=gpu"}}, "hostpci1 is the mapped device gpu"),
        104: ({"config": {"usb0": "spice"}}, None),
        105: ({"config": {"usb0": "host=1234:5678"}}, "usb0 is a device of its node"),
        106: ({"config": {"virtiofs0": "dirid=share"}}, "virtiofs0 is a directory of its node"),
        107: ({"lock": "backup"}, "it is locked (backup)"),
        108: ({"config": {"ide2": "local:iso/debian.iso,media=cdrom"}}, "ide2 is on the storage local, which is not shared"),
        109: ({"config": {"ide2": "none,media=cdrom"}}, None),
        110: ({"storage": "local-lvm", "config": {}}, "its local disks are replicated to n2"),
        111: ({"config": {"scsi1": "/dev/disk/by-id/x"}}, "scsi1 is /dev/disk/by-id/x of its node"),
    }
    for vmid, (more, _) in why.items():
        c.add(vmid, "n1", **more)
    c.add(120, "n1", bridge="vmbr1", config={"cpu": "host"})
    c.add(121, "n1", config={"cpu": "x86-64-v3"})
    c.add(124, "n1", config={"cpu": "host"}, status="stopped")
    c.add(122, "n1", config={"cpu": "Skylake-Server", "affinity": "0,5,8-11"})
    c.add(123, "n1", config={"cpulimit": "1.5", "hugepages": "2"})
    c.replication.append({"id": "110-0", "type": "local", "guest": 110, "target": "n2", "jobnum": 0})
    with Server(c) as s, collector(s) as (p, _):
        inv = good(p)
    assert not s.problems, s.problems
    vms, hosts = by_id(inv["vms"]), by_id(inv["hosts"])
    for vmid, (_, reason) in why.items():
        equal(f"{vmid}", vms[str(vmid)]["needs"]["immovable"], reason)
    equal("bridges", [hosts[n]["offers"]["networks"] for n in sorted(hosts)], [["vmbr0", "vmbr1"], ["vmbr0"], ["vmbr0", "vmbr1"]])
    equal("bridge", vms["120"]["needs"]["networks"], ["vmbr1"])
    equal("storages", sorted(hosts["n1"]["offers"]["datastores"]), ["local of n1", "local-lvm of n1", "shared"])
    equal("storage", (vms["100"]["needs"]["datastores"], vms["101"]["needs"]["datastores"]), (["shared"], ["local-lvm of n1"]))
    modes = {n: hosts[n]["offers"]["cpu_modes"] for n in hosts}
    for vmid, on in ((100, "n1 n2 n3"), (120, "n1 n2"), (121, "n1 n2"), (122, "n1 n2")):
        equal(f"CPU of {vmid}", " ".join(n for n in sorted(modes) if vms[str(vmid)]["needs"]["cpu_mode"] in modes[n]), on)
    equal("off, it takes any CPU", vms["124"]["needs"]["cpu_mode"], None)
    equal("pinned", vms["122"]["needs"]["mandatory_only"], "pinned to CPUs of its node")
    equal("huge pages", vms["123"]["needs"]["mandatory_only"], "huge pages")
    equal("limit", vms["123"]["cpu"]["limit"], 1.5 * CORE)


def test_what_is_allowed():
    """Containers that may be restarted, and disks that may be copied."""
    c = Cluster("9.1", nodes=3)
    c.storages["local-lvm"].nodes = ["n1", "n2"]
    c.add(100, "n1", kind="lxc")
    c.add(101, "n1", storage="local-lvm", config={"scsi1": "local-lvm:vm-101-disk-1,size=512M"})
    c.add(102, "n1", storage="local-lvm", config={"ide2": "local:iso/debian.iso,media=cdrom"})
    c.add(103, "n1", storage="local-lvm")
    c.add(104, "n1", kind="lxc", storage="local-lvm")
    c.replication.append({"id": "103-0", "type": "local", "guest": 103, "target": "n2", "jobnum": 0})
    with Server(c) as s, collector(s, restart_containers="true", local_disks="true") as (p, _):
        inv = good(p)
    vms, hosts = by_id(inv["vms"]), by_id(inv["hosts"])
    equal("a container", (vms["100"]["needs"]["immovable"], vms["100"]["needs"]["mandatory_only"]),
          (None, "a container, which is restarted when it moves"))
    equal("disks", (vms["101"]["needs"]["immovable"], vms["101"]["needs"]["datastores"]), (None, ["local-lvm for copies"]))
    equal("what is copied", vms["101"]["needs"]["disks_copied_mb"], 32 * 1024 + 512)
    equal("where they can go", [n for n in sorted(hosts) if "local-lvm for copies" in hosts[n]["offers"]["datastores"]], ["n1", "n2"])
    equal("an image", vms["102"]["needs"]["immovable"], "ide2 is on the storage local, which is not shared")
    equal("replicated", vms["103"]["needs"]["immovable"], "its local disks are replicated to n2")
    equal("of a container", vms["104"]["needs"]["immovable"], "rootfs is on the storage local-lvm, which is not shared")
    with Server(c) as s, collector(s, local_disks="true", target_storage="shared") as (p, _):
        equal("elsewhere", by_id(good(p)["vms"])["101"]["needs"]["datastores"], ["shared for copies"])


def rules_of(inv):
    return {r["name"]: (r["kind"], r["mandatory"], r["enabled"], sorted(r["vms"]), sorted(r["hosts"])) for r in inv["rules"]}


def test_rules():
    c = Cluster("8.4", nodes=3).fill(3)
    for vmid, group in ((100, "strict"), (101, "strict"), (102, "loose"), (103, "gone")):
        c.manage(c.guests[vmid], group=group)
    c.manage(c.guests[104], state="ignored", group="strict")
    c.ha.groups = {"strict": {"nodes": "n1,n2", "restricted": 1, "nofailback": 0}, "loose": {"nodes": "n2:2,n3:1", "restricted": 0, "nofailback": 0}}
    with Server(c) as s, collector(s) as (p, _):
        equal("groups", rules_of(good(p)), {
            "strict": ("vm-host-affine", True, True, ["100", "101"], ["n1", "n2"]),
            "loose": ("vm-host-affine", False, True, ["102"], ["n2", "n3"]),
            "loose (highest priority)": ("vm-host-affine", False, True, ["102"], ["n2"])})
    c = Cluster("9.2", nodes=3).fill(3)
    for vmid in range(100, 106):
        c.manage(c.guests[vmid])
    c.add_rule("strict", resources="vm:100,vm:101,vm:999", nodes="n1:2,n2", strict=1)
    c.add_rule("never", resources="vm:102", nodes="n3", strict=0, affinity="negative")
    c.add_rule("together", type="resource-affinity", resources="vm:100,vm:102", affinity="positive")
    c.add_rule("apart", type="resource-affinity", resources="vm:103,vm:104,vm:108", affinity="negative")  # 108 is not managed
    c.add_rule("off", type="resource-affinity", resources="vm:104,vm:105", affinity="positive", disable=1)
    c.add_rule("of a later version", type="license-affinity", resources="vm:104")
    with Server(c) as s, collector(s) as (p, _):
        equal("rules", rules_of(good(p)), {
            "strict": ("vm-host-affine", True, True, ["100", "101"], ["n1", "n2"]),
            "strict (highest priority)": ("vm-host-affine", False, True, ["100", "101"], ["n1"]),
            "never": ("vm-host-anti-affine", True, True, ["102"], ["n3"]),
            "together": ("vm-vm-affine", True, True, ["100", "102"], []),
            "apart": ("vm-vm-anti-affine", True, True, ["103", "104"], []),
            "off": ("vm-vm-affine", True, False, ["104", "105"], [])})


def test_cluster_settings():
    c = Cluster("9.2", nodes=3).fill(1)
    c.options = {"crs": {"ha": "dynamic", "ha-auto-rebalance": 1}, "bwlimit": "migration=100000"}
    c.quorate = False
    with Server(c) as s, collector(s) as (p, _):
        inv = good(p)
        equal("two balancers", inv["conflicts"]["balancer"], True)
        equal("mode", inv["source_automation"], "crs: ha=dynamic, ha-auto-rebalance=1")
        assert len(inv["source_faults"]) == 1 and "no quorum" in inv["source_faults"][0], inv["source_faults"]
        c.options["crs"] = {"ha": "dynamic", "ha-auto-rebalance": 0}
        c.quorate = None
        inv = good(p)
        equal("one", (inv["conflicts"]["balancer"], inv["source_faults"]), (False, []))


def test_a_node_of_its_own():
    """Without a cluster there is no row of one, no vote, and its lists are refused."""
    c = Cluster("9.1", nodes=1).fill(2)
    c.guests[101].tags = ";".join(f"tag{i}" for i in range(200))
    with Server(c) as s, collector(s) as (p, _):
        s.twists.append(("/cluster/status", lambda rows: [r for r in rows if r["type"] == "node"]))
        s.faults.append(Fault("/cluster/config/.*", code=500, reason="no corosync config"))
        inv = good(p)
    equal("cluster", (inv["cluster"], inv["hosts"][0]["state"], inv["hosts"][0]["labels"], inv["source_faults"]), ("n1", "on", {"pve": "9"}, []))
    equal("every tag", len(by_id(inv["vms"])["101"]["labels"]["tags"].split(";")), 200)


def test_mixed_versions():
    c = Cluster("9.1", nodes=3).fill(2)
    c.nodes["n2"].version = "8.4"
    c.manage(c.guests[100], group="near")
    c.ha.groups["near"] = {"nodes": "n1", "restricted": 1, "nofailback": 0}
    c.add_rule("apart", type="resource-affinity", resources="vm:100,vm:101", affinity="negative")
    for answers in ("n1", "n2"):
        with Server(c, nodes=[answers]) as s, collector(s) as (p, _):
            inv = good(p)
            asked = {r.partition(" ")[2].partition("?")[0] for r in s.requests}
        equal("versions", [h["labels"]["pve"] for h in inv["hosts"]], ["9", "8", "9"])
        assert "/nodes/n1/qemu" in asked and "/nodes/n2/qemu" not in asked, asked  # its list has no pressures
        equal("loads", [v["demand_unknown"] for v in inv["vms"]], [False] * 6)
    c.ha.migrated = False  # a node of version 9 tells both, and they may have one name
    c.add_rule("near", resources="vm:100", nodes="n1,n3")
    with Server(c) as s, collector(s) as (p, _):
        equal("rules", [r["id"] for r in good(p)["rules"]], ["ha:near", "ha:near (2)"])


# ---- what fails ----

def test_addresses():
    c = Cluster("9.1", nodes=3).fill(1)
    with Server(c, nodes=["n1", "n2"]) as s, collector(s) as (p, _):
        good(p)
        c.nodes["n1"].online = False
        s.close_connections()
        inv = good(p)
        equal("n1 is away", [h["state"] for h in inv["hosts"]], ["disconnected", "on", "on"])
        began = len(s.requests)
        good(p)
        assert [r for r in s.requests[began:]], "the other address is asked first"
        c.nodes["n2"].online = False
        s.close_connections()
        text = bad(p, "ECONNRESET", "none of 2 addresses answers")
        assert s.cluster.accounts[s.token].secret not in text
        c.nodes["n1"].online = c.nodes["n2"].online = True
        good(p)


def test_tickets():
    c = Cluster("9.1", nodes=2).fill(2)
    with Server(c) as s, collector(s, by="password") as (p, _):
        good(p)
        equal("one login", s.requests.count("POST /access/ticket"), 1)
        real, n = s.who, [0]

        def expire_in_the_middle(method, path, headers):
            n[0] += 1
            if n[0] == 4:
                s.expire_tickets()
            return real(method, path, headers)
        s.who = expire_in_the_middle
        good(p)
        equal("once more", s.requests.count("POST /access/ticket"), 2)
        s.who = real
        c.accounts[s.user].secret = "another"
        s.expire_tickets()
        text = bad(p, "EACCES", "was refused", "1 min")
        bad(p, "EACCES", "was refused")
        equal("the refused password is not sent again", s.requests.count("POST /access/ticket"), 3)
        assert "s3cret" not in text
        s.put_secret("password", "another")
        good(p)
    c = Cluster("9.1", nodes=1)
    with Server(c) as s:
        c.accounts[s.token] = Account("00000000-0000-0000-0000-000000000000", {})
        with collector(s) as (p, _):
            bad(p, "EACCES", "the token ballast@pve!token was refused")


def test_certificates():
    c = Cluster("9.1", nodes=1).fill(1)
    with Server(c) as s:
        other = Server(Cluster("9.1", nodes=1))
        with other, collector(s, ca_file=other.ca_file) as (p, _):
            bad(p, "EKEYREJECTED", "ca_file")
        with collector(s, ca_file=None, fingerprints=s.fingerprint) as (p, _):
            good(p)
            s.renew_certificate()
            s.close_connections()
            bad(p, "EKEYREJECTED", "none of those that are pinned")
        with collector(s, ca_file=None, fingerprints=s.fingerprint.lower().replace(":", "")) as (p, _):
            good(p)
        s.context.num_tickets = 0  # a TLS session that goes on shows no certificate
        with collector(s) as (p, _):
            good(p)
            s.renew_certificate()
            s.close_connections()
            bad(p, "EKEYREJECTED", "the peer's certificate has changed")


def test_rights():
    """Empty lists are no empty cluster."""
    c = Cluster("9.1", nodes=2).fill(3)
    with Server(c) as s:
        acl = c.accounts[s.token].acl
        full = set(acl["/"])
        for lacking, names in (({"Sys.Audit"}, "Sys.Audit"), ({"VM.Audit"}, "VM.Audit on /vms"), ({"Datastore.Audit"}, "Datastore.Audit"),
                               (full, "Sys.Audit")):
            acl["/"] = full - lacking
            with collector(s) as (p, _):
                bad(p, "EPERM", names)
        acl["/"] = full - {"SDN.Audit"}
        with collector(s) as (p, _):
            inv = good(p)
            equal("bridges are not known", [h["offers"]["networks"] for h in inv["hosts"]], [None, None])
            acl["/"] = full - {"VM.Audit"}  # while it runs: the guests are not gone
            bad(p, "EPERM", "VM.Audit on /vms")
            acl["/"] = full
            equal("all are back", len(good(p)["vms"]), 6)


def test_nodes_that_fail():
    c = Cluster("9.1", nodes=3).fill(2)
    with Server(c) as s, collector(s, timeout_s=60) as (p, log):
        good(p)
        c.nodes["n3"].online = False
        s.requests.clear()
        inv = good(p)
        vms = by_id(inv["vms"])
        equal("it is not asked", [r for r in s.requests if "/nodes/n3/" in r], [])
        equal("its guests stay", [(vms[v]["host"], vms[v]["state"], vms[v]["demand_unknown"]) for v in ("104", "105")], [("n3", "on", True)] * 2)
        c.nodes["n3"].online, c.nodes["n3"].known = True, False
        equal("no broadcast yet", by_id(good(p)["hosts"])["n3"]["state"], "disconnected")
        c.nodes["n3"].known = True
        equal("back", by_id(good(p)["hosts"])["n3"]["state"], "on")
        # what another node forwards hangs for 30 s, or ends with 595; the cluster calls the node online
        s.faults.append(Fault("/nodes/n2/.*", hang_s=30, code=596, reason="Connection timed out"))
        inv = good(p)
        assert p.took_s < 25, p.took_s
        equal("what is known of it serves", by_id(inv["hosts"])["n2"]["state"], "on")
        good(p)
        assert p.took_s < 5, p.took_s  # not again as long
        s.faults[:] = [Fault("/nodes/n2/.*", code=595, reason="No route to host")]
        good(p)
        s.faults.clear()
        good(p)
    assert log[0].count("node n2 does not answer, though the cluster calls it online") >= 1, log
    c = Cluster("9.1", nodes=2).fill(1)
    with Server(c) as s, collector(s) as (p, _):
        s.faults.append(Fault("/nodes/n2/.*", code=595, reason="No route to host"))
        inv = good(p)
        equal("nothing is known of its CPUs", by_id(inv["hosts"])["n2"]["state"], "disconnected")
        equal("its guest", (by_id(inv["vms"])["101"]["demand_unknown"], bool(by_id(inv["vms"])["101"]["needs"]["immovable"])), (True, True))


def test_configuration_that_cannot_be_read():
    """It is asked for again within seconds, at first; its guest stays where it is until then."""
    c = Cluster("9.1", nodes=2).fill(1)
    path = "/nodes/n1/qemu/100/config"
    with Server(c) as s, collector(s) as (p, _):
        s.faults.append(Fault(path, code=500, reason="got timeout", times=2))
        began, looks = time.monotonic(), 0
        while by_id(good(p)["vms"])["100"]["needs"]["immovable"] == "its configuration has not been read yet":
            looks += 1
            assert time.monotonic() - began < 30, s.requests
            time.sleep(0.5)
        assert looks >= 8 and sum(path in r for r in s.requests) == 3, (looks, [r for r in s.requests if path in r])


def test_guest_that_moves():
    """Between the list and its own answer: the path leads nowhere, and the next look finds it."""
    c = Cluster("9.1", nodes=2).fill(1)
    with Server(c) as s, collector(s) as (p, _):
        s.faults.append(Fault("/nodes/n1/qemu/100/config", code=500, reason="Configuration file 'nodes/n1/qemu-server/100.conf' does not exist"))
        equal("not read", by_id(good(p)["vms"])["100"]["needs"]["immovable"], "its configuration has not been read yet")
    c.guests[100].lock = "migrate"
    with Server(c) as s, collector(s) as (p, _):
        equal("on its way", by_id(good(p)["vms"])["100"]["needs"]["immovable"], "it is locked (migrate)")
        c.guests[100].node, c.guests[100].lock = "n2", ""
        vm = by_id(good(p)["vms"])["100"]
        equal("arrived", (vm["host"], vm["needs"]["immovable"]), ("n2", None))


def test_hostile():
    c = Cluster("9.1", nodes=2).fill(2)
    row = {"id": "qemu/100", "type": "qemu", "vmid": 100, "node": "n1", "status": "running", "maxcpu": 2, "maxmem": GIB, "mem": 1, "cpu": 0}
    node = {"id": "node/n1", "type": "node", "node": "n1", "status": "online", "maxcpu": 16, "maxmem": GIB * 64, "mem": GIB, "cpu": 0.1}
    refused = [b"", b"<html>", b"[]", b"{}", b'{"data":null}', b'{"data":{}}', b'{"data":[]}', b'{"data":"x"}', b"[" * 100000,
               b'{"data":' + b"[" * 40 + b"]" * 40 + b"}"]
    with Server(c) as s, collector(s) as (p, _):
        for body in refused:
            s.faults[:] = [Fault("/cluster/resources", body=body)]
            bad(p, "EPROTO")
        s.faults[:] = [Fault("/cluster/resources", body=b'{"data":"' + b"x" * (40 << 20) + b'"}')]
        bad(p, "EFBIG", "larger than")
        s.faults[:] = [Fault("/cluster/resources", drop=True)]
        bad(p, "ECONNRESET")
        s.faults.clear()
        for path in ("/cluster/status", "/cluster/options", "/cluster/ha/.*", "/access/permissions", "/cluster/config/nodes", "/nodes/.*",
                     "/cluster/replication", "/cluster/ceph/metadata"):
            for data in ([], {}, None, "x", 7, [1, None, "x", {"node": 7, "sid": [], "vmid": {}}], {"cpuinfo": 7, "manager_status": [], "crs": 1}):
                s.twists[:] = [(path, lambda _, given=data: given)]
                inv = p("collect")
                assert not inv["ok"] or inv["freeze"] == "ok", (path, data, inv)
        for change in ({"vmid": "x"}, {"vmid": -1}, {"node": "../n1"}, {"node": "n9"}, {"maxcpu": -1}, {"maxcpu": 1e300}, {"maxmem": 0}, {"cpu": "nan"},
                       {"cpu": -1}, {"mem": 1e18}, {"name": ""}, {"name": "x" * 100000}, {"tags": "t;" * 50000}, {"status": None}, {"lock": 7},
                       {"vmid": "100", "maxmem": "4096000000"}, {"pool": "a/b"}):
            s.twists[:] = [("/cluster/resources", lambda _, given=change: [node, {**row, **given}])]
            inv = p("collect")
            assert inv["ok"] and inv["freeze"] == "ok", (change, inv)
            assert all(v["cpu"]["limit"] is None for v in inv["vms"])
        s.twists[:] = [("/cluster/resources", lambda rows: rows * 3)]  # each three times
        equal("each once", (len(good(p)["hosts"]), len(good(p)["vms"])), (2, 4))
        s.twists[:] = [(".*/config", lambda _: {"cpu": ",,=", "net0": "=,bridge=", "scsi0": ":,", "hostpci0": "", "cpulimit": "x", "net1": "bridge",
                                                **{f"net{i}": "virtio,bridge=b" * 9 for i in range(2, 3000)}})]
        c.guests[100].tags = "again"
        assert good(p)["vms"], "read"


# ---- before the service starts ----

def configuration(folder, server, more="", username=None, **source):
    given = {"kind": "proxmox", "url": server.urls[0], "username": username or server.token, "password_file": server.token_file,
             "ca_file": server.ca_file, **source}
    path = pathlib.Path(folder) / "ballast.yaml"
    lines = "".join(f"  {key}: {json.dumps(value)}\n" for key, value in given.items())
    path.write_text(f"cluster: lab\nsocket: {folder}/s\nstate_dir: {folder}/state\n{more}source:\n{lines}")
    return path


def check(path, *options):
    program = os.environ.get("BALLAST")
    if not program:
        raise Skip("BALLAST is not set: run this with meson test")
    ended = subprocess.run([program, "check-config", *options, path], capture_output=True, text=True, timeout=120, check=False)
    return ended.returncode, " ".join((ended.stdout + ended.stderr).split())  # lines are wrapped


def test_check_config():
    c = Cluster("9.1", nodes=3).fill(2)
    with Server(c) as s, tempfile.TemporaryDirectory() as folder:
        code, text = check(configuration(folder, s), "--connect")
        for line in ("the login of ballast@pve!token was accepted", "cluster lab: 3 nodes, 6 guests", "quorate: 3 of 3 votes are there",
                     "VM.Audit on /vms", "VM.Migrate on /vms", "Sys.Modify is missing on /nodes"):
            assert line in text, (line, text)
        c.accounts[s.token].acl["/"] -= {"VM.Audit", "Pool.Audit"}
        code, text = check(configuration(folder, s), "--connect")
        assert code != 0 and "VM.Audit is missing on /vms" in text and "Pool.Audit is missing on /pool" in text, text
        assert "Sys.Audit on /" in text
        c.accounts[s.token].acl["/"] |= {"VM.Audit", "Pool.Audit"}
        c.accounts[s.token].acl["/"] -= {"VM.Migrate", "VM.PowerMgmt"}
        code, text = check(configuration(folder, s), "--connect")
        assert code == 0 and "VM.Migrate is missing on /vms" in text, text  # recommendations need none
        assert "VM.PowerMgmt is missing on /vms: starting guests" in text, text
        c.accounts[s.token].acl["/"] |= {"VM.PowerMgmt"}
        code, text = check(configuration(folder, s, "automation: full\n", local_disks=True), "--connect")
        assert code != 0 and "VM.Config.Disk is missing on /vms" in text and "Datastore.AllocateSpace is missing on /storage" in text, text
        c.accounts[s.token].acl["/"] |= {"VM.Migrate"}
        c.accounts[s.token].acl["/"] -= {"Sys.PowerMgmt"}
        code, text = check(configuration(folder, s, "automation: full\n"), "--connect")
        assert code == 0 and "Sys.PowerMgmt is missing on /nodes" in text, text
        code, text = check(configuration(folder, s, "dpm: {enabled: true}\n"), "--connect")
        assert code == 0 and "nothing can wake" not in text, text  # other nodes send the packet
        code, text = check(configuration(folder, s, "dpm: {enabled: true, automation: automatic}\n"), "--connect")
        assert code != 0 and "PROBLEM Sys.PowerMgmt is missing on /nodes" in text, text
        def bmc():
            return f"{{redfish: {{url: 'https://127.0.0.1:{ports.take()}', username: u, password_file: {s.token_file}}}}}"
        for nodes, verdict in (("n1 n2", "PROBLEM"), ("n1 n2 n3", "note")):  # whether all have controllers of their own
            power = "power: {hosts: {" + ", ".join(f"{n}: {bmc()}" for n in nodes.split()) + "}}\n"
            code, text = check(configuration(folder, s, "dpm: {enabled: true, automation: automatic}\n" + power), "--connect")
            assert f"{verdict} Sys.PowerMgmt is missing on /nodes" in text, text
        code, text = check(configuration(folder, s, cluster="other"), "--connect")
        assert code != 0 and "is called lab" in text, text
        code, text = check(configuration(folder, s, username="nobody@pve!token"), "--connect")
        assert code != 0 and "the token nobody@pve!token was refused" in text, text
        other = Server(Cluster("9.1", nodes=1))
        with other:
            code, text = check(configuration(folder, s, ca_file=other.ca_file), "--connect")
        assert code != 0 and "pve-root-ca.pem" in text and c.accounts[s.token].secret not in text, text


def test_recommends():
    """A service in manual automation recommends moves, and carries none out before somebody approves."""
    daemon = os.environ.get("BALLASTD")
    if not daemon:
        raise Skip("BALLASTD is not set: run this with meson test")
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, "n1", cores=4, cpu=0.35, tags="plb_anti_affinity_web" if i < 2 else "")
    with Server(c) as s, tempfile.TemporaryDirectory() as folder:
        path = configuration(folder, s)
        socket = f"{folder}/s"
        with open(f"{folder}/log", "w", encoding="utf-8") as log:
            service = subprocess.Popen([daemon, "--config", path], stderr=log, stdout=log)
        try:
            def ask(*words):
                ended = subprocess.run([os.environ["BALLAST"], *words], capture_output=True, text=True, timeout=60, check=False,
                                       env={**os.environ, "BALLAST_SOCKET": socket})
                return ended.stdout + ended.stderr
            until = time.monotonic() + 120
            while "move" not in (said := ask("recommendations")).lower() or "no recommend" in said.lower():
                assert time.monotonic() < until and service.poll() is None, (said, pathlib.Path(f"{folder}/log").read_text())
                time.sleep(1)
            assert "plb_anti_affinity_web" in said or "guest100" in said or "guest101" in said, said
            time.sleep(3)
        finally:
            service.terminate()
            service.wait(timeout=60)
        equal("nothing was asked that acts", [r for r in s.requests if not r.startswith("GET")], [])
        print(said)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
