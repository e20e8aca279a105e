#!/usr/bin/env python3
"""Statements about the model that hold on every cluster of random_clusters.py: bounds of stretch, ranks and points, the order of the filters,
which hosts a balance may name, what does not depend on the order of the hosts, and the power steps' way to their end."""
import copy
import json
import os
import random
import sys

from balances import BALANCES, next_power_step
from cluster import load
from filters import MANDATORY, judge, sequence
from host_selectors import SELECTORS, points
from model import answer, policy_of
from policies import PATTERNS, UUIDS, built_in, mistakes
from quantities import (effective_load, max_scheduling_memory, next_over_since, next_power_of_two, ranks, round_half_up, shared_cpus, stretch)
from random_clusters import VALUES, question
from scheduling import NO_HOSTS, Call, candidates

CLUSTERS = 1000
if 'BALLAST_TEST_LONG' in os.environ:
    CLUSTERS *= 10
elif 'BALLAST_TEST_SLOW' in os.environ:
    CLUSTERS //= 10
seen = {'refused': set(), 'weighed': set(), 'moved': set(), 'powered': set(), 'sets': 0, 'enforced': 0, 'waited': 0, 'wished': 0}


# ---- the quantities by themselves ----

def check_stretch(dice):
    scores = {n: dice.choice((dice.randint(-50, 50), dice.uniform(-1e6, 1e6), 7)) for n in range(dice.randint(1, 9))}
    stretched = stretch(scores)
    if len(set(scores.values())) == 1:
        assert set(stretched.values()) == {1}
    else:
        assert min(stretched.values()) == 1 and max(stretched.values()) == 1000
    for a in scores:
        assert isinstance(stretched[a], int)
        assert all(stretched[a] <= stretched[b] for b in scores if scores[a] <= scores[b])


def check_ranks(dice):
    values = [dice.randint(0, 5) for _ in range(dice.randint(1, 9))]
    found = ranks(values)
    assert found[values.index(min(values))] == 0
    for value, rank in zip(values, found):
        assert sorted(values).index(value) == rank


def check_selectors(dice):
    hosts = [f'h{n}' for n in range(dice.randint(1, 6))]
    weights = {unit: {host: dice.randint(0, 3) for host in hosts if dice.random() < 0.8} for unit in 'abc'}
    factors = {unit: dice.randint(0, 4) for unit in weights}
    for unit, table in points(weights, factors, hosts).items():
        values = {host: weights[unit].get(host, 0) for host in hosts}
        least = min(values.values())
        for host in hosts:
            assert 0 <= table[host] <= factors[unit] * (len(hosts) - 1)
            assert values[host] != least or table[host] == factors[unit] * (len(hosts) - 1)
            assert all(table[host] >= table[other] for other in hosts if values[host] <= values[other])
    total, chosen = SELECTORS['RankSelector'](weights, factors, hosts)
    assert [h for h in hosts if total[h] == max(total.values())][0] == chosen
    # Ranks are all that counts: a unit's weights may be replaced by any that keep their order.
    grown = {unit: {host: table.get(host, 0) ** 2 + 5 for host in hosts} for unit, table in weights.items()}
    assert SELECTORS['RankSelector'](grown, factors, hosts) == (total, chosen)
    total, chosen = SELECTORS['BasicWeighting'](weights, factors, hosts)
    assert chosen is None or total[chosen] == min(total.values())


def check_clock():
    since, told = None, []
    for now, effective in enumerate((74, 75, 90, 75, 74, 1, 0, 0, 1, None, 100)):
        since = next_over_since(since, effective, now)
        told.append(since)
    assert told == [None, 1, 1, 1, None, None, 6, 6, None, None, 10], told


def check_rounding():
    assert [round_half_up(x) for x in (-1.5, -0.5, 0.49, 0.5, 1.5, 2.5)] == [-1, 0, 0, 1, 2, 3]
    assert [next_power_of_two(n) for n in (1, 2, 3, 1024, 1025)] == [1, 2, 4, 1024, 2048]


# ---- policies ----

def check_policies():
    policies = built_in()
    assert [p['name'] for p in policies.values() if p['default']] == ['none']
    for policy in policies.values():
        assert not mistakes(policy) and policy['locked']
        assert [e['position'] for e in policy['filters']] == [-1] + [0] * (len(policy['filters']) - 2) + [1]
    assert len({policy['id'] for policy in policies.values()}) == len(policies)
    for name, values in VALUES.items():
        for value in values:
            plain = {'filters': [{'unit': unit} for unit in ('CPUOverloaded', 'Swap', 'HostedEngineSpares')],
                     'weights': [{'unit': unit} for unit in ('OptimalForHaReservation', 'OptimalForCpuEvenDistribution')],
                     'balance': 'OptimalForPowerSaving' if name in ('LowUtilization', 'HostsInReserve', 'EnableAutomaticHostPowerManagement')
                     else 'OptimalForEvenGuestDistribution' if name in ('HighVmCount', 'SpmVmGrace', 'MigrationThreshold')
                     else 'OptimalForEvenDistribution', 'parameters': {name: value}}
            assert not mistakes(plain), mistakes(plain)
    assert set(VALUES) == set(PATTERNS)
    own = policy_of({'policy': {**policies['power_saving'], 'parameters': {'HighCpuUtilization': '70', 'LowUtilization': '5'}},
                     'parameters': {'LowCpuUtilization': '9'}})
    assert own['parameters'] == {'HighUtilization': '70', 'LowUtilization': '9'}
    for change, words in (({'parameters': {'HighUtilization': '49'}}, 'HighUtilization: 49'), ({'parameters': {'HeSparesCount': 'x'}}, 'HeSparesCount: x'),
                          ({'parameters': {'LowUtilization': '20'}}, 'LowUtilization: no unit'), ({'balance': 'Nothing'}, 'no such balance'),
                          ({'filters': [{'unit': 'CPU'}, {'unit': 'CPU'}]}, 'twice'), ({'weights': [{'unit': 'HA', 'factor': -1}]}, 'factor -1'),
                          ({'filters': [{'unit': 'CPU', 'position': 1}, {'unit': 'HA', 'position': 1}]}, 'position 1'),
                          ({'filters': [{'unit': 'CPU', 'position': 2}]}, 'no position'), ({'weights': [{'unit': 'CPU'}]}, 'no such weight')):
        found = mistakes({**policies['none'], 'parameters': {}, **change})
        assert any(words in line for line in found), (change, found)
    assert len({uuid for kind in UUIDS.values() for uuid in kind.values()}) == sum(map(len, UUIDS.values()))


# ---- whole answers ----

def check_schedule(asked, told):
    cluster, policy, request = load(asked['cluster']), policy_of(asked), asked['request']
    order = sequence(policy)
    assert order[:len(MANDATORY)] == list(MANDATORY)
    positions = {entry['unit']: entry.get('position', 0) for entry in policy['filters']}
    rest = [positions[name] for name in order[len(MANDATORY):]]
    assert rest == sorted(rest)
    hosts = candidates(cluster, request.get('black_list', ()), request.get('white_list', ()))
    assert sorted(name for one in told['sets'] for name in one['vms']) == sorted(request['vms'])
    for number, one in enumerate(told['sets']):
        check_one_set(one, order, hosts, cluster, request)
        if not number:  # those after it see what it made pending
            check_first_filters(one, policy, order, hosts, cluster)


def check_one_set(one, order, hosts, cluster, request):
    at = [order.index(refusal['filter']) for refusal in one['refused']]
    assert at == sorted(at)
    assert sorted([r['host'] for r in one['refused']] + one['left']) == sorted(h.id for h in hosts)
    assert one['left'] == [h.id for h in hosts if h.id in one['left']]
    assert (one['chosen'] in one['left']) if one['left'] else one['chosen'] is None
    assert bool(one['messages']) == (not one['left'])
    assert len(one['messages']) == len(one['refused']) + 1 if not one['left'] else True
    assert hosts or one['messages'] == [NO_HOSTS]
    wished = [name for name in one['left'] if name in request.get('wished_hosts', ())]
    assert not wished or one['chosen'] in wished
    for table in one['weights'].values():
        assert list(table) == (wished or one['left']) and all(isinstance(weight, int) for weight in table.values())
    for unit in ('OptimalForCpuEvenDistribution', 'OptimalForCpuPowerSaving', 'CPU for high performance VMs', 'OptimalForMemoryPowerSaving'):
        assert all(1 <= weight <= 1000 * len(one['vms']) for weight in one['weights'].get(unit, {}).values()), unit
    seen['refused'] |= {refusal['filter'] for refusal in one['refused']}
    seen['weighed'] |= {unit for unit, table in one['weights'].items() if len(set(table.values())) > 1}
    seen['sets'] += len(one['vms']) > 1
    seen['waited'] += one['wait_s'] is not None
    seen['wished'] += bool(wished) and wished != one['left']
    assert one['wait_s'] is None or 3 <= one['wait_s'] <= 10


def check_first_filters(one, policy, order, hosts, cluster):
    """Each filter asked by itself: a host is refused by the first that refuses it, and is left if none does."""
    call = Call(cluster, [cluster.vm(name) for name in one['vms']], policy['parameters'])
    for host in hosts:
        first = next((name for name in order if judge(name, call, host) is not None), None)
        told = next((refusal['filter'] for refusal in one['refused'] if refusal['host'] == host.id), None)
        assert first == told, (host.id, first, told)


def check_balance(asked, told):
    cluster, policy = load(asked['cluster']), policy_of(asked)
    for name, hosts in told['moves']:
        vm = cluster.vm(name)
        assert vm.host in hosts and len(hosts) > 1
        assert vm.status == 'up' and vm.affinity == 'migratable'
        assert hosts == [h.id for h in cluster.hosts if h.id in hosts]
        for host in hosts:
            assert cluster.host(host).status == 'up' and not cluster.pending_at(cluster.host(host))
    move = told['first_move']
    assert move is None or any(name == move['vm'] and move['host'] in hosts and cluster.vm(name).host != move['host'] for name, hosts in told['moves'])
    if told['moves']:
        seen['moved'].add(policy['balance'])
    if told['power']:
        seen['powered'].add(told['power']['to'])
        host = cluster.host(told['power']['host'])
        assert host.status == 'up' if told['power']['to'] == 'maintenance' else host.status in ('maintenance', 'down') and host.parked_by_policy


def check_affinity(asked, told):
    cluster = load(asked['cluster'])
    move = told['first_move']
    if move:
        seen['enforced'] += 1
        assert cluster.vm(move['vm']).host != move['host'] and cluster.host(move['host']).status == 'up'
        assert cluster.vm(move['vm']).affinity == 'migratable' and not cluster.vm(move['vm']).engine


def check_quantities(asked):
    cluster = load(asked['cluster'])
    for host in cluster.hosts:
        assert 0 <= max_scheduling_memory(cluster, host) <= cluster.overcommit_percent * host.physical_mb / 100
        without, with_pending = effective_load(cluster, host, True), effective_load(cluster, host, True, with_pending=True)
        assert (without is None) == (with_pending is None)
        assert without is None or without <= with_pending
        assert shared_cpus(cluster, host, True) is None or shared_cpus(cluster, host, True) > 0


def check_shuffled(asked, told, dice):
    """Which host stands first decides between equal ones only: what is refused and the weights are the same in any order of the hosts."""
    if asked['request']['kind'] != 'schedule' or len(told['sets']) > 1 or asked['cluster']['optimisation'] == 'speed':
        return
    other = copy.deepcopy(asked)
    dice.shuffle(other['cluster']['hosts'])
    one, two = told['sets'][0], answer(other)['sets'][0]
    key = lambda refusal: refusal['host']
    assert sorted(one['refused'], key=key) == sorted(two['refused'], key=key)
    assert one['weights'] == two['weights'] and one['sums'] == two['sums']


def check_power_ends(dice):
    """With nothing else going on, the steps end, with as many empty hosts as asked for or with none to add; and not more than one stands by
    in maintenance."""
    empty = [(f'e{n}', dice.random() < 0.7) for n in range(dice.randint(0, 4))]
    in_maintenance, down, reserve = [f'm{n}' for n in range(dice.randint(0, 3))], [f'd{n}' for n in range(dice.randint(0, 3))], dice.randint(0, 4)
    for _ in range(20):
        step = next_power_step(reserve, empty, in_maintenance, in_maintenance, down)
        if step is None:
            break
        name, to = step
        if to == 'maintenance':
            empty.remove((name, True))
            in_maintenance.append(name)
        elif to == 'down':
            in_maintenance.remove(name)
            down.append(name)
        else:
            (in_maintenance if name in in_maintenance else down).remove(name)
            empty.append((name, True))
    else:
        assert False, 'power steps without end'
    assert len(empty) == reserve or (len(empty) < reserve and not in_maintenance + down) \
        or (len(empty) > reserve and not any(allowed for _, allowed in empty))
    assert len(in_maintenance) <= 1


CHECKS = {'schedule': check_schedule, 'balance': check_balance, 'affinity': check_affinity}


def main():
    check_clock()
    check_rounding()
    check_policies()
    for seed in range(1, CLUSTERS + 1):
        asked, dice = question(seed), random.Random(seed)
        try:
            told = answer(asked)
            CHECKS[asked['request']['kind']](asked, told)
            assert answer(json.loads(json.dumps(asked))) == told
            for check in (check_stretch, check_ranks, check_selectors, check_power_ends):
                check(dice)
            check_quantities(asked)
            check_shuffled(asked, told, dice)
        except Exception:
            print(f'seed {seed}: {json.dumps(asked)}', file=sys.stderr)
            raise
    # The clusters are worth their name: everything came up.
    missing = {'filter': set(UUIDS['filter']) - seen['refused'], 'weight': set(UUIDS['weight']) - seen['weighed'],
               'balance': set(BALANCES) - {'None'} - seen['moved'], 'power': {'up', 'down', 'maintenance'} - seen['powered']}
    missing.update({name: {'none'} for name in ('sets', 'enforced', 'waited', 'wished') if not seen[name]})
    missing = {kind: names for kind, names in missing.items() if names}
    if 'BALLAST_TEST_SLOW' not in os.environ:
        assert not missing, missing
    print(f'{CLUSTERS} clusters: {seen["sets"]} sets of several VMs, {seen["wished"]} wishes kept, {seen["waited"]} waits, '
          f'{seen["enforced"]} moves for affinity')


if __name__ == '__main__':
    main()
