"""tasks.py: what goes on in the cluster: tasks with their logs, migrations, and the HA manager's queue.

Nothing runs by itself: advance() brings the cluster to the present and is called before each answer.
"""
import random
import time

from . import errors, manager

GIB = 1 << 30
DOWNTIME_S = 0.1  # QEMU's default in Proxmox VE
LOG_TIME = "2026-01-01 00:00:00 "


class Task:
    def __init__(self, cluster, node, kind, ident, user, seconds, end):
        """end(task) is called when it is over, and gives the exit status."""
        self.cluster, self.node, self.kind, self.ident, self.user = cluster, node, kind, str(ident), user
        self.pid, self.pstart, self.started = random.randrange(1000, 1 << 22), random.randrange(1 << 24, 1 << 31), self.told_time()
        self.began, self.due, self.end = cluster.clock(), cluster.clock() + seconds, end
        self.exit, self.ended = None, None
        self.log = []
        self.upid = f"UPID:{node}:{self.pid:08X}:{self.pstart:08X}:{self.started:08X}:{kind}:{ident}:{user}:"
        cluster.tasks[self.upid] = self

    def told_time(self):
        return int(self.cluster.clock() + self.cluster.nodes[self.node].clock_error)

    def finish(self, exit_status):
        self.exit, self.ended = exit_status, self.told_time()
        self.log.append("TASK OK" if exit_status == "OK" else f"TASK ERROR: {exit_status}")

    def status(self):
        user, _, token = self.user.partition("!")
        row = {"upid": self.upid, "node": self.node, "pid": self.pid, "pstart": self.pstart, "starttime": self.started, "type": self.kind,
               "id": self.ident, "user": user, "status": "running" if self.exit is None else "stopped"}
        if token:
            row["tokenid"] = token
        if self.exit is not None:
            row["exitstatus"] = self.exit
        return row

    def row(self):
        """As the lists of tasks have it."""
        row = {k: v for k, v in self.status().items() if k not in ("status", "exitstatus")}
        if self.exit is not None:
            row.update(status=self.exit, endtime=self.ended)
        return row


class Migration(Task):
    """The guest is on its way, locked; it stays where it is until the end."""

    def __init__(self, cluster, guest, target, user, kind):
        seconds = 1 + guest.host_used / cluster.migration_rate if guest.status == "running" and guest.kind == "qemu" else 1
        super().__init__(cluster, guest.node, kind, guest.vmid, user, seconds, Migration.arrive)
        self.guest, self.target, self.seconds = guest, target, seconds
        self.sent, self.left, self.written, self.settled = 0, guest.host_used, 0, cluster.clock()
        if cluster.link and kind == "qmigrate" and guest.status == "running":
            self.due = float("inf")  # until a round fits into the downtime
        self.fails = cluster.move_fails(guest, target) if cluster.move_fails else None
        if guest.kind == "qemu" and guest.cores > cluster.nodes[target].cpus:
            self.fails = f"MAX {cluster.nodes[target].cpus} vcpus allowed per VM on this node"
        guest.lock = "migrate"
        self.log.append(LOG_TIME + f"starting migration of {'VM' if guest.kind == 'qemu' else 'CT'} {guest.vmid} to node '{target}' "
                        f"({cluster.nodes[target].ip})")

    def share(self):
        """What the links of both nodes have for it beside other copies, each way."""
        others = [t for t in self.cluster.tasks.values() if isinstance(t, Migration) and t.exit is None]
        return min(self.cluster.migration_rate, self.cluster.link / max(sum(t.node == self.node for t in others), sum(t.target == self.target for t in others)))

    def copy(self, now):
        """Pre-copy: what the guest writes to during a round is the next one."""
        rate, seconds = self.share(), now - self.settled
        self.settled = now
        while seconds > 0:
            step = min(seconds, self.left / rate)
            self.sent, self.left, seconds = self.sent + step * rate, self.left - step * rate, seconds - step
            self.written = min(self.written + step * self.guest.writes, self.guest.host_used)
            if self.left > 1:
                continue
            self.left, self.written = self.written, 0
            if self.left <= DOWNTIME_S * rate:
                self.due, self.seconds, seconds = now, now - self.began, 0
        self.log.append(LOG_TIME + f"migration active, transferred {self.sent / GIB:.1f} GiB of {self.guest.host_used / GIB:.1f} GiB VM-state, "
                        f"{rate / GIB * 1024:.1f} MiB/s")

    def go_on(self, now):
        if self.due == float("inf"):
            return self.copy(now)
        part = min(1.0, max(0.0, 1 - (self.due - now) / self.seconds))
        if self.guest.kind == "qemu":
            self.log.append(LOG_TIME + f"migration active, transferred {part * self.guest.host_used / GIB:.1f} GiB of "
                            f"{self.guest.host_used / GIB:.1f} GiB VM-state, 110.0 MiB/s")

    def arrive(self):
        self.guest.lock = ""
        if self.fails or not self.cluster.nodes[self.target].online:
            self.log.append(LOG_TIME + f"ERROR: {self.fails or 'online migrate failure - aborting'}")
            self.cluster.ha.moving.pop(self.guest.sid(), None)  # tried once
            return "migration problems"
        self.cluster.arrivals.append((self.guest.vmid, self.node, self.target))
        self.guest.node = self.target
        if self.cluster.watch:
            self.cluster.watch(self.guest, self.node)
        self.log += [LOG_TIME + "average migration speed: 1.0 GiB/s - downtime 48 ms", LOG_TIME + f"migration finished successfully (duration {time.strftime('%H:%M:%S', time.gmtime(self.seconds))})"]
        return "OK"

    def cancel(self):
        self.guest.lock = ""
        self.cluster.cancelled.append((self.guest.vmid, self.node, self.target))
        self.cluster.ha.moving.pop(self.guest.sid(), None)
        self.finish("interrupted by signal")


class Start(Task):
    """The guest is being started; it runs at the end."""

    def __init__(self, cluster, guest, user):
        super().__init__(cluster, guest.node, "qmstart" if guest.kind == "qemu" else "vzstart", guest.vmid, user, 1, Start.run)
        self.guest = guest
        self.fails = f"{'VM' if guest.kind == 'qemu' else 'CT'} {guest.vmid} already running" if guest.status == "running" else \
            f"VM is locked ({guest.lock})" if guest.lock not in ("", "suspended") else \
            cluster.start_fails(guest) if cluster.start_fails else None
        if guest.kind == "qemu" and guest.cores > cluster.nodes[guest.node].cpus:
            self.fails = self.fails or f"MAX {cluster.nodes[guest.node].cpus} vcpus allowed per VM on this node"
        self.due = 0 if self.fails else self.due

    def run(self):
        if self.fails or self.guest.node != self.node:
            return self.fails or f"Configuration file 'nodes/{self.node}/qemu-server/{self.guest.vmid}.conf' does not exist"
        self.guest.status, self.guest.lock = "running", ""
        self.cluster.starts.append((self.guest.vmid, self.node))
        return "OK"

    def cancel(self):
        self.finish("interrupted by signal")


def advance(cluster):
    now = cluster.clock()
    cluster.switch_nodes(now)
    for task in [t for t in cluster.tasks.values() if t.exit is None]:
        if not cluster.nodes[task.node].online:
            task.finish("unexpected status")  # its lock stays with the guest
        elif now >= task.due:
            task.finish(task.end(task))
        elif isinstance(task, Migration):
            task.go_on(now)
    manager.advance(cluster, now)
    _serve_ha_queue(cluster, now)


def _serve_ha_queue(cluster, now):
    ha = cluster.ha
    by_sid = {g.sid(): g for g in cluster.guests.values()} if ha.queue or ha.moving or ha.starting else {}
    for entry in [e for e in ha.queue if e[0] <= now and (ha.stopped is None or e[0] <= ha.stopped)]:
        ha.queue.remove(entry)
        guest = by_sid.get(entry[1])
        if guest is not None and guest.node != entry[2] and cluster.nodes[entry[2]].online:
            ha.moving[entry[1]] = entry[2]  # else only the manager's log knows
            partner = manager.partner_of(cluster, guest)
            if partner is not None and partner.node != entry[2]:
                ha.moving.setdefault(partner.sid(), entry[2])  # moves along
    for sid, target in list(ha.moving.items()):
        guest = by_sid.get(sid)
        running = [t for t in cluster.tasks.values() if isinstance(t, Migration) and t.exit is None]
        mine = [t for t in running if t.guest is guest]
        if guest is None or guest.node == target or (guest.lock and not mine) or not cluster.nodes[guest.node].online:
            del ha.moving[sid]  # arrived; or refused by the guest's node, whose log knows why
        elif not mine and sum(t.node == guest.node for t in running) < ha.max_workers:
            Migration(cluster, guest, target, "root@pam", "qmigrate" if guest.kind == "qemu" else "vzmigrate")
    for sid in [s for s in ha.starting if has_read(ha, s, now)]:
        guest = by_sid.get(sid)
        if guest is None or guest.status == "running" or not cluster.nodes[guest.node].online:
            del ha.starting[sid]
        elif sid not in ha.moving and ha.max_workers > 0:
            del ha.starting[sid]
            Start(cluster, guest, "root@pam")


def has_read(ha, sid, now):
    """Whether the manager has read that the guest is to run."""
    return ha.starting[sid] <= (now if ha.stopped is None else min(now, ha.stopped))


def is_ha(cluster, guest):
    return cluster.ha.resources.get(guest.sid(), {"state": "ignored"})["state"] != "ignored"


def apart(cluster, one, other):
    """Whether a rule of HA keeps them apart."""
    return any(r["type"] == "resource-affinity" and r.get("affinity") == "negative" and not r.get("disable") and
               {one.sid(), other.sid()} <= set(r["resources"].split(",")) for r in cluster.ha.rules.values()) and one is not other


def start(cluster, guest, user):
    """Gives the UPID."""
    if not cluster.is_quorate():
        raise errors.Failure("cluster not ready - no quorum?")
    if is_ha(cluster, guest):
        task = Task(cluster, guest.node, "hastart", guest.vmid, user, 1, lambda _: "OK")
        task.log.append(f"Requesting HA start for {'VM' if guest.kind == 'qemu' else 'CT'} {guest.vmid}")
        if cluster.ha.drop > 0:
            cluster.ha.drop -= 1
        else:
            cluster.ha.resources[guest.sid()]["state"] = "started"
            cluster.ha.starting[guest.sid()] = cluster.clock() + cluster.ha.round_s
        return task.upid
    if guest.kind == "lxc" and guest.status == "running":
        raise errors.Failure(f"CT {guest.vmid} already running")
    return Start(cluster, guest, user).upid


def migrate(cluster, guest, target, user, online):
    """Gives the UPID."""
    if target not in cluster.nodes:
        raise errors.Parameter(target=f"no such cluster node '{target}'")
    if guest.node == target:
        raise errors.Parameter(target="target is local node.")
    if not cluster.is_quorate():
        raise errors.Failure("cluster not ready - no quorum?")
    if is_ha(cluster, guest):
        if cluster.ha.drop > 0:
            cluster.ha.drop -= 1
        else:
            cluster.ha.queue.append((cluster.clock() + cluster.ha.round_s, guest.sid(), target))
        partner = next((g for g in cluster.guests_of(target) if apart(cluster, guest, g)), None)
        task = Task(cluster, guest.node, "hamigrate", guest.vmid, user, 1, lambda _: "OK" if partner is None else
                    f"command 'ha-manager migrate {guest.sid()} {target}' failed: exit code 255")
        task.log.append(f"Requesting HA migration for {'VM' if guest.kind == 'qemu' else 'CT'} {guest.vmid} to node {target}")
        if partner is not None:
            task.log.append(f"cannot migrate resource '{guest.sid()}' to node '{target}': resource '{partner.sid()}' is there")
            cluster.ha.queue[:] = [e for e in cluster.ha.queue if e[1] != guest.sid()]
        return task.upid
    if guest.lock:
        raise errors.Failure(f"VM is locked ({guest.lock})")
    if guest.status == "running" and not online:
        raise errors.Failure("can't migrate running VM without --online" if guest.kind == "qemu" else
                             "can't migrate running container without --online or --restart")
    if not cluster.storage_on(guest.storage, target):
        raise errors.Failure(f"storage '{guest.storage}' is not available on node '{target}'")
    return Migration(cluster, guest, target, user, "qmigrate" if guest.kind == "qemu" else "vzmigrate").upid
