#!/usr/bin/env python3
"""Every command with wrong arguments, taken from its own --help: one line, which begins with the program's name, or
the file that it is about, and names the argument; and lists that have no rows."""
import re

from command import TOP, Service, check, end, run
from at_once import run_tests  # in the folder above, which `command` makes known

NOWHERE = '/nowhere/at/all'
# By the word that --help shows for a value: what is wrong there, and must be named
WRONG = {'N': 'abc', 'M': 'abc', 'S': 'abc', 'FILE': NOWHERE, 'DIR': None, 'PATH': NOWHERE, 'VM': 'no-such-vm', 'HOST': 'no-such-host', 'TIME': 'some day',
         'TIME|ID': 'some day', 'WHEN': 'some day', 'KIND': 'nothing', 'STATE': 'nothing', 'ROLE': 'nothing', 'SPAN': 'nothing', 'SIZE': 'nothing',
         'KEY=VALUE': 'nothing', 'IMBALANCE': 'abc', 'VM=MHZ': 'nothing', 'NAME': None, 'ID': None, 'G': 'abc', 'N|N..M': 'abc', 'METHOD': 'nothing',
         'WARN,CRIT': 'nothing', 'COMMAND': None, 'A': None, 'nova': 'nothing'}
# What a command also needs, so that its wrong argument is what is wrong
NEEDS = {'migrate': ['--best', 'app-01'], 'generate': ['--hosts', '4', '--vms', '8'], 'place': ['app-01'], 'what-if': ['--host-off', 'pretend-1'],
         'explain': ['--host', 'pretend-1'], 'fit': ['check', '{file}'], 'simulate': ['{example}'], 'backtest': ['--config', '{config}'],
         'backup': ['{folder}/backup'], 'reject': ['--all'], 'maintenance': ['roll', 'pretend-1'], 'wake': ['pretend-1'], 'token': ['create', 'ann', '--role', 'viewer'],
         'apply': ['--all'], 'config': ['show'], 'check-config': ['{config}'], 'standby': ['pretend-1']}
ANSWERS = {('bugreport', 'config'), ('bugreport', 'log'), ('simulate', 'series'), ('simulate', 'report'), ('backtest', 'report'), ('maintenance', 'run')}
OPERANDS = {'VM': 'no-such-vm', 'HOST': 'no-such-host', 'POOL': 'no-such-pool', 'SCENARIO': NOWHERE, 'FILE': NOWHERE, 'ACTION': 'abc', 'SETTING': 'nothing',
            'ID|ID-ID...': 'abc', 'HOST...': 'no-such-host', 'VM...': 'no-such-vm'}
CODES = (1, 2, 3)


def usages():
    """(verb, {option: the word of its value, or None}, its operands)"""
    for verb in re.findall(r'(?m)^  ([a-z-]+) ', run('--help').stdout):
        usage = ' '.join(run(verb, '--help').stdout.split('\n\n')[0].split())
        options = {name: value for name, value in re.findall(r'--([a-z-]+)(?: ([^\s\[\]]+))?', usage)}
        rest = re.sub(r'\[?--[a-z-]+( [^\s\[\]]+)*\]?(\.\.\.)?', '', usage).split(None, 3)
        yield verb, options, ' '.join(rest[3:]) if len(rest) > 3 else ''


def one_line(what, done, named=None, codes=CODES):
    lines = done.stderr.splitlines()
    check(f'{what}: exit code', done.returncode in codes, f'{done.returncode}: {done.stdout[:200]} {done.stderr}')
    check(f'{what}: one line', len(lines) == 1 and not done.stdout, f'{done.stdout[:200]} {done.stderr}')
    check(f'{what}: begins with the program', all(re.match('ballast[: ]|/', line) for line in lines), done.stderr)
    check(f'{what}: what it says', '(null)' not in done.stderr and (named is None or named in done.stderr), f'{named}: {done.stderr}')


def test_unknown_and_missing():
    for verb, options, operands in usages():
        wrong = (3, 2) if verb == 'check' else (2,)
        one_line(f'{verb} --nothing', run(verb, '--nothing'), '--nothing', wrong)
        for name, value in options.items():
            if value:
                one_line(f'{verb} --{name} without a value', run(verb, f'--{name}'), f'--{name}', wrong)
            elif name not in ('watch',):
                one_line(f'{verb} --{name}=x', run(verb, f'--{name}=x'), f'--{name}', wrong)
            if len(name) > 3 and name != 'watch':
                typed = f'--{name[:-2]}{name[-1]}{name[-2]}' if name[-1] != name[-2] else f'--{name}x'
                if not any(other.startswith(typed[2:]) for other in options):
                    one_line(f'{verb} {typed}', run(verb, typed), 'did you mean --', wrong)
        if not operands and verb not in NEEDS:
            one_line(f'{verb} with an operand', run(verb, 'surplus'), 'surplus', wrong)
        if operands and not operands.startswith('['):
            one_line(f'{verb} without its operand', run(verb, *(['--best'] if verb == 'migrate' else [])), operands.split('|')[0].split()[0], wrong)


def test_wrong_values():
    """A value is named by its option or by itself."""
    with Service() as s:
        s.start()
        where = {'file': s.config, 'config': s.config, 'folder': s.folder, 'example': TOP / 'conf/examples/simulate-two-shifts.yaml'}
        for verb, options, operands in usages():
            needed = [word.format(**where) for word in NEEDS.get(verb, [])]
            for name, value in options.items():
                bad = WRONG.get(value, 'nothing') if value else None
                if not bad or name in ('socket', 'format') or (verb, name) in ANSWERS or f'--{name}' in needed:
                    continue
                done = s.ask(verb, *needed, f'--{name}', bad)
                check(f'{verb} --{name} {bad}: names it', f'--{name}' in done.stderr or bad in done.stderr, done.stderr)
                one_line(f'{verb} --{name} {bad}', done)
            bad = OPERANDS.get(operands.strip('[]'))
            if bad and verb not in ('backup', 'bugreport'):
                one_line(f'{verb} {bad}', s.ask(verb, *(['--best'] if verb == 'migrate' else []), bad), bad)


def test_no_such_event():
    """Text says paused and resumed, JSON the words that programs know; a list without rows says why."""
    with Service() as s:
        s.start()
        check('no event of a kind', s.ask('events', '--kind', 'paused').stdout == 'no event matches --kind paused\n')
        check('pause and resume', all(s.ask(verb).returncode == 0 for verb in ('pause', 'resume')))
        for kind, former in (('paused', 'frozen'), ('resumed', 'thawed')):
            for word in (kind, former):
                text = s.ask('events', '--kind', word).stdout
                check(f'events --kind {word}', f' notice {kind}: {kind} by ' in text and former not in text and text.count('\n') <= 3, text)
                check('in JSON', [e['type'] for e in s.ask_json('events', '--kind', word)] == [former])
        for arguments, line in ((('history',), 'no action has ended yet'), (('history', '--vm', 'app-01', '--limit', '3'), 'no action that has ended matches --vm app-01 --limit 3'),
                                (('events', '--vm', 'app-01', '--kind', 'gap'), 'no event matches --vm app-01 --kind gap'), (('events', '--since', '99999'), 'no event matches --since 99999'),
                                (('passes', '--since', '2100-01-01'), 'no pass that is kept matches --since 2100-01-01'),
                                (('history', '--energy', '--since', '2100-01-01'), 'no energy data matches --since 2100-01-01'),
                                (('recommendations', '--state', 'failed'), 'no recommendation matches --state failed')):
            done = s.ask(*arguments)
            check(f'{arguments}: nothing', done.returncode == 0 and done.stdout == f'{line}\n', done.stdout + done.stderr)
        for arguments, line in ((('events', '--vm', 'none'), 'no VM has the id or name "none"'), (('history', '--host', 'none'), 'no host has the id or name "none"'),
                                (('explain', '--vm', 'none'), 'no VM has the id or name "none"'), (('pools', 'none'), 'no pool has the id or name "none"; `ballast pools` lists them')):
            done = s.ask(*arguments)
            check(f'{arguments}: no such thing', done.returncode == 2 and line in done.stderr and not done.stdout, done.stdout + done.stderr)
        for limit in ('0', '1001', ' 5', '5x', ''):
            done = s.ask('events', '--limit', limit)
            check(f'events --limit {limit}', done.returncode == 2 and f'--limit: "{limit}" is wrong, expected a whole number from 1 to 1000' in done.stderr, done.stderr)


def test_help():
    for verb, _, _ in usages():
        check(f'help {verb}', run('help', verb).stdout == run(verb, '--help').stdout)
    one_line('help nothing', run('help', 'nothing'), 'nothing', (2,))
    check('help', run('help').stdout == run('--help').stdout)


check('every part came to its end', run_tests(globals()) == 0)
end()
