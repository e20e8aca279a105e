#!/usr/bin/env python3
"""Whether requests over HTTP make passes later: passes on a large cluster with and without load in turn, and what clients were answered meanwhile.

    tests/bench/http_load.py [--hosts N] [--vms N] [--rate N] [--connections N] [--rounds N] [--path PATH]

The load is that of hey (Debian): requests at a rate, from some connections; with a low priority, since real clients are other machines. In each
round a pass is asked for without and with it; by turns one or the other comes first. Prints each round and the medians: their ratio, from the request to the
reply, which other work on the machine delays; the CPU time of the pass, by thread; and the CPU time of the service's HTTP threads for a request.
CPU times are those of /proc/PID/task/TID/schedstat. Never fails for being slow; names each answer that is not 200.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'peers'))
import snapshots  # noqa: E402  (names the command)

os.environ.setdefault('BALLAST', snapshots.BALLAST)
os.environ.setdefault('BALLASTD', snapshots.BALLAST.replace('src/cli/ballast', 'src/daemon/ballastd'))
import daemon  # noqa: E402
import ports  # noqa: E402

WARM_S = 2  # of load before the pass


def cpu(pid):
    """Seconds of the main thread, of HTTP's, and of all others: the collector's."""
    spent = {'main': 0.0, 'http': 0.0, 'others': 0.0}
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        of = 'main' if int(task.name) == pid else 'http' if (task / 'comm').read_text().startswith('MHD') else 'others'
        spent[of] += int((task / 'schedstat').read_text().split()[0]) / 1e9
    return spent


def one_pass(d):
    """Seconds: until the reply, of CPU of the main thread, and of the collector's."""
    before, began = cpu(d.process.pid), time.monotonic()
    assert d.request({'command': 'run'})['ok']
    took, after = time.monotonic() - began, cpu(d.process.pid)
    return took, after['main'] - before['main'], after['others'] - before['others']


def under_load(d, port, token, given):
    """As above, and the answers: {status: number}, the rate, what went wrong, the seconds of CPU of a request."""
    out = d.folder / 'hey'
    before = cpu(d.process.pid)['http']
    with open(out, 'w', encoding='utf-8') as f:
        load = subprocess.Popen(['nice', '-n', '19', 'hey', '-z', '600s', '-c', str(given.connections), '-q', str(given.rate / given.connections), '-H',
                                 f'Authorization: Bearer {token}', f'http://127.0.0.1:{port}{given.path}'], stdout=f, stderr=f)
    try:
        time.sleep(WARM_S)
        result = one_pass(d)
    finally:
        load.send_signal(subprocess.signal.SIGINT)  # it then prints its sums
        load.wait(timeout=60)
    text = out.read_text()
    answers = {int(s): int(n) for s, n in re.findall(r'\[(\d+)\]\s+(\d+) responses', text)}
    errors = text.partition('Error distribution:')[2].strip()
    spent = (cpu(d.process.pid)['http'] - before) / max(sum(answers.values()), 1)
    return result, answers, float(re.search(r'Requests/sec:\s+(\S+)', text)[1]), errors, spent


def measure(d, port, token, given):
    quiet, loaded, rates, spent, answers, errors = [], [], [], [], {}, []
    for n in range(given.rounds):
        for with_load in ((False, True) if n % 2 else (True, False)):
            if not with_load:
                quiet.append(one_pass(d))
                continue
            result, more, rate, error, of_request = under_load(d, port, token, given)
            loaded.append(result)
            rates.append(rate)
            spent.append(of_request)
            answers = {s: answers.get(s, 0) + more.get(s, 0) for s in {*answers, *more}}
            errors += [error] if error else []
    print(f'{given.hosts} hosts, {given.vms} VMs; {statistics.median(rates):.0f} requests a second for {given.path} from {given.connections} connections; '
          f'answers {answers}; {1e6 * statistics.median(spent):.1f} us of CPU of the service for a request')
    for i, what in enumerate(('pass, from request to reply', 'CPU of the main thread', 'CPU of the collector')):
        a, b = statistics.median(r[i] for r in quiet), statistics.median(r[i] for r in loaded)
        print(f'  {what}: {a:.3f} s without, {b:.3f} s with load: ratio {b / a:.3f}')
        print('    without ' + ' '.join(f'{r[i]:.3f}' for r in quiet) + '; with ' + ' '.join(f'{r[i]:.3f}' for r in loaded))
    refused = sum(n for s, n in answers.items() if s != 200)
    print(f'  answers that are not 200: {refused}; requests without an answer: {"see below" if errors else 0}')
    for error in errors:
        print(f'  error: {error}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    for name, default in (('hosts', 1000), ('vms', 30000), ('rate', 2000), ('connections', 64), ('rounds', 5)):
        parser.add_argument(f'--{name}', type=int, default=default)
    parser.add_argument('--path', default='/api/v1/clusters/test/hosts')
    given = parser.parse_args()
    if not shutil.which('hey'):
        print('skipped: hey is missing (apt install hey)')
        sys.exit(snapshots.SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        path = snapshots.generated(given.hosts, given.vms, 'skewed', folder)
        port = ports.take()
        with daemon.Daemon({'kind': 'file', 'file': str(path)}, interval_s=3600, automation='manual', http={'listen': f'127.0.0.1:{port}'}) as d:
            d.start()
            token = d.cli('token', 'create', 'load', '--role', 'viewer').strip()
            daemon.wait_for('a pass', lambda: json.loads(d.cli('status', '--format', 'json'))['pass'], 300, 1)
            measure(d, port, token, given)


if __name__ == '__main__':
    main()
