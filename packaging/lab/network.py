"""network.py: the lab's network: a switch in the supervisor's own network namespace, and one cable to the machine.

    .1 to .64       the hosts, hv1 to hv64
    .101 to .164    their controllers
    .253            the switch: the broker, and the serial lines of the guests
    .254            this machine, where ballastd runs
"""
import ipaddress
import json
import os
import socket

from namespaces import new_network, run

HOSTS_MAX = 64
CONTROLLER_FIRST = 100
SWITCH, MACHINE = 253, 254


class Refused(Exception):
    """The lab cannot be had this way; the message is for the user."""


class Network:
    def __init__(self, text):
        try:
            self.network = ipaddress.IPv4Network(text)
        except ValueError as e:
            raise Refused(f"--network {text}: {e}") from e
        if self.network.prefixlen != 24:
            raise Refused(f"--network {text}: must be a /24, such as 10.99.0.0/24")
        self.link = f"lab{int(self.network.network_address):08x}"  # an interface has at most 15 characters
        self.outside = None  # the machine's namespace
        self.linked = False  # the cable to the machine is this lab's

    def address(self, number):
        return str(self.network.network_address + number)

    def host(self, number):
        return self.address(number)

    def controller(self, number):
        return self.address(CONTROLLER_FIRST + number)

    @property
    def switch(self):
        return self.address(SWITCH)

    @property
    def machine(self):
        return self.address(MACHINE)

    def check_free(self):
        """Refused where the machine already reaches an address of the range by a route of its own."""
        for route in json.loads(run("ip", "-4", "-json", "route", "show", "table", "all") or "[]"):
            destination = route.get("dst", "default")
            if destination == "default":
                continue
            if ipaddress.IPv4Network(destination, strict=False).overlaps(self.network):
                raise Refused(f"the network {self.network} is in use here: {destination} on {route.get('dev', '?')}; choose another "
                              "with --network")

    def open(self, controllers):
        """Makes this process the switch. All of it ends with the last process in here."""
        self.check_free()
        self.outside = new_network()
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "br0", "type", "bridge")
        run("ip", "link", "set", "br0", "up")
        for number in (SWITCH, *range(CONTROLLER_FIRST + 1, CONTROLLER_FIRST + controllers + 1)):
            run("ip", "addr", "add", f"{self.address(number)}/24", "dev", "br0")
        self._outside("link", "add", self.link, "type", "veth", "peer", "name", "uplink", "netns", os.getpid())
        self.linked = True
        run("ip", "link", "set", "uplink", "master", "br0", "up")
        self._outside("addr", "add", f"{self.machine}/24", "dev", self.link)
        self._outside("link", "set", self.link, "up")

    def _outside(self, *words):
        run("ip", *words, network=self.outside)

    def close(self):
        if self.outside is not None:
            if self.linked:
                try:
                    self._outside("link", "del", self.link)
                except RuntimeError:
                    pass  # it has gone
            os.close(self.outside)
            self.outside = None

    def plug_in(self, name, mac, process):
        """A cable from the switch to eth0 of the process's network. The MAC is fixed: a host that comes back with another one cannot
        be reached until the others forget the old one."""
        run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "address", mac, "netns", process)
        run("ip", "link", "set", name, "master", "br0", "up")

    def unplug(self, name):
        try:
            run("ip", "link", "del", name)
        except RuntimeError:
            pass  # it has gone with the host


def accepts(address, port, timeout=0.5):
    """Whether a server listens there; a host without power answers nothing at all."""
    try:
        socket.create_connection((address, port), timeout).close()
        return True
    except OSError:
        return False
