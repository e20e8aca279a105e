"""from_source.py: journeys from a checkout that is built, each in a folder of an ordinary user; the lab's as root in the checkout itself."""
import os
import re
import subprocess

from daemon import BALLAST, BALLASTD, wait_for
from proxmox import Cluster, Server
from proxmox.cluster import GIB
from setup_dialogue import Setup
from vcsim import Vcsim

from .journey import EXPLAINED, in_one_line, journey
from .readme import TOP, commands
from .terminal import Tree

BUILT = "First steps without a hypervisor 2"
START = "First steps without a hypervisor 3"
WITHOUT_SERVICE = "First steps without a hypervisor 4"
FIRST_COMMANDS = "First steps 2"


def tree():
    return Tree(TOP, BALLAST, BALLASTD)


def looks_around(j, terminal):
    """To the first explained recommendation, then the README's commands, of a VM and a number that are there."""
    number, vm = j.is_explained(terminal)
    terminal.machine.replace.update({"--vm web-01": f"--vm {vm}", "apply 1 4-6": f"apply {number}"})
    assert "paused" in j.follow(FIRST_COMMANDS, terminal)


def terminals(j, machine, names):
    """Two with the exports of the blocks."""
    ret = machine.terminal(), machine.terminal()
    for name in names:
        for terminal in ret:
            j.follow(name, terminal)
    return ret


def simulated_cluster(j, machine, exports):
    """The same from source and with the packages, for a user who is neither root nor in the group."""
    first, second = terminals(j, machine, exports)
    j.mistake("BALLAST_SOCKET is not set", second.type("ballast status", code=3), "/run/ballast/ballastd.sock", "BALLAST_SOCKET")
    start, export = commands(j.block(START))
    second.type(export)
    j.mistake("the service is not started", second.type("ballast status", code=3), "ballastd.sock", "start ballastd")
    first.start(start)
    wait_for("the service", lambda: "source" in second.type("ballast status", code=None))
    third = machine.terminal()
    third.exports = first.exports
    said = j.mistake("it is started twice", third.type(start, code=1), "state_dir", "stop that process")
    third.type("kill " + re.search(r"\(process (\d+)\)", said)[1])
    machine.running.pop().wait(60)
    first.start(start)
    j.mistake("explain without a VM", second.type("ballast explain", code=2), "explain", "--vm")
    looks_around(j, second)


SIMULATED = ["BALLAST_SOCKET is not set", "the service is not started", "it is started twice", "explain without a VM"]


@journey("simulated cluster from source", who="neither", by="source", back_end="simulated", blocks=[BUILT, START, FIRST_COMMANDS], mistakes=SIMULATED)
def simulated(j):
    with tree() as machine:
        simulated_cluster(j, machine, [BUILT])


@journey("decisions without a service", who="neither", by="source", back_end="none", blocks=[BUILT, WITHOUT_SERVICE],
         mistakes=["a file that is not there", "a key with a typing error"])
def without_service(j):
    with tree() as machine:
        terminal, _ = terminals(j, machine, [BUILT])
        generate, plan, simulate = commands(j.block(WITHOUT_SERVICE))
        j.mistake("a file that is not there", terminal.type(plan, code=2), "c.json", "No such file")
        terminal.type(generate)  # what makes it
        assert re.search(EXPLAINED, " ".join(terminal.type(plan).split()))
        j.arrived()
        said = j.mistake("a key with a typing error", terminal.type(simulate.replace("dpm.enabled=false", "dpm.enable=false"), code=2), "--compare dpm.enable", "dpm.enabled")
        assert re.search(r'did you mean "dpm.enabled"', said), said
        terminal.type(simulate)
        assert (machine.root / "shifts.html").stat().st_size > 1000


def problem(s):
    """The sentence of the next problem."""
    s.asks("PROBLEM: ")
    return s.asks("\n")


def setup_from_source(j, machine):
    """`ballast setup` with a file of one's own, and what it asks for: the service in another terminal."""
    first, second = terminals(j, machine, [BUILT])
    j.mistake("the default place", second.type("ballast setup", code=2 if not os.path.isdir("/etc/ballast") else 1), "/etc/ballast", "--config")
    [line] = commands(j.block("First steps 1"))
    second.machine.replace["sudo ballast setup"] = "ballast setup --config b.yaml"  # as the text below that line says
    setup = Setup(machine.root, command=second.words(line), terminal=True)
    return first, second, setup


def begins(setup, first):
    """The service as it says, and the socket of the command."""
    said = setup.asks("start the service, in another terminal: ", "\n").strip()
    first.start(said)
    setup.asks("for the command: export ")
    return setup.asks("\n").strip()


@journey("vSphere from source", who="neither", by="source", back_end="vSphere", blocks=[BUILT, "First steps 1", FIRST_COMMANDS],
         mistakes=["the default place", "a URL without https", "an unknown certificate", "a wrong password", "a cluster that is not there"])
def vsphere(j):
    with Vcsim(hosts=4, vms=24, clusters=2) as sim, tree() as machine:
        load(sim)
        first, second, setup = setup_from_source(j, machine)
        with setup as s:
            s.answer(("kind of the source", "vsphere"), ("URL of the API", "vcenter.example"))
            j.mistake("a URL without https", s.asks("\n", "\n"), "source.url", "https://vcenter.example/sdk")
            s.answer(("URL of the API", sim.url), ("user to log in as", sim.username), ("the password", "wrong"))
            j.mistake("an unknown certificate", problem(s), "certificate cannot be trusted", "source.ca_file")
            s.answer(("with the SHA-256 fingerprint", "1"))
            j.mistake("a wrong password", problem(s), f"login of {sim.username}", "correct source.username or the file of source.password_file")
            s.answer(("user to log in as", ""), ("the password", sim.password), ("number of a line above", "Cluster-A"))
            j.mistake("a cluster that is not there", problem(s), "no cluster Cluster-A", "/DC0/host/DC0_C0", "to do")
            s.answer(("number of a line above", "1"), ("name of the cluster in all output", ""))
            second.type(f"export {begins(s, first)}")
            s.ends(0)
        looks_around(j, second)


def load(sim):
    """Most of the load of the first cluster is on one host."""
    api = sim.client()
    where = {ref: api.host_of(ref) for name, ref in api.vms().items() if "DC0_C0" in name}
    hot = sorted(where.values())[0]
    for vm, host in where.items():
        api.set_load(vm, cpu_mhz=800 if host == hot else 60, active_mb=8, consumed_mb=16)


def crowded():
    c = Cluster("9.1", nodes=3)
    for i in range(12):
        c.add(100 + i, "n1", cores=2, cpu=0.8, used=GIB, host_used=GIB)
    return c


@journey("Proxmox VE from source", who="neither", by="source", back_end="Proxmox VE", blocks=[BUILT, "First steps 1", FIRST_COMMANDS],
         mistakes=["the default place", "a user without a realm", "an unknown certificate", "a wrong secret", "a privilege is missing"])
def proxmox(j):
    cluster = crowded()
    with Server(cluster) as server, tree() as machine:
        account = cluster.accounts[server.token]
        kept = {path: set(privileges) for path, privileges in account.acl.items()}
        for privileges in account.acl.values():
            privileges.discard("VM.Audit")
        first, second, setup = setup_from_source(j, machine)
        with setup as s:
            s.answer(("kind of the source", "proxmox"), ("URL of the API", server.urls[0]), ("user", "ballast"))
            j.mistake("a user without a realm", s.asks("\n", "\n"), "source.username", "USER@REALM!TOKEN")
            s.answer(("user", server.token), ("the password", "00000000-0000-0000-0000-000000000000"))
            j.mistake("an unknown certificate", problem(s), "certificate cannot be trusted", "source.ca_file", "source.fingerprints")
            s.answer(("with the SHA-256 fingerprint", "1"))
            j.mistake("a wrong secret", problem(s), "was refused", "to do", "source.password_file")
            s.answer(("user to log in as", ""), ("the password", account.secret))
            j.mistake("a privilege is missing", problem(s), "VM.Audit", "to do: give")
            account.acl.update(kept)
            s.answer(("press Enter to check again", ""), ("name of the cluster in all output", "pve"))
            second.type(f"export {begins(s, first)}")
            s.ends(0)
        looks_around(j, second)


@journey("the lab", who="root", by="source", back_end="libvirt", blocks=["See it work 3"],
         mistakes=["not root", "load before the lab is up", "nothing is built", "a profile that is not there"])
def the_lab(j):
    from lab import need_lab
    need_lab()
    with tree() as machine:
        folder = machine.place / "lab"
        subprocess.run(["cp", "-a", TOP / "packaging", machine.root], check=True)
        machine.replace.update({verb: f"{verb} --folder {folder}" for verb in ("lab up", "lab load", "lab status", "lab down")})
        root = machine.terminal("root")
        up, load_, status, down = commands(j.block("See it work 3"))
        try:
            j.mistake("not root", machine.terminal().type(up, code=1), "lab", "needs root")
            j.mistake("load before the lab is up", root.type(load_, code=1), "no lab runs", "`lab up` starts one")
            os.rename(machine.root / "build", machine.place / "built")
            _, _, said = root.type(f"{up} --hosts 1 --vms 1").partition("ballastd does not run: ")
            j.mistake("nothing is built", said, "no ballastd found", "--build FOLDER", "lab down", "--no-wait --keep")
            root.type(down)
            os.rename(machine.place / "built", machine.root / "build")
            assert "dashboard: http://" in root.type(up)
            j.mistake("a profile that is not there", root.type(load_.replace("skewed", "skewd"), code=1), "skewd", "skewed")
            root.type(load_)
            root.type("export " + re.search(r"command: export (BALLAST_SOCKET=[^;]*);", root.type(status))[1])
            root.type(f"export PATH=$PATH:{machine.root}/build/src/cli")
            # it acts by itself: a move is recommended, runs, and is in the history
            def told():
                return in_one_line(root.type("ballast recommendations", code=None) + root.type("ballast history", code=None))
            wait_for("a recommendation with its reason", lambda: re.search(EXPLAINED, told()), every=1)
            assert re.search(r"^vm1 .*(moves|stays|runs)", in_one_line(root.type("ballast explain --vm vm1")))
            j.arrived()
        finally:
            root.type(down, code=None)
        assert not folder.exists(), "`lab down` leaves something"

