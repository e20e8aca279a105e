#!/usr/bin/env python3
"""Measures in traces how much demand varies: the two figures of src/core/costbenefit/README.md.

demand_variation.py NAME FILE...     one file a VM; PlanetLab (a percentage a line) or Bitbrains (';' between columns)

Prints, over the VMs with any demand: the spread of neighbouring samples / sqrt 2 over the mean (quartiles), and the root mean
square of the relative change of the sum over groups of 10, 40 and 100 VMs, after 5, 15 and 60 minutes. Samples are 5 minutes apart.
"""
import math
import random
import statistics
import sys

CPU_COLUMN = 3  # of Bitbrains: MHz used
GROUPS = 200


def read(path):
    with open(path, encoding='ascii') as f:
        lines = [line.strip() for line in f if line.strip()]
    rows = [line.split(';') for line in lines]
    if rows and len(rows[0]) > CPU_COLUMN:
        return [float(row[CPU_COLUMN]) for row in rows if row[CPU_COLUMN].strip()[:1].isdigit()]
    return [float(line) for line in lines]


def spread(trace):
    steps = [y - x for x, y in zip(trace, trace[1:])]
    return math.sqrt(sum(d * d for d in steps) / len(steps) / 2) / statistics.mean(trace)


def drift(traces, size, lag):
    length = min(len(t) for t in traces)
    changes = []
    for _ in range(GROUPS):
        group = random.sample(traces, size)
        total = [sum(t[i] for t in group) for i in range(length)]
        changes += [(total[i + lag] - total[i]) / total[i] for i in range(0, length - lag, 6) if total[i] > 0]
    return math.sqrt(sum(c * c for c in changes) / len(changes))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    random.seed(1)
    traces = [t for t in map(read, sorted(sys.argv[2:])) if len(t) >= 288 and statistics.mean(t) > 2]
    q = statistics.quantiles(map(spread, traces), n=4)
    print(f'{sys.argv[1]}: {len(traces)} VMs; spread within an interval: {q[1]:.2f} ({q[0]:.2f} - {q[2]:.2f})')
    for size in (10, 40, 100):
        if size <= len(traces):
            figures = ', '.join(f'{5 * lag} min {drift(traces, size, lag):.2f}' for lag in (1, 3, 12))
            print(f'  sum of {size:3} VMs: {figures}')


if __name__ == '__main__':
    main()
