#!/usr/bin/env python3
"""Compares alternatives to Ballast's choices: runs each scenario with each alternative, over several seeds.

    tests/sim/choices.py [--seeds N] [--jobs N] [--traces DIR]... [--markdown] [--power | --predictions | --scores | --plans | --noise]
                         --try LABEL[=PATH][,KEY=VALUE]... [SCENARIO...]

An alternative is a setting (--try 'level 5,migration_threshold=5'), or another ballast, built with another constant
(--try 'no floor=/tmp/other/ballast'). SCENARIO is a name in choices/ or experiments/ or a path; without one, all of choices/.
Prints the median, the minimum and the maximum. With --plans, SCENARIO is a snapshot in cases/, of which one plan is made; with --noise
it is HOSTSxVMS, a generated cluster of which nobody approves anything.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
BALLAST = os.environ.get('BALLAST', str(TREE / 'build/src/cli/ballast'))
# What a scenario takes from traces: the folder that is looked for in those of --traces.
TRACES = {'planetlab': 'planetlab-20110303', 'bitbrains': 'bitbrains-rnd-2013-08-first250'}
# Heading, figure, digits.
FIGURES = (('missing CPU, %', 'slav', 3), ('missing memory, GiB s', 'unmet_gb_s', 0), ('CPU of entitlement, %', 'happiness_mean', 2),
           ('worst pool, %', 'worst_pool', 2), ('any host above 90 %, min', 'above_90_min', 0), ('migrations', 'migrations', 0),
           ('moves per VM and day', 'moves_per_vm_day', 2), ('GiB moved', 'gb_moved', 0), ('imbalance', 'imbalance_mean', 4),
           ('to the target, min', 'to_target', 0), ('passes', 'passes', 0))
# With --power: DPM.
POWER_FIGURES = (('kWh', 'kwh', 1), ('missing CPU, %', 'slav', 3), ('any host above 90 %, min', 'above_90_min', 0), ('migrations', 'migrations', 0),
                 ('sleeps', 'host_power_offs', 0), ('shortest, min', 'shortest_min', 1), ('median, min', 'median_min', 0),
                 ('under an hour', 'sleeps_under_1h', 0))
# With --predictions: how often the loads of a move's two hosts, and its duration, came as predicted.
PREDICTION_FIGURES = (('moves observed', 'moves_observed', 0), ('loads as predicted, %', 'moves_as_predicted', 1),
                      ('duration as predicted, %', 'moves_timed_as_predicted', 1), ('overlapping moves', 'moves_overlapping', 0),
                      ('loads as predicted, %', 'moves_overlapping_as_predicted', 1),
                      ('duration as predicted, %', 'moves_overlapping_timed_as_predicted', 1))
# With --scores: pipelines that prefer hosts.
SCORE_FIGURES = (('score', 'score_mean', 3), ('imbalance', 'imbalance_mean', 4), ('above the target, min', 'above_target_min', 0), ('migrations', 'migrations', 0),
                 ('missing CPU, %', 'slav', 3), ('any host above 90 %, min', 'above_90_min', 0))
# With --plans: what the snapshots of cases/ are decided with.
CASES = {'dpm-with-failover': ['--set', 'dpm.enabled=true'], 'overcommitted-evacuation': ['--set', 'mem_overcommit=2'],
         'ha-for-every-source': ['--config', str(HERE / 'cases/ha-for-every-source.yaml')]}
PLAN_HEAD = ('moves that must be', 'other moves', 'hosts to standby', 'faults', 'the first one')
# With --noise: an hour and a half of passes in which each VM's demand differs from its mean by so much.
NOISE, PASSES, INTERVAL_S = 0.03, 18, 300
NOISE_HEAD = ('recommendations a pass', 'of them exchanged, %', 'age after the last pass: median, min', 'decided in: median, ms')


def path_of(scenario):
    for path in (HERE / 'choices' / f'{scenario}.yaml', HERE / 'experiments' / f'{scenario}.yaml', pathlib.Path(scenario)):
        if path.exists():
            return path
    sys.exit(f'{scenario}: no such scenario')


def traces_of(path):
    """The change that names the folder, [] where none is needed; None: it is not there."""
    name = TRACES.get(path.stem)
    if not name or path.parent.name != 'choices':
        return []
    for folder in arguments.traces:
        if (pathlib.Path(folder) / name).is_dir():
            return ['--set', f'workload.dir={pathlib.Path(folder).resolve() / name}']
    return None


def parse(text):
    label, *changes = text.split(',')
    label, _, ballast = label.partition('=')
    return label, ballast or BALLAST, [part for change in changes for part in ('--set', change)]


def minutes(seconds):
    """null: never."""
    return float('inf') if seconds is None else seconds / 60


def simulate(path, ballast, changes):
    """The figures of each seed."""
    args = [ballast, 'simulate', str(path), '--format', 'json', '--seeds', str(arguments.seeds), *traces_of(path), *changes]
    done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f'{" ".join(args)}: exit code {done.returncode}')
    result = json.loads(done.stdout)
    runs = result['runs'] if arguments.seeds > 1 else [result]
    for run in runs:
        m = run['metrics']
        m['unmet_gb_s'] = m['unmet_mb_s'] / 1024
        m['worst_pool'] = min(p['happiness_mean'] for p in run['pools'].values())
        m['to_target'] = minutes(m['time_to_target_s'])
        m['above_90_min'] = minutes(m['host_above_90_s'])
        m['above_target_min'] = minutes(m['time_above_target_s'])
        m['shortest_min'] = minutes(m['sleep_shortest_s'])
        m['median_min'] = minutes(m['sleep_median_s'])
    return [run['metrics'] for run in runs]


def plan(ballast, snapshot, *words):
    """The plan; None: the program does not know something."""
    done = subprocess.run([ballast, 'plan', '--snapshot', '-', '--format', 'json', *words], input=snapshot, capture_output=True, check=False, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def decide(path, ballast, changes):
    made = plan(ballast, path.read_text(), *CASES.get(path.stem, []), *changes)
    if made is None:
        return ('the settings are refused', *[''] * (len(PLAN_HEAD) - 1))
    moves = collections.Counter(r['priority'] == 1 for r in made['recommendations'] if r['action'] == 'migrate')
    standbys = sum(r['action'] == 'power_off' for r in made['recommendations'])
    return (str(moves[True]), str(moves[False]), str(standbys), str(len(made['faults'])), made['faults'][0]['text'] if made['faults'] else '')


def wait(size, ballast, changes):
    """Passes of which nobody approves anything: how the recommendations hold still."""
    hosts, vms = size.split('x')
    made = subprocess.run([ballast, 'generate', '--hosts', hosts, '--vms', vms, '--seed', '1', '--shape', 'skewed'], stdout=subprocess.PIPE, check=True)
    snapshot, rng, standing, exchanged, total, took = json.loads(made.stdout), random.Random(1), {}, 0, 0, []
    demands = [vm['cpu']['demand'] for vm in snapshot['vms']]
    began = datetime.datetime.fromisoformat(snapshot['time'].rstrip('Z'))
    for number in range(PASSES):
        snapshot['time'] = f'{(began + datetime.timedelta(seconds=number * INTERVAL_S)).isoformat()}Z'
        for vm, demand in zip(snapshot['vms'], demands):
            vm['cpu']['demand'] = max(0, round(demand * rng.gauss(1, NOISE)))
        snapshot['standing'] = list(standing.values())
        result = plan(ballast, json.dumps(snapshot), *changes)
        new = {(r['vm'], r['to'], r['host']): r for r in result['recommendations']}
        exchanged += sum(key not in new for key in standing)
        total += len(standing)
        took.append(result['stats']['decide_us'] / 1000)
        standing = {key: standing.get(key) or {'since': snapshot['time'], 'group': r['group'] or 0, **{name: r[name] for name in ('action', 'vm', 'from', 'to', 'host', 'reason')}}
                    for key, r in new.items()}
    ages = [(PASSES - 1) * INTERVAL_S / 60 - (datetime.datetime.fromisoformat(r['since'].rstrip('Z')) - began).total_seconds() / 60 for r in standing.values()]
    return (f'{total / (PASSES - 1):,.0f}', f'{100 * exchanged / max(total, 1):.0f}', f'{statistics.median(ages or [0]):.0f}', f'{statistics.median(took):,.0f}')


def figure(value, digits):
    return 'never' if value == float('inf') else f'{value:,.{digits}f}'


def shown(runs, name, digits):
    values = sorted(run[name] for run in runs if run[name] is not None)
    if not values:
        return 'none'
    least, most = figure(values[0], digits), figure(values[-1], digits)
    middle = figure(statistics.median(values), digits)
    return middle if least == most else f'{middle} ({least} – {most})'


def show(rows):
    if arguments.markdown:
        print('| ' + ' | '.join(rows[0]) + ' |\n|' + '---|' * len(rows[0]))
        for row in rows[1:]:
            print('| ' + ' | '.join(row) + ' |')
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument('--seeds', type=int, default=10)
parser.add_argument('--jobs', type=int, default=2)
parser.add_argument('--traces', action='append', default=[], help='a folder with unpacked traces: ' + ', '.join(TRACES.values()))
parser.add_argument('--markdown', action='store_true')
parser.add_argument('--power', action='store_true', help='energy, sleeps and what they cost instead of balance')
parser.add_argument('--predictions', action='store_true', help='how often moves did what was predicted, instead of balance')
parser.add_argument('--scores', action='store_true', help='the scores of VMs on their hosts, and what they cost')
parser.add_argument('--plans', action='store_true', help='one plan of each snapshot in cases/')
parser.add_argument('--noise', action='store_true', help='how recommendations hold still that nobody approves')
parser.add_argument('--try', dest='tries', action='append', metavar='LABEL[=PATH][,KEY=VALUE]...', help='an alternative')
parser.add_argument('scenarios', nargs='*', metavar='SCENARIO')
arguments = parser.parse_args()
one = decide if arguments.plans else wait if arguments.noise else simulate
if arguments.plans:
    paths = [HERE / 'cases' / f'{s}.json' for s in arguments.scenarios] or sorted((HERE / 'cases').glob('*.json'))
elif arguments.noise:
    paths = [pathlib.Path(s) for s in arguments.scenarios or ['100x1000']]
else:
    paths = [path_of(s) for s in arguments.scenarios] or sorted((HERE / 'choices').glob('*.yaml'))
figures = (PREDICTION_FIGURES if arguments.predictions else POWER_FIGURES if arguments.power
           else SCORE_FIGURES if arguments.scores else FIGURES)
alternatives = [parse(text) for text in arguments.tries or ['as it is']]
table = [('scenario', 'alternative', *(PLAN_HEAD if arguments.plans else NOISE_HEAD if arguments.noise else (heading for heading, _, _ in figures)))]
with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
    waiting = []
    for scenario in paths:
        if traces_of(scenario) is None:
            print(f'{scenario.stem}: {TRACES[scenario.stem]} is in none of the folders that --traces names', file=sys.stderr)
            continue
        waiting += [(scenario.stem, label, pool.submit(one, str(scenario) if arguments.noise else scenario, ballast, changes)) for label, ballast, changes in alternatives]
    for scenario, label, run in waiting:
        result = run.result()
        table.append((scenario, label, *(result if one is not simulate else (shown(result, name, digits) for _, name, digits in figures))))
show(table)
