#!/usr/bin/env python3
"""Custom filters and weighers of Nova in units/python against real Nova (package python3-nova), which loads the same classes: for random clouds
each host passes or not, and has the weight and the multiplier, as with Nova. Then `ballast place` takes a host that is best there.

    test_nova_units.py [--markdown]      --markdown: the rows of tests/peers/nova.md

BALLAST_TEST_LONG: 100,000 pairs of host and request for each class."""
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import debian_python  # pylint: disable=wrong-import-position

debian_python.need("nova")

import nova_clouds  # pylint: disable=wrong-import-position
import nova_objects  # pylint: disable=wrong-import-position
from nova import servicegroup  # pylint: disable=wrong-import-position
from nova.scheduler import filters, weights  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
TOP = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR") or HERE.parents[1])
BALLAST = os.environ.get("BALLAST", str(TOP / "build/src/cli/ballast"))
SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261127"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 300
FILTERS = ["AcmeFilter", "RoomFilter", "RequestFilter", "HealthFilter", "BestHalfFilter", "BrokenFilter"]
WEIGHERS = ["WarmWeigher", "SpreadWeigher"]
OFTEN = 0.05
NEAR = 1e-9


# ---- clouds ----

def make(r, enabled, weighers):
    c = nova_clouds.cloud(r)
    for h in c["hypervisors"]:
        h["current_workload"] = r.randint(0, 8)
        h["status"], h["state"] = r.choice(["enabled"] * 6 + ["disabled"]), r.choice(["up"] * 6 + ["down"])
        h["stats"] = {"failed_builds": str(r.randint(0, 3)), "io_workload": str(r.randint(0, 8))}
        h["metrics"] = [{"name": n, "value": r.random(), "timestamp": "2026-01-01T00:00:00.000000", "source": "x"} for n in ("cpu.percent", "cpu.user.percent")[:r.randint(0, 2)]]
        h["supported_instances"] = r.choice([[["x86_64", "kvm", "hvm"]], [["x86_64", "qemu", "hvm"], ["x86_64", "kvm", "hvm"]], [["aarch64", "qemu", "hvm"]]])
        h["hypervisor_version"] = r.choice([1005003, 2012000, 6002000])
    for key, values in (("disk", ["ssd", "hdd", "nvme"]), ("tenant", nova_clouds.TENANTS), ("warm_weight_multiplier", ["1", "0.5", "-2", "3e1"])):
        for aggregate in c["aggregates"]:
            if r.random() < 0.4:
                aggregate["metadata"][key] = r.choice(values)
    c["flavors"][0].update(vcpus=1, ram=r.choice([64, 512, 2048]), disk=1, extra_specs={"acme:disk": r.choice(["ssd", "hdd"])} if r.random() < 0.7 else {})
    if r.random() < 0.6:
        nova_clouds.with_image(c)
        c["images"][0]["properties"] = {"hw_cpu_cores": r.choice(["1", "2"])} if r.random() < 0.6 else {}
    if r.random() < 0.3:
        c["os:scheduler_hints"]["acme_rack"] = str(r.randint(0, 9))
    nova_clouds.option(c, "filter_scheduler", "available_filters", "nova.scheduler.filters.all_filters")
    own = [f"available_filters = nova_custom.{f}" for f in FILTERS] + [f"enabled_filters = {','.join(enabled)}",
                                                                         f"weight_classes = {','.join('nova_custom.' + w for w in weighers)}"]
    conf = nova_clouds.conf_text(c["nova.conf"]).replace("[filter_scheduler]", "\n".join(["[filter_scheduler]", *own]))
    return c, dict(c, **{"nova.conf": conf, "time": "2026-11-27T00:00:00Z"})


def compiled(cloud, folder):
    path = folder / "cloud.json"
    path.write_text(json.dumps(cloud), encoding="utf-8")
    done = subprocess.run([BALLAST, "fit", "compile", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# ---- the unit ----

class Unit:
    """units/python with one class, in a Python that has Nova (real base classes) or has none (stand-ins)."""
    def __init__(self, kind, name, with_nova):
        self.process = subprocess.Popen(["/usr/bin/python3", *([] if with_nova else ["-S"]), str(TOP / "units/python"), kind, f"{HERE}/nova_custom.py:{name}"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(self, snapshot, vm):
        self.process.stdin.write(json.dumps({"snapshot": snapshot}) + "\n" + json.dumps({"id": 1, "vms": [vm]}) + "\n")
        self.process.stdin.flush()
        line = json.loads(self.process.stdout.readline())
        assert line["id"] == 1 and len(line["answers"]) == 1 and line["answers"][0]["vms"] == [vm], line
        return line["answers"][0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


# ---- real Nova ----

def loaded(name):
    """As nova-scheduler loads a class of its configuration."""
    handler = filters.HostFilterHandler() if name in FILTERS else weights.HostWeightHandler()
    return handler.get_matching_classes([f"nova_custom.{name}"])[0]()


def objects_of(c):
    nova_objects.configure({"DEFAULT": {}})
    return {h["hypervisor_hostname"]: nova_objects.host_state(c, h) for h in c["hypervisors"]}, nova_objects.request_spec(c)


def passing(one, states, spec):
    """The nodes that pass; None: Nova raises an error, with which the request fails."""
    try:
        passed = {id(s) for s in one.filter_all(list(states.values()), spec)}
    except Exception:  # pylint: disable=broad-except
        return None
    return {node for node, s in states.items() if id(s) in passed}


def weighed(one, states, spec):
    """{node: (raw weight, multiplier)}"""
    raw = one.weigh_objects([weights.WeighedHost(s, 0.0) for s in states.values()], spec)
    return {node: (w, one.weight_multiplier(s)) for (node, s), w in zip(states.items(), raw)}


# ---- comparisons ----

def differs(name, answer, states, spec):
    """(whether they differ, hosts that pass or are weighed)"""
    one = loaded(name)
    if name in FILTERS:
        theirs = passing(one, states, spec)
        if theirs is None:
            return "error" not in answer, 0
        return "error" in answer or set(answer["hosts"]) != theirs, len(theirs)
    theirs = weighed(one, states, spec)
    mine = {h: (s, m) for h, s, m in zip(answer["hosts"], answer["scores"], answer["multipliers"])}
    wrong = set(mine) != set(theirs) or any(abs(a - b) > NEAR * max(1, abs(b)) for h in mine for a, b in zip(mine[h], theirs[h]))
    return wrong, len(mine)


def compare(name, with_nova):
    """(pairs, passed, differing, seconds)"""
    r = random.Random(f"{SEED} {name} {with_nova}")
    n = passed = wrong = 0
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="ballast-units-") as folder, Unit("nova-filter" if name in FILTERS else "nova-weigher", name, with_nova) as unit:
        while n < PAIRS:
            c, cloud = make(r, [name] if name in FILTERS else ["AllHostsFilter"], [name] if name in WEIGHERS else ["SpreadWeigher"])
            states, spec = objects_of(c)
            differ, k = differs(name, unit.ask(compiled(cloud, pathlib.Path(folder)), "request"), states, spec)
            n, passed, wrong = n + len(states), passed + k, wrong + differ
            if differ:
                print(f"{name}: a cloud differs\n{json.dumps(cloud)[:2000]}")
    return n, passed, wrong, time.monotonic() - began


def best_of_nova(c, enabled, weighers):
    """The nodes of the best weight among those that pass; none: the request fails."""
    states, spec = objects_of(c)
    for name in enabled:
        kept = passing(loaded(name), states, spec)
        states = {n: s for n, s in states.items() if n in (kept or ())}
    if not states:
        return set()
    ranked = weights.HostWeightHandler().get_weighed_objects([loaded(w) for w in weighers], list(states.values()), spec)
    best = max(w.weight for w in ranked)
    return {w.obj.nodename for w in ranked if w.weight >= best - NEAR}


def placed(snapshot, folder):
    """The node that `ballast place` takes; None: none."""
    path = folder / "snapshot.json"
    path.write_text(json.dumps(snapshot), encoding="utf-8")
    done = subprocess.run([BALLAST, "place", "--snapshot", str(path), "--format", "json", "request"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, timeout=60)
    plan = json.loads(done.stdout)
    return next((x["to"] for x in plan["recommendations"] if x["action"] == "place"), None)


def test_requests():
    """The stages of nova.conf, the answers of their units, and a placement."""
    enabled, weighers, done, found = ["AcmeFilter", "HealthFilter"], ["WarmWeigher", "SpreadWeigher"], 0, 0
    r = random.Random(f"{SEED} requests")
    with tempfile.TemporaryDirectory(prefix="ballast-units-") as name:
        folder = pathlib.Path(name)
        for _ in range(25):
            c, cloud = make(r, enabled, weighers)
            snapshot = compiled(cloud, folder)
            snapshot["answers"] = []
            for one in enabled + weighers:
                with Unit("nova-filter" if one in FILTERS else "nova-weigher", one, False) as unit:
                    snapshot["answers"].append({"unit": one, "at": snapshot["time"], **unit.ask(snapshot, "request")})
            for stage in snapshot["pipelines"][0]["stages"]:
                if stage["name"] == "WarmWeigher":
                    stage["least"] = 0  # the class's minval
            best, mine = best_of_nova(c, enabled, weighers), placed(snapshot, folder)
            assert mine in best or (mine is None and not best), f"{mine} is placed, Nova's best are {sorted(best)}"
            done, found = done + 1, found + bool(best)
    print(f"{done} requests, {found} of them find a host")
    assert done / 4 < found < done


def main():
    markdown = "--markdown" in sys.argv
    wrong = 0
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    sys.path.insert(0, str(HERE))
    with unittest.mock.patch.object(servicegroup, "API", lambda: nova_objects.ServiceGroup()):
        if markdown:
            print("| number | class | base classes | pairs | pass | clouds that differ |\n|---|---|---|---|---|---|")
        for name in FILTERS + WEIGHERS:
            for with_nova in (False, True):
                n, passed, differing, took = compare(name, with_nova)
                wrong += differing
                rare = name in FILTERS[:5] and not OFTEN * n < passed < (1 - OFTEN) * n
                wrong += rare
                share = f"{100 * passed / n:.0f} %" if name in FILTERS else ""
                print(f"| {'N47' if name in FILTERS else 'N48'} | `{name}` | {'of Nova' if with_nova else 'stand-ins'} | {n} | {share} | {differing} |" if markdown else
                      f"{name}, {'real modules' if with_nova else 'stand-ins'}: {n} pairs, {passed} pass or are weighed, {differing} clouds differ, {took:.1f} s"
                      + (", seldom one of both" if rare else ""))
        if not markdown:
            test_requests()
    sys.exit(1 if wrong else 0)


main()
