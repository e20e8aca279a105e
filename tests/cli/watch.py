#!/usr/bin/env python3
"""`ballast top`, --watch and colours, as a person at a terminal sees them."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from command import BALLAST, PATIENCE, Service, check, end, run, wait_until
from at_once import run_tests  # in the folder above, which `command` makes known

ENTER, LEAVE = '\x1b[?1049h', '\x1b[?1049l'


class Terminal:
    """The command on a terminal of its own; a context manager."""

    def __init__(self, socket, *arguments, rows=20, columns=90, **environment):
        self.rows, self.columns = rows, columns
        self.text = ''
        self.controller, terminal = pty.openpty()
        self.before = termios.tcgetattr(terminal)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        env = {**os.environ, 'BALLAST_SOCKET': str(socket), 'TERM': 'xterm', **environment}
        env.pop('NO_COLOR', None) if 'NO_COLOR' not in environment else None
        self.process = subprocess.Popen([BALLAST, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=env,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.terminal = terminal

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.terminal)
        os.close(self.controller)

    def read(self):
        while select.select([self.controller], [], [], 0.05)[0]:
            self.text += os.read(self.controller, 65536).decode(errors='replace')
        return self.text

    def shows(self, words, seconds=15):
        return wait_until(lambda: words in self.read(), seconds)

    def forget(self):
        self.read()
        self.text = ''

    def type(self, keys):
        os.write(self.controller, keys.encode())

    def ends(self, seconds=10):
        wait_until(lambda: (self.read(), self.process.poll() is not None)[1], seconds)
        self.read()  # what it wrote since
        return self.process.poll()

    def restored(self):
        """Whether the terminal is as it was: the screen left, and keys shown."""
        self.read()
        return self.text.rfind(LEAVE) > self.text.rfind(ENTER) and termios.tcgetattr(self.terminal) == self.before


def last_screen(text):
    """The lines of the last whole drawing, without sequences."""
    drawing = text.split('\x1b[H')[-1].split('\x1b[J')[0]
    return [re.sub(r'\x1b\[[0-9;?]*[a-zA-Z]', '', line).rstrip('\r') for line in drawing.split('\n')]


def test_top():
    with Service() as s:
        check('the service starts', s.start())
        names = [h['name'] for h in s.ask_json('hosts')]
        with Terminal(s.socket, 'top') as t:
            check('top: all hosts', all(t.shows(name) for name in names), t.text)
            check('top: as long as the terminal', t.shows('\x1b[J') and len(last_screen(t.text)) == t.rows, last_screen(t.text))
            check('top: no line is wider than the terminal', all(len(line) <= t.columns for line in last_screen(t.text)))
            t.forget()
            check('top: it is drawn again', t.shows(names[0]))
            t.forget()
            fcntl.ioctl(t.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 10, 40, 0, 0))
            check('top: a smaller terminal', t.shows('more hosts') and t.shows('\x1b[J') and len(last_screen(t.text)) == 10 and
                  all(len(line) <= 40 for line in last_screen(t.text)), last_screen(t.text))
            t.type('x')
            check('top: another key does not end it', t.shows('\x1b[J') and t.process.poll() is None)
            t.type('q')
            check('top: q ends it', t.ends() == 0 and t.restored(), t.text[-300:])
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with Terminal(s.socket, 'top') as t:
                t.shows(names[0])
                t.process.send_signal(number)
                check(f'top: {number.name} ends it', t.ends() == 0 and t.restored())
        with Terminal(s.socket, 'top') as t:
            t.shows(names[0])
            t.process.send_signal(signal.SIGTSTP)
            check('top: a stop gives the screen back', wait_until(t.restored, 10))
            t.forget()
            t.process.send_signal(signal.SIGCONT)
            check('top: it goes on', t.shows(ENTER) and t.shows(names[0]))
            t.type('q')
            check('top: and ends', t.ends() == 0)
        once = run('top', socket=s.socket)
        check('top: once without a terminal', once.returncode == 0 and all(n in once.stdout for n in names) and '\x1b' not in once.stdout)
        check('top: --sort name', [line.split()[0] for line in run('top', '--sort', 'name', socket=s.socket).stdout.splitlines()[6:]] == names)
        wrong = run('top', '--sort', 'colour', socket=s.socket)
        check('top: --sort of another word', wrong.returncode == 2 and 'expected load, cpu, mem or name' in wrong.stderr, wrong.stderr)
        with Terminal(s.socket, 'top', '--sort', 'colour') as t:
            check('top: the same on a terminal', t.ends() == 2 and t.restored() and 'expected load' in t.text.split(LEAVE)[-1], t.text)


def test_watch():
    with Service() as s:
        check('the service starts', s.start())
        wrong = run('status', '--watch', socket=s.socket)
        check('--watch without a terminal', wrong.returncode == 2 and 'needs a terminal' in wrong.stderr, wrong.stderr)
        check('--watch is not for all', run('apply', '--watch', '1', socket=s.socket).returncode == 2)
        check('--help names it', '--watch' in run('status', '--help').stdout and '--watch' not in run('apply', '--help').stdout)
        with Terminal(s.socket, 'status', '--watch') as t:
            check('--watch: it shows', t.shows('automation'))
            s.send(signal.SIGSTOP)  # it accepts and never answers
            time.sleep(3)
            t.forget()
            t.type('q')
            check('--watch: q ends it while the service does not answer', t.ends() == 0 and t.restored(), t.text)
            s.send(signal.SIGCONT)
        with Terminal(s.socket, 'status', '--watch') as t:
            check('--watch: it shows again', t.shows('automation'))
            s.stop()
            check('--watch: the service is gone', t.shows('cannot be reached') and t.shows('NOT CURRENT'), t.text)
            check('--watch: what it knew stays', 'automation' in '\n'.join(last_screen(t.text)))
            t.forget()
            check('the service starts again', s.start())
            check('--watch: and is back', t.shows('automation') and wait_until(lambda: 'NOT CURRENT' not in '\n'.join(last_screen(t.read())), 20))


def test_colours():
    with Service() as s:
        check('the service starts', s.start())
        for environment, coloured in (({}, True), ({'NO_COLOR': '1'}, False), ({'TERM': 'dumb'}, False)):
            for verb in ('hosts', 'status', 'recommendations', 'vms', 'pools'):
                with Terminal(s.socket, verb, **environment) as t:
                    check(f'{verb} {environment}', t.ends() == 0 and ('\x1b[1m' in t.text) == coloured, t.text[:300])
        plain = run('hosts', socket=s.socket).stdout
        with Terminal(s.socket, 'hosts') as t:
            t.ends()
            text = re.sub(r'\x1b\[[0-9;]*m', '', t.text).replace('\r', '')
            widths = [[m.start() for m in re.finditer(r'\S+', shown.splitlines()[0])] for shown in (text, plain)]
            check('colours take no columns', widths[0] == widths[1], text + plain)


check('every part came to its end', run_tests(globals()) == 0)
end()
