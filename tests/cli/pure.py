#!/usr/bin/env python3
"""The commands that need no service: exit codes, formats and messages of the contract."""
import json
import os
import re
import tempfile

from command import SLOW, TOP, check, end, run

VMS = tempfile.NamedTemporaryFile('w', suffix='.json', prefix='ballast-vms.')
VMS.write('[{"id": "new", "vcpus": 1, "mem_mb": 512}]')
VMS.flush()
PURE = {
    'plan': ['--snapshot', '-'],
    'entitlements': ['--snapshot', '-'],
    'explain': ['--snapshot', '-', '--vm', 'v1'],
    'place': ['--snapshot', '-', '--vms', VMS.name],
    'migrate': ['--snapshot', '-', 'v1', '--best'],
    'what-if': ['--snapshot', '-', '--host-off', 'h1'],
}
SERVICE = ['status', 'hosts', 'vms', 'pools', 'recommendations', 'run', 'snapshot', 'samples', 'history', 'events', 'forecast', 'schedule', 'pause', 'resume']
SNAPSHOT = {
    'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': '2026-01-01T00:00:00Z',
    'hosts': [{'id': f'h{i}', 'name': f'h{i}', 'state': 'on', 'cpu_mhz': 10000, 'cores': 4, 'mem_mb': 16384} for i in (1, 2)],
    'vms': [{'id': f'v{i}', 'name': f'v{i}', 'host': 'h1', 'state': 'on', 'vcpus': 2, 'mem_mb': 2048, 'cpu': {'demand': 1500},
             'mem': {'demand': 1024, 'consumed': 1024}} for i in range(1, 7)],
}

# Each is SNAPSHOT with one thing wrong, and the pointer that the message must have.
MALFORMED = [
    (lambda s: s.pop('format'), '/format'),
    (lambda s: s.update(format='ballast-snapshot/9'), '/format'),
    (lambda s: s.update(time='yesterday'), '/time'),
    (lambda s: s.update(hosts=[]), '/hosts'),
    (lambda s: s['hosts'][0].update(cpu_mhz=-1), '/hosts/0/cpu_mhz'),
    (lambda s: s['hosts'][0].update(cpu_mhz='many'), '/hosts/0/cpu_mhz'),
    (lambda s: s['hosts'][0].update(state='sleepy'), '/hosts/0/state'),
    (lambda s: s['hosts'][1].update(id='h1'), '/hosts/1/id'),
    (lambda s: s['vms'][2].update(host='h9'), '/vms/2/host'),
    (lambda s: s['vms'][0].update(state='off'), '/vms/0'),
    (lambda s: s['vms'][0].update(pool='p9'), '/vms/0/pool'),
    (lambda s: s['vms'][0]['cpu'].update(demand=-5), '/vms/0/cpu/demand'),
    (lambda s: s['vms'][0]['cpu'].update(reservation=9, limit=5), '/vms/0/cpu'),
    (lambda s: s['hosts'][0].update(state='standby'), '/vms/0'),
    (lambda s: s.update(pools=[{'id': 'a', 'name': 'a', 'parent': 'b'}, {'id': 'b', 'name': 'b', 'parent': 'a'}]), '/pools/'),
    (lambda s: s.update(rules=[{'id': 'r', 'kind': 'vm-vm-affine', 'vms': ['v1', 'nobody']}]), '/rules/0/vms'),
    (lambda s: s.update(rules=[{'id': 'r', 'kind': 'friends', 'vms': ['v1', 'v2']}]), '/rules/0/kind'),
]


def changed(change):
    snapshot = json.loads(json.dumps(SNAPSHOT))
    change(snapshot)
    return json.dumps(snapshot)


def test_help():
    done = run('--help')
    check('--help: exit code 0', done.returncode == 0)
    check('--help fits a terminal', max(map(len, done.stdout.splitlines())) <= 80, done.stdout)
    verbs = [line.split()[0] for line in done.stdout.splitlines() if line.startswith('  ') and line[2:3].isalpha()]
    check('--help names the verbs', set(PURE) | set(SERVICE) | {'generate', 'check-config'} <= set(verbs), str(verbs))
    for verb in verbs:
        done = run(verb, '--help')
        check(f'{verb} --help', done.returncode == 0 and 'Usage' in done.stdout and not done.stderr)
        widest = max(done.stdout.splitlines(), key=len)
        check(f'{verb} --help fits a terminal', len(widest) <= 80, widest)
        usage = done.stdout.split('\n\n')[0]
        for option in re.findall(r'^  (--[a-z-]+(?: [A-Z]\S*)*)', done.stdout, re.M):
            check(f'{verb} --help: the usage has {option}', option == '--help' or option in usage, usage)


def test_usage():
    for arguments in ([], ['no-such-verb'], ['plan', '--no-such-option'], ['plan', '--snapshot'],
                      ['plan', '--snapshot', '-', '--set', 'migration_threshold'],
                      ['plan', '--snapshot', '-', '--set', 'migration_threshold=9'],
                      ['plan', '--snapshot', '-', '--set', 'no_such_thing=1'],
                      ['plan', '--snapshot', '-', '--format', 'xml'],
                      ['explain', '--snapshot', '-'], ['explain', '--snapshot', '-', '--vm', 'nobody'],
                      ['generate', '--hosts', '0', '--vms', '1', '--seed', '1'],
                      ['generate', '--hosts', '2', '--vms', '1', '--seed', '1', '--shape', 'round']):
        done = run(*arguments, stdin=json.dumps(SNAPSHOT))
        check(f'{arguments}: exit code 2', done.returncode == 2, f'{done.returncode} {done.stderr}')
        check(f'{arguments}: says why, and nothing else', done.stderr and not done.stdout, done.stdout)


# Two VMs of 4 vCPUs on a host of 16: only without both of them there is room for 16.
CLOUD = {
    'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': '2026-01-01T00:00:00Z',
    'hosts': [{'id': f'h{i}', 'name': f'h{i}', 'state': 'on', 'cpu_mhz': 40000, 'cores': 16, 'mem_mb': 65536} for i in (1, 2)],
    'vms': [{'id': name, 'name': name, 'host': host, 'state': 'on', 'vcpus': 4, 'mem_mb': 4096, 'cpu': {'demand': 100},
             'mem': {'demand': 1024, 'consumed': 4096}} for name, host in (('a', 'h1'), ('b', 'h1'), ('c', 'h2'))],
}


def test_room():
    text = json.dumps(CLOUD)
    for arguments, wrong in ((['--objective', 'room'], '--slot'), (['--objective', 'space'], 'space'), (['--slot', 'cpus'], '"cpus"'),
                             (['--slot', 'cpus=16,disks=2'], '"disks=2"'), (['--slot', 'cpus=many'], 'room.cpus'),
                             (['--slot', 'cpus=16,'], '""'), (['--moves-max', '-1'], 'moves_max')):
        done = run('plan', '--snapshot', '-', *arguments, stdin=text)
        check(f'{arguments}: exit code 2, and why in one line', done.returncode == 2 and not done.stdout and wrong in done.stderr and
              len(done.stderr.splitlines()) == 1, done.stderr)
    for size, now, then in (('cpus=16', 0, 1), ('cpus=12,mem_mb=32768', 1, 1), ('mem_mb=16384', 6, 7)):
        plan = json.loads(run('plan', '--snapshot', '-', '--objective', 'room', '--slot', size, '--format', 'json', stdin=text).stdout)
        check(f'--slot {size}: {now} spaces, {then} after', (plan['room']['before'], plan['room']['after']) == (now, then), plan['room'])
    plan = json.loads(run('plan', '--snapshot', '-', '--set', 'objective=room', '--set', 'room.cpus=16', '--moves-max', '1', '--format', 'json',
                          stdin=text).stdout)
    check('--moves-max 1: one move', [(r['vm'], r['reason'], r['priority']) for r in plan['recommendations']] == [('c', 'room', 3)],
          plan['recommendations'])
    check('--moves-max 1: the plan says it', plan['policy']['moves_max'] == 1 and plan['end']['check'] == 'no_space', plan['end'])
    cloud = json.loads(text)
    for host in cloud['hosts']:
        host['numa'] = [{'id': n, 'cpus': 8, 'cpu_ratio': 1, 'mem_mb': 32768} for n in range(2)]
    for vm in cloud['vms']:
        vm['numa'] = [{'cpus': 4, 'mem_mb': 4096, 'cell': 1 if vm['id'] == 'b' else 0}]
    for size, now, then in (('cpus=8,numa=1', 1, 2), ('cpus=16,numa=2', 0, 1), ('cpus=4,numa=1', 5, 5), ('cpus=8,numa=2', 2, 2), ('mem_mb=32768,numa=1', 1, 2),
                            ('cpus=3,numa=3', 0, 0)):
        plan = json.loads(run('plan', '--snapshot', '-', '--objective', 'room', '--slot', size, '--format', 'json', stdin=json.dumps(cloud)).stdout)
        check(f'--slot {size}: {now} spaces, {then} after', (plan['room']['before'], plan['room']['after']) == (now, then), plan['room'])
    plan = json.loads(run('plan', '--snapshot', '-', '--objective', 'room', '--slot', 'cpus=8,numa=1', '--format', 'json', stdin=text).stdout)
    check('cells that are not known have no room', (plan['room']['before'], plan['room']['after']) == (0, 0), plan['room'])
    plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=text).stdout)
    check('without a size there is no room', 'room' not in plan)


def test_settings_warnings():
    for wanted, warning in (('room.free=2', 'warning: --set: room.free keeps nothing free: '), ('objective=room', 'warning: --set: objective is room, but'),
                            ('cool_down_s=0', 'warning: --set: cool_down_s is 0: '),
                            ('dpm.off_max_s=3600', 'warning: --set: dpm.off_max_s is not used any more'),
                            ('dpm.host_uptime_min_s=60', 'warning: --set: dpm.host_uptime_min_s is not used any more')):
        done = run('plan', '--snapshot', '-', '--set', wanted, stdin=json.dumps(SNAPSHOT))
        check(f'--set {wanted}: accepted with a warning', done.returncode == 0 and done.stderr.strip().count('\n') == 0 and
              warning in done.stderr, done.stderr)
    done = run('plan', '--snapshot', '-', '--set', 'cool_down_s=60', stdin=json.dumps(SNAPSHOT))
    check('--set cool_down_s=60: no warning', done.returncode == 0 and not done.stderr, done.stderr)


def test_malformed():
    for n, (change, pointer) in enumerate(MALFORMED):
        text = changed(change)
        for verb, arguments in PURE.items():
            done = run(verb, *arguments, stdin=text)
            check(f'malformed {n} {verb}: exit code 2', done.returncode == 2, f'{done.returncode} {done.stderr}')
            check(f'malformed {n} {verb}: no partial result', not done.stdout)
            check(f'malformed {n} {verb}: one line with {pointer}',
                  len(done.stderr.splitlines()) == 1 and pointer in done.stderr, done.stderr)
    for text in ('', '{', '[]', 'null', '"x"', '{"format": 1e999}', json.dumps(SNAPSHOT) + '}', '\x00', '[' * 100000):
        done = run('plan', '--snapshot', '-', stdin=text)
        check(f'{text[:20]!r}: exit code 2 and one line', done.returncode == 2 and len(done.stderr.splitlines()) == 1,
              done.stderr[:300])
    done = run('plan', '--snapshot', '/nonexistent/file.json')
    check('a file that is not there', done.returncode in (1, 2) and '/nonexistent/file.json' in done.stderr, done.stderr)


def test_unknown_fields():
    done = run('plan', '--snapshot', '-', stdin=changed(lambda s: s['hosts'][0].update(colour='red')))
    check('an unknown field is a warning', done.returncode == 0 and 'colour' in done.stderr, done.stderr)
    check('one warning', len(done.stderr.splitlines()) == 1, done.stderr)


def test_json():
    text = json.dumps(SNAPSHOT)
    plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=text).stdout)
    check('plan', plan['format'] == 'ballast-plan/1' and plan['time'] == SNAPSHOT['time'])
    for key in ('cluster', 'policy', 'before', 'after', 'recommendations', 'settings', 'faults', 'stats'):
        check(f'plan has {key}', key in plan)
    tree = json.loads(run('entitlements', '--snapshot', '-', '--format', 'json', stdin=text).stdout)
    check('entitlements', tree['format'] == 'ballast-entitlements/1' and tree['cpu'][0]['id'] is None)
    check('entitlements of one resource', 'mem' not in json.loads(run(
        'entitlements', '--snapshot', '-', '--resource', 'cpu', '--format', 'json', stdin=text).stdout))
    why = json.loads(run('explain', '--snapshot', '-', '--vm', 'v1', '--format', 'json', stdin=text).stdout)
    check('explain', why['format'] == 'ballast-explain/1' and [c['host'] for c in why['candidates']] == ['h1', 'h2'])
    check('explain one host', [c['host'] for c in json.loads(run(
        'explain', '--snapshot', '-', '--vm', 'v1', '--host', 'h2', '--format', 'json', stdin=text).stdout)['candidates']] == ['h2'])


def test_text():
    for arguments in (['plan', '--snapshot', '-'], ['entitlements', '--snapshot', '-']):
        done = run(*arguments, stdin=json.dumps(SNAPSHOT))
        check(f'{arguments[0]}: no colour without a terminal', '\x1b' not in done.stdout and done.stdout)


def test_generate():
    arguments = ['generate', '--hosts', '4', '--vms', '40', '--seed']
    check('the same seed, the same cluster', run(*arguments, '7').stdout == run(*arguments, '7').stdout)
    check('another seed, another cluster', run(*arguments, '7').stdout != run(*arguments, '8').stdout)


NOVA = {
    'nova.conf': '[filter_scheduler]\nenabled_filters = ComputeFilter, AggregateInstanceExtraSpecsFilter\n',
    'hypervisors': [{'hypervisor_hostname': f'h{i}', 'vcpus': 8, 'memory_mb': 16384, 'status': 'disabled' if i == 3 else 'enabled'} for i in (1, 2, 3)],
    'aggregates': [{'id': 1, 'name': 'fast', 'hosts': ['h2', 'h3'], 'metadata': {'disk': 'ssd, nvme'}}],
    'flavors': [{'id': 'f', 'name': 'm1.fast', 'vcpus': 2, 'ram': 2048, 'extra_specs': {'aggregate_instance_extra_specs:disk': '<or> nvme <or> tape'}}],
    'server': {'name': 'new', 'flavorRef': 'f', 'max_count': 2},
}


def test_fit():
    """A cloud of OpenStack: checked, shown, compiled; the snapshot places the request where the filters allow."""
    cloud = json.dumps(NOVA)
    done = run('fit', 'check', '-', stdin=cloud)
    check('fit check', (done.returncode, done.stdout, done.stderr) == (0, 'ok: hosts 3, VMs 2, groups 1, pipelines 1\n', ''), done.stdout + done.stderr)
    done = run('fit', 'show', '-', stdin=cloud)
    check('fit show', done.stdout == 'nova: 2 VMs, 3 hosts; left to new-1:\n    compute_status_filter: 2\n    inventory_units: 2\n    VCPU: 2\n    MEMORY_MB: 2\n'
          '    ComputeFilter: 2\n    AggregateInstanceExtraSpecsFilter: 1\n', done.stdout + done.stderr)
    done = run('fit', 'show', '-', '--vm', 'new-2', stdin=cloud)
    check('fit show --vm', done.stdout.startswith('nova: 2 VMs, 3 hosts; left to new-2:\n'), done.stdout + done.stderr)
    for wrong, why in ((('show', '-', '--vm', 'web'), '--vm: '), (('check', '-', '--vm', 'new-2'), '--vm has no meaning without show')):
        done = run('fit', *wrong, stdin=cloud)
        check(f'fit {wrong}', done.returncode == 2 and why in done.stderr and not done.stdout, done.stderr)
    snapshot = run('fit', 'compile', '-', stdin=cloud).stdout
    done = run('place', '--snapshot', '-', 'request-1', 'request-2', '--format', 'json', stdin=snapshot)
    placed = [r['to'] for r in json.loads(done.stdout)['recommendations']]
    check('fit compile, then place', placed == ['h2', 'h2'], f'{placed} {done.stderr}')
    for what, part in (({'server': {'flavorRef': 'm2'}}, '/server/flavorRef: "m2"'), ({'nova.conf': 'x = 1'}, 'nova.conf: line 1'),
                       ({'nova.conf': '[filter_scheduler]\nenabled_filters = OwnFilter'}, '"OwnFilter"')):
        done = run('fit', 'check', '-', stdin=json.dumps({**NOVA, **what}))
        check(f'fit check of {what}', done.returncode == 2 and part in done.stderr and not done.stdout, done.stderr)
    for arguments in (('bogus', '-'), ('check', '/nothing/there')):
        check(f'fit {arguments}', run('fit', *arguments, stdin='{}').returncode == 2)


def test_fit_weighers():
    """What nova.conf and the cloud may not say of weighers."""
    section = '[filter_scheduler]\n'
    for conf, part in (('weight_classes = nova.scheduler.weights.ram.CPUWeigher', '"nova.scheduler.weights.ram.CPUWeigher"'),
                       ('ram_weight_multiplier = much', 'ram_weight_multiplier is "much"'),
                       ('pci_weight_multiplier = -1', 'pci_weight_multiplier is -1'), ('host_subset_size = 0', 'host_subset_size is 0'),
                       ('shuffle_best_same_weighed_hosts = perhaps', 'shuffle_best_same_weighed_hosts is "perhaps"')):
        done = run('fit', 'check', '-', stdin=json.dumps({**NOVA, 'nova.conf': section + conf}))
        check(f'fit check of {conf}', done.returncode == 2 and part in done.stderr and not done.stdout, done.stderr)
    flavor = {**NOVA['flavors'][0], 'extra_specs': {'pci_passthrough:alias': 'gpu:1, nic'}}
    for what, part in (({'flavors': [flavor]}, '"nic"'), ({'seed': -1}, 'seed: '), ({'seed': '7'}, 'seed: ')):
        done = run('fit', 'check', '-', stdin=json.dumps({**NOVA, **what}))
        check(f'fit check of {what}', done.returncode == 2 and part in done.stderr and not done.stdout, done.stderr)


def test_no_service():
    with tempfile.TemporaryDirectory() as folder:
        for verb in SERVICE:
            done = run(verb, socket=os.path.join(folder, 'nobody.sock'))
            check(f'{verb} without a service: exit code 3', done.returncode == 3 and done.stderr, f'{done.returncode}')


def test_check_config():
    """Each example is accepted once the password files and certificates that it names are there, and each kind of source has one."""
    kinds = set()
    for path in [TOP / 'conf/ballast.yaml', *sorted((TOP / 'conf/examples').glob('*.yaml'))]:
        text = path.read_text(encoding='utf-8')
        if path.name.startswith('simulate-'):
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = text.replace('/etc/ballast', folder).replace('scenario: ', f'scenario: {TOP}/conf/examples/')
            for name in re.findall(r'^ *\w+_file: ([^\s,}]+)', text, flags=re.M):
                with open(name, 'w', encoding='utf-8') as f:
                    f.write('secret\n')
                os.chmod(name, 0o600)
            with open(f'{folder}/ballast.yaml', 'w', encoding='utf-8') as f:
                f.write(text)
            done = run('check-config', f.name)
        if path.name != 'ballast.yaml':  # which has no cluster
            kinds.update(re.findall(r'^  kind: (\w+)$', text, flags=re.M))
            check(f'check-config {path.name}', done.returncode == 0, done.stderr)
        else:
            missing = re.findall(r'ballast.yaml:\d+: (.*) is missing, expected', done.stderr)
            check(f'check-config {path.name}', done.returncode == 2 and missing == ['cluster', 'source.kind'] and done.stderr.count('\n') == 2, done.stderr)
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
        f.write('cluster: c\nsource: {kind: none}\n')
        f.flush()
        known = set(re.findall(r'\w+', run('check-config', f.name).stderr.partition('expected ')[2].partition(', for example')[0])) - {'or'}
    check('an example of each kind', kinds == known and 'proxmox' in known, f'{kinds} {known}')
    with tempfile.NamedTemporaryFile('w', suffix='.yaml') as f:
        f.write('cluster: c\nintervall_s: 300\n')
        f.flush()
        done = run('check-config', f.name)
        check('a slip of the pen', done.returncode == 2 and 'intervall_s' in done.stderr and ':2' in done.stderr, done.stderr)


def test_example_scenarios():
    """Each runs, and a change of what it is about changes the result, which is the same in every build."""
    if SLOW > 1 and 'BALLAST_TEST_LONG' not in os.environ:
        return
    shown = {}
    for path in sorted((TOP / 'conf/examples').glob('simulate-*.yaml')):
        done = run('simulate', path, '--format', 'json')
        if check(f'simulate {path.name}', done.returncode == 0 and not done.stderr, done.stderr):
            shown[path.stem.removeprefix('simulate-')] = done.stdout
    check('seven examples', sorted(shown) == ['faults', 'import', 'live', 'night-window', 'replay', 'spike', 'two-shifts'], str(sorted(shown)))
    for name, *wanted in (('two-shifts', 'dpm.hosts_min=3'), ('night-window', 'schedule.enabled=false'), ('spike', 'vms.gold.count=10'), ('replay', 'dpm.enabled=true'),
                          ('live', 'dpm.enabled=false'),
                          ('import', 'workload={format: prometheus, vm: domain, cpu: {file: simulate-import/cpu.json, unit: cores}}',
                           'vms.vm.vcpus=2', 'vms.vm.mem_mb=8192')):
        path = TOP / f'conf/examples/simulate-{name}.yaml'
        done = run('simulate', path, *(word for setting in wanted for word in ('--set', setting)), '--format', 'json')
        check(f'simulate {name} with {wanted}: another result', done.returncode == 0 and done.stdout != shown[name], done.stderr)
    done = run('simulate', TOP / 'conf/examples/simulate-spike.yaml', '--set', 'vms.gild.count=10')
    check('a slip in --set', done.returncode == 2 and 'vms.gild.count' in done.stderr and '"gild"' in done.stderr, done.stderr)


def test_full_output():
    """Nobody must believe half a plan: what cannot be written is a failure."""
    if not os.path.exists('/dev/full'):
        return
    import subprocess
    from command import BALLAST
    with open('/dev/full', 'w', encoding='utf-8') as full:
        done = subprocess.run([BALLAST, 'generate', '--hosts', '4', '--vms', '400', '--seed', '1'], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False)
    check('a full disk: exit code 1, and why', done.returncode == 1 and done.stderr, f'{done.returncode} {done.stderr}')


for name, test in sorted(globals().items()):
    if name.startswith('test_'):
        test()
end()
