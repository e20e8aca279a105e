#!/usr/bin/env python3
"""Counts the results in meson's logs; the last line is "N passed, N failed, N skipped".

summary.py [--passed N] [--failed WHAT]… LOG.json…

A test that reports its parts (the Test Anything Protocol: an area of scenarios) counts once for each part. A skipped test of
suite peers (the real peer is not installed) is a failure if CI=true. Exit code 0 when none failed.
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--passed', type=int, default=0)
    parser.add_argument('--failed', action='append', default=[])
    parser.add_argument('logs', nargs='*')
    options = parser.parse_args()
    in_ci = os.environ.get('CI', '').lower() in ('true', '1', 'yes')

    passed, failed, skipped = options.passed, list(options.failed), []
    for log in options.logs:
        for test in read_log(log):
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

    print()
    for line in skipped:
        print('SKIPPED', line)
    for line in failed:
        print('FAILED', line)
    print(f'{passed} passed, {len(failed)} failed, {len(skipped)} skipped', flush=True)
    return 1 if failed else 0


sys.exit(main())
