#!/usr/bin/env python3
"""Compares the power-offs of a deep search with the greedy ones on generated clusters.

consolidation.py [--seeds N] [--markdown]

The clusters are those of `ballast generate`, at half their load, with all hosts ready to be woken. alike: equal hosts of unknown watts; mixed: hosts
of three models, two sizes and different watts. Means over the seeds. watts: of the hosts that stay on, at their load after the plan; without watts
the number of hosts counts. GB: memory of the moved VMs.
"""
import argparse
import json
import random
import statistics
import tempfile

import snapshots

SIZES = ((8, 80), (16, 320), (32, 640), (64, 1280))
HEAD = ('hosts x VMs', 'hosts', 'search', 'hosts on', 'watts', 'moves', 'GB', 'decision')
PART = .5
MODELS = ((1, 110, 260), (1, 180, 390), (.75, 90, 320))
DPM = ('dpm.enabled=true', 'dpm.changes_max=0', 'moves_max=0')


def prepare(path, seed, mixed):
    snap = json.loads(path.read_text(encoding='utf-8'))
    rng = random.Random(seed)
    for host in snap['hosts']:
        host.update(wake_methods=['ipmi'], wake_verified=True)
        if mixed:
            size, idle, peak = MODELS[rng.randrange(len(MODELS))]
            host.update(cpu_mhz=round(host['cpu_mhz'] * size), power_idle_w=idle, power_peak_w=peak)
    for vm in snap['vms']:
        for what in ('cpu', 'mem'):
            for key in {'demand', 'consumed', 'active'} & vm[what].keys():
                vm[what][key] = int(vm[what][key] * PART)
    path.write_text(json.dumps(snap), encoding='utf-8')
    return snap


def outcome(path, snap, search):
    made = snapshots.plan(path, (*DPM, f'search={search}'))
    moved = snapshots.moves(made)
    left = snapshots.Loads(path, moved)
    off = {r['host'] for r in made['recommendations'] if r['action'] == 'power_off'}
    watts = 0
    for host, load in zip(snap['hosts'], left.of['cpu']):
        if host['id'] not in off and 'power_idle_w' in host:
            watts += host['power_idle_w'] + min(load, 1) * (host['power_peak_w'] - host['power_idle_w'])
    return len(snap['hosts']) - len(off), watts, len(moved), left.gb, made['stats']['decide_us'] / 1e6


def rows(seeds, folder):
    for hosts, vms in SIZES:
        for mixed in (False, True):
            results = {'greedy': [], 'deep': []}
            for seed in range(1, seeds + 1):
                path = snapshots.generated(hosts, vms, 'skewed', folder, seed)
                snap = prepare(path, seed, mixed)
                for search, all_of in results.items():
                    all_of.append(outcome(path, snap, search))
                path.unlink()
            for search, all_of in results.items():
                on, watts, moved, gb, took = (statistics.mean(column) for column in zip(*all_of))
                yield (f'{hosts} x {vms:,}', 'mixed' if mixed else 'alike', search, f'{on:.2f}', f'{watts:,.0f}' if mixed else '', f'{moved:.1f}',
                       f'{gb:,.1f}', f'{took:.2f} s')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=10)
    parser.add_argument('--markdown', action='store_true', help='a table for README.md')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        snapshots.show(HEAD, list(rows(args.seeds, folder)), args.markdown)


main()
