#!/usr/bin/env python3
"""What a person asks the next morning: history and events by time, VM, host and state, on the simulated cluster."""
import datetime
import json

from daemon import SIM, Daemon, main, wait_for

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
            assert wait_for("a second without an end", lambda: "no such action has ended" in d.cli("history", "--since", "now"), 10)
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
            assert "no such event" in d.cli("events", "--vm", vm["vm"], "--kind", "gap")
            if not restarted:
                d.kill()
                d.start()
                wait_for("the inventory", lambda: d.run("hosts").returncode == 0)
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
        for verb in ("history", "events"):
            assert '"yesterdayy" is wrong, expected a time' in d.cli(verb, "--since", "yesterdayy", code=2)
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


if __name__ == "__main__":
    main(test_history_and_events_are_filtered, test_followed_by_vm, test_of_a_vm_that_is_gone, test_wrong_filters)
