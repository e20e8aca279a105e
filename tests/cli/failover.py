#!/usr/bin/env python3
"""Failover capacity as a user meets it: the policy of the configuration beside the source's, on a running service."""
import json
import signal

from command import Service, check, end, wait_until
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


check('every part came to its end', run_tests(globals()) == 0)
end()
