#!/usr/bin/env python3
"""Scheduling policies that the service keeps: changed over the socket as oVirt's REST API changes them, refused in its words, kept over a kill, and in
force with the next pass. tests/peers has the same over HTTP."""
import json
import signal
import socket

from command import Service, check, end, wait_until
from scheduling_policy import cluster

EVEN, NONE, POWER = ('20d25257-b4bd-4589-92a6-c4c5c5d3fd1a', 'b4ed2332-a7ac-4d5f-9596-99a439cb2812', '5a2b0939-7d46-4b73-a469-e9c2c7fc6a53')
MEMORY, CPU, GUESTS, BALANCE = ('c9ddbb34-0e1d-4061-a8d7-b0893fa80932', '6d636bf6-a35c-4f9d-b68d-0731f720cddc', '3ba8c988-f779-42c0-90ce-caa8243edee7',
                                'd58c8e32-44e1-418f-9222-52cd887bf9e0')
NOWHERE = '00000000-0000-4000-8000-000000000000'


def ask(s, command, **fields):
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(s.socket))
        line.sendall(json.dumps({'command': command, **fields}).encode() + b'\n')
        return json.loads(line.makefile().readline())


def change(s, verb, path, **fields):
    return ask(s, 'policy_change', verb=verb, path=path, **({'is': fields} if fields or verb != 'DELETE' else {}))


def policies(s):
    return ask(s, 'policies')['policies']


def by_id(s, wanted):
    return next((p for p in policies(s)['scheduling_policies'] if p['id'] == wanted), None)


def refused(what, reply, code, words):
    check(what, not reply['ok'] and reply['code'] == (2 if code == 'EINVAL' else 1) and words in reply['error'], reply)


def begin(s):
    (s.folder / 'c.json').write_text(json.dumps(cluster()), encoding='utf-8')
    s.configure(source=f'kind: sim\n  file: {s.folder}/c.json', balance='{by: policy}')
    check('it starts', s.start(), s.log_text())


def add(s, name, **more):
    reply = change(s, 'POST', 'schedulingpolicies', name=name, **more)
    check(f'{name} is added', reply['ok'] and reply['status'] == 201 and reply['element'] == 'scheduling_policy', reply)
    return reply['is']['id']


def test_all_that_is_refused():
    with Service() as s:
        begin(s)
        shown = policies(s)
        check('the built-in ones', [p['name'] for p in shown['scheduling_policies']] == ['none', 'cluster_maintenance', 'evenly_distributed', 'power_saving', 'vm_evenly_distributed']
              and all(p['locked'] for p in shown['scheduling_policies']), shown)
        check('units of three types', {u['type'] for u in shown['scheduling_policy_units']} == {'filter', 'weight', 'load_balancing'}
              and len({u['id'] for u in shown['scheduling_policy_units']}) == len(shown['scheduling_policy_units']), shown)
        own = add(s, 'night')
        path = f'schedulingpolicies/{own}'
        for what, reply, code, words in (
                ('no name', change(s, 'POST', 'schedulingpolicies', description='x'), 'EINVAL', 'SchedulingPolicy [name] required for add'),
                ('the name of another', change(s, 'POST', 'schedulingpolicies', name='none'), 'EINVAL', 'Cannot add Scheduling Policy. Name is in use.'),
                ('the name of another, at a change', change(s, 'PUT', path, name='none'), 'EINVAL', 'Cannot edit Scheduling Policy. Name is in use.'),
                ('another id', change(s, 'PUT', path, id=NONE), 'EEXIST', 'id'),
                ('locked: change', change(s, 'PUT', f'schedulingpolicies/{NONE}', name='x'), 'EINVAL', 'locked'),
                ('locked: removal', change(s, 'DELETE', f'schedulingpolicies/{NONE}'), 'EINVAL', 'Cannot remove Scheduling Policy. The policy is locked.'),
                ('locked: a unit', change(s, 'POST', f'schedulingpolicies/{NONE}/filters', id=MEMORY), 'EINVAL', 'locked'),
                ('a policy that is not there', change(s, 'PUT', f'schedulingpolicies/{NOWHERE}', name='x'), 'ENOENT', ''),
                ('a unit that is not there', change(s, 'POST', f'{path}/filters', id=NOWHERE), 'EINVAL', 'is no unit of the type filter'),
                ('a unit of another type', change(s, 'POST', f'{path}/weights', id=MEMORY), 'EINVAL', 'is no unit of the type weight'),
                ('a factor below 0', change(s, 'POST', f'{path}/weights', id=GUESTS, factor=-1), 'EINVAL', 'factor'),
                ('a position beyond', change(s, 'POST', f'{path}/filters', id=MEMORY, position=2), 'EINVAL', 'position'),
                ('no such collection', change(s, 'POST', f'{path}/hosts', id=MEMORY), 'ENOENT', ''),
                ('an internal unit', change(s, 'DELETE', f'schedulingpolicyunits/{MEMORY}'), 'EEXIST', 'internal'),
                ('a unit that nobody has', change(s, 'DELETE', f'schedulingpolicyunits/{NOWHERE}'), 'ENOENT', ''),
                ('another verb', change(s, 'PATCH', path, name='x'), 'ENOENT', ''),
                ('a policy to attach that is not there', change(s, 'PUT', 'clusters/c', scheduling_policy={'id': NOWHERE}), 'EINVAL', 'Cannot edit Cluster.')):
            refused(what, reply, code, words)
        check('first and last', all(change(s, 'POST', f'{path}/filters', id=u, position=p)['ok'] for u, p in ((CPU, -1), (MEMORY, 1))))
        refused('twice', change(s, 'POST', f'{path}/filters', id=CPU), 'EINVAL', 'given twice')
        refused('two last', change(s, 'POST', f'{path}/filters', id='43b9e654-337f-4b0d-a896-cbb22ce5a7fc', position=1), 'EINVAL', 'is taken')
        refused('a property of no unit', change(s, 'PUT', path, properties=[{'name': 'HighVmCount', 'value': '3'}]), 'EINVAL', 'of no unit')
        check('after all that it is as it was', [(f['id'], f['position']) for f in by_id(s, own)['filters']] == [(CPU, -1), (MEMORY, 1)], by_id(s, own))
        check('a filter that is not there is gone', change(s, 'DELETE', f'{path}/filters/{NOWHERE}')['ok'])
        check('removed', change(s, 'DELETE', f'{path}/filters/{CPU}')['ok'] and [f['id'] for f in by_id(s, own)['filters']] == [MEMORY], by_id(s, own))


def moves(s):
    s.ask('run')
    return [(r['vm'][0], r['to']) for r in s.recommendations() if r['state'] == 'recommended' and r['reason'] == 'policy']


def test_in_force():
    with Service() as s:
        begin(s)
        check('nothing is attached', moves(s) == [] and 'scheduling_policy' not in policies(s)['clusters'][0], policies(s)['clusters'])
        own = add(s, 'few guests', clone_of={'name': 'vm_evenly_distributed'})
        refused('the property of a clone', change(s, 'PUT', f'schedulingpolicies/{own}', properties=[{'name': 'HighVmCount', 'value': 'many'}]), 'EINVAL', 'agrees with')
        check('its properties', change(s, 'PUT', f'schedulingpolicies/{own}', properties=[
            {'name': n, 'value': v} for n, v in (('HighVmCount', '4'), ('MigrationThreshold', '3'), ('SpmVmGrace', '2'))])['ok'])
        attached = change(s, 'PUT', 'clusters/c', scheduling_policy={'id': own})
        check('attached', attached['ok'] and attached['is']['scheduling_policy'] == {'id': own} and attached['is']['name'] == 'test', attached)
        check('the next pass moves by it', moves(s) == [('a', 'c')], s.log_text())
        refused('an attached policy', change(s, 'DELETE', f'schedulingpolicies/{own}'), 'EINVAL', 'attached')
        check('overridden for the cluster', change(s, 'PUT', 'clusters/c', custom_scheduling_policy_properties=[{'name': 'HighVmCount', 'value': '9'}])['ok'] and moves(s) == [], s.log_text())
        check('told', 'is attached to the cluster' in s.ask('events').stdout, s.ask('events').stdout)
        s.send(signal.SIGHUP)
        check('it reloads', wait_until(lambda: 'configuration reloaded' in s.log_text(), 20), s.log_text())
        check('and keeps the policy', change(s, 'PUT', 'clusters/c', scheduling_policy={'name': 'few guests'})['ok'] and moves(s) == [('a', 'c')], s.log_text())
        s.send(signal.SIGKILL)
        s.process.wait()
        check('it starts after a kill', s.start(), s.log_text())
        check('with the policy in force', policies(s)['clusters'][0].get('scheduling_policy') == {'id': own} and moves(s) == [('a', 'c')], policies(s)['clusters'])
        check('another one', change(s, 'PUT', 'clusters/c', scheduling_policy={'id': NONE})['ok'] and moves(s) == [], s.log_text())
        check('none', change(s, 'PUT', 'clusters/c', scheduling_policy={'id': ''})['ok'] and 'scheduling_policy' not in policies(s)['clusters'][0])
        check('then it can go', change(s, 'DELETE', f'schedulingpolicies/{own}')['ok'] and by_id(s, own) is None)


if __name__ == '__main__':
    test_all_that_is_refused()
    test_in_force()
    end()
