#!/usr/bin/env python3
"""An apt repository (packaging/apt) as an admin's apt sees it: signed and not, with a second version, and after somebody has changed it.
The packages are made up; those of a release are in test_packages.py. apt has a root of its own, and the repository is a folder."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from at_once import Skip, outcome  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("BALLAST_SOURCE_DIR") or pathlib.Path(__file__).resolve().parents[2])
NEEDED = ["apt-ftparchive", "apt-get", "dpkg-deb", "gpg", "xz"]
KEY = "packages@ballast.invalid"


def run(*command, code=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=300, check=False, **options)
    assert code is None or done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def packages(folder, version, content="1"):
    """A command and a service that needs it, as those of packaging/deb, and their source."""
    folder.mkdir()
    for name, depends in (("ballast", ""), ("ballastd", f"Depends: ballast (= {version})\n")):
        tree = folder / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(f"Package: {name}\nVersion: {version}\nArchitecture: amd64\nMaintainer: T <t@example.com>\n{depends}"
                                             f"Description: a test\n", encoding="utf-8")
        (tree / "content").write_text(content, encoding="utf-8")
        run("dpkg-deb", "--root-owner-group", "-b", tree, folder / f"{name}_{version}_amd64.deb")
        shutil.rmtree(tree)
    return folder


class Apt:
    """apt in a folder, with one source of packages."""

    def __init__(self, folder, repository, options=""):
        self.root = folder
        for part in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "etc/apt/sources.list.d", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial",
                     "var/lib/dpkg"):
            (folder / part).mkdir(parents=True)
        (folder / "var/lib/dpkg/status").touch()
        (folder / "etc/apt/sources.list").write_text(f"deb {options} file:{repository} bookworm main\n", encoding="utf-8")

    def get(self, *arguments, code=0):
        return run("apt-get", "-o", f"Dir={self.root}", "-o", f"Dir::State::status={self.root}/var/lib/dpkg/status", "-o", "APT::Architecture=amd64",
                   "-o", "APT::Architectures=amd64", "-o", "APT::Sandbox::User=root", "-y", *arguments, code=code, env={**os.environ, "APT_CONFIG": "/dev/null", "LC_ALL": "C"})

    def fetches(self, *names):
        """The files that apt would install; it checks their sums."""
        told = self.get("install", "--download-only", "--no-install-recommends", "--print-uris", *names)
        self.get("install", "--download-only", "--no-install-recommends", *names)
        return sorted(re.findall(r"'file:\S*/(\S+\.deb)'", told))


def make(*arguments, code=0):
    return run(SOURCE / "packaging/apt", *arguments, code=code)


def look(place):
    repository = place / "repository"
    make("--key", KEY, repository, packages(place / "1.0", "1.0-1"))
    signed = f"[signed-by={repository}/ballast.asc]"
    apt = Apt(place / "apt", repository, signed)
    apt.get("update")
    assert apt.fetches("ballastd") == ["ballast_1.0-1_amd64.deb", "ballastd_1.0-1_amd64.deb"]

    # a second version beside the first, which can still be had
    make("--key", KEY, repository, packages(place / "1.1", "1.1-1"))
    apt.get("update")
    assert apt.fetches("ballastd") == ["ballast_1.1-1_amd64.deb", "ballastd_1.1-1_amd64.deb"]
    assert apt.fetches("ballast=1.0-1") == ["ballast_1.0-1_amd64.deb"]
    refused = make("--key", KEY, repository, packages(place / "again", "1.1-1", "2"), code=1)
    assert "is another file" in refused, refused
    apt.get("update")

    # a package, and then a list, that somebody has changed
    deb = next(repository.rglob("ballast_1.1*.deb"))
    good = deb.read_bytes()
    deb.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    said = apt.get("install", "--download-only", "ballast", code=None)
    assert "Hash Sum mismatch" in said or "Hashes of expected file" in said, said
    deb.write_bytes(good)
    inline = repository / "dists/bookworm/InRelease"
    inline.write_text(inline.read_text(encoding="utf-8").replace("Origin: Ballast", "Origin: Another"), encoding="utf-8")
    said = Apt(place / "wary", repository, signed).get("update", code=None)
    assert "BADSIG" in said or "not signed" in said, said

    # without a key: only for an admin who says so
    unsigned = place / "unsigned"
    assert "not signed" in make(unsigned, place / "1.0")
    assert "not signed" in Apt(place / "careful", unsigned).get("update", code=100)
    apt = Apt(place / "trusting", unsigned, "[trusted=yes]")
    apt.get("update")
    assert apt.fetches("ballastd") == ["ballast_1.0-1_amd64.deb", "ballastd_1.0-1_amd64.deb"]
    assert "no packages in" in make(unsigned, place / "apt", code=1)


def test_repository():
    for program in NEEDED:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    with tempfile.TemporaryDirectory(prefix="ballast-repository.") as name:
        place = pathlib.Path(name)
        os.environ["GNUPGHOME"] = str(place / "gnupg")
        (place / "gnupg").mkdir(mode=0o700)
        run("gpg", "--batch", "--passphrase", "", "--quick-generate-key", KEY, "ed25519", "sign", "never")
        try:
            look(place)
        finally:
            run("gpgconf", "--kill", "all")


if __name__ == "__main__":
    sys.exit(outcome("repository", test_repository))
