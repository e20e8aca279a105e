#!/usr/bin/env python3
"""Shows that a change of the code changes no decision: two programs give the same JSON, sentences aside, for the same questions.

compare_decisions.py [--added FIELD,…] BEFORE AFTER       two `ballast` programs, of the tree before and after a change

The questions are the scenarios' own commands, the example simulations (four hours of each), generated clusters of each shape, and
the clusters in the folder clusters/ of $BALLAST_DATA, or of ../shared/data beside the checkout. A field that only AFTER has
is named once and is a difference, unless --added allows it. Exit code 0: no difference.
"""
import argparse
import collections
import json
import lzma
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from scenarios import run as scenario_runner

TOP = pathlib.Path(__file__).resolve().parents[1]
SENTENCES = {'text', 'summary', 'outlook', 'assumed'}
TIMES = {'decide_us', 'decide_ms_total'}
SHAPES = ('uniform', 'skewed', 'spike', 'pools')
SIZES = ((4, 24), (8, 80), (16, 200))
SEEDS = (1, 2, 3)
SHOWN = 20  # differences of one question

Question = collections.namedtuple('Question', 'folder arguments')


def of_scenarios():
    for name in scenario_runner.names():
        folder = scenario_runner.HERE / name
        for line in scenario_runner.commands(folder):
            arguments = shlex.split(line)
            if '--format' in arguments:
                at = arguments.index('--format')
                del arguments[at:at + 2]
            if '--snapshot' not in arguments and arguments[0] not in scenario_runner.TAKES_NO_SNAPSHOT:
                arguments += ['--snapshot', 'snapshot.json']
            yield Question(folder, arguments)


def of_examples():
    for path in sorted((TOP / 'conf/examples').glob('simulate-*.yaml')):
        yield Question(TOP, ['simulate', str(path), '--no-progress', '--set', 'duration_s=14400'])


def of_cluster(path):
    """Every command, asked about a cluster of any kind."""
    cluster = json.loads(path.read_text(encoding='utf-8'))
    hosts = [h['id'] for h in cluster['hosts']]
    vms = [v['id'] for v in cluster['vms']]
    new = path.with_suffix('.vms')
    new.write_text(json.dumps([{'id': f'new-{n}', 'vcpus': 2, 'mem_mb': 2048 * n} for n in (1, 2, 3)]), encoding='utf-8')
    for words in (['plan'], ['plan', '--set', 'dpm.enabled=true'], ['plan', '--set', 'migration_threshold=5'], ['entitlements'],
                  ['explain', '--vm', vms[0]], ['explain', '--vm', vms[-1]], ['explain', '--host', hosts[0]],
                  ['place', '--vms', str(new)], ['what-if', '--maintenance', hosts[0]], ['what-if', '--host-off', hosts[-1]],
                  ['what-if', '--demand', f'{vms[0]}=4000']):
        yield Question(path.parent, [*words, '--snapshot', str(path)])


def made_up(ballast, folder):
    for shape in SHAPES:
        for hosts, vms in SIZES:
            for seed in SEEDS:
                path = folder / f'{shape}-{hosts}x{vms}-{seed}.json'
                path.write_bytes(subprocess.run([ballast, 'generate', '--shape', shape, '--hosts', str(hosts), '--vms', str(vms),
                                                 '--seed', str(seed)], capture_output=True, check=True).stdout)
                yield path


def from_files(folder):
    data = pathlib.Path(os.environ.get('BALLAST_DATA') or TOP.parent / 'shared/data') / 'clusters'
    found = sorted(data.glob('*.json.xz'))
    if not found:
        print(f'no clusters in {data}: BALLAST_DATA names the folder that holds clusters/', file=sys.stderr)
    for source in found:
        path = folder / source.stem
        path.write_bytes(lzma.decompress(source.read_bytes()))
        yield path


def answer(ballast, question):
    """(exit code, what it printed without sentences and times)."""
    done = subprocess.run([ballast, *question.arguments, '--format', 'json'], cwd=question.folder, capture_output=True, text=True,
                          check=False, env={**os.environ, 'LC_ALL': 'C.UTF-8', 'NO_COLOR': '1'})
    try:
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else None
    except json.JSONDecodeError:
        return done.returncode, done.stdout


def differences(before, after, added, place=''):
    """Lines; what only `after` has goes to `added`, by its field's name."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [k for k in before if k not in SENTENCES | TIMES]:
            if key in after:
                yield from differences(before[key], after[key], added, f'{place}/{key}')
            else:
                yield f'{place}/{key} is gone'
        added.update(k for k in after if k not in before and k not in SENTENCES | TIMES)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f'{place} has {len(after)} entries, not {len(before)}'
        for n, (one, other) in enumerate(zip(before, after)):
            yield from differences(one, other, added, f'{place}/{n}')
    elif type(before) is not type(after) or before != after:
        yield f'{place}: {json.dumps(before)} is now {json.dumps(after)}'


def compare(options, questions):
    """(number of questions that are answered differently, fields that only AFTER has)."""
    added, wrong = set(), 0

    def ask(question):
        return answer(options.before, question), answer(options.after, question)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for question, (before, after) in zip(questions, pool.map(ask, questions)):
            found = list(differences(before[1], after[1], added))
            if before[0] != after[0]:
                found.insert(0, f'exit code {after[0]}, not {before[0]}')
            if found:
                wrong += 1
                print(f'{question.folder}: ballast {shlex.join(question.arguments)}')
                print(''.join(f'    {line}\n' for line in found[:SHOWN]), end='')
                if len(found) > SHOWN:
                    print(f'    and {len(found) - SHOWN} more')
    return wrong, added


def main():
    parser = argparse.ArgumentParser(usage='%(prog)s [--added FIELD,…] BEFORE AFTER')
    parser.add_argument('--added', default=set(), type=lambda words: set(words.split(',')))
    parser.add_argument('before', type=os.path.abspath)
    parser.add_argument('after', type=os.path.abspath)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        questions = [*of_scenarios(), *of_examples()]
        for path in [*made_up(options.before, folder), *from_files(folder)]:
            questions += of_cluster(path)
        wrong, added = compare(options, questions)
    for field in sorted(added):
        print(f'only {options.after} has the field {field}' + (' (allowed)' if field in options.added else ''))
    print(f'{len(questions)} questions, {wrong} answered differently')
    return 1 if wrong or added - options.added else 0


sys.exit(main())
