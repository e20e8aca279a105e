#!/usr/bin/env python3
"""No two libraries export a function or a variable of one name: the linker takes the first that it finds, without a word."""
import subprocess

from tree import BUILD, SKIPPED, end

libraries = sorted(p for folder in ('src', 'collectors', 'actuators') for p in (BUILD / folder).rglob('lib*.a'))
if not libraries:
    print('no library is built')
    raise SystemExit(SKIPPED)

exported = {}
for library in libraries:
    out = subprocess.run(['nm', '-A', '--defined-only', '--extern-only', library], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        where, _, kind, name = line.replace(':', ' ').rsplit(maxsplit=3)
        if kind not in 'VvWwu':  # weak: several may have it
            exported.setdefault(name, []).append(where.split('/')[-1])
end([f'{name}: exported by {" and ".join(by)}' for name, by in sorted(exported.items()) if len(by) > 1],
    f'{len(exported)} exported names in {len(libraries)} libraries')
