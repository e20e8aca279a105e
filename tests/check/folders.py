#!/usr/bin/env python3
"""Each folder with code has a README that names its files."""
import re

from tree import ROOT, end, files, text_of

by_folder = {}
for path in files('.c', '.h', '.py'):
    by_folder.setdefault(path.parent, []).append(path)

violations = []
for folder, paths in sorted(by_folder.items()):
    readme = folder / 'README.md'
    if not (ROOT / readme).exists():
        violations.append(f'{folder}: no README.md')
        continue
    text = text_of(readme)
    # Tests are listed by the build, where one line is one program; their README says how to add one.
    if str(folder) in ('tests/unit', 'tests/property', 'tests/fuzz'):
        continue
    violations += [f'{readme}: does not name {p.name}' for p in paths if not re.search(rf'\b{re.escape(p.stem)}\b', text)]
end(violations, f'{len(by_folder)} folders')
