#!/usr/bin/env python3
"""The vSphere actuator against made answers: the calls that it makes, the tasks that it re-adopts, and its errors."""
import pathlib
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "peers")]
import server as made  # noqa: E402
from at_once import run_tests  # noqa: E402
from probe import Probe  # noqa: E402

FOLDER = tempfile.TemporaryDirectory(prefix="ballast-replies-")
PASSWORD_FILE = pathlib.Path(FOLDER.name) / "password"
PASSWORD_FILE.write_text(made.PASSWORD + "\n")

ON = ("power_on_vm", "action-2", "vm-1", "host-12")
MOVE = ("migrate", "action-1", "vm-1", "host-11", "host-12")
REF = "ManagedObjectReference"


class Peer(made.Server):
    """One VM, two hosts, and the tasks that a test puts there."""

    def __init__(self):
        super().__init__()
        self.vm = {"host": "host-11", "power": "poweredOn", "connection": "connected"}
        self.hosts = {h: {"power": "poweredOn", "connection": "connected", "maintenance": "false", "standby": "none"}
                      for h in ("host-11", "host-12")}
        self.drs = {"enabled": "true", "level": "manual", "own": ""}  # own: inside of the drsVmConfig of some VM
        self.tasks = {}  # moref -> inside of its TaskInfo
        self.recent = {}  # moref of an entity -> morefs of its tasks

    def retrieve(self, call):
        about = call.about()
        if about in self.tasks:
            return call.reply(made.retrieved(self.task(about)))
        recent = [self.task(t) for t in self.recent.get(about, []) if t in self.tasks]
        if about == "vm-1" and self.vm:
            return call.reply(made.retrieved(made.properties("VirtualMachine", about, (
                ("name", "xsd:string", "web"), ("runtime.host", REF, self.vm["host"]),
                ("runtime.powerState", "x", self.vm["power"]),
                ("runtime.connectionState", "x", self.vm["connection"]))), *recent))
        if about in self.hosts and "<path>parent</path>" in call.text:
            own = (f"<ClusterDrsVmConfigInfo>{self.drs['own']}</ClusterDrsVmConfigInfo>" if self.drs["own"] else "")
            return call.reply(made.retrieved(made.properties("ClusterComputeResource", "domain-c1", (
                ("configurationEx.drsConfig", "ClusterDrsConfigInfo",
                 f"<enabled>{self.drs['enabled']}</enabled><enableVmBehaviorOverrides>{self.drs.get('overrides', 'true')}"
                 f"</enableVmBehaviorOverrides><defaultVmBehavior>{self.drs['level']}</defaultVmBehavior>"),
                ("configurationEx.drsVmConfig", "ArrayOfClusterDrsVmConfigInfo", own)))))
        if about in self.hosts:
            h = self.hosts[about]
            return call.reply(made.retrieved(made.properties("HostSystem", about, (
                ("name", "xsd:string", f"esx-{about}"), ("runtime.powerState", "x", h["power"]),
                ("runtime.connectionState", "x", h["connection"]), ("runtime.standbyMode", "x", h["standby"]),
                ("runtime.inMaintenanceMode", "xsd:boolean", h["maintenance"]))), *recent))
        return super().retrieve(call)

    def task(self, moref):
        return made.properties("Task", moref, [("info", "TaskInfo", self.tasks[moref])])

    def run(self, moref, entity, **info):
        """A task that is listed at its entity."""
        self.tasks[moref] = made.task_info(entity=entity, **info)
        self.recent[entity] = [moref]

    def begins(self, method, moref):
        """What a method that gives a task answers."""
        self.on[method] = self.gives(made.envelope(
            f'<{method}Response xmlns="urn:vim25"><returnval type="Task">{moref}</returnval></{method}Response>'))

    def probe(self, **more):
        return Probe(**{"url": self.url, "username": made.USERNAME, "password_file": PASSWORD_FILE, "timeout_s": 60, **more})


def equal(what, got, expected):
    assert got == expected, f"{what}: {got!r}, expected {expected!r}"


def refused(what, answer, error, words=""):
    equal(what, (answer["ok"], answer.get("error")), (False, error))
    assert words in answer["text"], f"{what}: {answer['text']}"


def test_check():
    with Peer() as s, s.probe() as p:
        assert p("check", *MOVE)["ok"]
        equal("no effect", set(s.calls), {"RetrieveServiceContent", "Login", "RetrievePropertiesEx"})
        s.vm["host"] = "host-12"
        refused("arrived", p("check", *MOVE), "ESTALE", "has arrived on host-12")
        s.vm["host"] = "host-99"
        refused("elsewhere", p("check", *MOVE), "ESTALE", "no longer on host-11")
        s.vm.update(host="host-11", power="poweredOff")
        refused("off", p("check", *MOVE), "ESTALE", "does not run")
        s.vm.update(power="poweredOn", connection="disconnected")
        refused("not seen", p("check", *MOVE), "EHOSTDOWN")
        s.vm.update(connection="connected")
        for change in ({"maintenance": "true"}, {"connection": "notResponding"}, {"power": "standBy"}):
            before = dict(s.hosts["host-12"])
            s.hosts["host-12"].update(change)
            refused(str(change), p("check", *MOVE), "EHOSTDOWN", "esx-host-12")
            s.hosts["host-12"] = before
        s.run("task-9", "host-12", what="HostSystem.enterMaintenanceMode", kind="HostSystem")
        refused("leaving", p("check", *MOVE), "EHOSTDOWN", "about to be")
        s.recent.clear()
        s.vm = None
        refused("gone", p("check", *MOVE), "ENOENT", "vm-1")
        equal("a request without a VM", p("check", "migrate", "u")["error"], "EINVAL")


def test_compatibility_check():
    """vCenter's own check of a migration, by either method; a peer without one is asked once, one that is slow is not waited for."""
    errors = ("Currently connected network 'DMZ' is not accessible", "The disk uses a raw device mapping", "A third")
    result = ('<result xsi:type="ArrayOfCheckResult"><CheckResult xsi:type="CheckResult"><vm type="VirtualMachine">vm-1</vm>'
              '<warning><fault xsi:type="X"/><localizedMessage>a warning</localizedMessage></warning>%s</CheckResult></result>')
    bad = "".join(f'<error><fault xsi:type="Y"/><localizedMessage>{e}</localizedMessage></error>' for e in errors)
    service = made.file("RetrieveServiceContent").replace(
        "<taskManager", '<vmProvisioningChecker type="VirtualMachineProvisioningChecker">ProvChecker</vmProvisioningChecker><taskManager')
    for n_missing, method in enumerate(("QueryVMotionCompatibilityEx_Task", "CheckMigrate_Task")):
        with Peer() as s, s.probe() as p:
            s.on["RetrieveServiceContent"] = s.gives(made.envelope(service))
            s.begins(method, "task-5")
            s.run("task-5", "vm-1", what="x.y", state="success")
            s.tasks["task-5"] += result % ""
            assert p("check", *MOVE)["ok"]
            asked = s.bodies[s.calls.index(method)]
            assert '<vm type="VirtualMachine">vm-1</vm><host type="HostSystem">host-12</host>' in asked, asked
            s.tasks["task-5"] = made.task_info(state="success") + result % bad
            refused(method, p("check", *MOVE), "EPERM", "vCenter would not migrate VM web to esx-host-12: "
                    f"{errors[0]}; {errors[1]}; and 1 more")
            s.tasks["task-5"] = made.task_info(state="error", error="<error><localizedMessage>busy</localizedMessage></error>")
            assert p("check", *MOVE)["ok"]  # a check that failed says nothing of the migration
            equal("the missing one is asked once", s.calls.count("QueryVMotionCompatibilityEx_Task"), 1 if n_missing else 3)
            refused("other operations are not asked about", p("check", "wake", "u", "host-12"), "ESTALE")
            del s.tasks["task-5"]
            assert p("check", *MOVE)["ok"]  # forgotten
    with Peer() as s, s.probe() as p:
        s.on["RetrieveServiceContent"] = s.gives(made.envelope(service))
        s.on["CheckMigrate_Task"] = s.gives(made.fault("NoPermission", "Permission to perform this operation was denied."), 500)
        for _ in range(3):
            assert p("check", *MOVE)["ok"]
        equal("none", [s.calls.count(m) for m in ("QueryVMotionCompatibilityEx_Task", "CheckMigrate_Task")], [1, 1])
    with Peer() as s, s.probe() as p:
        s.on["RetrieveServiceContent"] = s.gives(made.envelope(service))
        s.begins("QueryVMotionCompatibilityEx_Task", "task-5")
        s.run("task-5", "vm-1", what="x.y", state="running")
        assert p("check", *MOVE)["ok"]
        assert 9 < p.took_s < 20, p.took_s
        s.on["QueryVMotionCompatibilityEx_Task"] = s.vanish
        refused("the connection broke", p("check", *MOVE), "ECONNRESET")


def test_migration():
    with Peer() as s, s.probe() as p:
        s.begins("RelocateVM_Task", "task-1")
        equal("task", p("start", *MOVE)["task"], "task-1")
        asked = s.bodies[s.calls.index("RelocateVM_Task")]
        assert '<spec><host type="HostSystem">host-12</host></spec><priority>defaultPriority</priority>' in asked, asked
        s.run("task-1", "vm-1", state="queued", progress="")
        equal("queued", [p("poll", "task-1")[k] for k in ("state", "percent")], ["queued", -1])
        s.run("task-1", "vm-1", progress=42)
        equal("running", [p("poll", "task-1")[k] for k in ("state", "percent")], ["running", 42])
        equal("again", p("start", *MOVE)["task"], "task-1")
        equal("asked once", s.calls.count("RelocateVM_Task"), 1)
        s.run("task-1", "vm-1", state="success")
        equal("done", [p("poll", "task-1")[k] for k in ("state", "percent")], ["succeeded", 100])
        s.vm["host"] = "host-12"
        refused("arrived", p("start", *MOVE), "ESTALE")
        error = ('<error><fault xsi:type="HostNotConnected"/><localizedMessage>The host is not connected &amp; away.'
                 "</localizedMessage></error>")
        s.run("task-1", "vm-1", state="error", error=error)
        bad = p("poll", "task-1")
        equal("failed", (bad["state"], bad["gone"], bad["why"]),
              ("failed", False, "vCenter says: The host is not connected & away. (HostNotConnected)"))
        del s.tasks["task-1"]
        bad = p("poll", "task-1")
        equal("forgotten", (bad["ok"], bad["state"], bad["gone"]), (True, "failed", True))


def test_older_method():
    """A peer that cannot relocate is asked to migrate."""
    with Peer() as s, s.probe() as p:
        s.on["RelocateVM_Task"] = s.gives(made.fault("NotSupported", "no"), 500)
        s.begins("MigrateVM_Task", "task-2")
        equal("task", p("start", *MOVE)["task"], "task-2")
        asked = s.bodies[s.calls.index("MigrateVM_Task")]
        assert '<host type="HostSystem">host-12</host><priority>defaultPriority</priority>' in asked, asked


def test_adoption():
    """A migration that runs already is followed and not begun again: unless it is known to go elsewhere."""
    event = ('<QueryEventsResponse xmlns="urn:vim25"><returnval xsi:type="TaskEvent"><key>1</key><chainId>4711</chainId>'
             '</returnval><returnval xsi:type="VmBeingHotMigratedEvent"><key>2</key><chainId>%d</chainId>'
             '<destHost><name>x</name><host type="HostSystem">%s</host></destHost></returnval></QueryEventsResponse>')
    for what in ("VirtualMachine.relocate", "VirtualMachine.migrate", "Drm.ExecuteVMotionLRO"):
        with Peer() as s, s.probe() as p:
            s.run("task-7", "vm-1", what=what)
            equal(what, p("start", *MOVE)["task"], "task-7")
            equal(what, p("adopt", *MOVE)["task"], "task-7")
            assert "QueryEvents" not in s.calls
    with Peer() as s, s.probe() as p:
        s.begins("RelocateVM_Task", "task-8")
        s.run("task-7", "vm-1", what="VirtualMachine.createSnapshot")
        refused("nothing to follow", p("adopt", *MOVE), "ESRCH", "no task of action")
        assert "RelocateVM_Task" not in s.calls
        equal("something else", p("start", *MOVE)["task"], "task-8")
        s.run("task-7", "vm-1", state="error")
        equal("an old one", p("start", *MOVE)["task"], "task-8")
    with Peer() as s, s.probe() as p:
        s.run("task-7", "vm-1", chain=4711)
        equal("nobody can tell where to", p("start", *MOVE)["task"], "task-7")
        s.on["QueryEvents"] = s.gives(made.envelope(event % (4711, "host-12")))
        equal("the same way", p("start", *MOVE)["task"], "task-7")
        s.on["QueryEvents"] = s.gives(made.envelope(event % (4711, "host-13")))
        refused("another way", p("start", *MOVE), "EBUSY", "host-13 by somebody else")
        s.on["QueryEvents"] = s.gives(made.envelope(event % (1, "host-13")))
        equal("of another chain", p("start", *MOVE)["task"], "task-7")
    with Peer() as s, s.probe() as p:
        def begins_and_forgets_to_say(call):
            s.run("task-5", "vm-1")
            call.drop()

        s.on["RelocateVM_Task"] = begins_and_forgets_to_say
        refused("the answer is lost", p("start", *MOVE), "ECONNRESET")
        equal("the next try", p("start", *MOVE)["task"], "task-5")
        equal("asked once", s.calls.count("RelocateVM_Task"), 1)
    with Peer() as s, s.probe() as p:
        def somebody_was_quicker(call):
            s.run("task-6", "vm-1")
            call.reply(made.fault("TaskInProgress", "The operation is not allowed in the current state."), 500)

        s.on["RelocateVM_Task"] = somebody_was_quicker
        equal("in between", p("start", *MOVE)["task"], "task-6")
    with Peer() as s, s.probe() as p:
        s.on["RelocateVM_Task"] = s.gives(made.fault("TaskInProgress", "busy with a snapshot"), 500)
        refused("busy", p("start", *MOVE), "EBUSY", "busy with a snapshot")


def test_power_on():
    """One call for a VM that is off and one that is suspended, with the host that was decided."""
    for power in ("poweredOff", "suspended"):
        with Peer() as s, s.probe() as p:
            s.vm["power"] = power
            s.begins("PowerOnVM_Task", "task-1")
            assert p("check", *ON)["ok"]
            assert "PowerOnVM_Task" not in s.calls
            equal("task", p("start", *ON)["task"], "task-1")
            asked = s.bodies[s.calls.index("PowerOnVM_Task")]
            assert '>vm-1</_this><host type="HostSystem">host-12</host></PowerOnVM_Task>' in asked, asked
            s.run("task-1", "vm-1", what="VirtualMachine.powerOn")
            equal("again", p("start", *ON)["task"], "task-1")
            s.vm["power"] = "poweredOn"  # its state changes before its task ends
            equal("and again", p("start", *ON)["task"], "task-1")
            s.recent.clear()
            refused("over, elsewhere", p("start", *ON), "ESTALE", "runs already, on host-11 and not on host-12")
            s.vm["host"] = "host-12"
            refused("over", p("start", *ON), "ESTALE", "runs on host-12 already")
            equal("asked once", s.calls.count("PowerOnVM_Task"), 1)
    for what in ("Drm.ExecuteVmPowerOnLRO", "Datacenter.ExecuteVmPowerOnLRO"):
        with Peer() as s, s.probe() as p:
            s.vm["power"] = "poweredOff"
            s.run("task-7", "vm-1", what=what)
            equal(what, p("start", *ON)["task"], "task-7")


def test_power_on_refused():
    with Peer() as s, s.probe() as p:
        s.vm["power"] = "poweredOff"
        for change in ({"maintenance": "true"}, {"connection": "notResponding"}, {"power": "standBy"}):
            before = dict(s.hosts["host-12"])
            s.hosts["host-12"].update(change)
            refused(str(change), p("check", *ON), "EHOSTDOWN", "esx-host-12")
            s.hosts["host-12"] = before
        s.vm["connection"] = "disconnected"
        refused("its own host is away", p("check", *ON), "EHOSTDOWN", "the host where it is registered (host-11) must be back")
        s.vm["connection"] = "connected"
        equal("a request without a host", p("check", "power_on_vm", "u")["error"], "EINVAL")
        s.on["PowerOnVM_Task"] = s.gives(made.fault("InsufficientCpuResourcesFault", "Not enough CPU."), 500)
        refused("in the peer's words", p("start", *ON), "EREMOTEIO", "Not enough CPU.")

        def somebody_was_quicker(call):
            s.vm["power"] = "poweredOn"
            call.reply(made.fault("InvalidPowerState", "The attempted operation cannot be performed."), 500)

        s.on["PowerOnVM_Task"] = somebody_was_quicker
        refused("started in between", p("start", *ON), "ESTALE", "runs already")
        s.vm["power"] = "poweredOff"

        def begins_and_forgets_to_say(call):
            s.run("task-5", "vm-1", what="VirtualMachine.powerOn")
            call.drop()

        s.on["PowerOnVM_Task"] = begins_and_forgets_to_say
        refused("the answer is lost", p("start", *ON), "ECONNRESET")
        equal("the next try", p("start", *ON)["task"], "task-5")
        s.vm = None
        refused("gone", p("check", *ON), "ENOENT", "vm-1")


def test_power_on_and_drs():
    """Where DRS places VMs by itself it would not ask us: that is said before anything is begun."""
    mine = "<key type=\"VirtualMachine\">vm-1</key>"
    other = "<key type=\"VirtualMachine\">vm-2</key><enabled>true</enabled><behavior>fullyAutomated</behavior>"
    cases = (  # enabled, level, the VM's own, whether own ones count, refused
        ("true", "manual", "", "true", False),
        ("true", "partiallyAutomated", "", "true", True),
        ("true", "fullyAutomated", "", "true", True),
        ("false", "fullyAutomated", "", "true", False),
        ("true", "fullyAutomated", mine + "<enabled>true</enabled><behavior>manual</behavior>", "true", False),
        ("true", "fullyAutomated", mine + "<enabled>true</enabled><behavior>manual</behavior>", "false", True),
        ("true", "fullyAutomated", mine + "<enabled>false</enabled>", "true", False),
        ("true", "manual", mine + "<enabled>true</enabled><behavior>fullyAutomated</behavior>", "true", True),
        ("true", "manual", other, "true", False),
    )
    with Peer() as s, s.probe() as p:
        s.vm["power"] = "poweredOff"
        for enabled, level, own, overrides, no in cases:
            s.drs = {"enabled": enabled, "level": level, "own": own, "overrides": overrides}
            answer = p("check", *ON)
            equal(str(s.drs), answer.get("error"), "EPERM" if no else None)
            if no:
                assert "DRS of vCenter chooses the host of VM web itself" in answer["text"], answer
                assert answer["text"].endswith("to manual"), answer


def test_cancel():
    with Peer() as s, s.probe() as p:
        s.run("task-1", "vm-1")
        s.on["CancelTask"] = s.gives(made.envelope('<CancelTaskResponse xmlns="urn:vim25"/>'))
        assert p("cancel", "task-1")["ok"]
        s.run("task-1", "vm-1", cancelable="false")
        refused("too late", p("cancel", "task-1"), "EOPNOTSUPP")
        s.run("task-1", "vm-1", state="success")
        assert p("cancel", "task-1")["ok"]
        equal("asked once", s.calls.count("CancelTask"), 1)
        refused("unknown", p("cancel", "task-404"), "ENOENT")


def test_hosts():
    cases = (  # operation, host's state, method, task's id, what is sent, state in which it is done already
        ("enter_maintenance", {}, "EnterMaintenanceMode_Task", "HostSystem.enterMaintenanceMode",
         "<timeout>0</timeout><evacuatePoweredOffVms>false</evacuatePoweredOffVms>", {"maintenance": "true"}),
        ("exit_maintenance", {"maintenance": "true"}, "ExitMaintenanceMode_Task", "HostSystem.exitMaintenanceMode",
         "<timeout>0</timeout></Exit", {"maintenance": "false"}),
        ("standby", {}, "PowerDownHostToStandBy_Task", "HostSystem.enterStandbyMode",
         "<timeoutSec>900</timeoutSec><evacuatePoweredOffVms>false</evacuatePoweredOffVms>",
         {"power": "standBy", "connection": "notResponding", "standby": "in"}),
        ("wake", {"power": "standBy", "connection": "notResponding", "standby": "in"}, "PowerUpHostFromStandBy_Task",
         "HostSystem.exitStandbyMode", "<timeoutSec>900</timeoutSec></PowerUp",
         {"power": "poweredOn", "connection": "connected", "standby": "none"}),
    )
    for operation, state, method, task, sent, done in cases:
        with Peer() as s, s.probe() as p:
            s.hosts["host-12"].update(state)
            s.begins(method, "task-3")
            assert p("check", operation, "u", "host-12")["ok"], operation
            assert method not in s.calls
            equal(operation, p("start", operation, "u", "host-12")["task"], "task-3")
            assert sent in s.bodies[s.calls.index(method)], s.bodies[s.calls.index(method)]
            s.run("task-4", "host-12", what=task, kind="HostSystem")
            equal(f"{operation} adopted", p("start", operation, "u", "host-12")["task"], "task-4")
            s.recent.clear()
            s.hosts["host-12"].update(done)
            refused(f"{operation} twice", p("start", operation, "u", "host-12"), "ESTALE", "already")
            equal("asked once", s.calls.count(method), 1)
    with Peer() as s, s.probe() as p:
        s.hosts["host-12"]["connection"] = "notResponding"
        refused("not there", p("start", "standby", "u", "host-12"), "EHOSTDOWN")
        refused("never was", p("start", "standby", "u", "host-404"), "ENOENT", "host-404")


def test_sessions_and_faults():
    with Peer() as s, s.probe() as p:
        s.begins("RelocateVM_Task", "task-1")
        assert p("check", *MOVE)["ok"]
        s.expire()
        equal("renewed", p("start", *MOVE)["task"], "task-1")
        s.run("task-1", "vm-1")
        s.expire()
        equal("renewed", p("poll", "task-1")["state"], "running")
        with s.probe(timeout_s=5) as brief:
            for what, error in (("hang", "ETIMEDOUT"), ("half", "EPROTO"), ("vanish", "ECONNRESET")):
                s.on["RetrievePropertiesEx"] = getattr(s, what)
                refused(f"poll: {what}", brief("poll", "task-1"), error)
                s.on.pop("RetrievePropertiesEx")
                equal("and again", brief("poll", "task-1")["state"], "running")
        s.recent.clear()
        s.on["RelocateVM_Task"] = s.gives(made.envelope('<RelocateVM_TaskResponse xmlns="urn:vim25"/>'))
        refused("no task", p("start", *MOVE), "EPROTO", "names no task")
        s.on["RelocateVM_Task"] = s.gives(made.fault("NoPermission", "Permission was denied."), 500)
        refused("denied", p("start", *MOVE), "EPERM", "Permission was denied.")
        s.tasks["task-2"] = made.task_info(state="resting")
        refused("a state of its own", p("poll", "task-2"), "EPROTO", "task-2")


def alone(s, parent="ComputeResource", connection="connected"):
    """A host outside of any cluster, with three pools of its own and one that is another's."""
    pools = {"resgroup-1": "domain-s1", "resgroup-2": "domain-s1", "resgroup-3": "domain-s1", "resgroup-9": "domain-c9"}
    host = made.properties("HostSystem", "host-31", (("name", "xsd:string", "esx-alone"),
                                                     ("runtime.connectionState", "x", connection)))
    ref = (f'<propSet><name>parent</name><val type="{parent}" xsi:type="{REF}">domain-s1</val></propSet>')
    host = host.replace("</obj>", "</obj>" + ref)
    before = s.on.get("RetrievePropertiesEx") or s.retrieve

    def retrieve(call):
        if call.about() == "host-31":
            return call.reply(made.retrieved(host))
        if call.about() in pools:
            return call.reply(made.retrieved(made.properties("ResourcePool", call.about(), (
                ("owner", REF, pools[call.about()]),))))
        return before(call)

    s.on["RetrievePropertiesEx"] = retrieve
    s.on["UpdateConfig"] = s.gives(made.envelope('<UpdateConfigResponse xmlns="urn:vim25"/>'))


PARTS = ("resgroup-1=2000,-1,4000,1024,8192,81920", "resgroup-2=500,900,1000,0,-1,20480", "resgroup-3=nothing")


def test_pools_of_a_host():
    with Peer() as s, s.probe() as p:
        alone(s)
        assert p("set", "host-31", *PARTS)["ok"]
        asked = [b for c, b in zip(s.calls, s.bodies) if c == "UpdateConfig"]
        equal("calls", len(asked), 3)
        assert ('<_this type="ResourcePool">resgroup-1</_this><config><cpuAllocation><reservation>2000</reservation>'
                "<limit>-1</limit><shares><shares>4000</shares><level>custom</level></shares></cpuAllocation>"
                "<memoryAllocation><reservation>1024</reservation><limit>8192</limit><shares><shares>81920</shares>"
                "<level>custom</level></shares></memoryAllocation></config>") in asked[0], asked[0]
        assert ("resgroup-3</_this><config><cpuAllocation><reservation>0</reservation><limit>-1</limit></cpuAllocation>"
                ) in asked[2], asked[2]
        assert p("set", "host-31", *PARTS)["ok"]  # again: it does no harm
        refused("another's", p("set", "host-31", PARTS[0], "resgroup-9=1,-1,1,1,-1,1"), "ENOENT", "no pool of host esx-alone")
        equal("nothing was set", s.calls.count("UpdateConfig"), 6)
        refused("gone", p("set", "host-31", "resgroup-404=nothing"), "ENOENT")
        refused("no such host", p("set", "host-404", PARTS[0]), "ENOENT")
    with Peer() as s, s.probe() as p:
        alone(s, parent="ClusterComputeResource")
        refused("a cluster's", p("set", "host-31", *PARTS), "EOPNOTSUPP", "host esx-alone is in a cluster")
        assert "UpdateConfig" not in s.calls
    with Peer() as s, s.probe() as p:
        alone(s, connection="notResponding")
        refused("not seen", p("set", "host-31", *PARTS), "EHOSTDOWN", "esx-alone is not connected")


def test_pools_that_wait_for_each_other():
    """The pool above gives up what the one below still holds: refused at first, and then not."""
    with Peer() as s, s.probe() as p:
        alone(s)
        lowered = []

        def update(call):
            body = s.bodies[-1]
            if "resgroup-1<" in body and not lowered:
                return call.reply(made.fault("InsufficientResourcesFault", "The children reserve more."), 500)
            if "resgroup-2<" in body:
                lowered.append(True)
            return call.reply(made.envelope('<UpdateConfigResponse xmlns="urn:vim25"/>'))

        s.on["UpdateConfig"] = update
        assert p("set", "host-31", *PARTS[:2])["ok"]
        equal("calls", s.calls.count("UpdateConfig"), 3)
        s.on["UpdateConfig"] = s.gives(made.fault("InsufficientResourcesFault", "There is not enough."), 500)
        refused("never", p("set", "host-31", *PARTS[:2]), "EREMOTEIO", "There is not enough.")
        equal("each once", s.calls.count("UpdateConfig"), 5)
        s.on["UpdateConfig"] = s.gives(made.fault("NoPermission", "Permission was denied."), 500)
        refused("denied", p("set", "host-31", *PARTS[:2]), "EPERM", "Permission was denied.")
        equal("not tried on", s.calls.count("UpdateConfig"), 6)


if __name__ == "__main__":
    code = run_tests(globals())
    FOLDER.cleanup()
    sys.exit(code)
