#!/usr/bin/env python3
"""src/dialect/ovirt and core/fit against the model: on random clusters both refuse the same hosts by the same filters, give the rest the same
weights and points, and choose the same host."""
import json
import math
import os
import subprocess
import sys

from cluster import load
from clouds import cloud_of, only_online
from model import policy_of
from random_clusters import question
from scheduling import free_cpus, merged, record_pending, schedule_set

CLUSTERS = 10000 if 'BALLAST_TEST_LONG' in os.environ else 30 if 'BALLAST_TEST_SLOW' in os.environ else 300
SHOWN = 5
BY_RANK = ('VmAffinityGroups', 'VmToHostsAffinityGroups')  # the weight is the rank of what the stage has
seen = {'calls': 0, 'refused': 0, 'weights': 0, 'none': 0, 'first': 0}


class Probe:
    def __init__(self):
        self.process = subprocess.Popen([os.environ['BALLAST_OVIRT_PROBE']], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, asked):
        self.process.stdin.write(json.dumps(asked) + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def less(values):
    """By host: how many distinct values are less."""
    steps = sorted(set(values.values()))
    return {host: steps.index(value) for host, value in values.items()}


def relative(values):
    """By host: less the least. A stage that is the same everywhere is not there, so sums differ by a constant."""
    least = min(values.values(), default=0)
    return {host: round(value - least, 6) for host, value in values.items()}


def compare_weights(answer, told, policy):
    filters = {entry['unit'] for entry in policy['filters']}
    for unit, wanted in answer['weights'].items():
        got = told['weights'].get(f'{unit} weight', told['weights'].get(unit) if unit not in filters else None)
        seen['weights'] += 1
        if got is None:
            got = dict.fromkeys(wanted, 0)
            wanted = relative(wanted)
        elif unit in BY_RANK:  # BasicWeighting takes the ranks as scores, with negative factors
            basic = policy.get('selector') == 'BasicWeighting'
            got, wanted = less({host: -w if basic else w for host, w in got.items()}), less(wanted)
        if {host: round(w, 6) for host, w in got.items()} != wanted:
            yield f'weights of {unit}: {got}, expected {wanted}'


def compare(answer, told, policy):
    refused = {entry['host']: entry['filter'] for entry in answer['refused']}
    got = {host: name for host, name in told['refused'].items() if host in refused or host in answer['left']}
    seen['refused'] += len(refused)
    if got != refused:
        yield f'refused {dict(sorted(got.items()))}, expected {dict(sorted(refused.items()))}'
        return
    if sorted(told['order']) != sorted(answer['left']):
        yield f'left {sorted(told["order"])}, expected {sorted(answer["left"])}'
        return
    if answer['weights']:
        yield from compare_weights(answer, told, policy)
        by = 1 if policy.get('selector', 'RankSelector') == 'RankSelector' else -1
        sums = {host: by * value for host, value in answer['sums'].items()}
        points = {host: math.ceil(value) for host, value in told['points'].items()}  # the order of the list takes less than 1
        if relative(points) != relative(sums):
            yield f'sums {relative(points)}, expected {relative(sums)}'
    if (told['order'] or [None])[0] != answer['chosen']:
        yield f'chose {told["order"][:1]}, expected {answer["chosen"]}'
    seen['none'] += answer['chosen'] is None
    seen['first'] += len(answer['left']) > 1


def normal(asked):
    """The question as a file can have it: a host's CPUs have a use only where they are online, no VM is pending where it is, and lists of hosts
    are of the caller."""
    only_online(asked['cluster']['hosts'])
    at = {vm['id']: vm.get('host') for vm in asked['cluster']['vms']}
    asked['cluster']['pending'] = [p for p in asked['cluster']['pending'] if p['host'] != at[p['vm']]]
    request = asked['request']
    vms = request.get('vms') or [asked['cluster']['vms'][0]['id']]
    asked['request'] = {'kind': 'schedule', 'vms': vms}
    return asked


def settle_cpus(cluster):
    """VMs that are pending will have the lowest free CPUs for themselves."""
    pending, cluster.pending = cluster.pending, []
    for record in pending:
        vm = cluster.vm(record.vm)
        record.exclusive_cpus = free_cpus(cluster, cluster.host(record.host), vm.vcpus) if vm.exclusive else []
        cluster.pending.append(record)


def ask(probe, asked):
    cluster, policy = load(asked['cluster']), policy_of(asked)
    if not cluster.up():  # VMs do not run on hosts that are in maintenance
        return
    settle_cpus(cluster)
    for vms in merged(cluster, [cluster.vm(name) for name in asked['request']['vms']], policy):
        if any(p.vm == vm.id for p in cluster.pending for vm in vms) or len(vms) > 1:
            continue
        seen['calls'] += 1
        cloud = cloud_of(cluster, policy, vms)
        told = probe.ask({'cloud': cloud, 'vms': [vms[0].id]})
        answer = schedule_set(cluster, policy, vms, {})
        if 'error' in told:
            yield told['error']
            return
        yield from compare(answer, told[0], policy)
        if answer['chosen']:
            record_pending(cluster, vms, answer['chosen'])


def main():
    probe, wrong = Probe(), {}
    first, count = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (1, CLUSTERS)
    for seed in range(first, first + count):
        found = list(ask(probe, normal(question(seed))))
        if found:
            wrong[seed] = found
    for seed, found in list(wrong.items())[:SHOWN]:
        print(f'seed {seed}: ' + '\n  '.join(found))
    print(f'{count} clusters, {len(wrong)} differ; {seen}')
    sys.exit(bool(wrong) or not all(seen.values()))


if __name__ == '__main__':
    main()
