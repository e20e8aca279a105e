#!/usr/bin/env python3
"""Many rules take time and memory in proportion: ten times as many rules, contradictory ones too, never a multiple that only a search of
all rules for each of them gives. 20,000 rules on 200 hosts; with BALLAST_TEST_LONG 100,000 on 1,000 hosts with 20,000 VMs, with figures."""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from command import BALLAST, SLOW, check, end

LONG = bool(os.environ.get('BALLAST_TEST_LONG')) and SLOW == 1
HOSTS, VMS, RULES = (1000, 20000, 100000) if LONG else (200, 4000, 20000 // SLOW)
FEWER = 10  # times
RATIO_MOST = 30  # of CPU time; a search of all rules for each rule takes FEWER * FEWER times as long
BASE_S = 0.1  # below, a duration is mostly the start of a process
MEMORY_MOST = 12 * 1024  # bytes for each rule beyond what the layout counts of it on each host
COUNT_BYTES = 2 * 2  # of a rule on a host, in two passes


def apart(rng, vms, hosts, i):
    return {'kind': 'vm-vm-anti-affine', 'vms': rng.sample(vms, 5)}


def off_hosts(rng, vms, hosts, i):
    return {'kind': 'vm-host-anti-affine', 'vms': rng.sample(vms, 8), 'hosts': rng.sample(hosts, 20)}


def few_hosts(rng, vms, hosts, i):
    return {'kind': 'vm-host-affine', 'vms': rng.sample(vms, 8), 'hosts': rng.sample(hosts, 20)}


def joined_and_apart(rng, vms, hosts, i):
    return {'kind': 'vm-vm-affine', 'vms': rng.sample(vms, 2)} if i % 2 else apart(rng, vms, hosts, i)


def of_one_vm(rng, vms, hosts, i):
    return {'kind': ('vm-vm-anti-affine', 'vm-vm-affine')[i % 2], 'vms': [vms[0], rng.choice(vms[1:])]}


def of_one_pair(rng, vms, hosts, i):
    return {'kind': ('vm-vm-anti-affine', 'vm-vm-affine')[i % 2], 'vms': vms[:2]}


def add_rules(snapshot, make, n, mandatory):
    rng = random.Random(7)
    vms, hosts = ([x['id'] for x in snapshot[kind]] for kind in ('vms', 'hosts'))
    snapshot['rules'] = [{'id': f'r{i}', 'name': f'rule-{i}', 'enabled': True, 'mandatory': mandatory, **make(rng, vms, hosts, i)}
                         for i in range(n)]


def measure(arguments):
    """(CPU seconds, KiB at the peak)"""
    process = subprocess.Popen([BALLAST, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    check(f'{arguments}: exit {process.returncode}', process.returncode == 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def compare(what, few, many, bare, n):
    (few_s, _), (many_s, kib), (bare_s, bare_kib) = few, many, bare
    ratio = max(many_s - bare_s, 0) / max(few_s - bare_s, BASE_S * SLOW)
    each = (kib - bare_kib) * 1024 / n
    print(f'{what}: {n} rules {many_s:.1f} s, {n // FEWER} rules {few_s:.1f} s, none {bare_s:.1f} s; {kib // 1024} MiB', flush=True)
    check(f'{what}: time in proportion', ratio <= RATIO_MOST, f'{ratio:.0f} times as long')
    if SLOW == 1:
        check(f'{what}: memory in proportion', each <= MEMORY_MOST + COUNT_BYTES * HOSTS, f'{each:.0f} bytes for a rule')


def configuration(folder, vms, n):
    path = folder / f'{n}.yaml'
    rng = random.Random(3)
    path.write_text('cluster: a\nsource: {kind: sim}\nrules:\n' +
                    ''.join(f'  r{i}: {{kind: anti-affinity, vms: [{", ".join(rng.sample(vms, 2))}]}}\n' for i in range(n)))
    return path


with tempfile.TemporaryDirectory() as name:
    base = pathlib.Path(name) / 'base.json'
    with open(base, 'w', encoding='utf-8') as out:
        subprocess.run([BALLAST, 'generate', '--hosts', str(HOSTS), '--vms', str(VMS), '--seed', '1', '--shape', 'skewed'], stdout=out,
                       check=True)
    cluster = json.loads(base.read_text())
    nothing = measure(['plan', '--snapshot', base])
    for shape in (apart, off_hosts, few_hosts, joined_and_apart, of_one_vm, of_one_pair):
        for binding in (True, False):
            taken = []
            for count in (RULES // FEWER, RULES):
                add_rules(cluster, shape, count, binding)
                path = pathlib.Path(name) / 'rules.json'
                path.write_text(json.dumps(cluster))
                taken.append(measure(['plan', '--snapshot', path]))
            compare(f'{"mandatory" if binding else "preferred"} {shape.__name__}', *taken, nothing, RULES)
    # in the configuration, beside those of the source; a configuration has 1 MiB at most
    some = 10000 // SLOW
    files = [configuration(pathlib.Path(name), [vm['id'] for vm in cluster['vms']], n) for n in (some // FEWER, some)]
    add_rules(cluster, apart, RULES, True)
    path.write_text(json.dumps(cluster))
    beside = measure(['plan', '--snapshot', path])
    compare('of the configuration', *(measure(['plan', '--snapshot', path, '--config', file]) for file in files), beside, some)
    large = configuration(pathlib.Path(name), ['vm-1', 'vm-2'], 50000)
    refused = subprocess.run([BALLAST, 'check-config', large], capture_output=True, text=True, check=False)
    check('a larger configuration is refused', refused.returncode == 2 and 'larger than 1 MiB' in refused.stderr, refused.stderr)
end()
