"""Shared by the scripts here: runs the command, or a service on the simulated cluster."""
import contextlib
import json
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = pathlib.Path(os.environ.get('BALLAST_SOURCE_DIR') or pathlib.Path(__file__).resolve().parents[2])
sys.path.append(str(TOP / 'tests'))  # for what it shares with the scripts of other folders
import schemas  # noqa: E402
from at_once import pause_since  # noqa: E402

BUILD = pathlib.Path(os.environ.get('BALLAST_BUILD_DIR') or TOP / 'build')
BALLAST = os.environ.get('BALLAST') or str(BUILD / 'src/cli/ballast')
BALLASTD = os.environ.get('BALLASTD') or str(BUILD / 'src/daemon/ballastd')
SLOW = 4 if os.environ.get('BALLAST_TEST_SLOW') else 1
SHORT = tempfile.gettempdir() if len(tempfile.gettempdir()) <= 60 else '/tmp'  # a socket's path has 107 bytes (unix(7))
PATIENCE = 4 * SLOW  # how many times longer than on a quiet machine a test waits for what must come

failures = []


def check(what, truth, more=''):
    """Says what is not so, and goes on."""
    if not truth:
        failures.append(what)
        print(f'FAILED {what}{": " if more else ""}{more}', flush=True)
    return truth


def end():
    print(f'{len(failures)} failures')
    sys.exit(1 if failures else 0)


def run(*arguments, stdin=None, socket=None, timeout=60, **environment):
    env = {**os.environ, **environment}
    env.pop('BALLAST_SOCKET', None)
    if socket:
        env['BALLAST_SOCKET'] = str(socket)
    done = subprocess.run([BALLAST, *map(str, arguments)], input=stdin, capture_output=True, text=True, env=env,
                          timeout=timeout * PATIENCE, check=False)
    if socket and done.returncode == 0:
        schemas.check_output(arguments, done.stdout)
    return done


def wait_until(predicate, seconds, every=None):
    began = time.monotonic()
    while time.monotonic() < began + seconds * PATIENCE:
        if predicate():
            return True
        pause_since(began, every)
    return bool(predicate())


def answer_on_terminal(s, *arguments, answer):
    """What `ballast` says on a terminal where someone types that answer: exit code, standard output, what the terminal showed."""
    controller, terminal = pty.openpty()
    shown = []

    def read():  # in pieces as the kernel hands them over, until the last end of the terminal is closed
        with contextlib.suppress(OSError):
            while piece := os.read(controller, 65536):
                shown.append(piece)
    try:
        process = subprocess.Popen([BALLAST, *arguments], stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, 'BALLAST_SOCKET': str(s.socket)})
    finally:
        os.close(terminal)
    reader = threading.Thread(target=read, daemon=True)
    try:
        reader.start()
        os.write(controller, answer.encode())
        out, _ = process.communicate(timeout=60 * PATIENCE)
        reader.join(10 * PATIENCE)
        return process.returncode, out, b''.join(shown).decode()
    finally:
        process.kill()  # if it did not end
        process.wait()
        os.close(controller)


class Service:
    """ballastd on the simulated cluster, in a folder of its own; a context manager, ends what it started."""

    def __init__(self, source='kind: sim\n  speed: 20', **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='ballast-test.', dir=SHORT))
        self.socket = self.folder / 'ballastd.sock'
        self.config = self.folder / 'ballast.yaml'
        self.log = self.folder / 'log'
        self.process = None
        self.configure(source, **settings)

    def configure(self, source='kind: sim\n  speed: 20', **settings):
        all_settings = {'interval_s': 300, 'automation': 'manual', 'migration_threshold': 4, **settings}
        lines = [f'cluster: test\nstate_dir: {self.folder}/state\nsocket: {self.socket}\n']
        lines += [f'{key}: {value}\n' for key, value in all_settings.items()]
        self.config.write_text(''.join(lines) + f'source:\n  {source}\n', encoding='utf-8')

    def start(self):
        """Whether it has ended already, or answers and has seen the cluster."""
        with open(self.log, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen([BALLASTD, '--config', str(self.config)], stdout=log, stderr=log)
        return wait_until(lambda: self.process.poll() is not None or run('vms', socket=self.socket).returncode == 0, 20)

    def ask(self, *arguments):
        return run(*arguments, socket=self.socket)

    def ask_json(self, *arguments):
        done = self.ask(*arguments, '--format', 'json')
        if done.returncode != 0:
            raise RuntimeError(f'ballast {" ".join(arguments)}: {done.returncode}: {done.stderr}')
        return json.loads(done.stdout)

    def recommendations(self):
        return self.ask_json('recommendations')

    def ids(self, state='recommended'):
        return [r['id'] for r in self.recommendations() if r['state'] == state]

    def numbers(self):
        """Of what is recommended, as `apply` takes them: 3, or 3.2 when its destination has changed."""
        return [str(r['id']) + (f'.{r["version"]}' if r['version'] > 1 else '') for r in self.recommendations() if r['state'] == 'recommended']

    def hosts_of_vms(self):
        return {v['id']: v['host'] for v in json.loads(self.ask('snapshot').stdout)['vms']}

    def send(self, number):
        self.process.send_signal(number)

    def stop(self, number=signal.SIGTERM, seconds=15):
        """Its exit code; None if it had to be killed."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.send(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds * PATIENCE)
        self.process.kill()
        self.process.wait()
        return None

    def log_text(self):
        return self.log.read_text(encoding='utf-8', errors='replace') if self.log.exists() else ''

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.stop()
        if failures or exc[0]:
            print(self.log_text()[-6000:])
        else:
            schemas.check_events(self.folder / 'state')
        shutil.rmtree(self.folder, ignore_errors=True)
