#!/usr/bin/env python3
"""Hosts behind controllers of all common makes, as redfish_personalities.py imitates them: told, shut down, woken, cut, measured and
identified, each in one session; and again while the controller is busy, loses answers or has no session left."""
import pathlib
import sys

from redfish_personalities import PERSONALITIES, personality
from test_redfish import probe, refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

READS = "GET /redfish/v1/Systems/[^/]+"
RESETS = "POST .*/Actions/ComputerSystem.Reset"
LOGIN = "/redfish/v1/SessionService/Sessions"


def last(bmc):
    """The system that is switched: the last, with neighbours that must not notice."""
    return list(bmc.systems.values())[-1]


def others_are_on(bmc):
    return all(s.is_on() for s in list(bmc.systems.values())[:-1])


def ask_for(bmc, **more):
    s = last(bmc)
    more = {"power_button": "true", **({"system": s.name} if len(bmc.systems) > 1 else {}), **more}
    return probe(bmc, **more)


def round_trip(bmc, p):
    """Down softly and up again, cut and up again."""
    s = last(bmc)
    for verb, on in (("shut_down", False), ("wake", True), ("cut", False), ("cut", False), ("wake", True), ("wake", True)):
        answer = p(verb)
        assert answer["ok"] and s.is_on() == on, (verb, answer)
        assert p("chassis")["on"] == on
    assert others_are_on(bmc), "a neighbour was switched"


def check_all(name):
    with personality(name) as bmc:
        s = last(bmc)
        with ask_for(bmc) as p:
            assert p("chassis")["on"]
            assert p("watts")["watts"] == s.watts, p("watts")
            before, connections = len(bmc.requests), bmc.connections
            s.watts += 7
            assert p("watts")["watts"] == s.watts
            redirects = 2 if bmc.redirect and not bmc.slashes else 1
            assert (len(bmc.requests) - before, bmc.connections) == (redirects, connections), bmc.requests[before:]
            round_trip(bmc, p)
            identity = p("identify")
            assert (identity["uuid"], identity["mark"]) == (s.uuid, f"serial {s.serial}"), identity
            assert bmc.logins() == 1 and bmc.sessions() == (0 if name == "idrac8" else 1)
        assert bmc.sessions() == 0


def check_faults(name):
    with personality(name) as bmc:
        s = last(bmc)
        with ask_for(bmc) as p:
            bmc.busy = {READS: 1, RESETS: 1}
            assert p("cut")["ok"] and not s.is_on() and not any(bmc.busy.values())
            bmc.lost = {RESETS}
            assert p("wake")["ok"] and s.is_on()
            resets = len(bmc.resets)
            assert p("shut_down")["ok"] and not s.is_on() and len(bmc.resets) == resets + 1
            bmc.lost, bmc.tasks = set(), "done"
            assert p("wake")["ok"] and s.is_on()
            bmc.tasks = "critical"
            assert not p("cut")["ok"]
            bmc.tasks = None
            bmc.tokens.clear()  # the controller restarts
            assert p("wake")["ok"] and s.is_on()
        bmc.sessions_max = 0
        with ask_for(bmc) as p:
            assert p("chassis")["on"] and p("cut")["ok"] and not s.is_on()
        assert others_are_on(bmc)


def made(check, name):
    """A test without arguments."""
    return lambda: check(name)


for one in PERSONALITIES:
    globals()[f"test_{one}"] = made(check_all, one)
    globals()[f"test_{one}_faults"] = made(check_faults, one)


def test_without_the_button():
    """iLO 4 without `power_button`: woken and cut, and not shut down."""
    with personality("ilo4") as bmc:
        with probe(bmc) as p:
            refused(p("shut_down"), "EOPNOTSUPP", "power_button: true")
            assert bmc["1"].is_on() and p("cut")["ok"] and p("wake")["ok"] and bmc["1"].is_on()


def test_which_node():
    """A multi-node chassis without `system`: nothing is done, whatever the pages look like."""
    with personality("multinode") as bmc:
        for bmc.next_link in ("?$skip={}", "/redfish/v1/Systems?$skip={}"):
            with probe(bmc) as p:
                refused(p("cut"), "EINVAL", "4 systems", "Node1, Node2, Node3, Node4")
        bmc.next_link = 7
        with probe(bmc) as p:
            refused(p("cut"), "EPROTO")
        assert not bmc.resets and all(s.is_on() for s in bmc.systems.values())


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
