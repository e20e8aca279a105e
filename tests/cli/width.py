#!/usr/bin/env python3
"""Every line of text output fits 80 columns, with names as they are at a real site; names stand in the order of a person."""
import json
import pathlib
import re
import subprocess
import unicodedata

from command import BALLASTD, Service, check, end, run, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known

WIDTH = 80
DOMAIN = '.dc1.example.com'
POOLS = ('/Resources/prod/web', '/Resources/prod/databases', '/Resources/test')
NIGHT = '\ndpm: {enabled: true, hosts_min: 1, host_uptime_min_s: 0, wake_unverified: true}'


def columns(line):
    """On a terminal: wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 0 if unicodedata.combining(c) else 1 for c in line)


def fits(what, text):
    for line in text.splitlines():
        check(f'{what}: fits {WIDTH} columns', columns(line) <= WIDTH, f'{columns(line)}: {line}')


def host_name(n):
    return f'esx-prod-{n}{DOMAIN}'


def vm_name(n):
    return f'{("web-frontend", "database-orders", "büro-anwendung")[n % 3]}-production-{n}'.ljust(30, 'x')


def site(hosts=12, vms=96, **more):
    """A generated cluster whose hosts, VMs and pools have long names; their ids are a vCenter's."""
    s = json.loads(run('generate', '--hosts', hosts, '--vms', vms, '--seed', 7, '--shape', 'skewed').stdout)
    new = {}
    for kind, of_kind in (('hosts', lambda n: (f'host-{n + 30}', host_name(n + 1))), ('vms', lambda n: (f'vm-{n + 1000}', vm_name(n)))):
        for n, x in enumerate(s[kind]):
            new[x['id']], x['name'] = of_kind(n)
            x['id'] = new[x['id']]
    for v in s['vms']:
        v['host'] = new[v['host']]
    s['pools'] = [{'id': f'resgroup-{n}', 'name': name, 'parent': None, 'cpu': {'reservation': 10000 * n, 'limit': 200000 if n else None, 'shares': 4000},
                   'mem': {'shares': 163840}} for n, name in enumerate(POOLS)]
    for n, v in enumerate(s['vms']):
        v['pool'] = f'resgroup-{n % len(POOLS)}'
    s['rules'] = [{'id': 'rule-1', 'name': 'databases of orders apart from each other', 'enabled': True, 'kind': 'vm-vm-anti-affine',
                   'vms': [v['id'] for v in s['vms'] if v['name'].startswith('database')][:5]}]
    s.update(more)
    return s


def in_order(what, names, expected):
    check(f'{what}: in the order of a person', names == expected, f'{names}')


def test_snapshot():
    """What needs no service."""
    s = site()
    s['hosts'][11].update(state='standby', wake_methods=['ipmi', 'redfish', 'wol', 'hypervisor'], wake_verified=True)
    s['vms'] = [v for v in s['vms'] if v['host'] != s['hosts'][11]['id']]
    s['rules'] = []
    asleep = s['hosts'][11]['name']
    text = json.dumps(s)
    vms = json.dumps([{'id': 'vm-new', 'name': vm_name(999), 'vcpus': 2, 'mem_mb': 4096}, {'id': 'vm-big', 'name': vm_name(998), 'vcpus': 64, 'mem_mb': 9999999}])
    host, vm = host_name(3), s['vms'][5]['name']
    with Service() as folder:  # for its folder
        path, vms_path = folder.folder / 'site.json', folder.folder / 'vms.json'
        path.write_text(text, encoding='utf-8')
        vms_path.write_text(vms, encoding='utf-8')
        for arguments in (['plan'], ['plan', '--set', 'migration_threshold=5', '--set', 'moves_max=0'], ['plan', '--set', 'dpm.enabled=true'],
                          ['entitlements'], ['explain', '--vm', vm], ['explain', '--host', host], ['explain', '--host', 'esx-prod-3'],
                          ['place', '--vms', vms_path], ['what-if', '--maintenance', host], ['what-if', '--host-off', host, '--demand', f'{vm}=4000'],
                          ['what-if', '--host-on', asleep]):
            done = run(*arguments, '--snapshot', path)
            check(f'{arguments}: prints', done.stdout, done.stderr)
            fits(' '.join(map(str, arguments)), done.stdout)
    rows = run('explain', '--vm', vm, '--snapshot', '-', stdin=text).stdout.split('IMBALANCE')[-1]
    rows = re.split(r'^  (?=\S)', rows, flags=re.M)  # of one host, or of several
    rows = [[int(n) for n in re.findall(r'esx-prod-(\d+)', row.split('Hosts:')[-1] if 'Hosts:' in row else row.split('\n')[0])]
            for row in rows]
    in_order('explain: the hosts of a row', rows, [sorted(row) for row in rows])
    in_order('explain: each host once', sorted(sum(rows, [])), list(range(1, 13)))


def test_generated():
    """Commands whose names are their own."""
    fits('generate --help', run('generate', '--help').stdout)
    for verb in [line.split()[0] for line in run('--help').stdout.splitlines() if re.match(r'  [a-z]', line)]:
        fits(f'{verb} --help', run(verb, '--help').stdout)
    fits('ballastd --help', subprocess.run([BALLASTD, '--help'], capture_output=True, text=True, check=False).stdout)
    scenario = ('name: An afternoon in the data centre of a company with long names\nduration_s: 3600\nseed: 1\nsettings: {automation: full}\n'
                'hosts:\n  - {name: esx-prod, count: 3, cores: 8, core_mhz: 3000, mem_mb: 65536}\n'
                'pools:\n  - {name: /Resources/prod/databases}\n'
                'vms:\n  - {name: database-orders-production, count: 12, pool: /Resources/prod/databases, vcpus: 4, mem_mb: 8192, at: esx-prod-001,\n'
                '     workload: {cpu: {kind: constant, level: 5000}, mem: {kind: constant, level: 4096}}}\n')
    with Service() as folder:
        path = folder.folder / 'scenario.yaml'
        path.write_text(scenario, encoding='utf-8')
        for arguments in ([], ['--seeds', 2], ['--compare', 'migration_threshold=1', 'migration_threshold=5'],
                          ['--seeds', 2, '--compare', 'migration_threshold=1', 'migration_threshold=5']):
            done = run('simulate', path, *arguments, timeout=120)
            check(f'simulate {arguments}: prints', done.returncode == 0, done.stderr)
            fits(f'simulate {arguments}', done.stdout)
        fits('check-config', run('check-config', folder.config).stdout)


def ended(s):
    return all(a['state'] not in ('approved', 'starting', 'running', 'verifying') for a in s.ask_json('recommendations'))


SERVICE = (['status'], ['status', '--since', '12h'], ['hosts'], ['vms'], ['pools'], ['recommendations'], ['history'], ['events'], ['run'],
           ['forecast'], ['forecast', '--hours', '4', '--all'], ['schedule'], ['history', '--energy'], ['history', '--energy', '--by', 'host'], ['plan'],
           ['entitlements'], ['explain', '--vm', vm_name(5)], ['explain', '--host', 'esx-prod-3'])


def ask_all(s, when):
    on = next(h['name'] for h in s.ask_json('hosts') if h['state'] == 'on')  # maintenance and standby take their time
    for arguments in (*SERVICE, ['what-if', '--maintenance', on]):
        done = s.ask(*arguments)
        check(f'{arguments} {when}: answered', done.returncode == 0, done.stderr)
        fits(f'{" ".join(arguments)} {when}', done.stdout)


def test_service():
    """What the service says, before and after actions, some of which failed."""
    with Service() as s:
        path = s.folder / 'site.json'
        path.write_text(json.dumps(site()), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 200\n  file: {path}', interval_s=300, dpm='{enabled: true, hosts_min: 1}')
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        ask_all(s, 'at first')
        hosts = re.findall(r'^(esx-prod-\d+) ', s.ask('hosts').stdout, re.M)
        in_order('hosts', hosts, [f'esx-prod-{n + 1}' for n in range(12)])
        vms = [line.split()[0] for line in s.ask('vms').stdout.splitlines()[1:] if not line.startswith(' ')]
        in_order('vms', vms, sorted(vms, key=lambda name: [(int(x) if x.isdigit() else x.encode()) for x in re.split(r'(\d+)', name)]))
        for arguments in (['apply', *s.numbers()[:4]], ['reject', s.numbers()[-1]], ['maintenance', 'enter', 'esx-prod-3'], ['standby', host_name(4)],
                          ['pause'], ['resume'], ['wake', host_name(4)], ['maintenance', 'exit', 'esx-prod-3']):
            done = s.ask(*arguments)
            fits(' '.join(arguments), done.stdout)
            check(f'{arguments}: answered', done.stdout or done.stderr)
        wait_until(lambda: ended(s), 30)
        ask_all(s, 'after actions')
        text = s.log_text()
        check('the log has names, not ids', not re.search(r'\b(host|vm)-\d{2,}\b', text), '\n'.join(re.findall(r'.*\b(?:host|vm)-\d{2,}\b.*', text)[:5]))


check('every part came to its end', run_tests(globals()) == 0)
end()
