#!/usr/bin/env python3
"""ballastd from outside, on the simulated cluster: levels of automation, restarts, the socket, wrong input."""
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import time

from daemon import BALLAST, BALLASTD, SIM, Daemon, main, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
EAGER = {"interval_s": 5, "migration_threshold": 4, "cool_down_s": 60}


def test_manual_moves_nothing_before_apply():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        before = d.placement()
        first = d.actions("recommended")
        for a in first:  # in the form of a plan's
            assert a["group"] is None or a["group"] > 0, a
            assert set(a["cost"]) == set(a["benefit"]) == {"cpu_mhz_s", "mem_mb_s"}, a
        time.sleep(12)  # two passes and more
        assert d.placement() == before
        assert not d.actions("approved", "starting", "running", "verifying", "done")
        again = {a["id"]: (a["vm"], a["from"], a["reason"]) for a in d.actions("recommended")}
        for a in first:  # a number stands for the same VM and reason as long as it is recommended
            assert again.get(a["id"], (a["vm"], a["from"], a["reason"])) == (a["vm"], a["from"], a["reason"])
        chosen = d.decide("apply", lambda a: not a["depends_on"])
        assert chosen["vm_name"] in chosen["said"]
        wait_for("the move", lambda: any(a["id"] == chosen["id"] for a in d.actions("done")))
        assert d.placement()[chosen["vm"]] == chosen["to"]
        assert d.json("history")[0]["id"] == chosen["id"]
        # reject: it is not begun, and cannot be applied any more
        d.cli("run")
        if d.actions("recommended"):
            left = d.decide("reject", lambda a: True)
            assert d.placement()[left["vm"]] == left["from"]
            assert "rejected" in d.cli("apply", left["id"], code=1)
        assert "no recommendation 4711" in d.cli("apply", 4711, code=2)
        d.cli("apply", "x", code=2)
        d.stop()


def test_manual_tells_what_is_new_or_gone():
    with Daemon(SIM, automation="manual", **EAGER, cost_benefit=False) as d:
        path = d.folder / "spike.json"
        path.write_text(subprocess.run([BALLAST, "generate", "--hosts", "160", "--vms", "5000", "--shape", "spike"], check=True,
                                       capture_output=True, text=True).stdout)
        d.write(source={**SIM, "speed": 30, "file": str(path)})
        d.start()
        wait_for("passes", lambda: d.status()["pass"] and d.status()["pass"]["id"] >= 5)
        events, after = [], 0
        while more := d.request({"command": "events", "after": after, "limit": 1000})["events"]:
            events += more
            after = more[-1]["id"]
        done = [e for e in events if e["kind"] == "pass_done"]
        shown = {}  # the recommendations as the events tell them
        told = []
        for e in events:
            if e["kind"] == "action":
                told.append(a := e["data"]["action"])
                if a["state"] == "recommended":
                    shown[a["id"]] = a["to"]
                else:
                    del shown[a["id"]]
            elif e["kind"] == "pass_done":
                assert e["data"]["new"] == sum(a["state"] == "recommended" for a in told)
                assert e["data"]["gone"] == sum(a["state"] == "expired" for a in told)
                shown |= {r["id"]: r["to"] for r in e["data"]["redirected"]}
                if e is not done[0]:
                    assert len(shown) > 500 and len(told) < len(shown) / 2, (len(told), len(shown))
                told = []
        if d.status()["pass"]["id"] == len(done):
            assert shown == {a["id"]: a["to"] for a in d.actions("recommended")}
        d.stop()


def test_full_reaches_its_target():
    # nobody is short of anything on this cluster, so that evening it out is a matter of taste: cost_benefit would not
    with Daemon(SIM, automation="full", cost_benefit=False, **EAGER).start() as d:
        begun = wait_for("a pass", lambda: d.status()["pass"])
        assert begun["imbalance"] > begun["target"]
        said = []  # by the pretend hypervisor, of its migrations
        wait_for("balance", lambda: said.extend(a["percent"] for a in d.actions("running")) or
                 d.imbalance()[0] <= d.imbalance()[1] and not d.actions("approved", "starting", "running", "verifying"), 90)
        assert any(percent is not None and 0 < percent <= 100 for percent in said), said
        assert all(a["percent"] is None for a in d.actions("done"))
        moved = [a["vm"] for a in d.actions("done") if a["action"] == "migrate"]
        assert moved and len(moved) == len(set(moved)), moved
        assert not d.actions("failed")
        for a in d.actions("done"):
            assert a["approved_by"] == "engine" and a["task"]
        d.stop()


def test_pause_maintenance_and_reload():
    with Daemon(SIM, automation="full", **EAGER).start() as d:
        host = wait_for("hosts", lambda: d.run("hosts").returncode == 0 and d.json("hosts"))[1]["id"]
        assert "paused" in d.cli("pause")
        d.cli("maintenance", "enter", host)
        wait_for("what had begun to end", lambda: not d.actions("starting", "running", "verifying"))
        ended = {a["id"] for a in d.actions("done")}
        time.sleep(6)
        assert d.status()["frozen"] and {a["id"] for a in d.actions("starting", "running", "verifying", "done")} <= ended
        d.cli("resume")
        wait_for("maintenance", lambda: {h["id"]: h["state"] for h in d.json("hosts")}[host] == "maintenance", 90)
        assert host not in d.placement().values()
        d.cli("maintenance", "exit", host)
        wait_for("back", lambda: {h["id"]: h["state"] for h in d.json("hosts")}[host] == "on", 60)
        assert "no host" in d.cli("maintenance", "enter", "nowhere", code=2)
        # a reload takes what is right, and leaves what is wrong
        d.write(automation="manual")
        d.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: d.status()["automation"] == "manual", 10)
        d.write(automation="wild")
        d.process.send_signal(signal.SIGHUP)
        wait_for("the log", lambda: "not reloaded" in d.log.read_text(), 10)
        assert d.status()["automation"] == "manual"
        d.stop()


def test_who_did_it():
    """Each command of a person names the user: in history, in events, and after a restart."""
    me = f"(uid {os.geteuid()})"
    with Daemon(SIM, automation="manual", **EAGER | {"interval_s": 3600}).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        first, second = [a for a in d.actions("recommended") if not a["depends_on"]][:2]
        d.cli("reject", first["id"])
        d.cli("pause")
        d.cli("maintenance", "enter", second["from"])
        d.cli("maintenance", "exit", second["from"])
        d.write(automation="manual", migration_threshold=2, cool_down_s=90)
        d.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: d.status()["migration_threshold"] == 2, 10)
        d.kill()
        d.start()
        assert me in d.status()["frozen_by"] and d.status()["frozen_since"]
        assert me in next(line for line in d.cli("status").splitlines() if line.startswith("PAUSED"))
        d.cli("resume")
        assert d.status()["frozen_by"] is None
        ended = {a["id"]: a for a in d.json("history")}
        assert ended[first["id"]]["state"] == "rejected" and me in ended[first["id"]]["ended_by"]
        taken_back = next(a for a in ended.values() if a["action"] == "enter_maintenance")
        assert taken_back["state"] == "cancelled" and me in taken_back["ended_by"] and me in taken_back["approved_by"], taken_back
        text = " ".join(d.cli("history").split())
        assert "rejected by" in text and "put the host back into service" in text and me in text, text
        events = d.json("events", "--since", "2020-01-01")
        for kind in ("frozen", "thawed"):
            assert [me in e["data"]["by"] and me in e["data"]["text"] for e in events if e["kind"] == kind] == [True], kind
        changed = [e["data"] for e in events if e["kind"] == "configuration"]
        assert [c["text"].split(";")[0] for c in changed] == ["migration_threshold: 4 -> 2", "cool_down_s: 60 -> 90"], changed
        assert all(me in c["by"] and me in c["text"] for c in changed)
        d.stop()


def test_killed_and_back():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        rejected = d.decide("reject", lambda a: True)["id"]
        d.cli("pause")
        # a range names what is rejected already, and --for replaces how long that holds
        assert f"recommendation {rejected} is rejected already; " in d.cli("reject", "1-99", code=1)
        d.run("reject", "1-99", "--for", "ever")
        assert ": for ever VM " in next(a["why"] for a in d.actions("rejected") if a["id"] == rejected)
        highest = max(a["id"] for a in d.actions())
        d.kill()
        assert os.path.exists(d.socket)  # stale
        assert "cannot be reached" in d.cli("status", code=3)
        d.start()
        assert d.status()["frozen"]
        assert rejected in [a["id"] for a in d.actions("rejected")]
        d.cli("resume")
        d.cli("run")
        assert all(a["id"] > highest or a["id"] <= highest and a["created"] for a in d.actions())
        # the store and the socket are taken: a second one is refused, and the first one goes on
        second = subprocess.run([BALLASTD, "--config", str(d.config)], capture_output=True, text=True, timeout=60)
        assert second.returncode == 1, second
        assert second.stderr.strip()
        assert d.status()["cluster"] == "test"
        d.stop()
        assert not os.path.exists(d.socket)


def test_snapshot_replays():
    with Daemon(SIM, automation="manual", **EAGER | {"interval_s": 3600}).start() as d:  # only the passes that are asked for
        wait_for("a pass", lambda: d.status()["pass"])
        d.cli("run")
        path = d.folder / "snapshot.json"
        path.write_text(d.cli("snapshot"))
        plan = subprocess.run([BALLAST, "plan", "--snapshot", str(path), "--config", str(d.config), "--format", "json"],
                              capture_output=True, text=True, timeout=60)
        assert plan.returncode == 0, plan.stderr
        replayed = {(r["vm"], r["to"]) for r in json.loads(plan.stdout)["recommendations"]}
        shown = {(a["vm"], a["to"]) for a in d.actions("recommended")}
        assert replayed == shown, (replayed, shown)
        for verb in ("status", "hosts", "vms", "pools", "recommendations", "history"):
            assert d.cli(verb).strip()
        d.stop()


def test_pools_are_divided():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        assert "settings" not in d.json("snapshot")  # a trial changes nothing, and says what it would
        d.write(automation="partial")
        d.process.send_signal(signal.SIGHUP)
        settings = wait_for("settings", lambda: d.json("snapshot").get("settings"))
        assert {s["host"] for s in settings} == {f"pretend-{i}" for i in range(1, 5)}
        for pool in d.json("snapshot")["pools"]:
            parts = [s["cpu"]["shares"] for s in settings if s["pool"] == pool["id"]]
            assert abs(sum(parts) - pool["cpu"]["shares"]) <= len(parts), (pool, parts)
        wait_for("the log", lambda: "settings of pools on 4 hosts were set" in d.log.read_text())
        # nothing more to do as long as nothing changes; and the snapshot says so to whoever plans with it
        d.cli("run")
        path = d.folder / "snapshot.json"
        path.write_text(json.dumps(d.json("snapshot")))
        plan = json.loads(subprocess.run([BALLAST, "plan", "--snapshot", path, "--format", "json"], check=True,
                                         capture_output=True, text=True).stdout)
        assert not plan["settings"], plan["settings"]
        assert d.log.read_text().count("settings of pools") == 1
        d.stop()


def answered(d):
    """Whether it had room for one more."""
    try:
        answer = d.request({"command": "status"})
    except OSError:
        return False
    return answer is not None and answer["ok"]


def test_pools_of_the_configuration():
    """Pools and settings of VMs come and go by SIGHUP; a wrong file changes nothing."""
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        def reload(done, **changes):
            d.write(**changes)
            d.process.send_signal(signal.SIGHUP)
            wait_for("the reload", lambda: done(d.status()["configuration"]), 20)

        wait_for("an inventory", lambda: d.status()["vms"] > 0)
        was = wait_for("a pass", lambda: d.status()["pass"] and json.loads(d.cli("snapshot")))
        assert not d.status()["configuration"]
        reload(lambda said: len(said) == 3, pools={"batch": {"vms": "*1", "cpu": {"limit": 3000}}, "test": {"cpu": {"shares": 1}}},
               vms=[{"name": "*2", "priority": "high"}])
        said = d.status()["configuration"]
        assert said[0] == "pools.batch is no pool of the source, so no hypervisor enforces it", said
        assert said[1].startswith("pools.test differs from the pool of the source") and said[2].startswith("vms.0 sets"), said
        assert said[0] in " ".join(d.cli("status").split()), d.cli("status")
        is_ = wait_for("a pass", lambda: (s := json.loads(d.cli("snapshot"))) and len(s["pools"]) > len(was["pools"]) and s, 20)
        [batch] = [p for p in is_["pools"] if p.get("origin") == "configuration"]
        assert batch["name"] == "batch" and batch["cpu"]["limit"] == 3000, batch
        held = [v for v in is_["vms"] if v["pool"] == batch["id"]]
        source = {v["id"]: v for v in was["vms"]}
        assert held and all(v["name"].endswith("1") and v["source"]["pool"] == source[v["id"]]["pool"] for v in held), held
        # refused, and the old one stays
        d.write(pools={"batch": {"vms": "*1", "cpu": {"limit": 1, "reservation": 2}}})
        d.process.send_signal(signal.SIGHUP)
        wait_for("the log", lambda: "not reloaded" in d.log.read_text(), 10)
        assert "pools.batch.cpu.limit is 1, expected at least the reservation, 2" in d.log.read_text()
        assert d.status()["configuration"] == said
        reload(lambda said: not said, pools={}, vms=[])
        d.stop()


def test_pipelines_of_the_configuration():
    """A filter keeps VMs from a host that they would be moved to; explain names it, in the service and from the stored snapshot."""
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        def reload(**changes):
            d.write(**changes)
            told = d.run("config", "diff").stdout
            d.process.send_signal(signal.SIGHUP)
            return told

        def targets():
            return {a["to"] for a in d.actions("recommended") if a["action"] == "migrate"}

        def pipelines():
            return [p["name"] for p in json.loads(d.cli("snapshot")).get("pipelines", [])]

        to = min(wait_for("recommendations", targets))
        stage = {"name": "generation", "filter": [">=", "$host.attributes.generation", "$vm.flavor.generation"]}
        told = reload(pipelines={"keep": {"vms": "*", "stages": [stage]}}, vms=[{"name": "*", "flavor": {"generation": 2}}],
                      hosts=[{"name": "*", "attributes": {"generation": 2}}, {"name": to, "attributes": {"generation": 1}}])
        assert "pipelines" in told and "$host.attributes.generation" in told, told
        wait_for("the pipeline", lambda: pipelines() == ["keep"])
        wait_for("no move to that host", lambda: to not in targets())
        vm = next(vm for vm, host in d.placement().items() if host != to)
        [refused] = d.json("explain", "--vm", vm, "--host", to)["candidates"]
        assert (refused["check"], refused["subjects"]["stage"]) == ("fit_filter", "keep/generation"), refused
        assert "$host.attributes.generation is 1, $vm.flavor.generation is 2" in refused["text"], refused
        path = d.folder / "snapshot.json"
        path.write_text(d.cli("snapshot"))
        assert 'The filter "keep/generation" refuses' in " ".join(subprocess.run(
            [BALLAST, "explain", "--vm", vm, "--snapshot", path], check=True, capture_output=True, text=True).stdout.split())
        # refused with its line, and the old one stays
        reload(pipelines={"keep": {"vms": "*", "stages": [{"name": "s", "filter": [">", "$host.corse", 4]}]}})
        wait_for("the log", lambda: "not reloaded" in d.log.read_text(), 10)
        assert '"$host.corse", expected a variable' in d.log.read_text()
        assert pipelines() == ["keep"]
        reload(pipelines={})
        wait_for("moves to that host again", lambda: to in targets())
        d.stop()


def test_migrates_to_the_best_host():
    """`ballast migrate VM --best`: the service ranks the hosts by the VM's pipeline, and with --apply moves the VM."""
    with Daemon(SIM, automation="manual", **EAGER) as d:
        to = "pretend-3"
        stage = {"name": "generation", "filter": [">=", "$host.attributes.generation", 2]}
        d.write(pipelines={"keep": {"vms": "app-04", "stages": [stage]}, "nowhere": {"vms": "app-02", "stages": [{"name": "none", "filter": False}]}},
                hosts=[{"name": "*", "attributes": {"generation": 1}}, {"name": to, "attributes": {"generation": 2}}])
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        before = d.placement()
        vm = next(v["id"] for v in d.json("vms") if v["name"] == "app-04")
        text = d.cli("migrate", "app-04", "--best")
        [told] = d.json("migrate", "app-04", "--best")["recommendations"]
        assert f"is best at {to}" in text and (told["action"], told["reason"], told["vm"]) == ("migrate", "asked", vm), (text, told)
        said = d.run("migrate", "app-02", "--best", "--apply")
        assert said.returncode == 1 and "no host may run VM app-02" in said.stderr and "nowhere/none" in said.stderr, said
        assert "--apply has no meaning with --set" in d.run("migrate", "app-04", "--best", "--apply", "--set", "cool_down_s=1").stderr
        assert d.request({"command": "migrate", "vm": "nothing"})["code"] == 2
        assert d.placement() == before and not d.actions("approved", "starting", "running", "verifying", "done")
        [begun] = d.json("migrate", "app-04", "--best", "--apply")
        assert begun["approved_by"] and begun["reason"] == "asked", begun
        wait_for("the move", lambda: any(a["id"] == begun["id"] for a in d.actions("done")))
        assert d.placement()[vm] == begun["to"]
        assert "is best where it runs" in d.cli("migrate", "app-04", "--best", "--apply")
        kept = {p["trigger"]: p["replayable"] for p in d.json("passes")}
        assert kept["migrate"] is False, kept
        d.stop()


def test_keys_of_flexiant_last():
    """A server's keys are those of its start, and it keeps copies of its node's sticky keys, over a restart of the service."""
    with Daemon(SIM, automation="manual", **EAGER) as d:
        path = d.folder / "cloud.json"
        cloud = subprocess.run([BALLAST, "fit", "compile", ROOT / "conf/examples/flexiant.json"], check=True, capture_output=True, text=True)
        path.write_text(cloud.stdout)
        d.write(source={**SIM, "file": str(path)}, vms=[{"name": "db-1", "hints": {"key.TENANT": 7}}])
        d.start()

        def hints(name="db-1"):
            return next(v for v in json.loads(d.cli("snapshot"))["vms"] if v["id"] == name).get("hints", {})

        wait_for("a pass", lambda: d.status()["pass"])
        assert hints() == {"key.TENANT": 7, "key._SSD": 1}, hints()
        [begun] = d.json("place", "db-1", "--apply")
        wait_for("the start", lambda: any(a["id"] == begun["id"] for a in d.actions("done")))
        d.write(vms=[{"name": "db-1", "hints": {"key.TENANT": 9}}])
        d.process.send_signal(signal.SIGHUP)
        site = {"node-1": 1, "node-2": 1, "node-3": 2}[begun["to"]]
        expected = {"key.TENANT": 7, "key._SSD": 1, "copy.SITE": site, "sticky.SITE": 25}
        wait_for("the copy", lambda: d.cli("run") and hints() == expected)
        d.kill()
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        d.cli("run")  # the simulated cluster has begun anew, so the server is off: its keys are the present ones, the copies stay
        assert hints() == {**expected, "key.TENANT": 9}, hints()
        d.stop()


def test_socket_bears_anything():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        mode = os.stat(d.socket).st_mode
        assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o660, oct(mode)
        assert stat.S_IMODE(os.stat(os.path.dirname(d.socket)).st_mode) == 0o755
        for line in (b"\n", b"{}\n", b"[]\n", b"nonsense\n", b'{"command": "status"\n', b'{"command": 1}\n',
                     b'{"command": "nothing"}\n', b'{"command": "apply"}\n', b'{"command": "apply", "ids": [-1]}\n',
                     b'{"command": "status", "x": 1}\n', b"\xff\xfe\x00\n", b"[" * 60000 + b"\n"):
            answer = d.send(line)
            assert answer["ok"] is False and answer["code"] == 2 and answer["error"], (line[:40], answer)
        with d.connect() as s:  # too long a line is answered and dropped
            s.sendall(b"x" * 70000)
            answer = d.receive(s)
            assert answer["ok"] is False and "too long" in answer["error"]
        with d.connect() as s:  # several on one connection, in one go, one cut in two
            s.sendall(b'{"command": "status"}\n{"command": "hosts"}\n{"comm')
            s.sendall(b'and": "vms"}\n')
            lines = s.makefile()
            assert "status" in json.loads(lines.readline())
            assert "hosts" in json.loads(lines.readline())
            assert "vms" in json.loads(lines.readline())
        with d.connect() as s:  # one that hangs up while its pass is being made
            s.sendall(b'{"command": "run"}\n')
        crowd = [d.connect() for _ in range(80)]
        time.sleep(0.5)
        for s in crowd:
            s.close()
        wait_for("room again", lambda: answered(d), 10)
        with d.connect() as s:  # one that asks and does not listen
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            s.settimeout(2)
            try:
                for _ in range(2000):
                    s.sendall(b'{"command": "snapshot"}\n' * 20)
            except (socket.timeout, OSError):
                pass
            assert d.request({"command": "status"})["ok"]  # the others are served meanwhile
        d.stop()


def test_wrong_configuration():
    with Daemon(SIM, automation="manual", **EAGER) as d:
        good = d.config.read_text()
        for line, expected in (("automation: wild", "automation"), ("intervall_s: 7", "intervall_s"),
                               ("interval_s: -1", "interval_s"), ("source: 5", "source")):
            key = line.split(":")[0]
            text = "\n".join(x for x in good.splitlines() if not x.startswith(f"{key}:")
                             and not (key == "source" and x.startswith("  ")))
            d.config.write_text(text + "\n" + line + "\n")
            done = subprocess.run([BALLASTD, "--config", str(d.config)], capture_output=True, text=True, timeout=60)
            number = len(text.splitlines()) + 1
            assert done.returncode == 2, done
            assert done.stderr.startswith(f"{d.config}:{number}: "), done.stderr
            assert expected in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
        assert subprocess.run([BALLASTD, "--config", "/nowhere"], capture_output=True, timeout=60).returncode == 2
        assert subprocess.run([BALLASTD, "--nonsense"], capture_output=True, timeout=60).returncode == 2
        assert subprocess.run([BALLASTD, "--help"], capture_output=True, timeout=60).returncode == 0
        d.config.write_text(good)
        done = subprocess.run([BALLASTD, "--config", str(d.config), "--check"], capture_output=True, timeout=60)
        assert done.returncode == 0, done
        password = d.folder / "password"  # longer than any that IPMI has: only the method itself knows
        password.write_text("x" * 21 + "\n")
        password.chmod(0o600)
        d.config.write_text(good + f'power: {{hosts: {{h: {{ipmi: {{address: bmc, username: u, password_file: "{password}"}}}}}}}}\n')
        for check in ((), ("--check",)):
            done = subprocess.run([BALLASTD, "--config", str(d.config), *check], capture_output=True, text=True, timeout=60)
            assert done.returncode == 2 - (not check) and "20 bytes" in done.stderr, done


def test_notifies_systemd():
    """READY, RELOADING, STOPPING and the watchdog, to a socket of our own."""
    with Daemon(SIM, automation="manual", **EAGER) as d:
        path = str(d.folder / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(path)
            s.settimeout(60)
            d.environment = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000", "INVOCATION_ID": "of a unit"}
            d.start()

            def until(word):
                while True:
                    text = s.recv(4096).decode()
                    if word in text:
                        return text

            until("READY=1")
            until("WATCHDOG=1")
            d.write(migration_threshold=2)
            d.process.send_signal(signal.SIGHUP)
            assert "MONOTONIC_USEC=" in until("RELOADING=1")
            until("READY=1")
            # systemd sends the signal as the user of the service
            changed = wait_for("the event", lambda: [e["data"]["by"] for e in d.json("events", "--kind", "configuration")])
            assert changed == ["systemctl reload"], changed
            d.process.send_signal(signal.SIGTERM)
            until("STOPPING=1")
            assert d.process.wait(timeout=60) == 0
            d.process = None


if __name__ == "__main__":
    main(test_manual_moves_nothing_before_apply, test_manual_tells_what_is_new_or_gone, test_full_reaches_its_target,
         test_pause_maintenance_and_reload, test_who_did_it, test_killed_and_back, test_snapshot_replays, test_pools_are_divided,
         test_pools_of_the_configuration, test_pipelines_of_the_configuration,
         test_migrates_to_the_best_host, test_keys_of_flexiant_last, test_socket_bears_anything,
         test_wrong_configuration, test_notifies_systemd)
