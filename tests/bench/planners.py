#!/usr/bin/env python3
"""Compares one balancing plan of Ballast with those of other planners on the same clusters of the benchmark data (BALLAST_DATA).

planners.py [--markdown]

Ballast's rows are planned now; the others' were measured with the versions named, on the same snapshots, one planning call, no rules.
sd: population standard deviation over hosts of demand / capacity. GB: memory that the moved VMs use.
"""
import argparse
import sys
import tempfile

import snapshots

# moves, GB, sd of CPU, sd of memory, CPU of the hottest host
OTHERS = {
    'c8x80': (
        ('ProxLB 1.1.11, memory', '8', '36', '.2433', '.1466', '.890'),
        ('ProxLB 1.1.11, CPU', '8', '46', '.1675', '.2100', '.769'),
        ('Xen Orchestra 0.13.1, performance', '7', '52', '.1193', '.1385', '.758'),
        ('Watcher 9.0, workload stabilization', '16', '80', '.1418', '.0774', '.722'),
        ('OpenNebula OneDRS, CPU and memory, at most 10 moves', '10', '95', '.0391', '.0556', '.600'),
        ('Ganeti hbal 3.0.2', '17', '', '.0921', '.1008', '.680'),
    ),
    'c32x1280': (
        ('ProxLB 1.1.11, memory', '62', '217', '.2214', '.2005', '.893'),
        ('ProxLB 1.1.8, memory', '1,243', '5,733', '.0749', '.0233', '.683'),
        ('Xen Orchestra 0.13.1, performance', '73', '820', '.0660', '.0918', '.709'),
        ('Watcher 9.0, workload stabilization', '166', '1,246', '.0626', '.0505', '.677'),
        ('OpenNebula OneDRS, CPU and memory', '97', '1,226', '.0183', '.0271', '.570'),
        ('Ganeti hbal 3.0.2', '235', '', '.0556', '.0679', '.668'),
    ),
}
OURS = (
    ('**Ballast, defaults**', ()),
    ('Ballast, level 5', ('migration_threshold=5',)),
    ('Ballast, for evenness alone', ('cost_benefit=false', 'min_goodness=false')),
)
HEAD = ('cluster', 'planner', 'moves', 'GB', 'sd CPU', 'sd memory', 'hottest host, CPU')


def decimal(x):
    return f'{x:.4f}'.removeprefix('0')


def row(name, planner, n, left):
    return (name, planner, f'{n:,}', f'{left.gb:,.0f}', decimal(left.spread('cpu')), decimal(left.spread('mem')),
            f'{left.most("cpu"):.3f}'.removeprefix('0'))


def rows_of(name, path):
    rows = [row(name, 'before', 0, snapshots.Loads(path))]
    for planner, settings in OURS:
        moved = snapshots.moves(snapshots.plan(path, settings))
        rows.append(row('', planner, len(moved), snapshots.Loads(path, moved)))
    return rows + [('', *other) for other in OTHERS[name]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--markdown', action='store_true', help='as a table for README.md')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {name: snapshots.stored(name, folder) for name in OTHERS}
        if not all(found.values()):
            print('no data: BALLAST_DATA names its folder', file=sys.stderr)
            return snapshots.SKIPPED
        snapshots.show(HEAD, [cells for name, path in found.items() for cells in rows_of(name, path)], options.markdown)
    return 0


sys.exit(main())
