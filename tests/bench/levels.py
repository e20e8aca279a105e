#!/usr/bin/env python3
"""Shows what each migration threshold does: moves, GB copied, and the imbalance and the hottest hosts that are left.

levels.py [--markdown | --mdoc]

Plans three clusters at levels 2 to 5 with the defaults otherwise: two of the benchmark data (BALLAST_DATA; without it only the third
one) and a generated one of 64 hosts and 3,000 VMs. Makes the tables of README.md and ballast.yaml(5).
"""
import argparse
import sys
import tempfile

import snapshots

LEVELS = (2, 3, 4, 5)
HEAD = ('cluster', 'level', 'moves', 'GB', 'imbalance', 'hottest host: CPU, %', 'fullest host: memory, %')


def percent(load):
    return f'{100 * load:.0f}'


def row(name, level, moved, imbalance, left):
    return (name, level, f'{len(moved):,}', f'{left.gb:,.0f}', f'{imbalance:.3f}', percent(left.most('cpu')), percent(left.most('mem')))


def rows_of(name, path):
    plans = {level: snapshots.plan(path, [f'migration_threshold={level}']) for level in LEVELS}
    rows = [row(name, 'before', [], plans[LEVELS[0]]['before']['imbalance'], snapshots.Loads(path))]
    for level, made in plans.items():
        moved = snapshots.moves(made)
        rows.append(row(name, str(level), moved, made['after']['imbalance'], snapshots.Loads(path, moved)))
    return rows


def show_mdoc(rows):
    print('.Bl -column "32 x 1,280" "before" "moves" "1,000" "imbalance" "CPU, %" "memory, %" -compact')
    for cells in [('cluster', 'level', 'moves', 'GB', 'imbalance', 'CPU, %', 'memory, %'), *rows]:
        print('.It ' + ' Ta '.join(f'"{cell}"' if ' ' in cell else cell for cell in cells))
    print('.El')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--markdown', action='store_true', help='as a table for README.md')
    parser.add_argument('--mdoc', action='store_true', help='as a table for ballast.yaml(5)')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = (('8 x 80', snapshots.stored('c8x80', folder)), ('32 x 1,280', snapshots.stored('c32x1280', folder)),
                 ('64 x 3,000', snapshots.generated(64, 3000, 'skewed', folder)))
        missing = [name for name, path in found if not path]
        rows = [cells for name, path in found if path for cells in rows_of(name, path)]
    if missing and (options.markdown or options.mdoc):
        print(f'no data for {", ".join(missing)}: BALLAST_DATA names its folder', file=sys.stderr)
        return snapshots.SKIPPED
    if options.mdoc:
        show_mdoc(rows)
    else:
        snapshots.show(HEAD, rows, options.markdown)
    return 0


sys.exit(main())
