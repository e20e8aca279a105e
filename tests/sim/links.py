#!/usr/bin/env python3
"""Hosts are emptied over links that their copies share, with VMs that write to their memory meanwhile: all VMs that can leave do, for hardly more
than they would cost one at a time, and no copy that gets on is cancelled.

    tests/sim/links.py [--worlds N] [SEED...]

Runs links.yaml, and random worlds around it: sizes, rates of links and of writing, numbers of VMs and hosts. Each is compared with itself at one
migration a host. BALLAST_TEST_LONG: 25 times as many worlds; BALLAST_TEST_SEED: that world alone.
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
MORE = 1.3  # times what is copied one VM at a time
BEGINNING = 0.25  # a part of a VM that writes much, until that is known
GIB = 1024


def simulate(path, *changes):
    words = [word for change in changes for word in ('--set', change)]
    done = subprocess.run([BALLAST, 'simulate', str(path), *words, '--format', 'json', '--no-progress'], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout)['metrics']


def world(seed):
    """(scenario, the greatest part of the link that a VM writes, the largest VM in GiB)"""
    r = random.Random(seed)
    link = r.choice((55, 110, 110, 275, 550, 1100))
    stream = r.choice((link, link, 0.6 * link))
    hosts = r.randint(3, 6)
    leave = r.sample(range(1, hosts), r.choice((1, 1, 2)) if hosts > 3 else 1)
    most, largest, groups = 0, 0, []
    for i in range(r.randint(1, 3)):
        gib, part = r.choice((2, 4, 8, 16, 32, 64, 128)), r.choice((0, 0.02, 0.1, 0.2, 0.4, 0.6, 0.75))
        most, largest = max(most, part), max(largest, gib)
        # it writes at the pace of the CPU that it gets: an eighth of what its vCPUs have
        groups.append(f'  - {{name: g{i}, count: {r.randint(1, 6)}, mem_mb: {gib * GIB}, vcpus: 8, at: [{", ".join(f"h-{h:03}" for h in leave)}], '
                      f'dirty_mb_s: {8 * part * stream:.1f}, workload: {{cpu: 2500, mem: {gib * GIB}}}}}')
    lines = [f'name: world {seed}', f'duration_s: {2 * 86400}', f'seed: {seed}', 'hosts:',
             f'  - {{name: h, count: {hosts}, cores: 64, core_mhz: 2500, mem_mb: {4096 * GIB}, link_mb_s: {link}}}', 'vms:', *groups,
             f'migration: {{rate_mb_s: {stream}}}', 'script:', *(f'  - {{at_s: 3600, maintenance_enter: h-{h:03}}}' for h in leave)]
    return '\n'.join(lines) + '\n', most, largest


def wrong_with(path, most, largest):
    run, single = simulate(path), simulate(path, 'settings.migrations_per_host=1')
    allowed = MORE * single['gb_moved'] + BEGINNING * largest
    shown = f'{run["migrations"]} of {single["migrations"]} moved, {run["migrations_failed"]} given up, {run["gb_moved"]:.0f} GiB ({single["gb_moved"]:.0f})'
    wrong = [what for what, is_so in (
        ('not all leave that can', run['migrations'] < single['migrations']),
        ('a copy that gets on is given up', run['migrations_failed'] > 0 and most < 1),
        ('too much is copied', run['gb_moved'] > allowed)) if is_so]
    return shown, wrong


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--worlds', type=int, default=10)
    p.add_argument('seeds', type=int, nargs='*')
    args = p.parse_args()
    only = os.environ.get('BALLAST_TEST_SEED')
    n = args.worlds * (25 if os.environ.get('BALLAST_TEST_LONG') else 1)
    bad = 0
    shown, wrong = wrong_with(HERE / 'links.yaml', 0, 0)
    bad += bool(wrong)
    print(f'links.yaml: {shown}{"".join("; WRONG: " + w for w in wrong)}')
    for seed in args.seeds or ([int(only)] if only else range(1, n + 1)):
        text, most, largest = world(seed)
        with tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
            f.write(text)
            f.flush()
            shown, wrong = wrong_with(f.name, most, largest)
        if wrong:
            bad += 1
            print(f'seed {seed}: {shown}; WRONG: {"; ".join(wrong)}\n{text}')
    print(f'{bad} worlds are wrong')
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
