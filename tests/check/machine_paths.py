#!/usr/bin/env python3
"""No file names a path of the machine that it was written on, or a package mirror; a lock file of npm has no place to fetch from."""
import re

from tree import end, files, text_of

# Put together here, so that this file does not find itself.
PATTERNS = [re.compile(p) for p in (
    r'/' + r'work/', r'/' + r'tmp/wt', r'/' + r'root/', r'/' + r'home/\w', r'deb\.' + r'debian\.org', r'registry\.' + r'\w+\.org',
    r'proxy\.' + r'golang', r'BEGIN [A-Z ]*PRIVATE ' + 'KEY')]

violations, n = [], 0
for path in files('.c', '.h', '.py', '.md', '.build', '.txt', '.yaml', '.json', '.go', '.sh', '.service', '.ts', '.tsx', '.mjs', '.html', '.css', '.npmrc', 'run', 'demo', 'need', 'build'):
    n += 1
    for number, line in enumerate(text_of(path).splitlines(), 1):
        violations += [f'{path}:{number}: {p.pattern}' for p in PATTERNS if p.search(line)]
for path in files('package-lock.json'):
    violations += [f'{path}:{number}: a registry, see .npmrc' for number, line in enumerate(text_of(path).splitlines(), 1) if '"resolved"' in line]
end(violations, f'{n} files')
