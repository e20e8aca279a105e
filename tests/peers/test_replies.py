#!/usr/bin/env python3
"""A reply to each request and an event of each kind are as their schema in conf/schema says. Other tests validate what they happen to
get (tests/schemas.py); this one gets one of each."""
import json
import os
import pathlib
import sqlite3
import subprocess

from daemon import LOOKS, SIM, Daemon, main, schemas, wait_for
import debian_python

debian_python.need("jsonschema")
BUILD = pathlib.Path(os.environ.get("BALLAST_BUILD_DIR", "build"))
WORDS = schemas.load("words")["$defs"]
ELSEWHERE = {"confirm_controller", "confirm_setting", "alarm_test", "trust"}  # test_daemon_controllers.py, test_daemon_store.py, test_alarms.py


def test_every_event():
    """By the program that makes one of each kind."""
    lines = subprocess.run([BUILD / "tests/unit/unit-event_json", "--print"], check=True, capture_output=True, text=True).stdout
    kinds = set()
    for line in lines.splitlines():
        kind, data = line.split(" ", 1)
        schemas.check_event(kind, json.loads(data))
        kinds.add(kind)
    assert kinds == set(WORDS["event_kind"]["enum"])


def test_what_is_not_documented_is_found():
    good = {"ok": True, "metrics": ""}
    schemas.check_reply("metrics", good)
    for bad in ({**good, "more": 1}, {"ok": True}, {"ok": True, "metrics": None}, {"ok": False, "code": 4, "error": "x"}):
        try:
            schemas.check_reply("metrics", bad)
        except AssertionError:
            continue
        raise RuntimeError(f"{bad} passes")


def cluster():
    hosts = [{"id": f"host-{n}", "name": f"esx{n}", "state": "on", "cpu_mhz": 20000, "cores": 8, "mem_mb": 65536, "power_idle_w": 100,
              "power_peak_w": 200, "boot_s": 60, "wake_methods": ["ipmi", "wol"], "wake_verified": True} for n in range(1, 6)]
    vms = [{"id": f"vm-{n}", "name": f"web{n}", "host": f"host-{1 + (n > 8)}", "state": "on", "pool": "p1", "vcpus": 2, "mem_mb": 4096,
            "cpu": {"demand": 1500}, "mem": {"demand": 2048, "consumed": 3000}} for n in range(12)]
    vms.append({"id": "vm-off", "name": "spare", "host": "host-3", "state": "off", "pool": None, "vcpus": 1, "mem_mb": 1024})
    pools = [{"id": "p1", "name": "web", "parent": None, "cpu": {"reservation": 1000, "limit": None, "shares": 4000, "expandable": True},
              "mem": {"reservation": 0, "limit": 60000, "shares": 4000, "expandable": True}}]
    return {"format": "ballast-snapshot/1", "cluster": "lab", "time": "2026-01-01T00:00:00Z", "hosts": hosts, "vms": vms, "pools": pools}


def test_every_reply():
    with Daemon(SIM, interval_s=5, automation="manual", migration_threshold=5) as d:
        path = d.folder / "cluster.json"
        path.write_text(json.dumps(cluster()))
        d.write(source={**SIM, "file": str(path)}, balance={"windows": ["*-*-* 00:00 for 24h"]}, dpm={"ready_by": ["Mon 07:00"]})
        d.start()

        def ask(command, ok=True, **fields):
            reply = d.request({"command": command, **fields})
            assert reply["ok"] == ok, f"{command} {fields}: {reply}"
            return reply

        def state(host):
            return next(h["state"] for h in ask("hosts")["hosts"] if h["id"] == host)

        wait_for("recommendations", lambda: [r for r in ask("recommendations")["recommendations"] if r["state"] == "recommended"])
        for view in ("status", "hosts", "vms", "pools", "history", "samples", "snapshot", "schedule", "forecast", "metrics", "events", "series", "roll",
                     "config_diff", "policies"):
            ask(view)
        own = ask("policy_change", verb="POST", path="schedulingpolicies", **{"is": {"name": "night", "clone_of": "none", "description": "x"}})["is"]["id"]
        ask("policy_change", verb="PUT", path="clusters/x", **{"is": {"scheduling_policy": {"id": own}}})
        ask("policy_change", verb="POST", path=f"schedulingpolicies/{own}/weights", ok=False)
        ask("policies")
        ask("policy_change", verb="PUT", path="clusters/x", **{"is": {"scheduling_policy": {"id": ""}}})
        ask("policy_change", verb="DELETE", path=f"schedulingpolicies/{own}")
        assert ask("series", vm="vm-off")["series"]["points"] == 0
        off = next(v for v in ask("vms")["vms"] if v["id"] == "vm-off")
        assert all(off[r]["score"] is None and off[r]["delivered"] is None for r in ("cpu", "mem")), off
        ask("token_create", name="ci", role="operator", expires="2099-01-01T00:00:00Z")
        ask("tokens")
        ask("token_revoke", name="ci")
        ask("run", retry=True)
        ask("reject", ids=[d.actions("recommended")[0]["id"]])
        for view in LOOKS:  # what changes by the second is asked again
            wait_for(f"the command prints the answer to {view}", lambda view=view: d.json(view) == json.loads(d.cli(view, "--format", "json")))
        assert d.json("history", "--limit", 1) == json.loads(d.cli("history", "--limit", 1, "--format", "json"))
        ask("pause")
        ask("status")
        ask("resume")
        ask("apply", ids=[f'{a["id"]}.{a["version"]}' for a in wait_for("recommendations", lambda: d.actions("recommended"))])
        ask("apply", ok=False, ids=[99999])
        moved = wait_for("the move is done", lambda: [a for a in ask("history", limit=1000)["history"] if a["state"] == "done"])
        ask("events", vm=moved[0]["vm"])
        ask("plan", **{"pass": 1})
        ask("passes", limit=1)
        ask("plan", set={"migration_threshold": 5})
        ask("explain", vm="web3", host="esx2")
        ask("explain", host="esx4")
        ask("what_if", host_off=["esx5"], demand={"web3": 100})
        ask("entitlements", resource="cpu")
        ask("migrate", vm="web3")
        ask("migrate", ok=False, vm="spare", apply=True)
        ask("place", vms=["spare"])
        ask("place", vms=["spare"], apply=True)
        ask("confirm_controller", ok=False, host="esx4")
        ask("standby", host="esx4")
        wait_for("esx4 sleeps", lambda: state("host-4") == "standby")
        assert ask("status")["status"]["asleep"]
        ask("wake", host="esx4")
        ask("wake", host="esx5", verify=True)
        ask("maintenance", mode="enter", host="esx3")
        wait_for("esx3 is in maintenance", lambda: state("host-3") == "maintenance")
        ask("maintenance", mode="exit", host="esx3")
        wait_for("a roll begins", lambda: d.request({"command": "roll", "hosts": ["esx3"]})["ok"])
        ask("status")
        ask("roll", stop="a test")
        woken = wait_for("the wake is done", lambda: [a for a in ask("history", limit=1000)["history"]
                                                      if a["action"] == "power_on" and a["state"] == "done"])
        for by in ("day", "hour", "host"):
            wait_for("the account has rows", lambda by=by: ask("energy", by=by)["energy"]["rows"])
        ask("summary", since="2026-01-01T00:00:00Z")
        d.stop()
        db = sqlite3.connect(d.folder / "state/ballast.db")  # no simulated host has a serial console
        db.execute("INSERT INTO consoles (action, host, time, data) VALUES (?, 'host-4', 1700000000, x'424f4f540d0a')", (woken[0]["id"],))
        db.commit()
        db.close()
        d.start()
        ask("console", id=woken[0]["id"])
    answered = {name for (file, name, member), forms in schemas.seen.items() if file == "replies" and member is None and forms}
    missing = set(WORDS["request"]["enum"]) - answered - ELSEWHERE
    assert not missing, f"no reply was validated: {missing}"


if __name__ == "__main__":
    main(test_every_event, test_what_is_not_documented_is_found, test_every_reply)
