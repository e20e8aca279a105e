"""container.py: an image for containers, unpacked, and its service as a container runtime would start it: in namespaces of its own, as the
image's user, as process 1, with a volume.

    c = Container("images:0.1.0", folder)
    c.start(volume)
    c.ballast("status")         # the command within the container
    c.stop()                    # SIGTERM; the exit code must be 0
"""
import json
import os
import pathlib
import signal
import subprocess
import time

START = """
set -e
ip link set lo up
mount --bind /dev dev
mount -t proc proc proc
mount --bind "$VOLUME" var/lib/ballast
[ -z "$CONFIGURATION" ] || mount --bind "$CONFIGURATION" etc/ballast
exec chroot --userspec="$ID" --groups="${ID#*:}" . "$@"
"""


class Container:
    def __init__(self, image, folder):
        bundle = folder / "bundle"
        subprocess.run(["umoci", "unpack", "--image", image, bundle], check=True, timeout=300, capture_output=True)
        self.root = bundle / "rootfs"
        self.configuration = json.loads((bundle / "config.json").read_text())
        process = self.configuration["process"]
        self.user = process["user"]["uid"], process["user"]["gid"]
        self.command = ["env", "-i", "-C", process["cwd"], *process["env"], *process["args"]]
        self.log = folder / "container.log"
        self.runtime = self.pid = None

    def start(self, volume, configuration=""):
        """volume, configuration: folders for the state and in place of /etc/ballast."""
        environment = os.environ | {"VOLUME": str(volume), "CONFIGURATION": str(configuration), "ID": f"{self.user[0]}:{self.user[1]}"}
        with open(self.log, "a", encoding="utf-8") as log:
            self.runtime = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--fork", "--net", "--ipc", "--uts", "sh", "-c", START, "sh", *self.command],
                cwd=self.root, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        deadline = time.monotonic() + 120
        while not self.answers():
            assert self.runtime.poll() is None and time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.2)

    def process_1(self):
        """Its number outside; None: not there yet."""
        children = pathlib.Path(f"/proc/{self.runtime.pid}/task/{self.runtime.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def within(self, *command, code=0):
        """A command in the container's namespaces and root, as its user."""
        done = subprocess.run(["nsenter", f"--target={self.pid}", "--mount", "--pid", "--net", "--ipc", "--uts", "--root", "--wd",
                               f"--setuid={self.user[0]}", f"--setgid={self.user[1]}", *command], capture_output=True, text=True, timeout=120,
                              check=False, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        assert code is None or done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def answers(self):
        self.pid = self.process_1()
        try:
            return self.pid and pathlib.Path(f"/proc/{self.pid}/comm").read_text() == "ballastd\n" and \
                self.ballast("status", code=None).startswith("{")
        except OSError:  # it has ended
            return False

    def ballast(self, *arguments, code=0):
        return self.within("ballast", *arguments, "--format", "json", code=code)

    def listens(self):
        """The TCP ports on which the container listens."""
        lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/{self.pid}/net/{name}").read_text().splitlines()[1:]]
        return {int(line[1].rsplit(":", 1)[1], 16) for line in lines if line[3] == "0A"}

    def stop(self):
        os.kill(self.pid, signal.SIGTERM)
        code = self.runtime.wait(60)
        self.runtime = None
        assert code == 0, f"exit code {code}\n{self.log.read_text()[-3000:]}"

    def close(self):
        """Ends it in any case, and with process 1 all others."""
        if self.runtime and self.runtime.poll() is None:
            if child := self.process_1():
                os.kill(child, signal.SIGKILL)
            self.runtime.kill()
            self.runtime.wait()
