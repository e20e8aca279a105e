#!/usr/bin/env python3
"""The dashboard of a running service. Its files over HTTP: types, tags, policy, paths that lead nowhere. Then in a real browser
(Chromium, headless): signs in, approves by a click and sees the move end, rejects by keyboard; a viewer has no buttons; a refused
action is told in a sentence; why a VM stays, standby, wake, maintenance, pause, history by their pages; names that hold markup are
text, also those of an inventory; approves some and all and sees them end; events bring what is new; charts have points; a new user
finds out what a real night did, with the clocks of the service's zone; on a telephone and on a screen, light and dark, axe-core objects to nothing; each page of 1,000 hosts and 30,000 VMs is updated in
time. dashboard/test/service_page.mjs and service_load.mjs look."""
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ports
from daemon import BALLAST, SIM, at_once, wait_for
from test_http import HOST, Api
from test_report_page import find_browser, skip

ROOT = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
LOOK = ROOT / "dashboard/test/service_page.mjs"
LOOK_S = 1200
LOAD = ROOT / "dashboard/test/service_load.mjs"
HOSTS, VMS = 1000, 30000
UPDATE_MS = 100  # of processor time
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
          "form-action 'none'; frame-ancestors 'none'")


def files(api):
    """What the daemon gives without a token, and how."""
    status, headers, page = api.get("/", None)
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8", headers
    assert headers["Content-Security-Policy"] == POLICY and headers["X-Content-Type-Options"] == "nosniff", headers
    assert headers["Cache-Control"] == "private, no-cache", headers
    assert api.get("/", None, **{"If-None-Match": headers["ETag"]})[::2] == (304, b"")
    assert api.ask("HEAD", "/", None)[::2] == (200, b"")
    names = re.findall(rb'(?:src|href)="(/assets/[^"]+)"', page)
    types = {b"js": "text/javascript; charset=utf-8", b"css": "text/css; charset=utf-8", b"svg": "image/svg+xml"}
    assert {n.rsplit(b".", 1)[1] for n in names} == set(types), names
    for name in names:
        status, headers, data = api.get(name.decode(), None)
        assert status == 200 and headers["Content-Type"] == types[name.rsplit(b".", 1)[1]], (name, headers)
        assert "immutable" in headers["Cache-Control"] and headers["Content-Security-Policy"] == POLICY, headers
        status, headers, again = api.get(name.decode(), None, **{"If-None-Match": headers["ETag"]})
        assert status == 304 and again == b"" and data, (name, status)
    assert b"<script>" not in page and b"style=" not in page and b"http://" not in page.split(b"<!--")[0], page[:500]
    for path in ("/assets/..%2findex.html", "/assets/..%2F..%2Freport.html", "/assets/index.html", "/assets/none.js", "/assets/%2e%2e%2fx",
                 "/assets/" + "a" * 4000):
        api.problem(404, "not-found", "GET", path, None)
    for path in ("/assets/../index.html", "/assets/%2e%2e", "/assets/", "//", "/assets//x", "/assets/%00"):
        status = api.get(path, "viewer")[0]
        assert status == 400, (path, status)
    api.problem(405, "method-not-allowed", "POST", "/", "admin", {})
    api.problem(401, "unauthorized", "GET", "/index.html", None)
    document = api.json("/api/v1/clusters", "operator")
    assert (document["who"], document["role"]) == ("a-operator (token)", "operator"), document


def browser_or_skip():
    browser = find_browser()
    if not shutil.which("node") or not (ROOT / "dashboard/node_modules/playwright-core").exists():
        skip("no node, or dashboard/build was not run")
    return browser


def change(file, snapshot, seed):
    """Each VM asks for up to a twentieth less than in the snapshot."""
    any_ = random.Random(seed)
    changed = json.loads(snapshot)
    for vm in changed["vms"]:
        for resource in ("cpu", "mem"):
            if vm.get(resource, {}).get("demand"):
                vm[resource]["demand"] = round(vm[resource]["demand"] * any_.uniform(0.95, 1), 3)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(changed))
    fresh.rename(file)


def test_large_cluster():
    """Each page, while the figures of all hosts and VMs change."""
    browser = browser_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cluster.json"
        snapshot = subprocess.run([BALLAST, "generate", "--hosts", str(HOSTS), "--vms", str(VMS), "--seed", "1", "--shape", "skewed"],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
        change(file, snapshot, 0)
        vm = next(v for v in json.loads(snapshot)["vms"] if v["state"] == "on")
        case = {"update_ms": UPDATE_MS, "hosts": HOSTS, "vms": VMS, "host": vm["host"], "vm": vm["id"], "vm_name": vm["name"]}
        with Api({"kind": "file", "file": str(file)}, interval_s=3600) as api:
            need_pages(api)
            api.ask("POST", "/api/v1/clusters/test/passes", "operator")
            case |= {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens}
            with subprocess.Popen(["node", str(LOAD)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env={**os.environ, "CHROMIUM": browser}) as looking:
                try:
                    print(json.dumps(case), file=looking.stdin, flush=True)
                    for seed, _ in enumerate(change_or_print(looking.stdout), 2):
                        change(file, snapshot, seed)
                        assert api.ask("POST", "/api/v1/clusters/test/passes", "operator")[0] == 200
                        print("changed", file=looking.stdin, flush=True)
                    assert looking.wait(timeout=LOOK_S) == 0, "see above"
                finally:
                    looking.kill()


def change_or_print(lines):
    """The lines that ask for new figures; the others are printed."""
    for line in lines:
        if line.strip() == "change":
            yield line
        else:
            print(line, end="", flush=True)


def look(api, browser, **case):
    """Chromium with the steps of the case; what is wrong is printed."""
    case |= {"url": f"http://{HOST}:{api.port}/", "tokens": api.tokens, "shots": os.environ.get("SHOTS")}
    done = subprocess.run(["node", str(LOOK)], input=json.dumps(case), text=True, timeout=LOOK_S, check=False, env={**os.environ, "CHROMIUM": browser})
    assert done.returncode == 0, "see above"


def need_pages(api):
    if api.get("/", None)[0] == 404:
        skip("the pages are not built: dashboard/build, then configure again")


WILD = '<img src=x onerror="window.injected=1">\u202e<script>window.injected=1</script>&amp;'


def hostile(folder):
    """A cluster of 8 hosts and 80 VMs with names as an enemy gives them, VMs that must be apart and cannot, and a host that is too full."""
    cluster = json.loads(subprocess.run([BALLAST, "generate", "--hosts", "8", "--vms", "80", "--seed", "3", "--shape", "skewed"], check=True, stdout=subprocess.PIPE,
                                        text=True).stdout)
    cluster["pools"] = [{"id": "p1", "name": "pool", "parent": None}]
    for v in cluster["vms"][:5]:
        v["pool"] = "p1"
    for kind in ("hosts", "vms", "pools"):
        for x in cluster[kind]:
            x["name"] = WILD + x["name"]
    full = cluster["hosts"][0]
    there = [v for v in cluster["vms"] if v["state"] == "on" and v["host"] == full["id"]]
    for v in there:
        v["vcpus"] = full["cores"]
        v["cpu"]["demand"] = 1.4 * full["cpu_mhz"] / len(there)
    apart = [v["id"] for v in cluster["vms"] if v["state"] == "on"][:9]
    cluster["rules"] = [{"id": "r1", "name": WILD + "apart", "enabled": True, "kind": "vm-vm-anti-affine", "vms": apart}]
    file = folder / "hostile.json"
    file.write_text(json.dumps(cluster))
    return cluster, file


def test_hostile_names_and_troubles():
    """Names with markup by an inventory; a broker that is away and an alarm that fails; approve some, approve all."""
    browser = browser_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        cluster, file = hostile(pathlib.Path(folder))
        settings = {"alarms": {"nobody": {"command": ["/bin/false"], "severity": "info", "interval_s": 1}}, "mqtt": {"url": f"mqtt://{HOST}:{ports.take()}"}}
        with Api({**SIM, "file": str(file)}, **settings) as api:
            need_pages(api)
            api.ask("POST", "/api/v1/clusters/test/passes", "operator")
            names = {"vm": next(v["id"] for v in cluster["vms"] if v["state"] == "on"), "host": cluster["hosts"][0]["id"], "pool": cluster["pools"][0]["id"]}
            look(api, browser, hostile=names, steps=["hostileNames", "troubled", "suffering", "someAndAll"])


NIGHT_HOSTS, NIGHT_VMS, NIGHT_ZONE, NIGHT_STAYS = 4, 12, "Asia/Kathmandu", "web-1"
QUIET_MHZ, BUSY_MHZ = 100, 1700


def night_cluster():
    return {"format": "ballast-snapshot/1", "cluster": "test", "time": "2026-01-01T00:00:00Z",
            "hosts": [{"id": f"h{n}", "name": f"esx-{n}", "state": "on", "cpu_mhz": 10000, "cores": 5, "mem_mb": 65536, "boot_s": 5, "power_idle_w": 150,
                       "power_peak_w": 300, "power_standby_w": 8, "wake_verified": True} for n in range(NIGHT_HOSTS)],
            "vms": [{"id": f"v{n}", "name": f"web-{n}", "host": f"h{n % NIGHT_HOSTS}", "state": "on", "vcpus": 2, "mem_mb": 2048, "cpu": {"demand": QUIET_MHZ},
                     "mem": {"demand": 512, "consumed": 1024}} for n in range(NIGHT_VMS)]}


def a_night(api, dpm):
    """Hosts go to standby while little is asked for, and are back for the morning; then VMs crowd on a host. Returns the hosts that slept."""
    d = api.d

    def schedule(until, ready, **changes):
        at = [datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC") for t in (time.time(), ready)]
        d.write(dpm=dpm | {"windows": [f"{at[0]} for {int(until - time.time())}s"], "ready_by": [at[1]]}, **changes)
        d.process.send_signal(signal.SIGHUP)

    schedule(time.time() + 3000, time.time() + 3600)
    wait_for("hosts asleep", lambda: len(d.status()["asleep"]) == NIGHT_HOSTS - 1 and not d.actions("approved", "starting", "running", "verifying"), 60)
    slept = [h["host_name"] for h in d.status()["asleep"]]
    schedule(time.time() + 3, time.time() + 10)
    wait_for("hosts awake and the night told", lambda: not d.status()["asleep"] and d.status()["night"], 60)
    d.write(dpm=dpm | {"enabled": False}, automation="manual", interval_s=60, moves_max=3, vms=[{"name": NIGHT_STAYS, "automation": "disabled"}])
    d.process.send_signal(signal.SIGHUP)
    load = pathlib.Path(d.settings["source"]["folder"]) / "load"
    load.with_suffix(".new").write_text("".join(f"v{n} {BUSY_MHZ} 512\n" for n in range(NIGHT_VMS)))
    load.with_suffix(".new").rename(load)
    return slept


def test_a_new_user():
    """After a real night: two of three recommendations are approved, why a VM stays is found, and what happened last night."""
    browser = browser_or_skip()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "cluster.json"
        file.write_text(json.dumps(night_cluster()))
        dpm = {"enabled": True, "automation": "automatic", "watch_s": 0, "ratio": 0, "off_min_s": 20, "standby_s": 3, "time_zone": NIGHT_ZONE}
        with Api({**SIM, "file": str(file), "folder": f"{folder}/simulated"}, interval_s=2, automation="full", cool_down_s=3, dpm=dpm | {"windows": ["2099-01-01 for 1s"]}) as api:
            need_pages(api)
            slept = a_night(api, dpm)

            def three():
                api.ask("POST", "/api/v1/clusters/test/passes", "operator")
                return len(api.d.actions("recommended")) == 3

            wait_for("three recommendations", three, 60, 2)
            look(api, browser, steps=["newUser"], slept=slept, stays=NIGHT_STAYS, zone=NIGHT_ZONE, zone_name="GMT+5:45")


def test_in_a_browser():
    browser = browser_or_skip()
    with Api() as api:
        need_pages(api)
        files(api)
        api.ask("POST", "/api/v1/clusters/test/passes", "operator")
        look(api, browser)
        ended = api.d.json("history")
        assert [a for a in ended if a["state"] == "done" and a["approved_by"] == "a-operator (token)"], ended


if __name__ == "__main__":
    if not shutil.which("node"):
        sys.exit(skip("no node"))
    named = sys.argv[1:]

    def chosen(*tests):
        return [(test.__name__, test) for test in tests if not named or test.__name__ in named]

    looked = at_once(chosen(test_in_a_browser, test_hostile_names_and_troubles, test_a_new_user))
    sys.exit(looked or at_once(chosen(test_large_cluster)))  # which measures: by itself
