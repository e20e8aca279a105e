#!/usr/bin/env python3
"""The Debian packages: built from the last commit, without a complaint of lintian, and used in a fresh Debian 12 (a folder, by chroot):
installed, started on the simulated cluster, upgraded with data and an edited configuration, taken back to the version before, removed,
purged. And the image for containers made of them (packaging/oci). Both also on the README's first day (test_first_day.py).

    test_packages.py                    builds the packages, where npm is there by a release of a clone; the upgrade is to a version to come, whose
                                        store has one more table
    test_packages.py PACKAGES FORMER    packages in folders, for packaging/release: the upgrade is from FORMER to PACKAGES
"""
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from at_once import Skip, outcome  # noqa: E402
from container import COMPOSE, Container, after  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
NEEDED = ["dpkg-buildpackage", "lintian", "mmdebstrap", "git", "dh", "rpmbuild", "umoci", "podman", "podman-compose", "runc", "promtool"]
SOURCES = ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"]
PACKAGES = ["ballast", "ballastd"]
USER = "ballast"
UNITS = ["ballastd.service", "ballastd@.service"]


def run(*command, timeout=600, code=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=timeout, check=False, **options)
    assert code is None or done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def packages_in(folder):
    return {name: next(folder.glob(f"{name}_*.deb")) for name in PACKAGES}


def apt_sources():
    return [s for s in SOURCES if os.path.exists(s)]


def bootstrap(folder):
    run("mmdebstrap", "--mode=root", "--variant=apt", "--skip=cleanup/apt/lists",
        "--include=systemd-standalone-sysusers,systemd-standalone-tmpfiles", "bookworm", folder, *apt_sources(), timeout=1200)
    (folder / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
    (folder / "usr/sbin/policy-rc.d").chmod(0o755)


def renumbered(deb, version, folder, change):
    """The same package with another version; change(root) alters its files."""
    root = folder / f"{deb.stem}-{version}"
    run("dpkg-deb", "-R", deb, root)
    control = root / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*", f"Version: {version}", re.sub(r"ballast \(= [^)]*\)", f"ballast (= {version})", control.read_text()),
                              flags=re.M))
    change(root)
    (root / "DEBIAN/md5sums").unlink()
    out = folder / f"{deb.name.split('_')[0]}_{version}.deb"
    run("dpkg-deb", "--root-owner-group", "-Znone", "-b", root, out)
    return out


def check_contents(debs, folder):
    """What others import is installed as it is in the tree, not compressed, and where its README says."""
    tree = folder / "contents"
    run("dpkg-deb", "-x", debs["ballast"], tree)
    installed = {SOURCE / "conf/examples": "usr/share/doc/ballast/examples", SOURCE / "conf/grafana": "usr/share/ballast/grafana"}
    for source, place in installed.items():
        for file in (f for f in source.rglob("*") if f.is_file()):
            assert (tree / place / file.relative_to(source)).read_bytes() == file.read_bytes(), (file, place)
    run("promtool", "check", "rules", tree / "usr/share/ballast/prometheus/ballast.rules.yml")


def service_to_come(folder):
    """The service of a version to come: that of the built tree, with one more script in its store's schema."""
    build_folder = pathlib.Path(os.environ["BALLAST_BUILD_DIR"])
    source, compiled, program = (folder / name for name in ("schema.c", "schema.o", "ballastd"))
    text = (SOURCE / "src/store/schema.c").read_text()
    end = text.index("\n};\n\n#define VERSION")
    source.write_text(text[:end] + '\n    "CREATE TABLE to_come (id INTEGER PRIMARY KEY);",' + text[end:])
    commands = [shlex.split(line) for line in run("ninja", "-C", build_folder, "-t", "commands", "src/daemon/ballastd").splitlines()]
    compiler = next(c for c in commands if c[-1].endswith("src/store/schema.c"))
    former = compiler[compiler.index("-o") + 1]
    run(*[word.replace(former, str(compiled)) for word in compiler[:-1]], source, cwd=build_folder)
    linker = next(c for c in commands if "-o" in c and c[c.index("-o") + 1] == "src/daemon/ballastd")
    # before the library that has the tree's own
    linker.insert(next(i for i, word in enumerate(linker) if word.endswith(".a")), compiled)
    run(*[program if word == "src/daemon/ballastd" else word for word in linker], cwd=build_folder)
    return program


def packages_to_come(debs, folder):
    program = service_to_come(folder)

    def change(tree):
        configuration = tree / "etc/ballast/ballast.yaml"
        if configuration.exists():  # the package ballastd
            configuration.write_text(configuration.read_text() + "migration_threshold: 2\n")
            shutil.copy(program, tree / "usr/sbin/ballastd")

    return {name: renumbered(deb, "99.0-1", folder, change) for name, deb in debs.items()}


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

    def begin(self):
        """As the unit does: its user, its command, its folders."""
        unit = (self.folder / "lib/systemd/system/ballastd.service").read_text()
        command = re.search(r"^ExecStart=(.*)$", unit, re.M)[1].split()
        self.run("install", "-d", "-m", "0700", "-o", USER, "-g", USER, "/var/lib/ballast")
        log = open(self.folder / "tmp/ballastd.log", "a", encoding="utf-8")
        self.service = subprocess.Popen(["chroot", f"--userspec={USER}:{USER}", self.folder, *command], stderr=log, stdout=log)

    def start(self):
        self.begin()
        deadline = time.monotonic() + 120
        while not self.ballast("status", code=None).startswith("{"):
            assert self.service.poll() is None and time.monotonic() < deadline, self.log()
            time.sleep(0.2)

    def stop(self):
        self.service.send_signal(signal.SIGTERM)
        assert self.service.wait(60) == 0, self.log()
        self.service = None

    def refused_store(self):
        """The service does not start on this store, which is left as it was. What the service says."""
        store = self.folder / "var/lib/ballast/ballast.db"
        before = store.read_bytes()
        self.begin()
        assert self.service.wait(60) == 1, self.log()
        self.service = None
        assert store.read_bytes() == before
        return self.log().splitlines()[-1]

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


def fetch(root, folder):
    """apt finds the packages of a release in its repository, and what they need in Debian."""
    repository, source = root.folder / "tmp/apt", root.folder / "etc/apt/sources.list.d/ballast.list"
    repository.mkdir()
    run("tar", "-C", repository, "-xf", next(folder.glob("*.apt.tar")))
    source.write_text("deb [trusted=yes] file:/tmp/apt bookworm main\n")
    root.run("apt-get", "update", "-o", "Dir::Etc::sourcelist=/etc/apt/sources.list.d/ballast.list", "-o", "Dir::Etc::sourceparts=-", "-o", "APT::Get::List-Cleanup=0")
    told = root.run("apt-get", "install", "--simulate", "--no-install-recommends", "ballastd")
    assert re.search(r"^Inst ballastd .*Ballast:", told, re.M), told
    root.run("apt-get", "install", "-y", "--download-only", "--no-install-recommends", "ballastd")
    source.unlink()


def use(root, former, newer, must_upgrade):
    run("mount", "-t", "proc", "proc", root.folder / "proc")  # systemd-tmpfiles needs it
    before = root.files()
    root.install(former.values())
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
    root.install(newer.values(), "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold")
    assert "interval_s: 77" in configuration.read_text() and "migration_threshold" not in configuration.read_text()
    root.start()
    assert [a["id"] for a in ended(root)] == [chosen["id"]]
    assert json.loads(root.ballast("status"))["frozen"]
    root.ballast("resume")
    root.stop()

    # the way back, as ballastd(8) says
    root.install(former.values(), "--allow-downgrades", "-o", "Dpkg::Options::=--force-confold")
    state = root.folder / "var/lib/ballast"
    upgraded = (state / "before-upgrade.db").exists()
    assert upgraded or not must_upgrade
    if upgraded:
        said = root.refused_store()
        assert "was written by a newer version of Ballast" in said and "before-upgrade.db" in said, said
        root.run("sh", "-c", "rm -f /var/lib/ballast/ballast.db*")
        root.run("install", "-m", "0600", "-o", USER, "-g", USER, "/var/lib/ballast/before-upgrade.db", "/var/lib/ballast/ballast.db")
    root.start()
    assert [a["id"] for a in ended(root)] == [chosen["id"]]
    assert json.loads(root.ballast("status"))["frozen"] == upgraded, "as it was before the upgrade"
    root.stop()

    root.run("apt-get", "remove", "-y", *PACKAGES)
    assert configuration.exists() and (root.folder / "var/lib/ballast/ballast.db").exists()
    assert not (root.folder / "usr/sbin/ballastd").exists()
    root.run("apt-get", "purge", "-y", *PACKAGES)
    left = {f for f in root.files() - before if "ballast" in f}
    assert not left, f"left behind: {left}"


def check_compose(services, listens, folder):
    """Each file that a container mounts is in the tree, or README.md says how it is made; Prometheus takes its file; names and ports are those of the
    other containers."""
    made = {COMPOSE / "ballast", COMPOSE / "ballast/api.pem", COMPOSE / "secrets/ballast.token"}
    steps = (COMPOSE / "README.md").read_text()
    assert all(str(path.relative_to(COMPOSE)) in steps for path in made)
    mounts = {name: dict(v.split(":")[1::-1] for v in after("-v", arguments)) for name, arguments in services.items()}
    files = {path: pathlib.Path(source).resolve() for of in mounts.values() for path, source in of.items() if source.startswith("/")}
    assert all(source in made or source.exists() for source in files.values()), files

    scrape = (COMPOSE / "prometheus.yml").read_text()
    assert f"targets: [\"ballast:{listens}\"]" in scrape and f"listen: 0.0.0.0:{listens}" in steps
    for path, source in files.items():
        if source in made:
            source = folder / source.name
            source.touch()
        scrape = scrape.replace(path, str(source))
    (folder / "prometheus.yml").write_text(scrape)
    assert "SUCCESS" in run("promtool", "check", "config", folder / "prometheus.yml") and str(SOURCE) in scrape
    assert "url: http://prometheus:9090" in (COMPOSE / "grafana.yml").read_text() and "prometheus" in services
    provided = re.search(r"path: (\S+)", (SOURCE / "conf/grafana/dashboards.yml").read_text())[1]
    assert files[provided] == SOURCE / "conf/grafana", files


def first_day(*arguments):
    """The README's first day with what was built (test_first_day.py)."""
    done = subprocess.run(["unshare", "--mount", "--propagation", "private", sys.executable, SOURCE / "tests/peers/test_first_day.py", *map(str, arguments)],
                          capture_output=True, text=True, timeout=1200, check=False)
    print(done.stdout + done.stderr, flush=True)  # all of it: what failed stands above what passed
    assert done.returncode == 0, f"first day {arguments}: exit code {done.returncode}"


def use_container(debs, folder):
    """The image's service keeps its state in a volume, ends by SIGTERM, and is reached over the network only as its configuration says."""
    released = list(debs.glob("*.oci.tar"))
    if not released:
        run(SOURCE / "packaging/oci", debs, folder / "images", *apt_sources(), timeout=1200)
    image = f"oci-archive:{released[0]}" if released else f"oci:{folder}/images"
    configuration = folder / "configuration"
    with contextlib.closing(Container(image, folder)) as c:
        c.start()
        assert c.user == "10001:10001" and c.within("id", "-un").strip() == USER
        assert c.within("touch", "/etc/x", code=1) == "", "the root is read-only"
        assert not c.listens()
        rejected = wait_for("a recommendation", lambda: json.loads(c.ballast("recommendations")))[0]
        c.ballast("reject", str(rejected["id"]))
        c.ballast("pause")
        c.stop()

        # as packaging/README.md says: a certificate, a configuration of one's own, a token
        configuration.mkdir()
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=ballast",
            "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", configuration / "api.key", "-out", configuration / "api.pem")
        os.chown(configuration / "api.key", 0, 10001)
        (configuration / "api.key").chmod(0o640)
        (configuration / "ballast.yaml").write_text("""cluster: mine
source:
  kind: sim
http:
  listen: 0.0.0.0:8480
  cert_file: /etc/ballast/api.pem
  key_file: /etc/ballast/api.key
""")
        c.start(configuration)
        assert c.listens() == {8480}
        (folder / "compose").mkdir()
        check_compose(c.services, 8480, folder / "compose")
        assert json.loads(c.ballast("status"))["frozen"]
        token = json.loads(c.ballast("token", "create", "grafana", "--role", "viewer"))["token"]
        answer = run("nsenter", f"--target={c.pid}", "--net", "curl", "-sS", "--max-time", "60", "--cacert", configuration / "api.pem",
                     "-H", f"Authorization: Bearer {token}", "https://127.0.0.1:8480/api/v1/clusters/mine/history")
        assert [a["id"] for a in json.loads(answer)["history"] if a["state"] == "rejected"] == [rejected["id"]], answer
        c.stop()
    first_day("--container", image)


GIT = ["git", "-c", "user.name=Test", "-c", "user.email=test@example.com"]


def clone(tree):
    run("git", "clone", "-q", "--no-local", "--depth", "1", f"file://{SOURCE}", tree)


def release(folder, out):
    """A release of a clone, whose changelog has a date and a distribution: all that belongs to it is in the folder, as its sums say, and the tarball
    has the pages, readable and built."""
    tree, version = folder / "released", re.search(r"^  version: '(.*)',", (SOURCE / "meson.build").read_text(), re.M)[1]
    clone(tree)
    changelog = tree / "packaging/debian/changelog"
    changelog.write_text(changelog.read_text().replace("UNRELEASED", "bookworm", 1))
    run(*GIT, "commit", "-qam", "test", cwd=tree)
    packages = SOURCE / "dashboard/node_modules"
    if packages.exists():
        shutil.copytree(packages, tree / "dashboard/node_modules", symlinks=True)
    said = run(tree / "packaging/release", version, out, *apt_sources(), timeout=1500, env={**os.environ, "XZ_DEFAULTS": "-1"})
    assert f"{version} is in {out}" in said, said[-2000:]
    assert not run("git", "status", "--porcelain", cwd=tree) and not run("git", "tag", cwd=tree), "the clone was changed"
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=out)
    summed = {line.split("  ", 1)[1] for line in (out / "SHA256SUMS").read_text().splitlines()}
    assert summed == {f.name for f in out.iterdir()} - {"SHA256SUMS"}
    for pattern in ("ballast_*.deb", "ballastd_*.deb", "*.dsc", "*.changes", f"ballast_{version}.orig.tar.xz", f"ballast-{version}.oci.tar",
                    f"ballast-{version}.apt.tar", f"ballast-{version}-1.src.rpm"):
        assert list(out.glob(pattern)), (pattern, summed)
    names = run("tar", "-tf", out / f"ballast_{version}.orig.tar.xz").split()
    for part in ("meson.build", "dashboard/package-lock.json", "dashboard/src/service/faults.tsx", "dashboard/dist/report.html"):
        assert f"ballast-{version}/{part}" in names, part
    assert not [n for n in names if "/.git/" in n or "node_modules" in n]
    assert any("/dashboard/dist/" in n and n.endswith(".js") for n in names), "no built script"


def check_release(folder):
    """packaging/release refuses what is no release yet."""
    tree = folder / "release"
    clone(tree)

    def refused(version="99.0.0"):
        done = subprocess.run([tree / "packaging/release", version, folder / "results"], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 1 and not (folder / "results").exists(), done
        return done.stderr

    changelog, meson = tree / "packaging/debian/changelog", tree / "meson.build"
    entry = "ballast ({}-1) {}; urgency=medium\n\n  * Tests.\n\n -- T <t@example.com>  Mon, 23 Nov 2026 02:00:00 +0000\n\n"
    assert "meson.build has version" in refused()
    meson.write_text(re.sub(r"^  version: '.*',", "  version: '99.0.0',", meson.read_text(), flags=re.M))
    assert "not committed" in refused()
    steps = [("98.0.0", "bookworm", "is 98.0.0-1, expected 99.0.0-1"), ("99.0.0", "UNRELEASED", "UNRELEASED; write"),
             ("99.0.0", "bookworm", "the tag v99.0.0 is another commit")]
    for version, distribution, sentence in steps:
        changelog.write_text(entry.format(version, distribution) + changelog.read_text())
        run(*GIT, "commit", "-qam", "test", cwd=tree)
        if "tag" in sentence:
            run("git", "tag", "v99.0.0", "HEAD~1", cwd=tree)
        assert sentence in (said := refused()), said


def test_packages():
    for program in NEEDED:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    if os.geteuid() != 0:
        raise Skip("only root can make a Debian in a folder")
    place = pathlib.Path(tempfile.mkdtemp(prefix="ballast-packages."))
    place.chmod(0o755)
    folder, former = map(pathlib.Path, sys.argv[1:] or (place / "debs", ""))
    root = Root(place / "root")
    try:
        with ThreadPoolExecutor(3) as pool:
            fresh = pool.submit(bootstrap, root.folder)
            released = folder == place / "debs" and shutil.which("npm")
            if released:
                release(place, folder)
            elif folder == place / "debs":
                run(SOURCE / "packaging/deb", folder, timeout=1200)
            debs = packages_in(folder)
            check_contents(debs, place)
            container = pool.submit(use_container, folder, place)
            if not released:  # packaging/release has asked lintian; between releases the changelog's newest entry is UNRELEASED
                run("lintian", "--fail-on", "error,warning", "--suppress-tags", "unreleased-changes", next(folder.glob("*.changes")))
            check_release(place)
            fresh.result()
            run("cp", "-a", root.folder, place / "fresh")
            day = pool.submit(first_day, "--packages", place / "fresh", folder)
            if released:
                fetch(root, folder)
            if sys.argv[1:]:
                use(root, packages_in(former), debs, must_upgrade=False)
            else:
                use(root, debs, packages_to_come(debs, place), must_upgrade=True)
            day.result()
            container.result()
    finally:
        if root.service:
            root.service.kill()
            root.service.wait()
        subprocess.run(["umount", str(root.folder / "proc")], check=False, timeout=60, stderr=subprocess.DEVNULL)
        subprocess.run(["rm", "-rf", "--one-file-system", str(place)], check=False, timeout=300)


if __name__ == "__main__":
    sys.exit(outcome("packages", test_packages))
