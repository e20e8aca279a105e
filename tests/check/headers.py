#!/usr/bin/env python3
"""Each header compiles on its own, with the include guard that its path gives it."""
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor

from tree import ROOT, end, files, text_of

PACKAGES = 'libcurl libxml-2.0 jansson sqlite3 libsystemd cmocka'.split()
flags = subprocess.run(['pkg-config', '--cflags', *PACKAGES], capture_output=True, text=True, check=True).stdout.split()


def compile_alone(path):
    done = subprocess.run([*shlex.split(os.environ.get('CC', 'cc')), '-fsyntax-only', '-std=c17', '-D_GNU_SOURCE', '-Wall', '-Wextra',
                           '-Werror', '-DBALLAST_VERSION=""', '-Iinclude', '-Isrc', '-I.', *flags, '-x', 'c', '-include',
                           str(path), '/dev/null'], cwd=ROOT, capture_output=True, text=True, check=False)
    return f'{path}: does not compile on its own:\n{done.stderr.strip()}' if done.returncode else None


headers = files('.h')
with ThreadPoolExecutor(2) as pool:
    violations = [v for v in pool.map(compile_alone, headers) if v]
for header in headers:
    guard = re.search(r'^#ifndef (\w+)\n#define \1\n', text_of(header), flags=re.M)
    if not guard:
        violations.append(f'{header}: no include guard')
    elif not guard.group(1).startswith('BALLAST_'):
        violations.append(f'{header}: the guard {guard.group(1)} does not begin with BALLAST_')
end(violations, f'{len(headers)} headers')
