#!/usr/bin/env python3
"""Servers that are there and move (N1): for random clouds and bodies of POST /servers/ID/action the hosts that real Nova (package python3-nova)
leaves, by HostManager.get_filtered_hosts() and the checks of LiveMigrationTask, against those of `src/dialect/nova`.

    test_nova_moves.py [--markdown]      --markdown: the table of tests/peers/nova.md

What the API and the conductor ask of the scheduler for each action (ignore_hosts, force_hosts, requested_destination) is written in request_of().
BALLAST_TEST_LONG: 100,000 pairs of host and request for each action."""
import collections
import json
import logging
import os
import pathlib
import random
import subprocess
import sys
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import debian_python  # pylint: disable=wrong-import-position

debian_python.need("nova")

import nova_clouds  # pylint: disable=wrong-import-position
import nova_objects  # pylint: disable=wrong-import-position
from nova import exception, objects, servicegroup  # pylint: disable=wrong-import-position
from nova.conductor.tasks import live_migrate  # pylint: disable=wrong-import-position
from nova.scheduler import filters, host_manager  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261127"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 2000
SHOWN = 3
FILTERS = ["AvailabilityZoneFilter", "AggregateImagePropertiesIsolation", "AggregateMultiTenancyIsolation", "AggregateTypeAffinityFilter", "ComputeFilter",
           "DifferentHostFilter", "SameHostFilter", "IsolatedHostsFilter", "NumInstancesFilter", "IoOpsFilter", "MetricsFilter", "SimpleCIDRAffinityFilter",
           "ServerGroupAffinityFilter", "ServerGroupAntiAffinityFilter"]
ALONE = {"ComputeFilter", "ServerGroupAffinityFilter", "ServerGroupAntiAffinityFilter", "SameHostFilter"}  # their generators undo what others made, or leave little
PREFILTERS = ["requested_cell", "disabled_cells", "requested_destination", "ignored_hosts", "live_migration"]
SAME_HOST = "COMPUTE_SAME_HOST_COLD_MIGRATE"
ACTIONS = ["migrate", "os-migrateLive", "resize", "evacuate", "unshelve", "rebuild"]


# ---- clouds ----

def body_of(r, c, action, home):
    """A random body that the API takes."""
    other = r.choice(sorted({h["service"]["host"] for h in c["hypervisors"]} - {home}))
    host = other if r.random() < 0.4 else None
    force = {"force": r.random() < 0.3} if host else {}
    zones = [a["metadata"]["availability_zone"] for a in c["aggregates"] if "," not in a["metadata"].get("availability_zone", ",")]
    return {"migrate": {"host": host} if host else r.choice([None, {}]), "os-migrateLive": {"block_migration": "auto", "host": host, **force}, "resize": {"flavorRef": "g"},
            "evacuate": {**({"host": host} if host else {}), **force},
            "unshelve": {**({"host": host} if host else {}), **r.choice([{}, {"availability_zone": None}, {"availability_zone": r.choice(zones + [c["nova.conf"]["DEFAULT"].get("default_availability_zone", "nova")])}])} or None,
            "rebuild": {"imageRef": c["images"][1]["id"]}}[action]


def add_server(r, c, action):
    """The request of the cloud becomes a server that is there, on a random host, and an action on it."""
    asked, at = c.pop("server"), r.choice(c["hypervisors"])
    off = action == "unshelve"
    server = {"id": nova_clouds.uuid(r), "status": "SHELVED_OFFLOADED" if off else "ACTIVE", "OS-EXT-SRV-ATTR:host": None if off else at["service"]["host"],
              "OS-EXT-SRV-ATTR:hypervisor_hostname": None if off else at["hypervisor_hostname"], "tenant_id": asked["tenant_id"],
              "flavor": {"id": "f"}, "image": {"id": asked["imageRef"]} if "imageRef" in asked else "", "pinned_availability_zone": asked.get("availability_zone"),
              "os:scheduler_hints": c.pop("os:scheduler_hints")}
    c["servers"].append(server)
    for g in c["server_groups"]:
        if g["id"] == server["os:scheduler_hints"].get("group"):
            g["members"].append(server["id"])
    if action == "evacuate":
        for h in c["hypervisors"]:
            if h["service"] == at["service"]:
                h["state"] = "down"
    c["server_id"] = server["id"]
    c[action] = body_of(r, c, action, at["service"]["host"])
    return server, at


def make(r, action):
    """(the cloud, the server, the hypervisor that it is on)"""
    c = nova_clouds.cloud(r)
    first = r.choice(FILTERS)
    chosen = [first] if first in ALONE else [first] + r.sample([f for f in FILTERS if f not in ALONE and f != first], r.randint(0, 1))
    for name in chosen:
        nova_clouds.FILTERS[name][1](r, c)
    c.pop("moved", None)
    c["server"].pop("id", None)
    by_service = {}
    for h in c["hypervisors"]:
        of = by_service.setdefault(h["service"]["host"], {"cell_uuid": r.choice(["c1", "c1", "c2"]), "hypervisor_type": r.choice(["QEMU", "QEMU", "VMware"]),
                                                          "hypervisor_version": r.choice([6002000, 7000000, 7000001]), "traits": r.choice([[], [], [SAME_HOST]])})
        h.update(of)
        if action == "os-migrateLive":  # conductor wants it up before it asks for more
            h["state"] = "up"
    c["cells"] = [{"uuid": "c2", "disabled": r.random() < 0.2}]
    c["flavors"].append(dict(c["flavors"][0], id="g", name=r.choice([f for f in nova_clouds.FLAVORS if f != c["flavors"][0]["name"]]), vcpus=3))
    c["images"].append({"id": nova_clouds.uuid(r), "properties": dict(c["images"][0]["properties"]) if r.random() < 0.5 else {"os_type": "windows", "os_distro": "rhel"}})
    c["nova.conf"]["DEFAULT"]["allow_resize_to_same_host"] = r.choice(["true", "false"])
    if r.random() < 0.2:
        c["requested_destination"] = {"allow_cross_cell_move": True}
    nova_clouds.option(c, "filter_scheduler", "enabled_filters", ",".join(chosen))
    c["stages"] = PREFILTERS + chosen + [f"{n} of many" for n in chosen]
    return (c, *add_server(r, c, action))


# ---- Nova ----

def first_node(c, host):
    return next(h for h in c["hypervisors"] if h["service"]["host"] == host)


def request_of(c, server, at, action, body):
    """The request of the scheduler; None: it is not asked, and the server goes to the named host."""
    body = body or {}
    home = at["service"]["host"]
    asked = {"id": server["id"], "tenant_id": server["tenant_id"], "availability_zone": server["pinned_availability_zone"]}
    image = body.get("imageRef") or (server["image"] or {}).get("id")
    if image:
        asked["imageRef"] = image
    hints = dict(server["os:scheduler_hints"])
    if action == "unshelve" and "availability_zone" in body:
        asked["availability_zone"] = body["availability_zone"]
    flavors = [c["flavors"][1]] if action == "resize" else c["flavors"]
    spec = nova_objects.request_spec({**c, "server": asked, "flavors": flavors, "os:scheduler_hints": hints, "requested_destination": None, "moved": server["id"]})
    spec.force_hosts = spec.force_nodes = None
    if body.get("force"):
        return None
    if body.get("host"):
        node = first_node(c, body["host"])
        spec.requested_destination = objects.Destination(host=node["service"]["host"], node=None if action == "unshelve" else node["hypervisor_hostname"])
    if action == "rebuild":
        spec.force_hosts, spec.force_nodes = [home], [at["hypervisor_hostname"]]
        spec.scheduler_hints["_nova_check_type"] = ["rebuild"]
    same = c["nova.conf"]["DEFAULT"]["allow_resize_to_same_host"] == "true" if action == "resize" else SAME_HOST in at["traits"] if action == "migrate" else action in ("unshelve", "rebuild")
    spec.ignore_hosts = [] if same else [home]
    return spec


class LiveMigration(live_migrate.LiveMigrationTask):
    """The check of conductor, without its services."""
    def __init__(self, c, source):  # pylint: disable=super-init-not-called
        self.c, self.source = c, source

    def _get_compute_info(self, host):
        return nova_objects.compute_node(first_node(self.c, host))

    def takes(self, host):
        try:
            self._check_compatible_with_source_hypervisor(host)
            return True
        except (exception.InvalidHypervisorType, exception.DestinationHypervisorTooOld):
            return False


def cells_of(c, at, action):
    """The cells whose hosts the scheduler sees."""
    if action in ("migrate", "resize") and "requested_destination" in c:
        return {"c1"} | {x["uuid"] for x in c["cells"] if not x["disabled"]}
    if action in ("unshelve", "rebuild"):  # of an offloaded server the document has no cell; a rebuild is where the server is
        return {"c1", "c2"} if action == "rebuild" else {"c1"} | {x["uuid"] for x in c["cells"] if not x["disabled"]}
    return {at["cell_uuid"]}


def nodes_of_nova(c, server, at, action, classes):
    nova_objects.configure(c["nova.conf"])
    body = c[action]
    spec = request_of(c, server, at, action, body)
    if spec is None:
        node = first_node(c, body["host"])
        return {node["hypervisor_hostname"]} if action != "os-migrateLive" or LiveMigration(c, at["service"]["host"]).takes(body["host"]) else set()
    manager = object.__new__(host_manager.HostManager)
    manager.filter_handler = filters.HostFilterHandler()
    manager.enabled_filters = [classes[n]() for n in c["nova.conf"]["filter_scheduler"]["enabled_filters"].split(",")]
    states = [nova_objects.host_state(c, h) for h in c["hypervisors"] if h["cell_uuid"] in cells_of(c, at, action)]
    kept = list(manager.get_filtered_hosts(states, spec) or [])
    if action == "os-migrateLive":
        kept = [h for h in kept if LiveMigration(c, at["service"]["host"]).takes(h.host)]
    return {h.nodename for h in kept}


# ---- both ----

def compare(action, classes):
    r = random.Random(f"{SEED} {action}")
    cases = [make(r, action) for _ in range((PAIRS + nova_clouds.HOSTS - 1) // nova_clouds.HOSTS)]
    lines = "".join(json.dumps({k: v for k, v in c.items() if k != "moved"}) + "\n" for c, _, _ in cases)
    answers = subprocess.run([os.environ["BALLAST_NOVA_PROBE"]], input=lines, stdout=subprocess.PIPE, text=True, check=True, timeout=900).stdout.splitlines()
    counts = collections.Counter()
    for (c, server, at), answer in zip(cases, answers, strict=True):
        theirs = nodes_of_nova(c, server, at, action, classes)
        ours = {h["hypervisor_hostname"] for h, one in zip(c["hypervisors"], answer) if one == "1"} if not answer.startswith("!") else answer
        counts["pairs"] += len(c["hypervisors"])
        counts["pass"] += len(theirs)
        counts["none"] += not theirs
        counts["wrong"] += ours != theirs
        if ours != theirs and counts["wrong"] <= SHOWN:
            print(f"{action} {c[action]} from {at['service']['host']} {at['hypervisor_hostname']}: here {ours}, Nova {theirs}\n  {json.dumps(c)}", file=sys.stderr)
    return counts


def main():
    if "BALLAST_NOVA_PROBE" not in os.environ:
        print("skipped: BALLAST_NOVA_PROBE is not set: run this with meson test", file=sys.stderr)
        return 77
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    classes = {f.__name__: f for f in filters.HostFilterHandler().get_matching_classes(["nova.scheduler.filters.all_filters"])}
    failed = []
    print("| number | action | pairs | pass | requests without a host | differ |\n|---|---|---|---|---|---|")
    with unittest.mock.patch.object(servicegroup, "API", nova_objects.ServiceGroup):
        for action in ACTIONS:
            n = compare(action, classes)
            requests = n["pairs"] / nova_clouds.HOSTS
            print(f"| N1 | `{action}` | {n['pairs']:,} | {100 * n['pass'] / n['pairs']:.0f} % | {100 * n['none'] / requests:.0f} % | {n['wrong']} |", flush=True)
            if n["wrong"] or n["none"] == requests or not n["none"]:
                failed.append(action)
    if failed:
        print(f"differ, or never or always find a host (seed {SEED}): {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
