"""asyncapi.py: holds what a broker gets from the service against conf/asyncapi.json.

    document = asyncapi.Document(tops, prefixes)     # values of mqtt.topic and of mqtt.home_assistant
    document.check_published(topic, qos, retain)     # by the broker's log: each message that the service has published
    document.check_message(message)                  # as mosquitto_sub -F %j writes it
    document.check_command(topic, payload)           # one that was carried out
    document.check_will(topic, qos, retain)

Each raises AssertionError: a topic that the document does not have, flags or a payload that differ from it.
"""
import json
import re

import schemas

DOCUMENT = schemas.load("asyncapi")
checked = set()  # channel and shape of payloads


def at(reference):
    found = DOCUMENT
    for step in reference["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


def operations():
    """(action, name of the channel, retain, qos)"""
    for o in DOCUMENT["operations"].values():
        binding = o["bindings"]["mqtt"]
        yield o["action"], o["channel"]["$ref"].rsplit("/", 1)[1], binding["retain"], binding["qos"]


class Document:
    def __init__(self, tops, prefixes):
        words = {"topic": "|".join(map(re.escape, tops)), "prefix": "|".join(map(re.escape, prefixes)), "sender": ".+", "device": "[A-Za-z0-9_-]+"}
        self.patterns = {}
        for name, channel in DOCUMENT["channels"].items():
            parts = re.split(r"{(\w+)}", channel["address"])
            self.patterns[name] = re.compile("".join(f"(?:{words.get(p, '[^/]+')})" if i % 2 else re.escape(p) for i, p in enumerate(parts)))

    def channel(self, topic, action="send"):
        """Its name, and the operation's flags."""
        found = [(name, retain, qos) for a, name, retain, qos in operations() if a == action and self.patterns[name].fullmatch(topic)]
        assert len(found) == 1, f"{topic}: conf/asyncapi.json has {[f[0] for f in found] or 'no channel'} of it"
        return found[0]

    def check_published(self, topic, qos, retain):
        name, retain_, qos_ = self.channel(topic)
        assert (qos, retain) == (qos_, retain_), f"{topic}: QoS {qos}, retain {retain}, not as channel {name} of conf/asyncapi.json says"

    def check_will(self, topic, qos, retain):
        will = DOCUMENT["servers"]["broker"]["bindings"]["mqtt"]["lastWill"]
        self.check_published(topic, qos, retain)
        assert self.channel(topic)[0] == next(n for n, c in DOCUMENT["channels"].items() if c["address"] == will["topic"]), topic
        assert (qos, retain) == (will["qos"], will["retain"]), (topic, qos, retain)

    def check_message(self, message):
        name, _, _ = self.channel(message["topic"])
        text = message.get("payload") or ""
        content_type = message.get("properties", {}).get("content-type", "text/plain")
        self.check_payload(name, text, content_type)

    def check_command(self, topic, text):
        self.check_payload(self.channel(topic, "receive")[0], text or "{}", "application/json")

    def check_payload(self, channel, text, content_type):
        try:
            value = text if content_type == "text/plain" else json.loads(text)
        except ValueError as e:
            raise AssertionError(f"channel {channel}: {text[:500]!r} is no JSON") from e
        key = channel, content_type, *((value,) if isinstance(value, str) else (schemas.shape(value), value.get("type")))
        if key in checked or schemas.jsonschema is None:
            return
        fits, wrong = [], []
        for reference in DOCUMENT["channels"][channel]["messages"].values():
            name = reference["$ref"].rsplit("/", 1)[1]
            error = f"{name} is {at(reference)['contentType']}" if at(reference)["contentType"] != content_type else wrong_with(name, value)
            (wrong if error else fits).append(error or name)
        assert len(fits) == 1, f"channel {channel} of conf/asyncapi.json: {text[:500]!r} ({content_type}) is {fits or wrong}"
        checked.add(key)


def wrong_with(name, value):
    error = next(schemas.validator("asyncapi", name).iter_errors(value), None)
    return error and f"{name}: /{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}"
