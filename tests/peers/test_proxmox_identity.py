#!/usr/bin/env python3
"""A service on the tests' own cluster of Proxmox VE asks nothing of another cluster that answers at one of its addresses, moves no other guest
that was given the VMID of the one that it meant, and does not act beside another service on the same cluster."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from daemon import Daemon, wait_for  # noqa: E402
from proxmox import Cluster, Server  # noqa: E402
from segments import on_another_machine  # noqa: E402
from test_proxmox_actuator import equal  # noqa: E402

SETTINGS = {"interval_s": 5, "cool_down_s": 1, "migration_threshold": 4}


def uneven(name):
    c = Cluster("9.1", nodes=3, name=name)
    for i in range(9):
        c.add(100 + i, "n1", cores=4, cpu=0.4)
    return c


@contextlib.contextmanager
def twins(same_authority=False):
    """Two clusters with the same names, guests, users and passwords."""
    a, b = uneven("lab"), uneven("lab")
    if same_authority:
        b.authority, b.name = a.authority, "other"
    for name, account in a.accounts.items():
        b.accounts[name].secret = account.secret
    with Server(a, nodes=["n1", "n2"]) as s, Server(b, nodes=["n1"]) as other:
        with tempfile.NamedTemporaryFile("w", suffix=".pem") as both:
            both.write(pathlib.Path(s.ca_file).read_text() + pathlib.Path(other.ca_file).read_text())
            both.flush()
            yield s, other, both.name


def source(s, ca_file, *urls):
    return {"kind": "proxmox", "username": s.token, "password_file": s.token_file, "ca_file": ca_file, "timeout_s": 10, "url": urls[0],
            **({"other_urls": list(urls[1:])} if urls[1:] else {})}


def changed(server):
    """What was asked of it that changes something, but for logins."""
    return [r for r in server.changes if "ticket" not in str(r)]


def faults(d):
    return [f["text"] for f in d.status()["faults"]]


def test_one_address_is_of_another_cluster():
    """It is found while the others answer, and passed over when they do not."""
    with twins() as (s, other, ca_file):
        with Daemon(source(s, ca_file, s.urls[0], other.urls[0], s.urls[1]), automation="full", **SETTINGS) as d:
            d.start()
            wait_for("a fault that names the address", lambda: any(other.urls[0] in t and "is another one than before" in t for t in faults(d)), 60)
            wait_for("moves", lambda: len(s.cluster.arrivals) >= 2, 60)
            s.cluster.nodes["n1"].online = False  # the addresses that are left: the other cluster's, and n2's
            s.close_connections()
            wait_for("n1 is seen away", lambda: any(h["state"] == "disconnected" for h in d.json("hosts")), 60)
            s.cluster.nodes["n1"].online = True
            d.stop()
        equal("changes in the other cluster", changed(other), [])
        equal("its guests", [g.node for g in other.cluster.guests.values()], ["n1"] * 9)


def test_the_address_comes_to_lead_elsewhere():
    """Over a restart, too; and a person may say that it is right."""
    with twins() as (s, other, ca_file):
        with Daemon(source(s, ca_file, s.urls[0]), automation="full", **SETTINGS) as d:
            d.start()
            wait_for("moves", lambda: len(s.cluster.arrivals) >= 2, 60)
            d.stop()
            s.cluster.authority = other.cluster.authority  # the same address, another cluster
            before = len(changed(s))
            d.start()
            wait_for("the source counts as lost", lambda: "is another one than before" in str(d.status()["source"]), 30)
            time.sleep(12)
            equal("changes", len(changed(s)), before)
            refused = d.run("apply", "--all")
            assert refused.returncode != 0, refused.stdout
            assert d.run("confirm-setting", "nothing").returncode != 0
            d.cli("confirm-setting", "source")
            wait_for("the source is up", lambda: d.status()["source"]["state"] == "up", 30)
            said = d.run("confirm-setting", "source")
            assert said.returncode != 0 and "waits for no confirmation" in said.stderr, said.stderr
            d.stop()


def test_without_an_authority_the_name_counts():
    with twins(same_authority=True) as (s, other, ca_file):
        for one in (s, other):
            one.cluster.authority = None
        with Daemon(source(s, ca_file, s.urls[0], other.urls[0]), automation="full", **SETTINGS) as d:
            d.start()
            wait_for("a fault", lambda: any("is another one than before" in t for t in faults(d)), 60)
            d.stop()
        equal("changes in the other cluster", changed(other), [])


def test_check_config_asks_every_address():
    with twins() as (s, other, ca_file), tempfile.TemporaryDirectory() as folder:
        with Daemon(source(s, ca_file, s.urls[0], s.urls[1], other.urls[0])) as d:
            done = subprocess.run([os.environ["BALLAST"], "check-config", "--connect", str(d.config)], capture_output=True, text=True, timeout=60,
                                  stdin=subprocess.DEVNULL, cwd=folder)
            text = done.stdout + done.stderr
            assert done.returncode != 0 and other.urls[0] in text and "is another one than before" in text, text
            assert s.urls[1] not in text, text


def test_a_vmid_that_is_used_again():
    """Between the recommendation and its approval, and for approvals that were made before."""
    c = uneven("lab")
    with Server(c) as s:
        with Daemon(source(s, s.ca_file, s.urls[0]), automation="manual", **(SETTINGS | {"interval_s": 60})) as d:
            d.start()
            wait_for("recommendations", lambda: len(d.actions("recommended")) > 0, 60)
            chosen = d.actions("recommended")[0]
            guest = c.guests[int(chosen["vm"])]
            with c.lock:
                c.guests[guest.vmid] = type(guest)(guest.vmid, "n1", cores=4, cpu=0.4, name=guest.name, age=10)
            d.run("apply", f'{chosen["id"]}.{chosen["version"]}')
            ended = wait_for("it ends", lambda: [a for a in d.json("history") if a["id"] == chosen["id"]], 60)[0]
            assert ended["state"] in ("cancelled", "expired") and "another one than was meant" in ended["why"], ended
            equal("moves", list(c.arrivals), [])
            d.stop()


def test_two_services_on_one_cluster():
    """By another spelling of the address: the second one acts no more by itself, and does once the first one has ended."""
    c = uneven("lab")
    with Server(c) as s:
        with Daemon(source(s, s.ca_file, s.urls[0]), automation="manual", **SETTINGS) as first, \
                Daemon(source(s, s.ca_file, s.urls[0] + "/"), automation="full", **SETTINGS) as second:
            first.start()
            wait_for("recommendations", lambda: len(first.actions("recommended")) > 0, 60)
            second.start()
            wait_for("a fault", lambda: any("another ballastd on this machine" in t for t in faults(second)), 60)
            time.sleep(12)
            equal("moves", list(c.arrivals), [])
            first.stop()
            wait_for("moves", lambda: len(c.arrivals) > 0, 60)
            second.stop()


def test_two_services_on_two_machines():
    """Neither sees more of the other than that it does, or undoes, its moves: with the second such move one of them acts no more by itself."""
    c = uneven("lab")
    with Server(c) as s:
        with Daemon(source(s, s.ca_file, s.urls[0]), automation="full", **SETTINGS) as first, \
                Daemon(source(s, s.ca_file, s.urls[0]), automation="full", **SETTINGS) as second:
            def held():
                return [d for d in (first, second) if any("moves the VMs of this cluster" in t for t in faults(d))]

            def waits(d):
                return [a for a in d.actions("recommended") if a["action"] == "migrate"]

            def stirred(done, seconds):
                """Until it is done, another node is the busy one each 12 s: no multiple of the interval, so that each service sees it first at times."""
                for n in range(round(seconds / 12)):
                    with c.lock:
                        for guest in c.guests.values():
                            guest.cpu = 0.9 if guest.node == f"n{1 + n % 3}" else 0.1
                    until = time.monotonic() + 12
                    while time.monotonic() < until:
                        if done():
                            return True
                        time.sleep(0.2)
                return False

            with on_another_machine(second, s.urls[0]):
                first.start()
                second.start()
                assert stirred(held, 180), "neither has noticed"
                one = held()[0]
                assert stirred(lambda: waits(one), 120), "the one that holds back recommends nothing"
                other = second if one is first else first
                other.kill()
                one.kill()  # it remembers
                one.start()
                before = len(changed(s))
                assert stirred(lambda: waits(one), 120), "it recommends nothing after its restart"
                time.sleep(12)
                equal("moves that were asked for", len(changed(s)), before)
                one.cli("confirm-setting", "source")
                assert stirred(lambda: len(changed(s)) > before, 120), "it does not act again"


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
