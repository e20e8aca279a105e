#!/usr/bin/env python3
"""Compares plans of Ballast on the benchmark data (BALLAST_DATA) with proved bounds and the aims.

aims.py [--long] [--markdown]

Evenness alone (cost_benefit and min_goodness off). root: √(σcpu² + σmem²) over hosts of demand / capacity, computed from the snapshot and the
moves. The bounds of the root and the figures of other programs were proved, or measured, once; needed: no plan of fewer moves reaches the target
(`ballast plan --bound`). Deep searches have the default budget. Decisions: the least of three, on this machine. PlanetLab: ../sim/experiments.py.
--long adds 1,000,000 VMs, rules and pools, and the count of instructions, which takes some minutes, 1 GB in /tmp and 4 GB of memory.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import clusters
import snapshots

EVENNESS = ('cost_benefit=false', 'min_goodness=false')
ROOT_BOUND = {3: .1666, 5: .0849, 7: .0622}
TARGETS = {'0.05': (54, 814), '0.02': (68, 995)}  # moves, or three quarters of the greedy plan's GB
ROOM_AIM = {'25': 250, '50': 260, '100': 275}
# by policy of the experiment: kWh, and the row with the least that its range permits
DAY, DAY_AIM = 'PlanetLab 20110303', {'default settings': (145, 'as the default range asks'), 'tuned': (132, 'as tuned')}
SLA_AIM = .0002
HEAD = ('input', 'reference', 'aim', 'greedy', 'deep search')
DECISIONS = ((256, 10000, '20 ms'), (1000, 100000, ''))
LARGE = (10000, 1000000)
RULES, POOLS = 2000, 500  # added to the second cluster of DECISIONS


def decimal(x):
    return f'{x:.4f}'.removeprefix('0')


def impossible(beyond, within=''):
    return f' (not possible{within})' if beyond else ''


def planned(path, *settings):
    made = snapshots.plan(path, EVENNESS + settings)
    moved = snapshots.moves(made)
    return made, moved, snapshots.Loads(path, moved)


def root(path, k, search):
    left = planned(path, f'moves_max={k}', 'target=0', f'search={search}')[2]
    return (left.spread('cpu') ** 2 + left.spread('mem') ** 2) ** .5


def few_moves(path):
    for k, bound in ROOT_BOUND.items():
        deep = root(path, k, 'deep')
        yield (f'c8x80, {k} moves, root', f'proved bound {decimal(bound)}', f'{decimal(bound * 1.02)} (2 %)', decimal(root(path, k, 'greedy')),
               f'**{decimal(deep)}** (+{100 * (deep / bound - 1):.1f} %)')


def to_target(path):
    for target, (most, most_gb) in TARGETS.items():
        cells = []
        for search in ('greedy', 'deep'):
            made, moved, left = planned(path, 'moves_max=0', f'target={target}', f'search={search}', 'bound=true')
            cells.append(f'{len(moved)} moves, {left.gb:,.0f} GB')
        least = made['stats']['bound']['moves_least']
        yield (f'c32x1280, to {target.removeprefix("0")}', f'proved: {least} moves needed',
               f'{most} moves{impossible(most < least)}, or {.75 * most_gb:,.0f} GB', cells[0], f'**{cells[1]}**')


def consolidation(folder):
    """All hosts can be woken, and hosts that are not needed go to standby at once."""
    path = snapshots.stored('c32x640-low', folder)
    if not path:
        return
    snap = json.loads(path.read_text(encoding='utf-8'))
    for host in snap['hosts']:
        host.update(wake_methods=['ipmi'], wake_verified=True)
    path.write_text(json.dumps(snap), encoding='utf-8')
    for target, aim in ((72, '8 hosts, none over .90, 400 moves'), (63, '')):
        cells = []
        for search in ('greedy', 'deep'):
            made = snapshots.plan(path, ('dpm.enabled=true', f'dpm.target={target}', 'dpm.changes_max=0', 'moves_max=0', f'search={search}'))
            hosts = made['after']['hosts']
            fullest = max(host[what] for host in hosts for what in ('cpu', 'mem'))
            cells.append(f'{len(hosts)} hosts, {len(snapshots.moves(made))} moves, fullest {fullest:.3f}'.replace(' 0.', ' .'))
        yield f'c32x640-low, dpm.target={target}', 'proved: 8 hosts at .90', aim, cells[0], f'**{cells[1]}**'


def rows_of(script, *args):
    """The cells of each row that a script prints as Markdown; it may miss aims of its own."""
    path = pathlib.Path(__file__).parents[1] / script
    done = subprocess.run([sys.executable, str(path), '--markdown', *args], stdout=subprocess.PIPE, text=True, check=False,
                          env={**os.environ, 'BALLAST': snapshots.BALLAST})
    lines = done.stdout.splitlines() if done.returncode in (0, 1) else []
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in lines]


def room():
    for most, _, greedy, annealing, spaces, bound, _, decision, _ in rows_of('bench/room_moves.py')[2:]:
        yield (f'rescheduling, spaces after {most} moves', f'bound {bound}, annealing {annealing}',
               f'{ROOM_AIM[most]}{impossible(ROOM_AIM[most] > int(bound))}, in 5 s', greedy, f'{spaces}, {decision}')


def energy():
    """A day of PlanetLab, hosts with idle VMs only off, as CloudSim counts them."""
    found = {cells[1]: cells for cells in rows_of('sim/experiments.py', DAY.lower().replace(' ', '-')) if len(cells) > 5}
    for policy, (aim, rule) in DAY_AIM.items() if found else []:
        ours = next(cells for name, cells in found.items() if name.startswith(policy))
        packed = float(found['the least by perfect packing'][2])
        ruled = next(float(cells[2]) for name, cells in found.items() if name.endswith(rule))
        beyond = impossible(aim < ruled, ' within the range')
        yield (f'{DAY}, {ours[1]}', f'least by perfect packing {packed} kWh, within the range {ruled}; {found["CloudSim, LR-MMT 1.2"][1]} '
               f'{found["CloudSim, LR-MMT 1.2"][2]}', f'{aim} kWh{beyond}, SLA {SLA_AIM} %', f'**{ours[2]} kWh**, SLA {ours[5]} %', '')


def decisions(folder):
    for hosts, vms, aim in DECISIONS:
        path = snapshots.generated(hosts, vms, 'skewed', folder)
        least = min(snapshots.plan(path)['stats']['decide_us'] for _ in range(3))
        yield f'{hosts:,} x {vms:,}, the decision', 'brute force 20 s' if hosts == 256 else '', aim, f'**{least / 1000:,.0f} ms**', ''


def with_rules(path):
    snap = json.loads(path.read_text(encoding='utf-8'))
    clusters.add_pools(snap, POOLS)
    clusters.add_rules(snap, RULES, False)
    ruled = path.with_name('ruled.json')
    ruled.write_text(json.dumps(snap), encoding='utf-8')
    return ruled


def scale(folder):
    """Ten times the largest cluster of decisions: instructions, seconds and memory of the command on one core."""
    paths = [snapshots.generated(hosts, vms, 'skewed', folder) for hosts, vms in (DECISIONS[-1][:2], LARGE)]
    name = f'{LARGE[0]:,} x {LARGE[1]:,}'
    if shutil.which('valgrind'):
        few, many, ruled = (snapshots.count_instructions(path, folder) for path in (*paths, with_rules(paths[0])))
        yield f'{name}, instructions', f'{few / 1e9:.1f} G for a tenth', '15 times', f'**{many / few:.1f} times**', ''
        yield f'{DECISIONS[-1][0]:,} x {DECISIONS[-1][1]:,} with {RULES:,} rules and {POOLS} pools, instructions', '', 'twice', f'**{ruled / few:.2f} times**', ''
    out = pathlib.Path(folder) / 'plan.json'
    one_core = {min(os.sched_getaffinity(0))}
    with open(out, 'wb') as f, subprocess.Popen([snapshots.BALLAST, 'plan', '--snapshot', str(paths[1]), '--format', 'json'], stdout=f,
                                                preexec_fn=lambda: os.sched_setaffinity(0, one_core)) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 0:
        took_us = json.loads(out.read_text(encoding='utf-8'))['stats']['decide_us']
        yield (f'{name}, the decision on one core', '', '15 s, 8 GB with reading',
               f'**{took_us / 1e6:.1f} s, {usage.ru_maxrss / 1024 ** 2:.1f} GB with reading**', '')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--markdown', action='store_true', help='a table for README.md')
    parser.add_argument('--long', action='store_true', help='also 1,000,000 VMs, and instructions')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, large = snapshots.stored('c8x80', folder), snapshots.stored('c32x1280', folder)
        if not small or not large:
            print('no clusters: BALLAST_DATA names the folder of the benchmark data')
            sys.exit(snapshots.SKIPPED)
        rows = [*few_moves(small), *to_target(large), *consolidation(folder), *room(), *energy(), *decisions(folder),
                *(scale(folder) if options.long else [])]
    snapshots.show(HEAD, rows, options.markdown)


main()
