"""The filters. Each is asked about one host and answers None if the host passes, else why not: the engine's words, or '' where the sheet
has none. The table FILTERS says which function has which name."""
import ipaddress
import math
import re

from quantities import (cores_of, effective_load, exclusive_cpus, huge_mb, huge_pages, max_scheduling_memory, missing_huge_mb,
                        new_exclusive, overcommit_need, pending_at, pending_huge, real_need, static_overhead, clock_at_least)

NO_WORDS = ''
ENGINE_SCORE_DROP = 800
TSC_PPM = 250
LABELS_COUNT_TO = (4, 3)
OS = re.compile(r'(.+?) - (\d+)(?:\.\d+)* - .+')


def refuse_unless(passes, words=NO_WORDS):
    return None if passes else words


def newcomers(call, host):
    """VMs of the call that are not on this host already."""
    return [vm for vm in call.vms if not vm.is_on(host)]


def each(judge):
    """A filter of several VMs from one of a single VM: the first VM that is refused decides."""
    def judge_all(call, host):
        return next((words for vm in call.vms if (words := judge(call, host, vm)) is not None), None)
    return judge_all


# ---- mandatory ----

@each
def pin_to_host(call, host, vm):
    words = 'the host is not present in the pinning list'
    if vm.affinity != 'pinned':
        return None
    return refuse_unless(host.id in vm.hosts if vm.hosts else not vm.running, words)


@each
def cpu_topology(call, host, vm):
    if not (host.sockets and host.cores and host.threads):
        return NO_WORDS
    if vm.cpu_policy == 'resize_and_pin':
        return refuse_unless(host.cores // host.sockets > 1 and host.sockets == len(host.numa))
    if vm.cpu_policy == 'dedicated':
        return refuse_unless(host.threads // host.cores >= vm.threads)
    return None


@each
def cpu_pinning(call, host, vm):
    named = {cpu for cpus in vm.pinning.values() for cpu in cpus}
    return refuse_unless(named <= set(host.online_cpus or []))


@each
def cpu_level(call, host, vm):
    if vm.cpu is None:
        return None
    if vm.cpu.get('passthrough'):
        return refuse_unless(not vm.running or set(vm.cpu['flags']) <= set(host.cpu_flags))
    known = vm.cpu.get('level') is not None and host.cpu_level is not None
    return refuse_unless(known and vm.cpu['maker'] == host.cpu_maker and host.cpu_level >= vm.cpu['level'])


@each
def compatibility_version(call, host, vm):
    return refuse_unless(vm.compatibility_version is None or vm.compatibility_version in host.compatibility_versions)


@each
def host_device(call, host, vm):
    if not vm.host_devices:
        return None
    return refuse_unless(vm.hosts == [host.id]
                         and (host.device_passthrough or not any(device['pci'] for device in vm.host_devices))
                         and all(device['name'] in host.free_devices for device in vm.host_devices))


def mdevice(call, host):
    wanted = [kind for vm in call.vms for kind in vm.vgpus]
    return refuse_unless(all(wanted.count(kind) <= host.vgpus.get(kind, 0) for kind in wanted))


@each
def vm_leases_ready(call, host, vm):
    if vm.lease_domain is None or host.lease_domains is None:
        return None
    return refuse_unless(host.lease_domains.get(vm.lease_domain, True))


# ---- of a policy ----

def cpu(call, host):
    if not (host.sockets and host.cores and host.threads):
        return NO_WORDS
    new, cluster = newcomers(call, host), call.cluster
    sizes = [vm.sockets * vm.cores for vm in new + cluster.vms_on(host) if not vm.exclusive]
    sizes += [p.cores for p in pending_at(cluster, host)]
    free = cores_of(host, cluster.threads_as_cores) - len(exclusive_cpus(cluster, host)) - new_exclusive(new)
    return refuse_unless(free >= max(sizes, default=0))


def cpu_overloaded(call, host):
    effective = effective_load(call.cluster, host, call.cluster.threads_as_cores)
    if effective is None:
        return NO_WORDS
    over = effective > call.number('HighUtilization', 90)
    return refuse_unless(not (over and clock_at_least(host, call.number('CpuOverCommitDurationMinutes', 2))), 'its CPU is too loaded')


def memory(call, host):
    cluster = call.cluster
    new = [vm for vm in newcomers(call, host) if vm.status != 'paused']
    if not new:
        return None
    if host.mem_free_mb is None:
        return NO_WORDS
    pages = {}
    for vm in new:
        for size, count in huge_pages(vm).items():
            pages[size] = pages.get(size, 0) + count
    free = host.mem_free_mb - sum(p.real_mb for p in pending_at(cluster, host)) - missing_huge_mb(cluster, host, pages)
    if not has_real_memory(free, host.swap_free_mb, sum(real_need(cluster, vm) for vm in new)):
        return low_memory(free + (host.swap_free_mb or 0))
    schedulable = max_scheduling_memory(cluster, host)
    return refuse_unless(sum(overcommit_need(cluster, vm) for vm in new) + huge_mb(pages) <= schedulable, low_memory(schedulable))


def has_real_memory(free_mb, swap_free_mb, need_mb):
    return free_mb >= 0 and need_mb <= free_mb + (swap_free_mb or 0)


def low_memory(megabytes):
    return f'its available memory is too low ({math.floor(megabytes)} MB) to run the VM'


def swap(call, host):
    figures = (host.swap_total_mb, host.swap_free_mb, host.mem_free_mb, host.physical_mb)
    if not call.cluster.settings.swap_check or None in figures or not host.physical_mb or all(vm.status == 'paused' for vm in call.vms):
        return None
    used = (host.swap_total_mb - host.swap_free_mb - host.mem_free_mb) * 100 // host.physical_mb
    return refuse_unless(used <= call.number('MaximumAllowedSwapUsage', 0), 'it is swapping too much')


@each
def migration(call, host, vm):
    source = call.cluster.host(vm.host) if vm.running else None
    if source is None or source.id == host.id:
        return None
    return refuse_unless(host.label != source.label and not (host.address and host.address == source.address) and not is_loopback(host.address))


def is_loopback(address):
    if not address:
        return False
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == 'localhost' or address.startswith('localhost.')


def network(call, host):
    nics = [nic for vm in call.vms for nic in vm.nics if nic['plugged'] and nic['network']]
    wanted = list(dict.fromkeys(nic['network'] for nic in nics))
    missing = [name for name in wanted if name not in host.networks]
    display = call.cluster.display_network
    if display and display not in missing and not host.networks.get(display):
        missing.append(display)
    if missing:
        return f'network(s) {", ".join(missing)} are missing'
    virtual = [nic['network'] for nic in nics if nic['passthrough']]
    return refuse_unless(all(virtual.count(name) <= host.free_vfs.get(name, 0) for name in virtual))


def hard_vm_groups(cluster, vms, positive):
    """Members of each hard group of VMs that holds one of these."""
    names = {vm.id for vm in vms}
    for group in cluster.groups:
        members = cluster.members(group)
        if group.vms_rule.enabled and group.vms_rule.enforcing and group.vms_rule.positive == positive and names & set(members):
            yield members


def vm_affinity_groups(call, host):
    cluster, names = call.cluster, {vm.id for vm in call.vms}

    def hosts_of_others(positive):
        return {at for members in hard_vm_groups(cluster, call.vms, positive) for name in members if name not in names
                for at in cluster.hosts_of_member(name)}

    joint = hosts_of_others(True)
    if joint and host.id not in joint:
        return NO_WORDS
    within = any(len(names & set(members)) > 1 for members in hard_vm_groups(cluster, call.vms, False))
    return refuse_unless(not within and host.id not in hosts_of_others(False), 'it matched negative affinity rules')


@each
def vm_to_hosts_affinity_groups(call, host, vm):
    cluster = call.cluster
    for group in cluster.groups:
        rule = group.hosts_rule
        if rule.enabled and rule.enforcing and vm.id in cluster.members(group) \
                and (host.id in cluster.group_hosts(group)) != rule.positive:
            return NO_WORDS
    if tuple(int(part) for part in cluster.level.split('.')[:2]) <= LABELS_COUNT_TO:
        return refuse_unless(all(host.id in label.hosts for label in cluster.labels if vm.id in label.vms))
    return None


def numa(call, host):
    free = {node['id']: node['free_mb'] for node in host.numa}
    for record in call.cluster.pending_at(host):
        for node, megabytes in record.numa.items():
            free[node] = free.get(node, 0) - megabytes
    for vm in newcomers(call, host):
        if not vm.pinned_nodes():
            continue
        if not host.numa:
            return NO_WORDS
        if vm.numa_mode == 'preferred':
            continue
        for node in vm.pinned_nodes():
            if free.get(node['host_node'], -1) < node['mem_mb']:
                return NO_WORDS
            free[node['host_node']] -= node['mem_mb']
    return None


def huge_pages_free(call, host):
    wanted = {}
    for vm in newcomers(call, host):
        for size, count in huge_pages(vm).items():
            wanted[size] = wanted.get(size, 0) + count
    return refuse_unless(all(host.huge_free.get(size, 0) - pending_huge(call.cluster, host, size) >= count for size, count in wanted.items()))


@each
def emulated_machine(call, host, vm):
    return refuse_unless(vm.emulated_machine is None or vm.emulated_machine in (host.emulated_machines or []))


@each
def hosted_engine_score(call, host, vm):
    if not vm.engine:
        return None
    current = call.cluster.host(vm.host) if vm.running else None
    least = max(0, ((current and current.he_score) or 0) - ENGINE_SCORE_DROP)
    return refuse_unless((host.he_score or 0) > least)


def hosted_engine_spares(call, host):
    cluster, wanted = call.cluster, call.number('HeSparesCount', 0)
    engine = next((vm for vm in cluster.vms if vm.engine), None)
    if not wanted or engine is None or any(vm.engine for vm in call.vms):
        return None
    engine_need = engine.mem_mb + static_overhead(cluster, engine)

    def is_spare(h):
        return (h.he_score or 0) > 0 and not h.he_local_maintenance and not engine.is_on(h) \
            and max_scheduling_memory(cluster, h) > engine_need

    if not is_spare(host) or sum(is_spare(h) for h in cluster.up()) > wanted:
        return None
    need = sum(vm.mem_mb + static_overhead(cluster, vm) for vm in call.vms)
    return refuse_unless(max_scheduling_memory(cluster, host) > need + engine_need)


@each
def migration_tsc_frequency(call, host, vm):
    if vm.tsc_hz is None or not vm.running or host.tsc_scaling:
        return None
    return refuse_unless(host.tsc_hz is not None and abs(host.tsc_hz - vm.tsc_hz) * 10 ** 6 <= TSC_PPM * vm.tsc_hz)


@each
def host_hooks(call, host, vm):
    return refuse_unless(vm.custom_properties.get('sap_agent') != 'true' or '50_vhostmd' in host.hooks)


@each
def cluster_in_maintenance(call, host, vm):
    return refuse_unless(vm.ha or vm.running)


def os_of(text):
    """(family, major version), or None."""
    found = OS.fullmatch(text or '')
    return (found[1], int(found[2])) if found else None


@each
def in_cluster_upgrade(call, host, vm):
    source = call.cluster.host(vm.host) if vm.running else None
    here, there = os_of(source.os) if source else None, os_of(host.os)
    if here is None:
        return None
    return refuse_unless(there is not None and here[0] == there[0] and there[1] >= here[1])


MANDATORY = {
    'PinToHost': pin_to_host,
    'CPUTopology': cpu_topology,
    'CpuPinning': cpu_pinning,
    'CPU-Level': cpu_level,
    'Compatibility-Version': compatibility_version,
    'HostDevice': host_device,
    'MDevice': mdevice,
    'VM leases ready': vm_leases_ready,
}

FILTERS = {
    'CPU': cpu,
    'CPUOverloaded': cpu_overloaded,
    'Memory': memory,
    'Swap': swap,
    'Migration': migration,
    'Network': network,
    'VmAffinityGroups': vm_affinity_groups,
    'VmToHostsAffinityGroups': vm_to_hosts_affinity_groups,
    'NUMA': numa,
    'HugePages': huge_pages_free,
    'Emulated-Machine': emulated_machine,
    'HA': hosted_engine_score,
    'HostedEngineSpares': hosted_engine_spares,
    'Migration-Tsc-Frequency': migration_tsc_frequency,
    'Host-hooks': host_hooks,
    'ClusterInMaintenance': cluster_in_maintenance,
    'InClusterUpgrade': in_cluster_upgrade,
}


def sequence(policy):
    """Names of the filters as they are applied: the mandatory ones, then the policy's, those at position -1 first, those at 1 last."""
    return list(MANDATORY) + [entry['unit'] for entry in sorted(policy['filters'], key=lambda entry: entry.get('position', 0))]


def judge(name, call, host):
    return (MANDATORY.get(name) or FILTERS[name])(call, host)
