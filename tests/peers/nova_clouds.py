"""nova_clouds.py: random clouds and requests, as the OpenStack API and nova.conf have them: one generator for each filter of Nova.

A case is a dict as src/dialect/nova/README.md describes it. A generator changes the parts that its filter reads, often near the border
between pass and refuse."""
import json

import nova_numa_clouds

HOSTS = 20
ZONES = ["east", "west", "nova"]
TENANTS = ["bank", "shop", "lab", "press"]
FLAVORS = ["m1.small", "m1.large", "gpu.huge"]
VALUES = ["ssd", "hdd", "nvme ssd", "8", "16", "16.0", "1e1", "x86_64", "ten", "", "-3", "inf", "abc", "sse2", "avx2,sse2", " 12 ", "0"]


def uuid(r):
    return "%08x-%04x-4%03x-8%03x-%012x" % (r.getrandbits(32), r.getrandbits(16), r.getrandbits(12), r.getrandbits(12), r.getrandbits(48))


def cloud(r):
    """Hypervisors with ordinary facts, a few aggregates without metadata, one flavour, one image and a request."""
    hypervisors = [{"id": uuid(r), "hypervisor_hostname": "h%05d" % i, "service": {"host": "compute%d" % (i // 2 if i < 4 else i)},
                    "status": "enabled", "state": "up", "vcpus": r.choice([8, 16, 64]), "vcpus_used": r.randint(0, 8),
                    "memory_mb": r.choice([16384, 65536]), "free_ram_mb": r.choice([-512, 0, 2048, 16384]),
                    "local_gb": 1000, "local_gb_used": 100, "free_disk_gb": r.choice([10, 100, 900]),
                    "disk_available_least": r.choice([None, 5, 950]), "running_vms": 0, "current_workload": 0,
                    "host_ip": "192.168.%d.%d" % (r.randint(0, 3), r.randint(1, 254)),
                    "hypervisor_type": r.choice(["QEMU", "ironic"]), "hypervisor_version": 2012000, "cpu_info": {},
                    "supported_instances": [["x86_64", "kvm", "hvm"]], "stats": {}, "metrics": [],
                    "cpu_allocation_ratio": r.choice([1.0, 4.0, 16.0]), "ram_allocation_ratio": 1.5, "disk_allocation_ratio": 1.0}
                   for i in range(HOSTS)]
    hosts = sorted({h["service"]["host"] for h in hypervisors})
    return {"nova.conf": {"DEFAULT": {}, "filter_scheduler": {}, "metrics": {}},
            "hypervisors": hypervisors, "servers": [], "server_groups": [],
            "aggregates": [{"id": i + 1, "name": "aggregate%d" % i, "hosts": r.sample(hosts, r.randint(0, len(hosts) * 2 // 3)), "metadata": {}}
                           for i in range(r.randint(0, 4))],
            "flavors": [{"id": "f", "name": r.choice(FLAVORS), "vcpus": 2, "ram": 2048, "disk": 20, "extra_specs": {}}],
            "images": [{"id": uuid(r), "properties": {}}],
            "server": {"name": "new", "flavorRef": "f", "tenant_id": r.choice(TENANTS)}, "os:scheduler_hints": {}}


def with_image(c):
    c["server"]["imageRef"] = c["images"][0]["id"]


def option(c, section, name, value):
    c["nova.conf"][section][name] = value


def metadata(r, c, key, values, often=0.6):
    for aggregate in c["aggregates"]:
        if r.random() < often:
            aggregate["metadata"][key] = r.choice([",", ", ", " ,"]).join(r.choices(values, k=r.choice([1, 1, 2, 3])))


def requirement(r, values=VALUES):
    """An extra spec's value: the operators, their operands missing at times, and plain texts."""
    operand = r.choice(values).strip() or "x"
    number = r.choice(["8", "12", "16", "1e1", "0", "-3", "nan", "inf", "ten", "2_0"])
    return r.choice([operand, operand, f"<or> {operand}", f"<or> {operand} <or> {r.choice(values)}", f"<or> {operand} or ssd <or>", f"<in> {operand[:2]}",
                     f"<all-in> {operand[:1]} {r.choice('s1e')}", f"= {number}", f"== {number}", f"!= {number}", f">= {number}", f"<= {number}",
                     f"s== {operand}", f"s!= {operand}", f"s< {operand}", f"s<= {operand}", f"s> {operand}", f"s>= {operand}", "<or>", "<in>", "s==", ""])


# ---- aggregates ----

def aggregate_image(r, c):
    properties = {"os_type": ["linux", "windows"], "os_distro": ["debian", "rhel", "ubuntu"], "hw_cpu_cores": ["4", 4, "04", "0", 2],
                  "hw_boot_menu": ["yes", "true", "false", "no"], "hw_architecture": ["amd64", "x86_64", "aarch64"], "hw_machine_type": ["q35", "pc", ""],
                  "img_hv_type": ["kvm", "KVM", "xapi"], "hw_vm_mode": ["hvm", "pv"]}
    spoken = {"hw_cpu_cores": ["4", "04", "2", "0"], "hw_boot_menu": ["True", "False", "yes"], "hw_architecture": ["x86_64", "amd64"],
              "img_hv_type": ["kvm", "xen"], "hw_vm_mode": ["hvm", "xen"]}
    for key in r.sample(sorted(properties), r.randint(1, 4)):
        if r.random() < 0.85:
            c["images"][0]["properties"][{"os_distro": "vmware_ostype", "hw_architecture": "architecture"}.get(key, key) if r.random() < 0.3 else key] = \
                r.choice(properties[key])
        metadata(r, c, key, spoken.get(key, properties[key]), 0.5)
    metadata(r, c, "unknown_key", ["a"], 0.2)
    if r.random() < 0.9:
        with_image(c)
    if r.random() < 0.4:
        option(c, "filter_scheduler", "aggregate_image_properties_isolation_namespace", r.choice(["os", "hw", "img"]))
        option(c, "filter_scheduler", "aggregate_image_properties_isolation_separator", "_")


def aggregate_extra_specs(r, c):
    for _ in range(r.choice([1, 1, 1, 2])):
        key = r.choice(["disk", "cpu", "tier"])
        metadata(r, c, key, VALUES, 0.8)
        scope = r.choice(["aggregate_instance_extra_specs:", "aggregate_instance_extra_specs:", "", "hw:", "aggregate:x:"])
        c["flavors"][0]["extra_specs"][scope + key] = requirement(r)


def aggregate_tenants(r, c):
    metadata(r, c, "filter_tenant_id", TENANTS, 0.6)
    metadata(r, c, "other", TENANTS, 0.3)


def aggregate_type(r, c):
    metadata(r, c, "instance_type", FLAVORS, 0.6)


def zone(r, c):
    metadata(r, c, "availability_zone", ZONES, 0.5)
    if r.random() < 0.9:
        c["server"]["availability_zone"] = r.choice(ZONES)
    if r.random() < 0.5:
        option(c, "DEFAULT", "default_availability_zone", r.choice(ZONES))


def counts(r, c, stat, name):
    for h in c["hypervisors"]:
        h["stats"][stat] = str(r.choice([0, 1, 4, 5, 7, 8, 9, 12, 49, 50, 60]))
    if r.random() < 0.7:
        option(c, "filter_scheduler", name, str(r.choice([1, 5, 8, 50])))
    for aggregate in c["aggregates"]:
        if r.random() < 0.6:
            aggregate["metadata"][name] = r.choice(["5", "8", " 9 ", "50", "0", "12", "12", "many", "5.5", "1_0"])


def io_ops(r, c):
    counts(r, c, "io_workload", "max_io_ops_per_host")


def num_instances(r, c):
    counts(r, c, "num_instances", "max_instances_per_host")


# ---- hosts ----

def all_hosts(r, c):
    metadata(r, c, "filter_tenant_id", TENANTS)


def compute(r, c):
    for h in c["hypervisors"]:
        h["status"] = r.choice(["enabled", "enabled", "disabled"])
        h["state"] = r.choice(["up", "up", "down"])


def capabilities(r, c):
    features = ["sse2", "avx2", "aes", "vmx", "sse"]
    as_text = r.random() < 0.5
    for h in c["hypervisors"]:
        info = {"vendor": r.choice(["Intel", "AMD"]), "model": r.choice(["Haswell", "EPYC-Rome"]), "features": r.sample(features, r.randint(0, 4)),
                "topology": {"cores": r.choice([4, 8]), "sockets": r.choice([1, 2])}}
        h["cpu_info"] = json.dumps(info) if as_text else info
        h["hypervisor_version"] = r.choice([6002000, 2012000, 8])
        for key in ("disk", "tier", "free"):
            if r.random() < 0.7:
                h["stats"][key] = r.choice(VALUES)
        if r.random() < 0.3:
            h["stats"]["nested"] = json.dumps({"a": r.choice([1, 1.5, True, None, "x", "12"])})
    for _ in range(r.choice([1, 1, 2])):
        path = r.choice(["cpu_info:vendor", "cpu_info:model", "cpu_info:features", "cpu_info:features", "cpu_info:topology:cores", "cpu_info:nothing",
                         "hypervisor_type", "hypervisor_version", "disk", "tier", "nested:a", "vcpus_total", "free_ram_mb", "cpu_allocation_ratio",
                         "num_instances", "hypervisor_hostname", "cell_uuid", "tier:deeper"])
        key = path if ":" not in path and r.random() < 0.4 else r.choice(["capabilities:", "capabilities:", "capabilities:", "hw:"]) + path
        own = {"features": ["<in> aes", "<in> 'sse'", "<in> sse", "<all-in> aes avx2", "<all-in> sse sse2", "aes"], "vendor": ["Intel", "<or> AMD <or> VIA", "s!= AMD"],
               "model": ["<in> EPYC", "s< F", "Haswell"], "cores": ["4", ">= 5", "<or> 4 <or> 8", "== 8.0"], "hypervisor_version": [">= 2012000", "2012000", "<in> 12", "!= 8"],
               "vcpus_total": [">= 16", "16", "<in> 6", "= 9"], "free_ram_mb": [">= 0", "2048", "<= 0"], "cpu_allocation_ratio": ["4.0", "4", "== 4"],
               "a": ["1", "1.5", "True", "x", ">= 1"]}.get(path.split(":")[-1])
        c["flavors"][0]["extra_specs"][key] = r.choice(own) if own and r.random() < 0.8 else requirement(r)


def image(r, c):
    kinds = [["x86_64", "kvm", "hvm"], ["i686", "kvm", "hvm"], ["aarch64", "qemu", "hvm"], ["x86_64", "xen", "xen"], ["x86_64", "qemu", "hvm"]]
    for h in c["hypervisors"]:
        h["supported_instances"] = r.sample(kinds, r.choice([0, 1, 2, 3, 5]))
        h["hypervisor_version"] = r.choice([6002000, 2012000, 7000001, 8, 1000000, 12003, 0])
    p = c["images"][0]["properties"]
    for name, values in {"hw_architecture": ["x86_64", "i686", "i586", "AMD64", "aarch64"], "img_hv_type": ["kvm", "KVM", "xapi", "qemu"],
                         "hw_vm_mode": ["hvm", "HV", "pv", "xen"]}.items():
        if r.random() < 0.35:
            p[r.choice([name, {"hw_architecture": "architecture", "img_hv_type": "hypervisor_type", "hw_vm_mode": "vm_mode"}[name]])] = r.choice(values)
    if r.random() < 0.5:
        p[r.choice(["img_hv_requested_version", "hypervisor_version_requires"])] = r.choice(
            [">=6.0", ">=6.0, <7.0", "==2.12.0", "!=2.12", "< 7.0.1", ">2.12,<=7.0.1", "<=12.3"])
    if r.random() < 0.2:
        option(c, "filter_scheduler", "image_properties_default_architecture", r.choice(["x86_64", "aarch64"]))
    if r.random() < 0.95:
        with_image(c)


def isolated(r, c):
    hosts = [h["service"]["host"] for h in c["hypervisors"]]
    option(c, "filter_scheduler", "isolated_hosts", ",".join(r.sample(hosts, r.choice([0, 3, 8]))))
    option(c, "filter_scheduler", "isolated_images", r.choice(["", c["images"][0]["id"], "other, " + c["images"][0]["id"], "other"]))
    if r.random() < 0.6:
        option(c, "filter_scheduler", "restrict_isolated_hosts_to_isolated_images", r.choice(["true", "False", "no"]))
    if r.random() < 0.8:
        with_image(c)


def metrics(r, c):
    names = ["cpu.frequency", "cpu.idle.percent", "cpu.user.percent"]
    for h in c["hypervisors"]:
        h["metrics"] = [{"name": n, "value": 1, "source": "s", "timestamp": "2026-01-01T00:00:00"} for n in r.sample(names, r.choice([0, 2, 3, 3]))]
    option(c, "metrics", "weight_setting", ",".join(f"{n}={r.choice(['1.0', '-2', 'x', '.5'])}" for n in r.sample(names, r.randint(1, 3))))


QUERY_VARIABLES = ["$free_ram_mb", "$vcpus_total", "$vcpus_used", "$hypervisor_hostname", "$hypervisor_type", "$hypervisor_version", "$host", "$nothing",
                   "$stats.tier", "$stats.none", "$cell_uuid", "$num_instances", "$total_usable_ram_mb", "$free_disk_mb"]


def query(r, depth=0):
    if depth < 2 and r.random() < 0.6:
        return [r.choice(["and", "or", "not"])] + [query(r, depth + 1) if r.random() < 0.85 else r.choice(QUERY_VARIABLES + [None, "", "x", 0, 1, True, False])
                                                   for _ in range(r.choice([0, 1, 2, 2, 3]) if r.random() < 0.2 else 2)]
    number = r.random() < 0.6
    variable = r.choice([v for v in QUERY_VARIABLES if (v.split("_")[0] in ("$free", "$vcpus", "$num", "$total")) == number])
    values = [0, 2, 8, 16, 2048, 10240, 65536, -1] if number else ["h00003", "QEMU", "compute2", "gold", "x"]
    operands = [variable] + r.choices(values, k=r.choice([1, 1, 1, 2])) + ([r.choice(QUERY_VARIABLES)] if r.random() < 0.1 else [])
    if r.random() < 0.2:
        r.shuffle(operands)
    return [r.choice(["=", "<", ">", "<=", ">=", "in"])] + operands[:r.choice([1, 9, 9, 9, 9])]


def json_query(r, c):
    for h in c["hypervisors"]:
        if r.random() < 0.7:
            h["stats"]["tier"] = r.choice(["gold", "x", "8"])
    if r.random() < 0.97:
        c["os:scheduler_hints"]["query"] = json.dumps(query(r))


# ---- other servers ----

def servers(r, c, n=12):
    for i in range(n):
        h = r.choice(c["hypervisors"])
        c["servers"].append({"id": uuid(r), "status": "ACTIVE", "OS-EXT-SRV-ATTR:host": h["service"]["host"], "OS-EXT-SRV-ATTR:hypervisor_hostname":
                             h["hypervisor_hostname"], "flavor": {"original_name": "m1", "vcpus": 1, "ram": 512}})
    return [s["id"] for s in c["servers"]]


def hint_of_servers(r, c, name):
    ids = servers(r, c, 14)
    chosen = r.sample(ids, r.randint(1, 12)) + ([uuid(r)] if r.random() < 0.3 else [])
    if r.random() < 0.9:
        c["os:scheduler_hints"][name] = chosen[0] if len(chosen) == 1 and r.random() < 0.5 else chosen


def different_host(r, c):
    hint_of_servers(r, c, "different_host")


def same_host(r, c):
    hint_of_servers(r, c, "same_host")


def server_group(r, c, policy):
    ids = servers(r, c, 20)
    group = {"id": uuid(r), "name": "g", "policy": policy if r.random() < 0.9 else r.choice(["affinity", "anti-affinity", "soft-affinity"]),
             "members": r.sample(ids, r.randint(0, 18)), "rules": {}}
    if r.random() < 0.4:
        group["rules"]["max_server_per_host"] = str(r.choice([1, 2, 3]))
    c["server_groups"] = [group]
    if r.random() < 0.95:
        c["os:scheduler_hints"]["group"] = group["id"]
    if policy == "anti-affinity" and group["members"] and r.random() < 0.4:  # a server that is in the cloud already moves
        c["moved"] = c["server"]["id"] = r.choice(group["members"])


def affinity(r, c):
    server_group(r, c, "affinity")


def anti_affinity(r, c):
    server_group(r, c, "anti-affinity")


def cidr(r, c):
    if r.random() < 0.3:
        for h in c["hypervisors"]:
            h["host_ip"] = "2001:db8::%x:%x" % (r.randint(0, 2), r.randint(1, 65000))
    near = r.choice(c["hypervisors"])["host_ip"]
    if r.random() < 0.95:
        c["os:scheduler_hints"]["build_near_host_ip"] = near
    if r.random() < 0.7:
        c["os:scheduler_hints"]["cidr"] = "/" + str(r.choice([8, 22, 23, 24, 25, 30, 32] if "." in near else [64, 96, 112, 120, 128, 24]))


# By filter: its number in the specification, and the generator.
FILTERS = {
    "AvailabilityZoneFilter": ("N6", zone),
    "AggregateImagePropertiesIsolation": ("N8", aggregate_image),
    "AggregateInstanceExtraSpecsFilter": ("N9", aggregate_extra_specs),
    "IoOpsFilter": ("N10", io_ops),
    "AggregateIoOpsFilter": ("N10", io_ops),
    "NumInstancesFilter": ("N11", num_instances),
    "AggregateNumInstancesFilter": ("N11", num_instances),
    "AggregateMultiTenancyIsolation": ("N12", aggregate_tenants),
    "AggregateTypeAffinityFilter": ("N13", aggregate_type),
    "AllHostsFilter": ("N14", all_hosts),
    "ComputeCapabilitiesFilter": ("N15", capabilities),
    "ComputeFilter": ("N16", compute),
    "DifferentHostFilter": ("N17", different_host),
    "SameHostFilter": ("N18", same_host),
    "ImagePropertiesFilter": ("N19", image),
    "IsolatedHostsFilter": ("N20", isolated),
    "JsonFilter": ("N21", json_query),
    "MetricsFilter": ("N22", metrics),
    "NUMATopologyFilter": ("N23", nova_numa_clouds.numa),
    "PciPassthroughFilter": ("N24", nova_numa_clouds.pci),
    "NUMATopologyFilter,PciPassthroughFilter": ("N23, N24", nova_numa_clouds.both),
    "ServerGroupAffinityFilter": ("N25", affinity),
    "ServerGroupAntiAffinityFilter": ("N26", anti_affinity),
    "SimpleCIDRAffinityFilter": ("N27", cidr),
}


def make(r, name):
    c = cloud(r)
    FILTERS[name][1](r, c)
    option(c, "filter_scheduler", "enabled_filters", name)
    c["stages"] = name.split(",")
    return c


def conf_text(conf):
    """The options as the text of nova.conf."""
    return "# by test_nova_oracle.py\n" + "\n".join(f"[{section}]\n" + "".join(f"{k} = {one}\n" for k, v in options.items() for one in (v if isinstance(v, list) else [v]))
                                                    for section, options in conf.items())
