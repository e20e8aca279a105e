#!/usr/bin/env python3
"""What pipelines cost, and real Nova's filters and weighers beside them on the same machine in the same run (package python3-nova).

    fit.py PROGRAM      PROGRAM: bench-fit

One request against 1,000, 10,000 and 100,000 hosts with 16 filters and 10 scores; placements a second on 10,000 hosts; a pass on a cloud with its
pipeline and without. Nova: as many of its own filters and weighers, on host states without database and placement service. Prints
figures and ratios, and never fails for being slow."""
import logging
import pathlib
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import debian_python  # pylint: disable=wrong-import-position

NOVA_HOSTS = (1000, 10000)
FILTERS = ["AvailabilityZoneFilter", "AggregateImagePropertiesIsolation", "AggregateInstanceExtraSpecsFilter", "AggregateMultiTenancyIsolation",
           "AggregateTypeAffinityFilter", "IoOpsFilter", "NumInstancesFilter", "AllHostsFilter", "ComputeCapabilitiesFilter", "ComputeFilter",
           "DifferentHostFilter", "SameHostFilter", "ImagePropertiesFilter", "IsolatedHostsFilter", "JsonFilter", "SimpleCIDRAffinityFilter"]
WEIGHERS = ["RAMWeigher", "CPUWeigher", "DiskWeigher", "MetricsWeigher", "IoOpsWeigher", "PCIWeigher", "ServerGroupSoftAffinityWeigher",
            "ServerGroupSoftAntiAffinityWeigher", "BuildFailureWeigher", "CrossCellWeigher"]


def ours(*args):
    done = subprocess.run([sys.argv[1], *map(str, args)], stdout=subprocess.PIPE, text=True, check=True, timeout=600)
    print("Ballast:", done.stdout.strip(), flush=True)
    return done.stdout


def nova(hosts):
    """(ms of the filters, ms of the weighers), the least of three"""
    import nova_clouds
    import nova_objects
    from nova import filters as base_filters
    from nova.scheduler import filters, weights
    from unittest import mock
    r = random.Random(1)
    nova_clouds.HOSTS = hosts
    c = nova_clouds.cloud(r)
    c["aggregates"] = c["aggregates"][:4]
    c["os:scheduler_hints"] = {}
    nova_clouds.with_image(c)
    nova_objects.configure(c["nova.conf"])
    spec = nova_objects.request_spec(c)
    states = [nova_objects.host_state(c, h) for h in c["hypervisors"]]
    wanted = [f for f in filters.HostFilterHandler().get_matching_classes(["nova.scheduler.filters.all_filters"]) if f.__name__ in FILTERS]
    weighers = [w() for w in weights.HostWeightHandler().get_matching_classes(["nova.scheduler.weights.all_weighers"]) if w.__name__ in WEIGHERS]
    best = [float("inf"), float("inf")]
    with mock.patch("nova.servicegroup.API", nova_objects.ServiceGroup):
        instances = [f() for f in wanted]
        for _ in range(3):
            began = time.monotonic()
            left = list(filters.HostFilterHandler().get_filtered_objects(instances, states, spec))
            between = time.monotonic()
            weights.HostWeightHandler().get_weighed_objects(weighers, states, spec) # all hosts, as if all had passed
            best = [min(best[0], (between - began) * 1e3), min(best[1], (time.monotonic() - between) * 1e3)]
    print(f"Nova:    {hosts} hosts, {len(left)} left: {len(wanted)} filters {best[0]:.0f}, {len(weighers)} weighers {best[1]:.0f}", flush=True)
    return best


def nova_times():
    """By number of hosts."""
    import nova_objects
    logging.disable(logging.CRITICAL)  # it warns of each host that has more than its database says
    nova_objects.begin()
    return {n: nova(n) for n in NOVA_HOSTS}


def main():
    debian_python.need("nova")
    print("times in ms", flush=True)
    theirs = nova_times()
    for hosts in (1000, 10000, 100000):
        figures = [float(x) for x in re.findall(r"(?:filters|scores) ([\d.]+)", ours("request", hosts))]
        if hosts in theirs:
            print(f"         {hosts} hosts: filters and scores {sum(figures):.3f}, Nova {sum(theirs[hosts]):.0f}, "
                  f"{sum(theirs[hosts]) / sum(figures):,.0f} times as long", flush=True)
    for requests, kinds in ((200, 1), (5000, 1), (5000, 24), (5000, 0)):
        ours("place", 10000, requests, kinds)
    ours("classes", 1000, 30000)


if __name__ == "__main__":
    main()
