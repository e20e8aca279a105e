"""Clusters for the benchmarks and their plans: snapshots of the benchmark data, generated ones, and what is left after a plan.

The data is not part of the tree: BALLAST_DATA names the folder, `clusters/NAME.json.xz` is a snapshot in it. BALLAST names the command.
"""
import json
import lzma
import os
import pathlib
import re
import statistics
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]
BUILT = [TREE / build / 'src/cli/ballast' for build in ('build-release', 'build')]
BALLAST = os.environ.get('BALLAST', str(next((path for path in BUILT if path.exists()), BUILT[0])))
SKIPPED = 77
# For counting instructions: without a fixed threshold it varies from run to run whether calloc() clears large memory itself, and
# with it a decision's count, by up to 40 %.
COUNTING = {**os.environ, 'GLIBC_TUNABLES': 'glibc.malloc.mmap_threshold=65536'}
RESOURCES = (('cpu', 'cpu_mhz'), ('mem', 'mem_mb'))


def data(name):
    """The path of a file of the benchmark data, or None."""
    for folder in (os.environ.get('BALLAST_DATA'), TREE.parent / 'shared/data'):
        if folder and (pathlib.Path(folder) / name).exists():
            return pathlib.Path(folder) / name
    return None


def stored(name, folder):
    """The unpacked snapshot of the benchmark data, or None."""
    archive = data(f'clusters/{name}.json.xz')
    if not archive:
        return None
    path = pathlib.Path(folder) / f'{name}.json'
    path.write_bytes(lzma.decompress(archive.read_bytes()))
    return path


def generated(hosts, vms, shape, folder, seed=1):
    path = pathlib.Path(folder) / f'{hosts}x{vms}-{shape}.json'
    if not path.exists():
        with open(path, 'w', encoding='utf-8') as f:
            subprocess.run([BALLAST, 'generate', '--hosts', str(hosts), '--vms', str(vms), '--seed', str(seed), '--shape', shape],
                           stdout=f, check=True)
    return path


def plan(path, settings=()):
    args = [part for setting in settings for part in ('--set', setting)]
    done = subprocess.run([BALLAST, 'plan', '--snapshot', str(path), '--format', 'json', *args], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def count_instructions(path, folder, program=BALLAST):
    """The instructions of the decision, by callgrind; 0 if it does not say."""
    out = pathlib.Path(folder) / 'callgrind.out'
    done = subprocess.run(['valgrind', '--tool=callgrind', '--toggle-collect=pass_run', f'--callgrind-out-file={out}',
                           program, 'plan', '--snapshot', str(path), '--format', 'json'], capture_output=True, text=True, check=True, env=COUNTING)
    match = re.search(r'Collected : (\d+)', done.stderr)
    return int(match.group(1)) if match else 0


def moves(made):
    return [r for r in made['recommendations'] if r['action'] == 'migrate']


class Loads:
    """Every host's demand / capacity as the snapshot has it, once some VMs have moved. Not Ballast's own figures, so that
    all planners are judged alike."""

    def __init__(self, path, moved=()):
        with open(path, encoding='utf-8') as f:
            snap = json.load(f)
        where = {vm['id']: vm['host'] for vm in snap['vms']}
        size_mb = {vm['id']: vm['mem'].get('consumed', vm['mem']['demand']) for vm in snap['vms']}
        self.gb = sum(size_mb[r['vm']] for r in moved) / 1024
        where.update({r['vm']: r['to'] for r in moved})
        self.of = {}
        for what, capacity in RESOURCES:
            demand = dict.fromkeys((h['id'] for h in snap['hosts']), 0)
            for vm in snap['vms']:
                demand[where[vm['id']]] += vm[what]['demand']
            self.of[what] = [demand[h['id']] / h[capacity] for h in snap['hosts']]

    def spread(self, what):
        return statistics.pstdev(self.of[what])

    def most(self, what):
        return max(self.of[what])


def show(head, rows, markdown):
    """A table for README.md, or in columns."""
    if markdown:
        print('| ' + ' | '.join(head) + ' |\n|' + '---|' * len(head))
        for row in rows:
            print('| ' + ' | '.join(row) + ' |')
        return
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        print('  '.join(cell.ljust(widths[i]) for i, cell in enumerate(row)).rstrip())
