#!/usr/bin/env python3
"""Runs the paper's experiments and two days of PlanetLab: each scenario with each policy, over several seeds.

    tests/sim/experiments.py [--seeds N] [--markdown] [--variants] [--traces DIR] [NAME...]

Prints the results beside the paper's figures or other programs', and then every aim: reached, missed, or missed for a known reason. Exit code 1
if an aim without such a reason was missed.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import packing

HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parents[1]
BALLAST = os.environ.get('BALLAST', str(TREE / 'build/src/cli/ballast'))
SKIPPED = 77
SIXTY = '-60 % migrations or less'
GOODNESS = 'the minimum goodness alone saves a quarter of the moves that this is a part of, at the same payload'
TENTH = 'a tenth of its migrations'
BURSTS = ('hosts that receive VMs must serve their bursts (src/core/power/README.md), so the evening empties its hosts in more rounds and some '
          'VMs move twice: 240 moves without that check')
FEWER_MOVES = 'fewer than 273 migrations'
JUMPS = ('nearly all hosts that sleep do so in the first hours; later moves, two thirds, relieve packed hosts, which demand that jumps '
         'between samples makes short')


def changed(change):
    """A list of KEY=VALUE, separated by commas, as arguments."""
    return [part for one in change.split(',') if one for part in ('--set', one)]


def simulate(scenario, policies, seeds, more=''):
    """The runs of each policy, as the command's JSON has them; policies: one or two lists of changes."""
    args = [BALLAST, 'simulate', str(HERE / 'experiments' / f'{scenario}.yaml'), '--format', 'json', '--seeds', str(seeds), *changed(more)]
    args += ['--compare', *policies] if len(policies) == 2 else changed(policies[0])
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
        return [float('inf') if run['metrics'][name] is None else run['metrics'][name] for run in self.runs]

    def pools(self, name):
        return [{pool: figures[name] for pool, figures in run['pools'].items()} for run in self.runs]

    def median(self, name):
        values = sorted(self.all(name))
        middle = len(values) // 2
        return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2

    def shown(self, name, digits):
        values = self.all(name)
        text = figure(self.median(name), digits)
        return text if min(values) == max(values) else f'{text} ({figure(min(values), digits)} – {figure(max(values), digits)})'


def figure(value, digits):
    return 'never' if value == float('inf') else f'{value:,.{digits}f}'


class Table:
    def __init__(self, *head):
        self.head, self.rows = head, []

    def row(self, *cells):
        self.rows.append(cells)

    def show(self, markdown):
        if not self.rows:
            return
        if markdown:
            print('| ' + ' | '.join(self.head) + ' |\n' + '|---' * len(self.head) + '|')
            for cells in self.rows:
                print('| ' + ' | '.join(cells) + ' |')
        else:
            widths = [max(len(cells[i]) for cells in (self.head, *self.rows)) for i in range(len(self.head) - 1)] + [0]
            for cells in (self.head, *self.rows):
                print('  '.join(cell.ljust(widths[i]) for i, cell in enumerate(cells)).rstrip())
        print()


class Report:
    """What came out, and what was aimed at."""

    def __init__(self):
        self.results = Table('experiment', 'what', 'ours: median (range)', 'paper')
        self.days = Table('PlanetLab', 'policy', 'kWh, hosts with idle VMs only: off', 'on', 'migrations', 'SLA, %', 'SLATAH, %', 'PDM, %',
                          'SLAV, %', 'host shutdowns')
        self.aims = Table('experiment', 'aim', 'came out', '')
        self.missed, self.not_missed = [], []

    def row(self, *cells):
        self.results.row(*cells)

    def aim(self, experiment, what, came_out, is_reached):
        why_missed = KNOWN_MISSES.get((experiment, what), '')
        self.aims.row(experiment, what, came_out, 'reached' if is_reached else f'**missed**: {why_missed}' if why_missed else '**missed**')
        if not is_reached and not why_missed:
            self.missed.append(f'{experiment}: {what}: {came_out}')
        if is_reached and why_missed:
            self.not_missed.append(f'{experiment}: {what}')

    def show(self, markdown):
        for table in (self.results, self.days, self.aims):
            table.show(markdown)


# Aims that are known to be missed, and why. They stay aims: a reason is no excuse for a setting, a constant or a scenario that suits the aim.
KNOWN_MISSES = {
    ('Table 2, 2', SIXTY): GOODNESS,
    ('Table 3', FEWER_MOVES): BURSTS,
    ('PlanetLab 20110303, default settings', TENTH): JUMPS,
    ('PlanetLab 20110303, hosts off from the first round on', TENTH): JUMPS,
    ('PlanetLab 20110303, tuned', TENTH): 'copies that share a link wait for each other, and moves that cannot begin in time are decided anew',
    ('PlanetLab 20110403, default settings', TENTH): JUMPS,
    ('PlanetLab 20110403, hosts off from the first round on', TENTH): JUMPS,
}

PERCENT = (('payload_cpu', 'CPU payload, %', 2), ('payload_mem', 'memory payload, %', 2))


def put_payloads(report, name, without, with_it, paper):
    for i, (metric, what, digits) in enumerate(PERCENT):
        put_both(report, name, what, metric, digits, without, with_it, paper[i] if paper else '')


def put_both(report, name, what, metric, digits, without, with_it, paper=''):
    report.row(name, f'{what}: without; with', f'{without.shown(metric, digits)}; {with_it.shown(metric, digits)}', paper)


def aim_not_lower(report, name, less, more):
    """Payloads, with every seed, to a thousandth of themselves: that much a migration or two take."""
    least = min(b / a for metric, _, _ in PERCENT for a, b in zip(less.all(metric), more.all(metric)))
    report.aim(name, 'payload not lower, to a thousandth, with every seed', f'{100 * (least - 1):+.2f} %', least >= 0.999)


def kept(variants):
    """Of rows that end with a change of the scenario, those to run: without --variants, the scenario as it is."""
    return [row for row in variants if arguments.variants or not row[-1]]


def table_1(report, seeds):
    variants = (('Table 1', ''), ('Table 1, VMs on all 30 hosts at first', 'vms.vm.at=random'), ('Table 1, VMs slow without memory', 'swap_slowdown=1'))
    for name, change in kept(variants):
        without, with_it = simulate('table-1', ['ballast=false', ''], seeds, change)
        for metric, what, digits in PERCENT:
            report.row(name, f'the most that is possible: {what}', with_it.shown(metric + '_bound', digits), '')
        put_payloads(report, name, without, with_it, ('55.68; 73.74', '65.94; 94.99') if not change else None)
        report.row(name, 'migrations', with_it.shown('migrations', 0), '166' if not change else '')
        if change:
            continue
        share = min(run['metrics'][m] / run['metrics'][m + '_bound'] for run in with_it.runs for m, _, _ in PERCENT)
        # Of memory the paper has 94.99 of the 95.49 % that its VMs want; of its CPU nobody knows what was possible.
        report.aim(name, 'at least 99.4 % of what is possible, of CPU and memory, with every seed', f'{100 * share:.2f} %', share >= 0.994)
        report.aim(name, 'fewer than 166 migrations', with_it.shown('migrations', 0), with_it.median('migrations') < 166)


def table_2(report, seeds):
    paper = {1: (41, 25, '19.16; 19.25', '15.84; 15.86'), 2: (78, 27, '18.92; 19.20', '15.84; 15.84'), 3: (39, 16, '6.67; 6.67', '42.90; 43.05')}
    busy_at_once = 'vms.vm.workload.cpu.phase=together'
    variants = ((1, '', ''), (1, ', all VMs busy together', busy_at_once), (2, '', ''), (2, ', all VMs busy together', busy_at_once), (3, '', ''),
                (3, ', all VMs busy together', f'{busy_at_once},vms.vm.workload.mem.phase=together'), (3, ', constant memory', 'vms.vm.workload.mem=704'))
    for n, how, change in kept(variants):
        name = f'Table 2, {n}{how}'
        before, after, *payloads = paper[n]
        without, with_it = simulate(f'table-2-{n}', ['cost_benefit=false', ''], seeds, change)
        put_payloads(report, name, without, with_it, payloads if not change else None)
        put_both(report, name, 'migrations', 'migrations', 0, without, with_it, f'{before}; {after}' if not change else '')
        ratio = with_it.median('migrations') / without.median('migrations') - 1
        report.row(name, 'change of the medians', f'{100 * ratio:+.0f} %', f'{100 * (after / before - 1):+.0f} %' if not change else '')
        put_both(report, name, 'hosts put to standby', 'host_power_offs', 0, without, with_it)
        if change:
            continue
        report.aim(name, SIXTY, f'{100 * ratio:+.0f} %', ratio <= -0.6)
        report.aim(name, f'no more migrations than the {after} of the paper', with_it.shown('migrations', 0), with_it.median('migrations') <= after)
        aim_not_lower(report, name, without, with_it)


def table_3(report, seeds):
    name = 'Table 3'
    without, with_it = simulate('table-3', ['dpm.enabled=false', ''], seeds)
    put_payloads(report, name, without, with_it, ('2.77; 2.78', '2.31; 2.32'))
    put_both(report, name, 'kWh', 'kwh', 1, without, with_it, '31.65; 11.97')
    report.row(name, 'hosts on, mean', with_it.shown('hosts_on_mean', 1), '')
    report.row(name, 'migrations', with_it.shown('migrations', 0), '273')
    ratio = with_it.median('kwh') / without.median('kwh') - 1
    report.row(name, 'change of the medians, kWh', f'{100 * ratio:+.0f} %', '-62 %')
    report.aim(name, '-62 % energy or less', f'{100 * ratio:+.0f} %', ratio <= -0.62)
    aim_not_lower(report, name, without, with_it)
    report.aim(name, FEWER_MOVES, with_it.shown('migrations', 0), with_it.median('migrations') < 273)


def figures_8_13(report, seeds):
    del seeds  # nothing is drawn
    groups = ('high', 'norm-1', 'norm-2', 'low')
    for used_mb in (160, 600, 800) if arguments.variants else (160,):
        name = 'Figures 8 – 13' if used_mb == 160 else f'Figures 8 – 13, {used_mb} MB a VM'
        run, = simulate('figures-8-13', [','.join(f'vms.{group}.workload.mem={used_mb}' for group in groups)], 1)
        put_surge(report, name, run, used_mb == 160)


def put_surge(report, name, run, is_papers):
    report.row(name, 'imbalance at the surge', run.shown('imbalance_max', 3), '0.5 (of CPU; here 0.50)' if is_papers else '')
    for metric, what, paper in (('time_below_0_1_s', 'below 0.1 after, min', '30'), ('time_below_0_05_s', 'below 0.05 after, min', '140')):
        report.row(name, what, figure(run.median(metric) / 60, 0), paper if is_papers else '')
    report.row(name, 'imbalance at the end', run.shown('imbalance_final', 3), '')
    report.row(name, 'migrations', run.shown('migrations', 0), '267' if is_papers else '')
    report.row(name, 'CPU not delivered, %', run.shown('slav', 2), '')
    if not is_papers:
        return
    worst = {pool: min(p[pool] for p in run.pools('happiness_least')) for pool in run.pools('happiness_least')[0]}
    mean = {pool: min(p[pool] for p in run.pools('happiness_mean')) for pool in worst}
    for pool in sorted(worst):
        report.row(name, f'happiness of {pool}: mean; at its worst, %', f'{mean[pool]:.1f}; {worst[pool]:.1f}', '')
    report.aim(name, 'below 0.1 within 15 min', f'{figure(run.median("time_below_0_1_s") / 60, 0)} min', run.median('time_below_0_1_s') <= 15 * 60)
    report.aim(name, 'below 0.05 within 60 min', f'{figure(run.median("time_below_0_05_s") / 60, 0)} min', run.median('time_below_0_05_s') <= 60 * 60)
    report.aim(name, 'at most 267 migrations', run.shown('migrations', 0), run.median('migrations') <= 267)
    report.aim(name, 'the pool with high shares is the happiest', f'{worst["RP-HighShare"]:.1f} % at its worst',
               worst['RP-HighShare'] == max(worst.values()))


def hosts_on(scenario, change):
    """(time, hosts on) over a run."""
    done = subprocess.run([BALLAST, 'simulate', str(HERE / 'experiments' / f'{scenario}.yaml'), '--series', '-', *changed(change)],
                          stdout=subprocess.PIPE, check=True, text=True)
    lines = done.stdout.splitlines()
    columns = lines[0].split(',')
    t, on = columns.index('t_s'), columns.index('hosts_on')
    return [(float(cells[t]), int(cells[on])) for cells in (line.split(',') for line in lines[1:])]


def figures_14_15(report, seeds):
    del seeds  # nothing is drawn
    for level in (60, 90, 120) if arguments.variants else (60,):
        name = 'Figures 14, 15' if level == 60 else f'Figures 14, 15, {level} MHz an idle VM'
        put_power(report, name, hosts_on('figures-14-15', f'vms.vm.workload.cpu.level={level}'), level == 60)


def put_power(report, name, points, is_papers):
    surge, calm, never = 5400, 7200, float('inf')
    idle = max(on for t, on in points if surge - 300 <= t <= surge)
    back = (min((t for t, on in points if t > surge and on == 8), default=never) - surge) / 60
    off_first = (min((t for t, on in points if t > calm and on < 8), default=never) - calm) / 60
    off_all = (min((t for t, on in points if t > calm and on <= idle), default=never) - calm) / 60
    report.row(name, 'hosts on when idle', str(idle), '2 of 8' if is_papers else '')
    report.row(name, 'all back after the surge, min', figure(back, 0), '8' if is_papers else '')
    report.row(name, 'first hosts off after the calm, min', figure(off_first, 0), 'more than 30' if is_papers else '')
    report.row(name, 'as few on as before the surge, min after the calm', figure(off_all, 0), 'not within the 30 shown' if is_papers else '')
    if is_papers:
        report.aim(name, 'six of eight off when idle', f'{8 - idle} off', idle == 2)
        report.aim(name, 'all back within 8 min', f'{figure(back, 0)} min', back <= 8)
        report.aim(name, 'hosts off again within 45 min of calm', f'{figure(off_first, 0)} min', off_first <= 45)


# What CloudSim 3.0.3 gives, by day: policy, kWh with hosts off that hold idle VMs only, migrations, SLA, SLATAH, PDM, SLAV, shutdowns. Its stock
# code removes a VM for good that wants nothing at two samples; only the rows where such VMs stay can be compared.
PEERS = {
    '20110303': (('CloudSim, LR-MMT 1.2', '221.4', '44,405', '0.00495', '', '', '', '7,079'),
                 ('CloudSim, THR-MMT 0.8', '253.8', '41,634', '0.00338', '', '', '', '7,763'),
                 ('CloudSim, DVFS: nothing moves', '928.0', '0', '', '', '', '', ''),
                 ('CloudSim, LR-MMT 1.2, idle VMs removed', '163.5', '27,859', '0.00464', '5.86', '0.08', '0.15', '5,053'),
                 ('CloudSim, THR-MMT 0.8, idle VMs removed', '192.6', '26,711', '0.00318', '4.91', '0.06', '0.07', '5,885')),
    '20110403': (('CloudSim, THR-MMT 0.8', '347.5', '56,168', '0.00307', '', '', '', '10,169'),
                 ('CloudSim, DVFS: nothing moves', '1,289.7', '0', '', '', '', '', '')),
}
# The policy to be better than, of those that keep idle VMs: LR-MMT, which ends with an error on the second day.
AIMS = {'20110303': ('LR-MMT', 221.4, 44405, 0.00495), '20110403': ('THR-MMT', 347.5, 56168, 0.00307)}
JUDGED = (('default settings', ''), ('hosts off from the first round on: defaults, dpm.watch_s 0', 'dpm.watch_s=0'),
          ('tuned: dpm.watch_s 0, range 70 ± 20 %', 'dpm.watch_s=0,dpm.target=70,dpm.tolerance=20'))
RESERVED = ('defaults, memory reserved: 690 kWh at least', 'mem_admission=configured')
# The least that is possible: what it is, and the rule of packing.py behind it.
FLOORS = (('the least by perfect packing', None), ('the least with 2 σ of 40 min within 81 %, as the default range asks', (2, 0.81)),
          ('the same within 90 %, as tuned', (2, 0.9)))
NEIGHBOURS = ('dpm.target=62.5', 'dpm.target=63.5')
OF_A_DAY = (('kwh_idle_off', 1), ('kwh', 1), ('migrations', 0), ('sla', 5), ('slatah', 2), ('pdm', 4), ('slav', 3), ('host_power_offs', 0))


def planetlab(report, day, seeds):
    """Nothing is drawn, so it needs no seeds: one says that time is short, and only the default settings are judged."""
    archive = traces(day)
    if not archive:
        print(f'no traces of {day}: --traces or BALLAST_DATA names the folder with {archive_of(day)}', file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        inner = next(p for p in pathlib.Path(folder).iterdir() if p.is_dir())
        start = f'name=planetlab-{day},start={day[:4]}-{day[4:6]}-{day[6:]}T00:00:00Z,workload.dir={inner}'

        def run(change):
            return simulate('planetlab', [change], 1, start)[0]

        variants = [('', change) for change in NEIGHBOURS] if arguments.variants else []
        if arguments.variants and day == '20110303':  # what it shows, the model's use of memory, is the same on any day
            variants.append(RESERVED)
        judged = JUDGED if seeds > 1 else JUDGED[:1]
        policies = (*judged, *variants)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            sides = list(pool.map(run, (change for _, change in policies)))
        floors = packing.least_kwh(inner, [rule for _, rule in FLOORS if rule])
    for (policy, _), side in zip(policies, sides):
        if policy:
            report.days.row(day, policy, *(side.shown(metric, digits) for metric, digits in OF_A_DAY))
    for (policy, _), side in zip(judged, sides):
        aim_of_a_day(report, day, policy, side)
    near = [side for (policy, _), side in zip(policies, sides) if not policy]
    if near:
        ranges = [(figure(min(values), digits), figure(max(values), digits))
                  for values, digits in (([side.median(metric) for side in near], digits) for metric, digits in OF_A_DAY)]
        report.days.row(day, 'defaults, but dpm.target 62.5 and 63.5', *(least if least == most else f'{least} – {most}' for least, most in ranges))
    for (policy, _), kwh in zip(FLOORS, floors):
        report.days.row(day, policy, figure(kwh, 1), *[''] * (len(OF_A_DAY) - 1))
    for policy, kwh, *others in PEERS[day]:
        report.days.row(day, policy, kwh, '', *others)


def aim_of_a_day(report, day, policy, side):
    name, (peer, kwh, migrations, sla) = f'PlanetLab {day}, {policy.split(":")[0]}', AIMS[day]
    report.aim(name, f'less energy than {peer}, every host that is on', f'{side.median("kwh"):.1f} of {kwh} kWh', side.median('kwh') < kwh)
    part = side.median('migrations') / migrations
    report.aim(name, TENTH, f'{100 * part:.1f} %', part <= 0.1)
    report.aim(name, 'a fifth of its SLA figure', f'{100 * side.median("sla") / sla:.1f} %', side.median('sla') <= sla / 5)
    off = side.median('account_kwh') / side.median('kwh') - 1
    report.aim(name, 'the energy account is within a hundredth of what was drawn', f'{100 * off:+.2f} %', abs(off) < 0.01)


def archive_of(day):
    return f'planetlab-{day}.tar.xz'


def traces(day):
    for folder in (arguments.traces, os.environ.get('BALLAST_DATA'), TREE.parent / 'shared/data'):
        if folder and (pathlib.Path(folder) / archive_of(day)).exists():
            return pathlib.Path(folder) / archive_of(day)
    return None


def day_of(day):
    return lambda report, seeds: planetlab(report, day, seeds)


EXPERIMENTS = {'table-1': table_1, 'table-2': table_2, 'table-3': table_3, 'figures-8-13': figures_8_13, 'figures-14-15': figures_14_15,
               'planetlab-20110303': day_of('20110303'), 'planetlab-20110403': day_of('20110403')}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument('--seeds', type=int, default=20)
parser.add_argument('--markdown', action='store_true', help='as tables for README.md')
parser.add_argument('--variants', action='store_true', help='also what no aim is for: other assumptions, settings near the defaults')
parser.add_argument('--traces', help=f'the folder with {archive_of("20110303")} and the other days')
parser.add_argument('names', nargs='*', metavar='NAME', help=' '.join(EXPERIMENTS))
arguments = parser.parse_args()
if os.environ.get('BALLAST_TEST_LONG'):
    arguments.seeds = max(arguments.seeds, parser.get_default('seeds'))
unknown = set(arguments.names) - set(EXPERIMENTS)
if unknown:
    parser.error(f'no experiment {", ".join(sorted(unknown))}')
made = Report()
for experiment in arguments.names or EXPERIMENTS:
    EXPERIMENTS[experiment](made, arguments.seeds)
made.show(arguments.markdown)
if not made.aims.rows:
    sys.exit(SKIPPED)
for line in made.missed:
    print('missed: ' + line, file=sys.stderr)
for line in made.not_missed:
    print('reached, though a reason is given why it is missed: ' + line, file=sys.stderr)
sys.exit(1 if made.missed else 0)
