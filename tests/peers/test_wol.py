#!/usr/bin/env python3
"""Wake-on-LAN: the packets on the wire, recorded by tcpdump and compared with those of wakeonlan and etherwake; and through a
relay with a real sshd."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from probe import PowerProbe
from segments import Segments, need
from wol_listener import WolListener

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import run_tests  # noqa: E402

MAC = "02:00:00:63:00:07"
SECUREON = "de:ad:be:ef:00:01"
EVERYBODY = b"\xff" * 6
WAKING = "ether proto 0x0842 or udp port 9 or udp port 4009"


def bytes_of(mac):
    return bytes.fromhex(mac.replace(":", ""))


def magic(secureon=None):
    return EVERYBODY + bytes_of(MAC) * 16 + (bytes_of(secureon) if secureon else b"")


def udp_of(frame):
    """(address, port, what is in it) of an IPv4 packet."""
    assert frame[12:14] == b"\x08\x00" and frame[23] == 17, frame
    ip = frame[14:]
    udp = ip[4 * (ip[0] & 15):]
    return socket.inet_ntoa(ip[16:20]), int.from_bytes(udp[2:4], "big"), udp[8:int.from_bytes(udp[4:6], "big")]


def check_raw(frames, secureon=None, n=3):
    assert len(frames) == n, [f.hex() for f in frames]
    for f in frames:
        assert f[:6] == EVERYBODY and f[12:14] == b"\x08\x42" and f[14:] == magic(secureon), f.hex()


def check_udp(frames, address, port=9, secureon=None, n=3):
    assert len(frames) == n, [f.hex() for f in frames]
    for f in frames:
        assert f[:6] == EVERYBODY and udp_of(f) == (address, port, magic(secureon)), f.hex()


class Lab(Segments):
    """The service, a relay in the sleepers' segment, and a sleeper there; the service does not reach the latter."""

    def __init__(self):
        super().__init__("service", "relay", "sleeper")
        try:
            self.dir = tempfile.TemporaryDirectory(prefix="ballast-wol-")
            self.wire("service", "eth0", "10.97.1.1/24", "relay", "eth0", "10.97.1.2/24")
            self.wire("relay", "eth1", "10.97.2.2/24", "sleeper", "eth0", "10.97.2.7/24")
        except BaseException:
            self.close()
            raise

    def close(self):
        super().close()
        shutil.rmtree(self.dir.name, ignore_errors=True)

    def wake(self, before=(), command=("wake",), timeout_s=60, **config):
        """From the service; gives the answer."""
        with Inside(self, before, name="esx7", mac=MAC, timeout_s=timeout_s, **config) as p:
            return p(*command)


class Inside(PowerProbe):
    """The probe, in the service's namespaces."""

    def __init__(self, lab, before, **config):
        self.lab, self.before = lab, before
        super().__init__("wol", **config)

    def command(self):
        return self.lab.inside("service", *self.before, *super().command())


def refused(answer, error, *words):
    assert not answer["ok"] and answer["error"] == error, answer
    for word in ("esx7", "Wake-on-LAN", *words):
        assert word in answer["text"], (word, answer)
    assert SECUREON not in answer["text"], answer


# ---- from the service ----

def test_direct(lab):
    """An interface: frames. An address: UDP. Both: both. SecureOn at the end of each."""
    with lab.listen("relay", "eth0", WAKING) as ear:
        for secureon in (None, SECUREON):
            assert lab.wake(interface="eth0", secureon=secureon)["ok"]
            check_raw(ear.frames(3), secureon)
            assert lab.wake(broadcast="10.97.1.255", secureon=secureon)["ok"]
            check_udp(ear.frames(3), "10.97.1.255", secureon=secureon)
        assert lab.wake(broadcast="10.97.1.255", port=4009)["ok"]
        check_udp(ear.frames(3), "10.97.1.255", port=4009)
        assert lab.wake(interface="eth0", broadcast="255.255.255.255")["ok"]
        both = ear.frames(6)
        check_raw([f for f in both if f[12:14] == b"\x08\x42"])
        check_udp([f for f in both if f[12:14] == b"\x08\x00"], "255.255.255.255")


def test_everybody(lab):
    """Neither: to everybody on the network of the default route, which is said where there is none."""
    refused(lab.wake(), "ENETUNREACH", "255.255.255.255", "`broadcast`")
    lab.run("service", "ip", "route", "add", "default", "via", "10.97.1.2")
    with lab.listen("relay", "eth0", WAKING) as ear:
        assert lab.wake()["ok"]
        check_udp(ear.frames(3), "255.255.255.255")
    lab.run("service", "ip", "route", "del", "default")


def test_as_others_do(lab):
    """The same bytes as of the programs that admins use."""
    need(wakeonlan="wakeonlan", etherwake="etherwake")
    with lab.listen("relay", "eth0", WAKING) as ear:
        lab.run("service", "wakeonlan", "-i", "10.97.1.255", MAC)
        check_udp(ear.frames(1), "10.97.1.255", n=1)
        lab.run("service", "etherwake", "-b", "-i", "eth0", MAC)
        check_raw(ear.frames(1), n=1)
        lab.run("service", "etherwake", "-b", "-i", "eth0", "-p", SECUREON, MAC)
        check_raw(ear.frames(1), SECUREON, n=1)


def test_without_the_right(lab):
    """Without CAP_NET_RAW: said plainly; a packet of the other kind goes out all the same."""
    without = ("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw")
    need(setpriv="util-linux")
    refused(lab.wake(before=without, interface="eth0"), "EACCES", "CAP_NET_RAW", "`broadcast`")
    with lab.listen("relay", "eth0", WAKING) as ear:
        assert lab.wake(before=without, interface="eth0", broadcast="10.97.1.255")["ok"]
        check_udp(ear.frames(3), "10.97.1.255")
    refused(lab.wake(interface="eth9"), "ENODEV", "eth9")
    lab.run("service", "ip", "link", "set", "eth0", "down")
    refused(lab.wake(interface="eth0"), "ENETDOWN", "eth0")
    lab.run("service", "ip", "link", "set", "eth0", "up")


def test_what_check_config_says(lab):
    """What is warned about wakes nobody that sleeps, and what is not warned about arrives: a real packet in each case."""
    lab.run("service", "ip", "link", "add", "dummy0", "type", "veth", "peer", "name", "dummy1")
    lab.run("service", "ip", "addr", "add", "10.97.9.1/24", "broadcast", "+", "dev", "dummy0")
    for end in ("dummy0", "dummy1"):
        lab.run("service", "ip", "link", "set", end, "up")
    lab.run("service", "ip", "neigh", "flush", "all")
    arrives = [{"broadcast": "10.97.1.255"}, {"interface": "eth0"}, {"interface": "eth0", "broadcast": "10.97.1.255"},
               {"broadcast": "10.97.1.255/24"}]
    lost = [("no broadcast address: that of interface eth0 is 10.97.1.255", {"broadcast": "10.97.1.77"}),  # sleeps: no ARP
            ("lo cannot carry", {"interface": "lo"}),
            ("said to be at dummy0", {"interface": "dummy0", "broadcast": "10.97.1.255"}),
            ("has no interface eth7", {"interface": "eth7"}),
            ("an address of this machine itself", {"broadcast": "127.0.0.1"}),
            ("no route", {"broadcast": "10.98.0.255"})]
    with lab.listen("relay", "eth0", WAKING) as ear:
        for config in arrives:
            answer = lab.wake(command=("network",), **config)
            assert answer["ok"], (config, answer)
            assert lab.wake(**config)["ok"]
            assert len(ear.frames(3)) >= 3, config
        for words, config in lost:
            refused(lab.wake(command=("network",), **config), "EINVAL", words)
            lab.wake(timeout_s=5, **config)
            assert not ear.frames(1, within_s=0.3), config
        lab.run("service", "ip", "route", "del", "broadcast", "10.97.1.255", "dev", "eth0", "table", "local")
        lab.run("service", "ip", "route", "add", "10.97.1.255/32", "dev", "dummy0")  # leads elsewhere
        refused(lab.wake(command=("network",), broadcast="10.97.1.255"), "EINVAL", "leave by interface dummy0")
        lab.wake(broadcast="10.97.1.255")
        assert not ear.frames(1, within_s=0.3)
        lab.run("service", "ip", "route", "add", "broadcast", "10.97.1.255", "dev", "eth0", "table", "local", "src", "10.97.1.1")
    lab.run("service", "ip", "link", "del", "dummy0")


def test_declared_network(lab):
    """The broadcast address of a network behind a router: doubted, unless the network is declared; it arrives where the router
    passes on broadcasts."""
    lab.run("service", "ip", "route", "add", "10.97.2.0/24", "via", "10.97.1.2")
    try:
        refused(lab.wake(command=("network",), broadcast="10.97.2.255"), "ENETUNREACH", "few do", "10.97.2.255/24")
        assert lab.wake(command=("network",), broadcast="10.97.2.255/24")["ok"]
        refused(lab.wake(command=("network",), broadcast="10.97.2.254/24"), "EINVAL", "its network of 24 bits")
        lab.run("relay", "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; "
                "for f in all eth0 eth1; do echo 1 >/proc/sys/net/ipv4/conf/$f/bc_forwarding; done")
        with lab.listen("sleeper", "eth0", WAKING) as ear:
            assert lab.wake(broadcast="10.97.2.255/24")["ok"]
            check_udp(ear.frames(3), "10.97.2.255")
    finally:
        lab.run("service", "ip", "route", "del", "10.97.2.0/24")


def test_listener(_):
    """The sleepers of other tests: each wakes by its own packet, and, where it has a password, by that."""
    woken = []
    other, guarded, last = "02:00:00:63:00:08", "02:00:00:63:00:09", "02:00:00:63:00:ff"
    with WolListener({MAC: woken.append, other: woken.append, guarded: (woken.append, SECUREON), last: woken.append}) as ears:
        rounds = []

        def wake(mac, **config):
            with PowerProbe("wol", name="esx7", broadcast=ears.broadcast, port=ears.port, mac=mac, **config) as p:
                assert p("wake")["ok"]
            with PowerProbe("wol", name="last", broadcast=ears.broadcast, port=ears.port, mac=last) as p:
                assert p("wake")["ok"]  # what was sent before it has been heard when this is
            rounds.append(mac)
            until = time.monotonic() + 60
            while [m for _, m in ears.heard].count(last) < 3 * len(rounds):
                assert time.monotonic() < until, woken
                time.sleep(0.02)
            seen, woken[:] = set(woken) - {last}, []
            return seen

        assert wake(mac=MAC) == {MAC}
        assert wake(mac=MAC, secureon=SECUREON) == {MAC}
        assert wake(mac=guarded) == set()
        assert wake(mac=guarded, secureon="de:ad:be:ef:00:02") == set()
        assert wake(mac=guarded, secureon=SECUREON) == {guarded}
        assert wake(mac="02:00:00:63:00:0a") == set()


# ---- through the relay ----

class Relay:
    """sshd on the relay, with its own key, and a client that knows it."""

    def __init__(self, lab):
        need(sshd="openssh-server", ssh="openssh-client", python3="python3", perl="perl")
        self.lab, self.dir = lab, pathlib.Path(lab.dir.name)
        self.dir.chmod(0o755)
        self.key, self.server = self.dir / "client_key", None
        for name in ("client_key", "stranger_key", "host_key", "other_host_key"):
            if not (self.dir / name).exists():
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", self.dir / name], check=True,
                               timeout=60)
        self.allow("")
        self.know("host_key")
        config = self.dir / "ssh_config"
        config.write_text(f"Host *\n  StrictHostKeyChecking yes\n  UserKnownHostsFile {self.dir}/known_hosts\n"
                          "  GlobalKnownHostsFile none\n")
        lab.run("service", "mount", "--bind", config, "/etc/ssh/ssh_config")
        home = pathlib.Path("~/.ssh").expanduser()
        if home.is_dir():  # nor anything of whoever runs the test
            (self.dir / "empty").mkdir(mode=0o700, exist_ok=True)
            lab.run("service", "mount", "--bind", self.dir / "empty", home)
        lab.run("relay", "mount", "-t", "tmpfs", "tmpfs", pathlib.Path.home())  # a shell's own PATH
        lab.run("relay", "mount", "-t", "tmpfs", "tmpfs", "/run")  # sshd wants /run/sshd
        lab.run("relay", "mkdir", "/run/sshd")

    def allow(self, options):
        public = (self.dir / "client_key.pub").read_text()
        (self.dir / "authorized_keys").write_text(f"{options} {public}".lstrip())

    def know(self, key):
        public = (self.dir / f"{key}.pub").read_text().split()
        hosts = ("10.97.1.2", "[10.97.1.2]:2222")
        (self.dir / "known_hosts").write_text("".join(f"{h} {public[0]} {public[1]}\n" for h in hosts))

    def start(self, port=22, path=None, before=()):
        self.stop()
        config = self.dir / "sshd_config"
        config.write_text(f"Port {port}\nListenAddress 10.97.1.2\nHostKey {self.dir}/host_key\nStrictModes no\nUsePAM no\n"
                          f"AuthorizedKeysFile {self.dir}/authorized_keys\nPasswordAuthentication no\n"
                          f"KbdInteractiveAuthentication no\nPermitRootLogin yes\nPidFile none\n" +
                          (f"SetEnv PATH={path}\n" if path else ""))
        self.log = open(self.dir / "sshd.log", "ab")
        self.server = self.lab.start("relay", *before, shutil.which("sshd", path="/usr/sbin:/sbin"), "-D", "-e", "-f", config,
                                     stderr=self.log)
        until = time.monotonic() + 60
        while "LISTEN" not in self.lab.run("relay", "ss", "-Hltn", f"sport = :{port}"):
            assert time.monotonic() < until and self.server.poll() is None, (self.dir / "sshd.log").read_text()
            time.sleep(0.05)

    def stop(self):
        if self.server:
            self.server.kill()
            self.server.wait(timeout=60)
            self.log.close()
            self.server = None

    def wake(self, relay="root@10.97.1.2", key="client_key", **more):
        return self.lab.wake(relay=relay, relay_key=self.dir / key, **more)


def test_relay(lab):
    """UDP and frames reach a segment that the service does not reach; by python3 and by perl; SecureOn; another port."""
    relay = Relay(lab)
    tools = relay.dir / "tools"
    tools.mkdir()
    for program in ("sh", "perl"):
        (tools / program).symlink_to(shutil.which(program, path="/usr/bin:/bin"))
    try:
        for path in (None, tools):
            relay.start(path=path)
            with lab.listen("sleeper", "eth0", WAKING) as ear:
                for secureon in (None, SECUREON):
                    answer = relay.wake(broadcast="10.97.2.255", secureon=secureon)
                    assert answer["ok"], (answer, (relay.dir / "sshd.log").read_text())
                    check_udp(ear.frames(3), "10.97.2.255", secureon=secureon)
                    answer = relay.wake(interface="eth1", secureon=secureon)
                    assert answer["ok"], answer
                    check_raw(ear.frames(3), secureon)
                assert relay.wake(interface="eth1", broadcast="255.255.255.255", port=4009)["ok"]
                both = ear.frames(6)
                check_raw([f for f in both if f[12:14] == b"\x08\x42"])
                check_udp([f for f in both if f[12:14] == b"\x08\x00"], "255.255.255.255", port=4009)
        relay.start(port=2222)
        with lab.listen("sleeper", "eth0", WAKING) as ear:
            assert relay.wake(relay="root@10.97.1.2:2222", broadcast="10.97.2.255")["ok"]
            check_udp(ear.frames(3), "10.97.2.255")
            refused(relay.wake(broadcast="10.97.2.255"), "ECONNREFUSED", "10.97.1.2", "not reached by ssh")
            assert not ear.frames(1, within_s=0.5)
        (tools / "perl").unlink()
        relay.start(path=tools)
        refused(relay.wake(broadcast="10.97.2.255"), "EOPNOTSUPP", "neither python3 nor perl")
    finally:
        relay.stop()


def test_relay_judged(lab):
    """What check-config says of a relay: by the relay's own interfaces and routes, and a packet in each case."""
    relay = Relay(lab)

    def look(**config):
        return relay.wake(command=("network",), **config)

    try:
        relay.start()
        with lab.listen("sleeper", "eth0", WAKING) as ear:
            for config in ({"broadcast": "10.97.2.255"}, {"interface": "eth1"}, {"broadcast": "10.97.2.255/24"}):
                answer = look(**config)
                assert answer["ok"], (config, answer)
                assert relay.wake(**config)["ok"] and len(ear.frames(3)) == 3, config
            for words, config in (("that of interface eth1 is 10.97.2.255", {"broadcast": "10.97.2.77"}),
                                  ("lo cannot carry", {"interface": "lo"}),
                                  ("the relay has no interface eth9", {"interface": "eth9"}),
                                  ("leave by interface eth1", {"interface": "eth0", "broadcast": "10.97.2.255"})):
                refused(look(**config), "EINVAL", words, "root@10.97.1.2")
                relay.wake(**config)
                assert not [f for f in ear.frames(1, within_s=0.3) if f[:6] == EVERYBODY], config
        for broadcast, says in (("10.97.2.255", "login accepted; its interfaces and routes fit the Wake-on-LAN of esx7"),
                                ("10.97.2.77", "that of interface eth1 is 10.97.2.255")):
            file = pathlib.Path(lab.dir.name) / "ballast.yaml"
            file.write_text(f"cluster: test\nsource: {{kind: sim}}\npower: {{hosts: {{esx7: {{wol: {{mac: '{MAC}', relay: 'root@10.97.1.2', "
                            f"relay_key: '{relay.dir}/client_key', broadcast: {broadcast}}}}}}}}}\n")
            said = lab.run("service", os.environ["BALLAST"], "check-config", file, "--connect", check=False)
            assert says in " ".join(said.split()), said
        refused(look(key="stranger_key"), "EACCES", "Permission denied")
        relay.allow(f'restrict,command="cat >{relay.dir}/got"')
        refused(look(broadcast="10.97.2.255"), "EOPNOTSUPP", "does not tell its interfaces")
        assert (relay.dir / "got").read_bytes() == b"", "nothing is sent to look"
    finally:
        relay.stop()


def test_relay_refuses(lab):
    """A stranger's key, a relay that is another, no such interface, no right to send frames."""
    relay = Relay(lab)
    try:
        relay.start()
        refused(relay.wake(key="stranger_key", broadcast="10.97.2.255"), "EACCES", "Permission denied")
        relay.know("other_host_key")
        refused(relay.wake(broadcast="10.97.2.255"), "EKEYREJECTED", "Host key verification failed")
        relay.know("host_key")
        refused(relay.wake(interface="eth9"), "EIO", "could not send the packet")
        relay.start(before=("setpriv", "--bounding-set", "-net_raw", "--inh-caps", "-net_raw"))
        refused(relay.wake(interface="eth1"), "EACCES", "not permitted")
    finally:
        relay.stop()


def test_relay_forced(lab):
    """A key that is bound to a command: the packet is what that command reads."""
    relay = Relay(lab)
    try:
        relay.allow(f'restrict,command="cat >{relay.dir}/got"')
        relay.start()
        answer = relay.wake(broadcast="10.97.2.255", secureon=SECUREON)
        assert answer["ok"], answer
        assert (relay.dir / "got").read_bytes() == magic(SECUREON)
        need(socat="socat")  # as actuators/wol/README.md has it
        relay.allow('restrict,command="socat -u - UDP-DATAGRAM:10.97.2.255:9,broadcast"')
        with lab.listen("sleeper", "eth0", WAKING) as ear:
            assert relay.wake(broadcast="10.97.2.255", secureon=SECUREON)["ok"]
            check_udp(ear.frames(1), "10.97.2.255", secureon=SECUREON, n=1)
    finally:
        relay.stop()


def commands():
    """All command lines of the system."""
    found = []
    for p in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(p.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


def test_relay_hangs(lab):
    """A relay that takes the connection and says nothing, and one that runs the command without end: over in time, and
    nothing of ours is left."""
    relay = Relay(lab)
    deaf = lab.start("relay", "python3", "-c", "import socket, time\n"
                     "s = socket.create_server(('10.97.1.2', 2222))\nprint('here', flush=True)\ntime.sleep(600)",
                     stdout=subprocess.PIPE)
    assert deaf.stdout.readline() == b"here\n"
    try:
        began = time.monotonic()
        refused(relay.wake(relay="root@10.97.1.2:2222", broadcast="10.97.2.255", timeout_s=2), "ETIMEDOUT")
        assert time.monotonic() - began < 30
        relay.allow('restrict,command="sleep 600"')
        relay.start()
        began = time.monotonic()
        refused(relay.wake(broadcast="10.97.2.255", timeout_s=5), "ETIMEDOUT", "in time")
        assert time.monotonic() - began < 30
        answer = relay.wake(broadcast="10.97.2.255", command=("stop", 300, "wake"))
        refused(answer, "ECANCELED", "stops")
        assert answer["ms"] < 30000, answer
        key = str(relay.key)
        until = time.monotonic() + 10  # what was killed is gone soon
        while [c for c in commands() if key in c and c.startswith("/usr/bin/ssh")]:
            assert time.monotonic() < until, commands()
            time.sleep(0.1)
    finally:
        relay.stop()


if __name__ == "__main__":
    sys.exit(run_tests(globals(), Lab))
