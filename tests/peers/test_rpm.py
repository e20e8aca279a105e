#!/usr/bin/env python3
"""RPMs: the spec names what the build needs and installs, its version is the tree's, and Debian's rpmbuild makes a source package of it that rpmlint
has nothing against. In a long run it is built, which takes minutes, and the command in the package is run. This is no Red Hat system:
what the packages need there, and their scripts, are not tried."""
import fnmatch
import json
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
SPEC = SOURCE / "packaging/ballast.spec"
NEEDED = ["rpmbuild", "rpmspec", "rpmlint", "git"]
BUILT_IN = {"threads", "cmocka"}  # of the C library; of the tests
LONG = "BALLAST_TEST_LONG" in os.environ


def run(*command, timeout=300, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False, **options)
    assert done.returncode == 0, f"{command}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def check_words():
    spec = SPEC.read_text(encoding="utf-8")
    version = re.search(r"^  version: '(.*)',", (SOURCE / "meson.build").read_text(encoding="utf-8"), re.M)[1]
    assert f"\nVersion: {version}\n" in spec and re.search(rf"^%changelog\n\* .* - {re.escape(version)}-1$", spec, re.M), version
    scripts = run("git", "ls-files", "*meson.build", cwd=SOURCE).split()
    used = {name for f in scripts for name in re.findall(r"\bdependency\('([^']+)'", (SOURCE / f).read_text(encoding="utf-8"))}
    required = set(re.findall(r"^BuildRequires: pkgconfig\((.*?)\)", spec, re.M))
    assert required == used - BUILT_IN, required ^ (used - BUILT_IN)
    return version


def check_files():
    """What a build installs is in one of the packages, and only there; nothing else is listed."""
    parsed = run("rpmspec", "--parse", SPEC)
    listed = re.findall(r"^(?:%dir |%doc |%config\(noreplace\) )?(/\S+)$", parsed[parsed.index("\n%files\n"):parsed.index("\n%post ")], re.M)
    names = json.loads(run("meson", "introspect", "--installed", os.environ["BALLAST_BUILD_DIR"])).values()
    prefix = os.path.commonpath(names)
    unlisted, unused = [], {p for p in listed if not p.startswith("/etc/")}  # which the spec itself puts there
    for name in ("/usr" + name.removeprefix(prefix) for name in names):
        found = [p for p in listed if fnmatch.fnmatch(name, p) or name.startswith(p + "/")]
        unlisted += [] if len(found) == 1 else [(name, found)]
        unused -= set(found)
    assert not unlisted and not unused, (unlisted, unused)


def check_built(source_package, version, place):
    run("rpmbuild", "--rebuild", "--nodeps", "--define", f"_topdir {place}/top", source_package, timeout=2400)
    built = [p for p in place.rglob("*.rpm") if p != source_package and "debug" not in p.name]
    assert sorted(p.name.split("-")[0] for p in built) == ["ballast", "ballastd"], built
    run("rpmlint", "-c", SOURCE / "tests/peers/rpmlint.toml", *built)
    root = place / "root"
    root.mkdir()
    for package in built:
        run("rpm2archive", package)
        run("tar", "-C", root, "-xzf", f"{package}.tgz")
    for program in ("usr/bin/ballast", "usr/sbin/ballastd"):
        assert version in run(root / program, "--version"), program


def test_rpm():
    for program in NEEDED:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    version = check_words()
    check_files()
    with tempfile.TemporaryDirectory(prefix="ballast-rpm.") as name:
        place = pathlib.Path(name)
        tarball = place / f"ballast_{version}.orig.tar.xz"
        run("git", "-c", "tar.tar.xz.command=xz -0", "archive", "--format=tar.xz", f"--prefix=ballast-{version}/", "-o", tarball, "HEAD", cwd=SOURCE)
        run("rpmbuild", "--quiet", "-bs", "--define", f"_topdir {place}/top", "--define", f"_sourcedir {place}", "--define", f"_srcrpmdir {place}", SPEC)
        source_package = next(place.glob("*.src.rpm"))
        run("rpmlint", "-c", SOURCE / "tests/peers/rpmlint.toml", source_package, SPEC)
        if LONG:
            check_built(source_package, version, place)


if __name__ == "__main__":
    sys.exit(outcome("rpm", test_rpm))
