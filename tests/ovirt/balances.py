"""The balances: for each VM that might move, the hosts that it might move to; and, for power saving, one step of the hosts' power."""
import math

from quantities import (clock_at_least, cpu_load_of, effective_load, load_of, max_scheduling_memory, new_exclusive, shared_cpus, vcpus_on)
from scheduling import schedule

MARGIN_LEAST = 10  # percent below the high limit


class Limits:
    """The parameters of a balance. Without a parameter, the engine's setting counts."""

    def __init__(self, call):
        settings = call.cluster.settings
        self.high = call.number('HighUtilization', settings.high_utilization)
        self.low = call.number('LowUtilization', settings.low_utilization)
        self.minutes = call.number('CpuOverCommitDurationMinutes', settings.duration_min)
        self.ratio = call.number('VCpuToPhysicalCpuRatio', 0)
        self.low_mb = call.number('MaxFreeMemoryForOverUtilized', 0)
        self.high_mb = call.number('MinFreeMemoryForUnderUtilized', math.inf)
        self.margin = min(settings.margin_percent * self.high // 100, self.high - MARGIN_LEAST)


def candidates(cluster):
    """Hosts that are up, with nothing on its way to them and no VM on its way off."""
    return [h for h in cluster.up() if not cluster.pending_at(h)
            and not any(vm.status == 'migrating' for vm in cluster.vms_on(h))]


# ---- over and under ----

def is_over(cluster, host, limits, threshold, even=False):
    threads_as_cores = even and cluster.threads_as_cores
    effective, cpus = effective_load(cluster, host, threads_as_cores), shared_cpus(cluster, host, threads_as_cores)
    loaded = effective is not None and effective >= threshold and clock_at_least(host, limits.minutes) and cluster.active_vms(host) > 0
    crowded = even and limits.ratio > 0 and cpus is not None and vcpus_on(cluster, host) / cpus >= limits.ratio
    return loaded or crowded


def is_under(cluster, host, limits, threshold, least_vms):
    effective = effective_load(cluster, host, False)
    return effective is not None and effective < threshold and (host.over_s is None or clock_at_least(host, limits.minutes)) \
        and cluster.active_vms(host) >= least_vms


# ---- which VM, and to which hosts ----

def is_migratable(vm):
    return vm.status == 'up' and vm.affinity == 'migratable'


def can_take(cluster, host, vm, limits):
    load, cpus = load_of(cluster, host, False), shared_cpus(cluster, host, False)
    if load is None or cpus is None or cpus <= new_exclusive([vm]):
        return False
    return (load + cpu_load_of(cluster, vm)) / (cpus - new_exclusive([vm])) <= limits.high \
        and max_scheduling_memory(cluster, host) - vm.mem_mb > limits.low_mb


def moves(cluster, sources, destinations, limits):
    """[(VM, hosts)], the source among the hosts; hosts in the cluster's order."""
    found = []
    for source in sources:
        for vm in sorted(filter(is_migratable, cluster.vms_on(source)), key=lambda vm: cpu_load_of(cluster, vm)):
            takers = {host.id for host in destinations if host is not source and can_take(cluster, host, vm, limits)}
            if takers:
                found.append((vm.id, [host.id for host in cluster.hosts if host.id in takers | {source.id}]))
    return found


# ---- the units ----

def even(cluster, hosts, limits, call):
    def effective(host):
        return effective_load(cluster, host, cluster.threads_as_cores) or 0

    over = sorted((h for h in hosts if is_over(cluster, h, limits, limits.high, even=True)), key=effective, reverse=True)
    under = [h for h in hosts if is_under(cluster, h, limits, limits.margin, 0)]
    short = [h for h in hosts if max_scheduling_memory(cluster, h) < limits.low_mb and cluster.active_vms(h) > 1]
    ample = [h for h in hosts if max_scheduling_memory(cluster, h) > limits.high_mb]
    return moves(cluster, over, under, limits) + moves(cluster, short, ample, limits)


def power(cluster, hosts, limits, call):
    over = [h for h in hosts if is_over(cluster, h, limits, limits.margin)]
    under = [h for h in hosts if is_under(cluster, h, limits, limits.low, 1)]
    not_over = [h for h in hosts if not is_over(cluster, h, limits, limits.high)]
    memory = {h.id: max_scheduling_memory(cluster, h) for h in hosts}
    short = [h for h in hosts if memory[h.id] < limits.low_mb and cluster.active_vms(h) > 1]
    ample = [h for h in hosts if memory[h.id] > limits.high_mb and cluster.active_vms(h) >= 1]
    enough = [h for h in hosts if memory[h.id] > limits.low_mb]
    return moves(cluster, over + under, not_over, limits) + moves(cluster, short + ample, enough, limits)


def even_guests(cluster, hosts, limits, call):
    grace = call.number('SpmVmGrace', 5)
    slots = {h.id: cluster.active_vms(h) + (grace if h.spm else 0) for h in hosts}
    fullest = max(slots.values())
    if fullest < call.number('HighVmCount', 10):
        return []
    sources = [h for h in hosts if slots[h.id] == fullest]
    destinations = [h for h in hosts if slots[h.id] <= fullest - call.number('MigrationThreshold', 5)]
    return moves(cluster, sources, destinations, limits)


BALANCES = {
    'None': lambda cluster, hosts, limits, call: [],
    'OptimalForEvenDistribution': even,
    'OptimalForPowerSaving': power,
    'OptimalForEvenGuestDistribution': even_guests,
}


def balance(name, call):
    """[(VM, hosts)] of a balance; a cluster with less than two candidates has none."""
    hosts = candidates(call.cluster)
    return BALANCES[name](call.cluster, hosts, Limits(call), call) if len(hosts) >= 2 else []


def first_move(cluster, policy, found):
    """The move of the round: each VM is scheduled among its hosts, in turn, until one gets another host than its own."""
    for name, hosts in found:
        chosen = schedule(cluster, policy, {'vms': [name], 'white_list': hosts})[0]['chosen']
        cluster.clear_pending(name)
        if chosen and chosen != cluster.vm(name).host:
            return {'vm': name, 'host': chosen}
    return None


# ---- the hosts' power ----

def empty_hosts(cluster):
    """Hosts that are up, without a VM, and none comes."""
    return [h for h in cluster.up() if not cluster.active_vms(h) and not cluster.pending_at(h)
            and not any(vm.migrating_to == h.id for vm in cluster.vms)]


def power_step(call):
    """(host, 'up', 'maintenance' or 'down'), or None."""
    if not call.is_true('EnableAutomaticHostPowerManagement'):
        return None
    parked = [h for h in call.cluster.hosts if h.parked_by_policy and h.automatic_power]
    in_maintenance = [h for h in parked if h.status == 'maintenance']
    return next_power_step(call.number('HostsInReserve', 0), [(h.id, may_be_parked(h)) for h in empty_hosts(call.cluster)],
                           [h.id for h in in_maintenance], [h.id for h in in_maintenance if h.external_status == 'ok'],
                           [h.id for h in parked if h.status == 'down' and h.external_status == 'ok'])


def may_be_parked(host):
    return host.automatic_power and not host.spm and host.power_management and host.external_status == 'ok'


def next_power_step(reserve, empty, in_maintenance, maintenance_ok, down):
    """The table of the sheet's section 5, its first row that holds."""
    if reserve > len(empty):
        candidate = (in_maintenance + down)[:1]
        return (candidate[0], 'up') if candidate else None
    if reserve < len(empty):
        if len(maintenance_ok) >= 2:
            return maintenance_ok[0], 'down'
        return next(((name, 'maintenance') for name, allowed in empty if allowed), None)
    return (maintenance_ok[0], 'down') if maintenance_ok else None
