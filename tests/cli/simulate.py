#!/usr/bin/env python3
"""ballast simulate from outside: formats, changes, two policies, several seeds, files, error messages."""
import csv
import io
import json
import os
import pathlib
import pty
import shutil
import stat
import subprocess
import tempfile

from command import BALLAST, TOP, check, end, run

SCENARIO = """
name: An afternoon
duration_s: 7200
seed: 1
settings: {automation: full, cost_benefit: false}
hosts:
  - {name: esx, count: 4, cores: 8, core_mhz: 3000, mem_mb: 65536, wake_verified: true}
pools:
  - {name: shop, cpu: {shares: 8000}}
  - {name: batch}
vms:
  - {name: shop, count: 8, pool: shop, vcpus: 2, mem_mb: 8192, at: esx-001,
     workload: {cpu: {kind: constant, level: 2500}, mem: {kind: constant, level: 4096}}}
  - {name: batch, count: 8, pool: batch, vcpus: 2, mem_mb: 4096, at: random,
     workload: {cpu: {kind: uniform, high: 1500, high_spread: 1000, step_s: 300}, mem: {kind: constant, level: 2048}}}
"""
METRICS = """payload_cpu payload_mem payload_cpu_bound payload_mem_bound migrations migrations_failed gb_moved kwh kwh_all_on
imbalance_mean imbalance_final time_below_0_1_s time_to_target_s happiness_mean happy_share unmet_mhz_s unmet_mb_s host_power_offs
host_power_ons slatah pdm slav esv hosts_on_mean decide_ms_total""".split()


def simulate(*arguments, **how):
    return run('simulate', *arguments, **how)


def parsed(what, *arguments):
    done = simulate(*arguments, '--format', 'json')
    check(f'{what}: exit code 0', done.returncode == 0, done.stderr)
    check(f'{what}: nothing on standard error', not done.stderr, done.stderr)
    return json.loads(done.stdout)


def without_time(answer):
    """A run's answer but for the time that deciding took, which is the only thing that may differ."""
    for part in [answer, answer.get('a', {}), answer.get('b', {}), *answer.get('runs', [])]:
        part.get('metrics', {}).pop('decide_ms_total', None)
        part.get('range', {}).pop('decide_ms_total', None)
        for run_of in part.get('runs', []):
            run_of['metrics'].pop('decide_ms_total', None)
    answer.get('differences', {}).pop('decide_ms_total', None)
    return answer


def test_formats(path):
    answer = parsed('json', path)
    check('json: the contract', answer['format'] == 'ballast-simulation/1' and answer['scenario'] == 'An afternoon'
          and answer['seed'] == 1 and answer['duration_s'] == 7200, str(answer)[:200])
    check('json: all metrics', set(METRICS) <= set(answer['metrics']), str(set(METRICS) - set(answer['metrics'])))
    check('json: pools', set(answer['pools']) == {'shop', 'batch'} and answer['pools']['shop']['vms'] == 8)
    check('something was moved', answer['metrics']['migrations'] > 0)
    check('json: the same again', without_time(answer) == without_time(parsed('again', path)))
    text = simulate(path)
    check('text', text.returncode == 0 and text.stdout.startswith('An afternoon: 4 hosts, 16 VMs, 2 h, 24 passes; seed 1.\n'),
          text.stdout[:200] + text.stderr)
    check('text: the same again', text.stdout == simulate(path).stdout)
    check('text: no time of this machine', ' ms' not in text.stdout)


def test_warnings(path):
    quiet, warned = simulate(path), simulate(path, '--set', 'cool_down_s=0', '--format', 'json')
    check('no warning about the defaults', 'warning' not in quiet.stderr, quiet.stderr)
    check('a warning about cool_down_s: 0', warned.returncode == 0 and 'warning: cool_down_s is 0: ' in warned.stderr, warned.stderr)
    former = simulate(path, '--set', 'dpm.off_max_s=3600')
    check('a setting of an earlier version is accepted with a warning',
          former.returncode == 0 and 'warning: --set dpm.off_max_s: dpm.off_max_s is not used any more' in former.stderr and
          former.stdout == quiet.stdout, former.stderr)
    check('a warning is not part of the result', json.loads(warned.stdout)['policy']['cool_down_s'] == 0)


def test_changes(path):
    check('--set: a value of the scenario', parsed('set', path, '--set', 'duration_s=3600')['duration_s'] == 3600)
    check('--set: a setting', parsed('set', path, '--set', 'migration_threshold=1')['policy']['migration_threshold'] == 1)
    check('--set: an entry by its name', parsed('set', path, '--set', 'vms.batch.count=2')['vms'] == 10)
    check('--set ballast=false', parsed('off', path, '--set', 'ballast=false')['metrics']['migrations'] == 0)
    one, two = (parsed('seed', path, '--seed', seed) for seed in '12')
    check('--seed', two['seed'] == 2 and one['metrics']['payload_cpu_bound'] != two['metrics']['payload_cpu_bound'])
    check('--seed of the file', without_time(one) == without_time(parsed('file', path)))


def test_seeds(path):
    answer = parsed('seeds', path, '--seeds', '3', '--seed', '7')
    check('--seeds: one run each', [r['seed'] for r in answer['runs']] == [7, 8, 9] and answer['seeds'] == 3)
    bounds = sorted(r['metrics']['payload_cpu_bound'] for r in answer['runs'])
    check('--seeds: median and range', answer['metrics']['payload_cpu_bound'] == bounds[1]
          and answer['range']['payload_cpu_bound'] == [bounds[0], bounds[2]], str(bounds))
    alone = parsed('alone', path, '--seed', '8')
    check('--seeds: as if alone', without_time(answer)['runs'][1]['metrics'] == without_time(alone)['metrics'])
    text = simulate(path, '--seeds', '3').stdout
    check('--seeds: text', '3 runs, seeds 1 to 3' in text and 'median' in text, text[:300])


def test_compare(path):
    answer = parsed('compare', path, '--compare', 'ballast=false', '')
    a, b = answer['a'], answer['b']
    check('--compare: the format', answer['format'] == 'ballast-simulation-comparison/1')
    check('--compare: two policies', a['ballast'] is False and b['ballast'] is True and a['metrics']['migrations'] == 0
          and b['metrics']['migrations'] > 0)
    check('--compare: the same workload', a['metrics']['payload_cpu_bound'] == b['metrics']['payload_cpu_bound'])
    moves = answer['differences']['migrations']
    check('--compare: the difference', moves['difference'] == b['metrics']['migrations'] and moves['percent'] is None
          and moves['better'] == 'a', str(moves))
    check('--compare: which is better', answer['differences']['imbalance_mean']['better'] == 'b')
    before = simulate('--compare', 'ballast=false', '', path)
    after = simulate(path, '--compare', 'ballast=false', '')
    check('--compare: wherever it stands', before.returncode == 0 and before.stdout == after.stdout, before.stderr)
    check('--compare: text', '\nA: ballast=false. ' in after.stdout and '\nB: the scenario as it is. ' in after.stdout, after.stdout[:400])
    same = parsed('same', path, '--compare', '', 'migration_threshold=3,dpm.enabled=false')
    check('--compare: nothing differs', all(not d['difference'] and d['better'] is None
                                            for d in without_time(same)['differences'].values()))
    several = parsed('several', path, '--compare', 'ballast=false', '', '--seeds', '3')
    check('--compare --seeds', several['differences']['imbalance_mean']['seeds_b_better'] == 3
          and len(several['a']['runs']) == 3)


def test_files(path, folder):
    table, page = folder / 'series.csv', folder / 'page.html'
    table.write_text('old')
    table.chmod(0o640)
    done = simulate(path, '--series', table, '--report', page)
    check('files: printed as well', done.returncode == 0 and done.stdout == simulate(path).stdout, done.stderr)
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    check('--series: a line a point', len(rows) > 100 and rows[0]['time'] == '2026-01-05T00:00:00Z', str(rows[:1]))
    check('--series: whole lines', all(None not in r and None not in r.values() for r in rows))
    check('--series: hosts and pools', 'cpu load of esx-001' in rows[0] and 'happiness of shop' in rows[0])
    check('--series: a file that was there keeps its mode', stat.S_IMODE(table.stat().st_mode) == 0o640)
    check('--series: nothing is left over', sorted(p.name for p in folder.iterdir()) == ['page.html', 'scenario.yaml', 'series.csv'])
    text = page.read_text()
    check('--report: a page', text.startswith('<!DOCTYPE html>') and text.rstrip().endswith('</html>') and 'An afternoon' in text)
    alone = simulate(path, '--series', '-')
    check('--series -: nothing else', alone.stdout == table.read_text(), alone.stdout[:100])
    check('--report -: nothing else', simulate(path, '--report', '-').stdout == text)
    both = simulate(path, '--compare', '', 'ballast=false', '--series', '-').stdout
    check('--series of two runs', [r['run'] for r in csv.DictReader(io.StringIO(both))].count('B') == len(rows))
    link = folder / 'link.csv'
    link.symlink_to(table)
    simulate(path, '--series', link, '--set', 'duration_s=600')
    check('--series: what a link leads to', link.is_symlink() and len(table.read_text().splitlines()) < 20)
    done = simulate(path, '--series', folder / 'none' / 'x.csv')
    check('--series: no such folder', done.returncode == 1 and not done.stdout and 'x.csv: cannot be written: No such file' in done.stderr, done.stderr)
    done = simulate(path, '--report', folder)
    check('--report: a folder', done.returncode == 1 and not done.stdout and 'cannot be written: Is a directory' in done.stderr, done.stderr)


def test_report_page(path, folder):
    """Where the built page is not there, is another one, or holds its place for the data."""
    built = folder / 'built'
    program, page, out = built / 'src/cli/ballast', built / 'dashboard/report.html', folder / 'out.html'
    program.parent.mkdir(parents=True)
    shutil.copy2(BALLAST, program)

    def report():
        return subprocess.run([program, 'simulate', path, '--report', out, '--no-progress'], capture_output=True, text=True, check=False)

    done = report()
    text = out.read_text()
    check('--report without a page: tables', done.returncode == 0 and 'built without its pages' in done.stderr and '<table>' in text
          and 'An afternoon' in text and '<script' not in text, done.stderr)
    page.parent.mkdir()
    page.write_text('<html>of another version</html>')
    done = report()
    check('--report with another page: an error', done.returncode == 1 and 'is not the page of this version' in done.stderr
          and out.read_text() == text and not done.stdout, done.stderr)
    before, after = '<p>$1</p><script type="application/json" id="data">', '</script><p>after</p>'
    page.write_text(before + after)
    done = report()
    text = out.read_text()
    check('--report with a page: the page', done.returncode == 0 and not done.stderr and text.startswith(before) and text.endswith(after), done.stderr)
    data = json.loads(text[len(before):-len(after)])
    check('--report with a page: its data', data['format'] == 'ballast-report/1' and data['title'] == 'An afternoon'
          and len(data['runs']) == 1, str(data)[:200])
    page.chmod(0)
    if os.geteuid() != 0:
        check('--report: a page that cannot be read', 'cannot be read' in report().stderr)


WRONG = [
    (['--seed', 'x'], '--seed: "x" is wrong, expected a whole number'),
    (['--seeds', '0'], '--seeds: expected 1 or more'),
    (['--seeds', '100000'], '--seeds: "100000" is wrong'),
    (['--set', 'duration_s'], '--set: "duration_s" has no =, expected KEY=VALUE'),
    (['--set', '=5'], '--set: "=5" has no key before its =, expected KEY=VALUE'),
    (['--set', 'duraton_s=5'], 'did you mean "duration_s"'),
    (['--set', 'duration_s=soon'], 'duration_s is "soon", expected a number'),
    (['--set', 'settings.migration_threshold=9'], 'migration_threshold'),
    (['--compare', 'ballast=false'], '--compare needs two values, A B'),
    (['--compare', 'ballast', ''], '--compare: "ballast" has no =, expected KEY=VALUE'),
    (['--compare', '', 'ballast=maybe'], 'ballast is "maybe", expected true or false'),
    (['--compare', '', '', '--compare', '', ''], '--compare is given twice'),
    (['--series', '-', '--report', '-'], 'cannot both go to standard output'),
    (['--format', 'csv'], '--format: "csv" is not known'),
    (['--no-such-option'], 'unknown option --no-such-option'),
]


def test_complaints(path, folder):
    for arguments, complaint in WRONG:
        done = simulate(path, *arguments)
        check(f'{arguments}', done.returncode == 2 and complaint in done.stderr and not done.stdout
              and done.stderr.count('\n') == 1, f'{done.returncode} {done.stderr}')
    done = simulate()
    check('no scenario', done.returncode == 2 and 'SCENARIO is missing' in done.stderr, done.stderr)
    done = simulate(folder / 'none.yaml')
    check('no such file', done.returncode == 2 and 'none.yaml: No such file' in done.stderr, done.stderr)
    wrong = folder / 'wrong.yaml'
    wrong.write_text('duration_s: 60\nhosts: 5\n')
    done = simulate(wrong)
    check('a wrong scenario', done.returncode == 2 and f'{wrong}:2: ' in done.stderr and not done.stdout, done.stderr)
    help_text = simulate('--help')
    check('--help', help_text.returncode == 0 and '--compare A B' in help_text.stdout)


def on_terminal(*arguments):
    """What is drawn on standard error when it is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([BALLAST, 'simulate', *map(str, arguments)], stdout=subprocess.PIPE, stderr=theirs,
                          env={**os.environ, 'TERM': 'xterm'}) as process:
        os.close(theirs)
        drawn = b''
        try:
            while piece := os.read(ours, 4096):
                drawn += piece
        except OSError:  # the other side is closed
            pass
        printed = process.stdout.read().decode()
    os.close(ours)
    return drawn.decode(), printed, process.returncode


def test_progress(path):
    drawn, printed, code = on_terminal(path, '--seeds', '40')
    check('progress: drawn', code == 0 and ' of 40' in drawn and '%' in drawn, drawn[:200])
    check('progress: taken away', drawn.endswith('\r\x1b[K') and '\n' not in drawn, repr(drawn[-40:]))
    check('progress: not among the figures', '\x1b' not in printed)
    check('--no-progress', on_terminal(path, '--seeds', '3', '--no-progress')[0] == '')
    check('no progress without a terminal', simulate(path, '--seeds', '3').stderr == '')


def test_harmful_moves():
    """Hosts that give less than they report: moves there do harm, and pause optional moves. The same hosts as they say do not."""
    path = TOP / 'tests/sim/choices/throttled.yaml'
    never, as_told = ('--set', 'settings.avoid.cluster_failures=0'), ('--set', 'hosts.new.throttled=0')
    paused, on, honest, honest_on = (parsed(f'throttled {changes}', path, *changes)['metrics'] for changes in ((), never, as_told, (*never, *as_told)))
    check('harm is seen', on['moves_harmful'] >= 20, str(on))
    check('and pauses moves', paused['migrations'] < on['migrations'], f'{paused} {on}')
    check('none is seen where there is none', honest['moves_harmful'] == 0, str(honest))
    check('and nothing pauses', {**honest, 'decide_ms_total': 0} == {**honest_on, 'decide_ms_total': 0}, str(honest))


with tempfile.TemporaryDirectory(prefix='ballast-simulate.') as name:
    home = pathlib.Path(name)
    scenario = home / 'scenario.yaml'
    scenario.write_text(SCENARIO)
    test_formats(scenario)
    test_warnings(scenario)
    test_changes(scenario)
    test_seeds(scenario)
    test_compare(scenario)
    test_files(scenario, home)
    test_report_page(scenario, home)
    test_complaints(scenario, home)
    test_progress(scenario)
test_harmful_moves()
end()
