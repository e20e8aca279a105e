#!/usr/bin/env python3
"""The Ansible role, by Debian's ansible on this machine, in a folder of its own, with the playbook of its README: --check changes nothing, a run writes
the files, a second one changes nothing, a mistake is refused, a secret is not shown. systemctl is one that only notes what it is told, and
the packages are not installed."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from at_once import Skip, outcome  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
BALLAST = os.environ.get("BALLAST") or str(SOURCE / "build/src/cli/ballast")
ROLE = SOURCE / "packaging/ansible"
SECRET = "Unguessable-4711"
SYSTEMCTL = """#!/bin/sh
echo "$*" >> {0}/systemctl.log
case $1 in
show) printf 'LoadState=loaded\\nActiveState=%s\\nUnitFileState=enabled\\n' "$(cat {0}/active)" ;;
start | restart) echo active > {0}/active ;;
esac
"""


class Play:
    """The README's playbook, for this machine and a folder in place of /etc/ballast."""

    def __init__(self, place):
        self.place, self.etc = place, place / "etc"
        self.etc.mkdir()
        text = re.search(r"^```yaml\n(.*?)^```", (ROLE / "README.md").read_text(encoding="utf-8"), re.M | re.S)[1]
        for there, here in (("hosts: balancers", "hosts: localhost"), ("become: true", "connection: local"), ("/etc/ballast", str(self.etc))):
            assert there in text, there
            text = text.replace(there, here)
        (place / "site.yml").write_text(text, encoding="utf-8")
        (place / "pve-root-ca.pem").write_text("a certificate\n", encoding="utf-8")
        (place / "ballast.asc").write_text("a key\n", encoding="utf-8")
        (place / "active").write_text("inactive\n", encoding="utf-8")
        (place / "ansible.cfg").touch()
        (place / "bin").mkdir()
        (place / "bin/systemctl").write_text(SYSTEMCTL.format(place), encoding="utf-8")
        (place / "bin/systemctl").chmod(0o755)
        self.environment = os.environ | {"PATH": f"{place}/bin:{os.environ['PATH']}", "ANSIBLE_ROLES_PATH": str(ROLE / "roles"), "ANSIBLE_HOME": str(place / "home"),
                                         "ANSIBLE_LOCAL_TEMP": str(place / "tmp"), "ANSIBLE_REMOTE_TEMP": str(place / "tmp"), "ANSIBLE_NOCOLOR": "1", "ANSIBLE_GATHER_SUBSET": "min",
                                         "ANSIBLE_CONFIG": str(place / "ansible.cfg"), "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3"}

    def run(self, *options, good=True, **variables):
        """The output, and what was told to systemctl, but for questions."""
        user, group = self.etc.owner(), self.etc.group()
        own = {"vault_proxmox_token": SECRET, "ballast_folder": str(self.etc), "ballast_owner": user, "ballast_group": group, "ballast_command": BALLAST}
        log = self.place / "systemctl.log"
        log.write_text("", encoding="utf-8")
        done = subprocess.run(["ansible-playbook", "-i", "localhost,", "-v", "--diff", "-e", json.dumps(own | variables), *options, self.place / "site.yml"],
                              capture_output=True, text=True, timeout=300, check=False, env=self.environment, stdin=subprocess.DEVNULL)
        text = done.stdout + done.stderr
        assert (done.returncode == 0) == good, text
        assert SECRET not in text, text
        return text, [line for line in log.read_text(encoding="utf-8").splitlines() if line.split()[0] in ("start", "restart", "reload", "enable", "stop")]

    def configure(self, *options, **more):
        text, told = self.run("--tags", "configure", *options, **more)
        return int(re.search(r"changed=(\d+)", text)[1]), told

    def files(self):
        return {path.name: (path.read_text(encoding="utf-8"), stat.S_IMODE(path.stat().st_mode)) for path in self.etc.iterdir()}


def look(play):
    listed, _ = play.run("--list-tasks")
    assert len(re.findall(r"ballast : ", listed)) >= 5 and "Install the service and the command by apt" in listed, listed

    changed, told = play.configure("--check")
    assert changed and not told and not play.files(), (changed, told, play.files())

    changed, told = play.configure()
    files = play.files()
    assert changed == 4 and told == ["start ballastd.service", "restart ballastd.service"], (changed, told)
    assert files["proxmox.token"] == (SECRET, 0o640) and files["pve-root-ca.pem"] == ("a certificate", 0o640), files
    assert "kind: proxmox" in files["ballast.yaml"][0] and files["ballast.yaml"][1] == 0o640, files
    checked = subprocess.run([BALLAST, "check-config", play.etc / "ballast.yaml"], capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked

    assert play.configure() == (0, [])
    assert play.files() == files

    # a mistake is said with check-config's own sentence, and what was there goes on
    wrong = {"cluster": "pve-a", "source": {"kind": "sim"}, "intervall_s": 60}
    text, told = play.run("--tags", "configure", good=False, ballast_config=wrong)
    assert "intervall_s" in text and "interval_s" in text and not told and play.files() == files, text

    changed, told = play.configure(ballast_config={"cluster": "pve-a", "source": {"kind": "sim"}, "http": {"listen": "127.0.0.1:8480"}})
    assert changed == 2 and told == ["restart ballastd.service"], (changed, told)


def test_ansible():
    if not shutil.which("ansible-playbook"):
        raise Skip("ansible-playbook is not installed")
    with tempfile.TemporaryDirectory(prefix="ballast-ansible.") as name:
        look(Play(pathlib.Path(name)))


if __name__ == "__main__":
    sys.exit(outcome("ansible", test_ansible))
