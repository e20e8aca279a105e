"""ports.py: ports that a test may know before a server listens on them, and after.

    port = ports.take()         # belongs to this process until it ends, with or without a server on it

For servers that must be told their port (ipmi_sim, mosquitto), and for servers that restart on the same port. A server that can
bind port 0 and keep that socket does so and needs none of this.

A port that was found free and released may be taken by another thread, by another test, and if it is an ephemeral one by any
outgoing connection, even by one to that very port, which then connects to itself. So this module reserves a port by a socket named
after it in the abstract namespace of AF_UNIX. All users share that namespace, it belongs to the network namespace as ports do, and
its names vanish with the process. The range is below the ephemeral ports, so other programs do not get these ports either.
"""
import errno
import pathlib
import random
import socket

RANGE = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")  # what the system gives
FIRST, LAST = 10240, 32767  # what libipmiconsole 1.6.10 takes: no more ("hostname invalid")
ENOUGH = 1000
ADDRESSES = (socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")
NO_SUCH_ADDRESS = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)  # a machine without IPv6

held = []  # the sockets that hold what was taken


def own_range():
    """Ports that the system gives to nobody, and as many as there are where it gives nearly all."""
    low = int(RANGE.read_text().split()[0])
    return range(FIRST, low if FIRST + ENOUGH <= low <= LAST else LAST + 1)


def is_free(port):
    """Whether nobody has it: no socket of UDP or TCP, listening, connected or lingering, on loopback or everywhere."""
    for family, address in ADDRESSES:
        for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
            try:
                with socket.socket(family, kind) as s:
                    s.bind((address, port))
            except OSError as e:
                if e.errno not in NO_SUCH_ADDRESS:
                    return False
    return True


def take(among=None):
    """A port that is free, for UDP and TCP, and that take() gives to nobody else on this machine while this process lives; of
    those among which to choose."""
    among = among or own_range()
    for port in random.sample(among, len(among)):
        hold = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            hold.bind(f"\0ballast-tests/port/{port}")
        except OSError as e:
            hold.close()
            if e.errno != errno.EADDRINUSE:
                raise
            continue
        if is_free(port):
            held.append(hold)
            return port
        hold.close()
    raise RuntimeError(f"no port of {among[0]} to {among[-1]} is free")
