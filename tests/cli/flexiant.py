#!/usr/bin/env python3
"""Clouds of Flexiant by hand: each statement of its document, F1 to F15 of src/dialect/flexiant/README.md, with `ballast fit`, `place` and
`migrate`."""
import copy
import json

from command import TOP, check, end, run

GB = 1024


def key(name, value=None, weight=0, owner='system', **more):
    return {'name': name, 'owner': owner, 'weight': weight, **({} if value is None else {'value': value}), **more}


def own(name, value, weight):
    """A key of the customer."""
    return key(name, value, weight, 'customer')


def node(name, keys=(), **more):
    return {'id': name, 'cluster': 'c', 'state': 'running', 'ram_mb': 64 * GB, 'free_ram_mb': 60 * GB, 'cpus': 16, 'load': 0,
            'keys': [{'name': n, 'value': v, **(sticky if (sticky := more.get('sticky', {}).get(n)) else {})} for n, v in dict(keys).items()],
            **{k: v for k, v in more.items() if k != 'sticky'}}


def server(name, keys=(), at=None, **more):
    return {'id': name, 'vdc': 'v', 'ram_mb': GB, 'cpus': 1, 'keys': list(keys), **({'state': 'running', 'node': at} if at else {'state': 'stopped'}), **more}


def cloud(nodes, servers, **more):
    made = {'dialect': 'flexiant', 'clusters': [{'id': 'c'}], 'billing_entities': [{'id': 'master', 'master': True}, {'id': 'reseller'}],
            'customers': [{'id': 'x', 'billing_entity': 'reseller'}, {'id': 'other', 'billing_entity': 'master'}],
            'product_offers': [{'id': 'offer'}], 'images': [{'id': 'image', 'product_offer': 'offer'}], 'networks': [{'id': 'lan', 'product_offer': 'offer'}],
            'vdcs': [{'id': 'v', 'customer': 'x', 'cluster': 'c'}, {'id': 'w', 'customer': 'other', 'cluster': 'c'}], 'nodes': nodes, 'servers': servers}
    return {**made, **more}


def compiled(of):
    done = run('fit', 'compile', '-', stdin=json.dumps(of))
    if done.returncode:
        check('fit compile', False, done.stderr)
        return '{}'
    return done.stdout


def place(of, *names):
    """The nodes; None: a server has none."""
    done = run('place', '--snapshot', '-', *names, '--format', 'json', stdin=compiled(of))
    there = {r['vm']: r['to'] for r in json.loads(done.stdout or '{}').get('recommendations', [])}
    found = [there.get(n) for n in names]
    return found[0] if len(names) == 1 else found


def best(of, name):
    done = run('migrate', name, '--best', '--snapshot', '-', '--format', 'json', stdin=compiled(of))
    if done.returncode:
        return done.stderr
    moves = json.loads(done.stdout)['recommendations']
    return moves[0]['to'] if moves else 'stays'


def expect(what, got, wanted):
    check(what, got == wanted, f'{got}, expected {wanted}')


def refused(what, of, pointer, part=''):
    done = run('fit', 'check', '-', stdin=json.dumps(of))
    check(what, done.returncode == 2 and f'-: {pointer}: ' in done.stderr and part in done.stderr and not done.stdout, f'{done.returncode} {done.stderr}')


def nodes_by_key(**values):
    """A node for each value of its key KEY."""
    return [node(n, {'KEY': v}) for n, v in values.items()]


def test_F1_start_and_best_node():
    nodes = nodes_by_key(far=2, near=0)
    wants = [key('KEY', 0, 50)]
    expect('a start', place(cloud(nodes, [server('s', wants)]), 's'), 'near')
    expect('the best node is another', best(cloud(nodes, [server('s', wants, at='far')]), 's'), 'near')
    expect('the best node is its own', best(cloud(nodes, [server('s', wants, at='near')]), 's'), 'stays')
    lonely = [own('ROLE', 1, -50)]
    expect('its own keys do not drive it away', best(cloud([node('a'), node('b')], [server('s', lonely, at='a'), server('t', lonely, at='b')]), 's'), 'stays')
    full = [node('a', free_ram_mb=1536), node('b', free_ram_mb=1536)]
    expect('where it runs it needs no more memory', best(cloud(full, [server('s', at='a', ram_mb=2 * GB)]), 's'), 'stays')
    check('no node', 'no host may run s' in best(cloud([node('a', {'KEY': 0})], [server('s', [key('KEY', 0, -50)], at='a')]), 's'))
    check('one that is off', 'cannot be migrated' in best(cloud(nodes, [server('s')]), 's'))
    text = run('migrate', 's', '--best', '--snapshot', '-', stdin=compiled(cloud(nodes, [server('s', wants, at='far')]))).stdout
    check('as text', text.startswith('s is best at near.\n'), text)


def test_F2_local_storage():
    of = cloud(nodes_by_key(far=2, near=0), [server('s', [key('KEY', 0, 50)], disks=[{'node': 'far'}])], clusters=[{'id': 'c', 'local_storage': True}])
    expect('the node of the primary disk', place(of, 's'), 'far')
    of['nodes'][0]['state'] = 'stopped'
    expect('which does not run', place(of, 's'), None)
    del of['servers'][0]['disks'][0]['node']
    expect('created now', place(of, 's'), 'near')


def test_F3_normal_keys():
    nodes = nodes_by_key(a=0, b=1)
    for what, last in (('without a weight', key('KEY', 1, 0)), ('a text', key('KEY', 'one', 50)), ('a truth', key('KEY', True, 50))):
        expect(f'a key that is {what} counts for nothing, and hides none', place(cloud(nodes, [server('s', [last])], clusters=[{'id': 'c', 'keys': [key('KEY', 0, 50)]}]), 's'), 'a')


def test_F4_who_may_set():
    of = cloud([node('a')], [server('s')])
    mine = own('KEY', 1, 1)
    for kind, i in (('billing_entities', 0), ('customers', 0), ('vdcs', 0), ('product_offers', 0)):
        wrong = copy.deepcopy(of)
        wrong[kind][i]['keys'] = [mine]
        refused(f'a key of the customer in {kind}', wrong, f'/{kind}/{i}/keys/0/owner', 'cannot be set')
    for kind in ('clusters', 'images', 'networks', 'servers'):
        right = copy.deepcopy(of)
        right[kind][0]['keys'] = [mine]
        expect(f'a key of the customer in {kind}', run('fit', 'check', '-', stdin=json.dumps(right)).returncode, 0)
    right = copy.deepcopy(of)
    for kind in ('billing_entities', 'customers', 'vdcs', 'product_offers'):
        right[kind][0]['keys'] = [key('KEY', 1, 1), key('KEY', 1, 1, 'billing_entity')]
    expect('the others in any', run('fit', 'check', '-', stdin=json.dumps(right)).returncode, 0)
    refused('the same name twice', cloud([node('a')], [server('s', [mine, key('KEY', 2, 1, 'billing_entity')])]), '/servers/0/keys/1/name', 'once')


def test_F5_same_keys_on_all_nodes():
    refused('one lacks a key', cloud([node('a', {'KEY': 1}), node('b')], []), '/nodes/1/keys', '"KEY" is missing')
    refused('one has another', cloud([node('a'), node('b', {'KEY': 1})], []), '/nodes/1/keys/0/name', 'lacks it')
    refused('a text', cloud([node('a', {'KEY': 'x'})], []), '/nodes/0/keys/0/value', 'a number')
    refused('a weight that is not sticky', cloud([node('a', {'KEY': 1}, sticky={'KEY': {'weight': 5}})], []), '/nodes/0/keys/0/weight', 'sticky')


def test_F6_sticky():
    """"multiple VMware clusters are being used with different datastores"."""
    sticky = {'SITE': {'sticky': True, 'weight': 25}}
    nodes = [node('a1', {'SITE': 1}, sticky=sticky), node('b1', {'SITE': 2}, sticky=sticky), node('b2', {'SITE': 2}, sticky=sticky, load=0.5)]
    busy = [{'id': 'c', 'keys': [key('#LOAD', weight=20)]}]
    first = cloud(nodes, [server('s', [own('NEAR', 1, 10)]), server('t', [own('NEAR', 1, 10)], at='b2')], clusters=busy)
    expect('at first only load counts: 20 at a1 and b1, above the threshold of 10 that 10 at b2 does not exceed', place(first, 's') in ('a1', 'b1'), True)
    snapshot = json.loads(compiled(first))
    expect('what a node gives to a server that starts there', [h['attributes']['sticky.SITE'] for h in snapshot['hosts']], [25, 25, 25])
    next(v for v in snapshot['vms'] if v['id'] == 's')['hints'].update({'copy.SITE': 2, 'sticky.SITE': 25})
    plan = json.loads(run('place', 's', '--snapshot', '-', '--format', 'json', stdin=json.dumps(snapshot)).stdout)
    expect('the copy that the service puts into its snapshot', [r['to'] for r in plan['recommendations']], ['b1'])
    again = copy.deepcopy(first)
    again['servers'][0]['sticky_keys'] = [{'name': 'SITE', 'value': 2, 'weight': 25}]
    expect('later the site too: 45 at b1, 35 at b2, 20 at a1', place(again, 's'), 'b1')
    again['servers'][0]['keys'].append(key('SITE', 1, 25))
    expect('a key of the server itself counts more than the copy', place(again, 's'), 'a1')


def test_F7_reserved():
    nodes = [node('a', {'_SSD': 0}), node('b', {'_SSD': 1})]
    expect("a customer's key against that of the node", place(cloud(nodes, [server('s', [own('_SSD', 1, 5)])]), 's'), 'b')
    expect("a billing entity's", place(cloud(nodes, [server('s', [key('_SSD', 0, 5, 'billing_entity')])]), 's'), 'a')
    refused('the system has none', cloud(nodes, [server('s', [key('_SSD', 1, 5)])]), '/servers/0/keys/0/owner', 'reserved')
    expect('the keys of servers count as well: 0 + 5 * 2 at a, 5 at b',
           place(cloud(nodes, [server('s', [own('_SSD', 1, 5)]), *(server(f'o{i}', [own('_SSD', 1, 1)], at='a') for i in (1, 2))]), 's'), 'a')


def test_F8_special():
    def of(special, **of_server):
        return cloud([node('a', load=0.9), node('b', load=0.1)], [server('s', **of_server), server('o', at='b', ram_mb=32 * GB, cpus=8)],
                     clusters=[{'id': 'c', 'keys': [key(special, weight=60)]}])
    expect('#LOAD', place(of('#LOAD'), 's'), 'b')
    expect('#RAM: half is allocated at b', place(of('#RAM'), 's'), 'a')
    expect('#CPU: half is allocated at b', place(of('#CPU'), 's'), 'a')
    expect('packed, by a target of 1 further down', place(of('#RAM', keys=[key('#RAM', 1, 60)]), 's'), 'b')
    expect('no weight further down leaves that of the cluster', place(of('#RAM', keys=[key('#RAM', 1, 0)]), 's'), 'a')
    ratio = of('#RAM', keys=[key('#RAM', 0.25, 60)])
    ratio['nodes'][1]['ram_ratio'] = 2
    expect('a share of the memory times its ratio: 0.25 at b', place(ratio, 's'), 'b')
    over = of('#CPU', keys=[key('#CPU', 1, 60)])
    over['servers'][1]['cpus'] = 40
    expect('2.5 vCPUs a CPU are 1', place(over, 's'), 'b')
    for keys, where, part in (([key('#DISK', weight=1)], 'name', '#RAM, #CPU or #LOAD'), ([own('#RAM', 0, 1)], 'owner', 'system')):
        refused('a special key', cloud([node('a')], [server('s', keys)]), f'/servers/0/keys/0/{where}', part)
    refused('another target at a cluster', cloud([node('a')], [], clusters=[{'id': 'c', 'keys': [key('#RAM', 0.5, 1)]}]), '/clusters/0/keys/0/value', 'always 0')
    refused('of a node', cloud([node('a', {'#RAM': 1})], []), '/nodes/0/keys/0/name', 'computed')


def test_F9_constraints():
    def start(allocated, free, ram=16 * GB, **more):
        return place(cloud([node('a', ram_ratio=2, free_ram_mb=free)], [server('s', ram_mb=ram), server('o', at='a', ram_mb=allocated)], **more), 's')
    most = 128 * GB - 17 * GB  # "a 64GB node will report contended RAM of 128GB"; the server and 1 GB
    expect('both above', start(most - 1, 17 * GB + 1), 'a')
    expect('allocation exactly full', start(most, 17 * GB + 1), None)
    expect('free memory exactly enough', start(most - 1, 17 * GB), None)
    expect('another overhead', start(most, 17 * GB, settings={'ram_overhead_mb': GB - 1}), 'a')
    expect('a node that does not run', place(cloud([node('a', state='stopped')], [server('s')]), 's'), None)
    expect('servers that are off take nothing', place(cloud([node('a')], [server('s'), server('o', ram_mb=62 * GB)]), 's'), 'a')
    two = cloud([node('a', ram_mb=8 * GB, free_ram_mb=8 * GB)], [server('s', ram_mb=4 * GB), server('t', ram_mb=4 * GB)])
    expect('of two at once the second has no place', sum(n is None for n in place(two, 's', 't')), 1)
    two = cloud([node('a', free_ram_mb=4.5 * GB)], [server('s', ram_mb=2 * GB), server('t', ram_mb=2 * GB)])
    expect('nor what is free, when the first has taken its memory', sum(n is None for n in place(two, 's', 't')), 1)


def test_balancing_obeys():
    """The constraints of step 1 bind moves for balance, and are named."""
    def explain(free, **of_node):
        of = cloud([node('a', ram_mb=8 * GB, free_ram_mb=GB), node('b', ram_mb=8 * GB, free_ram_mb=free, **of_node)],
                   [server(f's{i}', at='a', ram_mb=2 * GB, cpus=4, cpus_used=3.5, ram_used_mb=GB) for i in range(3)] + [server('o', at='b', ram_mb=GB, cpus_used=0)])
        snapshot = compiled(of)
        done = run('explain', '--snapshot', '-', '--vm', 's0', '--host', 'b', '--format', 'json', stdin=snapshot)
        plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=snapshot).stdout)
        return len(plan['recommendations']), json.loads(done.stdout)['candidates'][0]
    moves, _ = explain(7 * GB)
    check('with room servers move', moves > 0)
    moves, there = explain(3 * GB)
    check('not enough is free', moves == 0 and there['check'] == 'fit_filter' and 'free ram' in there['text'], f'{moves} {there}')
    moves, there = explain(7 * GB, ram_ratio=0.5)
    check('too much is allocated', moves == 0 and there['check'] == 'fit_quantity' and 'flexiant/ram' in there['text'], f'{moves} {there}')


def test_F10_hierarchy():
    """"set on the cluster to 1, on the VDC to 2, and on the product offer for the server to 3, the compiled value of 'MYKEY' will be 3"."""
    names = ['cluster', 'entity', 'customer-offer', 'customer', 'image-offer', 'image', 'vdc-offer', 'vdc', 'server-offer', 'server', 'disk-offer', 'disk',
             'network-offer', 'network', 'nic-offer', 'nic']
    holders = {'cluster': ('clusters', 0), 'entity': ('billing_entities', 1), 'customer': ('customers', 0), 'image': ('images', 0), 'vdc': ('vdcs', 0),
               'network': ('networks', 0), 'server': ('servers', 0)}

    def with_levels(below):
        """KEY has the number of the level at each level above `below`."""
        of = cloud([node(n, {'KEY': i}) for i, n in enumerate(names)], [server('s', disks=[{}, {'keys': [key('KEY', -5, 50)]}], nics=[{'network': 'lan'}],
                                                                               image='image', product_offer='server-offer')])
        of['product_offers'] = [{'id': n} for n in names if n.endswith('-offer')]
        offers = {o['id']: o for o in of['product_offers']}
        of['customers'][0]['product_offer'], of['images'][0]['product_offer'], of['vdcs'][0]['product_offer'] = 'customer-offer', 'image-offer', 'vdc-offer'
        of['networks'][0]['product_offer'] = 'network-offer'
        disk, nic = of['servers'][0]['disks'][0], of['servers'][0]['nics'][0]
        disk['product_offer'], nic['product_offer'] = 'disk-offer', 'nic-offer'
        for i, name in enumerate(names[:below]):
            holder = offers.get(name) or {'disk': disk, 'nic': nic}.get(name) or of[holders[name][0]][holders[name][1]]
            holder.setdefault('keys', []).append(key('KEY', i, 50))
        return of
    for below in range(1, len(names) + 1):
        expect(f'{names[below - 1]} is the lowest', place(with_levels(below), 's'), names[below - 1])
    mykey = cloud([node(f'n{i}', {'MYKEY': i}) for i in (1, 2, 3)], [server('s', product_offer='offer')])
    for kind, value in (('clusters', 1), ('vdcs', 2), ('product_offers', 3)):
        mykey[kind][0]['keys'] = [key('MYKEY', value, 50)]
    expect('the example of the document', place(mykey, 's'), 'n3')
    apart = cloud(nodes_by_key(a=0, b=1), [server('s', [own('KEY', 1, 50)]), server('o', [own('KEY', 1, 1)], at='b')])
    apart['clusters'][0]['keys'] = [key('KEY', 0, 50)]
    expect("a customer's key does not override the system's", place(apart, 's'), 'a')
    both = cloud([node('a'), node('b')], [server('s', [own('KEY', 1, 50)], at=None), server('o', [own('KEY', 1, 1)], at='b'), server('p', [own('KEY', 3, 1)], at='a')])
    both['vdcs'][0]['keys'] = [key('KEY', 3, 50, 'billing_entity')]
    expect("but a billing entity's", place(both, 's'), 'b')


def test_F11_fixed_at_start():
    def of(**more):
        return cloud([node('a'), node('b')], [server('s', [own('KEY', 1, 50)]), server('o', [own('KEY', 1, 50)], at='a', **more), server('p', [own('OTHER', 1, 50)], at='b')])
    expect('with the server that has the key', place(of(), 's'), 'a')
    moved = of(started_keys=[])
    moved['servers'][2]['started_keys'] = [{'name': 'KEY', 'value': 1}]
    expect('it was changed after the start, here and there', place(moved, 's'), 'b')
    stopped = of()
    stopped['servers'][1] = server('o', [own('KEY', 1, 50)])
    stopped['servers'][2]['started_keys'] = [{'name': 'KEY', 'value': 1.5}]
    expect('it is removed at the stop', place(stopped, 's'), 'b')
    expect('two at once: the second sees the first', len(set(place(cloud([node('a'), node('b')], [server('s', [own('KEY', 1, 50)]), server('t', [own('KEY', 1, 50)])]), 's', 't'))), 1)
    apart = cloud([node('a'), node('b')], [server('s', [own('KEY', 1, -50)]), server('t', [own('KEY', 1, -50)])])
    expect('or keeps away', sorted(place(apart, 's', 't')), ['a', 'b'])


def test_F12_proximity():
    expect('the nearest', place(cloud(nodes_by_key(a=0.9, b=1.25, c=1.05), [server('s', [key('KEY', 1, 50)])], settings={'MSAV_STEPS': 1000}), 's'), 'c')
    expect('as far away as 1 is nothing', place(cloud([node('a', {'A': 2, 'B': 0}), node('b', {'A': 9, 'B': 0.5})], [server('s', [key('A', 1, 50), key('B', 1, 20)])],
                                                      settings={'MSAV_STEPS': 1000}), 's'), 'b')
    two = [server('s', [own('KEY', 1, 10)]), server('o', [own('KEY', 1, 0.5)], at='a'), server('p', [own('KEY', 1.25, 1)], at='b'), server('q', [own('KEY', 0.5, 1)], at='b')]
    expect('10 at a, 7.5 and 5 at b', place(cloud([node('a'), node('b')], two), 's'), 'b')
    two[0] = server('s', [own('KEY', 1, -10)])
    expect('-10 at a, -12.5 at b', place(cloud([node('a'), node('b')], two), 's'), 'a')


def test_F13_rounds():
    def start(near, weight=100, **settings):
        """a is at this proximity; b at 0.5625 and the customer likes it; all above one threshold are equal to the system."""
        nodes = [node('a', {'KEY': 1 - near}), node('b', {'KEY': 1 - 0.5625})]
        return place(cloud(nodes, [server('s', [key('KEY', 0, weight), own('OWN', 1, 1)]), server('o', [own('OWN', 1, 1)], at='b')], settings=settings), 's')
    expect('60 and 56.25 exceed 50', start(0.6), 'b')
    expect('60.5 exceeds 60, 56.25 does not', start(0.605), 'a')
    expect('60 does not exceed 60', start(0.6000), 'b')
    expect('81 exceeds 80', start(0.81), 'a')
    expect('thresholds 80, 35 and -10', start(0.7, MSAV_STEPS=3), 'b')
    expect('thresholds 60 and 0', start(0.7, MSAV_STEPS=2, INITIAL_MSAV=60, FINAL_MSAV=0), 'a')
    one = [server('s', [key('KEY', 0, -10)])]
    expect('-10 does not exceed -10', place(cloud(nodes_by_key(a=0), one), 's'), None)
    expect('-9.375 does', place(cloud(nodes_by_key(a=0.0625), one), 's'), 'a')
    expect('no key is 0, above -10', place(cloud([node('a')], [server('s')]), 's'), 'a')
    expect('but not above 0', place(cloud([node('a')], [server('s')], settings={'FINAL_MSAV': 0}), 's'), None)
    refused('thresholds that rise', cloud([node('a')], [], settings={'FINAL_MSAV': 81}), '/settings/FINAL_MSAV')
    done = run('place', '--snapshot', '-', 's', stdin=compiled(cloud(nodes_by_key(a=0), one)))
    check('the threshold is named', done.returncode == 1 and 'threshold' in done.stdout, done.stdout + done.stderr)


def test_F14_customer_round():
    nodes = [node(f'n{i}') for i in range(4)]
    taken = [place(cloud(nodes, [server('s'), server('o', [own('X', 1, 1)], at='n3')], settings={'seed': seed}), 's') for seed in range(60)]
    check('a tie is broken at random', all(7 <= taken.count(f'n{i}') <= 27 for i in range(4)), f'{taken}')
    expect('the same seed, the same node', place(cloud(nodes, [server('s')], settings={'seed': 5}), 's'), place(cloud(nodes, [server('s')], settings={'seed': 5}), 's'))
    liked = cloud(nodes_by_key(a=0, b=2), [server('s', [key('KEY', 0, 50), own('OWN', 1, 1000)]), server('o', [own('OWN', 1, 1)], at='b')])
    expect('what the administrator does not accept the customer cannot have', place(liked, 's'), 'a')


def test_F15_customer_view():
    of = cloud([node('secret-node', {'KEY': 1, '_SSD': 1})],
               [server('mine', [own('ROLE', 1, 5), own('_SSD', 1, 5), key('#RAM', 1, 9), key('POLICY', 1, 3), own('NOTE', 'text', 0)], at='secret-node',
                       sticky_keys=[{'name': 'SITE', 'value': 1, 'weight': 5}], nics=[{'keys': [own('LAN', 2, 1)]}]), server('theirs', vdc='w')])
    done = run('fit', 'show', '-', '--customer', 'x', stdin=json.dumps(of))
    expect('what a customer sees', done.stdout, 'customer x\nVDC v\n    server mine: running, 1024 MB, 1 CPU, ROLE 1 (weight 5), NOTE "text"\n        NIC 1, LAN 2 (weight 1)\n')
    done = run('fit', 'show', '-', '--customer', 'nobody', stdin=json.dumps(of))
    check('no such customer', done.returncode == 2 and '/customers' in done.stderr, done.stderr)
    check('--customer without show', run('fit', 'check', '-', '--customer', 'x', stdin=json.dumps(of)).returncode == 2)
    done = run('fit', 'show', '-', '--customer', 'x', stdin='{"hypervisors": []}')
    check('Nova has no such view', done.returncode == 2 and 'nova' in done.stderr, done.stderr)


def test_input():
    of = cloud([node('a')], [server('s', at='a')])
    for what, part in (('unknown dialect', {'dialect': 'flexible'}), ('no text', {'dialect': 5})):
        refused(what, {**of, **part}, '/dialect')
    for change, pointer in ((lambda c: c.update(cluster=[]), '/cluster'), (lambda c: c['nodes'][0].update(ram_mb='much'), '/nodes/0/ram_mb'),
                            (lambda c: c['nodes'][0].update(cluster='d'), '/nodes/0/cluster'), (lambda c: c['nodes'][0].pop('load'), '/nodes/0/load'),
                            (lambda c: c['nodes'].append(c['nodes'][0]), '/nodes'), (lambda c: c['servers'][0].pop('node'), '/servers/0/node'),
                            (lambda c: c['servers'][0].update(vdc='z'), '/servers/0/vdc'), (lambda c: c['servers'][0].update(disks=[{'product_offer': 'z'}]), '/servers/0/disks/0/product_offer'),
                            (lambda c: c['servers'][0].update(wieght=1), '/servers/0/wieght'), (lambda c: c['servers'][0].update(nics=[{'network': 'z'}]), '/servers/0/nics/0/network'),
                            (lambda c: c['servers'][0].update(keys=[{'name': 'K', 'value': 1}]), '/servers/0/keys/0/owner'),
                            (lambda c: c['servers'][0].update(keys=[key('K')]), '/servers/0/keys/0/value'),
                            (lambda c: c['servers'][0].update(sticky_keys=[{'name': '#RAM', 'value': 1}]), '/servers/0/sticky_keys/0/name'),
                            (lambda c: c['settings'].update(MSAV_STEPS=0), '/settings/MSAV_STEPS'),
                            (lambda c: c['servers'][0].update(keys=[own(f'K{i}', 1, 1) for i in range(40)]), '/servers')):
        wrong = copy.deepcopy({**of, 'settings': {}})
        change(wrong)
        refused(f'{pointer} is wrong', wrong, pointer)
    example = TOP / 'conf/examples/flexiant.json'
    expect('the example', run('fit', 'check', example).returncode, 0)


for name, test in sorted(globals().items()):
    if name.startswith('test_'):
        test()
end()
