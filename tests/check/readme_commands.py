#!/usr/bin/env python3
"""What the top README tells people to type exists: scripts, files, verbs of the command; its configurations are accepted."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from tree import BUILD, ROOT, end, text_of

text = text_of('README.md')
blocks = re.findall(r'^```sh\n(.*?)^```', text, flags=re.S | re.M)
lines = [line.strip().removeprefix('$ ') for block in blocks for line in block.splitlines()]
lines = [line for line in lines if line and not line.startswith('#')]
ballast = os.environ.get('BALLAST', str(BUILD / 'src/cli/ballast'))
violations = []

for line in lines:
    words = shlex.split(line, comments=True)
    while words and (re.match(r'[A-Z_]+=', words[0]) or words[0] in ('sudo', '|')):
        words = words[1:]
    if not words:
        continue
    program = words[0]
    if program.startswith('./') and not os.access(ROOT / program, os.X_OK) and not program.startswith('./build'):
        violations.append(f'README.md: {program} is not there, or cannot be run')
    if os.path.basename(program) == 'ballast' and os.path.exists(ballast):
        done = subprocess.run([ballast, words[1], '--help'], capture_output=True, text=True, timeout=100, check=False)
        if done.returncode != 0:
            violations.append(f'README.md: "ballast {words[1]} --help" ends with {done.returncode}')

# A configuration is one that the command accepts, once the files that it names are there.
configurations = [block for block in re.findall(r'^```yaml\n(.*?)^```', text, flags=re.S | re.M) if block.startswith('cluster:')]
for n, block in enumerate(configurations, 1):
    with tempfile.TemporaryDirectory() as folder:
        block = block.replace('/etc/ballast', folder)
        for path in re.findall(r'_file: ([^\s},]+)', block):
            pathlib.Path(path).write_text('a password\n', encoding='utf-8')
            os.chmod(path, 0o600)
        file = pathlib.Path(folder) / 'ballast.yaml'
        file.write_text(block, encoding='utf-8')
        if os.path.exists(ballast):
            done = subprocess.run([ballast, 'check-config', file], capture_output=True, text=True, timeout=100, check=False)
            if done.returncode != 0 or done.stderr:
                violations.append(f'README.md: configuration {n}: {done.stderr.strip()}')

for link in re.findall(r'\]\(([^)#:]+)\)', text):
    if not (ROOT / link).exists():
        violations.append(f'README.md: links to {link}, which is not there')
for command in ('./packaging/demo', './tests/run'):
    if command not in lines:
        violations.append(f'README.md: does not give the command {command}')
end(violations, f'{len(lines)} commands, {len(configurations)} configurations')
