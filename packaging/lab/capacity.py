"""capacity.py: how much CPU a host of the lab has: a control group (cgroup v1 or v2) with a quota for all its processes."""
import os
import pathlib
import time

PERIOD_US = 100000
WEIGHT_V1, WEIGHT_V2 = 262144, 10000  # the most there is: what else the machine does takes nothing of what the hosts are said to have
LIBVIRT_NEEDS = ("cpu", "cpuacct")
END_S = 10


def mounts():
    """(path, type, options) of what is mounted."""
    for line in pathlib.Path("/proc/mounts").read_text().splitlines():
        _, path, kind, options = line.split()[:4]
        yield pathlib.Path(path), kind, options.split(",")


def machine_mhz():
    """The clock of one CPU, as the kernel says; 1000 where it does not."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("cpu MHz"):
            return int(float(line.split(":")[1]))
    return 1000


class Capacity:
    """percent: of one CPU, for each host. Where no control group can be had, `problem` says why, and hosts have no limit."""

    def __init__(self, name, percent):
        self.name, self.percent = name, percent
        self.folder = None
        self.problem = None
        self.version = None
        self.hierarchies = {}  # of version 1, that libvirt needs for groups of its own: controllers -> folder
        try:
            self._open()
        except OSError as e:
            self.folder = None
            self.problem = f"the capacity of hosts is not enforced: {e.filename}: {e.strerror}"

    def _open(self):
        v1 = [path for path, kind, options in mounts() if kind == "cgroup" and "cpu" in options]
        v2 = [path for path, kind, _ in mounts() if kind == "cgroup2" and "cpu" in (path / "cgroup.controllers").read_text().split()]
        if not v1 and not v2:
            self.problem = "the capacity of hosts is not enforced: no cgroup with the controller cpu is mounted"
            return
        self.version, top = (1, v1[0]) if v1 else (2, v2[0])
        if v1:
            for path, kind, options in mounts():
                here = [c for c in LIBVIRT_NEEDS if c in options] if kind == "cgroup" else []
                if here:
                    self.hierarchies[",".join(here)] = path / self.name
        folder = top / self.name
        if self.version == 2:
            (top / "cgroup.subtree_control").write_text("+cpu")
        folder.mkdir(exist_ok=True)
        if self.version == 2:
            (folder / "cgroup.subtree_control").write_text("+cpu")
            (folder / "cpu.weight").write_text(str(WEIGHT_V2))
        elif not (folder / "cpu.cfs_quota_us").exists():
            folder.rmdir()
            self.problem = "the capacity of hosts is not enforced: the kernel has no CPU quotas (CFS_BANDWIDTH)"
            return
        else:
            (folder / "cpu.shares").write_text(str(WEIGHT_V1))
        self.folder = folder

    def group(self, host):
        """The group of a host, with its quota; None where there are none."""
        if not self.folder:
            return None
        group = self.folder / host
        group.mkdir(exist_ok=True)
        quota = self.percent * PERIOD_US // 100
        if self.version == 1:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(quota))
        else:
            (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        return group

    def groups(self, host):
        """The groups of a host whose libvirt has groups of its own: the one with the quota is among them."""
        self.group(host)
        groups = [folder / host for folder in self.hierarchies.values()]
        for group in groups:
            group.mkdir(parents=True, exist_ok=True)
        return groups

    def close(self):
        for folder in {self.folder, *self.hierarchies.values()}:
            if folder and folder.exists():
                remove(folder)


def join(groups):
    """In a child: it and its children belong to the groups."""
    for group in groups:
        (group / "cgroup.procs").write_text(str(os.getpid()))


def remove(folder):
    """The group and those in it, once their last process has ended."""
    until = time.monotonic() + END_S
    while True:
        try:
            for group in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):  # those within first
                group.rmdir()
            folder.rmdir()
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def remove_left_over(name):
    """The groups of a lab whose supervisor was killed."""
    for path, kind, options in mounts():
        if (kind == "cgroup" and set(LIBVIRT_NEEDS) & set(options) or kind == "cgroup2") and (path / name).is_dir():
            remove(path / name)
