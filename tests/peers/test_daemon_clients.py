#!/usr/bin/env python3
"""Many clients at the socket of ballastd: none keeps another one from acting, and unread replies take bounded memory."""
import contextlib
import json
import os
import pathlib
import pwd
import socket
import struct
import subprocess
import time

from daemon import BALLAST, CALL_S, PATIENCE, SIM, Daemon, main, wait_for

VMS = 5000
FOLLOWERS = 200
READERS = 40
CONNECTIONS = 600
SOON_S = 1  # on a machine that does nothing else
UNREAD_MIB = 64
FOLLOW = b'{"command": "events", "follow": true, "limit": 1}\n'
SNAPSHOT = b'{"command": "snapshot"}\n'


def large(d):
    """A cluster whose snapshot is some megabytes."""
    path = d.folder / "large.json"
    path.write_text(subprocess.run([BALLAST, "generate", "--hosts", "160", "--vms", str(VMS), "--shape", "skewed"], check=True,
                                   capture_output=True, text=True).stdout)
    d.write(source={**SIM, "speed": 1, "file": str(path)})
    return d


def connect(d, *requests):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(CALL_S)
    for _ in range(100):
        try:
            s.connect(d.socket)
            break
        except BlockingIOError:  # the queue of connections is full
            time.sleep(0.05)
    for request in requests:
        s.sendall(request)
    return s


def first_line(s):
    """The next line of a client that follows, which may have more."""
    line = b""
    while not line.endswith(b"\n"):
        line += s.recv(1)
    return json.loads(line)


def resident_mib(d):
    """What it holds now, and the most that it held."""
    lines = pathlib.Path(f"/proc/{d.process.pid}/status").read_text().splitlines()
    values = {line.split(":")[0]: line.split()[1] for line in lines if ":" in line and line.endswith("kB")}
    return int(values["VmRSS"]) // 1024, int(values["VmHWM"]) // 1024


def is_sanitized(d):
    return "libasan" in (maps := pathlib.Path(f"/proc/{d.process.pid}/maps").read_text()) or "libtsan" in maps


def soon(d, *verb):
    began = time.monotonic()
    d.cli(*verb)
    took = time.monotonic() - began
    assert took < SOON_S * PATIENCE, f"{verb}: {took:.1f} s"


def test_a_crowd_locks_nobody_out():
    with large(Daemon(SIM, automation="manual", interval_s=300)) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        d.cli("snapshot")
        before = resident_mib(d)[1]
        followers = [connect(d, FOLLOW) for _ in range(FOLLOWERS)]
        readers = [connect(d, SNAPSHOT * 3) for _ in range(READERS)]
        for verb in ("pause", "status", "recommendations", "run", "resume", "vms"):
            soon(d, verb)
        # their replies are one text; private ones were 8 MiB each
        if not is_sanitized(d):
            grown = resident_mib(d)[1] - before
            assert grown < UNREAD_MIB, f"{READERS} unread snapshots took {grown} MiB"
        answers = [first_line(s) for s in followers]
        refused = [a for a in answers if not a["ok"]]
        assert 0 < len(answers) - len(refused) <= 64, len(refused)
        assert all(a["code"] == 3 and "too many clients" in a["error"] and "follow events" in a["error"] for a in refused)
        assert "too many clients" in d.cli("events", "--follow", code=3)
        # connections that ask for nothing make room for the next one; those that follow stay
        crowd = [connect(d) for _ in range(CONNECTIONS)]
        soon(d, "pause")
        soon(d, "status")
        following = next(s for s, a in zip(followers, answers) if a["ok"])
        wait_for("the event", lambda: any(e["kind"] == "frozen" for e in first_line(following)["events"]), 5)
        for s in [*followers, *readers, *crowd]:
            s.close()
        soon(d, "resume")
        wait_for("places to follow", lambda: d.send(FOLLOW)["ok"], 10)
        d.stop()


@contextlib.contextmanager
def as_user(uid, f):
    """What f() gives, as text, called by a process of that user, which lives and keeps its connections meanwhile."""
    out, into = os.pipe()
    wait, end = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(end)
        try:
            os.setgroups([])
            os.setuid(uid)
            text = f()
        except BaseException as e:  # the parent reports it
            text = repr(e)
        os.write(into, text.encode() + b"\n")
        os.read(wait, 1)
        os._exit(0)
    os.close(into)
    os.close(wait)
    with open(out) as said:
        yield said.readline().strip()
    os.close(end)
    os.waitpid(pid, 0)


def test_a_user_leaves_places_to_others():
    if os.geteuid() != 0:
        return  # only root may be another user
    other = pwd.getpwnam("nobody").pw_uid
    with Daemon(SIM, automation="manual", interval_s=300).start() as d:
        wait_for("a pass", lambda: d.status()["pass"])
        d.folder.chmod(0o755)
        os.chmod(d.socket, 0o666)

        def crowd():
            kept = [connect(d, FOLLOW) for _ in range(FOLLOWERS)]
            answers = [first_line(s) for s in kept]
            kept += [connect(d) for _ in range(CONNECTIONS)]
            with connect(d, b'{"command": "hosts"}\n') as s:
                assert Daemon.receive(s)["ok"]
            everything.append(kept)
            return f"{sum(a['ok'] for a in answers)} follow"

        everything = []

        mine = [connect(d) for _ in range(5)]
        follower = connect(d, FOLLOW)
        assert first_line(follower)["ok"]
        with as_user(other, crowd) as said:
            assert said == "32 follow", said
            for s in mine:  # their user has fewer than the crowd's, so these stayed
                s.sendall(b'{"command": "status"}\n')
                assert Daemon.receive(s)["ok"]
            soon(d, "pause")
            with connect(d, FOLLOW) as another:
                assert first_line(another)["ok"]
            wait_for("the event", lambda: any(e["kind"] == "frozen" for e in first_line(follower)["events"]), 5)
        d.stop()


def test_who_does_not_read_is_dropped():
    with large(Daemon(SIM, automation="manual", interval_s=300)) as d:
        d.start()
        wait_for("a pass", lambda: d.status()["pass"])
        s = connect(d)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.sendall(SNAPSHOT)
        wait_for("the log", lambda: "does not read the reply to its request fast enough" in d.log.read_text(), 60)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 5, 0))
        n = 0
        while more := s.recv(1 << 20):
            n += len(more)
        assert n < 8 << 20, n  # cut off
        # a client that reads has a reply that is one for all, whole
        texts = [d.request({"command": "snapshot"})["snapshot"] for _ in range(3)]
        assert texts[0] == texts[1] == texts[2] and len(json.loads(texts[0])["vms"]) == VMS
        d.stop()


if __name__ == "__main__":
    main(test_a_crowd_locks_nobody_out, test_a_user_leaves_places_to_others, test_who_does_not_read_is_dropped)
