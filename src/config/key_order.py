#!/usr/bin/env python3
"""The keys of conf/ballast.yaml in its order, and an example of each, as tables in C: key_order.py FILE

A key that is commented out stands behind a # in the first column, with its own indentation; text stands behind "# "."""
import re
import sys

KEY = re.compile(r'#?(?P<indent>(?:  )*)(?P<key>[a-z]\w*):(?: .*)?$')
# An entry of a list begins with "- "; the names in examples may be any, see NAMED.
LINE = re.compile(r'#?(?P<indent>(?:  )*)(?P<entry>- )?(?P<key>[a-z][\w/-]*):(?: (?P<value>.+))?$')
# Whose keys are names of the user's: * stands for them, and for the entries of lists.
NAMED = ('source.hosts', 'source.migrations', 'rules', 'pools', 'groups', 'units', 'pipelines', 'alarms', 'power.hosts', 'roles.users', 'roles.groups',
         'groups.*.meta', 'vms.*.flavor', 'hosts.*.attributes', 'hosts.*.quantities')
EXPRESSION = 'filter'  # its parts are no values of a kind
LENGTH_MAX = 160  # of an example in a sentence


def keys_of(lines):
    above = []
    for line in lines:
        if key := KEY.match(line.rstrip('\n')):
            above = [*above[:len(key['indent']) // 2], key['key']]
            yield '.'.join(above)


def parts_of(flow):
    """The parts of "{a: 1, b: [2, 3]}" or "[a, b]", as they are written."""
    part, depth, quoted = '', 0, False
    for letter in flow[1:-1]:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in '[{') - (letter in ']}')
        if letter == ',' and depth == 0 and not quoted:
            yield part.strip()
            part = ''
        else:
            part += letter
    if part.strip():
        yield part.strip()


class Key:
    """A key, or (*) an entry: its first value as it is written, and the keys below it."""

    def __init__(self, shown='', first=True):
        self.shown = shown  # its name in the file
        self.first = first  # not of a second entry only: part of the example of the whole
        self.value = None
        self.below = {}

    def at(self, name, shown, first):
        return self.below.setdefault(name, Key(shown, first))

    def give(self, value):
        self.value = self.value or value
        for part in parts_of(value) if value[0] in '[{' and self.shown != EXPRESSION else ():
            name, _, rest = part.partition(': ') if value[0] == '{' else ('*', '', part)
            self.at(name, name, self.first).give(rest)

    def flow(self):
        """Its value in one line; of a section as many keys as fit. "": it has no example."""
        if self.value:
            return self.value
        parts = [(key.shown, key.flow()) for key in self.below.values() if key.first and key.flow()]
        while len(parts) > 1 and '*' not in self.below and sum(len(part[1]) for part in parts) > LENGTH_MAX:
            parts.pop()
        if parts and parts[0][0] == '*':
            return f'[{parts[0][1]}]'
        return '{%s}' % ', '.join(': '.join(part) for part in parts) if parts else ''


def tree_of(lines):
    root = Key()
    above = []  # (name in the path, key, whether all that it is in comes first)
    for line in lines:
        found = LINE.match(line.rstrip('\n'))
        if not found:
            continue
        del above[len(found['indent']) // 2:]
        named = '.'.join(name for name, *_ in above) in NAMED
        for name, shown in [('*', '*')] * bool(found['entry']) + [('*' if named else found['key'], found['key'])]:
            _, upper, first = above[-1] if above else ('', root, True)
            first = first and (name != '*' or '*' not in upper.below)
            above.append((name, upper.at(name, shown, first), first))
        if found['value']:
            above[-1][1].give(found['value'])
    return root


def examples_of(key, above=()):
    """(path, example)"""
    for name, child in key.below.items():
        path = (*above, '*' if '.'.join(above) in NAMED else name)
        if child.flow():
            yield '.'.join(path), child.flow()
        yield from examples_of(child, path)


def with_defaults(examples):
    """What may stand in power.defaults may stand in power.hosts."""
    return {path.replace('power.defaults.', 'power.hosts.*.'): example for path, example in examples.items()} | examples


def read(path):
    with open(path, encoding='utf-8') as file:
        return file.readlines()


def main():
    lines = read(sys.argv[1])
    print('#include "config/key_order.h"\n\n#include <stddef.h>\n\nconst char *const config_key_order[] = {')
    for key in keys_of(lines):
        print(f'    "{key}",')
    print('    NULL,\n};\n\nconst struct key_example config_key_examples[] = {')
    for path, example in with_defaults(dict(examples_of(tree_of(lines)))).items():
        quoted = example.replace('\\', '\\\\').replace('"', '\\"')
        print(f'    {{"{path}", "{quoted}"}},')
    print('    {NULL, NULL},\n};')


if __name__ == '__main__':
    main()
