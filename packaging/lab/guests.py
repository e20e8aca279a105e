"""guests.py: the guests of the lab (guest.c): their image, their definitions, and the serial lines that set their load.

A guest's serial line is a TCP connection of its QEMU to the switch. During a live migration there are two; the one on which the guest
reports is that of the host it runs on.
"""
import pathlib
import re
import socket
import time

from namespaces import run

HERE = pathlib.Path(__file__).resolve().parent
CONSOLE_PORT = 4000
QUIET_S = 10  # a guest reports once a second; later it counts as not running
LINE_MAX = 4096
STATISTICS_S = 5  # how often libvirt asks a guest how much memory it uses
REPORT = re.compile(r"guest (\S+) boot=(\d+) up=(\d+) cpu=(\d+) mem=(\d+) dirty=(\d+)$")

DEFINITION = """\
<domain type='qemu'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit='MiB'>{mem_mib}</memory>
  <vcpu>1</vcpu>
  <os>
    <type arch='x86_64' machine='pc'>hvm</type>
    <kernel>/var/lib/libvirt/guest.elf</kernel>
    <cmdline>name={name}</cmdline>
  </os>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='usb' model='none'/>
    <serial type='tcp'>
      <source mode='connect' host='{switch}' service='{port}'/>
      <protocol type='raw'/>
    </serial>
    <memballoon model='virtio'>
      <stats period='{period_s}'/>
    </memballoon>
  </devices>
</domain>
"""


def build(folder):
    """Builds the guest's image; a freestanding program, so that the compiler alone is enough."""
    image = folder / "guest.elf"
    run("gcc", "-m32", "-O1", "-ffreestanding", "-fno-pic", "-fno-stack-protector", "-fcf-protection=none", "-mno-sse", "-nostdlib",
        "-static", "-no-pie", "-Wl,-melf_i386,-Ttext=0x100000,--build-id=none", HERE / "boot.S", HERE / "guest.c",
        HERE / "guest_balloon.c", "-o", image)
    return image


class Guest:
    def __init__(self, number, mem_mib, network):
        self.number, self.name, self.mem_mib = number, f"vm{number}", mem_mib
        self.uuid = f"{number:08x}-0000-4000-8001-{int(network.network.network_address):012x}"
        self.wanted = {"cpu": 0, "mem": 0, "dirty": 0}  # percent of a CPU, MiB, KiB/s
        self.load = None  # what it says that it does
        self.boot = None
        self.up_s = 0
        self.restarts = 0
        self.address = None  # of the host it has last reported from
        self.line = None  # the connection that it has last reported on
        self.line_number = 0
        self.doubt = None  # the boot of the last report, where it is another one
        self.seen_s = float("-inf")

    def definition(self, network):
        return DEFINITION.format(name=self.name, uuid=self.uuid, mem_mib=self.mem_mib, switch=network.switch, port=CONSOLE_PORT,
                                 period_s=STATISTICS_S)

    @property
    def runs(self):
        return self.line is not None and time.monotonic() - self.seen_s < QUIET_S

    def take_report(self, line, line_number, boot, up_s, load):
        """A restart shows by another boot, in two reports: a migration may garble one. After it the last words from the old host may come
        after the first from the new one, whose line is younger."""
        if boot == self.boot and line_number < self.line_number and self.line is not None:
            return
        if self.boot is not None and boot != self.boot:
            doubt, self.doubt = self.doubt, boot
            if doubt != boot:
                return
            self.restarts += 1
        self.doubt = None
        self.line, self.line_number, self.address = line, line_number, line.getpeername()[0]
        self.boot, self.up_s, self.load, self.seen_s = boot, up_s, load, time.monotonic()


class Consoles:
    """The other ends of the serial lines. `poll` is called with what is readable."""

    def __init__(self, guests, address):
        self.guests = {guest.name: guest for guest in guests}
        self.listener = socket.create_server((address, CONSOLE_PORT), backlog=256)
        self.lines = {}  # connection: what has come of a line
        self.numbers = {}  # connection: the younger, the higher
        self.last_number = 0

    def readable(self):
        return [self.listener, *self.lines]

    def poll(self, ready):
        for connection in ready:
            if connection is self.listener:
                accepted, _ = self.listener.accept()
                accepted.setblocking(False)
                self.lines[accepted] = b""
                self.last_number += 1
                self.numbers[accepted] = self.last_number
            elif connection in self.lines:
                self._read(connection)

    def drop(self, address):
        """The connections of a host that has lost its power: their ends there will not say that they are gone."""
        for connection in list(self.lines):
            if connection.getpeername()[0] == address:
                self._close(connection)

    def _close(self, connection):
        del self.lines[connection], self.numbers[connection]
        connection.close()
        for guest in self.guests.values():
            if guest.line is connection:
                guest.line = None

    def _read(self, connection):
        try:
            data = connection.recv(LINE_MAX)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(connection)
            return
        *lines, rest = (self.lines[connection] + data).split(b"\n")
        self.lines[connection] = rest[-LINE_MAX:]
        for line in lines:
            self._take(connection, line.decode(errors="replace").strip())

    def _take(self, connection, line):
        match = REPORT.search(line)
        guest = match and self.guests.get(match[1])
        if not guest:
            return
        boot, up_s, cpu, mem, dirty = map(int, match.groups()[1:])
        try:
            guest.take_report(connection, self.numbers[connection], boot, up_s, {"cpu": cpu, "mem": mem, "dirty": dirty})
            if guest.load != guest.wanted:  # until the guest says that it has understood
                connection.send(" ".join(f"{key}={value}" for key, value in guest.wanted.items()).encode() + b"\n")
        except OSError:
            pass  # the connection has ended; the next recv says so

    def close(self):
        for connection in (self.listener, *self.lines):
            connection.close()
