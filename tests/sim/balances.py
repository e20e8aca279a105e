#!/usr/bin/env python3
"""A simulated day of 16 hosts and 400 VMs under the balances of oVirt's built-in policies, as rules of a pipeline, and under Ballast's own.

tests/sim/balances.py [--seeds N] [--markdown]     BALLAST as the tests have it

All look each minute, and VMs are placed at random at first. The policies have their defaults, and the weights that agree with them; a
move under Ballast's own balancing is made where it pays. Exits with 1 where a policy makes no move or a figure is missing.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'ovirt'))

import balance_rules  # noqa: E402

HOSTS, MEM_MB = 16, 65536
SPREAD = [{'name': 'calm', 'score': ['-', 0, '$host.load'], 'applies': ['place']}]
FILL = [{'name': 'full', 'score': ['if', ['<=', '$host.load', 0.8], '$host.load', -1], 'applies': ['place']}]
GUESTS = [{'name': 'few', 'score': ['-', 0, '$host.used.guests'], 'applies': ['place']}]
DPM = {'dpm.enabled': True, 'dpm.automation': 'automatic'}

# (name in the table, balance or None: Ballast's own, its parameters, its weights, settings)
WAYS = (
    ("Ballast's own", None, {}, SPREAD, {}),
    ("Ballast's own, with DPM", None, {}, SPREAD, DPM),
    ('none', 'None', {}, SPREAD, {}),
    ('evenly_distributed', 'OptimalForEvenDistribution', {}, SPREAD, {}),
    ('vm_evenly_distributed', 'OptimalForEvenGuestDistribution', {}, GUESTS, {}),
    ('power_saving', 'OptimalForPowerSaving', {}, FILL, {}),
    ('power_saving, 1 host in reserve', 'OptimalForPowerSaving', {'HostsInReserve': 1}, FILL, DPM),
    ('power_saving, 3 hosts in reserve', 'OptimalForPowerSaving', {'HostsInReserve': 3}, FILL, DPM),
)
FIGURES = (('migrations', 'moves', 1), ('slav', 'CPU missing, % of the demand', 3), ('host_above_90_s', 'a host above 90 %, minutes', 0),
           ('kwh', 'kWh', 1), ('host_power_offs', 'standbys', 0), ('imbalance_mean', 'mean imbalance', 3))


def vms():
    cpu = {'kind': 'normal', 'high_spread': 150, 'low_spread': 40, 'step_s': 300, 'phase': 'random'}
    return [
        {'name': 'desk', 'count': 240, 'vcpus': 2, 'mem_mb': 2048, 'at': 'random', 'pipeline': 'p',
         'workload': {'cpu': {'kind': 'office', 'high': 900, 'low': 120, 'step_s': 300}, 'mem': 1024}},
        {'name': 'wave', 'count': 100, 'vcpus': 2, 'mem_mb': 2048, 'at': 'random', 'pipeline': 'p',
         'workload': {'cpu': {**cpu, 'high': 1500, 'high_s': 5400, 'low': 200, 'low_s': 9000}, 'mem': 1024}},
        {'name': 'server', 'count': 60, 'vcpus': 4, 'mem_mb': 4096, 'at': 'random', 'pipeline': 'p',
         'workload': {'cpu': {'kind': 'normal', 'high': 900, 'high_spread': 200, 'step_s': 300}, 'mem': 2048}},
    ]


def scenario(way):
    _, balance, parameters, weights, settings = way
    pipeline = balance_rules.pipeline(balance or 'None', parameters, list(weights), keeps_reserve=balance is not None and 'dpm.enabled' in settings)
    host = {'name': 'esx', 'count': HOSTS, 'cores': 16, 'core_mhz': 2400, 'mem_mb': MEM_MB, 'link_mb_s': 1100, 'boot_s': 240, 'sleep_s': 40,
            'power': {'idle_w': 160, 'peak_w': 380, 'standby_w': 12}, 'attributes': {'smem': MEM_MB}}
    return {'name': 'balances', 'duration_s': 86400, 'seed': 1, 'settings': {'interval_s': 60, 'balance.by': 'policy' if balance else 'ballast', **settings},
            'hosts': [host], 'pipelines': [pipeline], 'vms': vms()}


def run(way, seeds, folder):
    path = pathlib.Path(folder, 'scenario.yaml')
    path.write_text(json.dumps(scenario(way)), encoding='utf-8')
    done = subprocess.run([os.environ.get('BALLAST', 'ballast'), 'simulate', '--format', 'json', '--no-progress', '--seeds', str(seeds), str(path)],
                          stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f'{way[0]}: exit code {done.returncode}')
    result = json.loads(done.stdout)
    return [r['metrics'] for r in (result['runs'] if seeds > 1 else [result])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seeds', type=int, default=1)
    parser.add_argument('--markdown', action='store_true', help='as a table for a README')
    options = parser.parse_args()
    print('| balance | ' + ' | '.join(text for _, text, _ in FIGURES) + ' |')
    print('|---|' + '---|' * len(FIGURES))
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            runs = run(way, options.seeds, folder)
            values = {key: statistics.median(r[key] for r in runs) for key, _, _ in FIGURES}
            values['host_above_90_s'] /= 60
            print(f'| {way[0]} | ' + ' | '.join(f'{values[key]:,.{digits}f}' for key, _, digits in FIGURES) + ' |', flush=True)
            missed = missed or (values['migrations'] == 0) != (way[1] == 'None')
    return 1 if missed else 0


sys.exit(main())
