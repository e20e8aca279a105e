#!/usr/bin/env python3
"""Redfish services that change, err and attack: none of it switches another machine, leaks a password or takes more than its time."""
import itertools
import pathlib
import sys

from redfish_service import RedfishService
from test_redfish import RESET, probe, refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

OTHER = "4c4c4544-0042-5110-8036-b6c04f593132"  # a machine


def test_another_machine_right_before():
    """Another machine answers at the address when the shutdown comes: nothing is sent. A wake is. So is what follows once the
    machine is back; and a login that has ended in between is no way around it."""
    with RedfishService() as bmc, probe(bmc) as p:
        was = bmc["1"].uuid
        assert p("identify")["uuid"] == was
        bmc["1"].uuid = OTHER
        for verb in ("same shut_down", "same cut"):
            refused(p(verb), "EPERM", "another controller answers", was, OTHER, "Nothing was requested")
        assert not bmc.resets and bmc["1"].is_on()
        assert p("wake")["ok"] and bmc.resets.pop()[2] == "On"
        bmc["1"].uuid, bmc["1"].serial = was, "SN-other"  # one placeholder for both machines
        refused(p("same shut_down"), "EPERM", "serial SN-1", "serial SN-other")
        bmc["1"].serial = "SN-1"
        assert p("same shut_down")["ok"] and not bmc["1"].is_on()
        bmc["1"].put("power", 1)
        bmc.events[RESET] = lambda: (setattr(bmc["1"], "uuid", OTHER), bmc.tokens.clear())  # between the look and the reset
        refused(p("same cut"), "EPERM", "another controller answers")
        assert bmc["1"].is_on() and len(bmc.resets) == 1, bmc.resets


def test_another_machine_every_second_time():
    """Two controllers at one address: whichever answers, no shutdown is sent."""
    with RedfishService() as bmc, probe(bmc) as p:
        bmc["1"].uuids = itertools.cycle([bmc["1"].uuid, OTHER])
        for _ in range(4):
            assert p("identify")["ok"]
            refused(p("same shut_down"), "EPERM", "another controller answers")
        assert not bmc.resets


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
