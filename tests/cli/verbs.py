#!/usr/bin/env python3
"""The verbs that need no service: exit codes, messages, and the same bytes from the same input."""
import json
import os
import pathlib
import subprocess
import tempfile

BALLAST = os.environ['BALLAST']
VERBS = ('plan', 'place', 'what-if', 'entitlements', 'explain', 'generate', 'check-config')
failures = []


def run(*arguments, stdin=None, **more):
    return subprocess.run([BALLAST, *arguments], input=stdin, capture_output=True, text=True, timeout=240, check=False, **more)


def expect(what, done, code, out=None, err=None):
    """The exit code, something that standard output or standard error must contain; on failure one line and no output."""
    wrong = []
    if done.returncode != code:
        wrong.append(f'exit code {done.returncode}, expected {code}')
    if out is not None and out not in done.stdout:
        wrong.append(f'no {out!r} in {done.stdout[:300]!r}')
    if err is not None and err not in done.stderr:
        wrong.append(f'no {err!r} in {done.stderr!r}')
    if code != 0 and (done.stdout or done.stderr.count('\n') != 1):
        wrong.append(f'expected nothing but one line on standard error: {done.stdout[:300]!r} {done.stderr!r}')
    failures.extend(f'{what}: {w}' for w in wrong)
    return done


def without_stats(text):
    plan = json.loads(text)
    del plan['stats']
    return json.dumps(plan)


def check_usage():
    expect('help', run('--help'), 0, out='Usage: ballast COMMAND')
    expect('version', run('--version'), 0, out='ballast 0.')
    expect('no command', run(), 2, err='ballast --help')
    expect('unknown command', run('frobnicate'), 2, err='unknown command "frobnicate", see ballast --help')
    expect('mistyped command', run('statsu'), 2, err='unknown command "statsu", did you mean "status"?')
    expect('unknown option', run('--plan'), 2, err='unknown option "--plan"')
    for verb in VERBS:
        expect(f'{verb} --help', run(verb, '--help'), 0, out=f'Usage: ballast {verb}')
        expect(f'{verb} -h', run(verb, '-h'), 0, out='--format text|json')
        expect(f'{verb} --bogus', run(verb, '--bogus'), 2, err=f'unknown option --bogus, see ballast {verb} --help')
        expect(f'{verb} -x', run(verb, '-x'), 2, err='unknown option -x')
        if verb != 'place':  # which asks the service for VMs of these names
            expect(f'{verb} a b c', run(verb, 'a', 'b', 'c'), 2)
        expect(f'{verb} --format', run(verb, '--format'), 2, err='--format needs a value')
    service = ('--socket', '/nonexistent/socket')
    expect('no service', run('status', *service), 3, err='start ballastd (')
    expect('maintenance', run('maintenance', *service, 'halt', 'h1'), 2, err='"halt" is not known, expected enter, exit, roll or stop')
    for verb in ('standby', 'wake'):
        expect(f'{verb} --help', run(verb, '--help'), 0, out=f'Usage: ballast {verb}')
        expect(verb, run(verb, *service), 2, err='HOST is missing')
        expect(f'{verb} HOST', run(verb, 'h1', *service), 3, err='start ballastd (')
    expect('standby --verify', run('standby', 'h1', '--verify'), 2, err='unknown option --verify')
    file = ('--snapshot', '/dev/null')
    expect('place', run('place'), 2, err='VM... or --vms FILE is missing')
    expect('place VM', run('place', 'web-1', *service), 3, err='start ballastd (')
    expect('place, without --vms', run('place', *file), 2, err='VM... or --vms FILE is missing')
    expect('place, both forms', run('place', *file, '--vms', 'x', 'web-1'), 2, err='give VM... or --vms FILE, not both')
    expect('place --socket', run('place', *file, 'web-1', *service), 2, err='--socket has no meaning with --snapshot')
    for option in (('--snapshot', 'x'), ('--config', 'x'), ('--set', 'seed=1')):
        expect(f'place --apply {option[0]}', run('place', 'web-1', '--apply', *option), 2, err=f'--apply has no meaning with {option[0]}')
    expect('place --set', run('place', 'web-1', '--set', 'seed=1', *service), 3, err='start ballastd (')
    expect('place, an empty name', run('place', '', *service), 2, err='"" is not the id or name of a VM')
    for n in ('0', '-1', '1001', 'x', ''):
        expect(f'history --limit {n}', run('history', *service, '--limit', n), 2, err='expected a whole number from 1 to 1000')
    for n in ('0', '-1', '3651', 'x', ''):
        expect(f'history --days {n}', run('history', *service, '--energy', '--days', n), 2, err='expected a whole number from 1 to 3650')
    times = (('history', *service, '--energy', '--since'), ('events', *service, '--since'), ('history', *service, '--since'), ('status', *service, '--since'))
    for verb in times:
        for t in ('tomorrow', '2026-13-01', '2026-01-01 12:00', '2', '1h 3', '') if verb is not times[1] else ('tomorrow', '2026-13-01', '-2', ''):
            expect(f'{verb[0]} --since {t}', run(*verb, t), 2, err=f'--since: "{t}" is wrong, expected a time (2026-01-31T12:00:00Z), a day (')
        for t in ('2026-01-31', 'today', 'yesterday', '2h', '1d 12h', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00+02:00'):
            expect(f'{verb[0]} --since {t}', run(*verb, t), 3, err='start ballastd (')
    expect('events --since NUMBER', run(*times[1], '17'), 3, err='start ballastd (')
    expect('events --since --limit', run(*times[1], '2h', '--limit', '5'), 2, err='not both')
    expect('schedule --at', run('schedule', '--config', '/dev/null', '--at', 'noon'), 2, err='--at: "noon" is wrong, expected a time (')
    expect('schedule --at without --config', run('schedule', *service, '--at', '2h'), 2, err='--at needs --config')
    expect('history --by', run('history', *service, '--energy', '--by', 'year'), 2, err='expected day, hour or host')
    expect('history --since --days', run('history', *service, '--energy', '--since', '2026-01-31', '--days', '2'), 2, err='not both')
    for option in (('--days', '2'), ('--by', 'day')):
        expect(f'history {option[0]}', run('history', *service, *option), 2, err=f'{option[0]} is for --energy')
    for option in (('--limit', '5'), ('--vm', 'a'), ('--host', 'a'), ('--state', 'done')):
        expect(f'history --energy {option[0]}', run('history', *service, '--energy', *option), 2, err=f'{option[0]} is not for --energy')
    for verb in (('plan',), ('explain', '--vm', 'v1'), ('what-if', '--host-off', 'h1')):
        expect(f'{verb[0]} asks the service', run(*verb, *service), 3, err='start ballastd (')
        expect(f'{verb[0]} --snapshot --socket', run(*verb, *file, *service), 2, err='--socket has no meaning with --snapshot')
    expect('a wrong setting first', run('plan', *service, '--set', 'seed=x'), 2, err='--set: ')
    expect('help with a value', run('plan', '--help=x'), 2)
    expect('twice', run('plan', '--snapshot', 'a', '--snapshot', 'b'), 2, err='--snapshot is given twice')
    expect('format', run('plan', '--snapshot', '-', '--format', 'xml', stdin='{}'), 2, err='expected text or json')


def check_generate():
    small = ('generate', '--hosts', '3', '--vms', '7')
    for shape in ('uniform', 'skewed', 'spike', 'pools'):
        first = expect(shape, run(*small, '--seed', '5', '--shape', shape), 0)
        if first.stdout != run(*small, '--seed', '5', '--shape', shape).stdout:
            failures.append(f'generate {shape}: not the same again')
        if first.stdout == run(*small, '--seed', '6', '--shape', shape).stdout:
            failures.append(f'generate {shape}: the seed makes no difference')
        found = json.loads(first.stdout)
        if (len(found['hosts']), len(found['vms']), found['format']) != (3, 7, 'ballast-snapshot/1'):
            failures.append(f'generate {shape}: not what was asked for')
    expect('hosts', run('generate', '--hosts', '0', '--vms', '1'), 2, err='hosts')
    for bad in ('-1', 'x', '1.5', '', '99999999999999999999', ' 1'):
        expect(f'hosts {bad!r}', run('generate', '--hosts', bad, '--vms', '1'), 2, err='expected a whole number')
    expect('shape', run(*small, '--shape', 'round'), 2, err='expected uniform, skewed, spike or pools')


def check_decisions(folder):
    path = folder / 'skewed.json'
    path.write_text(run('generate', '--hosts', '8', '--vms', '80', '--seed', '1', '--shape', 'skewed').stdout)
    snapshot = path.read_text()
    plans = [expect('plan', run('plan', '--snapshot', str(path), '--format', 'json'), 0).stdout for _ in range(3)]
    plans.append(expect('plan -', run('plan', '--snapshot', '-', '--format', 'json', stdin=snapshot), 0).stdout)
    if len({without_stats(p) for p in plans}) != 1:
        failures.append('plan: not the same again')
    plan = json.loads(plans[0])
    if plan['format'] != 'ballast-plan/1' or not plan['recommendations'] or list(plan)[-1] != 'stats':
        failures.append('plan: not what the contract says')
    texts = {expect('plan text', run('plan', '--snapshot', str(path)), 0, out='Imbalance ').stdout for _ in range(3)}
    if len(texts) != 1:
        failures.append('plan: the text is not the same again')
    expect('entitlements', run('entitlements', '--snapshot', str(path)), 0, out='Memory, in MiB')
    stuck = json.loads(snapshot)
    for x in stuck['vms']:
        x['immovable'] = 'has a raw disk'
    stuck = json.loads(expect('plan of immovable VMs', run('plan', '--snapshot', '-', '--format', 'json', stdin=json.dumps(stuck)), 0).stdout)
    if not stuck['end']['text'].startswith('The best of them, ') or 'has a raw disk' not in stuck['end']['text']:
        failures.append(f'plan: the end names no VM: {stuck["end"]}')
    tree = json.loads(expect('entitlements', run('entitlements', '--snapshot', str(path), '--format', 'json', '--resource', 'cpu'), 0).stdout)
    if list(tree) != ['format', 'cpu'] or tree['cpu'][0]['id'] is not None:
        failures.append('entitlements: not what the contract says')
    expect('resource', run('entitlements', '--snapshot', str(path), '--resource', 'disk'), 2, err='expected cpu or mem')
    vm = plan['recommendations'][0]['vm']
    told = json.loads(expect('explain', run('explain', '--snapshot', str(path), '--vm', vm, '--format', 'json'), 0).stdout)
    if told['vm'] != vm or len(told['candidates']) != 8:
        failures.append('explain: not what the contract says')
    expect('explain text', run('explain', '--snapshot', str(path), '--vm', vm, '--host', 'h1'), 0, out='VERDICT')
    called = {kind: {x['id']: x['name'] for x in json.loads(path.read_text())[kind]} for kind in ('hosts', 'vms')}
    for by_id, by_name in (
            (('explain', '--vm', vm, '--host', 'h1'), ('explain', '--vm', called['vms'][vm], '--host', called['hosts']['h1'])),
            (('explain', '--host', 'h2'), ('explain', '--host', called['hosts']['h2'])),
            (('what-if', '--maintenance', 'h3'), ('what-if', '--maintenance', called['hosts']['h3'])),
            (('what-if', '--demand', f'{vm}=1'), ('what-if', '--demand', f'{called["vms"][vm]}=1'))):
        if by_id == by_name:
            failures.append(f'{by_id}: the generated cluster has names that are not its ids any more')
        same = run(by_id[0], '--snapshot', str(path), *by_id[1:]).stdout
        expect(f'{by_name}', run(by_name[0], '--snapshot', str(path), *by_name[1:]), 0, out=same)
    expect('explain vm', run('explain', '--snapshot', str(path), '--vm', 'v999'), 2, err='no VM has the id or name "v999"')
    expect('explain host', run('explain', '--snapshot', str(path), '--vm', vm, '--host', 'x'), 2, err='no host has the id or name "x"')


def set_states(snapshot, states):
    for host in snapshot['hosts']:
        host['state'] = states.get(host['id'], host['state'])


def set_demand(snapshot, vm_id, mhz):
    for vm in snapshot['vms']:
        if vm['id'] == vm_id:
            vm['cpu']['demand'] = mhz
            for window in vm['windows'].values():
                window['cpu'] = {'mean': mhz, 'stddev': 0, 'min': mhz, 'max': mhz}


# A question, and the same change made to the file by hand: the plans must be the same.
QUESTIONS = {
    ('--host-off', 'h3'): lambda s: set_states(s, {'h3': 'entering_standby'}),
    ('--maintenance', 'h3', '--maintenance', 'h5'): lambda s: set_states(s, {'h3': 'entering_maintenance', 'h5': 'entering_maintenance'}),
    ('--host-on', 'h7'): lambda s: set_states(s, {'h7': 'on'}),
    ('--demand', 'v01=1900'): lambda s: set_demand(s, 'v01', 1900),
    ('--host-on', 'h7', '--demand', 'v01=1.9e3', '--host-off', 'h1'):
        lambda s: (set_states(s, {'h7': 'on', 'h1': 'entering_standby'}), set_demand(s, 'v01', 1900)),
}


def check_what_if(folder):
    path = folder / 'now.json'
    now = json.loads(run('generate', '--hosts', '8', '--vms', '80', '--seed', '1', '--shape', 'skewed').stdout)
    set_states(now, {'h7': 'standby'})
    now['vms'] = [vm for vm in now['vms'] if vm['host'] != 'h7']
    del now['hosts'][-1]['mem_free_mb']  # it was less what those VMs took
    path.write_text(json.dumps(now))
    before = json.loads(run('plan', '--snapshot', str(path), '--format', 'json').stdout)['before']
    for question, change in QUESTIONS.items():
        asked = ('what-if', '--snapshot', str(path), *question)
        answer = json.loads(expect(f'what-if {question}', run(*asked, '--format', 'json'), 0).stdout)
        changed = json.loads(path.read_text())
        change(changed)
        plan = json.loads(run('plan', '--snapshot', '-', '--format', 'json', stdin=json.dumps(changed)).stdout)
        if answer['now'] != before:
            failures.append(f'what-if {question}: "now" is not how it is')
        if len(answer['what_if']) != len(question) // 2 or list(answer)[-1] != 'stats':
            failures.append(f'what-if {question}: {answer["what_if"]}')
        for key in ('now', 'what_if', 'stats'):
            del answer[key]
        del plan['stats']
        if answer != plan:
            failures.append(f'what-if {question}: not the plan of a snapshot that says so')
        text = expect(f'what-if {question}', run(*asked), 0, out='Assumed: ').stdout
        if not text.endswith(run('plan', '--snapshot', '-', stdin=json.dumps(changed)).stdout):
            failures.append(f'what-if {question}: does not end with the plan')
    answer = json.loads(run('what-if', '--snapshot', str(path), '--host-on', 'h7', '--demand', 'v01=1900', '--format', 'json').stdout)
    wants = next(vm['cpu']['demand'] for vm in now['vms'] if vm['id'] == 'v01')
    told = answer['what_if']
    if (told[0] != {'change': 'host_on', 'host': 'h7', 'state_before': 'standby', 'state': 'on'}
            or list(told[1]) != ['change', 'vm', 'cpu_mhz_before', 'cpu_mhz'] or told[1]['vm'] != 'v01'
            or abs(told[1]['cpu_mhz_before'] - wants) > 1e-6 or told[1]['cpu_mhz'] != 1900):
        failures.append(f'what-if: the changes are told wrong: {told}')
    for wrong in ('', 'v01', '=', '=5', 'v01=', 'v01=0x10', 'v01=inf', 'v01=nan', 'v01=-1', 'v01=1e300', 'v999=1'):
        expect(f'demand {wrong!r}', run('what-if', '--snapshot', str(path), '--demand', wrong), 2, err='--demand: ')
    for option in ('--host-off', '--host-on', '--maintenance'):
        expect(option, run('what-if', '--snapshot', str(path), option, 'nobody'), 2, err=f'{option}: no host has the id or name "nobody"')
    expect('no change', run('what-if', '--snapshot', str(path)), 2, err='give --host-off')


# A VMs file for check_place(), and what standard error must have; those with exit code 2 name the place in the file.
NEW = {'id': 'new', 'vcpus': 2, 'mem_mb': 1024}
VMS_FILES = [
    ([], 0, ''),
    ([NEW], 0, ''),
    ([{'id': 'v00'}], 2, '/0/id: "v00" runs already, expected'),
    ([{'id': 'v01'}, NEW], 0, ''),
    ([{'id': 'v01', 'vcpus': 'many'}, {'id': 'v02', 'mem_mb': 1}], 0,
     '/0: a VM of the snapshot, what else is said of it is ignored (as in 1 more)'),
    ([{**NEW, 'state': 'on'}], 0, '/0: its state is ignored'),
    ([{**NEW, 'cpu': {'demand': 500}}], 0, '/0: what it uses is ignored'),
    ([{**NEW, 'colour': 'red'}], 0, '/0/colour: unknown field, ignored'),
    ([NEW, NEW], 2, '/1/id: "new" is the id of /0 already'),
    ([NEW, {'id': 'n2', 'vcpus': 1}], 2, '/1/mem_mb: missing'),
    ([{**NEW, 'pool': 'p9'}], 2, '/0/pool: no object of /pools has the id "p9"'),
    ([{**NEW, 'host': 'h1'}], 2, '/0/host: given, expected none'),
    ([{**NEW, 'mem_mb': 1e9}], 1, 'ballast place: 1 of 1 VM cannot be placed'),
    ([NEW, {**NEW, 'id': 'huge', 'mem_mb': 1e9}], 1, 'ballast place: 1 of 2 VMs cannot be placed'),
    ({'vms': []}, 2, '/: an object, expected an array of VM objects'),
    ([[]], 2, '/0: an array, expected an object'),
]


def check_place(folder):
    path, vms = folder / 'now.json', folder / 'vms.json'
    now = json.loads(run('generate', '--hosts', '4', '--vms', '40', '--seed', '1').stdout)
    for vm in now['vms'][1:3]:
        vm.update(state='off', host=None, cpu={}, mem={}, windows={})
    path.write_text(json.dumps(now))
    asked = ('place', '--snapshot', str(path), '--vms', str(vms))
    for listed, code, complaint in VMS_FILES:
        vms.write_text(json.dumps(listed))
        done = run(*asked, '--format', 'json')
        what = f'place {listed}'
        if done.returncode != code or complaint not in done.stderr or done.stderr.count('\n') != (1 if complaint else 0):
            failures.append(f'{what}: {done.returncode} {done.stderr!r}')
        if code == 2:
            if done.stdout or f'{vms}: ' not in done.stderr:
                failures.append(f'{what}: {done.stdout[:100]!r} {done.stderr!r}')
            continue
        plan = json.loads(done.stdout)
        placed = [r['vm'] for r in plan['recommendations'] if r['action'] == 'place']
        without = [f['vm'] for f in plan['faults'] if f['code'] == 'cannot_place']
        if sorted(placed + without) != sorted(vm['id'] for vm in listed) or bool(without) != (code == 1):
            failures.append(f'{what}: placed {placed}, without a place {without}')
        text = run(*asked)
        if text.returncode != code or not text.stdout or text.stdout != run(*asked).stdout:
            failures.append(f'{what}: as text {text.returncode} {text.stdout[:100]!r}')
        if without_stats(done.stdout) != without_stats(run(*asked, '--format', 'json').stdout):
            failures.append(f'{what}: not the same again')
    expect('place -', run('place', '--snapshot', str(path), '--vms', '-', stdin=json.dumps([NEW])), 0, out='new can be powered on at ')
    expect('place - -', run('place', '--snapshot', '-', '--vms', '-', stdin='[]'), 2, err='cannot both be standard input')
    expect('place', run('place', '--snapshot', str(path)), 2, err='VM... or --vms FILE is missing')
    expect('no file', run('place', '--snapshot', str(path), '--vms', str(folder / 'none.json')), 2, err='none.json: cannot be opened')
    vms.write_text('[{')
    expect('half a file', run(*asked), 2, err=f'{vms}: /0: line 1')


def check_settings(folder):
    path = folder / 'snapshot.json'
    path.write_text(run('generate', '--hosts', '4', '--vms', '20').stdout)
    config = folder / 'ballast.yaml'
    base = ('plan', '--snapshot', str(path), '--format', 'json')
    done = expect('set', run(*base, '--set', 'migration_threshold=5', '--set', 'dpm.target=50'), 0)
    policy = json.loads(done.stdout)['policy']
    if policy['migration_threshold'] != 5 or policy['dpm']['target'] != 50:
        failures.append('--set has no effect')
    expect('set', run(*base, '--set', 'migration_threshold=9'), 2, err='--set: migration_threshold is "9", expected a whole number from 1 to 5')
    expect('set', run(*base, '--set', 'migration_threshold'), 2, err='expected KEY=VALUE')
    expect('set', run(*base, '--set', 'migration_treshold=3'), 2, err='did you mean "migration_threshold"')
    config.write_text('cluster: c\nstate_dir: /tmp/x\nmigration_threshold: 2\ndpm:\n  tolerance: 10\n')
    policy = json.loads(expect('config', run(*base, '--config', str(config), '--set', 'dpm.tolerance=9'), 0).stdout)['policy']
    if policy['migration_threshold'] != 2 or policy['dpm']['tolerance'] != 9:
        failures.append('--config has no effect, or is not changed by --set')
    config.write_text('cluster: c\nmigration_threshold: high\n')
    expect('bad config', run(*base, '--config', str(config)), 2, err=f'{config}:2: ')
    expect('check-config', run('check-config', str(config)), 2, err=f'{config}:2: ')
    over = folder / 'over.yaml'
    over.write_text('cluster: a\nsource: {kind: sim}\nbalance: {windows: ["2020-12-24 for 3d", "20:00 for 60"]}\n'
                    'vms: [{name: a, no_moves: ["Mon 02:00 for 60"]}]\n')
    done = run('check-config', str(over))
    expect('a window that is over', done, 0, out='good', err='"2020-12-24 for 3d" is over and does not begin again')
    expect('a short window', done, 0, err='too short for moves to begin and end')
    if done.stderr.count('too short') != 1:
        failures.append(f'a short time without moves is no mistake: {done.stderr}')
    expect('no config', run('check-config', str(folder / 'none.yaml')), 2, err='none.yaml')
    example = pathlib.Path(os.environ['BALLAST_SOURCE_DIR']) / 'conf/examples/simulated.yaml'
    expect('check-config', run('check-config', str(example)), 0, out='good')
    if json.loads(run('check-config', '--format', 'json', str(example)).stdout)['ok'] is not True:
        failures.append('check-config: not good in JSON')


BAD = {
    '': ': /: line 1, column 0: ',
    '{"format": "ballast-snapshot/1",\n "cluster": }': ': /cluster: line 2, column 13: ',
    '[1, 2]': ': /: an array, expected an object',
    '{"format": "ballast-snapshot/1", "cluster": "c\\u001b[31m\\nx", "time": "now"}': ': /time: "now", expected ',
}


def check_bad_input(folder):
    path = folder / 'bad.json'
    for text, expected in BAD.items():
        path.write_text(text)
        for verb in (('plan',), ('what-if', '--host-on', 'h'), ('entitlements',), ('explain', '--vm', 'v')):
            expect(f'{verb} of {text!r}', run(*verb, '--snapshot', str(path)), 2, err=f'{path}{expected}')
    good = json.loads(run('generate', '--hosts', '2', '--vms', '3').stdout)
    good['vms'][1]['host'] = 'a\nb\x1b[31m'
    path.write_text(json.dumps(good))
    expect('a line is a line', run('plan', '--snapshot', str(path)), 2, err='/vms/1/host: no object of /hosts has the id "a?b?[31m"')
    good['vms'][1]['host'] = 'h1'
    for vm in good['vms']:
        vm['foo'] = 1
    path.write_text(json.dumps(good))
    done = expect('unknown field', run('plan', '--snapshot', str(path)), 0, err=f'warning: {path}: /vms/0/foo: unknown field, ignored')
    if done.stderr.count('\n') != 1:
        failures.append(f'one warning for one field: {done.stderr}')
    expect('no file', run('plan', '--snapshot', str(folder / 'none.json')), 2, err='No such file')
    with open('/dev/full', 'w', encoding='utf-8') as full:
        done = subprocess.run([BALLAST, 'generate', '--hosts', '1', '--vms', '1'], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 1 or 'No space left' not in done.stderr:
        failures.append(f'a full disk: {done.returncode} {done.stderr}')


with tempfile.TemporaryDirectory() as name:
    check_usage()
    check_generate()
    check_decisions(pathlib.Path(name))
    check_what_if(pathlib.Path(name))
    check_place(pathlib.Path(name))
    check_settings(pathlib.Path(name))
    check_bad_input(pathlib.Path(name))
print('\n'.join(failures) or 'all as expected')
raise SystemExit(1 if failures else 0)
