#!/usr/bin/env python3
"""Measures the CPU time of simulated days: 32 hosts with 1,280 VMs, 800 with 1,052 and 1,463.

simulate.py [--hours N] [--instructions] [--before BALLAST] [NAME...]

Demand is PlanetLab's, as it was measured (BALLAST_DATA), and that of the paper's surge; each day with and without DPM, with the default settings.
With --instructions callgrind counts instructions, all and those of the decisions, which are the same on every machine; that takes fifty times as long, so --hours runs the beginning of the day. With --before the counts of
another program are given too, and how many times as many these are.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile

import snapshots

EXPERIMENTS = snapshots.TREE / 'tests/sim/experiments'
# name: scenario, changes, the archive of its traces
DAYS = {
    '32 x 1,280, measured': (snapshots.TREE / 'tests/bench/day-32x1280.yaml', (), 'planetlab-20110403'),
    '32 x 1,280, surge': (EXPERIMENTS / 'figures-8-13.yaml', (), ''),
    'PlanetLab 20110303': (EXPERIMENTS / 'planetlab.yaml', (), 'planetlab-20110303'),
    'PlanetLab 20110403': (EXPERIMENTS / 'planetlab.yaml', ('start=2011-04-03T00:00:00Z',), 'planetlab-20110403'),
}
HEAD = ('day', 'DPM', 'passes', 'migrations', 'hosts on', 'CPU time, s')
COUNTED = ('instructions, M', 'of it deciding, M')


def run(program, scenario, changes, before=()):
    """(figures, CPU seconds) of a run."""
    args = [*before, program, 'simulate', str(scenario), '--format', 'json', '--no-progress']
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*args, *(part for change in changes for part in ('--set', change))], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL if before else None, check=True, env=snapshots.COUNTING if before else None)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads(done.stdout)['metrics'], ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def count(program, scenario, changes, folder):
    """Instructions in millions: all, and those of the decisions."""
    out = os.path.join(folder, 'callgrind.out')
    run(program, scenario, changes, ['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}'])
    done = subprocess.run(['callgrind_annotate', '--inclusive=yes', out], stdout=subprocess.PIPE, text=True, check=True)
    found = [re.search(rf'^ *([\d,]+) .*{what}', done.stdout, flags=re.M) for what in ('PROGRAM TOTALS', r'\bpass_run\b')]
    return [int(match.group(1).replace(',', '')) / 1e6 if match else 0 for match in found]


def rows_of(name, folder, options):
    scenario, changes, archive = DAYS[name]
    changes = [*changes, f'duration_s={options.hours * 3600}', 'measure_from_s=0']
    if archive:
        with tarfile.open(snapshots.data(f'{archive}.tar.xz')) as tar:
            tar.extractall(pathlib.Path(folder) / archive)
        changes.append(f'workload.dir={next((pathlib.Path(folder) / archive).iterdir())}')
    for dpm in ('false', 'true'):
        made = [*changes, f'dpm.enabled={dpm}']
        metrics, cpu_s = run(snapshots.BALLAST, scenario, made)
        cells = [name, 'on' if dpm == 'true' else 'off', f'{metrics["passes"]:.0f}', f'{metrics["migrations"]:,.0f}', f'{metrics["hosts_on_mean"]:.0f}',
                 f'{cpu_s:.1f}']
        if options.instructions:
            counted = count(snapshots.BALLAST, scenario, made, folder)
            cells += [f'{n:,.0f}' for n in counted]
            if options.before:
                cells += [f'{n / b:.2f}' if b else '' for n, b in zip(counted, count(options.before, scenario, made, folder))]
        yield cells


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hours', type=int, default=24)
    parser.add_argument('--instructions', action='store_true')
    parser.add_argument('--before', metavar='BALLAST', help='another program to count')
    parser.add_argument('--markdown', action='store_true', help='as a table for README.md')
    parser.add_argument('names', nargs='*', metavar='NAME', help='; '.join(DAYS))
    options = parser.parse_args()
    if options.instructions and not shutil.which('callgrind_annotate'):
        print('valgrind is not installed: instructions are not counted', file=sys.stderr)
        options.instructions = False
    names = [name for name in options.names or DAYS if not DAYS[name][2] or snapshots.data(f'{DAYS[name][2]}.tar.xz')]
    if len(names) < len(options.names or DAYS):
        print('no traces: BALLAST_DATA names their folder', file=sys.stderr)
    head = HEAD + (COUNTED if options.instructions else ()) + (('times before', 'deciding') if options.instructions and options.before else ())
    with tempfile.TemporaryDirectory() as folder:
        snapshots.show(head, [cells for name in names for cells in rows_of(name, folder, options)], options.markdown)
    return 0 if names else snapshots.SKIPPED


sys.exit(main())
