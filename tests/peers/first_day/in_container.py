"""in_container.py: journeys with the image for containers, by the lines of packaging/README.md, run by podman as root."""
import os
import pathlib
import re
import subprocess

from container import ALWAYS, LIMITS
from daemon import wait_for
from proxmox import Server

from .from_source import crowded
from .journey import EXPLAINED, in_one_line, journey
from .readme import commands
from .terminal import CALL_S, Machine, PATHS, Terminal

STEPS = "In a container 1"
GROUP = 10001


class Podman(Machine):
    """A machine with podman: its images, containers and volumes are in a folder of the test's own."""

    def __init__(self, image):
        super().__init__()
        self.configuration = self.place / "ballast"
        self.podman = ["podman", "--root", f"{self.place}/podman", "--runroot", f"{self.place}/podman.run", "--tmpdir", f"{self.place}/podman.tmp", *ALWAYS]
        self.replace = {"oci:/tmp/ballast-images:0.1.0": image, "podman ": " ".join(self.podman) + " ", "/srv/ballast": str(self.configuration),
                        "run -d": f"run -d --network host {' '.join(LIMITS)}"}  # the addresses of this test's servers are on loopback

    def command(self, user, line):
        return ["env", "-i", f"PATH={PATHS[True]}", "HOME=/root", "bash", "-c", f"cd {self.place} && {line}"]

    def close(self):
        for words in (("rm", "--all", "--force"), ("rmi", "--all", "--force")):
            subprocess.run([*self.podman, *words], check=False, timeout=CALL_S, capture_output=True)
        super().close()

    def said(self):
        """What the service that ended said."""
        root = Terminal(self, "root")
        wait_for("its end", lambda: "exited" in root.type("podman ps --all --format '{{.Status}}'").lower())
        ret = root.type("podman logs ballast")
        root.type("podman rm ballast")
        return ret


def steps(j, image):
    """The machine with the image, and the lines that start the service and ask it."""
    machine = Podman(image)
    tag, start, ask = commands(j.block(STEPS))
    machine.terminal("root").type(tag)
    return machine, start, ask


def is_explained(j, root, ask):
    """Where no more than the command within the container is needed."""
    ask = ask.rpartition(" ")[0] + " "

    def shown():
        return root.type(ask + "recommendations", code=None)
    wait_for("the first recommendation", lambda: re.search(EXPLAINED, in_one_line(shown())))
    vm = shown().split(" migrate ")[1].split()[0]
    assert vm in root.type(f"{ask}explain --vm {vm}")
    j.arrived()


@journey("the image's own cluster", who="root", by="container", back_end="simulated", blocks=[STEPS], mistakes=["the folder has no configuration"])
def simulated(j, image):
    machine, start, ask = steps(j, image)
    with machine:
        root = machine.terminal("root")
        machine.configuration.mkdir()
        root.type(start)
        j.mistake("the folder has no configuration", machine.said(), "/etc/ballast/ballast.yaml", "No such file", "writes a first one")
        root.type(start.replace("-v /srv/ballast:/etc/ballast:ro ", ""))  # "without that mount it runs the simulated cluster"
        wait_for("the service", lambda: "source" in root.type(ask, code=None))
        is_explained(j, root, ask)


@journey("Proxmox VE in a container", who="root", by="container", back_end="Proxmox VE", blocks=[STEPS],
         mistakes=["a typing error in a key", "a secret's file of root alone", "a wrong secret"])
def proxmox(j, image):
    cluster = crowded()
    machine, start, ask = steps(j, image)
    with Server(cluster) as server, machine:
        root, folder = machine.terminal("root"), machine.configuration
        folder.mkdir()
        folder.chmod(0o755)
        secret, config = folder / "proxmox.token", folder / "ballast.yaml"
        (folder / "pve-root-ca.pem").write_bytes(pathlib.Path(server.ca_file).read_bytes())
        secret.write_text("00000000-0000-0000-0000-000000000000\n")
        secret.chmod(0o600)
        config.write_text(f"cluster: pve-a\nsource:\n  kind: proxmox\n  url: {server.urls[0]}\n  user: \"{server.token}\"\n"
                          "  password_file: /etc/ballast/proxmox.token\n  ca_file: /etc/ballast/pve-root-ca.pem\n")
        config.chmod(0o644)
        root.type(start)
        j.mistake("a typing error in a key", machine.said(), "source.user", 'did you mean "source.username"')
        machine.edit(config, ("user:", "username:"))
        root.type(start)
        j.mistake("a secret's file of root alone", machine.said(), "/etc/ballast/proxmox.token cannot be opened: Permission denied",
                  f"the group {GROUP} and mode 0640 outside of the container")
        os.chown(secret, 0, GROUP)
        secret.chmod(0o640)
        root.type(start)
        told = wait_for("the refusal", lambda: (lambda text: text if "was refused" in in_one_line(text) else None)(root.type(ask, code=None)))
        j.mistake("a wrong secret", told[told.index("source"):].partition("imbalance")[0], "was refused", "its name or its secret is wrong")
        secret.write_text(cluster.accounts[server.token].secret + "\n")
        root.type("podman restart ballast")
        is_explained(j, root, ask)
