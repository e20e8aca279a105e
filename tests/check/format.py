#!/usr/bin/env python3
"""The C code is as clang-format 14 leaves it."""
import shutil
import subprocess

from tree import ROOT, SKIPPED, end, files

program = shutil.which('clang-format-14') or shutil.which('clang-format')
if not program:
    print('clang-format is not installed')
    raise SystemExit(SKIPPED)
version = subprocess.run([program, '--version'], capture_output=True, text=True, check=True).stdout.strip()
if ' 14.' not in version:
    print(f'{version}: only version 14 gives the same result everywhere')
    raise SystemExit(SKIPPED)
paths = files('.c', '.h')
done = subprocess.run([program, '--dry-run', '--ferror-limit=1', *map(str, paths)], cwd=ROOT, capture_output=True, text=True,
                      check=False)
violations = sorted({line.split(':')[0] for line in done.stderr.splitlines() if 'clang-format-violations' in line})
end([f'{path}: not formatted, run clang-format -i' for path in violations], f'{len(paths)} C files')
