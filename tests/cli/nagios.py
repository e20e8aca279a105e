#!/usr/bin/env python3
"""`ballast check` as Nagios calls it: one line on standard output, figures after the bar, and an exit code of its own for each state."""
import copy
import json
import pathlib
import re
import socket
import tempfile
import threading

from command import SHORT, Service, check, end, run

PERFDATA = re.compile(r"[a-z_]+=-?[\d.e+-]+s?(;[\d.e+-]*;[\d.e+-]*;0)?")
LINE = re.compile(r"BALLAST (OK|WARNING|CRITICAL|UNKNOWN) - [^|\n]+( \|( \S+)+)?\n")


def checked(what, done, code, *words):
    check(f'{what}: exit code', done.returncode == code, f'{done.returncode}: {done.stdout}{done.stderr}')
    match = LINE.fullmatch(done.stdout)
    check(f'{what}: one line', match and match[1] == ('OK', 'WARNING', 'CRITICAL', 'UNKNOWN')[code], repr(done.stdout))
    for word in words:
        check(f'{what}: says {word!r}', word in done.stdout, done.stdout)
    if match and match[2]:
        for figure in match[2].split()[1:]:
            check(f'{what}: {figure} is a figure', PERFDATA.fullmatch(figure))


class Answering:
    """A service that gives each client the same status."""

    def __init__(self, folder):
        self.path = f'{folder}/s'
        self.status = None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            client.recv(65536)
            client.sendall(json.dumps({'ok': True, 'host_domain': '', 'status': self.status}).encode() + b'\n')
            client.close()


def of_a_service():
    with Service() as s:
        checked('no service', s.ask('check'), 3, 'does not answer')
        s.start()
        s.ask('run')
        checked('a service that is well', s.ask('check', '--faults', ','), 0, '4 hosts', 'imbalance=', 'age=', ';900;1800;0')
        s.ask('pause')
        checked('paused', s.ask('check', '--faults', ','), 1, 'paused by ')
        s.ask('resume')
        waiting = len(s.ids())
        check('recommendations wait', waiting > 0)
        checked('many wait', s.ask('check', '--faults', ',', '--waiting', f'0,{waiting}'), 1, f'recommendations that wait: {waiting}')
        checked('too many wait', s.ask('check', '--faults', ',', '--waiting', f'0,{waiting - 1}'), 2, f'waiting={waiting};0;{waiting - 1};0')
        said = json.loads(s.ask('check', '--faults', ',', '--waiting', '0', '--format', 'json').stdout)
        check('as JSON', said == {'state': 'WARNING', 'problems': [{'state': 'WARNING', 'text': f'recommendations that wait: {waiting}'}]}, said)
        for wrong in ('x', '1,2,3', '-1', '1,nan'):
            done = s.ask('check', '--age', wrong)
            check(f'--age {wrong} is refused', done.returncode == 3 and '--age' in done.stderr and not done.stdout, done)
        well = s.ask_json('status')
    return well


def of_what_is_wrong(well):
    """Each thing that can be wrong in a status that was well."""
    asleep = {'host': 'h', 'host_name': 'esx|9\nx', 'since': None, 'by_ballast': True, 'in_inventory': True, 'boot_s': None,
              'wake_failed': '2026-01-01T00:00:00Z', 'waking': None}
    mqtt = {'url': 'mqtt://b', 'connected': False, 'since': None, 'error': 'x', 'sent': 0, 'unsent': 5000, 'refused': 0, 'refused_kept': 0,
            'refusal': None}
    lost = {**well['source'], 'state': 'lost', 'error': 'refused|'}
    cases = [
        ({'source': lost}, [], 2, 'the cluster cannot be read: refused/'),
        ({'source': {**well['source'], 'seen_age_s': None}}, [], 1, 'has not been read yet'),
        ({'source': {**well['source'], 'seen_age_s': 901}}, [], 1, 'age of the inventory in seconds: 901'),
        ({'source': {**well['source'], 'seen_age_s': 1801}}, [], 2, 'age=1801s;900;1800;0'),
        ({'store_error': 'the disk is full'}, [], 2, 'the disk is full'),
        ({'asleep': [asleep]}, [], 2, 'host esx/9 x did not wake'),
        ({'logins_paused': [{'account': 'admin at bmc', 'next_try': '2026-01-01T00:00:00Z'}]}, [], 1, 'password refused: admin at bmc'),
        ({'pass_error': 'no reason'}, [], 1, 'the last pass failed: no reason'),
        ({'mqtt': mqtt}, [], 1, 'events that wait for the broker: 5000'),
        ({'mqtt': mqtt}, ['--unsent', '10,4999'], 2, 'unsent=5000;10;4999;0'),
        ({'faults': [{'code': 'quarantine', 'text': 'x'}]}, [], 1, 'faults (quarantine): 1'),
        ({'faults': [{'code': 'quarantine', 'text': 'x'}]}, ['--faults', '1'], 0, 'faults=1;1;;0'),
        ({'pass_error': 'later', 'store_error': 'first'}, [], 2, 'BALLAST CRITICAL - first; the last pass failed: later'),
        ({'power': None, 'pass': None}, [], 0, 'OK'),
    ]
    with tempfile.TemporaryDirectory(prefix='ballast-check.', dir=SHORT) as folder:
        service = Answering(folder)
        for changes, arguments, code, word in cases:
            service.status = {**copy.deepcopy(well), 'faults': [], **changes}
            checked(f'{list(changes)}', run('check', *arguments, socket=pathlib.Path(service.path)), code, word)


of_what_is_wrong(of_a_service())
end()
