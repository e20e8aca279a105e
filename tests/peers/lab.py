"""lab.py: libvirt hosts with live guests for a test: packaging/lab, on a network and in a folder of the test's own.

    with Lab(hosts=2, vms=4) as lab:
        lab.uri("hv1")                          # qemu+tcp://..., reached from this machine
        lab.virsh("hv1", "list --name")         # gives its output
        lab.load("vms 1: cpu 20 mem 8")
        lab.guests()["vm1"]["host"]             # as the guests themselves report
        lab.power("hv1", "off")                 # through its controller, with ipmitool
        lab.inside("hv1", "hostname")           # a command on the host
        lab.reconfigure("hv1", listen_tls=1)    # another libvirtd.conf

It ends with the test, however that ends. A Skip where root or a program is missing.

The test's process gets a network namespace of its own, which has no route but to the lab: what is sent to a host after its lab has
ended reaches no other machine, and labs of other tests are not in the way.
"""
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip  # noqa: E402

LAB = pathlib.Path(__file__).resolve().parents[2] / "packaging/lab/lab"
sys.path.insert(0, str(LAB.parent))
from namespaces import new_network, run  # noqa: E402

NUMBERS = itertools.count(1)  # of the networks of this test's labs
UP_S, CALL_S, DOWN_S = 400, 200, 200
ANSWER_S = 20  # of a controller; a second try while the first is being answered on a busy machine ends a login
os.environ["PATH"] += ":/usr/sbin:/sbin"
if os.geteuid() == 0:
    os.close(new_network())
    run("ip", "link", "set", "lo", "up")


def lab(*words, code=0):
    """The command; gives its standard output, or where it must fail, its standard error."""
    done = subprocess.run([LAB, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=UP_S)
    assert done.returncode == code, f"lab {words}: exit {done.returncode}, {done.stdout}{done.stderr}"
    return done.stderr if code else done.stdout


def need_lab():
    if os.geteuid() != 0:
        raise Skip("namespaces need root")
    missing = [p for p in ("libvirtd", "virsh", "qemu-system-x86_64", "ipmi_sim", "ipmitool", "mosquitto", "gcc") if not shutil.which(p)]
    if missing:
        raise Skip(f"{missing[0]} is missing: packaging/need lab")


class Lab:
    def __init__(self, hosts=2, vms=4, options=()):
        need_lab()
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-lab-")
        self.folder = pathlib.Path(self.dir.name) / "lab"
        self.network = f"10.99.{next(NUMBERS)}.0/24"
        self.started = []  # on hosts
        self.process = subprocess.Popen([LAB, "up", "--foreground", "--json", "--folder", self.folder, "--network", self.network, "--hosts",
                                         str(hosts), "--vms", str(vms), *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        said = self.process.stdout.readline()
        if not said.startswith("{"):
            said += self.process.stderr.read()
            self.close()
            self.dir.cleanup()
            raise RuntimeError(said)

    def status(self):
        """As `lab status --json`, without the start of that command."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(CALL_S)
            s.connect(str(self.folder / "lab.sock"))
            s.sendall(b'{"do": "status"}\n')
            return json.loads(s.makefile("rb").readline())

    def guests(self):
        return {guest["name"]: guest for guest in self.status()["guests"]}

    def serve_sasl(self, host, password):
        """The host asks for the user `ballast` with this password over tcp."""
        if not shutil.which("saslpasswd2"):
            raise Skip("saslpasswd2 is missing: packaging/need peers")
        etc = self.files(host) / "etc"
        (etc / "sasl.conf").write_text("mech_list: digest-md5\nsasldb_path: /etc/libvirt/passwd.db\n")
        self.inside(host, "mount", "--bind", "/etc/libvirt/sasl.conf", "/etc/sasl2/libvirt.conf")
        self.inside(host, "saslpasswd2", "-p", "-a", "libvirt", "-u", host, "-f", "/etc/libvirt/passwd.db", "ballast", input=password)
        self.reconfigure(host, auth_tcp="sasl")

    def hosts(self):
        return {host["name"]: host for host in self.status()["hosts"]}

    def uri(self, host):
        return self.hosts()[host]["uri"]

    def files(self, host):
        """The folder with what the host has on its disk: etc/libvirtd.conf, log/libvirtd.log, ..."""
        return pathlib.Path(self.hosts()[host]["files"])

    def _into(self, host):
        return ["nsenter", "--target", str(self.hosts()[host]["pid"]), "--mount", "--uts", "--net", "--pid"]

    def inside(self, host, *words, **options):
        """A command on the host, to its end; gives its output."""
        done = subprocess.run([*self._into(host), *map(str, words)], **{"stdin": subprocess.DEVNULL} if "input" not in options else {},
                              capture_output=True, text=True, timeout=CALL_S, **options)
        assert done.returncode == 0, f"{words} on {host}: {done.stderr}"
        return done.stdout

    def start_inside(self, host, *words, **options):
        """A process of the host, which ends with it."""
        ret = subprocess.Popen([*self._into(host), *map(str, words)], stdin=subprocess.DEVNULL, **options)
        self.started.append(ret)
        return ret

    def reconfigure(self, host, **settings):
        """Starts the host's libvirtd again with other settings; its guests go on."""
        configuration = self.files(host) / "etc/libvirtd.conf"
        lines = [line for line in configuration.read_text().splitlines() if line.split(" = ")[0] not in settings]
        configuration.write_text("\n".join(lines + [f"{key} = {json.dumps(value)}" for key, value in settings.items()]) + "\n")
        self.kill_libvirtd(host, signal.SIGTERM)
        self.restart_libvirtd(host)

    def load(self, text):
        profile = pathlib.Path(self.dir.name) / "test.load"
        profile.write_text(text + "\n")
        lab("load", profile, "--folder", self.folder)

    def virsh(self, host, command):
        done = subprocess.run(["virsh", "--quiet", "--connect", self.uri(host), command], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=CALL_S)
        assert done.returncode == 0, f"virsh at {host}: {command}: {done.stderr}"
        return done.stdout

    def power(self, host, command):
        its = self.hosts()[host]["controller"]
        done = subprocess.run(["ipmitool", "-I", "lanplus", "-C", "3", "-N", str(ANSWER_S), "-H", its["address"], "-U", its["username"], "-P",
                               its["password"], "chassis", "power", command], capture_output=True, text=True, timeout=CALL_S)
        assert done.returncode == 0, f"ipmitool at {host}: {command}: {done.stderr}"
        return done.stdout

    def kill_libvirtd(self, host, number=signal.SIGKILL):
        """As a crash: its QEMU processes go on, and it stays away."""
        process = os.pidfd_open(self.hosts()[host]["libvirtd_pid"])
        signal.pidfd_send_signal(process, number)
        ended, _, _ = select.select([process], [], [], CALL_S)
        os.close(process)
        assert ended, f"libvirtd of {host} does not end"

    def restart_libvirtd(self, host):
        self.inside(host, "/usr/sbin/libvirtd", "--listen", "--daemon", "--pid-file", "/run/libvirt/libvirtd.pid")

    def close(self):
        """Ends it as a test that is killed would: by the end of its standard input."""
        self.process.stdin.close()
        self.process.wait(timeout=DOWN_S)
        self.process.stdout.close()
        self.process.stderr.close()
        for process in self.started:
            process.wait(timeout=DOWN_S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            if self.process.poll() is None:
                self.close()
        finally:
            self.dir.cleanup()
