#!/usr/bin/env python3
"""src/dialect/ovirt unit by unit: each filter and each weight of oVirt's scheduler with its conditions, and the figures of the engine's own
unit tests (tests/ovirt/vectors.json). The names of the rows O1 to O16 are those of src/dialect/ovirt/README.md."""
import json
import math
import os
import pathlib
import subprocess
import sys

MIB = 1 << 20
VECTORS = json.loads((pathlib.Path(__file__).resolve().parents[1] / 'ovirt/vectors.json').read_text())
UNITS = {'CPU': '6d636bf6-a35c-4f9d-b68d-0731f720cddc', 'CPUOverloaded': '98842bc5-4094-4b83-8224-7b50f86a94c9',
         'Emulated-Machine': '58894b5b-d55d-4f85-8f82-5bf217e640b0', 'HA': 'e659c871-0bf1-4ccc-b748-f28f5d08dffd',
         'Swap': '43b9e654-337f-4b0d-a896-cbb22ce5a7fc', 'Memory': 'c9ddbb34-0e1d-4061-a8d7-b0893fa80932',
         'NUMA': 'fcbfe4b1-b83e-4428-b9d3-b3d348b93be6', 'HugePages': '23e07b34-66dd-4735-bc45-bcddded02c05',
         'Migration': 'e659c871-0bf1-4ccc-b748-f28f5d08ddda', 'VmAffinityGroups': '84e6ddee-ab0d-42dd-82f0-c297779db566',
         'VmToHostsAffinityGroups': 'e69808a9-8a41-40f1-94ba-dd5d385d82d8', 'Network': '72163d1c-9468-4480-99d9-0888664eb143',
         'HostedEngineSpares': '53bff075-8306-446f-a53b-9c872a29d197', 'Migration-Tsc-Frequency': '47ea3cd0-8a2f-438d-9f63-49534178882a',
         'Host-hooks': 'aae8c702-4756-4934-b84c-8daf59efc134', 'ClusterInMaintenance': '0bd8fef9-bcb4-4250-9998-410f01608d9b',
         'InClusterUpgrade': '84e6ddee-ab0d-42dd-82f0-c298889db567'}
WEIGHTS = {'OptimalForCpuEvenDistribution': '7db4ab05-81ab-42e8-868a-aee2df483edb',
           'OptimalForMemoryEvenDistribution': '4134247a-9c58-4b9a-8593-530bb9e37c59',
           'OptimalForCpuPowerSaving': '736999d0-1023-46a4-9a75-1316ed50e15b', 'OptimalForMemoryPowerSaving': '9dfe6086-646d-43b8-8eef-4d94de8472c8',
           'OptimalForEvenGuestDistribution': '3ba8c988-f779-42c0-90ce-caa8243edee7', 'PreferredHosts': '591cdb81-ba67-45b4-9642-e28f61a97d57',
           'OptimalForHaReservation': '7f262d70-6cac-11e3-981f-0800200c9a66', 'HA': '98e92667-6161-41fb-b3fa-34f820ccbc4b',
           'VmAffinityGroups': '84e6ddee-ab0d-42dd-82f0-c297779db567', 'VmToHostsAffinityGroups': '427aed70-dae3-48ba-8fe9-a902a9d563c8',
           'CPU for high performance VMs': '71931e14-f0e6-4f91-a7c8-d494a26e3a09',
           'CPU and NUMA pinning compatibility': '1b14ac11-20e9-4593-a149-2eb83c60a330',
           'Fit VM to single host NUMA node': 'f58c1cb9-d91f-48a6-a196-c6d22fb10c4e', 'InClusterUpgrade': '84e6ddee-ab0d-42dd-82f0-c298889db568'}
RANK, BASIC = 'b280e7de-5df8-401e-b004-a1414d79a687', '0c89f215-9c4f-4bbb-8419-31a2d43ae7ea'
POWER_BALANCE = '736999d0-1023-46a4-9a75-1316ed50e151'


class Probe:
    def __init__(self):
        self.process = subprocess.Popen([os.environ['BALLAST_OVIRT_PROBE']], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, asked):
        self.process.stdin.write(json.dumps(asked) + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


PROBE = Probe()
failures, checks = [], 0


def expect(what, got, wanted):
    global checks
    checks += 1
    if got != wanted:
        failures.append(f'{what}: {got}, expected {wanted}')


def merged(base, more):
    for key, value in more.items():
        base[key] = merged(base.get(key, {}), value) if isinstance(value, dict) and isinstance(base.get(key, {}), dict) else value
    return base


def statistics(**values):
    return {'statistic': [{'name': n.replace('_', '.'), 'values': {'value': [{'datum': v}]}} for n, v in values.items()]}


def host(ident, /, free=60000, swap=None, use=0, **more):
    figures = {'memory_free': free * MIB, 'cpu_current_user': use, 'cpu_current_system': 0, **({} if swap is None else {'swap_total': swap * MIB, 'swap_free': swap * MIB})}
    return merged({'id': ident, 'status': 'up', 'memory': 65536 * MIB, 'max_scheduling_memory': 60000 * MIB,
                   'cpu': {'topology': {'sockets': 2, 'cores': 4, 'threads': 2}}, 'statistics': statistics(**figures)}, more)


def vm(name, at=None, use=None, **more):
    return merged({'id': name, 'status': 'up' if at else 'down', 'memory': 1024 * MIB, 'cpu': {'topology': {'sockets': 1, 'cores': 1, 'threads': 1}},
                   **({'host': {'id': at}} if at else {}), **({} if use is None else {'statistics': statistics(cpu_current_total=use)})}, more)


def policy(filters=(), weights=(), properties=(), selector=RANK, **more):
    return {'name': 'p', 'selector': selector, 'filters': [{'id': UNITS[f]} for f in filters], 'weights': [{'id': WEIGHTS[w]} for w in weights],
            'properties': [{'name': n, 'value': str(v)} for n, v in dict(properties).items()], **more}


def cloud(hosts, vms, of, cluster=(), **more):
    return {'dialect': 'ovirt', 'clusters': [{'id': 'c', 'scheduling_policy': {'id': 'p'}, **dict(cluster)}], 'scheduling_policies': [of],
            'hosts': hosts, 'vms': vms, **more}


def asked(of, name='v'):
    told = PROBE.ask({'cloud': of, 'vms': [name]})
    if 'error' in told:
        failures.append(f'an error: {told["error"]}')
        return {'refused': {}, 'weights': {}, 'points': {}, 'order': []}
    return told[0]


def refused(unit, hosts, the_vm, others=(), properties=(), cluster=(), **more):
    """The hosts that this unit alone refuses."""
    filters = [unit] if unit in UNITS else []
    told = asked(cloud(hosts, [the_vm, *others], policy(filters, properties=properties), cluster, **more))
    return sorted(h for h, stage in told['refused'].items() if stage == unit)


def weights(unit, hosts, the_vm, others=(), properties=(), cluster=(), **more):
    told = asked(cloud(hosts, [the_vm, *others], policy((), [unit], properties), cluster, **more))
    name = f'{unit} weight' if unit in UNITS else unit
    return {h: round(w, 6) for h, w in told['weights'].get(name, {}).items()}


# ---- mandatory filters ----

def test_O9_pin_to_host():
    hosts = [host('a'), host('b')]
    for affinity, names, at, wanted in (('migratable', ['a'], None, []), ('pinned', ['a'], None, ['b']), ('pinned', [], None, []), ('pinned', [], 'a', ['a', 'b'])):
        expect(f'PinToHost {affinity} {names} {at}', refused('PinToHost', hosts, vm('v', at, placement_policy={'affinity': affinity, 'hosts': [{'id': n} for n in names]})), wanted)


def test_O10_topology_and_pins():
    unknown = host('u')
    del unknown['cpu']
    flat = host('f', cpu={'topology': {'sockets': 2, 'cores': 4, 'threads': 1}})
    nodes = host('n', numa_nodes=[{'index': 0}, {'index': 1}])
    hosts = [host('a'), unknown, flat, nodes]
    expect('CPUTopology', refused('CPUTopology', hosts, vm('v')), ['u'])
    expect('CPUTopology dedicated', refused('CPUTopology', hosts, vm('v', cpu_pinning_policy='dedicated', cpu={'topology': {'threads': 2}})), ['f', 'u'])
    expect('CPUTopology resize', refused('CPUTopology', hosts, vm('v', cpu_pinning_policy='resize_and_pin_numa')), ['a', 'f', 'u'])
    online = host('o', cpu_units=[{'cpu_id': 0}, {'cpu_id': 9}])
    for cpus, wanted in (('0-3,^2', ['o']), ('9', []), ('16', ['a', 'o']), ('0,9', []), ('x', ['a', 'o'])):
        expect(f'CpuPinning {cpus}', refused('CpuPinning', [host('a'), online], vm('v', cpu={'cpu_tune': {'vcpu_pins': {'vcpu_pin': [{'vcpu': 0, 'cpu_set': cpus}]}}})), wanted)
    types = [{'name': 'old', 'vendor': 'x', 'level': 1}, {'name': 'new', 'vendor': 'x', 'level': 3}, {'name': 'other', 'vendor': 'y', 'level': 9}]
    hosts = [host(t, cpu={'type': t}) for t in ('old', 'new', 'other', 'strange')]
    expect('CPU-Level', refused('CPU-Level', hosts, vm('v', cpu={'type': 'new'}), cpu_types=types), ['old', 'other', 'strange'])
    expect('CPU-Level none', refused('CPU-Level', hosts, vm('v'), cpu_types=types), [])
    hosts = [host('a', cpu_flags=['avx', 'sse']), host('b', cpu_flags=['sse'])]
    expect('CPU-Level passthrough', refused('CPU-Level', hosts, vm('v', 'a', cpu={'mode': 'host_passthrough'}, cpu_flags=['avx'])), ['b'])
    expect('CPU-Level passthrough off', refused('CPU-Level', hosts, vm('v', cpu={'mode': 'host_passthrough'}, cpu_flags=['avx'])), [])


def test_O5_other_mandatory():
    hosts = [host('a', supported_versions=['4.6', '4.7']), host('b', supported_versions=['4.7'])]
    expect('Compatibility-Version', refused('Compatibility-Version', hosts, vm('v', custom_compatibility_version={'major': '4', 'minor': '6'})), ['b'])
    gpu = [{'name': 'gpu', 'capability': 'pci'}]
    hosts = [host('a', devices=gpu, device_passthrough={'enabled': True}), host('b', devices=gpu), host('c', devices=[{'name': 'gpu', 'used': True}])]
    for names, wanted in ((['a'], ['b', 'c']), (['b'], ['a', 'b', 'c']), (['c'], ['a', 'b', 'c']), (['a', 'b'], ['a', 'b', 'c'])):
        expect(f'HostDevice {names}', refused('HostDevice', hosts, vm('v', host_devices=['gpu'], placement_policy={'affinity': 'migratable', 'hosts': names})), wanted)
    hosts = [host('a', mdev_types=[{'name': 't', 'free': 1}]), host('b', mdev_types=[{'name': 't', 'free': 2}])]
    expect('MDevice', refused('MDevice', hosts, vm('v', mdev_types=['t'])), [])
    expect('MDevice two', refused('MDevice', hosts, vm('v', mdev_types=['t', 't'])), ['a'])
    hosts = [host('a', lease_domains=['d']), host('b', lease_domains=[]), host('c')]
    expect('VM leases ready', refused('VM leases ready', hosts, vm('v', lease={'storage_domain': {'id': 'd'}})), ['b'])


# ---- filters of policies ----

def test_O10_cpu():
    four = [host('a', cpu={'topology': {'sockets': 1, 'cores': 2, 'threads': 2}}), host('b', cpu={'topology': {'sockets': 1, 'cores': 4, 'threads': 1}})]
    large = vm('v', cpu={'topology': {'sockets': 4}})
    expect('CPU', refused('CPU', four, large), ['a'])
    expect('CPU threads', refused('CPU', four, large, cluster={'threads_as_cores': True}), [])
    alone = vm('x', 'b', cpu_pinning_policy='dedicated')
    expect('CPU exclusive', refused('CPU', four, large, [alone]), ['a', 'b'])
    expect('CPU the largest', refused('CPU', [four[1]], vm('v', cpu_pinning_policy='dedicated'), [vm('x', 'b', cpu={'topology': {'sockets': 4}})]), ['b'])


def test_O11_overloaded():
    hosts = [host('a', use=95, cpu_threshold_seconds=119), host('b', use=95, cpu_threshold_seconds=120), host('c', use=90, cpu_threshold_seconds=500), host('d', use=95), host('e')]
    del hosts[4]['statistics']
    expect('CPUOverloaded', refused('CPUOverloaded', hosts, vm('v')), ['b', 'e'])
    expect('CPUOverloaded 95', refused('CPUOverloaded', hosts, vm('v'), properties={'HighUtilization': 95}), ['e'])
    expect('CPUOverloaded 3 min', refused('CPUOverloaded', hosts, vm('v'), properties={'HighCpuUtilization': 80, 'CpuOverCommitDurationMinutes': 3}), ['c', 'e'])
    spm = host('s', use=90, cpu_threshold_seconds=500, spm={'status': 'spm'}, cpu_units=[])
    expect('CPUOverloaded SPM', refused('CPUOverloaded', [spm], vm('v')), ['s'])


def test_O10_memory():
    expect('Memory', refused('Memory', [host('a', free=1100), host('b', free=1080), host('c', free=1000, swap=100)], vm('v')), ['b'])
    expect('Memory schedulable', refused('Memory', [host('a', max_scheduling_memory=1098 * MIB), host('b', max_scheduling_memory=1097 * MIB)], vm('v')), ['b'])
    expect('Memory own host', refused('Memory', [host('a', free=0, max_scheduling_memory=0)], vm('v', 'a')), [])
    expect('Memory paused', refused('Memory', [host('a', free=0), host('b')], vm('v', 'b', status='paused')), [])
    unknown = host('u')
    del unknown['max_scheduling_memory']
    expect('Memory without data', refused('Memory', [unknown], vm('v')), ['u'])
    pending = vm('x', pending_host={'id': 'a'})
    expect('Memory pending', refused('Memory', [host('a', free=1150), host('b', free=1150)], vm('v'), [pending]), ['a'])
    expect('Memory pending, schedulable', refused('Memory', [host('a', max_scheduling_memory=2000 * MIB), host('b', max_scheduling_memory=2000 * MIB)], vm('v'), [pending]), ['a'])
    pages = dict(hugepages=1024)
    short = [host('a', free=1000, hugepages=[{'name': '1024', 'free': 0}]), host('b', free=1100, hugepages=[{'name': '1024', 'free': 0}]), host('c', free=100, hugepages=[{'name': '1024', 'free': 1024}])]
    expect('Memory missing huge pages', refused('Memory', short, vm('v', **pages)), ['a'])


def test_O10_swap():
    def swapping(name, total, swap_free, free):
        made = host(name, free=free)
        made['statistics'] = statistics(memory_free=free * MIB, swap_total=total * MIB, swap_free=swap_free * MIB, cpu_current_user=0, cpu_current_system=0)
        made['memory'] = 1000 * MIB
        return made
    hosts = [swapping('a', 500, 100, 391), swapping('b', 500, 100, 390), swapping('c', 500, 500, 10), host('d')]
    expect('Swap', refused('Swap', hosts, vm('v')), ['b'])
    expect('Swap 1 %', refused('Swap', hosts, vm('v'), properties={'MaximumAllowedSwapUsage': 1}), [])
    expect('Swap off', refused('Swap', hosts, vm('v'), settings={'EnableSwapCheck': False}), [])


def test_O7_O8_migration():
    hosts = [host('a', address='10.0.0.1'), host('b', address='10.0.0.1'), host('c', address='127.0.0.1'), host('d', address='10.0.0.2', name='a'), host('e', address='10.0.0.3')]
    expect('Migration', refused('Migration', hosts, vm('v', 'a')), ['b', 'c', 'd'])
    expect('Migration of one that starts', refused('Migration', hosts, vm('v')), [])
    of = cloud([host('a', cluster={'id': 'c'}), host('b', cluster={'id': 'd'})], [vm('v', cluster={'id': 'c'})], policy())
    of['clusters'].append({'id': 'd'})
    expect('the migration domain', asked(of)['refused'], {'b': 'cluster'})


def test_O10_network():
    hosts = [host('a', networks=['red', 'blue'], networks_with_address=['red'], virtual_functions=[{'name': 'blue', 'free': 1}]), host('b', networks=['red', 'blue'], networks_with_address=[])]
    for nics, display, wanted in (([{'network': 'red'}], None, []), ([{'network': 'green'}], None, ['a', 'b']), ([{'network': 'green', 'unplugged': True}], None, []),
                                  ([], 'red', ['b']), ([{'network': 'blue', 'pass_through': True}], None, ['b']), ([{'network': 'blue', 'pass_through': True}] * 2, None, ['a', 'b'])):
        expect(f'Network {nics} {display}', refused('Network', hosts, vm('v', nics=nics), cluster={'display_network': display} if display else {}), wanted)


def test_O10_each_host_of_its_own():
    """More classes of hosts than a hint has texts: each host has a network that no other has. Few or many of them are refused."""
    n = 1100
    hosts = [host(f'h{i:04}', networks=[f'own-{i}', *(['most'] if i >= 20 else ['few'])]) for i in range(n)]
    others = [vm(f'x{i}', nics=[{'network': f'own-{i}'}]) for i in range(n)]
    names = [h['id'] for h in hosts]
    for network, wanted in (('most', names[:20]), ('few', names[20:])):
        expect(f'Network {network}', refused('Network', hosts, vm('v', nics=[{'network': network}]), others), wanted)


def group(name, members=(), on=(), /, priority=1, **rules):
    return {'id': name, 'priority': priority, 'vms': [{'id': v} for v in members], 'hosts': [{'id': h} for h in on],
            **{f'{kind}_rule': {'enabled': True, 'positive': '+' in how, 'enforcing': '!' in how} for kind, how in rules.items()}}


def test_O1_affinity_of_vms():
    hosts = [host('a'), host('b'), host('c')]
    others = [vm('x', 'a'), vm('y', 'b'), vm('z')]
    for what, groups, wanted in (('positive', [group('g', 'vx', vms='+!')], ['b', 'c']), ('none runs', [group('g', 'vz', vms='+!')], []), ('soft', [group('g', 'vx', vms='+')], []),
                                 ('negative', [group('g', 'vxy', vms='-!')], ['a', 'b']), ('two positive', [group('g', 'vx', vms='+!'), group('h', 'vy', vms='+!')], ['c']),
                                 ('both', [group('g', 'vx', vms='+!'), group('h', 'vx', vms='-!')], ['a', 'b', 'c'])):
        expect(f'VmAffinityGroups {what}', refused('VmAffinityGroups', hosts, vm('v'), others, affinity_groups=groups), wanted)
    expect('VmAffinityGroups pending', refused('VmAffinityGroups', hosts, vm('v'), [vm('x', pending_host={'id': 'b'})], affinity_groups=[group('g', 'vx', vms='-!')]), ['b'])
    labels = [{'id': 'l', 'vms': ['v', 'x']}]
    expect('VmAffinityGroups by label', refused('VmAffinityGroups', hosts, vm('v'), others, affinity_groups=[{**group('g', vms='-!'), 'vm_labels': ['l']}], affinity_labels=labels), ['a'])


def test_O1_affinity_to_hosts():
    hosts = [host('a'), host('b'), host('c')]
    for what, groups, wanted in (('positive', [group('g', 'v', 'ab', hosts='+!')], ['c']), ('each', [group('g', 'v', 'ab', hosts='+!'), group('h', 'v', 'bc', hosts='+!')], ['a', 'c']),
                                 ('negative', [group('g', 'v', 'a', hosts='-!')], ['a']), ('soft', [group('g', 'v', 'a', hosts='+')], []), ('of another', [group('g', 'x', 'a', hosts='+!')], [])):
        expect(f'VmToHosts {what}', refused('VmToHostsAffinityGroups', hosts, vm('v'), affinity_groups=groups), wanted)
    labels = [{'id': 'l', 'vms': ['v'], 'hosts': ['b']}]
    for version, wanted in (({'major': 4, 'minor': 3}, ['a', 'c']), ({'major': 4, 'minor': 4}, [])):
        expect(f'VmToHosts labels {version}', refused('VmToHostsAffinityGroups', hosts, vm('v'), affinity_labels=labels, cluster={'version': version}), wanted)


def test_O5_numa_and_pages():
    def node(index, mb, pins=(), **more):
        return {'index': index, 'memory': mb, **({'pins': [str(p) for p in pins]} if pins else {}), **more}
    hosts = [host('a', numa_nodes=[node(0, 1000), node(1, 1000)]), host('b', numa_nodes=[node(0, 4000)]), host('c')]
    two = [node(0, 800, [0, 1]), node(1, 800, [0, 1])]
    expect('NUMA', refused('NUMA', hosts, vm('v', numa_nodes=two)), ['c'])
    expect('NUMA one node', refused('NUMA', hosts, vm('v', numa_nodes=[node(0, 800, [0]), node(1, 800, [0])])), ['a', 'c'])
    expect('NUMA preferred', refused('NUMA', hosts, vm('v', numa_tune_mode='preferred', numa_nodes=[node(0, 9000, [5])])), ['c'])
    expect('NUMA unpinned', refused('NUMA', hosts, vm('v', numa_nodes=[node(0, 9000)])), [])
    expect('NUMA own host', refused('NUMA', hosts, vm('v', 'c', numa_nodes=two)), [])
    expect('HugePages own host', refused('HugePages', [host('a')], vm('v', 'a', hugepages=1024)), [])


def test_O5_rest():
    hosts = [host('a', emulated_machines=['q35', 'pc']), host('b', emulated_machines=['pc'])]
    expect('Emulated-Machine', refused('Emulated-Machine', hosts, vm('v', custom_emulated_machine='q35')), ['b'])
    hosts = [host(n, hosted_engine={'score': s}) for n, s in (('a', 3400), ('b', 2601), ('c', 2600), ('d', 0))]
    expect('HA', refused('HA', hosts, vm('v', 'a', origin='managed_hosted_engine')), ['c', 'd'])
    expect('HA of one that starts', refused('HA', hosts, vm('v', origin='managed_hosted_engine')), ['d'])
    expect('HA other VM', refused('HA', hosts, vm('v')), [])
    hosts = [host('a', tsc_frequency=2000000000), host('b', tsc_frequency=2000500000), host('c', tsc_frequency=2000500001), host('d', tsc_frequency=1, tsc_scaling=True)]
    expect('Tsc', refused('Migration-Tsc-Frequency', hosts, vm('v', 'a', tsc_frequency=2000000000)), ['c'])
    expect('Tsc off', refused('Migration-Tsc-Frequency', hosts, vm('v', tsc_frequency=2000000000)), [])
    hosts = [host('a', hooks=['50_vhostmd']), host('b')]
    expect('Host-hooks', refused('Host-hooks', hosts, vm('v', sap_agent=True)), ['b'])
    expect('ClusterInMaintenance', refused('ClusterInMaintenance', hosts, vm('v')), ['a', 'b'])
    expect('ClusterInMaintenance HA', refused('ClusterInMaintenance', hosts, vm('v', high_availability={'enabled': True})), [])
    expect('ClusterInMaintenance running', refused('ClusterInMaintenance', hosts, vm('v', 'a')), [])
    hosts = [host(n, os={'type': t, 'version': {'major': m}}) for n, t, m in (('a', 'RHEL', 7), ('b', 'RHEL', 8), ('c', 'RHEL', 6), ('d', 'Fedora', 30))]
    expect('InClusterUpgrade', refused('InClusterUpgrade', hosts, vm('v', 'a')), ['c', 'd'])


# ---- weights ----

def test_O2_O3_weights():
    hosts = [host('a'), host('b'), host('c')]
    two = {'placement_policy': {'affinity': 'migratable', 'hosts': ['a', 'b']}}
    expect('PreferredHosts', weights('PreferredHosts', hosts, vm('v', **two)), {'a': 0, 'b': 0, 'c': 10000})
    expect('PreferredHosts running', weights('PreferredHosts', hosts, vm('v', 'a', **two)), {})
    others = [vm('x', 'a'), vm('y', 'a'), vm('z', pending_host={'id': 'b'})]
    spm = [host('a'), host('b'), host('c', spm={'status': 'spm'})]
    expect('EvenGuest', weights('OptimalForEvenGuestDistribution', spm, vm('v'), others), {'a': 2, 'b': 1, 'c': 5})
    expect('EvenGuest own host', weights('OptimalForEvenGuestDistribution', spm, vm('v', 'a'), others, {'SpmVmGrace': 0}), {'a': 3, 'b': 1, 'c': 0})
    ha = {'high_availability': {'enabled': True}}
    others = [vm('x', 'a', **ha), vm('y', 'a', **ha), vm('z', 'a', **ha), vm('w', 'b', **ha)]
    reserves = {'ha_reservation': True}
    expect('HaReservation', weights('OptimalForHaReservation', hosts, vm('v', **ha), others, cluster=reserves), {'a': 100, 'b': 33, 'c': 0})
    expect('HaReservation scaled', weights('OptimalForHaReservation', hosts, vm('v', **ha), others, {'ScaleDown': 10}, reserves), {'a': 10, 'b': 4, 'c': 0})
    expect('HaReservation other VM', weights('OptimalForHaReservation', hosts, vm('v'), others, cluster=reserves), {'a': 0, 'b': 0, 'c': 0})
    scored = [host('a', hosted_engine={'score': 3400}), host('b', hosted_engine={'score': 1700}), host('c')]
    expect('HA weight', weights('HA', scored, vm('v', origin='hosted_engine')), {'a': 0, 'b': 500, 'c': 1000})
    expect('CPU even', weights('OptimalForCpuEvenDistribution', [host('a', use=10), host('b', use=20), host('c', use=40)], vm('v')), {'a': 1, 'b': 334, 'c': 1000})
    expect('CPU even, equal', weights('OptimalForCpuEvenDistribution', hosts, vm('v')), {'a': 1, 'b': 1, 'c': 1})
    blind = host('d')
    del blind['statistics']
    expect('CPU even without data', weights('OptimalForCpuEvenDistribution', [host('a', use=10), host('b', use=20), blind], vm('v')), {'a': 1, 'b': 1000, 'd': 1000})
    crowded = [vm('x', 'a', 0, cpu={'topology': {'sockets': 8}})]
    expect('CPU even, ratio', weights('OptimalForCpuEvenDistribution', [host('a'), host('b', use=50)], vm('v'), crowded, {'VCpuToPhysicalCpuRatio': 1}), {'a': 1000, 'b': 1})
    expect('CPU power', weights('OptimalForCpuPowerSaving', [host('a', use=10), host('b', use=80), host('c', use=91)], vm('v'), properties={'HighUtilization': 90}), {'a': 1000, 'b': 1, 'c': 1000})
    room = [host('a', max_scheduling_memory=10000 * MIB), host('b', max_scheduling_memory=5000 * MIB)]
    bare = {'settings': {'vm_overhead_mb': 0}}
    expect('memory even', weights('OptimalForMemoryEvenDistribution', room, vm('v'), **bare), {'a': 103, 'b': 603})
    expect('memory power', weights('OptimalForMemoryPowerSaving', room, vm('v'), **bare), {'a': 816, 'b': 362})
    hosts = [host('a', cpu={'topology': {'sockets': 2, 'cores': 2}}), host('b', cpu={'topology': {'sockets': 1, 'cores': 4}})]
    fast = {'type': 'high_performance', 'cpu': {'topology': {'sockets': 2, 'cores': 2}}}
    expect('high performance', weights('CPU for high performance VMs', hosts, vm('v', **fast)), {'a': 1, 'b': 1000})
    expect('high performance alone', weights('CPU for high performance VMs', hosts, vm('v', cpu_pinning_policy='dedicated', **fast)), {'a': 1000, 'b': 1})
    node = [{'index': 0, 'cpus': ['0-3']}, {'index': 1, 'cpus': ['4-7']}]
    pinned = {'cpu': {'cpu_tune': {'vcpu_pins': [{'vcpu': 0, 'cpu_set': '4-5'}]}}, 'numa_nodes': [{'index': 0, 'memory': 1, 'cpus': ['0'], 'pins': ['1']}]}
    swapped = [{'index': 1, 'cpus': ['0-3']}, {'index': 0, 'cpus': ['4-7']}]
    expect('pinning', weights('CPU and NUMA pinning compatibility', [host('a', numa_nodes=node), host('b', numa_nodes=swapped)], vm('v', **pinned)), {'a': 1, 'b': 1000})


def test_O3_selectors():
    """The engine's own cases ov18, ov20, ov21 and ov42."""
    for vector in VECTORS['vectors']:
        if not vector['kind'].startswith('selector'):
            continue
        records, factors = vector['input']['records'], vector['input']['factors']
        hosts = sorted({h for _, h, _ in records})
        ranks = vector['kind'] == 'selector_rank'
        made = [{'id': h, 'state': 'on', 'cpu_mhz': 1000, 'cores': 1, 'mem_mb': 4096, 'attributes': {u: w for u, at, w in records if at == h}} for h in hosts]
        stages = [{'name': u, 'score': ['-', 0, ['default', f'$host.attributes.{u}', 0]], 'normalise': 'rank_high' if ranks else 'none', 'multiplier': f} for u, f in factors.items()]
        told = PROBE.ask({'snapshot': {'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': '2026-01-01T00:00:00Z', 'policy': {}, 'hosts': made,
                                       'vms': [{'id': 'v', 'state': 'off', 'vcpus': 1, 'mem_mb': 64, 'pipeline': 'p'}], 'pipelines': [{'name': 'p', 'stages': stages}]}, 'vms': ['v']})[0]
        if 'best' in vector['expected']:
            expect(vector['id'], told['order'][0], vector['expected']['best'])
        else:
            expect(vector['id'], told['points'], vector['expected'])


def of_set(name):
    made = []
    for h, f in VECTORS['host_sets'][name].items():
        free = max(0, f['oc'] * f['phys'] / 100 - f['committed'] - f['reserved']) - f['pending']
        made.append(host(h, use=f['cpu'], memory=f['phys'] * MIB, max_scheduling_memory=int(free) * MIB,
                         cpu={'topology': {'sockets': 1, 'cores': f['cores'], 'threads': 1}}, **({} if f['over_s'] is None else {'cpu_threshold_seconds': f['over_s']})))
    return made


def test_O11_O12_vectors():
    for vector in VECTORS['vectors']:
        given = vector['input']
        if vector['kind'] != 'weight':
            continue
        hosts = of_set(given['hosts'])
        vms = [vm(v['id'], v['host'], v['cpu'] * v['vcpus'], memory=v['mem'] * MIB) for v in VECTORS[given['vms']] if v['host'] in {h['id'] for h in hosts}]
        of = cloud(hosts, vms, policy((), [given['unit']], given.get('params', {}), balances=[{'id': POWER_BALANCE}]),
                   settings={'VcpuConsumptionPercentage': given['config']['vcpupct'], 'SpmVCpuConsumption': given['config']['spmcpu'], 'vm_overhead_mb': given['overhead_mb']})
        for name, best in vector['expected']['best'].items():
            expect(f'{vector["id"]} {name}', asked(of, name)['order'][:1], [best])


def test_O5_vectors():
    for vector in VECTORS['vectors']:
        given, wanted, kind = vector['input'], vector['expected'], vector['kind']
        if kind == 'weight_hp_cpu':
            hosts = [host(f'h{i}', cpu={'topology': dict(zip(('sockets', 'cores', 'threads'), t))}) for i, t in enumerate(given['hosts_sockets_coresPerSocket_threadsPerCore'])]
            told = weights('CPU for high performance VMs', hosts, vm('v', type=given['vm_type'], cpu={'topology': dict(zip(('sockets', 'cores', 'threads'), given['vm']))}))
            expect(vector['id'], [told.get(f'h{i}', 1) for i in range(len(hosts))], wanted)
        elif kind == 'weight_numa_fit':
            hosts = [host(f'h{i}', numa_nodes=[{'index': k, 'memory': mb, 'cpus': [f'{k * cpus}-{k * cpus + cpus - 1}']} for k in range(n)])
                     for i, (n, mb, cpus) in enumerate(given['hosts_nodes_memMbPerNode_cpusPerNode'])]
            told = weights('Fit VM to single host NUMA node', hosts, vm('v', memory=given['vm']['mem'] * MIB, cpu={'topology': {'sockets': given['vm']['vcpus']}}))
            expect(vector['id'], [told[f'h{i}'] for i in range(len(hosts))], wanted)
        elif kind == 'filter_cpu':
            for case, passes in zip(given['cases'], wanted):
                cores, threads = case['host']['cores'], case['host']['threads']
                made = host('h', cpu={'topology': {'sockets': 1, 'cores': cores, 'threads': threads / cores}})
                told = refused('CPU', [made], vm('v', cpu={'topology': {'sockets': given['vm_vcpus']}}), cluster={'threads_as_cores': case['countThreadsAsCores']})
                expect(f'{vector["id"]} {case}', not told, passes)
        elif kind == 'memory_physical':
            for row, passes in zip(given['rows'], wanted):
                free, swap, pending, need, huge = row
                made = host('h', free=free - pending, swap=swap, max_scheduling_memory=99999 * MIB, hugepages=[{'name': '1024', 'free': 0}])
                the_vm = vm('v', memory=(huge or need) * MIB, hugepages=1024 if huge else 0)
                told = refused('Memory', [made], the_vm, settings={'vm_overhead_mb': need if huge else 0})
                expect(f'{vector["id"]} {row}', not told, passes)
        elif kind == 'filter_hugepages':
            for (free, pending), passes in zip(given['rows'], wanted):
                made = host('h', hugepages=[{'name': str(kib), 'free': n} for kib, n in free])
                others = [vm(f'x{i}', pending_host={'id': 'h'}, memory=kib * n * 1024, hugepages=kib) for i, (kib, n) in enumerate(pending)]
                told = refused('HugePages', [made], vm('v', memory=given['need_pages'] * given['page_kb'] * 1024, hugepages=given['page_kb']), others)
                expect(f'{vector["id"]} {free} {pending}', not told, passes)
        elif kind == 'weight_in_cluster_upgrade':
            def system(name, text):
                parts = text.split(' - ') if text else None
                return host(name, **({'os': {'type': parts[0], 'version': {'major': int(parts[1].split('.')[0])}}} if parts else {}))
            hosts = [system(f'h{i}', t) for i, t in enumerate(given['hosts'])] + [system('home', given['running_on'])]
            told = weights('InClusterUpgrade', hosts, vm('v', 'home'))
            expect(vector['id'], [told[f'h{i}'] for i in range(len(given['hosts']))], wanted)
            told = weights('InClusterUpgrade', hosts[:2], vm('v'))
            expect(f'{vector["id"]} start', told, {'h0': 0, 'h1': 1000000})
            expect(f'{vector["id"]} two families', set(weights('InClusterUpgrade', hosts, vm('v')).values()) - {0}, set())
        elif kind == 'filter_he_spares':
            for case, n in zip(given['cases'], wanted['count']):
                hosts = [host(h, hosted_engine={'configured': f.get('he', True), 'score': f.get('score', 3400), 'local_maintenance': f.get('maint', False)}, cluster={'id': 'c'},
                              memory=f['phys'] * MIB, max_scheduling_memory=(f['phys'] - given['reserved']) * MIB) for h, f in case['hosts'].items()]
                engine = vm('engine', given['engine_host'], memory=case['engine_mb'] * MIB, origin='managed_hosted_engine', cluster={'id': 'c'})
                the_vm = vm('v', memory=given['vm_mb'] * MIB, cluster={'id': 'c'})
                others = [the_vm] if case.get('he_known', True) is False else [the_vm, engine]
                if case.get('same_cluster', True) is False:
                    others = [the_vm]
                of = cloud(hosts, others, policy(['HostedEngineSpares'], properties={'HeSparesCount': case['HeSparesCount']}), settings={'vm_overhead_mb': given['guestOverhead']})
                told = asked(of, 'engine' if case.get('scheduling_he') else 'v')
                expect(f'{vector["id"]} {case}', len(hosts) - len([s for s in told['refused'].values() if s == 'HostedEngineSpares']), n)


def order_of(numbers):
    """h2 < h1 = h3."""
    by = {}
    for h, n in numbers.items():
        by.setdefault(n, []).append(h)
    return ' < '.join(' = '.join(sorted(by[n])) for n in sorted(by))


def test_O3_affinity_vectors():
    hosts = [host('h1'), host('h2'), host('h3')]

    def ranks(groups, *others):
        return order_of(weights('VmAffinityGroups', hosts, vm('v'), list(others), affinity_groups=groups) or {'h1': 0, 'h2': 0, 'h3': 0})
    positive, negative = group('g', 'vxy', vms='+'), group('g', 'vxy', vms='-')
    pinned = {'placement_policy': {'affinity': 'pinned', 'hosts': []}}
    one, two = group('g', 'vx', vms='+', priority=1), group('h', 'vy', vms='+', priority=1.5)
    expect('ov33 positive', ranks([positive], vm('x', 'h2'), vm('y', 'h2')), 'h2 < h1 = h3')
    expect('ov33 pinned', ranks([positive], vm('x', 'h2', **pinned), vm('y', 'h3')), 'h2 < h3 < h1')
    expect('ov33 negative', ranks([negative], vm('x', 'h1'), vm('y', 'h3')), 'h2 < h1 = h3')
    expect('ov33 positive priorities', ranks([one, two], vm('x', 'h1'), vm('y', 'h2')), 'h2 < h1 < h3')
    expect('ov33 negative priorities', ranks([group('g', 'vx', vms='-', priority=1), group('h', 'vy', vms='-', priority=1.5)], vm('x', 'h1'), vm('y', 'h2')), 'h3 < h1 < h2')
    expect('ov33 no group', ranks([]), 'h1 = h2 = h3')
    expect('ov33 all down', ranks([positive], vm('x'), vm('y')), 'h1 = h2 = h3')
    p, n = group('p', 'v', ['h1'], hosts='+'), group('n', 'v', ['h2'], hosts='-')
    for groups, wanted in (([p], 'h1 < h2 = h3'), ([n], 'h1 = h3 < h2'), ([p, n], 'h1 < h3 < h2')):
        expect('ov31', order_of(weights('VmToHostsAffinityGroups', hosts, vm('v'), affinity_groups=groups)), wanted)


def test_O2_ties_and_selectors():
    hosts = [host('z'), host('m'), host('a')]
    for selector in (RANK, BASIC):
        of = cloud(hosts, [vm('v')], policy((), list(WEIGHTS), selector=selector))
        expect(f'ties by the order of the list, {selector}', asked(of)['order'], ['z', 'm', 'a'])
    of = cloud([host('a', use=10), host('b', use=20), host('c', use=20)], [vm('v')], policy((), ['OptimalForCpuEvenDistribution']))
    expect('points', {h: math.ceil(p) for h, p in asked(of)['points'].items()}, {'a': 2, 'b': 1, 'c': 1})


def main():
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            try:
                test()
            except (KeyError, IndexError) as e:
                failures.append(f'{name}: {e!r}')
    for failure in failures:
        print(failure)
    print(f'{checks} checks, {len(failures)} failures')
    sys.exit(bool(failures) or checks < 100)


if __name__ == '__main__':
    main()
