"""container.py: an image for containers, run by podman as packaging/compose says: with a root that is read-only, as the image's user, with a
volume for the state. But for the network: there is none.

    c = Container(f"oci:{folder}/images:0.1.0", folder)
    c.start(configuration)      # a folder in place of /etc/ballast
    c.ballast("status")         # the command within the container
    c.stop()                    # SIGTERM; the exit code must be 0
    c.close()
"""
import json
import os
import pathlib
import subprocess
import time

COMPOSE = pathlib.Path(__file__).resolve().parents[2] / "packaging/compose"
NAME = "ballast"
# runc takes each arrangement of cgroups, crun does not. Higher limits than the test has itself cannot be given.
ALWAYS = ["--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "file"]
LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]

STUB = """#!/usr/bin/env python3
import json, sys
with open("{}", "a", encoding="utf-8") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
print("podman version 4.3.1")
"""


def compose_run(folder):
    """What podman-compose has podman run: the arguments, by service."""
    stub, log = folder / "stub", folder / "stub.log"
    stub.write_text(STUB.format(log), encoding="utf-8")
    stub.chmod(0o755)
    images = {f"{name}_IMAGE": name.lower() for name in ("BALLAST", "PROMETHEUS", "GRAFANA")}
    subprocess.run(["podman-compose", "-f", COMPOSE / "compose.yaml", "--podman-path", stub, "up", "-d"], check=True, timeout=120, capture_output=True,
                   env=os.environ | images)
    runs = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {r[r.index("--network-alias") + 1]: r[1:] for r in runs if r[0] == "run"}


def after(option, arguments):
    """The values of an option."""
    return [value for name, value in zip(arguments, arguments[1:]) if name == option]


def options(arguments):
    """Those of the service that need neither the other services nor the machine's network."""
    read = [a for a in arguments if a == "--read-only"]
    return read + [word for option in ("--cap-drop", "--security-opt", "-v") for value in after(option, arguments) for word in (option, value)
                   if not value.endswith(":/etc/ballast:ro")]


class Container:
    def __init__(self, image, folder):
        self.podman = ["podman", "--root", folder / "podman", "--runroot", folder / "podman.run", "--tmpdir", folder / "podman.tmp", *ALWAYS]
        self.running = False
        self.services = compose_run(folder)
        self.options = options(self.services["ballast"])
        self.image = self.run("pull", "--quiet", image).strip()
        self.user = json.loads(self.run("inspect", self.image))[0]["Config"]["User"]

    def run(self, *command, code=0):
        done = subprocess.run([str(c) for c in (*self.podman, *command)], capture_output=True, text=True, timeout=300, check=False)
        assert code is None or done.returncode == code, f"podman {command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}\n{self.log()}"
        return done.stdout

    def log(self):
        done = subprocess.run([str(c) for c in (*self.podman, "logs", NAME)], capture_output=True, text=True, timeout=60, check=False) if self.running else None
        return (done.stdout + done.stderr)[-3000:] if done else ""

    def start(self, configuration=None):
        """configuration: a folder in place of /etc/ballast. The state is that of the start before."""
        mounts = ["-v", f"{configuration}:/etc/ballast:ro"] if configuration else []
        self.running = True
        self.run("run", "-d", "--name", NAME, "--network", "none", *LIMITS, *self.options, *mounts, self.image)
        self.pid = self.inspect("State")["Pid"]
        deadline = time.monotonic() + 120
        while not self.ballast("status", code=None).startswith("{"):
            assert self.inspect("State")["Running"] and time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    def inspect(self, part):
        return json.loads(self.run("inspect", NAME))[0][part]

    def within(self, *command, code=0):
        return self.run("exec", NAME, *command, code=code)

    def ballast(self, *arguments, code=0):
        return self.within("ballast", *arguments, "--format", "json", code=code)

    def listens(self):
        """The TCP ports on which the container listens."""
        lines = [line.split() for name in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/{self.pid}/net/{name}").read_text().splitlines()[1:]]
        return {int(line[1].rsplit(":", 1)[1], 16) for line in lines if line[3] == "0A"}

    def stop(self):
        self.run("stop", "--time", "60", NAME)
        code = self.inspect("State")["ExitCode"]
        assert code == 0, f"exit code {code}\n{self.log()}"
        self.run("rm", NAME)
        self.running = False

    def close(self):
        """Ends it in any case, and unmounts its root."""
        self.run("rm", "--all", "--force", code=None)
        self.run("rmi", "--all", "--force", code=None)
