#!/usr/bin/env python3
"""How much room moves make for large VMs, on a real cluster of the benchmark data (BALLAST_DATA), beside one move at a time, simulated
annealing, and a proved bound.

room_moves.py [--markdown]

The cluster: 824 hosts of two NUMA cells, 4,042 VMs, each with CPUs and memory in one cell or in both. A space is room for 16 CPUs in one
cell. Every plan is played here, move by move: a VM goes where Ballast's rule for cells puts it, and must fit there when it comes.
"""
import argparse
import json
import lzma
import pathlib
import sys
import tempfile

import snapshots

NAME = 'rescheduling-824x4042.json.xz'
SLOT = 16
MOVES = (25, 50, 100)
MHZ = 2500
# Measured once; the order of the moves was not checked, so that some may not fit when they are made.
ANNEALING = {25: 246, 50: 254, 100: 271}


def read(path):
    return json.loads(lzma.decompress(pathlib.Path(path).read_bytes()))


def snapshot(data):
    """As a snapshot. What a cell has free, the data says; the rest is what its VMs take, and in 184 cells more or less than that."""
    used = {}
    for vm in data['vms']:
        for cell in vm['numa']:
            used[vm['host'], cell['node']] = used.get((vm['host'], cell['node']), 0) + cell['mem_mb']
    hosts, vms = [], []
    for host in data['hosts']:
        cells = [{'id': n, 'cpus': cell['cpus'], 'cpu_ratio': 1, 'mem_mb': round(cell['free_mem_mb'] + used.get((host['id'], n), 0))}
                 for n, cell in enumerate(host['numa'])]
        cores = sum(cell['cpus'] for cell in cells)
        hosts.append({'id': host['id'], 'name': host['id'], 'state': 'on', 'cpu_mhz': MHZ * cores, 'cores': cores,
                      'mem_mb': sum(cell['mem_mb'] for cell in cells), 'numa': cells})
    for vm in data['vms']:
        mem = sum(cell['mem_mb'] for cell in vm['numa'])
        vms.append({'id': vm['id'], 'name': vm['id'], 'host': vm['host'], 'state': 'on', 'vcpus': sum(cell['cpus'] for cell in vm['numa']),
                    'mem_mb': mem, 'cpu': {'demand': 0}, 'mem': {'demand': 0, 'consumed': mem},
                    'automation': 'inherit' if vm['movable'] else 'disabled',
                    'numa': [{'cpus': cell['cpus'], 'mem_mb': round(cell['mem_mb']), 'cell': cell['node']} for cell in vm['numa']]})
    return {'format': 'ballast-snapshot/1', 'cluster': 'rescheduling', 'time': '2026-01-01T00:00:00Z', 'hosts': hosts, 'vms': vms}


class Cells:
    """What is free in each cell, and where each VM is."""

    def __init__(self, snap):
        self.vms = {vm['id']: [(cell['cpus'], cell['mem_mb']) for cell in vm['numa']] for vm in snap['vms']}
        self.at = {vm['id']: (vm['host'], [cell['cell'] for cell in vm['numa']]) for vm in snap['vms']}
        self.free = {host['id']: [[cell['cpus'], cell['mem_mb']] for cell in host['numa']] for host in snap['hosts']}
        for vm in self.vms:
            self.take(vm, 1)

    def take(self, vm, by):
        host, cells = self.at[vm]
        for (cpus, mem), cell in zip(self.vms[vm], cells):
            self.free[host][cell][0] -= by * cpus
            self.free[host][cell][1] -= by * mem

    def fits(self, vm, host, cells):
        return all(self.free[host][cell][0] >= cpus and self.free[host][cell][1] >= mem
                   for (cpus, mem), cell in zip(self.vms[vm], cells))

    def choose(self, vm, host):
        """The cells that the VM gets: of one cell, that with most CPUs left, of these with most memory. None: it does not fit."""
        if len(self.vms[vm]) == 2:
            return [0, 1] if self.fits(vm, host, [0, 1]) else None
        fit = [cell for cell in range(2) if self.fits(vm, host, [cell])]
        return [max(fit, key=lambda cell: (*self.free[host][cell], -cell))] if fit else None

    def move(self, vm, host):
        cells = self.choose(vm, host)
        if cells is None:
            sys.exit(f'{vm} does not fit on {host} when it comes')
        self.take(vm, -1)
        self.at[vm] = host, cells
        self.take(vm, 1)

    def spaces(self):
        return sum(cell[0] // SLOT for cells in self.free.values() for cell in cells)


def one_by_one(snap, most):
    """The move that makes most spaces, again and again; of equals the one with least memory, then the first."""
    state = Cells(snap)
    size = {vm: sum(mem for _, mem in cells) for vm, cells in state.vms.items()}
    made = 0

    def gain(vm, host, cells, sign):
        return sum((state.free[host][cell][0] + sign * cpus) // SLOT - state.free[host][cell][0] // SLOT
                   for (cpus, _), cell in zip(state.vms[vm], cells))

    while made < most:
        best = None
        # it takes as many slots anywhere as fit into it
        most_gained = {vm: gain(vm, *state.at[vm], 1) - sum(cpus // SLOT for cpus, _ in cells) for vm, cells in state.vms.items()}
        for vm in sorted((vm for vm in state.vms if most_gained[vm] > 0), key=lambda vm: (size[vm], vm)):
            leaving = gain(vm, *state.at[vm], 1)
            if best and most_gained[vm] <= best[0]:
                continue
            for host in state.free:
                cells = state.choose(vm, host) if host != state.at[vm][0] else None
                total = leaving + gain(vm, host, cells, -1) if cells else 0
                if total > (best[0] if best else 0):
                    best = total, vm, host
        if not best:
            break
        state.move(best[1], best[2])
        made += 1
    return state.spaces(), made


def bound(snap, most):
    """No plan of so many moves makes more: each host by itself, every set of its VMs, as if each found a place elsewhere that costs no
    more than the whole slots it takes anywhere. Then the best numbers of moves by host."""
    state = Cells(snap)
    on = {}
    for vm, (host, cells) in state.at.items():
        sizes = [0, 0]
        for (cpus, _), cell in zip(state.vms[vm], cells):
            sizes[cell] += cpus
        on.setdefault(host, {})
        on[host][tuple(sizes)] = on[host].get(tuple(sizes), 0) + 1
    best = [0] * (most + 1)
    for host, kinds in on.items():
        sets = {(0, 0, 0, 0)}  # VMs, CPUs of either cell, slots that they take anywhere
        for sizes, n in kinds.items():
            sets = {(vms + k, a + k * sizes[0], b + k * sizes[1], takes + k * (sizes[0] // SLOT + sizes[1] // SLOT))
                    for vms, a, b, takes in sets for k in range(min(n, most - vms) + 1)}
        gains = {}
        for vms, a, b, takes in sets:
            gain = sum((free[0] + out) // SLOT - free[0] // SLOT for free, out in zip(state.free[host], (a, b))) - takes
            gains[vms] = max(gains.get(vms, 0), gain)
        for k in range(most, 0, -1):
            best[k] = max(best[k - vms] + gain for vms, gain in gains.items() if vms <= k)
    return state.spaces() + best[most]


def ours(path, snap, most):
    made = snapshots.plan(path, ('objective=room', f'room.cpus={SLOT}', 'room.cells=1', f'moves_max={most}'))
    moved = snapshots.moves(made)
    state = Cells(snap)
    for r in moved:
        state.move(r['vm'], r['to'])
    if state.spaces() != made['room']['after']:
        sys.exit(f'{state.spaces()} spaces after the plan, which says {made["room"]["after"]}')
    copied = sum(mem for r in moved for _, mem in state.vms[r['vm']]) / 1024
    return state.spaces(), len(moved), copied, made['stats']['decide_us'] / 1e6, made['stats']['evaluated']


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--markdown', action='store_true', help='a table for README.md')
    markdown = parser.parse_args().markdown
    archive = snapshots.data(NAME)
    if not archive:
        print(f'no {NAME}: BALLAST_DATA names the folder of the benchmark data')
        sys.exit(snapshots.SKIPPED)
    snap = snapshot(read(archive))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'cluster.json'
        path.write_text(json.dumps(snap), encoding='utf-8')
        for most in MOVES:
            spaces, moved, copied, seconds, evaluated = ours(path, snap, most)
            greedy, steps = one_by_one(snap, most)
            rows.append((f'{most}', f'{Cells(snap).spaces()}', f'{greedy} ({steps})', f'{ANNEALING[most]}', f'**{spaces}** ({moved})',
                         f'{bound(snap, most)}', f'{copied:,.0f}', f'{seconds:.2f} s', f'{evaluated:,}'))
    snapshots.show(('moves at most', 'at the start', 'one by one (moves)', 'annealing', 'Ballast (moves)', 'bound', 'GB', 'decision', 'evaluations'),
                   rows, markdown)


main()
