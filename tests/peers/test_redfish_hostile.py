#!/usr/bin/env python3
"""Redfish services that change, err and attack: none of it switches another machine, leaks a password or takes more than its time."""
import hashlib
import itertools
import pathlib
import ssl
import sys

from redfish_service import RedfishService
from test_redfish import RESET, SYSTEM, probe, refused

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


def certificate(bmc):
    """Its fingerprint, as other programs tell it."""
    pem = ssl.get_server_certificate(("127.0.0.1", bmc.port))
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem)).hexdigest()


def test_certificate_as_identity():
    """A controller without a serial number is known by its certificate; one with a number stays the same under a new one."""
    with RedfishService() as bmc:
        for serial in (None, "", "To be filled by O.E.M.", "0000000000"):
            bmc["1"].serial = serial
            with probe(bmc) as p:
                assert p("identify")["mark"] == f"certificate SHA-256 {certificate(bmc)}", serial
        was = certificate(bmc)
        bmc.renew_certificate()
        with probe(bmc, tls_verify="false") as p:
            assert p("identify")["mark"] == f"certificate SHA-256 {certificate(bmc)}" != f"certificate SHA-256 {was}"
            bmc["1"].serial = "CZJ1234"
            assert p("identify")["mark"] == "serial CZJ1234"
            bmc.renew_certificate()
            bmc.stop()
            bmc.start()
            assert p("identify")["mark"] == "serial CZJ1234"
            assert p("same shut_down")["ok"]


def test_another_key_right_before():
    """The connection of the reset leads to another controller, which would take it: same password, no sessions. It gets nothing.
    A controller that has a new certificate just now is asked once more, and obeys."""
    with RedfishService() as bmc, probe(bmc, tls_verify="false") as p:
        bmc.sessions_offered = False
        assert p("identify")["ok"]
        was = bmc["1"].uuid

        def becomes_another():
            bmc.renew_certificate()
            bmc["1"].uuids = itertools.chain([was], itertools.repeat(OTHER))  # this answer is the last of the old one

        for verb in ("same shut_down", "same cut"):
            bmc["1"].uuids = None
            assert p("identify")["uuid"] == was
            bmc.events[f"GET {SYSTEM}"] = becomes_another
            refused(p(verb), "EPERM", "another controller answers", was, OTHER, "Nothing was requested")
            assert not bmc.resets
        bmc["1"].uuids = None
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        assert p("same shut_down")["ok"] and len(bmc.resets) == 1 and not bmc["1"].is_on()
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        assert p("wake")["ok"] and len(bmc.resets) == 2
        bmc["1"].serial = None  # now the certificate is what it is known by
        assert p("identify")["ok"]
        bmc.events[f"GET {SYSTEM}"] = bmc.renew_certificate
        refused(p("same shut_down"), "EPERM", "another controller answers", "certificate SHA-256")
        assert len(bmc.resets) == 2


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
