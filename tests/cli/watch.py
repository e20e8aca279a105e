#!/usr/bin/env python3
"""`ballast top`, --watch, how they scroll, and colours, as a person at a terminal sees them."""
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
            check('top: a smaller terminal', t.shows('more below') and t.shows('\x1b[J') and len(last_screen(t.text)) == 10 and
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
            check('top: the same on a terminal', t.ends() == 2 and ENTER not in t.text and 'expected load' in t.text, t.text)


UP, DOWN, PAGE_UP, PAGE_DOWN, HOME, END = '\x1b[A', '\x1b[B', '\x1b[5~', '\x1b[6~', '\x1b[H', '\x1b[F'
APPLICATION = {UP: '\x1bOA', DOWN: '\x1bOB', HOME: '\x1bOH', END: '\x1bOF'}  # what these keys send in the other mode


class Scrolled:
    """A watch on a terminal, and the text that it has to show: what is on the screen is a part of it, and the rest is counted."""

    def __init__(self, terminal, text):
        self.t, self.text = terminal, text
        self.top = 0

    def resize(self, rows, columns):
        self.t.rows, self.t.columns = rows, columns
        self.t.forget()
        fcntl.ioctl(self.t.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        self.expect(f'{rows} rows, {columns} columns', self.top)

    def press(self, keys, top):
        self.t.forget()
        self.t.type(keys)
        self.expect(repr(keys), top)

    def expect(self, what, top):
        """The screen of this terminal with that line of the text at its top, or as far down as there is text."""
        rows = self.t.rows - 1
        self.top = max(0, min(top, len(self.text) - rows))
        shown = [line[:self.t.columns].rstrip() for line in self.text[self.top:self.top + rows]]
        below = max(0, len(self.text) - self.top - rows)
        counts = ', '.join(([f'{below} more below'] if below else []) + ([f'{self.top} {"" if below else "more "}above'] if self.top else []))
        foot = (f'{counts}; ballast' if counts else 'ballast')[:self.t.columns]

        def is_there():
            self.t.read()
            screen = last_screen(self.t.text)
            return '\x1b[J' in self.t.text.split('\x1b[H')[-1] and [line.rstrip() for line in screen[:len(shown)]] == shown and \
                len(screen) == self.t.rows and screen[-1].startswith(foot)
        check(f'{what}: lines {self.top} to {self.top + rows} of {len(self.text)}', wait_until(is_there, 15), f'{foot} {last_screen(self.t.text)}')


def test_scrolling():
    with Service(source='kind: sim\n  speed: 1') as s:
        check('the service starts', s.start())
        text = run('vms', socket=s.socket).stdout.splitlines()
        check('the list is longer than the terminal', len(text) > 40, len(text))
        with Terminal(s.socket, 'vms', '--watch', rows=12, columns=60) as t:
            shown = Scrolled(t, text)
            shown.expect('at first', 0)
            shown.press(DOWN, 1)
            shown.press(DOWN + DOWN + DOWN, 4)
            shown.press(APPLICATION[UP], 3)
            shown.press(PAGE_DOWN, 13)  # a line of the page before stays
            shown.press('\x1b[1;5B', 13)  # another key
            shown.press(PAGE_UP, 3)
            shown.press(PAGE_UP, 0)
            shown.press(UP, 0)
            shown.press(END, len(text))
            shown.press(DOWN + PAGE_DOWN, len(text))
            shown.resize(30, 100)
            shown.resize(7, 30)
            shown.press(APPLICATION[HOME], 0)
            shown.press(APPLICATION[END], len(text))
            shown.resize(len(text) + 5, 80)
            check('all of it: nothing is counted', shown.top == 0 and 'above' not in last_screen(t.text)[-1])
            shown.resize(9, 80)
            shown.press(PAGE_DOWN, 7)
            t.forget()
            check('it stays there when it is drawn again', t.shows('\x1b[J'))
            shown.expect('drawn again', 7)
            s.stop()
            check('the error takes a line', t.shows('NOT CURRENT') and 'more below' in last_screen(t.text)[-1], last_screen(t.text))
            t.type('q')
            check('q ends it', t.ends() == 0 and t.restored())


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
            check('--watch: what is old is said to be so', t.shows('NOT CURRENT', 30))
            foot = last_screen(t.read())[-1]
            time.sleep(1.2)
            t.forget()
            t.type('\x1b[A')
            check('--watch: the time is that of the figures', t.shows('\x1b[J') and last_screen(t.text)[-1] == foot, f'{foot} {last_screen(t.text)[-1]}')
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
