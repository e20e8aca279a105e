#!/usr/bin/env python3
"""The filters of src/dialect/nova against real Nova (package python3-nova): for random clouds and requests each host passes or not, as
Nova's own filter says.

    test_nova_oracle.py [--markdown] [FILTER...]      all filters, or these; --markdown: the table of tests/peers/nova.md

BALLAST_TEST_LONG: 100,000 pairs of host and request for each filter."""
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import debian_python  # pylint: disable=wrong-import-position

debian_python.need("nova")

import nova_clouds  # pylint: disable=wrong-import-position
import nova_objects  # pylint: disable=wrong-import-position
from nova import servicegroup  # pylint: disable=wrong-import-position
from nova.scheduler import filters  # pylint: disable=wrong-import-position
from nova.scheduler.filters import extra_specs_ops  # pylint: disable=wrong-import-position
from nova.virt import hardware  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261124"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 1000
OFTEN = 0.05  # of the pairs pass, and as many do not
SHOWN = 3
MATCH = extra_specs_ops.match


def match_or_refuse(value, requirement):
    """extra_specs_ops.match(), false where that raises an error: which of several values of an aggregate it tries before it raises
    depends on the order of a set, and so changes from process to process."""
    try:
        return MATCH(value, requirement)
    except (ValueError, IndexError):
        return False


def decision(ones, state, spec):
    """(whether the host passes, whether Nova raises an error, with which the whole request fails)"""
    try:
        return all(one._filter_one(state, spec) for one in ones), False  # pylint: disable=protected-access
    except Exception:  # pylint: disable=broad-except
        with unittest.mock.patch.object(extra_specs_ops, "match", match_or_refuse):
            try:
                return all(one._filter_one(state, spec) for one in ones), True  # pylint: disable=protected-access
            except Exception:  # pylint: disable=broad-except
                return False, True


def decisions_of_nova(c, name, classes):
    """One for each hypervisor."""
    nova_objects.configure(c["nova.conf"])
    ones = [classes[n]() for n in name.split(",")]
    spec = nova_objects.request_spec(c)
    return [decision(ones, nova_objects.host_state(c, h), spec) for h in c["hypervisors"]]


# ---- both ----

def with_strangers(r, c, name):
    """Servers that ask for something else of the same filter, and are on no host: they change what the pipeline reads, not what it decides."""
    servers, images = list(c["servers"]), list(c["images"])
    for i in range(r.choice([0, 0, 1, 3])):
        other = nova_clouds.make(r, name)
        image = dict(other["images"][0], id=f"image{i}")
        images.append(image)
        servers.append({"id": f"stranger{i}", "status": "SHUTOFF", "tenant_id": other["server"]["tenant_id"], "image": {"id": image["id"]},
                        "flavor": dict(other["flavors"][0], original_name=other["flavors"][0]["name"]), "pinned_availability_zone":
                        other["server"].get("availability_zone"), "os:scheduler_hints": {k: v for k, v in other["os:scheduler_hints"].items() if k != "group"}})
    return dict(c, servers=servers, images=images)


def for_probe(r, c, name):
    """The cloud as the probe gets it: nova.conf often as a text; a server that moves is one of the cloud."""
    c = with_strangers(r, c, name)
    if "moved" in c:
        del c["server"]
    if r.random() < 0.5:
        c["nova.conf"] = nova_clouds.conf_text(c["nova.conf"])
    return json.dumps(c)


def cases_of(r, name, pairs):
    for _ in range((pairs + nova_clouds.HOSTS - 1) // nova_clouds.HOSTS):
        yield nova_clouds.make(r, name)


def compare(name, classes, pairs):
    """(pairs, passed, raised, differing, seconds of Nova)"""
    r = random.Random(f"{SEED} {name}")
    cases = list(cases_of(r, name, pairs))
    lines = "".join(for_probe(r, c, name) + "\n" for c in cases)
    done = subprocess.run([os.environ["BALLAST_NOVA_PROBE"]], input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=900)
    answers = done.stdout.splitlines()
    assert len(answers) == len(cases), f"{name}: {len(answers)} answers to {len(cases)} requests"
    n = passed = raised = wrong = 0
    began = time.monotonic()
    for c, answer in zip(cases, answers):
        for i, (theirs, raises) in enumerate(decisions_of_nova(c, name, classes)):
            n += 1
            passed += theirs
            raised += raises
            if answer.startswith("!") or (answer[i] == "1") != theirs:
                wrong += 1
                if wrong <= SHOWN:
                    show(name, c, i, theirs, answer)
    return n, passed, raised, wrong, time.monotonic() - began


def show(name, c, i, theirs, answer):
    host = c["hypervisors"][i]["service"]["host"]
    print(f"{name}: host {i}: Nova {theirs}, here {answer if answer.startswith('!') else answer[i]}\n  {json.dumps(c['hypervisors'][i])}")
    print("  aggregates", json.dumps([a["metadata"] for a in c["aggregates"] if host in a["hosts"]]))
    print("  ", json.dumps({k: c[k] for k in ("flavors", "images", "server", "os:scheduler_hints", "nova.conf", "server_groups")}))


def main():
    markdown = "--markdown" in sys.argv[1:]
    if "BALLAST_NOVA_PROBE" not in os.environ:
        print("skipped: BALLAST_NOVA_PROBE is not set: run this with meson test", file=sys.stderr)
        return 77
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or list(nova_clouds.FILTERS)
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    classes = {f.__name__: f for f in filters.HostFilterHandler().get_matching_classes(["nova.scheduler.filters.all_filters"])}
    failed = []
    print("| number | filter | pairs | pass | error | differ |\n|---|---|---|---|---|---|")
    arrangements = nova_objects.Arrangements()
    with unittest.mock.patch.object(servicegroup, "API", nova_objects.ServiceGroup), \
            unittest.mock.patch.object(hardware, "numa_fit_instance_to_host", arrangements):
        for name in chosen:
            n, passed, raised, wrong, took_s = compare(name, classes, PAIRS)
            print(f"| {nova_clouds.FILTERS[name][0]} | `{name}` | {n:,} | {100 * passed / n:.0f} % | {100 * raised / n:.0f} % | {wrong} |"
                  + ("" if markdown else f" {took_s:.1f} s"), flush=True)
            refused = n - passed
            if wrong or (name != "AllHostsFilter" and min(passed, refused) < OFTEN * n):
                failed.append(name)
    if not markdown:
        print(f"{arrangements.asked:,} topologies; Nova decides {arrangements.otherwise} of them otherwise when it tries several arrangements in a row")
    if failed:
        print(f"differ, or pass or refuse too seldom (seed {SEED}): {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
