"""setup_dialogue.py: `ballast setup` with its questions, answered by a test.

    with Setup(folder) as s:                    # or terminal=True; command: another than for a file in that folder
        s.answer(("kind of the source", "vsphere"), ("URL of the API", url))
        s.asks("PROBLEM", "certificate")        # waits for the words; gives the text between
        shown = s.serves()                      # starts the service that it asks for
"""
import os
import pathlib
import pty
import select
import subprocess
import sys
import termios
import time

from daemon import BALLAST, BALLASTD, PATIENCE, wait_for

STEP_S = 60  # a question comes within it, on a quiet machine
ENDED_S = 120
NOTHING = "nothing was written"


class Setup:
    """The command with its questions: read from standard error, or a terminal; a context manager."""

    def __init__(self, folder, name="b.yaml", terminal=False, command=None):
        self.folder, self.config, self.text, self.at, self.service = pathlib.Path(folder), pathlib.Path(folder) / name, "", 0, None
        self.terminal = None
        command = command or [BALLAST, "setup", "--config", str(self.config)]
        if terminal:
            self.reads, self.terminal = pty.openpty()
            self.writes, self.before = self.reads, termios.tcgetattr(self.terminal)
            self.process = subprocess.Popen(command, stdin=self.terminal, stdout=self.terminal, stderr=self.terminal, start_new_session=True,
                                            preexec_fn=lambda: __import__("fcntl").ioctl(0, termios.TIOCSCTTY, 0))
        else:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.reads, self.writes = self.process.stdout.fileno(), self.process.stdin.fileno()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for process in filter(None, (self.process, self.service)):
            if process.poll() is None:
                process.kill()
            process.wait()
        if kind:
            print(f"--- what it said\n{self.text}", file=sys.stderr)

    def read(self):
        while select.select([self.reads], [], [], 0.05)[0]:
            try:
                more = os.read(self.reads, 65536)
            except OSError:  # the terminal's last user is gone
                return
            if not more:
                return
            self.text += more.decode(errors="replace")

    def asks(self, *words):
        """Waits for the words after what was waited for before; gives the text between."""
        for word in words:
            deadline = time.monotonic() + STEP_S * PATIENCE
            while self.text.find(word, self.at) < 0:
                assert time.monotonic() < deadline, f"not said: {word}\n{self.text[self.at:]}"
                self.read()
            began, self.at = self.at, self.text.find(word, self.at) + len(word)
        return self.text[began:self.at]

    def say(self, *lines):
        for line in lines:
            os.write(self.writes, f"{line}\n".encode())

    def answer(self, *pairs):
        """(what is asked, what is typed)..."""
        for words, line in pairs:
            self.asks(words)
            self.say(line)

    def ends(self, code):
        wait_for("its end", lambda: (self.read(), self.process.poll() is not None)[1], ENDED_S)
        self.read()
        assert self.process.returncode == code, f"exit code {self.process.returncode}, {self.text}"
        return self.text

    def gives_up(self):
        """Without a further answer; nothing is left but what was there."""
        self.process.stdin.close()
        self.ends(1)
        assert NOTHING in self.text, self.text

    def serves(self):
        """Starts the service that it asks for, and gives what it shows then."""
        self.asks("start the service, in another terminal: ballastd --config ")
        assert not list(self.folder.glob(".setup-*")), "the folder of unfinished files is left"
        self.service = subprocess.Popen([BALLASTD, "--config", str(self.config)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.ends(0)

    def has_file(self, name, mode, content=None):
        file = self.folder / name
        assert file.stat().st_mode & 0o7777 == mode, (name, oct(file.stat().st_mode))
        assert content is None or content in file.read_text(), (name, file.read_text())

    def configures(self, *lines):
        """The file has these lines, and a comment before each key."""
        written = self.config.read_text().splitlines()
        for line in ("automation: manual", *lines):
            assert line in [w.strip() for w in written], (line, written)
        for before, line in zip(written, written[1:]):
            assert before.strip().startswith("#") or ":" not in line or line.strip().startswith("#") or line == "source:", (before, line)
