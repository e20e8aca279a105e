#!/usr/bin/env python3
"""ballast-concepts(7): its commands give the lines that it shows; its formulas, computed here, give the figures of the plan and those of its
text; its limits are those of the decision; all pages and the help of the commands lead to it."""
import copy
import json
import math
import re
import shlex
import shutil
import subprocess

from command import TOP, check, end, run

PAGES = TOP / 'packaging/man'
PAGE = (PAGES / 'ballast-concepts.7').read_text(encoding='utf-8')
EXAMPLE = PAGE.split('.Sh EXAMPLES\n')[1].split('.Sh SEE ALSO')[0]
SNAPSHOT = TOP / 'conf/examples/concepts.json'
CLUSTER = json.loads(SNAPSHOT.read_text(encoding='utf-8'))
HOSTS = {h['id']: h for h in CLUSTER['hosts']}
RESOURCES = {'cpu': 'cpu_mhz', 'mem': 'mem_mb'}
BLOCK = re.compile(r'^\.Bd -literal.*?\n(.*?)^\.Ed\n', re.S | re.M)
LINKING = ('plan', 'recommendations', 'explain', 'entitlements', 'status', 'top', 'what-if', 'passes', 'hosts', 'pools')


def near(x, y):
    return math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-6)


def stated(pattern):
    """The numbers that the page states in these words."""
    found = re.search(pattern.replace(' ', r'\s+'), PAGE)
    check(f'the page says {pattern}', found)
    return [float(number) for number in found.groups()] if found else []


def plan(cluster, *settings):
    arguments = [word for setting in settings for word in ('--set', setting)]
    return json.loads(run('plan', '--snapshot', '-', '--format', 'json', *arguments, stdin=json.dumps(cluster)).stdout)


def with_demand(**mhz):
    """The cluster of the example with another demand of some VMs."""
    cluster = copy.deepcopy(CLUSTER)
    for vm in cluster['vms']:
        vm['cpu']['demand'] = mhz.get(vm['id'], vm['cpu']['demand'])
    return cluster


def entitlements():
    """resource -> VM -> its entitlement"""
    shown = json.loads(run('entitlements', '--snapshot', SNAPSHOT, '--format', 'json').stdout)
    return {r: {row['id']: row['entitlement'] for row in shown[r] if row['kind'] == 'vm'} for r in RESOURCES}


def loads(entitled, host_of):
    """resource -> host -> N"""
    return {r: {h: sum(mine for vm, mine in entitled[r].items() if host_of[vm] == h) / HOSTS[h][capacity] for h in HOSTS}
            for r, capacity in RESOURCES.items()}


def spread(n):
    mean = sum(n.values()) / len(n)
    return math.sqrt(sum((x - mean) ** 2 for x in n.values()) / len(n))


def imbalance(n, weight=0.5):
    return weight * spread(n['cpu']) + (1 - weight) * spread(n['mem'])


def test_commands():
    blocks = [block.splitlines() for block in BLOCK.findall(EXAMPLE)]
    check('each command has its output', len(blocks) % 2 == 0 and len(blocks) >= 6, str(len(blocks)))
    for (command,), shown in zip(blocks[::2], blocks[1::2]):
        program, *arguments = shlex.split(command.replace('concepts.json', str(SNAPSHOT)))
        check('it is a command of ballast', program == 'ballast', command)
        printed = iter(run(*arguments).stdout.splitlines())
        for line in filter(None, shown):  # in this order; the page may leave lines out
            check(f'{command}: prints', line in printed, line)


def test_figures():
    """What the page's formulas give is in the plan, and in the text, which has no other figure."""
    entitled = entitlements()
    before = {vm['id']: vm['host'] for vm in CLUSTER['vms']}
    made = plan(CLUSTER)
    moves = made['recommendations']
    check('one move', len(moves) == 1 and moves[0]['action'] == 'migrate', str(moves))
    after = {**before, moves[0]['vm']: moves[0]['to']}
    for when, host_of in (('before', before), ('after', after)):
        n, metrics = loads(entitled, host_of), made[when]
        for r in RESOURCES:
            check(f'N of {r} {when}', all(near(h[r], n[r][h['id']]) for h in metrics['hosts']), f'{n[r]} {metrics["hosts"]}')
            check(f'S(N) of {r} {when}', near(spread(n[r]), metrics[f'imbalance_{r}']))
        check(f'imbalance {when}', near(imbalance(n), metrics['imbalance']), f'{imbalance(n)} {metrics["imbalance"]}')

    n = loads(entitled, before)
    means = {r: sum(n[r].values()) / len(HOSTS) for r in RESOURCES}
    mean = sum(means.values()) / 2
    least = mean / len(CLUSTER['vms'])
    start, finish = imbalance(n), imbalance(loads(entitled, after))
    told = json.loads(run('explain', '--snapshot', SNAPSHOT, '--vm', moves[0]['vm'], '--format', 'json').stdout)
    of = {candidate['host']: candidate for candidate in told['candidates']}
    check('least goodness', near(of['h2']['figures']['gain_min'], least), str(of['h2']))
    ratio = of[moves[0]['to']]['figures']['ratio']
    check('ratio is benefit by cost', near(ratio, moves[0]['benefit']['cpu_mhz_s'] / moves[0]['cost']['cpu_mhz_s']))

    limit = CLUSTER['pools'][0]['cpu']['limit']
    in_pool = [vm for vm in CLUSTER['vms'] if vm.get('pool')]
    figures = {f'{x:.4f}' for x in (spread(n['cpu']), spread(n['mem']), start, finish, made['before']['target'], start - finish, least)}
    figures |= {f'{x:.2f}' for x in (*n['cpu'].values(), *means.values(), n['mem']['h2'], 0.5, ratio)}
    figures |= {f'{x:.3f}' for x in (n['mem']['h1'], n['mem']['h3'], mean)} | {f'{x:.1f}' for x in (0.2,)}
    figures |= {f'{x:g}' for x in (CLUSTER['hosts'][0]['cpu_mhz'], CLUSTER['hosts'][0]['mem_mb'], CLUSTER['vms'][0]['mem_mb'], limit,
                                   limit / len(in_pool), sum(vm['cpu']['demand'] for vm in in_pool), entitled['cpu']['v4'], entitled['cpu']['v5'],
                                   sum(entitled['cpu'][vm] for vm in before if before[vm] == 'h1'), 100 * n['cpu']['h1'],
                                   made['policy']['migration_threshold'], len(HOSTS), 2, len(CLUSTER['vms']), 4, moves[0]['priority'])}
    prose = BLOCK.sub('', EXAMPLE)
    written = set(re.findall(r'(?<![\w.])\d+(?:\.\d+)?(?!\w)', prose))
    check('the text has every figure', figures <= written, str(figures - written))
    check('the text has no other figure', written <= figures, str(written - figures))
    sums = re.findall(r'((?:[\d.]+|sqrt\([\d./ ]+\))(?: [-+*/] (?:[\d.]+|sqrt\([\d./ ]+\)))+) = (\d+\.\d+)', prose.replace('\n', ' '))
    check('the text computes imbalance, target, goodness and its least', len(sums) == 4, str(sums))
    for left, right in sums:
        value = eval(left, {'__builtins__': {}, 'sqrt': math.sqrt})  # of digits, signs and sqrt(), see above
        check(f'{left} = {right}', abs(value - float(right)) <= 0.5e-4 + 1e-9, str(value))


def has_uneven(kind, cluster, *settings):
    return kind in {reason['kind'] for reason in plan(cluster, *settings)['before']['uneven']}


def test_levels():
    rows = re.findall(r'^\.It (\d) Ta "(.*?)" Ta "(.*?)" Ta "(.*?)"$', PAGE, re.M)
    check('five levels', [row[0] for row in rows] == list('12345'), str(rows))
    [half] = stated(r'or above (\d+) %')
    for level, benefit, formula, difference in rows:
        setting = f'migration_threshold={level}'
        made = plan(CLUSTER, setting)
        if level == '1':
            check('level 1 makes no moves for balance', not made['recommendations'] and benefit == 'no such moves')
            continue
        target = eval(formula, {'__builtins__': {}, 'sqrt': math.sqrt, 'n': len(HOSTS)})
        check(f'target of level {level}', near(made['before']['target'], target), f'{formula} {made["before"]["target"]}')
        limit = float(difference.removesuffix(' %'))
        for above, more in ((half + 1, 1), (half + 1, -1), (half - 1, 1)):  # N of h1 in %, and how much more h1 has than h3 beyond the limit
            lower = 100 * (above - limit - more)
            cluster = with_demand(v1=100 * above, v2=0, v3=0, v4=lower, v5=0, v6=lower)
            cluster['vms'][0]['vcpus'] = 4
            expected = above > half and more > 0
            check(f'level {level}: h1 at {above} %, h3 {limit + more} points less', has_uneven('outlier', cluster, setting) == expected)
        check_ratio(level, benefit)


def moves_at(level, rate):
    """priority and ratio of benefit to cost of each move, where memory is copied at this rate in MiB/s"""
    made = plan(CLUSTER, f'migration_threshold={level}', f'migration_rate_mb_s={rate}')
    return [(move['priority'], move['benefit']['cpu_mhz_s'] / move['cost']['cpu_mhz_s']) for move in made['recommendations']]


def check_ratio(level, benefit):
    """The slower the network, the less a move pays: the level makes it while it pays as much as the page says."""
    least = {'4 times the cost': 4, 'the cost': 1, '1/4 of the cost': 0.25, 'does no harm': -1}[benefit]
    for rate in (250, 60, 30, 20, 12, 8, 6, 4, 2):
        possible = moves_at(5, rate)
        check(f'level {level}, {rate} MiB/s', moves_at(level, rate) == [move for move in possible if move[1] > least], str(possible))
        for priority, ratio in possible:
            due = 2 if ratio > 4 else 3 if ratio > 1 else 4 if ratio > 0.25 else 5
            check(f'{rate} MiB/s: the priority is the level that makes the move', priority == due, f'{priority}, ratio {ratio}')


def test_limits():
    [at] = stated(r'while one host is above (\d+) %')
    [free] = stated(r'free: (\d+) % of its CPU')
    policy = plan(CLUSTER)['policy']
    check('headroom', policy['cpu_headroom_percent'] == policy['mem_headroom_percent'] == free)
    for load, lacks in ((at - 0.5, False), (at + 0.5, True)):
        cluster = with_demand(v1=50 * load, v2=50 * load, v3=0)
        check(f'h1 at {load} %', has_uneven('headroom', cluster) == lacks)
    usual, = stated(r'Both weights are ([\d.]+)\.')
    short, other = stated(r'its weight is ([\d.]+), and that of the other ([\d.]+)\.')
    full = with_demand(v1=4000, v2=4000, v3=4000)
    for cluster, weights in ((CLUSTER, (usual, usual)), (full, (short, other))):
        before = plan(cluster)['before']
        check('weights', (before['weight_cpu'], before['weight_mem']) == weights, str(before))
    for vm in full['vms'][:3]:
        vm['mem'].update(demand=12000, consumed=12000)
        vm['mem_mb'] = 12000
    check('weights where both are short', plan(full)['before']['weight_cpu'] == usual)
    for lost in ({'state': 'maintenance'}, {'quarantine': True}):
        cluster = copy.deepcopy(CLUSTER)
        cluster['hosts'].append({**cluster['hosts'][2], 'id': 'h4', 'name': 'h4', **lost})
        check(f'a host with {lost} does not count', near(plan(cluster)['before']['imbalance'], plan(CLUSTER)['before']['imbalance']))


def test_links():
    others = [page for page in PAGES.iterdir() if re.search(r'\.[1-8](\.in)?$', page.name) and page.name != 'ballast-concepts.7']
    check('there are other pages', len(others) > 5)
    for page in others:
        check(f'{page.name} leads to the page', '.Xr ballast-concepts 7' in page.read_text(encoding='utf-8').split('.Sh SEE ALSO')[1])
    for verb in LINKING:
        check(f'ballast {verb} --help leads to the page', 'ballast-concepts(7)' in ' '.join(run(verb, '--help').stdout.split()))
    check('ballast --help leads to the page', 'ballast-concepts(7)' in run('--help').stdout)
    check('README.md leads to the page', '`ballast-concepts`(7)' in (TOP / 'README.md').read_text(encoding='utf-8'))
    if shutil.which('groff'):
        printed = subprocess.run(['groff', '-mdoc', '-Tps', PAGES / 'ballast-concepts.7'], capture_output=True, check=True).stdout
        check('two printed pages at most', int(re.search(rb'^%%Pages: (\d+)', printed, re.M)[1]) <= 2)


test_commands()
test_figures()
test_levels()
test_limits()
test_links()
end()
