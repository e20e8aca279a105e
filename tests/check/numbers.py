#!/usr/bin/env python3
"""Each numbered feature of a dialect, and each complaint of the users of ProxLB, has its test: the tables in the READMEs leave no number out, the tests that they name exist, and one of them has
the number in its text, or in that of the generator that it uses."""
import re

from tree import ROOT, end, text_of

# README, the letter of its numbers and the last one, the file of tests that are named without one
TABLES = (('src/dialect/nova/README.md', 'N', 48, None), ('src/dialect/flexiant/README.md', 'F', 15, 'tests/cli/flexiant.py'),
          ('src/dialect/ovirt/README.md', 'O', 16, 'tests/property/ovirt.py'),
          ('tests/peers/proxmox/complaints.md', 'P', 15, 'tests/peers/test_proxmox_complaints.py'))
GENERATORS = {'tests/peers/test_nova_oracle.py': 'tests/peers/nova_clouds.py', 'tests/peers/test_nova_weighers.py': 'tests/peers/nova_weigher_clouds.py'}


def numbers_of(cell, letter):
    """"N1, N3 to N5": 1, 3, 4, 5."""
    found = set()
    for first, last in re.findall(rf'{letter}(\d+)(?: to {letter}(\d+))?', cell):
        found |= set(range(int(first), int(last or first) + 1))
    return found


violations, seen = [], 0
for readme, letter, last, file in TABLES:
    left = set(range(1, last + 1))
    for cell, _, tests in re.findall(rf'^\| ({letter}\d[^|]*) \| ([^|]+) \| ([^|]+) \|$', text_of(readme), flags=re.M):
        numbers, at, texts = numbers_of(cell, letter), file, []
        left -= numbers
        seen += len(numbers)
        for name in re.findall(r'`([^`]+)`', tests):
            if '/' not in name and not re.search(rf'^def {name}\(', text_of(at) if at else '', re.M):
                violations.append(f'{readme}: {cell}: {at} has no {name}()')
            if '/' in name and not (ROOT / name).exists():
                violations.append(f'{readme}: {cell}: {name} does not exist')
            at = name if '/' in name and (ROOT / name).is_file() else at
            texts += [text_of(p) for p in {at, GENERATORS.get(at)} - {None}]
        violations += [f'{readme}: {cell}: no test of this row names {letter}{n}' for n in sorted(numbers)
                       if not any(n in numbers_of(t.replace(f'test_{letter}', letter), letter) for t in texts)]
    violations += [f'{readme}: no row for {letter}{n}' for n in sorted(left)]
end(violations, f'{seen} numbers')
