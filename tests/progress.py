#!/usr/bin/env python3
"""Says what a run of tests is waiting for and when it will end, in between the lines of meson, which it passes on.

meson test --list … >LIST; meson test … | progress.py PART LIST [LATER-PART]
progress.py --write PART=LOG.json…      these parts of the table anew, from the logs of a run

The table (durations.txt) has the parts of a run, and of their tests those that take longer than SHORT_S, in seconds on a machine with two cores.
From the tests that have ended it is known how much faster or slower this machine is; before that the table's figures are taken, and it says so.
"""
import argparse
import json
import os
import pathlib
import queue
import re
import signal
import sys
import threading
import time

TABLE = pathlib.Path(__file__).with_name('durations.txt')
SHORT_S = 5
EVERY_S = 60
KNOWN_S = 60  # so much of the table's time must have ended before the pace of this machine is judged by it
TABLE_WEIGHT_S = 900  # one test that the table has wrong is not to decide alone: the pace begins at 1, with this weight
ENDED = re.compile(r'^ *\d+/\d+ (\S.*?) {2,}(?:OK|FAIL|SKIP|TIMEOUT|ERROR|EXPECTEDFAIL|UNEXPECTEDPASS|INTERRUPT)\S* +(?:exit status \d+ +)?([\d.]+)s')


def read_table():
    """({part: seconds}, {(part, test): seconds})"""
    parts, tests = {}, {}
    for line in TABLE.read_text(encoding='utf-8').splitlines() if TABLE.exists() else []:
        seconds, part, *test = line.split(' ', 2)
        if test:
            tests[part, test[0]] = float(seconds)
        else:
            parts[part] = float(seconds)
    return parts, tests


def write_table(logs):
    parts, known = read_table()
    for part, log in logs:
        tests = [json.loads(line) for line in pathlib.Path(log).read_text(encoding='utf-8').splitlines()]
        parts[part] = max(t['starttime'] + t['duration'] for t in tests) - min(t['starttime'] for t in tests)
        known = {key: seconds for key, seconds in known.items() if key[0] != part}
        known |= {(part, t['name']): t['duration'] for t in tests if t['duration'] >= SHORT_S}
    lines = [f'{seconds:.0f} {part}' for part, seconds in parts.items()] + [f'{seconds:.0f} {part} {name}' for (part, name), seconds in sorted(known.items())]
    TABLE.write_text('\n'.join(lines) + '\n', encoding='utf-8')


class Progress:
    def __init__(self, part, names, later, at_once, now):
        parts, tests = read_table()
        self.later_s, self.at_once = sum(parts.get(p, 0) for p in later), at_once
        self.unknown = [p for p in later if p not in parts]
        self.left = {name: tests.get((part, name), SHORT_S / 2) for name in names}  # in the order in which meson starts them
        self.since = {}
        self.table_s = self.took_s = 0
        self.start(now)

    def start(self, now):
        for name in list(self.left)[:self.at_once]:
            self.since.setdefault(name, now)

    def ended(self, name, seconds, now):
        if name in self.left:
            known = self.left.pop(name)
            self.since.pop(name, None)
            if known >= SHORT_S:
                self.table_s += known
                self.took_s += seconds
            self.start(now)

    def line(self, now):
        judged = self.table_s >= KNOWN_S
        pace = (self.took_s + TABLE_WEIGHT_S) / (self.table_s + TABLE_WEIGHT_S)
        rest = {name: max(0, pace * known - (now - self.since.get(name, now))) for name, known in self.left.items()}
        left_s = max(sum(rest.values()) / self.at_once, max(rest.values(), default=0))
        end = time.strftime('%H:%M', time.localtime(time.time() + left_s + pace * self.later_s))
        running = ', '.join(f'{name.split(" / ")[-1]} ({(now - t) / 60:.0f} of {max(pace * self.left[name] / 60, 1):.0f} min)' for name, t in self.since.items())
        pace_is = f'tests take {pace:.1f} times as long as in tests/durations.txt' if judged else 'as in tests/durations.txt; how fast this machine is shows later'
        if self.unknown:
            pace_is += f'; without the tests in {" and ".join(self.unknown)}, whose time is not known'
        return f'-- {len(self.left)} tests to go, in about {left_s / 60:.0f} min; all ends at about {end} ({pace_is}); runs: {running}'


def follow(lines, progress):
    """Passes the lines on; says more every minute, whether there are lines or not."""
    came = queue.Queue()

    def read():
        for line in lines:
            came.put(line)
        came.put(None)

    threading.Thread(target=read, daemon=True).start()
    due = time.monotonic() + EVERY_S
    while True:
        try:
            line = came.get(timeout=max(0, due - time.monotonic()))
            if line is None:
                return
            print(line, end='', flush=True)
            if found := ENDED.match(line):
                progress.ended(found[1], float(found[2]), time.monotonic())
        except queue.Empty:
            print(progress.line(time.monotonic()), flush=True)
            due = time.monotonic() + EVERY_S


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--write', nargs='+', metavar='PART=LOG')
    parser.add_argument('of', nargs='*', metavar='PART LIST')
    options = parser.parse_args()
    if options.write:
        write_table(p.split('=', 1) for p in options.write)
        return
    part, order, *later = options.of
    names = [line.strip() for line in pathlib.Path(order).read_text(encoding='utf-8').splitlines() if ' / ' in line]
    at_once = int(os.environ.get('MESON_TESTTHREADS') or os.cpu_count())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what meson says of the end is still to pass
    follow(sys.stdin, Progress(part, names, later, at_once, time.monotonic()))


main()
