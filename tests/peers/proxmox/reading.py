"""reading.py: the answers to GET. Each function is given the request (server.Request) and gives what stands in "data"."""
import collections
import hashlib

from . import errors, tasks

GIB = 1 << 30
ROWS = 60  # of an hour, one a minute
BRIDGE = "bridge"


def version(q):
    text = {"8.4": "8.4.21", "9.1": "9.1.11", "9.2": "9.2.11"}[q.node.version]
    return {"version": text, "release": q.node.version, "repoid": "0a1b2c3d"}


def permissions(q):
    """Of the caller: its privileges by path, of the top ones and those with entries; none of a path where it has none."""
    paths = {"/", "/access", "/access/groups", "/nodes", "/pool", "/sdn", "/storage", "/vms"}.union(*(a.acl for a in q.cluster.accounts.values()))
    return {path: {privilege: 1 for privilege in sorted(q.account.at(path))} for path in sorted(paths) if q.account.at(path)}


def acl(q):
    """Who sees only its own paths here does so by Permissions.Modify, which nobody has."""
    return [{"path": path, "type": "token" if "!" in name else "user", "ugid": name, "roleid": "Ballast" if has else "NoAccess", "propagate": 1}
            for name, a in q.cluster.accounts.items() for path, has in a.acl.items() if q.may("Sys.Audit", "/access")]


# ---- the cluster ----

def _node_row(q, n):
    row = {"id": f"node/{n.name}", "type": "node", "node": n.name, "status": "online" if n.online and n.known else
           "offline" if not n.online else "unknown", "level": ""}
    if n.online and n.known and q.may("Sys.Audit", f"/nodes/{n.name}"):
        c = q.cluster
        row.update(cpu=round(c.load(n), 6), maxcpu=n.cpus, mem=c.mem_used(n), maxmem=n.mem, disk=9 * GIB, maxdisk=98 * GIB, uptime=c.uptime(n))
        row["cgroup-mode"] = 2
    return row


def ha_state(cluster, n):
    if not cluster.ha.resources and not n.maintenance:
        return None
    return "unknown" if not n.online else "maintenance" if n.maintenance else "online"


def _figures(q, g):
    """What the last broadcast said of a guest that runs."""
    on = q.cluster.nodes[g.node]
    known = on.known and (on.online or g.status != "running")
    row = {"status": g.status if known else "unknown", "maxcpu": g.cores, "maxmem": g.mem, "maxdisk": 32 * GIB, "cpu": 0, "mem": 0,
           "disk": 0, "netin": 0, "netout": 0, "diskread": 0, "diskwrite": 0, "uptime": 0}
    if not known:
        return {"status": "unknown"}
    if g.status == "running":
        told = g.used if g.balloon or g.kind == "lxc" else g.host_used
        row.update(cpu=g.cpu, mem=told, uptime=g.age, netin=1, netout=2, diskread=3, diskwrite=4)
        if on.major() >= 9:
            row["memhost"] = g.host_used
    return row


def guest_row(q, g):
    row = {"id": f"{g.kind}/{g.vmid}", "type": g.kind, "vmid": g.vmid, "name": g.name, "node": g.node, "template": int(g.template),
           **_figures(q, g)}
    for key, value in (("tags", g.tags), ("lock", g.lock), ("pool", g.pool)):
        if value:
            row[key] = value
    state = q.cluster.ha.resources.get(g.sid())
    if state:
        row["hastate"] = state["state"]
    return row


def resources(q):
    c, kind, rows = q.cluster, q.params.get("type"), []
    if kind in (None, "vm"):
        rows += [guest_row(q, g) for g in c.guests.values() if q.may("VM.Audit", f"/vms/{g.vmid}")]
    if kind in (None, "node"):
        for n in c.nodes.values():
            row = _node_row(q, n)
            if ha_state(c, n):
                row["hastate"] = ha_state(c, n)
            rows.append(row)
    if kind is None:
        rows += [{"id": f"/pool/{p}", "type": "pool", "pool": p} for p in c.pools if q.may("Pool.Audit", f"/pool/{p}")]
    if kind in (None, "storage"):
        for s in c.storages.values():
            if q.may("Datastore.Audit", f"/storage/{s.name}"):
                rows += [{"id": f"storage/{n.name}/{s.name}", "type": "storage", "storage": s.name, "node": n.name, "content": s.content,
                          "plugintype": s.plugintype, "shared": int(s.shared), "disk": s.used, "maxdisk": s.size,
                          "status": "available" if s.available and n.online else "unknown"}
                         for n in c.nodes.values() if c.storage_on(s.name, n.name)]
    return rows


def status(q):
    c = q.cluster
    rows = [{"type": "cluster", "id": "cluster", "name": c.name, "nodes": len(c.nodes), "quorate": int(c.is_quorate()), "version": 3}]
    return rows + [{"type": "node", "id": f"node/{n.name}", "name": n.name, "nodeid": n.number, "ip": n.ip, "online": int(n.online),
                    "local": int(n.name == q.local.name), "level": ""} for n in c.nodes.values()]


def options(q):
    """Anybody may read what the pages need; the rest needs Sys.Audit."""
    shown = dict(q.cluster.options)
    if not q.may("Sys.Audit", "/"):
        shown = {k: v for k, v in shown.items() if k in ("console", "tag-style")}
    return shown


def replication(q):
    return [r for r in q.cluster.replication if q.may("VM.Audit", f"/vms/{r['guest']}")]


def config_nodes(q):
    return [{"node": n.name, "name": n.name, "nodeid": str(n.number), "quorum_votes": str(n.votes), "ring0_addr": n.ip}
            for n in q.cluster.nodes.values()]


def qdevice(q):
    return {} if q.local.name in q.cluster.without_qdevice else dict(q.cluster.qdevice)


def _need_ceph(q):
    if not q.cluster.ceph or q.node.name in q.cluster.ceph.get("without", []):
        raise errors.Failure("binary not installed: /usr/bin/ceph-mon")


def ceph_mon(q):
    _need_ceph(q)
    return [{"name": host, "host": 1, "addr": f"{q.cluster.nodes[host].ip}:6789/0"} for host in q.cluster.ceph.get("mon", [])]


def disks(q):
    osds = [i for i, host in enumerate(q.cluster.ceph.get("osd", [])) if host == q.node.name]
    return [{"devpath": "/dev/sda", "gpt": 1, "mounted": 0, "size": 98 * GIB, "used": "LVM", "osdid": -1}] + \
        [{"devpath": f"/dev/sd{chr(98 + n)}", "gpt": 0, "mounted": 0, "size": 1024 * GIB, "used": "LVM", "osdid": i, "osdid-list": [i]}
         for n, i in enumerate(osds)]


def ceph_metadata(q):
    """Of Ceph's services by their hosts; a cluster without it has no configuration of it."""
    _need_ceph(q)
    told = {"mon": {}, "mgr": {}, "mds": {}, "node": {}, "osd": []}
    for kind in ("mon", "mgr", "mds"):
        for host in q.cluster.ceph.get(kind, []):
            told[kind][f"{host}@{host}"] = {"name": host, "hostname": host}
    for i, host in enumerate(q.cluster.ceph.get("osd", [])):
        told["osd"].append({"id": i, "hostname": host})
    return told


def mapping(kind):
    def rows(q):
        return [{"id": i, "map": list(m), "description": ""} for i, m in q.cluster.mappings[kind].items() if q.may("Mapping.Audit", f"/mapping/{kind}/{i}")]
    return rows


def cluster_tasks(q):
    """Of each node what runs, and the last 25 that have ended."""
    rows, ended = [], collections.Counter()
    for t in reversed(q.cluster.tasks.values()):
        ended[t.node] += t.exit is not None
        if (t.exit is None or ended[t.node] <= 25) and (t.user == q.user or q.may("Sys.Audit", f"/nodes/{t.node}")):
            rows.append(t.row())
    return rows


# ---- HA ----

def ha_resources(q):
    rows = []
    for sid, r in q.cluster.ha.resources.items():
        row = {"sid": sid, "type": sid.partition(":")[0], "digest": _digest(sid), "max_restart": 1, "max_relocate": 1, **r}
        if q.node.major() >= 9 and q.cluster.ha.migrated:
            row.pop("group", None)
        rows.append(row)
    return rows


def ha_groups(q):
    if q.node.major() >= 9 and q.cluster.ha.migrated:
        raise errors.Failure("cannot index groups: ha groups have been migrated to rules")
    return [{"group": name, "type": "group", "digest": _digest(name), **g} for name, g in q.cluster.ha.groups.items()]


def ha_rules(q):
    rows = []
    for i, (name, r) in enumerate(q.cluster.ha.rules.items()):
        if q.params.get("type") in (None, r["type"]):
            rows.append({"rule": name, "order": i + 1, "digest": _digest(name), **r})
    return rows


def _lrm(n):
    return f"{n.name} ({'maintenance mode' if n.maintenance else 'active'}, watchdog {'standby' if n.maintenance else 'active'}, Mon Sep 21 10:00:00 2026)"


def ha_current(q):
    c = q.cluster
    rows = [{"id": "quorum", "type": "quorum", "node": q.local.name, "status": "OK" if c.is_quorate() else "No quorum on node!",
             "quorate": int(c.is_quorate())}]
    if c.ha.master:
        rows.append({"id": "master", "type": "master", "node": c.ha.master, "status": f"{c.ha.master} (active, Mon Sep 21 10:00:00 2026)",
                     "timestamp": int(c.clock())})
        rows += [{"id": f"lrm:{n.name}", "type": "lrm", "node": n.name, "status": _lrm(n), "timestamp": int(c.clock())} for n in c.nodes.values()]
    for g in c.guests.values():
        r = c.ha.resources.get(g.sid())
        if r:
            rows.append({"id": f"service:{g.sid()}", "type": "service", "sid": g.sid(), "node": g.node, "state": r["state"],
                         "status": f"{g.sid()} ({g.node}, {r['state']})"})
    return rows


def _services(c):
    """The manager's status of each resource: a command that it has read, or the migration that a node carries out."""
    told = {}
    for g in c.guests.values():
        r = c.ha.resources.get(g.sid())
        if r and r["state"] != "ignored":
            state = "stopped" if g.sid() in c.ha.starting and not tasks.has_read(c.ha, g.sid(), c.clock()) else r["state"]
            told[g.sid()] = {"state": state, "node": g.node, "uid": _digest(g.sid())[:22], "running": int(g.status == "running")}
            if g.sid() in c.ha.moving:
                told[g.sid()].update(state="migrate" if g.kind == "qemu" else "relocate", target=c.ha.moving[g.sid()])
    return told


def manager_status(q):
    c = q.cluster
    told = {"manager_status": {}, "lrm_status": {}, "quorum": {"node": q.local.name, "quorate": str(int(c.is_quorate()))}}
    if c.ha.master:
        told["manager_status"] = {"master_node": c.ha.master, "timestamp": c.manager_clock(), "service_status": _services(c),
                                  "node_status": {n.name: ha_state(c, n) for n in c.nodes.values()},
                                  "node_request": {n.name: {"maintenance": 1} for n in c.nodes.values() if n.maintenance}}
        told["lrm_status"] = {n.name: {"mode": "maintenance" if n.maintenance else "active", "state": "active"} for n in c.nodes.values()}
    return told


def _digest(text):
    return hashlib.sha1(text.encode()).hexdigest()


# ---- a node ----

def nodes(q):
    rows = []
    for n in q.cluster.nodes.values():
        row = _node_row(q, n)
        row["ssl_fingerprint"] = q.fingerprint(n)
        row.pop("cgroup-mode", None)
        rows.append(row)
    return rows


def node_status(q):
    n, c = q.node, q.cluster
    used = c.mem_used(n)
    return {"uptime": c.uptime(n), "loadavg": ["0.10", "0.20", "0.30"], "cpu": c.load(n), "wait": 0.01, "kversion": "Linux 6.14",
            "cpuinfo": {"cpus": n.cpus, "cores": n.cpus // 2, "sockets": 1, "model": n.model, "flags": n.flags, "mhz": n.mhz, "hvm": "1",
                        "user_hz": 100},
            "memory": {"total": n.mem, "used": used, "free": max(0, n.mem - used - GIB), "available": n.mem - used},
            "swap": {"total": 0, "used": 0, "free": 0}, "ksm": {"shared": 0}, "rootfs": {"total": 98 * GIB, "used": 9 * GIB, "avail": 84 * GIB,
                                                                                         "free": 89 * GIB},
            "pveversion": f"pve-manager/{version(q)['version']}/0a1b2c3d", "boot-info": {"mode": "efi", "secureboot": 0}}


def certificates(q):
    """A cluster whose nodes tell no authority has None."""
    told = {"pve-root-ca.pem": q.cluster.authority, "pve-ssl.pem": q.server.fingerprint}
    return [{"filename": name, "fingerprint": is_} for name, is_ in told.items() if is_]


def node_config(q):
    return {"wakeonlan": q.node.wakeonlan, "digest": _digest(q.node.name)}


def node_storage(q):
    return [{"storage": s.name, "type": s.plugintype, "content": s.content, "shared": int(s.shared), "active": int(s.available), "enabled": 1,
             "total": s.size, "used": s.used, "avail": s.size - s.used}
            for s in q.cluster.storages.values() if q.cluster.storage_on(s.name, q.node.name) and q.may("Datastore.Audit", f"/storage/{s.name}")]


def node_network(q):
    wanted = q.params.get("type")
    rows = [{"iface": b, "type": BRIDGE, "active": 1, "method": "static", "method6": "manual", "families": ["inet"], "priority": i}
            for i, b in enumerate(q.node.bridges) if q.may("SDN.Audit", f"/sdn/zones/localnetwork/{b}")]
    if wanted in (None, "eth"):
        rows.append({"iface": "eno1", "type": "eth", "active": 1, "exists": 1, "method": "manual", "method6": "manual", "families": ["inet"],
                     "priority": 9})
    return [r for r in rows if wanted in (None, r["type"], f"any_{r['type']}", "any_local_bridge")]


def _every_minute(q, figures):
    now = int(q.cluster.clock()) // 60 * 60
    return [{"time": now - 60 * (ROWS - 1 - i), **figures} for i in range(ROWS)]


def node_rrd(q):
    n, c = q.node, q.cluster
    row = {"cpu": c.load(n), "maxcpu": n.cpus, "loadavg": 0.2, "iowait": 0.01, "memtotal": n.mem, "memused": c.mem_used(n), "swaptotal": 0,
           "swapused": 0, "roottotal": 98 * GIB, "rootused": 9 * GIB, "netin": 1e6, "netout": 1e6}
    if n.major() >= 9:
        row.update(memavailable=n.mem - c.mem_used(n), arcsize=n.arc, **n.psi)
    return _every_minute(q, row)


# ---- guests ----

def node_guests(kind):
    def rows(q):
        found = []
        for g in q.cluster.guests_of(q.node.name, kind):
            if not q.may("VM.Audit", f"/vms/{g.vmid}"):
                continue
            row = {"vmid": g.vmid, "name": g.name, **_figures(q, g), "cpus": g.cores}
            row.pop("maxcpu", None)
            if row["status"] not in ("running", "stopped", "unknown"):
                row.update(status="running", qmpstatus=g.status)
            if kind == "lxc":
                row["type"] = "lxc"
            if row["status"] == "running":
                row["pid"] = 1000 + g.vmid
            for key, value in (("tags", g.tags), ("lock", g.lock), ("template", int(g.template))):
                if value:
                    row[key] = value
            if q.node.major() >= 9 and g.status == "running":
                row.update(_psi(g))
            found.append(row)
        return found
    return rows


def _psi(g):
    names = ["pressurecpusome", "pressureiosome", "pressureiofull", "pressurememorysome", "pressurememoryfull"]
    return {name: g.psi.get(name, 0) for name in names + (["pressurecpufull"] if g.kind == "qemu" else [])}


def guest_status(q):
    g = q.guest
    row = {"vmid": g.vmid, "name": g.name, **_figures(q, g), "cpus": g.cores, "ha": {"managed": 0}}
    row.pop("maxcpu", None)
    if g.status not in ("running", "stopped"):
        row.update(status="running", qmpstatus=g.status)
    if g.kind == "lxc":
        row["type"] = "lxc"
    managed = q.cluster.ha.resources.get(g.sid())
    if managed:
        row["ha"] = {"managed": 1, "state": managed["state"]}
    if g.kind == "qemu" and g.status == "running":
        row.update({"qmpstatus": "running", "running-machine": "pc-q35-9.2+pve1", "running-qemu": "9.2.0", "pid": 1000 + g.vmid})
        if g.config.get("balloon") != 0:
            row["balloon"] = g.mem - g.taken
            row["ballooninfo"] = {"actual": g.mem - g.taken, "max_mem": g.mem}
        if g.balloon:
            row["freemem"] = g.mem - g.used
    if q.node.major() >= 9 and g.status == "running":
        row.update(_psi(g))
    for key, value in (("tags", g.tags), ("lock", g.lock)):
        if value:
            row[key] = value
    return row


def guest_config(q):
    g = q.guest
    mac = f"BC:24:11:00:{g.vmid >> 8 & 255:02X}:{g.vmid & 255:02X}"
    if g.kind == "qemu":
        told = {"name": g.name, "cores": g.cores, "sockets": 1, "memory": str(g.mem >> 20), "cpu": "x86-64-v2-AES", "ostype": "l26",
                "scsihw": "virtio-scsi-single", "boot": "order=scsi0", "net0": f"virtio={mac},bridge={g.bridge}",
                "scsi0": f"{g.storage}:vm-{g.vmid}-disk-0,size=32G", "smbios1": f"uuid={g.uuid}"}
    else:
        told = {"hostname": g.name, "cores": g.cores, "memory": g.mem >> 20, "swap": 512, "ostype": "debian", "arch": "amd64",
                "net0": f"name=eth0,bridge={g.bridge},hwaddr={mac},ip=dhcp,type=veth", "rootfs": f"{g.storage}:vm-{g.vmid}-disk-0,size=8G"}
    for key, value in (("tags", g.tags), ("lock", g.lock), ("template", int(g.template))):
        if value:
            told[key] = value
    told.update(g.config)
    return {k: v for k, v in {**told, "digest": _digest(repr(sorted(told.items())))}.items() if v is not None}


def guest_pending(q):
    return [{"key": k, "value": v} for k, v in guest_config(q).items()]


def guest_rrd(q):
    g = q.guest
    row = {"cpu": g.cpu, "maxcpu": g.cores, "mem": g.used, "maxmem": g.mem, "disk": 0, "maxdisk": 32 * GIB, "netin": 1.5, "netout": 2.5,
           "diskread": 3.5, "diskwrite": 4.5}
    if q.node.major() >= 9:
        row.update(memhost=g.host_used, **_psi(g))
    return _every_minute(q, row)


def migrate_precondition(q):
    g, c = q.guest, q.cluster
    if g.lock:
        raise errors.Failure(f"VM is locked ({g.lock})")
    allowed, not_allowed = [], {}
    for n in c.nodes.values():  # those that are offline, too
        if n.name != g.node and c.storage_on(g.storage, n.name):
            allowed.append(n.name)
        elif n.name != g.node:
            not_allowed[n.name] = {"unavailable_storages": [g.storage]}
    local = [] if c.storages[g.storage].shared else [{"volid": f"{g.storage}:vm-{g.vmid}-disk-0", "size": 32 * GIB, "cdrom": 0, "is_unused": 0}]
    told = {"running": int(g.status == "running"), "allowed_nodes": allowed, "not_allowed_nodes": not_allowed, "local_disks": local,
            "local_resources": [k for k in g.config if k.startswith(("hostpci", "usb"))], "mapped-resources": [], "mapped-resource-info": {}}
    if q.node.major() >= 9:
        told.update({"has-dbus-vmstate": int(q.node.keeps_connections), "dependent-ha-resources": []})
    return told


def migration_capabilities(q):
    return {"has-dbus-vmstate": int(q.node.keeps_connections)}


def ct_migrate_precondition(q):
    told = migrate_precondition(q)
    return {"running": told["running"], "allowed-nodes": told["allowed_nodes"], "not-allowed-nodes": {
        n: {"unavailable-storages": w["unavailable_storages"]} for n, w in told["not_allowed_nodes"].items()}, "dependent-ha-resources": []}


# ---- tasks ----

def node_tasks(q):
    kind, vmid = q.params.get("typefilter"), q.params.get("vmid")
    source, since = q.params.get("source", "archive"), int(q.params.get("since", 0))
    rows = [t.row() for t in reversed(q.cluster.tasks.values()) if t.node == q.node.name and kind in (None, t.kind) and vmid in (None, t.ident)
            and (t.user == q.user or q.may("Sys.Audit", f"/nodes/{t.node}")) and t.started >= since
            and (source == "all" or (source == "active") == (t.exit is None))]
    for row in rows:
        row.setdefault("status", "RUNNING")
    q.total = len(rows)
    return rows[int(q.params.get("start", 0)):][:int(q.params.get("limit", 50))]


def task_status(q):
    return q.task().status()


def task_log(q):
    log = q.task().log
    q.total = len(log)
    start = int(q.params.get("start", 0))
    return [{"n": start + i + 1, "t": line} for i, line in enumerate(log[start:start + int(q.params.get("limit", 50))])]
