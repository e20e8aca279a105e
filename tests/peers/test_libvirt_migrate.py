#!/usr/bin/env python3
"""Live migrations of the libvirt actuator between real libvirtd with QEMU: no guest restarts, runs twice or is lost, and its definition is
on exactly one host at the end, whatever failed in between."""
import contextlib
import os
import pathlib
import sys
import time

from daemon import Daemon, at_once, wait_for
from lab import Lab
from libvirt_relay import LibvirtRelay
from probe import Probe

SLOW_MBS = 2  # so that a guest takes seconds to be copied


def uuid_of(lab, host, guest):
    return lab.virsh(host, f"domuuid {guest}").strip()


def probe(lab, hosts=("hv1", "hv2"), **migration):
    keys = {f"hosts.{host}.uri": lab.uri(host) for host in hosts}
    return Probe("libvirt", **keys, host_timeout_s=10, timeout_s=30, **{f"migration.{key}": value for key, value in migration.items()})


def start(p, vm, source, target):
    wait_for("it may begin", lambda: p("check", "migrate", "u1", vm, source, target)["ok"])
    answer = p("start", "migrate", "u1", vm, source, target)
    assert answer["ok"], answer
    return answer["task"]


def end_of(p, task):
    """Polls until the task has ended; the last answer, and the percents on the way."""
    percents = []

    def ended():
        answer = p("poll", task)
        if answer["ok"] and answer["state"] in ("succeeded", "failed"):
            return answer
        if answer["ok"]:
            percents.append(answer["percent"])
        return None

    return wait_for(f"{task} has ended", ended, every=0.1), percents


def domains(lab, host, *options):
    return set(lab.virsh(host, " ".join(("list", "--name", *options))).split())


def is_only_on(lab, guest, host, other):
    """It runs there, and is defined there and nowhere else."""
    return guest in domains(lab, host) and guest in domains(lab, host, "--persistent") and guest not in domains(lab, other, "--all")


@contextlib.contextmanager
def unbroken(lab, *guests):
    """None of them restarts in between."""
    before = lab.guests()
    yield
    wait_for("the guests report", lambda: all(lab.guests()[g]["up_s"] > before[g]["up_s"] for g in guests))
    after = lab.guests()
    for guest in guests:
        assert after[guest]["restarts"] == before[guest]["restarts"], (guest, before[guest], after[guest])


def check_modes(lab):
    """There and back again, each way by another mode and with other settings."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"):
        for source, target, settings in (("hv1", "hv2", {}), ("hv2", "hv1", {"mode": "managed"}),
                                         ("hv1", "hv2", {"connections": 2, "auto_converge": "true"})):
            with probe(lab, **settings) as p:
                answer, _ = end_of(p, start(p, vm, source, target))
                assert answer["state"] == "succeeded" and 0 < answer["downtime_s"] < answer["took_s"], answer
                assert is_only_on(lab, "vm1", target, source)
                again = p("check", "migrate", "u1", vm, source, target)
                assert again["error"] == "ESTALE" and "has arrived on" in again["text"], again
        with probe(lab) as p:
            assert end_of(p, start(p, vm, "hv2", "hv1"))[0]["state"] == "succeeded"


def check_cancel(lab):
    """In mid-migration; the VM stays, and can be moved afterwards."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab, bandwidth_mbs=SLOW_MBS) as p:
        task = start(p, vm, "hv1", "hv2")
        wait_for("it copies", lambda: p("poll", task)["percent"] > 0)
        second = p("start", "migrate", "u2", vm, "hv1", "hv2")
        assert second == {"ok": True, "task": task}, second  # adopted, not begun
        with probe(lab) as other:  # another process
            refused = other("check", "migrate", "u3", vm, "hv1", "hv2")
            assert refused["error"] == "EBUSY", refused
            adopted = other("adopt", "migrate", "u2", vm, "hv1", "hv2")
            assert adopted == {"ok": True, "task": task}, adopted
        assert p("cancel", task)["ok"]
        answer, _ = end_of(p, task)
        assert answer["state"] == "failed" and not answer["gone"], answer
        assert is_only_on(lab, "vm1", "hv1", "hv2")


def begin_slowly(lab, p, vm, source, target):
    """A migration that copies."""
    task = start(p, vm, source, target)
    wait_for("it copies", lambda: p("poll", task).get("percent", 0) > 0)
    return task


def check_destination_libvirtd_killed(lab):
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab, bandwidth_mbs=SLOW_MBS) as p:
        task = begin_slowly(lab, p, vm, "hv1", "hv2")
        lab.kill_libvirtd("hv2")
        answer, _ = end_of(p, task)
        assert answer["state"] == "failed" and not answer["gone"], answer
        lab.restart_libvirtd("hv2")
        wait_for("the destination is clean", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))


def check_destination_powered_off(lab):
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab, bandwidth_mbs=SLOW_MBS) as p:
        task = begin_slowly(lab, p, vm, "hv1", "hv2")
        lab.power("hv2", "off")
        answer, _ = end_of(p, task)
        assert answer["state"] == "failed" and not answer["gone"], answer
        refused = p("check", "migrate", "u2", vm, "hv1", "hv2")
        assert refused["error"] == "EHOSTDOWN" and "destination hv2 does not answer" in refused["text"], refused
        lab.power("hv2", "on")
        wait_for("it is back", lambda: p("check", "migrate", "u2", vm, "hv1", "hv2")["ok"])
        assert is_only_on(lab, "vm1", "hv1", "hv2")


def check_source_libvirtd_killed(lab):
    """The restarted libvirt cancels the migration; nobody says so before."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab, bandwidth_mbs=SLOW_MBS) as p:
        task = begin_slowly(lab, p, vm, "hv1", "hv2")
        lab.kill_libvirtd("hv1")
        wait_for("nobody can tell", lambda: p("poll", task).get("error") == "EHOSTDOWN")
        lab.restart_libvirtd("hv1")
        answer, _ = end_of(p, task)
        assert answer["state"] == "failed" and "is on hv1 still" in answer["why"], answer
        wait_for("one definition", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))


def check_service_killed(lab):
    """Peer to peer it goes on, and another process follows it; managed, libvirt cancels it."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab) as other:
        with probe(lab, bandwidth_mbs=2 * SLOW_MBS, mode="managed") as p:
            task = begin_slowly(lab, p, vm, "hv1", "hv2")
            p.process.kill()
        answer, _ = end_of(other, task)
        assert answer["state"] == "failed", answer
        wait_for("one definition", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))
        with probe(lab, bandwidth_mbs=SLOW_MBS) as p:
            task = begin_slowly(lab, p, vm, "hv1", "hv2")
            p.process.kill()
        assert other("start", "migrate", "u1", vm, "hv1", "hv2") == {"ok": True, "task": task}
        answer, percents = end_of(other, task)
        assert answer["state"] == "succeeded" and max(percents) > 0, (answer, percents)
        assert is_only_on(lab, "vm1", "hv2", "hv1")
        end_of(other, start(other, vm, "hv2", "hv1"))


def leave_definition(lab, guest, source, target):
    """What a fault between the two ends of a migration leaves: the definition on the source, too."""
    definition = pathlib.Path(lab.dir.name) / "left.xml"
    definition.write_text(lab.virsh(target, f"dumpxml --inactive --security-info {guest}"))
    lab.virsh(source, f"define {definition}")


def check_left_definitions(lab):
    """At once, or as soon as the host answers; never the last one, and none that no migration has left."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), probe(lab) as p:
        task = start(p, vm, "hv1", "hv2")
        p("poll", task)
        wait_for("it arrives", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
        leave_definition(lab, "vm1", "hv1", "hv2")
        refused = p("check", "migrate", "u2", vm, "hv2", "hv1")
        assert refused["error"] == "EPERM" and "hv1 has a definition of VM vm1" in refused["text"], refused
        lab.virsh("hv2", "undefine vm1")
        assert p("poll", task)["state"] == "succeeded"  # defined where it runs first ...
        assert "vm1" in domains(lab, "hv2", "--persistent")
        wait_for("then no longer where it was", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
        task = start(p, vm, "hv2", "hv1")
        p("poll", task)
        wait_for("it arrives", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))
        leave_definition(lab, "vm1", "hv2", "hv1")
        leave_definition(lab, "vm4", "hv1", "hv2")  # somebody's own will
        lab.kill_libvirtd("hv2")
        assert p("poll", task)["state"] == "succeeded"
        lab.restart_libvirtd("hv2")
        wait_for("the host answers, and is clean", lambda: is_only_on(lab, "vm1", "hv1", "hv2"))
        assert "vm4" in domains(lab, "hv1", "--all")
        lab.virsh("hv1", "undefine vm4")


def check_left_definition_found_again(lab):
    """By another process, after the one that knew of it was killed while the host was silent."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"):
        with probe(lab) as p:
            task = start(p, vm, "hv1", "hv2")
            p("poll", task)
            wait_for("it arrives", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
            leave_definition(lab, "vm1", "hv1", "hv2")
            lab.kill_libvirtd("hv1")
            wait_for("the end is known", lambda: p("poll", task).get("state") == "succeeded")
            note = lab.virsh("hv2", "metadata vm1 urn:ballast:left-over").replace('"', "'")
            assert f"task='{task.replace('-/', 'd-/', 1)}'" in note, note  # it had arrived
            p.process.kill()
        lab.restart_libvirtd("hv1")
        assert "vm1" in domains(lab, "hv1", "--all")
        with probe(lab) as p:
            p("collect")
            wait_for("it is repaired", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
            wait_for("the note is gone", lambda: "left-over" not in lab.virsh("hv2", "dumpxml vm1") + lab.virsh("hv2", "dumpxml --inactive vm1"))
            assert end_of(p, start(p, vm, "hv2", "hv1"))[0]["state"] == "succeeded"


def check_guest_shut_down_before_its_old_host_is_back(lab):
    """The definition of the host where it was last is the valid one, though neither host can tell any more: the libvirt of the other one has
    forgotten why the guest does not run there. Once by the process that knows, once by one that finds the note."""
    vm = uuid_of(lab, "hv1", "vm1")
    for known in (True, False):
        with probe(lab) as p:
            task = start(p, vm, "hv1", "hv2")
            p("poll", task)
            wait_for("it arrives", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
            leave_definition(lab, "vm1", "hv1", "hv2")
            lab.kill_libvirtd("hv1")
            wait_for("the end is known", lambda: p("poll", task).get("state") == "succeeded")
            lab.virsh("hv2", "destroy vm1")
            if known:
                lab.restart_libvirtd("hv1")
                wait_for("the old definition is deleted", lambda: "vm1" not in domains(lab, "hv1", "--all"))
            p.process.kill()
        if not known:
            lab.restart_libvirtd("hv1")
            with probe(lab) as p:
                answer = p("poll", task)  # without evidence nothing is deleted
                assert answer["gone"], answer
                assert "vm1" in domains(lab, "hv1", "--all") & domains(lab, "hv2", "--all")
                p("collect")
                wait_for("the old definition is deleted", lambda: "vm1" not in domains(lab, "hv1", "--all"))
                assert "nothing shows which of the two is valid" in p.close()
        assert "vm1" in domains(lab, "hv2", "--all", "--persistent")
        lab.virsh("hv2", "start vm1")
        wait_for("the guest works", lambda: lab.guests()["vm1"]["load"]["mem"] == 30)
        with probe(lab) as p:
            assert end_of(p, start(p, vm, "hv2", "hv1"))[0]["state"] == "succeeded"


def check_paused_source_is_ended(lab):
    """libvirt is never told that the VM has arrived, and leaves it paused at the source: resumed there, it would run twice."""
    vm = uuid_of(lab, "hv1", "vm1")
    with unbroken(lab, "vm1"), LibvirtRelay(lab.uri("hv1")) as relay:
        relay.cut = relay.CONFIRM
        with Probe("libvirt", **{"hosts.hv1.uri": relay.uri, "hosts.hv2.uri": lab.uri("hv2"), "migration.mode": "managed"}, timeout_s=30) as p:
            task = start(p, vm, "hv1", "hv2")
            p("poll", task)
            wait_for("it has arrived, and its source does not know", lambda: relay.cuts and lab.virsh("hv1", "domstate --reason vm1").strip() ==
                     "paused (migrating)")
            answer, _ = end_of(p, task)
            assert answer["state"] == "succeeded", answer
            wait_for("it is on one host", lambda: is_only_on(lab, "vm1", "hv2", "hv1"))
            log = p.close()
        assert "what a migration has left of VM vm1, paused, is ended" in log, log
    with probe(lab) as p:
        assert end_of(p, start(p, vm, "hv2", "hv1"))[0]["state"] == "succeeded"


def check_stuck_host(lab):
    """A libvirt whose connections live and that answers no calls: it is soon asked no more, and says nothing of the other host."""
    vm = uuid_of(lab, "hv1", "vm1")
    with LibvirtRelay(lab.uri("hv2")) as relay, Probe("libvirt", **{"hosts.hv1.uri": lab.uri("hv1"), "hosts.hv2.uri": relay.uri}, timeout_s=3) as p:
        assert p("check", "migrate", "u1", vm, "hv1", "hv2")["ok"]
        relay.held = {relay.LOOKUP}
        refused = wait_for("it is asked no more", lambda: [a for a in [p("check", "migrate", "u1", vm, "hv1", "hv2")] if p.took_s < 1])[0]
        assert "hv2" in refused["text"] and ("no more calls until" in refused["text"] or "wait for an answer" in refused["text"]), refused
        threads = len(os.listdir(f"/proc/{p.process.pid}/task"))
        for _ in range(5):
            p("check", "migrate", "u1", vm, "hv1", "hv2")
        wait_for("no thread stays behind", lambda: len(os.listdir(f"/proc/{p.process.pid}/task")) <= threads)
        assert "runs already, on hv1" in p("check", "power_on_vm", "u1", vm, "hv1")["text"]
        relay.held = set()
        wait_for("it answers", lambda: p("check", "migrate", "u1", vm, "hv1", "hv2")["ok"])


def check_no_end(lab):
    """A guest that writes faster than it is copied: cancelled after a while, or switched to post-copy."""
    vm = uuid_of(lab, "hv1", "vm1")
    lab.load("vms 1: cpu 5 mem 24 dirty 20000")
    wait_for("the guest writes", lambda: lab.guests()["vm1"]["load"]["dirty"] == 20000)
    with unbroken(lab, "vm1"):
        with probe(lab, bandwidth_mbs=SLOW_MBS, timeout_s=4) as p:
            answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
            assert answer["state"] == "failed" and "has not come to an end within 4 s" in answer["why"], answer
            assert is_only_on(lab, "vm1", "hv1", "hv2")
        with probe(lab, bandwidth_mbs=SLOW_MBS, timeout_s=4, post_copy="true") as p:
            answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
            assert answer["state"] == "succeeded", answer
            assert is_only_on(lab, "vm1", "hv2", "hv1")


def check_daemon_killed(lab):
    """The whole service: killed while a guest is copied, it follows the same migration when it is back."""
    source = {"kind": "libvirt", "host_timeout_s": 5, "migration": {"bandwidth_mbs": 2 * SLOW_MBS},
              "hosts": {host: {"uri": lab.uri(host), "cpu_mhz": 8000, "mem_mb": 4096} for host in ("hv1", "hv2")}}
    rules = {"vm1-there": {"kind": "host-affinity", "vms": "vm1", "hosts": ["hv2"]}}
    with unbroken(lab, "vm1"), Daemon(source, automation="full", interval_s=5, rules=rules).start() as d:
        def moved():
            """Its migrations that have ended, by state."""
            return [a["state"] for a in d.json("history", "--limit", 50) if a["vm_name"] == "vm1" and a["action"] == "migrate"]

        wait_for("it copies", lambda: "outgoing migration" in lab.virsh("hv1", "domjobinfo vm1").lower())
        d.kill()
        assert "outgoing migration" in lab.virsh("hv1", "domjobinfo vm1").lower()
        d.start()
        wait_for("it is done", moved)
        assert moved() == ["done"] and is_only_on(lab, "vm1", "hv2", "hv1")
        d.stop()
    with probe(lab) as p:
        assert end_of(p, start(p, uuid_of(lab, "hv2", "vm1"), "hv2", "hv1"))[0]["state"] == "succeeded"


def starts_with_host(lab, host, guest):
    return guest in lab.virsh(host, "list --all --autostart --name").split()


def check_autostart(lab):
    """It goes with the VM, and is off as long as two hosts may have the definition."""
    vm = uuid_of(lab, "hv1", "vm1")
    lab.virsh("hv1", "autostart vm1")
    with probe(lab, bandwidth_mbs=SLOW_MBS) as p:
        task = begin_slowly(lab, p, vm, "hv1", "hv2")
        assert not starts_with_host(lab, "hv1", "vm1")
        assert p("cancel", task)["ok"]
        assert end_of(p, task)[0]["state"] == "failed" and starts_with_host(lab, "hv1", "vm1")
    with probe(lab) as p:
        assert end_of(p, start(p, vm, "hv1", "hv2"))[0]["state"] == "succeeded"
        assert is_only_on(lab, "vm1", "hv2", "hv1") and starts_with_host(lab, "hv2", "vm1")
        assert end_of(p, start(p, vm, "hv2", "hv1"))[0]["state"] == "succeeded"
    lab.virsh("hv1", "autostart --disable vm1")


def power_on(p, vm, host):
    answer = p("check", "power_on_vm", "u1", vm, host)
    assert answer["ok"], answer
    answer = p("start", "power_on_vm", "u1", vm, host)
    assert answer["ok"], answer
    answer, _ = end_of(p, answer["task"])
    assert answer["state"] == "succeeded", answer


def check_power_on(lab):
    """Where it is defined, elsewhere, and not at all where it may run already."""
    vm = uuid_of(lab, "hv1", "vm3")
    with probe(lab) as p:
        refused = p("start", "power_on_vm", "u1", vm, "hv2")
        assert refused["error"] == "ESTALE" and "runs already, on hv1" in refused["text"], refused
        lab.virsh("hv1", "destroy vm3")
        lab.virsh("hv1", "autostart vm3")
        power_on(p, vm, "hv2")
        assert is_only_on(lab, "vm3", "hv2", "hv1") and starts_with_host(lab, "hv2", "vm3")
        lab.virsh("hv2", "destroy vm3")
        power_on(p, vm, "hv2")
        assert is_only_on(lab, "vm3", "hv2", "hv1")
        lab.kill_libvirtd("hv2")
        for verb in ("check", "start"):
            refused = p(verb, "power_on_vm", "u1", vm, "hv1")
            assert refused["error"] == "EHOSTDOWN" and "even running" in refused["text"], refused
        lab.restart_libvirtd("hv2")
        wait_for("hv2 answers", lambda: p("check", "power_on_vm", "u1", vm, "hv1").get("error") == "ESTALE")
        gone = p("check", "power_on_vm", "u1", "deadbeef-0000-4000-8000-00000000000a", "hv1")
        assert gone["error"] == "ENOENT", gone


def check_registered_elsewhere(lab):
    """Of a VM that is off the definition moves, with autostart; it stays off, and moves from where it is only."""
    vm = uuid_of(lab, "hv2", "vm3")
    with probe(lab) as p:
        refused = p("start", "migrate_off", "u1", vm, "hv2", "hv1")
        assert refused["error"] == "ESTALE" and "runs already, on hv2" in refused["text"], refused
        lab.virsh("hv2", "destroy vm3")
        for verb in ("check", "start"):
            refused = p(verb, "migrate_off", "u1", vm, "hv1", "hv2")
            assert refused["error"] == "ESTALE" and "is defined on hv2 and no longer on hv1" in refused["text"], refused
        assert p("check", "migrate_off", "u1", vm, "hv2", "hv1")["ok"]
        answer = p("start", "migrate_off", "u1", vm, "hv2", "hv1")
        assert answer["ok"], answer
        end = end_of(p, answer["task"])[0]
        assert end["state"] == "succeeded", end
        assert "vm3" in lab.virsh("hv1", "list --inactive --name").split() and starts_with_host(lab, "hv1", "vm3")
        assert "vm3" not in lab.virsh("hv2", "list --all --name").split()
        assert p("start", "migrate_off", "u1", vm, "hv2", "hv1")["error"] == "ESTALE"
        power_on(p, vm, "hv2")


FAULTS = (check_destination_libvirtd_killed, check_source_libvirtd_killed, check_destination_powered_off, check_no_end)
OTHERS = (check_modes, check_cancel, check_service_killed, check_daemon_killed, check_autostart, check_power_on, check_registered_elsewhere, check_left_definitions,
          check_left_definition_found_again, check_paused_source_is_ended, check_stuck_host, check_guest_shut_down_before_its_old_host_is_back)


def run(checks):
    with Lab(hosts=2, vms=4, options=["--no-service"]) as lab:
        lab.load("vms 1: cpu 5 mem 30 dirty 100")
        wait_for("the guest works", lambda: lab.guests()["vm1"]["load"]["mem"] == 30)
        for check in checks:
            began = time.monotonic()
            check(lab)
            print(f"{check.__name__}: {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(at_once([("test_faults", lambda: run(FAULTS)), ("test_others", lambda: run(OTHERS))]))
