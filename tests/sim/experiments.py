#!/usr/bin/env python3
"""Runs the paper's experiments and a day of PlanetLab: each scenario with each policy, over several seeds.

    tests/sim/experiments.py [--seeds N] [--markdown] [--traces DIR] [NAME...]

Prints the results beside the paper's figures, and whether each aim was reached; exit code 1 if one was not.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
BALLAST = os.environ.get('BALLAST', str(TREE / 'build/src/cli/ballast'))
TRACES = 'planetlab-20110303.tar.xz'
SKIPPED = 77


def simulate(scenario, policies, seeds, more=()):
    """The runs of each policy, as the command's JSON has them; policies: one or two lists of changes."""
    args = [BALLAST, 'simulate', str(HERE / 'experiments' / f'{scenario}.yaml'), '--format', 'json', '--seeds', str(seeds), *more]
    if len(policies) == 2:
        args += ['--compare', *policies]
    elif policies[0]:
        args += [part for change in policies[0].split(',') for part in ('--set', change)]
    done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f'{" ".join(args)}: exit code {done.returncode}')
    result = json.loads(done.stdout)
    sides = [result['a'], result['b']] if len(policies) == 2 else [result]
    return [Side(side, seeds) for side in sides]


class Side:
    """The metrics of one policy: the median, and the least and the most of all seeds."""

    def __init__(self, side, seeds):
        self.runs = side['runs'] if seeds > 1 else [side]

    def all(self, name):
        return [run['metrics'][name] for run in self.runs]

    def pools(self, name):
        return [{pool: figures[name] for pool, figures in run['pools'].items()} for run in self.runs]

    def median(self, name):
        values = sorted(float('inf') if v is None else v for v in self.all(name))
        middle = len(values) // 2
        return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2

    def shown(self, name, digits):
        values = [float('inf') if v is None else v for v in self.all(name)]
        text = figure(self.median(name), digits)
        return text if min(values) == max(values) else f'{text} ({figure(min(values), digits)} – {figure(max(values), digits)})'


def figure(value, digits):
    return 'never' if value == float('inf') else f'{value:,.{digits}f}'


class Table:
    """Rows of what came out, and what was aimed at."""

    def __init__(self):
        self.rows, self.missed = [], []

    def row(self, *cells):
        self.rows.append(cells)

    def aim(self, experiment, what, is_reached):
        self.rows.append((experiment, f'aim: {what}', 'reached' if is_reached else '**missed**', ''))
        if not is_reached:
            self.missed.append(f'{experiment}: {what}')


PERCENT = (('payload_cpu', 'CPU payload, %', 2), ('payload_mem', 'memory payload, %', 2))


def put_payloads(table, name, label, side, paper):
    for i, (metric, what, digits) in enumerate(PERCENT):
        table.row(name, f'{label}: {what}', side.shown(metric, digits), paper[i])


def put_bounds(table, name, side):
    for metric, what, digits in PERCENT:
        table.row(name, f'the most that is possible: {what}', side.shown(metric + '_bound', digits), '')


def not_lower(less, more):
    """Payloads, with every seed, to a thousandth of themselves: that much a migration or two take."""
    return all(b >= a * 0.999 for metric, _, _ in PERCENT for a, b in zip(less.all(metric), more.all(metric)))


def table_1(table, seeds):
    without, with_it = simulate('table-1', ['ballast=false', ''], seeds)
    put_bounds(table, 'Table 1', with_it)
    put_payloads(table, 'Table 1', 'without', without, ('55.68', '65.94'))
    put_payloads(table, 'Table 1', 'with', with_it, ('73.74', '94.99'))
    table.row('Table 1', 'migrations', with_it.shown('migrations', 0), '166')
    share = min(run['metrics'][m] / run['metrics'][m + '_bound'] for run in with_it.runs for m, _, _ in PERCENT)
    # Of memory the paper has 94.99 of the 95.49 % that its VMs want; of its CPU nobody knows what was possible.
    table.aim('Table 1', 'at least 99.4 % of what is possible, of CPU and memory, with every seed', share >= 0.994)
    table.aim('Table 1', 'fewer than 166 migrations', with_it.median('migrations') < 166)


def table_2(table, seeds):
    paper = {1: (41, 25, 19.16, 19.25), 2: (78, 27, 18.92, 19.20), 3: (39, 16, 6.67, 6.67)}
    for n, (before, after, cpu_before, cpu_after) in paper.items():
        name = f'Table 2, {n}'
        without, with_it = simulate(f'table-2-{n}', ['cost_benefit=false', ''], seeds)
        put_payloads(table, name, 'without', without, (f'{cpu_before:.2f}', '15.84' if n < 3 else '42.90'))
        put_payloads(table, name, 'with', with_it, (f'{cpu_after:.2f}', '15.86' if n == 1 else '15.84' if n == 2 else '43.05'))
        table.row(name, 'migrations without', without.shown('migrations', 0), str(before))
        table.row(name, 'migrations with', with_it.shown('migrations', 0), str(after))
        change = with_it.median('migrations') / without.median('migrations') - 1
        table.row(name, 'change of the medians', f'{100 * change:+.0f} %', f'{100 * (after / before - 1):+.0f} %')
        table.aim(name, '-60 % or less', change <= -0.6)
        table.aim(name, 'payload not lower, to a thousandth, with every seed', not_lower(without, with_it))


def table_3(table, seeds):
    without, with_it = simulate('table-3', ['dpm.enabled=false', ''], seeds)
    put_payloads(table, 'Table 3', 'without', without, ('2.77', '2.31'))
    put_payloads(table, 'Table 3', 'with', with_it, ('2.78', '2.32'))
    table.row('Table 3', 'kWh without', without.shown('kwh', 1), '31.65')
    table.row('Table 3', 'kWh with', with_it.shown('kwh', 1), '11.97')
    table.row('Table 3', 'hosts on, mean', with_it.shown('hosts_on_mean', 1), '')
    table.row('Table 3', 'migrations', with_it.shown('migrations', 0), '273')
    change = with_it.median('kwh') / without.median('kwh') - 1
    table.row('Table 3', 'change of the medians', f'{100 * change:+.0f} %', '-62 %')
    table.aim('Table 3', '-62 % or less', change <= -0.62)
    table.aim('Table 3', 'payload not lower, to a thousandth, with every seed', not_lower(without, with_it))
    table.aim('Table 3', 'fewer than 273 migrations', with_it.median('migrations') < 273)


def figures_8_13(table, seeds):
    name = 'Figures 8 – 13'
    run, = simulate('figures-8-13', [''], seeds)
    table.row(name, 'imbalance at the surge', run.shown('imbalance_max', 3), '0.5 (of CPU; here 0.50)')
    for metric, what, paper in (('time_below_0_1_s', 'below 0.1 after, min', '30'), ('time_below_0_05_s', 'below 0.05 after, min', '140')):
        table.row(name, what, figure(run.median(metric) / 60, 0), paper)
    table.row(name, 'migrations', run.shown('migrations', 0), '267')
    worst = {pool: min(p[pool] for p in run.pools('happiness_least')) for pool in run.pools('happiness_least')[0]}
    mean = {pool: min(p[pool] for p in run.pools('happiness_mean')) for pool in worst}
    for pool in sorted(worst):
        table.row(name, f'happiness of {pool}: mean, and at its worst, %', f'{mean[pool]:.1f}, {worst[pool]:.1f}', '')
    table.aim(name, 'below 0.1 within 15 min', run.median('time_below_0_1_s') <= 15 * 60)
    table.aim(name, 'below 0.05 within 60 min', run.median('time_below_0_05_s') <= 60 * 60)
    table.aim(name, 'at most 267 migrations', run.median('migrations') <= 267)
    table.aim(name, 'the pool with high shares is the happiest', worst['RP-HighShare'] == max(worst.values()))


def hosts_on(scenario, seed):
    """(time, hosts on) over a run."""
    done = subprocess.run([BALLAST, 'simulate', str(HERE / 'experiments' / f'{scenario}.yaml'), '--seed', str(seed), '--series', '-'],
                          stdout=subprocess.PIPE, check=True, text=True)
    lines = done.stdout.splitlines()
    columns = lines[0].split(',')
    t, on = columns.index('t_s'), columns.index('hosts_on')
    return [(float(cells[t]), int(cells[on])) for cells in (line.split(',') for line in lines[1:])]


def figures_14_15(table, seeds):
    name = 'Figures 14, 15'
    surge, calm = 5400, 7200
    idle, back, off_first, off_all = [], [], [], []
    for seed in range(1, seeds + 1):
        points = hosts_on('figures-14-15', seed)
        idle.append(max(on for t, on in points if surge - 300 <= t <= surge))
        back.append(min(t for t, on in points if t > surge and on == 8) - surge)
        off_first.append(min(t for t, on in points if t > calm and on < 8) - calm)
        off_all.append(min((t for t, on in points if t > calm and on == 2), default=float('inf')) - calm)
    table.row(name, 'hosts on when idle', str(max(idle)), '2 of 8')
    table.row(name, 'all back after the surge, min', figure(max(back) / 60, 0), '8')
    table.row(name, 'first hosts off after the calm, min', figure(max(off_first) / 60, 0), 'more than 30')
    table.row(name, 'six hosts off after the calm, min', figure(max(off_all) / 60, 0), 'not within the 30 shown')
    table.aim(name, 'six of eight off when idle', max(idle) == 2)
    table.aim(name, 'all back within 8 min', max(back) <= 8 * 60)
    table.aim(name, 'hosts off again within 45 min of calm', max(off_first) <= 45 * 60)


def planetlab(table, seeds):
    del seeds  # nothing is drawn
    archive = traces()
    if not archive:
        print('no traces for PlanetLab: --traces or BALLAST_DATA names the folder with ' + TRACES, file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        inner = next(p for p in pathlib.Path(folder).iterdir() if p.is_dir())
        run, = simulate('planetlab', [''], 1, ['--set', f'workload.dir={inner}'])
        fitting, = simulate('planetlab', ['mem_admission=configured'], 1, ['--set', f'workload.dir={inner}'])
    name = 'PlanetLab 20110303'
    for metric, what, digits, peer in (('kwh_idle_off', 'kWh, hosts whose VMs want nothing taken as off', 1, '221.4 LR-MMT, 253.8 THR-MMT'),
                                       ('kwh', 'kWh, every host that is on', 1, ''),
                                       ('migrations', 'migrations', 0, '44,405; 41,634'), ('sla', 'SLA, %', 5, '.00495; .00338'),
                                       ('slatah', 'SLATAH, %', 2, ''), ('pdm', 'PDM, %', 4, ''), ('host_power_offs', 'host shutdowns', 0, '7,079; 7,763')):
        table.row(name, what, run.shown(metric, digits), peer)
    table.row(name, 'memory reserved: kWh', fitting.shown('kwh', 1), 'at least 690')
    table.row(name, 'memory reserved: migrations', fitting.shown('migrations', 0), '')
    table.row(name, 'memory reserved: SLA, %', fitting.shown('sla', 5), '')
    table.aim(name, 'less energy than LR-MMT', run.median('kwh') < 221.4)
    table.aim(name, 'a tenth of its migrations', run.median('migrations') <= 4440)
    table.aim(name, 'a fifth of its SLA figure', run.median('sla') <= 0.00495 / 5)
    table.row(name, "kWh, by Ballast's own account", run.shown('account_kwh', 1), 'as drawn')
    table.aim(name, 'the account is within a hundredth of what was drawn', abs(run.median('account_kwh') / run.median('kwh') - 1) < 0.01)


def traces():
    for folder in (arguments.traces, os.environ.get('BALLAST_DATA'), TREE.parent / 'shared/data'):
        if folder and (pathlib.Path(folder) / TRACES).exists():
            return pathlib.Path(folder) / TRACES
    return None


EXPERIMENTS = {'table-1': table_1, 'table-2': table_2, 'table-3': table_3, 'figures-8-13': figures_8_13,
               'figures-14-15': figures_14_15, 'planetlab': planetlab}


def show(table, markdown):
    widths = [max(len(row[i]) for row in table.rows) for i in range(3)] if table.rows else []
    if markdown:
        print('| experiment | what | ours: median (range) | paper or peer |\n|---|---|---|---|')
    for row in table.rows:
        if markdown:
            print('| ' + ' | '.join(row) + ' |')
        else:
            print('  '.join(cell.ljust(widths[i]) if i < 3 else cell for i, cell in enumerate(row)).rstrip())


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument('--seeds', type=int, default=20)
parser.add_argument('--markdown', action='store_true', help='as a table for README.md')
parser.add_argument('--traces', help=f'the folder with {TRACES}')
parser.add_argument('names', nargs='*', metavar='NAME', help=' '.join(EXPERIMENTS))
arguments = parser.parse_args()
if os.environ.get('BALLAST_TEST_LONG'):
    arguments.seeds = max(arguments.seeds, parser.get_default('seeds'))
unknown = set(arguments.names) - set(EXPERIMENTS)
if unknown:
    parser.error(f'no experiment {", ".join(sorted(unknown))}')
result = Table()
for experiment in arguments.names or EXPERIMENTS:
    EXPERIMENTS[experiment](result, arguments.seeds)
show(result, arguments.markdown)
if not result.rows:
    sys.exit(SKIPPED)
for line in result.missed:
    print('missed: ' + line, file=sys.stderr)
sys.exit(1 if result.missed else 0)
