#!/usr/bin/env python3
"""Plans for synthetic clusters of every shape, each replayed by replay.py.

generated.py [--shape SHAPE] [--rough] [--first SEED] [--rounds N] [--keep FOLDER]

For each cluster and each variant of the settings: the plan passes the replay; the entitlements equal the replay's; the same input
gives the same output (text: byte for byte; JSON: all but the stats), also with its arrays and fields in another order; and planning
again on the result gives no recommendation. --rough adds rules, reservations, hosts that enter maintenance and more (rough.py).
--keep writes the input of a failure to FOLDER. The command is taken from $BALLAST, or from build/.
"""
import argparse
import copy
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import Replay, check_entitlements  # noqa: E402
from rough import offers, roughen  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
BALLAST = os.environ.get('BALLAST', str(HERE.parent.parent / 'build/src/cli/ballast'))
SKIPPED = 77
COULD_NOT = 1  # the exit code when something could not be done; the plan says what
SHAPES = ('uniform', 'skewed', 'mixed', 'spike', 'pools')
SIZES = ((2, 6), (4, 40), (8, 80), (16, 300), (32, 1280))
VARIANTS = (
    (),
    ('cost_benefit=false', 'min_goodness=false'),
    ('cost_benefit=false', 'min_goodness=false', 'moves_max=0', 'migration_threshold=5'),
    ('cost_benefit=false', 'min_goodness=false', 'moves_max=0', 'migration_threshold=4', 'mem_overcommit=1.5'),
    ('migration_threshold=1',),
    ('migration_threshold=2', 'moves_max=3'),
    ('migration_threshold=4', 'mem_admission=configured'),
    ('migration_threshold=5', 'mem_admission=reservation', 'mem_overcommit=2', 'moves_max=0'),
    ('dpm.enabled=true',),
    ('dpm.enabled=true', 'cost_benefit=false', 'dpm.ratio=0', 'dpm.target=50', 'dpm.tolerance=5', 'moves_max=0'),
)


class Failure(Exception):
    pass


def run(arguments, text=None):
    done = subprocess.run([BALLAST, *arguments], input=text, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise Failure(f'ballast {" ".join(arguments)}: exit code {done.returncode}: {done.stderr.strip()}')
    return done.stdout


def plan(text, variant, form='json'):
    settings = [word for setting in variant for word in ('--set', setting)]
    return run(['plan', '--snapshot', '-', '--format', form, *settings], text)


def decided(plan_json):
    """What may not differ between two runs: all but the stats, in the order in which it stands."""
    plan_object = json.loads(plan_json)
    plan_object.pop('stats', None)
    return json.dumps(plan_object)


def shuffled(tree, rng):
    """The same cluster, said in another order. Lists of our formats are sets, all of them."""
    if isinstance(tree, dict):
        keys = list(tree)
        rng.shuffle(keys)
        return {key: shuffled(tree[key], rng) for key in keys}
    if isinstance(tree, list):
        items = [shuffled(item, rng) for item in tree]
        rng.shuffle(items)
        return items
    return tree


def carried_out(snapshot, decision):
    """The cluster after the plan: moved VMs are where they belong, and rest."""
    after = copy.deepcopy(snapshot)
    vms, hosts = {v['id']: v for v in after['vms']}, {h['id']: h for h in after['hosts']}
    for rec in decision['recommendations']:
        if rec['action'] == 'power_on':
            hosts[rec['host']]['state'] = 'on'
        if rec['action'] != 'migrate':
            continue
        v = vms[rec['vm']]
        used = (v['mem'].get('consumed') or v['mem_mb']) + (v['mem'].get('overhead') or 0)
        for host_id, change in ((rec['from'], used), (rec['to'], -used)):
            if hosts[host_id].get('mem_free_mb') is not None:
                hosts[host_id]['mem_free_mb'] = max(0, hosts[host_id]['mem_free_mb'] + change)
        v['host'] = rec['to']
        v['last_migrated'] = after['time']
    return after


def check_again(snapshot, decision, variant):
    """Planning again on the result yields nothing: what could be gained was gained, what could be corrected corrected.
    Only where nothing was left undone: a move for balance may have made the room that a correction missed."""
    again = json.loads(plan(json.dumps(carried_out(snapshot, decision)), variant))
    return [f'on the result it plans again: VM {r["vm"]} from {r["from"]} to {r["to"]} ({r["reason"]})'
            for r in again['recommendations']]


def place(snapshot, vms, variant):
    """The plan of `ballast place` for these VMs of the snapshot."""
    settings = [word for setting in variant for word in ('--set', setting)]
    with tempfile.NamedTemporaryFile('w', suffix='.json', encoding='utf-8') as f:
        json.dump(vms, f)
        f.flush()
        done = subprocess.run([BALLAST, 'place', '--snapshot', '-', '--vms', f.name, '--format', 'json', *settings],
                              input=json.dumps(snapshot), capture_output=True, text=True, timeout=600, check=False)
    if done.returncode not in (0, COULD_NOT):
        raise Failure(f'ballast place: exit code {done.returncode}: {done.stderr.strip()}')
    return json.loads(done.stdout)


def check_placement(snapshot, variant, seed):
    """VMs that are to be powered on: the plan passes the replay, says something of each, and does not depend on the order
    in which they are named."""
    vms = [v for v in snapshot['vms'] if v['id'].startswith('new-')]
    if not vms:
        return []
    names = [v['id'] for v in vms]
    decision = place(snapshot, vms, variant)
    found = []
    if not any(p['action'] == 'place' for p in snapshot.get('pending') or []):  # else it counts their load as well
        found = Replay(snapshot, decision, names).run()
    placed = [r['vm'] for r in decision['recommendations'] if r['action'] == 'place']
    refused = [f['vm'] for f in decision['faults'] if f['code'] == 'cannot_place']
    if sorted(placed + refused) != sorted(names):
        found.append(f'{names} were to be placed: {placed} are, {refused} are refused')
    for v in vms:
        if v.get('ft_peer') and (v['id'] in placed) != (v['ft_peer'] in placed):
            found.append(f'half of the pair of {v["id"]} is placed')
    shuffle = random.Random(seed)
    if decided(json.dumps(place(shuffled(snapshot, shuffle), shuffled(vms, shuffle), variant))) != decided(
            json.dumps(decision)):
        found.append('the shuffled input gave another plan')
    return [f'place {" ".join(variant)}: {v}' for v in found]


def goes_on(snapshot, decision):
    """Whether the next plan may go on where this one ends: a host that was woken for a VM is balanced only then, a place
    that is kept until all moves have ended may be taken after that, and so may memory that had to be free for what a VM
    reserves and does not use (the trouble `failures` has such reservations)."""
    wakes = any(r['action'] == 'power_on' for r in decision['recommendations'])
    keeps = snapshot.get('ha') is not None
    return wakes or keeps or any(v.get('kind') == 'spare' for v in snapshot['vms'])


def check_cluster(snapshot, variants, seed):
    text = json.dumps(snapshot)
    entitlements = json.loads(run(['entitlements', '--snapshot', '-', '--format', 'json'], text))
    violations = [f'entitlements: {v}' for v in check_entitlements(snapshot, entitlements)]
    moves = 0
    for n, variant in enumerate(variants):
        first = plan(text, variant)
        decision = json.loads(first)
        replay = Replay(snapshot, decision)
        found = replay.run()
        moves += len(decision['recommendations'])
        if n == seed % len(variants):  # enough to see it once a cluster
            if decided(plan(text, variant)) != decided(first):
                found.append('the same input gave another plan')
            if decided(plan(json.dumps(shuffled(snapshot, random.Random(seed))), variant)) != decided(first):
                found.append('the shuffled input gave another plan')
            if plan(text, variant, 'text') != plan(text, variant, 'text'):
                found.append('the same input gave another text')
            violations += check_placement(snapshot, variant, seed)
        if 'moves_max=0' in variant and not snapshot.get('migrations') and replay.settled() and not goes_on(
                snapshot, decision):
            found += check_again(snapshot, decision, variant)
        violations += [f'plan {" ".join(variant)}: {v}' for v in found]
    if violations:
        raise Failure('\n'.join(violations))
    return moves


def generate(hosts, vms, seed, shape):
    made = 'skewed' if shape == 'mixed' else shape
    snapshot = json.loads(run(['generate', '--hosts', str(hosts), '--vms', str(vms), '--seed', str(seed), '--shape', made]))
    if shape == 'mixed':
        offers(snapshot, random.Random(f'{seed} offers'))
    return snapshot


def clusters(options):
    """(name, snapshot, seed) of all that are to be looked at."""
    if options.files:
        for path in sorted(pathlib.Path(options.files).glob('*.json.xz')):
            with lzma.open(path, 'rt', encoding='utf-8') as f:
                yield path.name, json.load(f), 1
        return
    sizes = SIZES[:4] if options.rough or os.environ.get('BALLAST_TEST_SLOW') else SIZES
    rounds = options.rounds * ((30 if options.rough else 10) if os.environ.get('BALLAST_TEST_LONG') else 1)
    for seed in range(options.first, options.first + rounds):
        for shape in options.shape or SHAPES:
            for hosts, vms in sizes:
                name = f'--shape {shape} --hosts {hosts} --vms {vms} --seed {seed}'
                snapshot = generate(hosts, vms, seed, shape)
                if options.rough:
                    name += ' + ' + ' '.join(roughen(snapshot, f'{seed} {shape} {hosts}'))
                yield name, snapshot, seed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--shape', action='append', choices=SHAPES)
    parser.add_argument('--rough', action='store_true')
    parser.add_argument('--first', type=int, default=1, metavar='SEED')
    parser.add_argument('--rounds', type=int, default=1)
    parser.add_argument('--files', metavar='FOLDER', help='the clusters of this folder instead of generated ones')
    parser.add_argument('--keep', metavar='FOLDER')
    options = parser.parse_args()
    if options.files and not os.path.isdir(options.files):
        print(f'{options.files} is not there')
        return SKIPPED

    n = failures = moves = 0
    for name, snapshot, seed in clusters(options):
        n += 1
        try:
            moves += check_cluster(snapshot, VARIANTS, seed)
        except Failure as failure:
            failures += 1
            print(f'{name}:\n{failure}')
            if options.keep:
                os.makedirs(options.keep, exist_ok=True)
                with open(os.path.join(options.keep, f'failure-{n}.json'), 'w', encoding='utf-8') as f:
                    json.dump(snapshot, f, indent=1)
    print(f'{n} clusters, {len(VARIANTS)} variants each, {moves} recommendations, {failures} clusters failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
