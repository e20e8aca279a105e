#!/usr/bin/env python3
"""What Home Assistant is told over MQTT, judged by what it demands of a device's discovery message, with the templates rendered on the
states that really came. Tables from its sources, version 2025.1: components/mqtt/discovery.py and schemas.py (topics, members),
components/sensor/const.py and binary_sensor/__init__.py (classes and units)."""
import json
import re
import sys
import time

from daemon import SIM, Daemon, main, wait_for
from mqtt import Broker, missing, payload
from test_mqtt import snapshot, taken_back

try:
    import jinja2
except ImportError:
    jinja2 = None

QUIET = {"automation": "manual", "interval_s": 3600}
TOPIC = re.compile(r"(?P<component>\w+)/(?:(?P<node_id>[a-zA-Z0-9_-]+)/)?(?P<object_id>[a-zA-Z0-9_-]+)/config")
ROOT = {"device", "origin", "components", "availability", "availability_mode", "availability_template", "availability_topic",
        "payload_available", "payload_not_available", "command_topic", "state_topic", "qos", "encoding"}
DEVICE = {"identifiers", "connections", "manufacturer", "model", "model_id", "name", "hw_version", "serial_number", "sw_version",
          "via_device", "suggested_area", "configuration_url"}
ORIGIN = {"name", "sw_version", "support_url"}
COMMON = {"platform", "unique_id", "name", "availability_topic", "payload_available", "payload_not_available", "availability",
          "device_class", "entity_category", "enabled_by_default", "icon", "qos", "state_topic", "value_template", "object_id",
          "json_attributes_topic", "json_attributes_template"}
OF = {
    "sensor": COMMON | {"state_class", "unit_of_measurement", "options", "expire_after", "force_update", "suggested_display_precision"},
    "binary_sensor": COMMON | {"payload_on", "payload_off", "off_delay", "expire_after", "force_update"},
    "switch": COMMON | {"command_topic", "command_template", "payload_on", "payload_off", "state_on", "state_off", "optimistic", "retain"},
}
SENSOR_UNITS = {"power": {"mW", "W", "kW", "MW", "GW", "TW"}, "energy": {"Wh", "kWh", "MWh"}, "enum": {None}, "timestamp": {None}}
BINARY_CLASSES = {"connectivity", "problem", "running", "power"}
STATE_CLASSES = {"measurement", "total", "total_increasing"}
CATEGORIES = {"config", "diagnostic"}


def check_topic(topic, prefix):
    assert topic.startswith(prefix + "/"), topic
    match = TOPIC.fullmatch(topic[len(prefix) + 1:])
    assert match and match["component"] == "device", topic
    return match["object_id"]


def check_component(c):
    extra = set(c) - OF[c["platform"]]
    assert not extra and c["unique_id"] and c["name"], (extra, c)
    assert all(v is not None for v in c.values()), c
    assert c.get("entity_category") in CATEGORIES | {None} and "config" != c.get("entity_category"), c
    kind, unit = c.get("device_class"), c.get("unit_of_measurement")
    if c["platform"] == "sensor":
        assert kind is None or unit in SENSOR_UNITS[kind], c
        assert c.get("state_class") in STATE_CLASSES | {None}, c
        assert (kind == "enum") == ("options" in c), c
        assert kind != "enum" or ("state_class" not in c and c["options"]), c
        assert unit is None or c.get("state_class"), c  # else it is a text in its statistics
    if c["platform"] == "binary_sensor":
        assert kind in BINARY_CLASSES | {None} and unit is None, c
    if c["platform"] == "switch":
        assert c["command_topic"], c
        assert not set("+#") & set(c["command_topic"]), c


def check_device(topic, message, prefix="homeassistant"):
    """The message, and its components that are there."""
    object_id = check_topic(topic, prefix)
    assert not set(message) - ROOT and {"device", "origin", "components"} <= set(message), message
    device, origin = message["device"], message["origin"]
    assert not set(device) - DEVICE and device["identifiers"] == [object_id] and device["name"], device
    assert not set(origin) - ORIGIN and origin["name"], origin
    gone = {i for i, c in message["components"].items() if set(c) == {"platform"}}  # removes the component
    found = {i: c for i, c in message["components"].items() if i not in gone}
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", i) for i in message["components"]), message
    for c in found.values():
        check_component(c)
    unique = [c["unique_id"] for c in found.values()]
    assert len(set(unique)) == len(unique) and all(u.startswith(object_id) for u in unique), unique
    return found


def rendered(template, text):
    """As Home Assistant renders value_template: with an undefined member it logs a warning, so that is an error here."""
    return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(template).render(value=text, value_json=json.loads(text))


def check_value(c, state_topic, retained):
    """The retained message makes a value that the component takes; returned. None: not known."""
    text = retained[c.get("state_topic", state_topic)]
    value = rendered(c["value_template"], text) if "value_template" in c else text
    if value == "None":
        return None
    if c["platform"] == "binary_sensor":
        assert value in (c.get("payload_on", "ON"), c.get("payload_off", "OFF")), (c, value)
    elif c["platform"] == "switch":
        assert value in (c["state_on"], c["state_off"]), (c, value)
    elif c.get("device_class") == "enum":
        assert value in c["options"], (c, value)
    else:
        float(value)
    return value


def devices(listener, prefix="homeassistant"):
    """The last message of each topic that is not empty, by topic."""
    last = {m["topic"]: m.get("payload") for m in listener.seen() if m["topic"].startswith(prefix + "/")}
    return {t: json.loads(p) for t, p in last.items() if p}


def test_what_it_is_told():
    with Broker() as b:
        b.allow("topic readwrite ballast/#\ntopic write homeassistant/device/#")
        b.start()
        with b.listen("#") as l, Daemon(SIM, **QUIET, mqtt=b.settings(home_assistant=True, commands=["pause", "resume"])) as d:
            d.start()
            hosts = wait_for("hosts", lambda: d.run("hosts").returncode == 0 and d.json("hosts"))
            wait_for("all devices", lambda: len(devices(l)) == len(hosts) + 1)
            d.request({"command": "run"})
            retained = lambda: {m["topic"]: m["payload"] for m in l.seen() if m.get("payload")}
            wait_for("a pass", lambda: json.loads(retained()["ballast/test/state"])["data"]["pass"])
            found = devices(l)
            cluster = found["homeassistant/device/ballast__test/config"]
            components = check_device("homeassistant/device/ballast__test/config", cluster)
            assert {"imbalance", "hosts_on", "power", "recommendations", "pause", "service", "source"} <= set(components), components
            assert cluster["components"]["paused"] == {"platform": "binary_sensor"}
            assert "availability_topic" not in components["service"]  # else it is never off, but not available
            for id_, c in components.items():
                assert id_ == "service" or c["availability_topic"] == "ballast/test/online", c
                value = check_value(c, cluster["state_topic"], retained()) if jinja2 else None
                expected = {"hosts_on": str(len(hosts)), "source": "ON", "service": "online", "pause": "OFF"}.get(id_)
                assert not jinja2 or expected in (None, value), (id_, value)
            for h in hosts:
                topic = f"homeassistant/device/ballast__test__{h['id']}/config"
                of_host = check_device(topic, found[topic])
                assert set(of_host) == {"state", "cpu", "memory", "power", "vms"}, of_host
                device = found[topic]["device"]
                assert device["via_device"] == cluster["device"]["identifiers"][0] and device["name"] == h["name"], device
                values = {i: check_value(c, found[topic]["state_topic"], retained()) for i, c in of_host.items()} if jinja2 else {}
                assert not values or (values["state"] == "on" and 0 < float(values["cpu"]) <= 1000), values
            for m in l.seen():
                if m["topic"].startswith("homeassistant/"):
                    assert m["properties"]["content-type"] == "application/json" and m["qos"] == 1, m
            switch = components["pause"]
            # as it sends: with and without the template that newer versions know
            b.publish(switch["command_topic"], switch["payload_on"])
            wait_for("paused", lambda: d.status()["frozen"])
            if jinja2:
                utcnow = lambda: __import__("datetime").datetime.now(__import__("datetime").timezone.utc)
                sent = jinja2.Environment().from_string(switch["command_template"]).render(value=switch["payload_off"], utcnow=utcnow)
                b.publish(switch["command_topic"], sent)
                wait_for("resumed", lambda: not d.status()["frozen"])
            # without the commands it is a sensor
            d.write(mqtt=b.settings(home_assistant=True))
            d.process.send_signal(1)
            wait_for("a sensor", lambda: devices(l)["homeassistant/device/ballast__test/config"]["components"]["pause"] == {"platform": "switch"})
            assert "paused" in check_device("homeassistant/device/ballast__test/config", devices(l)["homeassistant/device/ballast__test/config"])
            # switched off: all is taken back at the next start, whatever the prefix was
            d.stop()
            told = set(devices(l))
            d.write(mqtt=b.settings(home_assistant="ha/test"))
            b.allow("topic readwrite ballast/#\ntopic write homeassistant/device/#\ntopic write ha/test/device/#")
            b.process.send_signal(1)
            d.start()
            wait_for("the other prefix", lambda: len(devices(l, "ha/test")) == len(told))
            wait_for("taken back", lambda: not devices(l))
            d.stop()
            d.write(mqtt=b.settings())
            d.start()
            wait_for("taken back", lambda: not devices(l, "ha/test"))
            d.stop()


def test_hosts_that_go():
    """And names that are no ids."""
    with Broker(tls=False) as b:
        b.allow("topic readwrite #")
        b.start()
        with b.listen("#") as l, Daemon({"kind": "file"}, automation="manual", interval_s=2,
                                        mqtt=b.settings(home_assistant=True, topic="dc1/ballast")) as d:
            file = d.folder / "cluster.json"
            d.settings["source"]["file"] = str(file)
            d.write(cluster="prod_a +#")

            names = {"a/b": "{{ 1/0 }} \"'\\ </b> +#$ \u202e\u2028\n\t\x7f ☃ " + "x" * 1000, "h2": "", "h3": " "}

            def put(**states):
                draft = d.folder / "draft"
                cluster = snapshot({"a/b": "on", **states}, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
                for host in cluster["hosts"]:
                    host["name"] = names[host["id"]]
                draft.write_text(json.dumps(cluster))
                draft.rename(file)

            top = "homeassistant/device/dc1_2Fballast__prod_5Fa_20_2B_23"
            put(h2="on", h3="on")
            d.start()
            wait_for("all", lambda: set(devices(l)) == {f"{top}{t}/config" for t in ("", "__a_2Fb", "__h2", "__h3")})
            for topic, message in devices(l).items():
                check_device(topic, message)
            shown = {t: m["device"]["name"] for t, m in devices(l).items()}
            assert shown == {f"{top}/config": "prod_a +#", f"{top}__a_2Fb/config": names["a/b"], f"{top}__h2/config": "h2", f"{top}__h3/config": " "}, shown
            put(h2="on")
            wait_for("h3 is taken back", lambda: taken_back(l, f"{top}__h3/config"), 30)
            d.kill()
            put()
            d.start()
            wait_for("h2 is taken back", lambda: taken_back(l, f"{top}__h2/config"), 30)
            assert set(devices(l)) == {f"{top}/config", f"{top}__a_2Fb/config"}
            d.stop()


if __name__ == "__main__":
    if missing():
        print(f"needs {', '.join(missing())}")
        sys.exit(77)
    main(test_what_it_is_told, test_hosts_that_go)
