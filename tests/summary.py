#!/usr/bin/env python3
"""Counts the results in meson's logs; the last line is "N passed, N failed, N skipped".

summary.py [--passed N] [--failed WHAT]… LOG.json…
summary.py --again LOG.json      only names the failed tests: they run once more, alone
summary.py --left LOG.json       only names the tests of standard input (meson test --list) that have not passed in it

A test that reports its parts (the Test Anything Protocol: an area of scenarios) counts once for each part. A skipped test of
suite peers (the real peer is not installed) is a failure if CI=true. Exit code 0 when none failed.

A test may fail because the machine is busy: it runs once more, alone. If it passes then, it counts as passed, and a line "AGAIN" names it: such
a line is a defect of the test or a race in the product.
"""
import argparse
import json
import os
import re
import sys


def read_log(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            for line in f:
                if line.strip():
                    yield json.loads(line)
    except FileNotFoundError:
        yield {'name': f'{path} (meson wrote no log)', 'result': 'ERROR'}


def parts(test):
    """What a test says of its parts: (how many are right, the names of those that are not)."""
    text = test.get('stdout') or ''
    said = re.findall(r'^(not )?ok \d+ (.*)$', text, flags=re.M) if text.startswith('1..') else []
    wrong = [name for no, name in said if no]
    return len(said) - len(wrong), wrong


def last_words(test):
    """The line in which a skipped test says why."""
    lines = ((test.get('stdout') or '') + '\n' + (test.get('stderr') or '')).strip().splitlines()
    return lines[-1].strip() if lines else 'it does not say why'


def suites(name):
    return set(name.split(' / ')[0].split(':')[-1].split('+'))


def to_run_again(log):
    return [t['name'].split(' / ')[-1] for t in read_log(log) if t['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP')]


def left(log, listed):
    last = {t['name']: t['result'] for t in read_log(log)}
    names = [line.strip() for line in listed if ' / ' in line]
    return dict.fromkeys(name.split(' / ')[-1] for name in names if last.get(name) not in ('OK', 'EXPECTEDFAIL', 'SKIP'))


def runs(logs):
    """Each test's last run: (its log, the test). testlog-again-X.json has second runs of tests of testlog-run-X.json."""
    first = {}
    for log in logs:
        for test in read_log(log):
            key = (log.replace('testlog-again', 'testlog-run'), test['name'])
            if key in first and test['result'] == 'OK':
                print('AGAIN', f'{test["name"]} ({log.split("/")[0]}): failed at first, passed when it was tried again')
            first[key] = test
    return [(log, test) for (log, _), test in first.items()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--passed', type=int, default=0)
    parser.add_argument('--failed', action='append', default=[])
    parser.add_argument('--again')
    parser.add_argument('--left')
    parser.add_argument('logs', nargs='*')
    options = parser.parse_args()
    if options.again:
        print('\n'.join(to_run_again(options.again)))
        return 0
    if options.left:
        print('\n'.join(left(options.left, sys.stdin)))
        return 0
    in_ci = os.environ.get('CI', '').lower() in ('true', '1', 'yes')

    passed, failed, skipped = options.passed, list(options.failed), []
    print()
    for log, test in runs(options.logs):
        result, name = test['result'], test['name']
        where = f'{name} ({log.split("/")[0]})'
        right, wrong = parts(test)
        if right or wrong:
            passed += right
            failed += [f'{part} ({log.split("/")[0]})' for part in wrong]
            if result not in ('OK', 'FAIL'):  # it did not come to its end
                failed.append(f'{where}: {result.lower()}')
        elif result in ('OK', 'EXPECTEDFAIL'):
            passed += 1
        elif result == 'SKIP' and not (in_ci and 'peers' in name):
            skipped.append(f'{where}: {last_words(test)}')
        elif result == 'SKIP':
            failed.append(f'{where}: a real peer is missing: {last_words(test)}')
        else:
            failed.append(f'{where}: {result.lower()}')

    for line in skipped:
        print('SKIPPED', line)
    for line in failed:
        print('FAILED', line)
    print(f'{passed} passed, {len(failed)} failed, {len(skipped)} skipped', flush=True)
    return 1 if failed else 0


sys.exit(main())
