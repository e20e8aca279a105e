#!/usr/bin/env python3
"""Logins at real libvirtd: certificates, ssh keys, users with passwords, sockets. Each refusal is one clear sentence in the log and in
check-config, leaves its host disconnected, asks nobody, is not repeated at once, and leaves no process and no descriptor behind."""
import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from daemon import wait_for
from lab import Lab
from probe import Probe
from test_libvirt_migrate import end_of, is_only_on, start, unbroken, uuid_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

HOST_TIMEOUT_S = 10
SSH_HOME = pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir) / ".ssh"  # where ssh looks, whatever HOME says
ATTEMPTS = 100
REFUSED_KEY = "Connection closed by authenticating user"


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


class Authority:
    """A CA, and the certificates that it issues."""

    def __init__(self, folder, name):
        self.folder = folder / name
        self.folder.mkdir()
        self.key, self.certificate = self.folder / "ca.key", self.folder / "ca.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def issue(self, key, certificate, name, purpose, alternative=None, days=2):
        request, extensions = self.folder / "request", self.folder / "extensions"
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/O=ballast/CN={name}", "-keyout", key, "-out", request)
        extensions.write_text(f"keyUsage=digitalSignature,keyEncipherment\nextendedKeyUsage={purpose}\n" +
                              (f"subjectAltName={alternative}\n" if alternative else ""))
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-extfile", extensions, "-out", certificate)


def client(folder, name, trusted, issuer, days=2):
    """A folder for pkipath= of a URI."""
    ret = folder / name
    ret.mkdir()
    shutil.copy(trusted.certificate, ret / "cacert.pem")
    if issuer:
        issuer.issue(ret / "clientkey.pem", ret / "clientcert.pem", name, "clientAuth", days=days)
    return ret


def serve_tls(lab, host, issuer, trusted, alternative, days=2, **settings):
    etc = lab.files(host) / "etc"
    issuer.issue(etc / "server.key", etc / "server.pem", "server", "serverAuth", alternative, days)
    shutil.copy(trusted.certificate, etc / "ca.pem")
    # a certificate that expires while libvirtd runs is made by not looking at it at the start
    lab.reconfigure(host, listen_tls=1, key_file="/etc/libvirt/server.key", cert_file="/etc/libvirt/server.pem",
                    ca_file="/etc/libvirt/ca.pem", tls_no_sanity_certificate=1, **settings)


def address(lab, host):
    return lab.uri(host).split("/")[2]


def probe(uris, program=Probe, **more):
    keys = {f"hosts.{name}.uri": uri for name, uri in uris.items()}
    return program("libvirt", **keys, host_timeout_s=HOST_TIMEOUT_S, timeout_s=30, **more)


def states(p):
    answer = p("collect")
    return {h["name"]: h["state"] for h in answer["hosts"]} if answer["ok"] else answer["text"]


def check_config(folder, uris, before=(), **keys):
    """What an admin is told before the start of the service."""
    configuration = folder / "ballast.yaml"
    hosts = "".join(f"    {name}: {{uri: \"{uri}\"}}\n" for name, uri in uris.items())
    extra = "".join(f"  {key}: {value}\n" for key, value in keys.items())
    configuration.write_text(f"cluster: lab\nstate_dir: {folder}\nsource:\n  kind: libvirt\n  host_timeout_s: {HOST_TIMEOUT_S}\n{extra}  hosts:\n{hosts}")
    done = subprocess.run([*before, os.environ["BALLAST"], "check-config", "--connect", configuration], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=100)
    return done.stdout + done.stderr


def check_sentences(expected, *texts):
    """Each text, a log or a report, must have a host's name with these words soon behind it."""
    for text in texts:
        for host, words in expected.items():
            assert re.search(rf"\b{host}: .{{0,80}}{re.escape(words)}", " ".join(text.split())), (host, words, text)


# ---- qemu+tls

def test_certificates():
    with Lab(hosts=4, vms=0, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good, other = Authority(folder, "good"), Authority(folder, "other")
        serve_tls(lab, "hv1", good, good, f"IP:{address(lab, 'hv1')}")
        serve_tls(lab, "hv2", good, good, f"IP:{address(lab, 'hv2')}", days=-1)
        serve_tls(lab, "hv3", good, good, "DNS:another.example")
        serve_tls(lab, "hv4", good, good, f"IP:{address(lab, 'hv4')}", tls_allowed_dn_list=["CN=nobody,O=ballast"])
        ours = client(folder, "ours", good, good)
        uris = {
            "fine": ("hv1", ours), "expired": ("hv2", ours), "misnamed": ("hv3", ours), "unlisted": ("hv4", ours),
            "stranger": ("hv1", client(folder, "stranger", other, other)), "unsigned": ("hv1", client(folder, "unsigned", good, None)),
            "late": ("hv1", client(folder, "late", good, good, days=-1)), "mixed": ("hv1", client(folder, "mixed", good, other)),
        }
        uris = {host: f"qemu+tls://{address(lab, at)}/system?pkipath={pki}" for host, (at, pki) in uris.items()}
        expected = {
            "expired": "its certificate is not accepted: SSL certificate problem: certificate has expired",
            "misnamed": "its certificate is not accepted: SSL: no alternative certificate subject name matches",
            "stranger": "its certificate is not accepted: SSL certificate problem: unable to get local issuer certificate",
            "unlisted": "it does not accept the certificate of this machine",
            "unsigned": "it does not accept the certificate of this machine",
            "late": "clientcert.pem has expired",
            "mixed": "clientcert.pem failed validation against",
        }
        with probe(uris) as p:
            for _ in range(2):
                wait_for("one is there", lambda: states(p) == {host: "on" if host == "fine" else "disconnected" for host in uris})
            log = p.close()
        check_sentences(expected, log, check_config(folder, uris))


# ---- memory that is sent encrypted

def give_qemu(lab, host, issuer, trusted):
    """QEMU's own certificates, as the source and as the destination of migrations."""
    etc = lab.files(host) / "etc"
    pki = etc / "pki"
    pki.mkdir(exist_ok=True)
    for kind in ("server", "client"):
        issuer.issue(pki / f"{kind}-key.pem", pki / f"{kind}-cert.pem", host, f"{kind}Auth", f"DNS:{host},IP:{address(lab, host)}")
    shutil.copy(trusted.certificate, pki / "ca-cert.pem")
    for path in pki.iterdir():
        path.chmod(0o644)
    conf = etc / "qemu.conf"
    if "migrate_tls" not in conf.read_text():
        conf.write_text(conf.read_text() + '\nmigrate_tls_x509_cert_dir = "/etc/libvirt/pki"\nmigrate_tls_x509_verify = 1\n')
    lab.reconfigure(host)


def test_encrypted_migration():
    """Carried out where both sides trust each other; refused where they do not, and the guest stays as it was."""
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good, other = Authority(folder, "good"), Authority(folder, "other")
        vm = uuid_of(lab, "hv1", "vm1")
        keys = {f"hosts.{host}.uri": lab.uri(host) for host in ("hv1", "hv2")}
        with unbroken(lab, "vm1"), Probe("libvirt", **keys, **{"migration.tls": "true"}, timeout_s=30) as p:
            for issuer, trusted, ends in ((good, good, "succeeded"), (other, good, "failed"), (good, other, "failed")):
                give_qemu(lab, "hv1", good, good)
                give_qemu(lab, "hv2", issuer, trusted)
                answer, _ = end_of(p, start(p, vm, "hv1", "hv2"))
                assert answer["state"] == ends, (ends, answer)
                if ends == "failed":
                    assert re.search("certificate|TLS|tls", answer["why"]), answer
                    assert is_only_on(lab, "vm1", "hv1", "hv2"), answer
                    continue
                assert is_only_on(lab, "vm1", "hv2", "hv1")
                answer, _ = end_of(p, start(p, vm, "hv2", "hv1"))
                assert answer["state"] == "succeeded", answer


# ---- qemu+ssh

class Keys:
    def __init__(self, folder):
        self.folder = folder
        for key in ("host", "user", "foreign"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        self.home = folder / "home"
        self.home.mkdir(mode=0o700)

    def know(self, at):
        kind, key = (self.folder / "host.pub").read_text().split()[:2]
        with open(self.home / "known_hosts", "a") as file:
            file.write(f"{at} {kind} {key}\n")

    def before(self):
        """The words before a command that sees these keys as root's."""
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", f'mount --bind {self.home} {SSH_HOME} && exec "$0" "$@"']

    def program(self):
        before = self.before()

        class SshProbe(Probe):
            def command(self):
                return [*before, *super().command()]
        return SshProbe


def start_sshd(lab, host, keys):
    authorized = keys.folder / "authorized"
    shutil.copy(keys.folder / "user.pub", authorized)
    settings = keys.folder / "sshd_config"
    settings.write_text(f"HostKey {keys.folder}/host\nAuthorizedKeysFile {authorized}\nStrictModes no\nUsePAM no\nPidFile none\n"
                        f"PermitRootLogin yes\nPasswordAuthentication yes\nMaxStartups 200\nListenAddress {address(lab, host)}\n")
    lab.inside(host, "mkdir", "-p", "/run/sshd")
    log = open(keys.folder / "sshd.log", "ab")
    sshd = lab.start_inside(host, shutil.which("sshd"), "-D", "-e", "-f", settings, stderr=log)
    log.close()
    wait_for("sshd listens", lambda: "listening" in (keys.folder / "sshd.log").read_text() or sshd.poll() is not None)
    assert sshd.poll() is None, (keys.folder / "sshd.log").read_text()


def children(p):
    """The processes that it has started, and their states; its threads may be gone the next moment."""
    ret = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = path.read_text().rsplit(")", 1)
            state, parent = rest.split()[:2]
            if int(parent) == p.process.pid:
                ret[int(path.parent.name)] = (name.split("(")[1], state)
        except OSError:
            continue
    return ret


def descriptors(p):
    return len(os.listdir(f"/proc/{p.process.pid}/fd"))


def check_no_leak(keys, uris):
    """Attempts that fail again and again: no descriptor, thread or process is left."""
    with probe(uris, keys.program()) as p:
        before = 0  # the most: connections that are being tried have some for a while
        for _ in range(10):
            states(p)
            before = max(before, descriptors(p))
        wait_for("all children have gone", lambda: not children(p))
        for _ in range(ATTEMPTS):
            assert isinstance(states(p), str)
        wait_for("all children have gone", lambda: not children(p))
        # one more, of libvirt's event loop, may have come by then; a leak would have one for each attempt
        wait_for("no descriptor is left", lambda: descriptors(p) <= before + 2)


def check_many_refused(keys, uri):
    """Twenty hosts at a time that refuse the key; gives how often sshd has refused one."""
    hosts = {f"h{i}": uri for i in range(20)}
    with probe(hosts, keys.program()) as p:
        states(p)
        wait_for("all children have gone", lambda: not children(p))
        states(p)
        states(p)
        assert not children(p)
    return (keys.folder / "sshd.log").read_text().count(REFUSED_KEY)


def check_hanging_ssh(lab, keys):
    """A peer that accepts and never greets: one ssh, which ends with the source, and the other host is there all the same."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as silent:
        uris = {"dumb": f"qemu+ssh://root@127.0.0.1:{silent.getsockname()[1]}/system", "hv1": lab.uri("hv1")}
        with probe(uris, keys.program()) as p:
            for _ in range(4):
                wait_for("one is there", lambda: states(p) == {"dumb": "disconnected", "hv1": "on"})
            left = children(p)
            assert [name for name, _ in left.values()] == ["ssh"], left
            log = p.close()
        assert re.search(rf"dumb: no (connection for|answer within) {HOST_TIMEOUT_S} s", log), log
        wait_for("its ssh has gone", lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in left))


@contextlib.contextmanager
def ssh_home():
    """The folder exists: another one is mounted over it."""
    made = not SSH_HOME.is_dir()
    if made:
        SSH_HOME.mkdir(0o700)
    try:
        yield
    finally:
        if made:
            with contextlib.suppress(OSError):  # no longer empty: another program uses it by now
                SSH_HOME.rmdir()


def test_ssh():
    with ssh_home(), Lab(hosts=1, vms=1, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        keys = Keys(folder)
        start_sshd(lab, "hv1", keys)
        at = f"qemu+ssh://root@{address(lab, 'hv1')}/system?keyfile={folder}"
        with probe({"strange": f"{at}/user"}, keys.program()) as p:
            assert "strange: ssh does not know its host key" in states(p)
        keys.know(address(lab, "hv1"))
        uris = {"fine": f"{at}/user", "refused": f"{at}/foreign"}
        with probe(uris, keys.program()) as p:
            wait_for("one is there", lambda: states(p) == {"fine": "on", "refused": "disconnected"})
            log = p.close()
        expected = {"refused": "it refuses the ssh key of the service's user, or keyfile= in the URI"}
        check_sentences(expected, log, check_config(folder, uris, keys.before()))
        closed = f"qemu+ssh://root@{address(lab, 'hv1')}:23/system"
        check_no_leak(keys, {"closed": closed, "tls": f"qemu+tls://{address(lab, 'hv1')}/system",
                             "gone": f"qemu+unix:///system?socket={folder}/nothing"})
        before = (folder / "sshd.log").read_text().count(REFUSED_KEY)
        assert check_many_refused(keys, f"{at}/foreign") - before == 20
        check_hanging_ssh(lab, keys)


def test_programs_in_uris():
    """libvirt runs what a URI of ssh names as `command`, and sends what it names as `netcat`. Neither gets so far."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ran, program = folder / "ran", folder / "program"
        program.write_text(f"#!/bin/sh\ntouch {ran}\n")
        program.chmod(0o755)
        uri = f"qemu+ssh://127.0.0.1:1/system?command={program}"
        subprocess.run(["virsh", "--connect", uri, "list"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
        assert ran.exists(), "libvirt runs no such program any more"
        ran.unlink()
        for hostile in (uri, uri.replace("command", "comm%61nd"), uri.replace("?", "?keyfile=/k&"), uri.replace("command", "netcat"),
                        "qemu+ssh://-oProxyCommand=touch%20" + str(ran) + "/system", f"qemu+ssh://$(touch {ran})@127.0.0.1/system"):
            for key in ("uri", "peer_uri"):
                said = check_config(folder, {"h": hostile} if key == "uri" else {"h": f'qemu+tls://127.0.0.1:1/system", peer_uri: "{hostile}'})
                assert f"source.hosts.h.{key} is " in said and "expected" in said, (hostile, said)
                assert not ran.exists(), hostile
        said = check_config(folder, {"h": "qemu+ssh://h/system\\n\\e[31mOK"})
        assert "source.hosts.h.uri has a control character in it" in said and "\x1b" not in said, said


# ---- users and passwords; sockets

def failed_logins(lab, host):
    return (lab.files(host) / "log/libvirtd.log").read_text(errors="replace").count("SaslStep")


def test_passwords_and_sockets():
    with Lab(hosts=2, vms=2, options=["--no-service"]) as lab, tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tcp = {"hv1": lab.uri("hv1")}
        door = f"qemu+unix:///system?socket={lab.files('hv2')}/run/libvirt-sock"
        lab.serve_sasl("hv1", "right")
        for password in ("right", "wrong"):
            (folder / password).write_text(password + "\n")
            (folder / password).chmod(0o600)
        login = {"username": "ballast", "password_file": folder / "right"}
        with probe({**tcp, "hv2": door}, **login) as p:
            wait_for("both are there", lambda: states(p) == {"hv1": "on", "hv2": "on"})
        login["password_file"] = folder / "wrong"
        before = failed_logins(lab, "hv1")
        with probe({**tcp, "hv2": door}, **login) as p:
            for _ in range(4):
                wait_for("one is there", lambda: states(p) == {"hv1": "disconnected", "hv2": "on"})
            log = p.close()
        assert failed_logins(lab, "hv1") == before + 1, "a refused password was tried again"
        check_sentences({"hv1": "it refuses the user ballast or the password"}, log, check_config(folder, tcp, **login))
        with probe(tcp) as p:
            assert "hv1: it asks for a user and a password: set source.username" in states(p)
            assert re.search(r"; not tried again for \d+ s", states(p)), states(p)
        os.kill(lab.hosts()["hv2"]["libvirtd_pid"], signal.SIGSTOP)
        with probe({"hv2": door}) as p:
            assert re.search(f"hv2: no (connection for|answer within) {HOST_TIMEOUT_S} s", states(p))
            os.kill(lab.hosts()["hv2"]["libvirtd_pid"], signal.SIGCONT)
            wait_for("it goes on", lambda: states(p) == {"hv2": "on"})


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
