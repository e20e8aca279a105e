"""The quantities of the sheet's section 2: CPUs P, load L, effective load, memory S, overheads, rounding, stretch, ranks, the overload clock,
and what a pending record counts."""
import math

from cluster import Pending

STATIC_MB = 64
PPC_STATIC_MB = 100
PER_VCPU_MB = 8
PER_IO_THREAD_MB = 8
WORST = 1000


def round_half_up(x):
    return math.floor(x + 0.5)


def stretch(scores):
    """Scores to whole numbers 1 … 1000, in the same order; equal ones all to 1."""
    if not scores:
        return {}
    least, most = min(scores.values()), max(scores.values())
    if least == most:
        return {key: 1 for key in scores}
    return {key: round_half_up(1 + (s - least) / (most - least) * 999) for key, s in scores.items()}


def ranks(values):
    """For each value, how many are strictly less."""
    return [sum(other < value for other in values) for value in values]


# ---- memory ----

def static_overhead(cluster, vm):
    if cluster.settings.overhead_mb is not None:
        return cluster.settings.overhead_mb
    if cluster.architecture.startswith('ppc'):
        return PPC_STATIC_MB + next_power_of_two(vm.mem_mb) // 64
    return vm.mem_mb // 512 + STATIC_MB


def next_power_of_two(number):
    return 1 << max(0, number - 1).bit_length()


def total_need(cluster, vm):
    if cluster.settings.overhead_mb is not None:
        return vm.mem_mb + cluster.settings.overhead_mb
    return vm.mem_mb + static_overhead(cluster, vm) + vm.video_mb + PER_VCPU_MB * vm.vcpus + PER_IO_THREAD_MB * vm.io_threads


def huge_pages(vm):
    """{size in KiB: pages}: all memory of a VM that uses huge pages, the last page in full."""
    return {vm.huge_page_kb: -(-vm.mem_mb * 1024 // vm.huge_page_kb)} if vm.huge_page_kb else {}


def huge_mb(pages):
    return sum(size * count for size, count in pages.items()) / 1024


def real_need(cluster, vm):
    """Memory in ordinary pages, with the static overhead alone."""
    return static_overhead(cluster, vm) + (0 if vm.huge_page_kb else vm.mem_mb)


def overcommit_need(cluster, vm):
    """The total need without huge pages."""
    return total_need(cluster, vm) - (vm.mem_mb if vm.huge_page_kb else 0)


def max_scheduling_memory(cluster, host):
    """S, MiB."""
    pending = sum(p.overcommit_mb + huge_mb(p.huge) for p in pending_at(cluster, host))
    rest = max(0, cluster.overcommit_percent * host.physical_mb / 100 - host.committed_mb - host.reserved_mb)
    return max(0, rest - pending)


# ---- pending resources ----

def cpu_load_of(cluster, vm):
    """Percent of one CPU that a VM is expected to use."""
    if vm.running:
        return (vm.cpu_percent or 0) * vm.vcpus
    return cluster.settings.vcpu_percent * vm.vcpus


def complete(cluster, record):
    """The record, its missing figures taken from its VM."""
    vm = cluster.vm(record.vm)

    def figure(name, of_vm, nothing):
        given = getattr(record, name)
        return given if given is not None else of_vm(vm) if vm else nothing

    return Pending(record.vm, record.host,
                   figure('vcpus', lambda v: v.vcpus, 0),
                   figure('cores', lambda v: 0 if v.exclusive else v.sockets * v.cores, 0),
                   figure('real_mb', lambda v: static_overhead(cluster, v), 0),
                   figure('overcommit_mb', lambda v: overcommit_need(cluster, v), 0),
                   figure('huge', huge_pages, {}),
                   figure('cpu_load', lambda v: cpu_load_of(cluster, v), 0),
                   record.exclusive_cpus, record.numa)


def pending_at(cluster, host):
    return [complete(cluster, p) for p in cluster.pending_at(host)]


def pending_huge(cluster, host, size):
    return sum(p.huge.get(size, 0) for p in pending_at(cluster, host))


def missing_huge_mb(cluster, host, pages):
    """Huge pages of these that the host would still have to make, MiB."""
    return huge_mb({size: max(0, count - max(0, host.huge_free.get(size, 0) - pending_huge(cluster, host, size)))
                    for size, count in pages.items()})


# ---- CPU ----

def cores_of(host, threads_as_cores):
    return host.threads if threads_as_cores else host.cores


def exclusive_cpus(cluster, host):
    """Host CPUs that are pinned for one VM alone, by VMs that run there or will."""
    return set(host.exclusive_cpus) | {cpu for p in cluster.pending_at(host) for cpu in p.exclusive_cpus}


def shared_cpus(cluster, host, threads_as_cores):
    """P, or None where it is not known or none is left."""
    if host.cpus:
        taken = exclusive_cpus(cluster, host)
        count = sum(cpu['id'] not in taken for cpu in host.cpus)
    else:
        count = cores_of(host, threads_as_cores)
    return count or None


def load_of(cluster, host, threads_as_cores, with_pending=False):
    """L, percent of one CPU, or None where it is not known."""
    taken = exclusive_cpus(cluster, host)
    load = sum(cpu['percent'] or 0 for cpu in host.cpus or [] if cpu['id'] not in taken)
    if not load:
        cores = cores_of(host, threads_as_cores)
        if host.cpu_percent is None or not cores:
            return None
        load = host.cpu_percent * cores
    if with_pending:
        load += sum(p.cpu_load for p in pending_at(cluster, host))
    return load + (cluster.settings.spm_percent if host.spm else 0)


def effective_load(cluster, host, threads_as_cores, with_pending=False):
    """Percent of the host, a whole number, or None where it is not known."""
    load, cpus = load_of(cluster, host, threads_as_cores, with_pending), shared_cpus(cluster, host, threads_as_cores)
    return None if load is None or cpus is None else math.ceil(load / cpus)


def new_exclusive(vms):
    """How many CPUs these VMs, which come to a host, would take for themselves."""
    return sum(vm.vcpus for vm in vms if vm.exclusive)


def vcpus_on(cluster, host):
    return sum(vm.vcpus for vm in cluster.vms_on(host))


def next_over_since(since, effective, now, high=75, low=0):
    """The overload clock: since when the load is over the high or at most the low limit. The policy's limits, or 75 and 0."""
    if effective is None or low < effective < high:
        return None
    return now if since is None else since


def clock_at_least(host, minutes):
    return host.over_s is not None and host.over_s >= minutes * 60
