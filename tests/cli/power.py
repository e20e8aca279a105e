#!/usr/bin/env python3
"""Power management in a terminal: messages, refusals with their reasons, and output within 80 columns."""
import datetime
import json
import os
import re
import sqlite3
import tempfile
import time
import zoneinfo

from command import Service, check, end, run, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known

NIGHT = '''
dpm:
  enabled: true
  automation: manual
  hosts_min: 2
  time_zone: Europe/Berlin
  windows: ["Mon..Sun 20:00 for 10h"]
  ready_by: ["Mon..Fri 07:30"]'''
POWER_VERBS = {'status': [], 'hosts': [], 'vms': [], 'recommendations': [], 'apply': ['1'], 'reject': ['1'], 'wake': ['h1'],
               'standby': ['h1'], 'schedule': [], 'forecast': [], 'events': [], 'console': ['1'], 'history': []}
BERLIN = zoneinfo.ZoneInfo('Europe/Berlin')


def fits(what, text, columns=80):
    widest = max(text.splitlines() or [''], key=len)
    check(f'{what} fits {columns} columns', text and len(widest) <= columns and '\x1b' not in text, f'{len(widest)}: {widest}')


def says(what, done, code, words):
    """One line on standard error, nothing else, with all the words."""
    check(what, done.returncode == code and not done.stdout and done.stderr.count('\n') == 1 and all(w in done.stderr for w in words),
          f'{done.returncode} {done.stdout[:200]!r} {done.stderr!r}')


def over(s):
    return not any(r['state'] in ('approved', 'starting', 'running', 'verifying') for r in s.recommendations())


def cluster(**hosts):
    """Hosts by id, each with what is special of it, and one VM on the first."""
    return {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
            'hosts': [{'id': h, 'name': f'esx-{h}.example', 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 32768,
                       'boot_s': 120, 'wake_methods': ['ipmi', 'wol'], 'wake_verified': True, **more} for h, more in hosts.items()],
            'vms': [{'id': 'v1', 'name': 'web-1', 'host': next(iter(hosts)), 'state': 'on', 'vcpus': 2, 'mem_mb': 2048,
                     'cpu': {'demand': 2000}, 'mem': {'demand': 1024}}]}


def replace(path, content):
    """At once: a look finds the old or the new."""
    beside = path.with_suffix('.new')
    beside.write_text(content if isinstance(content, str) else json.dumps(content), encoding='utf-8')
    os.replace(beside, path)


def test_night():
    """A host is put to standby and woken; whatever is shown on the way fits a terminal, and says how to go on."""
    with Service('kind: sim\n  speed: 60' + NIGHT, interval_s=2) as s:
        check('it starts', s.start(), s.log_text())
        text = s.ask('hosts').stdout
        fits('hosts', text)
        check('the load, of what, and how it is woken', re.search(r'^pretend-1 +on +16 +9\d % +41\.6 +6\d % +124 +hypervisor \(proven\)$', text, re.M), text)
        wide = s.ask('hosts', '--wide').stdout
        check('--wide has more', all(w in wide for w in ('CPU MHZ', 'MEM MIB', 'WATTS', 'SINCE', 'BOOTS IN', 'DPM')) and
              re.search(r'^pretend-1 .* 41600 .* 126976 .* 180 s +inherit +hypervisor +hypervisor \(proven\) +[0-9a-f-]{36} +- +-$', wide, re.M), wide)
        schedule = s.ask('schedule').stdout
        fits('schedule', schedule)
        check('local time and UTC', re.search(r'^\w{3} \d{4}-\d\d-\d\d 07:30 \+0[12]:00  \d{4}-\d\d-\d\dT0[56]:30Z  capacity must be back$', schedule, re.M), schedule)
        check('local time for now', re.search(r'^now +hosts (may be|are not) put to standby until \w{3} \S+ (20|0[567]):00 \+0[12]:00$', schedule, re.M), schedule)

        done = s.ask('standby', 'pretend-4')
        fits('standby', done.stdout)
        check('it waits, and says for what', 'it waits for host pretend-4 to be empty' in done.stdout and
              '6 VMs are moved away first (' in done.stdout and '`ballast wake pretend-4` undoes it' in done.stdout, done.stdout)
        evacuation = lambda: [r for r in s.recommendations() if r['from'] == 'pretend-4' and r['reason'] == 'standby']
        check('the moves are there', wait_until(evacuation, 10))
        fits('recommendations', s.ask('recommendations').stdout)
        check('approved by who asked for the standby', {r['approved_by'] for r in evacuation()} - {'engine', None}
              and all(r['approved_by'] and r['approved_by'] != 'engine' for r in evacuation()), str(evacuation()))
        asleep = lambda: [h['state'] for h in s.ask_json('hosts')][3] == 'standby'
        check('it sleeps', wait_until(asleep, 40, every=1), str(s.recommendations()))
        check('and nothing is left to do', wait_until(lambda: over(s), 20))
        again = s.ask('standby', 'pretend-4')
        check('again', (again.returncode, again.stdout) == (0, 'nothing to do: the host is in standby, or on its way there\n'), again.stdout)
        fits('hosts', s.ask('hosts').stdout)
        fits('status', s.ask('status').stdout)
        check('status', 'asleep       pretend-4, since ' in s.ask('status').stdout and re.search(r' W with all hosts on; .*metered\nshortage     no VM lacks CPU\n', s.ask('status').stdout))

        woken = s.ask('wake', 'pretend-4')
        check('wake', woken.returncode == 0 and 'power_on' in woken.stdout, woken.stderr)
        check('it is back', wait_until(lambda: [h['state'] for h in s.ask_json('hosts')][3] == 'on', 40, every=1))
        check('nothing is left to do', wait_until(lambda: over(s), 20))
        again = s.ask('wake', 'pretend-4')
        check('it is on', again.stdout.startswith('nothing to do: the host is on or boots'), again.stdout)
        history = s.ask('history').stdout
        fits('history', history)
        check('history: what, and by whom', re.search(r' done +migrate +\S+ +pretend-4 -> pretend-\d\n', history) and
              re.search(r' done +power_on +- +- +pretend-4\n +requested by an admin; approved by \S+', history), history)
        told = [(e['type'], (e['data'].get('action') or {}).get('action')) for e in s.ask_json('events', '--kind', 'host')]
        check('events of hosts: what was begun and done, and its effects', {('action.running', 'power_off'), ('host.standby', None), ('action.done', 'power_off'),
              ('action.running', 'power_on'), ('action.done', 'power_on'), ('host.on', None)} <= set(told), str(told))
        check('neither passes nor moves', {t.split('.')[0] for t, _ in told} <= {'host', 'action'} and 'migrate' not in {a for _, a in told}, str(told))
        consoles(s)


def consoles(s):
    """There may be no such action, or it woke no host, or nothing was captured; which of them is said."""
    actions = {a['action']: a['id'] for a in s.ask_json('history')}
    says('no such action', s.ask('console', '99999'), 2, ['there is no action 99999', '`ballast history`'])
    says('a migration', s.ask('console', actions['migrate']), 1, [f'action {actions["migrate"]} is a migrate', 'power_on', 'ipmi.console'])
    says('nothing captured', s.ask('console', actions['power_on']), 1, [f'no console output of action {actions["power_on"]}', 'ipmi.console'])
    says('no number', s.ask('console', 'last'), 2, ['"last" is not the number of an action'])


def test_proof():
    """What a wake waits for is said as long as it waits."""
    with Service() as s:
        path = s.folder / 'cluster.json'
        path.write_text(json.dumps(cluster(h1={}, h2={}, h3={'wake_verified': False})), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 60\n  file: {path}', interval_s=2)
        check('it starts', s.start(), s.log_text())
        check('not proven', re.search(r'^esx-h3 .* ipmi,wol \(not proven\)$', s.ask('hosts').stdout, re.M), s.ask('hosts').stdout)
        text = s.ask('wake', 'h3', '--verify').stdout
        fits('wake --verify', text)
        check('the wake waits', re.search(r' approved +power_on +- +- +esx-h3 +-\n +Once 1 is done: an admin asked for a proof', text), text)
        check('it is proven', wait_until(lambda: re.search(r'^esx-h3 +on .* ipmi,wol \(proven\)$', s.ask('hosts').stdout, re.M), 40, every=1))
        text = s.ask('recommendations', '--all').stdout
        check('what has begun waits for nothing', re.search(r' (running|verifying|done) +power_on +- +- +esx-h3 +-\n +an admin asked for a proof', text), text)


def test_maintenance_cancels():
    """What maintenance cancels of a host's power changes is in its answer."""
    with Service() as s:
        path = s.folder / 'cluster.json'
        path.write_text(json.dumps(cluster(h1={}, h2={}, h3={})), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 1\n  file: {path}', interval_s=3600)
        check('it starts', s.start(), s.log_text())
        proof = s.ask_json('wake', 'h1', '--verify')
        check('the proof waits for the move of its VM', [a['state'] for a in proof] == ['approved'] * 2, str(proof))
        text = s.ask('maintenance', 'enter', 'h1').stdout
        fits('maintenance enter', text)
        check('both are cancelled', all(re.search(rf' cancelled +{kind} +- +- +esx-h1 +-\n +.* wants the host in maintenance\n', text)
                                        for kind in ('power_off', 'power_on')) and re.search(r' approved +enter_maintenance ', text), text)
        text = s.ask('maintenance', 'enter', 'h1').stdout
        check('once', 'cancelled' not in text and 'enter_maintenance' in text, text)


def test_refusals():
    """Each says why, and what to do."""
    hosts = cluster(h1={}, h2={}, h3={'wake_verified': False}, h4={'state': 'maintenance'})
    with Service() as s:
        path = s.folder / 'cluster.json'
        path.write_text(json.dumps(hosts), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {path}\ndpm: {{hosts_min: 2}}')
        check('it starts', s.start(), s.log_text())
        for verb in ('standby', 'wake'):
            says(f'{verb}: no such host', s.ask(verb, 'nobody'), 2, ['no host has the id or name "nobody"', '`ballast hosts`'])
            says(f'{verb}: no host', s.ask(verb, ''), 2, ['expected the id or the name of a host'])
        says('not proven', s.ask('standby', 'esx-h3.example'), 1, ['no method to wake host esx-h3.example is proven', '`ballast wake esx-h3.example --verify`'])
        says('in maintenance', s.ask('standby', 'h4'), 1, ['h4.example is maintenance', '`ballast maintenance exit`'])
        says('not asleep', s.ask('wake', 'h4'), 1, ['only a host in standby can be woken', '`ballast maintenance exit`'])
        s.ask('pause')
        says('paused', s.ask('standby', 'h2'), 1, ['paused', '`ballast resume`'])
        s.ask('resume')
        check('a first one may', s.ask('standby', 'h2').returncode == 0)
        says('too few', s.ask('standby', 'h1'), 1, ['dpm.hosts_min is 2', 'another host has to be woken first'])
        says('no such recommendation', s.ask('apply', '99'), 2, ['there is no recommendation 99', '`ballast recommendations`'])
        says('no kind', s.ask('events', '--kind', 'nonsense'), 2, ['"nonsense" is no kind of event', 'host_lost', 'wake_failed', 'paused, resumed'])


def test_wrong_input():
    """Without a service, and with wrong words: one line, and the contract's exit codes."""
    with tempfile.TemporaryDirectory() as folder:
        nobody = os.path.join(folder, 'nobody.sock')
        for verb, operands in POWER_VERBS.items():
            says(f'{verb}: no service', run(verb, *operands, socket=nobody), 3, [nobody, 'start ballastd ('])
            says(f'{verb}: too much', run(verb, *operands, '--nonsense'), 2, ['unknown option --nonsense', f'ballast {verb} --help'])
            says(f'{verb}: format', run(verb, *operands, '--format', 'xml', socket=nobody), 2, ['expected text or json'])
            helped = run(verb, '--help')
            check(f'{verb} --help', helped.returncode == 0 and f'Usage: ballast {verb}' in helped.stdout and not helped.stderr)
            if operands:
                says(f'{verb}: too little', run(verb), 2, ['is missing', f'ballast {verb} --help'])
        for words in (['forecast', '--hours', '0'], ['forecast', '--hours', '841'], ['forecast', '--hours', 'x'], ['schedule', '--next', '0'], ['events', '--limit', '0']):
            says(' '.join(words), run(*words, socket=nobody), 2, [words[1], 'a whole number from 1 to'])
    with Service() as s:
        good = s.config.read_text(encoding='utf-8')
        for wrong, words in ((f'state_dir: {s.config}', ['state directory', 'not a directory']), ('state_dir: /proc/none/state', ['state directory', 'cannot be created'])):
            s.config.write_text(re.sub('state_dir: .*', wrong, good), encoding='utf-8')
            s.start()
            check(wrong, s.stop() == 1 and all(w in s.log_text() for w in words), s.log_text())


def remember(path, now):
    """Three weeks of days that are alike: 80 GHz from 07:00 to 19:00 in Berlin, else 30; the last one expected so, and 5 % less came."""
    db = sqlite3.connect(path)
    for i in range(1, 21 * 96):
        t = now // 900 * 900 - 900 * i
        hour = datetime.datetime.fromtimestamp(t, BERLIN).hour
        cpu = 80000 if 7 <= hour < 19 else 30000
        known = i < 96
        db.execute('INSERT OR REPLACE INTO patterns VALUES (?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?, ?, 0)',
                   (t, cpu * 0.9, 100000, cpu, 102400, cpu / 0.95 if known else None, 102400 if known else None, 4 * known, 5 * known))
    db.commit()
    db.close()


def test_forecast():
    """The coming day in local time, in a few lines; all of it where it is asked for."""
    with Service('kind: sim\n  speed: 20' + NIGHT) as s:
        check('it starts', s.start(), s.log_text())
        text = s.ask('forecast').stdout
        check('nothing is known', 'there is no data' in text and 'three days of the same kind' in text, text)
        s.stop()
        remember(s.folder / 'state/ballast.db', int(time.time()))
        check('it starts again', s.start(), s.log_text())
        text = s.ask('forecast').stdout
        fits('forecast', text)
        check('which zone', text.startswith('Times are in Europe/Berlin.\n'), text)
        rows = [line.split() for line in text.splitlines() if re.match(r'^\w{3} \d{4}', line)]
        check('a few rows', 2 <= len(rows) <= 5, text)
        # rows follow each other; a change of the day or of the days alike makes one more
        check('they follow each other', all(a[3] == b[2] for a, b in zip(rows, rows[1:])), text)
        for day, _, begins, ends, cpu, *_ in rows:
            high = '07:00' <= begins < '19:00'
            check(f'{day} {begins}: {"high" if high else "low"}', cpu == ('80.0' if high else '30.0'), text)
        check('it changes at seven, by Berlin\'s clocks', {'07:00', '19:00'} <= {r[2] for r in rows} | {rows[-1][3]}, text)
        check('what came, in a sentence', re.search(r'9[456] of 9[456] quarters of an hour had a forecast;\nactual CPU was -5 % to -5 % off; hosts woken for it: 0', text), text)

        past = s.ask('forecast', '--hours', '2').stdout
        fits('forecast --hours', past)
        check('two hours of the past', len(re.findall(r'^\d{4}-\d\d-\d\d \d\d:\d\d +\d+\.\d +\d+\.\d +-5 % ', past, re.M)) in (7, 8), past)
        quarter = datetime.datetime.fromtimestamp(int(time.time()) // 900 * 900 - 1800, BERLIN)
        check('by local clocks', quarter.strftime('%Y-%m-%d %H:%M') in past, past)
        everything = s.ask('forecast', '--all').stdout
        fits('forecast --all', everything)
        check('all quarters', len(everything.splitlines()) > 180, str(len(everything.splitlines())))
        forecast = s.ask_json('forecast')
        check('JSON has them all, in UTC', forecast['time_zone'] == 'Europe/Berlin' and len(forecast['ahead']) >= 95 and
              all(x['time'].endswith('Z') for x in forecast['ahead']), str(forecast)[:300])


def kinds(s, *arguments):
    return [(e['type'], e['subject']) for e in s.ask_json('events', *arguments) if e['kind'] in ('host', 'host_lost', 'host_back')]


def test_inventory():
    """A host that is taken out of the cluster, put back, or lost is an event; a source that is away, or a start, is none."""
    with Service() as s:
        path = s.folder / 'cluster.json'
        replace(path, cluster(h1={}, h2={}, h3={}))
        s.configure(f'kind: file\n  file: {path}', interval_s=2)
        look = lambda: s.ask('run').returncode == 0
        check('it starts', s.start(), s.log_text())
        check('a start tells of no host', kinds(s) == [], str(kinds(s)))
        hosts = s.ask('hosts').stdout
        fits('hosts with names and ways as they are in life', hosts)
        check('and nothing is cut', re.search(r'^esx-h2 +on +0 +0 % +20\.0 +0 % +32  ipmi,wol \(proven\)$', hosts, re.M), hosts)

        replace(path, cluster(h1={}, h2={}))
        look()
        check('taken out', kinds(s) == [('host_lost', 'h3')], str(kinds(s)))
        told = s.ask_json('events', '--kind', 'host_lost')[0]
        check('a warning with its name', told['severity'] == 'warning' and told['data']['host_name'] == 'esx-h3.example' and
              (told['data']['was'], told['data']['state']) == ('on', None), str(told))
        line = s.ask('events', '--kind', 'host_lost').stdout
        check('as a line', 'host_lost: host esx-h3.example, which was on, is not in the inventory any more' in ' '.join(line.split()), line)
        replace(path, '{')
        look()
        check('the source is lost', wait_until(lambda: s.ask_json('status')['source']['state'] == 'lost', 15))
        replace(path, cluster(h1={}, h2={}))
        check('and back', wait_until(lambda: look() and s.ask_json('status')['source']['state'] == 'up', 20, every=1))
        check('which says nothing of hosts', kinds(s) == [('host_lost', 'h3')], str(kinds(s)))
        seen = s.ask_json('events')[-1]['id']
        replace(path, cluster(h1={}, h2={}, h3={}, h4={}))
        look()
        check('put back, and a new one', kinds(s, '--since', str(seen)) == [('host_back', 'h3'), ('host.on', 'h4')], str(kinds(s)))
        back, new = s.ask_json('events', '--since', str(seen), '--kind', 'host')[:2]
        check('what it was', back['severity'] == 'notice' and back['data']['was'] == 'on' and new['data']['was'] is None, f'{back} {new}')

        seen = s.ask_json('events')[-1]['id']
        s.stop()
        check('it starts again', s.start(), s.log_text())
        check('nor does a start', kinds(s, '--since', str(seen)) == [], str(kinds(s)))
        s.stop()
        replace(path, cluster(h1={}, h2={}, h4={}))
        check('and again', s.start(), s.log_text())
        check('gone meanwhile: nothing to compare with', kinds(s, '--since', str(seen)) == [], str(kinds(s)))
        replace(path, cluster(h1={}, h2={}, h3={}, h4={}))
        look()
        check('it was there before', kinds(s, '--since', str(seen)) == [('host_back', 'h3')], str(kinds(s)))
        replace(path, cluster(h1={}, h2={}, h3={}, h4={'state': 'disconnected'}))
        look()
        last = s.ask_json('events', '--kind', 'host')[-1]
        check('lost by its manager', (last['type'], last['severity'], last['data']['was']) == ('host.disconnected', 'warning', 'on'), str(last))
        since_when(s)


def since_when(s):
    """The same forms of a time for all."""
    everything = len(s.ask_json('events', '--limit', '1000'))
    for since in ('1h', '1d 12h', 'yesterday', '2020-01-01', '2020-01-01T00:00:00Z', '0'):
        check(f'events --since {since}', len(s.ask_json('events', '--since', since)) >= everything, since)
    time.sleep(2.1)
    check('events --since now', len(s.ask_json('events', '--since', '1s')) < everything)
    says('events --since noon', s.ask('events', '--since', 'noon'), 2, ['"noon" is wrong', '2026-01-31T12:00:00Z', 'yesterday', '2h'])
    for since in ('1h', 'today', 'yesterday'):
        done = s.ask('history', '--energy', '--since', since)
        check(f'history --energy --since {since}', done.returncode == 0, done.stderr)


def test_schedule_at():
    """Of a configuration, at a moment that is said in the same forms."""
    with Service('kind: sim' + NIGHT) as s:
        for at in ('2026-03-28T20:00:00Z', '2026-03-28', 'yesterday', '90 min'):
            done = run('schedule', '--config', s.config, '--at', at)
            check(f'schedule --at {at}', done.returncode == 0, done.stderr)
            fits('schedule', done.stdout)
        # the night in which clocks are set forward
        text = run('schedule', '--config', s.config, '--at', '2026-03-28').stdout
        check('an hour longer by the clock', 'Sun 2026-03-29 07:00 +02:00  2026-03-29T05:00Z  no host is put to standby' in text, text)
        s.config.write_text(s.config.read_text(encoding='utf-8').replace('07:30', '07:30:15'), encoding='utf-8')
        text = run('schedule', '--config', s.config, '--at', '2026-03-28').stdout
        check('seconds are shown where there are any', 'Mon 2026-03-30 07:30:15 +02:00 2026-03-30T05:30:15Z capacity' in ' '.join(text.split()), text)


def test_explain():
    """What is assumed of the settings is said, because a snapshot does not hold them."""
    snapshot = json.dumps(cluster(h1={}, h2={}))
    ask = ('explain', '--snapshot', '-', '--host', 'h2')
    with Service('kind: sim' + NIGHT) as s:
        bare = run(*ask, stdin=snapshot).stdout
        check('assumed', 'dpm.enabled is false' in bare and 'This is assumed, as the default' in bare and '--config FILE' in bare, bare)
        told = json.loads(run(*ask, '--format', 'json', stdin=snapshot).stdout)
        check('assumed, in JSON', told['check'] == 'dpm_off' and '--config' in told['assumed'], str(told))
        for words in (('--config', s.config), ('--set', 'dpm.enabled=true'), ('--set', 'dpm.enabled=false')):
            done = run(*ask, *words, stdin=snapshot)
            check(f'{words}: nothing is', done.returncode == 0 and 'assumed' not in done.stdout and
                  ('dpm.enabled is false' in done.stdout) == (words[1] == 'dpm.enabled=false'), done.stdout + done.stderr)
            told = json.loads(run(*ask, *words, '--format', 'json', stdin=snapshot).stdout)
            check(f'{words}: nor in JSON', 'assumed' not in told, str(told))


check('every part came to its end', run_tests(globals()) == 0)
end()
