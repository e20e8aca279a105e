/* members.h: the members of a cloud's objects, each once: M(S, TYPE, name in JSON, name in the struct, flags
 * and what else its field has). Structs (internal.h) and tables of fields (read.c) are made of these lists. A
 * FACT is an attribute of the host, or a hint of the VM, under its name. */
#ifndef BALLAST_DIALECT_OVIRT_MEMBERS_H
#define BALLAST_DIALECT_OVIRT_MEMBERS_H

#include <ballast/field.h>

#define REQ FIELD_REQUIRED
#define OPT FIELD_NULLABLE
#define FACT (OPT | FIELD_OPTIONAL)

/* clang-format off */
#define OF_PROPERTY(M, S) M(S, TEXT, "name", name, REQ) M(S, TEXT, "value", value, REQ)

#define OF_EXTERNAL_UNIT(M, S) \
    M(S, TEXT, "id", id, REQ) M(S, TEXT, "name", name, REQ) M(S, TEXT, "type", type, REQ) M(S, TRUTH, "enabled", enabled, OPT, .fallback = "true")

#define OF_CLUSTER(M, S) \
    M(S, TEXT, "id", id, REQ) M(S, TEXT, "name", name, OPT) M(S, TEXT, "scheduling_policy.id", policy_id, OPT) \
    M(S, ROWS, "custom_scheduling_policy_properties", properties, property) M(S, TEXT, "display_network", display_network, OPT) \
    M(S, TRUTH, "threads_as_cores", threads_as_cores, OPT) M(S, TRUTH, "ha_reservation", ha_reservation, OPT) \
    M(S, NUMBER, "version.major", major, OPT) M(S, NUMBER, "version.minor", minor, OPT) M(S, TEXT, "cpu.architecture", architecture, OPT)

/* cpus: numbers of CPUs, or ranges; pins: the host's nodes to which a VM's node is pinned. */
#define OF_NUMA_NODE(M, S) \
    M(S, NUMBER, "index", index, OPT) M(S, NUMBER, "memory", memory, OPT) M(S, NUMBER, "statistics.memory.free", free, OPT) \
    M(S, IDS, "cpus", cpus, OPT) M(S, IDS, "pins", pins, OPT)

#define OF_CPU_UNIT(M, S) M(S, NUMBER, "cpu_id", cpu_id, OPT) M(S, NUMBER, "load", load, OPT) M(S, TRUTH, "exclusive", exclusive, OPT)

#define OF_AMOUNT(M, S) M(S, TEXT, "name", name, REQ) M(S, NUMBER, "free", n, OPT)

#define OF_HOST_DEVICE(M, S) M(S, TEXT, "name", name, REQ) M(S, TEXT, "capability", capability, OPT) M(S, TRUTH, "used", used, OPT)

#define OF_HOST(M, S) \
    M(S, TEXT, "id", id, REQ) M(S, TEXT, "name", name, FACT) M(S, TEXT, "address", address, FACT) M(S, TEXT, "status", status, REQ) \
    M(S, TEXT, "cluster.id", cluster_id, FACT) M(S, TEXT, "spm.status", spm, FACT) M(S, TEXT, "os.type", os_type, OPT) \
    M(S, NUMBER, "os.version.major", os_major, OPT) M(S, TEXT, "cpu.type", cpu_type, OPT) M(S, NUMBER, "cpu.topology.sockets", sockets, FACT) \
    M(S, NUMBER, "cpu.topology.cores", cores, FACT) M(S, NUMBER, "cpu.topology.threads", threads, FACT) M(S, NUMBER, "memory", memory, FACT) \
    M(S, NUMBER, "max_scheduling_memory", max_scheduling, FACT) M(S, NUMBER, "pending_memory", pending_memory, FACT) \
    M(S, NUMBER, "statistics.memory.free", mem_free, FACT) M(S, NUMBER, "statistics.swap.total", swap_total, FACT) \
    M(S, NUMBER, "statistics.swap.free", swap_free, FACT) M(S, NUMBER, "statistics.cpu.current.user", cpu_user, OPT) \
    M(S, NUMBER, "statistics.cpu.current.system", cpu_system, OPT) M(S, NUMBER, "cpu_threshold_seconds", threshold_s, FACT) \
    M(S, NUMBER, "summary.active", active_vms, OPT) M(S, NUMBER, "hosted_engine.score", he_score, FACT) \
    M(S, TRUTH, "hosted_engine.configured", he_configured, OPT) M(S, TRUTH, "hosted_engine.local_maintenance", he_maintenance, OPT) \
    M(S, NUMBER, "tsc_frequency", tsc_hz, FACT) M(S, TRUTH, "tsc_scaling", tsc_scaling, FACT) \
    M(S, TRUTH, "device_passthrough.enabled", device_passthrough, OPT) M(S, ROWS, "numa_nodes", numa, numa_node) \
    M(S, ROWS, "cpu_units", cpu_units, cpu_unit) M(S, ROWS, "devices", devices, host_device) M(S, ROWS, "mdev_types", mdevs, amount) \
    M(S, ROWS, "hugepages", hugepages, amount) M(S, ROWS, "virtual_functions", virtual_functions, amount) \
    M(S, IDS, "networks", networks, FACT) M(S, IDS, "networks_with_address", addressed_networks, FACT) M(S, IDS, "cpu_flags", cpu_flags, OPT) \
    M(S, IDS, "emulated_machines", machines, FACT) M(S, IDS, "supported_versions", versions, FACT) M(S, IDS, "hooks", hooks, FACT) \
    M(S, IDS, "lease_domains", leases, FACT, .given = offsetof(S, leases_given))

#define OF_NIC(M, S) M(S, TEXT, "network", network, OPT) M(S, TRUTH, "pass_through", pass_through, OPT) M(S, TRUTH, "unplugged", unplugged, OPT)

#define OF_CPU_PIN(M, S) M(S, NUMBER, "vcpu", vcpu, OPT) M(S, TEXT, "cpu_set", cpu_set, REQ)

#define OF_VM(M, S) \
    M(S, TEXT, "id", id, REQ) M(S, TEXT, "name", name, OPT) M(S, TEXT, "status", status, REQ | FIELD_OPTIONAL) M(S, TEXT, "host.id", host_id, OPT) \
    M(S, TEXT, "pending_host.id", pending_host_id, OPT) M(S, TEXT, "cluster.id", cluster_id, FACT) M(S, TEXT, "type", type, FACT) \
    M(S, TEXT, "placement_policy.affinity", affinity, OPT) M(S, IDS, "placement_policy.hosts", preferred, FACT) \
    M(S, TEXT, "custom_emulated_machine", machine, FACT) M(S, TEXT, "cpu.type", cpu_type, OPT) M(S, TEXT, "cpu.mode", cpu_mode, OPT) \
    M(S, TEXT, "cpu_pinning_policy", pinning_policy, OPT) M(S, TEXT, "numa_tune_mode", numa_mode, OPT) M(S, TEXT, "origin", origin, OPT) \
    M(S, TEXT, "lease.storage_domain.id", lease_domain, FACT) M(S, NUMBER, "memory", memory, OPT) \
    M(S, NUMBER, "cpu.topology.sockets", sockets, FACT, .fallback = "1") M(S, NUMBER, "cpu.topology.cores", cores, FACT, .fallback = "1") \
    M(S, NUMBER, "cpu.topology.threads", threads, FACT, .fallback = "1") M(S, NUMBER, "statistics.cpu.current.total", cpu_percent, OPT) \
    M(S, NUMBER, "io.threads", io_threads, OPT, .fallback = "0") M(S, NUMBER, "video_memory", video_memory, OPT, .fallback = "0") \
    M(S, NUMBER, "hugepages", hugepages_kib, OPT, .fallback = "0") M(S, NUMBER, "tsc_frequency", tsc_hz, FACT) \
    M(S, NUMBER, "custom_compatibility_version.major", version_major, OPT) \
    M(S, NUMBER, "custom_compatibility_version.minor", version_minor, OPT, .fallback = "0") M(S, TRUTH, "sap_agent", sap_agent, FACT) \
    M(S, TRUTH, "high_availability.enabled", ha, FACT) M(S, IDS, "host_devices", devices, OPT) M(S, IDS, "mdev_types", mdevs, OPT) \
    M(S, IDS, "cpu_flags", cpu_flags, OPT) M(S, ROWS, "nics", nics, nic) M(S, ROWS, "cpu.cpu_tune.vcpu_pins", cpu_pins, cpu_pin) \
    M(S, ROWS, "numa_nodes", numa, numa_node)

#define OF_AFFINITY_GROUP(M, S) \
    M(S, TEXT, "id", id, REQ) M(S, RANGE, "priority", priority, -1e9, 1e9, "1") M(S, TRUTH, "vms_rule.enabled", vms_enabled, OPT) \
    M(S, TRUTH, "vms_rule.positive", vms_positive, OPT) M(S, TRUTH, "vms_rule.enforcing", vms_enforcing, OPT) \
    M(S, TRUTH, "hosts_rule.enabled", hosts_enabled, OPT) M(S, TRUTH, "hosts_rule.positive", hosts_positive, OPT) \
    M(S, TRUTH, "hosts_rule.enforcing", hosts_enforcing, OPT) M(S, IDS, "vms", vms, OPT) M(S, IDS, "hosts", hosts, OPT) \
    M(S, IDS, "vm_labels", vm_labels, OPT) M(S, IDS, "host_labels", host_labels, OPT)

#define OF_AFFINITY_LABEL(M, S) M(S, TEXT, "id", id, REQ) M(S, IDS, "vms", vms, OPT) M(S, IDS, "hosts", hosts, OPT)

#define OF_CPU_TYPE(M, S) M(S, TEXT, "name", name, REQ) M(S, TEXT, "vendor", vendor, REQ) M(S, NUMBER, "level", level, OPT)

#define OF_CLOUD(M, S) \
    M(S, TEXT, "name", name, OPT) M(S, TEXT, "time", time, OPT) M(S, NUMBER, "settings.VcpuConsumptionPercentage", vcpu_percent, OPT, .fallback = "10") \
    M(S, NUMBER, "settings.SpmVCpuConsumption", spm_vcpus, OPT, .fallback = "1") M(S, NUMBER, "settings.vm_overhead_mb", vm_overhead_mb, OPT) \
    M(S, TRUTH, "settings.EnableSwapCheck", swap_check, OPT, .fallback = "true") M(S, ROWS, "clusters", clusters, cluster) \
    M(S, ROWS, "scheduling_policies", policies, policy) M(S, ROWS, "scheduling_policy_units", units, external_unit) \
    M(S, ROWS, "hosts", hosts, host) M(S, ROWS, "vms", vms, vm) M(S, ROWS, "affinity_groups", groups, affinity_group) \
    M(S, ROWS, "affinity_labels", labels, affinity_label) M(S, ROWS, "cpu_types", cpu_types, cpu_type)
/* clang-format on */

#endif
