#!/usr/bin/env python3
"""The processor time of a plan by each built-in balance of oVirt (balance.by: policy) on large clouds, beside Ballast's own on the same cloud.

policies.py [HOSTSxVMS_PER_HOST...]     BALLAST as the tests have it; without arguments 100x10, 1000x10 and 1000x30

The first host has three times as many VMs as the others; loads are drawn. In a cloud that is "full" no host has memory for one more VM, so
that every VM that is to leave a host is tried in vain. Columns: hosts, VMs of a host, cloud, policy, seconds of both plans, moves by the policy.
"""
import json
import os
import random
import resource
import subprocess
import sys

POLICIES = ('none', 'evenly_distributed', 'vm_evenly_distributed', 'power_saving')
LOADS = (5, 20, 40, 60, 85, 95)
MIB = 1 << 20


def statistics(**values):
    return {'statistic': [{'name': name, 'values': {'value': [{'datum': datum}]}} for name, datum in values.items()]}


def cloud(n, per_host, policy, full):
    draw = random.Random(1)
    hosts, vms = [], []
    for h in range(n):
        load = draw.choice(LOADS)
        hosts.append({'id': f'h{h}', 'name': f'h{h}', 'status': 'up', 'cluster': {'id': 'c'}, 'memory': 262144 * MIB,
                      'max_scheduling_memory': 0 if full else 131072 * MIB, 'cpu_threshold_seconds': 600,
                      'cpu': {'topology': {'sockets': 2, 'cores': 16, 'threads': 1}, 'type': 'x'},
                      'statistics': statistics(**{'memory.free': 131072 * MIB, 'swap.total': 1024 * MIB, 'swap.free': 1024 * MIB,
                                                  'cpu.current.user': load, 'cpu.current.system': 1})})
        vms += [{'id': f'v{h}-{v}', 'name': f'v{h}-{v}', 'status': 'up', 'host': {'id': f'h{h}'}, 'cluster': {'id': 'c'}, 'memory': 4096 * MIB,
                 'cpu': {'topology': {'sockets': 1, 'cores': 2, 'threads': 1}}, 'statistics': statistics(**{'cpu.current.total': load})}
                for v in range(per_host if h else 3 * per_host)]
    return {'dialect': 'ovirt', 'hosts': hosts, 'vms': vms, 'cpu_types': [{'name': 'x', 'vendor': 'x', 'level': 1}],
            'clusters': [{'id': 'c', 'name': 'c', 'version': {'major': 4, 'minor': 7}, 'scheduling_policy': {'id': policy}}]}


def ballast(*arguments, given):
    """What the command prints, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([os.environ.get('BALLAST', 'ballast'), *arguments], input=given, stdout=subprocess.PIPE, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    for size in sys.argv[1:] or ('100x10', '1000x10', '1000x30'):
        hosts, per_host = map(int, size.split('x'))
        for full in (False, True):
            for policy in POLICIES:
                snapshot, _ = ballast('fit', 'compile', '-', given=json.dumps(cloud(hosts, per_host, policy, full)))
                plans = [ballast('plan', '--snapshot', '-', '--set', f'balance.by={by}', '--set', 'dpm.enabled=false', '--format', 'json', given=snapshot)
                         for by in ('ballast', 'policy')]
                moves = sum(r['reason'] == 'policy' for r in json.loads(plans[1][0])['recommendations'])
                print(f"{hosts:5} {per_host:3} {'full' if full else 'roomy':5} {policy:21} own {plans[0][1]:.2f} s, policy {plans[1][1]:.2f} s, {moves} moves", flush=True)


if __name__ == '__main__':
    main()
