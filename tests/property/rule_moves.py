#!/usr/bin/env python3
"""Balances as rules of pipelines: what a plan does against a reading of the rules by other code (tests/ovirt/balances.py, and
tests/ovirt/balance_rules.py for the rules), on random clusters.

- The VM that moves, and its host, are those of the first entry of the model's list whose best host is another one.
- The power of hosts is changed as the model's table of the reserve says, without a stage between on and standby.
- No move breaks a rule between VMs or between VMs and hosts, moves a VM that is held, or puts more memory on a host than it has.
- Under constant load, passes a minute apart for an hour take no VM back to a host that it left.
"""
import collections
import copy
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'ovirt'))

import balance_rules  # noqa: E402
import balances  # noqa: E402
from cluster import Cluster, Host, Pending, Vm  # noqa: E402

CLUSTERS = 60
HOURS = 6
CORES, CORE_MHZ = 10, 1000
MINUTES = 60
START = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
NEAR = 1e-6

if 'BALLAST_TEST_LONG' in os.environ:
    CLUSTERS, HOURS = CLUSTERS * 10, HOURS * 10
elif 'BALLAST_TEST_SLOW' in os.environ:
    CLUSTERS, HOURS = CLUSTERS // 10, HOURS // 4


class Call:
    """What balances.py asks of a call."""

    def __init__(self, cluster, parameters):
        self.cluster, self.parameters = cluster, parameters

    def number(self, name, default):
        return self.parameters.get(name, default)

    def is_true(self, name):
        return name == 'EnableAutomaticHostPowerManagement'


def plan(snapshot, settings=()):
    done = subprocess.run([os.environ['BALLAST'], 'plan', '--snapshot', '-', '--format', 'json', '--set', 'balance.by=policy',
                           *(f'--set={s}' for s in settings)], input=json.dumps(snapshot), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'ballast plan: exit code {done.returncode}')
    return json.loads(done.stdout)


def fail(seed, what, snapshot, told=None):
    path = pathlib.Path(os.environ.get('TMPDIR', '/tmp')) / f'rule_moves-{seed}.json'
    path.write_text(json.dumps(snapshot, indent=1), encoding='utf-8')
    sys.exit(f'seed {seed}: {what}\n{json.dumps(told) if told else ""}\nthe snapshot is {path}')


# ---- clusters ----

def parameters_of(dice, name):
    p = {'HighUtilization': dice.choice((50, 66, 80, 90)), 'LowUtilization': dice.choice((0, 10, 20, 45)),
         'CpuOverCommitDurationMinutes': dice.choice((1, 2, 5))}
    if dice.random() < 0.4:
        p['MaxFreeMemoryForOverUtilized'] = dice.choice((2048, 8192))
        p['MinFreeMemoryForUnderUtilized'] = dice.choice((4096, 16384))
    if name == 'OptimalForEvenDistribution' and dice.random() < 0.3:
        p['VCpuToPhysicalCpuRatio'] = dice.choice((0.5, 1, 1.5))
    if name == 'OptimalForEvenGuestDistribution':
        p.update({'HighVmCount': dice.choice((2, 4, 10)), 'MigrationThreshold': dice.choice((2, 3, 5)), 'SpmVmGrace': dice.choice((1, 2, 5))})
    return p


def cluster_of(dice):
    cluster = Cluster()
    target = dice.uniform(0.2, 0.7)
    for n in range(dice.randint(2, 7)):
        host = Host(id=f'h{n}', cores=CORES, threads=CORES, cpu_percent=0, over_s=dice.choice((None, 0, 59, 60, 119, 120, 300, 301)),
                    physical_mb=dice.choice((16384, 32768)), spm=False)
        room = CORES * 100 * min(0.98, target * dice.uniform(0.1, 2))
        while True:
            vm = Vm(id=f'v{len(cluster.vms):03}', status='up', host=host.id, sockets=1, cores=dice.choice((1, 2, 4)), mem_mb=dice.choice((512, 1024, 4096)),
                    cpu_percent=dice.choice((0, 10, 20, 50, 90)), affinity=dice.choice(('migratable',) * 4 + ('user_migratable',)))
            if vm.cpu_percent * vm.vcpus > room or host.committed_mb + vm.mem_mb > host.physical_mb:
                break
            room -= max(vm.cpu_percent * vm.vcpus, 5)
            host.cpu_percent += vm.cpu_percent * vm.vcpus / CORES
            host.committed_mb += vm.mem_mb
            cluster.vms.append(vm)
        cluster.hosts.append(host)
    dice.choice(cluster.hosts).grace = True
    if cluster.vms and dice.random() < 0.3:
        vm = dice.choice(cluster.vms)
        to = dice.choice([h for h in cluster.hosts if h.id != vm.host])
        vm.status, vm.migrating_to = 'migrating', to.id
        cluster.pending.append(Pending(vm.id, to.id))
    return cluster


def number_of_host(host):
    return int(host.id[1:])


SCORE = {'name': 'calm', 'score': ['-', 0, ['+', '$host.load', '$host.attributes.turn']], 'applies': ['place']}


def snapshot_of(cluster, name, parameters, weights=(SCORE,), **more):
    grace = parameters.get('SpmVmGrace', 5) if name == 'OptimalForEvenGuestDistribution' else 0
    hosts = [{'id': h.id, 'state': 'on', 'cores': CORES, 'cpu_mhz': CORES * CORE_MHZ, 'mem_mb': 10 * h.physical_mb, 'over_s': h.over_s,
              'attributes': {'smem': h.physical_mb, 'turn': number_of_host(h) / 1e4, 'spm_grace': grace if getattr(h, 'grace', False) else 0}}
             for h in cluster.hosts]
    vms = [{'id': v.id, 'state': 'on', 'host': v.host, 'vcpus': v.vcpus, 'mem_mb': v.mem_mb, 'pipeline': 'p',
            'cpu': {'demand': v.cpu_percent * v.vcpus * CORE_MHZ / 100}, 'mem': {'demand': v.mem_mb / 2, 'consumed': v.mem_mb},
            'hints': {'migratable': v.affinity == 'migratable'}} for v in cluster.vms]
    pipeline = balance_rules.pipeline(name, parameters, list(weights), **more)
    for stage in pipeline['stages']:
        if 'from' in stage:
            stage['vms'] = ['default', '$vm.hints.migratable', False]
    return {'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': START.isoformat().replace('+00:00', 'Z'), 'hosts': hosts, 'vms': vms,
            'pools': [], 'rules': [], 'pipelines': [pipeline],
            'migrations': [{'vm': v.id, 'from': v.host, 'to': v.migrating_to, 'started': START.isoformat().replace('+00:00', 'Z')}
                           for v in cluster.vms if v.status == 'migrating']}


# ---- the model's move ----

def best_of(cluster, vm, hosts):
    """As SCORE has it: the least load without the VM, then the first."""
    def load(name):
        host = cluster.host(name)
        own = vm.cpu_percent * vm.vcpus if vm.host == name else 0
        return round((host.cpu_percent * CORES - own) / CORES / 100 + number_of_host(host) / 1e4, 6)

    return min(hosts, key=load)


def wanted_move(cluster, name, parameters):
    if name == 'OptimalForEvenGuestDistribution':
        for host in cluster.hosts:
            host.spm = getattr(host, 'grace', False)
        cluster.settings.spm_percent = 0
    for vm_id, hosts in balances.balance(name, Call(cluster, parameters)):
        best = best_of(cluster, cluster.vm(vm_id), hosts)
        if best != cluster.vm(vm_id).host:
            return vm_id, best
    return None


def moves_of(told):
    return [(r['vm'], r['to']) for r in told['recommendations'] if r['action'] == 'migrate' and r['reason'] == 'policy']


def compare_balances():
    moved = collections.Counter()
    for seed in range(CLUSTERS):
        for name in list(balances.BALANCES)[1:]:
            dice = random.Random(f'{seed} {name}')
            parameters = parameters_of(dice, name)
            cluster = cluster_of(dice)
            snapshot = snapshot_of(cluster, name, parameters)
            told = plan(snapshot, ['dpm.enabled=false'])
            wanted = wanted_move(cluster, name, parameters)
            if moves_of(told) != ([wanted] if wanted else []):
                fail(seed, f'{name}: the plan moves {moves_of(told)}, the model {wanted}', snapshot, told['recommendations'])
            if any(r['reason'] in ('balance_cpu', 'balance_mem', 'exchange') for r in told['recommendations']):
                fail(seed, 'the climb moved a VM too', snapshot, told['recommendations'])
            moved[name] += wanted is not None
    print('clusters with a move: ' + ', '.join(f'{name} {n} of {CLUSTERS}' for name, n in moved.items()))
    if len(moved) != 3 or min(moved.values()) < CLUSTERS // 20:
        sys.exit('too few clusters with a move')


# ---- the reserve ----

def compare_reserve():
    steps = collections.Counter()
    for seed in range(CLUSTERS):
        dice = random.Random(f'reserve {seed}')
        reserve = dice.choice((0, 1, 2))
        states = [dice.choice(('busy', 'empty', 'empty', 'down')) for _ in range(dice.randint(3, 7))]
        allowed = [dice.random() < 0.7 for _ in states]
        if 'busy' not in states:
            continue
        cluster = Cluster(hosts=[Host(id=f'h{n}', cores=CORES, threads=CORES, physical_mb=16384) for n in range(len(states))])
        cluster.vms = [Vm(id=f'v{n}', status='up', host=f'h{n}', mem_mb=1024, cpu_percent=50) for n, state in enumerate(states) if state == 'busy']
        snapshot = snapshot_of(cluster, 'None', {'HostsInReserve': reserve}, keeps_reserve=True)
        for host, state, may in zip(snapshot['hosts'], states, allowed):
            host.update({'state': 'standby' if state == 'down' else 'on', 'wake_verified': may or state == 'down', 'wake_methods': ['wol']})
        told = plan(snapshot, ['dpm.enabled=true', 'dpm.automation=automatic'])
        got = [('up' if r['action'] == 'power_on' else 'down', r['host']) for r in told['recommendations'] if r['action'] in ('power_on', 'power_off')]
        names = [f'h{n}' for n in range(len(states))]
        step = balances.next_power_step(reserve, [(h, may) for h, s, may in zip(names, states, allowed) if s == 'empty'], [], [],
                                        [h for h, s in zip(names, states) if s == 'down'])
        wanted = [('up' if step[1] == 'up' else 'down', step[0])] if step else []
        if got != wanted:
            fail(seed, f'reserve {reserve} of {states}, allowed {allowed}: the plan does {got}, the table {wanted}', snapshot, told['recommendations'])
        steps[wanted[0][0] if wanted else 'none'] += 1
    print(f'steps of the reserve: {dict(steps)}')
    if min(steps['up'], steps['down'], steps['none']) < min(3, CLUSTERS // 20):
        sys.exit('too few steps of a kind')


# ---- an hour ----

def loads_of(snapshot):
    load = collections.Counter()
    for vm in snapshot['vms']:
        load[vm['host']] += vm['cpu']['demand'] / (CORES * CORE_MHZ)
    return load


def check_move(seed, snapshot, vm, to):
    """What binds every move."""
    names = {v['id']: v for v in snapshot['vms']}
    there = [v['id'] for v in snapshot['vms'] if v['host'] == to]
    host = next(h for h in snapshot['hosts'] if h['id'] == to)
    if names[vm].get('immovable') or host['state'] != 'on' or host.get('quarantine'):
        fail(seed, f'{vm} is held, or {to} takes no VMs', snapshot)
    for r in snapshot['rules']:
        if vm in r['vms'] and (set(r['vms']) & set(there) if r['kind'] == 'vm-vm-anti-affine' else to not in r['hosts']):
            fail(seed, f'{vm} to {to} breaks {r["id"]}', snapshot)
    if sum(names[v]['mem']['consumed'] for v in there) + names[vm]['mem']['consumed'] > host['mem_mb'] + NEAR:
        fail(seed, f'{vm} does not fit on {to}', snapshot)


def harden(dice, snapshot):
    """Rules, hosts that take no VMs, VMs that are held, little memory."""
    vms, hosts = [v['id'] for v in snapshot['vms']], [h['id'] for h in snapshot['hosts']]
    for n in range(dice.randint(0, 3)):
        if len(vms) < 4:
            break
        kind = dice.choice(('vm-vm-anti-affine', 'vm-host-affine'))
        some = dice.sample(vms, dice.randint(2, min(len(hosts), 3)) if kind.startswith('vm-vm') else 2)
        snapshot['rules'].append({'id': f'r{n}', 'name': f'r{n}', 'kind': kind, 'enabled': True, 'mandatory': True, 'vms': some,
                                  **({'hosts': dice.sample(hosts, max(1, len(hosts) - 1))} if kind == 'vm-host-affine' else {})})
    for vm in snapshot['vms']:
        if dice.random() < 0.1:
            vm['immovable'] = 'a test'
    for host in snapshot['hosts']:
        host['mem_mb'] = max(2048, sum(v['mem']['consumed'] for v in snapshot['vms'] if v['host'] == host['id'])) + dice.choice((0, 1024, 8192))
        if dice.random() < 0.1:
            host['quarantine'] = True


def pass_an_hour(seed, name):
    dice = random.Random(f'hour {seed}')
    cluster = cluster_of(dice)
    for vm in cluster.vms:
        vm.status = 'up'
    snapshot = snapshot_of(cluster, name, {'HighUtilization': 80, 'LowUtilization': 20, 'HighVmCount': 2, 'MigrationThreshold': 3})
    harden(dice, snapshot)
    left, n = set(), 0
    since = {}
    for minute in range(MINUTES):
        now = START + datetime.timedelta(minutes=minute)
        snapshot['time'] = now.isoformat().replace('+00:00', 'Z')
        load = loads_of(snapshot)
        for host in snapshot['hosts']:
            beyond = load[host['id']] >= 0.8 - NEAR or load[host['id']] <= 0.2 + NEAR
            since[host['id']] = since.get(host['id'], minute) if beyond else None
            host['over_s'] = 60 * (minute - since[host['id']]) if beyond else None
            if not beyond:
                since.pop(host['id'])
        told = plan(copy.deepcopy(snapshot))
        if len(moves_of(told)) > 1:
            fail(seed, 'two moves in one pass', snapshot, told['recommendations'])
        for vm, to in moves_of(told):
            check_move(seed, snapshot, vm, to)
            if (vm, to) in left:
                fail(seed, f'{vm} goes back to {to} in minute {minute}', snapshot)
        for r in told['recommendations']:
            if r['action'] == 'migrate':
                vm = next(v for v in snapshot['vms'] if v['id'] == r['vm'])
                if r['reason'] == 'policy':
                    left.add((r['vm'], r['from']))
                    n += 1
                vm.update({'host': r['to'], 'last_migrated': snapshot['time'], 'left_host': r['from']})
    return n


def main():
    compare_balances()
    compare_reserve()
    moves = [pass_an_hour(seed, list(balances.BALANCES)[1 + seed % 3]) for seed in range(HOURS)]
    print(f'moves in {HOURS} hours: {moves}')
    if sum(n > 0 for n in moves) < HOURS // 4:
        sys.exit('too few hours with a move')


main()
