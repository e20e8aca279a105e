"""probe.py: runs the plug-ins and the power methods of a host from Python: one process, one answer for each command."""
import contextlib
import json
import os
import select
import subprocess
import time

ANSWER_S = 120


class Probe:
    """with Probe(url=..., username=..., password_file=...) as p: p("collect")["hosts"]"""
    PROGRAM = "BALLAST_PLUGIN_PROBE"

    def __init__(self, kind="vsphere", **config):
        arguments = [f"{key}={value}" for key, value in config.items() if value is not None]
        self.process = subprocess.Popen([*self.command(), kind, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, bufsize=0)
        self.took_s = 0

    def command(self):
        """The words that start it."""
        program = os.environ.get(self.PROGRAM)
        if not program:
            raise RuntimeError(f"{self.PROGRAM} is not set: run this with meson test")
        return [program]

    def __call__(self, *words):
        began = time.monotonic()
        if words:
            with contextlib.suppress(BrokenPipeError):  # it has refused its configuration and ended: that is its answer
                self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_S)
            piece = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError(f"the probe gave no answer to {words}: {self.close()}")
            line += piece
        self.took_s = time.monotonic() - began
        return json.loads(line)

    def close(self):
        """Ends it; gives what it logged."""
        if self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=10)
        log = self.process.stderr.read().decode() if not self.process.stderr.closed else ""
        self.process.stderr.close()
        self.process.stdout.close()
        return log

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class PowerProbe(Probe):
    """with PowerProbe("redfish", url=..., username=..., password_file=...) as p: p("chassis")["on"]"""
    PROGRAM = "BALLAST_POWER_PROBE"

    def close(self):
        log = super().close()
        if self.process.returncode not in (0, 1):  # a sanitizer, or a signal
            raise RuntimeError(f"the probe ended with {self.process.returncode}: {log}")
        return log


def by_id(objects):
    return {o["id"]: o for o in objects}
