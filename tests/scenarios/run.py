#!/usr/bin/env python3
"""Runs scenarios: a small cluster in, exactly this text out.

run.py [--update] [AREA/NAME…]      the scenarios named, or all
run.py --list                       their names, one a line
run.py --check                      is each one complete, and listed in README.md?

A scenario is a folder AREA/NAME with README.md (its first sentence says what must happen and why), snapshot.json, expect.txt, and,
where it is not just `plan`, `command`: lines of arguments of `ballast`, to which --snapshot is added unless they say it
themselves. More than one line: each one's output stands under "$ ballast ARGUMENTS". What goes to standard error follows under
"stderr:", and an exit code other than 0 as "exit code: N". The command is taken from $BALLAST, or from build/.
"""
import argparse
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BALLAST = os.path.abspath(os.environ.get('BALLAST', str(HERE.parent.parent / 'build/src/cli/ballast')))
TAKES_NO_SNAPSHOT = ('generate', 'simulate', 'check-config')


def names():
    return sorted(str(p.parent.relative_to(HERE)) for p in HERE.glob('*/*/README.md'))


def commands(folder):
    path = folder / 'command'
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else ['plan']
    return [line.strip() for line in lines if line.strip() and not line.startswith('#')]


def output(folder):
    lines = commands(folder)
    text = ''
    for line in lines:
        arguments = shlex.split(line)
        if '--snapshot' not in arguments and arguments[0] not in TAKES_NO_SNAPSHOT:
            arguments += ['--snapshot', 'snapshot.json']
        done = subprocess.run([BALLAST, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, 'LC_ALL': 'C.UTF-8', 'NO_COLOR': '1'})
        if len(lines) > 1:
            text += f'$ ballast {line}\n'
        text += done.stdout
        if done.stderr:
            text += 'stderr:\n' + done.stderr
        if done.returncode != 0:
            text += f'exit code: {done.returncode}\n'
        if len(lines) > 1 and line is not lines[-1]:
            text += '\n'
    return text


def run(name, update):
    """True if it came out as expected, or was brought up to date."""
    folder = HERE / name
    expected_file = folder / 'expect.txt'
    actual = output(folder)
    expected = expected_file.read_text(encoding='utf-8') if expected_file.exists() else ''
    if actual == expected:
        return True
    if update:
        expected_file.write_text(actual, encoding='utf-8')
        print(f'{name}: expect.txt written')
        return True
    purpose = (folder / 'README.md').read_text(encoding='utf-8').strip()
    print(f'{name}: not as expected. {purpose}\n')
    sys.stdout.writelines(line if line.endswith('\n') else line + '\n' for line in difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), f'{name}/expect.txt', 'now'))
    return False


def check():
    """Each folder is complete, and README.md lists it, with nothing that is not there."""
    wrong = []
    for folder in sorted(p for p in HERE.glob('*/*') if p.is_dir() and not p.name.startswith(('.', '_'))):
        name = folder.relative_to(HERE)
        for needed in ('README.md', 'expect.txt'):
            if not (folder / needed).exists():
                wrong.append(f'{name}: {needed} is missing')
        lines = commands(folder)
        if not (folder / 'snapshot.json').exists() and any(
                '--snapshot' not in line and line.split()[0] not in TAKES_NO_SNAPSHOT for line in lines):
            wrong.append(f'{name}: snapshot.json is missing')
        if re.search(r'\d (us|µs|ms)\b', (folder / 'expect.txt').read_text(encoding='utf-8')
                     if (folder / 'expect.txt').exists() else ''):
            wrong.append(f'{name}: expect.txt holds a time that it took, which differs from run to run')
    listed = set(re.findall(r'`([a-z0-9-]+/[a-z0-9-]+)`', (HERE / 'README.md').read_text(encoding='utf-8')))
    wrong += [f'{name}: README.md does not list it' for name in sorted(set(names()) - listed)]
    wrong += [f'README.md lists {name}, which is not there' for name in sorted(listed - set(names()))]
    print('\n'.join(wrong) if wrong else f'{len(names())} scenarios, complete and listed')
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    if options.list:
        print('\n'.join(names()))
        return 0
    if options.check:
        return check()
    failed = [name for name in options.names or names() if not run(name.strip('/'), options.update)]
    if failed:
        print(f'\nIf this is what should come out: tests/scenarios/run.py --update {" ".join(failed)}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
