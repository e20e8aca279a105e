#!/usr/bin/env python3
"""Whole requests: filters and weighers of real Nova (package python3-nova) against `ballast fit compile` and `ballast place`, server by
server of requests of many, in which each consumes what the servers after it do not get; and the choice among the best hosts.

    test_nova_requests.py [--markdown]      --markdown: the table of tests/peers/nova.md

Of hosts that weigh the same each scheduler may take any: the host chosen here is among the best there, and Nova goes on from it.
BALLAST_TEST_LONG: 50 times as many requests."""
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
import nova_weigher_clouds  # pylint: disable=wrong-import-position
from nova import objects, servicegroup  # pylint: disable=wrong-import-position
from nova.scheduler import filters, weights  # pylint: disable=wrong-import-position
from nova.virt import hardware  # pylint: disable=wrong-import-position

SEED = int(os.environ.get("BALLAST_TEST_SEED", "20261127"))
REQUESTS = 2500 if os.environ.get("BALLAST_TEST_LONG") else 50
NEAR = 1e-9
SHOWN = 3
FILTERS = ["AllHostsFilter", "ComputeFilter", "AggregateMultiTenancyIsolation", "AggregateTypeAffinityFilter", "AggregateInstanceExtraSpecsFilter",
           "ComputeCapabilitiesFilter", "ImagePropertiesFilter", "SimpleCIDRAffinityFilter", "DifferentHostFilter", "SameHostFilter", "IsolatedHostsFilter",
           "NumInstancesFilter", "AggregateNumInstancesFilter", "IoOpsFilter", "AggregateIoOpsFilter", "JsonFilter"]
OF_GROUPS = ["ServerGroupAntiAffinityFilter", "ServerGroupAffinityFilter"]
CONSUMING = ["NumInstancesFilter", "AggregateNumInstancesFilter", "IoOpsFilter", "AggregateIoOpsFilter", "JsonFilter"]
GENERATED = [f for f in FILTERS if f not in ("AggregateInstanceExtraSpecsFilter", "ComputeCapabilitiesFilter", "ImagePropertiesFilter", "JsonFilter")] + OF_GROUPS


# ---- requests ----

def add_weighers(r, c):
    names = [n for n in nova_weigher_clouds.WEIGHERS if n != "MetricsWeigher" or r.random() < 0.3]
    soft = [n for n in names if "Soft" in n]
    names = r.sample([n for n in names if n not in soft], r.randint(1, 6)) + r.sample(soft, r.randint(0, 1))
    r.shuffle(names)
    for name in names:
        nova_weigher_clouds.add(r, c, name)
    if c["flavors"][0]["extra_specs"]:  # a host without the devices consumes nothing of what follows in Nova: no filter asks for them here
        for h in c["hypervisors"]:
            h["pci_device_pools"] = [{"vendor_id": "8086", "product_id": "1", "numa_node": None, "count": r.choice([55, 60, 98, 120])}]
    nova_clouds.option(c, "filter_scheduler", "weight_classes", ",".join(nova_weigher_clouds.path(n) for n in names))


def live_query(r, c):
    """Comparisons of what servers consume, such that some hosts pass at first and refuse later."""
    flavor = c["flavors"][0]
    free = r.choice(c["hypervisors"])
    return r.choice([[">=", "$free_ram_mb", free["free_ram_mb"] - r.randint(0, 3) * flavor["ram"]],
                     ["<", "$vcpus_used", free["vcpus_used"] + r.randint(1, 4) * flavor["vcpus"]],
                     [">", "$free_disk_mb", 1024 * (min(free["free_disk_gb"], free["disk_available_least"] or 10**6) - r.randint(0, 3) * flavor["disk"])],
                     ["<=", "$num_instances", r.randint(0, 3)], ["in", "$num_instances", 0, 1, 3], ["not", ["=", "$num_instances", r.randint(0, 2)]],
                     ["<", "$num_io_ops", r.randint(1, 4)]])


def live_specs(r, c):
    """The same of extra specs."""
    flavor, of = c["flavors"][0], r.choice(c["hypervisors"])
    key, value = r.choice([("free_ram_mb", f">= {of['free_ram_mb'] - r.randint(0, 3) * flavor['ram']}"), ("vcpus_used", f"<= {of['vcpus_used'] + r.randint(0, 4) * flavor['vcpus']}"),
                           ("num_instances", r.choice(["<or> 0 <or> 1 <or> 2", "s!= 2", "<= 2", "0", "s== 0", "== 1.0", "!= 3"])), ("num_io_ops", r.choice(["<= 1", "<or> 0 <or> 2"])),
                           ("free_disk_mb", f">= {1024 * (min(of['free_disk_gb'], of['disk_available_least'] or 10**6) - r.randint(0, 3) * flavor['disk'])}")])
    flavor["extra_specs"][r.choice(["capabilities:", ""]) + key] = value


def add_live(r, c, chosen):
    if "JsonFilter" in chosen:
        c["os:scheduler_hints"]["query"] = json.dumps(live_query(r, c) if r.random() < 0.5 else [r.choice(["and", "or"]), live_query(r, c), live_query(r, c)])
    if "ComputeCapabilitiesFilter" in chosen:
        live_specs(r, c)


def add_filters(r, c):
    chosen = r.sample(FILTERS, r.randint(1, 3)) + (r.sample(OF_GROUPS, 1) if not c["server_groups"] and r.random() < 0.4 else [])
    if "ServerGroupAffinityFilter" in chosen:  # servers together go where all of them fit; Nova finds out that they do not when some are there
        chosen = [f for f in chosen if f not in CONSUMING] or ["AllHostsFilter"]
    for name in chosen:
        if name in GENERATED and r.random() < 0.7:
            nova_clouds.FILTERS[name][1](r, c)
    add_live(r, c, chosen)
    c.pop("moved", None)
    c["server"].pop("id", None)
    nova_clouds.option(c, "filter_scheduler", "enabled_filters", ",".join(chosen))


def make(r):
    """A cloud of which several weighers and a few filters read something, and a request for up to 12 servers."""
    c = nova_weigher_clouds.cloud(r)
    add_weighers(r, c)
    add_filters(r, c)
    c["server"]["max_count"] = r.choice([1, 2, 5, 12])
    return c


def make_cells(r):
    """A request for several servers with NUMA cells, devices or both. Sizes of pages are numbers: Nova's own choice among sizes for the first server binds
    those after it."""
    c = nova_weigher_clouds.cloud(r)
    names = r.choice([["NUMATopologyFilter"], ["PciPassthroughFilter"], ["NUMATopologyFilter", "PciPassthroughFilter"]])
    nova_clouds.FILTERS[",".join(names)][1](r, c)
    specs, image = c["flavors"][0]["extra_specs"], c["images"][0]["properties"]
    for of, key in ((specs, "hw:cpu_policy"), (image, "hw_cpu_policy"), (specs, "hw:emulator_threads_policy"), (specs, "hw:cpu_thread_policy")):
        of.pop(key, None)  # the placement service has CPUs of their own, too
    if not specs.get("hw:mem_page_size", "4").isdigit():
        specs["hw:mem_page_size"] = "4"
        image.pop("hw_mem_page_size", None)
    for h in c["hypervisors"]:  # room for the servers of one request, with whatever cells and devices
        h.update(vcpus=512, memory_mb=1 << 20)
        topology = json.loads(h.get("numa_topology", "null"))
        if topology and any(not cell["nova_object.data"]["mempages"] for cell in topology["nova_object.data"]["cells"]):
            h.pop("numa_topology")  # Nova cannot count what a server takes of a host that does not tell its pages
            c["servers"] = [s for s in c["servers"] if s["OS-EXT-SRV-ATTR:hypervisor_hostname"] != h["hypervisor_hostname"]]
    nova_clouds.option(c, "filter_scheduler", "enabled_filters", ",".join(names))
    nova_clouds.option(c, "filter_scheduler", "weight_classes", ",".join(nova_weigher_clouds.path(n) for n in ("RAMWeigher", "PCIWeigher")))
    c["server"]["max_count"] = r.choice([2, 5, 12])
    return c


def ids_of(c):
    """Of the request's VMs, in the order in which they are placed: equal ones by id."""
    n = c["server"]["max_count"]
    return ["request"] if n == 1 else sorted(f"request-{i + 1}" for i in range(n))


# ---- Ballast ----

def ballast(*arguments, stdin):
    return subprocess.run([os.environ["BALLAST"], *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=60)


def place(c):
    """({VM: node}, the nodes in order for the only VM, whether other servers move to make room, which Nova never does)"""
    compiled = ballast("fit", "compile", "-", stdin=json.dumps(c))
    assert compiled.returncode == 0, compiled.stderr
    done = ballast("place", "--snapshot", "-", "--format", "json", *ids_of(c), stdin=compiled.stdout)
    plan = json.loads(done.stdout)
    placed = [p for p in plan["recommendations"] if p["action"] == "place"]
    ranking = [placed[0]["to"]] + [a["host"] for a in placed[0].get("alternatives") or []] if c["server"]["max_count"] == 1 and placed else []
    return {p["vm"]: p["to"] for p in placed}, ranking, len(placed) < len(plan["recommendations"])


# ---- Nova ----

class Scheduler:
    """As SchedulerManager._schedule() goes over the servers of a request, without its services."""
    def __init__(self, c, filter_classes, weigher_classes):
        conf = c["nova.conf"]["filter_scheduler"]
        nova_objects.configure(c["nova.conf"])
        self.filters = [filter_classes[n]() for n in conf["enabled_filters"].split(",")]
        self.weighers = [weigher_classes[n.rsplit(".", 1)[1]]() for n in conf["weight_classes"].split(",")]
        self.hosts = [nova_objects.host_state(c, h) for h in c["hypervisors"]]
        for h in self.hosts:  # as the host manager has them: one list for all nodes of a service
            h.instances = next(o.instances for o in self.hosts if o.host == h.host)
        self.spec = nova_objects.request_spec(c)
        self.index = 0

    def refused(self, host):
        """A host that Nova cannot weigh: the whole request fails there."""
        try:
            for w in self.weighers:
                w._weigh_object(host, self.spec)  # pylint: disable=protected-access
            return False
        except Exception:  # pylint: disable=broad-except
            return True

    def rank(self):
        """[(node, weight), ...] of the hosts that are left, the best first."""
        self.hosts = [h for h in filters.HostFilterHandler().get_filtered_objects(self.filters, self.hosts, self.spec, self.index) if not self.refused(h)]
        self.index += 1
        return [(w.obj.nodename, w.weight) for w in weights.HostWeightHandler().get_weighed_objects(self.weighers, self.hosts, self.spec)]

    def consume(self, node, instance):
        host = next(h for h in self.hosts if h.nodename == node)
        host.consume_from_request(self.spec)
        if self.spec.instance_group is not None:
            self.spec.instance_group.hosts.append(host.host)
            self.spec.instance_group.members.append(instance)
            host.instances[instance] = objects.Instance(uuid=instance)


# ---- both ----

def near(x, y):
    return abs(x - y) <= NEAR * max(1, abs(x), abs(y))


def differs(c, ranked, node):
    """Whether the node is none of the best `host_subset_size`, or one that weighs the same."""
    subset = int(c["nova.conf"]["filter_scheduler"].get("host_subset_size", 1))
    least = ranked[min(subset, len(ranked)) - 1][1]
    weight = dict(ranked).get(node)
    return weight is None or (weight < least and not near(weight, least))


def misplaced(ranking, ranked):
    """The first two hosts of the ranking here that Nova has the other way round."""
    weight = dict(ranked)
    for better, worse in zip(ranking, ranking[1:]):
        if better not in weight or worse not in weight or (weight[better] < weight[worse] and not near(weight[better], weight[worse])):
            return better, worse
    return None


def compare(c, classes, counts):
    """What Nova does not do; None: it does the same."""
    placed, ranking, makes_room = place(c)
    nova = Scheduler(c, *classes)
    for ix, vm in enumerate(ids_of(c)):
        ranked = nova.rank()
        counts["servers"] += 1
        counts["choices"] += len(ranked) > 1 and not near(ranked[0][1], ranked[-1][1])
        counts["placed"] += bool(ranked)
        counts["ranked"] += max(0, len(ranking) - 1)
        if not ranked:
            return f"{vm}: here {placed[vm]}, Nova none" if vm in placed and not makes_room else None
        if differs(c, ranked, placed.get(vm)) or misplaced(ranking, ranked):
            return f"{vm}: here {placed.get(vm)} of {ranking}, Nova {ranked[:4]}"
        nova.consume(placed[vm], "ffffffff-0000-4000-8000-%012d" % (ix + 1))
    return "makes room where there is enough" if makes_room else None


def compare_requests(classes, maker):
    """(counts, requests that differ)"""
    r = random.Random(SEED)
    counts = collections.Counter()
    wrong = 0
    for _ in range(REQUESTS):
        c = maker(r)
        found = compare(c, classes, counts)
        if found:
            wrong += 1
            if wrong <= SHOWN:
                print(f"{found}\n  {json.dumps(c)}", file=sys.stderr)
    return counts, wrong


def test_requests(classes):
    counts, wrong = compare_requests(classes, make)
    print(f"| N40, N41 | servers of {REQUESTS} requests, by several filters and weighers | {counts['servers']:,} | {100 * counts['choices'] / counts['servers']:.0f} % | {wrong} |\n"
          f"| N40 | pairs of hosts in their order | {counts['ranked']:,} | | {wrong} |")
    return wrong == 0 and counts["choices"] > counts["servers"] / 2 and counts["placed"] > counts["servers"] / 2 and counts["ranked"] > REQUESTS / 2


def test_cells(classes):
    with unittest.mock.patch.object(hardware, "numa_fit_instance_to_host", nova_objects.Arrangements()):
        counts, wrong = compare_requests(classes, make_cells)
    print(f"| N23, N24, N41 | servers of {REQUESTS} requests with NUMA cells or devices | {counts['servers']:,} | {100 * counts['choices'] / counts['servers']:.0f} % | {wrong} |")
    return wrong == 0 and counts["servers"] > counts["placed"] > REQUESTS


# ---- the best hosts ----

def chosen_hosts(options, seeds, free):
    """How often a request of one server takes each host, by seed."""
    r = random.Random(SEED)
    c = nova_weigher_clouds.cloud(r, 0)
    for i, h in enumerate(c["hypervisors"]):
        h["free_ram_mb"] = free(i)
    c["aggregates"] = []
    c["server"]["max_count"] = 1
    c["nova.conf"]["filter_scheduler"] = {"enabled_filters": "AllHostsFilter", "weight_classes": nova_weigher_clouds.path("RAMWeigher"), **options}
    return collections.Counter(place({**c, **seed})[0]["request"] for seed in seeds)


def test_pick():
    """The same seed takes the same host; other seeds spread over the best, and take no other."""
    seeds = [{"seed": i} for i in range(1, 61)]
    falls, equals = (lambda i: 100000 - 1000 * i), (lambda i: 90000 if i % 4 == 1 else 1000)
    best = {f"h{i:05}" for i in range(nova_clouds.HOSTS) if i % 4 == 1}
    failed = [what for what, right in (
        ("the best", set(chosen_hosts({}, seeds[:5], falls)) == {"h00000"}),
        ("a subset of 3", set(chosen_hosts({"host_subset_size": "3"}, seeds, falls)) == {"h00000", "h00001", "h00002"}),
        ("each of a subset often", min(chosen_hosts({"host_subset_size": "3"}, seeds, falls).values()) >= 10),
        ("the same seed", len(chosen_hosts({"host_subset_size": "20"}, [{"seed": 7}] * 5, falls)) == 1),
        ("the same time", len(chosen_hosts({"host_subset_size": "20"}, [{"time": "2026-01-01T00:00:00Z"}] * 5, falls)) == 1),
        ("another time", len(chosen_hosts({"host_subset_size": "20"}, [{"time": f"2026-01-01T00:00:{i}Z"} for i in range(10, 20)], falls)) > 3),
        ("shuffled", set(chosen_hosts({"shuffle_best_same_weighed_hosts": "true"}, seeds, equals)) == best),
        ("not shuffled", len(chosen_hosts({}, seeds[:10], equals)) == 1),
    ) if not right]
    print(f"| N42 | kinds of choices among the best hosts | 8 | | {len(failed)} |")
    if failed:
        print(f"wrong choices: {', '.join(failed)}", file=sys.stderr)
    return not failed


def main():
    if "BALLAST" not in os.environ:
        print("skipped: BALLAST is not set: run this with meson test", file=sys.stderr)
        return 77
    logging.disable(logging.CRITICAL)
    nova_objects.begin()
    classes = ({f.__name__: f for f in filters.HostFilterHandler().get_matching_classes(["nova.scheduler.filters.all_filters"])}, nova_objects.weigher_classes())
    print("| number | what | compared | hosts of unequal weight | differ |\n|---|---|---|---|---|")
    with unittest.mock.patch.object(servicegroup, "API", nova_objects.ServiceGroup):
        right = [test_requests(classes), test_cells(classes)]
    return 0 if test_pick() and all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
