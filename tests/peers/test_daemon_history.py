#!/usr/bin/env python3
"""What a person asks the next morning: history and events by time, VM, host and state, on the simulated cluster."""
import collections
import datetime
import json
import os
import pathlib
import sqlite3
import subprocess
import time

from daemon import BALLAST, SIM, Daemon, main, schemas, wait_for

EAGER = {"interval_s": 5, "migration_threshold": 4, "cool_down_s": 60, "cost_benefit": False}
ENDED = ("done", "failed", "cancelled", "rejected")


def hosts_of(action):
    return {action["from"], action["to"], action["host"]} - {None}


def balanced(d):
    """A host is emptied and the rest is balanced; then nothing moves any more."""
    host = wait_for("hosts", lambda: d.run("hosts").returncode == 0 and d.json("hosts"))[1]
    d.cli("maintenance", "enter", host["name"])
    wait_for("maintenance", lambda: {h["id"]: h["state"] for h in d.json("hosts")}[host["id"]] == "maintenance", 90)
    d.cli("pause")
    wait_for("rest", lambda: not d.actions("starting", "running", "verifying"), 60)
    return host


def all_events(d, *filters):
    return d.json("events", "--since", "2020-01-01", *filters)


def test_history_and_events_are_filtered():
    with Daemon(SIM, automation="full", **EAGER).start() as d:
        host = balanced(d)
        for restarted in (False, True):
            whole = d.json("history", "--limit", "1000")
            moves = [a for a in whole if a["action"] == "migrate"]
            assert len(moves) > 3 and len(whole) < 1000, whole
            vm = moves[0]
            for word in (vm["vm"], vm["vm_name"]):
                assert d.json("history", "--vm", word) == [a for a in whole if a["vm"] == vm["vm"]]
            touched = [a for a in whole if host["id"] in hosts_of(a)]
            assert {a["action"] for a in touched} == {"migrate", "enter_maintenance"} and len(touched) < len(whole)
            for word in (host["id"], host["name"]):
                assert d.json("history", "--host", word) == touched
            for state in (*ENDED, "expired"):
                found = d.json("history", "--state", state, "--limit", "1000")
                assert all(a["state"] == state for a in found)
                if state in ENDED:
                    assert found == [a for a in whole if a["state"] == state]
            both = d.json("history", "--vm", vm["vm"], "--host", vm["to"], "--state", "done", "--since", "1h")
            assert vm["id"] in [a["id"] for a in both], both
            cut = moves[len(moves) // 2]["ended"]
            assert d.json("history", "--since", cut) == [a for a in whole if a["ended"] >= cut]
            assert wait_for("a second without an end", lambda: "no action that has ended matches --since now" in d.cli("history", "--since", "now"), 10)
            # of many, the newest, and a word about the rest
            few = d.run("history", "--limit", "2", "--host", host["name"], "--format", "json")
            assert json.loads(few.stdout) == touched[:2]
            assert few.stderr == f"{len(touched) - 2} older actions are not shown (--limit, --vm, --host, --state)\n", few.stderr
            assert few.stderr in d.cli("history", "--limit", "2", "--host", host["name"])
            # a move is an event about its VM and both its hosts
            events = all_events(d)
            for a in moves:
                mine = [e["id"] for e in events if (e["data"].get("action") or {}).get("vm") == a["vm"]]
                assert mine and [e["id"] for e in all_events(d, "--vm", a["vm_name"])] == mine, a
            for word in {a["from"] for a in moves} | {a["to_name"] for a in moves}:
                found = all_events(d, "--host", word)
                assert found and all(word in json.dumps(e["data"]) for e in found), (word, found)
            ends = {e["data"]["action"]["id"] for e in all_events(d, "--host", host["id"], "--kind", "action") if e["type"] == "action.done"}
            assert ends == {a["id"] for a in touched if a["state"] == "done"}
            last = d.run("events", "--vm", vm["vm"], "--limit", "1", "--format", "json")
            assert len(json.loads(last.stdout)) == 1 and "earlier event" in last.stderr and "--limit, --since" in last.stderr, last
            assert last.stderr in d.cli("events", "--vm", vm["vm"], "--limit", "1")
            assert f"no event matches --vm {vm['vm']} --kind gap" in d.cli("events", "--vm", vm["vm"], "--kind", "gap")
            if not restarted:
                d.kill()
                d.start()
                wait_for("the inventory", lambda: d.run("hosts").returncode == 0)
        d.stop()


class Stored:
    """Rows for the store of a service that does not run."""

    def __init__(self, d):
        self.db = sqlite3.connect(d.folder / "state" / "ballast.db")
        self.n = 1000

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.db.commit()
        self.db.close()

    def put(self, table, row):
        self.db.execute(f"INSERT INTO {table} ({','.join(row)}) VALUES ({','.join('?' * len(row))})", list(row.values()))

    def action(self, **columns):
        self.n += 1
        self.put("actions", {"id": self.n, "uid": f"made-{self.n}", "pass": 1, "priority": 3, "reason": "balance_cpu", "depends_on": "",
                             "move_group": 0, "attempts": 1, "cancel_asked": 0, "created": 1, "seen": 1, "approved": 1, "started": 1} | columns)

    def fault(self, when, kind, code, host):
        self.put("events", {"time": when, "kind": kind, "type": kind, "severity": "warning", "host": host,
                            "data": json.dumps({"severity": "warning", "text": "a fault", "code": code, "vm": None, "vm_name": None, "host": host,
                                                "host_name": host})})

    def energy(self, hour, **figures):
        self.put("energy", {"time": hour, "host": "", "length_s": 3600, "until": hour + 3600, "span_s": 3600, "host_s": 14400, "unknown_s": 0,
                            "measured_s": 14400, "asleep_s": 3600, "used_wh": 1000, "all_on_wh": 1250, "wanted_mhz_s": 36e6,
                            "wanted_mb_s": 36e6, "unmet_mhz_s": 0, "unmet_mb_s": 0} | figures)


def loads(right, overlaps=0):
    """Columns of a move of which four loads were predicted; observed within 20 % or 1 % of capacity, or not."""
    predicted = {"predicted_from_cpu": .5, "predicted_from_mem": .02, "predicted_to_cpu": .5, "predicted_to_mem": .5}
    observed = {"observed_from_cpu": .59, "observed_from_mem": .0295, "observed_to_cpu": .41, "observed_to_mem": .5 if right else .61}
    return predicted | observed | {"predicted_at": 1, "observed_at": 2, "overlaps": overlaps}


def utc(t):
    return datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def fill_night(d, now):
    """Twelve hours, and a little before them."""
    begin = now - 12 * 3600
    hour = begin - begin % 3600
    with Stored(d) as s:
        move = {"kind": "migrate", "state": "done", "vm": "v", "from_host": "h1", "to_host": "h2", "ended": now - 7200, "duration_s": 10.0,
                "took_s": 11.0}
        for right, overlaps, n in ((True, 0, 7), (False, 0, 2), (True, 1, 1), (False, 1, 2)):
            for _ in range(n):
                s.action(**move | loads(right, overlaps))
        s.action(**move | loads(True) | {"took_s": 12.5})  # right, but longer than predicted
        s.action(**move | loads(True) | {"observed_at": 0})  # never observed
        s.action(**move | loads(True) | {"observed_at": 0, "ended": now - 60})  # not yet
        s.action(**move | loads(True) | {"ended": begin - 100})  # before the night
        for why in ("host 10.0.0.7 did not answer within 30 s", "disk full", "host 10.0.0.9 did not answer within 31 s"):
            s.action(**move | {"state": "failed", "why": why})
        s.action(**move | {"state": "cancelled"})
        s.action(**move | {"state": "expired"})
        power = {"kind": "power_off", "state": "done", "host": "h1", "started": now - 9000, "ended": now - 8950, "duration_s": 60}
        for _ in range(3):
            s.action(**power)
        for took in (200, 239, 400):  # 240 is a fifth more than expected
            s.action(**power | {"kind": "power_on", "duration_s": 200, "started": now - 5000, "ended": now - 5000 + took, "host": f"h{took}"})
        s.action(**power | {"kind": "power_on", "state": "failed", "why": "https://10.0.0.8/redfish/v1: the controller refused the login", "host": "h9"})
        s.action(**power | {"kind": "enter_maintenance"})
        for i in range(-1, 11):  # the hour that began before the night is counted whole; the one before it is not
            s.energy(hour + i * 3600, unmet_mhz_s=7.2e6 if i == 8 else 3.6e6 if i in (-1, 0) else 0)
        for when, kind, code, host in ((begin - 50, "fault", "vsan", "h1"), (begin + 50, "fault", "vsan", "h1"),  # said anew by a restart
                                       (begin + 60, "fault", "avoid", "h1"), (begin + 70, "fault_cleared", "avoid", "h1"),
                                       (begin + 80, "fault", "avoid", "h1"), (begin + 80, "fault", "avoid", "h2"),
                                       (begin - 90, "fault", "quarantine", "h3"), (begin - 80, "fault_cleared", "quarantine", "h3")):
            s.fault(when, kind, code, host)
    return hour


def check_night(night, now, hour, stands):
    moves, down, wakes = night["moves"], night["standby"], night["wakes"]
    assert (moves["done"], moves["failed"], moves["cancelled"], moves["rejected"]) == (15, 3, 1, 0), moves
    assert moves["reasons"] == [{"n": 2, "text": "host 10.0.0.9 did not answer within 31 s"}, {"n": 1, "text": "disk full"}], moves
    assert night["predictions"] == {"alone": {"observed": 10, "as_predicted": 8, "timed": 10, "timed_as_predicted": 9},
                                    "overlapping": {"observed": 3, "as_predicted": 1, "timed": 3, "timed_as_predicted": 3},
                                    "waiting": 1, "unobserved": 1}, night["predictions"]
    assert (down["done"], down["failed"], wakes["done"], wakes["failed"], wakes["late"]) == (3, 0, 3, 1, 1), (down, wakes)
    assert (wakes["slowest_host"], wakes["slowest_s"], wakes["slowest_expected_s"]) == ("h400", 400, 200), wakes
    energy, cpu = night["energy"], night["lacking"]["cpu"]
    assert abs(energy["used_kwh"] - 11) < 0.1 and abs(energy["saved_kwh"] - 2.75) < 0.1, energy  # and a little of this test
    assert energy["from"] == utc(hour), energy
    assert cpu["worst"] == utc(hour + 8 * 3600) and cpu["worst_mhz"] == 2000 and abs(cpu["unmet_mhz_s"] - 10.8e6) < 1e5, cpu
    assert night["lacking"]["mem"]["worst"] is None, night["lacking"]
    # 11 whole hours are stored; the night ends within the 13th. A shorter gap the service might have taken for a restart of its own.
    assert abs(night["unread_s"] - (now - (hour + 11 * 3600))) < 60, night["unread_s"]
    faults = {c["code"]: (c["came"], c["gone"]) for c in night["faults"]["codes"]}
    assert faults == {"avoid": (2, 2)} | {code: (n, 0) for code, n in stands.items()}, night["faults"]


SAID = ("moves        15 done, 1 cancelled, 3 failed, 2 of them: host 10.0.0.9 did not\n             answer within 31 s\n",
        "predictions  80 % right of 10 moves, 33 % of 3 overlapping moves; 1 to come\n",
        "standby      3 hosts put to standby, none failed\n",
        "wakes        3 hosts woken, 1 late (h400: 7 min, not 3 min), 1 failed: the\n             controller refused the login\n",
        "other        1 host into maintenance\n", "(20 %)", "CPU shortage 3.0 GHz h, ", "; most: 2.0 GHz in the hour",
        "mem shortage none: VMs got what they wanted\n")


def test_a_night_in_ten_lines():
    apart = {"all-apart": {"kind": "anti-affinity", "vms": "*"}}  # 40 VMs on 4 hosts: faults that stand
    with Daemon(SIM, automation="manual", **EAGER | {"interval_s": 3600}, rules=apart).start() as d:
        stands = collections.Counter(f["code"] for f in wait_for("faults", lambda: d.status()["faults"]))
        d.stop()
        now = int(time.time())
        hour = fill_night(d, now)
        for again in (False, True):
            d.start()
            wait_for("a pass", lambda: d.status()["pass"])
            night = d.json("status", "--since", "12h")
            check_night(night, now, hour, stands)
            n = sum(stands.values())
            assert night["faults"]["standing"] == n
            text = d.cli("status", "--since", "12h")
            lines = text.splitlines()
            assert sum(line[0] != " " for line in lines) == 10 and max(map(len, lines)) <= 80, text
            for part in (*SAID, f"faults       {n + 2} came, 2 of them gone, {n} now; "):
                assert part in text, (part, text)
            d.stop() if again else d.kill()


def test_the_first_minutes():
    """Of a service that has just started: what nothing was read of is no longer than what is asked for."""
    with Daemon({**SIM, "speed": 300}, automation="manual", **EAGER).start() as d:
        told = wait_for("an account", lambda: (t := d.json("status", "--since", "20s"))["energy"]["from"] and t)
        assert told["unread_s"] <= 21, told
        d.stop()


def test_followed_by_vm():
    """A client that follows one VM gets its events and no others."""
    with Daemon(SIM, automation="manual", **EAGER | {"interval_s": 3600}).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        first, second = [a for a in d.actions("recommended") if not a["depends_on"]][:2]
        with d.connect() as s:
            s.sendall(json.dumps({"command": "events", "follow": True, "vm": first["vm_name"], "limit": 1}).encode() + b"\n")
            assert [e["data"]["action"]["vm"] for e in d.receive(s)["events"]] == [first["vm"]]
            d.cli("reject", second["id"])
            d.cli("reject", first["id"])
            got = d.receive(s)["events"]
            assert [(e["type"], e["data"]["action"]["id"]) for e in got] == [("action.rejected", first["id"])], got
        d.stop()


def test_of_a_vm_that_is_gone():
    """Its events and actions are found by its id, and by the name that it had."""
    with Daemon(SIM, automation="manual", **EAGER | {"interval_s": 3600}).start() as d:
        wait_for("recommendations", lambda: d.actions("recommended"))
        chosen = next(a for a in d.actions("recommended") if not a["depends_on"])
        d.cli("reject", chosen["id"])
        snapshot = json.loads(d.cli("snapshot"))
        snapshot["vms"] = [v for v in snapshot["vms"] if v["id"] != chosen["vm"]]
        for rule in snapshot.get("rules", []):
            rule["vms"] = [v for v in rule.get("vms", []) if v != chosen["vm"]]
        path = d.folder / "without.json"
        path.write_text(json.dumps(snapshot))
        d.stop()
        d.write(source={**SIM, "file": str(path)})
        d.start()
        wait_for("the inventory", lambda: d.run("vms").returncode == 0)
        assert chosen["vm"] not in d.placement()
        for word in (chosen["vm"], chosen["vm_name"]):
            assert [a["id"] for a in d.json("history", "--vm", word)] == [chosen["id"]]
            assert all_events(d, "--vm", word)
        d.stop()


def test_wrong_filters():
    with Daemon(SIM, automation="manual", **EAGER).start() as d:
        name = wait_for("hosts", lambda: d.run("hosts").returncode == 0 and d.json("hosts"))[0]["name"]
        for verb in ("history", "events", "status"):
            assert '"yesterdayy" is wrong, expected a time' in d.cli(verb, "--since", "yesterdayy", code=2)
        assert '--since: expected a time in the past' in d.cli("status", "--since", "2100-01-01", code=2)
        assert "period" in d.cli("status", "--since", "1970-01-02")
        wait_for("recommendations", lambda: d.actions("recommended"))
        d.cli("pause")
        all_ = d.json("recommendations")
        for vm, host in ((all_[0]["vm"], None), (None, all_[0]["from"]), (all_[0]["vm"], all_[0]["to"])):
            few = d.json("recommendations", *(("--vm", vm) if vm else ()), *(("--host", host) if host else ()))
            expected = [a["id"] for a in all_ if vm in (None, a["vm"]) and host in (None, a["from"], a["to"], a["host"])]
            assert [a["id"] for a in few] == expected and expected, (vm, host, few)
        for verb in ("history", "events", "recommendations"):
            assert f'no host has the id or name "{name}x", did you mean "{name}"?' in d.cli(verb, "--host", f"{name}x", code=2)
            assert 'no VM has the id or name "nowhere"' in d.cli(verb, "--vm", "nowhere", code=2)
            assert "--vm" in d.cli(verb, "--vm", "", code=2) or '"vm"' in d.cli(verb, "--vm", "", code=2)
        assert '"running" is not a state of an action that has ended, expected done' in d.cli("history", "--state", "running", code=2)
        assert '"nope" is no kind of event' in d.cli("events", "--kind", "nope", code=2)
        assert "--state is not for --energy" in d.cli("history", "--energy", "--state", "done", code=2)
        assert "--days is for --energy" in d.cli("history", "--days", "2", code=2)
        future = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)).strftime("%Y-%m-%d")
        assert d.json("history", "--since", future) == []
        d.stop()


def test_series_of_one():
    """`ballast vms VM`, `hosts HOST`, `pools POOL`: what it wanted and got, of VMs whose demand never changes."""
    vms = [{"id": f"vm-{n}", "name": name, "host": "h1", "state": "on", "vcpus": 2, "mem_mb": 4096}
           for n, name in enumerate(("web", "twin", "twin", "idle"), 1)]
    hosts = [{"id": f"h{n}", "name": f"h{n}", "state": "on", "cpu_mhz": 20000, "cores": 8, "mem_mb": 65536} for n in (1, 2)]
    with Daemon(SIM, automation="manual", interval_s=5) as d:
        (d.folder / "cluster.json").write_text(json.dumps({"format": "ballast-snapshot/1", "cluster": "lab", "time": "2026-01-01T00:00:00Z",
                                                           "hosts": hosts, "vms": [vms[0] | {"pool": "p1"}, *vms[1:]],
                                                           "pools": [{"id": "p1", "name": "prod"}]}))
        path = d.folder / "scenario.yaml"
        path.write_text("duration_s: 86400\nsnapshot: cluster.json\nvms:\n" + "".join(
            f"  - {{match: vm-{n}, workload: {{cpu: {cpu}, mem: 2048}}}}\n" for n, cpu in enumerate((1500, 300, 600, 0), 1)))
        d.write(source={**SIM, "scenario": str(path)})
        d.start()
        wait_for("looks", lambda: d.request({"command": "series", "vm": "vm-1"}).get("series", {}).get("points"))

        def rows(name, verb="vms"):
            lines = d.cli(verb, name).splitlines()
            return {(line[:9], line.split()[2]): line.split()[4:] for line in lines if line.startswith("last ")}, lines[-2:]

        for vm, demand in (("web", "1500"), ("vm-1", "1500"), ("vm-3", "600"), ("idle", "0")):
            table, verdict = rows(vm)
            for period in ("last hour", "last day "):
                cpu, mem = table[period, "CPU"], table[period, "mem"]
                assert cpu == [demand, demand, demand, demand, "100", "100"], (vm, cpu)
                assert mem == ["2560", "2560", "2560", "4096", "100", "100"], (vm, mem)  # of 2,048 MiB idle, a quarter counts
            assert "got all CPU that it wanted and was entitled to." in verdict[0], verdict
        for verb, name, demand in (("hosts", "h1", "2400"), ("pools", "prod", "1500"), ("pools", "p1", "1500")):
            table, verdict = rows(name, verb)
            assert table["last hour", "CPU"] == [demand, demand, demand, demand, "100", "100"], (name, table)
            of = "prod" if verb == "pools" else "h1"
            assert f"The VMs of {of} got all CPU that they wanted and were entitled to." in verdict[0], verdict
            assert d.json(verb, name)["kind"] == verb[:-1]
        assert 'no host has the id or name "nowhere"' in d.cli("hosts", "nowhere", code=2)
        assert 'no pool has the id or name "nowhere"' in d.cli("pools", "nowhere", code=2)
        assert "twin" in d.cli("vms", "twin", code=2), "two VMs of this name"
        assert 'no VM has the id or name "nowhere"' in d.cli("vms", "nowhere", code=2)
        series = d.json("vms", "web")
        known = [x for x in series["figures"]["cpu_demand"] if x is not None]
        assert series["id"] == "vm-1" and series["name"] == "web" and series["step_s"] == 60 and set(known) == {1500}, series
        assert series["looks_since"] and not series["means_since"] and len(series["figures"]["cpu_demand"]) == series["points"]
        d.stop()


def test_scores_of_vms():
    """What each VM got of what was due to it, at the newest look: as the series keeps it, and counted with the cluster."""
    vms = [{"id": f"vm-{n}", "name": f"web{n}", "host": host, "state": "on", "vcpus": 8, "mem_mb": 4096} for n, host in enumerate(("h1", "h1", "h1", "h2"), 1)]
    hosts = [{"id": f"h{n}", "name": f"h{n}", "state": "on", "cpu_mhz": 20000, "cores": 8, "mem_mb": 65536} for n in (1, 2)]
    with Daemon(SIM, automation="manual", interval_s=5) as d:
        (d.folder / "cluster.json").write_text(json.dumps({"format": "ballast-snapshot/1", "cluster": "lab", "time": "2026-01-01T00:00:00Z",
                                                           "hosts": hosts, "vms": vms, "pools": []}))
        path = d.folder / "scenario.yaml"
        path.write_text("duration_s: 86400\nsnapshot: cluster.json\nvms:\n" + "".join(
            f"  - {{match: vm-{n}, workload: {{cpu: {cpu}, mem: 2048}}}}\n" for n, cpu in enumerate((10000, 10000, 10000, 1000), 1)))
        d.write(source={**SIM, "scenario": str(path)})
        d.start()

        def newest(**of):
            is_ = d.request({"command": "series", **of}).get("series", {"figures": {}})
            return {f: next((x for x in reversed(values) if x is not None), None) for f, values in is_["figures"].items()}

        wait_for("looks", lambda: newest(vm="vm-1").get("cpu_score"))
        is_ = {v["id"]: v for v in d.request({"command": "vms"})["vms"]}
        for vm in ("vm-1", "vm-2", "vm-3"):  # the host has two thirds of what its VMs ask for, and another host has the rest
            cpu = is_[vm]["cpu"]
            assert 60 < cpu["score"] < 70 and abs(cpu["delivered"] - cpu["entitlement"] * cpu["score"] / 100) < 1 and is_[vm]["mem"]["score"] == 100, is_[vm]
            assert abs(newest(vm=vm)["cpu_score"] - cpu["score"]) < 0.2 and abs(newest(vm=vm)["cpu_delivered"] - cpu["delivered"]) < 50, newest(vm=vm)
        assert is_["vm-4"]["cpu"]["score"] == 100 and abs(is_["vm-4"]["cpu"]["delivered"] - 1000) < 1, is_["vm-4"]
        counts = {f: v for f, v in newest().items() if f.startswith("vms_")}
        assert counts == {"vms_from_99": 1, "vms_from_95": 0, "vms_from_80": 0, "vms_below_80": 3, "vms_unknown": 0}, counts
        table = d.cli("vms").splitlines()
        at = table[0].index("SCORE %")
        assert [line[at:at + 7].strip() for line in table[1:5]] == ["67", "67", "67", "100"], table
        d.stop()


def test_backtest():
    """What was recorded, once more with other settings: from the service's store while it runs, and from a copy."""
    steady = SIM | {"speed": 1}  # the simulated world of a backtest is not faster than the clock
    with Daemon(steady, automation="full", **EAGER).start() as d:
        wait_for("a move", lambda: [a for a in d.json("history") if a["action"] == "migrate" and a["state"] == "done"], 120)
        began = time.monotonic()  # some time with this load, so that the simulated moves end, too
        wait_for("two minutes", lambda: time.monotonic() > began + 120, 130)
        config = ("--config", d.config, "--no-progress")

        def backtest(*arguments, code=0):
            done = subprocess.run([BALLAST, "backtest", *map(str, arguments)], capture_output=True, text=True, timeout=300, check=False)
            assert done.returncode == code, f"{arguments}: exit {done.returncode}, {done.stdout}{done.stderr}"
            return done.stdout if code == 0 else done.stderr

        said = json.loads(backtest(*config, "--since", "1h", "--set", "automation=manual", "--format", "json"))
        schemas.check("backtest", None, said)
        assert said["pass"] == 1 and said["agreement"]["migrations"]["really"] >= 1, said["agreement"]
        moves = said["as_set"]["metrics"]["migrations"], said["changed"]["metrics"]["migrations"]
        assert moves[0] >= 1 and moves[1] == 0, (moves, said["agreement"], said["from"], said["until"])
        assert said["agreement"]["hosts_on_mean"]["really"] == said["agreement"]["hosts_on_mean"]["simulated"]
        assert any("learned of earlier" in note for note in said["not_repeated"])
        text = backtest(*config, "--set", "automation=manual")
        assert "REALLY" in text and "B: automation=manual" in text, text

        # a copy, without the service, kept as a scenario
        d.stop()
        copy, kept, page = d.folder / "copy.db", d.folder / "kept", d.folder / "page.html"
        subprocess.run([BALLAST, "backup", copy, "--config", d.config], check=True, capture_output=True, timeout=60)
        again = json.loads(backtest("--store", copy, "--no-progress", "--keep", kept, "--report", page, "--format", "json"))
        schemas.check("backtest", None, again)
        assert again["changed"] is None and again["agreement"]["migrations"]["really"] >= 1
        assert any("schedule" in note for note in again["not_repeated"]) and "<html" in page.read_text(encoding="utf-8")
        done = subprocess.run([BALLAST, "simulate", kept / "backtest.yaml", "--format", "json"], capture_output=True, text=True, timeout=300, check=True)
        assert json.loads(done.stdout)["metrics"]["migrations"] == again["as_set"]["metrics"]["migrations"]

        if os.getuid() == 0:  # as a user of the group ballast, who may ask the service but not read its files
            done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", BALLAST, "backtest", "--store", d.folder / "state"],
                                  capture_output=True, text=True, check=False)
            assert done.returncode == 1 and "Permission denied; the service's user and root may read it; else --store names a copy" in done.stderr, done

        # mistakes
        assert "nowhere" in backtest("--store", "/nowhere", code=1)
        assert '--set: "x" has no =' in backtest(*config, "--set", "x", code=2)
        assert "automtion" in backtest(*config, "--set", "automtion=full", code=2)
        assert '"soon" is wrong, expected a time' in backtest(*config, "--since", "soon", code=2)
        assert "--config or --store" in backtest(code=2) or not pathlib.Path("/etc/ballast/ballast.yaml").exists()


if __name__ == "__main__":
    main(test_history_and_events_are_filtered, test_a_night_in_ten_lines, test_the_first_minutes, test_followed_by_vm, test_of_a_vm_that_is_gone, test_wrong_filters,
         test_series_of_one, test_scores_of_vms, test_backtest)
