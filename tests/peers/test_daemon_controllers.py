#!/usr/bin/env python3
"""ballastd changes the power of simulated hosts through their own controllers (ipmi_sim), without the cluster's manager."""
import json
import pathlib
import re
import signal
import threading

import ipmi_sim
from daemon import Daemon, main, wait_for

QUICK = {"interval_s": 2, "migration_threshold": 3, "cool_down_s": 3, "automation": "full"}
HOSTS = [f"esx{i}" for i in range(3)]


def cluster():
    """Three hosts; a VM on the first. Nobody has seen any of them wake."""
    return {
        "format": "ballast-snapshot/1", "cluster": "pretend", "time": "2026-01-01T00:00:00Z",
        "hosts": [{"id": f"h{i}", "name": name, "state": "on", "cpu_mhz": 10000, "cores": 4, "mem_mb": 32768,
                   "boot_s": 120} for i, name in enumerate(HOSTS)],
        "vms": [{"id": "v0", "name": "web", "host": "h0", "state": "on", "vcpus": 2, "mem_mb": 2048,
                 "cpu": {"demand": 300}, "mem": {"demand": 500, "consumed": 1024}}],
    }


class Lab:
    """The simulated cluster's chassis are the controllers'."""

    def __init__(self, **power):
        self.asked = []
        self.ended = threading.Event()
        self.controllers = ipmi_sim.Controllers(HOSTS, hook=self._hook)
        self.d = Daemon({"kind": "sim", "speed": 12}, **QUICK)
        self.folder = pathlib.Path(self.d.folder) / "hosts"
        self.folder.mkdir()
        file = self.d.folder / "cluster.json"
        file.write_text(json.dumps(cluster()))
        self.d.settings["source"] |= {"file": str(file), "folder": str(self.folder)}
        self.d.settings["power"] = {
            "defaults": {"methods": ["ipmi"], "ipmi": {"console": True, "workarounds": list(ipmi_sim.WORKAROUNDS)}} | power,
            "hosts": {c.name: {"ipmi": {"address": c.address, "username": c.username,
                                        "password_file": str(c.password_file)}} for c in self.controllers}}
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


def reload(d, said, lines=1):
    """SIGHUP, and what the log says of it."""
    before = d.log.read_text().count(said)
    d.process.send_signal(signal.SIGHUP)
    wait_for(said, lambda: d.log.read_text().count(said) >= before + lines, 10)


def test_reload():
    """What stands below power: changes while the service runs, but not while hosts are being switched; what takes effect at the
    next start only is said."""
    with Lab() as lab:
        d = lab.d
        wait_for("hosts", lambda: d.run("hosts").returncode == 0)
        files = {name: pathlib.Path(h["ipmi"]["password_file"]) for name, h in d.settings["power"]["hosts"].items()}
        password = files["esx2"].read_text()
        files["esx2"].write_text("wrong\n")
        reload(d, "power.hosts: the contents of the file have changed")
        assert "wrong" not in d.log.read_text()
        d.cli("wake", "esx2", "--verify")
        wait_for("refused", lambda: any("password" in (a["why"] or "") for a in d.json("history")), 60)
        wait_for("still on", lambda: states(d)["h2"] == "on", 20)
        assert not lab.asked
        paused = d.status()["logins_paused"]
        assert [p["account"].split("@")[1] for p in paused] == [d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"]], paused
        assert "PASSWORD REFUSED" in d.cli("status")
        files["esx2"].write_text(password)
        d.settings["power"]["hosts"].pop("esx0")
        d.settings["source"]["speed"] = 13
        d.write()
        reload(d, "power.hosts: 3 hosts -> 2 hosts, changed: esx0")
        log = d.log.read_text()
        assert "source.speed: 12 -> 13; takes effect at the next start" in log
        assert "1 of the changes is not in force yet" in log
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
        d.cli("standby", "esx2")
        wait_for("it is not reached", lambda: any("nothing listens there" in (a["why"] or "")
                                                  for a in d.json("recommendations") + d.json("history")), 60)
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["address"] = address
        d.write()
        reload(d, "power.hosts: 2 hosts -> 2 hosts, changed: esx2")
        wait_for("asleep", lambda: states(d)["h2"] == "standby", 120)
        d.settings["power"]["hosts"]["esx2"]["ipmi"]["cipher_suite"] = 5  # as the methods see it, it is wrong
        d.write()
        reload(d, "not reloaded")
        d.cli("wake", "esx2")
        wait_for("awake", lambda: states(d)["h2"] == "on", 120)
        d.stop()


main(test_proof_standby_and_wake, test_a_controller_that_lies, test_reload)
