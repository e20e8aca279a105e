#!/usr/bin/env python3
"""Power changes by IPMI: the method's effect on OpenIPMI's simulated controllers, confirmed by FreeIPMI's and ipmitool's own
programs; and its errors when a controller does not answer, is late or busy, reports a false state or sends garbage."""
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import random
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

from ipmi_sim import WORKAROUNDS, Controllers, need
from udp_relay import UdpRelay

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip, run_tests  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ANSWER_S = 120
SLACK_MS = 5000  # how much later than on a quiet machine what is timed may end
SURE_S = 60      # for what must get through, however busy the machine is


class Method:
    """One power_probe: with Method(c) as m: m("chassis") gives its answer."""

    def __init__(self, controller, address=None, password=None, **settings):
        self.files = tempfile.TemporaryDirectory(prefix="ballast-ipmi-test-")
        settings = {"username": controller.username, "workarounds": ",".join(WORKAROUNDS), "timeout_s": SURE_S, **settings}
        path = os.path.join(self.files.name, "password")
        with open(path, "w") as f:
            f.write((password or dict(controller.users.values())[settings["username"]]) + "\n")
        program = os.environ.get("BALLAST_POWER_PROBE")
        if not program:
            raise RuntimeError("BALLAST_POWER_PROBE is not set: run this with meson test")
        self.process = subprocess.Popen(
            [program, "ipmi", "name=esx1", f"address={address or controller.address}", f"password_file={path}",
             *(f"{k}={v}" for k, v in settings.items())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def say(self, line):
        self.process.stdin.write((line + "\n").encode())

    def hear(self):
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_S)
            piece = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            if not piece:
                raise RuntimeError("the probe gave no answer")
            line += piece
        return json.loads(line)

    def __call__(self, line):
        self.say(line)
        return self.hear()

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.files.cleanup()
        if code not in (0, 1):  # a sanitizer, or a signal
            raise RuntimeError(f"the probe ended with {code}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def check(true, *what):
    if not true:
        raise AssertionError(" ".join(map(str, what)))


def good(answer, within_ms=SURE_S * 1000):
    check(answer["ok"], answer)
    check(answer["ms"] <= within_ms + SLACK_MS, "too long:", answer)
    return answer


def bad(answer, error, *words, at_least_ms=0, within_ms=10000):
    check(not answer["ok"] and answer["error"] == error, "expected", error, "but got", answer)
    for word in ("esx1", *words):
        check(word in answer["text"], "expected the word", word, "in", answer["text"])
    check(at_least_ms <= answer["ms"] <= within_ms + SLACK_MS, "the time is not right:", answer)
    check("s3cret" not in answer["text"] and "kgkgkg" not in answer["text"], "a secret in", answer["text"])
    return answer


def without_repeats(commands):
    """A controller that a busy machine keeps from answering in time is asked again: it sees the same command twice in a row."""
    return [c for c, _ in itertools.groupby(commands)]


def only(controller, *what):
    """The commands that the chassis saw since it was last asked."""
    seen = [c[1:] for c in controller.commands()]
    before, controller.seen = getattr(controller, "seen", 0), len(seen)
    new = without_repeats(seen)[len(without_repeats(seen[:before])):]
    check(new == list(what), "expected the commands", what, "but there were", seen[before:])


def tool(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=120)
    return done.stdout.strip()


def witnesses(c):
    """What two other programs say of the chassis."""
    ipmitool, ipmipower = need("ipmitool", "ipmipower")
    said = (tool(ipmitool, "-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", str(c.port), "-U", c.username, "-P",
                 c.password, "chassis", "power", "status"),
            tool(ipmipower, "-D", "LAN_2_0", "-W", "opensesspriv", "-h", c.address, "-u", c.username, "-p", c.password,
                 "--stat"))
    check(said in (("Chassis Power is on", "127.0.0.1: on"), ("Chassis Power is off", "127.0.0.1: off")), said)
    return said[0].endswith("on")


def test_on_off_and_status(c):
    with Method(c) as m:
        check(good(m("chassis"), 1000)["on"] and witnesses(c), "it was on")
        check(good(m("wake"), 1000)["was_on"], "the call has woken nothing")
        only(c)  # it was on: nothing is sent
        good(m("shut_down"), 1000)
        only(c, ("shutdown", 1))
        check(not good(m("chassis"))["on"] and not witnesses(c), "it is off")
        good(m("shut_down"), 1000)
        only(c)
        check(not good(m("wake"), 1000)["was_on"], "the call has woken it")
        only(c, ("power", 1))
        check(good(m("chassis"))["on"] and witnesses(c), "it is on again")


def test_identity(c):
    """The system GUID in the order in which it came, as FreeIPMI's program has it; the simulator's MAC address is zero: none."""
    with Method(c) as m:
        answer = good(m("identify"))
        check(answer["uuid"].replace("-", "") == c.guid and answer["mark"] == "", answer)
    with Method(c, privilege="user", username="reader") as m:
        check(good(m("identify"))["uuid"].replace("-", "") == c.guid)
    c.stop()
    with Method(c, timeout_s=5) as m:
        bad(m("identify"), "ECONNREFUSED", "which machine")


def test_another_machine_right_before(c):
    """Another machine answers at the address when the shutdown comes: it is not sent. A wake is."""
    with Method(c, hard_off="true") as m:
        was = good(m("identify"))["uuid"]
        c.stop()
        c.guid = c.guid[:-4] + "beef"
        c.start()
        for verb in ("shut_down", "cut"):
            bad(m(f"same {verb}"), "EPERM", "another controller answers", was, c.guid[-4:], "Nothing was requested")
        only(c)
        check(good(m("chassis"))["on"])
        good(m("wake"))
        good(m("identify"))
        good(m("same shut_down"))
        only(c, ("shutdown", 1))
        good(m("same shut_down"))


def test_soft_shutdowns_take_their_time(c):
    c.put("soft", 1)
    with Method(c, hard_off="true") as m:
        good(m("shut_down"), 1000)
        check(good(m("chassis"))["on"], "it was taken, and the host goes down by and by")
        deadline = time.monotonic() + SURE_S
        while good(m("chassis"))["on"]:
            check(time.monotonic() < deadline, "it never went down")
            time.sleep(0.1)
        only(c, ("shutdown", 1), ("done", 0))
        c.put("soft", "never")
        good(m("wake"))
        good(m("shut_down"))
        only(c, ("power", 1), ("shutdown", 1))
        check(good(m("chassis"))["on"], "its operating system does not listen")
        good(m("cut"))
        only(c, ("power", 0))
        check(not witnesses(c), "the power was cut")


def test_power_is_cut_only_where_that_is_allowed(c):
    with Method(c) as m:
        bad(m("cut"), "EPERM", "hard_off", within_ms=10)
        only(c)
        check(c.is_on(), "nothing was sent")


def test_a_liar(c):
    """Says on and is off: taken at its word, which is why the word of a chassis proves nothing (power.h)."""
    c.put("power", 0)
    c.put("claims", 1)
    with Method(c) as m:
        check(good(m("chassis"))["on"], "it says so")
        good(m("wake"))
        only(c)
        check(not c.is_on(), "and is off")
    c.put("claims", None)
    c.put("stuck", 1)  # takes commands, and nothing happens
    with Method(c) as m:
        good(m("wake"))
        only(c, ("power", 1))
        check(not good(m("chassis"))["on"], "nothing happened")


def test_passwords_users_and_privileges(c):
    with Method(c, password="wrong") as m:
        bad(m("wake"), "EACCES", "password", '"admin"', within_ms=2000)
    with Method(c, username="nobody", password="x") as m:
        bad(m("wake"), "EACCES", 'no user "nobody"', within_ms=2000)
    with Method(c, workarounds="authcap") as m:
        bad(m("chassis"), "EACCES", "privilege admin", "opensesspriv", within_ms=2000)
    with Method(c, username="reader", privilege="user") as m:
        check(good(m("chassis"))["on"], "a reader may look")
        bad(m("shut_down"), "EPERM", "privilege", "D4h", within_ms=2000)
    with Method(c, username="operator", privilege="operator") as m:
        good(m("shut_down"))
    only(c, ("shutdown", 1))


def test_cipher_suites(c):
    for suite in (0, 1, 2, 3):
        with Method(c, cipher_suite=suite) as m:
            check(good(m("chassis"), 1000)["on"], suite)
    for suite in (15, 16, 17):  # ipmi_sim has them not, and says so in a way that FreeIPMI does not understand
        with Method(c, cipher_suite=suite) as m:
            bad(m("wake"), "EOPNOTSUPP", f"cipher suite {suite}", "does not offer", within_ms=2000)
    with Method(c, cipher_suite=4) as m:
        bad(m.hear(), "EINVAL", "cipher suite 4", "3 or 17")


def test_k_g():
    with Controllers(["esx1"], k_g="kgkgkgkg") as lab:
        c = lab["esx1"]
        with Method(c, k_g="kgkgkgkg") as m:
            check(good(m("chassis"), 1000)["on"], "with the right key")
        with Method(c, k_g="0x6b676b676b676b67") as m:
            check(good(m("chassis"), 1000)["on"], "the same, in hexadecimal digits")
        with Method(c, k_g="kgkgkgkk") as m:
            bad(m("chassis"), "EACCES", "K_g", within_ms=2000)
        with Method(c) as m:
            bad(m("chassis"), "EACCES", "K_g", "none is set", within_ms=2000)


def test_settings_that_are_wrong(c):
    for settings, words in (({"workarounds": "opensesspriv,foo"}, ('"foo"', "authcap", "solpacketseq")),
                            ({"privilege": "root"}, ("root", "operator")),
                            ({"password": "x" * 21}, ("password", "20")),
                            ({"k_g": "0x123"}, ("k_g",)),
                            ({"timeout_s": 0}, ("timeout",))):
        with Method(c, **settings) as m:
            bad(m.hear(), "EINVAL", *words)
    for address in ("", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:", "[::1", "[::1]623", "a b", "127.0.0.1:6x"):
        with Method(c, address=address or " ") as m:
            bad(m.hear(), "EINVAL", "HOST:PORT")


def test_addresses(c):
    with Method(c, address=f"[127.0.0.1]:{c.port}") as m:
        check(good(m("chassis"), 2000)["on"], "in brackets")
    localhost = socket.getaddrinfo("localhost", None, type=socket.SOCK_DGRAM)[0][4][0]
    with UdpRelay(c.port, address=localhost) as relay, Method(c, address=f"localhost:{relay.port}") as m:
        check(good(m("chassis"), 2000)["on"], "by name")
    with UdpRelay(c.port, address="::1") as relay, Method(c, address=relay.address) as m:
        check(good(m("chassis"), 2000)["on"] and relay.asked > 5, "over IPv6")
    with Method(c, address="nobody.invalid") as m:
        bad(m("chassis"), "EHOSTUNREACH", "nobody.invalid", within_ms=SURE_S * 1000)  # whatever name server there is, or none
    with UdpRelay(c.port) as relay:
        address = relay.address
    with Method(c, address=address) as m:
        bad(m("chassis"), "ECONNREFUSED", "nothing listens", within_ms=3000)


def test_every_third_packet_is_lost(c):
    with UdpRelay(c.port) as relay, Method(c, address=relay.address) as m:
        relay.drop_every = 3
        for verb, on in (("chassis", True), ("shut_down", False), ("wake", True), ("shut_down", False), ("wake", True)):
            good(m(verb))
            check(c.is_on() == on, verb)
        check(relay.asked > relay.answered, "packets were lost")


def test_answers_come_late(c):
    with UdpRelay(c.port) as relay, Method(c, address=relay.address) as m:
        relay.delay_s = 0.6  # longer than FreeIPMI waits before it repeats, which it then never gets an answer to
        good(m("shut_down"))
        check(not c.is_on(), "it went down")
    with UdpRelay(c.port) as relay, Method(c, address=relay.address, timeout_s=6) as m:
        relay.delay_s = 1.5  # more than the time allows
        bad(m("wake"), "ETIMEDOUT", "6 s", at_least_ms=6000, within_ms=6000)


def test_deaf_controllers(c):
    with UdpRelay(c.port) as relay, Method(c, address=relay.address, timeout_s=2) as m:
        relay.mute = True
        bad(m("wake"), "ETIMEDOUT", "does not answer", at_least_ms=2000, within_ms=2000)
        relay.mute = False
        relay.mangle = lambda packet: packet if packet[4] == 0 else None  # outside of sessions it answers
        bad(m("wake"), "ETIMEDOUT", at_least_ms=1500, within_ms=2000)
        with Method(c, address=relay.address) as patient:
            bad(patient("stop 400 wake"), "ECANCELED", "going down", at_least_ms=300, within_ms=700)
            relay.mute = True
            bad(patient("stop 400 wake"), "ECANCELED", "going down", at_least_ms=300, within_ms=700)
        check(relay.asked < 100, "it was asked too often:", relay.asked)


def test_a_controller_that_dies_and_comes_back(c):
    with Method(c) as m:
        good(m("chassis"))
        c.stop()
        bad(m("chassis"), "ECONNREFUSED", "nothing listens", within_ms=3000)
        back = threading.Timer(0.3, c.start)
        back.start()
        good(m("chassis"))  # it came back within the call
        back.join()


def test_slow_commands(c):
    """A controller that needs 3 s for a command hears it once more, and the second look finds it done."""
    c.put("busy", 3)
    with Method(c) as m:
        c.put("power", 0)
        good(m("wake"))
        check(c.is_on(), "it is on")


def test_garbage(c):
    dice = random.Random(20260101)
    with UdpRelay(c.port) as relay, Method(c, address=relay.address, timeout_s=2) as m:
        relay.mangle = lambda packet: dice.randbytes(dice.randrange(1, 80))
        bad(m("wake"), "EPROTO", "not in IPMI", within_ms=2000)
        relay.mangle = lambda packet: packet[:dice.randrange(len(packet))]
        bad(m("wake"), "EPROTO", within_ms=2000)
        with Method(c, address=relay.address) as patient:
            relay.mangle = lambda packet: [dice.randbytes(200), packet, dice.randbytes(20)]
            for _ in range(4):
                check(good(patient("chassis"))["on"], "with the truth among it")
            relay.mangle = lambda packet: [packet] * (1 + (relay.answered % 12 == 0))
            for _ in range(6):  # FreeIPMI breaks off when part of a handshake comes twice; the next session gets through
                check(good(patient("chassis"))["on"], "with a packet that came twice")

        def flip(packet):
            packet = bytearray(packet)
            packet[dice.randrange(len(packet))] ^= 1 << dice.randrange(8)
            return bytes(packet)
        relay.mangle = flip
        for _ in range(4):
            answer = m("wake")
            check(not answer["ok"] and answer["ms"] <= 2000 + SLACK_MS, answer)
        check(c.is_on(), "and nothing was believed")
    only(c)


def test_garbage_within_sessions(c):
    dice = random.Random(20260102)
    with UdpRelay(c.port) as relay, Method(c, address=relay.address, timeout_s=2) as m:
        relay.mangle = lambda packet: packet if len(packet) < 60 or packet[4] != 6 else \
            packet[:16] + dice.randbytes(len(packet) - 16)
        answer = m("wake")  # what FreeIPMI makes of it depends on the bytes: silence, or a session against the rules
        check(not answer["ok"] and answer["error"] in ("ETIMEDOUT", "EPROTO", "EACCES")
              and answer["ms"] <= 2000 + SLACK_MS, answer)
        relay.mangle = lambda packet: [packet[:-1], packet]
        bad(m("wake"), "EPROTO", within_ms=2000)
        relay.mangle = lambda packet: packet if packet[4] != 6 or packet[5] & 0x3f else packet[:20] + bytes(len(packet) - 20)
        bad(m("wake"), "ETIMEDOUT", within_ms=2000)
    only(c)


def test_watts(c):
    with Method(c) as m:
        bad(m("watts"), "EOPNOTSUPP", "DCMI", "C1h", within_ms=2000)


class Pyghmi:
    """A pyghmi_bmc.py: a controller of another make."""

    PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's pyghmi

    def __init__(self, suite):
        if subprocess.run([self.PYTHON, "-c", "import pyghmi"], capture_output=True, timeout=60).returncode != 0:
            raise Skip("pyghmi is missing: apt install python3-pyghmi")
        self.users = {"admin": ("admin", "s3cret-of-pyghmi")}
        self.username, self.password = self.users["admin"]
        self.process = subprocess.Popen([self.PYTHON, HERE / "pyghmi_bmc.py", str(suite), self.password], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.address = f"127.0.0.1:{self.port}"

    def set_watts(self, watts):
        self.process.stdin.write(f"watts {watts}\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.commands, _ = self.process.communicate(timeout=60)


def test_cipher_suite_17():
    ipmitool, = need("ipmitool")
    with Pyghmi(17) as c, Method(c, cipher_suite=17, workarounds="") as m:
        check(not good(m("chassis"), 1000)["on"], "it is off")
        good(m("wake"), 1000)
        check(good(m("chassis"), 1000)["on"], "it is on")
        status = tool(ipmitool, "-I", "lanplus", "-C", "17", "-H", "127.0.0.1", "-p", str(c.port), "-U", c.username, "-P",
                      c.password, "chassis", "power", "status")
        check(status == "Chassis Power is on", status)
        good(m("shut_down"), 1000)
        with Method(c, cipher_suite=3, workarounds="") as other:
            bad(other("wake"), "EOPNOTSUPP", "cipher suite 3", within_ms=2000)
        with Method(c, cipher_suite=17, workarounds="", password="wrong") as other:
            bad(other("wake"), "EACCES", "password", within_ms=2000)
    check(without_repeats(c.commands.splitlines()) == ["power 1", "shutdown 1"], c.commands)


def test_watts_of_a_meter():
    ipmitool, = need("ipmitool")
    with Pyghmi(3) as c, Method(c, workarounds="") as m:
        for watts in (0, 123, 40000):
            c.set_watts(watts)
            deadline = time.monotonic() + SURE_S
            while good(m("watts"), 1000)["watts"] != watts:
                check(time.monotonic() < deadline, "it never measured", watts)
        said = tool(ipmitool, "-I", "lanplus", "-C", "3", "-H", "127.0.0.1", "-p", str(c.port), "-U", c.username, "-P",
                    c.password, "dcmi", "power", "reading")
        check("40000 Watts" in said, said)
        c.set_watts(-1)
        deadline = time.monotonic() + SURE_S
        while (answer := m("watts"))["ok"]:
            check(time.monotonic() < deadline, "it measures for ever")
        bad(answer, "EBUSY", "measures no power", within_ms=1000)


BOOT = (b"\x1b[2J\x1b[1;1HPhoenix BIOS\r\n\x1b[31mDIMM A1: not found\x1b[0m\r\nLoading 10%\rLoading 100%\r\n"
        b"\xff\xfe\x80\r\npanic: no boot device\r\n")


def until_heard(c, m):
    """The host talks until it is heard: until a session is up, what it says is lost. All that it has said so far is read."""
    heard = ""
    deadline = time.monotonic() + SURE_S
    for i in itertools.count():
        c.say(b"<%d>\n" % i)
        heard += good(m(f"read 300 {len('<%d>' % i) + 1}"))["said"]
        if heard.endswith(f"<{i}>\n"):
            return
        check(time.monotonic() < deadline, "the console was never heard:", heard)


def test_the_console(c):
    with Method(c) as m:
        good(m("open"), 500)
        until_heard(c, m)
        c.say(BOOT)
        answer = good(m(f"read 60000 {len(BOOT)}"))
        check(answer["said"] == "Phoenix BIOS\nDIMM A1: not found\nLoading 100%\n\ufffd\npanic: no boot device\n", answer)
        check(answer["bytes"] == len(BOOT) and answer["code"] == 0, answer)
        check(good(m("read 300"))["bytes"] == 0, "it says more than was said")
        with Method(c) as other:
            good(other("open"))
            check("somebody else" in good(other("read 60000"))["ended"], "the first one keeps it")
        good(m("close"))
        deadline = time.monotonic() + SURE_S
        while True:  # closed and opened again, as soon as the controller has let go of the session
            good(m("open"))
            if not good(m("read 1000"))["ended"]:
                break
            check(time.monotonic() < deadline, "it cannot be opened again")
            good(m("close"))
        until_heard(c, m)
        c.say(b"again\n")
        check(good(m("read 60000 6"))["said"] == "again\n", "after the second opening")
        c.stop()
        began = time.monotonic()
    check(time.monotonic() - began < 15, "the end waited for a dead controller")
    c.start()


def test_consoles_that_cannot_be_had(c):
    with Method(c, password="wrong") as m:
        good(m("open"))
        answer = good(m("read 60000"))
        check(answer["code"] < 0 and "password" in answer["ended"], answer)
    with UdpRelay(c.port) as relay, Method(c, address=relay.address) as m:
        relay.mute = True
        good(m("open"), 500)
        check(good(m("read 1000"))["code"] == 0, "still trying")
    with Method(c, address="127.0.0.1:40000") as m:
        bad(m("open"), "EINVAL", "32767")


def test_sixteen_at_once():
    with Controllers([f"esx{i}" for i in range(16)], on=False) as lab:
        def wake(c):
            with Method(c) as m:
                return good(m("wake"))["ms"]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            began = time.monotonic()
            times = list(pool.map(wake, lab))
        took = time.monotonic() - began
        for c in lab:
            check(c.is_on() and without_repeats(x[1:] for x in c.commands()) == [("power", 1)], c.name)
        print(f"16 controllers: {took * 1000:.0f} ms together, {max(times)} ms at most")


@contextlib.contextmanager
def controller():
    with Controllers(["esx1"]) as lab:
        yield lab["esx1"]


if __name__ == "__main__":
    sys.exit(run_tests(globals(), controller))
