#!/usr/bin/env python3
"""The weighers of src/dialect/nova against real Nova (package python3-nova): for random clouds and requests each host has the weight that
Nova's own weigher gives it.

    test_nova_weighers.py [--markdown] [WEIGHER...]     all weighers, or these; --markdown: the table of tests/peers/nova.md

BALLAST_TEST_LONG: 100,000 pairs of host and request for each weigher."""
import json
import logging
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import debian_python  # pylint: disable=wrong-import-position

debian_python.need("nova")

import nova_clouds  # pylint: disable=wrong-import-position
import nova_objects  # pylint: disable=wrong-import-position
import nova_weigher_clouds  # pylint: disable=wrong-import-position
from nova.scheduler import weights  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261126"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 1000
OFTEN = 0.4  # of the requests have weights that are not all equal
NEAR = 1e-9
SHOWN = 3


def weighs(weigher, state, spec):
    """Whether Nova can weigh the host: where it raises an error the whole request fails, and the host is refused here."""
    try:
        weigher._weigh_object(state, spec)  # pylint: disable=protected-access
        return True
    except Exception:  # pylint: disable=broad-except
        return False


def weights_of_nova(c, weigher_class):
    """For each hypervisor its weight; None: Nova raises an error."""
    nova_objects.configure(c["nova.conf"])
    weigher = weigher_class()
    spec = nova_objects.request_spec(c)
    states = [nova_objects.host_state(c, h) for h in c["hypervisors"]]
    weighed = weights.HostWeightHandler().get_weighed_objects([weigher], [s for s in states if weighs(weigher, s, spec)], spec)
    found = {w.obj.nodename: w.weight for w in weighed}
    return [found.get(s.nodename) for s in states]


def same(theirs, ours):
    if theirs is None or ours is None:
        return theirs is ours
    return abs(theirs - ours) <= NEAR * max(1, abs(theirs))


def for_probe(r, c):
    c = dict(c)
    if r.random() < 0.5:
        c["nova.conf"] = nova_clouds.conf_text(c["nova.conf"])
    return json.dumps(c)


def compare(name, weigher_class, pairs):
    """(pairs, requests, requests whose weights are not all equal, hosts that are refused, differing)"""
    r = random.Random(f"{SEED} {name}")
    cases = [nova_weigher_clouds.make(r, name) for _ in range((pairs + nova_clouds.HOSTS - 1) // nova_clouds.HOSTS)]
    lines = "".join(for_probe(r, c) + "\n" for c in cases)
    done = subprocess.run([os.environ["BALLAST_NOVA_PROBE"], "weights"], input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=900)
    answers = done.stdout.splitlines()
    assert len(answers) == len(cases), f"{name}: {len(answers)} answers to {len(cases)} requests"
    n = spread = refused = wrong = 0
    for c, answer in zip(cases, answers):
        theirs = weights_of_nova(c, weigher_class)
        ours = [None] * len(theirs) if answer.startswith("!") else json.loads(answer)
        given = [w for w in theirs if w is not None]
        n += len(theirs)
        refused += len(theirs) - len(given)
        spread += len(set(given)) > 1
        for i, (x, y) in enumerate(zip(theirs, ours)):
            if len(given) == 1 and x is not None and y is not None:  # Nova does not weigh a single host
                continue
            if not same(x, y):
                wrong += 1
                if wrong <= SHOWN:
                    show(name, c, i, x, y, answer)
    return n, len(cases), spread, refused, wrong


def show(name, c, i, theirs, ours, answer):
    host = c["hypervisors"][i]["service"]["host"]
    print(f"{name}: host {i}: Nova {theirs}, here {answer if answer.startswith('!') else ours}\n  {json.dumps(c['hypervisors'][i])}")
    print("  aggregates", json.dumps([a["metadata"] for a in c["aggregates"] if host in a["hosts"]]))
    print("  ", json.dumps({k: c.get(k) for k in ("flavors", "server", "os:scheduler_hints", "nova.conf", "server_groups", "requested_destination")}))


def main():
    if "BALLAST_NOVA_PROBE" not in os.environ:
        print("skipped: BALLAST_NOVA_PROBE is not set: run this with meson test", file=sys.stderr)
        return 77
    chosen = [a for a in sys.argv[1:] if not a.startswith("-")] or list(nova_weigher_clouds.WEIGHERS)
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    classes = nova_objects.weigher_classes()
    failed = []
    print("| number | weigher | pairs | requests with unequal weights | refused | differ |\n|---|---|---|---|---|---|")
    for name in chosen:
        n, requests, spread, refused, wrong = compare(name, classes[name], PAIRS)
        print(f"| {nova_weigher_clouds.WEIGHERS[name][0]} | `{name}` | {n:,} | {100 * spread / requests:.0f} % | {100 * refused / n:.0f} % | {wrong} |", flush=True)
        if wrong or spread < OFTEN * requests:
            failed.append(name)
    if failed:
        print(f"differ, or all hosts weigh the same too often (seed {SEED}): {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
