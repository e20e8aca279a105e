"""nova_weigher_clouds.py: random clouds and requests for each weigher of Nova, as nova_clouds.py has them for its filters: what the
weigher reads differs from host to host, multipliers stand in nova.conf and in aggregates."""
import nova_clouds
from nova_clouds import option, uuid

NUMBERS = ["1.0", "2", "-1.5", "0.25", " 3 ", "1_0", "1e1", "0", "many", "2.0, 3.0", ""]
METRICS = ["cpu.frequency", "cpu.idle.percent", "cpu.user.percent", "cpu.iowait.time"]
CELLS = ["cccccccc-0000-4000-8000-00000000000%d" % i for i in range(3)]


def cloud(r, n_servers=24):
    """Each node is a compute service of its own, with room for all in the placement service, whatever its state says; servers of several
    sizes run, some are stopped."""
    c = nova_clouds.cloud(r)
    for i, h in enumerate(c["hypervisors"]):
        h["service"]["host"] = "compute%d" % i
        h["memory_mb"] = 262144
        h["inventories"] = {name: {"total": 1000000} for name in ("VCPU", "MEMORY_MB", "DISK_GB")}
    names = [h["service"]["host"] for h in c["hypervisors"]]
    for a in c["aggregates"]:
        a["hosts"] = r.sample(names, r.randint(0, len(names)))
    c["flavors"][0].update({"vcpus": r.choice([1, 2, 5]), "ram": r.choice([512, 2048, 3000]), "disk": r.choice([0, 20]),
                            "OS-FLV-EXT-DATA:ephemeral": r.choice([0, 0, 7])})
    for _ in range(r.randint(0, n_servers)):
        h = r.choice(c["hypervisors"])
        c["servers"].append({"id": uuid(r), "status": r.choice(["ACTIVE", "ACTIVE", "ACTIVE", "SHUTOFF"]), "OS-EXT-SRV-ATTR:host": h["service"]["host"],
                             "OS-EXT-SRV-ATTR:hypervisor_hostname": h["hypervisor_hostname"], "tenant_id": r.choice(nova_clouds.TENANTS),
                             "flavor": {"original_name": "m1", "vcpus": r.choice([1, 2]), "ram": r.choice([256, 1024]), "disk": r.choice([0, 5, 10]),
                                        "ephemeral": r.choice([0, 3]), "swap": 0, "extra_specs": {}}})
    return c


def multiplier(r, c, section, name, key, negative=True):
    """In nova.conf at times, and in aggregates."""
    if r.random() < 0.5:
        option(c, section, name, r.choice(["1.0", "2", "0.5", "1e3", "0"] + (["-1.0", "-0.1"] if negative else [])))
    if r.random() < 0.5:
        numbers = NUMBERS if r.random() < 0.3 else NUMBERS[:7]
        for a in c["aggregates"]:
            if r.random() < 0.6:
                a["metadata"][key] = r.choice(numbers)


def near(r, values):
    """A few of the values only, so that hosts are often equal; at times one for all."""
    return r.sample(values, r.choice([1, 2, 3, min(9, len(values))]))


def ram(r, c):
    values = near(r, [-4096, -512, 0, 1, 511, 2048, 2049, 16384, 65536, 200000])
    for h in c["hypervisors"]:
        h["free_ram_mb"] = r.choice(values)


def cpu(r, c):
    ratios = near(r, [1.0, 1.1, 4.0, 16.0, 2.5])
    for h in c["hypervisors"]:
        h["vcpus"] = r.choice([8, 16, 64])
        h["vcpus_used"] = r.choice([0, 3, 8, 40])
        h["cpu_allocation_ratio"] = r.choice(ratios)


def disk(r, c):
    values = near(r, [-20, 0, 10, 100, 101, 900])
    for h in c["hypervisors"]:
        h["free_disk_gb"] = r.choice(values)
        h["disk_available_least"] = r.choice([None, -3, 5, 95, 950])


def metrics(r, c):
    often = r.choice([0.6, 0.9, 1])
    for h in c["hypervisors"]:
        h["metrics"] = [{"name": n, "value": round(r.random(), 2) if "percent" in n else r.choice([0, 1000, 2300, 7]), "source": "s",
                         "timestamp": "2026-01-01T00:00:00"} for n in METRICS if r.random() < often]
    option(c, "metrics", "weight_setting", ",".join(f"{n}={r.choice(['1.0', '-2', 'x', '.5', '0', '1e-3'])}" for n in r.choices(METRICS, k=r.randint(1, 4))))
    if r.random() < 0.7:
        option(c, "metrics", "required", r.choice(["true", "False", "False"]))
    if r.random() < 0.5:
        option(c, "metrics", "weight_of_unavailable", r.choice(["-10000.0", "0", "55.5"]))


def stat(r, c, name, values):
    values = near(r, values)
    for h in c["hypervisors"]:
        if r.random() < 0.9:
            h["stats"][name] = str(r.choice(values))


def io_ops(r, c):
    stat(r, c, "io_workload", [0, 1, 2, 5, 8, 30])


def num_instances(r, c):
    stat(r, c, "num_instances", [0, 1, 2, 24, 25, 60])


def failed_builds(r, c):
    stat(r, c, "failed_builds", [0, 0, 1, 2, 7])


def version(r, c):
    values = near(r, [6002000, 2012000, 7000001, 8, 0])
    for h in c["hypervisors"]:
        h["hypervisor_version"] = r.choice(values)


def pci(r, c):
    values = near(r, [0, 0, 1, 2, 4, 16, 60, 98, 120])
    for h in c["hypervisors"]:
        h["pci_device_pools"] = [{"vendor_id": "8086", "product_id": p, "numa_node": None, "count": r.choice(values)} for p in r.choice([[], ["1"], ["1", "2"]])]
    if r.random() < 0.7:
        c["flavors"][0]["extra_specs"]["pci_passthrough:alias"] = r.choice(["gpu:1", "gpu:2", "gpu:1, nic:3"])
    for s in c["servers"]:
        if r.random() < 0.3:
            s["flavor"]["extra_specs"]["pci_passthrough:alias"] = r.choice(["gpu:1", "gpu:2,nic:1"])


def share_service(c):
    """The first two nodes are of one compute service."""
    first, second = c["hypervisors"][:2]
    for a in c["aggregates"]:
        a["hosts"] = [h for h in a["hosts"] if h != second["service"]["host"]]
    second["service"]["host"] = first["service"]["host"]
    for s in c["servers"]:
        if s["OS-EXT-SRV-ATTR:hypervisor_hostname"] == second["hypervisor_hostname"]:
            s["OS-EXT-SRV-ATTR:host"] = first["service"]["host"]


def soft_group(r, c, policy):
    if r.random() < 0.4:
        share_service(c)
    ids = [s["id"] for s in c["servers"]]
    group = {"id": uuid(r), "name": "g", "policy": policy if r.random() < 0.95 else "affinity", "rules": {},
             "members": r.sample(ids, r.randint(len(ids) // 3, len(ids)))}
    c["server_groups"] = [group]
    if r.random() < 0.95:
        c["os:scheduler_hints"]["group"] = group["id"]


def soft_affinity(r, c):
    soft_group(r, c, "soft-affinity")


def soft_anti_affinity(r, c):
    soft_group(r, c, "soft-anti-affinity")


def cross_cell(r, c):
    for h in c["hypervisors"]:
        h["cell_uuid"] = r.choice(CELLS)
    if r.random() < 0.8:  # without the permission Nova sees the hosts of the cell only
        c["requested_destination"] = {"cell": r.choice(CELLS), "allow_cross_cell_move": True}


# By weigher: its number in the specification, its module, the generator, and whether its option may be negative.
WEIGHERS = {
    "RAMWeigher": ("N28", "ram", ram, True),
    "CPUWeigher": ("N29", "cpu", cpu, True),
    "DiskWeigher": ("N30", "disk", disk, True),
    "MetricsWeigher": ("N31", "metrics", metrics, True),
    "IoOpsWeigher": ("N32", "io_ops", io_ops, True),
    "PCIWeigher": ("N33", "pci", pci, False),
    "ServerGroupSoftAffinityWeigher": ("N34", "affinity", soft_affinity, False),
    "ServerGroupSoftAntiAffinityWeigher": ("N35", "affinity", soft_anti_affinity, False),
    "BuildFailureWeigher": ("N36", "compute", failed_builds, True),
    "CrossCellWeigher": ("N37", "cross_cell", cross_cell, True),
    "HypervisorVersionWeigher": ("N38", "hypervisor_version", version, True),
    "NumInstancesWeigher": ("N39", "num_instances", num_instances, True),
}

# The keys of multipliers that do not follow from the module.
KEYS = {"ServerGroupSoftAffinityWeigher": "soft_affinity", "ServerGroupSoftAntiAffinityWeigher": "soft_anti_affinity", "BuildFailureWeigher": "build_failure",
        "CrossCellWeigher": "cross_cell_move"}


def add(r, c, name):
    """What the weigher reads."""
    _, module, generate, negative = WEIGHERS[name]
    key = KEYS.get(name, module) + "_weight_multiplier"
    generate(r, c)
    multiplier(r, c, *(("metrics", "weight_multiplier", key) if module == "metrics" else ("filter_scheduler", key, key)), negative)


def path(name):
    return f"nova.scheduler.weights.{WEIGHERS[name][1]}.{name}"


def make(r, name):
    c = cloud(r)
    add(r, c, name)
    if name == "NumInstancesWeigher" and r.random() < 0.7:
        option(c, "filter_scheduler", "num_instances_weight_multiplier", r.choice(["1", "-1", "2.5"]))
    option(c, "filter_scheduler", "enabled_filters", "AllHostsFilter")
    option(c, "filter_scheduler", "weight_classes", path(name))
    return c
