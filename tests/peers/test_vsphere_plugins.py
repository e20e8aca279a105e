#!/usr/bin/env python3
"""Collector and actuator against govmomi's vSphere simulator; their results are compared with raw SOAP answers."""
import pathlib
import sys
import time

from probe import Probe, by_id
from relay import Relay
from vcsim import Vcsim, build, main, make_certificates

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

TARGET_S = 60


def probe(sim, **more):
    return Probe(**{"url": sim.url, "username": sim.username, "password_file": sim.password_file,
                    "ca_file": sim.ca_file, "stats": "quick", "timeout_s": 60, **more})


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def refused(what, answer, error, words):
    equal(what, (answer["ok"], answer.get("error")), (False, error))
    assert words in answer["text"], f"{what}: {answer['text']}"


def wait_for(p, task, state):
    """Polls until the task is in the state; gives all percentages that were seen."""
    seen = []
    deadline = time.monotonic() + TARGET_S
    while time.monotonic() < deadline:
        answer = p("poll", task)
        seen.append(answer["percent"])
        if answer["state"] == state:
            return seen
        assert answer["state"] in ("queued", "running"), answer
        time.sleep(0.05)
    raise AssertionError(f"{task} is not {state} after {TARGET_S} s: {seen}")


def test_login():
    """Who we are, whom we trust, and what is said when either is wrong."""
    with Vcsim(hosts=1, vms=1) as sim:
        folder = pathlib.Path(sim.dir.name)
        with probe(sim) as p:
            assert p("collect")["ok"]
        wrong = folder / "wrong"
        wrong.write_text("hunter2\n")
        with probe(sim, password_file=wrong) as p:
            refused("password", p("collect"), "EACCES", "user name or password are wrong")
            refused("actuator", p("poll", "task-1"), "EACCES", "user name or password are wrong")
            assert "hunter2" not in p.close()
        (folder / "other").mkdir()
        other, _, _ = make_certificates(folder / "other", "somebody else's CA")
        with probe(sim, ca_file=other) as p:
            refused("another CA", p("collect"), "EKEYREJECTED", "certificate cannot be trusted")
        with probe(sim, ca_file=None) as p:
            refused("the system's CAs", p("collect"), "EKEYREJECTED", "certificate cannot be trusted")
        with probe(sim, ca_file=folder / "nothing.pem") as p:
            refused("no CA", p("collect"), "EKEYREJECTED", "nothing.pem")
        with probe(sim, url=sim.url.replace("127.0.0.1", "127.0.0.2")) as p:
            refused("nobody there", p("collect"), "ECONNREFUSED", "refused")
        with probe(sim, ca_file=None, tls_verify="false") as p:
            assert p("collect")["ok"]
        with probe(sim, url=sim.url.replace("https:", "http:")) as p:
            equal("not encrypted", p("collect")["ok"], False)


def test_inventory():
    with Vcsim(hosts=4, vms=40) as sim:
        api = sim.client()
        vms, hosts = sorted(api.vms().values()), sorted(api.hosts().values())
        gold = api.create_pool("gold", cpu={"reservation": 1000, "shares": 8000}, mem={"limit": 2048})
        inner = api.create_pool("inner", parent=gold)
        for vm in vms[:3]:
            api.wait(api.relocate(vm, pool=inner))
        api.set_allocation(vms[0], cpu={"reservation": 100, "limit": 500, "shares": 2000}, mem={"reservation": 10})
        api.set_size(vms[1], 2, 512)
        api.add_rule("apart", vms[3:5])
        api.add_vm_host_rule("licence", vms[5:7], hosts[:2])
        api.set_override(vms[7], enabled=False)
        api.set_override(vms[8], behavior="manual")
        api.power_off(vms[9])
        for i, vm in enumerate(vms):
            if i not in (9, 10):
                api.set_load(vm, 100 + i, 10, 20, 3)
        with probe(sim) as p:
            inv = p("collect")
            assert inv["ok"] and inv["freeze"] == "ok", inv
            equal("hosts", [(h["state"], h["cpu_mhz"], h["cores"]) for h in inv["hosts"]], [("on", 4588, 2)] * 4)
            seen = by_id(inv["vms"])
            equal("placement", {i: v["host"] for i, v in seen.items()}, api.placement())
            equal("number", len(seen), 40)
            v = seen[vms[0]]
            equal("allocation", (v["cpu"]["reservation"], v["cpu"]["limit"], v["cpu"]["shares"],
                                 v["mem"]["reservation"]), (100, 500, 2000, 10))
            equal("size", [(x["vcpus"], x["mem_mb"], x["cpu"]["shares"], x["mem"]["shares"])
                           for x in (seen[vms[1]],)], [(2, 512, 2000, 5120)])
            equal("pool", (v["pool"], seen[vms[3]]["pool"]), (inner, None))
            equal("loads", [seen[vm]["sample"]["cpu_used_mhz"] for vm in vms[11:]], list(range(111, 140)))
            equal("unknown", [vm for vm in vms if seen[vm]["demand_unknown"]], [vms[10]])
            equal("states", [seen[vms[i]]["state"] for i in (8, 9)], ["on", "off"])
            equal("automation", [seen[vms[i]]["automation"] for i in (6, 7, 8)], ["inherit", "disabled", "manual"])
            pools = by_id(inv["pools"])
            equal("pools", {i: (o["name"], o["parent"]) for i, o in pools.items()},
                  {gold: ("gold", None), inner: ("inner", gold)})
            equal("gold", (pools[gold]["cpu"]["reservation"], pools[gold]["cpu"]["shares"],
                           pools[gold]["mem"]["limit"]), (1000, 8000, 2048))
            equal("rules", sorted((r["kind"], r["name"], sorted(r["vms"]), sorted(r["hosts"]), r["mandatory"])
                                  for r in inv["rules"]),
                  [("vm-host-affine", "licence", vms[5:7], hosts[:2], True),
                   ("vm-vm-anti-affine", "apart", vms[3:5], [], True)])
            equal("groups", [(g["id"], g["kind"], sorted(g["hosts"])) for g in inv["groups"]], [("drs:licence-hosts", "drs", hosts[:2])])
            equal("groups of VMs", {i: v["groups"] for i, v in seen.items() if v["groups"]}, dict.fromkeys(vms[5:7], ["licence-vms"]))

            # what happens in between is seen the next time
            api.destroy(vms[20])
            api.maintenance(hosts[3])
            inv = p("collect")
            equal("freeze", inv["freeze"], "ok")
            assert vms[20] not in by_id(inv["vms"])
            # the simulator does not evacuate: a host with VMs on it cannot be at rest yet
            equal("maintenance", by_id(inv["hosts"])[hosts[3]]["state"], "entering_maintenance")

            # a vCenter that goes and comes back knows nothing of our session
            sim.stop()
            refused("away", p("collect"), "ECONNREFUSED", "refused")
            sim.start()
            equal("back", len(p("collect")["vms"]), 40)


def test_high_availability():
    """What HA keeps free, as govmomi writes it; a policy takes the place of the one before."""
    nothing = {"policy": "none", "hosts": 0, "hosts_on": 0, "cpu_percent": 0, "mem_percent": 0, "failover_hosts": []}
    with Vcsim(hosts=3, vms=6) as sim, probe(sim) as p:
        api = sim.client()
        hosts = sorted(api.hosts().values())
        equal("as it was made", p("collect")["ha"], nothing)
        cases = (("Level", {"failoverLevel": 1}, {"policy": "host_failures", "hosts": 1}),
                 ("Resources", {"cpuFailoverResourcesPercent": 25, "memoryFailoverResourcesPercent": 30,
                                "autoComputePercentages": False},
                  {"policy": "percent", "cpu_percent": 25, "mem_percent": 30}),
                 ("Resources", {"cpuFailoverResourcesPercent": 0, "memoryFailoverResourcesPercent": 0,
                                "failoverLevel": 2, "autoComputePercentages": True},
                  {"policy": "host_failures", "hosts": 2}),
                 ("Host", {"failoverHosts": hosts[1:]}, {"policy": "dedicated", "failover_hosts": hosts[1:]}))
        for kind, policy, expected in cases:
            api.set_ha(kind, **policy)
            inv = p("collect")
            equal(f"{kind} {policy}", (inv["freeze"], inv["ha"]), ("ok", {**nothing, **expected}))
        api.set_ha(admission=False)
        equal("no admission control", p("collect")["ha"], nothing)
        api.set_ha()
        equal("admission control again", p("collect")["ha"]["policy"], "dedicated")
        api.set_ha(enabled=False)
        equal("HA off", p("collect")["ha"], nothing)


def test_conflicts():
    """What vCenter decides by itself; levels that only recommend are none."""
    with Vcsim(hosts=2, vms=2) as sim, probe(sim) as p:
        api = sim.client()

        def seen():
            return tuple(p("collect")["conflicts"].values())

        equal("as it was made", seen(), (False, False))
        for behavior, moves in (("fullyAutomated", True), ("partiallyAutomated", False), ("manual", False)):
            api.set_drs(behavior)
            equal(behavior, seen(), (moves, False))
        for behavior, acts in (("automated", True), ("manual", False)):
            api.set_dpm(behavior)
            equal(f"DPM {behavior}", seen(), (False, acts))
        host = sorted(api.hosts().values())[0]
        api.set_vsan(host)
        equal("vSAN", {h["id"] for h in p("collect")["hosts"] if h["vsan"]}, {host})
        refused("standby", p("check", "standby", "u", host), "EPERM", "is part of vSAN")
        refused("standby", p("start", "standby", "u", host), "EPERM", "is part of vSAN")
        refused("by a controller, too", p("check", "standby", "u", host, "by_controller"), "EPERM", "is part of vSAN")
        host = sorted(api.hosts().values())[1]
        api.set_any("HostSystem", host, "runtime.connectionState", "notResponding", "HostSystemConnectionState")
        refused("not reached", p("check", "standby", "u", host), "EHOSTDOWN", "is not connected")
        equal("a controller reaches it", p("check", "standby", "u", host, "by_controller")["ok"], True)


def test_compatibility():
    """What hosts offer and VMs need, by the names that people know; what keeps a VM where it is."""
    with Vcsim(hosts=3, vms=9, extra=("-portgroup", "3", "-ds", "2")) as sim, probe(sim) as p:
        api = sim.client()
        vms, hosts = sorted(api.vms().values()), sorted(api.hosts().values())
        groups = {v["name"].text: ref for ref, v in api.properties("DistributedVirtualPortgroup", "name").items()}
        stores = {v["name"].text: ref for ref, v in api.properties("Datastore", "name").items()}
        one, two, three = (groups[f"DC0_DVPG{i}"] for i in range(3))
        api.set_networks("HostSystem", hosts[0], (one, two))
        api.set_networks("HostSystem", hosts[1], (two, three))
        api.set_networks("HostSystem", hosts[2], ())
        api.set_datastores("HostSystem", hosts[0], (stores["LocalDS_0"],))
        api.set_networks("VirtualMachine", vms[0], (one, three))
        api.set_datastores("VirtualMachine", vms[0], (stores["LocalDS_1"],))
        api.set_vgpus(hosts[1], "grid_p40-2q", "grid_p40-4q")
        api.set_any("HostSystem", hosts[1], "runtime.inQuarantineMode", "true", "xsd:boolean")
        for host, state in zip(hosts, ("connectedToMaster", "networkIsolated", "election")):
            api.set_any("HostSystem", host, "runtime.dasHostState", f"<state>{state}</state>",
                        "ClusterDasFdmHostState")
        api.add_vgpu(vms[1], "grid_p40-2q")
        device = '<backing xsi:type="VirtualPCIPassthroughDeviceBackingInfo"><deviceName>x</deviceName></backing>'
        api.add_device(vms[2], "VirtualPCIPassthrough", device)
        api.add_device(vms[3], "VirtualSriovEthernetCard")
        api.set_any("VirtualMachine", vms[4], "config.latencySensitivity", "<level>high</level>", "LatencySensitivity")
        api.set_any("VirtualMachine", vms[5], "runtime.question",
                    "<id>1</id><text>I copied it?</text><choice><choiceInfo/></choice>", "VirtualMachineQuestionInfo")
        api.set_any("VirtualMachine", vms[6], "disabledMethod", "<string>RelocateVM_Task</string>", "ArrayOfString")
        api.set_any("VirtualMachine", vms[7], "runtime.consolidationNeeded", "true", "xsd:boolean")
        inv = p("collect")
        equal("freeze", inv.get("freeze") or inv, "ok")
        offers = [by_id(inv["hosts"])[h]["offers"] for h in hosts]
        equal("networks", [o["networks"] for o in offers], [["DC0_DVPG0", "DC0_DVPG1"], ["DC0_DVPG1", "DC0_DVPG2"], []])
        equal("datastores", [sorted(o["datastores"]) for o in offers],
              [["LocalDS_0"], ["LocalDS_0", "LocalDS_1"], ["LocalDS_0", "LocalDS_1"]])
        equal("vGPUs", [o["devices"] for o in offers], [[], ["grid_p40-2q", "grid_p40-4q"], []])
        equal("CPU", [(o["cpu_vendor"], o["cpu_modes"]) for o in offers], [("intel", None)] * 3)
        equal("health", [(o["quarantine"], o["failure_detection"]) for o in offers],
              [(False, "healthy"), (True, "unhealthy"), (False, "unknown")])
        uuids = {r: v["hardware.systemInfo.uuid"].text for r, v in api.properties("HostSystem", "hardware.systemInfo.uuid").items()}
        equal("hardware", {h["id"]: h["offers"]["hardware_uuid"] for h in inv["hosts"]}, uuids)
        needs = [by_id(inv["vms"])[vm]["needs"] for vm in vms]
        equal("of a VM", {k: needs[0][k] for k in ("networks", "datastores", "devices", "cpu_vendor")},
              {"networks": ["DC0_DVPG0", "DC0_DVPG2"], "datastores": ["LocalDS_1"], "devices": [], "cpu_vendor": "intel"})
        equal("vGPU", needs[1]["devices"], ["grid_p40-2q"])
        equal("immovable", [n["immovable"] for n in needs],
              [None, None, "a passthrough device", "an SR-IOV network card", None,
               "a question in vCenter that waits for an answer", "vCenter's ban on its migration, as during a backup", None,
               None])
        equal("only where they must", [n["mandatory_only"] for n in needs],
              [None, "a vGPU (grid_p40-2q)", None, None, "latency sensitivity high", None, None,
               "disks that need consolidation", None])
        # what is read once is read again when it changes, and forgotten with the VM
        api.add_device(vms[8], "VirtualLsiLogicController", "<busNumber>3</busNumber><sharedBus>physicalSharing</sharedBus>")
        api.set_any("VirtualMachine", vms[6], "disabledMethod", "", "ArrayOfString")
        api.destroy(vms[3])
        inv = p("collect")
        needs = {v["id"]: v["needs"] for v in inv["vms"]}
        equal("shared bus", needs[vms[8]]["mandatory_only"], "a SCSI bus that it shares with VMs of other hosts")
        equal("the others", (needs[vms[1]]["devices"], needs[vms[2]]["immovable"], needs[vms[6]]["immovable"]),
              (["grid_p40-2q"], "a passthrough device", None))


def test_migration_is_checked():
    """vCenter's check refuses with its own words; vcsim without one is asked once and costs nothing."""
    for checker in (True, False):
        extra = ("-portgroup", "2", *(("-checker",) if checker else ()))
        with Vcsim(hosts=3, vms=3, slow_ms=100, tls=False, extra=extra) as sim, Relay(sim.url) as relay, \
                probe(sim, url=relay.url) as p:
            api = sim.client()
            vm, source = sorted(api.placement().items())[0]
            lacking, good = [h for h in sorted(api.hosts().values()) if h != source]
            api.set_networks("HostSystem", lacking, ())
            api.add_vgpu(vm, "grid_p40-2q")
            api.set_vgpus(good, "grid_p40-2q")
            assert p("check", "migrate", "u", vm, source, good)["ok"]
            answer = p("check", "migrate", "u", vm, source, lacking)
            asked = relay.counts["QueryVMotionCompatibilityEx_Task"], relay.counts["CheckMigrate_Task"]
            if checker:
                refused("no network, no vGPU", answer, "EPERM", "Currently connected network 'DC0_DVPG0' is not accessible")
                assert "'grid_p40-2q' is not available" in answer["text"], answer
                equal("asked", asked, (2, 0))
                task = p("start", "migrate", "u", vm, source, lacking)["task"]  # started without a check
                wait_for(p, task, "failed")
            else:
                assert answer["ok"], answer
                equal("asked once", asked, (1, 1))


READ = "System.View,System.Read"
ROLES = (  # what the manual page lists for each kind of operation, and the operation
    (("Resource.ColdMigrate", "Resource.HotMigrate"), "migrate"), (("Host.Config.Maintenance",), "enter_maintenance"),
    (("VirtualMachine.Interact.PowerOn",), "power_on_vm"), (("Host.Config.Maintenance",), "standby"))


def test_roles():
    """Read-only is enough to see everything; each kind of operation needs the privileges that the manual page names, and no others."""
    for privileges, operation in ROLES:
        every = ",".join([READ, *privileges])
        for given in (*(",".join([READ, *(p for p in privileges if p != q)]) for q in privileges), every):
            extra = ("-limited", "reader", "-privileges", given, "-checker")
            with Vcsim(hosts=2, vms=3, slow_ms=100, extra=extra) as sim, probe(sim, username="reader", stats="auto") as p:
                api = sim.client()
                vm, host = sorted(api.placement().items())[0]
                to = next(h for h in api.hosts().values() if h != host)
                inv = p("collect")
                equal("freeze", inv.get("freeze") or inv, "ok")
                if operation == "power_on_vm":
                    api.power_off(vm)
                request = {"migrate": ("migrate", "u", vm, host, to), "power_on_vm": ("power_on_vm", "u", vm, to)}.get(
                    operation, (operation, "u", host))
                checked = p("check", *request)
                assert checked["ok"], checked  # what may not be asked refuses nothing
                answer = p("start", *request)
                if given != every:
                    missing = next(p for p in privileges if p not in given)
                    refused(operation, answer, "EPERM", f"was refused: reader lacks the privilege {missing}")
                elif operation == "standby":  # which the simulator has not
                    equal(operation, answer.get("error"), "EOPNOTSUPP")
                else:
                    wait_for(p, answer["task"], "succeeded")


def test_folders_above():
    """By name or path the cluster is searched for, which takes the right to read the folders above it; by id it is not."""
    for folders, by_name in (("true", None), ("false", "EPERM")):
        with Vcsim(hosts=2, vms=3, extra=("-limited", "reader", f"-folders={folders}")) as sim:
            name, ref = next(iter(sim.client().clusters().items()))
            for wanted in (name, f"/DC0/host/{name}"):
                with probe(sim, username="reader", cluster=wanted) as p:
                    answer = p("collect")
                    equal(f"{wanted}, {folders}", answer.get("error"), by_name)
                    assert answer["ok"] or "read the folders above the cluster" in answer["text"], answer


def test_agents_and_pairs():
    with Vcsim(hosts=3, vms=6) as sim, probe(sim) as p:
        api = sim.client()
        vms = sorted(api.vms().values())
        api.set_owner(vms[0], "com.vmware.vim.eam", "agent")
        api.set_owner(vms[1], "com.vmware.vim.eam", "cluster-agent")
        api.set_owner(vms[2], "VirtualCenter", "vcls-entity")
        api.set_owner(vms[3], "com.example.backup", "appliance")
        api.pair(vms[4], vms[5])
        api.power_off(vms[0])
        inv = p("collect")
        equal("freeze", inv["freeze"], "ok")
        equal("kinds", [by_id(inv["vms"])[vm]["kind"] for vm in vms],
              ["agent", "agent", "agent", "normal", "ft_primary", "ft_secondary"])
        equal("peers", [by_id(inv["vms"])[vm]["ft_peer"] for vm in vms[4:]], [vms[5], vms[4]])
        equal("required", {h["id"]: h["agents_required"] for h in inv["hosts"] if h["agents_required"]},
              {api.host_of(vms[0]): [vms[0]]})


def test_auto():
    """Counters that contradict what the VMs' own figures say are not believed: not for one VM, and said in the log."""
    with Vcsim(hosts=2, vms=10) as sim:
        api = sim.client()
        loads = {vm: 50 + 70 * i for i, vm in enumerate(sorted(api.vms().values()))}
        for vm, mhz in loads.items():
            api.set_load(vm, mhz, 10, 20, 3)
        with probe(sim, stats="auto") as p:
            seen = {v["id"]: v["sample"]["cpu_used_mhz"] for v in p("collect")["vms"]}
        equal("loads", seen, loads)
    with Vcsim(hosts=2, vms=10) as sim:
        api = sim.client()
        for vm in api.vms().values():
            api.set_load(vm, cpu_mhz=100)
        with probe(sim, stats="quick") as p:
            equal("memory alone is not known", {v["demand_unknown"] for v in p("collect")["vms"]}, {False})


def test_counters():
    """The simulator's counters follow nothing, but they come through the real calls."""
    with Vcsim(hosts=2, vms=5) as sim, probe(sim, stats="counters") as p:
        inv = p("collect")
        assert inv["ok"], inv
        for v in inv["vms"]:
            x = v["sample"]
            assert x["interval_ms"] == 60000 and x["cpu_used_mhz"] is not None and x["mem_consumed_mb"], v
            equal("unknown", v["demand_unknown"], False)


class Expiring(Relay):
    """The session ends at the first request for counters. at_once: how many of these were under way at a time, at most."""
    armed = True
    under_way = at_once = 0

    def note(self, body, cookie=None):
        name = super().note(body, cookie)
        if name == "QueryPerf" and self.armed:
            self.armed = False
            self.forget_sessions()
        return name

    def forward(self, path, headers, body, command):
        if b"QueryPerf" not in body:
            return super().forward(path, headers, body, command)
        with self.lock:
            self.under_way += 1
            self.at_once = max(self.at_once, self.under_way)
        try:
            return super().forward(path, headers, body, command)
        finally:
            with self.lock:
                self.under_way -= 1


def test_counters_at_once():
    """Requests for counters run beside each other, in one session; one that expires meanwhile is renewed."""
    with Vcsim(hosts=4, vms=450, tls=False, delay_ms=700) as sim, Expiring(sim.url) as relay, \
            probe(sim, url=relay.url, stats="counters") as p:
        inv = p("collect")
        equal("freeze", inv.get("freeze") or inv, "ok")
        equal("measured", [v["id"] for v in inv["vms"] if v["demand_unknown"]], [])
        equal("logins", relay.counts["Login"], 2)
        before = relay.counts["QueryPerf"]
        assert p("collect")["ok"]
        equal("five of VMs, one of hosts", relay.counts["QueryPerf"] - before, 6)
        equal("logins", relay.counts["Login"], 2)
        assert relay.at_once > 1, "one after another"


def test_large_cluster():
    """5,000 VMs of a vCenter that takes 2.5 s for every call are read within a minute, which is the time between two inventories."""
    with Vcsim(hosts=32, vms=5000, tls=False, delay_ms=2500) as sim, probe(sim, stats="counters", timeout_s=240) as p:
        for what in ("with the devices of all VMs", "again"):
            inv = p("collect")
            equal("freeze", inv.get("freeze") or inv, "ok")
            equal("all of them", (len(inv["vms"]), sum(v["demand_unknown"] for v in inv["vms"])), (5000, 0))
            print(f"  {what}: {p.took_s:.1f} s")
        assert p.took_s < 60, p.took_s


def test_several_clusters():
    with Vcsim(hosts=2, vms=3, clusters=2) as sim:
        api = sim.client()
        names = sorted(api.clusters())
        with probe(sim) as p:
            refused("which one", p("collect"), "EINVAL", "source.cluster")
        with probe(sim, cluster=names[1]) as p:
            inv = p("collect")
            equal("its own", (inv["cluster"], len(inv["hosts"]), len(inv["vms"])), (names[1], 2, 3))
            assert all(names[1] in o["name"] for o in inv["hosts"] + inv["vms"]), inv


def test_equal_names():
    """Two datacenters with a cluster of the same name: by path, or by id."""
    with Vcsim(hosts=2, vms=3, extra=("-dc", "2")) as sim:
        api = sim.client()
        clusters = api.clusters()
        api.rename("ClusterComputeResource", clusters["DC1_C0"], "DC0_C0")
        with probe(sim, cluster="DC0_C0") as p:
            refused("which one", p("collect"), "EINVAL", "(/DC0/host/DC0_C0, /DC1/host/DC0_C0)")
        for wanted in ("/DC1/host/DC0_C0", clusters["DC1_C0"]):
            with probe(sim, cluster=wanted) as p:
                inv = p("collect")
                equal("cluster", inv.get("cluster") or inv, "DC0_C0")
                equal("its own", {o["name"][:4] for o in inv["hosts"] + inv["vms"]}, {"DC1_"})


def test_migration():
    """A migration takes its time, is followed, is not begun twice, and is seen to arrive by somebody else."""
    with Vcsim(hosts=3, vms=6, slow_ms=6000) as sim:  # long enough for all that is looked at meanwhile
        api = sim.client()
        vm = sorted(api.vms().values())[0]
        source = api.host_of(vm)
        target = next(h for h in sorted(api.hosts().values()) if h != source)
        move = ("migrate", "action-1", vm, source, target)
        with probe(sim) as p:
            assert p("check", *move)["ok"]
            equal("check has no effect", api.host_of(vm), source)
            task = p("start", *move)["task"]
            equal("still there", api.host_of(vm), source)
            equal("not to be touched", by_id(p("collect")["vms"])[vm]["automation"], "disabled")
            with probe(sim) as restarted:  # the task's name was lost
                equal("adopted", restarted("start", *move)["task"], task)
            seen = wait_for(p, task, "succeeded")
            assert seen == sorted(seen) and any(0 < x < 100 for x in seen), seen
            equal("arrived", api.host_of(vm), target)
            equal("seen", by_id(p("collect")["vms"])[vm]["host"], target)
            refused("again", p("start", *move), "ESTALE", "has arrived")
            refused("check", p("check", *move), "ESTALE", "has arrived")

            api.wait(api.relocate(vm, next(h for h in api.hosts().values() if h not in (source, target))))
            refused("moved by hand", p("start", *move), "ESTALE", "no longer on")
            back = ("migrate", "action-2", vm, api.host_of(vm), source)
            task = p("start", *back)["task"]
            assert p("cancel", task)["ok"]
            wait_for(p, task, "failed")
            assert "canceled" in p("poll", task)["why"]
            equal("stayed", api.host_of(vm), back[3])

            other = sorted(api.vms().values())[1]
            gone = ("migrate", "action-3", other, api.host_of(other), target)
            api.destroy(other)
            refused("deleted", p("start", *gone), "ENOENT", other)
            equal("an unknown task", [p("poll", "task-12345")[k] for k in ("state", "gone")], ["failed", True])


def test_failures():
    with Vcsim(hosts=2, vms=2, slow_ms=200, fail_relocate=True) as sim:
        api = sim.client()
        vm = sorted(api.vms().values())[0]
        source = api.host_of(vm)
        target = next(h for h in api.hosts().values() if h != source)
        with probe(sim) as p:
            task = p("start", "migrate", "u", vm, source, target)["task"]
            wait_for(p, task, "failed")
            answer = p("poll", task)
            equal("gone", answer["gone"], False)
            assert "the destination did not answer" in answer["why"], answer
            equal("stayed", api.host_of(vm), source)


def test_hosts():
    with Vcsim(hosts=2, vms=2) as sim:
        api = sim.client()
        host = sorted(api.hosts().values())[0]
        with probe(sim) as p:
            task = p("start", "enter_maintenance", "u", host)["task"]
            wait_for(p, task, "succeeded")
            equal("in", api.get("HostSystem", host, "runtime.inMaintenanceMode")["runtime.inMaintenanceMode"].text,
                  "true")
            refused("twice", p("start", "enter_maintenance", "u", host), "ESTALE", "already")
            wait_for(p, p("start", "exit_maintenance", "u", host)["task"], "succeeded")
            equal("out", api.get("HostSystem", host, "runtime.inMaintenanceMode")["runtime.inMaintenanceMode"].text,
                  "false")
            refused("no standby here", p("start", "standby", "u", host), "EOPNOTSUPP", "PowerDownHostToStandBy_Task")


def test_pools_of_a_host():
    """A host outside of the cluster has pools of its own; in the cluster they are vCenter's to divide."""
    with Vcsim(hosts=2, vms=2, extra=("-standalone-host", "1")) as sim:
        api = sim.client()
        inside = api.properties("ClusterComputeResource", "host")
        inside = {ref.text for props in inside.values() for ref in props["host"]}
        host = next(h for h in api.hosts().values() if h not in inside)
        owner = api.get("HostSystem", host, "parent")["parent"].text
        root = api.get("ComputeResource", owner, "resourcePool")["resourcePool"].text
        outer = api.create_pool("outer", parent=root)
        inner = api.create_pool("inner", parent=outer)
        parts = (f"{outer}=2000,-1,4000,1024,8192,81920", f"{inner}=500,900,1000,0,-1,20480")
        with probe(sim) as p:
            for _ in range(2):
                answer = p("set", host, *parts)
                assert answer["ok"], answer
            config = api.get("ResourcePool", inner, "config")["config"]
            cpu = next(e for e in config.iter() if e.tag.endswith("cpuAllocation"))
            got = {e.tag.rpartition("}")[2]: e.text for e in cpu.iter() if e.text}
            equal("as asked", (got["reservation"], got["limit"], got["level"]), ("500", "900", "custom"))
            assert p("set", host, f"{inner}=nothing")["ok"]
            config = api.get("ResourcePool", inner, "config")["config"]
            cpu = next(e for e in config.iter() if e.tag.endswith("cpuAllocation"))
            got = {e.tag.rpartition("}")[2]: e.text for e in cpu.iter() if e.text}
            equal("nothing", (got["reservation"], got["limit"]), ("0", "-1"))
            own = api.create_pool("of-the-cluster")
            refused("the cluster's", p("set", sorted(inside)[0], f"{own}=1,-1,1,1,-1,1"), "EOPNOTSUPP", "is in a cluster")
            refused("not the host's", p("set", host, f"{own}=1,-1,1,1,-1,1"), "ENOENT", "no pool of host")


if __name__ == "__main__":
    main(lambda: build() and sys.exit(run_tests(globals())))
