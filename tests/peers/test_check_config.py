#!/usr/bin/env python3
"""`ballast check-config --connect` against real servers: vcsim with a user who has a role, controllers, a Redfish service, mosquitto; each
right and wrong in turn. What is counted: logins with a refused password, messages at the broker, seconds."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from daemon import BALLAST, Daemon, wait_for, yaml
from ipmi_sim import Controllers
from mqtt import Broker, missing
from redfish_service import RedfishService
from relay import Relay
from vcsim import Vcsim

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import Skip, run_tests  # noqa: E402

CALL_S = 240
SHIM = os.environ.get("BALLAST_NAME_SHIM", "build/tests/peers/libname_shim.so")
COLUMNS = 80
os.environ.pop("container", None)  # advice is that for a machine
READ = "System.View,System.Read"
# What the manual page lists, and the settings with which it is missed.
PRIVILEGES = {"Resource.HotMigrate": "full", "Resource.ColdMigrate": "full", "Host.Config.Maintenance": "dpm",
              "VirtualMachine.Interact.PowerOn": None, "Global.CancelTask": None}
FULL = ",".join([READ, *PRIVILEGES])
DPM = {"enabled": True, "automation": "automatic"}


def equal(what, is_, expected):
    assert is_ == expected, f"{what}: {is_!r}, expected {expected!r}"


class Check:
    """A run of the command with this configuration; its items, its exit code, its seconds."""

    def __init__(self, source, code=None, **settings):
        with tempfile.TemporaryDirectory(prefix="ballast-check-") as folder:
            file = pathlib.Path(folder) / "ballast.yaml"
            file.write_text(yaml({"cluster": "test", "state_dir": f"{folder}/state", "socket": f"{folder}/run/s", "source": source,
                                  **settings}))
            began = time.monotonic()
            done = self.run(file, "--format", "json")
            self.seconds = time.monotonic() - began
            assert done.returncode in (0, 1), (done.returncode, done.stderr)
            self.answer = json.loads(done.stdout)
            self.items = self.answer["checks"]
            assert not (pathlib.Path(folder) / "state").exists(), "it has made the state folder"
        equal("ok", self.answer["ok"], done.returncode == 0)
        equal("problems", bool(self.of("problem")), done.returncode == 1)
        if code is not None:
            equal(f"exit code, with {self.of('problem')}", done.returncode, code)

    @staticmethod
    def run(file, *more):
        return subprocess.run([BALLAST, "check-config", str(file), "--connect", *more], capture_output=True, text=True, timeout=CALL_S,
                              check=False, stdin=subprocess.DEVNULL)

    def of(self, verdict, area=None):
        return [i["text"] for i in self.items if i["verdict"] == verdict and area in (None, i["area"])]

    def one(self, verdict, *words):
        """The only item of the verdict with these words."""
        found = [i for i in self.items if i["verdict"] == verdict and all(w in i["text"] for w in words)]
        assert len(found) == 1, f"{verdict} {words}: {found or self.items}"
        return found[0]


def source_of(sim, username="reader", **more):
    return {"kind": "vsphere", "url": sim.url, "username": username, "password_file": sim.password_file, "cluster": "DC0_C0",
            **({"ca_file": sim.ca_file} if sim.ca_file else {}), **more}


def limited(privileges, *more):
    return ("-limited", "reader", "-privileges", privileges, *more)


@contextlib.contextmanager
def secret(text):
    with tempfile.TemporaryDirectory(prefix="ballast-check-") as folder:
        file = pathlib.Path(folder) / "password"
        file.write_text(text + "\n")
        file.chmod(0o600)
        yield str(file)


# ---- the source ---------------------------------------------------------------------------------------------------


def test_complete_role():
    """With all that the manual page lists there is no problem, whatever the service is to do."""
    with Vcsim(hosts=3, vms=6, extra=limited(FULL)) as sim:
        sim.client().set_drs("manual")
        c = Check(source_of(sim), 0, automation="full")
        for privilege in ("System.Read", *PRIVILEGES):
            c.one("ok", privilege)
        c.one("ok", "can be reached")
        c.one("ok", "certificate is trusted")
        c.one("ok", "login of reader was accepted")
        c.one("ok", "cluster DC0_C0", "3 hosts, 6 VMs")


def test_missing_privileges():
    """Each missing privilege is named, with its label in the client: a problem where the service would use it by itself, else a note."""
    for left_out, missed_by in PRIVILEGES.items():
        with Vcsim(hosts=2, vms=3, extra=limited(",".join(p for p in FULL.split(",") if p != left_out))) as sim:
            sim.client().set_drs("manual")
            note = Check(source_of(sim), 0).one("note", left_out, "is missing on all")
            assert "if Ballast is to do this: add " in note["advice"] and ">" in note["advice"], note
            if missed_by:
                settings = {"automation": "full"} if missed_by == "full" else {"dpm": DPM}
                c = Check(source_of(sim), 1, **settings)
                problem = c.one("problem", left_out, "is missing on all")
                assert problem["advice"].startswith("add "), problem
                equal(f"missing without {left_out}", [t for t in c.of("problem", "privileges") if left_out not in t], [])


def test_missing_on_some():
    with Vcsim(hosts=2, vms=5, clusters=2) as sim:
        vms = {n: r for n, r in sim.client().vms().items() if n.startswith("DC0_C0")}
    denied = sorted(vms)[1:3]
    deny = ",".join(f"{vms[n]}:Resource.HotMigrate" for n in denied)
    with Vcsim(hosts=2, vms=5, clusters=2, extra=limited(FULL, "-deny", deny)) as sim:
        equal("the same ids", {n: r for n, r in sim.client().vms().items() if n in vms}, vms)
        problem = Check(source_of(sim), 1, automation="full").one("problem", "Resource.HotMigrate is missing on 2 of 5 VMs")
        assert all(n in problem["text"] for n in denied) and "overrides the cluster's" in problem["advice"], problem


def test_read_only_folders():
    """A user who may not read the folders above finds no cluster by its name; by its id, all works."""
    with Vcsim(hosts=2, vms=3, extra=limited(READ, "-folders=false")) as sim:
        c = Check(source_of(sim), 1)
        c.one("ok", "login of reader was accepted")
        c.one("problem", "read the folders above the cluster")


def test_no_permission():
    """A user whose login is right, and who has no role on anything; and one whose role lacks the right to read."""
    with Vcsim(hosts=2, vms=3, extra=limited("")) as sim:
        c = Check(source_of(sim), 1)
        c.one("problem", "reader was accepted, but this user has no permission anywhere")
        assert "Read-only" in c.one("problem", "no permission")["advice"]
    with Vcsim(hosts=2, vms=3, extra=limited("System.View")) as sim:
        c = Check(source_of(sim), 1)
        c.one("ok", "login of reader was accepted")
        assert len(c.of("problem", "cluster")) == 1, c.items


def test_sees_nothing():
    """A role that was given without propagation: the cluster is there, and nothing in it."""
    with Vcsim(hosts=0, vms=0) as sim:
        c = Check(source_of(sim, sim.username), 1)
        assert "Propagate" in c.one("problem", "the user sees no host")["advice"]
        equal("problems", len(c.of("problem")), 1)
    with Vcsim(hosts=2, vms=0) as sim:
        Check(source_of(sim, sim.username)).one("note", "the user sees no VM")


def test_refused_password():
    """One login, and nothing more is sent."""
    with Vcsim(hosts=2, vms=3, tls=False) as sim, Relay(sim.url) as relay, secret("wrong") as file:
        c = Check({**source_of(sim, sim.username), "url": relay.url, "password_file": file}, 1)
        c.one("problem", f"login of {sim.username} was refused")
        c.one("skipped", "cluster, privileges")
        equal("logins", relay.counts["Login"], 1)
        equal("other calls", set(relay.counts) - {"RetrieveServiceContent", "Login"}, set())


def test_one_login():
    with Vcsim(hosts=2, vms=3, tls=False) as sim, Relay(sim.url) as relay:
        Check({**source_of(sim, sim.username), "url": relay.url}).one("ok", "login of")
        equal("logins and logouts", (relay.counts["Login"], relay.counts["Logout"]), (1, 1))
        equal("changes", [m for m in relay.counts if m.endswith("_Task") or m.startswith(("Update", "Set", "Reconfig"))], [])


def test_wrong_cluster():
    """The clusters that there are, with path and id; each of them can be given."""
    with Vcsim(hosts=2, vms=3, clusters=2, extra=limited(READ)) as sim:
        c = Check(source_of(sim, cluster="DC0_C7"), 1)
        c.one("problem", "there is no cluster DC0_C7")
        for name, ref in sim.client().clusters().items():
            c.one("note", f"/DC0/host/{name} ({ref})")
            Check(source_of(sim, cluster=f"/DC0/host/{name}"), 0).one("ok", f"cluster {name}", ref)
        several = source_of(sim)
        del several["cluster"]
        Check(several, 1).one("problem", "several clusters")


def test_unreachable():
    with Vcsim(hosts=2, vms=3) as sim:
        source = source_of(sim)
        c = Check({k: v for k, v in source.items() if k != "ca_file"}, 1)
        c.one("ok", "can be reached")
        assert "source.ca_file" in c.one("problem", "certificate")["advice"]
        Check({**source, "url": f"https://127.0.0.1:{sim.port}/elsewhere"}, 1)
        sim.stop()
        Check(source, 1).one("problem", "refused")


def test_silent():
    """A source that takes the connection and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as s, secret("x") as file:
        c = Check({"kind": "vsphere", "url": f"http://127.0.0.1:{s.getsockname()[1]}/sdk", "username": "u", "password_file": file,
                   "timeout_s": 3}, 1)
        assert c.of("problem", "source") and c.seconds < 60, (c.seconds, c.items)


def test_conflicts():
    with Vcsim(hosts=3, vms=6) as sim:
        api = sim.client()
        api.set_drs("fullyAutomated")
        api.set_dpm("automated")
        api.set_vsan(sorted(api.hosts().values())[0])
        c = Check(source_of(sim, sim.username), 1, dpm=DPM)
        equal("conflicts", len(c.of("problem", "cluster")), 3)
        for i in c.items:
            assert i["verdict"] != "problem" or i["advice"], i
        api.set_drs("manual")
        api.set_dpm("automated", enabled=False)
        Check(source_of(sim, sim.username), 0).one("ok", "no other balancer")


def test_entries():
    """Entries of the configuration that select nothing."""
    with Vcsim(hosts=4, vms=3) as sim:
        sim.client().set_drs("manual")
        rule = {"kind": "anti-affinity", "vms": "DC0_C0_*"}
        c = Check(source_of(sim, sim.username), 1, rules={"web": rule, "db": {**rule, "vms": "db-*"}},
                  hosts=[{"name": "esx*", "dpm": "disabled"}])
        c.one("problem", "rules.db")
        assert not any("rules.web" in t for t in c.of("problem")), c.items
        equal("entries", len(c.of("problem", "configuration")), 2)
        Check(source_of(sim, sim.username), 0, rules={"web": rule}).one("ok", "each of the 1 entries selects something")


def test_tags():
    """Tags that cannot be read are a note; where an entry selects by them, a problem."""
    with Vcsim(hosts=2, vms=3, tls=False) as sim, Relay(sim.url) as relay:
        sim.client().set_drs("manual")
        relay.refused = ("/rest", "/api")
        source = {**source_of(sim, sim.username), "url": relay.url}
        Check(source, 0, proxlb_tags="off").one("note", "tags cannot be read", "503")
        c = Check(source, 1, proxlb_tags="off", hosts=[{"name": "DC0*", "tag": "lab", "dpm": "disabled"}])
        assert "right to read tags" in c.one("problem", "labels", "503")["advice"]
        relay.refused = ()
        Check(source, 0).one("ok", "tags can be read")


def test_text():
    """The text fits a terminal, and tells the exit code."""
    with Vcsim(hosts=2, vms=3, extra=limited(READ)) as sim, tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "b.yaml"
        file.write_text(yaml({"cluster": "test", "state_dir": f"{folder}/state", "socket": f"{folder}/s", "automation": "full",
                              "source": source_of(sim)}))
        done = Check.run(file)
        equal("exit code", done.returncode, 1)
        wide = [line for line in done.stdout.splitlines() if len(line) > COLUMNS and " " in line.strip()]
        equal("wide lines", wide, [])
        for what in ("Source\n  OK ", "\nPrivileges\n", "  PROBLEM  Resource.HotMigrate", "To do: add Resource > Migrate", "problems.\n"):
            assert what in done.stdout, (what, done.stdout)
        equal("standard error", done.stderr, "")


# ---- controllers --------------------------------------------------------------------------------------------------


def ipmi(c, **more):
    return {"ipmi": {"address": c.address, "username": c.username, "password_file": c.password_file, "workarounds": ["opensesspriv"],
                     **more}}


def redfish(r, system, **more):
    return {"redfish": {"url": r.url, "username": r.username, "password_file": r.password_file, "ca_file": r.ca_file, "system": system,
                        **more}}


def test_controllers():
    """Each is asked once; its answer is compared with the cluster."""
    with Vcsim(hosts=4, vms=4) as sim, Controllers(["h0", "h1"]) as controllers, RedfishService(("1", "2")) as r, secret("wrong") as bad:
        api = sim.client()
        api.set_drs("manual")
        names = sorted(api.hosts())
        c0, c1 = controllers["h0"], controllers["h1"]
        api.set_any("HostSystem", api.hosts()[names[0]], "hardware.systemInfo.uuid", c0.guid, "xsd:string")
        c1.put("power", 0)
        hosts = {names[0]: ipmi(c0), names[1]: ipmi(c1), names[2]: redfish(r, "1"), names[3]: {"wol": {"mac": "02:00:00:00:00:01"}},
                 "esx9": redfish(r, "2", password_file=bad)}
        c = Check(source_of(sim, sim.username), 1, power={"hosts": hosts})
        assert ", as in the cluster" in c.one("ok", f"{names[0]} ipmi")["text"]
        c.one("problem", f"{names[1]} ipmi")
        c.one("note", "Wake-on-LAN", names[3])
        c.one("problem", "power.hosts.esx9: the cluster has no host")
        c.one("problem", "host esx9: Redfish")
        equal("sessions that are left", r.sessions(), 0)
        equal("chassis", ([w for c in controllers for _, w, _ in c.commands() if w != "get"], r.resets), ([], []))


def test_other_machines():
    """A controller that belongs to another machine than the host; one machine behind the controllers of two hosts."""
    with Vcsim(hosts=3, vms=3) as sim, Controllers(["h0"]) as controllers, RedfishService(("1", "2")) as r:
        api = sim.client()
        api.set_drs("manual")
        names, c0 = sorted(api.hosts()), controllers["h0"]
        for name, uuid in zip(names, (c0.guid, "4c4c4544-0042-5110-8036-b6c04f593132", "")):
            api.set_any("HostSystem", api.hosts()[name], "hardware.systemInfo.uuid", uuid, "xsd:string")
        r["2"].uuid = c0.guid
        power = {names[0]: ipmi(c0), names[1]: redfish(r, "1"), names[2]: redfish(r, "2")}
        c = Check(source_of(sim, sim.username), 1, power={"hosts": power})
        assert "machine as in the cluster" in c.one("ok", f"{names[0]} ipmi")["text"]
        c.one("problem", f"{names[1]} redfish", "belongs to another machine")
        c.one("problem", f"{names[0]} ipmi and {names[2]} redfish lead to one machine")
        equal(f"problems of {c.items}", len(c.of("problem")), 2)


def test_meter_hangs():
    """A controller that tells its power state and hangs at its meter: a note, not a host without a meter."""
    with RedfishService(("1",)) as r:
        hosts = {"h1": {**redfish(r, "1"), "timeout_s": 2}}
        Check({"kind": "sim"}, 0, power={"hosts": hosts}).one("ok", "h1 redfish", " W")
        r.hang = {"GET .*(EnvironmentMetrics|Power)"}
        Check({"kind": "sim"}, 0, power={"hosts": hosts}).one("note", "h1 redfish", "its power meter could not be read")


def test_nothing_can_wake():
    """Hosts that DPM would put to standby, and that neither vCenter nor an entry could wake."""
    with Vcsim(hosts=4, vms=4) as sim:
        api = sim.client()
        api.set_drs("manual")
        names = sorted(api.hosts())
        for name in names:
            api.set_any("HostSystem", api.hosts()[name], "capability.standbySupported", str(name == names[0]).lower(), "xsd:boolean")
        hosts = {names[1]: {"wol": {"mac": "02:00:00:00:00:01"}}}
        c = Check(source_of(sim, sim.username), 1, dpm=DPM, power={"hosts": hosts})
        c.one("problem", "nothing can wake 2 of 4 hosts", names[2], names[3])
        Check(source_of(sim, sim.username), 0, dpm=DPM, power={"hosts": hosts}, hosts=[{"name": names[2:], "dpm": "disabled"}])
        Check(source_of(sim, sim.username), 0)


def test_refused_by_controllers():
    """A refused password is sent to a controller once, however many methods and systems use the account."""
    with Controllers(["h0", "h1"]) as controllers, RedfishService(("1", "2", "3")) as r, secret("wrong") as bad:
        hosts = {f"h{i}": redfish(r, str(i), password_file=bad) for i in (1, 2, 3)}
        hosts["h0"] = ipmi(controllers["h0"], password_file=bad)
        hosts["h1"].update(ipmi(controllers["h1"], username="admin", password_file=bad))
        c = Check({"kind": "sim"}, 1, power={"hosts": hosts})
        equal(f"refused of {c.items}", (len(c.of("problem", "controllers")), len(c.of("skipped", "controllers"))), (2, 3))
        equal("logins of that account, beside the one by IPMI", [q for q in r.requests if "Sessions" in str(q)], [])
        del hosts["h1"]["ipmi"]
        Check({"kind": "sim"}, 1, power={"hosts": hosts})
        equal("logins by Redfish", len([q for q in r.requests if "Sessions" in str(q)]), 1)


def test_hung_controllers():
    """Controllers that do not answer take no longer together than one of them."""
    count, timeout_s = 40, 4
    with contextlib.ExitStack() as stack, secret("x") as file:
        controllers = stack.enter_context(Controllers(["good"]))
        silent = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(count)]
        for s in silent:
            s.bind(("127.0.0.1", 0))
        hosts = {f"h{i}": {"timeout_s": timeout_s, "ipmi": {"address": f"127.0.0.1:{s.getsockname()[1]}", "username": "admin",
                                                            "password_file": file}} for i, s in enumerate(silent)}
        c = Check({"kind": "sim"}, 1, power={"hosts": {**hosts, "good": ipmi(controllers["good"])}})
        c.one("ok", "good ipmi")
        equal("unreachable", len(c.of("problem", "controllers")), count)
        assert c.seconds < count * timeout_s / 2, c.seconds


# ---- the broker ---------------------------------------------------------------------------------------------------


def test_broker():
    if missing():
        raise Skip(missing())
    with Broker() as broker:
        broker.start()
        with broker.listen("ballast/#") as listener, secret("wrong") as bad:
            c = Check({"kind": "sim"}, 0, mqtt=broker.settings())
            c.one("ok", "connected")
            c.one("ok", "may publish: ballast/test/check")
            wait_for("the message", lambda: listener.on("ballast/test/check"))
            equal("topics", {m["topic"] for m in listener.seen()}, {"ballast/test/check"})
            Check({"kind": "sim"}, 1, mqtt=broker.settings(password_file=bad)).one("problem", "rejects the login")
            Check({"kind": "sim"}, 1, mqtt=broker.settings(ca_file=None)).one("problem", "broker")
        broker.kill()
        Check({"kind": "sim"}, 1, mqtt=broker.settings()).one("problem", "cannot be reached")


def test_broker_refuses():
    if missing():
        raise Skip(missing())
    with Broker(acl="read") as broker:
        broker.start()
        c = Check({"kind": "sim"}, 1, mqtt=broker.settings())
        assert "topic write ballast/test/#" in c.one("problem", "refuses messages to ballast/test/check")["advice"]
        broker.hang()
        try:
            c = Check({"kind": "sim"}, 1, mqtt=broker.settings())
        finally:
            broker.go_on()
        assert c.of("problem", "broker") and c.seconds < 90, (c.seconds, c.items)


def test_no_name_server():
    """A look-up that takes longer than the broker's time limit is given up, and the rest is told."""
    if missing():
        raise Skip(missing())
    environment = {**os.environ, "LD_PRELOAD": SHIM}
    with tempfile.TemporaryDirectory() as folder, Controllers(["good"]) as controllers:
        file = pathlib.Path(folder) / "b.yaml"
        file.write_text(yaml({"cluster": "test", "state_dir": f"{folder}/state", "socket": f"{folder}/s", "source": {"kind": "sim"},
                              "mqtt": {"url": "mqtt://never.invalid"}, "power": {"hosts": {"good": ipmi(controllers["good"])}}}))
        done = subprocess.run([BALLAST, "check-config", file, "--connect"], capture_output=True, text=True, timeout=CALL_S, check=False,
                              env=environment)
        equal("exit code", done.returncode, 1)
        assert "good ipmi: login accepted" in done.stdout and "has not answered within" in done.stdout.split("MQTT broker")[1], done.stdout


# ---- beside a running service, and this machine --------------------------------------------------------------------


def test_beside_the_service():
    """The service keeps its connections, its lock and its store; nothing new is in its log."""
    if missing():
        raise Skip(missing())
    with Vcsim(hosts=2, vms=4) as sim, Broker() as broker:
        sim.client().set_drs("manual")
        broker.start()
        with Daemon(source_of(sim, sim.username), mqtt=broker.settings(client_id="ballast-a"), interval_s=60) as d:
            d.start()
            wait_for("the broker", lambda: d.status()["mqtt"]["connected"])
            wait_for("a pass", lambda: d.status()["pass"])
            log, store = d.log.read_text(), sorted(f.name for f in (d.folder / "state").iterdir())
            done = Check.run(d.config)
            equal(f"exit code: {done.stdout}", done.returncode, 0)
            status = d.status()
            assert status["mqtt"]["connected"] and status["source"]["state"] == "up", status
            equal("log", [line for line in d.log.read_text()[len(log):].splitlines() if not re.search(" (info|debug): ", line)], [])
            equal("store", sorted(f.name for f in (d.folder / "state").iterdir()), store)
            with broker.listen("ballast/test/online") as listener:
                wait_for("the retained state", lambda: listener.on("ballast/test/online"))
                equal("online", [m["payload"] for m in listener.on("ballast/test/online")], ["online"])


def test_other_user():
    """As a user who may read no password and write nowhere: each is named, and no peer is asked with an empty password."""
    if os.getuid() != 0:
        raise Skip("only root can run it as another user")
    with tempfile.TemporaryDirectory() as folder, Vcsim(hosts=2, vms=3, tls=False) as sim, Relay(sim.url) as relay, \
            Controllers(["h0"]) as controllers:
        os.chmod(folder, 0o755)
        program = pathlib.Path(shutil.copy(BALLAST, folder))
        file = pathlib.Path(folder) / "b.yaml"
        file.write_text(yaml({"cluster": "test", "state_dir": f"{folder}/state", "socket": f"{folder}/s",
                              "source": {**source_of(sim, sim.username), "url": relay.url},
                              "power": {"hosts": {"h0": ipmi(controllers["h0"])}}}))
        done = subprocess.run([program, "check-config", file, "--connect", "--format", "json"], capture_output=True, text=True,
                              timeout=CALL_S, check=False, user="nobody", extra_groups=[])
        equal(f"exit code: {done.stderr}", done.returncode, 1)
        problems = [i for i in json.loads(done.stdout)["checks"] if i["verdict"] == "problem"]
        equal("areas", sorted(i["area"] for i in problems), ["controllers", "machine", "machine", "source"])
        equal("advice", [("make the folder" if i["area"] == "machine" else "run this as root") in i["advice"] for i in problems],
              [True] * 4)
        equal("asked", sum(relay.counts.values()), 0)


def test_as_the_packaged_service():
    """Root looks as the service's user does, and the command that is printed mends it; a member of its group gets no false problem."""
    if os.getuid() != 0:
        raise Skip("only root can run it as another user")
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        etc = pathlib.Path(place) / "etc"
        (etc / "ballast").mkdir(parents=True)
        for name in ("passwd", "group", "nsswitch.conf", "ld.so.cache", "localtime"):
            if pathlib.Path("/etc", name).exists():
                shutil.copy(pathlib.Path("/etc", name), etc)
        for name, lines in (("passwd", "ballast:x:7001:7001::/:/bin/false\nalice:x:7002:7002::/:/bin/sh\n"), ("group", "ballast:x:7001:alice\n")):
            (etc / name).write_text(re.sub("(?m)^(ballast|alice):.*\n", "", (etc / name).read_text()) + lines)
        program = shutil.copy(BALLAST, place)
        config, secret = etc / "ballast" / "ballast.yaml", etc / "ballast" / "broker.password"
        config.write_text(yaml({"cluster": "test", "source": {"kind": "sim"}, "mqtt": {"url": "mqtt://127.0.0.1:9", "username": "ballast",
                                                                                        "password_file": "/etc/ballast/broker.password"}}))
        secret.write_text("hunter2\n")
        os.chmod(etc / "ballast", 0o755)
        os.chmod(config, 0o644)
        os.chmod(secret, 0o600)

        def run(*command, user=()):
            return subprocess.run(["unshare", "--mount", "sh", "-c", f'mount --bind {etc} /etc && exec "$@"', "sh", *user, *command],
                                  capture_output=True, text=True, timeout=CALL_S, check=False)

        def check(*more, user=()):
            return run(program, "check-config", "/etc/ballast/ballast.yaml", *more, user=user)

        alice = ("setpriv", "--reuid=7002", "--regid=7002", "--groups=7001")
        done = check()
        equal("exit code", done.returncode, 2)
        said = re.search("broker.password cannot be opened: Permission denied; `(.*)` lets user ballast read it", done.stderr)
        assert said, done.stderr
        equal("exit code as a member", check(user=alice).returncode, 0)
        run("sh", "-c", said[1].replace("sudo ", ""))
        equal("mode", oct(secret.stat().st_mode & 0o777), "0o640")
        done = check()
        assert done.returncode == 0 and "good, as the service's user, ballast, sees it" in done.stdout, (done.stdout, done.stderr)
        for user, told in (((), "the service's unit makes the folder"), (alice, "this ran as user alice, and the service runs as ballast")):
            done = check("--connect", "--format", "json", user=user)
            machine = [i for i in json.loads(done.stdout)["checks"] if i["area"] == "machine"]
            assert [i for i in machine if told in i["text"]], machine
            equal("problems of this machine", [i for i in machine if i["verdict"] == "problem"], [])
        # the folder itself is closed
        os.chmod(etc / "ballast", 0o700)
        said = re.search("`(.*)` lets user ballast enter the folder", check().stderr)
        assert said, check().stderr
        run("sh", "-c", said[1].replace("sudo ", ""))
        equal("exit code", check().returncode, 0)
        # links: to the folder, out of it, and to where the service's user may not go
        os.chmod(config, 0o600)
        (pathlib.Path(place) / "link.yaml").symlink_to("/etc/ballast/ballast.yaml")
        done = run(program, "check-config", f"{place}/link.yaml")
        assert "chown root:ballast /etc/ballast/ballast.yaml " in done.stderr, done.stderr
        closed = pathlib.Path(place) / "closed"
        closed.mkdir(mode=0o700)
        os.rename(config, closed / "ballast.yaml")
        config.symlink_to(closed / "ballast.yaml")
        assert f"user ballast may not enter the folder {closed}; keep the file in /etc/ballast" in check().stderr, check().stderr
        os.chmod(closed, 0o755)
        assert f"chown root:ballast {closed}/ballast.yaml " in check().stderr, check().stderr
        # no command that a shell would read otherwise, or that is cut
        for name in ("it's", "a" * 200 + "/" + "b" * 200):
            (closed / name).mkdir(parents=True)
            shutil.copy(closed / "ballast.yaml", closed / name)
            config.unlink()
            config.symlink_to(closed / name / "ballast.yaml")
            os.chmod(closed / name / "ballast.yaml", 0o600)
            assert check().stderr.rstrip().endswith("let user ballast read it, best by its group and mode 0640"), check().stderr
        # the unit hides homes, whatever their modes are; the working folder may be closed; programs get the environment of the unit's user
        config.unlink()
        config.write_text(yaml({"cluster": "test", "source": {"kind": "sim"}, "mqtt": {"url": "mqtt://127.0.0.1:9", "username": "ballast",
                                                                                        "password_file": "/run/user/broker.password"},
                                "power": {"hosts": {"h1": {"wol": {"mac": "02:00:00:00:00:01", "relay": "root@127.0.0.1"}}}}}))
        os.chmod(config, 0o644)
        (etc / "ssh").mkdir()
        (etc / "ssh" / "fake").write_text("#!/bin/sh\nenv > /run/user/environment\nexit 255\n")
        os.chmod(etc / "ssh" / "fake", 0o755)
        home = "mount -t tmpfs tmpfs /run && mkdir -m 777 /run/user && install -m 644 /etc/ballast/broker.password /run/user && mount --bind /etc/ssh/fake /usr/bin/ssh"
        done = run("sh", "-c", f"{home} && mkdir -m 700 /run/user/x && cd /run/user/x && SSH_AUTH_SOCK=/x XDG_CONFIG_HOME=/y HOME=/root "
                               f"{program} check-config --connect ../../../etc/ballast/ballast.yaml; cat /run/user/environment")
        assert re.search(r"warning: /etc/ballast/ballast.yaml:\d+: the service's unit hides /run/user/broker.password", done.stderr), done
        environment = done.stdout.split("\n")
        assert {"HOME=/", "USER=ballast", "LOGNAME=ballast"} <= set(environment), done
        assert not [v for v in environment if v.startswith(("SSH_AUTH_SOCK=", "XDG_"))], environment


def test_machine():
    with tempfile.NamedTemporaryFile() as file:
        c = Check({"kind": "sim"}, 1, state_dir=f"{file.name}/state", dpm={"windows": ["22:00 for 8h"], "time_zone": "Europe/Berlin"})
        c.one("problem", f"state_dir {file.name}/state")
        c.one("ok", "folder of the socket")
        c.one("ok", "Europe/Berlin")
        c.one("ok", "there is nothing to connect to")


if __name__ == "__main__":
    os.environ.setdefault("TZ", "UTC")
    sys.exit(run_tests(globals()))
