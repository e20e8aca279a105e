#!/usr/bin/env python3
"""A file of more than 600 lines or a function of more than 60 usually holds two ideas.

long.txt lists the files and functions that hold one idea all the same, with the reason.
"""
from tree import end, files, text_of

FILE_MAX, FUNCTION_MAX = 600, 60

excused = {}
for line in text_of('tests/check/long.txt').splitlines():
    if line.strip() and not line.startswith('#'):
        name, reason = line.split(None, 1)
        excused[name] = reason


def functions(text):
    """(name's line, length) of each function: in this style its braces stand alone in the first column."""
    start = None
    for number, line in enumerate(text.splitlines(), 1):
        if line == '{':
            start = number
        elif line == '}' and start:
            yield start, number - start - 1
            start = None


violations, n, used = [], 0, set()
for path in files('.c', '.h', '.py'):
    n += 1
    text = text_of(path)
    lines = text.splitlines()
    if len(lines) > FILE_MAX:
        used.add(str(path))
        if str(path) not in excused:
            violations.append(f'{path}: {len(lines)} lines')
    if path.suffix != '.c':
        continue
    for start, length in functions(text):
        if length > FUNCTION_MAX:
            head = start - 1
            while head > 1 and (lines[head - 1].startswith((' ', '\t')) or '(' not in lines[head - 1]):
                head -= 1
            function = lines[head - 1].split('(')[0].split()[-1].lstrip('*')
            used.add(f'{path}:{function}')
            if f'{path}:{function}' not in excused:
                violations.append(f'{path}:{start}: {function}() has {length} lines')
violations += [f'long.txt: {name} is not long (any more)' for name in sorted(set(excused) - used)]
end(violations, f'{n} files')
