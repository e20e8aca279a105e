#!/usr/bin/env python3
"""Measures the time of a decision, by cluster size.

decide.py [--largest HOSTS] [--instructions] [--before BALLAST] [--repeat N] [--with PROGRAM] [--full]

Generates clusters, plans each with $BALLAST, and prints for each: the recommendations, the time of the decision (the plan's own
stats, the best of N), and the total time (read, decide, print). With --instructions valgrind's callgrind counts the instructions of
the decision, which do not depend on other processes of the machine: the growth from one size to the next is then exact. With --before
the counts of another program on the same snapshots are given beside them, also for contended clusters and for those of the
benchmark data (BALLAST_DATA).
Figures to compare with: Gulati et al. 2012 report 20 s for 32 x 1,280; our aims are 2 ms, 50 ms and 1 s for the first
three. Ten times the hosts and VMs must cost less than fifteen times the instructions. With --with decide_cpu the same clusters
are decided with rules and pools, reservations, spare capacity and hosts to be emptied as well, in CPU time and as multiples of the
plain one: 2,000 rules and 500 pools must stay within twice the time without them. With --full roomy
clusters are compared with the same ones whose memory is full: the aim is five times the time. Prints, and never fails for being slow.
"""
import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time

import clusters
import snapshots

# hosts, VMs, shape, the aim in ms
CLUSTERS = [(32, 1280, 'spike', 2.0), (96, 10000, 'skewed', 50.0), (1000, 100000, 'skewed', 1000.0)]
# each ten times the one before, otherwise alike
GROWTH = [(10, 1000, 'skewed'), (100, 10000, 'skewed'), (1000, 100000, 'skewed')]
# compared with another program: not contended, and contended
COMPARED = [(32, 1280, 'skewed'), (96, 10000, 'skewed'), (32, 1280, 'spike'), (32, 1280, 'pools'), (96, 10000, 'pools')]
# roomy, against memory that is used to 98 %, and of which VMs also demand 97 %
FULL = [(32, 1280, 'skewed'), (100, 10000, 'skewed'), (250, 25000, 'skewed')]
FILLED = (('98 % used', None), ('98 % used, active', 0.97))
STORED = ('c8x80', 'c32x1280', 'c8x80-low', 'c32x640-low')


def generate(folder, hosts, vms, shape):
    return str(snapshots.generated(hosts, vms, shape, folder))


def plan(path, program=snapshots.BALLAST):
    begin = time.monotonic()
    done = subprocess.run([program, 'plan', '--snapshot', path, '--format', 'json'], capture_output=True, text=True, check=True)
    return json.loads(done.stdout), time.monotonic() - begin


def show_times(folder, clusters, repeat):
    print(f'{"cluster":>24} {"moves":>6} {"imbalance":>18} {"decide":>11} {"aim":>9} {"in all":>9}')
    for hosts, vms, shape, aim_ms in clusters:
        path = generate(folder, hosts, vms, shape)
        runs = [plan(path) for _ in range(repeat)]
        result = runs[0][0]
        decide_ms = min(r['stats']['decide_us'] for r, _ in runs) / 1000.0
        name = f'{hosts} x {vms} {shape}'
        change = f'{result["before"]["imbalance"]:.4f} -> {result["after"]["imbalance"]:.4f}'
        print(f'{name:>24} {len(result["recommendations"]):>6} {change:>18} {decide_ms:>8.2f} ms {aim_ms:>6.0f} ms '
              f'{min(t for _, t in runs):>7.2f} s', flush=True)


def make_variants(folder, hosts, vms, shape):
    """The same cluster with more to heed: [(what, path, index of the one to compare with)]."""
    plain = generate(folder, hosts, vms, shape)
    made = [('plain', plain, 0)]

    def write(what, compared_with, *changes):
        with open(plain, encoding='utf-8') as f:
            snap = json.load(f)
        for change, *args in changes:
            change(snap, *args)
        path = plain.replace('.json', f'-{what.replace(" ", "-")}.json')
        with open(path, 'w', encoding='utf-8') as f:
            json.dump(snap, f)
        made.append((what, path, compared_with))

    pools = max(10, hosts // 2)
    write('pools', 0, (clusters.add_pools, pools))
    write('pools, rules', 0, (clusters.add_pools, pools), (clusters.add_rules, 2 * hosts, False))
    write('pools, half preferred', 0, (clusters.add_pools, pools), (clusters.add_rules, 2 * hosts, True))
    write('two passes', 0, (clusters.add_pools, pools), (clusters.add_rules, 2 * hosts, True), (clusters.add_impossible_rule,))
    write('reservations', 0, (clusters.add_reservations, 0.3))
    write('reservations, spare', len(made) - 1, (clusters.add_reservations, 0.3), (clusters.keep_for_failures, 1))
    write('emptied', 0, (clusters.empty_hosts, max(1, hosts // 100)))
    return made


def show_variants(folder, measured, program, repeat, instructions):
    """Two at a time, the one and what it is compared with: a large cluster takes 600 MB."""
    print(f'\n{"cluster":>24} {"with":>24} {"moves":>6} {"faults":>6} {"CPU":>11} {"times":>6} {"instructions":>15} {"times":>6}')
    for hosts, vms, shape, _ in measured:
        made = make_variants(folder, hosts, vms, shape)
        counted = []
        for what, path, against in made:
            done = subprocess.run([program, str(repeat), made[against][1], path], capture_output=True, text=True, check=True)
            _, ms, times, moves, faults = done.stdout.splitlines()[1].rsplit(maxsplit=4)
            counted.append(snapshots.count_instructions(path, folder) if instructions else 0)
            exact = f'{counted[-1]:>15,} {counted[-1] / counted[against]:>6.2f}' if instructions else ''
            print(f'{f"{hosts} x {vms} {shape}":>24} {what:>24} {moves:>6} {faults:>6} {float(ms):>8.1f} ms {float(times):>6.2f} {exact}',
                  flush=True)


def show_growth(folder, clusters):
    if not shutil.which('valgrind'):
        print('valgrind is not installed: instructions are not counted')
        return
    print(f'\n{"cluster":>24} {"instructions":>15} {"times":>7} {"aim":>6}')
    before = 0
    for hosts, vms, shape in clusters:
        n = snapshots.count_instructions(generate(folder, hosts, vms, shape), folder)
        times = f'{n / before:.1f}' if before else ''
        print(f'{f"{hosts} x {vms} {shape}":>24} {n:>15,} {times:>7} {"< 15" if before else "":>6}', flush=True)
        before = n


def fill(path, active):
    filled = path.replace('.json', f'-filled-{active}.json')
    with open(path, encoding='utf-8') as f:
        snap = json.load(f)
    clusters.fill_memory(snap, 0.98, active)
    with open(filled, 'w', encoding='utf-8') as f:
        json.dump(snap, f)
    return filled


def show_full(folder, compared, repeat, instructions):
    print(f'\n{"cluster":>24} {"memory":>18} {"moves":>6} {"decide":>11} {"times":>6} {"instructions":>15} {"times":>6}')
    for hosts, vms, shape in compared:
        roomy = generate(folder, hosts, vms, shape)
        first = None
        for what, path in [('roomy', roomy)] + [(what, fill(roomy, active)) for what, active in FILLED]:
            runs = [plan(path)[0] for _ in range(repeat)]
            ms = min(r['stats']['decide_us'] for r in runs) / 1000.0
            counted = snapshots.count_instructions(path, folder) if instructions else 0
            first = first or (ms, counted)
            exact = f'{counted:>15,} {counted / first[1]:>6.2f}' if counted else ''
            print(f'{f"{hosts} x {vms} {shape}":>24} {what:>18} {len(runs[0]["recommendations"]):>6} {ms:>8.1f} ms {ms / first[0]:>6.2f} '
                  f'{exact}', flush=True)


def show_compared(folder, compared, before):
    print(f'\n{"cluster":>24} {"moves":>6} {"instructions":>15} {"moves":>6} {"before":>15} {"times":>7}')
    paths = [(f'{hosts} x {vms} {shape}', generate(folder, hosts, vms, shape)) for hosts, vms, shape in compared]
    paths += [(name, snapshots.stored(name, folder)) for name in STORED]
    for name, path in paths:
        if not path:
            print(f'{name:>24} no data: BALLAST_DATA names its folder')
            continue
        sides = [(len(snapshots.moves(plan(str(path), program=program)[0])), snapshots.count_instructions(path, folder, program))
                 for program in (snapshots.BALLAST, before)]
        print(f'{name:>24} ' + ' '.join(f'{moved:>6} {n:>15,}' for moved, n in sides) + f' {sides[0][1] / sides[1][1]:>7.2f}', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--largest', type=int, default=1000, metavar='HOSTS')
    parser.add_argument('--instructions', action='store_true')
    parser.add_argument('--before', metavar='BALLAST', help='another program, whose instructions are counted too')
    parser.add_argument('--repeat', type=int, default=3)
    parser.add_argument('--with', dest='program', metavar='PROGRAM')
    parser.add_argument('--full', action='store_true', help='roomy clusters against full ones, and nothing else')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.full:
            show_full(folder, [c for c in FULL if c[0] <= options.largest], options.repeat, options.instructions and shutil.which('valgrind'))
            return 0
        show_times(folder, [c for c in CLUSTERS if c[0] <= options.largest], options.repeat)
        if options.instructions:
            show_growth(folder, [c for c in GROWTH if c[0] <= options.largest])
        if options.before and shutil.which('valgrind'):
            show_compared(folder, [c for c in COMPARED if c[0] <= options.largest], options.before)
        if options.program:
            show_variants(folder, [c for c in CLUSTERS if c[0] <= options.largest], options.program, options.repeat,
                          options.instructions and shutil.which('valgrind'))
    return 0


sys.exit(main())
