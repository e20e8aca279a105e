#!/usr/bin/env python3
"""`ballast bugreport`: what is in it, that no secret is, and what it says when something is missing."""
import json
import os
import pathlib
import subprocess
import tarfile

from command import Service, check, end, run

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
end()
