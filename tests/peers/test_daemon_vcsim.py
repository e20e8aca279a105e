#!/usr/bin/env python3
"""ballastd against govmomi's vSphere simulator. A connection of the test's own confirms the hosts of VMs, and a relay counts
ballastd's requests."""
import contextlib
import json
import signal
import statistics
import subprocess
import sys
import time

import ipmi_sim
import vcsim
from daemon import BALLAST, BALLASTD, Daemon, wait_for
from relay import Relay
from segments import on_another_machine
from at_once import run_tests  # noqa: E402

HOST_MHZ = 2 * 2294
HOT_MHZ, COLD_MHZ = 480, 100
EAGER = {"interval_s": 5, "migration_threshold": 4, "cool_down_s": 600}
BUSY = ("approved", "starting", "running", "verifying")


@contextlib.contextmanager
def lab(slow_ms=0, **settings):
    """4 hosts, 48 VMs, those of the first host busy: (simulator, its client, relay, ballastd)."""
    with vcsim.Vcsim(hosts=4, vms=48, slow_ms=slow_ms, tls=False) as sim:
        api = sim.client()
        heat(api)
        with Relay(sim.url) as relay:
            source = {"kind": "vsphere", "url": relay.url, "username": sim.username, "password_file": sim.password_file,
                      "cluster": sorted(api.clusters())[0], "timeout_s": 30}
            with Daemon(source, **{**EAGER, **settings}) as d:
                yield sim, api, relay, d


def heat(api):
    where = api.placement()
    hot = sorted(where.values())[0]
    for i, (vm, host) in enumerate(sorted(where.items())):
        # of every other one nothing is known of its memory: it counts with all that it has, and is moved like the others
        memory = {"active_mb": 8, "consumed_mb": 16} if i % 2 else {}
        api.set_load(vm, cpu_mhz=HOT_MHZ if host == hot else COLD_MHZ, **memory)


def spread(api, load):
    """Standard deviation of the hosts' CPU load, by where the simulator says that the VMs are."""
    total = {host: 0 for host in api.hosts().values()}
    for vm, host in api.placement().items():
        total[host] += load[vm]
    return statistics.pstdev(v / HOST_MHZ for v in total.values())


def loads(api):
    return {ref: int(v["summary.quickStats.overallCpuUsage"].text)
            for ref, v in api.properties("VirtualMachine", "summary.quickStats.overallCpuUsage").items()}


def moved(before, after):
    return {vm for vm in before if before[vm] != after[vm]}


def test_full_automation_reaches_the_target():
    with lab(slow_ms=500, automation="full") as (_, api, relay, d):
        before, load = api.placement(), loads(api)
        unbalanced = spread(api, load)
        d.start()
        wait_for("a pass", lambda: d.status()["pass"], 30)
        imbalance, target = d.imbalance()
        assert imbalance > target
        wait_for("balance", lambda: d.imbalance()[0] <= target and not d.actions(*BUSY), 120)
        after = api.placement()
        went = moved(before, after)
        print(f"  {len(went)} VMs moved, the spread fell from {unbalanced:.3f} to {spread(api, load):.3f}")
        assert went and spread(api, load) < unbalanced / 2
        assert {vm for vm, n in relay.relocations.items() if n == 1} == went == set(relay.relocations)
        done = {a["vm"]: a["to"] for a in d.actions("done")}
        assert done == {vm: after[vm] for vm in went}
        quiet = relay.counts["RelocateVM_Task"]
        time.sleep(12)  # and it stays so
        assert relay.counts["RelocateVM_Task"] == quiet and api.placement() == after
        d.stop()
        # log-outs are quick, and nothing was left behind
        assert relay.counts["Login"] <= 6, relay.counts


def test_two_services_on_two_machines():
    """One of them notices the other by its moves, and acts no more by itself. In step and with the same settings both would do the same."""
    settings = {**EAGER, "cool_down_s": 1, "automation": "full"}
    with lab(slow_ms=1000, **settings) as (_, api, relay, d), Daemon(d.settings["source"], **settings, migrations_per_cluster=1) as second, \
            on_another_machine(second, relay.url):
        hosts = sorted(api.hosts().values())

        def held():
            return [x for x in (d, second) if any("moves the VMs of this cluster" in f["text"] for f in x.status()["faults"])]

        d.start()
        second.start()
        for busy in hosts * 12:  # each 12 s another host, until one has noticed
            for vm, host in api.placement().items():
                api.set_load(vm, cpu_mhz=HOT_MHZ if host == busy else COLD_MHZ, active_mb=8, consumed_mb=16)
            until = time.monotonic() + 12
            while time.monotonic() < until and not held():
                time.sleep(0.3)
            if held():
                break
        assert held(), "neither has noticed"


def test_manual_waits_for_apply():
    with lab(automation="manual") as (_, api, relay, d):
        before = api.placement()
        d.start()
        wait_for("recommendations", lambda: d.actions("recommended"), 30)
        time.sleep(12)
        assert api.placement() == before and not relay.relocations
        chosen = d.decide("apply", lambda a: not a["depends_on"])
        wait_for("the move", lambda: any(a["id"] == chosen["id"] for a in d.actions("done")), 30)
        assert api.host_of(chosen["vm"]) == chosen["to"]
        assert moved(before, api.placement()) == {chosen["vm"]} == set(relay.relocations)
        # one that vanishes between being seen and being moved
        left = [a for a in d.actions("recommended") if not a["depends_on"]]
        if left:
            api.destroy(left[0]["vm"])
            d.run("apply", left[0]["id"])  # it may have expired by now
            wait_for("its end", lambda: not any(a["id"] == left[0]["id"] for a in d.actions("recommended", *BUSY)), 30)
            assert left[0]["vm"] not in relay.relocations
            assert d.status()["source"]["state"] == "up"
        d.stop()


def test_tags_are_read_late():
    """Full automation and a mandatory rule by a tag. While the service for tags refuses, nothing moves, and status says why; then
    the rest moves, and the VMs of the rule stay."""
    with lab(automation="full") as (_, api, relay, d):
        before = api.placement()
        hot = sorted(before.values())[0]
        licensed = sorted(vm for vm, host in before.items() if host == hot)[:4]
        api.attach_tag(api.add_tag(api.add_category("licence"), "oracle"), *licensed)
        name = next(n for n, ref in api.hosts().items() if ref == hot)
        d.write(automation="full", rules={"licences": {"kind": "host-affinity", "vms": {"tag": "oracle"}, "hosts": [name]}}, **EAGER)
        relay.refused = ("/rest", "/api")
        d.start()
        fault = wait_for("the fault", lambda: next((f for f in d.status()["faults"] if f["code"] == "labels_unread"), None), 30)
        assert "503" in fault["text"] and "could not be read yet" in fault["text"], fault
        wait_for("recommendations", lambda: d.actions("recommended"), 30)
        time.sleep(12)
        assert api.placement() == before and not relay.relocations
        assert "HTTP 503" in " ".join(d.cli("status").split())
        relay.refused = ()  # read again a minute after the last try
        wait_for("a move", lambda: relay.relocations, 90)
        assert not [f for f in d.status()["faults"] if f["code"] == "labels_unread"]
        wait_for("balance", lambda: d.imbalance()[0] <= d.imbalance()[1] and not d.actions(*BUSY), 120)
        assert {vm: api.placement()[vm] for vm in licensed} == {vm: hot for vm in licensed}
        d.stop()


def test_password_rotation():
    """A refused password is not sent again; a new one in the file works after SIGHUP, without a restart."""
    with lab(automation="manual") as (sim, _, relay, d):
        right = open(sim.password_file).read()
        with open(sim.password_file, "w") as f:
            f.write("not-the-password\n")
        d.start()
        source = wait_for("the refusal", lambda: (s := d.status()["source"])["state"] == "lost" and s, 30)
        assert "the login of" in source["error"] and "the next try is in 1 min" in source["error"], source
        time.sleep(12)
        assert relay.counts["Login"] == 1, relay.counts
        with open(sim.password_file, "w") as f:
            f.write(right)
        d.process.send_signal(signal.SIGHUP)
        wait_for("the new password", lambda: d.status()["source"]["state"] == "up", 10)
        log = d.log.read_text()
        changed = next(line for line in log.splitlines() if "source.password_file" in line)
        assert "have changed" in changed and "next start" not in changed, changed
        assert right.strip() not in log and "not-the-password" not in log
        d.stop()


def test_conflicts_are_faults():
    """DRS, DPM and vSAN: faults in the status and events, as long as they last; a host of vSAN stays on."""
    with lab(automation="manual", dpm={"enabled": True}) as (_, api, _, d):
        host = sorted(api.hosts())[0]
        vm = next(vm for vm, at in sorted(api.placement().items()) if at == api.hosts()[host])
        api.power_off(vm)
        api.set_drs("fullyAutomated")
        api.set_dpm("automated")
        api.set_vsan(api.hosts()[host])
        d.start()

        def faults():
            return {f["code"]: f["text"] for f in d.status()["faults"] or ()} if d.status()["pass"] else {}

        found = wait_for("faults", faults, 30)
        assert "DRS is fully automated" in found["other_balancer"], found
        assert "DPM is automated" in found["other_power_management"], found
        assert "A host is part of vSAN" in found["vsan"], found
        assert "is part of vSAN" in d.cli("standby", host, code=1)
        said = d.cli("wake", host)
        assert "Note: 1 VM is registered on the host, but does not run" in said, said
        api.set_drs("manual")
        api.set_dpm("manual")
        wait_for("their end", lambda: set(faults()) == {"vsan"}, 30)
        cleared = {e["data"]["code"] for e in d.json("events") if e["type"].endswith("fault_cleared")}
        assert cleared == {"other_balancer", "other_power_management"}, d.json("events")
        d.stop()


def power_of(api, vm):
    return api.get("VirtualMachine", vm, "runtime.powerState")["runtime.powerState"].text


def test_place():
    """VMs that are off are started where the plan says, once, also when the answer gets lost; vcsim says where they run."""
    with lab(slow_ms=100, automation="manual") as (_, api, relay, d):
        off = sorted(api.vms().values())[:3]
        for vm in off:
            api.power_off(vm)
        api.suspend(off[2])
        d.start()
        plan = d.json("place", off[0])
        assert [r["vm"] for r in plan["recommendations"] if r["action"] == "place"] == off[:1], plan
        assert relay.counts["PowerOnVM_Task"] == 0 and power_of(api, off[0]) == "poweredOff"
        relay.lose.add("PowerOnVM_Task")
        for vms in (off[:1], off[1:]):
            begun = d.json("place", *vms, "--apply")
            to = {a["vm"]: a["to"] for a in begun if a["action"] == "place"}
            assert sorted(to) == vms, begun
            wait_for("the start", lambda: {a["id"] for a in begun} <= {a["id"] for a in d.actions("done")}, 60)
            assert {vm: (power_of(api, vm), api.host_of(vm)) for vm in vms} == {vm: ("poweredOn", to[vm]) for vm in vms}
        assert relay.counts["PowerOnVM_Task"] == 3 and not relay.lose, relay.counts
        assert {a["vm"] for a in d.json("history") if a["action"] == "place"} == set(off)
        assert "runs already" in d.cli("place", off[0], "--apply", code=1)
        d.stop()


def test_place_is_given_up():
    """Whoever hangs up while the source is slow to answer does not want the VM any more; others go on."""
    with lab(automation="manual") as (_, api, relay, d):
        vm, other = sorted(api.vms().values())[:2]
        for off in (vm, other):
            api.power_off(off)
        d.start()
        d.cli("run")
        relay.gate.clear()
        with d.connect() as s, d.connect() as left:
            for client, name in ((left, vm), (s, other)):
                client.sendall(json.dumps({"command": "place", "vms": [name], "apply": True}).encode() + b"\n")
            wait_for("the question", lambda: d.status()["source"]["asking"], 20)
            left.close()
            wait_for("the service to notice", lambda: d.request({"command": "status"})["ok"])
            relay.gate.set()
            assert [a["vm"] for a in d.receive(s)["actions"] if a["action"] == "place"] == [other]
        wait_for("the start", lambda: power_of(api, other) == "poweredOn", 30)
        time.sleep(2 * EAGER["interval_s"])
        assert power_of(api, vm) == "poweredOff" and relay.counts["PowerOnVM_Task"] == 1, relay.counts
        d.stop()


def test_place_goes_wrong():
    """A vCenter that starts the VM where it is registered and says that all is well; and one whose DRS chooses the host."""
    with lab(automation="manual") as (_, api, relay, d):
        vm, other = sorted(api.vms().values())[:2]
        registered, allowed = sorted(api.hosts().values())[:2]
        api.power_off(vm)
        api.wait(api.relocate(vm, registered))
        api.add_vm_host_rule("there", [vm], [allowed])
        d.start()
        (begun,) = d.json("place", vm, "--apply")
        assert begun["to"] == allowed, begun
        ended = wait_for("its end", lambda: [a for a in d.json("history") if a["id"] == begun["id"]], 60)[0]
        assert (ended["state"], power_of(api, vm), api.host_of(vm)) == ("failed", "poweredOn", registered), ended
        name = {host: name for name, host in api.hosts().items()}
        assert f"runs on host {name[registered]} and not on {name[begun['to']]}" in ended["why"], ended
        api.power_off(other)
        api.set_override(other, behavior="partiallyAutomated")
        (begun,) = d.json("place", other, "--apply")
        ended = wait_for("its end", lambda: [a for a in d.json("history") if a["id"] == begun["id"]], 60)[0]
        assert ended["state"] == "failed" and "DRS of vCenter chooses the host" in ended["why"], ended
        assert power_of(api, other) == "poweredOff"
        d.stop()


def test_killed_in_mid_migration():
    with lab(slow_ms=6000, automation="full") as (_, api, relay, d):
        before = api.placement()
        d.start()
        running = wait_for("a migration", lambda: [a for a in d.actions("running") if a["task"]], 60)
        tasks = {a["id"]: a["task"] for a in running}
        time.sleep(1)
        d.kill()
        seen = dict(relay.relocations)
        assert seen
        time.sleep(2)
        d.start()
        for a in d.actions(*BUSY, "done"):  # the same tasks are followed
            if a["id"] in tasks:
                assert a["task"] == tasks[a["id"]], (a, tasks)
        wait_for("the moves", lambda: all(any(x["id"] == i for x in d.actions("done")) for i in tasks), 60)
        for a in d.actions("done"):
            assert api.host_of(a["vm"]) == a["to"]
        wait_for("rest", lambda: not d.actions(*BUSY) and d.imbalance()[0] <= d.imbalance()[1], 180)
        assert all(n == 1 for n in relay.relocations.values()), relay.relocations  # nothing was moved twice
        assert moved(before, api.placement()) == set(relay.relocations)
        d.stop()


def test_stopped_in_mid_migration():
    with lab(slow_ms=15000, automation="full") as (_, api, relay, d):
        d.start()
        wait_for("a migration", lambda: [a for a in d.actions("running") if a["task"]], 60)
        before = api.placement()
        d.stop()  # does not wait for it
        assert api.placement() == before
        assert "under way" in d.log.read_text()
        d.start()
        wait_for("its end", lambda: d.actions("done"), 60)
        assert all(n == 1 for n in relay.relocations.values()), relay.relocations
        d.stop()


def test_session_expires():
    with lab(slow_ms=300, automation="full") as (_, api, relay, d):
        d.start()
        wait_for("a move", lambda: d.actions("done"), 60)
        logins = relay.counts["Login"]
        relay.forget_sessions()
        wait_for("another login", lambda: relay.counts["Login"] > logins, 30)
        wait_for("balance", lambda: d.imbalance()[0] <= d.imbalance()[1] and not d.actions(*BUSY), 120)
        assert d.status()["source"]["state"] == "up"
        assert all(n == 1 for n in relay.relocations.values()), relay.relocations
        assert not d.actions("failed")
        d.stop()


def test_source_goes_and_comes_back():
    with lab(automation="manual") as (sim, api, relay, d):
        d.start()
        wait_for("a pass", lambda: d.status()["pass"], 30)
        sim.stop()
        lost = wait_for("the loss is seen", lambda: d.status()["source"]["state"] == "lost" and d.status(), 30)
        assert lost["source"]["error"] and lost["source"]["since"]
        last = lost["pass"]["id"]
        assert d.cli("run", code=1)
        time.sleep(6)
        assert d.status()["pass"]["id"] == last  # nothing is decided on old data
        sim.start()
        heat(sim.client())
        wait_for("recovery", lambda: d.status()["source"]["state"] == "up" and d.status()["pass"]["id"] > last, 90)
        d.stop()


def test_high_availability_agents_and_pairs():
    """What the cluster says of failures, agents and pairs is in the snapshot, and the pass goes by it."""
    with lab(automation="manual") as (_, api, _, d):
        vms, where = sorted(api.vms().values()), api.placement()
        hosts = sorted(api.hosts().values())
        api.set_ha("Level", failoverLevel=1)
        api.set_owner(vms[0], "com.vmware.vim.eam", "agent")
        api.set_owner(vms[1], "com.vmware.vim.eam", "cluster-agent")
        first, second = vms[2], next(vm for vm in vms[3:] if where[vm] != where[vms[2]])
        api.pair(first, second)
        # 3 of a host's 4 GiB for one VM on each: were one lost, its own would fit nowhere
        large = {}
        for vm in vms[3:]:
            if vm != second and where[vm] not in large:
                large[where[vm]] = vm
        for vm in large.values():
            api.set_size(vm, 1, 3072)
            api.set_allocation(vm, mem={"reservation": 3072})
        d.start()
        snapshot = wait_for("a snapshot", lambda: d.status()["pass"] and d.json("snapshot"), 30)
        assert (snapshot["ha"]["policy"], snapshot["ha"]["hosts"]) == ("host_failures", 1), snapshot["ha"]
        seen = {v["id"]: v for v in snapshot["vms"]}
        kinds = {vm: v["kind"] for vm, v in seen.items() if v.get("kind", "normal") != "normal"}
        assert kinds == {vms[0]: "agent", vms[1]: "agent", first: "ft_primary", second: "ft_secondary"}, kinds
        assert (seen[first]["ft_peer"], seen[second]["ft_peer"]) == (second, first)
        required = {h["id"]: h["agents_required"] for h in snapshot["hosts"] if h.get("agents_required")}
        assert required == {where[vms[0]]: [vms[0]]}, required

        path = d.folder / "snapshot.json"
        path.write_text(d.cli("snapshot"))
        plan = json.loads(subprocess.run([BALLAST, "plan", "--snapshot", str(path), "--config", str(d.config), "--format",
                                          "json"], capture_output=True, text=True, check=True).stdout)
        assert len(hosts) == 4 and sum(f["code"] == "spare_missing" for f in plan["faults"]) >= 1, plan["faults"]
        assert not {r["vm"] for r in plan["recommendations"]} & {vms[0], vms[1]}, plan["recommendations"]

        api.set_ha(admission=False)
        wait_for("no policy", lambda: d.json("snapshot").get("ha", {}).get("policy", "none") == "none", 30)


def test_told_before_a_controller_switches_off():
    """The host is in maintenance mode when its controller (ipmi_sim) switches it off. vCenter then does not reach it, as with a real
    host; the service is killed while it sleeps. After the wake the maintenance mode is ended, but that of a person is not."""
    at_shutdown = []

    def state(api, host):
        read = api.get("HostSystem", host, "runtime.inMaintenanceMode", "runtime.connectionState")
        return read["runtime.inMaintenanceMode"].text, read["runtime.connectionState"].text

    def reach(api, host, reached):
        api.set_all([("HostSystem", host, "runtime.connectionState", "connected" if reached else "notResponding",
                      "HostSystemConnectionState"),
                     ("HostSystem", host, "runtime.powerState", "poweredOn" if reached else "unknown", "HostSystemPowerState")])

    def switched(_, what, value):
        api = sim.client()
        if what == "shutdown":
            at_shutdown.append(state(api, host))
            reach(api, host, False)
        elif (what, value) == ("power", 1):
            reach(api, host, True)

    with vcsim.Vcsim(hosts=3, vms=6, tls=False) as sim, ipmi_sim.Controllers(["bmc"], hook=switched) as controllers:
        api, bmc = sim.client(), controllers["bmc"]
        for vm in api.vms().values():
            api.set_load(vm, cpu_mhz=COLD_MHZ, active_mb=8, consumed_mb=16)
        where = api.placement()
        host = sorted(where.values())[0]
        names = {ref: name for name, ref in api.hosts().items()}
        off = sorted(vm for vm, at in where.items() if at == host)[0]
        api.power_off(off)
        source = {"kind": "vsphere", "url": sim.url, "username": sim.username, "password_file": sim.password_file,
                  "cluster": sorted(api.clusters())[0], "timeout_s": 30}
        with Daemon(source, interval_s=2, automation="full") as d:
            d.write(power={"hosts": {names[host]: {
                "methods": ["ipmi"], "ipmi": {"address": bmc.address, "username": bmc.username, "workarounds":
                                              list(ipmi_sim.WORKAROUNDS), "password_file": str(bmc.password_file)}}}})
            d.start()
            wait_for("hosts", lambda: d.run("hosts").returncode == 0, 30)
            wait_for("the controller", lambda: d.run("confirm-controller", names[host]).returncode == 0, 30)
            d.cli("wake", names[host], "--verify")
            wait_for("asleep", lambda: {h["id"]: h["state"] for h in d.json("hosts")}[host] == "standby", 90)
            assert at_shutdown == [("true", "connected")], at_shutdown
            wait_for("the end", lambda: d.actions("done") and not d.actions(*BUSY), 120)
            ended = {a["action"]: a for a in d.json("history") if a["action"] != "migrate"}
            assert [ended[k]["state"] for k in ("power_off", "power_on", "exit_maintenance")] == ["done"] * 3, ended
            assert next(n for n, ref in api.vms().items() if ref == off) in ended["power_off"]["why"], ended["power_off"]
            assert state(api, host) == ("false", "connected")
            assert "enters maintenance mode before it is switched off" in d.log.read_text()

            d.cli("standby", names[host])
            wait_for("asleep again", lambda: len(at_shutdown) == 2 and
                     {h["id"]: h["state"] for h in d.json("hosts")}[host] == "standby" and not d.actions(*BUSY), 90)
            d.kill()
            d.start()
            wait_for("hosts", lambda: d.run("hosts").returncode == 0, 30)
            reach(api, host, True)  # switched on by hand
            wait_for("in service", lambda: state(api, host) == ("false", "connected"), 60)

            api.maintenance(host)  # a person
            wait_for("seen", lambda: {h["id"]: h["state"] for h in d.json("hosts")}[host] == "maintenance", 30)
            wait_for("passes", lambda start=d.status()["pass"]["id"]: d.status()["pass"]["id"] >= start + 5, 60)
            assert state(api, host) == ("true", "connected")
            d.stop()


def test_second_service_is_refused():
    """With a store and a socket of its own, for the same cluster; for another cluster it is not."""
    with lab(automation="manual") as (_, api, relay, d):
        d.start()
        settings = {k: v for k, v in d.settings.items() if k not in ("state_dir", "socket", "source")}
        with Daemon(d.settings["source"], **settings) as second:
            done = subprocess.run([BALLASTD, "--config", str(second.config)], capture_output=True, text=True, timeout=60)
            assert done.returncode == 1 and f"process {d.process.pid} of" in done.stderr, done
            assert d.settings["source"]["url"] in done.stderr and "password" not in done.stderr
            d.kill()  # the name is free at once
            second.start()
            second.stop()
        d.start()
        with Daemon(d.settings["source"] | {"cluster": "another"}, **settings) as third:
            third.start()
            assert third.status()["source"]["state"] != "up"
            third.stop()
        d.stop()


def test_wrong_password_and_certificate():
    with vcsim.Vcsim(hosts=2, vms=4) as sim:
        source = {"kind": "vsphere", "url": sim.url, "username": sim.username, "password_file": sim.password_file,
                  "cluster": "DC0_C0", "ca_file": sim.ca_file, "stats": "quick", "timeout_s": 30}
        with Daemon(source, **EAGER) as d:
            wrong = d.folder / "wrong"
            wrong.write_text("not-it-7f3a\n")
            wrong.chmod(0o600)
            d.write(source={**source, "password_file": str(wrong)})
            d.start()
            status = wait_for("the refusal", lambda: d.status()["source"]["state"] == "lost" and d.status(), 30)
            assert not status["pass"] and status["source"]["error"]
            assert "not-it-7f3a" not in d.log.read_text() + str(status)
            assert "not been read yet" in d.cli("hosts", code=1)
            d.stop()
            d.write(source={k: v for k, v in source.items() if k != "ca_file"})
            d.start()
            status = wait_for("the certificate", lambda: d.status()["source"]["state"] == "lost" and d.status(), 30)
            assert "certificate" in status["source"]["error"].lower(), status["source"]
            d.stop()
            d.write(source={**{k: v for k, v in source.items() if k != "ca_file"}, "tls_verify": False})
            d.start()
            wait_for("a pass", lambda: d.status()["pass"], 30)
            assert "CERTIFICATES ARE NOT VERIFIED" in d.log.read_text()  # said loudly
            d.stop()


if __name__ == "__main__":
    vcsim.main(lambda: vcsim.build() and sys.exit(run_tests(globals())))
