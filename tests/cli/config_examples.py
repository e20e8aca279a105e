#!/usr/bin/env python3
"""Each key of conf/ballast.yaml with wrong values: the error is one line that ends with an example of what to write, and with that
example in its place the key is accepted."""
import importlib.util
import json
import pathlib
import re
import tempfile

from command import TOP, check, end, run
from at_once import run_tests  # in the folder above, which `command` makes known

spec = importlib.util.spec_from_file_location('key_order', TOP / 'src/config/key_order.py')
key_order = importlib.util.module_from_spec(spec)
spec.loader.exec_module(key_order)

LINES = key_order.read(TOP / 'conf/ballast.yaml')
EXAMPLES = key_order.with_defaults(dict(key_order.examples_of(key_order.tree_of(LINES))))
NAME = 'some-name'  # for * in a path that stands for a name
# What else a source of the kind must have; and entries, so that a key in them is the only mistake
SOURCES = {'vsphere': {'url': '"https://v.example/sdk"', 'username': 'u', 'password_file': 'secret'}, 'libvirt': {'hosts': '{h: {uri: "qemu+tls://h/system"}}'},
           'proxmox': {'url': '"https://p.example:8006"', 'username': 'u@pve!t', 'password_file': 'secret'}, 'sim': {}, 'file': {'file': 's.json'}}
BESIDE = {'rules.*': {'kind': 'affinity', 'vms': 'a'}, 'groups.*': {'kind': 'rack', 'hosts': 'a'}, 'units.*': {'command': '[/bin/true]'}, 'vms.*': {'name': 'a', 'owner': 'b'},
          'hosts.*': {'name': 'a', 'dpm': 'manual'}, 'pipelines.*': {'stages': '[{name: s, filter: true}]'}, 'pipelines.*.stages.*': {'name': 's', 'filter': 'true'},
          'alarms.*': {'url': '"https://a.example/"'}, 'source.hosts.*': {'uri': '"qemu+tls://h/system"'}, 'source.migrations.*': {'vms': 'a'}, 'ha': {'policy': 'host_failures'},
          'power.hosts.*': {'ipmi': '{address: 10.0.0.1}', 'redfish': '{url: "https://10.0.0.1"}', 'wol': '{mac: "02:00:00:00:00:01"}'}}
# What the files hold that examples name; the others: any text
HOLD = {'oncall.secret': 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'secureon': '00:11:22:33:44:55'}
INSTEAD = (('url', 'command'), ('stages', 'scheduling_policy'))  # what does not stand beside each other
WRONG = ('{a: {b: 1}}', '[[1]]', '[]', '"?"', '-1')  # a value of nearly every type is wrong in one of these ways
# Any value will do, or all else depends on it, or the line is that of the whole.
FREE = re.compile(r'\.(meta|flavor|attributes|quantities)\.\*$|roles\.(users|groups)$|^source\.kind$|^pipelines\.\*\.scheduling_policy\.')


def literal(value):
    return value if isinstance(value, str) else ('[%s]' % ', '.join(map(literal, value)) if isinstance(value, list) else
                                                 '{%s}' % ', '.join(f'{json.dumps(key)}: {literal(inner)}' for key, inner in value.items()))


def section_of(path, value, kind):
    """The file's sections as a dict, with this value at the path."""
    file = {'cluster': 'c', 'source': {'kind': kind, **SOURCES[kind]}}
    at, names = file, path.split('.')
    for i, name in enumerate(names):
        upper, below = '.'.join(names[:i + 1]), names[i + 1:]
        is_list = below[:1] == ['*'] and upper not in key_order.NAMED
        if name == '*' and isinstance(at, list):
            at.append(dict(BESIDE.get(upper, {})))
            key = 0
        else:
            key = NAME if name == '*' else name
        if not below:
            at[key] = value
        elif name != '*' or not isinstance(at, list):
            if is_list or not isinstance(at.get(key), dict):
                at[key] = [] if is_list else {}
            if not is_list:
                at[key].update({k: v for k, v in BESIDE.get(upper, {}).items() if k not in at[key] and (k, below[0]) not in INSTEAD})
        at = at[key] if below else at
    return file


def errors_of(folder, path, value, kind):
    """What check-config says of the file that has this value there, line by line."""
    file = pathlib.Path(folder) / 'ballast.yaml'
    file.write_text(''.join(f'{key}: {literal(inner)}\n' for key, inner in section_of(path, value, kind).items()), encoding='utf-8')
    done = run('check-config', file)
    return [line.split(': ', 1)[1] for line in done.stderr.splitlines() if ': warning: ' not in line and line.startswith(f'{file}:')]


def of_key(lines, path, also_within):
    """The lines about this key, or also about what is in it."""
    shown = re.escape(path).replace(r'\*', r'(?:\d+|' + NAME + ')')
    return [line for line in lines if re.match(rf'"?{shown}(?:[\s:]|$)' if not also_within else rf'"?{shown}(?:["\s:.]|$)', line)]


def with_files(folder, example):
    """Files that an example names are in this folder."""
    for name in re.findall(r'/etc/ballast/([\w.-]+)', example):
        (folder / name).write_text(HOLD.get(name, 'secret') + '\n', encoding='utf-8')
        (folder / name).chmod(0o600)
    return example.replace('/etc/ballast/', f'{folder}/')


def refusal(folder, path):
    """(kind of source, lines about the key) of a wrong value that it refuses."""
    for kind in SOURCES if path.startswith('source.') else ('sim',):
        for wrong in WRONG:
            lines = of_key(errors_of(folder, path, wrong, kind), path, False)
            if lines:
                return kind, lines
    return None, []


def check_keys(paths):
    with tempfile.TemporaryDirectory(prefix='ballast-test.') as name:
        folder = pathlib.Path(name)
        (folder / 'secret').write_text('secret\n', encoding='utf-8')
        (folder / 'secret').chmod(0o600)
        for path in paths:
            kind, lines = refusal(folder, path)
            if not check(f'{path}: a wrong value is refused', lines):
                continue
            check(f'{path}: in one line', len(lines) == 1, str(lines))
            found = re.search(r', for example (.*)$', lines[0])
            if check(f'{path}: with an example', found, lines[0]):
                left = of_key(errors_of(folder, path, with_files(folder, found[1]), kind), path, True)
                check(f'{path}: the example is accepted', not left, f'{found[1]}: {left}')


PATHS = [path for path in EXAMPLES if not FREE.search(path) and not path.endswith('.*')]


def test_source():
    check_keys([path for path in PATHS if path.startswith('source')])


def test_entries():
    check_keys([path for path in PATHS if '*' in path and not path.startswith('source')])


def test_settings():
    check_keys([path for path in PATHS if '*' not in path and not path.startswith('source')])


ENTRIES = ('groups', 'hosts', 'pipelines', 'pools', 'roles', 'rules', 'source.migrations', 'units', 'vms')  # whose examples are several


def test_all_keys():
    """No key of the file is without an example."""
    keys = {re.sub(r'^(\w+\.hosts|alarms)\.\w+', r'\1.*', key) for key in key_order.keys_of(LINES) if not key.startswith(tuple(f'{e}.' for e in ENTRIES))}
    check('there are many', len(keys) > 150, len(keys))
    check('each key has an example', keys <= set(EXAMPLES), str(keys - set(EXAMPLES)))


check('every part came to its end', run_tests(globals()) == 0)
end()
