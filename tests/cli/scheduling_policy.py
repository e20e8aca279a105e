#!/usr/bin/env python3
"""A scheduling policy of oVirt in the configuration places and moves the VMs of any source: with `scheduling_policy` in an entry of `pipelines`
(src/dialect/ovirt/README.md, "On any source"). What is wrong in it; what the service decides by it, and after it was changed."""
import json
import signal

from command import TOP, Service, check, end, run, wait_until

UNEVEN = {'a': 6, 'b': 3, 'c': 1}  # VMs of each host
GUESTS = '{clone_of: vm_evenly_distributed, properties: {HighVmCount: 4, MigrationThreshold: 3, SpmVmGrace: 2}}'


def cluster(busy='c'):
    """Hosts with few and many VMs; those of `busy` demand more CPU than all others together."""
    hosts = [{'id': h, 'name': h, 'state': 'on', 'cores': 8, 'cpu_mhz': 16000, 'mem_mb': 65536} for h in UNEVEN]
    vms = [{'id': f'{h}{n}', 'name': f'{h}{n}', 'state': 'on', 'host': h, 'vcpus': 2, 'mem_mb': 1024, 'cpu': {'demand': 4000 if h == busy else 100},
            'mem': {'demand': 512, 'consumed': 512}} for h, many in UNEVEN.items() for n in range(many)]
    return {'format': 'ballast-snapshot/1', 'cluster': 'c', 'time': '2026-11-02T09:00:00Z', 'hosts': hosts,
            'vms': [*vms, {'id': 'new', 'name': 'new', 'state': 'off', 'vcpus': 2, 'mem_mb': 1024}], 'pools': [], 'rules': [], 'migrations': []}


def with_policy(s, policy, **settings):
    (s.folder / 'c.json').write_text(json.dumps(cluster()), encoding='utf-8')
    s.configure(source=f'kind: sim\n  file: {s.folder}/c.json', pipelines=f'{{all: {{vms: {{name: "*"}}, scheduling_policy: {policy}}}}}', balance='{by: policy}', **settings)


def planned(s):
    s.ask('run')
    return [(r['vm'], r['to']) for r in s.recommendations() if r['state'] == 'recommended' and r['reason'] == 'policy']


def test_refused():
    with Service() as s:
        for what, policy, said in (
                ('no such policy', 'power', 'no policy "power", expected the id or name of one, such as power_saving'),
                ('a list', '[none]', 'expected the name of a policy, or a map with clone_of'),
                ('a property', '{clone_of: power_saving, properties: {LowUtilization: 50}}', '/properties/0/value: "50", expected what agrees with [0-9]|[1-4][0-9]'),
                ('a property of no unit', '{clone_of: none, properties: {HighVmCount: 5}}', '"HighVmCount" is of no unit of the policy'),
                ('a unit', '{clone_of: none, weights: [{id: quiet}]}', 'is "quiet", expected the name of an entry of units'),
                ('with stages', 'none, stages: []', 'stands beside stages or balance, expected either')):
            with_policy(s, policy)
            done = s.ask('check-config', s.config)
            check(what, done.returncode == 2 and done.stderr.count('\n') == 1 and f'{s.config}:7: pipelines.all.s' in done.stderr
                  and said in done.stderr, done.stderr)


def test_accepted():
    """A clone with filters of its own lacks units whose properties it has; a unit is a filter and a weight; properties in REST's words."""
    done = run('check-config', TOP / 'tests/fuzz/corpus/config/policies.yaml')
    check('all kinds of policies; the balance of one has no weight', done.returncode == 0 and done.stderr.count('\n') == 1
          and done.stderr.startswith('warning: ') and 'pipelines.c.scheduling_policy: no weight agrees with the balance' in done.stderr, done.stderr)


def test_service():
    """The guests are evened out; a host with `spm` counts as fuller; another policy, and the next pass decides otherwise."""
    with Service() as s:
        with_policy(s, GUESTS)
        check('it starts', s.start(), s.log_text())
        moved = planned(s)
        check('a VM leaves the host with most guests for the one with fewest', moved and moved[0][0][0] == 'a' and moved[0][1] == 'c', moved)
        told = json.loads(s.ask('explain', '--vm', moved[0][0], '--format', 'json').stdout) if moved else {}
        check('the pipeline explains it', 'all/' in json.dumps(told), told)
        check('a VM starts where guests are fewest', '-> c' in s.ask('place', 'new').stdout or ' c ' in s.ask('place', 'new').stdout, s.ask('place', 'new').stdout)

        def reload(policy, more=''):
            before = s.log_text().count('configuration reloaded')
            with_policy(s, policy)
            with open(s.config, 'a', encoding='utf-8') as f:
                f.write(more)
            s.send(signal.SIGHUP)
            check('it reloads', wait_until(lambda: s.log_text().count('configuration reloaded') > before, 20), s.log_text())
        reload(GUESTS, 'hosts:\n  - {name: c, attributes: {spm: 8}}\n')
        moved = planned(s)
        check('not to the one with the grace of the SPM', moved and moved[0][1] == 'b' or moved == [], moved)
        check('nor a start', '-> c' not in s.ask('place', 'new').stdout, s.ask('place', 'new').stdout)
        reload('{clone_of: vm_evenly_distributed, properties: {HighVmCount: 4}}')
        planned(s)
        rule = [x for p in json.loads(s.ask('snapshot').stdout)['pipelines'] for x in p['stages'] if 'gap' in x]
        check('a clone keeps the properties that are not given', len(rule) == 1 and rule[0]['gap'] == 5 and rule[0]['from'][-1][-1] == 4, rule)
        reload('none')
        check('none moves nothing', planned(s) == [], planned(s))
        told = json.loads(s.ask('place', 'new', '--format', 'json').stdout)
        check('even load: to the host with the least', [r['to'] for r in told['recommendations']] == ['b'], told)
        reload('power_saving')
        told = json.loads(s.ask('place', 'new', '--format', 'json').stdout)
        check('power saving: to a fuller one', [r['to'] for r in told['recommendations']] in (['a'], ['c']), told)
        best = s.ask('migrate', '--best', 'b0')
        check('migrate --best likewise', best.returncode == 0 and 'to b' not in best.stdout and ('to a' in best.stdout or 'to c' in best.stdout), best.stdout)
        reload('cluster_maintenance')
        done = s.ask('place', 'new')
        check('in maintenance nothing starts', done.returncode == 1 and 'ClusterInMaintenance' in done.stdout, done.stdout + done.stderr)
        s.ask('run')
        told = json.loads(s.ask('explain', '--vm', 'new', '--format', 'json').stdout)['candidates']
        check("in oVirt's words, too", [c.get('words') for c in told] == [f'The host {h} did not satisfy internal filter ClusterInMaintenance.' for h in 'abc'], told)


if __name__ == '__main__':
    test_refused()
    test_accepted()
    test_service()
    end()
