"""datacenter.py: a lab with a ballastd of the test's own, in the configuration that the lab writes, and what tests ask of both.

    with Datacenter(hosts=4, vms=16) as of, of.service(interval_s=2) as d:
        d.start()
        of.delivered(10)["vm1"]     # CPU time that the guest got, in percent of a CPU
        of.check_guests()           # each runs once, is defined once, and was never restarted

virsh and the guests themselves, not ballastd, say what is true.
"""
import pathlib
import re
import threading
import time

from daemon import Daemon, wait_for
from lab import Lab


def changed(text, changes):
    """The configuration with other values for some of its keys."""
    for key, value in changes.items():
        text, n = re.subn(rf"^( *){key}: .*$", rf"\g<1>{key}: {value}", text, flags=re.MULTILINE)
        assert n == 1, f"{key} stands {n} times in the configuration of the lab:\n{text}"
    return text


def show_times(d):
    """Prints what migrations were predicted to take, and took; gives those that are done. `ballast history` and the log say the same."""
    words = " ".join(d.cli("history").split())
    log = d.log.read_text()
    print("migration          in all, s: predicted  measured   copying, s: predicted  measured   downtime, s", flush=True)
    done = sorted((a for a in d.json("history") if a["state"] == "done" and a["action"] == "migrate"), key=lambda a: a["id"])
    for a in done:
        predicted, measured = a["result"]["predicted"], a["result"]["measured"]
        print(f"{a['vm_name']:5} {a['from']} -> {a['to']}", *(f"{'-' if x is None else format(x, '.2f'):>18}" for x in (
            predicted["action_s"], measured["action_s"], predicted["duration_s"], measured["duration_s"], measured["downtime_s"])), flush=True)
        if None not in measured.values():  # a task that was asked for twice was not timed
            assert measured["action_s"] >= measured["duration_s"] > measured["downtime_s"] > 0, a
        told = re.search(rf" {a['id']} migrate {a['vm_name']} .*: done: (took .*, copying .*; predicted: .*, copying .* s)", log)
        assert told and told[1].replace("took", "Took", 1) in words, (a, words, log[-3000:])
    return done


class Service(Daemon):
    """ballastd on the configuration of the lab."""

    def __init__(self, of, **changes):
        self.text = pathlib.Path(of.status()["service"]["configuration"]).read_text()
        self.changes = changes
        self.pinned = None  # the host on which all guests are wanted: it takes mandatory moves
        super().__init__(None)

    def write(self, **changes):
        self.changes.update(changes)
        own = {key: self.settings[key] for key in ("state_dir", "socket")}
        pin = f'vms:\n  - name: "*"\n    pin: [{self.pinned}]\n' if self.pinned else ""
        self.config.write_text(changed(self.text, {**self.changes, **own}) + pin)

    def pin(self, host):
        """From the next start on."""
        self.pinned = host
        self.write()


class Datacenter(Lab):
    def __init__(self, hosts=4, vms=16, options=()):
        super().__init__(hosts, vms, ["--no-service", *options])
        self.names = [f"hv{i}" for i in range(1, hosts + 1)]
        self.vms = {f"vm{i}" for i in range(1, vms + 1)}

    def service(self, **changes):
        return Service(self, **changes)

    def answering(self):
        return [name for name, host in self.hosts().items() if host["answers"]]

    def on_all(self, command, hosts=None):
        """{host: output} of virsh at each host that answers, side by side."""
        ret = {}
        threads = [threading.Thread(target=lambda h=h: ret.__setitem__(h, self.virsh(h, command))) for h in hosts or self.answering()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ret

    def where(self, what="--state-running"):
        """{guest: [hosts]} by `virsh list` with these options."""
        ret = {}
        for host, names in sorted(self.on_all(f"list --name {what}").items()):
            for name in names.split():
                ret.setdefault(name, []).append(host)
        return ret

    def cpu(self):
        """{(guest, host): (nanoseconds of CPU, of waiting for it, when)}."""
        ret = {}
        for host, text in self.on_all("domstats --cpu-total --vcpu --list-running").items():
            for part in text.split("Domain: ")[1:]:
                used, waited = (re.search(rf"^ *{key}=(\d+)$", part, re.M) for key in (r"cpu\.time", r"vcpu\.0\.delay"))
                ret[part.split("'")[1], host] = int(used[1]), int(waited[1]) if waited else 0, time.monotonic()
        return ret

    def delivered(self, seconds):
        """{guest: (percent of a CPU that it got, percent of the time that it waited for CPU)} over so many seconds in which no guest moves:
        the caller has ballastd paused."""
        while True:
            before = self.cpu()
            time.sleep(seconds)
            after = self.cpu()
            if set(before) == set(after):
                return {key[0]: tuple((after[key][i] - was[i]) / (after[key][2] - was[2]) / 1e7 for i in (0, 1)) for key, was in before.items()}

    def check_guests(self, since=None, lost=()):
        """Each guest runs on one host and is defined on one, the same; none has restarted since, which is what this gave before. lost: those
        whose host was switched off under them."""
        running, defined, paused = self.where(), self.where("--all --persistent"), self.where("--state-paused")
        assert not paused, paused
        assert set(running) == self.vms - set(lost), (running, lost)
        assert set(defined) <= self.vms and set(running) <= set(defined), (running, defined)
        assert all(len(hosts) == 1 for hosts in [*running.values(), *defined.values()]), (running, defined)
        assert all(running[vm] == defined[vm] for vm in running), (running, defined)
        guests = self.guests()
        for vm, was in (since or {}).items():
            if vm not in lost:
                now = guests[vm]
                assert now["restarts"] == 0 and now["boot"] == was["boot"] and now["up_s"] >= was["up_s"], (was, now)
        return guests

    def wait_for_guests(self, since=None, lost=()):
        """As check_guests(), as soon as no migration is under way any more; what does not pass then is what is wrong."""
        wrong = []

        def right():
            try:
                return self.check_guests(since, lost)
            except AssertionError as e:
                wrong[:] = [e]
                return None

        try:
            return wait_for("the guests are where they belong", right, 30)
        except AssertionError as e:
            raise wrong[0] from e
