#!/usr/bin/env python3
"""The balances of src/dialect/ovirt (O4) and its hard affinity groups against the model: on random clusters a plan with balance.by: policy moves the VM that the model's round
moves, to the same host, or none."""
import collections
import json
import os
import subprocess
import sys

from affinity import breaks_host_rule, enforcement, members_by_host
from balances import balance, first_move
from cluster import load
from clouds import cloud_of, only_online, topology
from model import policy_of
from random_clusters import question
from scheduling import Call

CLUSTERS = 2000 if 'BALLAST_TEST_LONG' in os.environ else 20 if 'BALLAST_TEST_SLOW' in os.environ else 200
BALANCES = ('OptimalForEvenDistribution', 'OptimalForPowerSaving', 'OptimalForEvenGuestDistribution', 'None')
seen = collections.Counter()


def ballast(*arguments, given):
    done = subprocess.run([os.environ['BALLAST'], *arguments], input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'ballast {" ".join(arguments)}: {done.stderr}')
    return done.stdout


def planned(snapshot):
    """The plan's moves with their reasons; None: measurements are missing, then Ballast moves nothing for balance."""
    told = json.loads(ballast('plan', '--snapshot', '-', '--format', 'json', '--set', 'balance.by=policy', '--set', 'dpm.enabled=false', given=json.dumps(snapshot)))
    bad = any(f['code'] == 'samples_bad' for f in told['faults'])
    return None if bad else [(r['vm'], r['to'], r['reason']) for r in told['recommendations'] if r['action'] == 'migrate']


def misplaced(cluster, policy):
    """How many hard rules about hosts VMs break, and how many VMs stand where a hard group of VMs lets none of them stand. Only a filter of the
    policy keeps a VM from a host that breaks a group."""
    filters = {entry['unit'] for entry in policy['filters']}
    too_many = 0
    for group in cluster.groups:
        counts = [len(vms) for vms in members_by_host(cluster, group).values()]
        if group.vms_rule.enabled and group.vms_rule.enforcing and counts:
            too_many += sum(counts) - (max(counts) if group.vms_rule.positive else len(counts))
    hosts = sum(breaks_host_rule(cluster, group, True, vm.id, vm.host) for group in cluster.groups for vm in cluster.vms if vm.running)
    return hosts * ('VmToHostsAffinityGroups' in filters), too_many * ('VmAffinityGroups' in filters)


def compare_balance(policy, cluster, snapshot):
    """The rules about groups of VMs are left out: a plan follows them first."""
    found = balance(policy['balance'], Call(cluster, [], policy['parameters']))
    wanted = first_move(cluster, policy, found)
    got = planned({**snapshot, 'rules': []})
    if got is None:
        return
    if [move[:2] for move in got if move[2] == 'policy'] != ([(wanted['vm'], wanted['host'])] if wanted else []):
        yield f'{policy["balance"]}: {got}, expected {wanted} of {found}'
    seen[policy['balance']] += wanted is not None


def compare_enforcement(policy, cluster, snapshot):
    """What the plan moves for hard groups leaves fewer VMs misplaced. A VM on its way counts where it goes; the engine waits for it."""
    wanted = enforcement(cluster, policy)
    for vm in cluster.vms:
        vm.host = vm.migrating_to or vm.host
    before = misplaced(cluster, policy)
    moves = [(vm, to) for vm, to, reason in planned(snapshot) or [] if reason == 'rule']
    for vm, to in moves:
        cluster.vm(vm).host = to
    after = misplaced(cluster, policy)
    if moves and not sum(after) < sum(before):
        yield f'{moves} leave {after} misplaced, {before} before'
    seen['enforced'] += sum(after) < sum(before)
    seen['wanted'] += before > (0, 0) and wanted is not None


def compare(seed):
    asked = question(seed)
    for name in ('hosts', 'vms'):
        asked['cluster'][name].sort(key=lambda one: one['id'])  # rules take equal ones by id
    only_online(asked['cluster']['hosts'])
    policy = policy_of(asked)
    cluster = load(asked['cluster'])
    if any(host.cores and not topology(host) for host in cluster.hosts):  # REST cannot say so
        return 0
    snapshot = json.loads(ballast('fit', 'compile', '-', given=json.dumps(cloud_of(cluster, policy, []))))
    wrong = [*compare_balance(policy, cluster, snapshot), *(compare_enforcement(policy, cluster, snapshot) if cluster.groups else [])]
    for what in wrong:
        print(f'seed {seed}: {what}')
    return len(wrong) > 0


def main():
    first, count = (int(argument) for argument in sys.argv[1:3]) if len(sys.argv) > 2 else (1, CLUSTERS)
    wrong = sum(compare(seed) for seed in range(first, first + count))
    if count >= CLUSTERS >= 200 and min(seen[name] for name in BALANCES[:3]) < 3:
        wrong += 1
        print('too few clusters with a move')
    print(f'{count} clusters, {wrong} differ; hard groups mended in {seen["enforced"]}, by the model in {seen["wanted"]}; with a move: ' + ', '.join(f'{name} {seen[name]}' for name in BALANCES))
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
