#!/usr/bin/env python3
"""What Nova asks of the placement service, and its answer: Nova's own request filters and resource requests (package python3-nova), and
the real placement service (python3-placement, in process) against the stages that src/dialect/nova compiles.

    test_nova_placement.py [--markdown] [CASE...]     all cases, or these; --markdown: the table of tests/peers/nova.md

BALLAST_TEST_LONG: 100,000 pairs of request and host for each case."""
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

debian_python.need("nova", "placement")

import nova_clouds  # pylint: disable=wrong-import-position
import nova_objects  # pylint: disable=wrong-import-position
import nova_placement  # pylint: disable=wrong-import-position
from nova import context, exception, objects  # pylint: disable=wrong-import-position
from nova.scheduler import request_filter, utils  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261128"))
PAIRS = 100000 if os.environ.get("BALLAST_TEST_LONG") else 400
REQUESTS = 25  # to one cloud
OFTEN = 0.05
SHOWN = 2
TRAITS = ["HW_CPU_X86_AVX2", "HW_CPU_X86_VMX", "HW_CPU_HYPERTHREADING", "CUSTOM_GOLD", "CUSTOM_SILVER"]
TYPES = ["COMPUTE_IMAGE_TYPE_QCOW2", "COMPUTE_IMAGE_TYPE_RAW", "COMPUTE_IMAGE_TYPE_ISO"]
OF_IMAGES = ["COMPUTE_STORAGE_BUS_VIRTIO", "COMPUTE_STORAGE_BUS_SATA", "COMPUTE_GRAPHICS_MODEL_QXL", "COMPUTE_NET_VIF_MODEL_E1000", "HW_ARCH_X86_64", "COMPUTE_ACCELERATORS"]


# ---- clouds ----

def cloud(r):
    """Room for any request, no metadata, hosts with traits of all kinds."""
    c = nova_clouds.cloud(r)
    c["nova.conf"]["scheduler"] = {}
    nova_clouds.option(c, "filter_scheduler", "enabled_filters", "AllHostsFilter")
    for i, h in enumerate(c["hypervisors"]):
        h.update({"service": {"host": f"compute{i}"}, "vcpus": 64, "memory_mb": 262144, "local_gb": 1000, "traits": r.sample(TRAITS + TYPES + OF_IMAGES, r.randint(5, 14))})
        for key in ("vcpus_used", "local_gb_used", "cpu_allocation_ratio", "ram_allocation_ratio", "disk_allocation_ratio"):
            del h[key]
    hosts = [h["service"]["host"] for h in c["hypervisors"]]
    c["aggregates"] = [{"id": i + 1, "uuid": nova_clouds.uuid(r), "name": f"a{i}", "hosts": r.sample(hosts, r.randint(0, 14)), "metadata": {}} for i in range(r.randint(1, 5))]
    return c


def amounts(r, c):
    """Inventories that the placement service lists, or none; usages, servers, ratios and reserved amounts."""
    for name, ratios in (("cpu", ["1.0", "1.5", "16"]), ("ram", ["1.0", "1.37"]), ("disk", ["0.9", "2"])):
        for option in (f"{name}_allocation_ratio", f"initial_{name}_allocation_ratio"):
            if r.random() < 0.3:
                nova_clouds.option(c, "DEFAULT", option, r.choice(ratios))
    for option, values in (("reserved_host_cpus", ["1", "2"]), ("reserved_host_memory_mb", ["0", "4096"]), ("reserved_host_disk_mb", ["1", "10240"])):
        if r.random() < 0.5:
            nova_clouds.option(c, "DEFAULT", option, r.choice(values))
    for h in c["hypervisors"]:
        h.update({"vcpus": r.choice([4, 8, 16]), "memory_mb": r.choice([8192, 16384, 32768]), "local_gb": r.choice([50, 100, 201])})
        if r.random() < 0.6:
            h["inventories"] = inventories(r)
        if r.random() < 0.5:
            h["usages"] = {name: r.choice([0, 0, 2, 4]) for name in ("VCPU",)}
        for _ in range(r.choice([0, 0, 1, 2])):
            if "inventories" not in h and h.get("usages", {"VCPU": 4})["VCPU"] == 4:  # units of one, and the servers are in what is reported
                c["servers"].append({"id": nova_clouds.uuid(r), "status": r.choice(["ACTIVE", "SHUTOFF"]), "OS-EXT-SRV-ATTR:host": h["service"]["host"],
                                     "OS-EXT-SRV-ATTR:hypervisor_hostname": h["hypervisor_hostname"], "flavor": {"original_name": "s", "vcpus": 1, "ram": 512, "disk": 0}})
        if "usages" in h:
            h["usages"]["MEMORY_MB"] = 512 * sum(s["OS-EXT-SRV-ATTR:host"] == h["service"]["host"] for s in c["servers"])


def inventories(r):
    ret = {"VCPU": {"total": r.choice([8, 16]), "reserved": r.choice([0, 1, 3]), "allocation_ratio": r.choice([1.0, 1.3, 4.0]), "min_unit": 1, "max_unit": r.choice([4, 8, 16]),
                    "step_size": 1},
           "MEMORY_MB": {"total": r.choice([8192, 20000]), "reserved": r.choice([0, 512]), "allocation_ratio": r.choice([1.0, 1.337]), "min_unit": r.choice([1, 1, 2048]),
                         "max_unit": 20000, "step_size": r.choice([1, 1, 512, 1024])},
           "DISK_GB": {"total": r.choice([40, 200]), "reserved": 0, "allocation_ratio": r.choice([1.0, 2.0]), "min_unit": 1, "max_unit": 200, "step_size": r.choice([1, 1, 10])}}
    if r.random() < 0.5:
        ret["VGPU"] = {"total": r.choice([1, 4])}
    if r.random() < 0.5:
        ret["PCPU"] = {"total": 8, "allocation_ratio": 1.0}
    if r.random() < 0.1:
        del ret["DISK_GB"]
    return {name: {"reserved": 0, "allocation_ratio": 1.0, "min_unit": 1, "max_unit": i["total"], "step_size": 1, **i} for name, i in ret.items()}


def statuses(r, c):
    for h in c["hypervisors"]:
        h["status"] = r.choice(["enabled", "enabled", "disabled"])
        h["state"] = r.choice(["up", "up", "down"])
        if r.random() < 0.3:
            h["traits"].append(nova_placement.DISABLED)


def metadata(r, c, key, values, often=0.6):
    for a in c["aggregates"]:
        if r.random() < often:
            a["metadata"][key] = r.choice(values)


def of_tenants(r, c):
    for key in ("filter_tenant_id", "filter_tenant_id3", "owner"):
        metadata(r, c, key, nova_clouds.TENANTS, 0.5)


def isolated(r, c):
    for trait in r.sample(TRAITS, 3):
        metadata(r, c, "trait:" + trait, ["required", "required", "forbidden"], 0.4)


# ---- requests ----

def ask_image_type(r, c):
    nova_clouds.option(c, "scheduler", "query_placement_for_image_type_support", r.choice(["true", "true", "true", "false"]))
    c["images"][0]["disk_format"] = r.choice(["qcow2", "raw", "iso", "odd"])
    volume_or_image(r, c, 0.15)


def volume_or_image(r, c, often):
    if r.random() < often:
        c["server"]["block_device_mapping_v2"] = [{"boot_index": 0, "destination_type": "volume", "source_type": "image"}]
    c["server"]["imageRef"] = c["images"][0]["id"]


def ask_isolated(r, c):
    nova_clouds.option(c, "scheduler", "enable_isolated_aggregate_filtering", r.choice(["true", "true", "false"]))
    ask_traits(r, c, ["required"])


def ask_tenant(r, c):
    nova_clouds.option(c, "scheduler", "limit_tenants_to_placement_aggregate", r.choice(["true", "true", "true", "false"]))
    nova_clouds.option(c, "scheduler", "placement_aggregate_required_for_tenants", r.choice(["true", "false"]))
    c["server"]["tenant_id"] = r.choice(nova_clouds.TENANTS)


def ask_zone(r, c):
    if r.random() < 0.2:
        nova_clouds.option(c, "scheduler", "query_placement_for_availability_zone", "false")
    if r.random() < 0.9:
        c["server"]["availability_zone"] = r.choice(nova_clouds.ZONES)


def ask_traits(r, c, kinds=("required", "required", "forbidden", "maybe")):
    specs = c["flavors"][0]["extra_specs"]
    for trait in r.sample(TRAITS, r.choice([0, 1, 1, 2])):
        specs["trait:" + trait] = r.choice(kinds)
    if r.random() < 0.3:
        c["images"][0]["properties"]["trait:" + r.choice(TRAITS)] = "required"
        c["server"]["imageRef"] = c["images"][0]["id"]
    if r.random() < 0.2 and len(kinds) > 1:
        specs["hw:cpu_policy"] = "dedicated"
        specs["hw:cpu_thread_policy"] = r.choice(["isolate", "require", "prefer"])


def ask_image_traits(r, c):
    nova_clouds.option(c, "scheduler", "image_metadata_prefilter", r.choice(["true", "true", "true", "false"]))
    for name, values in {"hw_disk_bus": ["virtio", "sata"], "hw_video_model": ["qxl", "vga"], "hw_vif_model": ["e1000", "virtio"], "hw_architecture": ["x86_64", "amd64"]}.items():
        if r.random() < 0.4:
            c["images"][0]["properties"][name] = r.choice(values)
    if r.random() < 0.2:
        c["flavors"][0]["extra_specs"]["accel:device_profile"] = "fpga"
    c["server"]["imageRef"] = c["images"][0]["id"]


def ask_amounts(r, c):
    f = c["flavors"][0]
    f.update({"vcpus": r.choice([1, 2, 4, 8]), "ram": r.choice([512, 1024, 2048, 4096, 5000]), "disk": r.choice([0, 5, 20, 40]), "swap": r.choice([0, 0, 512, 2048]),
              "OS-FLV-EXT-DATA:ephemeral": r.choice([0, 0, 10])})
    volume_or_image(r, c, 0.3)
    for key, values in (("resources:VGPU", ["1", "2", "x"]), ("resources:VCPU", ["0", "3"]), ("resources:DISK_GB", ["0", "7"]), ("resources1:VGPU", ["1"]), ("resources2:PCPU", ["1"]),
                        ("resources:CUSTOM_NONE", ["0", "-1"]), ("resources:NOTHING", ["1"]), ("group_policy", ["none", "none", "isolate"])):
        if r.random() < 0.12:
            f["extra_specs"][key] = r.choice(values)
    if r.random() < 0.1:
        f["extra_specs"].update({"hw:cpu_policy": "dedicated", **r.choice([{}, {"hw:emulator_threads_policy": "isolate"}])})
        for key in ("resources:VCPU", "resources2:PCPU"):
            f["extra_specs"].pop(key, None)


def ask_all(r, c):
    for ask in r.sample([ask_image_type, ask_isolated, ask_tenant, ask_zone, ask_traits, ask_image_traits], 2):
        ask(r, c)
    c["flavors"][0].update({"vcpus": r.choice([1, 2]), "ram": 1024})


def nothing(r, c):
    c["server"]["tenant_id"] = r.choice(nova_clouds.TENANTS)


# By name: the number in the specification, what differs from cloud to cloud, and from request to request.
CASES = {
    "require_image_type_support": ("N2", (), ask_image_type),
    "compute_status_filter": ("N3, N46", (statuses,), nothing),
    "isolate_aggregates": ("N4", (isolated,), ask_isolated),
    "require_tenant_aggregate": ("N5", (of_tenants,), ask_tenant),
    "map_az_to_placement_aggregate": ("N6", (lambda r, c: metadata(r, c, "availability_zone", nova_clouds.ZONES),), ask_zone),
    "resource classes": ("N43", (amounts,), ask_amounts),
    "required and forbidden traits": ("N45", (lambda r, c: [h.update(inventories=inventories(r) | {"PCPU": {"total": 64}}) for h in c["hypervisors"]],), ask_traits),
    "transform_image_metadata": ("N2", (), ask_image_traits),
    "all of them": ("N2 to N6", (statuses, isolated, of_tenants, lambda r, c: metadata(r, c, "availability_zone", nova_clouds.ZONES), amounts), ask_all),
}


# ---- Nova ----

class Aggregates:
    """The queries of the database of Nova's API, over the aggregates of the cloud."""
    def __init__(self, c):
        self.all = [objects.Aggregate(uuid=a["uuid"], name=a["name"], metadata=a["metadata"]) for a in c["aggregates"]]

    def get_by_metadata(self, _context, key=None, value=None):
        return [a for a in self.all if any((key is None or k == key) and v == value for k, v in a.metadata.items())]

    def get_non_matching_by_metadata_keys(self, _context, ignored_keys, key_prefix, value):
        return [a for a in self.all if any(k.startswith(key_prefix) and v == value and k not in ignored_keys for k, v in a.metadata.items())]


def request_spec(c):
    spec = nova_objects.request_spec(c)
    flavor = c["flavors"][0]
    spec.flavor.swap = flavor.get("swap", 0)
    image = c["images"][0]
    spec.image = objects.ImageMeta.from_dict({"id": image["id"], "disk_format": image.get("disk_format", "odd"),
                                              "properties": dict(image["properties"]) if "imageRef" in c["server"] else {}})
    spec.is_bfv = "block_device_mapping_v2" in c["server"]
    spec.requested_networks = objects.NetworkRequestList(objects=[])
    spec.requested_resources = []
    spec.force_hosts = spec.force_nodes = None
    return spec


def decisions_of_nova(c, placement):
    """The ids of the hosts."""
    nova_objects.configure({s: {k: v for k, v in o.items() if k != "enabled_filters"} for s, o in c["nova.conf"].items()})
    spec = request_spec(c)
    aggregates = Aggregates(c)
    with unittest.mock.patch.object(objects.AggregateList, "get_by_metadata", aggregates.get_by_metadata), \
            unittest.mock.patch.object(objects.aggregate.AggregateList, "get_non_matching_by_metadata_keys", aggregates.get_non_matching_by_metadata_keys):
        try:
            request_filter.process_reqspec(context.RequestContext("u", "p"), spec)
        except exception.RequestFilterFailed:
            return set()
        query = utils.resources_from_request_spec(context.RequestContext("u", "p"), spec, None).to_querystring()
    return placement.candidates(query) or set()


# ---- both ----

def cases_of(r, name, pairs, placement):
    """[(cloud with a request, the hosts by Nova), ...]"""
    _, differs, ask = CASES[name]
    ret = []
    while len(ret) * nova_clouds.HOSTS < pairs:
        base = cloud(r)
        for change in differs:
            change(r, base)
        nova_objects.configure(base["nova.conf"])
        placement.load(base)
        for _ in range(REQUESTS):
            c = json.loads(json.dumps(base))
            ask(r, c)
            ret.append((c, decisions_of_nova(c, placement)))
    return ret


def compare(name, placement):
    """(pairs, passed, differing)"""
    cases = cases_of(random.Random(f"{SEED} {name}"), name, PAIRS, placement)
    done = subprocess.run([os.environ["BALLAST_NOVA_PROBE"]], input="".join(json.dumps(c) + "\n" for c, _ in cases), stdout=subprocess.PIPE, text=True, check=True, timeout=900)
    answers = done.stdout.splitlines()
    assert len(answers) == len(cases), f"{name}: {len(answers)} answers to {len(cases)} requests"
    passed = wrong = 0
    for (c, theirs), answer in zip(cases, answers):
        for i, h in enumerate(c["hypervisors"]):
            passed += h["id"] in theirs
            if answer.startswith("!") or (answer[i] == "1") != (h["id"] in theirs):
                wrong += 1
                if wrong <= SHOWN:
                    print(f"{name}: host {i}: placement {h['id'] in theirs}, here {answer if answer.startswith('!') else answer[i]}\n  {json.dumps(h)}")
                    print("  aggregates", json.dumps([a for a in c["aggregates"] if h["service"]["host"] in a["hosts"]]))
                    print("  ", json.dumps({k: c[k] for k in ("flavors", "images", "server", "nova.conf")}))
    return len(cases) * nova_clouds.HOSTS, passed, wrong


def main():
    markdown = "--markdown" in sys.argv[1:]
    if "BALLAST_NOVA_PROBE" not in os.environ:
        print("skipped: BALLAST_NOVA_PROBE is not set: run this with meson test", file=sys.stderr)
        return 77
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    placement = nova_placement.Placement()
    failed = []
    print("| number | what Nova asks for | pairs | pass | differ |\n|---|---|---|---|---|")
    for name in [a for a in sys.argv[1:] if not a.startswith("-")] or list(CASES):
        n, passed, wrong = compare(name, placement)
        print(f"| {CASES[name][0]} | {name if ' ' in name else '`' + name + '`'} | {n:,} | {100 * passed / n:.0f} % | {wrong} |", flush=True)
        if wrong or min(passed, n - passed) < OFTEN * n:
            failed.append(name)
    if failed:
        print(f"differ, or pass or refuse too seldom (seed {SEED}): {', '.join(failed)}{'' if markdown else '; see above'}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
