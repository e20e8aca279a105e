"""writing.py: what changes something: the login, migrations, starts, the end of a task. What follows from it: tasks.py."""
from . import errors, tasks


def on(text):
    return str(text).lower() in ("1", "on", "yes", "true")


def ticket(q):
    return q.server.log_in(q.params)


def migrate_vm(q):
    if q.params.get("force") or q.params.get("migration_type") or q.params.get("migration_network"):
        if q.user != "root@pam":
            raise errors.Parameter(force="Only root may use this option.")
    return tasks.migrate(q.cluster, q.guest, q.params["target"], q.user, on(q.params.get("online", 0)))


def migrate_ct(q):
    return tasks.migrate(q.cluster, q.guest, q.params["target"], q.user, on(q.params.get("restart", 0)))


def start_guest(q):
    return tasks.start(q.cluster, q.guest, q.user)


def ha_migrate(q):
    guest = next((g for g in q.cluster.guests.values() if g.sid() == q.path["sid"]), None)
    if guest is None or not tasks.is_ha(q.cluster, guest):
        raise errors.Failure(f"no such resource '{q.path['sid']}'")
    q.cluster.ha.queue.append((q.cluster.clock() + q.cluster.ha.round_s, guest.sid(), q.params["node"]))
    if q.node.major() < 9:
        return None
    return {"sid": guest.sid(), "requested-node": q.params["node"]}


def node_command(q):
    """The node answers before it begins to shut down."""
    if q.params["command"] not in ("shutdown", "reboot"):
        raise errors.Parameter(command="value does not have a value in the enumeration 'reboot, shutdown'")
    q.node.goes_down = q.node.goes_down or q.cluster.clock() + q.cluster.down_s
    q.cluster.note_request(q.node)
    if q.params["command"] == "reboot":
        q.node.comes_up = q.node.goes_down + q.cluster.boot_s
    return None


def wake_on_lan(q):
    """The asked node sends the packet; its answer does not say whether the packet arrives."""
    node = q.cluster.nodes.get(q.path["node"])
    if node is None:
        raise errors.Failure(f"no such cluster node '{q.path['node']}'")
    if node is q.local:
        raise errors.Failure(f"'{node.name}' is local node, cannot wake my self!")
    if not node.wakeonlan:
        raise errors.Failure(f"No wake on LAN MAC address defined for '{node.name}'!")
    if not node.online and not node.dead and node.segment == q.local.segment and node.comes_up is None:
        node.comes_up = q.cluster.clock() + q.cluster.boot_s
        q.cluster.wakes.append(node.name)
    return node.wakeonlan.partition(",")[0]


def stop_task(q):
    task = q.task()
    if task.user != q.user and not q.may("Sys.Modify", f"/nodes/{task.node}"):
        raise errors.Forbidden(f"Permission check failed (/nodes/{task.node}, Sys.Modify)")
    if task.exit is None and hasattr(task, "cancel"):
        task.cancel()
    return None
