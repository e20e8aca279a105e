"""packaged.py: journeys with the Debian packages, each in a copy of a Debian on which the README's line has installed them."""
import json
import pathlib
import re

from daemon import wait_for
from proxmox import Server
from setup_dialogue import Setup
from vcsim import Vcsim

from .from_source import FIRST_COMMANDS, SIMULATED, START, crowded, load, looks_around, problem, simulated_cluster
from .journey import first_problem, journey
from .readme import README, blocks_of, commands
from .terminal import Debian, Installation

INSTALL = "Install 1"
SETUP = "First steps 1"
VSPHERE, LIBVIRT, BY_HAND = "First steps 3", "First steps 4", "First steps 5"
CONFIG = "/etc/ballast/ballast.yaml"


def with_installed(bare, debs, then):
    """Copies the Debian, installs the packages there as the README says, and goes on with the result."""
    with Installation(bare) as machine:
        machine.replace["apt install"] = "apt install -y"
        (machine.root / "tmp/ballast-packages").mkdir()
        for deb in pathlib.Path(debs).glob("ballast*.deb"):
            (machine.root / "tmp/ballast-packages" / deb.name).write_bytes(deb.read_bytes())
        for line in commands(blocks_of(README)[INSTALL]):
            machine.terminal("root").type(line)
        import lab  # noqa: F401  from here on a network of this test's own
        return then(machine.root)


def dialogue(j, machine):
    """`sudo ballast setup`."""
    [line] = commands(j.block(SETUP))
    return Setup(machine.file("/etc/ballast"), "ballast.yaml", command=[str(w) for w in machine.terminal().words(line)])


def installed(j, installation):
    """A machine of which the package's service has been started, as systemd does at the installation."""
    j.block(INSTALL)
    machine = Debian(installation)
    machine.terminal("root").type("systemctl start ballastd")
    return machine


def finish(s):
    shown = s.ends(0)
    assert "othing moves before" in shown, shown


@journey("the package, a member of the group", who="member", by="package", back_end="simulated", blocks=[INSTALL, FIRST_COMMANDS],
         mistakes=["not a member of the group", "a member since this login", "the service does not run"])
def member(j, installation):
    with installed(j, installation) as machine:
        alice = machine.terminal()
        said = j.mistake("not a member of the group", alice.type("ballast status", code=3), "Permission denied", "sudo usermod -aG ballast $USER", "log in again")
        before = machine.groups()
        alice.does(said)
        assert machine.groups() != before
        machine.groups = lambda: before  # in the terminal that is open
        j.mistake("a member since this login", alice.type("ballast status", code=3), "its group", "log in again")
        del machine.groups
        root = machine.terminal("root")
        root.type("systemctl stop")
        said = j.mistake("the service does not run", alice.type("ballast status", code=3), "/run/ballast/ballastd.sock", "sudo systemctl start ballastd")
        alice.does(said)
        looks_around(j, alice)


@journey("the package, without root and group", who="neither", by="package", back_end="simulated",
         blocks=[INSTALL, "First steps without a hypervisor 1", START, FIRST_COMMANDS], mistakes=SIMULATED)
def neither(j, installation):
    with Debian(installation) as machine:
        j.block(INSTALL)
        simulated_cluster(j, machine, ["First steps without a hypervisor 1"])


@journey("vSphere by questions", who="root", by="package", back_end="vSphere", blocks=[INSTALL, SETUP, FIRST_COMMANDS],
         mistakes=["not root", "nothing listens there", "an unknown certificate", "no permission", "a wrong password"])
def vsphere(j, installation):
    with Vcsim(hosts=4, vms=24) as sim, Vcsim(hosts=2, vms=3, extra=("-limited", "reader", "-privileges", "")) as closed, \
            installed(j, installation) as machine:
        load(sim)
        j.mistake("not root", machine.terminal().type("ballast setup", code=1), "/etc/ballast", "use sudo")
        with dialogue(j, machine) as s:
            s.answer(("kind of the source", "vsphere"), ("URL of the API", "https://127.0.0.1:1/sdk"), ("user to log in as", "reader"), ("the password", closed.password))
            j.mistake("nothing listens there", problem(s), "nothing listens there", "check source.url")
            s.answer(("URL of the API", closed.url))
            j.mistake("an unknown certificate", problem(s), "certificate cannot be trusted", "source.ca_file")
            s.answer(("with the SHA-256 fingerprint", "1"))
            j.mistake("no permission", problem(s), "reader was accepted, but this user has no permission anywhere", "Read-only")
            s.gives_up()
        with dialogue(j, machine) as s:  # a user who has the role
            s.answer(("kind of the source", "vsphere"), ("URL of the API", sim.url), ("user to log in as", sim.username), ("the password", "wrong"),
                     ("number of a line above", "1"))
            j.mistake("a wrong password", problem(s), f"login of {sim.username}", "correct source.username or the file of source.password_file")
            s.answer(("user to log in as", ""), ("the password", sim.password), ("name of the cluster in all output", "prod-a"))
            finish(s)
        looks_around(j, machine.terminal("root"))


@journey("Proxmox VE by questions", who="root", by="package", back_end="Proxmox VE", blocks=[INSTALL, SETUP, FIRST_COMMANDS],
         mistakes=["an unknown certificate", "a privilege is missing"])
def proxmox(j, installation):
    cluster = crowded()
    with Server(cluster) as server, installed(j, installation) as machine:
        account = cluster.accounts[server.token]
        kept = {path: set(privileges) for path, privileges in account.acl.items()}
        for privileges in account.acl.values():
            privileges.discard("Sys.Audit")
        with dialogue(j, machine) as s:
            s.answer(("kind of the source", "proxmox"), ("URL of the API", server.urls[0]), ("user to log in as", server.token), ("the password", account.secret))
            j.mistake("an unknown certificate", problem(s), "certificate cannot be trusted", "source.ca_file", "source.fingerprints")
            s.answer(("with the SHA-256 fingerprint", "1"))
            j.mistake("a privilege is missing", problem(s), "Sys.Audit", "to do: give")
            account.acl.update(kept)
            s.answer(("press Enter to check again", ""), ("name of the cluster in all output", ""))
            finish(s)
        looks_around(j, machine.terminal("root"))


def typed_by_hand(j, machine, name, *changes):
    """The README's file, with the addresses of this test's server."""
    text = "\n".join(j.block(name)) + "\n"
    for there, here in changes:
        assert there in text, (there, text)
        text = text.replace(there, here)
    machine.file(CONFIG).write_text(text)
    install, check, restart = commands(j.block(BY_HAND))
    return install, check, restart


@journey("vSphere by hand", who="root", by="package", back_end="vSphere", blocks=[INSTALL, VSPHERE, BY_HAND, FIRST_COMMANDS],
         mistakes=["a tab", "no space after the colon", "a typing error in a key", "the password itself", "no password file", "no certificate's file",
                   "a password file of root alone", "a wrong password", "a cluster that is not there"])
def vsphere_by_hand(j, installation):
    with Vcsim(hosts=4, vms=24) as sim, installed(j, installation) as machine:
        load(sim)
        install, check, restart = typed_by_hand(j, machine, VSPHERE, ("https://vcenter.example/sdk", sim.url))
        root = machine.terminal("root")

        def edited(there, here, name, *words):
            """A mistake of the file, which the sentence shows where to mend."""
            machine.edit(CONFIG, (there, here))
            j.mistake(name, root.type(check, code=2), CONFIG, *words)
            machine.edit(CONFIG, (here, there))

        edited("  username: ", "\tusername: ", "a tab", "ballast.yaml:6:", "spaces before a key, no tab")
        edited("kind: vsphere", "kind:vsphere", "no space after the colon", "`key: value` with a space", "the line above")
        edited("username: ", "user_name: ", "a typing error in a key", "ballast.yaml:6:", 'did you mean "source.username"')
        edited("password_file: ", "password: ", "the password itself", "ballast.yaml:7:", 'did you mean "source.password_file"')
        j.mistake("no password file", root.type(check, code=2), "/etc/ballast/vcenter.password", "put the password on one line of that file")
        root.type(install, stdin="wrong\n")
        j.mistake("no certificate's file", root.type(check, code=2), "/etc/ballast/vcenter-ca.pem", "expected PEM certificates")
        machine.file("/etc/ballast/vcenter-ca.pem").write_bytes(pathlib.Path(sim.ca_file).read_bytes())
        root.type("chmod 600 /etc/ballast/vcenter.password")
        said = j.mistake("a password file of root alone", root.type(check, code=2), "vcenter.password cannot be opened: Permission denied", "sudo chown", "sudo chmod 0640")
        root.does(said)
        j.mistake("a wrong password", first_problem(root.type(check, code=1)), sim.username, "To do: correct source.username or the file of source.password_file")
        root.type(install, stdin=sim.password + "\n")
        j.mistake("a cluster that is not there", first_problem(root.type(check, code=1)), "no cluster Cluster-A", "/DC0/host/DC0_C0", "source.cluster")
        machine.edit(CONFIG, ("Cluster-A", "DC0_C0"))
        root.type(check)
        root.type(restart)
        assert "prod-a" in root.type("ballast status")
        looks_around(j, root)


@journey("KVM hosts by hand", who="root", by="package", back_end="libvirt", blocks=[INSTALL, LIBVIRT, BY_HAND, FIRST_COMMANDS],
         mistakes=["a kind with a typing error", "a host that does not answer"])
def libvirt(j, installation):
    from lab import Lab
    with Lab(hosts=2, vms=4, options=("--no-service",)) as lab, installed(j, installation) as machine:
        lab.load("vms 1: cpu 60 mem 8\nvms 3: cpu 60 mem 8")
        # with the sizes of the lab's hosts, which the whole machine's would hide
        hosts = dict(re.findall(r"^ +(hv\d): (\{uri.*\})$", (lab.folder / "ballast.yaml").read_text(), re.M))
        right = lab.uri("hv2")
        dead = re.sub(r"//[^/]*", "//127.0.0.1:1", right)
        _, check, restart = typed_by_hand(j, machine, LIBVIRT, *((f'{{uri: "qemu+tls://{name}.example/system"}}', hosts[name]) for name in ("hv1", "hv2")), (right, dead))
        root = machine.terminal("root")
        machine.edit(CONFIG, ("kind: libvirt", "kind: libvrt"))
        j.mistake("a kind with a typing error", root.type(check, code=2), "source.kind", "libvirt")
        machine.edit(CONFIG, ("kind: libvrt", "kind: libvirt"))
        told = root.type(check, code=1)
        j.mistake("a host that does not answer", first_problem(told.replace("PROBLEM  THE CONNECTION TO", "expected THE CONNECTION TO")), "hv2", "To do")
        machine.edit(CONFIG, (dead, right))
        found = json.loads(root.type(check + " --format json", code=1))["checks"]
        problems = [i["text"] for i in found if i["verdict"] == "problem"]
        assert problems and all("ENCRYPTED" in text for text in problems), problems  # as the lab is
        root.type(restart)
        wait_for("a look", lambda: "hv2" in root.type("ballast hosts", code=None))
        looks_around(j, root)

