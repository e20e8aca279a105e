#!/usr/bin/env python3
"""What an admin gets who sets nothing but dpm.enabled: hosts sleep where they can, sleeps are long, and users hardly notice.

    tests/sim/defaults.py [NAME...]

Runs the scenarios of defaults/ and prints figures; exit code 1 if one is not as it must be. BALLAST_TEST_LONG: with all seeds.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BALLAST = os.environ.get('BALLAST', str(HERE.parents[1] / 'build/src/cli/ballast'))
LONG = bool(os.environ.get('BALLAST_TEST_LONG'))


def simulate(scenario, seed, *changes):
    """The metrics of one run; missing_percent: of the CPU that could have been delivered. scenario: a name in defaults/, or a path."""
    words = [word for change in changes for word in ('--set', change)]
    path = scenario if isinstance(scenario, pathlib.Path) else HERE / 'defaults' / f'{scenario}.yaml'
    done = subprocess.run([BALLAST, 'simulate', str(path), '--seed', str(seed), *words, '--format', 'json',
                           '--no-progress'], stdout=subprocess.PIPE, check=True, text=True)
    metrics = json.loads(done.stdout)['metrics']
    metrics['missing_percent'] = 100 * (1 - metrics['payload_cpu'] / metrics['payload_cpu_bound'])
    shown = ', '.join(f'{name} {metrics[name]:.4g}' for name in ('kwh', 'hosts_on_mean', 'missing_percent', 'migrations', 'host_power_offs',
                                                                 'sleeps_under_1h'))
    print(f'{" ".join([path.stem, *changes])}, seed {seed}: {shown}')
    return metrics


class Verdict:
    def __init__(self):
        self.wrong = []

    def must(self, what, is_so):
        print(f'{"good" if is_so else "WRONG"}: {what}')
        if not is_so:
            self.wrong.append(what)


def one_host_above(verdict):
    run = simulate('one-host-above', 1)
    # All VMs want 2.6 hosts' memory, so four hosts would do within the range of DPM.
    verdict.must('hosts sleep beside one host above the range', run['hosts_on_mean'] <= 5)
    verdict.must('none is woken again', run['host_power_ons'] == 0)
    verdict.must('nothing is missing', run['missing_percent'] < 0.01)


def bursts(verdict):
    for seed in (1, 2, 3) if LONG else (1, 2):
        balanced, run = simulate('bursts', seed, 'dpm.enabled=false'), simulate('bursts', seed)
        verdict.must('at most one sleep under an hour', run['sleeps_under_1h'] <= 1)
        verdict.must('at most .05 points more of CPU missing than without DPM', run['missing_percent'] <= balanced['missing_percent'] + 0.05)
        verdict.must('no more energy than without DPM', run['kwh'] <= balanced['kwh'])


def regular_bursts(verdict):
    for low_s in (1080, 3480, 7080):
        run = simulate('regular-bursts', 1, f'vms.b.workload.cpu.low_s={low_s}')
        verdict.must('at most .1 % of CPU missing after the first day', run['missing_percent'] <= 0.1)
        verdict.must('no sleep under an hour', run['sleeps_under_1h'] == 0)


def burst_cluster(seed):
    """Two days of hosts whose VMs, or half or a sixth of them, are busy for two to five minutes at a time."""
    r = random.Random(seed)
    part, every_s, high_s = r.choice((1, 1 / 2, 1 / 6)), r.choice((1200, 3600, 7200, 21600)), r.choice((120, 180, 300))
    hosts, cores = r.choice((6, 8, 10, 12)), r.choice((8, 16, 24))
    vms = hosts * r.choice((6, 10))
    bursty = max(1, round(vms * part))
    capacity = hosts * cores * 2400
    base = r.uniform(.05, .2) * capacity / vms
    most = (.75 * capacity - (vms - bursty) * 1.2 * base) / bursty  # so that all hosts together can serve a burst
    level = min(r.uniform(.3, .65) * capacity / vms + (0 if part == 1 else r.uniform(2, 6) * base), 9100, most)

    def group(name, count, cpu):
        return {'name': name, 'count': count, 'vcpus': 4, 'mem_mb': 4096, 'at': 'spread', 'workload': {'cpu': cpu, 'mem': 2000}}

    groups = [group('b', bursty, {'kind': 'high_low', 'levels': [round(level)], 'high_s': high_s, 'level': round(base), 'low_s': every_s - high_s}),
              group('c', vms - bursty, round(base))]
    return {'name': 'bursts', 'start': '2026-01-05T00:00:00Z', 'duration_s': 172800, 'measure_from_s': 86400, 'seed': seed,
            'settings': {'dpm.enabled': True}, 'vms': [g for g in groups if g['count'] > 0],
            'hosts': [{'name': 'esx', 'count': hosts, 'cores': cores, 'core_mhz': 2400, 'mem_mb': 262144, 'link_mb_s': 1100, 'sleep_s': 40,
                       'boot_s': 240, 'power': {'idle_w': 160, 'peak_w': 380, 'standby_w': 12}}]}


def random_bursts(verdict):
    with tempfile.TemporaryDirectory() as folder:
        scenario = pathlib.Path(folder) / 'bursts.yaml'
        for seed in range(1, 201 if LONG else 9):
            scenario.write_text(json.dumps(burst_cluster(seed)))  # JSON is YAML, too
            run = simulate(scenario, seed)
            verdict.must(f'at most .1 % of CPU missing after the first day, seed {seed}', run['missing_percent'] <= 0.1)
            verdict.must(f'no sleep under an hour, seed {seed}', run['sleeps_under_1h'] == 0)


# Means of the seeds, with the first edition of the decision.
OFFICE_SEEDS = (1, 2, 3, 4, 5, 6)
OFFICE_KWH_BEFORE, OFFICE_MISSING_BEFORE = 171.7, 0.0495


def office_days(verdict):
    runs = [simulate('office-days', seed) for seed in OFFICE_SEEDS]
    kwh, missing = (sum(run[name] for run in runs) / len(runs) for name in ('kwh', 'missing_percent'))
    verdict.must(f'{kwh:.1f} kWh on average, no more than the {OFFICE_KWH_BEFORE} of the first edition', kwh <= OFFICE_KWH_BEFORE)
    verdict.must(f'{missing:.4f} % missing on average, at most half of the {OFFICE_MISSING_BEFORE} of the first edition',
                 missing <= OFFICE_MISSING_BEFORE / 2)


SITUATIONS = {'one-host-above': one_host_above, 'bursts': bursts, 'regular-bursts': regular_bursts, 'random-bursts': random_bursts,
              'office-days': office_days}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument('names', nargs='*', metavar='NAME', help=' '.join(SITUATIONS))
arguments = parser.parse_args()
unknown = set(arguments.names) - set(SITUATIONS)
if unknown:
    parser.error(f'no situation {", ".join(sorted(unknown))}')
result = Verdict()
for name in arguments.names or SITUATIONS:
    SITUATIONS[name](result)
sys.exit(1 if result.wrong else 0)
