#!/usr/bin/env python3
"""VMs, hosts, pools and rules whose names hold controls, marks of direction and characters without a width: none reaches a terminal, a log,
JSON, CSV, a mail or an API reply as it is. (Pages: tests/unit/http_page.c, dashboard/src/charts/visible.test.ts.)"""
import json
import re
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from command import BALLAST, Service, check, end, run, wait_until

DECEIVING = [*range(0x00, 0x09), *range(0x0b, 0x20), 0x7f, *range(0x80, 0xa0), 0xad, 0x61c, 0x115f, 0x180e, *range(0x200b, 0x2010), *range(0x2028, 0x202f),
             *range(0x2060, 0x2070), 0x3164, 0xfeff, 0xffa0, 0xfff9, 0xe0041]
NASTY = {chr(c) for c in DECEIVING}


def name(plain, k):
    """A third of the characters: all VMs together have all. NUL stands in no text."""
    return plain + ''.join(chr(c) + 'x' for c in DECEIVING[1 + k % 3::3]) + ' ä☃'


def cluster(ids_too):
    hosts = [{'id': name(f'h{i}', i) if ids_too else f'h{i}', 'name': name(f'host{i}', i), 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 32768,
              'watts_idle': 100, 'watts_full': 300} for i in range(3)]
    vms = [{'id': name(f'v{i}', i) if ids_too else f'v{i}', 'name': name(f'vm{i}', i), 'host': hosts[0]['id'], 'state': 'on', 'vcpus': 2, 'mem_mb': 1024,
            'cpu': {'demand': 1500}, 'mem': {'demand': 300}} for i in range(9)]
    vms.append({**vms[0], 'id': 'off', 'name': name('off', 1), 'state': 'off', 'cpu': {'demand': 0}, 'mem': {'demand': 0}})
    rules = [{'id': name('r', 2), 'name': name('rule', 0), 'kind': 'vm-vm-anti-affine', 'vms': [vms[0]['id'], vms[1]['id']], 'mandatory': True}]
    return {'format': 'ballast-snapshot/1', 'cluster': name('lab', 1), 'time': '2026-01-01T00:00:00Z', 'hosts': hosts, 'vms': vms, 'rules': rules}


def clean(what, text):
    found = sorted({f'U+{ord(c):04X}' for c in text if c in NASTY})
    check(f'{what}: no such character', not found, f'{found} in {text[:400]!r}')
    return text


def output(*arguments, socket=None):
    """Of the command, in both formats; whether it is refused does not matter."""
    for more in ([], ['--format', 'json']):
        command = [BALLAST, *map(str, arguments), *more, *(['--socket', str(socket)] if socket else [])]
        done = subprocess.run(command, capture_output=True, timeout=120, check=False)
        check(f'{arguments} is known', b' --help' not in done.stderr or more, done.stderr)
        if b'--format' not in done.stderr:
            clean(' '.join(map(repr, command[1:])), done.stdout.decode() + done.stderr.decode())


def test_commands_with_a_file():
    with Service() as s:
        for ids_too in (False, True):
            c = cluster(ids_too)
            file = s.folder / 'c.json'
            file.write_text(json.dumps(c), encoding='utf-8')
            vm, off, host = c['vms'][0]['id'], c['vms'][-1]['id'], c['hosts'][0]['id']
            for arguments in (['plan'], ['explain', '--vm', vm], ['explain', '--host', host], ['place', off], ['migrate', vm, '--best'], ['what-if', '--host-off', host], ['entitlements'],
                               ['explain', '--vm', name('none', 1)]):
                output(*arguments, '--snapshot', file)
            (s.folder / 'scenario.yaml').write_text('duration_s: 1200\nsnapshot: c.json\n', encoding='utf-8')
            done = run('simulate', s.folder / 'scenario.yaml', '--series', s.folder / 'series.csv')
            clean('simulate', done.stdout + done.stderr)
            clean('its series', (s.folder / 'series.csv').read_text(encoding='utf-8'))


def get(url, token):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers={'Authorization': f'Bearer {token}'}), timeout=30) as r:
            return r.read().decode()
    except urllib.error.HTTPError as e:  # a refusal may quote the request
        return e.read().decode()


def test_the_service():
    with Service() as s:
        c = cluster(False)
        (s.folder / 'c.json').write_text(json.dumps(c), encoding='utf-8')
        mail = s.folder / 'mail'
        says = s.folder / 'says'
        says.write_text(f'#!/bin/sh\ncat >> {mail}\n', encoding='utf-8')
        says.chmod(0o700)
        s.configure(f'kind: sim\n  speed: 100\n  file: {s.folder}/c.json', automation='full', http='{listen: "127.0.0.1:0"}',
                    alarms=f'{{local: {{command: [{says}], severity: info, interval_s: 1}}}}')
        check('it starts', s.start(), s.log_text())
        token = s.ask('token', 'create', 'ci', '--role', 'admin').stdout.strip()
        check('it acts', wait_until(lambda: any(h['state'] == 'done' for h in s.ask_json('history')), 30), s.log_text())
        s.ask('maintenance', 'enter', 'h2')
        for arguments in ('status', 'hosts', 'vms', 'pools', 'recommendations', 'history', 'passes', 'run', 'snapshot', 'samples', 'events', 'forecast', 'metrics',
                          'schedule', ['hosts', 'h0'], ['vms', 'v0'], ['status', '--since', '1h'], ['explain', '--vm', 'v0'], ['explain', '--host', 'h0'], ['place', 'off'],
                          ['what-if', '--host-off', 'h0'], ['history', '--energy'], ['token', 'list'], ['apply', name('x', 1)], ['vms', name('x', 1)]):
            output(*([arguments] if isinstance(arguments, str) else arguments), socket=s.socket)
        url = f'http://127.0.0.1:{re.search("listens on .*, port ([0-9]+)", s.log_text())[1]}'
        for path in ('status', 'summary', 'hosts', 'vms', 'recommendations', 'history', 'events', 'passes', 'snapshot', 'plan', 'samples', 'vms/v0/explain', f'vms/{urllib.parse.quote(name("x", 1))}'):
            clean(f'GET {path}', get(f'{url}/api/v1/clusters/test/{path}', token))
        clean('GET metrics', get(f'{url}/metrics', token))
        check('a mail has been made', wait_until(mail.exists, 20))
        s.stop()
        text = mail.read_text(encoding='utf-8')
        clean('the mail', text)
        import email
        for part in text.split('\nSubject: ')[1:] or [text]:
            clean('its text', email.message_from_string('Subject: ' + part).get_payload(decode=True).decode())
        clean('the log', s.log_text())
        check('the log has the names', 'host0' in s.log_text(), s.log_text())


test_commands_with_a_file()
test_the_service()
end()
