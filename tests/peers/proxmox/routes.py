"""routes.py: every route that the server has: its parameters, the privilege that it needs, and in which versions it exists.

test_proxmox_server.py compares the table with the published description.
"""
import re

from . import writing, reading

QEMU, LXC = "/nodes/{node}/qemu/{vmid}", "/nodes/{node}/lxc/{vmid}"


class Route:
    def __init__(self, method, path, answer, parameters="", needs=None, since=8, here=False):
        """parameters: names, those that may be left out with "?", those that came with version 9 with "?9"; needs: (path, privilege),
        None: anybody who is logged in."""
        self.method, self.path, self.answer, self.needs, self.since = method, path, answer, needs, since
        self.words = parameters.split()
        self.required = {w for w in self.words if "?" not in w}
        self.pattern = re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", path) + "$")
        self.on_node = "{node}" in path and not here  # forwarded to that node

    def known(self, major):
        return {w.partition("?")[0] for w in self.words if major >= 9 or not w.endswith("?9")}


AUDIT = ("/", "Sys.Audit")
NODE = ("/nodes/{node}", "Sys.Audit")
GUEST = ("/vms/{vmid}", "VM.Audit")
POWER = ("/nodes/{node}", "Sys.PowerMgmt")
MOVE = ("/vms/{vmid}", "VM.Migrate")
START = ("/vms/{vmid}", "VM.PowerMgmt")

ROUTES = [
    Route("GET", "/version", reading.version),
    Route("POST", "/access/ticket", writing.ticket, "username password realm? otp? tfa-challenge? new-format?"),
    Route("GET", "/access/permissions", reading.permissions, "path? userid?"),
    Route("GET", "/access/acl", reading.acl),
    Route("GET", "/cluster/resources", reading.resources, "type?"),
    Route("GET", "/cluster/status", reading.status, needs=AUDIT),
    Route("GET", "/cluster/options", reading.options),
    Route("GET", "/cluster/tasks", reading.cluster_tasks),
    Route("GET", "/cluster/replication", reading.replication),
    Route("GET", "/cluster/config/nodes", reading.config_nodes, needs=AUDIT),
    Route("GET", "/cluster/config/qdevice", reading.qdevice, needs=AUDIT),
    Route("GET", "/cluster/ceph/metadata", reading.ceph_metadata, "scope?", needs=AUDIT),
    Route("GET", "/cluster/mapping/pci", reading.mapping("pci"), "check-node?"),
    Route("GET", "/cluster/mapping/usb", reading.mapping("usb"), "check-node?"),
    Route("GET", "/cluster/mapping/dir", reading.mapping("dir"), "check-node?"),
    Route("GET", "/cluster/ha/resources", reading.ha_resources, "type?", needs=AUDIT),
    Route("GET", "/cluster/ha/groups", reading.ha_groups, needs=AUDIT),
    Route("GET", "/cluster/ha/rules", reading.ha_rules, "type? resource?", needs=AUDIT, since=9),
    Route("GET", "/cluster/ha/status/current", reading.ha_current, needs=AUDIT),
    Route("GET", "/cluster/ha/status/manager_status", reading.manager_status, needs=AUDIT),
    Route("POST", "/cluster/ha/resources/{sid}/migrate", writing.ha_migrate, "sid node", needs=("/", "Sys.Console")),
    Route("GET", "/nodes", reading.nodes),
    Route("GET", "/nodes/{node}/version", reading.version, "node"),
    Route("GET", "/nodes/{node}/certificates/info", reading.certificates, "node"),
    Route("GET", "/nodes/{node}/status", reading.node_status, "node", needs=NODE),
    Route("POST", "/nodes/{node}/status", writing.node_command, "node command", needs=POWER),
    Route("POST", "/nodes/{node}/wakeonlan", writing.wake_on_lan, "node", needs=POWER, here=True),
    Route("GET", "/nodes/{node}/config", reading.node_config, "node property?", needs=AUDIT),
    Route("GET", "/nodes/{node}/rrddata", reading.node_rrd, "node timeframe cf?", needs=NODE),
    Route("GET", "/nodes/{node}/capabilities/qemu/migration", reading.migration_capabilities, "node", needs=NODE, since=9),
    Route("GET", "/nodes/{node}/storage", reading.node_storage, "node content? enabled? format? storage? target?"),
    Route("GET", "/nodes/{node}/network", reading.node_network, "node type?"),
    Route("GET", "/nodes/{node}/qemu", reading.node_guests("qemu"), "node full?"),
    Route("GET", "/nodes/{node}/lxc", reading.node_guests("lxc"), "node"),
    Route("GET", "/nodes/{node}/ceph/mon", reading.ceph_mon, "node", needs=AUDIT),
    Route("GET", "/nodes/{node}/disks/list", reading.disks, "node include-partitions? skipsmart? type?", needs=NODE),
    Route("GET", "/nodes/{node}/tasks", reading.node_tasks,
          "node errors? limit? since? source? start? statusfilter? typefilter? until? userfilter? vmid?"),
    Route("GET", "/nodes/{node}/tasks/{upid}/status", reading.task_status, "node upid"),
    Route("GET", "/nodes/{node}/tasks/{upid}/log", reading.task_log, "node upid download? limit? start?"),
    Route("DELETE", "/nodes/{node}/tasks/{upid}", writing.stop_task, "node upid"),
    Route("GET", QEMU + "/migrate", reading.migrate_precondition, "node vmid target?", needs=MOVE),
    Route("GET", LXC + "/migrate", reading.ct_migrate_precondition, "node vmid target?", needs=MOVE, since=9),
    Route("POST", QEMU + "/migrate", writing.migrate_vm,
          "node vmid target online? with-local-disks? with-conntrack-state?9 targetstorage? bwlimit? force? migration_type? migration_network?",
          needs=MOVE),
    Route("POST", LXC + "/migrate", writing.migrate_ct, "node vmid target online? restart? timeout? target-storage? bwlimit?", needs=MOVE),
]
ROUTES += [
    Route("POST", QEMU + "/status/start", writing.start_guest, "node vmid force-cpu? machine? migratedfrom? migration_network? migration_type? "
          "nets-host-mtu? skiplock? stateuri? targetstorage? timeout? with-conntrack-state?9", needs=START),
    Route("POST", LXC + "/status/start", writing.start_guest, "node vmid debug? skiplock?", needs=START),
]
for at in (QEMU, LXC):
    ROUTES += [
        Route("GET", at + "/config", reading.guest_config, "node vmid current? snapshot?", needs=GUEST),
        Route("GET", at + "/pending", reading.guest_pending, "node vmid", needs=GUEST),
        Route("GET", at + "/status/current", reading.guest_status, "node vmid", needs=GUEST),
        Route("GET", at + "/rrddata", reading.guest_rrd, "node vmid timeframe cf?", needs=GUEST),
    ]


def find(method, path, major):
    """(route, what stands in its path); None: this version has no such route."""
    for route in ROUTES:
        match = route.pattern.match(path) if route.method == method and major >= route.since else None
        if match:
            return route, match.groupdict()
    return None
