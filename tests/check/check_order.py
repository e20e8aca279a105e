#!/usr/bin/env python3
"""Checks are asked in the order of their list in names.h, which conf/names.md and `ballast explain` promise: what a function asks first
comes first in the list."""
import re

from tree import code_of, end, text_of

# Each list of functions asks one after the other; a call of a named helper stands for what the helper asks.
ASKED = {
    'CHECK': [('src/core/layout/checks.c', ['layout_vm_check']),
              ('src/core/layout/checks.c', ['layout_check']),
              ('src/core/balance/move_score.c', ['check_all'])],
}
HELPERS = ('check_closed_host', 'check_host_rules', 'layout_cells_refuse', 'check_reserved', 'check_worth')
FILES = ('src/core/layout/checks.c', 'src/core/layout/cells.c', 'src/core/balance/move_score.c')


def bodies():
    """{function: its body}"""
    found = {}
    for path in FILES:
        for name, body in re.findall(r'^(?:static )?[\w ]+\**\b(\w+)\([^;{]*?\)\n\{\n(.*?)^\}', code_of(path), flags=re.M | re.S):
            found.setdefault(name, body)
    return found


def asked(name, prefix, of):
    """The checks in the order in which the function asks them, each once."""
    ret = []
    for word in re.findall(r'\w+', of[name]):
        more = asked(word, prefix, of) if word in HELPERS and word != name else [word] if word.startswith(prefix + '_') else []
        ret += [check for check in more if check not in ret]
    return ret


violations, looked_at = [], 0
of = bodies()
for prefix, lists in ASKED.items():
    order = re.findall(rf'X\(({prefix}_\w+), "', text_of('include/ballast/names.h'))
    for path, functions in lists:
        for function in functions:
            checks = [c for c in asked(function, prefix, of) if c in order and c != f'{prefix}_NONE']
            looked_at += len(checks)
            for first, second in zip(checks, checks[1:]):
                if order.index(first) > order.index(second):
                    violations.append(f'{path}: {function}() asks {first} before {second}, names.h lists it after')
end(violations, f'{looked_at} checks')
