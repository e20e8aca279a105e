#!/usr/bin/env python3
"""Runs scenarios: a small cluster in, exactly this text out.

run.py [--update] [AREA/NAME…]      the scenarios named, or all
run.py --area AREA                  all of an area; reports each one in the Test Anything Protocol, for meson
run.py --list                       the areas, one a line
run.py --table                      each scenario with the first sentence of its README, as a table
run.py --check                      checks that each one is complete and in the map of README.md

A scenario is a folder AREA/NAME with README.md (its first sentence says what must happen and why), snapshot.json or `cloud` (paths that
`ballast fit compile` makes the snapshot of), expect.txt, and
`command` unless the command is just `plan`: lines of arguments of `ballast`, to which --snapshot is added if it is missing. With more
than one line each output follows "$ ballast ARGUMENTS". Standard error follows under "stderr:", and an exit code other than 0 as
"exit code: N". The command is taken from $BALLAST, or from build/.
"""
import argparse
import contextlib
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BALLAST = os.path.abspath(os.environ.get('BALLAST', str(HERE.parent.parent / 'build/src/cli/ballast')))
TAKES_NO_SNAPSHOT = ('generate', 'simulate', 'check-config')


def names():
    return sorted(str(p.parent.relative_to(HERE)) for p in HERE.glob('*/*/README.md'))


def commands(folder):
    path = folder / 'command'
    lines = path.read_text(encoding='utf-8').splitlines() if path.exists() else ['plan']
    return [line.strip() for line in lines if line.strip() and not line.startswith('#')]


def snapshot_of(folder, scratch):
    """The scenario's snapshot: its file, or what its cloud is compiled to."""
    cloud = folder / 'cloud'
    if not cloud.exists():
        return 'snapshot.json'
    done = subprocess.run([BALLAST, 'fit', 'compile', *cloud.read_text(encoding='utf-8').split()], cwd=folder, capture_output=True, text=True,
                          timeout=240, check=False)
    path = pathlib.Path(scratch, 'snapshot.json')
    path.write_text(done.stdout, encoding='utf-8')
    return str(path) if done.returncode == 0 else done.stderr


def output(folder):
    with tempfile.TemporaryDirectory() as scratch:
        return output_with(folder, snapshot_of(folder, scratch))


def output_with(folder, snapshot):
    lines = commands(folder)
    text = ''
    for line in lines:
        arguments = shlex.split(line)
        if '--snapshot' not in arguments and arguments[0] not in TAKES_NO_SNAPSHOT:
            arguments += ['--snapshot', snapshot]
        done = subprocess.run([BALLAST, *arguments], cwd=folder, capture_output=True, text=True, timeout=240, check=False,
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
    """True if the output is as expected, or expect.txt has been written anew."""
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
    print(f'{name}: not as expected. {purpose(name)}.\n')
    sys.stdout.writelines(line if line.endswith('\n') else line + '\n' for line in difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), f'{name}/expect.txt', 'now'))
    return False


def run_area(area):
    """Reports in the Test Anything Protocol; differences go to standard error, and the exit code does not depend on them."""
    of_area = [name for name in names() if name.startswith(area + '/')]
    print(f'1..{len(of_area)}')
    for n, name in enumerate(of_area, 1):
        with contextlib.redirect_stdout(sys.stderr):
            right = run(name, update=False)
        print(f'{"ok" if right else "not ok"} {n} {name}', flush=True)
    return 0


def purpose(name):
    """The first sentence of its README, without the full stop."""
    text = ' '.join((HERE / name / 'README.md').read_text(encoding='utf-8').split())
    return re.split(r'\.(?:$| (?=[A-Z]))', text)[0]


def map_rows():
    """The rows of the map in README.md, as lists of cells."""
    text = (HERE / 'README.md').read_text(encoding='utf-8')
    return [[cell.strip() for cell in line.strip('|').split('|')] for line in text.splitlines()
            if line.startswith('| ') and not line.startswith('| what is decided ')]


def check_folder(folder):
    wrong = []
    name = folder.relative_to(HERE)
    for needed in ('README.md', 'expect.txt'):
        if not (folder / needed).exists():
            wrong.append(f'{name}: {needed} is missing')
    lines = commands(folder)
    if not (folder / 'snapshot.json').exists() and not (folder / 'cloud').exists() and any(
            '--snapshot' not in line and line.split()[0] not in TAKES_NO_SNAPSHOT for line in lines):
        wrong.append(f'{name}: snapshot.json is missing')
    if re.search(r'\d (us|µs|ms)\b', (folder / 'expect.txt').read_text(encoding='utf-8')
                 if (folder / 'expect.txt').exists() else ''):
        wrong.append(f'{name}: expect.txt holds a time that it took, which differs from run to run')
    return wrong


def check_map():
    """The map in README.md names every scenario and no other."""
    wrong = []
    rows = map_rows()
    there = set(names())
    mapped = set()
    for row in rows:
        if len(row) != 3 or not all(row):
            wrong.append(f'README.md: a row of the map needs what is decided, when it acts and when it refrains: {row[0]}')
        found = re.findall(r'`([a-z0-9-]+/[a-z0-9-]+)`', ' '.join(row[1:]))
        wrong += [f'README.md: the map names {name}, which is not there' for name in sorted(set(found) - there)]
        mapped |= set(found)
    wrong += [f'{name}: the map in README.md does not lead to it' for name in sorted(there - mapped)]
    return wrong


def check():
    """Each folder is complete, and the map in README.md leads to it."""
    wrong = []
    for folder in sorted(p for p in HERE.glob('*/*') if p.is_dir() and not p.name.startswith(('.', '_'))):
        wrong += check_folder(folder)
    wrong += check_map()
    empty = sum(row[1:] == ['—', '—'] for row in map_rows())
    print('\n'.join(wrong) if wrong else f'{len(names())} scenarios, complete and mapped'
          + (f'; {empty} rows of the map have none' if empty else ''))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--update', action='store_true')
    parser.add_argument('--area')
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--table', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('names', nargs='*')
    options = parser.parse_args()
    if options.list:
        print('\n'.join(sorted({name.split('/')[0] for name in names()})))
        return 0
    if options.area:
        return run_area(options.area)
    if options.table:
        print('| scenario | what must happen |\n|---|---|')
        print('\n'.join(f'| `{name}` | {purpose(name)} |' for name in names()))
        return 0
    if options.check:
        return check()
    failed = [name for name in options.names or names() if not run(name.strip('/'), options.update)]
    if failed:
        print(f'\nIf this is what should come out: tests/scenarios/run.py --update {" ".join(failed)}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
