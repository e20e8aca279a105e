"""cluster.py: the simulated cluster behind the API: nodes, guests, storages, HA, options, accounts. What time does to it: tasks.py.

All sizes are bytes, all instants seconds of Cluster.clock, which a test may replace. A test changes the objects' attributes at any
time; Cluster.lock keeps an answer in one piece.
"""
import collections
import os
import threading
import time
import uuid

GIB = 1 << 30
XEON = "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz"
FLAGS = ("fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 ht syscall nx lm pni "
         "pclmulqdq vmx ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes xsave avx f16c rdrand hypervisor lahf_lm abm bmi1 avx2 bmi2 "
         "avx512f avx512dq avx512cd avx512bw avx512vl")
AUDIT = {"VM.Audit", "Sys.Audit", "Datastore.Audit", "Pool.Audit", "SDN.Audit", "Mapping.Audit"}
ACT = AUDIT | {"VM.Migrate", "VM.PowerMgmt", "Sys.PowerMgmt"}


class Node:
    def __init__(self, name, number, version, cpus=16, mem=64 * GIB, model=XEON, flags=FLAGS, mhz="2100.000"):
        self.name, self.number, self.version = name, number, version
        self.ip = f"192.0.2.{number}"
        self.cpus, self.mem, self.model, self.flags, self.mhz = cpus, mem, model, flags, mhz
        self.online = True
        self.known = True  # False: online, but nothing was broadcast yet
        self.maintenance = False
        self.votes = 1
        self.clock_error = 0  # seconds by which its tasks' times are wrong
        self.booted = None  # instant; None: long ago
        self.own_load = 0.01  # of the node itself, as a fraction of all threads
        self.own_mem = 2 * GIB
        self.arc = 0
        self.psi = {"pressurecpusome": 0.5, "pressureiosome": 0.2, "pressureiofull": 0.1, "pressurememorysome": 0, "pressurememoryfull": 0}
        self.bridges = ["vmbr0", "vmbr1"]
        self.goes_down = self.comes_up = None  # instants
        self.dead = False  # no packet wakes the node
        self.died = None  # an instant: it failed by itself
        self.leaves = False  # an admin shuts it down as soon as HA has emptied it
        self.segment = 1  # the network segment; wake packets stay within it
        self.wakeonlan = f"bc:24:11:00:aa:{number:02x}"
        self.keeps_connections = True  # of a guest that is migrated; only from version 9 on

    @property
    def ready(self):
        """From when on HA takes guests there."""
        return (self.booted or 0) + 5

    def major(self):
        return int(self.version.split(".")[0])


class Guest:
    def __init__(self, vmid, node, kind="qemu", cores=2, mem=4 * GIB, **more):
        self.vmid, self.node, self.kind, self.cores, self.mem = vmid, node, kind, cores, mem
        self.name = f"guest{vmid}"
        self.uuid = uuid.uuid4()
        self.age = 5000  # of its process, in seconds
        self.status = "running"
        self.cpu = 0.1  # a fraction of its cores
        self.used = mem // 4  # by the guest
        self.host_used = mem // 2  # backed by the host
        self.balloon = True  # it tells the former
        self.taken = 0  # by its balloon
        self.writes = 0  # bytes a second to its memory
        self.tags, self.pool, self.lock = "", None, ""
        self.template = False
        self.psi = {}
        self.config = {}  # beside what follows from the above
        self.storage = "shared"
        self.bridge = "vmbr0"
        for key, value in more.items():
            if not hasattr(self, key):
                raise AttributeError(key)
            setattr(self, key, value)

    def sid(self):
        return f"{'vm' if self.kind == 'qemu' else 'ct'}:{self.vmid}"


class Storage:
    def __init__(self, name, plugintype="nfs", shared=True, content="images,rootdir", nodes=None, size=1024 * GIB, used=100 * GIB):
        self.name, self.plugintype, self.shared, self.content = name, plugintype, shared, content
        self.nodes, self.size, self.used = nodes, size, used  # nodes None: all
        self.available = True


class Ha:
    def __init__(self):
        self.resources = {}  # sid -> {"state", "group" ...}
        self.groups = {}  # name -> {"nodes", "restricted", "nofailback"}
        self.migrated = True  # whether nodes of version 9 have made rules of the groups
        self.rules = {}  # name -> {"type", "resources", "nodes", "strict", "affinity", "disable"}
        self.master = None
        self.round_s = 10
        self.max_workers = 4
        self.drop = 0  # so many requests are answered OK, and nothing follows
        self.queue = []  # (due, sid, target): commands that the manager has not read yet
        self.starting = {}  # sid -> instant: starts that were requested, which the manager reads then
        self.moving = {}  # sid -> target: migrations that the manager has told a node to begin, until they end
        self.stopped = None  # instant from which on the manager makes no rounds
        self.acts = False  # whether it moves guests by itself (manager.py)
        self.fence_s = 60
        self.last_round = None
        self.away = {}  # sid -> the node whose maintenance it left
        self.own = []  # (vmid, from, to): what it moved by itself
        self.recovered = []  # guests of dead nodes


class Account:
    """A user's password, or a token's secret, and what each may where: path -> privileges, which hold below it as far as the next path.
    An empty set is the role NoAccess."""

    def __init__(self, secret, acl):
        self.secret, self.acl = secret, acl

    def may(self, privilege, path):
        return privilege in self.at(path)

    def at(self, path):
        """The privileges there: those of the nearest path that has any entry."""
        near = [at for at in self.acl if at == "/" or path == at or path.startswith(at + "/")]
        return self.acl[max(near, key=len)] if near else set()


class Cluster:
    def __init__(self, version="9.1", nodes=3, name="lab", **node):
        self.version, self.name = version, name
        self.authority = ":".join(f"{byte:02X}" for byte in os.urandom(32))  # the fingerprint of its certificate
        self.lock = threading.RLock()
        self.clock = time.time
        self.nodes = {f"n{i}": Node(f"n{i}", i, version, **node) for i in range(1, nodes + 1)}
        self.guests = {}
        self.storages = {s.name: s for s in (Storage("shared"), Storage("local", "dir", shared=False, content="iso,vztmpl,backup"),
                                             Storage("local-lvm", "lvmthin", shared=False))}
        self.pools = {}
        self.ha = Ha()
        self.options = {}
        self.replication = []
        self.qdevice = {}
        self.without_qdevice = []  # nodes on which its daemon does not run: they lack its vote
        self.ceph = {}  # {"osd": [host], "mon": [host], "mgr": [host], "mds": [host], "without": [node]: not installed there}; {}: nowhere
        self.mappings = {"pci": {}, "usb": {}, "dir": {}}  # id -> [property string of each node]
        self.quorate = None  # None: by the votes
        self.tasks = collections.OrderedDict()  # upid -> tasks.Task
        self.migration_rate = 1 * GIB  # a second
        self.link = None  # bytes a second of each node's network, each way, which copies share; None: each has migration_rate, and one round
        self.cancelled = []  # (vmid, from, to) of each migration that was stopped
        self.down_s, self.boot_s = 2, 4
        self.margins = []  # after each shutdown request: (node, votes above the quorum)
        self.wakes = []  # nodes that a wake packet has reached
        self.lost = []  # guests that ran on a node that went down
        self.lowest = None  # the fewest votes above the quorum at any instant, but for nodes that died: nobody's deed
        self.asked = []  # at each shutdown request: (node, votes above the quorum once it and all requested before it have happened)
        self.move_fails = None  # (guest, target) -> why a migration that begins now will fail, or None
        self.start_fails = None  # guest -> why a start that begins now will fail, or None
        self.starts = []  # (vmid, node) of each start that ended well
        self.arrivals = []  # (vmid, from, to) of each migration that ended well
        self.watch = None  # called with (guest, from) at each of them
        self.accounts = {"ballast@pve": Account("s3cret-of-the-test", {"/": set(ACT)}),
                         "ballast@pve!token": Account(str(uuid.uuid4()), {"/": set(ACT)})}

    def add(self, vmid, node, **more):
        guest = Guest(vmid, node, **more)
        self.guests[vmid] = guest
        return guest

    def fill(self, each, kinds=("qemu",), first=100):
        """So many guests on each node."""
        for name in self.nodes:
            for i in range(each):
                self.add(first, name, kind=kinds[i % len(kinds)])
                first += 1
        return self

    def add_rule(self, name, **rule):
        self.ha.rules[name] = {"type": "node-affinity", **rule}

    def manage(self, guest, state="started", **more):
        self.ha.resources[guest.sid()] = {"state": state, **more}
        self.ha.master = self.ha.master or next(iter(self.nodes))

    def has_device_vote(self):
        return self.qdevice.get("State") == "Connected" and not any(self.nodes[n].online for n in self.without_qdevice)

    def votes(self):
        """(present, needed)"""
        device = 0 if not self.qdevice else 1 if len(self.nodes) % 2 == 0 else len(self.nodes) - 1
        expected = sum(n.votes for n in self.nodes.values()) + device
        present = sum(n.votes for n in self.nodes.values() if n.online) + (device if self.has_device_vote() else 0)
        return present, expected // 2 + 1

    def note_votes(self):
        """At each instant: nothing changes between two calls but by a test."""
        present, needed = self.votes()
        left = present + sum(n.votes for n in self.nodes.values() if n.died is not None) - needed
        self.lowest = left if self.lowest is None else min(self.lowest, left)

    def note_request(self, node):
        present, needed = self.votes()
        self.asked.append((node.name, present - sum(n.votes for n in self.nodes.values() if n.online and n.goes_down) - needed))

    def manager_clock(self):
        """When the manager made its last round."""
        now = self.clock() if self.ha.stopped is None else min(self.ha.stopped, self.clock())
        return int(now - now % self.ha.round_s) if self.ha.round_s >= 1 else int(now)

    def switch_nodes(self, now):
        """Lets requested shutdowns and boots happen, in the order of their times."""
        for when, name in sorted((n.goes_down, n.name) for n in self.nodes.values() if n.goes_down and n.goes_down <= now):
            node = self.nodes[name]
            node.goes_down, node.online = None, False
            self.lost += [g.vmid for g in self.guests_of(name) if g.status == "running"]
            for g in self.guests_of(name):
                g.status = "stopped"
            present, needed = self.votes()
            self.margins.append((name, present - needed))
            self.note_votes()
        for node in self.nodes.values():
            if node.comes_up and node.comes_up <= now and not node.dead:
                node.comes_up, node.online, node.booted = None, True, now
                if node.leaves:
                    node.leaves = node.maintenance = False
        self.note_votes()

    def is_quorate(self):
        present, needed = self.votes()
        return present >= needed if self.quorate is None else self.quorate

    def guests_of(self, node, kind=None):
        return [g for g in self.guests.values() if g.node == node and kind in (None, g.kind)]

    def storage_on(self, name, node):
        s = self.storages.get(name)
        return s is not None and (s.nodes is None or node in s.nodes)

    def uptime(self, node):
        return int(self.clock() - node.booted) if node.booted else 86400

    def load(self, node):
        """The fraction of all threads that is busy."""
        busy = sum(g.cpu * g.cores for g in self.guests_of(node.name) if g.status == "running")
        return min(1.0, node.own_load + busy / node.cpus)

    def mem_used(self, node):
        return int(node.own_mem + node.arc + sum(g.host_used for g in self.guests_of(node.name) if g.status == "running"))
