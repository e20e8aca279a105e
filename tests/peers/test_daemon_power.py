#!/usr/bin/env python3
"""ballastd puts hosts of the simulated cluster to standby and wakes them: at an admin's request, and by DPM."""
import json
import os
import signal
import time

from daemon import Daemon, main, wait_for

SHIM = os.environ.get("BALLAST_NAME_SHIM", "build/tests/peers/libname_shim.so")
SLEEPERS = ("h2", "h3")
QUICK = {"interval_s": 2, "migration_threshold": 3, "cool_down_s": 3}


def cluster(proven=True):
    """Four hosts of 10 GHz and 32 GiB; two VMs on each, of which nobody wants much."""
    return {
        "format": "ballast-snapshot/1", "cluster": "pretend", "time": "2026-01-01T00:00:00Z",
        "hosts": [{"id": f"h{i}", "name": f"esx{i}", "state": "on", "cpu_mhz": 10000, "cores": 4, "mem_mb": 32768,
                   "boot_s": 120, "wake_methods": ["hypervisor"], "wake_verified": proven} for i in range(4)],
        "vms": [{"id": f"v{i}", "name": f"web{i}", "host": f"h{i % 4}", "state": "on", "vcpus": 2, "mem_mb": 2048,
                 "cpu": {"demand": 300}, "mem": {"demand": 500, "consumed": 1024}} for i in range(8)]
        + [{"id": f"big{i}", "name": f"big{i}", "host": None, "state": "off", "vcpus": 4, "mem_mb": 30720,
            "cpu": {"reservation": 9000}, "mem": {"reservation": 30720}} for i in range(2)],
    }


def daemon(snapshot, **settings):
    d = Daemon({"kind": "sim", "speed": 40}, **QUICK, **settings)
    file = d.folder / "cluster.json"
    file.write_text(json.dumps(snapshot))
    d.settings["source"]["file"] = str(file)
    d.write()
    return d.start()


def states(d):
    return {h["id"]: h["state"] for h in d.json("hosts")}


def asleep(d):
    return {h["host"]: h for h in d.status()["asleep"]}


def test_an_admin_asks():
    snapshot = cluster(proven=False)
    snapshot["vms"].append({"id": "agent", "name": "agent", "host": "h2", "state": "on", "kind": "agent", "vcpus": 1, "mem_mb": 128})
    snapshot["hosts"][2]["agents_required"] = ["agent"]
    with daemon(snapshot, automation="full") as d:
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        # what is not proven does not sleep; the proof is a cycle of its own
        assert "`ballast wake esx2 --verify`" in d.cli("standby", "esx2", code=1)
        on_it = {f"web{vm[1:]}" for vm, host in d.placement().items() if host == "h2" and vm != "agent"}
        told = d.request({"command": "wake", "host": "h2", "verify": True})
        begun = told["actions"]
        assert on_it and set(told["leaving_vms"]) == on_it, (told, on_it)  # the agent stays with its host
        assert [a["action"] for a in begun] == ["power_off", "power_on"] and begun[1]["depends_on"] == [begun[0]["id"]]
        assert all(a["reason"] == "wake_test" for a in begun), begun
        wait_for("the proof", lambda: {begun[0]["id"], begun[1]["id"]} <= {a["id"] for a in d.actions("done")}, 60)
        assert not next(a for a in d.actions("done") if a["action"] == "power_off")["why"], "an agent runs when its host does"
        wait_for("the agent", lambda: next(v for v in d.json("vms") if v["id"] == "agent")["state"] == "on", 30)
        assert states(d)["h2"] == "on" and not any(host == "h2" for vm, host in d.placement().items() if vm != "agent")
        # now it does, and that outlives a death
        assert "power_off" in d.cli("standby", "h2")
        wait_for("asleep", lambda: states(d)["h2"] == "standby", 60)
        wait_for("the end", lambda: not d.actions("approved", "starting", "running", "verifying"))
        assert "nothing to do" in d.cli("standby", "h2")
        known = asleep(d)["h2"]
        assert known["by_ballast"] and known["in_inventory"] and known["since"] and not known["wake_failed"], known
        assert "esx2, since 2" in d.cli("status")
        assert "dpm.hosts_min" in d.cli("standby", "h1", code=1) or "--verify" in d.cli("standby", "h1", code=1)
        d.process.send_signal(signal.SIGHUP)  # power management is off, so nothing but a person will wake it
        wait_for("a warning", lambda: "1 host sleeps that Ballast has put to standby" in d.log.read_text())
        # taken out of service as it sleeps: it is not woken for that
        d.cli("maintenance", "enter", "h2")
        assert states(d)["h2"] == "standby"
        d.cli("maintenance", "exit", "h2")
        d.cli("wake", "h2")
        wait_for("awake", lambda: states(d)["h2"] == "on", 60)
        wait_for("the end", lambda: not d.actions("approved", "starting", "running", "verifying"))
        assert "nothing to do" in d.cli("wake", "h2")
        assert "no host" in d.cli("wake", "nowhere", code=2)
        d.stop()


def test_off_vms_leave_first():
    """A VM that is off is registered on another host before a person's standby, and before DPM's, so that it can be started; one that no other
    host can run stays, and is named."""
    snapshot = cluster()
    snapshot["vms"] += [{"id": "old", "name": "old", "host": "h0", "state": "off", "vcpus": 2, "mem_mb": 2048},
                        {"id": "tied", "name": "tied", "host": "h0", "state": "off", "vcpus": 2, "mem_mb": 2048, "compatible_hosts": ["h0"]}]
    for dpm in (None, {"enabled": True, "automation": "automatic", "hosts_min": 3, "watch_s": 0}):
        with daemon(snapshot, automation="full", **({"dpm": dpm} if dpm else {})) as d:
            wait_for("hosts", lambda: d.run("hosts").returncode == 0)
            if not dpm:
                assert "old" in d.cli("standby", "h0")
            wait_for("asleep", lambda: states(d)["h0"] == "standby", 90)
            wait_for("the end", lambda: not d.actions("approved", "starting", "running", "verifying"))
            done = d.actions("done")
            down = next(a for a in done if a["action"] == "power_off" and a["host"] == "h0")
            moved = [a for a in done if a["reason"] == "off_vm" and a["from"] == "h0"]
            assert [a["vm"] for a in moved] == ["old"] and moved[0]["ended"] <= down["started"], (moved, down)
            assert down["why"].endswith("cannot be started there: tied"), down
            assert "is registered on" in moved[0]["text"] and "it could not be started" in moved[0]["text"], moved
            d.stop()


def test_by_itself():
    """A quiet cluster consolidates itself, down to what must stay on, and wakes a host for a VM that is powered on."""
    dpm = {"enabled": True, "automation": "automatic", "hosts_min": 2, "watch_s": 0}
    with daemon(cluster(), automation="full", dpm=dpm) as d:
        wait_for("two hosts asleep", lambda: len(asleep(d)) == 2, 60)
        wait_for("the end", lambda: not d.actions("approved", "starting", "running", "verifying"))
        down = set(asleep(d))
        assert not down & set(d.placement().values()), d.placement()
        off = [a for a in d.actions("done") if a["action"] == "power_off"]
        assert {a["host"] for a in off} == down and all(a["approved_by"] == "engine" for a in off), off
        for a in off:  # not before what was to leave had left
            before = {x["id"]: x for x in d.json("history")}
            assert all(before[i]["ended"] <= a["started"] for i in a["depends_on"]), a
        assert "dpm.hosts_min is 2" in d.cli("standby", next(h for h in states(d) if h not in down), code=1)
        before = max(e["id"] for e in d.json("events"))
        d.kill()
        d.start()  # the simulated cluster has died with it, and is as it was in the beginning
        # what is seen first is news of those of which it knew that they sleep
        wait_for("what it knew", lambda: {e["subject"] for e in d.json("events", "--since", before) if e["type"].startswith("host.")
                                          and (e["data"]["was"], e["data"]["state"]) == ("standby", "on")} == down)
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        wait_for("asleep again", lambda: list(states(d).values()).count("standby") == 2, 60)
        wait_for("the end", lambda: not d.actions("approved", "starting", "running", "verifying"))
        off = {h for h, s in states(d).items() if s != "on"}
        begun = d.json("place", "big0", "big1", "--apply")  # a host for each of them, and one for the others
        woken = {a["host"] for a in begun if a["action"] == "power_on"}
        assert woken and woken <= off, begun
        wait_for("they run", lambda: d.placement()["big0"] and d.placement()["big1"], 60)
        assert d.placement()["big0"] != d.placement()["big1"]
        assert woken <= {h for h, s in states(d).items() if s == "on"}
        d.stop()


def sleepers():
    """Two of the hosts sleep, and take 10 s to wake."""
    snapshot = cluster()
    for h in snapshot["hosts"]:
        h["boot_s"] = 400
        if h["id"] in SLEEPERS:
            h["state"] = "standby"
    for v in snapshot["vms"]:
        v["host"] = v["host"] and f"h{int(v['id'][-1]) % 2}"
    return snapshot


def test_a_host_that_keeps_dying():
    """After the second loss with VMs the host is distrusted, over a restart of the service, until a person trusts it."""
    with Daemon({"kind": "sim", "speed": 40}, **QUICK, automation="manual") as d:
        file, folder = d.folder / "cluster.json", d.folder / "sim"
        file.write_text(json.dumps(cluster()))
        folder.mkdir()
        d.settings["source"] |= {"file": str(file), "folder": str(folder)}
        d.write()
        d.start()
        wait_for("the first pass", lambda: d.status()["pass"])
        faults = lambda: [f for f in d.status()["faults"] if f["code"] == "host_distrusted"]  # noqa: E731
        for loss in (1, 2):
            wait_for("a VM on h1", lambda: "h1" in d.placement().values(), 60)
            for power, state in (("0", "disconnected"), ("1", "on")):
                (folder / "power/h1").write_text(power + "\n")
                wait_for(f"h1 is {state}", lambda: states(d)["h1"] == state, 60)
            wait_for("the loss is counted", lambda: {h["id"]: h for h in d.json("hosts")}["h1"]["losses"] == loss, 60)
            assert bool(faults()) == (loss == 2), faults()
        d.kill()
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        wait_for("it is distrusted still", faults)
        assert "esx1 was lost twice" in faults()[0]["text"] or "2 times" in faults()[0]["text"], faults()
        assert "distrusted until" in d.cli("hosts", "--wide")
        assert "trusted" in d.cli("trust", "h1")
        wait_for("the fault is over", lambda: not faults(), 30)
        assert d.run("trust", "h1").returncode != 0 and d.run("trust", "h9").returncode != 0
        d.stop()


def test_no_name_server():
    """Controllers whose names cannot be looked up hold up nobody, while hosts wake whose consoles are to be read."""
    d = Daemon({"kind": "sim", "speed": 40}, **QUICK, automation="manual")
    file, password = d.folder / "cluster.json", d.folder / "password"
    file.write_text(json.dumps(sleepers()))
    password.write_text("secret\n")
    password.chmod(0o600)
    d.settings["source"]["file"] = str(file)
    d.write(power={"defaults": {"methods": ["hypervisor", "ipmi"], "timeout_s": 1, "ipmi": {"console": True}},
                   "hosts": {h: {"ipmi": {"address": f"bmc-{h}.invalid", "username": "u", "password_file": str(password)}}
                             for h in SLEEPERS}})
    d.environment["LD_PRELOAD"] = SHIM
    with d:
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        slowest, deadline = 0, time.monotonic() + 120
        for asked in [{"command": "wake", "host": h} for h in SLEEPERS] + [{"command": "status"}] * 1000:
            began = time.monotonic()
            assert d.request(asked)["ok"]
            over = list(states(d).values()).count("on") == 4
            slowest = max(slowest, time.monotonic() - began)
            if over or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        assert slowest < 10, f"somebody was kept waiting for {slowest:.1f} s"
        assert list(states(d).values()).count("on") == 4, states(d)
        assert d.log.read_text().count("the console of host") == 2, d.log.read_text()
        d.stop()


if __name__ == "__main__":
    main(test_an_admin_asks, test_off_vms_leave_first, test_by_itself, test_no_name_server)
