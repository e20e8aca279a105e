"""vcsim.py: starts govmomi's vSphere simulator for a test, and reads its state from outside.

    with Vcsim(hosts=4, vms=40) as sim:
        sim.url, sim.username, sim.password, sim.password_file, sim.ca_file    # for `source:`
        api = sim.client()                    # raw SOAP over a connection of its own
        api.set_load(vm, cpu_mhz=700, active_mb=900, consumed_mb=1200)
        api.host_of(vm)                       # runtime.host, now

Everything is on loopback, on a port of its own. The server has a certificate of a CA made for the
test and ends with the test (its standard input closes); every wait is bounded. If Go or govmomi is not
installed, Skip is raised, and main() ends with 77.
"""
import base64
import fcntl
import hashlib
import http.cookiejar
import json
import os
import pathlib
import re
import select
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape

import ports

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from at_once import SKIPPED, Skip  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
START_S = 240  # five thousand VMs take a minute
CALL_S = 60
GOPATH = "/usr/share/gocode"
ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
XSI = "http://www.w3.org/2001/XMLSchema-instance"
VIM = "urn:vim25"


class Fault(Exception):
    """A SOAP fault: .kind is the type's name, e.g. InvalidLogin."""

    def __init__(self, kind, text):
        super().__init__(f"{kind}: {text}")
        self.kind = kind


def build():
    """The launcher's path, built if it is not there; BALLAST_VCSIM names one that is built already."""
    given = os.environ.get("BALLAST_VCSIM")
    if given and os.access(given, os.X_OK):
        return given
    if not shutil.which("go"):
        raise Skip("no Go compiler: apt install golang-go golang-github-vmware-govmomi-dev")
    if not os.path.isdir(f"{GOPATH}/src/github.com/vmware/govmomi/simulator"):
        raise Skip("govmomi is missing: apt install golang-github-vmware-govmomi-dev")
    cache = pathlib.Path(os.environ.get("BALLAST_TEST_CACHE") or
                         pathlib.Path(tempfile.gettempdir()) / f"ballast-test-{os.getuid()}")
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    sources = sorted((HERE / "vcsim").glob("*.go"))
    # by what it is made of: another checkout's may be newer than these sources, and another program
    binary = cache / f"vcsim-{hashlib.sha256(b''.join(s.read_bytes() for s in sources)).hexdigest()[:16]}"
    with open(cache / "lock", "w") as lock:  # one builds it, the others wait
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not binary.exists():
            compile_go(sources, binary, cache)
    return str(binary)


def compile_go(sources, binary, cache):
    fresh = cache / f"vcsim.{os.getpid()}"
    env = dict(os.environ, GO111MODULE="off", GOPATH=GOPATH, GOPROXY="off", GOFLAGS="",
               GOCACHE=str(cache / "go"))
    done = subprocess.run(["go", "build", "-o", str(fresh), *map(str, sources)], env=env, cwd=HERE,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError("the vcsim launcher does not build:\n" + done.stdout)
    os.replace(fresh, binary)


def make_certificates(where, name="ballast test CA"):
    """A CA and a certificate of it for 127.0.0.1 in the folder; gives (ca.pem, server.pem, server.key)."""
    where = pathlib.Path(where)

    def openssl(*args):
        subprocess.run(["openssl", *args], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=60, cwd=where)

    (where / "san.cnf").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", f"/CN={name}", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
            "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-extfile", "san.cnf", "-out", "server.pem")
    return where / "ca.pem", where / "server.pem", where / "server.key"


class Vcsim:
    """A simulator that runs. hosts and vms are per cluster (and per pool, where there are pools)."""

    def __init__(self, hosts=4, vms=40, clusters=1, pools=0, slow_ms=0, fail_relocate=False, tls=True,
                 username="ballast@vsphere.local", password="s3cret-of-the-test", delay_ms=0, extra=()):
        self.username, self.password, self.tls = username, password, tls
        self.dir = tempfile.TemporaryDirectory(prefix="ballast-vcsim-")
        folder = pathlib.Path(self.dir.name)
        self.args = ["-host", str(hosts), "-vm", str(vms), "-cluster", str(clusters), "-pool", str(pools),
                     "-username", username, "-password", password, "-slow-relocate", str(slow_ms),
                     "-delay", str(delay_ms), f"-fail-relocate={str(fail_relocate).lower()}",
                     f"-tls={str(tls).lower()}", *extra]
        self.ca_file = None
        if tls:
            ca, cert, key = make_certificates(folder)
            self.ca_file = str(ca)
            self.args += ["-cert", str(cert), "-key", str(key)]
        self.password_file = str(folder / "password")
        with open(os.open(self.password_file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as f:
            f.write(password + "\n")
        self.process = None
        self.port = ports.take()
        self.start()

    def start(self):
        """Starts it, on the port that it had before if it was stopped: a vCenter that comes back."""
        binary = build()
        self.process = subprocess.Popen([binary, "-l", f"127.0.0.1:{self.port}", *self.args],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        line = b""
        deadline = time.monotonic() + START_S
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            byte = os.read(self.process.stdout.fileno(), 1) if ready else b""
            if not byte:
                self.stop()
                raise RuntimeError("vcsim did not come up")
            line += byte
        assert f":{self.port}/sdk".encode() in line, line

    @property
    def url(self):
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}/sdk"

    def client(self):
        return Client(self.url, self.username, self.password, self.ca_file)

    def stop(self):
        if not self.process:
            return
        self.process.stdin.close()
        try:
            self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(timeout=60)
        self.process.stdout.close()
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.dir.cleanup()


def local(tag):
    return tag.rsplit("}", 1)[-1]


class Client:
    """Raw SOAP with Python's own HTTP and XML: nothing of it is shared with what is being tested."""

    def __init__(self, url, username, password, ca_file):
        context = ssl.create_default_context(cafile=ca_file) if ca_file else None
        handlers = [urllib.request.ProxyHandler({}),
                    urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())]
        if context:
            handlers.append(urllib.request.HTTPSHandler(context=context))
        self.opener = urllib.request.build_opener(*handlers)
        self.url = url
        self.credentials = base64.b64encode(f"{username}:{password}".encode()).decode()
        self.call(f'<Login xmlns="{VIM}"><_this type="SessionManager">SessionManager</_this>'
                  f"<userName>{escape(username)}</userName><password>{escape(password)}</password></Login>")

    def call(self, body):
        """Sends one request; gives the response element, or raises Fault."""
        envelope = (f'<?xml version="1.0" encoding="UTF-8"?><soapenv:Envelope xmlns:soapenv="{ENVELOPE}" '
                    f'xmlns:xsi="{XSI}" xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
                    f"<soapenv:Body>{body}</soapenv:Body></soapenv:Envelope>")
        request = urllib.request.Request(self.url, envelope.encode(), {
            "Content-Type": "text/xml; charset=utf-8", "SOAPAction": "urn:vim25/6.5"})
        try:
            with self.opener.open(request, timeout=CALL_S) as reply:
                text = reply.read()
        except urllib.error.HTTPError as e:
            text = e.read()
        payload = ET.fromstring(text).find(f"{{{ENVELOPE}}}Body")[0]
        if payload.tag == f"{{{ENVELOPE}}}Fault":
            detail = payload.find("detail")
            kind = local(detail[0].tag) if detail is not None and len(detail) else "?"
            raise Fault(re.sub("Fault$", "", kind), payload.findtext("faultstring") or "")
        return payload

    # -- the inventory

    def properties(self, kind, *paths):
        """{moref: {path: element}} of every object of the kind."""
        view = self.call(f'<CreateContainerView xmlns="{VIM}"><_this type="ViewManager">ViewManager</_this>'
                         f'<container type="Folder">group-d1</container><type>{kind}</type>'
                         f"<recursive>true</recursive></CreateContainerView>")[0].text
        sets = "".join(f"<pathSet>{p}</pathSet>" for p in paths)
        reply = self.call(
            f'<RetrievePropertiesEx xmlns="{VIM}"><_this type="PropertyCollector">propertyCollector</_this>'
            f"<specSet><propSet><type>{kind}</type>{sets}</propSet><objectSet>"
            f'<obj type="ContainerView">{view}</obj><skip>true</skip>'
            f'<selectSet xsi:type="TraversalSpec"><name>v</name><type>ContainerView</type><path>view</path>'
            f"<skip>false</skip></selectSet></objectSet></specSet><options/></RetrievePropertiesEx>")
        return self._objects(reply)

    @staticmethod
    def _objects(reply):
        found = {}
        for content in reply.iter(f"{{{VIM}}}objects"):
            values = {}
            for p in content.findall(f"{{{VIM}}}propSet"):
                values[p.findtext(f"{{{VIM}}}name")] = p.find(f"{{{VIM}}}val")
            found[content.findtext(f"{{{VIM}}}obj")] = values
        return found

    def get(self, kind, moref, *paths):
        """{path: element} of one object."""
        sets = "".join(f"<pathSet>{p}</pathSet>" for p in paths)
        reply = self.call(
            f'<RetrievePropertiesEx xmlns="{VIM}"><_this type="PropertyCollector">propertyCollector</_this>'
            f"<specSet><propSet><type>{kind}</type>{sets}</propSet>"
            f'<objectSet><obj type="{kind}">{moref}</obj></objectSet></specSet><options/></RetrievePropertiesEx>')
        return self._objects(reply)[moref]

    def _names(self, kind):
        return {v["name"].text: ref for ref, v in self.properties(kind, "name").items() if "name" in v}

    def hosts(self):
        """{name: moref}"""
        return self._names("HostSystem")

    def vms(self):
        """{name: moref}"""
        return self._names("VirtualMachine")

    def clusters(self):
        return self._names("ClusterComputeResource")

    def root_pool(self, cluster=None):
        cluster = cluster or sorted(self.clusters().values())[0]
        return self.get("ClusterComputeResource", cluster, "resourcePool")["resourcePool"].text

    def placement(self):
        """{VM's moref: host's moref}, by runtime.host: host.vm is wrong in the simulator after a move."""
        return {ref: v["runtime.host"].text
                for ref, v in self.properties("VirtualMachine", "runtime.host").items() if "runtime.host" in v}

    def host_of(self, vm):
        return self.get("VirtualMachine", vm, "runtime.host")["runtime.host"].text

    # -- changing it

    def task(self, body):
        """Calls a method that gives a task; gives the task's name."""
        return self.call(body)[0].text

    def wait(self, task, timeout=CALL_S):
        """Until the task ends; raises Fault if it failed."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            info = self.get("Task", task, "info")["info"]
            state = info.findtext(f"{{{VIM}}}state")
            if state == "success":
                return
            if state == "error":
                error = info.find(f"{{{VIM}}}error")
                text = error.findtext(f"{{{VIM}}}localizedMessage") if error is not None else ""
                raise Fault("TaskFailed", text)
            time.sleep(0.02)
        raise TimeoutError(f"{task} still runs after {timeout} s")

    def set_load(self, vm, cpu_mhz=None, active_mb=None, consumed_mb=None, overhead_mb=None):
        """Sets what the VM's quick stats say."""
        for name, value in (("overallCpuUsage", cpu_mhz), ("guestMemoryUsage", active_mb),
                            ("hostMemoryUsage", consumed_mb), ("consumedOverheadMemory", overhead_mb)):
            if value is not None:
                self.set(vm, f"summary.quickStats.{name}", int(value))

    def set(self, vm, path, value, kind="int"):
        """Sets any property of a VM, by the simulator's own back door."""
        self.reconfigure(vm, f'<extraConfig xsi:type="OptionValue"><key>SET.{path}</key>'
                             f'<value xsi:type="xsd:{kind}">{escape(str(value))}</value></extraConfig>')

    def set_any(self, kind, moref, path, value, xsi_type):
        """Sets any property of any object, by the launcher's back door; value is text, or XML of a data object."""
        self.set_all([(kind, moref, path, value, xsi_type)])

    def set_all(self, settings):
        """Any number of these, as (kind, moref, path, value, xsi_type), in one request."""
        body = "".join(f'<set xmlns:xsi="{XSI}" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><obj type="{kind}">{moref}</obj>'
                       f'<path>{path}</path><val xsi:type="{xsi_type}">{value}</val></set>'
                       for kind, moref, path, value, xsi_type in settings)
        self.back_door("/set", body)

    def back_door(self, path, body=None):
        """Asks the launcher itself; gives the reply's text."""
        request = urllib.request.Request(self.url.replace("/sdk", path), body.encode() if body is not None else None)
        with self.opener.open(request, timeout=CALL_S) as reply:
            return reply.read().decode()

    def refuse(self, *hosts):
        """From now on relocations to the hosts of these names fail, and those to others do not."""
        self.back_door("/refuse", ",".join(hosts))

    def relocations(self):
        """Every relocation that the simulator was asked for and its end, in order: {event, ms, vm, host}, the event being begun,
        arrived or failed."""
        return json.loads(self.back_door("/relocations")) or []

    def add_field(self, name, kind=None):
        """A custom attribute, of objects of the kind or of all; gives its number."""
        of = f"<moType>{kind}</moType>" if kind else ""
        reply = self.call(f'<AddCustomFieldDef xmlns="{VIM}"><_this type="CustomFieldsManager">CustomFieldsManager</_this>'
                          f"<name>{escape(name)}</name>{of}</AddCustomFieldDef>")
        return reply[0].findtext(f"{{{VIM}}}key")

    def set_field(self, moref, field, value):
        kind = "HostSystem" if moref.startswith("host-") else "VirtualMachine"
        self.call(f'<SetField xmlns="{VIM}"><_this type="CustomFieldsManager">CustomFieldsManager</_this>'
                  f'<entity type="{kind}">{moref}</entity><key>{field}</key><value>{escape(value)}</value></SetField>')

    def rest(self, method, path, body=None, **headers):
        """A request to the API of tags, in a session of its own."""
        base = self.url.removesuffix("/sdk") + "/rest/com/vmware/cis/"

        def send(method, path, body, **headers):
            request = urllib.request.Request(base + path, None if body is None else json.dumps(body).encode(),
                                             {"Content-Type": "application/json", **headers}, method=method)
            with self.opener.open(request, timeout=CALL_S) as reply:
                return json.loads(reply.read() or b"{}").get("value")

        session = send("POST", "session", {}, Authorization=f"Basic {self.credentials}")
        return send(method, path, body, **{"vmware-api-session-id": session}, **headers)

    def add_category(self, name):
        return self.rest("POST", "tagging/category", {"create_spec": {"name": name, "cardinality": "MULTIPLE",
                                                                      "description": "", "associable_types": []}})

    def add_tag(self, category, name):
        return self.rest("POST", "tagging/tag", {"create_spec": {"category_id": category, "name": name, "description": ""}})

    def attach_tag(self, tag, *morefs):
        objects = [{"type": "HostSystem" if m.startswith("host-") else "VirtualMachine", "id": m} for m in morefs]
        self.rest("POST", f"tagging/tag-association/id:{tag}?~action=attach-tag-to-multiple-objects",
                  {"object_ids": objects})

    def create_folder(self, above, name):
        return self.call(f'<CreateFolder xmlns="{VIM}"><_this type="Folder">{above}</_this><name>{escape(name)}</name>'
                         "</CreateFolder>")[0].text

    def clone_vm(self, vm, name):
        """A VM like it, off; gives its moref."""
        folder = self.get("VirtualMachine", vm, "parent")["parent"].text
        pool = self.get("VirtualMachine", vm, "resourcePool")["resourcePool"].text
        self.wait(self.task(f'<CloneVM_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this><folder type="Folder">{folder}'
                            f"</folder><name>{escape(name)}</name><spec><location>"
                            f'<pool type="ResourcePool">{pool}</pool></location><powerOn>false</powerOn><template>false</template>'
                            f"</spec></CloneVM_Task>"))
        return self.vms()[name]

    def move_into_folder(self, folder, vm):
        return self.task(f'<MoveIntoFolder_Task xmlns="{VIM}"><_this type="Folder">{folder}</_this>'
                         f'<list type="VirtualMachine">{vm}</list></MoveIntoFolder_Task>')

    def rename(self, kind, moref, name):
        self.wait(self.task(f'<Rename_Task xmlns="{VIM}"><_this type="{kind}">{moref}</_this>'
                            f"<newName>{escape(name)}</newName></Rename_Task>"))

    def reconfigure(self, vm, spec):
        self.wait(self.task(f'<ReconfigVM_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this>'
                            f"<spec>{spec}</spec></ReconfigVM_Task>"))

    def set_size(self, vm, vcpus, mem_mb):
        self.reconfigure(vm, f"<numCPUs>{vcpus}</numCPUs><memoryMB>{mem_mb}</memoryMB>")

    @staticmethod
    def allocation(tag, reservation=0, limit=-1, shares=None):
        level = "custom" if shares is not None else "normal"
        return (f"<{tag}><reservation>{reservation}</reservation>"
                f"<expandableReservation>true</expandableReservation><limit>{limit}</limit>"
                f"<shares><shares>{shares or 0}</shares><level>{level}</level></shares></{tag}>")

    def set_allocation(self, vm, cpu=None, mem=None):
        """cpu and mem: dicts of reservation, limit (-1: none), shares (None: normal)."""
        spec = self.allocation("cpuAllocation", **cpu) if cpu is not None else ""
        spec += self.allocation("memoryAllocation", **mem) if mem is not None else ""
        self.reconfigure(vm, spec)

    def create_pool(self, name, cpu=None, mem=None, parent=None):
        return self.call(
            f'<CreateResourcePool xmlns="{VIM}"><_this type="ResourcePool">{parent or self.root_pool()}</_this>'
            f"<name>{escape(name)}</name><spec>{self.allocation('cpuAllocation', **(cpu or {}))}"
            f"{self.allocation('memoryAllocation', **(mem or {}))}</spec></CreateResourcePool>")[0].text

    def relocate(self, vm, host=None, pool=None):
        """Begins a relocation by hand; gives the task's name."""
        spec = f'<pool type="ResourcePool">{pool}</pool>' if pool else ""
        spec += f'<host type="HostSystem">{host}</host>' if host else ""
        return self.task(f'<RelocateVM_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this>'
                         f"<spec>{spec}</spec><priority>defaultPriority</priority></RelocateVM_Task>")

    def destroy(self, vm):
        """Powers a VM off and deletes it."""
        for method in ("PowerOffVM_Task", "Destroy_Task"):
            self.wait(self.task(f'<{method} xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this></{method}>'))

    def suspend(self, vm):
        self.wait(self.task(f'<SuspendVM_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this></SuspendVM_Task>'))

    def destroy_off(self, vm):
        """Deletes a VM that is off."""
        self.wait(self.task(f'<Destroy_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this></Destroy_Task>'))

    def power_off(self, vm):
        self.wait(self.task(f'<PowerOffVM_Task xmlns="{VIM}"><_this type="VirtualMachine">{vm}</_this>'
                            f"</PowerOffVM_Task>"))

    def maintenance(self, host, enter=True):
        method = "EnterMaintenanceMode_Task" if enter else "ExitMaintenanceMode_Task"
        self.wait(self.task(f'<{method} xmlns="{VIM}"><_this type="HostSystem">{host}</_this>'
                            f"<timeout>0</timeout></{method}>"))

    def _reconfigure_cluster(self, spec, cluster=None):
        cluster = cluster or sorted(self.clusters().values())[0]
        self.wait(self.task(
            f'<ReconfigureComputeResource_Task xmlns="{VIM}"><_this type="ClusterComputeResource">{cluster}</_this>'
            f'<spec xsi:type="ClusterConfigSpecEx">{spec}</spec><modify>true</modify>'
            f"</ReconfigureComputeResource_Task>"))

    def add_rule(self, name, vms, apart=True, enabled=True, cluster=None):
        """A VM-VM rule: apart (anti-affinity) or together."""
        kind = "ClusterAntiAffinityRuleSpec" if apart else "ClusterAffinityRuleSpec"
        refs = "".join(f'<vm type="VirtualMachine">{vm}</vm>' for vm in vms)
        self._reconfigure_cluster(
            f'<rulesSpec><operation>add</operation><info xsi:type="{kind}">'
            f"<enabled>{str(enabled).lower()}</enabled><name>{escape(name)}</name>{refs}</info></rulesSpec>", cluster)

    def add_vm_host_rule(self, name, vms, hosts, mandatory=True, apart=False, cluster=None):
        """A VM-host rule, with the two groups that it needs."""
        vm_refs = "".join(f'<vm type="VirtualMachine">{vm}</vm>' for vm in vms)
        host_refs = "".join(f'<host type="HostSystem">{host}</host>' for host in hosts)
        side = "antiAffineHostGroupName" if apart else "affineHostGroupName"
        self._reconfigure_cluster(
            f'<rulesSpec><operation>add</operation><info xsi:type="ClusterVmHostRuleInfo">'
            f"<enabled>true</enabled><name>{escape(name)}</name><mandatory>{str(mandatory).lower()}</mandatory>"
            f"<vmGroupName>{escape(name)}-vms</vmGroupName><{side}>{escape(name)}-hosts</{side}></info></rulesSpec>"
            f'<groupSpec><operation>add</operation><info xsi:type="ClusterVmGroup"><name>{escape(name)}-vms</name>'
            f"{vm_refs}</info></groupSpec>"
            f'<groupSpec><operation>add</operation><info xsi:type="ClusterHostGroup">'
            f"<name>{escape(name)}-hosts</name>{host_refs}</info></groupSpec>", cluster)

    def set_ha(self, kind=None, enabled=True, admission=True, cluster=None, **policy):
        """HA on or off, and its admission control: kind is Level, Resources or Host, policy its fields."""
        fields = "".join(f'<{k} type="HostSystem">{h}</{k}>' for k, v in policy.items() if isinstance(v, list) for h in v)
        fields += "".join(f"<{k}>{str(v).lower()}</{k}>" for k, v in policy.items() if not isinstance(v, list))
        inside = (f'<admissionControlPolicy xsi:type="ClusterFailover{kind}AdmissionControlPolicy">{fields}'
                  f"</admissionControlPolicy>" if kind else "")
        self._reconfigure_cluster(
            f"<dasConfig><enabled>{str(enabled).lower()}</enabled>{inside}"
            f"<admissionControlEnabled>{str(admission).lower()}</admissionControlEnabled></dasConfig>", cluster)

    def refs_by_name(self, kind, part):
        """The objects of the kind whose name has the part, by name."""
        return [ref for name, ref in sorted(self._names(kind).items()) if part in name]

    @staticmethod
    def refs(kind, *morefs):
        return "".join(f'<ManagedObjectReference type="{kind}">{ref}</ManagedObjectReference>' for ref in morefs)

    def set_networks(self, kind, moref, port_groups):
        """The networks of a host (kind HostSystem) or of a VM (kind VirtualMachine): distributed port groups."""
        self.set_any(kind, moref, "network", self.refs("DistributedVirtualPortgroup", *port_groups),
                     "ArrayOfManagedObjectReference")

    def set_datastores(self, kind, moref, datastores):
        self.set_any(kind, moref, "datastore", self.refs("Datastore", *datastores), "ArrayOfManagedObjectReference")

    def add_device(self, vm, kind, inside=""):
        self.reconfigure(vm, f'<deviceChange><operation>add</operation><device xsi:type="{kind}"><key>-1</key>{inside}'
                             f"</device></deviceChange>")

    def add_vgpu(self, vm, profile):
        self.add_device(vm, "VirtualPCIPassthrough", f'<backing xsi:type="VirtualPCIPassthroughVmiopBackingInfo">'
                                                     f"<vgpu>{profile}</vgpu></backing>")

    def set_vgpus(self, host, *profiles):
        self.set_any("HostSystem", host, "config.sharedPassthruGpuTypes",
                     "".join(f"<string>{p}</string>" for p in profiles), "ArrayOfString")

    def set_drs(self, behavior, enabled=True, cluster=None):
        """The cluster's own level: fullyAutomated, partiallyAutomated, manual."""
        self._reconfigure_cluster(f"<drsConfig><enabled>{str(enabled).lower()}</enabled>"
                                  f"<defaultVmBehavior>{behavior}</defaultVmBehavior></drsConfig>", cluster)

    def set_dpm(self, behavior, enabled=True, cluster=None):
        """The cluster's DPM: automated, manual."""
        self._reconfigure_cluster(f"<dpmConfig><enabled>{str(enabled).lower()}</enabled>"
                                  f"<defaultDpmBehavior>{behavior}</defaultDpmBehavior></dpmConfig>", cluster)

    def set_vsan(self, host):
        self.set_any("HostSystem", host, "config.vsanHostConfig", "<enabled>true</enabled>", "VsanHostConfigInfo")

    def set_owner(self, vm, extension, kind):
        """Gives the VM to an extension: config.managedBy."""
        self.reconfigure(vm, f"<managedBy><extensionKey>{extension}</extensionKey><type>{kind}</type></managedBy>")

    def pair(self, primary, secondary):
        """Makes a fault-tolerant pair of two VMs, as far as their configuration says."""
        def half(vm, kind, role, other):
            value = (f"<role>{role}</role><instanceUuids>a</instanceUuids><instanceUuids>b</instanceUuids>"
                     f"<configPaths>c</configPaths>{other}")
            self.reconfigure(vm, f'<extraConfig xsi:type="OptionValue"><key>SET.config.ftInfo</key>'
                                 f'<value xsi:type="FaultTolerance{kind}ConfigInfo">{value}</value></extraConfig>')
        half(primary, "Primary", 1, f'<secondaries type="VirtualMachine">{secondary}</secondaries>')
        half(secondary, "Secondary", 2, f'<primaryVM type="VirtualMachine">{primary}</primaryVM>')

    def set_override(self, vm, enabled=True, behavior=None, cluster=None):
        """The VM's own automation level: fullyAutomated, partiallyAutomated, manual; or not enabled."""
        level = f"<behavior>{behavior}</behavior>" if behavior else ""
        self._reconfigure_cluster(
            f'<drsVmConfigSpec><operation>add</operation><info><key type="VirtualMachine">{vm}</key>'
            f"<enabled>{str(enabled).lower()}</enabled>{level}</info></drsVmConfigSpec>", cluster)


def main(run):
    """Runs a test's function with the exit codes that meson wants."""
    try:
        run()
    except Skip as e:
        print(f"SKIPPED: {e}", file=sys.stderr)
        sys.exit(SKIPPED)


def tour():
    """Everything once: a load is set, a VM is moved and seen to arrive."""
    with Vcsim(hosts=2, vms=4, slow_ms=500) as sim:
        api = sim.client()
        vm = sorted(api.vms().values())[0]
        target = next(h for h in api.hosts().values() if h != api.host_of(vm))
        api.set_load(vm, cpu_mhz=700, active_mb=20, consumed_mb=30)
        began = time.monotonic()
        api.wait(api.relocate(vm, target))
        assert api.host_of(vm) == target
        print(f"{sim.url}: {vm} is on {target} after {time.monotonic() - began:.2f} s")


def serve(hosts, vms, slow_ms):
    """A simulator to try things on, with loads that want balancing, until it is interrupted."""
    with Vcsim(hosts=hosts, vms=vms, slow_ms=slow_ms) as sim:
        api = sim.client()
        busy = sorted(api.hosts().values())[0]
        for vm, host in api.placement().items():
            api.set_load(vm, cpu_mhz=400 if host == busy else 60, active_mb=8, consumed_mb=16, overhead_mb=2)
        print("source:", f"  kind: vsphere\n  url: {sim.url}", f"  username: {sim.username}",
              f"  password_file: {sim.password_file}", f"  ca_file: {sim.ca_file}", sep="\n", flush=True)
        try:
            sim.process.wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    import argparse
    arguments = argparse.ArgumentParser(description="govmomi's vSphere simulator on loopback, for trying Ballast on it")
    arguments.add_argument("--serve", action="store_true", help="keep it running, and print the `source:` for it")
    arguments.add_argument("--hosts", type=int, default=4)
    arguments.add_argument("--vms", type=int, default=40)
    arguments.add_argument("--slow-ms", type=int, default=2000, help="how long a migration takes")
    given = arguments.parse_args()
    main((lambda: serve(given.hosts, given.vms, given.slow_ms)) if given.serve else tour)
