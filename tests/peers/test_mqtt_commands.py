#!/usr/bin/env python3
"""Commands that come to ballastd over MQTT, through a real mosquitto: carried out once, answered, recorded; and senders of nonsense."""
import json
import signal
import subprocess
import sys
import time

from daemon import SIM, Daemon, main, wait_for
from mqtt import Broker, missing, payload, schemas

ALL = ["apply", "reject", "pause", "resume", "run", "maintenance", "standby", "wake", "migrate"]
QUIET = {"automation": "manual", "interval_s": 3600}
TOP = "ballast/test"


def now(offset_s=0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + offset_s))


def listening(d):
    """The service is connected and has subscribed; the broker answers in order, so a pause and its answer say so."""
    wait_for("connected", lambda: (d.status()["mqtt"] or {}).get("connected"))


class Commander:
    """Sends commands with ids of its own, and finds their answers."""

    def __init__(self, broker, listener):
        self.broker, self.listener, self.n = broker, listener, 0

    def ask(self, topic, fields=None, *options, user="operator"):
        self.n += 1
        id_ = f"c{self.n}"
        command = {"id": id_, **(fields or {})}
        self.broker.publish(f"{TOP}/{topic}", command, *options, user=user)
        answer = self.answer(id_)
        if answer["reply"]["ok"]:
            self.broker.document().check_command(f"{TOP}/{topic}", json.dumps(command))
        return answer

    def answer(self, id_):
        found = lambda: [a for m in self.listener.seen() if m["topic"].startswith(f"{TOP}/reply")
                         for a in [payload(m)] if a["id"] == id_]
        answers = wait_for(f"an answer to {id_}", found, 30, 0.05)
        assert len(answers) == 1, answers
        if answers[0]["command"] in ALL:
            schemas.check_reply(answers[0]["command"], answers[0]["reply"])
        return answers[0]

    def refused(self, sentence, topic, fields=None, *options, code=2):
        reply = self.ask(topic, fields, *options)["reply"]
        assert reply["ok"] is False and reply["code"] == code and sentence in reply["error"], (topic, fields, reply)

    def refused_text(self, sentence, topic, text, *options):
        """What has no id that could be read."""
        had = len(self.listener.on(f"{TOP}/reply"))
        self.broker.publish(f"{TOP}/{topic}", text, *options)
        wait_for(f"an answer to {text[:40]}", lambda: len(self.listener.on(f"{TOP}/reply")) > had, 30, 0.05)
        reply = payload(self.listener.on(f"{TOP}/reply")[-1])["reply"]
        assert reply["ok"] is False and sentence in reply["error"], (topic, text[:80], reply)


def test_each_command():
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=ALL)) as d:
            d.start()
            listening(d)
            c = Commander(b, l)
            assert c.ask("cmd/pause") == {"command": "pause", "id": "c1", "reply": {"ok": True}}
            assert d.status()["frozen_by"] == "mqtt", d.status()
            assert c.ask("cmd", {"command": "resume", "sent": now()})["reply"] == {"ok": True}
            assert c.ask("cmd/run", {"command": "run"})["reply"]["ok"] is True
            listed = [r for r in d.json("recommendations") if r["state"] == "recommended"]
            assert len(listed) >= 2, listed
            first, second = listed[:2]
            c.refused("has no version", "cmd/apply", {"ids": [f"{first['id']}.{first['version'] + 1}"]})
            answer = c.ask("cmd/apply", {"ids": [f"{first['id']}.{first['version']}"]})
            assert answer["reply"]["ok"] and answer["reply"]["actions"][0]["approved_by"] == "mqtt", answer
            answer = c.ask("cmd/reject", {"ids": [second["id"]]})
            assert answer["reply"]["ok"] and answer["reply"]["actions"][0]["state"] == "rejected", answer
            wait_for("done", lambda: any(e["type"] == "io.ballast.action.done" and e["data"]["action"]["id"] == first["id"]
                                         for e in l.events()), 60)
            host = d.json("hosts")[0]["name"]
            answer = c.ask("cmd/maintenance", {"host": host, "mode": "enter"})
            assert answer["reply"]["ok"] and answer["reply"]["actions"][0]["approved_by"] == "mqtt", answer
            assert c.ask("cmd/maintenance", {"host": host, "mode": "exit"})["reply"]["ok"]
            wait_for("nothing moves", lambda: not d.actions("approved", "starting", "running", "verifying"))
            answer = c.ask("cmd/migrate", {"vm": "web-02", "apply": True})
            assert answer["reply"]["ok"] and all(a["approved_by"] == "mqtt" for a in answer["reply"]["actions"]), answer
            c.refused("nowhere", "cmd/standby", {"host": "nowhere"})
            c.refused("nowhere", "cmd/wake", {"host": "nowhere"})
            # recorded as the other ways are
            frozen = [e for e in d.json("events", "--since", "0") if e["kind"] == "frozen"]
            assert frozen and frozen[0]["data"]["by"] == "mqtt", frozen
            log = d.log.read_text()
            assert "mqtt: pause carried out (id c1)" in log and "mqtt: standby refused (id" in log, log
            s = d.status()["mqtt"]
            assert s["commands"] == ALL and s["commands_refused"] == 3, s
            assert s["commands_accepted"] == c.n - 3, (s, c.n)
            said = " ".join(d.cli("status").split())
            assert f"{c.n - 3} commands carried out, 3 refused" in said, said
            d.stop()


def test_answers():
    """MQTT 5's response topic and correlation data; and nothing is written elsewhere in a sender's stead."""
    with Broker() as b:
        b.start()
        with b.listen("#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause", "resume"])) as d:
            d.start()
            listening(d)
            reply = f"{TOP}/reply/desk-7"
            b.publish(f"{TOP}/cmd/pause", "", "-D", "publish", "response-topic", reply, "-D", "publish", "correlation-data", "abc 7")
            wait_for("an answer", lambda: l.on(reply))
            m = l.on(reply)[0]
            assert payload(m) == {"command": "pause", "id": None, "reply": {"ok": True}} and m["qos"] == 1 and not m["retain"], m
            assert m["properties"]["correlation-data"] == "abc 7" and m["properties"]["content-type"] == "application/json", m
            for other in (f"{TOP}/state", f"{TOP}/reply2", "homeassistant/device/x/config", f"{TOP}/cmd/standby"):
                had = len(l.on(f"{TOP}/reply"))
                b.publish(f"{TOP}/cmd/resume", "{}", "-D", "publish", "response-topic", other)
                wait_for("an answer", lambda: len(l.on(f"{TOP}/reply")) > had)
                answer = payload(l.on(f"{TOP}/reply")[-1])["reply"]
                assert answer["code"] == 2 and f"the response topic is not {TOP}/reply or a topic below it" in answer["error"], answer
                assert not [m for m in l.on(other) if "reply" in (m.get("payload") or "")], l.on(other)
            assert d.status()["frozen"] is True
            d.stop()


def test_refused():
    with Broker() as b:
        b.start()
        with b.listen(f"{TOP}/reply/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause", "maintenance", "migrate"]),
                                                           four_eyes={"actions": ["maintenance", "approve"]}) as d:
            d.start()
            listening(d)
            c = Commander(b, l)
            assert "mqtt.commands has maintenance, which is refused while" in d.log.read_text()
            assert "mqtt.commands has migrate, which is refused while four_eyes.actions has approve" in d.log.read_text()
            host = wait_for("hosts", lambda: d.run("hosts").returncode == 0 and d.json("hosts"))[0]["name"]
            c.refused("mqtt names no person", "cmd/maintenance", {"host": host, "mode": "enter"}, code=1)
            c.refused("mqtt names no person", "cmd/migrate", {"vm": "web-02", "apply": True}, code=1)
            c.refused("\"resume\" is not among mqtt.commands of the configuration", "cmd/resume", code=1)
            c.refused("not among mqtt.commands", "cmd", {"command": "tokens"}, code=1)
            c.refused("not among mqtt.commands", "cmd/token_create", {"name": "x", "role": "admin"}, code=1)
            c.refused("not among mqtt.commands", "cmd/status", code=1)
            c.refused("\"selfdestruct\" is not a command of this service", "cmd/selfdestruct")
            c.refused("\"command\": expected \"pause\", as its topic says", "cmd/pause", {"command": "maintenance"})
            c.refused("\"command\": expected \"pause\"", "cmd/pause", {"command": 7})
            c.refused("\"command\": missing", "cmd")
            c.refused("\"ids\": not a field of \"pause\"", "cmd/pause", {"ids": [1]})
            c.refused("\"mode\": expected", "cmd/maintenance", {"host": "x", "mode": 1})
            c.refused("\"host\": expected", "cmd/maintenance", {"host": ["x"], "mode": "enter"})
            c.refused("it was sent 3", "cmd/pause", {"sent": now(-300)})
            c.refused("ahead of the service's clock", "cmd/pause", {"sent": now(600)})
            c.refused("\"sent\": expected a time", "cmd/pause", {"sent": "yesterday"})
            for text, sentence in (("pause", "not a JSON object"), ("[]", "not a JSON object"), ("{\"id\": 7}", "\"id\": expected a text"),
                                   ("{\"id\": \"\"}", "\"id\": expected"), ("{\"id\": \"a\\nb\"}", "\"id\": expected"),
                                   ("{\"a\": 1, \"a\": 2}", "not a JSON object: duplicate"), (b"\xff\xfe", "not a JSON object"),
                                   ("{" * 5000, "not a JSON object"), ("[" * 60000, "not a JSON object"),
                                   ("{\"x\": \"" + "y" * 70000 + "\"}", "a command of more than 65536 bytes")):
                c.refused_text(sentence, "cmd/pause", text)
            c.refused_text("a retained message is not carried out", "cmd/pause", "{}", "-r")
            assert d.status()["frozen"] is False
            # what comes twice: a sender that got no confirmation sends again
            b.publish(f"{TOP}/cmd/pause", {"id": "once"})
            assert c.answer("once")["reply"] == {"ok": True}
            d.request({"command": "resume"})
            b.publish(f"{TOP}/cmd/pause", {"id": "once"})
            answers = wait_for("an answer", lambda: [a for a in map(payload, l.seen()) if a["id"] == "once"][1:])
            assert "a command with the id \"once\" came before" in answers[0]["reply"]["error"], answers
            assert d.status()["frozen"] is False
            # topics that are none of the service's
            for topic in ("cmd/pause/now", "cmd//", "cmdx", "cmd/pause/"):
                b.publish(f"{TOP}/{topic}", "{}")
            b.publish("ballast/other/cmd/pause", "{}")
            c.refused("not a command of this service", "cmd/" + "x" * 300)
            assert d.status()["frozen"] is False
            log = d.log.read_text()
            assert log.count(" refused") <= 22, log  # a sender of nonsense does not fill the log
            d.stop()


def test_comes_again_after_a_kill():
    """What was carried out is not carried out again by the next process; nor what a broker sends again with a session."""
    with Broker() as b:
        b.start()
        with b.listen(f"{TOP}/reply/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause", "resume"])) as d:
            d.start()
            listening(d)
            c = Commander(b, l)
            b.publish(f"{TOP}/cmd/pause", {"id": "once"})
            assert c.answer("once")["reply"] == {"ok": True}
            b.publish(f"{TOP}/cmd/resume", {"id": "then"})
            assert c.answer("then")["reply"] == {"ok": True}
            for end in (d.kill, d.stop):
                end()
                d.start()
                listening(d)
                had = len(l.seen())
                b.publish(f"{TOP}/cmd/pause", {"id": "once"})
                answers = wait_for("an answer", lambda: [a for a in map(payload, l.seen()[had:]) if a["id"] == "once"])
                assert "a command with the id \"once\" came before" in answers[0]["reply"]["error"], answers
                assert d.status()["frozen"] is False
            # what cannot be remembered is not carried out
            (d.folder / "state" / "lock").rename(d.folder / "lock")
            b.publish(f"{TOP}/cmd/pause", {"id": "later"})
            assert "was deleted or replaced" in c.answer("later")["reply"]["error"]
            assert d.status()["frozen"] is False
            (d.folder / "lock").rename(d.folder / "state" / "lock")
            d.stop()


def test_flood():
    """Too many, and too long ones: the service stays connected, and its main thread does not see them."""
    with Broker(tls=False, persistence=False) as b:
        b.start()
        with b.listen(f"{TOP}/reply/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause"])) as d:
            d.start()
            listening(d)
            since = d.status()["mqtt"]["since"]
            b.publish(f"{TOP}/cmd/pause", "x" * (1 << 20))  # the broker keeps it to itself, as it was asked to
            senders = [subprocess.Popen(["mosquitto_pub", *b.client("operator"), "-V", "mqttv5", "-q", "1", "-t", f"{TOP}/cmd/pause", "-l"],
                                        stdin=subprocess.PIPE, text=True) for _ in range(4)]
            for s in senders:
                s.stdin.write("not JSON\n" * 3000)
                s.stdin.close()
            for s in senders:
                assert s.wait(120) == 0
            wait_for("all of them", lambda: d.status()["mqtt"]["commands_refused"] == 12000, 60)
            s = d.status()["mqtt"]
            assert s["connected"] and s["since"] == since and s["commands_accepted"] == 0, s
            log = d.log.read_text()
            assert "more than 100 commands within 10 s: the rest is dropped" in log, log[-2000:]
            assert len(log.splitlines()) < 200, len(log.splitlines())
            assert len(l.on(f"{TOP}/reply")) < 12000
            c = Commander(b, l)
            time.sleep(11)  # the window
            assert c.ask("cmd/pause")["reply"] == {"ok": True}
            d.stop()


def test_the_broker_decides_who():
    """The broker's rules are the authentication."""
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause", "resume"])) as d:
            d.start()
            listening(d)
            b.publish(f"{TOP}/cmd/pause", "{}", user="guest")
            wait_for("paused", lambda: d.status()["frozen"])
            for topic in ("cmd/resume", "cmd"):
                b.publish(f"{TOP}/{topic}", {"command": "resume"}, user="guest")  # mosquitto drops it
            b.publish(f"{TOP}/cmd/pause", {"id": "last"}, user="operator")
            Commander(b, l).answer("last")
            assert d.status()["frozen"] and d.status()["mqtt"]["commands_accepted"] == 2, d.status()["mqtt"]
            d.stop()


def test_what_waited():
    """Nothing that was sent while the service was away is carried out, whoever of both was away."""
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(commands=["pause", "resume", "run", "apply"])) as d:
            d.start()
            listening(d)
            c = Commander(b, l)
            b.publish(f"{TOP}/cmd/pause", {"id": "kept"}, "-r")  # the broker keeps it, for whoever subscribes later
            assert "a retained message" in c.answer("kept")["reply"]["error"]
            assert c.ask("cmd/run")["reply"]["ok"]
            one = d.actions("recommended")[0]
            for topic, name in (("cmd/apply", "of_apply"), ("cmd", "of_any")):
                b.publish(f"{TOP}/{topic}", {"command": "apply", "id": name, "ids": [f"{one['id']}.{one['version']}"]}, "-r")
                assert "a retained message" in c.answer(name)["reply"]["error"]
            assert c.ask("cmd/resume")["reply"]["ok"]
            d.kill()
            wait_for("the last will", lambda: payload(l.on(f"{TOP}/online")[-1]) == "offline")
            b.publish(f"{TOP}/cmd/pause", {"id": "away"})
            d.start()
            listening(d)
            assert c.ask("cmd/resume")["reply"]["ok"]
            assert not d.status()["frozen"] and d.status()["mqtt"]["commands_refused"] == 0, d.status()["mqtt"]
            assert not [h for h in d.json("history") if h["approved_by"] == "mqtt"] and not d.actions("approved", "starting", "running", "verifying")
            b.kill()
            wait_for("not connected", lambda: not d.status()["mqtt"]["connected"])
            b.start()
            wait_for("connected", lambda: d.status()["mqtt"]["connected"], 60)
            assert c.ask("cmd/pause")["reply"]["ok"]  # subscribed again
            assert d.status()["frozen"] and d.status()["mqtt"]["commands_refused"] == 0, d.status()["mqtt"]
            assert not [h for h in d.json("history") if h["approved_by"] == "mqtt"] and not d.actions("approved", "starting", "running", "verifying")
            d.stop()


def test_reload():
    """mqtt.commands takes effect at a reload, both ways."""
    with Broker(tls=False) as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            d.start()
            listening(d)
            assert d.status()["mqtt"]["commands"] == []
            b.publish(f"{TOP}/cmd/pause", "{}")
            d.write(mqtt=b.settings(commands=["pause"]))
            d.process.send_signal(signal.SIGHUP)
            wait_for("the list", lambda: d.status()["mqtt"]["commands"] == ["pause"])
            c = Commander(b, l)
            wait_for("the subscription", lambda: b.logged(r"Received SUBSCRIBE from ballast-"))
            assert c.ask("cmd/pause")["reply"]["ok"]
            assert d.status()["mqtt"]["commands_accepted"] == 1, d.status()["mqtt"]
            d.write(mqtt=b.settings())
            d.process.send_signal(signal.SIGHUP)
            wait_for("the list", lambda: d.status()["mqtt"]["commands"] == [])
            wait_for("no subscription", lambda: b.logged(r"Received UNSUBSCRIBE from ballast-"))
            d.request({"command": "resume"})
            b.publish(f"{TOP}/cmd/pause", "{}")
            wait_for("the broker had it", lambda: b.received(TOP) and b.logged(r"Received PUBLISH from \S+ \([^']*'ballast/test/cmd/pause'") == 3)
            assert not d.status()["frozen"]
            d.stop()


if __name__ == "__main__":
    if missing():
        print(f"needs {', '.join(missing())}")
        sys.exit(77)
    main(test_each_command, test_answers, test_refused, test_comes_again_after_a_kill, test_flood, test_the_broker_decides_who, test_what_waited, test_reload)
