#!/usr/bin/env python3
"""src/dialect/flexiant against flexiant_model.py, which is written from the document alone: random clouds and requests, starts that are
remembered, migrations to the best node. The same nodes must be eligible, with the same scores; the same must be left by the threshold,
and the chosen one must be among those that the model finds equal and best."""
import copy
import json
import os
import random
import subprocess
import sys

from flexiant_clouds import Maker
from flexiant_model import Model, exact

CLOUDS = 100
ROUNDS = 3  # of starts and stops in one cloud
NEAR = 1e-7

if 'BALLAST_TEST_LONG' in os.environ:
    CLOUDS *= 30
elif 'BALLAST_TEST_SLOW' in os.environ:
    CLOUDS //= 10


class Probe:
    def __init__(self):
        self.process = subprocess.Popen([os.environ['BALLAST_FLEXIANT_PROBE']], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, cloud, servers):
        self.process.stdin.write(json.dumps({'cloud': cloud, 'servers': servers}) + '\n')
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


class Tally:
    def __init__(self):
        self.requests = self.borderline = self.started = self.ties = self.cut = self.negative = self.migrations = self.stays = self.local = 0


def differ(what, server, cloud, told, wanted):
    print(json.dumps(cloud))
    sys.exit(f'{server["id"]}: {what}\n  Ballast: {told}\n  model:   {wanted}')


def is_borderline(model, wanted):
    """Whether a score is so near to a threshold that binary fractions may be on its other side."""
    return any(0 < abs(score - t) < NEAR for score in wanted['system'].values() for t in model.thresholds())


def compare_local(server, cloud, told, wanted):
    for host in set(wanted['eligible']) - set(told['customer']):
        if told['refused'][host] not in ('memory', 'memory_free'):  # Ballast always asks for room
            differ('local storage', server, cloud, told, wanted)
    if set(told['customer']) - set(wanted['eligible']):
        differ('local storage', server, cloud, told, wanted)


def compare(model, server, cloud, told, tally):
    wanted = model.place(server)
    tally.requests += 1
    if wanted['system'] is None:
        tally.local += 1
        return compare_local(server, cloud, told, wanted)
    if set(told['system']) != set(wanted['eligible']):
        differ('eligible nodes', server, cloud, sorted(told['system']), sorted(wanted['eligible']))
    for host, score in wanted['system'].items():
        if abs(told['system'][host] - float(score)) > NEAR:
            differ(f'system score of {host}', server, cloud, told['system'][host], float(score))
    if is_borderline(model, wanted):
        tally.borderline += 1
        return None
    if set(told['customer']) != set(wanted['survivors']):
        differ('nodes above the threshold', server, cloud, sorted(told['customer']), sorted(wanted['survivors']))
    for host, score in wanted['customer'].items():
        if abs(told['customer'][host] - float(score)) > NEAR:
            differ(f'customer score of {host}', server, cloud, told['customer'][host], float(score))
    best = max(wanted['customer'].values(), default=exact(0))
    if ('chosen' in told) != bool(wanted['best']) or (wanted['best'] and best - wanted['customer'][told['chosen']] > NEAR):
        differ('chosen node', server, cloud, told.get('chosen'), wanted['best'])
    tally.ties += len(wanted['best']) > 1
    tally.cut += len(wanted['survivors']) < len(wanted['eligible'])
    tally.negative += any(s < 0 for s in wanted['customer'].values())
    if server['state'] == 'running':
        tally.migrations += 1
        tally.stays += told.get('chosen') == server['node']
    return told.get('chosen')


def change_keys(maker, cloud):
    """What a customer changes while servers run counts from their next start on only."""
    server = maker.rng.choice(cloud['servers'])
    server['keys'] = maker.keys('servers', 3, server_part=True)


def one_cloud(seed, probe, tally):
    rng = random.Random(seed)
    maker = Maker(rng, dyadic=seed % 2 == 0)
    cloud = maker.cloud()
    for _ in range(ROUNDS):
        model = Model(copy.deepcopy(cloud))
        # a server whose node does not run cannot be migrated
        servers = [s for s in model.cloud['servers'] if s['state'] != 'running' or model.by_id['nodes'][s['node']]['state'] == 'running']
        told = probe.ask(cloud, [s['id'] for s in servers])
        if 'error' in told:
            print(json.dumps(cloud))
            sys.exit(f'seed {seed}: {told["error"]}')
        chosen = {}
        for server, answer in zip(servers, told):
            host = compare(model, server, cloud, answer, tally)
            if host and server['state'] != 'running':
                chosen[server['id']] = host
        model = Model(cloud)
        for server in cloud['servers']:
            if server['state'] == 'running' and rng.random() < 0.3:
                model.stop(server)
        if chosen:
            name = rng.choice(sorted(chosen))
            model.start(model.by_id['servers'][name], chosen[name])
            tally.started += 1
        change_keys(maker, cloud)


def main():
    probe = Probe()
    tally = Tally()
    for seed in range(CLOUDS):
        one_cloud(seed, probe, tally)
    if probe.end() != 0:
        sys.exit('the probe failed')
    print(', '.join(f'{n} {name}' for name, n in vars(tally).items()))
    few = [name for name, n in vars(tally).items() if n < CLOUDS // 30 and name != 'borderline']
    if few or tally.borderline * 50 > tally.requests:
        sys.exit(f'the clouds are too much alike: few with {few}')


main()
