#!/usr/bin/env python3
"""A simulated day of 16 hosts and 400 VMs under oVirt's built-in policies, as pipelines of the simulated source, and under Ballast's own balancing.

tests/sim/balances.py [--days N] [--seeds N]     BALLAST as the tests have it
tests/sim/balances.py --check PROGRAM            with sim-policies: no move goes to a host that a filter refuses; two hours, BALLAST_TEST_LONG: two weeks

All look each minute, and VMs are placed at random at first. The policies have their defaults. A
move under Ballast's own balancing is made where it pays. Exits with 1 where a policy makes no move or a figure is missing.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HOSTS, MEM_MB = 16, 131072
DPM = {'dpm.enabled': True, 'dpm.automation': 'automatic'}


def power_saving(reserve):
    return {'clone_of': 'power_saving', 'properties': {'EnableAutomaticHostPowerManagement': 'true', 'HostsInReserve': reserve}}


# (name in the table, policy or None: Ballast's own, settings)
WAYS = (
    ("Ballast's own", None, {}),
    ("Ballast's own, with DPM", None, DPM),
    ("Ballast's own, with DPM, by power_saving's filters", 'power_saving', {'balance.by': 'ballast', **DPM}),
    ('none', 'none', {}),
    ('evenly_distributed', 'evenly_distributed', {}),
    ('vm_evenly_distributed', 'vm_evenly_distributed', {}),
    ('power_saving', 'power_saving', {}),
    ('power_saving, 1 host in reserve', power_saving(1), DPM),
    ('power_saving, 3 hosts in reserve', power_saving(3), DPM),
)
FIGURES = (('migrations', 'moves', 1), ('slav', 'CPU missing, % of the demand', 3), ('host_above_90_s', 'a host above 90 %, minutes', 0),
           ('kwh', 'kWh', 1), ('host_power_offs', 'standbys', 0), ('imbalance_mean', 'mean imbalance', 3))


def vms(placed_by_policy):
    cpu = {'kind': 'normal', 'high_spread': 150, 'low_spread': 40, 'step_s': 300, 'phase': 'random'}
    own = {'pipeline': 'p'} if placed_by_policy else {}
    return [
        {'name': 'desk', 'count': 240, 'vcpus': 2, 'mem_mb': 2048, 'at': 'random', **own,
         'workload': {'cpu': {'kind': 'office', 'high': 900, 'low': 120, 'step_s': 300}, 'mem': 1024}},
        {'name': 'wave', 'count': 100, 'vcpus': 2, 'mem_mb': 2048, 'at': 'random', **own,
         'workload': {'cpu': {**cpu, 'high': 1500, 'high_s': 5400, 'low': 200, 'low_s': 9000}, 'mem': 1024}},
        {'name': 'server', 'count': 60, 'vcpus': 4, 'mem_mb': 4096, 'at': 'random', **own,
         'workload': {'cpu': {'kind': 'normal', 'high': 900, 'high_spread': 200, 'step_s': 300}, 'mem': 2048}},
    ]


def scenario(way, days):
    _, policy, settings = way
    host = {'name': 'esx', 'count': HOSTS, 'cores': 16, 'core_mhz': 2400, 'mem_mb': MEM_MB, 'link_mb_s': 1100, 'boot_s': 240, 'sleep_s': 40,
            'power': {'idle_w': 160, 'peak_w': 380, 'standby_w': 12}}
    return {'name': 'balances', 'duration_s': round(86400 * days), 'seed': 1, 'settings': {'interval_s': 60, 'balance.by': 'policy' if policy else 'ballast', **settings},
            'hosts': [host], 'pipelines': [{'name': 'p', 'scheduling_policy': policy or 'none'}], 'vms': vms(policy is not None)}


def run(way, options, folder):
    path = pathlib.Path(folder, 'scenario.yaml')
    path.write_text(json.dumps(scenario(way, options.days)), encoding='utf-8')
    done = subprocess.run([os.environ.get('BALLAST', 'ballast'), 'simulate', '--format', 'json', '--no-progress', '--seeds', str(options.seeds), str(path)],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f'{way[0]}: exit code {done.returncode}')
    result = json.loads(done.stdout)
    return [r['metrics'] for r in (result['runs'] if options.seeds > 1 else [result])]


def check(program, days):
    """On smaller hosts, in the morning and in the evening, when VMs leave hosts for fewer: filters refuse many."""
    def one(case):
        way, start = case
        path = pathlib.Path(folder, f'{way[0]} {start}.yaml')
        small = scenario(way, days) | {'start': f'2026-01-05T{start}:00:00Z'}
        small['hosts'][0] |= {'mem_mb': 73728, 'cores': 10}
        path.write_text(json.dumps(small), encoding='utf-8')
        return subprocess.run([program, path], stdout=subprocess.PIPE, text=True, check=False)
    cases = [(way, start) for way in WAYS for start in ('08', '18')]
    bad = refused = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for (way, start), done in zip(cases, threads.map(one, cases)):
            print(f'{way[0]}, from {start}:00: {done.stdout.strip()}', flush=True)
            bad += done.returncode != 0
            refused += int(re.search(r'(\d+) hosts refused', done.stdout)[1])
    return 1 if bad or not refused else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--days', type=int, default=1)
    parser.add_argument('--check')
    options = parser.parse_args()
    if options.check:
        return check(options.check, 7 if os.environ.get('BALLAST_TEST_LONG') else 1 / 24)
    print('| balance | ' + ' | '.join(text for _, text, _ in FIGURES) + ' |')
    print('|---|' + '---|' * len(FIGURES))
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            runs = run(way, options, folder)
            values = {key: statistics.median(r[key] for r in runs) for key, _, _ in FIGURES}
            values['host_above_90_s'] /= 60
            print(f'| {way[0]} | ' + ' | '.join(f'{values[key]:,.{digits}f}' for key, _, digits in FIGURES) + ' |', flush=True)
            missed = missed or (values['migrations'] == 0) != (way[1] == 'none')
    return 1 if missed else 0


sys.exit(main())
