#!/usr/bin/env python3
"""Completion in bash, as if a person pressed Tab: commands, options, their values, hosts and recommendations of the service."""
import os
import pathlib
import subprocess

from command import BALLAST, PATIENCE, TOP, Service, check, end

PRESS_TAB = '''
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_ballast
((${#COMPREPLY[@]} == 0)) || printf '%s\\n' "${COMPREPLY[@]}"
'''


def offered(*words, socket='/nowhere'):
    """What Tab offers after these words; the last one is not complete."""
    path = f'{pathlib.Path(BALLAST).parent}:{os.environ["PATH"]}'
    done = subprocess.run(['bash', '-c', PRESS_TAB, 'bash', TOP / 'packaging/completion/ballast.bash', 'ballast', *words],
                          capture_output=True, text=True, timeout=30 * PATIENCE, check=False,
                          env={**os.environ, 'PATH': path, 'BALLAST_SOCKET': str(socket)})
    check(f'{words}: nothing on standard error', done.returncode == 0 and not done.stderr, done.stderr)
    return done.stdout.split()


def test_without_a_service():
    for words, expected in ((('wa',), ['wake']), (('nothing-like-it',), []), (('--v',), ['--version']),
                            (('hosts', '--format', ''), ['text', 'json']), (('hosts', '--form'), ['--format']),
                            (('maintenance', 'e'), ['enter', 'exit']), (('no-command', ''), []), (('wake', ''), []),
                            (('check-config', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')]),
                            (('plan', '--snapshot', str(TOP / 'LICEN')), [str(TOP / 'LICENSE')])):
        check(f'{words}', offered(*words) == expected, offered(*words))
    help_text = subprocess.run([BALLAST, '--help'], capture_output=True, text=True, timeout=60, check=True).stdout
    commands = [c for c in offered('') if not c.startswith('-')]
    check('all commands', len(commands) > 30 and all(f'\n  {c} ' in help_text for c in commands), commands)


def test_with_a_service():
    with Service() as s:
        check('the service starts', s.start())
        hosts = [h['name'] for h in s.ask_json('hosts')]
        for words in (('wake', ''), ('maintenance', 'enter', hosts[0][:-1]), ('explain', '--host', '')):
            check(f'{words}', set(hosts) <= set(offered(*words, socket=s.socket)), offered(*words, socket=s.socket))
        s.ask('run')
        check('recommendations', set(s.numbers()) <= set(offered('apply', '', socket=s.socket)), offered('apply', '', socket=s.socket))


test_without_a_service()
test_with_a_service()
end()
