#!/usr/bin/env python3
"""ballastd on the simulated cluster, seen from outside: approval, rejection, automation, restarts."""
import contextlib
import json
import re
import signal
import socket
import sqlite3
import tempfile
import threading
import time
from datetime import datetime

from command import TOP, Service, answer_on_terminal, check, end, run, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known

UNDER_WAY = ('approved', 'starting', 'running', 'verifying')


def over(service):
    return not any(r['state'] in UNDER_WAY for r in service.recommendations())


def states(service):
    return {r['id']: r['state'] for r in service.recommendations()}


def test_room():
    """With room.free the service makes the missing space for a large VM, in one move group, and no later pass for balance takes it."""
    with Service() as s:
        file = s.folder / 'cloud.json'
        host = {'state': 'on', 'cpu_mhz': 40000, 'cores': 16, 'mem_mb': 65536}
        vm = {'state': 'on', 'vcpus': 4, 'mem_mb': 4096, 'cpu': {'demand': 2500}, 'mem': {'demand': 2048, 'consumed': 4096}}
        names = {'a': 'h1', 'b': 'h1', 'c': 'h2', 'd': 'h2', 'e': 'h2', 'f': 'h3', 'g': 'h3', 'h': 'h3'}
        file.write_text(json.dumps({
            'format': 'ballast-snapshot/1', 'cluster': 'test', 'time': '2026-01-01T00:00:00Z',
            'hosts': [{'id': f'h{i}', 'name': f'h{i}', **host} for i in (1, 2, 3)],
            'vms': [{'id': name, 'name': name, 'host': at, **vm} for name, at in names.items()]}), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}', room='{cpus: 16, free: 1}', migration_threshold=3)
        check('room: it starts', s.start(), s.log_text())
        check('room: it recommends', wait_until(s.ids, 15))
        made = s.recommendations()
        check('room: two moves for the space on h1', sorted((r['vm'], r['from'], r['reason']) for r in made) ==
              [('a', 'h1', 'room'), ('b', 'h1', 'room')], str(made))
        check('room: one move group', len({r['group'] for r in made}) == 1 and made[0]['group'], str(made))
        check('room: nothing moves by itself', s.hosts_of_vms() == names)
        check('room: approved', s.ask('apply', '--all').returncode == 0)
        check('room: done', wait_until(lambda: over(s) and set(states(s).values()) == {'done'}, 30), str(states(s)))
        check('room: a pass sees it', s.ask('run').returncode == 0)
        after = s.hosts_of_vms()
        check('room: h1 is empty', 'h1' not in after.values(), str(after))
        for _ in range(3):
            check('room: another pass', s.ask('run').returncode == 0)
        check('room: no pass takes it', s.ids() == [] and s.hosts_of_vms() == after, str(s.recommendations()))
        plan = s.ask_json('plan', '--set', 'room.free=0', '--set', 'cool_down_s=0', '--set', 'migration_threshold=5')
        check('room: without room.free it would be taken', any(r['to'] == 'h1' for r in plan['recommendations']), str(plan['recommendations']))
        plan = s.ask_json('plan', '--set', 'cool_down_s=0', '--set', 'migration_threshold=5')
        check('room: the plan says so', plan['room']['after'] == 1 and plan['recommendations'] == [], str(plan['room']))


def test_manual():
    """Nothing moves before somebody says so; then all that was approved does, and the cluster is more even."""
    with Service() as s:
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        before, where = s.ask_json('status'), s.hosts_of_vms()
        time.sleep(2)
        s.ask('run')
        check('manual: nothing moves by itself', s.hosts_of_vms() == where)
        for verb in ('hosts', 'vms', 'pools', 'status', 'recommendations', 'run'):
            text = s.ask(verb).stdout
            check(f'{verb} fits a terminal, without colours', max(map(len, text.splitlines())) <= 80 and '\x1b' not in text, text)
        check('snapshot --format json', json.loads(s.ask('snapshot', '--format', 'json').stdout)['cluster'])
        wanted = {r['vm']: r['to'] for r in s.recommendations() if r['state'] == 'recommended'}
        done = s.ask('apply', *s.numbers())
        check('apply', done.returncode == 0, done.stderr)
        listed = re.findall(r'(?m)^ *[0-9.]+ +\d +(\w+)', s.ask('recommendations', '--all').stdout)
        check('what waits, then what runs, then what ended', listed == sorted(listed, key=lambda x: (x != 'recommended', x in ('done', 'failed'))), str(listed))
        check('the moves end', wait_until(lambda: over(s), 30))
        text = s.ask('recommendations').stdout
        check('what ended is counted', 'no recommendations' in text and f'{len(wanted)} ended within the last hour (--all)' in text, text)
        check('and listed if asked for', s.ask('recommendations', '--all').stdout.count(' done ') == len(wanted))
        check('by state', [len(s.ask_json('recommendations', '--state', x)) for x in ('done', 'recommended')] == [len(wanted), 0])
        check('all are done', set(states(s).values()) == {'done'}, str(states(s)))
        check('a pass now', s.ask('run').returncode == 0)
        where = s.hosts_of_vms()
        check('the VMs are where they were to go', all(where[vm] == to for vm, to in wanted.items()))
        after = s.ask_json('status')
        imbalance = [json.dumps(x) for x in (before, after)]
        check('status is JSON', all(imbalance))
        check('history lists them', len(s.ask_json('history')) >= len(wanted))
        text = s.ask('history').stdout
        check('it says by whom, and ends no sentence before', '; approved by ' in ' '.join(text.split()) and '.;' not in text, text)
        simulate_again(s)
        check('it stops cleanly', s.stop() == 0, s.log_text()[-500:])


def simulate_again(s):
    """What the service has seen can be simulated: the same cluster, the same demand."""
    snapshot, recorded, scenario = (s.folder / n for n in ('now.json', 'recorded.csv', 'again.yaml'))
    snapshot.write_text(s.ask('snapshot').stdout)
    recorded.write_text(s.ask('samples').stdout)
    lines = recorded.read_text().splitlines()
    check('samples are CSV', lines[0] == 'time,vm,cpu_mhz,mem_mb' and len(lines) > len(s.ask_json('vms')), str(lines[:3]))
    check('samples as JSON', len(s.ask_json('samples')) >= len(lines) - 1)
    scenario.write_text('duration_s: 600\nsnapshot: now.json\nvms: [{match: "*", workload: trace}]\n'
                        'workload: {file: recorded.csv, format: recorded, pick: name}\n')
    done = run('simulate', scenario, '--format', 'json')
    check('simulated again', done.returncode == 0 and json.loads(done.stdout), done.stderr)


OFF = {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
       'hosts': [{'id': h, 'name': f'esx-{h}', 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 32768}
                 for h in ('h1', 'h2')],
       'vms': [{'id': 'busy', 'name': 'busy', 'host': 'h1', 'state': 'on', 'vcpus': 6, 'mem_mb': 24576,
                'cpu': {'demand': 12000}, 'mem': {'demand': 20000}},
               {'id': 'v2', 'name': 'web-2', 'host': 'h1', 'state': 'off', 'vcpus': 2, 'mem_mb': 8192},
               {'id': 'v3', 'name': 'web-3', 'state': 'suspended', 'vcpus': 1, 'mem_mb': 2048},
               {'id': 'huge', 'name': 'huge', 'host': 'h2', 'state': 'off', 'vcpus': 2, 'mem_mb': 1638400,
                'mem': {'reservation': 1638400}}]}


BULK = {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
        'hosts': [{'id': f'h{i}', 'name': f'esx{i}', 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 65536} for i in range(1, 5)],
        'vms': [{'id': f'v{i}', 'name': f'web-{i}', 'host': 'h1', 'state': 'on', 'vcpus': 2, 'mem_mb': 4096,
                 'cpu': {'demand': 2400}, 'mem': {'demand': 2048}} for i in range(1, 9)],
        'rules': [{'id': 'apart', 'kind': 'vm-vm-anti-affine', 'mandatory': True, 'vms': ['v1', 'v2', 'v3']}]}


def test_bulk():
    """Several recommendations at once, by numbers, ranges and what they are for; and a command that approves its own moves."""
    with Service() as s:
        file = s.folder / 'bulk.json'
        file.write_text(json.dumps(BULK), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}')
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        listed = {r['id']: r for r in s.recommendations()}
        mandatory = {i for i, r in listed.items() if r['priority'] == 1}
        check('two are mandatory, others are not', len(mandatory) == 2 and mandatory < set(listed), str(listed))
        known = s.ask_json('hosts')[0]['name']
        for wrong, word in (((), 'is missing'), (('3-x',), '3-x'), (('9-3',), '9-3'), (('1', '--all'), 'give numbers, or --all'),
                            (('--priority', '2..1'), '2..1'), (('--group', 'x'), '"x"'), (('--all', '--host', 'esx1'), 'give numbers')):
            done = s.ask('apply', *wrong)
            check(f'apply {wrong}', (done.returncode, done.stdout, word in done.stderr) == (2, '', True), done.stderr)
        for wrong, word in (('elsewhere', '; `ballast hosts` lists them'), (f'{known}x', f', did you mean "{known}"?')):
            done = s.ask('apply', '--priority', '1', '--host', wrong)
            check(f'apply --host {wrong}', (done.returncode, done.stdout) == (2, '') and f'no host has the id or name "{wrong}"{word}' in done.stderr, done.stderr)
        for none in (('--group', '999'), ('9000-9999',), ('--priority', '5'), ('--group', '999', '--host', known)):
            done = s.ask('apply', *none)
            check(f'apply {none}', (done.returncode, done.stdout) == (1, '') and 'recommendation' in done.stderr, done.stderr)
        check('nothing was approved', set(s.ids()) == set(listed), str(states(s)))
        optional = sorted(set(listed) - mandatory)
        done = s.ask_json('reject', f'{optional[0]}-{optional[-1] + 500}')
        check('a range takes what is there', {r['id'] for r in done} == set(optional) and {r['state'] for r in done} == {'rejected'}, str(done))
        first = min(mandatory)
        done = s.ask_json('apply', '--priority', '1..2', '--host', listed[first]['to_name'])
        check('by priority and host', [r['id'] for r in done] == [first] and done[0]['approved_by'], str(done))
        done = s.ask_json('apply', '--all')
        check('all the others', {r['id'] for r in done} == mandatory - {first}, str(done))
        check('none is left to approve', s.ask('apply', '--all').returncode == 1)
        check('the moves end', wait_until(lambda: over(s), 30))
        host = listed[first]['to_name']
        there = [v['name'] for v in s.ask_json('vms') if v['host_name'] == host]
        check('maintenance', there and s.ask('maintenance', 'enter', host).returncode == 0)
        check('its moves need no further approval', wait_until(lambda: {h['name']: h['state'] for h in s.ask_json('hosts')}[host] == 'maintenance', 60), str(states(s)))
        moved = [r for r in s.ask_json('history') if r['reason'] == 'maintenance' and r['action'] == 'migrate']
        asked = [r for r in s.ask_json('history') if r['action'] == 'enter_maintenance']
        check('who asked approved the moves', len(moved) == len(there) and {r['approved_by'] for r in moved} == {asked[0]['approved_by']}, str(moved))


def test_many_faults():
    """status shows the first faults and counts the others; all of it fits a terminal."""
    vms = [{'id': f'v{i}', 'name': f'web-{i}', 'host': 'h1', 'state': 'on', 'vcpus': 1, 'mem_mb': 512, 'compatible_hosts': ['h1'],
            'cpu': {'demand': 100}, 'mem': {'demand': 256}} for i in range(50)]
    rules = [{'id': f'r{i}', 'name': f'pair {i} is kept apart', 'kind': 'vm-vm-anti-affine', 'mandatory': True,
              'vms': [f'v{2 * i}', f'v{2 * i + 1}']} for i in range(25)]
    with Service() as s:
        file = s.folder / 'faults.json'
        file.write_text(json.dumps({**BULK, 'vms': vms, 'rules': rules}), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}')
        check('it starts', s.start(), s.log_text())
        check('a pass', s.ask('run').returncode == 0)
        faults = s.ask_json('status')['faults']
        check('more faults than are shown', len(faults) > 20, str(faults))
        text = s.ask('status').stdout
        shown = ' '.join(text.split())
        check('twenty are shown', sum(f['text'] in shown for f in faults) == 20 and f'and {len(faults) - 20} more faults: ' in text, text)
        check('it fits a terminal', max(map(len, text.splitlines())) <= 80, text)


def vms_of(service):
    return {v['id']: (v['state'], v['host']) for v in service.ask_json('vms')}


def energy(s, *arguments):
    return json.loads(s.ask('history', '--energy', '--format', 'json', *arguments).stdout)


def test_energy():
    """What the hosts drew is accounted from the first look on, metered, and outlives a service that is killed."""
    with Service(interval_s=10) as s:
        check('it starts', s.start(), s.log_text())
        check('power is known', wait_until(lambda: (s.ask_json('status')['power'] or {}).get('hosts_measured') == 4, 60, every=1))
        check('it is accounted', wait_until(lambda: energy(s)['rows'], 60, every=1))
        check('as text', wait_until(lambda: 'USED KWH' in s.ask('history', '--energy').stdout, 5))
        text = s.ask('history', '--energy', '--by', 'host').stdout
        check('a row a host and the total', [line.split()[0] for line in text.splitlines()[1:6]] ==
              ['pretend-1', 'pretend-2', 'pretend-3', 'pretend-4', 'total'], text)
        check('it fits a terminal', max(map(len, text.splitlines())) <= 80, text)
        check('nothing is not less than nothing', '-0.0' not in text, text)
        for by in ('day', 'hour'):
            text = s.ask('history', '--energy', '--by', by).stdout
            check(f'by {by} too', text and max(map(len, text.splitlines())) <= 80, text)
        check('status shows it', ' W now, ' in s.ask('status').stdout)
        e = energy(s, '--by', 'host')
        total = e['total']
        for part in ('used_kwh', 'all_on_kwh', 'asleep_s', 'measured_s', 'unmet_mhz_s', 'host_s'):
            check(f'the total of {part}', abs(sum(r[part] for r in e['rows']) - total[part]) < 1e-6, str(e))
        check('four hosts', abs(total['host_s'] - 4 * total['accounted_s']) < 1e-6, str(total))
        watts = total['used_kwh'] * 3.6e6 / total['accounted_s']
        check('about what they draw', 4 * 120 < watts < 4 * 310, str(watts))
        s.stop(signal.SIGKILL)
        check('it starts again', s.start(), s.log_text())
        after = energy(s)['total']
        check('nothing is lost', after['accounted_s'] >= total['accounted_s'] and after['used_kwh'] >= total['used_kwh'], str(after))
        check('it goes on', wait_until(lambda: energy(s)['total']['accounted_s'] > after['accounted_s'], 60, every=1))
        now = energy(s)['total']
        check('nothing is there twice', now['used_kwh'] * 3.6e6 / now['accounted_s'] < 4 * 310 and
              abs(now['host_s'] - 4 * now['accounted_s']) < 1e-6, str(now))
        check('it stops cleanly', s.stop() == 0, s.log_text()[-500:])


def test_place():
    """VMs that are off: first where, then there; all of them or none, and never by themselves."""
    with Service(automation='full') as s:
        file = s.folder / 'off.json'
        file.write_text(json.dumps(OFF), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}', automation='full', interval_s=2)
        s.start()
        before = vms_of(s)
        looked = s.ask('place', 'web-2')
        check('place says where', looked.returncode == 0 and 'web-2 can be powered on at esx-h2.' in looked.stdout, looked.stdout + looked.stderr)
        plan = s.ask_json('place', 'v2')
        check('and in JSON', [(r['action'], r['vm'], r['to']) for r in plan['recommendations']] == [('place', 'v2', 'h2')], str(plan))
        none = s.ask('place', 'web-2', 'huge', '--apply')
        check('one has no place: none is begun', none.returncode == 1 and 'cannot_place' in none.stdout
              and none.stderr == 'ballast place: 1 of 2 VMs cannot be placed, see the faults; nothing was started\n', none.stdout + none.stderr)
        for names, code, why in ((['busy'], 1, 'VM busy runs already, on host esx-h1'), (['web-9'], 2, 'there is no VM "web-9"')):
            done = s.ask('place', *names, '--apply')
            check(why, (done.returncode, done.stdout, why in done.stderr) == (code, '', True), done.stderr)
        time.sleep(5)
        check('nothing was changed', vms_of(s) == before and not s.ask_json('history'), str(vms_of(s)))
        begun = s.ask_json('place', 'web-2', 'web-3', '--apply')
        check('both are begun', sorted(a['vm'] for a in begun) == ['v2', 'v3'] and all(a['action'] == 'place' for a in begun), str(begun))
        check('they run', wait_until(lambda: vms_of(s)['v2'][0] == vms_of(s)['v3'][0] == 'on', 20), str(vms_of(s)))
        check('history', wait_until(lambda: {a['id'] for a in begun} <= {a['id'] for a in s.ask_json('history') if a['state'] == 'done'}, 20))
        check('by whom', all(a['approved_by'] not in (None, 'engine') for a in s.ask_json('history') if a['action'] == 'place'))
        s.ask('pause')
        check('paused', 'paused' in s.ask('place', 'huge', '--apply').stderr)


def test_place_wakes():
    """The only host where a VM may run sleeps: it is woken first, and counts when it is back."""
    cluster = json.loads(json.dumps(OFF))
    cluster['hosts'].append({**cluster['hosts'][0], 'id': 'h3', 'name': 'esx-h3', 'state': 'standby', 'boot_s': 60,
                             'wake_methods': ['hypervisor']})
    cluster['rules'] = [{'id': 'licence', 'kind': 'vm-host-affine', 'mandatory': True, 'vms': ['v2'], 'hosts': ['h3']}]
    with Service() as s:
        file = s.folder / 'asleep.json'
        file.write_text(json.dumps(cluster), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}')
        s.start()
        looked = s.ask('place', 'web-2')
        check('a host is to be woken', 'web-2 can be powered on at esx-h3. First 1 host must be woken.' in looked.stdout, looked.stdout + looked.stderr)
        begun = {a['action']: a for a in s.ask_json('place', 'web-2', '--apply')}
        check('first the host', begun['place']['depends_on'] == [begun['power_on']['id']], str(begun))
        check('the VM runs there', wait_until(lambda: vms_of(s)['v2'] == ('on', 'h3'), 30), str(s.recommendations()))
        wait_until(lambda: over(s), 10)
        ended = {a['action']: a for a in s.ask_json('history')}
        check('in this order', ended['power_on']['state'] == ended['place']['state'] == 'done'
              and ended['power_on']['ended'] <= ended['place']['started'], str(ended))


def test_place_killed():
    """kill -9 while VMs start: each is started once and is followed to its end."""
    with Service() as s:
        file = s.folder / 'off.json'
        file.write_text(json.dumps(OFF), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 1\n  file: {file}')
        s.start()
        begun = s.ask_json('place', 'web-2', 'web-3', '--apply')
        s.stop(signal.SIGKILL)
        check('it starts again', s.start(), s.log_text()[-2000:])
        # the simulated cluster died with the service, and forgot its tasks: an inventory decides
        check('they come to an end', wait_until(lambda: {a['id'] for a in begun} <= {a['id'] for a in s.ask_json('history')}, 40, every=1),
              str(states(s)))


def test_reject():
    with Service() as s:
        s.start()
        wait_until(s.ids, 15)
        ids = s.ids()
        done = s.ask('reject', ids[-1])
        check('reject', done.returncode == 0, done.stderr)
        check('it is rejected', states(s).get(ids[-1]) in (None, 'rejected'), str(states(s)))
        check('an unknown one', s.ask('apply', '999999').returncode in (1, 2))
        check('not a number', s.ask('apply', 'all-of-them').returncode == 2)


def test_automatic():
    """In full automation it reaches its target by itself."""
    with Service(automation='full', interval_s=1) as s:
        s.start()
        check('moves are made', wait_until(lambda: any(h for h in s.ask_json('history')), 30, every=1))
        check('nothing is left to do', wait_until(lambda: over(s) and not s.ids(), 30, every=1), str(states(s)))


def test_pause():
    with Service(automation='full') as s:
        s.start()
        check('pause', s.ask('pause').returncode == 0)
        check('by whom', any(line.startswith('PAUSED') and ' by ' in line for line in s.ask('status').stdout.splitlines()))
        check('resume', s.ask('resume').returncode == 0 and 'PAUSED' not in s.ask('status').stdout)
        for former, name, paused in (('freeze', 'pause', True), ('thaw', 'resume', False)):
            done = s.ask(former)
            check(former, done.returncode == 0 and s.ask_json('status')['frozen'] is paused)
            check(f'{former}: one warning', done.stderr.count('\n') == 1 and f'`ballast {name}` now' in done.stderr, done.stderr)


def test_pause_of_an_older_service():
    """The words on the socket are those that a service knows which was not restarted after an upgrade."""
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f'{folder}/sock')
        listener.listen()
        asked = []

        def answer():
            for _ in range(2):
                client = listener.accept()[0]
                with client, client.makefile('rw') as lines:
                    asked.append(json.loads(lines.readline())['command'])
                    lines.write('{"ok": true}\n')

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        check('both are answered', all(run(v, socket=f'{folder}/sock').returncode == 0 for v in ('pause', 'resume')))
        thread.join(10)
        check('the former words', asked == ['freeze', 'thaw'], str(asked))


def test_paused_by_an_older_version():
    """A store of the first version whose service was paused: it is paused after the upgrade."""
    with Service(automation='full') as s:
        (s.folder / 'state').mkdir(mode=0o700)
        with contextlib.closing(sqlite3.connect(s.folder / 'state' / 'ballast.db')) as db:
            db.executescript((TOP / 'tests/unit/stores/version-1.sql').read_text())
        check('it starts on the older store', s.start(), s.log_text()[-2000:])
        status = s.ask_json('status')
        check('it is still paused', status['frozen'] and status['frozen_since'] == '2026-11-23T17:39:44Z', str(status))
        check('what happened is still known', {a['id']: a['state'] for a in s.ask_json('history')} == {1: 'done', 2: 'rejected'})
        check('nothing is started', over(s) and len(s.ask_json('history')) == 2, str(states(s)))
        check('and can be resumed', s.ask('resume').returncode == 0 and not s.ask_json('status')['frozen'])


RULES = """
rules:
  elsewhere: {kind: host-anti-affinity, vms: VM, hosts: [HOST]}
"""


def test_other_destination():
    """What is approved is the destination that was read: a rule that comes later gives the recommendation another one."""
    with Service() as s:
        file = s.folder / 'bulk.json'
        file.write_text(json.dumps(BULK), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}')
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        first = next(r for r in s.recommendations() if r['reason'] == 'rule')
        number = str(first['id'])
        old = s.config.read_text(encoding='utf-8')
        s.config.write_text(old + RULES.replace('VM', first['vm_name']).replace('HOST', first['to_name']), encoding='utf-8')
        s.send(signal.SIGHUP)
        now = lambda: next(r for r in s.recommendations() if r['id'] == first['id'])
        check('it has another destination', wait_until(lambda: s.ask('run') and now()['version'] == 2, 15), str(now()))
        check('the list shows its version', f'{number}.2 ' in s.ask('recommendations').stdout, s.ask('recommendations').stdout)
        done = s.ask('apply', number)
        check('the former one is not approved', done.returncode == 1 and f'recommendation {number} now goes to {now()["to_name"]}' in done.stderr
              and f' UTC to {first["to_name"]})' in done.stderr and f'`ballast apply {number}.2`' in done.stderr, done.stderr)
        check('it waits, like all', set(states(s).values()) == {'recommended'}, str(states(s)))
        check('no such version', s.ask('apply', f'{number}.7').returncode == 2)
        code, out, shown = answer_on_terminal(s, 'apply', '--all', answer='n\n')
        check('a terminal is asked', (code, out) == (1, '') and f'{number}.2 ' in shown and '[y/N]' in shown and 'nothing was approved' in shown, shown)
        check('no is no', set(states(s).values()) == {'recommended'}, str(states(s)))
        same = [n for n in s.numbers() if '.' not in str(n)]
        done = s.ask('apply', number, '4711', *map(str, same[:1]))
        check('of several the stale ones are named', done.returncode == 1 and f'left out: recommendation {number} now goes' in done.stderr
              and 'left out: there is no recommendation 4711' in done.stderr, done.stderr)
        left = {n for n, state in states(s).items() if state == 'recommended'}
        check('and only what was read is approved', first['id'] in left and not left & {int(n) for n in same[:1]}, str(states(s)))
        done = s.ask('apply', f'{number}.2')
        check('the new one is', done.returncode == 0, done.stderr)
        code, out, shown = answer_on_terminal(s, 'apply', '--all', answer='y\n') if len(left) > 1 else (0, 'approved', '')
        check('yes is yes', code == 0 and 'approved' in out, shown)
        check('the moves end', wait_until(lambda: over(s), 60))
        check('it went where that said', s.ask('run').returncode == 0 and s.hosts_of_vms()[first['vm']] == now()['to'], str(now()))


def test_rejected_for():
    """A rejection holds for the time that a person says, over a restart, and no longer; the answer says what it covers."""
    with Service() as s:
        file = s.folder / 'bulk.json'
        file.write_text(json.dumps(BULK), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}')
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        first = next(r for r in s.recommendations() if r['reason'] == 'rule')
        again = lambda: s.ask('run').returncode == 0 and [r for r in s.recommendations() if r['state'] == 'recommended' and r['vm'] == first['vm'] and r['reason'] == 'rule']
        for wrong in ('7', '7x', '0s', '401d', '', 'never'):
            done = s.ask('reject', str(first['id']), '--for', wrong)
            check(f'--for "{wrong}"', done.returncode == 2 and 'expected how long (90min, 12h, 7d, at most 400d) or ever' in done.stderr, done.stderr)
        check('it still waits', states(s)[first['id']] == 'recommended')
        done = s.ask('reject', str(first['id']), '4711', '--for', '25s')
        text = ' '.join(done.stdout.split())
        check('it says until when, and what', 'until 2' in text and f'VM {first["vm_name"]} goes to no host for this reason' in text, done.stdout)
        check('what is not there is named', done.returncode == 1 and 'left out: there is no recommendation 4711' in done.stderr, done.stderr)
        check('it does not come back', not again(), str(s.recommendations()))
        check('after a restart neither', s.stop() is not False and s.start() and wait_until(s.ids, 15) is not None and not again())
        check('it comes back when the time is over', wait_until(again, 45), str(s.recommendations()))
        done = s.ask('reject', str(again()[0]['id']), '--for', 'ever')
        check('for ever', done.returncode == 0 and 'for ever' in ' '.join(done.stdout.split()), done.stdout + done.stderr)


def test_killed():
    """kill -9 in mid-migration: the next one follows the same actions to their end, and begins nothing twice."""
    with Service(source='kind: sim\n  speed: 8') as s:
        s.start()
        wait_until(s.ids, 15)
        ids = s.ids()
        s.ask('apply', *s.numbers())
        wait_until(lambda: 'running' in states(s).values(), 10)
        s.stop(signal.SIGKILL)
        check('it starts again after kill -9', s.start(), s.log_text()[-2000:])
        check('what was under way is known', set(ids) <= set(states(s)) or wait_until(
            lambda: set(ids) <= set(states(s)), 10), f'{ids} {states(s)}')
        check('it comes to an end', wait_until(lambda: over(s), 60, every=1), str(states(s)))


def test_result_of_moves():
    """A move keeps what was predicted of its hosts; the next process observes them when ten minutes have passed."""
    with Service() as s:
        s.start()
        check('it recommends', wait_until(s.ids, 15))
        s.ask('apply', *s.numbers())
        check('the moves end', wait_until(lambda: over(s), 30))
        moves = [a for a in s.ask_json('history') if a['action'] == 'migrate' and a['state'] == 'done']
        check('each has a prediction', moves and all(
            0 <= a['result']['predicted'][host]['cpu_load'] and a['result']['predicted'][host]['mem_load'] > 0 and
            a['result']['predicted']['duration_s'] == a['duration_s'] for a in moves for host in ('from', 'to')), str(moves))
        check('nothing is observed yet', all(a['result']['observed'] is None for a in moves), str(moves))
        s.stop()
        with contextlib.closing(sqlite3.connect(s.folder / 'state' / 'ballast.db')) as db:
            db.execute('UPDATE actions SET started = started - 660, ended = ended - 660, predicted_at = predicted_at - 660')
            db.commit()
        check('it starts again', s.start(), s.log_text()[-2000:])
        check('they are observed', wait_until(lambda: all(
            a['result']['observed'] for a in s.ask_json('history') if a['id'] in {m['id'] for m in moves}), 20), str(s.ask_json('history')))
        for a in s.ask_json('history'):
            old = next((m for m in moves if m['id'] == a['id']), None)
            if old is None:
                continue
            observed = a['result']['observed']
            check('the prediction stands', a['result']['predicted'] == old['result']['predicted'], str(a))
            started, ended = (datetime.fromisoformat(a[key].rstrip('Z')) for key in ('started', 'ended'))
            check('the whole action was timed', a['result']['measured']['action_s'] == (ended - started).total_seconds(), str(a))
            check('both hosts are observed', all(observed[host]['mem_load'] > 0 for host in ('from', 'to')), str(a))
            check('it is judged', isinstance(observed['as_predicted'], bool) and isinstance(observed['overlaps'], bool), str(a))
        text = s.ask('history').stdout
        words = ' '.join(text.split())
        check('times are side by side', re.search(r'Took [\d.]+ s, copying [\d.]+ s; predicted: (not known|[\d.]+ s), copying [\d.]+ s\.', words), text)
        check('in the log, too', re.search(r' migrate .*: done: took [\d.]+ s, copying [\d.]+ s; predicted: .*, copying [\d.]+ s', s.log_text()), s.log_text()[-3000:])
        check('as text', 'Loads of the two hosts, predicted: CPU ' in words and '; observed: CPU ' in words, text)
        check('it fits a terminal', max(map(len, text.splitlines())) <= 80, text)


def test_second():
    """Two services must not share a state folder."""
    with Service() as s:
        s.start()
        other = Service()
        try:
            other.config.write_text(s.config.read_text(encoding='utf-8').replace(str(s.socket), str(other.socket)),
                                    encoding='utf-8')
            other.start()
            check('the second one refuses', other.process.wait(60) != 0 and other.log_text(), other.log_text())
            check('the first one goes on', s.ask('status').returncode == 0)
        finally:
            other.__exit__(None)


def test_configuration():
    with Service() as s:
        good = s.config.read_text(encoding='utf-8')
        for wrong in ('no_such_key: 1\n', 'interval_s: -5\n', 'automation: perhaps\n', '\tcluster: x\n'):
            s.config.write_text(good + wrong, encoding='utf-8')
            s.start()
            code = s.stop()
            check(f'{wrong.strip()}: exit code 2', code == 2, f'{code} {s.log_text()[-300:]}')
        s.config.write_text(good, encoding='utf-8')
        check('with the good one it starts', s.start() and s.process.poll() is None, s.log_text()[-500:])
        s.config.write_text(good.replace('manual', 'perhaps'), encoding='utf-8')
        s.send(signal.SIGHUP)
        check('a bad file is refused', wait_until(lambda: 'not reloaded' in s.log_text(), 5), s.log_text()[-500:])
        told = wait_until(lambda: s.ask_json('events', '--kind', 'configuration_failed'), 5) and s.ask_json('events', '--kind', 'configuration_failed')
        check('and an event says who asked, and what is wrong', told and len(told) == 1 and told[0]['data']['by'] and 'perhaps' in told[0]['data']['text'], str(told))
        check('a bad file on reload does not end it', s.ask('status').returncode == 0)
        s.config.write_text(good.replace('migration_threshold: 4', 'migration_threshold: 2'), encoding='utf-8')
        s.send(signal.SIGHUP)
        check('a good one is taken', wait_until(lambda: 'threshold 2' in s.ask('status').stdout, 5), s.ask('status').stdout)


def test_replay():
    """What the service decided can be decided again from its snapshot, anywhere."""
    with Service(cool_down_s=600) as s:
        s.start()
        wait_until(s.ids, 15)
        snapshot = s.ask('snapshot').stdout
        policy = json.loads(snapshot)['policy']
        check('it holds the settings', (policy['migration_threshold'], policy['cool_down_s'], policy['automation']) == (4, 600, 'manual'), str(policy))
        said = {k: v for k, v in policy.items() if v != 'auto'}
        theirs = [(r['vm'], r['from'], r['to']) for r in s.recommendations() if r['state'] == 'recommended']
        planned = lambda done: (p := json.loads(done.stdout)) and ([(r['vm'], r['from'], r['to']) for r in p['recommendations']],
                                                                 {k: v for k, v in p['policy'].items() if policy[k] != 'auto'})  # which a plan resolves
        for what, done in (('from its snapshot', run('plan', '--snapshot', '-', '--format', 'json', stdin=snapshot)),
                           ('asked for its snapshot', s.ask('plan', '--format', 'json'))):
            check(f'the same decision, {what}', planned(done) == (theirs, said), f'{done.stdout} {done.stderr} {theirs}')
        overridden = planned(s.ask('plan', '--set', 'cool_down_s=60', '--format', 'json'))[1]
        check('--set wins, the rest stays', overridden == {**said, 'cool_down_s': 60}, str(overridden))
        defaults = s.folder / 'other.yaml'
        defaults.write_text(s.config.read_text(encoding='utf-8').replace('cool_down_s: 600', 'cool_down_s: 300'), encoding='utf-8')
        check('--config wins', planned(s.ask('plan', '--config', str(defaults), '--format', 'json'))[1]['cool_down_s'] == 300)
        vm = theirs[0][0]
        for verb in (('explain', '--vm', vm), ('explain', '--host', theirs[0][1]), ('what-if', '--host-off', theirs[0][1])):
            here, there = s.ask(*verb), run(verb[0], '--snapshot', '-', *verb[1:], stdin=snapshot)
            check(f'{verb} asks the service', here.returncode == 0 and here.stdout == there.stdout and 'assumed' not in here.stdout, here.stdout + here.stderr)
        broken = {**json.loads(snapshot), 'policy': {**policy, 'cool_down_s': -1}}
        done = run('plan', '--snapshot', '-', stdin=json.dumps(broken))
        check('a setting that cannot be', done.returncode == 2 and '/policy/cool_down_s' in done.stderr, done.stderr)
        newer = {**json.loads(snapshot), 'policy': {**policy, 'from_the_future': 1}}
        done = run('plan', '--snapshot', '-', stdin=json.dumps(newer))
        check('one that is not known', done.returncode == 0 and '/policy/from_the_future: unknown field, ignored' in done.stderr, done.stderr)


def test_questions_to_the_service():
    """Where to power VMs on, and what they get, is asked of the service without a snapshot: of its cluster, with its settings."""
    with Service(cool_down_s=77) as s:
        check('it starts', s.start(), s.log_text())
        check('it recommends', wait_until(s.ids, 15))
        path, vms = s.folder / 'kept.json', s.folder / 'vms.json'
        path.write_text(s.ask('snapshot').stdout, encoding='utf-8')
        vms.write_text(json.dumps([{'id': 'new', 'vcpus': 2, 'mem_mb': 4096}]), encoding='utf-8')
        check('entitlements', s.ask('entitlements').stdout == run('entitlements', '--snapshot', path).stdout != '')
        for arguments in (['--vms', vms], ['--snapshot', path, '--vms', vms]):
            done = run('place', *arguments, '--format', 'json', socket=s.socket if len(arguments) == 2 else None)
            plan = json.loads(done.stdout) if done.returncode == 0 else None
            check(f'place {arguments}: with its settings', plan and plan['policy']['cool_down_s'] == 77, done.stderr)
            check(f'place {arguments}: a place', plan and [r['vm'] for r in plan['recommendations'] if r['action'] == 'place'] == ['new'], done.stderr)
        for arguments, wanted in ((['--set', 'cool_down_s=5'], 5), (['--config', s.config, '--set', 'seed=3'], 77)):
            done = s.ask('place', '--vms', vms, *arguments, '--format', 'json')
            check(f'place {arguments}: these win', done.returncode == 0 and json.loads(done.stdout)['policy']['cool_down_s'] == wanted, done.stderr)
        running = json.loads(path.read_text(encoding='utf-8'))['vms'][0]['name']
        for socket, arguments in ((None, ['--snapshot', path]), (s.socket, ['--set', 'seed=3'])):
            done = run('place', running, *arguments, socket=socket)
            check(f'place {arguments}: it runs', done.returncode == 2 and f'"{running}" runs already' in done.stderr, done.stderr)
            done = run('place', 'nobody', *arguments, socket=socket)
            check(f'place {arguments}: no such VM', done.returncode == 2 and 'no VM has the id or name "nobody"' in done.stderr, done.stderr)
        snapshot = json.loads(path.read_text(encoding='utf-8'))
        off = snapshot['vms'][0]
        off.update(state='off', host=None)
        for field in ('cpu', 'mem'):
            off[field].pop('demand', None)
            off[field].pop('consumed', None)
        off.pop('windows', None)
        snapshot['migrations'] = []
        done = run('place', off['name'], '--snapshot', '-', stdin=json.dumps(snapshot))
        check('place VM --snapshot', done.returncode == 0 and f'{off["name"]} can be powered on at ' in done.stdout, done.stderr + done.stdout)


check('every part came to its end', run_tests(globals()) == 0)
end()
