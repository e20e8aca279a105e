#!/usr/bin/env python3
"""The JSON Schemas of conf/schema: what the commands write without a service validates, with no member that a schema does not name; what is broken
does not. The schemas themselves are made, and compared, by tests/unit/json_schema.c."""
import copy
import json

from command import TOP, check, end, run
import debian_python
from schemas import closed

debian_python.need('jsonschema')
import jsonschema  # noqa: E402

SCENARIOS = TOP / 'tests/scenarios'
ONE_IN = 6  # scenarios of which the plan is validated as well


def load(name):
    schema = json.loads((TOP / f'conf/schema/{name}.json').read_text(encoding='utf-8'))
    jsonschema.Draft202012Validator.check_schema(schema)
    return schema


SCHEMAS = {name: load(name) for name in ('snapshot', 'plan', 'explain', 'entitlements', 'simulation')}
STRICT = {name: jsonschema.Draft202012Validator(closed(schema)) for name, schema in SCHEMAS.items()}
OPEN = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMAS.items()}


def valid(name, document, what):
    error = next(iter(STRICT[name].iter_errors(document)), None)
    return check(f'{what} validates as {name}', error is None,
                 error and f'/{"/".join(str(p) for p in error.absolute_path)}: {error.message[:300]}')


def written(what, *arguments):
    """The JSON that the command prints; exit code 1 says that something could not be done."""
    done = run(*arguments, '--format', 'json')
    return json.loads(done.stdout) if check(f'{what} is written', done.returncode in (0, 1) and done.stdout, done.stderr) else None


def of_scenarios():
    n = 0
    for path in sorted(SCENARIOS.glob('*/*/snapshot.json')):
        if path.parts[-3] == 'input':  # there the snapshot is what is wrong
            continue
        name = '/'.join(path.parts[-3:-1])
        try:
            snapshot = json.loads(path.read_text(encoding='utf-8'))
        except ValueError:
            continue
        n += valid('snapshot', snapshot, name)
        if n % ONE_IN or run('entitlements', '--snapshot', str(path)).returncode == 2:
            continue
        for kind, *arguments in (('plan', 'plan', '--set', 'dpm.enabled=true'), ('entitlements', 'entitlements')):
            document = written(f'{arguments[0]} of {name}', *arguments, '--snapshot', str(path))
            document and valid(kind, document, f'{arguments[0]} of {name}')
        vm, host = next((v['id'] for v in snapshot['vms']), None), snapshot['hosts'][0]['id']
        for subject in ([['--vm', vm]] if vm else []) + [['--host', host, '--set', 'dpm.enabled=true']]:
            document = written(f'explain of {name}', 'explain', *subject, '--snapshot', str(path))
            document and valid('explain', document, f'explain {subject} of {name}')
        document = written(f'what-if of {name}', 'what-if', '--maintenance', host, '--snapshot', str(path)) \
            if snapshot['hosts'][0]['state'] == 'on' else None
        document and valid('plan', document, f'what-if of {name}')
    check('most scenarios were validated', n > 400, n)


def of_commands():
    for shape in ('uniform', 'skewed', 'spike', 'pools'):
        valid('snapshot', json.loads(run('generate', '--hosts', '8', '--vms', '60', '--seed', '3', '--shape', shape).stdout),
              f'generate --shape {shape}')
    corpus = json.loads((TOP / 'tests/fuzz/corpus/snapshot/everything.json').read_text(encoding='utf-8'))
    check('everything.json validates as snapshot, with members that no schema names', OPEN['snapshot'].is_valid(corpus))
    place = SCENARIOS / 'compatibility/placed-where-the-device-is'
    valid('plan', written('place', 'place', '--vms', str(place / 'vms.json'), '--snapshot', str(place / 'snapshot.json')), 'place')
    for more in ([], ['--seeds', '2']):
        document = written('simulate', 'simulate', str(TOP / 'conf/examples/simulate-faults.yaml'), '--set', 'duration_s=3600', *more)
        document and valid('simulation', document, f'simulate {more}')


def changed(document, path, value):
    """A copy with another value at the path; value None: without it."""
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    if value is None:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return made


def of_broken():
    snapshot = json.loads((SCENARIOS / 'compatibility/every-kind-is-named/snapshot.json').read_text(encoding='utf-8'))
    path = str(SCENARIOS / 'quarantine/is-emptied/snapshot.json')
    documents = {'snapshot': snapshot, 'plan': written('plan', 'plan', '--snapshot', path),
                 'explain': written('explain', 'explain', '--vm', 'a', '--snapshot', path),
                 'entitlements': written('entitlements', 'entitlements', '--snapshot', path)}
    broken = [
        ('snapshot', ('format',), 'ballast-snapshot/2'), ('snapshot', ('time',), 5), ('snapshot', ('hosts',), []),
        ('snapshot', ('hosts', 0, 'state'), 'asleep'), ('snapshot', ('hosts', 0, 'cpu_mhz'), None),
        ('snapshot', ('hosts', 0, 'networks'), 'app'), ('snapshot', ('hosts', 0, 'networks'), ['a', 'a']),
        ('snapshot', ('hosts', 0, 'cores'), 1.5), ('snapshot', ('vms', 0, 'cpu'), {'demand': '4 GHz'}),
        ('snapshot', ('vms', 0, 'id'), None), ('snapshot', ('vms', 0, 'automation'), 'partial'),
        ('plan', ('recommendations', 0, 'action'), 'move'), ('plan', ('recommendations', 0, 'reason'), None),
        ('plan', ('recommendations', 0, 'priority'), 6), ('plan', ('faults', 0, 'code'), 'odd'), ('plan', ('policy', 'dpm'), None),
        ('plan', ('before', 'imbalance'), 'small'), ('plan', ('stats', 'rejected'), {'no_such_check': 1}),
        ('explain', ('candidates', 0, 'verdict'), 'perhaps'), ('explain', ('vm',), 7), ('explain', ('candidates',), None),
        ('entitlements', ('cpu', 0, 'kind'), 'host'), ('entitlements', ('cpu', 0, 'divvied'), None),
    ]
    for name, where, value in broken:
        document = changed(documents[name], where, value)
        check(f'{name} with {value!r} at {where} is refused', not OPEN[name].is_valid(document))
    for name, document in documents.items():
        check(f'{name} may have members that are not known yet', OPEN[name].is_valid({**document, 'new_member': 1}))


of_scenarios()
of_commands()
of_broken()
end()
