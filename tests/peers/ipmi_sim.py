"""ipmi_sim.py: management controllers for a test: OpenIPMI's simulator, one process each, on loopback.

    with Controllers(["esx1", "esx2"], on=True, hook=switched) as lab:
        c = lab["esx1"]
        c.address, c.username, c.password, c.password_file      # for `power: hosts:`; an admin
        c.users["reader"]                                        # (name, password) of the privilege: admin, operator, reader
        c.is_on()                                                # the true state of the chassis, not the controller's answer
        c.commands()                                             # [(seconds since the epoch, "power" or "shutdown", value), ...]
        c.say(b"login: ")                                        # on the host's serial console
        c.stop(), c.start()                                      # a controller that fails and returns

hook(c, what, value) is called, in a thread of the lab, after each accepted command, and at the end of a soft shutdown ("done", 0):
there a test turns its simulated host on or off. Files in c.folder hold the state of a chassis; a test may write them too:
c.put("power", 0).

    power    0 or 1: the true state
    claims   0 or 1: a false state that the controller reports instead
    stuck    power commands are accepted without effect
    busy     seconds until the answer to a command that changes the state
    soft     seconds that a soft shutdown takes, or "never": the operating system ignores it

It needs the workarounds "opensesspriv" (ipmi_sim answers with privilege 0 in the Open Session Response) and, for the console,
"solchannelsupport" (asked for a channel's payloads, 2.0.33 dies of SIGSEGV) and "solpayloadsize". Cipher suites 0 to 3. It grants every
user the requested privilege, so the reader has the rights of an admin unless the session requests less. All files are deleted at
the end. A program that is not installed is a Skip.
"""
import argparse
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import ports
from machine import hardware_uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import SKIPPED, Skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
START_S = 60
WORKAROUNDS = ("opensesspriv", "solchannelsupport", "solpayloadsize")  # what ipmi_sim needs of FreeIPMI


def need(*programs):
    """The paths of the programs; Skip where one is missing."""
    found = [shutil.which(p, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") for p in programs]
    if None in found:
        raise Skip(f"{programs[found.index(None)]} is missing: apt install openipmi ipmitool freeipmi-tools")
    return found


# Runs a command until it ends or our standard input does, which is when the test ends, however that comes about.
GUARD = 'exec 3<&0; "$@" </dev/null & child=$!; (cat <&3 >/dev/null; kill -9 $child 2>/dev/null) & exec 3<&-; wait $child'


def greeting():
    """Get Channel Authentication Capabilities outside of a session (IPMI 2.0, 22.13): any controller answers it."""
    body = bytes([0x20, 0x06 << 2]), bytes([0x81, 0x00, 0x38, 0x8e, 0x04])
    message = b"".join(part + bytes([-sum(part) & 0xff]) for part in body)
    return b"\x06\x00\xff\x07" + struct.pack("<BIIB", 0, 0, 0, len(message)) + message


class Console:
    """The host's end of its serial line: a TCP socket to which ipmi_sim connects, and keeps connecting."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.peer = None
        self.heard = b""
        self.changed = threading.Condition()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                peer, _ = self.listener.accept()
            except OSError:
                return
            with self.changed:
                self.peer = peer
                self.changed.notify_all()
            try:
                while data := peer.recv(4096):
                    self.heard += data
            except OSError:
                pass
            with self.changed:
                if self.peer is peer:
                    self.peer = None
            peer.close()

    def say(self, data, timeout=START_S):
        with self.changed:
            if not self.changed.wait_for(lambda: self.peer, timeout):
                raise TimeoutError("ipmi_sim does not take the serial line")
            peer = self.peer
        peer.sendall(data)

    def close(self):
        # shutdown() wakes accept() and recv(), close() alone does not
        for s in (self.listener, self.peer):
            if s:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()


class Controller:
    """One controller and its chassis; made by Controllers."""

    def __init__(self, name, number, folder, on, k_g):
        self.name, self.folder, self.k_g = name, folder, k_g
        self.users = {kind: (kind, f"s3cret-{kind}-{number}"[:16]) for kind in ("admin", "operator", "reader")}
        self.username, self.password = self.users["admin"]
        self.console = Console()
        self.process = None
        self.port = ports.take()
        folder.mkdir()
        self.password_file = str(folder / "password")
        with open(os.open(self.password_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(self.password + "\n")
        self.guid = hardware_uuid(name).replace("-", "")  # of the machine, 32 digits; takes effect with start()
        self.put("power", int(on))
        self.put("soft", 0)
        (folder / "commands").touch()

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def put(self, file, value):
        """Sets one of the chassis' files; None removes it."""
        path = self.folder / file
        if value is None:
            path.unlink(missing_ok=True)
            return
        fresh = path.with_suffix(".test")
        fresh.write_text(f"{value}\n")
        fresh.replace(path)

    def is_on(self):
        return (self.folder / "power").read_text().strip() == "1"

    def commands(self):
        lines = [line.split() for line in (self.folder / "commands").read_text().splitlines(keepends=True)
                 if line.endswith("\n")]
        return [(float(when), what, int(value)) for when, what, value in lines]

    def say(self, data):
        self.console.say(data)

    def _configure(self):
        kinds = {"admin": "admin", "operator": "operator", "reader": "user"}
        auths = "none md2 md5 straight"
        users = "".join(f'  user {i} true "{name}" "{password}" {kinds[kind]} 10 {auths}\n'
                        for i, (kind, (name, password)) in enumerate(self.users.items(), 2))
        (self.folder / "lan.conf").write_text(
            f'name "{self.folder.name}"\nset_working_mc 0x20\n  startlan 1\n    addr 127.0.0.1 {self.port}\n'
            + "    priv_limit admin\n"
            + "".join(f"    allowed_auths_{level} {auths}\n" for level in ("callback", "user", "operator", "admin"))
            + f"    guid {self.guid}\n"
            + (f'    bmc_key "{self.k_g}"\n' if self.k_g else "")
            + f'  endlan\n  chassis_control "{HERE / "chassis.sh"} {self.folder}"\n'
            f'  sol "tcp:127.0.0.1:{self.console.port}" 115200\n  user 1 false "" "" user 10 {auths}\n{users}')
        (self.folder / "sim.emu").write_text(
            "mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\n"
            "sel_enable 0x20 1000 0x0a\nmc_enable 0x20\n")

    def begin(self):
        """Starts the process without waiting for it."""
        program, = need("ipmi_sim")
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        self._configure()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                ["sh", "-c", GUARD, "sh", program, "-n", "-c", self.folder / "lan.conf", "-f", self.folder / "sim.emu", "-s",
                 self.folder / "state"], stdin=subprocess.PIPE, stdout=log, stderr=log)

    def answers(self, timeout):
        """Whether it answers within the time."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", self.port))
            s.settimeout(0.1)
            deadline = time.monotonic() + timeout
            while time.monotonic() < deadline and self.process.poll() is None:
                try:
                    s.send(greeting())
                    if s.recv(1024):
                        return True
                except (TimeoutError, ConnectionRefusedError):
                    time.sleep(0.02)
        return False

    def start(self):
        """Starts it, on the port that it had before."""
        self.begin()
        self.wait()

    def wait(self):
        """Until it answers, after begin()."""
        if not self.answers(START_S):
            self.stop()
            raise RuntimeError(f"ipmi_sim for {self.name} did not come up: {(self.folder / 'log').read_text()}")

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(timeout=60)
            self.process = None

    def close(self):
        self.stop()
        self.console.close()


class Controllers:
    """Controllers that run, by name."""

    def __init__(self, names, on=True, hook=None, k_g=None, machines=None):
        """machines: the ids of the hosts that they belong to, by name; else the names are ids."""
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-ipmi-")
        self.hook = hook
        self.ended = threading.Event()
        self.all = {name: Controller(name, i, pathlib.Path(self.dir.name) / f"c{i}", on, k_g)
                    for i, name in enumerate(names, 1)}
        try:
            for c in self:
                c.guid = hardware_uuid((machines or {}).get(c.name, c.name)).replace("-", "")
                c.begin()
            for c in self:
                c.wait()
        except BaseException:
            self.close()
            raise
        self.watcher = threading.Thread(target=self._watch, daemon=True) if hook else None
        if self.watcher:
            self.watcher.start()

    def _watch(self):
        seen = {c.name: 0 for c in self}
        while not self.ended.wait(0.02):
            for c in self:
                new = c.commands()[seen[c.name]:]
                seen[c.name] += len(new)
                for _, what, value in new:
                    self.hook(c, what, value)

    def __getitem__(self, name):
        return self.all[name]

    def __iter__(self):
        return iter(self.all.values())

    def close(self):
        self.ended.set()
        for c in self:
            c.close()
        self.dir.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def serve():
    parser = argparse.ArgumentParser(description="Runs controllers until Ctrl-C.")
    parser.add_argument("--serve", action="store_true", required=True)
    parser.add_argument("--folder", metavar="FOLDER", help="source.folder of a simulated cluster: switches its "
                        "hosts with these ids")
    parser.add_argument("names", nargs="*", default=["esx1", "esx2"], metavar="HOST")
    arguments = parser.parse_args()
    names = arguments.names

    def switch(c, value):
        if not arguments.folder:
            return
        file = pathlib.Path(arguments.folder) / "power" / c.name
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_suffix(".new")
        new.write_text(f"{value}\n")
        new.replace(file)

    def boot(c):
        """For a while, so that whoever opens the console hears it."""
        for i in range(20):
            c.say(f"\r\n{c.name} boots: {i}\r\n".encode())
            time.sleep(0.5)

    def say(c, what, value):
        print(f"{c.name}: {what} {value}", flush=True)
        if what == "shutdown":
            switch(c, 0)
        elif what == "power":
            switch(c, value)
        if (what, value) == ("power", 1):
            threading.Thread(target=boot, args=(c,), daemon=True).start()

    with Controllers(names, hook=say) as lab:
        for c in lab if arguments.folder else ():
            file = pathlib.Path(arguments.folder) / "power" / c.name
            if file.exists():
                c.put("power", int(file.read_text()))
        print("power:\n  hosts:")
        for c in lab:
            print(f"    {c.name}:\n      ipmi:\n        address: {c.address}\n        username: {c.username}\n"
                  f"        password_file: {c.password_file}\n        workarounds: [{', '.join(WORKAROUNDS)}]"
                  f"\n        console: true")
        c = next(iter(lab))
        print(f"# e.g.  ipmitool -I lanplus -C 3 -H 127.0.0.1 -p {c.port} -U {c.username} -P {c.password} chassis status",
              flush=True)
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    try:
        serve()
    except Skip as e:
        print(f"SKIPPED: {e}", file=sys.stderr)
        sys.exit(SKIPPED)
