#!/usr/bin/env python3
"""Compares plans of Ballast on the benchmark data (BALLAST_DATA) with proved bounds and the aims.

aims.py [--markdown]

Evenness alone (cost_benefit and min_goodness off). root: √(σcpu² + σmem²) over hosts of demand / capacity, computed from the snapshot and the
moves. The bounds of the root and the figures of other searches were proved, or measured, once; needed: no plan of fewer moves reaches the target
(`ballast plan --bound`). Deep searches have the default budget. Decisions: the least of three, on this machine.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import snapshots

EVENNESS = ('cost_benefit=false', 'min_goodness=false')
ROOT_BOUND = {3: .1666, 5: .0849, 7: .0622}
TARGETS = ('0.05', '0.02')
ROOM_AIM = {'25': 250, '50': 260, '100': 275}
HEAD = ('input', 'reference', 'aim', 'greedy', 'deep search')
DECISIONS = ((256, 10000, '20 ms'), (1000, 100000, ''))


def decimal(x):
    return f'{x:.4f}'.removeprefix('0')


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
    for target in TARGETS:
        cells = []
        for search in ('greedy', 'deep'):
            made, moved, left = planned(path, 'moves_max=0', f'target={target}', f'search={search}', 'bound=true')
            cells.append(f'{len(moved)} moves, {left.gb:,.0f} GB')
        least = made['stats']['bound']['moves_least']
        yield (f'c32x1280, to {target.removeprefix("0")}', f'proved: {least} moves needed', 'few moves', cells[0], f'**{cells[1]}**')


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
        made = snapshots.plan(path, ('dpm.enabled=true', f'dpm.target={target}', 'dpm.changes_max=0', 'moves_max=0'))
        hosts = made['after']['hosts']
        fullest = max(host[what] for host in hosts for what in ('cpu', 'mem'))
        yield (f'c32x640-low, dpm.target={target}', 'proved: 8 hosts at .90', aim,
               f'**{len(hosts)} hosts, {len(snapshots.moves(made))} moves**, fullest {fullest:.3f}'.replace(' 0.', ' .'), '')


def room():
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name('room_moves.py')), '--markdown'], stdout=subprocess.PIPE,
                          text=True, check=False)
    for line in done.stdout.splitlines()[2:] if done.returncode == 0 else []:
        most, _, greedy, annealing, spaces, bound = (cell.strip() for cell in line.strip('|').split('|')[:6])
        yield f'rescheduling, spaces after {most} moves', f'bound {bound}, annealing {annealing}', f'{ROOM_AIM[most]}', greedy, spaces


def decisions(folder):
    for hosts, vms, aim in DECISIONS:
        path = snapshots.generated(hosts, vms, 'skewed', folder)
        least = min(snapshots.plan(path)['stats']['decide_us'] for _ in range(3))
        yield f'{hosts:,} x {vms:,}, the decision', 'brute force 20 s' if hosts == 256 else '', aim, f'**{least / 1000:,.0f} ms**', ''


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--markdown', action='store_true', help='a table for README.md')
    markdown = parser.parse_args().markdown
    with tempfile.TemporaryDirectory() as folder:
        small, large = snapshots.stored('c8x80', folder), snapshots.stored('c32x1280', folder)
        if not small or not large:
            print('no clusters: BALLAST_DATA names the folder of the benchmark data')
            sys.exit(snapshots.SKIPPED)
        rows = [*few_moves(small), *to_target(large), *consolidation(folder), *room(), *decisions(folder)]
    snapshots.show(HEAD, rows, markdown)


main()
