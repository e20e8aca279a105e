#!/usr/bin/env python3
"""`ballast config diff` against what a reload then does; `ballast config fmt` on files of all shapes; `ballast config show`; all mistakes of a file in one run."""
import json
import os
import pathlib
import re
import socket
import stat
import subprocess
import tempfile

from command import SHORT, TOP, Service, check, end, run, wait_until


def changes(s, *file):
    done = s.ask('config', 'diff', *file, '--format', 'json')
    check(f'diff {file}: exit code', done.returncode == (1 if json.loads(done.stdout)['changes'] else 0), done)
    return {c['key']: c for c in json.loads(done.stdout)['changes']}


def of_a_service():
    with Service() as s:
        done = s.ask('config', 'diff')
        check('no service', done.returncode == 3 and 'start ballastd (' in done.stderr, done)
        check('it starts', s.start(), s.log_text())
        done = s.ask('config', 'diff')
        check('no difference', done.returncode == 0 and done.stdout == 'no difference\n', done)
        other = s.folder / 'other.yaml'
        other.write_text(s.config.read_text().replace('interval_s: 300', 'interval_s: 600  # slower') + '  timeout_s: 7\n'
                         'rules: {apart: {kind: anti-affinity, vms: "web-*"}}\n', encoding='utf-8')
        found = changes(s, other)
        check('its keys', list(found) == ['source.timeout_s', 'rules', 'interval_s'], found)
        check('now and then', found['interval_s'] == {'key': 'interval_s', 'now': '300', 'then': '600', 'contents': False, 'effect': 'now'}, found)
        check('a default that changes', (found['source.timeout_s']['now'], found['source.timeout_s']['then'], found['source.timeout_s']['effect'])
              == ('60', '7', 'next_start'), found)
        check('what was not there', found['rules']['now'] is None and 'web-*' in found['rules']['then'], found)
        done = s.ask('config', 'diff', other)
        check('text', done.returncode == 1 and 'At once:\n  rules\n' in done.stdout and '    - 300\n    + 600\n' in done.stdout
              and 'At the next start (systemctl restart):\n  source.timeout_s\n' in done.stdout, done)
        check('nothing changed', s.ask('config', 'diff').returncode == 0)
        # the same file as the service's own, then the reload itself
        s.config.write_text(other.read_text(), encoding='utf-8')
        own = changes(s)
        check('without FILE the same', own == found, own)
        s.send(1)
        check('the reload', wait_until(lambda: list(changes(s)) == ['source.timeout_s'], 10), s.log_text())
        for key, c in found.items():
            check(f'the log says the same of {key}', f'{key}: {c["now"] or "(none)"} -> {c["then"]}' in s.log_text(), s.log_text())
        refused(s)
        limits(s)


def refused(s):
    wrong = s.folder / 'wrong.yaml'
    wrong.write_text(s.config.read_text() + 'seed: -1\nautomaton: full\nhorizon_s: soon\n', encoding='utf-8')
    done = s.ask('config', 'diff', wrong)
    lines = done.stderr.splitlines()
    check('a reload would refuse it', done.returncode == 2 and not done.stdout and 'a reload would refuse' in lines[-1], done)
    for n, word in enumerate(('seed', 'automaton', 'horizon_s')):
        check(f'it names {word}', str(wrong) in lines[n] and word in lines[n], done.stderr)
    done = s.ask('config', 'diff', wrong, '--format', 'json')
    said = json.loads(done.stdout)
    check('as JSON', done.returncode == 2 and len(said['mistakes']) == 3 and said['changes'] == [], done)
    check('a file that is not there', s.ask('config', 'diff', s.folder / 'none.yaml').returncode == 2)
    # a password is in no answer, and a file of another user's choice is not read by the service
    secret = s.folder / 'secret'
    secret.write_text('hunter2: x\n', encoding='utf-8')
    broker = s.folder / 'broker.yaml'
    broker.write_text(s.config.read_text() + f'mqtt: {{url: "mqtt://127.0.0.1:1", username: u, password_file: {secret}}}\n', encoding='utf-8')
    done = s.ask('config', 'diff', broker, '--format', 'json')
    check('no password', done.returncode == 1 and 'password_file' in done.stdout and 'hunter2' not in done.stdout + done.stderr, done)
    for fields in ({'file': str(secret)}, {'text': 'cluster: x'}, {'text': 'cluster: x', 'file': 'relative'}, {'text': 1, 'file': '/x'}):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(s.socket))
            client.sendall(json.dumps({'command': 'config_diff', **fields}).encode() + b'\n')
            reply = client.makefile().readline()
        check(f'{fields} is refused', not json.loads(reply)['ok'] and 'hunter2' not in reply, reply)


def limits(s):
    """Comments do not count."""
    large = s.folder / 'large.yaml'
    large.write_text(s.config.read_text() + '# words\n' * 10000 + 'seed: 5\n', encoding='utf-8')
    check('many comments', 'seed' in changes(s, large))
    hosts = ''.join(f'    host-{n}:\n      wol: {{mac: "02:00:00:00:{n // 256:02x}:{n % 256:02x}"}}\n' for n in range(2000))
    large.write_text(s.config.read_text() + f'power:\n  hosts:\n{hosts}', encoding='utf-8')
    done = s.ask('config', 'diff', large)
    check('too large', done.returncode == 2 and 'larger than a request may be' in done.stderr, done)
    s.config.write_text(large.read_text(), encoding='utf-8')
    found = changes(s)
    check('as its own file it is read', found['power.hosts']['then'].startswith('2000 hosts'), str(found)[:500])


SHAPES = (
    ('already in order', 'cluster: a\nsocket: /s\n', None),
    ('two keys', 'socket: /s\ncluster: a\n', 'cluster: a\nsocket: /s\n'),
    ('comments move with their key', '# file\n\n# of s\nsocket: /s # here\n# of c\n\n# also of c\ncluster: a\n# the end\n',
     '# file\n\n# of c\n\n# also of c\ncluster: a\n# the end\n# of s\nsocket: /s # here\n'),
    ('inside of a section', 'source:\n  # of the url\n  url: https://x\n#  username: u\n  kind: sim\n',
     'source:\n#  username: u\n  kind: sim\n  # of the url\n  url: https://x\n'),
    ('a key that is commented out stays in its section', 'source:\n  kind: sim\n#  url: x\ncluster: a\n', 'cluster: a\nsource:\n  kind: sim\n#  url: x\n'),
    ('braces', 'source: {speed: 2, kind: sim}\ncluster: a\n', 'cluster: a\nsource: {speed: 2, kind: sim}\n'),
    ('braces over lines', 'source:\n  {\n  speed: 2,\n  kind: sim\n  }\ncluster: a\n', 'cluster: a\nsource:\n  {\n  speed: 2,\n  kind: sim\n  }\n'),
    ('names of the user', 'rules:\n  z: {kind: affinity, vms: x}\n  a: {kind: affinity, vms: y}\ncluster: a\n',
     'cluster: a\nrules:\n  z: {kind: affinity, vms: x}\n  a: {kind: affinity, vms: y}\n'),
    ('hosts', 'power:\n  hosts:\n    z:\n      wol:\n        mac: m\n      ipmi:\n        username: u\n        address: a\n    b: {}\n  defaults:\n    timeout_s: 5\n',
     'power:\n  defaults:\n    timeout_s: 5\n  hosts:\n    z:\n      ipmi:\n        address: a\n        username: u\n      wol:\n        mac: m\n    b: {}\n'),
    ('lists', 'vms:\n- name: b\n  automation: manual\n- name: a\ncluster: a\n', 'cluster: a\nvms:\n- name: b\n  automation: manual\n- name: a\n'),
    ('no end of line', 'socket: /s\ncluster: a', 'cluster: a\nsocket: /s\n'),
    ('text over lines', 'socket: |\n  # no comment\n  /s\n\ncluster: "a\n  # b"\n', 'cluster: "a\n  # b"\nsocket: |\n  # no comment\n  /s\n\n'),
    ('a mark and lines of Windows', '\ufeffsocket: /s\r\n# c\r\ncluster: a\r\n', '# c\r\ncluster: a\r\nsocket: /s\r\n'),
    ('keys in quotes, and unknown ones', '"socket": /s\nzebra: 1\n\'cluster\': a\n', '\'cluster\': a\n"socket": /s\nzebra: 1\n'),
    ('nothing', '', ''),
    ('only comments', '# a\n# b\n', '# a\n# b\n'),
    ('a document in a line', '{socket: /s, cluster: a}\n', None),
    ('the beginning of a document', '---\nsocket: /s\ncluster: a\n', '---\ncluster: a\nsocket: /s\n'),
)


def fmt():
    with tempfile.TemporaryDirectory(dir=SHORT) as folder:
        file = pathlib.Path(folder) / 'f.yaml'
        for what, text, wanted in SHAPES:
            file.write_bytes(text.encode())
            done = run_bytes(file)
            check(f'fmt, {what}', done.returncode == 0 and done.stdout == (text if wanted is None else wanted), repr(done.stdout) + done.stderr)
            file.write_bytes(done.stdout.encode())
            check(f'fmt twice, {what}', run_bytes(file).stdout == done.stdout)
        for what, text in (('an end of the document', 'socket: /s\ncluster: a\n...\n'), ('no YAML', 'a: b: c\n'), ('twice', 'seed: 1\nseed: 1\n')):
            file.write_text(text, encoding='utf-8')
            done = run('config', 'fmt', file, '--write')
            check(f'fmt, {what}: as it was', file.read_text() == text and (done.returncode == 2) == bool(done.stderr), done)
        file.write_text('socket: /s\ncluster: a\n', encoding='utf-8')
        file.chmod(0o640)
        done = run('config', 'fmt', file, '--write')
        check('fmt --write', done.returncode == 0 and done.stdout == '' and file.read_text() == 'cluster: a\nsocket: /s\n', done)
        check('its mode', stat.S_IMODE(file.stat().st_mode) == 0o640)
        done = run('config', 'fmt', TOP / 'conf/ballast.yaml')
        check('ballast.yaml is in order', done.stdout == (TOP / 'conf/ballast.yaml').read_text(), done.stderr)
        for example in (TOP / 'conf/examples').glob('*.yaml'):
            done = run('config', 'fmt', example)
            check(f'{example.name}: every line is there', sorted(done.stdout.splitlines()) == sorted(example.read_text().splitlines()), done.stderr)
        for wrong in (['fmt'], ['fmt', 'a', 'b'], ['x'], ['diff', 'x', '--write'], ['show'], ['show', '--kind', 'x'], ['show', 'a', '--kind', 'sim'],
                      ['fmt', file, '--kind', 'sim'], ['diff', '--kind', 'sim']):
            done = run('config', *wrong)
            check(f'config {wrong}', done.returncode == 2 and 'expected' in done.stderr and not done.stdout, done)


def shown_keys():
    """`config show` has each key that a source of the kind takes, and no other."""
    with tempfile.TemporaryDirectory(dir=SHORT) as folder:
        file = pathlib.Path(folder) / 'f.yaml'
        file.write_text('cluster: c\nsource: {kind: none}\n', encoding='utf-8')
        kinds = re.findall(r'\w+', run('check-config', file).stderr.partition('expected ')[2].partition(', for example')[0].replace(' or ', ' '))
        check('its kinds are those of the program', run('config', 'show').stderr.split()[-1] == '|'.join(kinds), kinds)
        for kind in kinds:
            text, keys = (run('config', 'show', '--kind', kind, '--format', f).stdout for f in ('text', 'json'))
            keys = {k.pop('key'): k for k in json.loads(keys)}
            check(f'{kind}: the text has them, too', [line.split()[0] for line in text.splitlines()[1:] if line[0] != ' '] == list(keys), text)
            check(f'{kind}: each has a meaning', all(len(k['meaning']) > 8 for k in keys.values()), keys)
            file.write_text(f'cluster: c\nsource:\n  kind: {kind}\n', encoding='utf-8')
            missing = re.findall(r': (source\.\w+) is missing', run('check-config', file).stderr)
            required = [n for n, k in keys.items() if k['required'] and '.NAME.' not in n]
            check(f'{kind}: what is required', missing == required[:1], missing)
            section = in_manual(kind)
            check(f'{kind}: its section of ballast.yaml', {n.split('.')[1] for n in keys} == section, section ^ {n.split('.')[1] for n in keys})


def in_manual(kind):
    """The keys below `source:` in the section of the kind in conf/ballast.yaml, and those that this section names of the section before all."""
    source = (TOP / 'conf/ballast.yaml').read_text(encoding='utf-8').partition('\nsource:\n')[2].partition('\n# ----')[0]
    sections = dict(re.findall(r'^  # ---- (\w+):.*\n((?:(?!  # ----).*\n)+)', source, re.M))
    words = re.findall(r'^#?  (\w+):', sections[kind], re.M)
    named = re.search(r'^  # Also: (.*)\.$', sections[kind], re.M)
    return {*words, *(named[1].split(', ') if named else ())}


def run_bytes(file):
    done = run('config', 'fmt', file)
    raw = subprocess.run([os.environ.get('BALLAST') or 'ballast', 'config', 'fmt', str(file)], capture_output=True, check=False)
    done.stdout = raw.stdout.decode()
    return done


def mistakes():
    with tempfile.TemporaryDirectory(dir=SHORT) as folder:
        file = pathlib.Path(folder) / 'f.yaml'

        def lines(text):
            file.write_text(text, encoding='utf-8')
            done = run('check-config', file)
            check('exit code', done.returncode == 2 and not done.stdout, done)
            return [line.removeprefix(f'{file}:') for line in done.stderr.splitlines()]

        found = lines('cluster: a\nseed: x\nsource:\n  kind: simm\n  speed: 0\nintervals: 5\ndpm: 7\nroles: {users: {a: boss}}\n')
        check('each key', [line.split(':')[0] for line in found] == ['2', '4', '5', '6', '7'], found)
        found = lines('cluster: a\nsource: {kind: sim}\nroles: {users: {a: boss}}\nrules: {x: {kind: y}}\npower: {hosts: {h: {ipmi: {}}}}\n'
                      'dpm: {time_zone: Mars}\n')
        check('each section', sorted(line.split(':')[0] for line in found) == ['3', '4', '5', '6'], found)
        found = lines('source: {kind: sim}\nhttp: {listen: here}\navoid: {pause_s: 100, pause_max_s: 50}\n')
        check('keys that need others', len(found) == 3 and 'cluster' in found[0], found)
        check('one that ends the reading', len(lines('a: b: c\n')) == 1)


of_a_service()
fmt()
shown_keys()
mistakes()
end()
