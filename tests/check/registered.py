#!/usr/bin/env python3
"""Every test runs: each program and script of the test folders is in the build's list, and each line of the list has its file."""
import os
import re

from tree import ROOT, end, files, text_of

violations, n = [], 0
for folder, suffix in (('unit', '.c'), ('property', '.c'), ('fuzz', '.c'), ('sim', '.c'), ('cli', '.py'), ('ovirt', '.py'), ('peers', '.py')):
    build = f'tests/{folder}/meson.build'
    if not (ROOT / build).exists():
        continue
    listed = set(re.findall(r"^  '([\w./-]+)'", text_of(build), flags=re.M))
    text = text_of(build)
    for path in files(suffix, under=f'tests/{folder}'):
        # In a folder of its own, or a module that scripts import: not a test.
        if len(path.parts) > 3 or (suffix == '.py' and not os.access(ROOT / path, os.X_OK)):
            continue
        n += 1
        if path.stem not in listed and path.name not in listed and f"'{path.name}'" not in text:
            violations.append(f'{build}: {path.name} is not on the list')
    for name in listed:
        if not (ROOT / 'tests' / folder / (name if name.endswith(suffix) else name + suffix)).exists():
            violations.append(f'{build}: {name} is on the list, and not there')
end(violations, f'{n} tests')
