"""daemon.py: a ballastd for a test: its configuration, its start and end, and requests by command and by socket.

    with Daemon(SIM, interval_s=5, automation="manual") as d:
        d.start()
        d.json("recommendations")           # `ballast ... --format json`
        d.request({"command": "status"})    # a line on the socket
        d.kill()                            # kill -9; start() begins again on the same store
"""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import schemas  # noqa: E402
from at_once import at_once, pause_since  # noqa: E402

BALLAST = os.environ.get("BALLAST", "build/src/cli/ballast")
BALLASTD = os.environ.get("BALLASTD", "build/src/daemon/ballastd")
SIM = {"kind": "sim", "speed": 50}
START_S = 20
STOP_S = 60
CALL_S = 120
SHORT = tempfile.gettempdir() if len(tempfile.gettempdir()) <= 60 else "/tmp"  # a socket's path has 107 bytes (unix(7))
# What tests ask for several times a second, with --limit or without. test_replies.py compares what both ways give.
LOOKS = {"status": {}, "hosts": {}, "vms": {}, "pools": {}, "recommendations": {}, "history": {"limit": 50}}
PATIENCE = 4  # how many times longer than on a quiet machine a test waits for what must come


def yaml(value, indent=0):
    lines = []
    for key, v in value.items():
        if isinstance(v, dict):
            lines += [f"{' ' * indent}{key}:", yaml(v, indent + 2)]
        else:
            lines.append(f"{' ' * indent}{key}: {json.dumps(v)}")
    return "\n".join(lines)


def wait_for(what, condition, timeout=60, every=None):
    """The first true value of the condition. The time is that of a quiet machine: a busy one has PATIENCE."""
    began = time.monotonic()
    deadline = began + timeout * PATIENCE
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout * PATIENCE} s")
        pause_since(began, every)


class Daemon:
    def __init__(self, source, **settings):
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-daemon-", dir=SHORT)
        self.folder = pathlib.Path(self.dir.name)
        self.socket = str(self.folder / "run" / "ballastd.sock")
        self.config = self.folder / "ballast.yaml"
        self.log = self.folder / "log"
        self.settings = {"cluster": "test", "state_dir": str(self.folder / "state"), "socket": self.socket, **settings,
                         "source": source}
        self.process = None
        self.environment = {}  # more than that of the test
        self.command = [BALLASTD]
        self.write()

    def write(self, **changes):
        self.settings.update(changes)
        self.config.write_text(yaml(self.settings) + "\n")

    def start(self):
        self.process = subprocess.Popen([*self.command, "--config", str(self.config)], stdin=subprocess.DEVNULL,
                                        stderr=open(self.log, "a"), env=os.environ | self.environment)

        def answers():
            if self.process.poll() is not None:
                raise AssertionError(f"ballastd ended with {self.process.returncode}")
            try:
                return self.request({"command": "status"})["ok"]
            except OSError:
                return False

        try:
            wait_for("the socket answers", answers, START_S, 0.05)
        except BaseException:  # `with Daemon(...).start()` has not entered yet
            self.__exit__(*sys.exc_info())
            raise
        return self

    def stop(self):
        """SIGTERM; it must end by itself, soon, and well."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=STOP_S)
        self.process = None
        assert code == 0, f"ballastd ended with {code}"

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=STOP_S)
        self.process = None

    def connect(self):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(CALL_S)
        s.connect(self.socket)
        return s

    def send(self, data):
        """Bytes as they are; gives the answer's line, decoded, or None where the connection was closed."""
        with self.connect() as s:
            s.sendall(data)
            return self.receive(s)

    @staticmethod
    def receive(s):
        line = b""
        while not line.endswith(b"\n"):
            more = s.recv(65536)
            if not more:
                return None
            line += more
        return json.loads(line)

    def request(self, what):
        reply = self.send(json.dumps(what).encode() + b"\n")
        schemas.check_reply(what.get("command"), reply)
        return reply

    def run(self, *args):
        done = subprocess.run([BALLAST, *map(str, args), "--socket", self.socket], capture_output=True, text=True,
                              timeout=CALL_S)
        if done.returncode == 0:
            schemas.check_output(args, done.stdout)
        return done

    def cli(self, *args, code=0):
        done = self.run(*args)
        assert done.returncode == code, f"{args}: exit {done.returncode}, {done.stdout}{done.stderr}"
        return done.stdout if code == 0 else done.stderr

    def json(self, *args):
        """What the command prints. To start it takes more processor time than to answer: LOOKS come from the socket."""
        request = {"command": args[0], **LOOKS.get(args[0], {})}
        if len(args) == 3 and args[1] == "--limit":
            request["limit"] = int(args[2])
        if args[0] not in LOOKS or len(args) != 1 + 2 * ("--limit" in args):
            return json.loads(self.cli(*args, "--format", "json"))
        try:
            reply = self.request(request)
        except OSError as e:
            raise AssertionError(f"{args}: {e}") from e
        assert reply and reply["ok"], f"{args}: {reply}"
        return reply[args[0]]

    def status(self):
        return self.json("status")

    def actions(self, *states):
        return [a for a in self.json("recommendations") if not states or a["state"] in states]

    def decide(self, verb, which):
        """Applies or rejects one of the recommendations that `which` allows; gives it. Those that are listed may have been taken
        back by the next pass."""
        said = "there were none"
        for _ in range(20):
            chosen = next(filter(which, self.actions("recommended")), None)
            done = chosen and self.run(verb, f'{chosen["id"]}.{chosen["version"]}')
            if done and done.returncode == 0:
                return chosen | {"said": done.stdout}
            said = done.stderr if done else said
            time.sleep(0.5)
        raise AssertionError(f"no recommendation could be decided on by {verb}: {said}")

    def placement(self):
        return {v["id"]: v["host"] for v in self.json("vms")}

    def imbalance(self):
        """As of the last pass, and what is aimed at; before the first pass it is far from that."""
        p = self.status()["pass"] or {"imbalance": float("inf"), "target": 0}
        return p["imbalance"], p["target"]

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process:
            self.process.kill()
            self.process.wait()
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        if kind:
            print(f"--- ballastd's log\n{text}", file=sys.stderr)
        else:
            schemas.check_events(self.settings["state_dir"])
        self.dir.cleanup()
        assert kind or not any(w in text for w in ("Sanitizer", "runtime error")), text


def main(*tests):
    """Each test has a ballastd of its own, and mostly waits for it: they run side by side."""
    sys.exit(at_once([(test.__name__, test) for test in tests]))
