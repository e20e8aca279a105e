#!/usr/bin/env python3
"""The cluster of the rescheduling data set (824 hosts of two NUMA nodes, 4,042 VMs of one or two cells) as a snapshot, and what a plan for balance does to it.

    rescheduling.py --snapshot FILE     writes the snapshot
    rescheduling.py [--markdown]        free slots of 16 CPUs in one node before and after the plan; no node is ever overfull

Ends with 77 without the data (BALLAST_DATA)."""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import time

CORE_MHZ = 1000
SLOT_CPUS, START = 16, 226


def snapshot(data):
    hosts = [{'id': h['id'], 'state': 'on', 'cores': int(sum(n['cpus'] for n in h['numa'])), 'cpu_mhz': CORE_MHZ * sum(n['cpus'] for n in h['numa']),
              'mem_mb': sum(n['mem_mb'] for n in h['numa']),
              'numa': [{'id': i, 'cpus': int(n['cpus']), 'cpu_ratio': 1, 'mem_mb': int(n['mem_mb'])} for i, n in enumerate(h['numa'])]} for h in data['hosts']]
    vms = [{'id': v['id'], 'host': v['host'], 'state': 'on', 'vcpus': int(sum(n['cpus'] for n in v['numa'])), 'mem_mb': sum(n['mem_mb'] for n in v['numa']),
            'cpu': {'demand': CORE_MHZ / 2 * sum(n['cpus'] for n in v['numa'])}, **({} if v['movable'] else {'automation': 'disabled'}),
            'numa': [{'cpus': int(n['cpus']), 'mem_mb': int(n['mem_mb']), 'cell': n['node']} for n in v['numa']]} for v in data['vms']]
    return {'format': 'ballast-snapshot/1', 'cluster': 'rescheduling', 'time': '2026-01-01T00:00:00Z', 'hosts': hosts, 'vms': vms}


def slots(free):
    """How many VMs of so many CPUs in one node still fit."""
    return sum(n // SLOT_CPUS for nodes in free.values() for n in nodes)


def free_cpus(snap):
    free = {h['id']: [c['cpus'] for c in h['numa']] for h in snap['hosts']}
    for v in snap['vms']:
        for c in v['numa']:
            free[v['host']][c['cell']] -= c['cpus']
    return free


def replay(snap, moves):
    """The moves one after the other. A VM gets the nodes with most CPUs left, as the plan has it; KeyError, AssertionError: it does not fit."""
    free, vms = free_cpus(snap), {v['id']: v for v in snap['vms']}
    for m in moves:
        nodes = sorted(range(2), key=lambda i: -free[m['to']][i])
        for c, node in zip(vms[m['vm']]['numa'], nodes):
            free[m['to']][node] -= c['cpus']
            assert free[m['to']][node] >= 0, m
            free[m['from']][c['cell']] += c['cpus']
            c['cell'] = node
    return free


def main():
    path = pathlib.Path(os.environ.get('BALLAST_DATA', '/nonexistent')) / 'rescheduling-824x4042.json.xz'
    if not path.exists():
        print('skipped: no data set, set BALLAST_DATA', file=sys.stderr)
        return 77
    snap = snapshot(json.loads(lzma.open(path).read()))
    if '--snapshot' in sys.argv:
        pathlib.Path(sys.argv[-1]).write_text(json.dumps(snap), encoding='utf-8')
        return 0
    began = time.monotonic()
    done = subprocess.run([os.environ['BALLAST'], 'plan', '--snapshot', '-', '--format', 'json', '--set', 'migration_threshold=5'], input=json.dumps(snap),
                          stdout=subprocess.PIPE, text=True, check=False, timeout=300)
    took_s = time.monotonic() - began
    moves = [r for r in json.loads(done.stdout)['recommendations'] if r['action'] == 'migrate']
    before = slots(free_cpus(snap))
    print(f'| free slots of {SLOT_CPUS} CPUs | moves for balance | free slots after them | s, reading included |\n|---|---|---|---|\n'
          f'| {before} | {len(moves)} | {slots(replay(snap, moves))} | {took_s:.1f} |')
    return 0 if before == START and moves else 1


if __name__ == '__main__':
    sys.exit(main())
