#!/usr/bin/env python3
"""Something comes to a host in the moment in which it is put to standby: before each request of a standby, one event of each kind. Either the
host is not asked to go down, or the event came after the last look that could have seen it. How many got through is counted and bounded."""
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from at_once import run_tests  # noqa: E402
from probe import Probe  # noqa: E402
from proxmox import Cluster, Server, tasks  # noqa: E402
from test_proxmox_actuator import equal, given  # noqa: E402


def say(*words):
    print(*words, flush=True)


# ---- Proxmox VE: n5 goes down, n3 and n4 have a guest each, and n5 one that is off ----

OFF, HERE, THERE = 100, 101, 103  # off on n5; of HA and off on n5; on n3
TASKS, OWN, GUESTS = "GET /cluster/tasks", "GET /nodes/n5/tasks", "GET /nodes/n5/(qemu|lxc)"
STATUS, WANTED = "GET /cluster/ha/status/manager_status", "GET /cluster/ha/resources"


def of_ha(c, vmid, state="started"):
    c.manage(c.guests[vmid], state=state)
    return c.guests[vmid]


def ended(task):
    """At once: it began and ended between two requests."""
    task.finish(task.end(task))
    return task


def start(c):
    tasks.Start(c, c.guests[OFF], "root@pam")


def started(c):
    ended(tasks.Start(c, c.guests[OFF], "root@pam"))


def moves_in(c):
    c.migration_rate = c.guests[THERE].host_used / 60
    tasks.Migration(c, c.guests[THERE], "n5", "root@pam", "qmigrate")


def moved_in(c):
    ended(tasks.Migration(c, c.guests[THERE], "n5", "root@pam", "qmigrate"))


def ha_migrates(c):
    tasks.migrate(c, of_ha(c, THERE), "n5", "root@pam", True)


def ha_was_told(c):
    """The task that queues the command has ended."""
    ha_migrates(c)
    ended(list(c.tasks.values())[-1])


def ha_moves(c):
    """A command without a task, or HA's own will, that the manager has read: no node has begun it."""
    c.ha.max_workers = 0
    c.ha.moving[of_ha(c, THERE).sid()] = "n5"


def ha_begins(c):
    """The node begins it at once."""
    c.ha.moving[of_ha(c, THERE).sid()] = "n5"
    tasks.advance(c)


def ha_starts(c):
    tasks.start(c, c.guests[HERE], "root@pam")


def ha_was_told_to_start(c):
    ha_starts(c)
    ended(list(c.tasks.values())[-1])


def ha_is_set(c):
    """By another request, which makes no task."""
    c.ha.resources[c.guests[HERE].sid()]["state"] = "started"
    c.ha.starting[c.guests[HERE].sid()] = c.clock() + 60


def ha_queue(c):
    """By another request, which makes no task: nothing shows it until the manager has read it."""
    c.ha.queue.append((c.clock() + 10, of_ha(c, THERE).sid(), "n5"))


# (kind, event, the requests that can see it, how many of the last events may get through; None: none can be seen)
PROXMOX = [("start", start, (TASKS, OWN), 1), ("start that is over", started, (TASKS, GUESTS), 1),
           ("migration in", moves_in, (TASKS,), 1), ("migration in that is over", moved_in, (TASKS, GUESTS), 1),
           ("HA migration, unread", ha_migrates, (TASKS,), 1), ("HA migration, unread, its task over", ha_was_told, (TASKS,), 1),
           ("HA migration, read", ha_moves, (STATUS,), 2), ("HA migration, begun", ha_begins, (TASKS, STATUS), 1),
           ("HA start, unread", ha_starts, (TASKS, OWN, WANTED), 1), ("HA start, unread, its task over", ha_was_told_to_start, (TASKS, WANTED), 1),
           ("HA start without a task, unread", ha_is_set, (WANTED,), 3), ("HA migration without a task, unread", ha_queue, (), None)]


def cluster():
    c = Cluster("9.1", nodes=5)
    c.down_s = 60  # nothing moves by itself within a standby
    c.add(OFF, "n5", status="stopped")
    c.add(HERE, "n5", status="stopped")
    c.add(THERE, "n3")
    of_ha(c, HERE, "stopped")
    return c


class Race:
    """One standby after the other, each in a new cluster at the same addresses."""

    def __init__(self, server, probe):
        self.server, self.probe = server, probe

    def run(self, event=None, at=None):
        """(the requests, whether the node was asked to go down, the seconds from the last look to that)"""
        s, c, times = self.server, cluster(), []
        c.accounts = s.cluster.accounts
        first, s.cluster, s.changes[:] = len(s.requests), c, []

        def before(n):
            times.append(time.monotonic())
            if n - first == at:
                with c.lock:
                    event(c)

        s.before = before
        told = self.probe("start", "standby", "uid", "n5")
        asked = [change for change in s.changes if change[1] == "/nodes/n5/status"]
        equal("what it says and what it did", told["ok"], bool(asked))
        assert asked or told["error"] == "EBUSY", told
        return [r.partition("?")[0] for r in s.requests[first:]], bool(asked), times[-1] - times[-2]


def test_proxmox():
    wrong = []
    with Server(cluster(), nodes=["n1", "n2"]) as s, Probe("proxmox", **given(s)) as p:
        p("check", "standby", "uid", "n5")  # it has logged in, and knows its addresses
        race = Race(s, p)
        requests, asked, window = race.run()
        assert asked and requests[-1] == "POST /nodes/n5/status", requests
        say(f"Proxmox VE: {len(requests)} requests, the last of which is the shutdown, {1000 * window:.1f} ms after the last look")
        for kind, event, looks, most in PROXMOX:
            through = []
            for at in range(len(requests)):
                made, asked, _ = race.run(event, at)
                if asked:
                    through.append(at)
                    wrong += [(kind, at, r) for n, r in enumerate(made) if n >= at and any(re.fullmatch(look, r) for look in looks)]
            say(f"Proxmox VE, {kind}: {len(through)} of {len(requests)} got through" +
                (f", those before {', '.join(requests[n] for n in through)}" if most else ""))
            if most and through != list(range(len(requests) - most, len(requests))):
                wrong.append((kind, through))
    assert not wrong, wrong


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
