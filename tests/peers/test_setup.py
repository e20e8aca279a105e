#!/usr/bin/env python3
"""`ballast setup` from its first question to the first recommendation with its reason, of a real ballastd: on vcsim, the tests' Proxmox server and
the lab's libvirt hosts, with each mistake at its step. What it leaves: files and their modes, nothing after Ctrl-C, a terminal as it was."""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

from daemon import BALLAST, BALLASTD, wait_for
from lab import Lab
from proxmox import Cluster, Server
from proxmox.cluster import GIB
from setup_dialogue import NOTHING, Setup
from vcsim import Vcsim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip, run_tests  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]
SECRET = "the password"
CHOICE = "number of a line above"
MEND = "press Enter to check again"
NAME = "name of the cluster in all output"
REASON = "to balance CPU load"


def short_folder():
    return tempfile.TemporaryDirectory(prefix="ballast-setup-", dir="/tmp")


def fingerprint(pem):
    done = subprocess.run(["openssl", "x509", "-in", pem, "-noout", "-fingerprint", "-sha256"], capture_output=True, text=True, check=True)
    return done.stdout.strip().partition("=")[2].replace(":", "").lower()


def load(sim, cluster):
    """Most of the load of the cluster is on one of its hosts."""
    api = sim.client()
    where = {ref: api.host_of(ref) for name, ref in api.vms().items() if cluster in name}
    hot = sorted(where.values())[0]
    for vm, host in where.items():
        api.set_load(vm, cpu_mhz=480 if host == hot else 60, active_mb=8, consumed_mb=16)


# ---- vSphere ------------------------------------------------------------------------------------------------------


def test_vsphere():
    with Vcsim(hosts=4, vms=48, clusters=2) as sim, short_folder() as folder, Setup(folder) as s:
        load(sim, "DC0_C1")
        s.answer(("kind of the source", "esx"), ("kind of the source", "vsphere"), ("URL of the API", "vcenter"))
        s.asks("expected https://HOST")
        s.answer(("URL of the API", sim.url), ("user to log in as", sim.username), (SECRET, "wrong"))
        s.asks("PROBLEM", "certificate cannot be trusted", "source.ca_file")
        sent = pathlib.Path(folder) / "sent.pem"
        sent.write_text(subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{sim.port}"], stdin=subprocess.DEVNULL,
                                       capture_output=True, text=True, check=False).stdout)
        s.asks(f"fingerprint {fingerprint(sent)}")
        s.answer((CHOICE, "1"))
        s.asks("PROBLEM", f"login of {sim.username} was refused")
        s.answer(("user to log in as [Enter: " + sim.username, ""), (SECRET, sim.password))
        s.asks("PROBLEM", "several clusters", "1  there is a cluster /DC0/host/DC0_C0", "2  there is a cluster /DC0/host/DC0_C1")
        s.answer((CHOICE, "DC0_C7"))
        s.asks("PROBLEM", "no cluster DC0_C7", "2  there is a cluster")
        s.answer(("the cluster", "2"), (NAME + " [Enter: DC0_C1]", ""))
        sent.unlink()
        shown = s.serves()
        assert "recommended" in shown and REASON in shown and "nothing moves" in shown, shown
        s.has_file("b.password", 0o600, sim.password)
        s.has_file("b-ca.pem", 0o600, "BEGIN CERTIFICATE")
        s.has_file("b.yaml", 0o600)
        s.configures("cluster: 'DC0_C1'", "kind: 'vsphere'", "ca_file: 'b-ca.pem'", "cluster: '/DC0/host/DC0_C1'")
        assert sim.password not in s.text and "wrong" not in s.text.replace("are wrong", ""), "a password was shown"


def test_own_authority():
    """Nothing that answers; the file of one's own authority in place of what the source sends; a certificate with another name, which is trusted."""
    with Vcsim(hosts=2, vms=4) as sim, short_folder() as folder, Setup(folder) as s:
        s.answer(("kind of the source", "vsphere"), ("URL of the API", "https://127.0.0.1:1/sdk"), ("user", sim.username), (SECRET, sim.password))
        s.asks("PROBLEM", "nothing listens there", "check source.url")
        s.answer(("URL of the API", sim.url.replace("127.0.0.1", "[::ffff:127.0.0.1]")), (CHOICE, "1"))
        s.asks("PROBLEM", "certificate cannot be trusted")
        s.answer(("URL of the API [Enter", sim.url), ("PEM certificates", "/nowhere.pem"))
        s.asks("PROBLEM", "/nowhere.pem cannot be read")
        s.answer(("URL of the API", ""), ("PEM certificates", sim.ca_file), (NAME, ""))
        assert "even enough" in s.serves()
        s.configures(f"ca_file: '{sim.ca_file}'")


def test_privileges_vsphere():
    with Vcsim(hosts=2, vms=4, extra=("-limited", "reader", "-privileges", "System.View")) as sim, short_folder() as folder, \
            Setup(folder) as s:
        s.answer(("kind of the source", "vsphere"), ("URL of the API", sim.url), ("user", "reader"), (SECRET, sim.password), (CHOICE, "1"))
        s.asks("PROBLEM", "to do: ")
        s.gives_up()
        assert not list(pathlib.Path(folder).iterdir()), list(pathlib.Path(folder).iterdir())


# ---- Proxmox VE ---------------------------------------------------------------------------------------------------


def crowded():
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, "n1", cores=2, cpu=0.8, used=GIB, host_used=GIB)
    return c


def test_proxmox():
    """The privilege that is missing is given while the question waits."""
    c = crowded()
    with Server(c) as s_, short_folder() as folder, Setup(folder) as s:
        acl = c.accounts[s_.token].acl
        kept = {path: set(privileges) for path, privileges in acl.items()}
        for privileges in acl.values():
            privileges.discard("Sys.Audit")
        s.answer(("kind of the source", "proxmox"), ("URL of the API", s_.urls[0]), ("user", "ballast"))
        s.asks("USER@REALM!TOKEN")
        s.answer(("user", s_.token), (SECRET, "00000000-0000-0000-0000-000000000000"), (CHOICE, "1"))
        s.asks("PROBLEM", "source.password_file")
        s.answer(("user", ""), (SECRET, c.accounts[s_.token].secret))
        s.asks("PROBLEM", "Sys.Audit", MEND)
        acl.update(kept)
        s.say("")
        s.answer((NAME + " [Enter: lab]", "pve"))
        shown = s.serves()
        assert REASON in shown, shown
        s.configures("cluster: 'pve'", "kind: 'proxmox'", "password_file: 'b.password'")
        assert c.accounts[s_.token].secret not in s.text


# ---- libvirt ------------------------------------------------------------------------------------------------------


def test_libvirt():
    with Lab(hosts=2, vms=4) as lab, short_folder() as folder, Setup(folder) as s:
        lab.load("vms 1: cpu 60 mem 8\nvms 3: cpu 60 mem 8")
        uris = f"{lab.uri('hv1')} {lab.uri('hv2')}"
        s.answer(("kind of the source", "libvirt"), ("URI of the host's libvirt", "http://hv1"))
        s.asks("expected qemu+tls://HOST/system")
        s.answer(("URI of the host's libvirt", lab.uri("hv1") + " qemu+tls://127.0.0.1:1/system"), ("folders with disks", ""))
        s.asks("PROBLEM", "CA certificate", "to do: this machine's certificates are")
        s.answer(("URI of the host's libvirt", "qemu+tls://host2.invalid/system qemu+tls://127.0.0.1:1/system"))  # no name is given twice
        s.asks("PROBLEM", "PROBLEM")
        s.answer(("URI of the host's libvirt", uris))
        s.asks("PROBLEM", "IS NOT ENCRYPTED")  # as the lab is
        s.answer((MEND, "go on"), (NAME, "kvm-a"))
        shown = s.serves()
        assert "imbalance" in shown and (REASON in shown or "no recommendations" in shown), shown
        s.configures("cluster: 'kvm-a'", "kind: 'libvirt'")


def test_libvirt_password():
    """A host that asks for a user: both are asked for, and again where the host refuses them."""
    with Lab(hosts=1, vms=1, options=["--no-service"]) as lab, short_folder() as folder, Setup(folder) as s:
        lab.serve_sasl("hv1", "right")
        s.answer(("kind of the source", "libvirt"), ("URI of the host's libvirt", lab.uri("hv1")), ("folders with disks", ""))
        s.asks("PROBLEM", "it asks for a user and a password")
        s.answer(("the user for hosts that ask for one", "ballast"), (SECRET, "wrong"))
        s.asks("PROBLEM", "it refuses the user ballast or the password")
        s.answer(("the user for hosts that ask for one (SASL) [Enter: ballast]", ""), (SECRET, "right"))
        s.asks("PROBLEM")
        while "no answer within" in s.asks("\n"):  # on a busy machine
            s.answer(("URI of the host's libvirt", ""))
            s.asks("PROBLEM")
        assert "IS NOT ENCRYPTED" in s.text, "as the lab is"
        s.answer((MEND, "go on"), (NAME, "kvm-a"))
        s.serves()
        s.configures("username: 'ballast'", "password_file: 'b.password'")


# ---- what it leaves -----------------------------------------------------------------------------------------------


def test_terminal():
    """The password is not shown, and Ctrl-C, or Ctrl-\\, at a question and in a check leaves nothing."""
    with Vcsim(hosts=2, vms=4, tls=False, delay_ms=3000) as sim:
        for key, ctrl_c in ((b"\x03", "at the password"), (b"\x03", "in the check"), (b"\x1c", "in the check")):
            with short_folder() as folder, Setup(folder, terminal=True) as s:
                s.answer(("kind of the source", "vsphere"), ("URL of the API", sim.url), ("user to log in as", "o'hara@vsphere.local"))
                s.asks(SECRET)
                wait_for("no echo", lambda: not termios.tcgetattr(s.terminal)[3] & termios.ECHO)
                if ctrl_c == "in the check":
                    s.say(sim.password)
                    s.asks("checking")
                    wait_for("the files that are checked", lambda: list(pathlib.Path(folder).glob(".setup-*/b.yaml")))
                else:
                    os.write(s.writes, b"\x1a")  # Ctrl-Z, after which a shell would show what is typed
                    os.write(s.writes, b"half-typed")
                os.write(s.writes, key)
                assert NOTHING in s.ends(1), s.text
                assert sim.password not in s.text and "half-typed" not in s.text, s.text
                assert not list(pathlib.Path(folder).iterdir()), list(pathlib.Path(folder).iterdir())
                assert termios.tcgetattr(s.terminal) == s.before


def proxmox_answers(s, server, cluster):
    s.answer(("kind of the source", "proxmox"), ("URL of the API", server.urls[0]), ("user", server.token),
             (SECRET, cluster.accounts[server.token].secret), (CHOICE, "1"), (NAME, ""))


def test_existing():
    """What the package installs is replaced; another file only when that is wanted, with a copy."""
    c = crowded()
    with Server(c) as server, short_folder() as folder:
        file = pathlib.Path(folder) / "b.yaml"
        file.write_text("cluster: mine\nsource: {kind: sim}\n")
        with Setup(folder) as s:
            s.answer(("b.yaml is there; replace it", "no"))
            assert NOTHING in s.ends(1)
        assert file.read_text().startswith("cluster: mine") and len(list(pathlib.Path(folder).iterdir())) == 1
        with Setup(folder) as s:
            s.answer(("b.yaml is there; replace it", "yes"))
            proxmox_answers(s, server, c)
            s.asks("kept as", "start the service")
        assert [f.read_text() for f in pathlib.Path(folder).glob("b.yaml.before-*")] == ["cluster: mine\nsource: {kind: sim}\n"]
        elsewhere = pathlib.Path(folder) / "kept/real.yaml"  # a link is followed, and the copy is of what it leads to
        elsewhere.parent.mkdir()
        elsewhere.write_text("cluster: linked\nsource: {kind: sim}\n")
        file.unlink()
        file.symlink_to(elsewhere)
        time.sleep(1.1)  # the copies' names have seconds
        with Setup(folder) as s:
            s.answer(("b.yaml is there; replace it", "yes"))
            proxmox_answers(s, server, c)
            s.asks("start the service")
        assert file.is_symlink() and "kind: 'proxmox'" in elsewhere.read_text()
        assert any(f.read_text().startswith("cluster: linked") for f in pathlib.Path(folder).glob("b.yaml.before-*"))
        file.unlink()
        shutil.copy(SOURCE / "packaging/debian/ballast.yaml", file)
        with Setup(folder) as s:
            s.answer(("kind of the source", "proxmox"))
            assert "replace" not in s.text


def test_names():
    """A file that no unit reads, or that would be its own password, is not begun."""
    with short_folder() as folder:
        for name in ("prod.a.yaml", "b.password", ".yaml", "b.yml", "b", "a b.yaml"):
            with Setup(folder, name) as s:
                assert "expected NAME.yaml" in s.ends(2), name
        assert not list(pathlib.Path(folder).iterdir())


def test_certificates():
    """One that is pasted, one beside the configuration, and a path that is as long as it may be and not there."""
    c = crowded()
    with Server(c) as server:
        for certificate in ("pasted", "beside"):
            with short_folder() as folder, Setup(folder) as s:
                chain = pathlib.Path(server.ca_file).read_text()
                s.answer(("kind of the source", "proxmox"), ("URL of the API", server.urls[0]), ("user", server.token),
                         (SECRET, c.accounts[server.token].secret), (CHOICE, "/srv/x" + "ä" * 100 + ".pem"))
                s.asks("PROBLEM: b.yaml:", "cannot be read: No such file or directory")
                s.answer(("URL of the API", ""))
                if certificate == "pasted":
                    s.answer(("PEM certificates", chain + chain))
                else:
                    (s.folder / "my.pem").write_text(chain)
                    s.answer(("PEM certificates", "my.pem"))
                s.answer((NAME, ""))
                s.asks("start the service")
                if certificate == "pasted":
                    s.has_file("b-ca.pem", 0o600, (chain + chain).strip())
                else:
                    s.configures(f"ca_file: '{s.folder}/my.pem'")


def test_weak_places():
    """A password goes into no file that all may read, nor over plain HTTP unsaid; a service that runs already is not taken for the new one."""
    c = crowded()
    with Server(c) as server, short_folder() as folder:
        (pathlib.Path(folder) / "b.password").write_text("former\n")
        (pathlib.Path(folder) / "b.password").chmod(0o644)
        with Setup(folder) as s:
            proxmox_answers(s, server, c)
            s.serves()
            s.has_file("b.password", 0o640)
            with Setup(folder) as again:
                again.answer(("b.yaml is there; replace it", "y"))
                proxmox_answers(again, server, c)
                again.asks("kept as", "restart the service, which still has its former configuration: ballastd --config")
                again.ends(1)
    with Vcsim(hosts=2, vms=4, tls=False) as sim, short_folder() as folder, Setup(folder) as s:
        s.answer(("kind of the source", "sim"), ("asks for vsphere, libvirt or proxmox\nthe kind of the source", "vsphere"), ("URL of the API", sim.url),
                 ("user", sim.username), (SECRET, sim.password))
        s.asks("WARNING: ", "clear")
        s.answer((MEND, "go on"), (NAME, ""))


def test_not_allowed():
    if os.geteuid() != 0:
        raise Skip("another user's folder needs root")
    with short_folder() as folder:
        done = subprocess.run([BALLAST, "setup", "--config", f"{folder}/b.yaml"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=60, check=False, user=65534, group=65534)
        assert done.returncode == 1 and "Permission denied" in done.stderr and "sudo" in done.stderr, done
        assert len(done.stderr.splitlines()) == 1, done.stderr


PACKAGED = """
set -e
mkdir -p "$1/etc/ballast" "$1/run/systemd/system" "$1/bin"
cp -a /etc/ssl /etc/nsswitch.conf /etc/passwd /etc/group /etc/hosts /etc/ld.so.cache "$1/etc"
echo 'ballast:x:64123:64123::/var/lib/ballast:/usr/sbin/nologin' >> "$1/etc/passwd"
echo 'ballast:x:64123:' >> "$1/etc/group"
cp "$2" "$1/etc/ballast/ballast.yaml"
chgrp -R 64123 "$1/etc/ballast"
chmod 755 "$1" "$1/etc" "$1/run"
mount --bind "$1/etc" /etc
mount --bind "$1/run" /run
mkdir -p "$1/lib"
mount --bind "$1/lib" /var/lib
cat > "$1/bin/systemctl" <<END
#!/bin/sh
echo "\\$*" >> $1/asked
[ "\\$1" = restart ] || exit 0
install -d -o 64123 -g 64123 -m 0755 /run/ballast
install -d -o 64123 -g 64123 -m 0700 /var/lib/ballast
setpriv --reuid 64123 --regid 64123 --clear-groups $BALLASTD --config /etc/ballast/ballast.yaml </dev/null >/dev/null 2>&1 &
echo \\$! > $1/pid
END
chmod 755 "$1/bin/systemctl"
PATH="$1/bin:$PATH" exec "$BALLAST" setup
"""


def test_packaged():
    """As root, for the service that the package installs: its files, its user, its start. systemctl is a stand-in, which starts the service as its
    unit does."""
    if os.geteuid() != 0:
        raise Skip("users and namespaces need root")
    c = crowded()
    with Server(c) as server, short_folder() as folder:
        root = pathlib.Path(folder)
        os.environ.update(BALLAST=str(pathlib.Path(BALLAST).resolve()), BALLASTD=str(pathlib.Path(BALLASTD).resolve()))
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", PACKAGED, "sh", folder, str(SOURCE / "packaging/debian/ballast.yaml")]
        with Setup(root / "etc/ballast", "ballast.yaml", command=command) as s:
            try:
                proxmox_answers(s, server, c)
                shown = s.ends(0)
            finally:
                with contextlib.suppress(OSError, ValueError):
                    os.kill(int((root / "pid").read_text()), signal.SIGKILL)
            assert REASON in shown and "was not looked at" not in shown, shown
            assert (root / "asked").read_text() == "enable ballastd\nrestart ballastd\n"
            for name in ("ballast.yaml", "ballast.password", "ballast-ca.pem"):
                s.has_file(name, 0o640)
                assert ((s.folder / name).stat().st_uid, (s.folder / name).stat().st_gid) == (0, 64123), name
            assert not list(s.folder.glob(".setup-*"))
            assert "state_dir" not in s.config.read_text(), "the package's own folders"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
