#!/usr/bin/env python3
"""The Debian packages: built from the last commit, without a complaint of lintian, and used in a fresh Debian 12 (a folder, by chroot):
installed, started on the simulated cluster, upgraded with data and an edited configuration, taken back to the version before, removed,
purged."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from at_once import Skip, outcome  # noqa: E402

SOURCE = pathlib.Path(os.environ["BALLAST_SOURCE_DIR"]).resolve()
NEEDED = ["dpkg-buildpackage", "lintian", "mmdebstrap", "git", "dh"]
SOURCES = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"]
PACKAGES = ["ballast", "ballastd"]
USER = "ballast"
UNITS = ["ballastd.service", "ballastd@.service"]


def run(*command, timeout=600, code=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False, **options)
    assert code is None or done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def build(folder):
    run(SOURCE / "packaging/deb", folder, timeout=1200)
    return {name: next(folder.glob(f"{name}_*.deb")) for name in PACKAGES}


def bootstrap(folder):
    sources = [s for s in SOURCES if os.path.exists(s)]
    run("mmdebstrap", "--mode=root", "--variant=apt", "--skip=cleanup/apt/lists",
        "--include=systemd-standalone-sysusers,systemd-standalone-tmpfiles", "bookworm", folder, *sources, timeout=1200)
    (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (folder / "usr/sbin/policy-rc.d").chmod(0o755)


def renumbered(deb, version, folder, change=None):
    """The same package with another version; change(root) alters its files."""
    root = folder / f"{deb.stem}-{version}"
    run("dpkg-deb", "-R", deb, root)
    control = root / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*", f"Version: {version}", re.sub(r"ballast \(= [^)]*\)", f"ballast (= {version})", control.read_text()),
                              flags=re.M))
    if change:
        change(root)
    (root / "DEBIAN/md5sums").unlink()
    out = folder / f"{deb.name.split('_')[0]}_{version}.deb"
    run("dpkg-deb", "--root-owner-group", "-b", root, out)
    return out


class Root:
    """An installed Debian in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.service = None

    def run(self, *command, user="root", **options):
        return run("chroot", f"--userspec={user}", self.folder, "/usr/bin/env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                   "DEBIAN_FRONTEND=noninteractive", *command, **options)

    def install(self, debs, *options):
        for deb in debs:
            shutil.copy(deb, self.folder / "tmp")
        self.run("apt-get", "install", "-y", "--no-install-recommends", *options, *[f"/tmp/{deb.name}" for deb in debs])

    def files(self):
        """All but the records of the package system, and the entries of users."""
        out = run("find", ".", "-xdev", "(", "-path", "./var/lib/dpkg", "-o", "-path", "./var/log", "-o", "-path", "./var/cache", "-o",
                  "-path", "./var/lib/apt", "-o", "-path", "./tmp", "-o", "-path", "./dev", ")", "-prune", "-o", "-print", cwd=self.folder)
        return set(out.split("\n"))

    def start(self):
        """As the unit does: its user, its command, its folders."""
        unit = (self.folder / "lib/systemd/system/ballastd.service").read_text()
        command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
        self.run("install", "-d", "-m", "0700", "-o", USER, "-g", USER, "/var/lib/ballast")
        log = open(self.folder / "tmp/ballastd.log", "a", encoding="utf-8")
        self.service = subprocess.Popen(["chroot", f"--userspec={USER}:{USER}", self.folder, *command], stderr=log, stdout=log)
        deadline = time.monotonic() + 120
        while not self.ballast("status", code=None).startswith("{"):
            assert self.service.poll() is None and time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    def stop(self):
        if self.service:
            self.service.send_signal(signal.SIGTERM)
            assert self.service.wait(60) == 0, self.log()
            self.service = None

    def log(self):
        return (self.folder / "tmp/ballastd.log").read_text(encoding="utf-8")[-3000:]

    def ballast(self, *arguments, code=0):
        return self.run("ballast", *arguments, "--format", "json", user=USER, code=code)

    def recommendations(self):
        return json.loads(self.ballast("recommendations"))


def wait_for(what, found, seconds=120):
    deadline = time.monotonic() + seconds
    while not (it := found()):
        assert time.monotonic() < deadline, f"{what} took too long"
        time.sleep(0.3)
    return it


def ended(root):
    return [a for a in json.loads(root.ballast("history")) if a["state"] == "done"]


def check_units(root):
    """systemd itself is not in this Debian."""
    if shutil.which("systemd-analyze"):
        found = subprocess.run(["systemd-analyze", "verify", f"--root={root.folder}", "--man=no", *UNITS], capture_output=True, text=True,
                               timeout=120, check=False).stderr
        wrong = [line for line in found.splitlines() if line and "Unit sysinit.target not found" not in line]
        assert not wrong, wrong


def use(root, debs, folder):
    run("mount", "-t", "proc", "proc", root.folder / "proc")  # systemd-tmpfiles needs it
    before = root.files()
    root.install(debs.values())
    check_units(root)
    etc = (root.folder / "etc/ballast").stat()
    assert etc.st_mode & 0o7777 == 0o2755 and root.run("stat", "-c", "%U:%G", "/etc/ballast").strip() == "root:ballast"

    root.start()
    assert root.ballast("check-config", "/etc/ballast/ballast.yaml", code=None)
    chosen = wait_for("a recommendation", lambda: [a for a in root.recommendations() if a["state"] == "recommended" and not a["depends_on"]])[0]
    root.ballast("apply", f"{chosen['id']}.{chosen['version']}")
    wait_for("the move", lambda: ended(root))
    root.ballast("pause")
    root.stop()

    # the administrator's edit outlives an upgrade that brings another default
    configuration = root.folder / "etc/ballast/ballast.yaml"
    configuration.write_text(configuration.read_text() + "interval_s: 77\n")

    def other_default(tree):
        file = tree / "etc/ballast/ballast.yaml"
        if file.exists():
            file.write_text(file.read_text() + "migration_threshold: 2\n")

    newer = [renumbered(deb, "99.0-1", folder, other_default) for deb in debs.values()]
    root.install(newer, "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")
    assert "interval_s: 77" in configuration.read_text() and "migration_threshold" not in configuration.read_text()
    root.start()
    assert [a["id"] for a in ended(root)] == [chosen["id"]]
    assert json.loads(root.ballast("status"))["frozen"]
    root.stop()

    root.install(debs.values(), "--allow-downgrades", "-o", "Dpkg::Options::=--force-confold")
    root.start()
    assert [a["id"] for a in ended(root)] == [chosen["id"]]
    root.stop()

    root.run("apt-get", "remove", "-y", *PACKAGES)
    assert configuration.exists() and (root.folder / "var/lib/ballast/ballast.db").exists()
    assert not (root.folder / "usr/sbin/ballastd").exists()
    root.run("apt-get", "purge", "-y", *PACKAGES)
    left = {f for f in root.files() - before if "ballast" in f}
    assert not left, f"left behind: {left}"


def test_packages():
    for program in NEEDED:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    if os.geteuid() != 0:
        raise Skip("only root can make a Debian in a folder")
    place = pathlib.Path(tempfile.mkdtemp(prefix="ballast-packages."))
    root = Root(place / "root")
    try:
        with ThreadPoolExecutor(2) as pool:
            fresh = pool.submit(bootstrap, root.folder)
            debs = build(place / "debs")
            lint = pool.submit(run, "lintian", "--fail-on", "error,warning", next((place / "debs").glob("*.changes")))
            fresh.result()
            lint.result()
        use(root, debs, place)
    finally:
        if root.service:
            root.service.kill()
            root.service.wait()
        subprocess.run(["umount", str(root.folder / "proc")], check=False, timeout=60, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", str(place)], check=False, timeout=300)


if __name__ == "__main__":
    sys.exit(outcome("packages", test_packages))
