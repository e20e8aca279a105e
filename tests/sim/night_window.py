#!/usr/bin/env python3
"""conf/examples/simulate-night-window.yaml: hosts are in standby within the window only, all are on by ready_by, and the
morning's shortage is smaller than without schedule and forecast, for little more energy."""
import csv
import io
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(os.environ['BALLAST_SOURCE_DIR'])
SCENARIO = TOP / 'conf/examples/simulate-night-window.yaml'
HOSTS = 8


def rows(*changes):
    """A point a minute."""
    words = [w for c in changes for w in ('--set', c)]
    text = subprocess.run([os.environ['BALLAST'], 'simulate', SCENARIO, *words, '--series', '-', '--no-progress'],
                          capture_output=True, text=True, check=True, timeout=500).stdout
    return list(csv.DictReader(io.StringIO(text[text.index('t_s,'):])))


wrong = []


def check(what, good):
    print(f'{"good" if good else "WRONG"}: {what}')
    if not good:
        wrong.append(what)


def clock(row):
    return row['time'][11:16]


points = rows()
slept, before = 0, HOSTS
for row in points:
    on = int(row['hosts_on'])
    slept = max(slept, HOSTS - on)
    if on < before and not (clock(row) >= '19:00' or clock(row) < '07:05'):  # going down takes a minute
        check(f'no host goes to standby outside of the window ({row["time"]})', False)
    if '07:55' <= clock(row) < '19:00' and on < HOSTS:
        check(f'all hosts are on from 07:55 to 19:00 ({row["time"]}: {on})', False)
    before = on
check(f'hosts sleep in the night ({slept} at most)', slept >= 3)
check('all hosts are on at the end of each night', sum(clock(r) == '07:55' for r in points) == 3)

bare = rows('schedule.enabled=false', 'dpm.proactive=false')  # the forecast alone brings them back from the second day on
check('without schedule and forecast they are not back in time', min(int(r['hosts_on']) for r in bare if clock(r) == '07:55') < HOSTS)


def lacking(series):
    return sum(float(r['wanted_cpu_mhz']) - float(r['delivered_cpu_mhz']) for r in series)


check(f'less than half is missing ({lacking(points):.0f} of {lacking(bare):.0f} MHz min)', lacking(points) < 0.5 * lacking(bare))
energy = [float(r[-1]['kwh']) for r in (points, bare)]
check(f'for up to 3 % more energy ({energy[0]:.1f} and {energy[1]:.1f} kWh)', energy[0] < 1.03 * energy[1])

failing = rows('faults.rates.wake_fails=0.3')
late = [r['time'] for r in failing if clock(r) == '08:30' and int(r['hosts_on']) < HOSTS]
check(f'where three of ten wake-ups fail, all are there half an hour later ({late})', not late)
sys.exit(1 if wrong else 0)
