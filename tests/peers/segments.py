"""segments.py: machines on Ethernet segments for a test, as namespaces: network and mounts of their own, the rest shared.

    with Segments("service", "relay", "sleeper") as lab:
        lab.wire("service", "eth0", "10.97.1.1/24", "relay", "eth0", "10.97.1.2/24")
        lab.run("relay", "ip", "addr")                       # to its end; gives its output
        lab.start("relay", "/usr/sbin/sshd", "-D")           # in the background
        with lab.listen("sleeper", "eth0", "udp") as ear:    # tcpdump, as the witness
            ear.frames(3)                                    # [bytes of an Ethernet frame, ...]

A machine has no name in the system: it lives as long as the process that holds it, and that ends with the test, however the
test ends. Root is needed; where it, a program or the right to make namespaces is missing, Skip is raised.
"""
import contextlib
import ctypes
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip  # noqa: E402

PR_SET_PDEATHSIG = 1
START_S = 60
CALL_S = 120


def end_with_parent():
    """In a child: killed when the test is, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def need(**packages):
    """program=package: Skip where a program is missing."""
    for program, package in packages.items():
        if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise Skip(f"{program} is missing: apt install {package}")


class Ear:
    """tcpdump on an interface; what it writes is read as pcap (pcap-savefile(5))."""

    def __init__(self, process):
        self.process = process
        self.data = b""
        self.seen = []

    def _read(self, until):
        out = self.process.stdout
        ready, _, _ = select.select([out], [], [], max(0, until - time.monotonic()))
        piece = os.read(out.fileno(), 1 << 16) if ready else b""
        self.data += piece
        return bool(piece)

    def _take(self):
        """The frames that are there as a whole."""
        while len(self.data) >= 16:
            size = struct.unpack("<I", self.data[8:12])[0]
            if len(self.data) < 16 + size:
                break
            self.seen.append(self.data[16:16 + size])
            self.data = self.data[16 + size:]

    def frames(self, n, within_s=30.0, calm_s=0.3):
        """Everything that came since the last time: at least n, or what there is in that time, and what follows at once."""
        until = time.monotonic() + within_s
        while len(self.seen) < n and time.monotonic() < until:
            if not self._read(until):
                break
            self._take()
        until = time.monotonic() + calm_s
        while self._read(until):
            self._take()
        seen, self.seen = self.seen, []
        return seen

    def __enter__(self):
        until = time.monotonic() + START_S
        while len(self.data) < 24:  # the file's head: it listens
            assert self._read(until), "tcpdump did not begin"
        self.data = self.data[24:]
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(timeout=60)
        self.process.stdout.close()


class Segments:
    def __init__(self, *names):
        need(ip="iproute2", unshare="util-linux", nsenter="util-linux", tcpdump="tcpdump")
        if os.geteuid() != 0:
            raise Skip("network namespaces need root")
        self.processes, self.holders = [], {}
        try:
            for name in names:
                self.holders[name] = self._hold()
                self.run(name, "mount", "-t", "sysfs", "sysfs", "/sys")  # with the interfaces of its own
                self.run(name, "ip", "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def _hold(self):
        holder = subprocess.Popen(["unshare", "--net", "--mount", "sh", "-c", "echo here; exec sleep 3600"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=end_with_parent)
        self.processes.append(holder)
        if holder.stdout.readline() != b"here\n":
            raise Skip("namespaces cannot be made here: " + holder.stderr.read().decode().strip())
        return holder.pid

    def inside(self, name, *command):
        """The command line that runs it there."""
        return ["nsenter", "--target", str(self.holders[name]), "--net", "--mount", *map(str, command)]

    def run(self, name, *command, check=True):
        done = subprocess.run(self.inside(name, *command), capture_output=True, text=True, timeout=CALL_S)
        if check and done.returncode != 0:
            raise RuntimeError(f"{name}: {' '.join(map(str, command))}: {done.stderr}")
        return done.stdout

    def start(self, name, *command, **more):
        process = subprocess.Popen(self.inside(name, *command), preexec_fn=end_with_parent, **more)
        self.processes.append(process)
        return process

    def wire(self, one, one_if, one_ip, other, other_if, other_ip):
        """A cable between two machines."""
        self.run(one, "ip", "link", "add", one_if, "type", "veth", "peer", "name", other_if, "netns",
                 self.holders[other])
        for name, interface, address in ((one, one_if, one_ip), (other, other_if, other_ip)):
            self.run(name, "ip", "addr", "add", address, "broadcast", "+", "dev", interface)
            self.run(name, "ip", "link", "set", interface, "up")

    def listen(self, name, interface, *expression):
        return Ear(self.start(name, "tcpdump", "--immediate-mode", "-U", "-n", "-i", interface, "-w", "-", *expression,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))

    def close(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.kill()
            process.wait(timeout=60)
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@contextlib.contextmanager
def on_another_machine(daemon, url):
    """The service runs in a network namespace of its own, from which the cluster is reached by a relay."""
    port, meeting = url.rsplit(":", 1)[1], str(daemon.folder / "relay")
    machines = Segments("other")
    outside = subprocess.Popen(["socat", f"UNIX-LISTEN:{meeting},fork", f"TCP:127.0.0.1:{port}"], preexec_fn=end_with_parent)
    try:
        machines.start("other", "socat", f"TCP-LISTEN:{port},bind=127.0.0.1,fork,reuseaddr", f"UNIX-CONNECT:{meeting}")
        daemon.command = machines.inside("other", *daemon.command)
        yield
    finally:
        outside.kill()
        outside.wait()
        machines.close()
