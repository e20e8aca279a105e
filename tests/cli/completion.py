#!/usr/bin/env python3
"""Completion in bash and zsh, as if a person pressed Tab: commands, options, their values, settings, and the hosts, VMs, pools and
recommendations of the service."""
import json
import os
import pathlib
import socket as sockets
import subprocess
import tempfile
import time

from command import BALLAST, PATIENCE, TOP, Service, check, end

# How each shell asks for what it offers after "$@", the last of which is not complete.
PRESS_TAB = {
    'bash': '''
source "$1/ballast.bash"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_ballast
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
''',
    # zsh's own functions for this work in its line editor only: these stand for them
    'zsh': '''
folder=$1; shift
words=("$@") CURRENT=$#
offer() { local w; for w; do [[ $w == ${words[CURRENT]}* ]] && print -r -- $w; done }
compadd() { while [[ $1 != -- ]] { shift }; shift; offer "$@" }
_describe() { offer "${(@)${(@P)2}%%:*}" }
_files() { offer ${words[CURRENT]}*(N) }
set --
source $folder/_ballast
true
''',
}


def offered(*words, socket='/nowhere', shell='bash'):
    """What Tab offers after these words; the last one is not complete."""
    path = f'{pathlib.Path(BALLAST).parent}:{os.environ["PATH"]}'
    flags = ['-f'] if shell == 'zsh' else []
    done = subprocess.run([shell, *flags, '-c', PRESS_TAB[shell], shell, TOP / 'packaging/completion', 'ballast', *words],
                          capture_output=True, text=True, timeout=30 * PATIENCE, check=False,
                          env={**os.environ, 'PATH': path, 'BALLAST_SOCKET': str(socket)})
    check(f'{shell} {words}: nothing on standard error', done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout.split()


def without_a_service(shell):
    for words, expected in ((('wa',), ['wake']), (('nothing-like-it',), []), (('--v',), ['--version']),
                            (('hosts', '--format', ''), ['text', 'json']), (('hosts', '--form'), ['--format']),
                            (('maintenance', 'e'), ['enter', 'exit']), (('generate', '--shape', 's'), ['skewed', 'spike']), (('help', 'wa'), ['wake']),
                            (('recommendations', '--state', 're'), ['recommended', 'rejected']), (('apply', ''), []), (('vms', ''), []), (('pools', ''), []),
                            (('history', '--state', ''), []), (('explain', '--vm', ''), []), (('token', 'revoke', ''), ['create', 'list', 'revoke']), (('no-command', ''), []), (('wake', ''), []),
                            (('check-config', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')]),
                            (('plan', '--snapshot', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')])):
        check(f'{shell} {words}', offered(*words, shell=shell) == expected, offered(*words, shell=shell))
    help_text = subprocess.run([BALLAST, '--help'], capture_output=True, text=True, timeout=60, check=True).stdout
    commands = [c for c in offered('', shell=shell) if not c.startswith('-')]
    settings = {key for key, value in policy().items() if not isinstance(value, dict)} | {f'{key}.{inner}' for key, value in policy().items()
                                                                                         if isinstance(value, dict) for inner in value}
    check('all settings', len(settings) > 50 and set(offered('plan', '--set', '', shell=shell)) == {f'{s}=' for s in settings}, settings)
    check('a setting', offered('plan', '--set', 'dpm.hosts', shell=shell) == ['dpm.hosts_min='], offered('plan', '--set', 'dpm.hosts', shell=shell))
    check('all commands', len(commands) > 30 and all(f'\n  {c} ' in help_text for c in commands), commands)


def policy():
    snapshot = subprocess.run([BALLAST, 'generate', '--hosts', '1', '--vms', '1'], capture_output=True, text=True, timeout=60, check=True).stdout
    plan = subprocess.run([BALLAST, 'plan', '--snapshot', '-', '--format', 'json'], input=snapshot, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(plan.stdout)['policy']


def with_a_silent_service(shell):
    """One that accepts and never answers keeps nobody waiting."""
    with tempfile.TemporaryDirectory(prefix='ballast-test.') as folder, sockets.socket(sockets.AF_UNIX) as silent:
        silent.bind(f'{folder}/s')
        silent.listen()
        began = time.monotonic()
        check('nothing is offered', offered('wake', '', socket=f'{folder}/s', shell=shell) == [])
        check('after two seconds', time.monotonic() - began < 2 + 3 * PATIENCE, time.monotonic() - began)


def with_a_service(shell):
    with Service() as s:
        check('the service starts', s.start())
        hosts = [h['name'] for h in s.ask_json('hosts')]
        for words in (('wake', ''), ('maintenance', 'enter', hosts[0][:-1]), ('explain', '--host', '')):
            check(f'{shell} {words}', set(hosts) <= set(offered(*words, socket=s.socket, shell=shell)), offered(*words, socket=s.socket, shell=shell))
        for words, verb in ((('vms', ''), 'vms'), (('explain', '--vm', ''), 'vms'), (('pools', ''), 'pools')):
            names = sorted(x['name'] for x in s.ask_json(verb))
            check(f'{shell} {words}', names and offered(*words, socket=s.socket, shell=shell) == names, offered(*words, socket=s.socket, shell=shell))
        kinds = offered('events', '--kind', '', socket=s.socket, shell=shell)
        check('kinds of events', {'action', 'host', 'pass_done', 'wake_failed', 'paused'} <= set(kinds) and len(kinds) > 25, kinds)
        states = offered('history', '--state', '', socket=s.socket, shell=shell)
        check('states', states == ['done', 'failed', 'cancelled', 'rejected', 'expired'], states)
        s.ask('run')
        for n, verb in enumerate(('apply', 'reject')):
            wait = s.numbers()
            found = offered(verb, '', socket=s.socket, shell=shell)
            check(f'{verb}: those that wait', len(wait) > 1 and set(found) == set(wait) and len(found) == len(wait), f'{found} {wait}')
            if n == 0:  # what is rejected is still listed by the service, and waits no more
                check('one is rejected', s.ask('reject', wait[0]).returncode == 0)


def test_zsh_finds_it():
    """compinit knows the file by its first line."""
    done = subprocess.run(['zsh', '-f', '-c', 'fpath=($1 $fpath); autoload -U compinit; compinit -u -D; print $_comps[ballast]', 'zsh',
                           TOP / 'packaging/completion'], capture_output=True, text=True, timeout=30 * PATIENCE, check=False)
    check('compinit', done.stdout == '_ballast\n', done.stdout + done.stderr)


for name in PRESS_TAB:
    without_a_service(name)
    with_a_silent_service(name)
    with_a_service(name)
test_zsh_finds_it()
SHARED = [(TOP / 'packaging/completion' / name).read_text(encoding='utf-8').split('# ---- ')[1] for name in ('ballast.bash', '_ballast')]
check('what is the same in both shells is the same', SHARED[0] == SHARED[1] and len(SHARED[0]) > 1000)
end()
