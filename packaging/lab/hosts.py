"""hosts.py: a host of the lab: a libvirtd with its QEMU processes, in namespaces of its own (network, mounts, processes, name).

Its folder holds what a real host has on its disk: it stays when the power is off. `run` is the exception.
"""
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

from capacity import join
from namespaces import end_with_parent, run
from network import accepts

HERE = pathlib.Path(__file__).resolve().parent
LIBVIRT_PORT = 16509
START_S = 60
SHELL_S = 30
END_S = 30
CACHE = "cache/qemu/capabilities"

LIBVIRTD_CONF = """\
listen_tls = 0
listen_tcp = 1
listen_addr = "{address}"
auth_tcp = "none"
auth_unix_rw = "none"
host_uuid = "{uuid}"
log_outputs = "3:file:/var/log/libvirt/libvirtd.log"
max_clients = 200
keepalive_interval = 2
keepalive_count = 3
"""

# No privileges to drop, and no control groups of libvirt's own unless they are asked for; the rest makes QEMU end up in these namespaces.
QEMU_CONF = """\
user = "root"
group = "root"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
namespaces = [ ]
cgroup_controllers = [ {controllers} ]
stdio_handler = "file"
migration_address = "{address}"
migration_host = "{address}"
keepalive_interval = 2
keepalive_count = 3
"""


class Host:
    def __init__(self, number, folder, network, capacity, cache, cpu_controls=False):
        self.number, self.network, self.capacity, self.cache = number, network, capacity, cache
        self.name = f"hv{number}"
        self.folder = folder / self.name
        self.address = network.host(number)
        self.uuid = f"{number:08x}-0000-4000-8000-{int(network.network.network_address):012x}"
        self.uri = f"qemu+tcp://{self.address}/system"
        self.hierarchies = [*capacity.hierarchies] if cpu_controls else []
        self.process = None

    def make_folder(self):
        for part in ("run", "lib", "etc/qemu", "log", CACHE):
            (self.folder / part).mkdir(parents=True, exist_ok=True)
        (self.folder / "etc/libvirtd.conf").write_text(LIBVIRTD_CONF.format(address=self.address, uuid=self.uuid))
        (self.folder / "etc/qemu.conf").write_text(QEMU_CONF.format(
            address=self.address, controllers=", ".join(f'"{name}"' for name in ",".join(self.hierarchies).split(",") if name)))

    @property
    def has_power(self):
        return self.process is not None and self.process.poll() is None

    def power_on(self):
        """Returns before it answers."""
        if self.has_power:
            return
        self.power_off()
        self.make_folder()
        copy_files(self.cache, self.folder / CACHE)
        group = self.capacity.group(self.name)
        groups = self.capacity.groups(self.name) if self.hierarchies else [group] if group else []

        def begin():
            end_with_parent()
            join(groups)

        with open(self.folder / "log/host.log", "ab") as log:
            self.process = subprocess.Popen(
                ["unshare", "--net", "--mount", "--uts", "--pid", "--cgroup", "--fork", "--kill-child", "--mount-proc", "--propagation", "private",
                 "bash", HERE / "host.sh", self.name, self.address, *self.hierarchies], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=log, preexec_fn=begin, env={"PATH": os.environ["PATH"]})
        ready, _, _ = select.select([self.process.stdout], [], [], SHELL_S)
        if not ready or self.process.stdout.readline() != b"ready\n":
            self.power_off()
            raise RuntimeError(f"{self.name} did not start: {self.log()}")
        self.network.plug_in(self.name, f"02:00:00:63:00:{self.number:02x}", self.process.pid)
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()

    def wait(self):
        """Until libvirtd answers."""
        until = time.monotonic() + START_S
        while not self.answers():
            if not self.has_power or time.monotonic() > until:
                raise RuntimeError(f"libvirtd of {self.name} does not answer: {self.log()}")
            time.sleep(0.05)

    def answers(self):
        return self.has_power and accepts(self.address, LIBVIRT_PORT)

    def power_off(self):
        """As a power cut: the network first, so that the others see silence, then every process at once."""
        self.network.unplug(self.name)
        if self.process:
            first = self._first_process()
            self.process.kill()  # and with it pid 1 of the host, and with that all of the host
            self.process.wait(timeout=END_S)
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
            if first is not None:
                select.select([first], [], [], END_S)
                os.close(first)
        shutil.rmtree(self.folder / "run", ignore_errors=True)

    @property
    def first_pid(self):
        """The host's pid 1, as this machine numbers it; None: it has no power."""
        own = children_of(self.process.pid) if self.has_power else []
        return own[0] if own else None

    @property
    def libvirtd_pid(self):
        """As this machine numbers it; None: none runs at this moment."""
        return next((pid for pid in children_of(self.first_pid) if name_of(pid) == "libvirtd"), None)

    def _first_process(self):
        """A descriptor of the host's pid 1; readable when it and thereby all processes of the host have ended."""
        try:
            return os.pidfd_open(self.first_pid) if self.first_pid else None
        except OSError:
            return None

    def virsh(self, *commands, timeout=120):
        """Commands of virsh, in one connection; gives their output."""
        return run("virsh", "--quiet", "--connect", self.uri, "; ".join(commands), timeout=timeout)

    def keep_capabilities(self):
        """What libvirt has found out about QEMU, in seconds, for the other hosts and the next time."""
        self.virsh("capabilities")
        copy_files(self.folder / CACHE, self.cache)

    def log(self):
        text = "".join(path.read_text(errors="replace") for path in sorted((self.folder / "log").glob("*.log")))
        return text.strip()[-2000:] or "(it logged nothing)"


def children_of(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:  # it has ended
        return []


def name_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def copy_files(source, target):
    if not source.exists():
        return
    target.mkdir(parents=True, exist_ok=True)
    for path in source.iterdir():
        if path.suffix == ".xml":
            fresh = target / f"{path.name}.{os.getpid()}"  # another lab may be reading
            shutil.copy2(path, fresh)
            fresh.replace(target / path.name)


def end(process, patience_s=5):
    """SIGTERM, and after a while SIGKILL."""
    if process and process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=END_S)
