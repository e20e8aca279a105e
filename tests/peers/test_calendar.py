#!/usr/bin/env python3
"""Calendar expressions and time spans against systemd-analyze: their times over both changes of the clocks in several zones, and
which expressions are refused."""
import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

N = 6
SEED = int(os.environ.get('BALLAST_TEST_SEED', '20261122'))
ROUNDS = 260 if os.environ.get('BALLAST_TEST_LONG') else 100

BY_HAND = '''
minutely|hourly|daily|monthly|weekly|yearly|annually|quarterly|semiannually|biannually|bi-annually|semi-annually|DAILY
Mon..Fri 20:00|Fri 20:00|Sat,Sun 08:30|Mon,Wed..Fri *-*-* 22:30:15|mon,TUE 10:00|Sunday 00:00|Mon-Wed 5:00|Mon, 10:00
*-*-* 02:30|*-*-* *:00/15|*-*-* 1/2:30|*-*-* 0..5:*/10:00/30|05:40|05:40:30|*:0/7|*-*~1 22:00|*-*~03|Mon *-05~07/1|*-02~01
*-*~1..7/2|*-*~7/3 04:00|*-*~3..5|2028-02-29 12:00|*-02-29|Mon *-02-29|*-*-31|*-4,6,9-30|2027..2029-1/3-1|27-6-1|2026/4-*-1
*-*-1..7 18:00|Thu *-11-22..28|*-*-1/10|*-*-5,10..12,20/4 3:00|2025-01-01|*-12-24 12:00|Mon..Sun 7:00|*-*-*|00:00:00|*-1-1 *:*:*
Wed..Sat,Tue 12-10-15 1:2:3|Sat,Thu,Mon..Wed,Sat..Sun|*-*-7 0:0:0|10-15|monday *-12-* 17:00|12,14,13,12:20,10,30
2003-03-05|*-*-2,4..7/2 0,12..14,20/3:00
'''.replace('\n', '|').split('|')

REFUSED = '''
Feb 30|Fri..Mon|Mon..|..Fri|Mon..Tue..Wed|Mon...Fri..|Foo|20|20:|:20|20:0:|24:00|1:60|1:1:60|*-13-1|*-0-1|*-1-0|*-1-32|*-*~29|*-*~0
*-*-1..|*-*-5..1|*-*-1/0|*-*-1/31|1969-1-1|2200-1-1|*~1-1|*-*-*-*|*-*-* 1:2:3:4|*-*-* 1|Mon,,Tue|,Mon|Mon *-*-* 10:00 Nowhere/Land
* * *|**-*-*|1-2-3-4|*-*-*T10:00|-1:00|1/x:00|*-*-|Mon*|0x1:00|1:-1|99999999999:00|Mon..Fri..Sun 1:00||UTC|10:00 UTC UTC
*-*-1..5/5|*-*~1..5/5|*-*~5..1|0..30/1:00|1..1:00|23/1:00|22/1:00|*-*~27/28|*-*~28/27|1970..2199-*-*
'''.replace('\n', '|').split('|')

ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Kolkata', 'Africa/Casablanca',
         'Pacific/Apia', 'Asia/Tehran', 'America/Sao_Paulo']
BASES = [datetime(*d, tzinfo=timezone.utc) for d in
         [(2026, 3, 27, 22), (2026, 3, 29, 0, 59, 59), (2026, 10, 24, 12), (2026, 10, 25, 0, 30), (2026, 10, 25, 1, 10), (2026, 11, 1, 5, 15),
          (2026, 3, 8, 6, 59, 59), (2026, 4, 4, 14, 45), (2026, 10, 3, 15, 29), (2027, 12, 31, 23, 59, 59), (2011, 12, 29, 9),
          (2028, 2, 28, 23), (2018, 11, 3, 12)]]

GAVE_UP = "gave up"  # it looks a thousand times at most

SPANS = ['10h', '1d 12h', '90 min', '5', '2weeks', '1month', '1 M', '1y', '1h30m', '45s 1hr', '2 days 3hours 4minutes 5 seconds',
         '', 'h', '10x', '-5h', '1h 2', 'ten hours', '1 hour,', '1second', '10 sec', '1w 1d']


def probe(lines):
    out = subprocess.run([os.environ['BALLAST_CALENDAR_PROBE']], input='\n'.join(lines) + '\n', capture_output=True, text=True,
                         check=True, timeout=120).stdout
    return out.splitlines()


def systemd(base, expression):
    """The instants, or None where it is refused."""
    out = subprocess.run(['systemd-analyze', 'calendar', f'--iterations={N}', f'--base-time=@{base}', '--', expression],
                         capture_output=True, text=True, env={**os.environ, 'TZ': 'UTC', 'LC_ALL': 'C'}, timeout=60)
    if 'deadlock' in out.stderr:
        return GAVE_UP
    if out.returncode != 0:
        return None
    return [int(datetime.strptime(t, '%Y-%m-%d %H:%M:%S').replace(tzinfo=timezone.utc).timestamp())
            for t in re.findall(r'(?:elapse|#\d+): \w+ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC', out.stdout)]


def span_of_systemd(text):
    out = subprocess.run(['systemd-analyze', 'timespan', '--', text], capture_output=True, text=True, timeout=60,
                         env={**os.environ, 'LC_ALL': 'C'})
    us = re.search(r's: (\d+)', out.stdout)
    return int(us.group(1)) // 1000000 if out.returncode == 0 and us and int(us.group(1)) > 0 else None


def zone_of(expression):
    last = expression.split(' ')[-1]
    return last if last in ZONES else 'UTC'


def some_list(r, first, last):
    """Of numbers within the range, mostly well-formed."""
    def item():
        a = r.randint(first, last)
        kind = r.random()
        if kind < 0.5:
            return f'{a}'
        b = r.randint(a, last)
        if kind < 0.75:
            return f'{a}..{b}'
        return f'{a}/{r.randint(1, max(1, (last - first) // 3))}' if kind < 0.9 else f'{a}..{b}/{r.randint(1, 4)}'
    return '*' if r.random() < 0.3 else ','.join(item() for _ in range(r.choice([1, 1, 1, 2, 3])))


def some_expression(r):
    parts = []
    if r.random() < 0.4:
        days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
        a, b = sorted(r.sample(range(7), 2))
        parts.append(r.choice([days[a], f'{days[a]}..{days[b]}', f'{days[a]},{days[b]}']))
    if r.random() < 0.6:
        year = '' if r.random() < 0.3 else r.choice(['*', '*', '2026..2030', '2027', '2026/3']) + '-'
        end = r.random() < 0.25
        parts.append(year + some_list(r, 1, 12) + ('~' if end else '-') + some_list(r, 1, 28 if end else 31))
    if r.random() < 0.8 or not parts:
        parts.append(some_list(r, 0, 23) + ':' + some_list(r, 0, 59) + ('' if r.random() < 0.6 else ':' + some_list(r, 0, 59)))
    text = ' '.join(parts)
    if r.random() < 0.1:  # something wrong, perhaps
        at = r.randrange(len(text))
        text = text[:at] + r.choice('-~:*,/. 9') + text[at + r.randint(0, 1):]
    return text


def main():
    if not shutil.which('systemd-analyze'):
        print('systemd-analyze is not here (package systemd)')
        return 1 if os.environ.get('CI') else 77
    r = random.Random(SEED)
    cases = [(int(base.timestamp()), f'{e} {zone}'.strip()) for e in BY_HAND if e.strip()
             for zone, base in zip(r.choices(ZONES, k=3), r.choices(BASES, k=3))]
    cases += [(int(BASES[0].timestamp()), e) for e in REFUSED]
    for zone in ZONES:  # every second change of clocks: each hour, and what is in it
        cases += [(int(base.timestamp()), f'{e} {zone}') for e in ('*:00/30', '02:30', '2:00', '0..3:15') for base in BASES]
    cases += [(int(r.choice(BASES).timestamp()), f'{some_expression(r)} {r.choice(ZONES)}') for _ in range(ROUNDS)]
    answers = probe([f'{base} {N} {e}' for base, e in cases])
    with ThreadPoolExecutor(2) as pool:
        expected = list(pool.map(lambda c: systemd(*c), cases))
    wrong = 0
    for (base, e), mine, theirs in zip(cases, answers, expected):
        forwards, _, backwards = mine.partition('|')
        found = None if mine == '!' else [int(t) for t in forwards.split()]
        never = found is None and theirs == []  # what never comes is refused here, and not there
        # whoever asks between the two times that it is half past two finds the second one there, and none here
        between = datetime.fromtimestamp(base, ZoneInfo(zone_of(e))).fold == 1
        # of days counted from the end systemd 252 takes three more off the range for each further item of a list
        stricter = theirs is None and re.search(r'~[^ ]*,', e)
        there_and_back = found is None or [int(t) for t in backwards.split()] == found[::-1]
        if (found != theirs and theirs != GAVE_UP and not never and not between and not stricter) or not there_and_back:
            wrong += 1
            print(f'"{e}" from {base}: {mine}\n    systemd-analyze: {theirs}')
    for text, mine in zip(SPANS, probe([f'0 0 {s}' for s in SPANS])):
        theirs = span_of_systemd(text)
        if mine != ('!' if theirs is None else str(theirs)):
            wrong += 1
            print(f'span "{text}": {mine}, systemd-analyze: {theirs}')
    refused = sum(t is None for t in expected)
    print(f'{len(cases)} expressions, {refused} of them refused, {len(SPANS)} spans, {wrong} differ (seed {SEED})')
    assert refused > 40 and len(cases) - refused > 400, 'the test has lost its cases'
    return 1 if wrong else 0


sys.exit(main())
