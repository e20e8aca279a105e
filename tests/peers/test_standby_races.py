#!/usr/bin/env python3
"""Something comes to a host in the moment in which it is put to standby: before each request of a standby, one event of each kind. Either the
host is not asked to go down, or the event came after the last look that could have seen it. How many got through is counted and bounded."""
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import ipmi_sim  # noqa: E402
import vcsim  # noqa: E402
from at_once import run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from lab import Lab  # noqa: E402
from probe import PowerProbe, Probe  # noqa: E402
from proxmox import Cluster, Server, tasks  # noqa: E402
from redfish_service import V1, RedfishService  # noqa: E402
from test_libvirt_migrate import end_of, probe, start as start_move  # noqa: E402
from test_proxmox_actuator import equal, given  # noqa: E402
from test_proxmox_power import source_of  # noqa: E402
from udp_relay import UdpRelay  # noqa: E402


def say(*words):
    print(*words, flush=True)


# ---- Proxmox VE: n5 goes down, n3 and n4 have a guest each, and n5 one that is off ----

OFF, HERE, THERE = 100, 101, 103  # off on n5; of HA and off on n5; on n3
TASKS, OWN, GUESTS = "GET /cluster/tasks", "GET /nodes/n5/tasks", "GET /nodes/n5/(qemu|lxc)"
STATUS, WANTED = "GET /cluster/ha/status/manager_status", "GET /cluster/ha/resources"


def of_ha(c, vmid, state="started"):
    c.manage(c.guests[vmid], state=state)
    return c.guests[vmid]


def ended(task):
    """At once: it began and ended between two requests."""
    task.finish(task.end(task))
    return task


def start(c):
    tasks.Start(c, c.guests[OFF], "root@pam")


def started(c):
    ended(tasks.Start(c, c.guests[OFF], "root@pam"))


def moves_in(c):
    c.migration_rate = c.guests[THERE].host_used / 60
    tasks.Migration(c, c.guests[THERE], "n5", "root@pam", "qmigrate")


def moved_in(c):
    ended(tasks.Migration(c, c.guests[THERE], "n5", "root@pam", "qmigrate"))


def ha_migrates(c):
    tasks.migrate(c, of_ha(c, THERE), "n5", "root@pam", True)


def ha_was_told(c):
    """The task that queues the command has ended."""
    ha_migrates(c)
    ended(list(c.tasks.values())[-1])


def ha_was_told_by_a_slow_clock(c):
    """That of the node whose task it is."""
    c.nodes["n3"].clock_error = -290
    ha_was_told(c)


def ha_was_told_by_a_fast_clock(c):
    c.nodes["n3"].clock_error = 290
    ha_was_told(c)


def ha_moves(c):
    """A command without a task, or HA's own will, that the manager has read: no node has begun it."""
    c.ha.max_workers = 0
    c.ha.moving[of_ha(c, THERE).sid()] = "n5"


def ha_begins(c):
    """The node begins it at once."""
    c.ha.moving[of_ha(c, THERE).sid()] = "n5"
    tasks.advance(c)


def ha_starts(c):
    tasks.start(c, c.guests[HERE], "root@pam")


def ha_was_told_to_start(c):
    ha_starts(c)
    ended(list(c.tasks.values())[-1])


def ha_is_set(c):
    """By another request, which makes no task."""
    c.ha.resources[c.guests[HERE].sid()]["state"] = "started"
    c.ha.starting[c.guests[HERE].sid()] = c.clock() + 60


def ha_queue(c):
    """By another request, which makes no task: nothing shows it until the manager has read it."""
    c.ha.queue.append((c.clock() + 10, of_ha(c, THERE).sid(), "n5"))


# (kind, event, the requests that can see it, how many of the last events may get through; None: none can be seen)
PROXMOX = [("start", start, (TASKS, OWN), 1), ("start that is over", started, (TASKS, GUESTS), 1),
           ("migration in", moves_in, (TASKS,), 1), ("migration in that is over", moved_in, (TASKS, GUESTS), 1),
           ("HA migration, unread", ha_migrates, (TASKS,), 1), ("HA migration, unread, its task over", ha_was_told, (TASKS,), 1),
           ("HA migration, unread, its node's clock slow", ha_was_told_by_a_slow_clock, (TASKS,), 1),
           ("HA migration, unread, its node's clock fast", ha_was_told_by_a_fast_clock, (TASKS,), 1),
           ("HA migration, read", ha_moves, (STATUS,), 2), ("HA migration, begun", ha_begins, (TASKS, STATUS), 1),
           ("HA start, unread", ha_starts, (TASKS, OWN, WANTED), 1), ("HA start, unread, its task over", ha_was_told_to_start, (TASKS, WANTED), 1),
           ("HA start without a task, unread", ha_is_set, (WANTED,), 3), ("HA migration without a task, unread", ha_queue, (), None)]


def cluster():
    c = Cluster("9.1", nodes=5)
    c.down_s = 60  # nothing moves by itself within a standby
    c.add(OFF, "n5", status="stopped")
    c.add(HERE, "n5", status="stopped")
    c.add(THERE, "n3")
    of_ha(c, HERE, "stopped")
    return c


class Race:
    """One standby after the other, each in a new cluster at the same addresses."""

    def __init__(self, server, probe):
        self.server, self.probe = server, probe

    def run(self, event=None, at=None):
        """(the requests, whether the node was asked to go down, the seconds from the last look to that)"""
        s, c, times = self.server, cluster(), []
        c.accounts = s.cluster.accounts
        first, s.cluster, s.changes[:] = len(s.requests), c, []

        def before(n):
            times.append(time.monotonic())
            if n - first == at:
                with c.lock:
                    event(c)

        s.before = before
        told = self.probe("start", "standby", "uid", "n5")
        asked = [change for change in s.changes if change[1] == "/nodes/n5/status"]
        equal("what it says and what it did", told["ok"], bool(asked))
        assert asked or told["error"] == "EBUSY", told
        return [r.partition("?")[0] for r in s.requests[first:]], bool(asked), times[-1] - times[-2]


def test_proxmox():
    wrong = []
    with Server(cluster(), nodes=["n1", "n2"]) as s, Probe("proxmox", **given(s)) as p:
        p("check", "standby", "uid", "n5")  # it has logged in, and knows its addresses
        race = Race(s, p)
        requests, asked, window = race.run()
        assert asked and requests[-1] == "POST /nodes/n5/status", requests
        say(f"Proxmox VE: {len(requests)} requests, the last of which is the shutdown, {1000 * window:.1f} ms after the last look")
        for kind, event, looks, most in PROXMOX:
            through = []
            for at in range(len(requests)):
                made, asked, _ = race.run(event, at)
                if asked:
                    through.append(at)
                    wrong += [(kind, at, r) for n, r in enumerate(made) if n >= at and any(re.fullmatch(look, r) for look in looks)]
            say(f"Proxmox VE, {kind}: {len(through)} of {len(requests)} got through" +
                (f", those before {', '.join(requests[n] for n in through)}" if most else ""))
            if most and through != list(range(len(requests) - most, len(requests))):
                wrong.append((kind, through))
    assert not wrong, wrong


# ---- controllers: the source is asked right before their method is called, as tests/unit/power_source.c shows; the method's own requests follow ----

def test_redfish():
    with RedfishService() as bmc, PowerProbe("redfish", url=bmc.url, username=bmc.username, password_file=bmc.password_file, ca_file=bmc.ca_file,
                                             name="esx1", timeout_s=60) as p:
        assert p("identify")["ok"]
        first = len(bmc.requests)
        told = p("same", "shut_down")
        assert told["ok"] and bmc.resets, told
        made = bmc.requests[first:]
        say(f"Redfish: {len(made)} requests after the last look, {told['ms']} ms: {made}")
        assert len(made) <= 3 and made[-1][1].endswith("ComputerSystem.Reset"), made


def test_ipmi():
    with ipmi_sim.Controllers(["esx1"]) as lab, UdpRelay(lab["esx1"].port) as relay:
        c = lab["esx1"]
        with PowerProbe("ipmi", address=relay.address, username=c.username, password_file=c.password_file, name="esx1", timeout_s=60,
                        workarounds=",".join(ipmi_sim.WORKAROUNDS)) as p:
            assert p("identify")["ok"]
            first = relay.asked
            told = p("same", "shut_down")
            assert told["ok"] and [what for _, what, _ in c.commands()] == ["shutdown"], (told, c.commands())
            say(f"IPMI: {relay.asked - first} packets after the last look, {told['ms']} ms")


# ---- sources whose hosts a controller (Redfish) puts down: an event before each request that the controller gets, from the command on ----

AFTER_S = 5  # in which a host is asked, if it will be


def one_race(source, host, at, event, busy):
    """(what the controller was asked from the command on, what ran on the host when it was asked to go down: None: it was not)"""
    asked, then, happened = [], [], []
    with RedfishService() as bmc, Daemon(source, interval_s=2, automation="full", cool_down_s=1) as d:
        def before(command, place):
            if happened == [] and len(asked) == at:
                happened.append(time.monotonic())
                event()
            if not then:
                asked.append(f"{command} {place}")
            if place.endswith("ComputerSystem.Reset"):
                then.append(busy())

        d.write(power={"hosts": {host: {"methods": ["redfish"], "redfish": {"url": bmc.url, "username": bmc.username, "ca_file": bmc.ca_file,
                                                                            "password_file": bmc.password_file}}}})
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0, 60)
        wait_for("the controller", lambda: d.run("confirm-controller", host).returncode == 0, 60)
        bmc.before = before
        d.cli("wake", host, "--verify")
        wait_for("it was asked, or was not", lambda: then or (happened and time.monotonic() > happened[0] + AFTER_S), 120)
        d.stop()
        return asked, then[0] if then else None


def each_race(name, source, host, event, busy, undo, most):
    asked, then = one_race(source, host, None, None, busy)
    equal(f"{name}: without an event", then, [])
    undo()
    n, through = len(asked), []
    for at in range(n):
        asked, then = one_race(source, host, at, event, busy)
        undo()
        if then:
            through.append(asked[at:])
    say(f"{name}: {len(through)} of {n} got through; the controller was still asked {through}")
    # n is of a run without an event: another one may have asked once more, so not how many got through is bounded but how late they came
    assert len(through) < n and all(len(left) <= most for left in through), through


def test_vsphere():
    """A person ends the maintenance mode that was to keep VMs away, and moves one there."""
    with vcsim.Vcsim(hosts=3, vms=6, tls=False) as sim:
        api = sim.client()
        first = api.placement()
        host = sorted(first.values())[0]
        name = {ref: name for name, ref in api.hosts().items()}[host]
        vm = next(vm for vm in first if first[vm] != host)
        source = {"kind": "vsphere", "url": sim.url, "username": sim.username, "password_file": sim.password_file,
                  "cluster": sorted(api.clusters())[0], "timeout_s": 30}

        def is_told():
            return api.get("HostSystem", host, "runtime.inMaintenanceMode")["runtime.inMaintenanceMode"].text == "true"

        def person():
            if is_told():
                api.maintenance(host, enter=False)
            api.relocate(vm, host)

        def undo():
            if is_told():
                api.maintenance(host, enter=False)
            for each, at in first.items():
                api.relocate(each, at)

        each_race("vSphere", source, name, person, lambda: [v for v, at in api.placement().items() if at == host], undo, 2)


def test_proxmox_by_a_controller():
    """A guest has moved to the node."""
    c = Cluster("9.1", nodes=5)
    c.add(THERE, "n3")
    with Server(c, nodes=["n1", "n2"]) as s:
        def undo():
            with c.lock:
                c.guests[THERE].node = "n3"
                c.tasks.clear()

        def event():
            with c.lock:
                moved_in(c)

        each_race("Proxmox VE by Redfish", source_of(s), "n5", event, lambda: [g.vmid for g in c.guests_of("n5")], undo, 2)


GUEST = """<domain type='qemu'><name>late</name><memory unit='MiB'>16</memory><os><type>hvm</type></os></domain>"""


def test_libvirt():
    """A guest is started on the host, or comes there; the host itself tells at once."""
    with Lab(hosts=2, vms=2) as lab:
        uuid = lab.virsh("hv2", "domuuid vm2").strip()
        late = pathlib.Path(lab.dir.name) / "late.xml"
        late.write_text(GUEST)
        with probe(lab, bandwidth_mbs=2) as p:
            def told():
                return p("check", "standby", "uid", "hv2", "by_controller")

            assert "1 VMs run on host hv2" in told()["text"]
            assert end_of(p, start_move(p, uuid, "hv2", "hv1"))[0]["state"] == "succeeded"
            assert told()["ok"]
            say(f"libvirt: 1 request, {1000 * p.took_s:.1f} ms")
            task = start_move(p, uuid, "hv1", "hv2")
            p("poll", task)
            began = time.monotonic()
            wait_for("the destination has agreed", lambda: told().get("error") == "EBUSY", every=0.005)
            say(f"libvirt: a migration in is seen {1000 * (time.monotonic() - began):.0f} ms after it was asked for")
            assert "vm2" not in lab.virsh("hv2", "list --name --state-running"), "it has arrived already"
            assert end_of(p, task)[0]["state"] == "succeeded"
            assert end_of(p, start_move(p, uuid, "hv2", "hv1"))[0]["state"] == "succeeded"
        source = {"kind": "libvirt", "host_timeout_s": 5, "hosts": {h: {"uri": lab.uri(h), "cpu_mhz": 8000, "mem_mb": 4096} for h in ("hv1", "hv2")}}

        def undo():
            for guest in lab.virsh("hv2", "list --name").split():
                lab.virsh("hv2", f"destroy {guest}" if guest == "late" else f"reset {guest}")

        each_race("libvirt", source, "hv2", lambda: lab.virsh("hv2", f"create {late}"), lambda: lab.virsh("hv2", "list --name").split(), undo, 2)


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
