"""nova_numa_clouds.py: NUMA topologies and PCI devices of random clouds, for nova_clouds.py: hosts as the table compute_nodes has them, often nearly
full, flavours and images that ask for cells, pages, CPUs of their own and devices."""
import json

ALIASES = [
    {"name": "nic", "vendor_id": "8086", "product_id": "1520", "device_type": "type-VF"},
    {"name": "near", "vendor_id": "8086", "product_id": "1520", "device_type": "type-VF", "numa_policy": "required"},
    {"name": "card", "vendor_id": "8086", "product_id": "10fb", "device_type": "type-PF", "numa_policy": "preferred"},
    {"name": "gpu", "vendor_id": "10DE", "product_id": "1eb8"},
    {"name": "any", "vendor_id": "8086", "numa_policy": "socket"},
    {"name": "two", "vendor_id": "8086", "product_id": "1520", "device_type": "type-VF"},
    {"name": "two", "vendor_id": "15b3", "product_id": "1018", "device_type": "type-VF"},
]


def wrapped(name, version, data):
    """As a versioned object of Nova is written."""
    return {"nova_object.name": name, "nova_object.namespace": "nova", "nova_object.version": version, "nova_object.data": data}


def cell(r, ix, cpus, socket, paged):
    """One of a host: half of its CPUs may be for VMs that have CPUs of their own; hyperthreads at times."""
    first = ix * cpus
    all_cpus = list(range(first, first + cpus))
    dedicated = r.choice([0, cpus // 2, cpus])
    pcpuset = all_cpus[:dedicated]
    threads = r.choice([1, 2])
    memory = r.choice([2048, 4096, 8192])
    pages = [{"size_kb": 4, "total": memory * 256, "used": r.choice([0, 1024, memory * 128]), "reserved": r.choice([0, 0, 512])}]
    pages += [{"size_kb": size, "total": memory * 1024 // 2 // size, "used": r.choice([0, 0, memory * 1024 // 4 // size]), "reserved": 0}
              for size in r.choice([[], [2048], [2048, 1048576]])]
    return wrapped("NUMACell", "1.5", {
        "id": ix, "cpuset": all_cpus if r.random() < 0.5 else all_cpus[dedicated:], "pcpuset": pcpuset, "memory": memory,
        "cpu_usage": r.choice([0, 0, 2, cpus, 4 * cpus]), "memory_usage": r.choice([0, 0, 1024, memory // 2, memory]),
        "pinned_cpus": r.sample(pcpuset, r.randint(0, len(pcpuset))) if r.random() < 0.6 else [],
        "siblings": [all_cpus[i:i + threads] for i in range(0, cpus, threads)],
        "mempages": [wrapped("NUMAPagesTopology", "1.1", p) for p in (r.sample(pages, len(pages)) if paged else [])], "socket": socket})


def topologies(r, c):
    c["server"]["imageRef"] = c["images"][0]["id"]
    for h in c["hypervisors"]:
        n, cpus, paged = r.choice([1, 2, 2, 2, 4]), r.choice([2, 4, 8]), r.random() < 0.8
        sockets = r.random() < 0.9
        cells = [cell(r, i, cpus, i // 2 if sockets else None, paged) for i in range(n)]
        if r.random() < 0.95:
            text = json.dumps(wrapped("NUMATopology", "1.2", {"cells": cells}))
            h["numa_topology"] = text
        h["cpu_allocation_ratio"] = r.choice([1.0, 2.0, 16.0])
        h["ram_allocation_ratio"] = r.choice([1.0, 1.5])


def pools(r, c):
    c["nova.conf"]["pci"] = {"alias": [json.dumps(a) for a in ALIASES]}
    for h in c["hypervisors"]:
        h["pci_device_pools"] = []
        for _ in range(r.choice([0, 1, 2, 3, 4])):
            pool = {"vendor_id": "8086", "product_id": "1520", "dev_type": "type-VF", "numa_node": r.choice([None, 0, 0, 1, 1, 2, 3]), "count": r.choice([1, 1, 2, 4])}
            pool.update(r.choice([{}, {}, {"physical_network": "net1"}, {"vendor_id": "10de", "product_id": "1EB8", "dev_type": "type-PCI"},
                                  {"product_id": "10fb", "dev_type": "type-PF"}, {"vendor_id": "15b3", "product_id": "1018"},
                                  {"vendor_id": "15b3", "product_id": "1018", "dev_type": "vdpa"}, {"remote_managed": r.choice(["true", "False"])}]))
            h["pci_device_pools"].append(pool)


def ask_for_cells(r, c):
    flavor, image = c["flavors"][0], c["images"][0]["properties"]
    specs = flavor["extra_specs"]
    nodes = r.choice([1, 1, 2, 2, 2, 3, 4])
    flavor["vcpus"], flavor["ram"] = nodes * r.choice([1, 2, 3]), nodes * 512 * r.choice([1, 2, 3, 4])
    to, prefix = (specs, "hw:") if r.random() < 0.8 else (image, "hw_")
    if nodes > 1 or r.random() < 0.5:
        to[prefix + "numa_nodes"] = str(nodes)
    if nodes == 2 and flavor["vcpus"] > 2 and r.random() < 0.4:  # the one has less than the other
        n = flavor["vcpus"]
        to[prefix + "numa_cpus.0"], to[prefix + "numa_cpus.1"] = r.choice([("0", f"1-{n - 1}"), (f"0-{n - 1},^1", "1"), (f"0,{n - 1}", f"1-{n - 2}")])
        to[prefix + "numa_mem.0"], to[prefix + "numa_mem.1"] = str(512), str(flavor["ram"] - 512)
    if r.random() < 0.3:
        if r.random() < 0.8:
            specs["hw:cpu_policy"] = "dedicated"
        else:
            image["hw_cpu_policy"] = "dedicated"
        if r.random() < 0.3:
            specs["hw:emulator_threads_policy"] = r.choice(["isolate", "share"])
        if r.random() < 0.3:
            specs["hw:cpu_thread_policy"] = "prefer"
    elif r.random() < 0.2:
        specs["hw:cpu_policy"] = "shared"
    if r.random() < 0.4:
        specs["hw:mem_page_size"] = r.choice(["small", "large", "any", "2048", "2MB", "1GB", "4", "64"])
        if specs["hw:mem_page_size"] in ("large", "any") and r.random() < 0.3:
            image["hw_mem_page_size"] = r.choice(["2048", "small", "1GB"])


def ask_for_devices(r, c, most):
    asked = r.sample(["nic", "near", "card", "gpu", "any", "two"], r.choice([1, 1, 1, 2, most]))
    c["flavors"][0]["extra_specs"]["pci_passthrough:alias"] = r.choice([",", ", "]).join(f"{a}:{r.choice([1, 1, 2, 3])}" for a in asked)
    if r.random() < 0.3:
        c["flavors"][0]["extra_specs"]["hw:pci_numa_affinity_policy"] = r.choice(["required", "legacy", "preferred", "socket"])


def with_servers(r, c):
    """Servers that run in cells of their hosts, which report them as used."""
    for i, h in enumerate(c["hypervisors"]):
        if "numa_topology" not in h or r.random() < 0.6:
            continue
        topology = json.loads(h["numa_topology"])
        of = r.choice(topology["nova_object.data"]["cells"])["nova_object.data"]
        smallest = min((p["nova_object.data"] for p in of["mempages"]), key=lambda p: p["size_kb"], default=None)
        of["cpu_usage"] += 2
        of["memory_usage"] += 512
        if smallest:
            smallest["used"] += 512 * 1024 // smallest["size_kb"]
        h["numa_topology"] = json.dumps(topology)
        c["servers"].append({"id": f"runs{i}", "status": "ACTIVE", "tenant_id": "bank", "image": "", "OS-EXT-SRV-ATTR:host": h["service"]["host"],
                             "OS-EXT-SRV-ATTR:hypervisor_hostname": h["hypervisor_hostname"],
                             "flavor": {"original_name": "running", "vcpus": 2, "ram": 512, "disk": 1, "extra_specs": {"hw:numa_nodes": "1"}},
                             "topology": {"nodes": [{"host_node": of["id"], "memory_mb": 512, "vcpu_set": [0, 1]}], "pagesize_kb": None}})


def numa(r, c):
    topologies(r, c)
    with_servers(r, c)
    if r.random() < 0.97:
        ask_for_cells(r, c)


def pci(r, c):
    pools(r, c)
    if r.random() < 0.97:
        ask_for_devices(r, c, 3)


def both(r, c):
    numa(r, c)
    pools(r, c)
    for h in c["hypervisors"]:
        for pool in h["pci_device_pools"]:
            pool["count"] *= 2
    ask_for_devices(r, c, 2)
