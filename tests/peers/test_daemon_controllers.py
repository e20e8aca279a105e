#!/usr/bin/env python3
"""ballastd changes the power of simulated hosts through their own controllers (ipmi_sim), without the cluster's manager."""
import contextlib
import datetime
import json
import pathlib
import re
import signal
import subprocess
import threading

import ipmi_sim
import redfish_service
from daemon import BALLAST, Daemon, main, wait_for

QUICK = {"interval_s": 2, "migration_threshold": 3, "cool_down_s": 3, "automation": "full"}
HOSTS = [f"esx{i}" for i in range(3)]
instant = datetime.datetime.fromisoformat


def cluster():
    """Three hosts; a VM on the first. Nobody has seen any of them wake."""
    return {
        "format": "ballast-snapshot/1", "cluster": "pretend", "time": "2026-01-01T00:00:00Z",
        "hosts": [{"id": f"h{i}", "name": name, "state": "on", "cpu_mhz": 10000, "cores": 4, "mem_mb": 32768,
                   "boot_s": 120} for i, name in enumerate(HOSTS)],
        "vms": [{"id": "v0", "name": "web", "host": "h0", "state": "on", "vcpus": 2, "mem_mb": 2048,
                 "cpu": {"demand": 300}, "mem": {"demand": 500, "consumed": 1024}}],
    }


def crowded():
    """The same, with VMs on each host."""
    snapshot = cluster()
    snapshot["vms"] = [dict(snapshot["vms"][0], id=f"v{i}", name=f"web{i}", host=f"h{i % len(HOSTS)}") for i in range(6)]
    return snapshot


class Lab:
    """The simulated cluster's chassis are the controllers'."""

    def __init__(self, swapped=(), snapshot=cluster, **power):
        self.asked = []
        self.ended = threading.Event()
        self.controllers = ipmi_sim.Controllers(HOSTS, hook=self._hook, machines={h: f"h{i}" for i, h in enumerate(HOSTS)})
        self.d = Daemon({"kind": "sim", "speed": 12}, **QUICK)
        self.folder = pathlib.Path(self.d.folder) / "hosts"
        self.folder.mkdir()
        file = self.d.folder / "cluster.json"
        file.write_text(json.dumps(snapshot()))
        self.d.settings["source"] |= {"file": str(file), "folder": str(self.folder)}
        self.d.settings["power"] = {
            "defaults": {"methods": ["ipmi"], "ipmi": {"console": True, "workarounds": list(ipmi_sim.WORKAROUNDS)}} | power,
            "hosts": {c.name: {"ipmi": {"address": c.address, "username": c.username,
                                        "password_file": str(c.password_file)}} for c in self.controllers}}
        hosts = self.d.settings["power"]["hosts"]
        for a, b in [swapped] if swapped else []:
            hosts[a], hosts[b] = hosts[b], hosts[a]
        self.d.write()

    def _hook(self, c, what, value):
        self.asked.append((c.name, what, value))
        if (what, value) == ("power", 1) and not (c.folder / "stuck").exists():
            threading.Thread(target=self._boots, args=(c,), daemon=True).start()
        if what == "shutdown":  # the controller's chassis goes off right after; the host with it
            wait_for("the chassis", lambda: not c.is_on(), 5, 0.02)
            self._put(c.name, 0)
        elif what == "power" and not (c.folder / "stuck").exists():
            self._put(c.name, value)

    def _boots(self, c):
        """What a host writes goes on for a while, for whoever is there to read it."""
        for i in range(240):
            try:
                c.say(f"\r\n\x1b[31m{c.name} boots: {i}\x1b[0m\r\n".encode())
            except (OSError, TimeoutError):  # the controller has gone meanwhile
                return
            if self.ended.wait(0.5):
                return

    def _put(self, name, value):
        file = self.folder / "power" / f"h{HOSTS.index(name)}"
        new = file.with_suffix(".new")
        new.write_text(f"{value}\n")
        new.replace(file)

    def __enter__(self):
        self.d.__enter__()
        self.d.start()
        return self

    def __exit__(self, *why):
        self.ended.set()
        self.d.__exit__(*why)
        self.controllers.close()


def states(d):
    return {h["id"]: h["state"] for h in d.json("hosts")}


def quiet(d):
    return not d.actions("approved", "starting", "running", "verifying")


def test_proof_standby_and_wake():
    with Lab() as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        assert "ipmi (not proven)" in d.cli("hosts")
        d.cli("wake", "esx2", "--verify")
        wait_for("down", lambda: states(d)["h2"] == "standby", 40)
        wait_for("asked to wake", lambda: ("esx2", "power", 1) in lab.asked)
        wait_for("something was kept", lambda: d.run("console", "2").returncode == 0 and "boots" in d.cli("console", "2"))
        d.kill()  # another process goes on with the wake
        d.start()
        wait_for("the proof", lambda: d.run("hosts").returncode == 0 and states(d)["h2"] == "on" and quiet(d), 120)
        wait_for("the proof is seen", lambda: "ipmi (proven)" in d.cli("hosts"))
        wake = next(a for a in d.json("history") if a["action"] == "power_on")
        assert wake["state"] == "done" and wake["task"].startswith("p1 "), wake
        assert wake["console"] and "esx2 boots" in d.cli("console", str(wake["id"])), wake
        assert "\x1b" not in d.cli("console", str(wake["id"]))
        assert {n for n, _, _ in lab.asked} == {"esx2"}
        assert ("esx2", "power", 0) not in lab.asked, "its power was cut"
        d.stop()


def test_a_controller_that_lies():
    """It takes the call, and the chassis stays off: seen within a minute, and long before the host would be waited for in vain."""
    with Lab() as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        lab.controllers["esx2"].put("stuck", 1)
        d.cli("wake", "esx2", "--verify")
        wait_for("an alarm", lambda: "wake_failed: host esx2 did not wake" in d.log.read_text(), 90)
        said = re.search(r"ipmi said yes, but host esx2 is still off (\d+) s later", d.log.read_text())
        assert said and 45 <= int(said[1]) < 90, d.log.read_text()
        assert "FAILED" in d.cli("hosts")
        assert states(d)["h2"] == "standby"
        failed = next(a for a in d.json("history") if a["action"] == "power_on")
        assert failed["state"] == "failed" and "has no other method" in failed["why"], failed
        d.stop()


def sleeping(boot_s=900):
    """The third host sleeps, and boots for long."""
    snapshot = cluster()
    snapshot["hosts"][2] |= {"state": "standby", "boot_s": boot_s}
    return snapshot


def test_by_the_second_method():
    """As long as a host is being woken, it is said by what, and why not by the method before."""
    with Lab(snapshot=sleeping, methods=["ipmi", "hypervisor"], timeout_s=2) as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        lab.controllers["esx2"].stop()
        assert [h["waking"] for h in d.json("hosts")] == [None] * 3 and "being woken" not in d.cli("status")
        d.cli("wake", "esx2")
        waking = lambda: next(h for h in d.json("hosts") if h["id"] == "h2")["waking"] or {}
        wait_for("the second method", lambda: waking().get("method") == "hypervisor", 30)
        assert waking()["why"].startswith("ipmi: ") and "nothing listens there" in waking()["why"], waking()
        wait_for("the host powers on", lambda: states(d)["h2"] == "powering_on", 30)
        status = " ".join(d.cli("status").split())
        assert re.search(r"asleep esx2(, since \S+)?; is being woken, by hypervisor now: ipmi: ", status), status
        assert "(hypervisor now)" in d.cli("hosts")
        d.kill()
        d.start()
        wait_for("the same after a restart", lambda: d.run("hosts").returncode == 0 and waking().get("method") == "hypervisor", 30)
        d.stop()


def test_on_already():
    """A person switches the host on, and the service, which does not know it yet, wakes it: the controller is asked for nothing, and
    is not proven by that."""
    with Lab(snapshot=sleeping) as lab:
        d, c = lab.d, lab.controllers["esx2"]
        c.put("power", 1)
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        d.cli("wake", "esx2")
        wait_for("the controller has answered", lambda: any(a["task"] and a["task"].split()[1] != "a" for a in d.actions("running")), 30)
        lab._put("esx2", 1)
        wait_for("awake", lambda: any(a["action"] == "power_on" and a["state"] == "done" for a in d.json("history")), 120)
        assert not lab.asked and "proven)" in d.cli("hosts"), lab.asked
        assert "ipmi (proven)" not in d.cli("hosts"), d.cli("hosts")
        d.stop()


def test_a_proof_is_of_one_method():
    """IPMI refuses the login and the hypervisor wakes the host: that proves the hypervisor alone. A test of IPMI proves IPMI, until its
    settings change."""
    with Lab(snapshot=lambda: sleeping(120), methods=["ipmi", "hypervisor"], timeout_s=5) as lab:
        d = lab.d
        entry = d.settings["power"]["hosts"]["esx2"]["ipmi"]
        file = pathlib.Path(entry["password_file"])
        password = file.read_text()
        file.write_text("wrong\n")
        proofs = lambda: {p["method"]: p for p in next(h for h in d.json("hosts") if h["id"] == "h2")["wake_proofs"]}
        faults = lambda: [f["text"] for f in d.status()["faults"] if f["code"] == "power_method"]
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        reload(d, "power.hosts: what is not shown here has changed")
        d.cli("wake", "esx2")
        wait_for("awake", lambda: states(d)["h2"] == "on" and quiet(d), 120)
        assert proofs()["hypervisor"]["state"] == "proven" and proofs()["ipmi"]["state"] == "failed", proofs()
        assert "password" in proofs()["ipmi"]["why"]
        assert any("password" in (a["why"] or "") for a in d.json("history") if a["action"] == "power_on"), d.json("history")
        wait_for("the fault", lambda: any("password" in text for text in faults()), 30)
        assert "ipmi (proven)" not in d.cli("hosts") and ("esx2", "power", 1) not in lab.asked

        file.write_text(password)
        reload(d, "power.hosts: what is not shown here has changed")
        d.cli("wake", "esx2", "--verify", "--method", "ipmi")
        wait_for("proven", lambda: proofs()["ipmi"]["state"] == "proven", 180)
        assert ("esx2", "power", 1) in lab.asked
        wait_for("the fault ends", lambda: not faults(), 30)

        entry["address"] = entry["address"].replace("127.0.0.1", "localhost")
        d.write()
        reload(d, "changed: esx2")
        wait_for("expired", lambda: proofs()["ipmi"]["state"] == "expired", 30)
        assert proofs()["hypervisor"]["state"] == "proven"
        d.kill()
        d.start()
        wait_for("the same after a restart", lambda: d.run("hosts").returncode == 0 and proofs()["ipmi"]["state"] == "expired", 30)
        d.stop()


def reload(d, said, lines=1):
    """SIGHUP, and what the log says of it."""
    before = d.log.read_text().count(said)
    d.process.send_signal(signal.SIGHUP)
    wait_for(said, lambda: d.log.read_text().count(said) >= before + lines, 10)


def checks_of(d):
    """What check-config says beside the running service."""
    done = subprocess.run([BALLAST, "check-config", d.config, "--connect", "--format", "json"], capture_output=True, text=True, timeout=120)
    return json.loads(done.stdout)["checks"]


def test_reload():
    """What stands below power: changes while the service runs, but not while hosts are being switched; what takes effect at the
    next start only is said."""
    with Lab() as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        files = {name: pathlib.Path(h["ipmi"]["password_file"]) for name, h in d.settings["power"]["hosts"].items()}
        password = files["esx2"].read_text()
        files["esx2"].write_text("wrong\n")
        reload(d, "power.hosts: what is not shown here has changed")
        assert "wrong" not in d.log.read_text()
        d.cli("wake", "esx2", "--verify")
        wait_for("refused", lambda: any("password" in (a["why"] or "") for a in d.json("history")), 60)
        wait_for("still on", lambda: states(d)["h2"] == "on", 20)
        assert not lab.asked
        paused = d.status()["logins_paused"]
        assert [p["account"].split("@")[1] for p in paused] == [d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"]], paused
        assert "PASSWORD REFUSED" in d.cli("status")
        checked = checks_of(d)
        of = {host: [c for c in checked if c["area"] == "controllers" and c["text"].startswith(f"{host} ipmi: ")] for host in HOSTS}
        assert [c["verdict"] for c in of["esx2"]] == ["problem"] and "not asked, so that the account is not locked" in of["esx2"][0]["text"], of
        said = instant(re.search(r"tries again at (\S+Z)", of["esx2"][0]["text"])[1])
        next_tries = [instant(p["next_try"]) for p in paused + d.status()["logins_paused"]]  # before the check and after: a try may have come
        assert any(abs(said - t).total_seconds() <= 1 for t in next_tries), of  # what is left is rounded up to whole seconds
        assert "reload the service" in of["esx2"][0]["advice"], of
        assert "login accepted" in of["esx0"][0]["text"], of
        files["esx2"].write_text(password)
        d.settings["power"]["hosts"].pop("esx0")
        d.settings["source"]["speed"] = 13
        d.write()
        reload(d, "power.hosts: 3 hosts -> 2 hosts, changed: esx0")
        log = d.log.read_text()
        assert "source.speed: 12 -> 13; takes effect at the next start" in log
        assert "1 of the changes is not in force yet" in log
        assert d.run("standby", "esx0").returncode != 0  # without waiting for a look at the hosts
        wait_for("esx0 has no way", lambda: "ipmi" not in d.cli("hosts").split("esx0")[1].split("esx1")[0], 30)
        d.cli("wake", "esx2", "--verify")
        wait_for("asked to wake", lambda: ("esx2", "power", 1) in lab.asked, 90)
        address = d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"]
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"] = "127.0.0.1:9"
        d.write()
        reload(d, "takes effect once the power changes under way have ended")
        assert d.status()["reload_waits"]["by"] and "is taken over once the power" in " ".join(d.cli("status").split())
        taken = "power.hosts: 2 hosts -> 2 hosts, changed: esx2; by"
        assert taken not in d.log.read_text()
        wait_for("the proof", lambda: states(d)["h2"] == "on" and quiet(d), 120)
        wait_for("the reload is taken over", lambda: taken in d.log.read_text(), 10)
        assert d.status()["reload_waits"] is None
        assert "the settings of ipmi have changed" in d.run("standby", "esx2").stderr
        assert "ipmi (proven)" not in d.cli("hosts").split("esx2")[1]
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"] = address
        d.write()
        reload(d, "power.hosts: 2 hosts -> 2 hosts, changed: esx2")
        d.cli("wake", "esx2", "--verify")
        wait_for("proven again", lambda: states(d)["h2"] == "standby", 120)
        wait_for("on again", lambda: states(d)["h2"] == "on" and quiet(d), 120)
        d.cli("standby", "esx2")
        wait_for("asleep", lambda: states(d)["h2"] == "standby", 120)
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["cipher_suite"] = 5  # as the methods see it, it is wrong
        d.write()
        reload(d, "not reloaded")
        d.cli("wake", "esx2")
        wait_for("awake", lambda: states(d)["h2"] == "on", 120)
        d.stop()


def test_reload_while_a_standby_waits():
    """A standby that is approved and waits for its host to be empty is cancelled in the reload that leaves no proof that it wakes."""
    with Lab() as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        d.cli("wake", "esx2", "--verify")
        wait_for("proven", lambda: "ipmi (proven)" in d.cli("hosts") and states(d)["h2"] == "on" and quiet(d), 120)
        d.cli("maintenance", "enter", "esx1")
        wait_for("one less", lambda: states(d)["h1"] == "maintenance", 60)
        d.cli("maintenance", "enter", "esx0")
        wait_for("the VM on esx2", lambda: d.placement()["v0"] == "h2", 60)
        d.write(vms=[{"name": "web", "never_move": "a dongle"}])
        reload(d, "vms: (none) -> ")
        down = sum(what == "shutdown" for _, what, _ in lab.asked)
        d.cli("maintenance", "exit", "esx0")
        wait_for("esx0 back", lambda: states(d)["h0"] == "on", 60)
        d.cli("standby", "esx2")
        assert [a["state"] for a in d.actions("approved") if a["action"] == "power_off"] == ["approved"]
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"] = "127.0.0.1:9"
        d.write()
        reload(d, "power.hosts: 3 hosts -> 3 hosts, changed: esx2")
        ended = next(a for a in d.json("history") if a["action"] == "power_off" and a["host"] == "h2")
        assert ended["state"] == "cancelled" and "the settings of ipmi have changed" in ended["why"], ended
        assert sum(what == "shutdown" for _, what, _ in lab.asked) == down
        d.stop()


def identity(d, host):
    return next(h["identity"] for h in d.json("hosts") if h["name"] == host)


def refused(d, host, command, *words):
    """The command is refused at once if the controllers have been read; else the standby that it begins is, in words that are in
    the log, the history and an event. They are a fault in either case."""
    said = d.run(*command)
    if said.returncode == 0:
        wait_for("an end", lambda: quiet(d) and d.json("history"), 60)
        failed = next(a for a in d.json("history") if a["action"] == "power_off")
        assert failed["state"] == "failed" and failed["host"] == host, failed
        texts = {"history": failed["why"], "log": d.log.read_text(), "events": json.dumps(d.json("events"))}
    else:
        texts = {"the answer": said.stderr}
    for where, text in texts.items():
        for word in words:
            assert word in text, (where, word, text)
    wait_for("a fault", lambda: any(f["code"] == "power_method" and all(w in f["text"] for w in words)
                                    for f in d.json("status")["faults"]), 30)


def test_swapped():
    """Two controllers whose addresses are swapped: no VM moves, no host is switched, and the sentence names both machines."""
    with Lab(swapped=("esx1", "esx2"), snapshot=crowded) as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        before = d.placement()
        for host in ("esx1", "esx2"):
            refused(d, f"h{HOSTS.index(host)}", ("wake", host, "--verify"), f"the controller of host {host}", "belongs to machine",
                    ipmi_sim.hardware_uuid("h1"), ipmi_sim.hardware_uuid("h2"), f"ballast confirm-controller {host}")
        assert d.placement() == before and not lab.asked, (d.placement(), lab.asked)
        assert set(states(d).values()) == {"on"}
        assert not [a for a in d.json("history") if a["action"] == "migrate" and a["started"]], d.json("history")
        assert "differs" in d.cli("hosts", "--wide") and "matches" in d.cli("hosts", "--wide")
        d.cli("wake", "esx0", "--verify")  # the third one is right
        wait_for("asked to wake", lambda: ("esx0", "power", 1) in lab.asked, 120)
        assert {n for n, _, _ in lab.asked} == {"esx0"}, lab.asked
        d.stop()


def test_swapped_redfish():
    """The same with Redfish services."""
    d = Daemon({"kind": "sim", "speed": 12}, **QUICK)
    folder = pathlib.Path(d.folder) / "hosts"
    file = d.folder / "cluster.json"
    file.write_text(json.dumps(crowded()))
    for what in ("power", "watts"):
        (folder / what).mkdir(parents=True)
    for i in range(len(HOSTS)):
        (folder / "power" / f"h{i}").write_text("1\n")
    with contextlib.ExitStack() as stack:
        bmcs = [stack.enter_context(redfish_service.RedfishService()) for _ in HOSTS]
        for i, bmc in enumerate(bmcs):
            bmc["1"].be(folder, f"h{i}")
        d.settings["source"] |= {"file": str(file), "folder": str(folder)}
        d.settings["power"] = {"defaults": {"methods": ["redfish"]}, "hosts": {
            host: {"redfish": {"url": bmc.url, "username": bmc.username, "password_file": str(bmc.password_file),
                               "ca_file": str(bmc.ca_file)}}
            for host, bmc in zip(HOSTS, (bmcs[0], bmcs[2], bmcs[1]))}}
        d.write()
        stack.enter_context(d)
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        before = d.placement()
        refused(d, "h1", ("wake", "esx1", "--verify"), "the controller of host esx1 (redfish at", "belongs to machine",
                redfish_service.hardware_uuid("h2"))
        assert d.placement() == before and not any(bmc.resets for bmc in bmcs)
        wait_for("read", lambda: identity(d, "esx0")["state"] == "matches", 60)
        d.stop()


def test_confirmed():
    """Controllers that report nothing to compare: a person confirms once; another controller at the address is not confirmed by
    that. What was confirmed outlives the service."""
    with Lab() as lab:
        d, c = lab.d, lab.controllers["esx2"]
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        c.stop()
        c.guid = "03000200040005000006000700080009"
        c.start()
        d.process.send_signal(signal.SIGHUP)
        refused(d, "h2", ("wake", "esx2", "--verify"), "the controller reports a placeholder as UUID",
                "ballast confirm-controller esx2")
        wait_for("read", lambda: identity(d, "esx2")["state"] == "unknown", 90)
        said = d.cli("confirm-controller", "esx2")
        assert "confirmed by" in said and "03000200-0400-0500-0006-000700080009" in said, said
        assert any("confirmed that the controllers of host esx2 are its own" in e["data"].get("text", "") for e in d.json("events"))
        d.kill()
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        wait_for("kept", lambda: identity(d, "esx2")["state"] == "confirmed" and identity(d, "esx2")["confirmed_by"], 60)
        assert d.request({"command": "confirm_controller", "host": "esx2"})["identity"]["state"] == "confirmed"
        assert "nothing to confirm" in d.cli("confirm-controller", "esx1")
        d.cli("wake", "esx2", "--verify")
        wait_for("asked to wake", lambda: ("esx2", "power", 1) in lab.asked, 120)
        wait_for("the proof", lambda: states(d)["h2"] == "on" and quiet(d), 120)
        downs = len([a for a in lab.asked if a[1] == "shutdown"])  # a slow controller may be asked several times
        c.stop()
        c.guid = ipmi_sim.hardware_uuid("h1").replace("-", "")  # now it is another machine's
        c.start()
        refused(d, "h2", ("standby", "esx2"), "belongs to machine " + ipmi_sim.hardware_uuid("h1"))
        assert states(d)["h2"] == "on" and len([a for a in lab.asked if a[1] == "shutdown"]) == downs, lab.asked
        d.stop()


def test_dead_before_the_evacuation():
    """A controller that does not answer is found before the first VM moves; each try and the end are said."""
    with Lab(snapshot=crowded, timeout_s=2) as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        before = d.placement()
        lab.controllers["esx1"].stop()
        refused(d, "h1", ("wake", "esx1", "--verify"), "host esx1: IPMI at", "nothing listens there")
        assert d.placement() == before and set(states(d).values()) == {"on"}
        lab.controllers["esx1"].start()
        d.cli("wake", "esx1", "--verify")
        wait_for("asked to wake", lambda: ("esx1", "power", 1) in lab.asked, 120)
        wait_for("the fault is over", lambda: not [f for f in d.json("status")["faults"] if f["code"] == "power_method"], 120)
        d.stop()


def test_left_the_inventory():
    """A host that leaves the inventory while it sleeps keeps its name, over a restart too, and is woken by it."""
    with ipmi_sim.Controllers(HOSTS) as controllers, Daemon({"kind": "file"}, **QUICK) as d:
        file = d.folder / "cluster.json"

        def shows(state):
            """What the manager says of esx2; None: nothing."""
            snapshot = cluster()
            if state:
                snapshot["hosts"][2]["state"] = state
            else:
                del snapshot["hosts"][2]
            new = file.with_suffix(".new")
            new.write_text(json.dumps(snapshot))
            new.replace(file)

        d.settings["source"]["file"] = str(file)
        d.settings["power"] = {
            "defaults": {"methods": ["ipmi"], "ipmi": {"workarounds": list(ipmi_sim.WORKAROUNDS)}},
            "hosts": {c.name: {"ipmi": {"address": c.address, "username": c.username, "password_file": str(c.password_file)}}
                      for c in controllers}}
        controllers["esx2"].put("power", 0)
        shows("standby")
        d.write()
        d.start()
        wait_for("asleep", lambda: [h["host_name"] for h in d.status()["asleep"]] == ["esx2"])
        shows(None)
        wait_for("the loss", lambda: d.json("events", "--kind", "host_lost"), 30)
        lost = d.json("events", "--kind", "host_lost")[0]
        assert lost["data"]["host_name"] == "esx2" and "can still be woken by its name" in lost["data"]["text"], lost
        d.stop()
        d.start()
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        known = d.status()["asleep"][0]
        assert known["host_name"] == "esx2" and known["in_inventory"] is False, known
        assert [h["in_inventory"] for h in d.json("hosts")] == [True, True, False]
        text = " ".join(d.cli("status").split())
        assert "asleep esx2" in text and "NOT IN THE INVENTORY" in text, text
        assert "standby, not in inventory" in d.cli("hosts"), d.cli("hosts")
        assert "it can be woken, and nothing else" in d.cli("maintenance", "enter", "esx2", code=1)
        d.cli("wake", "esx2")
        wait_for("it is switched on", controllers["esx2"].is_on, 30)
        assert not d.actions("done")  # before an inventory shows it
        shows("on")
        wait_for("awake", lambda: [a["host_name"] for a in d.actions("done")] == ["esx2"], 60)
        assert d.json("events", "--kind", "host_back")[0]["data"]["host_name"] == "esx2"
        assert d.status()["asleep"] == [] and all(h["in_inventory"] for h in d.json("hosts"))
        d.stop()


if __name__ == "__main__":
    main(test_proof_standby_and_wake, test_a_controller_that_lies, test_by_the_second_method, test_a_proof_is_of_one_method, test_on_already,
         test_reload, test_reload_while_a_standby_waits, test_swapped, test_swapped_redfish, test_confirmed, test_dead_before_the_evacuation, test_left_the_inventory)
