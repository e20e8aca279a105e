"""The weights. Each is given the hosts that passed the filters and answers a whole number for each; the lower, the better. The table
WEIGHTS says which function has which name."""
import math

from filters import newcomers, os_of
from quantities import (WORST, cpu_load_of, effective_load, load_of, max_scheduling_memory, new_exclusive, pending_at, ranks, round_half_up, shared_cpus,
                        stretch, total_need, vcpus_on)

NOT_PREFERRED = 10000
OLDER_OS, SAME_OS = 1000000, 100000
ENGINE_SCORE_MOST = 3400
MEMORY_MARGIN = 1.1


def same_for_all(hosts, score):
    return {host.id: score for host in hosts}


def of_each_vm(score):
    """A weight of several VMs from one of a single VM: the sum."""
    def score_all(call, hosts):
        tables = [score(call, hosts, vm) for vm in call.vms]
        return {host.id: sum(table[host.id] for table in tables) for host in hosts}
    return score_all


# ---- CPU ----

def load_after(call, host):
    """Load of each shared CPU with the VMs of the call, percent, rounded; None where it is not known or no CPU would be left."""
    cluster = call.cluster
    load, cpus = load_of(cluster, host, cluster.threads_as_cores, with_pending=True), shared_cpus(cluster, host, cluster.threads_as_cores)
    new = newcomers(call, host)
    if load is None or cpus is None or cpus <= new_exclusive(new):
        return None
    ratio = call.number('VCpuToPhysicalCpuRatio', 0)
    crowded = ratio > 0 and (vcpus_on(cluster, host) + sum(p.vcpus for p in pending_at(cluster, host)) + sum(vm.vcpus for vm in new)) / cpus >= ratio
    added = sum(cpu_load_of(cluster, vm) for vm in new)
    return round_half_up((1000 if crowded else 1) * (load + added) / (cpus - new_exclusive(new)))


def cpu_even(call, hosts):
    loads = {host.id: load_after(call, host) for host in hosts}
    known = stretch({name: load for name, load in loads.items() if load is not None})
    return {host.id: known.get(host.id, WORST) for host in hosts}


def cpu_power(call, hosts):
    cluster, loads = call.cluster, {}
    for host in hosts:
        effective = effective_load(cluster, host, cluster.threads_as_cores, with_pending=True)
        after = load_after_without_ratio(call, host)
        if after is not None and effective <= call.number('HighUtilization', math.inf):
            loads[host.id] = -after
    fullest_first = stretch(loads)
    return {host.id: fullest_first.get(host.id, WORST) for host in hosts}


def load_after_without_ratio(call, host):
    """VCpuToPhysicalCpuRatio is a parameter of the even unit only."""
    return load_after(call.without('VCpuToPhysicalCpuRatio'), host)


# ---- memory ----

def memory_left(call, host):
    """S less the need of the VMs that are not there yet, MiB."""
    return max_scheduling_memory(call.cluster, host) - sum(total_need(call.cluster, vm) for vm in newcomers(call, host))


def memory_even(call, hosts):
    most = max(max_scheduling_memory(call.cluster, host) for host in hosts)
    if most <= 1:
        return same_for_all(hosts, WORST)
    return {host.id: WORST - round_half_up((memory_left(call, host) - 1) * 999 / (most - 1)) for host in hosts}


def memory_power(call, hosts):
    low, high = call.number('MaxFreeMemoryForOverUtilized', 0), call.number('MinFreeMemoryForUnderUtilized', math.inf)
    most = MEMORY_MARGIN * max(max_scheduling_memory(call.cluster, host) for host in hosts)
    if most == 0:
        return same_for_all(hosts, WORST)
    scores = {}
    for host in hosts:
        left = memory_left(call, host)
        if left < low:
            left = min(most, high + low - left)
        scores[host.id] = math.trunc(left / most * 999) + 1
    return scores


# ---- counts, wishes, high availability ----

def even_guests(call, hosts):
    cluster, grace = call.cluster, call.number('SpmVmGrace', 5)
    return {host.id: cluster.active_vms(host) + (grace if host.spm else 0) + len({p.vm for p in cluster.pending_at(host)}) for host in hosts}


@of_each_vm
def preferred_hosts(call, hosts, vm):
    wished = vm.hosts if not vm.running else []
    return {host.id: NOT_PREFERRED if wished and host.id not in wished else 0 for host in hosts}


@of_each_vm
def ha_reservation(call, hosts, vm):
    counts = {host.id: sum(other.ha for other in call.cluster.vms_on(host)) for host in hosts}
    most = max(counts.values())
    if not vm.ha or not call.cluster.ha_reservation or not most:
        return same_for_all(hosts, 0)
    scale = call.number('ScaleDown', 1)
    return {name: math.ceil(round_half_up(100 * count / most) / scale) for name, count in counts.items()}


@of_each_vm
def hosted_engine(call, hosts, vm):
    if not vm.engine:
        return same_for_all(hosts, 1)
    return {host.id: 1000 - round_half_up((host.he_score or 0) * 1000 / ENGINE_SCORE_MOST) for host in hosts}


# ---- affinity ----

def ranked(keys):
    """{host: 1 + hosts with a lower key}."""
    return {name: 1 + rank for name, rank in zip(keys, ranks(list(keys.values())))}


def broken_priorities(priorities):
    return sorted(priorities, reverse=True)


def vm_affinity_key(call, host):
    """(priorities of the groups that would be broken, most first; less pinned members there; less members there)."""
    cluster, names = call.cluster, {vm.id for vm in call.vms}
    broken, joint = [], set()
    for group in cluster.groups:
        members = cluster.members(group)
        if not group.vms_rule.enabled or not names & set(members):
            continue
        places = {name: cluster.hosts_of_member(name) for name in members if name not in names}
        here = {name for name, at in places.items() if host.id in at}
        if group.vms_rule.positive:
            joint |= here
        if not here if group.vms_rule.positive else here or len(names & set(members)) > 1:
            broken.append(group.priority)
    pinned = sum(cluster.vm(name) is not None and cluster.vm(name).affinity == 'pinned' for name in joint)
    return broken_priorities(broken), -pinned, -len(joint)


def vm_affinity_groups(call, hosts):
    return ranked({host.id: vm_affinity_key(call, host) for host in hosts})


def vm_to_hosts_affinity_groups(call, hosts):
    cluster, names = call.cluster, {vm.id for vm in call.vms}

    def broken(host):
        return broken_priorities(group.priority for group in cluster.groups
                                 if group.hosts_rule.enabled and not group.hosts_rule.enforcing and names & set(cluster.members(group))
                                 and (host.id in cluster.group_hosts(group)) != group.hosts_rule.positive)

    return ranked({host.id: broken(host) for host in hosts})


# ---- topology ----

def topology_known(host):
    return host.sockets and host.cores and host.threads


def topology_fits(host, vm):
    return topology_known(host) and host.sockets >= vm.sockets and host.cores // host.sockets >= vm.cores \
        and host.threads // host.cores >= vm.threads


@of_each_vm
def high_performance_cpu(call, hosts, vm):
    if vm.exclusive:
        spread = stretch({host.id: 1000 * host.sockets + host.cores for host in hosts if topology_known(host)})
        return {host.id: spread.get(host.id, WORST) for host in hosts}
    return {host.id: 1 if vm.type != 'high_performance' or topology_fits(host, vm) else WORST for host in hosts}


@of_each_vm
def cpu_numa_compatibility(call, hosts, vm):
    def fits(host):
        cpus_of = {node['id']: set(node['cpus']) for node in host.numa}
        return all(set(cpus) <= cpus_of.get(node['host_node'], set())
                   for node in vm.pinned_nodes() for vcpu, cpus in vm.pinning.items() if vcpu in node['vcpus'])

    return {host.id: 1 if fits(host) else WORST for host in hosts}


@of_each_vm
def single_numa_node(call, hosts, vm):
    def fits(host):
        return vm.vnuma or not host.numa or any(node['mem_mb'] >= vm.mem_mb and len(node['cpus']) >= vm.vcpus for node in host.numa)

    return {host.id: 1 if fits(host) else WORST for host in hosts}


# ---- upgrade ----

@of_each_vm
def in_cluster_upgrade(call, hosts, vm):
    versions = {host.id: os_of(host.os) for host in hosts}
    if vm.running:
        source = call.cluster.host(vm.host)
        here = os_of(source.os) if source else None
        return {name: upgrade_score(here, there) if here else 0 for name, there in versions.items()}
    valid = [version for version in versions.values() if version]
    if len({family for family, _ in valid}) != 1:
        return same_for_all(hosts, 0)
    newest = max(valid)
    return {name: 0 if there == newest else OLDER_OS for name, there in versions.items()}


def upgrade_score(here, there):
    if there is None or there[0] != here[0] or there[1] < here[1]:
        return OLDER_OS
    return 0 if there[1] > here[1] else SAME_OS


WEIGHTS = {
    'OptimalForCpuEvenDistribution': cpu_even,
    'OptimalForMemoryEvenDistribution': memory_even,
    'OptimalForCpuPowerSaving': cpu_power,
    'OptimalForMemoryPowerSaving': memory_power,
    'OptimalForEvenGuestDistribution': even_guests,
    'PreferredHosts': preferred_hosts,
    'OptimalForHaReservation': ha_reservation,
    'HA': hosted_engine,
    'VmAffinityGroups': vm_affinity_groups,
    'VmToHostsAffinityGroups': vm_to_hosts_affinity_groups,
    'CPU for high performance VMs': high_performance_cpu,
    'CPU and NUMA pinning compatibility': cpu_numa_compatibility,
    'Fit VM to single host NUMA node': single_numa_node,
    'InClusterUpgrade': in_cluster_upgrade,
}
