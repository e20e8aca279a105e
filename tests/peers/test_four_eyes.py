#!/usr/bin/env python3
"""What takes two people: two tokens, users at the socket, a kill between two requests, reloads, and ways of one person to pass for two."""
import json
import os
import pwd
import signal
import subprocess
import time

from daemon import BALLAST, CALL_S, SIM, Daemon, main, wait_for
from test_daemon_clients import as_user
from test_http import AT, Api
from test_replies import cluster

ALL = ["approve", "place", "migrate", "maintenance", "roll", "standby", "wake"]
ME = pwd.getpwuid(os.geteuid()).pw_name


class TwoPeople(Api):
    """A cluster whose demand stays as it is, the rule for all actions, and tokens of three people."""

    def __init__(self, actions=ALL):
        super().__init__(interval_s=300, migration_threshold=5, four_eyes={"actions": actions, "within_s": 600})
        path = self.d.folder / "cluster.json"
        path.write_text(json.dumps(cluster()))
        self.d.write(source={**SIM, "file": str(path)})

    def __enter__(self):
        super().__enter__()
        for name, owner in (("ann-desk", "ann"), ("ann-phone", "ANN"), ("bob", "bob"), ("mine", ME), ("mine-too", ME.upper())):
            self.tokens[name] = self.d.cli("token", "create", name, "--role", "operator", "--owner", owner).strip()
        wait_for("recommendations", lambda: self.recommended())
        return self

    def recommended(self):
        return [a for a in self.d.actions("recommended") if not a["depends_on"] and not a["group"]]

    def post(self, token, path, body=None):
        """Status, and the reply or the sentence of the problem."""
        status, _, data = self.ask("POST", f"{AT}/{path}", token, body or {})
        reply = json.loads(data)
        return status, reply if status == 200 else reply["detail"]

    def approve(self, token, action):
        return self.post(token, f"recommendations/{action['id']}.{action['version']}/apply")

    def refused(self, token, path, words, body=None, status=409):
        got = self.post(token, path, body)
        assert got[0] == status and words in got[1], (token, path, got)

    def reload(self, actions):
        self.d.write(four_eyes={"actions": actions, "within_s": 600})
        diff = json.loads(self.d.run("config", "diff", "--format", "json").stdout)
        assert [(c["key"], c["effect"]) for c in diff["changes"]] == [("four_eyes.actions", "now")], diff
        seen = self.d.log.read_text().count("four_eyes.actions")
        self.d.process.send_signal(signal.SIGHUP)
        wait_for("the reload", lambda: self.d.log.read_text().count("four_eyes.actions") > seen, 10)


def test_revoked_before_it_begins():
    """What a token approved does not begin once it is revoked, nor for another token of its name, nor over a restart."""
    api = TwoPeople([])
    api.d.write(migrations_per_cluster=1, source={**api.d.settings["source"], "speed": 1})
    with api:
        begun, a = api.recommended()[:2]
        for x in (begun, a):
            assert api.approve("bob", x)[0] == 200
        assert api.d.actions("approved"), "nothing waits for its turn"
        api.d.cli("token", "revoke", "bob")
        time.sleep(1)
        api.d.cli("token", "create", "bob", "--role", "operator")
        api.d.kill()
        api.d.start()
        wait_for("it is cancelled", lambda: [x for x in api.d.actions("cancelled") if x["id"] == a["id"]])
        why = [x["why"] for x in api.d.actions("cancelled") if x["id"] == a["id"]][0]
        assert "bob (token) asked for it, and may not any more: the token was revoked" in why, why
        assert any("bob (token)" in e["data"]["text"] and "revoked" in e["data"]["text"] for e in json.loads(api.d.cli("events", "--format", "json"))), "no event"


def test_lowered_before_it_begins():
    """What a user approved does not begin once a reload has made a viewer of the user."""
    with Daemon({**SIM, "speed": 1}, automation="manual", migration_threshold=5, migrations_per_cluster=1, roles={"users": {"nobody": "operator"}}) as d:
        d.write(source={**SIM, "speed": 1, "file": str(d.folder / "cluster.json")})
        (d.folder / "cluster.json").write_text(json.dumps(cluster()))
        d.folder.chmod(0o755)
        d.start()
        wait_for("recommendations", lambda: len(d.actions("recommended")) > 1)
        (d.folder / "run").chmod(0o755)
        os.chmod(d.socket, 0o666)
        ask = {"command": "apply", "ids": [a["id"] for a in d.actions("recommended")[:2]]}
        with as_user(pwd.getpwnam("nobody").pw_uid, lambda: json.dumps(d.send(json.dumps(ask).encode() + b"\n"))) as said:
            assert '"ok": true' in said or "true" in said, said
        waits = [a["id"] for a in d.actions("approved")]
        assert waits, "nothing waits for its turn"
        d.write(roles={"users": {"nobody": "viewer"}})
        d.process.send_signal(signal.SIGHUP)
        wait_for("it is cancelled", lambda: [a for a in d.actions("cancelled") if a["id"] in waits and "its role is too low now" in a["why"]])


def test_revoked_between_two():
    """A first request of a token that is revoked counts no more; a lowered role likewise."""
    with TwoPeople() as api:
        a = api.recommended()[0]
        assert api.approve("ann-desk", a)[0] == 409
        api.d.cli("token", "revoke", "ann-desk")
        api.refused("bob", f"recommendations/{a['id']}.{a['version']}/apply", "bob (token) is noted as the first")


def test_two_tokens_and_a_kill_between():
    with TwoPeople() as api:
        action = api.recommended()[0]
        path = f"recommendations/{action['id']}.{action['version']}/apply"

        def now():
            return next(a for a in api.d.actions() if a["id"] == action["id"])

        api.refused("operator", path, "a-operator (token) names no person", status=403)
        api.refused("viewer", path, "", status=403)
        api.refused("ann-desk", path, "ann-desk (token) is noted as the first")
        api.refused("ann-phone", path, "ann-desk (token) has asked")
        assert now()["state"] == "recommended" and now()["why"].startswith("approved by ann-desk (token), waits for a second person"), now()
        assert "waits for a second person" in api.d.cli("recommendations")
        waits = api.json(f"{AT}/status")["status"]["first_requests"]
        assert [(w["action"], w["id"], w["by"]) for w in waits] == [("approve", action["id"], "ann-desk (token)")], waits
        assert "two people" in api.d.cli("status")
        api.d.kill()
        api.d.start()
        wait_for("a pass", lambda: api.d.status()["pass"])
        assert now()["version"] == action["version"], "the cluster is as before"
        api.refused("ann-phone", path, "ann-desk (token) has asked")
        api.refused("operator", path, "names no person", status=403)
        status, reply = api.approve("bob", action)
        assert status == 200 and reply["actions"][0]["approved_by"] == "ann-desk (token) and bob (token)", reply
        wait_for("the move", lambda: now()["state"] == "done")
        assert not api.d.status()["first_requests"]
        events = [e["data"] for e in api.d.json("events", "--kind", "first_request")]
        assert [e["by"] for e in events] == ["ann-desk (token)"], events
        done = next(a for a in api.d.json("history") if a["id"] == action["id"])
        assert done["approved_by"] == "ann-desk (token) and bob (token)"
        api.d.stop()


def test_one_person_in_many_ways():
    with TwoPeople() as api:
        d = api.d
        assert {t["name"]: t["owner"] for t in d.json("token", "list")} | {"mine-too": None} == {
            "a-viewer": None, "a-operator": None, "a-admin": None, "ann-desk": "ann", "ann-phone": "ANN", "bob": "bob", "mine": ME,
            "mine-too": None}
        for owner in ("ann ", " ann", "a nn", "änn", "x" * 64, ""):
            assert not d.request({"command": "token_create", "name": "x", "role": "operator", "owner": owner})["ok"], owner
        assert "as the first" in d.cli("apply", "--all", code=1)
        assert "has asked" in d.cli("apply", "--all", code=1)
        one = api.recommended()[0]
        d.cli("pause")
        d.cli("resume")
        for token in ("mine", "mine-too"):
            status, sentence = api.approve(token, one)
            assert status == 409 and "has asked" in sentence, (token, sentence)
        assert not d.actions("approved", "starting", "running", "verifying", "done")
        assert d.run("reject", one["id"]).returncode == 0
        assert one["id"] not in [w["id"] for w in d.status()["first_requests"]]
        # a host's commands, by the socket and over HTTP
        for command, body in (("standby", {"host": "esx4"}), ("maintenance", {"mode": "enter", "host": "esx3"}),
                              ("maintenance/roll", {"hosts": ["esx5"]}), ("wake", {"host": "esx4", "verify": True}),
                              ("placements", {"vms": ["spare"], "apply": True}), ("migrations", {"vm": "web1", "apply": True})):
            api.refused("mine", command, "is noted as the first", body)
            api.refused("mine-too", command, "mine (token) has asked", body)
        for args in (("standby", "esx4"), ("maintenance", "enter", "esx3"), ("wake", "esx4", "--verify"), ("place", "vm-off", "--apply"),
                     ("migrate", "web1", "--best", "--apply")):
            assert "has asked" in d.cli(*args, code=1), args
        status, reply = api.post("bob", "standby", {"host": "host-4"})
        assert status == 200 and reply["actions"][0]["approved_by"] == "mine (token) and bob (token)", reply
        status, reply = api.post("bob", "placements", {"vms": ["vm-off", "spare"], "apply": True})
        assert status == 200 and reply["actions"], reply
        assert "nothing to do" in d.cli("maintenance", "exit", "esx3"), "taken back"
        api.refused("bob", "maintenance", "is noted as the first", {"mode": "enter", "host": "esx3"})
        d.stop()


def test_a_reload_switches_it():
    with TwoPeople(["maintenance"]) as api:
        d = api.d
        assert "as the first" in d.cli("maintenance", "enter", "esx3", code=1)
        action = api.recommended()[0]
        assert api.approve("operator", action)[0] == 200, "not among the actions"
        api.reload([])
        assert not d.status()["first_requests"]
        d.cli("maintenance", "enter", "esx4")
        api.reload(["maintenance"])
        assert "as the first" in d.cli("maintenance", "enter", "esx3", code=1), "the first request was forgotten"
        assert "approve, place, migrate, maintenance, roll, standby or wake" in wrong(d, {"actions": ["reject"]})
        assert "within_s" in wrong(d, {"within_s": 5})
        d.write(four_eyes={"actions": ["maintenance"], "within_s": 600})
        if os.geteuid() != 0:
            return  # only root may be another user
        d.folder.chmod(0o755)
        os.chmod(d.socket, 0o666)
        ask = {"command": "maintenance", "mode": "enter", "host": "esx3"}
        with as_user(pwd.getpwnam("nobody").pw_uid, lambda: json.dumps(d.send(json.dumps(ask).encode() + b"\n"))) as said:
            reply = json.loads(said)
            assert reply["ok"] and " and nobody (uid " in reply["actions"][0]["approved_by"], reply
        with as_user(4242, lambda: json.dumps(d.send(json.dumps({**ask, "host": "esx5"}).encode() + b"\n"))) as said:
            assert "uid 4242 names no person" in json.loads(said)["error"], said
        d.stop()


def wrong(d, four_eyes):
    """What `ballast check-config` says of it, on one line."""
    d.write(four_eyes=four_eyes)
    done = subprocess.run([BALLAST, "check-config", d.config], capture_output=True, text=True, timeout=CALL_S)
    return " ".join((done.stdout + done.stderr).split())


if __name__ == "__main__":
    main(test_two_tokens_and_a_kill_between, test_revoked_before_it_begins, test_lowered_before_it_begins, test_revoked_between_two, test_one_person_in_many_ways, test_a_reload_switches_it)
