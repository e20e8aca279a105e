#!/usr/bin/env python3
"""The model gives the results of vectors.json, which are those of the engine's own unit tests."""
import json
import pathlib
import sys

from balances import balance, next_power_step, power_step
from cluster import Cluster, Group, Host, Label, Pending, Rule, Settings, Vm
from filters import cpu, has_real_memory, hosted_engine_spares, huge_pages_free, missing_huge_mb, refuse_unless
from host_selectors import basic, points, rank
from quantities import huge_pages, pending_at, ranks
from scheduling import Call
from weights import WEIGHTS

VECTORS = json.loads((pathlib.Path(__file__).parent / 'vectors.json').read_text(encoding='utf-8'))


# ---- clusters of the file ----

def settings(config):
    return Settings(high_utilization=config['hi'], low_utilization=config['lo'], duration_min=config['dur'], vcpu_percent=config['vcpupct'],
                    margin_percent=config['thr'], spm_percent=config['spmcpu'])


def host_of(name, h):
    return Host(name, sockets=1, cores=h['cores'], threads=h['threads'], cpu_percent=h['cpu'], over_s=h['over_s'], active_vms=h['vms'],
                physical_mb=h['phys'], committed_mb=h['committed'], reserved_mb=h['reserved'], spm=h['spm'])


def cluster_of(given):
    hosts = VECTORS['host_sets'][given['hosts']]
    percents = {h['oc'] for h in hosts.values()}
    cluster = Cluster(settings(given['config']), overcommit_percent=percents.pop(),
                      hosts=[host_of(name, h) for name, h in hosts.items()],
                      vms=[Vm(v['id'], 'up', v['host'], mem_mb=v['mem'], cores=v['vcpus'], cpu_percent=v['cpu']) for v in VECTORS[given['vms']]])
    cluster.settings.overhead_mb = given.get('overhead_mb')
    cluster.pending = [Pending('other', name, overcommit_mb=h['pending']) for name, h in hosts.items() if h['pending']]
    assert not percents
    return cluster


def best(scores):
    """The host with the lowest weight, which no other has."""
    least = min(scores.values())
    found = [name for name, score in scores.items() if score == least]
    return found[0] if len(found) == 1 else found


# ---- one function for each kind ----

def balance_even(given):
    return [[vm, hosts] for vm, hosts in balance('OptimalForEvenDistribution', Call(cluster_of(given), [], given['params']))]


def balance_power(given):
    return [[vm, hosts] for vm, hosts in balance('OptimalForPowerSaving', Call(cluster_of(given), [], given['params']))]


def weight(given):
    cluster = cluster_of(given)
    return {'best': {vm.id: best(WEIGHTS[given['unit']](Call(cluster, [vm], given.get('params')), cluster.hosts)) for vm in cluster.vms}}


def records_of(given):
    weights = {}
    for unit, host, value in given['records']:
        weights.setdefault(unit, {})[host] = value
    return weights


def selector_rank(given):
    weights = records_of(given)
    total, chosen = rank(weights, given['factors'], given['hosts'])
    return {'best': chosen} if len(weights) > 1 else total


def selector_basic(given):
    hosts = list(dict.fromkeys(host for _, host, _ in given['records']))
    return {'best': basic(records_of(given), given['factors'], hosts)[1]}


def weight_hp_cpu(given):
    hosts = [Host(str(n), sockets=sockets, cores=sockets * cores, threads=sockets * cores * threads)
             for n, (sockets, cores, threads) in enumerate(given['hosts_sockets_coresPerSocket_threadsPerCore'])]
    sockets, cores, threads = given['vm']
    vm = Vm('vm', sockets=sockets, cores=cores, threads=threads, type=given['vm_type'])
    return list(WEIGHTS['CPU for high performance VMs'](Call(Cluster(hosts=hosts), [vm]), hosts).values())


def weight_numa_fit(given):
    hosts = [Host(str(n), numa=[{'id': node, 'mem_mb': megabytes, 'free_mb': megabytes, 'cpus': [cpus * node + i for i in range(cpus)]}
                                for node in range(nodes)])
             for n, (nodes, megabytes, cpus) in enumerate(given['hosts_nodes_memMbPerNode_cpusPerNode'])]
    vm = Vm('vm', mem_mb=given['vm']['mem'], cores=given['vm']['vcpus'])
    unit, call = WEIGHTS['Fit VM to single host NUMA node'], Call(Cluster(hosts=hosts), [vm])
    without = list(unit(call, hosts).values())
    vm.vnuma = [{'mem_mb': vm.mem_mb, 'vcpus': [0, 1], 'host_node': None}]
    assert set(unit(call, hosts).values()) == {1}, 'a VM with NUMA nodes of its own'
    return without


def filter_cpu(given):
    results, vm = [], Vm('vm', cores=given['vm_vcpus'])
    for case in given['cases']:
        host = Host('h', sockets=1, **case['host'])
        results.append(cpu(Call(Cluster(threads_as_cores=case['countThreadsAsCores'], hosts=[host]), [vm]), host) is None)
    for unknown in ('sockets', 'cores', 'threads'):
        host = Host('h', sockets=1, cores=8, threads=8)
        setattr(host, unknown, None)
        assert cpu(Call(Cluster(hosts=[host]), [vm]), host) is not None, f'{unknown} unknown'
    return results


def memory_physical(given):
    results = []
    for free, swap, pending, need, huge in given['rows']:
        missing = missing_huge_mb(Cluster(), Host('h'), {1024: huge})  # the host has none
        results.append(has_real_memory(free - pending - missing, swap, need))
    return results


def filter_he_spares(given):
    counts = []
    for case in given['cases']:
        hosts = [Host(name, physical_mb=h['phys'], reserved_mb=given['reserved'], he_score=h.get('score', 2400) if h.get('he', True) else None,
                      he_local_maintenance=h.get('maint', False)) for name, h in case['hosts'].items()]
        engine = Vm('engine', 'up', given['engine_host'], mem_mb=case['engine_mb'], engine=True)
        vm = engine if case.get('scheduling_he') else Vm('vm', mem_mb=given['vm_mb'])
        here = case.get('he_known', True) and case.get('same_cluster', True)
        cluster = Cluster(hosts=hosts, vms=[vm] + [engine] * (here and vm is not engine))
        call = Call(cluster, [vm], {'HeSparesCount': case['HeSparesCount']})
        counts.append(sum(hosted_engine_spares(call, host) is None for host in hosts))
    return {'count': counts}


def weight_vm_host_affinity(given):
    hosts = [Host('P'), Host('N'), Host('X')]
    positive = Group('positive', vms=['vm'], hosts=['P'], hosts_rule=Rule(True, True))
    negative = Group('negative', vms=['vm'], hosts=['N'], hosts_rule=Rule(True, False))

    def scores(names, *groups):
        of = [host for host in hosts if host.id in names]
        return WEIGHTS['VmToHostsAffinityGroups'](Call(Cluster(hosts=hosts, groups=list(groups)), [Vm('vm')]), of)

    both = scores('PNX', positive, negative)
    return {'none': list(scores('PNX').values()), 'positive_only': scores('PX', positive), 'negative_only': scores('NX', negative),
            'both': {name: both[name] for name in 'NX'}}


def weight_vm_vm_affinity(given):
    hosts = [Host(name) for name in given['hosts']]

    def ordered(groups, *others):
        """Hosts from the best to the worst, as the file writes it."""
        cluster = Cluster(hosts=hosts, vms=[Vm('vm'), *others], groups=groups)
        table = WEIGHTS['VmAffinityGroups'](Call(cluster, [cluster.vm('vm')]), hosts)
        if len(set(table.values())) == 1:
            return 'all equal'
        return ' < '.join(' = '.join(name for name in table if table[name] == score) for score in sorted(set(table.values())))

    def group(positive, *members, priority=1):
        return Group(f'{positive}{members}', priority, ['vm', *members], vms_rule=Rule(True, positive))

    def at(name, host, affinity='migratable'):
        return Vm(name, 'up', host, affinity=affinity)

    return {
        'positive_2VMs_on_h2': ordered([group(True, 'a', 'b')], at('a', 'h2'), at('b', 'h2')),
        'positive_vm1_pinned_h2_vm2_h3': ordered([group(True, 'a', 'b')], at('a', 'h2', 'pinned'), at('b', 'h3')),
        'negative_on_h1_and_h3': ordered([group(False, 'a', 'b')], at('a', 'h1'), at('b', 'h3')),
        'positive_prio1_h1_prio1_5_h2': ordered([group(True, 'a'), group(True, 'b', priority=1.5)], at('a', 'h1'), at('b', 'h2')),
        'negative_prio1_h1_prio1_5_h2': ordered([group(False, 'a'), group(False, 'b', priority=1.5)], at('a', 'h1'), at('b', 'h2')),
        'no_group': ordered([], at('a', 'h1')),
        'members_all_down': ordered([group(True, 'a', 'b'), group(False, 'a', 'b')], Vm('a'), Vm('b')),
    }


def filter_hugepages(given):
    results, vm = [], Vm('vm', mem_mb=given['vm_mb'], huge_page_kb=given['page_kb'])
    assert huge_pages(vm) == {given['page_kb']: given['need_pages']}
    for free, pending in given['rows']:
        host = Host('h', huge_free=dict(free))
        cluster = Cluster(hosts=[host], pending=[Pending('other', 'h', huge=dict(pending))])
        results.append(huge_pages_free(Call(cluster, [vm]), host) is None)
    return results


def list_ranks(given):
    return {'ranks': ranks([-value for value in given['sorted_desc']]), 'sorted': sorted(given['lists'])}


def pending_sums(given):
    host = Host('h')
    cluster = Cluster(hosts=[host])

    def sums():
        found = pending_at(cluster, host)
        return {'vms': len({p.vm for p in found}), 'cpus': sum(p.vcpus for p in found), 'mem': sum(p.real_mb for p in found)}

    for name, record in given['add']:
        for _ in range(2):  # the second replaces the first
            cluster.add_pending(Pending(name, 'h', vcpus=record['cpus'], real_mb=record['mem']))
    results = sums()
    for name, _ in given['add']:
        cluster.clear_pending(name)
    return {**results, 'after_clear_host': sums()}


def weight_in_cluster_upgrade(given):
    unit, names = WEIGHTS['InClusterUpgrade'], given['hosts']

    def scores(systems, source, running=True):
        hosts = [Host(str(n), os=system) for n, system in enumerate(systems)]
        vm = Vm('vm', 'up', 'source') if running else Vm('vm')
        return list(unit(Call(Cluster(hosts=hosts + [Host('source', os=source)]), [vm]), hosts).values())

    # the note of this result
    assert scores(names[:2], None, running=False) == [0, 1000000]
    assert set(scores(names, None, running=False)) == set(scores([None, None], None, running=False)) == set(scores(names, None)) == {0}
    return scores(names, given['running_on'])


def power_state(given):
    results = []
    for reserve, empty, in_maintenance, maintenance_ok, down, enabled in given['rows']:
        results.append(whole_power_step(reserve, empty, in_maintenance, maintenance_ok, down, enabled))
        step = next_power_step(reserve, empty, in_maintenance, maintenance_ok, down) if enabled else None
        assert results[-1] == (step and list(step))
    return results


def whole_power_step(reserve, empty, in_maintenance, maintenance_ok, down, enabled):
    """The same, with hosts."""
    hosts = [Host(name, automatic_power=allowed, power_management=True) for name, allowed in empty]
    hosts += [Host(name, status='maintenance', automatic_power=True, parked_by_policy=True,
                   external_status='ok' if name in maintenance_ok else 'error') for name in in_maintenance]
    hosts += [Host(name, status='down', automatic_power=True, parked_by_policy=True) for name in down]
    parameters = {'HostsInReserve': reserve, 'EnableAutomaticHostPowerManagement': str(enabled).lower()}
    step = power_step(Call(Cluster(hosts=hosts), [], parameters))
    return step and list(step)


KINDS = {'balance_even': balance_even, 'balance_power': balance_power, 'weight': weight, 'selector_rank': selector_rank,
         'selector_basic': selector_basic, 'weight_hp_cpu': weight_hp_cpu, 'weight_numa_fit': weight_numa_fit, 'filter_cpu': filter_cpu,
         'memory_physical': memory_physical, 'filter_he_spares': filter_he_spares, 'weight_vm_host_affinity': weight_vm_host_affinity,
         'weight_vm_vm_affinity': weight_vm_vm_affinity, 'filter_hugepages': filter_hugepages, 'ranks': list_ranks, 'pending': pending_sums,
         'weight_in_cluster_upgrade': weight_in_cluster_upgrade, 'power_state': power_state}
UNORDERED = ('balance_even', 'balance_power')  # the hosts of a move are a set; the engine's order of equal sources is by chance


def comparable(kind, result):
    return sorted((vm, sorted(hosts)) for vm, hosts in result) if kind in UNORDERED else result


def main():
    wrong = 0
    for vector in VECTORS['vectors']:
        told = KINDS[vector['kind']](vector['input'])
        if comparable(vector['kind'], told) != comparable(vector['kind'], vector['expected']):
            wrong += 1
            print(f'{vector["id"]} ({vector["source"]}):\n  the engine {vector["expected"]}\n  the model  {told}')
    print(f'{len(VECTORS["vectors"])} results, {wrong} wrong')
    sys.exit(1 if wrong or len(VECTORS['vectors']) < 26 else 0)


if __name__ == '__main__':
    main()
