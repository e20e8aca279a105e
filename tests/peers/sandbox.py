"""sandbox.py: runs a program under the limits of a systemd unit, without systemd: what SystemCallFilter, SystemCallErrorNumber,
RestrictAddressFamilies, MemoryDenyWriteExecute, RestrictNamespaces and, for root, CapabilityBoundingSet, ProtectSystem, ProtectProc and
User= (the user is nobody) say.

    python3 tests/peers/sandbox.py UNIT [--kill] [--fails CALL] [--writable FOLDER] -- PROGRAM ARGUMENT...

--kill: a forbidden system call but those of --fails ends the program with SIGSYS, whatever SystemCallErrorNumber says. Needs systemd-analyze, which knows
the sets of system calls (@system-service), and libseccomp, which apt needs, too.
"""
import argparse
import ctypes
import errno
import functools
import mmap
import os
import pathlib
import re
import subprocess
import sys

ALLOW, KILL = 0x7FFF0000, 0x80000000  # seccomp(2)
EQUAL, MASKED_EQUAL = 4, 7  # enum scmp_compare
NAMESPACES = 0x7E020080  # CLONE_NEW*
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}
FAMILIES_MOST = 64
NOBODY = 65534
MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE, READ_ONLY = 442, -100, 0x8000, 1
MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS = 4096, 16384, 1 << 18, 0x20000
PR_SET_NO_NEW_PRIVS = 38


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def fails_with(number):
    return 0x00050000 | number


def values(unit, key):
    return re.findall(rf"^{key}=(.*)$", pathlib.Path(unit).read_text(), re.M)


@functools.lru_cache(None)
def calls_of(name):
    """The system calls of a set, whose sets are opened."""
    if not name.startswith("@"):
        return frozenset([name.partition(":")[0]])
    text = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager", name], capture_output=True, text=True, check=True).stdout
    found = [line.strip() for line in text.splitlines()[1:] if line.strip() and not line.strip().startswith("#")]
    return frozenset().union(*(calls_of(f) for f in found))


def allowed_calls(lines):
    """systemd.exec(5): the first line says which calls are allowed; each further one adds some, or with ~ takes some away."""
    allowed = calls_of("@default")
    for i, line in enumerate(lines):
        assert i > 0 or not line.startswith("~"), "a list of what is forbidden is not known here"
        named = frozenset().union(*(calls_of(w) for w in line.removeprefix("~").split()))
        allowed = allowed - named if line.startswith("~") else allowed | named
    return allowed


class Filter:
    def __init__(self, default):
        self.lib = ctypes.CDLL("libseccomp.so.2")
        self.lib.seccomp_init.restype = ctypes.c_void_p
        self.lib.seccomp_init.argtypes = [ctypes.c_uint32]
        self.lib.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
        self.lib.seccomp_load.argtypes = [ctypes.c_void_p]
        self.context = self.lib.seccomp_init(default)
        assert self.context

    def rule(self, action, call, *compare):
        number = self.lib.seccomp_syscall_resolve_name(call.encode())
        if number < 0:
            return  # of another architecture
        array = (Compare * len(compare))(*(Compare(*c) for c in compare))
        error = self.lib.seccomp_rule_add_array(self.context, action, number, len(compare), array)
        assert error in (0, -errno.EEXIST), (call, error)

    def load(self):
        error = self.lib.seccomp_load(self.context)
        assert error == 0, os.strerror(-error)


def restrictions(unit):
    """What single arguments may not be."""
    f = Filter(ALLOW)
    families = {FAMILIES[w] for line in values(unit, "RestrictAddressFamilies") for w in line.split()}
    for number in range(FAMILIES_MOST):
        if families and number not in families:
            f.rule(fails_with(errno.EAFNOSUPPORT), "socket", (0, EQUAL, number, 0))
    if values(unit, "MemoryDenyWriteExecute") == ["yes"]:
        both = mmap.PROT_WRITE | mmap.PROT_EXEC
        f.rule(fails_with(errno.EPERM), "mmap", (2, MASKED_EQUAL, both, both))
        for call in ("mprotect", "pkey_mprotect"):
            f.rule(fails_with(errno.EPERM), call, (2, MASKED_EQUAL, mmap.PROT_EXEC, mmap.PROT_EXEC))
    if values(unit, "RestrictNamespaces") == ["yes"]:
        f.rule(fails_with(errno.ENOSYS), "clone3")  # its flags cannot be seen by a filter
        for bit in (1 << i for i in range(32) if NAMESPACES >> i & 1):
            f.rule(fails_with(errno.EPERM), "clone", (0, MASKED_EQUAL, bit, bit))
            f.rule(fails_with(errno.EPERM), "unshare", (0, MASKED_EQUAL, bit, bit))
        f.rule(fails_with(errno.EPERM), "setns")
    return f


def call_filter(unit, kill, failing):
    number = values(unit, "SystemCallErrorNumber")
    f = Filter(fails_with(getattr(errno, number[-1])) if number and not kill else KILL)
    for call in allowed_calls(values(unit, "SystemCallFilter")):
        f.rule(ALLOW, call)
    for call in failing if kill else ():
        f.rule(fails_with(errno.EPERM), call)
    return f


def mounts(unit, libc, writable):
    """The file system read-only but for some folders; other users' processes invisible."""
    def check(result):
        if result < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    check(libc.unshare(CLONE_NEWNS))
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))
    if values(unit, "ProtectProc") == ["invisible"]:
        check(libc.mount(b"proc", b"/proc", b"proc", 0, b"hidepid=invisible"))
    for folder in writable:
        check(libc.mount(folder.encode(), folder.encode(), None, MS_BIND, None))
    if values(unit, "ProtectSystem") == ["strict"]:
        attributes = (ctypes.c_uint64 * 4)(READ_ONLY, 0, 0, 0)
        check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", AT_RECURSIVE, attributes, ctypes.sizeof(attributes)))
        attributes = (ctypes.c_uint64 * 4)(0, READ_ONLY, 0, 0)
        for folder in [*writable, "/dev"]:
            check(libc.syscall(MOUNT_SETATTR, AT_FDCWD, folder.encode(), AT_RECURSIVE, attributes, ctypes.sizeof(attributes)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("unit")
    parser.add_argument("--kill", action="store_true")
    parser.add_argument("--fails", action="append", default=[])
    parser.add_argument("--writable", action="append", default=[])
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    libc = ctypes.CDLL(None, use_errno=True)
    filters = [restrictions(given.unit), call_filter(given.unit, given.kill, given.fails)]
    if os.geteuid() == 0:
        mounts(given.unit, libc, given.writable)
        for n in range(64) if values(given.unit, "CapabilityBoundingSet") == [""] else ():
            libc.prctl(24, n, 0, 0, 0)  # PR_CAPBSET_DROP; beyond the last one it fails
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    for f in filters:
        f.load()
    os.execv(given.program[0], given.program)


if __name__ == "__main__":
    sys.exit(main())
