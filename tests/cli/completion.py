#!/usr/bin/env python3
"""Completion in bash and zsh, as if a person pressed Tab: commands, options, their values, hosts and recommendations of the service."""
import os
import pathlib
import subprocess

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
compadd() { shift; offer "$@" }
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
                            (('maintenance', 'e'), ['enter', 'exit']), (('no-command', ''), []), (('wake', ''), []),
                            (('check-config', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')]),
                            (('plan', '--snapshot', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')])):
        check(f'{shell} {words}', offered(*words, shell=shell) == expected, offered(*words, shell=shell))
    help_text = subprocess.run([BALLAST, '--help'], capture_output=True, text=True, timeout=60, check=True).stdout
    commands = [c for c in offered('', shell=shell) if not c.startswith('-')]
    check('all commands', len(commands) > 30 and all(f'\n  {c} ' in help_text for c in commands), commands)


def with_a_service(shell):
    with Service() as s:
        check('the service starts', s.start())
        hosts = [h['name'] for h in s.ask_json('hosts')]
        for words in (('wake', ''), ('maintenance', 'enter', hosts[0][:-1]), ('explain', '--host', '')):
            check(f'{shell} {words}', set(hosts) <= set(offered(*words, socket=s.socket, shell=shell)), offered(*words, socket=s.socket, shell=shell))
        s.ask('run')
        check('recommendations', set(s.numbers()) <= set(offered('apply', '', socket=s.socket, shell=shell)), offered('apply', '', socket=s.socket, shell=shell))


def test_zsh_finds_it():
    """compinit knows the file by its first line."""
    done = subprocess.run(['zsh', '-f', '-c', 'fpath=($1 $fpath); autoload -U compinit; compinit -u -D; print $_comps[ballast]', 'zsh',
                           TOP / 'packaging/completion'], capture_output=True, text=True, timeout=30 * PATIENCE, check=False)
    check('compinit', done.stdout == '_ballast\n', done.stdout + done.stderr)


for name in PRESS_TAB:
    without_a_service(name)
    with_a_service(name)
test_zsh_finds_it()
end()
