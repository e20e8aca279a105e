#!/usr/bin/env python3
"""The messages of ballastd through a real mosquitto to a second client: complete and in order, whichever of them dies or hangs."""
import json
import signal
import socket
import sys
import threading
import time

from daemon import SIM, Daemon, main, wait_for
from mqtt import Broker, missing, payload, schemas

WINDOW = 16  # messages without an answer: what may come twice
QUIET = {"automation": "manual", "interval_s": 3600}


def number(event):
    return int(event["id"].rsplit("-", 1)[1])


def numbers(listener):
    return [number(e) for e in listener.events()]


def once(listener):
    """The numbers without those that came again, which MQTT's "at least once" allows."""
    return list(dict.fromkeys(numbers(listener)))


def last_number(d):
    return wait_for("an event", lambda: d.json("events", "--limit", "1"))[-1]["id"]


def talk(d, n=1):
    """Two events each."""
    for _ in range(n):
        d.request({"command": "pause"})
        d.request({"command": "resume"})


def talk_until_it_dies(d, n):
    try:
        talk(d, n)
    except (OSError, ValueError):
        pass


def all_are_there(d, listener, timeout=60):
    last = last_number(d)
    wait_for(f"event {last}", lambda: last in numbers(listener), timeout)
    assert once(listener)[:last] == list(range(1, last + 1)), once(listener)  # a pass may have ended since
    wait_for("nothing unsent", lambda: d.status()["mqtt"]["unsent"] == 0, timeout)


def retained(broker, topic, wanted):
    """What a client that comes late is given: all that is wanted, and what else comes within a second of it."""
    with broker.listen(topic, session=False) as late:
        wait_for("what is retained", lambda: wanted <= {m["topic"] for m in late.seen() if m["retain"]})
        time.sleep(1)
        return {m["topic"]: payload(m) for m in late.seen() if m["retain"]}


def last(listener, topic):
    """What was published there last; None before anything was."""
    heard = listener.on(topic)
    return payload(heard[-1]) if heard else None


def taken_back(listener, topic):
    """What was retained there is no more: the last message is empty."""
    heard = listener.on(topic)
    return heard and not heard[-1].get("payload")


def test_what_arrives():
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, interval_s=3, automation="full", mqtt=b.settings()) as d:
            d.start()
            wait_for("actions", lambda: any(e["type"] == "io.ballast.action.done" for e in l.events()), 60)
            wait_for("online", lambda: [payload(m) for m in l.on("ballast/test/online")] == ["online"])
            kinds = {e["type"] for e in l.events()}
            assert {f"io.ballast.action.{s}" for s in ("recommended", "approved", "starting", "running", "verifying", "done")} <= kinds
            assert "io.ballast.pass_done" in kinds, kinds
            for m in [m for m in l.seen() if m["topic"] != "ballast/test/online"]:
                e = payload(m)
                assert m["qos"] == 1 and m["properties"]["content-type"] == "application/cloudevents+json", m
                assert e["specversion"] == "1.0" and e["datacontenttype"] == "application/json", e
                assert e["source"] == "/ballast/test" and e["time"].endswith("Z") and isinstance(e["data"], dict), e
                assert e.get("subject") != "" and e["type"].startswith("io.ballast."), e
                if "/events/" in m["topic"]:
                    assert m["topic"] == f"ballast/test/events/{e['type'].split('.')[2]}", m
                    assert e["data"]["severity"] in ("info", "notice", "warning", "error") and e["data"]["text"], e
            ids = [payload(m)["id"] for m in l.seen() if m["topic"] != "ballast/test/online"]
            assert len(set(ids)) == len(ids)
            done = next(e for e in l.events() if e["type"] == "io.ballast.action.done")
            assert done["subject"] == done["data"]["action"]["vm"] and done["data"]["action"]["ended"], done
            # the same as the service itself says
            heard = l.events()
            said = {e["id"]: e for e in d.json("events", "--since", "0")}
            for e in heard:
                assert e["type"] == f"io.ballast.{said[number(e)]['type']}" and e["data"] == said[number(e)]["data"]
            hosts = {h["id"]: h for h in d.json("hosts")}
            state = retained(b, "ballast/test/#", {f"ballast/test/{t}" for t in ("online", "state", *(f"hosts/{h}/state" for h in hosts))})
            assert state["ballast/test/online"] == "online" and not any("/events/" in t for t in state), state.keys()
            assert state["ballast/test/state"]["data"]["source"]["state"] == "up"
            for id_, h in hosts.items():
                found = state[f"ballast/test/hosts/{id_}/state"]
                assert found["subject"] == id_ and found["data"]["state"] == h["state"] and found["data"]["cpu"]["load"] > 0
                assert [found["data"][r]["pending"] for r in ("cpu", "mem")] == [round(h[r]["pending"] / h[r]["capacity"], 2) for r in ("cpu", "mem")], (found, h)
            text = d.cli("status")
            assert "mqtt         mqtts://localhost" in text and "connected since" in text, text
            d.stop()
            wait_for("offline", lambda: last(l, "ballast/test/online") == "offline")
            assert numbers(l) == list(range(1, len(numbers(l)) + 1)), numbers(l)  # nobody died: nothing twice
        # what is held against conf/asyncapi.json at the end of each test here; and that a difference would be found
        published = b.published()
        assert {("will", "ballast/test/online", 1, True), ("message", "ballast/test/events/pass_done", 1, False)} <= published, published
        assert {m["topic"] for m in l.messages} == {topic for what, topic, _, _ in published if what == "message"}
        event = next(m for m in l.messages if m["topic"].endswith("/events/pass_done"))
        state = next(m for m in l.messages if m["topic"] == "ballast/test/state")
        what_differs_is_found(b.document(), event, state)


def what_differs_is_found(document, event, state):
    flags = [(document.check_published, "ballast/test/event", 1, False), (document.check_published, "ballast/test/online", 1, False),
             (document.check_published, "ballast/test/online", 0, True), (document.check_will, "ballast/test/state", 1, True)]
    payloads = [(document.check_message, {**event, "topic": "ballast/test/events/fault"}),
                (document.check_message, {**event, "payload": event["payload"].replace("io.ballast.pass_done", "io.ballast.ghost")}),
                (document.check_message, {**event, "payload": event["payload"].replace("{", '{"more": 1, ', 1)}),
                (document.check_message, {**state, "payload": ""}), (document.check_message, {**state, "properties": {}}),
                (document.check_command, "ballast/test/cmd/status", "{}"), (document.check_command, "ballast/test/cmd/wake", "{}")]
    for check, *wrong in flags + (payloads if schemas.jsonschema else []):
        try:
            check(*wrong)
        except AssertionError:
            continue
        raise RuntimeError(f"{check.__name__}{wrong} passes")


def test_ballastd_dies():
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            d.start()
            all_are_there(d, l)
            for _ in range(3):
                had = max(numbers(l))
                talker = threading.Thread(target=talk_until_it_dies, args=(d, 1000), daemon=True)
                talker.start()
                wait_for("some are there", lambda: max(numbers(l)) > had + 10, every=0.01)
                d.kill()  # in the middle of it
                talker.join(60)
                wait_for("the last will", lambda: last(l, "ballast/test/online") == "offline")
                d.start()
                wait_for("back", lambda: last(l, "ballast/test/online") == "online")
                all_are_there(d, l)
            assert len(numbers(l)) - len(once(l)) <= 3 * WINDOW, numbers(l)
            assert len(once(l)) > 20
            d.stop()


def test_the_broker_goes():
    with Broker() as b:
        with Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            d.start()  # nobody is there yet
            wait_for("an error", lambda: d.status()["mqtt"]["error"])
            assert "cannot be reached: Connection refused" in d.status()["mqtt"]["error"], d.status()["mqtt"]
            assert "NOT CONNECTED" in d.cli("status")
            talk(d, 5)
            b.start()
            with b.listen("ballast/#") as l:
                all_are_there(d, l)
                b.kill()
                talk(d, 20)
                wait_for("unsent", lambda: d.status()["mqtt"]["unsent"] == 40)
                b.start()
                all_are_there(d, l)
                assert b.received("ballast/test/events") == last_number(d), numbers(l)  # each was sent once
                # the service goes as well, while nobody is there
                b.kill()
                talk(d, 3)
                d.kill()
                d.start()
                talk(d, 3)
                b.start()
                all_are_there(d, l)
                assert b.received("ballast/test/events") == last_number(d), numbers(l)
            d.stop()


def test_the_broker_hangs():
    with Broker() as b:
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            d.start()
            all_are_there(d, l)
            b.hang()
            began = time.monotonic()
            talk(d, 40)
            assert time.monotonic() - began < 40 and d.status()["mqtt"]["unsent"] == 80  # waits for nobody
            wait_for("it is given up", lambda: not d.status()["mqtt"]["connected"], 90, 1)
            b.go_on()
            all_are_there(d, l, 90)
            assert len(numbers(l)) - len(once(l)) <= 2 * WINDOW, numbers(l)
            d.stop()


class SlowLine:
    """A way to the broker that can be held: what is sent arrives later, all of it."""

    def __init__(self, broker):
        self.to = broker.port
        self.free = threading.Event()
        self.free.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.to))
            threading.Thread(target=self.pass_on, args=(near, far), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(far, near), daemon=True).start()

    def pass_on(self, a, b):
        try:
            while data := a.recv(65536):
                self.free.wait()
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def test_it_ends_while_the_line_is_slow():
    """The last word does not get through in time, and may not even have room on the way: the last will stands in for it."""
    for events in (0, 40):
        with Broker(tls=False) as b:
            b.start()
            line = SlowLine(b)
            with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(url=f"mqtt://127.0.0.1:{line.port}")) as d:
                d.start()
                all_are_there(d, l)
                line.free.clear()
                talk(d, events)
                time.sleep(1)
                d.stop()
                assert "has not ended within 10 s" not in d.log.read_text(), d.log.read_text()
                line.free.set()
                wait_for("offline", lambda: payload(l.on("ballast/test/online")[-1]) == "offline", 20)
                assert retained(b, "ballast/test/online", {"ballast/test/online"}) == {"ballast/test/online": "offline"}
            line.listener.close()


def test_whose_certificate_it_is():
    """One of the right authority, for another name."""
    with Broker() as b:
        b.start()
        url = f"mqtts://127.1:{b.port}"  # the same place; the certificate names localhost and 127.0.0.1
        with Daemon(SIM, **QUIET, mqtt=b.settings(url=url)) as d:
            d.start()
            wait_for("an error", lambda: d.status()["mqtt"]["error"])
            assert "certificate verify failed" in d.status()["mqtt"]["error"], d.status()["mqtt"]
            d.stop()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(url=url, tls_verify=False)) as d:
            d.start()
            all_are_there(d, l)
            d.stop()


def test_it_is_not_let_in():
    with Broker() as b:
        b.start()
        with Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            (b.folder / "ballast.password").write_text("wrong\n")
            d.start()
            wait_for("an error", lambda: d.status()["mqtt"]["error"])
            error = d.status()["mqtt"]["error"]
            assert "rejects the login: Not authorized (reason 135); are mqtt.username and the password right?" in error, error
            d.stop()
            log = d.log.read_text()
            assert log.count("rejects the login") == 1 and "wrong" not in log, log
        other = Broker()
        with Daemon(SIM, **QUIET, mqtt=b.settings(ca_file=str(other.ca[1]))) as d:
            d.start()
            wait_for("an error", lambda: d.status()["mqtt"]["error"])
            assert "certificate verify failed" in d.status()["mqtt"]["error"], d.status()["mqtt"]
            d.stop()
        other.dir.cleanup()
        with Daemon(SIM, **QUIET, mqtt=b.settings(ca_file=None)) as d:  # the system does not know it either
            d.start()
            wait_for("an error", lambda: d.status()["mqtt"]["error"])
            assert "certificate verify failed" in d.status()["mqtt"]["error"], d.status()["mqtt"]
            d.stop()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(ca_file=None, tls_verify=False)) as d:
            d.start()
            all_are_there(d, l)
            d.stop()
            assert "TLS CERTIFICATES ARE NOT VERIFIED" in d.log.read_text()


def test_it_may_not_write_everything():
    with Broker(tls=False) as b:
        b.allow("topic write ballast/test/events/frozen\ntopic write ballast/test/online")
        b.start()
        with b.listen("ballast/#") as l, Daemon(SIM, **QUIET, mqtt=b.settings()) as d:
            d.start()
            talk(d, 10)
            wait_for("frozen", lambda: len(l.events()) >= 10)
            assert len(l.events()) == 10, l.events()
            assert all(e["type"] == "io.ballast.frozen" for e in l.events())
            wait_for("nothing unsent", lambda: d.status()["mqtt"]["unsent"] == 0)
            st = d.status()["mqtt"]
            assert st["refused"] >= 12 and "Not authorized" in st["refusal"], st
            assert st["refused_kept"] >= 10, st
            said = " ".join(d.cli("status").split())
            assert "sent again; the last: the broker refuses messages to ballast/test/" in said, said
            # what was refused comes once the rules allow it, each event once, and those that came are not repeated
            b.allow("topic write ballast/test/#")
            b.process.send_signal(signal.SIGHUP)
            wait_for("what was refused", lambda: d.status()["mqtt"]["refused_kept"] == 0, 60)
            wait_for("thawed", lambda: sum(e["type"] == "io.ballast.thawed" for e in l.events()) >= 10)
            ids = [e["id"] for e in l.events()]
            assert len(ids) == len(set(ids)), ids
            stored = {e["id"] for e in d.request({"command": "events", "after": 0, "limit": 1000})["events"]}
            wait_for("all", lambda: {int(e["id"].rsplit("-", 1)[1]) for e in l.events()} >= stored)
            d.stop()
            log = d.log.read_text()
            assert log.count("refuses messages to ballast/test/events/thawed: Not authorized") == 1, log


def test_nobody_answers():
    """Something takes the connection and says nothing; with TLS and without."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(50)
        url = f"127.0.0.1:{s.getsockname()[1]}"
        with Daemon(SIM, **QUIET, mqtt={"url": f"mqtt://{url}"}) as plain, Daemon(SIM, **QUIET, mqtt={"url": f"mqtts://{url}"}) as tls:
            plain.start()
            tls.start()
            for d in (plain, tls):
                talk(d, 5)
                wait_for("an error", lambda: d.status()["mqtt"]["error"], 60, 1)
                assert not d.status()["mqtt"]["connected"] and d.status()["mqtt"]["unsent"] >= 10
                d.stop()
                assert "has not ended within 10 s" not in d.log.read_text()


def snapshot(states, at):
    return {"format": "ballast-snapshot/1", "cluster": "file", "time": at,
            "hosts": [{"id": h, "name": f"esx-{h}", "state": s, "cpu_mhz": 10000, "cores": 4, "mem_mb": 32768}
                      for h, s in states.items()],
            "vms": [{"id": v, "name": v, "host": h, "state": "on", "vcpus": 1, "mem_mb": 1024, "cpu": {"demand": 1000},
                     "mem": {"demand": 500}}
                    for v, h in (("v1", "a/b"), ("v2", "h2" if states.get("h2") == "disconnected" else "a/b"))]}


def test_hosts():
    """States that others change; a host that goes; names that would like to be topics."""
    with Broker() as b:
        b.allow("topic readwrite dc1/ballast/#")
        b.start()
        with b.listen("dc1/#") as l, Daemon({"kind": "file"}, automation="manual", interval_s=2,
                                            mqtt=b.settings(topic="dc1/ballast")) as d:
            file = d.folder / "cluster.json"
            d.settings["source"]["file"] = str(file)
            d.write(cluster="prod/a +#")

            def put(comes=None, **states):
                states = {"a/b": "on", **states}
                draft = d.folder / "draft"
                now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
                made = snapshot(states, now)
                if comes:  # a VM to this host
                    host = next(h for h in made["hosts"] if h["id"] != comes)
                    made["vms"].append({"id": "on-its-way", "state": "on", "host": host["id"], "vcpus": 1, "mem_mb": 1024, "cpu": {"demand": host["cpu_mhz"] / 10},
                                        "mem": {"demand": 512, "consumed": 512}})
                    made["migrations"] = [{"vm": "on-its-way", "from": host["id"], "to": comes, "started": now}]
                draft.write_text(json.dumps(made))
                draft.rename(file)

            top = "dc1/ballast/prod%2Fa%20%2B%23"
            put(h2="on", h3="on")
            d.start()
            wait_for("a host and an event", lambda: l.on(f"{top}/hosts/a%2Fb/state") and l.events())
            assert l.events()[0]["source"] == "/ballast/prod%2Fa%20%2B%23"
            for state in ("standby", "powering_on", "on"):
                put(h2=state, h3="on")
                wait_for(state, lambda: any(e["type"] == f"io.ballast.host.{state}" for e in l.events()), 30)
            changes = [e for e in l.events() if e["type"].startswith("io.ballast.host.")]
            assert [(e["data"]["was"], e["data"]["state"]) for e in changes] == [
                ("on", "standby"), ("standby", "powering_on"), ("powering_on", "on")], changes
            assert all(e["subject"] == "h2" and e["data"]["host_name"] == "esx-h2" for e in changes), changes
            wait_for("its state", lambda: (last(l, f"{top}/hosts/h2/state") or {}).get("data", {}).get("state") == "on")
            put(comes="h2", h2="on", h3="on")
            wait_for("what is on its way", lambda: last(l, f"{top}/hosts/h2/state")["data"]["cpu"].get("pending") == 0.1, 30)
            assert last(l, f"{top}/hosts/h3/state")["data"]["cpu"]["pending"] == 0
            put(h2="on", h3="on")
            put(h2="disconnected", h3="on")
            wait_for("a fault", lambda: any(e["type"] == "io.ballast.fault" and e["subject"] == "h2" and
                                            e["data"]["code"] == "host_disconnected" for e in l.events()), 30)
            put(h2="on", h3="on")
            wait_for("it is cleared", lambda: any(e["type"] == "io.ballast.fault_cleared" and e["subject"] == "h2"
                                                  for e in l.events()), 30)
            put(h2="on")
            wait_for("it is taken back", lambda: taken_back(l, f"{top}/hosts/h3/state"), 30)
            wanted = {f"{top}/{t}" for t in ("online", "state", "hosts/a%2Fb/state", "hosts/h2/state")}
            assert set(retained(b, "dc1/#", wanted)) == wanted
            d.kill()
            put()  # goes while nobody looks
            d.start()
            wait_for("it is taken back", lambda: taken_back(l, f"{top}/hosts/h2/state"), 30)
            assert once(l) == list(range(1, len(once(l)) + 1)), once(l)
            d.stop()


def test_a_night():
    """After a night a line says who slept: as an event, in `status` and in the log. Here a night ends every 20 s."""
    with Broker() as b:
        b.allow("topic readwrite ballast/#")
        b.start()
        with b.listen("ballast/#") as l, Daemon({"kind": "file"}, automation="manual", interval_s=2, mqtt=b.settings(),
                                                dpm={"enabled": True, "ready_by": ["*:*:0/20"], "time_zone": "Europe/Berlin"}) as d:
            file = d.folder / "cluster.json"
            d.settings["source"]["file"] = str(file)
            d.write()

            def put(**states):
                draft = d.folder / "draft"
                draft.write_text(json.dumps(snapshot({"a/b": "on", **states}, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))))
                draft.rename(file)

            nights = lambda: [e for e in l.events() if e["type"] == "io.ballast.night"]
            put(h2="on", h3="on")
            d.start()
            wait_for("hosts", lambda: d.run("hosts").returncode == 0)
            put(h2="standby", h3="on")
            wait_for("asleep", lambda: d.status()["asleep"])
            wait_for("the night's line", nights, 90)
            first = nights()[0]["data"]
            assert first["severity"] == "info" and [h["host_name"] for h in first["night"]["hosts"]] == ["esx-h2"], first
            assert " Europe/Berlin: 1 host slept, " in first["text"] and "esx-h2 since " in first["text"], first
            assert d.status()["night"] == first["night"], d.status()["night"]
            assert "night last night, " in " ".join(d.cli("status").split())
            assert f"night: {first['text']}" in d.log.read_text()
            put(h2="on", h3="on")
            wait_for("the next line", lambda: len(nights()) > 1, 90)
            host = nights()[1]["data"]["night"]["hosts"][0]
            assert host["from"] == first["night"]["hosts"][0]["from"] and host["until"] > host["from"], host
            d.stop()


def test_too_much():
    """More than is kept happens while the broker is away: the oldest go, with a word. And a follower that does not read."""
    with Broker() as b:
        with Daemon(SIM, **QUIET, mqtt=b.settings(), history={"events": 1000}) as d:
            d.start()
            slow = d.connect()
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.sendall(json.dumps({"command": "events", "follow": True, "after": 0}).encode() + b"\n")
            lines = []
            fast = d.connect()
            fast.settimeout(None)
            fast.sendall(json.dumps({"command": "events", "follow": True, "after": 0}).encode() + b"\n")

            def follow():
                for line in fast.makefile():
                    lines.append(json.loads(line))

            threading.Thread(target=follow, daemon=True).start()
            talk(d, 900)
            last = last_number(d)
            kept = d.json("events", "--since", "0")
            assert 1000 <= len(kept) <= 1100 and kept[-1]["id"] == last, (len(kept), last)
            wait_for("the follower", lambda: lines and lines[-1]["events"][-1]["id"] == last)
            seen = [e["id"] for r in lines for e in r["events"]]
            assert seen == list(range(1, last + 1))
            wait_for("the slow one is dropped", lambda: "does not read the events that it follows fast enough: dropped" in d.log.read_text(), 60, 1)
            slow.close()
            b.start()
            with b.listen("ballast/#") as l:
                wait_for("all", lambda: last in numbers(l), 90)
                got = numbers(l)
                assert got == list(range(got[0], last + 1)), got
                gaps = [e for e in l.events() if e["type"] == "io.ballast.gap"]
                missing_ = {n for e in d.json("events", "--since", "0", "--kind", "gap")
                            for n in range(e["data"]["from"], e["data"]["to"] + 1)}
                assert gaps and max(missing_) == got[0] - 1, (gaps, got[0])
                assert all(e["data"]["severity"] == "warning" for e in gaps), gaps
            fast.close()
            d.stop()


if __name__ == "__main__":
    if missing():
        print(f"needs {', '.join(missing())}")
        sys.exit(77)
    main(test_what_arrives, test_ballastd_dies, test_the_broker_goes, test_the_broker_hangs, test_it_ends_while_the_line_is_slow,
         test_whose_certificate_it_is, test_it_is_not_let_in, test_it_may_not_write_everything, test_nobody_answers, test_hosts, test_a_night, test_too_much)
