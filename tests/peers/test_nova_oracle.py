#!/usr/bin/env python3
"""The filters of src/dialect/nova against real Nova (package python3-nova): for random clouds and requests each host passes or not, as
Nova's own filter says.

    test_nova_oracle.py [--markdown] [FILTER...]      all filters, or these; --markdown: the table of src/dialect/nova/README.md

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
import nova.conf  # pylint: disable=wrong-import-position
from nova import objects, servicegroup  # pylint: disable=wrong-import-position
from nova.scheduler import filters, host_manager  # pylint: disable=wrong-import-position
from nova.scheduler.filters import extra_specs_ops  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261124"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 3000
OFTEN = 0.05  # of the pairs pass, and as many do not
SHOWN = 3
CONF = nova.conf.CONF
MATCH = extra_specs_ops.match
CELL = "c0000000-0000-4000-8000-000000000000"


class ServiceGroup:
    """In place of servicegroup.API, which asks a database."""
    def service_is_up(self, service):
        return service["up"]


# ---- the objects of Nova ----

def compute_node(h):
    cpu_info = h["cpu_info"]
    return objects.ComputeNode(
        uuid=h["id"], host=h["service"]["host"], hypervisor_hostname=h["hypervisor_hostname"], memory_mb=h["memory_mb"], free_ram_mb=h["free_ram_mb"],
        local_gb=h["local_gb"], local_gb_used=h["local_gb_used"], free_disk_gb=h["free_disk_gb"], disk_available_least=h["disk_available_least"],
        vcpus=h["vcpus"], vcpus_used=h["vcpus_used"], host_ip=h["host_ip"], hypervisor_type=h["hypervisor_type"], hypervisor_version=h["hypervisor_version"],
        cpu_info=cpu_info if isinstance(cpu_info, str) else json.dumps(cpu_info), stats=dict(h["stats"]), metrics=json.dumps(h["metrics"]),
        supported_hv_specs=[objects.HVSpec.from_list(s) for s in h["supported_instances"]], pci_device_pools=None, numa_topology=None, updated_at=None,
        cpu_allocation_ratio=h["cpu_allocation_ratio"], ram_allocation_ratio=h["ram_allocation_ratio"], disk_allocation_ratio=h["disk_allocation_ratio"])


def host_state(c, h):
    host = h["service"]["host"]
    state = host_manager.HostState(host, h["hypervisor_hostname"], CELL)
    state._update_from_compute_node(compute_node(h))  # pylint: disable=protected-access
    state.cell_uuid = None
    state.service = {"disabled": h["status"] == "disabled", "up": h["state"] == "up", "host": host}
    state.aggregates = [objects.Aggregate(id=a["id"], name=a["name"], hosts=a["hosts"], metadata=a["metadata"]) for a in c["aggregates"] if host in a["hosts"]]
    state.instances = {s["id"]: None for s in c["servers"] if s["OS-EXT-SRV-ATTR:host"] == host}
    return state


def instance_group(c, group_id):
    """Of the hint, or that has the server that moves as a member."""
    for g in c["server_groups"]:
        if g["id"] == group_id or c.get("moved") in g["members"]:
            hosts = sorted({s["OS-EXT-SRV-ATTR:host"] for s in c["servers"] if s["id"] in g["members"]})
            group = objects.InstanceGroup(uuid=g["id"], members=list(g["members"]), hosts=hosts, policy=g["policy"], policies=[g["policy"]])
            group._rules = dict(g["rules"])  # pylint: disable=protected-access
            return group
    return None


def request_spec(c):
    server, flavor = c["server"], c["flavors"][0]
    hints = {k: v if isinstance(v, list) else [v] for k, v in c["os:scheduler_hints"].items()}
    image = next((i for i in c["images"] if i["id"] == server.get("imageRef")), None)
    return objects.RequestSpec(
        flavor=objects.Flavor(name=flavor["name"], vcpus=flavor["vcpus"], memory_mb=flavor["ram"], root_gb=flavor["disk"], extra_specs=dict(flavor["extra_specs"])),
        image=objects.ImageMeta.from_dict({"id": image["id"], "properties": dict(image["properties"])}) if image else None,
        project_id=server["tenant_id"], availability_zone=server.get("availability_zone"), scheduler_hints=hints,
        instance_uuid=server.get("id", "ffffffff-0000-4000-8000-000000000000"), instance_group=instance_group(c, hints.get("group", [None])[0]))


def configure(conf):
    for key in ("isolated_hosts", "isolated_images", "restrict_isolated_hosts_to_isolated_images", "image_properties_default_architecture",
                "aggregate_image_properties_isolation_namespace", "aggregate_image_properties_isolation_separator", "max_io_ops_per_host", "max_instances_per_host"):
        CONF.clear_override(key, group="filter_scheduler")
    CONF.clear_override("default_availability_zone")
    CONF.clear_override("weight_setting", group="metrics")
    for section, options in conf.items():
        for key, value in options.items():
            if key in ("isolated_hosts", "isolated_images", "weight_setting"):
                value = [v.strip() for v in value.split(",") if v.strip()]
            if key != "enabled_filters":
                CONF.set_override(key, value, group=None if section == "DEFAULT" else section)


def match_or_refuse(value, requirement):
    """extra_specs_ops.match(), false where that raises an error: which of several values of an aggregate it tries before it raises
    depends on the order of a set, and so changes from process to process."""
    try:
        return MATCH(value, requirement)
    except (ValueError, IndexError):
        return False


def decision(one, state, spec):
    """(whether the host passes, whether Nova raises an error, with which the whole request fails)"""
    try:
        return bool(one._filter_one(state, spec)), False  # pylint: disable=protected-access
    except Exception:  # pylint: disable=broad-except
        with unittest.mock.patch.object(extra_specs_ops, "match", match_or_refuse):
            try:
                return bool(one._filter_one(state, spec)), True  # pylint: disable=protected-access
            except Exception:  # pylint: disable=broad-except
                return False, True


def decisions_of_nova(c, name, classes):
    """One for each hypervisor."""
    configure(c["nova.conf"])
    one = classes[name]()
    spec = request_spec(c)
    return [decision(one, host_state(c, h), spec) for h in c["hypervisors"]]


# ---- both ----

def for_probe(r, c):
    """The cloud as the probe gets it: nova.conf often as a text; a server that moves is one of the cloud."""
    c = dict(c)
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
    lines = "".join(for_probe(r, c) + "\n" for c in cases)
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
    CONF([], project="nova", default_config_files=[])
    objects.register_all()
    classes = {f.__name__: f for f in filters.HostFilterHandler().get_matching_classes(["nova.scheduler.filters.all_filters"])}
    failed = []
    print("| number | filter | pairs | pass | error | differ |\n|---|---|---|---|---|---|")
    with unittest.mock.patch.object(servicegroup, "API", ServiceGroup):
        for name in chosen:
            n, passed, raised, wrong, took_s = compare(name, classes, PAIRS)
            print(f"| {nova_clouds.FILTERS[name][0]} | `{name}` | {n:,} | {100 * passed / n:.0f} % | {100 * raised / n:.0f} % | {wrong} |"
                  + ("" if markdown else f" {took_s:.1f} s"), flush=True)
            refused = n - passed
            if wrong or (name != "AllHostsFilter" and min(passed, refused) < OFTEN * n):
                failed.append(name)
    if failed:
        print(f"differ, or pass or refuse too seldom (seed {SEED}): {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
