#!/usr/bin/env python3
"""Clouds of oVirt on the command line: the example, policies of one's own and what is refused in them, and the placement by
`ballast place --pipeline ovirt`. The rows O6, O13 and O14 of src/dialect/ovirt/README.md; tests/property/ovirt.py has the units."""
import copy
import json

from command import TOP, check, end, run

MIB = 1 << 20
EVEN, GUESTS, BASIC = 'evenly_distributed', 'vm_evenly_distributed', '0c89f215-9c4f-4bbb-8419-31a2d43ae7ea'
GROUPS, GROUPS_WEIGHT = '84e6ddee-ab0d-42dd-82f0-c297779db566', '84e6ddee-ab0d-42dd-82f0-c297779db567'
CPU, MEMORY, CPU_EVEN, NONE = ('6d636bf6-a35c-4f9d-b68d-0731f720cddc', 'c9ddbb34-0e1d-4061-a8d7-b0893fa80932', '7db4ab05-81ab-42e8-868a-aee2df483edb',
                               '38440000-8cf0-14bd-c43e-10b96e4ef00a')


def host(name, use=0, **more):
    return {'id': name, 'status': 'up', 'memory': 65536 * MIB, 'max_scheduling_memory': 60000 * MIB, 'cpu': {'topology': {'sockets': 1, 'cores': 8, 'threads': 1}},
            'statistics': [{'name': 'memory.free', 'values': [{'datum': 60000 * MIB}]}, {'name': 'cpu.current.user', 'values': [{'datum': use}]},
                           {'name': 'cpu.current.system', 'values': [{'datum': 0}]}], **more}


def vm(name, at=None, **more):
    return {'id': name, 'status': 'up' if at else 'down', 'memory': 1024 * MIB, **({'host': {'id': at}} if at else {}), **more}


def cloud(policy=None, policies=(), hosts=(), vms=(), **cluster):
    return {'dialect': 'ovirt', 'clusters': [{'id': 'c', **({'scheduling_policy': {'id': policy}} if policy else {}), **cluster}],
            'scheduling_policies': list(policies), 'hosts': list(hosts) or [host('a', 40), host('b', 60)], 'vms': list(vms) or [vm('v')]}


def refused(what, of, pointer, part=''):
    done = run('fit', 'check', '-', stdin=json.dumps(of))
    check(what, done.returncode == 2 and f'-: {pointer}: ' in done.stderr and part in done.stderr and done.stderr.count('\n') == 1 and not done.stdout, f'{done.returncode} {done.stderr}')


def stages(of, name='start in c'):
    done = run('fit', 'compile', '-', stdin=json.dumps(of))
    check('fit compile', done.returncode == 0, done.stderr)
    found = [p['stages'] for p in json.loads(done.stdout or '{"pipelines": []}')['pipelines'] if p['name'] == name]
    return found[0] if found else []


def place(of, *names):
    done = run('place', '--pipeline', 'ovirt', '--cloud', '-', *names, '--format', 'json', stdin=json.dumps(of))
    there = {r['vm']: r['to'] for r in json.loads(done.stdout or '{}').get('recommendations', [])}
    return [there.get(n) for n in names]


def expect(what, got, wanted):
    check(what, got == wanted, f'{got}, expected {wanted}')


def test_example():
    """Policies as REST has them (O16), from a file."""
    path = str(TOP / 'conf/examples/ovirt.json')
    expect('the example', run('fit', 'check', path).stdout, 'ok: hosts 3, VMs 3, groups 1, pipelines 2\n')
    done = run('place', '--pipeline', 'ovirt', '--cloud', path, 'db-1', 'web-1')
    check('its VMs', done.returncode == 0 and 'kvm2' in done.stdout, done.stdout + done.stderr)


def test_O6_built_in():
    """Factors, limits and order of the five built-in policies; the default one; overrides of a cluster."""
    def factors(policy, **cluster):
        return {s['name']: s['multiplier'] for s in stages(cloud(policy, **cluster)) if 'multiplier' in s}
    even = {'OptimalForCpuEvenDistribution': 2, 'OptimalForMemoryEvenDistribution': 1}
    for policy, wanted in ((None, even), ('none', even), ('cluster_maintenance', even), ('20d25257-b4bd-4589-92a6-c4c5c5d3fd1a', even),
                           ('power_saving', {'OptimalForCpuPowerSaving': 2, 'OptimalForMemoryPowerSaving': 1}), (GUESTS, {'OptimalForEvenGuestDistribution': 2})):
        expect(f'factors of {policy}', factors(policy), wanted)
    groups = {'affinity_groups': [{'id': 'g', 'vms': ['v'], 'hosts': ['a'], 'vms_rule': {'enabled': True}, 'hosts_rule': {'enabled': True}}]}
    of = {**cloud(vms=[vm('v', high_availability={'enabled': True}, type='high_performance', cpu={'topology': {'sockets': 9}}, placement_policy={'affinity': 'migratable', 'hosts': ['a']}),
                       vm('engine', 'a', origin='hosted_engine')], ha_reservation=True), **groups}
    expect('all factors', {s['name']: s['multiplier'] for s in stages(of) if 'multiplier' in s},
           {**even, 'PreferredHosts': 99, 'HA weight': 1, 'OptimalForHaReservation': 1, 'VmAffinityGroups weight': 1, 'VmToHostsAffinityGroups weight': 20, 'CPU for high performance VMs': 4})
    expect('filters in order', [s['name'] for s in stages(cloud('none', vms=[vm('v', custom_emulated_machine='m')])) if 'filter' in s], ['CPU', 'CPUOverloaded', 'Emulated-Machine', 'Swap', 'Memory'])
    expect('cluster_maintenance', [s['name'] for s in stages(cloud('cluster_maintenance')) if 'filter' in s][0], 'ClusterInMaintenance')
    overridden = stages(cloud('none', custom_scheduling_policy_properties={'property': [{'name': 'HighUtilization', 'value': 55}]}))
    check('an override', '"$host.attributes.load", 55' in json.dumps(overridden), json.dumps(overridden)[:2000])
    check('the limit', '"$host.attributes.load", 80' in json.dumps(stages(cloud('none'))))


def test_O6_own():
    own = {'name': 'own', 'filters': [{'id': MEMORY, 'position': 1}, {'id': CPU}], 'weights': [{'id': CPU_EVEN, 'factor': 7}]}
    made = stages(cloud('own', [own]))
    expect('filters: those without an order before the last', [s['name'] for s in made if 'filter' in s], ['CPU', 'Memory'])
    expect('a factor', [s['multiplier'] for s in made if 'multiplier' in s], [7])
    clone = {'id': 'x', 'name': 'copy', 'clone_of': EVEN, 'properties': [{'name': 'HighUtilization', 'value': '60'}]}
    check('a clone', '"$host.attributes.load", 60' in json.dumps(stages(cloud('copy', [clone]))))
    check('by its id', '"$host.attributes.load", 60' in json.dumps(stages(cloud('x', [clone]))))
    check('the default policy', '"$host.attributes.load", 60' in json.dumps(stages(cloud(None, [{**clone, 'default_policy': True}]))))
    expect('the basic selector', {s['normalise'] for s in stages(cloud('own', [{**own, 'selector': BASIC}])) if 'multiplier' in s}, {'none'})
    two = cloud('own', [own])
    two['clusters'].append({'id': 'd', 'scheduling_policy': {'id': 'own'}, 'custom_scheduling_policy_properties': []})
    two['hosts'] = [host('a', cluster={'id': 'c'}), host('b', cluster={'id': 'd'})]
    two['vms'] = [vm('v', cluster={'id': 'd'})]
    expect('two clusters with one policy', place(two, 'v'), ['b'])
    units = [{'id': 'f', 'name': 'Mine', 'type': 'filter'}, {'id': 'w', 'name': 'Heavy', 'type': 'weight'}, {'id': 'o', 'name': 'Off', 'type': 'filter', 'enabled': False}]
    more = {**own, 'filters': [{'id': 'o'}, {'id': 'f'}, *own['filters']], 'weights': [{'id': 'w', 'factor': 2}]}
    made = stages({**cloud('own', [more]), 'scheduling_policy_units': units})
    expect('external filters last', [s['name'] for s in made if 'filter' in s], ['CPU', 'Memory', 'Mine'])
    expect('an external weight', [(s['external'], s['multiplier']) for s in made if 'multiplier' in s], [('Heavy', 2)])


def test_O6_refused():
    """Also of the balance (O4), which is read and checked only."""
    own = {'name': 'own', 'filters': [{'id': CPU}], 'weights': [{'id': CPU_EVEN}], 'properties': []}
    for what, change, pointer, part in (
            ('a name in use', {'name': 'none'}, '/name', 'in use'), ('no such policy', {'clone_of': 'other'}, '/clone_of', 'no policy "other"'),
            ('an unknown unit', {'filters': [{'id': 'x'}]}, '/filters/0/id', '"x" is no unit of the type filter'), ('another type', {'filters': [{'id': CPU_EVEN}]}, '/filters/0/id', 'type filter'),
            ('a filter as a weight', {'weights': [{'id': GROUPS}]}, '/weights/0/id', 'type weight'), ('a weight as a filter', {'filters': [{'id': GROUPS_WEIGHT}]}, '/filters/0/id', 'type filter'),
            ('twice', {'filters': [{'id': CPU}, {'id': CPU}]}, '/filters/1/id', 'twice'),
            ('two first', {'filters': [{'id': CPU, 'position': -1}, {'id': MEMORY, 'position': -1}]}, '/filters/1/position', '-1 is taken'),
            ('a factor', {'weights': [{'id': CPU_EVEN, 'factor': -1}]}, '/weights/0/factor', ''), ('half a factor', {'weights': [{'id': CPU_EVEN, 'factor': 1.5}]}, '/weights/0', 'whole number'),
            ('two balances', {'balances': [{'id': NONE}, {'id': NONE}]}, '/balances', 'one at most'), ('a selector', {'selector': 'best'}, '/selector', '(rank)'),
            ('a property of no unit', {'properties': [{'name': 'HeSparesCount', 'value': '1'}]}, '/properties/0/name', 'no unit of the policy'),
            ('a ratio', {'properties': [{'name': 'VCpuToPhysicalCpuRatio', 'value': '3'}]}, '/properties/0/value', '[0-2](\\.[0-9]+)?'),
            ('a property twice', {'properties': [{'name': 'VCpuToPhysicalCpuRatio', 'value': '1'}, {'name': 'VCpuToPhysicalCpuRatio', 'value': '2'}]}, '/properties/1/name', 'twice')):
        refused(what, cloud('own', [{**own, **change}]), f'/scheduling_policies/0{pointer}', part)
    for name, good, bad in (('HighUtilization', '50', '49'), ('LowUtilization', '49', '50'), ('CpuOverCommitDurationMinutes', '1', '0'), ('MaxFreeMemoryForOverUtilized', '10', '-1'),
                            ('MinFreeMemoryForUnderUtilized', '10', '0'), ('HostsInReserve', '0', 'x'), ('EnableAutomaticHostPowerManagement', 'true', 'yes'), ('HeSparesCount', '0', ''),
                            ('MaximumAllowedSwapUsage', '199', '200'), ('ScaleDown', '100', '101')):
        for value, right in ((good, True), (bad, False), (good + '\n', False)):
            of = cloud('copy', [{'name': 'copy', 'clone_of': 'power_saving', 'properties': [{'name': name, 'value': value}]}])
            expect(f'{name} {value!r}', run('fit', 'check', '-', stdin=json.dumps(of)).returncode, 0 if right else 2)
    for name, good, bad in (('HighVmCount', '0', '00'), ('SpmVmGrace', '10', 'a'), ('MigrationThreshold', '2', '1')):
        for value, right in ((good, True), (bad, False)):
            of = cloud('copy', [{'name': 'copy', 'clone_of': GUESTS, 'properties': [{'name': name, 'value': value}]}])
            expect(f'{name} {value}', run('fit', 'check', '-', stdin=json.dumps(of)).returncode, 0 if right else 2)
    two = [{'name': n, 'clone_of': 'none', 'default_policy': True} for n in 'xy']
    refused('two defaults', cloud(None, two), '/scheduling_policies', '2 have default_policy')
    refused('no such policy', cloud('other'), '/clusters/0/scheduling_policy/id', '"other"')
    refused('an override', cloud('none', custom_scheduling_policy_properties=[{'name': 'ScaleDown', 'value': '0'}]), '/clusters/0/custom_scheduling_policy_properties/0/value')


def test_refused():
    refused('no cluster', {'dialect': 'ovirt'}, '/clusters', 'missing')
    refused('a member', {**cloud(), 'servers': []}, '/servers', 'no member')
    refused('a member within members', cloud(hosts=[host('a', cpu={'topology': {'sockets': -1}})]), '/hosts/0/cpu/topology/sockets')
    refused('an id twice', cloud(hosts=[host('a'), host('a')]), '/hosts/1/id', 'twice')
    refused('a host', cloud(vms=[vm('v', 'x')]), '/vms/0/host/id', '"x" is not there')
    refused('no host', cloud(vms=[vm('v', status='up')]), '/vms/0/host', 'missing')
    refused('a host of one that is down', cloud(vms=[vm('v', 'a', status='down')]), '/vms/0/host', 'given')
    refused('memory', cloud(vms=[vm('v', memory=0)]), '/vms/0/memory', 'bytes')
    two = copy.deepcopy(cloud())
    two['clusters'].append({'id': 'd'})
    refused('which cluster', two, '/hosts/0/cluster', 'missing')


def test_O13_O14_place():
    """VMs that are placed together see one another; there is no lock to wait for (O15)."""
    expect('the least load', place(cloud(EVEN), 'v'), ['a'])
    expect('power saving fills', place(cloud('power_saving'), 'v'), ['b'])
    several = [vm(n, memory=20000 * MIB) for n in 'vwxyz']
    expect('each sees those before it', sorted(place(cloud(GUESTS, hosts=[host('a'), host('b')], vms=several[:4]), 'v', 'w', 'x', 'y')), ['a', 'a', 'b', 'b'])
    full = cloud('none', hosts=[host('a', max_scheduling_memory=41000 * MIB)], vms=several)
    expect('pending memory counts', [h is None for h in place(full, 'v', 'w', 'x')].count(True), 1)
    done = run('place', '--pipeline', 'ovirt', '--cloud', '-', 'v', stdin=json.dumps(cloud('none', vms=[vm('v', memory=70000 * MIB)])))
    check('no host: the filter is named', done.returncode == 1 and 'Memory' in done.stdout, done.stdout + done.stderr)
    for words in (('v',), ('--cloud', '-'), ('--cloud', '-', 'v', '--request', 'x')):
        done = run('place', '--pipeline', 'ovirt', *words)
        check(f'{words}', done.returncode == 2 and '--pipeline ovirt takes --cloud PATH and VM...' in done.stderr, done.stderr)


def test_O1_words():
    """The engine's sentence and ours for each host that refuses a VM, when those before it are placed."""
    hosts = [host('full', 95, cpu_threshold_seconds=300), host('far', networks=['green']), host('small', max_scheduling_memory=1200 * MIB, networks=['red', 'blue']),
             host('down', status='maintenance')]
    nics = [{'network': n} for n in ('red', 'green', 'blue')]
    of = cloud('none', hosts=hosts, vms=[vm('v', nics=nics[:1] + nics[2:]), vm('w', nics=nics[:1])])
    done = run('place', '--pipeline', 'ovirt', '--cloud', '-', 'v', 'w', stdin=json.dumps(of))
    head = 'Cannot run VM. There is no host that satisfies current scheduling constraints. See below for details:\n'
    wanted = ['The host far did not satisfy internal filter Network because network(s) red are missing.',
              'The host full did not satisfy internal filter CPUOverloaded because its CPU is too loaded.',
              'The host small did not satisfy internal filter Memory because its available memory is too low (102 MB) to run the VM.']
    check('the text', done.returncode == 1 and done.stdout.count(head) == 1 and '\n'.join(wanted) in done.stdout, done.stdout + done.stderr)
    done = run('place', '--pipeline', 'ovirt', '--cloud', '-', 'v', 'w', '--format', 'json', stdin=json.dumps(of))
    told = json.loads(done.stdout or '{}').get('refused', [])
    expect('as JSON', [r['words'] for r in told], wanted)
    expect('hosts and stages', [(r['host'], r['stage']) for r in told], [('far', 'Network'), ('full', 'CPUOverloaded'), ('small', 'Memory')])
    check('our sentence', all(f'refuses {r["host"]} to {r["vm"]}' in r['text'] for r in told), str(told))
    snapshot = run('fit', 'compile', '-', stdin=json.dumps(of)).stdout
    told = {c['host']: c for c in json.loads(run('explain', '--snapshot', '-', '--vm', 'v', '--format', 'json', stdin=snapshot).stdout)['candidates']}
    wanted = [wanted[0].replace('red', 'red, blue'), wanted[1], None]  # of v
    expect('explain', [told[h].get('words') for h in ('far', 'full', 'down')], wanted)
    expect('explain, the rest', told['far']['filter']['expression'] and told['far']['check'], 'fit_filter')
    text = ' '.join(run('explain', '--snapshot', '-', '--vm', 'v', stdin=snapshot).stdout.split())
    check('explain, as text', all(f'In the words of oVirt: {words}' in text for words in wanted[:2]), text)
    groups = [{'id': 'g', 'vms': ['v', 'w'], 'vms_rule': {'enabled': True, 'positive': False, 'enforcing': True}}]
    for what, more, words in (('pinned', {'vms': [vm('v', placement_policy={'affinity': 'pinned', 'hosts': [{'id': 'down'}]})]}, 'PinToHost because the host is not present in the pinning list.'),
                              ('apart', {'vms': [vm('v'), vm('w', 'a')], 'affinity_groups': groups}, 'VmAffinityGroups because it matched negative affinity rules.'),
                              ('swap', {'swap': 1}, 'Swap because it is swapping too much.'),
                              ('no words', {'vms': [vm('v', custom_emulated_machine='m')]}, 'Emulated-Machine.')):
        one = host('a')
        if more.pop('swap', 0):
            one['statistics'] += [{'name': 'swap.total', 'values': [{'datum': 70000 * MIB}]}, {'name': 'swap.free', 'values': [{'datum': 0}]}]
        done = run('place', '--pipeline', 'ovirt', '--cloud', '-', 'v', stdin=json.dumps({**cloud('none', hosts=[one, host('down', status='maintenance')]), **more}))
        check(what, f'The host a did not satisfy internal filter {words}' in done.stdout, done.stdout + done.stderr)
    done = run('place', '--pipeline', 'ovirt', '--cloud', '-', 'v', stdin=json.dumps(cloud('none', hosts=[host('a', status='maintenance')])))
    check('no host', 'There are no hosts to use. Check that the cluster contains at least one host in Up state.' in done.stdout, done.stdout + done.stderr)


def test_positive_groups():
    """VMs of a hard positive group start as a sum, where all have room; of running ones that are apart, one joins the others."""
    groups = [{'id': 'g', 'vms': ['v', 'w'], 'vms_rule': {'enabled': True, 'positive': True, 'enforcing': True}}]
    hosts = [host('a', 10, max_scheduling_memory=2500 * MIB), host('b', 40, max_scheduling_memory=9000 * MIB)]
    of = {**cloud('none', hosts=hosts, vms=[vm('v', memory=2000 * MIB), vm('w', memory=2000 * MIB)]), 'affinity_groups': groups}
    expect('one would be on a', place(of, 'v'), ['a'])
    expect('both are on b', place(of, 'v', 'w'), ['b', 'b'])
    of['vms'][1]['host'], of['vms'][1]['status'] = {'id': 'b'}, 'up'
    expect('where the other one runs', place(of, 'v'), ['b'])
    of['vms'][0]['host'], of['vms'][0]['status'] = {'id': 'a'}, 'up'
    of['hosts'][0]['max_scheduling_memory'] = 1000 * MIB
    for one in of['vms']:
        one['statistics'] = [{'name': 'cpu.current.total', 'values': [{'datum': 10}]}]
    snapshot = run('fit', 'compile', '-', stdin=json.dumps(of)).stdout
    plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=snapshot).stdout)
    expect('apart', [(r['vm'], r['to'], r['reason']) for r in plan['recommendations']], [('v', 'b', 'rule')])


def test_cost_table():
    """`explain` shows what each unit gives each host, and together; the VM starts on the host with most."""
    of = cloud('evenly_distributed', hosts=[host('a', 40), host('b', 10), host('c', 70), host('d', status='maintenance')], vms=[vm('v'), vm('w', 'b')])
    snapshot = run('fit', 'compile', '-', stdin=json.dumps(of)).stdout
    told = {c['host']: c for c in json.loads(run('explain', '--snapshot', '-', '--vm', 'v', '--format', 'json', stdin=snapshot).stdout)['candidates']}
    check('units of each host', all('OptimalForCpuEvenDistribution' in told[h]['scores'] for h in 'abc') and told['d']['scores'] == {} and told['d']['score'] is None, told)
    check('together', all(abs(sum(told[h]['scores'].values()) - told[h]['score']) < 1e-9 for h in 'abc'), told)
    expect('two points for each host with more load', [told[h]['scores']['OptimalForCpuEvenDistribution'] for h in 'abc'], [2, 4, 0])
    expect('the best', place(of, 'v'), [max('abc', key=lambda h: told[h]['score'])])
    text = run('explain', '--snapshot', '-', '--vm', 'v', stdin=snapshot).stdout
    check('as text, the best first', 'SCORE BY STAGE' in text and text.split('SCORE BY STAGE')[1].split()[:3] == ['b', 'a', 'c'] and 'together' in text, text)


for name, test in list(globals().items()):
    if name.startswith('test_'):
        test()
end()
