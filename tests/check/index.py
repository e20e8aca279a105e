#!/usr/bin/env python3
"""Every entry of the index of tasks in src/README.md exists: each file holds the functions that the index names."""
import re

from tree import ROOT, code_of, end, text_of

README = 'src/README.md'
ROWS_LEAST = 20

violations, n = [], 0
section = text_of(README).partition('## Where to change what')[2]
for task, places in re.findall(r'^\| ([^|]+) \| ([^|]+) \|$', section, flags=re.M):
    found = re.findall(r'`([\w./-]+)`(?:: ((?:`\w+(?:\(\))?`(?:, )?)+))?', places)
    if task.startswith('---') or task == 'task':
        continue
    n += 1
    if not found:
        violations.append(f'{README}: {task}: names no file')
    for path, names in found:
        if not (ROOT / path).exists():
            violations.append(f'{README}: {task}: {path} does not exist')
            continue
        code = code_of(path) if path.endswith(('.c', '.h')) else text_of(path)
        for name in re.findall(r'`(\w+)(?:\(\))?`', names):
            # a definition begins its line, also one of a static function; a table or a list of words is named by its identifier
            defined = rf'^(?!return\b|else\b)\w[\w *]*\b{name}\(' if f'{name}()' in names else rf'\b{name}\b'
            if not re.search(defined, code, flags=re.M):
                violations.append(f'{README}: {task}: {path} has no {name}')
if n < ROWS_LEAST:
    violations.append(f'{README}: {n} tasks, expected at least {ROWS_LEAST}')
end(violations, f'{n} tasks')
