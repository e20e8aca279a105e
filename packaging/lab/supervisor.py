"""supervisor.py: the process that is the lab: it starts all other processes, is the network's switch, takes the guests' reports, switches
hosts for their controllers, and answers the command `lab` on a socket.

It has one thread, for a reason: a child is killed when the thread that started it ends (PR_SET_PDEATHSIG), and this way all of the lab
ends with the supervisor, however that ends.
"""
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import zlib

import guests as guest_images
import load
from capacity import Capacity, remove_left_over
from controllers import Controller
from guests import Consoles, Guest
from hosts import Host
from network import Network, Refused
from service import Broker, Service

BOOT_S = 60
REQUEST_MAX = 1 << 20
REQUEST_S = 5
LOCK, SOCKET, LOG = "lock", "lab.sock", "lab.log"


class Stop(Exception):
    """A signal, or the end of standard input."""


def lock(folder):
    """An open file that is locked as long as a lab with that folder runs; None where one runs."""
    file = open(folder / LOCK, "a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    except BlockingIOError:
        file.close()
        return None


def group_name(folder):
    return f"ballast-lab-{zlib.crc32(bytes(folder)):08x}"


class Supervisor:
    def __init__(self, settings, folder, cache):
        self.settings, self.folder = settings, folder
        self.network = Network(settings["network"])
        self.cpu_percent = settings["host_cpu"] or max(10, 80 * os.cpu_count() // settings["hosts"])
        self.cache = cache
        self.profile = None
        self.hosts, self.guests, self.controllers = [], [], []
        self.consoles = self.broker = self.service = self.capacity = self.listener = self.pipe = None

    # ---- up and down

    def up(self):
        self.network.open(self.settings["hosts"])
        self.capacity = Capacity(group_name(self.folder), self.cpu_percent)
        self.hosts = [Host(i, self.folder, self.network, self.capacity, self.cache, self.settings["cpu_controls"]) for i in range(1, self.settings["hosts"] + 1)]
        self.guests = [Guest(i, self.settings["guest_mem"], self.network) for i in range(1, self.settings["vms"] + 1)]
        self.controllers = [Controller(host, self.folder, self.network) for host in self.hosts]
        self.consoles = Consoles(self.guests, self.network.switch)
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{host.address} {host.name}\n" for host in self.hosts))
        os.mkfifo(self.folder / "chassis", 0o600)
        self.pipe = os.open(self.folder / "chassis", os.O_RDWR | os.O_NONBLOCK)
        image = guest_images.build(self.folder)
        for host in self.hosts:
            host.make_folder()
            shutil.copy(image, host.folder / "lib/guest.elf")
        for controller in self.controllers:
            controller.put_power(False)
            controller.start()
        self.broker = Broker(self.folder, self.network)
        self.broker.start()
        self.start_missing()
        self.service = Service(self.folder, self.network, self.settings["build"])
        self.service.configure(self.hosts, self.controllers, self.broker, self.cpu_percent,
                               self.settings["vms"] * self.settings["guest_mem"])
        if self.settings["service"]:
            self.service.start()
        else:
            self.service.problem = "not asked for (--no-service)"
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / SOCKET))
        self.listener.listen(16)

    def start_missing(self):
        """The hosts that are off, and the guests that run nowhere."""
        off = [host for host in self.hosts if not host.has_power]
        for index, host in enumerate(off):
            self.switch(host, True)
            if index == 0:
                host.wait()
                host.keep_capabilities()
        for host in off:
            host.wait()
        running, defined = set(), {}
        for host in self.hosts:
            running.update(host.virsh("list --name").split())
            defined.update(dict.fromkeys(host.virsh("list --all --name").split(), host))
        # A guest starts where it is defined, so that no guest is ever on two hosts.
        starts = {host.name: [] for host in self.hosts}
        for guest in self.guests:
            if guest.name not in running:
                starts[defined.get(guest.name, self.hosts[(guest.number - 1) % len(self.hosts)]).name].append(guest)
        for host in self.hosts:
            self.start_guests(host, starts[host.name])
        until = time.monotonic() + BOOT_S
        while silent := [guest.name for name in starts for guest in starts[name] if not guest.runs]:
            self.look(0.1)
            if time.monotonic() > until:
                raise RuntimeError(f"no report within {BOOT_S} s of {', '.join(silent)}")

    def start_guests(self, host, guests):
        commands = []
        for guest in guests:
            definition = self.folder / f"{guest.name}.xml"
            definition.write_text(guest.definition(self.network))
            commands += [f"define {definition}", f"start {guest.name}"]
        if commands:
            host.virsh(*commands)
            self.look()

    def switch(self, host, on):
        if on:
            host.power_on()
        else:
            host.power_off()
            self.consoles.drop(host.address)
        self.controllers[host.number - 1].put_power(host.has_power)

    def down(self):
        """Whatever is there; goes on where a part fails, and raises the first failure at the end."""
        problems = []

        def attempt(action):
            try:
                action()
            except (OSError, RuntimeError, subprocess.SubprocessError) as e:
                problems.append(e)

        for part in (self.service, self.broker, *self.controllers):
            if part:
                attempt(part.stop)
        for host in self.hosts:
            attempt(host.power_off)
        for part in (self.consoles, self.capacity, self.network):
            if part:
                attempt(part.close)
        if self.pipe is not None:
            os.close(self.pipe)
        if self.listener:
            self.listener.close()
        if problems:
            raise problems[0]

    # ---- what comes in

    def look(self, timeout=0.0):
        """What the guests have said."""
        ready, _, _ = select.select(self.consoles.readable(), [], [], timeout)
        self.consoles.poll(ready)

    def serve(self, until_input_ends):
        watched = [self.listener, self.pipe] + ([sys.stdin] if until_input_ends else [])
        while True:
            ready, _, _ = select.select([*watched, *self.consoles.readable()], [], [], 1)
            self.consoles.poll([r for r in ready if r not in watched])
            if sys.stdin in ready and not os.read(sys.stdin.fileno(), 4096):
                return
            if self.pipe in ready:
                for line in os.read(self.pipe, 65536).decode().splitlines():
                    self.obey(*line.split())
            if self.listener in ready and self.answer() == "down":
                return

    def obey(self, name, what, value):
        """A command of a controller."""
        host = self.hosts[int(name.removeprefix("hv")) - 1]
        print(f"{name}: {what} {value} by its controller", flush=True)
        try:
            if what == "reset":
                self.switch(host, False)
            self.switch(host, what == "reset" or what == "power" and value == "1")
        except (OSError, RuntimeError, subprocess.SubprocessError) as e:
            print(f"{name}: {e}", flush=True)
            self.controllers[host.number - 1].put_power(host.has_power)

    def answer(self):
        """One request: a line of JSON; gives what was asked for."""
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(REQUEST_S)
            try:
                with connection.makefile("rb") as file:
                    request = json.loads(file.readline(REQUEST_MAX))
                verb = request["do"]
                reply = {"up": self.up_again, "load": self.set_load, "status": self.status, "down": dict}[verb](**request.get("with", {}))
            except (Refused, RuntimeError, subprocess.SubprocessError) as e:
                verb, reply = None, {"error": str(e)}
            except (OSError, ValueError, KeyError, TypeError) as e:
                verb, reply = None, {"error": f"not understood: {e}"}
            try:
                connection.sendall(json.dumps(reply).encode() + b"\n")
            except OSError:
                pass  # the asker has gone
        return verb

    # ---- requests

    def up_again(self, hosts, vms):
        if (hosts, vms) != (len(self.hosts), len(self.guests)):
            raise Refused(f"it runs already, with {len(self.hosts)} hosts and {len(self.guests)} guests; `lab down` ends it")
        self.start_missing()
        return self.status()

    def set_load(self, name, text):
        entries = load.parse(text, name)
        self.look()
        by_address = {host.address: host.number for host in self.hosts}
        load.apply(entries, self.guests, {guest.name: by_address.get(guest.address) for guest in self.guests}, self.cpu_percent)
        self.profile = name
        return self.status()

    def status(self):
        names = {host.address: host.name for host in self.hosts}
        return {
            "network": str(self.network.network), "folder": str(self.folder), "profile": self.profile,
            "capacity": {"cpu_percent": self.cpu_percent, "problem": self.capacity.problem},
            "broker": self.broker.url,
            "service": {"configuration": str(self.service.configuration), "runs": self.service.runs, "problem": self.service.problem,
                        "ballast": self.service.ballast, "socket": str(self.service.socket), "log": str(self.service.log), "token": self.service.token,
                        "dashboard": f"http://127.0.0.1:{self.service.port}/" if self.service.port else None},
            "hosts": [{"name": host.name, "uri": host.uri, "uuid": host.uuid, "power": host.has_power, "answers": host.answers(),
                       "pid": host.first_pid, "libvirtd_pid": host.libvirtd_pid, "files": str(host.folder),
                       "controller": {"address": controller.address, "username": "admin", "password": controller.password}}
                      for host, controller in zip(self.hosts, self.controllers)],
            "guests": [{"name": guest.name, "host": names.get(guest.address) if guest.runs else None, "up_s": guest.up_s,
                        "boot": guest.boot, "restarts": guest.restarts, "wanted": guest.wanted, "load": guest.load}
                       for guest in self.guests],
        }


def clean_up(folder):
    """What a lab leaves behind: its files; and where its supervisor was killed, its control groups."""
    remove_left_over(group_name(folder))
    shutil.rmtree(folder, ignore_errors=True)


def run(settings, folder, cache, held, until_input_ends, ready):
    """Runs a lab to its end. held: the lock of the folder; ready: called as soon as it can be asked."""
    def stop(number, _):
        raise Stop(signal.Signals(number).name)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGHUP, stop)
    lab = Supervisor(settings, folder, cache)
    try:
        lab.up()
        ready(lab)
        lab.serve(until_input_ends)
    except Stop:
        pass
    finally:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        try:
            lab.down()
        finally:
            clean_up(folder)
            held.close()
