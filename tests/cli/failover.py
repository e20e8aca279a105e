#!/usr/bin/env python3
"""Failover capacity as a user meets it: the policy of the configuration beside the source's, on a running service."""
import json
import re
import signal
import socket

from command import Service, answer_on_terminal, check, end, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known

CLUSTER = {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
        'hosts': [{'id': f'h{i}', 'name': f'esx{i}', 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 65536} for i in range(1, 5)],
        'vms': [{'id': f'v{i}', 'name': f'web-{i}', 'host': 'h1', 'state': 'on', 'vcpus': 2, 'mem_mb': 4096,
                 'cpu': {'demand': 2400}, 'mem': {'demand': 2048}} for i in range(1, 9)]}


def test_of_the_configuration():
    """Failover capacity of the configuration: it is in the snapshot, a reload changes it, and what cannot be kept is a fault. The source's
    own policy stays."""
    with Service(ha='{policy: host_failures, hosts: 2}') as s:
        file = s.folder / 'ha.json'
        file.write_text(json.dumps({**CLUSTER, 'ha': {'policy': 'percent', 'mem_percent': 10}}), encoding='utf-8')
        source = f'kind: sim\n  speed: 20\n  file: {file}'
        s.configure(source, ha='{policy: host_failures, hosts: 2}')
        check('it starts', s.start(), s.log_text())
        ha = lambda: json.loads(s.ask('snapshot').stdout)['ha']
        check('both policies', (ha()['policy'], ha()['mem_percent'], ha()['configured']['policy'], ha()['configured']['hosts']) ==
              ('percent', 10, 'host_failures', 2), str(ha()))
        host = CLUSTER['hosts'][0]['name']
        s.configure(source, ha='{policy: dedicated, failover_hosts: [%s, esx-of-last-year]}' % host,
                    vms='[{name: "*", restart_priority: high}]')
        s.send(signal.SIGHUP)
        faults = lambda: [f['text'] for f in s.ask_json('status')['faults'] if f['code'] == 'spare_missing']
        check('a reload that conflicts is a fault', wait_until(lambda: s.ask('run').returncode == 0 and any('"esx-of-last-year"' in f for f in faults()), 20), str(faults()))
        check('the rest of it is kept', ha()['configured']['failover_hosts'] == [CLUSTER['hosts'][0]['id']] and ha()['policy'] == 'percent', str(ha()))
        check('the priority', {v['restart_priority'] for v in json.loads(s.ask('snapshot').stdout)['vms']} == {'high'})
        check('its VMs leave it', any(r['from'] == CLUSTER['hosts'][0]['id'] and r['reason'] == 'spare_capacity' for r in s.recommendations()), str(s.recommendations()))
        s.configure(source)
        s.send(signal.SIGHUP)
        check('without the key the source is alone', wait_until(lambda: s.ask('run').returncode == 0 and 'configured' not in ha() and not faults(), 20), str(ha()))


def raw(s, request):
    """The reply to a line at the socket."""
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(str(s.socket))
        c.sendall(json.dumps(request).encode() + b'\n')
        return json.loads(c.makefile().readline())


def test_maintenance_gives_it_up():
    """Where maintenance takes failover capacity, it begins only after a confirmation, and an event says so. Elsewhere nothing is asked."""
    with Service() as s:
        file = s.folder / 'ha.json'
        file.write_text(json.dumps({**CLUSTER, 'hosts': CLUSTER['hosts'][:3]}), encoding='utf-8')
        source = f'kind: sim\n  speed: 20\n  file: {file}'
        s.configure(source, ha='{policy: host_failures, hosts: 2}')
        check('it starts', s.start(), s.log_text())
        begun = lambda: {a['id'] for a in s.ask_json('history') + s.recommendations() if a['action'] == 'enter_maintenance'}
        what_if = s.ask('what-if', '--maintenance', 'esx3')
        check('what-if says it', what_if.returncode == 0 and 'Failover capacity is given up: ' in what_if.stdout, what_if.stdout + what_if.stderr)
        done = s.ask('maintenance', 'enter', 'esx3')
        check('without a terminal it is refused', done.returncode == 1 and 'gives up failover capacity: ' in done.stderr and '--yes' in done.stderr
              and not begun(), f'{done} {begun()}')
        reply = raw(s, {'command': 'maintenance', 'mode': 'enter', 'host': 'esx3'})
        check('a program is told what it lacks', (reply['ok'], reply['code'], reply.get('confirm')) == (False, 1, True) and not begun(), str(reply))
        check('yes is true or false', raw(s, {'command': 'maintenance', 'mode': 'enter', 'host': 'esx3', 'yes': 'x'})['code'] == 2)
        code, out, shown = answer_on_terminal(s, 'maintenance', 'enter', 'esx3', answer='n\n')
        check('a person may say no', (code, out) == (1, '') and '[y/N]' in shown and not begun(), shown)
        code, out, shown = answer_on_terminal(s, 'maintenance', 'enter', 'esx3', answer='y\n')
        check('or yes', code == 0 and 'esx3' in out and len(begun()) == 1, shown)
        told = [e for e in s.ask_json('events') if 'confirmed that it gives up failover capacity: ' in json.dumps(e)]
        check('an event says what is given up', told, str(s.ask_json('events')))
        check('asked again, it is the same', s.ask('maintenance', 'enter', 'esx3').returncode == 0 and len(begun()) == 1, str(begun()))
        check('--yes is no option of others', s.ask('maintenance', 'stop', '--yes').returncode == 2)
        check('it ends', s.ask('maintenance', 'exit', 'esx3').returncode == 0 and wait_until(
            lambda: all(h['state'] == 'on' for h in s.ask_json('hosts')), 20), str(s.ask_json('hosts')))
        check('--yes asks nothing', s.ask('maintenance', 'enter', 'esx3', '--yes').returncode == 0)
    with Service() as s:
        file = s.folder / 'ha.json'
        file.write_text(json.dumps(CLUSTER), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {file}', ha='{policy: host_failures}')
        check('it starts', s.start(), s.log_text())
        done = s.ask('maintenance', 'enter', 'esx1')
        check('where nothing is given up nothing is asked', done.returncode == 0, done.stderr)
        leave = sorted(v['name'] for v in CLUSTER['vms'] if v['host'] == 'h1')
        told = re.search(r'(\d+) VMs? (?:is|are) moved away first \((.*?)\)', ' '.join(done.stdout.split()))
        check('how many moves it approves is said, and of which VMs', told and int(told[1]) == len(leave) and set(told[2].split(' and ')[0].split(', ')) <= set(leave)
              and '`ballast maintenance exit esx1` undoes it' in ' '.join(done.stdout.split()), done.stdout)
        what_if = s.ask('what-if', '--maintenance', 'esx3')
        check('nor said', 'given up' not in what_if.stdout, what_if.stdout)


check('every part came to its end', run_tests(globals()) == 0)
end()
