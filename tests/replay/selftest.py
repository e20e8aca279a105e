#!/usr/bin/env python3
"""Tests the replay itself: it gives known numbers, and it catches each kind of wrong plan.

A checker that finds nothing proves nothing. CASES has one wrong plan for each rule of the contract that the replay knows.
"""
import copy
import math
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import orders  # noqa: E402
from cluster import RESOURCES, Cluster, share_divvy  # noqa: E402
from replay import Replay  # noqa: E402

POLICY = {'migration_threshold': 3, 'moves_max': 0, 'cost_benefit': False, 'mem_admission': 'consumed',
          'mem_overcommit': 1.0, 'cool_down_s': 1800, 'dpm': {'target': 63, 'tolerance': 18}}
TIME = '2026-01-01T00:00:00Z'


def vm(vm_id, host, cpu, mem=1000, **more):
    return {'id': vm_id, 'name': vm_id, 'host': host, 'state': 'on', 'pool': None, 'vcpus': 1, 'mem_mb': mem,
            'cpu': {'reservation': 0, 'limit': None, 'shares': 1000, 'demand': cpu},
            'mem': {'reservation': 0, 'limit': None, 'shares': 1000, 'demand': mem / 2, 'consumed': mem, 'overhead': 0},
            **more}


def reserving(vm_id, host_id, mhz):
    ret = vm(vm_id, host_id, 100, 100)
    ret['cpu']['reservation'] = mhz
    return ret


def host(host_id, state='on', **more):
    return {'id': host_id, 'name': host_id, 'state': state, 'cpu_mhz': 10000, 'cores': 4, 'mem_mb': 10000, **more}


def snapshot():
    return {'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': TIME, 'hosts': [host('h1'), host('h2')],
            'vms': [*(vm(f'v{i}', 'h1', 2000) for i in range(1, 5)), vm('off', None, 0, state='off')], 'pools': [], 'rules': []}


def good_plan(snap, moves, **fields):
    """A plan that is right in all that can be computed; moves: (vm, to, depends_on)."""
    cluster = Cluster(snap)
    policy = {**POLICY, **fields}
    flat = {**policy, **{f'dpm.{k}': v for k, v in policy['dpm'].items()}}
    ent = {r: cluster.entitlements(r)[0] for r in RESOURCES}

    def metrics():
        return {**cluster.metrics(flat, ent), 'dpm': cluster.dpm_scores(flat)}

    plan = {'format': 'ballast-plan/1', 'cluster': 'c', 'time': TIME, 'policy': policy, 'before': metrics(),
            'recommendations': [], 'settings': [], 'faults': []}
    for n, (vm_id, to, needs) in enumerate(moves, 1):
        came_from, cluster.at[vm_id] = cluster.at[vm_id], to
        leaving = cluster.hosts[came_from].state != 'on'
        plan['recommendations'].append({
            'id': n, 'action': 'migrate', 'priority': 1 if leaving else 2, 'vm': vm_id, 'from': came_from, 'to': to,
            'reason': 'maintenance' if leaving else 'balance_cpu', 'text': 'because', 'depends_on': needs, 'group': 0,
            'imbalance_after': metrics()['imbalance'], 'cost': {'cpu_mhz_s': 1, 'mem_mb_s': 1},
            'benefit': {'cpu_mhz_s': 2, 'mem_mb_s': 2}})
    plan['after'] = metrics()
    return plan


def set_at(tree, path, value):
    for key in path[:-1]:
        tree = tree[key]
    tree[path[-1]] = value


# A change to the good plan of v1 and v2 to h2, and a word of the violation that must come of it.
REC = ('plan', 'recommendations', 0)
CASES = [
    ([(REC + ('from',), 'h2')], 'is on h1, not on h2'),
    ([(REC + ('vm',), 'v2')], 'is moved twice'),
    ([(REC + ('vm',), 'v9')], 'no VM'),
    ([(REC + ('imbalance_after',), 0.123)], 'imbalance_after'),
    ([(REC + ('priority',), 5)], 'priority'),
    ([(REC + ('depends_on',), [2])], 'depends on 2'),
    ([(REC + ('id',), 7)], 'stands at place'),
    ([(REC + ('text',), '')], 'no text'),
    ([(('plan', 'before', 'imbalance'), 1.0)], 'before: imbalance'),
    ([(('plan', 'after', 'dpm', 'cpu_low'), 9.0)], 'after: dpm'),
    ([(('plan', 'after', 'hosts', 0, 'cpu'), 9.0)], 'after: host'),
    ([(('plan', 'policy', 'moves_max'), 1)], 'moves_max'),
    ([(('plan', 'policy', 'cost_benefit'), True), (REC + ('cost', 'cpu_mhz_s'), 1e9)], 'gains too little'),
    ([(('plan', 'time'), '2027-01-01T00:00:00Z')], 'time'),
    ([(('snapshot', 'hosts', 1, 'state'), 'entering_maintenance')], 'is entering_maintenance'),
    ([(('snapshot', 'vms', 0, 'compatible_hosts'), ['h1'])], 'cannot run on'),
    ([(('snapshot', 'vms', 0, 'automation'), 'disabled')], 'disabled'),
    ([(('snapshot', 'vms', 0, 'immovable'), 'a passthrough device')], 'cannot be moved'),
    ([(('snapshot', 'vms', 0, 'mandatory_only'), 'latency sensitivity high')], 'only when it must be'),
    ([(('snapshot', 'vms', 0, 'networks'), ['db']), (('snapshot', 'hosts', 1, 'networks'), ['app'])], 'does not offer db'),
    ([(('snapshot', 'vms', 0, 'cpu_mode'), 'zen'), (('snapshot', 'hosts', 1, 'cpu_modes'), [])], 'does not offer zen'),
    ([(('snapshot', 'hosts', 1, 'quarantine'), True)], 'in quarantine'),
    ([(('snapshot', 'hosts', 1, 'failure_detection'), 'unhealthy')], 'in quarantine'),
    ([(('snapshot', 'vms', 0, 'kind'), 'agent')], 'of kind agent'),
    ([(('snapshot', 'vms', 0, 'last_migrated'), '2025-12-31T23:50:00Z')], 'less than'),
    ([(('snapshot', 'vms', 0, 'mem', 'consumed'), 9500)], 'memory on host h2'),
    ([(('snapshot', 'vms', 0, 'mem_mb'), 9500), (('plan', 'policy', 'mem_admission'), 'configured')], 'memory on host'),
    ([(('snapshot', 'vms', 0, 'cpu', 'reservation'), 9500), (('snapshot', 'vms', 1, 'cpu', 'reservation'), 600)],
     'CPU reservations'),
    ([(('snapshot', 'hosts', 1, 'mem_free_mb'), 900)], 'MiB free'),
    ([(('snapshot', 'rules'), [{'id': 'r', 'kind': 'vm-vm-anti-affine', 'vms': ['v1', 'v2']}])], 'no fault says why'),
    ([(('snapshot', 'rules'), [{'id': 'r', 'kind': 'vm-vm-affine', 'vms': ['v1', 'v3']}])], 'newly violated'),
    ([(('snapshot', 'rules'), [{'id': 'r', 'kind': 'vm-host-affine', 'vms': ['v1'], 'hosts': ['h1'], 'mandatory': True}])],
     'newly violated'),
    ([(('snapshot', 'rules'), [{'id': 'r', 'kind': 'vm-host-anti-affine', 'vms': ['v1'], 'hosts': ['h2'],
                                'mandatory': True}])], 'newly violated'),
    ([(('snapshot', 'hosts', 0, 'state'), 'entering_maintenance')], 'stays on h1'),
    ([(('snapshot', 'vms', 0, 'kind'), 'ft_primary'), (('snapshot', 'vms', 1, 'kind'), 'ft_secondary'),
      (('snapshot', 'vms', 0, 'ft_peer'), 'v2')], 'the other half of the pair'),
    ([(('snapshot', 'ha'), {'policy': 'dedicated', 'failover_hosts': ['h2']})], 'kept empty'),
    ([(('snapshot', 'vms', 4, 'cpu', 'reservation'), 9500), (('snapshot', 'vms', 1, 'cpu', 'reservation'), 600),
      (('snapshot', 'pending'), [{'action': 'place', 'vm': 'off', 'to': 'h2'}])], 'CPU reservations'),
    ([(('snapshot', 'vms', 4, 'cpu', 'reservation'), 9500), (('snapshot', 'vms', 1, 'cpu', 'reservation'), 600),
      (('snapshot', 'vms', 4, 'host'), 'h2'), (('snapshot', 'hosts', 1, 'agents_required'), ['off'])], 'CPU reservations'),
    ([(('snapshot', 'pending'), [{'action': 'power_off', 'host': 'h2'}])], 'is about to go'),
    ([(('snapshot', 'migrations'), [{'vm': 'v1', 'from': 'h1', 'to': 'h2', 'started': TIME}])], 'migrated already'),
]


def expect(what, truth):
    if not truth:
        print(f'selftest: {what}')
        sys.exit(1)


def test_numbers():
    expect('Figure 2: the amounts', [round(p, 9) for p in share_divvy(8, [1, 1], [0, 0], [3, 7])] == [3, 5])
    expect('Figure 2: the root', [round(p, 9) for p in share_divvy(10, [4, 1], [0, 0], [20, 20])] == [8, 2])
    expect('overcommitted', share_divvy(6, [1, 1], [8, 4], [9, 9]) == [4, 2])
    expect('remainder', share_divvy(100, [1, 1], [0, 0], [3, 7]) == [3, 7])
    expect('reservation first', [round(p, 9) for p in share_divvy(10, [1, 1], [7, 0], [9, 9])] == [7, 3])
    for seed in range(300):
        rng = random.Random(seed)
        k = rng.randint(1, 12)
        shares = [rng.choice([0, 500, 1000, 2000, 4000]) for _ in range(k)]
        low = [rng.choice([0, 0, rng.randint(0, 500)]) for _ in range(k)]
        high = [r + rng.choice([0, rng.randint(0, 5000), math.inf]) for r in low]
        quantity = rng.uniform(sum(low), 10000)
        amounts = share_divvy(quantity, shares, low, high)
        inside = all(r - 1e-6 <= p <= h + 1e-6 for r, p, h in zip(low, amounts, high))
        # all is handed out, unless nobody who has shares can take any more
        all_out = abs(sum(amounts) - quantity) < 1e-6 or all(p >= h - 1e-6 for s, p, h in zip(shares, amounts, high) if s)
        expect(f'the amounts of seed {seed}: {amounts}', inside and (all_out or sum(low) > quantity))
    cluster = Cluster(snapshot())
    metrics = cluster.metrics({'migration_threshold': 3}, {r: cluster.entitlements(r)[0] for r in RESOURCES})
    # h1 carries 4 x 2000 of 10000 and 4 x 500 of 10000, h2 nothing: sigma is half the difference
    expect('imbalance', abs(metrics['imbalance'] - 0.5 * 0.4 - 0.5 * 0.1) < 1e-12)
    expect('target', abs(metrics['target'] - 0.2) < 1e-12)


def test_orders():
    # a arrives with 6, b leaves 5: if a need not wait for b, both are there; if c (3, waits for b) and a meet, 6 + 3 - 5
    needs = {1: set(), 2: set(), 3: {2}}
    expect('arrival without waiting', orders.heaviest_moment({1: 6, 3: 3}, {2: 5}, needs, 1) == 6)
    expect('arrival that waits', orders.heaviest_moment({1: 6, 3: 3}, {2: 5}, needs, 3) == 4)
    expect('a large one that waits counts', orders.heaviest_moment({1: 6, 3: 9}, {2: 5}, needs, 1) == 10)


def test_good():
    for moves in ([('v1', 'h2', []), ('v2', 'h2', [])], [('v1', 'h2', [])], []):
        snap = snapshot()
        violations = Replay(snap, good_plan(snap, moves)).run()
        expect(f'a good plan was refused: {violations}', not violations)


def test_swap():
    """Two full hosts and a third that is leaving: v9 may come only after v1 has gone."""
    snap = snapshot()
    snap['hosts'].append(host('h3', 'entering_maintenance'))
    for v in snap['vms']:
        v['mem']['consumed'] = 2500
    snap['vms'].append(vm('v9', 'h3', 100, 2500))
    moves = [('v1', 'h2', []), ('v9', 'h1', [1])]
    violations = Replay(snap, good_plan(snap, moves)).run()
    expect(f'a good order was refused: {violations}', not violations)
    moves = [('v1', 'h2', []), ('v9', 'h1', [])]
    violations = Replay(snap, good_plan(snap, moves)).run()
    expect(f'another order was not looked at: {violations}', any('in another order' in v for v in violations))


def test_wrong():
    for changes, word in CASES:
        snap = snapshot()
        plan = good_plan(snap, [('v1', 'h2', []), ('v2', 'h2', [])])
        both = copy.deepcopy({'snapshot': snap, 'plan': plan})
        for path, value in changes:
            set_at(both, path, value)
        violations = Replay(both['snapshot'], both['plan']).run()
        expect(f'{changes}: not caught: {violations}', any(word in v for v in violations))


def test_apart():
    """v5 on h2 must be apart from v1: v1 may come only if v5 leaves first, in every order."""
    for moves, wrong in (([('v1', 'h2', [])], True), ([('v5', 'h1', []), ('v1', 'h2', [])], True),
                         ([('v5', 'h1', []), ('v1', 'h2', [1])], True), ([('v5', 'h3', []), ('v1', 'h2', [])], True),
                         ([('v5', 'h3', []), ('v1', 'h2', [1])], False)):
        snap = snapshot()
        snap['hosts'] += [host('h3')]
        snap['vms'].append(vm('v5', 'h2', 1000))
        snap['rules'] = [{'id': 'r', 'kind': 'vm-vm-anti-affine', 'vms': ['v1', 'v5']}]
        violations = [v for v in Replay(snap, good_plan(snap, moves)).run() if 'rule' in v]
        expect(f'{moves}: {violations}', bool(violations) == wrong)


def test_woken():
    """A host that is woken receives only what waits for it, and not every host may be woken."""
    for needs, dpm, words in (([1], 'inherit', []), ([], 'inherit', ['does not wait']), ([1], 'disabled', ['is woken'])):
        snap = snapshot()
        snap['hosts'].append(host('h3', 'standby', dpm=dpm))
        plan = good_plan(snap, [('v1', 'h3', needs)])
        rec = plan['recommendations'][0]
        cluster = Cluster(snap)
        flat = {**POLICY, **{f'dpm.{k}': v for k, v in POLICY['dpm'].items()}}
        ent = {r: cluster.entitlements(r)[0] for r in RESOURCES}
        cluster.hosts['h3'].woken = True
        wake = {**rec, 'action': 'power_on', 'host': 'h3', 'vm': None, 'from': None, 'to': None, 'depends_on': [],
                'imbalance_after': cluster.metrics(flat, ent)['imbalance'], 'reason': 'maintenance', 'priority': 1}
        cluster.at['v1'] = 'h3'
        after = cluster.metrics(flat, ent)
        rec.update(id=2, reason='maintenance', imbalance_after=after['imbalance'])
        plan['recommendations'] = [wake, rec]
        plan['after'] = {**after, 'dpm': cluster.dpm_scores(flat)}
        violations = Replay(snap, plan).run()
        expect(f'{needs} {dpm}: {violations}', len(violations) == len(words) and all(
            w in v for w, v in zip(words, violations)))


def test_spare():
    """v4 may go to h2 only if v1 still has a place there."""
    for mhz, wrong in ((1000, True), (0, False)):
        snap = snapshot()
        snap['hosts'].append(host('h3'))
        snap['ha'] = {'policy': 'host_failures', 'hosts': 1}
        snap['vms'] = [reserving('v1', 'h1', 6000), reserving('v2', 'h2', 4000), reserving('v3', 'h3', 5000),
                       reserving('v4', 'h3', mhz)]
        violations = Replay(snap, good_plan(snap, [('v4', 'h2', [])])).run()
        expect(f'{mhz}: {violations}', any('were h1 lost' in v for v in violations) == wrong)


test_numbers()
test_orders()
test_woken()
test_spare()
test_good()
test_swap()
test_apart()
test_wrong()
print(f'{len(CASES)} wrong plans looked at')
