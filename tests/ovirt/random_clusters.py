"""Questions about random clusters, one from each seed, in the shape that model.py reads.

python3 random_clusters.py [FIRST [COUNT]]     prints the questions of COUNT seeds from FIRST on, one line each
"""
import json
import random
import sys

from policies import PARAMETERS, UUIDS, built_in, units_of
from filters import FILTERS
from weights import WEIGHTS

# What a cluster can have besides hosts and VMs. Each cluster has some of it only, so that hosts pass the filters in most.
FEATURES = ('pending', 'huge', 'numa', 'networks', 'machines', 'engine', 'tsc', 'hooks', 'versions', 'levels', 'devices', 'vgpus', 'leases',
            'pins', 'exclusive', 'per_cpu', 'groups', 'labels', 'missing', 'swap', 'ha', 'power', 'os', 'addresses', 'equal', 'types', 'counts')
PAGE_KB = (2048, 1048576)
OS = ('RHEL - 7.2 - 1.el7', 'RHEL - 8.4 - 3.el8', 'RHEL - 8.6 - 1.el8', 'Fedora - 23 - 1.f23', None, 'unknown')
VALUES = {
    'HighUtilization': ('50', '60', '66', '75', '80', '90', '99'),
    'LowUtilization': ('0', '10', '20', '45'),
    'CpuOverCommitDurationMinutes': ('1', '2', '5'),
    'MaxFreeMemoryForOverUtilized': ('512', '2048', '8192'),
    'MinFreeMemoryForUnderUtilized': ('1024', '4096', '16384'),
    'VCpuToPhysicalCpuRatio': ('0', '0.5', '1', '1.5', '2'),
    'HostsInReserve': ('0', '1', '2'),
    'EnableAutomaticHostPowerManagement': ('true', 'false'),
    'HighVmCount': ('0', '2', '4', '10'),
    'MigrationThreshold': ('2', '3', '5'),
    'SpmVmGrace': ('0', '1', '2', '5'),
    'HeSparesCount': ('0', '2', '3', '9'),
    'ScaleDown': ('1', '2', '7', '100'),
    'MaximumAllowedSwapUsage': ('0', '10', '50'),
}


# Units that look at what a cluster has: a policy of one's own has them often.
UNITS_OF = {
    'numa': (('NUMA',), ('CPU and NUMA pinning compatibility', 'Fit VM to single host NUMA node')),
    'engine': (('HA', 'HostedEngineSpares'), ('HA',)),
    'os': (('InClusterUpgrade',), ('InClusterUpgrade',)),
    'ha': ((), ('OptimalForHaReservation',)),
    'huge': (('HugePages', 'Memory'), ()),
    'swap': (('Swap',), ()),
    'networks': (('Network',), ()),
    'hooks': (('Host-hooks',), ()),
    'tsc': (('Migration-Tsc-Frequency',), ()),
    'addresses': (('Migration',), ()),
    'types': ((), ('CPU for high performance VMs',)),
    'exclusive': (('CPU',), ('CPU for high performance VMs',)),
    'groups': (('VmAffinityGroups', 'VmToHostsAffinityGroups'), ('VmAffinityGroups', 'VmToHostsAffinityGroups')),
}


class Maker:
    def __init__(self, seed):
        self.dice = random.Random(seed)
        self.has = set(self.dice.sample(FEATURES, self.dice.choice((0, 1, 2, 3, 4, 6))))
        if self.chance(0.35):
            self.has.add('groups')

    def chance(self, probability):
        return self.dice.random() < probability

    def some(self, values, probability=0.5):
        return [value for value in values if self.chance(probability)]

    # ---- hosts ----

    def host(self, n):
        dice, has = self.dice, self.has
        sockets, per_socket, per_core = dice.choice((1, 2, 2, 4)), dice.choice((2, 4, 4, 8)), dice.choice((1, 1, 2))
        physical = dice.choice((4096, 8192, 16384, 32768, 32769))
        free = dice.randint(0, physical) if self.chance(0.3) else dice.randint(physical // 2, physical)
        host = {'id': f'h{n}', 'status': 'up', 'sockets': sockets, 'cores': sockets * per_socket, 'threads': sockets * per_socket * per_core,
                'cpu_percent': dice.choice((0, 3, 10, 15, 20, 25, 33, 40, 55, 63, 64, 70, 80, 91, 100)), 'physical_mb': physical,
                'committed_mb': physical - free, 'reserved_mb': dice.choice((0, 0, 256, 321)), 'mem_free_mb': free,
                'over_s': dice.choice((None, None, 0, 59, 60, 119, 120, 120, 300, 301, 301)), 'networks': {'ovirtmgmt': True}}
        if 'equal' in has and self.first:
            host.update({key: self.first[key] for key in ('sockets', 'cores', 'threads', 'cpu_percent', 'physical_mb', 'committed_mb',
                                                          'reserved_mb', 'mem_free_mb', 'over_s')})
        self.first = self.first or dict(host)
        self.add_cpus(host)
        self.add_memory(host)
        self.add_platform(host)
        if 'missing' in has:
            for key in ('sockets', 'cores', 'threads', 'cpu_percent', 'mem_free_mb', 'cpus', 'swap_free_mb'):
                if self.chance(0.07):
                    host[key] = dice.choice((None, 0)) if key in ('sockets', 'cores', 'threads') else None
        if self.chance(0.08):
            host['status'] = dice.choice(('maintenance', 'down', 'non_responsive', 'connecting'))
        if 'power' in has:
            host.update(power_management=self.chance(0.8), automatic_power=self.chance(0.8), parked_by_policy=self.chance(0.8),
                        external_status=dice.choice(('ok', 'ok', 'ok', 'warning', 'error')))
            if self.chance(0.3):
                host['status'] = dice.choice(('maintenance', 'maintenance', 'down'))
        return host

    def add_cpus(self, host):
        numbers = list(range(host['threads']))
        host['online_cpus'] = [n for n in numbers if not self.chance(0.05)] if 'pins' in self.has else numbers
        if 'per_cpu' in self.has and self.chance(0.8):
            idle = self.chance(0.15)
            host['cpus'] = [{'id': n, 'percent': 0 if idle else self.dice.choice((0, 5, 20, 50, 80, 100, None))} for n in numbers]
        if 'exclusive' in self.has:
            most = len(numbers) if self.chance(0.1) else len(numbers) // 2
            host['exclusive_cpus'] = sorted(self.dice.sample(numbers, self.dice.randint(0, most)))

    def add_memory(self, host):
        dice = self.dice
        if 'swap' in self.has:
            total = dice.choice((0, 1024, 4096))
            host.update(swap_total_mb=total, swap_free_mb=dice.choice((0, total // 2, total)))
            if self.chance(0.2):
                host['mem_free_mb'] = dice.choice((0, 10, 100))
        if 'huge' in self.has:
            host['huge_free'] = {str(size): dice.choice((0, 1, 2, 512, 1024, 4096)) for size in self.some(PAGE_KB, 0.8)}
        if 'numa' in self.has and self.chance(0.8):
            count = 2
            numbers, half, turns = list(range(host['threads'])), host['threads'] // 2, self.chance(0.7)
            host['numa'] = [{'id': n, 'mem_mb': host['physical_mb'] // count, 'free_mb': dice.randint(0, host['physical_mb'] // count) if self.chance(0.3) else host['physical_mb'] // count,
                             'cpus': numbers[n::count] if turns else numbers[n * half:(n + 1) * half]} for n in range(count)]

    def add_platform(self, host):
        dice, has, number = self.dice, self.has, int(host['id'][1:])
        host.update(name=f'node{number}', address=f'10.0.0.{number + 1}', emulated_machines=['q35-8.4', 'q35-8.6'], cpu_maker='Intel', cpu_level=6,
                    cpu_flags=['vmx', 'aes', 'avx'], compatibility_versions=['4.5', '4.6', '4.7'], spm=number == self.spm)
        if 'addresses' in has:
            host['name'] = dice.choice((host['name'], host['name'], 'node0'))
            host['address'] = dice.choice((host['address'], host['address'], '10.0.0.1', '127.0.0.1', '::1', 'localhost'))
        if 'networks' in has:
            host['networks'].update({name: self.chance(0.7) for name in self.some(('red', 'blue'), 0.8)})
            host['free_vfs'] = {name: dice.randint(0, 2) for name in self.some(('red', 'blue'), 0.7)}
        if 'machines' in has:
            host['emulated_machines'] = dice.choice((host['emulated_machines'], ['q35-8.4'], ['q35-8.6'], [], None))
        if 'engine' in has:
            host.update(he_score=dice.choice((None, 0, 800, 801, 2600, 3000, 3000, 3400, 3400, 3400)), he_local_maintenance=self.chance(0.15))
        if 'tsc' in has:
            host.update(tsc_hz=dice.choice((2500000000, 2500600000, 2500625000, 2500625001, 2600000000, None)), tsc_scaling=self.chance(0.3))
        if 'hooks' in has:
            host['hooks'] = self.some(('50_vhostmd', '20_other'), 0.7)
        if 'versions' in has:
            host['compatibility_versions'] = self.some(('4.3', '4.6', '4.7'), 0.85)
        if 'levels' in has:
            host.update(cpu_maker=dice.choice(('Intel',) * 5 + ('AMD',)), cpu_level=dice.choice((3, 5, 6, 6, 6, None)),
                        cpu_flags=self.some(('vmx', 'aes', 'avx'), 0.8))
        if 'devices' in has:
            host.update(device_passthrough=self.chance(0.7), free_devices=self.some(('pci_1', 'usb_1'), 0.7))
        if 'vgpus' in has:
            host['vgpus'] = {kind: dice.randint(0, 3) for kind in self.some(('nvidia-11', 'nvidia-18'), 0.9)}
        if 'leases' in has:
            host['lease_domains'] = dice.choice((None, *2 * ({'sd1': True, 'sd2': True},), {'sd1': True, 'sd2': False}, {'sd1': False, 'sd2': True}))
        if 'os' in has:
            host['os'] = dice.choice(OS)
        if 'counts' in has and self.chance(0.5):
            host['active_vms'] = dice.randint(0, 12)

    # ---- VMs ----

    def vm(self, n, hosts):
        dice, has = self.dice, self.has
        vm = {'id': f'v{n}', 'mem_mb': dice.choice((128, 256, 512, 1000, 1024, 2048, 4096, 6001)), 'sockets': dice.choice((1, 1, 1, 2)),
              'cores': dice.choice((1, 1, 1, 2, 4)), 'threads': dice.choice((1, 1, 1, 2)), 'video_mb': dice.choice((0, 16, 32)),
              'io_threads': dice.choice((0, 1, 2))}
        if self.chance(0.8):
            vm.update(host=dice.choice(hosts)['id'], cpu_percent=dice.choice((0, 1, 5, 10, 20, 33, 50, 100)),
                      status=dice.choice(('up',) * 12 + ('paused', 'powering_up')))
        vm['affinity'] = dice.choice(('migratable',) * 8 + ('user_migratable',))
        if self.chance(0.15):
            vm['hosts'] = self.some([h['id'] for h in hosts], 0.4)
        self.add_cpu_wishes(vm, hosts)
        self.add_wishes(vm, hosts)
        return vm

    def add_cpu_wishes(self, vm, hosts):
        dice, has = self.dice, self.has
        if 'pins' in has and self.chance(0.4):
            vm['affinity'] = dice.choice(('pinned', 'migratable'))
            if vm['affinity'] == 'pinned' and self.chance(0.7):
                vm['hosts'] = self.some([h['id'] for h in hosts], 0.6)
            if self.chance(0.4):
                vm.update(cpu_policy='manual', pinning={str(n): [dice.randint(0, 4)] for n in range(vm['sockets'] * vm['cores'] * vm['threads'])})
        if 'exclusive' in has and self.chance(0.3):
            vm['cpu_policy'] = dice.choice(('dedicated', 'dedicated', 'resize_and_pin'))
            vm['pinning'] = {}
        if 'numa' in has and self.chance(0.4):
            count = dice.choice((1, 2))
            total = vm['sockets'] * vm['cores'] * vm['threads']
            vm['vnuma'] = [{'mem_mb': vm['mem_mb'] // count, 'vcpus': list(range(total))[n::count], 'host_node': dice.choice((None, 0, 1))}
                           for n in range(count)]
            if self.chance(0.5):
                vm['pinning'] = {str(n): [dice.choice((0, 1, 1, 2))] for n in range(total)}
            vm['numa_mode'] = dice.choice(('strict', 'strict', 'preferred'))
        if 'levels' in has and self.chance(0.5):
            vm['cpu'] = dice.choice(({'passthrough': True, 'flags': ['vmx', 'aes']},) + ({'maker': 'Intel', 'level': 5},) * 4
                                    + ({'maker': 'AMD', 'level': 3}, {'maker': 'Intel', 'level': None}))
        if 'types' in has:
            vm['type'] = dice.choice(('server', 'desktop', 'high_performance'))

    def add_wishes(self, vm, hosts):
        dice, has = self.dice, self.has
        if 'huge' in has and self.chance(0.5):
            vm['huge_page_kb'] = dice.choice(PAGE_KB)
        if 'networks' in has:
            vm['nics'] = [{'network': dice.choice(('ovirtmgmt', 'red', 'blue', None)), 'plugged': self.chance(0.8),
                           'passthrough': self.chance(0.2)} for _ in range(dice.randint(0, 3))]
        if 'machines' in has:
            vm['emulated_machine'] = dice.choice((None, 'q35-8.4', 'q35-8.6'))
        if 'tsc' in has and self.chance(0.5):
            vm['tsc_hz'] = 2500000000
        if 'hooks' in has and self.chance(0.5):
            vm['custom_properties'] = {'sap_agent': dice.choice(('true', 'false'))}
        if 'versions' in has:
            vm['compatibility_version'] = dice.choice((None, '4.3', '4.6', '4.7'))
        if 'devices' in has and self.chance(0.3):
            vm['host_devices'] = self.some(({'name': 'pci_1', 'pci': True}, {'name': 'usb_1', 'pci': False}))
            vm['hosts'] = [dice.choice(hosts)['id']] if self.chance(0.8) else vm.get('hosts', [])
        if 'vgpus' in has and self.chance(0.5):
            vm['vgpus'] = [dice.choice(('nvidia-11', 'nvidia-18')) for _ in range(dice.randint(1, 2))]
        if 'leases' in has:
            vm['lease_domain'] = dice.choice((None, 'sd1', 'sd2'))
        if 'ha' in has:
            vm['ha'] = self.chance(0.5)

    # ---- groups ----

    def group(self, n, hosts, vms):
        dice = self.dice
        group = {'id': f'g{n}', 'priority': dice.choice((1, 1, 1.5, 2)), 'vms': dice.sample(vms, min(len(vms), dice.randint(1, 4))),
                 'hosts': self.some(hosts, 0.4),
                 'vms_rule': {'enabled': self.chance(0.8), 'positive': self.chance(0.5), 'enforcing': self.chance(0.4)}}
        if 'labels' in self.has:
            group.update(vm_labels=self.some(('l0', 'l1'), 0.2), host_labels=self.some(('l0', 'l1'), 0.2))
        if group['hosts']:
            group['hosts_rule'] = {'enabled': self.chance(0.7), 'positive': self.chance(0.5), 'enforcing': self.chance(0.4)}
        return group

    def label(self, n, hosts, vms):
        return {'id': f'l{n}', 'vms': self.some(vms, 0.15), 'hosts': self.some(hosts, 0.7) or hosts[:1]}

    # ---- the cluster ----

    def cluster(self):
        dice, has = self.dice, self.has
        count = dice.choice((1, 2, 3, 4, 5, 6, 6, 8, 8, 12))
        self.spm, self.first = dice.randrange(count + 2), None
        hosts = [self.host(n) for n in range(count)]
        running_on = [h for h in hosts if h['status'] == 'up'] or hosts
        vms = [self.vm(n, running_on) for n in range(dice.randint(1, count if 'power' in has else 4 * count))]
        if 'engine' in has:
            dice.choice(vms).update(engine=True, mem_mb=dice.choice((2048, 4096, 8192)))
        up = [h['id'] for h in running_on]
        pending = []
        if 'pending' in has:
            for vm in self.some([v for v in vms if v.get('status') in (None, 'up')], 0.15):
                pending.append(self.pending(vm, dice.choice(up)))
        names, host_names = [v['id'] for v in vms], [h['id'] for h in hosts]
        return {'overcommit_percent': dice.choice((100, 100, 150, 200)), 'threads_as_cores': self.chance(0.4),
                'architecture': dice.choice(('x86_64', 'x86_64', 'x86_64', 'ppc64')), 'level': dice.choice(('4.3', '4.7', '4.7')),
                'ha_reservation': self.chance(0.8), 'display_network': dice.choice((None, 'ovirtmgmt', 'red')) if 'networks' in has else None,
                'optimisation': dice.choice(('none', 'none', 'none', 'speed')), 'upgrading': self.chance(0.1),
                'data_age_s': dice.choice((0, 2, 5, 30)), 'hosts': hosts, 'vms': vms, 'pending': pending,
                'groups': [self.group(n, host_names, names) for n in range(dice.randint(1, 5))] if 'groups' in has else [],
                'labels': [self.label(n, host_names, names) for n in range(2)] if 'labels' in has else []}

    def pending(self, vm, host):
        record = {'vm': vm['id'], 'host': host}
        if vm.get('host'):
            vm.update(status='migrating', migrating_to=host)
        if vm.get('cpu_policy') == 'dedicated':
            record['exclusive_cpus'] = list(range(vm['sockets'] * vm['cores'] * vm['threads']))
        for node in vm.get('vnuma', ()):
            if node['host_node'] is not None:
                numa = record.setdefault('numa', {})
                numa[str(node['host_node'])] = numa.get(str(node['host_node']), 0) + node['mem_mb']
        return record

    # ---- policies and requests ----

    def units(self, known, kind, count):
        wanted = [unit for name in sorted(self.has & set(UNITS_OF)) for unit in UNITS_OF[name][kind]]
        return list(dict.fromkeys(self.some(wanted, 0.8) + self.dice.sample(list(known), count)))

    def policy(self):
        dice = self.dice
        policies = built_in()
        policy = policies['power_saving'] if 'power' in self.has and self.chance(0.5) else dice.choice(list(policies.values()))
        if self.chance(0.6):  # one of its own
            policy = {'filters': [{'unit': unit, 'position': 0} for unit in self.units(FILTERS, 0, dice.randint(0, 5))],
                      'weights': [{'unit': unit, 'factor': dice.choice((0, 1, 1, 2, 5, 99))}
                                  for unit in self.units(WEIGHTS, 1, dice.randint(0, len(WEIGHTS)))],
                      'balance': dice.choice(list(UUIDS['balance'])), 'selector': dice.choice(list(UUIDS['selector'])), 'parameters': {}}
            for place, entry in zip((-1, 1), dice.sample(policy['filters'], min(2, len(policy['filters'])))):
                entry['position'] = place
        belong = sorted({name for unit in units_of(policy) for name in PARAMETERS.get(unit, ())})
        policy['parameters'] = {**policy['parameters'], **{name: dice.choice(VALUES[name]) for name in self.some(belong, 0.4)}}
        if 'engine' in self.has and 'HeSparesCount' in belong:
            policy['parameters']['HeSparesCount'] = dice.choice(VALUES['HeSparesCount'])
        if 'power' in self.has and 'HostsInReserve' in belong:
            policy['parameters'].update(EnableAutomaticHostPowerManagement='true', HostsInReserve=dice.choice(VALUES['HostsInReserve']))
        return policy

    def request(self, cluster):
        dice = self.dice
        kinds = ['schedule'] * 5 + ['balance'] * 2 + ['affinity'] * 3 * bool(cluster['groups']) + ['balance'] * 5 * ('power' in self.has)
        kind = dice.choice(kinds)
        if kind != 'schedule':
            return {'kind': kind}
        free = [v['id'] for v in cluster['vms'] if all(p['vm'] != v['id'] for p in cluster['pending'])]
        if not free:
            return {'kind': 'balance'}
        hosts = [h['id'] for h in cluster['hosts']]
        request = {'kind': kind, 'vms': dice.sample(free, min(len(free), dice.choice((1, 1, 1, 1, 2, 3))))}
        if self.chance(0.5):  # a VM with many wishes
            known = {v['id']: v for v in cluster['vms']}
            request['vms'] = [max(free, key=lambda name: (known[name].get('engine', False), len(known[name])))]
        groups = [g['vms'] for g in cluster['groups'] if set(g['vms']) <= set(free)]
        if groups and self.chance(0.3):
            request['vms'] = dice.choice(groups)
        for name, probability in (('black_list', 0.2), ('white_list', 0.15), ('wished_hosts', 0.2)):
            if self.chance(probability):
                request[name] = self.some(hosts, 0.5)
        if self.chance(0.3):
            sources = [v['host'] for v in cluster['vms'] if v['id'] in request['vms'] and v.get('host')]
            request['black_list'] = sorted(set(request.get('black_list', []) + sources))
        if self.chance(0.2):
            request['waiting'] = dice.choice((0, 10, 11, 50))
        return request


def question(seed):
    maker = Maker(seed)
    cluster = maker.cluster()
    return {'seed': seed, 'cluster': cluster, 'policy': maker.policy(), 'request': maker.request(cluster)}


if __name__ == '__main__':
    first, count = (int(word) for word in (sys.argv[1:] + ['1', '1'][len(sys.argv) - 1:])[:2])
    for number in range(first, first + count):
        print(json.dumps(question(number)))
