#!/usr/bin/env python3
"""Every command and option in the top README and the manual pages exists, and the examples that they name; their configurations are accepted."""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from tree import BUILD, ROOT, end, text_of

PAGES = ('packaging/man/ballast.1.in', 'packaging/man/ballast.yaml.5.in', 'packaging/man/ballast-simulate.5', 'packaging/man/ballastd.8', 'packaging/man/ballast-power.7',
         'packaging/man/ballast-vsphere.7', 'packaging/man/ballast-libvirt.7', 'packaging/man/ballast-concepts.7')
text = text_of('README.md')
shell = [('README.md', block) for block in re.findall(r'^```sh\n(.*?)^```', text, flags=re.S | re.M)]
yaml = [('README.md', block) for block in re.findall(r'^```yaml\n(.*?)^```', text, flags=re.S | re.M)]
for page in PAGES:
    for block in re.findall(r'^\.Bd -literal.*?\n(.*?)^\.Ed', text_of(page), flags=re.S | re.M):
        (shell if block.startswith(('ballast', 'echo')) else yaml).append((page, block))
lines = [(page, line.strip()) for page, block in shell for line in block.splitlines()]
lines = [(page, line) for page, line in lines if line and not line.startswith('#')]
ballast = os.environ.get('BALLAST', str(BUILD / 'src/cli/ballast'))
violations = []

for page, line in lines:
    words = shlex.split(line, comments=True)
    while words and (re.match(r'[A-Z_]+=', words[0]) or words[0] in ('sudo', '|')):
        words = words[1:]
    if not words:
        continue
    program = words[0]
    if program.startswith('./') and not os.access(ROOT / program, os.X_OK) and not program.startswith('./build'):
        violations.append(f'{page}: {program} is not there, or cannot be run')
    if os.path.basename(program) == 'ballast' and os.path.exists(ballast):
        done = subprocess.run([ballast, words[1], '--help'], capture_output=True, text=True, timeout=100, check=False)
        unknown = [word for word in words[2:] if word.startswith('--') and not re.search(rf'^  {word} ', done.stdout, flags=re.M)]
        violations += [f'{page}: "ballast {words[1]}" has no option {word}' for word in unknown]
        if done.returncode != 0:
            violations.append(f'{page}: "ballast {words[1]} --help" ends with {done.returncode}')

# A configuration is one that the command accepts, once the files that it names are there.
configurations = [(page, block) for page, block in yaml if block.startswith('cluster:')]
for page, block in configurations:
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
                violations.append(f'{page}: its configuration: {done.stderr.strip()}')

for link in re.findall(r'\]\(([^)#:]+)\)', text):
    if not (ROOT / link).exists():
        violations.append(f'README.md: links to {link}, which is not there')
for page, line in lines:  # the examples of the tree are installed as they are
    examples = re.findall(r'(?:conf/examples|EXAMPLES|doc/ballast/examples)/([\w./-]+)', line)
    violations += [f'{page}: there is no example {name}' for name in examples if not (ROOT / 'conf/examples' / name).exists()]
for command in ('./packaging/demo', './tests/run'):
    if ('README.md', command) not in lines:
        violations.append(f'README.md: does not give the command {command}')
end(violations, f'{len(lines)} commands, {len(configurations)} configurations')
