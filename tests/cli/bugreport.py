#!/usr/bin/env python3
"""`ballast bugreport`: what is in it, that no secret is, and what it says when something is missing."""
import json
import os
import pathlib
import re
import signal
import subprocess
import tarfile

from command import TOP, Service, check, end, run, wait_until

SECRET = 'unguessable-word'
COMMENT = 'word-of-a-comment'


def members(path):
    with tarfile.open(path) as archive:
        return {m.name.split('/', 1)[1]: archive.extractfile(m).read().decode() for m in archive.getmembers()}


def test_with_a_service():
    password = pathlib.Path('password')
    with Service(http='{listen: "127.0.0.1:0"}') as s:
        os.chdir(s.folder)
        password.write_text(SECRET + '\n', encoding='utf-8')
        password.chmod(0o600)
        s.config.write_text(s.config.read_text(encoding='utf-8') + f'# {COMMENT}: {SECRET}\nmqtt:\n  url: mqtt://127.0.0.1:1\n  username: u\n'
                            f'  password_file: {s.folder}/password\n', encoding='utf-8')
        check('the service starts', s.start(), s.log_text())
        token = s.ask('token', 'create', 'ci', '--role', 'viewer').stdout.strip()
        for _ in range(7):
            s.ask('run')
        with open(s.log, 'a', encoding='utf-8') as log:
            log.write(f'a peer said https://user:{SECRET}@example/x and {token}\n')
        done = s.ask('bugreport', 'report.tar.gz', '--config', s.config, '--log', s.log)
        check('it is made', done.returncode == 0 and done.stdout.startswith('report.tar.gz\n'), done.stderr)
        check('nothing is missing', 'Missing' not in done.stdout, done.stdout)
        found = members('report.tar.gz')
        check('its mode', os.stat('report.tar.gz').st_mode & 0o777 == 0o600)
        check('versions', found['versions'].startswith('ballast ') and 'sqlite' in found['versions'])
        check('configuration', 'password_file:' in found['configuration'] and COMMENT not in found['configuration'])
        check('log', 'ballastd' in found['log'] and '***@example' in found['log'])
        check('status', json.loads(found['replies/status.json'])['cluster'] == 'test')
        check('snapshot', json.loads(found['replies/snapshot.json'])['format'] == 'ballast-snapshot/1')
        plans = [json.loads(text) for name, text in found.items() if name.startswith('plans/')]
        check('plans', len(plans) == 5 and all(p['format'] == 'ballast-plan/1' for p in plans), list(found))
        last = [p['id'] for p in s.ask_json('passes')[:5]]
        snapshots = {name: json.loads(text) for name, text in found.items() if name.startswith('snapshots/')}
        check('their snapshots', set(snapshots) == {f'snapshots/{n}.json' for n in last} and
              all(v['format'] == 'ballast-snapshot/1' for v in snapshots.values()), (last, list(found)))
        one = s.folder / 'one.json'
        one.write_text(s.ask('snapshot', '--pass', last[-1]).stdout, encoding='utf-8')
        again = json.loads(run('plan', '--snapshot', one, '--format', 'json').stdout)
        check('a plan from it is that of the pass', again['recommendations'] == json.loads(found[f'plans/{last[-1]}.json'])['recommendations'], again)
        for secret in (SECRET, token, token.rsplit('_', 1)[-1]):
            check('no secret in it', secret and not [name for name, text in found.items() if secret in text])
        again = s.ask('bugreport', 'report.tar.gz')
        check('an existing file stays', again.returncode == 2 and 'File exists' in again.stderr and members('report.tar.gz') == found, again.stderr)
        named = subprocess.run(['ls'], capture_output=True, text=True, check=True).stdout
        s.ask('bugreport', '--config', s.config, '--log', s.log)
        check('its own name has the time', len(list(pathlib.Path('.').glob('ballast-bugreport-2*Z.tar.gz'))) == 1, named)
        os.chdir('/')


KEY = re.compile(r'#?(?P<indent>(?:  )*)(?P<key>[a-z]\w*):(?: (?P<value>.*))?$')  # as in src/config/key_order.py


def planted():
    """conf/ballast.yaml with all keys, and a secret in each that holds a text or a list; and these secrets."""
    lines, secrets, above, seen = [], [], [], set()
    for line in (TOP / 'conf/ballast.yaml').read_text(encoding='utf-8').splitlines():
        if not (key := KEY.match(line)):
            continue
        above = [*(k for k in above if k[0] < len(key['indent'])), (len(key['indent']), key['key'])]
        if tuple(above) in seen:  # of a second example
            continue
        seen.add(tuple(above))
        value = key['value']
        if value and not re.fullmatch(r'true|false|[\d.]+', value.split(' #')[0]):
            secrets.append(f'Hunter{len(secrets)}-x')
            value = f'[/bin/prog, {secrets[-1]}, -u, "a:{secrets[-1]}"]' if value[0] == '[' else f'"{secrets[-1]}"'
        lines.append(f'{key["indent"]}{key["key"]}: {value or ""}\n')
    return ''.join(lines), secrets


def test_every_key():
    with Service() as s:
        text, secrets = planted()
        check('there are many', len(secrets) > 60, len(secrets))
        s.config.write_text(text, encoding='utf-8')
        done = run('bugreport', s.folder / 'r.tar.gz', '--config', s.config, '--log', s.folder / 'none', '--socket', '/nowhere')
        found = members(s.folder / 'r.tar.gz')
        check('its keys', 'password_file: ***' in found['configuration'] and 'command: [prog, ***, ***, ***]' in found['configuration'], done.stderr)
        check('no secret of any key', not [x for x in secrets if any(x in member for member in found.values())], found['configuration'])


HIDDEN = 'Unguessable-4711'
COMMAND = ('[/bin/false, --token, {0}, --api-key={0}, -H, "X-Api-Key: {0}", -u, "a:{0}", -b, "session={0}", "--cookie={0}", '
           '"https://a:{0}@h/{0}?key={0}", "{0}"]')


def test_what_else_may_hold_one():
    """Names of VMs, the environment, events of a reload, what commands say, a file that a reload refuses, and that differs from the one in force."""
    os.environ['MQTT_PASSWORD'] = os.environ['BALLAST_TOKEN'] = HIDDEN
    with Service() as s:
        snapshot = json.loads(run('generate', '--hosts', '3', '--vms', '9', '--seed', '1').stdout)
        for vm, name in zip(snapshot['vms'], (f'https://u:{HIDDEN}@h/', f'web --token {HIDDEN}', f'password={HIDDEN}', f'X-Api-Key: {HIDDEN}')):
            vm['name'] = name
        (s.folder / 'c.json').write_text(json.dumps(snapshot), encoding='utf-8')
        s.configure(source=f'kind: sim\n  file: {s.folder}/c.json')
        plain = s.config.read_text(encoding='utf-8')
        check('it starts', s.start(), s.log_text())

        def reload(text, told):
            s.config.write_text(text, encoding='utf-8')
            s.send(signal.SIGHUP)
            check(f'it says {told}', wait_until(lambda: told in s.log_text(), 10), s.log_text())
        says = s.folder / 'says'
        says.write_text(f'#!/bin/sh\necho "refused: $*" >&2; exit 1\n', encoding='utf-8')
        says.chmod(0o700)
        secret = COMMAND.format(HIDDEN)
        reload(f'{plain}alarms:\n  ops: {{command: {secret.replace("/bin/false", str(says))}, severity: info}}\nunits:\n  u: {{command: {secret}}}\n', 'units: ')
        s.ask('alarm', 'test', 'ops')
        reload(f'{plain}alarms:\n  ops: {{command: /bin/false {HIDDEN}}}\n', 'is no list')
        reload(f'{plain}interval_s: {HIDDEN}\n'.replace('interval_s: 300\n', ''), 'interval_s is')
        reload(f'{plain}mqtt:\n  url: mqtt://u:{HIDDEN}@127.0.0.1:1\n', 'mqtt.url')
        s.config.write_text(f'{plain}mqtt:\n  username: {HIDDEN}\n', encoding='utf-8')
        done = s.ask('bugreport', s.folder / 'r.tar.gz', '--config', s.config, '--log', s.log)
        found = members(s.folder / 'r.tar.gz')
        check('it has all', done.returncode == 0 and {'log', 'replies/events.json', 'replies/config_diff.json', 'replies/snapshot.json'} <= set(found), list(found))
        leaks = {name: [line for line in text.splitlines() if HIDDEN in line][:3] for name, text in found.items() if HIDDEN in text}
        check('no secret in it', not leaks, leaks)
        told = [line for line in s.log_text().splitlines() if re.search(r'configuration: (units|alarms): ', line) and HIDDEN in line]
        check('nor where the service tells of a reload', not told, told)


def test_without_a_service():
    with Service() as s:
        done = run('bugreport', s.folder / 'r.tar.gz', '--config', s.folder / 'none.yaml', '--log', s.folder / 'none', '--socket', '/nowhere')
        check('without anything it is made all the same', done.returncode == 0, done.stderr)
        found = members(s.folder / 'r.tar.gz')
        check('it says what is missing', set(found) == {'README', 'versions', 'missing'} and
              all(word in found['missing'] for word in ('configuration:', 'log:', 'replies/status:')), found)
        wrong = run('bugreport', '/nowhere/r.tar.gz')
        check('a folder that is not there', wrong.returncode == 1 and 'No such file' in wrong.stderr, wrong.stderr)
        full = run('bugreport', '/dev/full')
        check('a device', full.returncode == 2, full.stderr)


test_with_a_service()
test_without_a_service()
test_every_key()
test_what_else_may_hold_one()
end()
