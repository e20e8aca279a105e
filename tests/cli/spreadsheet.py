#!/usr/bin/env python3
"""CSV of VMs and hosts with any name: a spreadsheet takes none for a formula, columns and lines stay, and what `ballast samples` wrote is read back."""
import csv
import io
import json
import subprocess

from command import BALLAST, Service, check, end, run, wait_until

NAMES = ['=cmd|\' /C calc\'!A0', '+1', '-1', '@SUM(1)', '\tx', '\'quoted\'', 'a,b', 'say "hi"', 'two\nlines', '"', 'web-1', ' = ', ',=1+1', 'a\r\n=1+1,"']
FORMULA = tuple('=+-@\t\r')
HOSTS = {'format': 'ballast-snapshot/1', 'cluster': 'lab', 'time': '2026-01-01T00:00:00Z',
         'hosts': [{'id': f'h{i}', 'name': name, 'state': 'on', 'cpu_mhz': 20000, 'cores': 8, 'mem_mb': 32768} for i, name in enumerate(NAMES)],
         'vms': [{'id': name, 'name': name, 'host': f'h{i}', 'state': 'on', 'vcpus': 2, 'mem_mb': 1024, 'cpu': {'demand': 100 * (i + 1)}, 'mem': {'demand': 100}}
                 for i, name in enumerate(NAMES)]}


def rows(text, columns=None):
    found = list(csv.reader(io.StringIO(text, newline='')))
    check('every line has all columns', {len(r) for r in found} == {columns or len(found[0])}, found)
    check('no field is a formula', not [f for r in found for f in r if f.startswith(FORMULA)], found)
    return found


def plain(field):
    return field[1:] if field.startswith("'") and field[1:2] in (*FORMULA, "'") else field


def test_samples():
    with Service() as s:
        cluster = s.folder / 'cluster.json'
        cluster.write_text(json.dumps(HOSTS), encoding='utf-8')
        s.configure(f'kind: sim\n  speed: 20\n  file: {cluster}')
        check('the service starts', s.start(), s.log_text())
        ids = sorted(v['id'] for v in s.ask_json('vms'))
        check('its VMs', ids == sorted(NAMES), ids)
        wait_until(lambda: len(s.ask_json('samples')) >= len(NAMES), 20)
        out = s.folder / 'recorded.csv'
        out.write_bytes(subprocess.run([BALLAST, 'samples', '--socket', s.socket], capture_output=True, timeout=60, check=True).stdout)
        found = {plain(r[1]) for r in rows(out.read_bytes().decode(), 4)[1:]}
        check('all VMs by their ids', found == set(NAMES), found ^ set(NAMES))
        scenario = s.folder / 'again.yaml'
        scenario.write_text(f'duration_s: 600\nsnapshot: cluster.json\nvms: [{{match: "*", workload: trace}}]\n'
                            'workload: {file: recorded.csv, format: recorded, pick: name}\n', encoding='utf-8')
        again = run('simulate', scenario, '--format', 'json')
        check('they are found again by their names', again.returncode == 0, again.stderr)
        out.write_text('time,vm,cpu_mhz,mem_mb\n2026-01-01T00:00:00Z,other,1,1\n', encoding='utf-8')
        check('and would not be in another file', run('simulate', scenario).returncode != 0)


def test_series():
    with Service() as s:
        (s.folder / 'cluster.json').write_text(json.dumps(HOSTS), encoding='utf-8')
        scenario = s.folder / 'scenario.yaml'
        scenario.write_text('duration_s: 600\nsnapshot: cluster.json\n', encoding='utf-8')
        done = run('simulate', scenario, '--series', s.folder / 'series.csv')
        check('it is simulated', done.returncode == 0, done.stderr)
        heads = rows((s.folder / 'series.csv').read_bytes().decode())[0]
        check('a column for each host', all(f'cpu load of {name}' in heads for name in NAMES), heads)


test_samples()
test_series()
end()
