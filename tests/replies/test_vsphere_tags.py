#!/usr/bin/env python3
"""The tags that the vSphere collector reads, against answers made by hand: labels, and inventories that are whole without tags."""
import base64
import functools
import json
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "peers")]
import server as made  # noqa: E402
from at_once import PASSED, at_once, run_tests  # noqa: E402
from probe import Probe, by_id  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="ballast-replies-")
PASSWORD_FILE = pathlib.Path(FOLDER.name) / "password"
PASSWORD_FILE.write_text(made.PASSWORD + "\n")


def probe(s, **more):
    return Probe(**{"url": s.url, "username": made.USERNAME, "password_file": PASSWORD_FILE, "cluster": "Prod/East",
                    "timeout_s": 100, **more})


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


REST, API = ("/rest/com/vmware/cis/session", "/rest/com/vmware/cis/tagging/"), ("/api/session", "/api/cis/tagging/")
ATTACHED = [{"object_id": {"type": "VirtualMachine", "id": "vm-1"}, "tag_ids": ["urn:t:1", "urn:t:2", "urn:t:3"]},
            {"object_id": {"type": "HostSystem", "id": "host-11"}, "tag_ids": ["urn:t:2"]}]


def serve_tags(s, places=REST, wrap=True, attached=None, session="session-of-tags", names=()):
    """The API of tags: gold and bronze of the category tier; a third tag that may not be read."""
    session_path, tagging = places
    prefix = "id:" if wrap else ""

    def gives(value):
        return s.gives(json.dumps({"value": value} if wrap else value).encode())

    def login(call):
        token = base64.b64encode(f"{made.USERNAME}:{made.PASSWORD}".encode()).decode()
        if call.handler.headers.get("Authorization") != f"Basic {token}":
            return call.reply(b"", 401)
        return gives(session)(call)

    s.rest[("POST", session_path)] = login
    s.rest[("DELETE", session_path)] = s.gives(b"", 204)
    s.rest[("POST", tagging + "tag-association")] = gives(ATTACHED if attached is None else attached)
    for i, name in ((1, "gold"), (2, "bronze")):
        s.rest[("GET", f"{tagging}tag/{prefix}urn:t:{i}")] = gives({"name": name, "category_id": "urn:c:1", **dict(names)})
    s.rest[("GET", f"{tagging}tag/{prefix}urn:t:3")] = s.gives(b"", 403)
    s.rest[("GET", f"{tagging}category/{prefix}urn:c:1")] = gives({"name": "tier"})


def test_tags():
    """Below /rest, or below /api where the peer has no /rest; several tags of a category are one label."""
    for places, wrap in ((REST, True), (API, False)):
        with made.Server() as s, probe(s, stats="quick") as p:
            serve_tags(s, places, wrap)
            for _ in range(2):
                inv = p("collect")
                assert inv["ok"], inv
                equal("a VM", by_id(inv["vms"])["vm-1"]["labels"], {"tier": "bronze;gold"})
                equal("a host", by_id(inv["hosts"])["host-11"]["labels"], {"tier": "bronze"})
                equal("without", by_id(inv["vms"])["vm-2"]["labels"], {})
                equal("groups", [g for g in inv["groups"] if g["kind"] != "drs"], [{"id": "tag:tier:bronze", "name": "bronze", "kind": "tag:tier", "hosts": ["host-11"]}])
                equal("unread", inv["labels_unread"], None)
            # read once for both inventories, and each name once
            prefix = "id:" if wrap else ""
            names = [f"tag/{prefix}urn:t:{i}" for i in (1, 2, 3)] + [f"category/{prefix}urn:c:1"]
            equal("calls", sorted(s.rest_calls), sorted(
                [("POST", REST[0]), *([] if wrap else [("POST", API[0])]), ("POST", places[1] + "tag-association"),
                 *(("GET", places[1] + name) for name in names), ("DELETE", places[0])]))
            equal("logged out", s.rest_calls[-1], ("DELETE", places[0]))
            assert "tags of vSphere" not in p.close()


def test_tags_are_not_to_be_had():
    """Whatever the API of tags answers, the inventory is whole; the log says once why there are no tags."""
    def login(answer):
        return lambda s: s.rest.__setitem__(("POST", REST[0]), answer(s))

    def attached(value):
        return lambda s: serve_tags(s, attached=value)

    cases = (
        (lambda s: s.rest.clear(), "no API for tags"),
        (login(lambda s: s.gives(b"", 503)), "HTTP 503"),
        (login(lambda s: s.gives(b"{")), "not JSON"),
        (login(lambda s: s.gives(b'{"value": 7}')), "without a session"),
        (login(lambda s: s.gives(b'{"value": "a\\r\\nHost: b"}')), "without a session"),
        (login(lambda s: s.vanish), "/rest/com/vmware/cis/session"),
        (login(lambda s: s.hang), "/rest/com/vmware/cis/session"),
        (attached("nonsense"), "no list of objects"),
        (attached([7]), "no list of objects"),
        (attached([{"object_id": {"id": "vm-1"}, "tag_ids": "urn:t:1"}]), "no list of objects"),
        (attached([{"object_id": {"id": "vm-1"}, "tag_ids": ["../../../session"]}]), "malformed"),
        (attached([{"object_id": {"id": "vm-1"}, "tag_ids": ["urn:t:9", "urn:t:1"]}]), None),  # deleted meanwhile
        (lambda s: serve_tags(s, names={"name": ["gold"]}), "is no tag"),
        (lambda s: serve_tags(s, names={"name": "x" * 2000}), "is no tag"),
        (lambda s: s.rest.__setitem__(("POST", REST[1] + "tag-association"), s.gives(b"", 403)), "HTTP 403"),
        (lambda s: s.rest.__setitem__(("POST", REST[1] + "tag-association"), s.gives(b'{"value":' + b"[" * 100000)), "not JSON"),
    )

    def one(spoil, words):
        with made.Server() as s, probe(s, stats="quick", timeout_s=20) as p:
            serve_tags(s)
            spoil(s)
            for _ in range(2):
                inv = p("collect")
                assert inv["ok"], inv
                equal("VMs", len(inv["vms"]), 14)
                equal("labels", by_id(inv["vms"])["vm-1"]["labels"], {} if words else {"tier": "gold"})
                unread = inv["labels_unread"]  # a peer without the API has no tags that are missing
                assert words in unread if words and words != "no API for tags" else unread is None, (words, unread)
            log = p.close()
            equal(f"said once: {words}", log.count("tags of vSphere cannot be read"), 1 if words else 0)
            assert not words or words in log, log

    equal("all of them", at_once([(f"tags: {words}", functools.partial(one, *case)) for case in cases for words in case[1:]]),
          PASSED)


def test_tags_and_a_refused_password():
    """A password that the API of tags refuses is not sent again, and the session of the inventory stays."""
    with made.Server() as s, probe(s, stats="quick") as p:
        s.rest[("POST", REST[0])] = s.gives(b"", 401)
        for _ in range(3):
            assert p("collect")["ok"]
        equal("logins", s.rest_calls, [("POST", REST[0])])
        equal("sessions", s.n_sessions, 1)
        log = p.close()
        assert "was refused: user name or password are wrong" in log and made.PASSWORD not in log, log


if __name__ == "__main__":
    code = run_tests(globals())
    FOLDER.cleanup()
    sys.exit(code)
