#!/usr/bin/env python3
"""What a host draws, through Redfish: the sources of firmware, one after the other, and readings that come and go."""
import pathlib
import sys

from redfish_service import V1, RedfishService
from test_redfish import ask, probe, refused

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402


def test_watts():
    """A reading, no reading, nonsense, none at all; the meter's place is kept, and looked for anew where it fails."""
    with RedfishService() as bmc:
        bmc["1"].watts = 231.5
        with probe(bmc) as p:
            assert p("watts")["watts"] == 231.5
            before = len(bmc.requests)
            bmc["1"].watts = 90
            assert p("watts")["watts"] == 90
            assert len(bmc.requests) == before + 1, "the meter is not looked for again"
            bmc["1"].watts = None
            refused(p("watts"), "EBUSY", "no reading")
            bmc["1"].watts = -5
            refused(p("watts"), "EPROTO")
            bmc["1"].watts = "100"
            refused(p("watts"), "EPROTO")
            bmc["1"].watts = 100
            bmc.meters = ["power"]  # a new firmware, and another schema
            assert p("watts")["watts"] == 100
        bmc.meters = []
        refused(ask(bmc, "watts"), "EOPNOTSUPP", "no power meter")


SOURCES = ["environment", "power", "subsystem", "sensors", "telemetry"]


def test_sources():
    """Each source alone; and each after those before it have no reading, a missing one, or 0 W while the host is on."""
    with RedfishService() as bmc:
        for source in SOURCES:
            bmc.meters, bmc.readings = [source], {}
            assert ask(bmc, "watts")["watts"] == 180, source
        bmc.meters = SOURCES
        for nothing in (None, "missing", 0):
            for i, source in enumerate(SOURCES):
                bmc.readings = {s: nothing for s in SOURCES[:i]}
                bmc.readings[source] = 200 + i
                with probe(bmc) as p:
                    assert p("watts")["watts"] == 200 + i, (source, nothing)
                    before = len(bmc.requests)
                    bmc["1"].watts = 170
                    assert p("watts")["watts"] == 200 + i
                    assert len(bmc.requests) <= before + 2, "one request; one for each power supply"
        bmc.readings = {s: 0 for s in SOURCES}
        refused(ask(bmc, "watts"), "EBUSY", "0 W although the host is on")
        bmc["1"].put("power", 0)
        assert ask(bmc, "watts")["watts"] == 0, "a host that is off may draw nothing"


def test_meter_returns():
    """One missing reading, one 404, one 503: the meter is found again."""
    with RedfishService() as bmc:
        place = f"GET {V1}/Chassis/1/EnvironmentMetrics"
        with probe(bmc) as p:
            assert p("watts")["watts"] == 180
            for fault in ((404, {}, {}), (200, {}, {}), (500, {}, {}), (200, {}, b"<html>")):
                bmc.instead = {place: fault}
                assert not p("watts")["ok"], fault
                bmc.instead = {}
                assert p("watts")["watts"] == 180, fault
            bmc.busy = {place: 1}
            assert p("watts")["watts"] == 180


def test_old_report():
    """A figure counts by its age on the controller's own clock, which may be wrong by years; one without a time does not count."""
    with RedfishService() as bmc, probe(bmc) as p:
        bmc.meters = ["telemetry"]
        for bmc.tells_date in (True, False):
            for bmc.clock_wrong_s in (0, -20 * 365 * 86400, 3600):
                for bmc.report_age_s in (0, 10, 100):
                    assert p("watts")["watts"] == 180, (bmc.clock_wrong_s, bmc.report_age_s)
                for bmc.report_age_s in (150, 4000, 10**8, -4000):
                    refused(p("watts"), "EBUSY", "metric report is of", "its clock says", "120 s")
        bmc.report_age_s = 10
        assert p("watts")["watts"] == 180, "it collects again"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
