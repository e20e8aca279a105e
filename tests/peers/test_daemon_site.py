#!/usr/bin/env python3
"""ballastd against a vSphere simulator that is like a site: networks, datastores and vGPUs that not every host has, VMs that stay, rules
from vCenter, from the configuration, from labels and from tags, and relocations of which some fail.

The simulator records every relocation that it is asked for. The check goes through this record with what the test itself has set up, and
uses nothing that Ballast says."""
import collections
import json
import math
import random
import statistics
import subprocess
import sys

import vcsim
from daemon import BALLAST, Daemon, wait_for
from at_once import run_tests  # noqa: E402

PAUSE_S = 30
EAGER = {"interval_s": 5, "migration_threshold": 4, "cool_down_s": 600, "avoid": {"pause_s": PAUSE_S}}
BUSY = ("approved", "starting", "running", "verifying")
HOST_MHZ = 2 * 2294
PROFILE = "grid_p40-2q"


class Site:
    """The simulated cluster: what hosts offer, what VMs need, which VMs stay, and the rules."""

    def __init__(self, api, seed=13):
        self.api = api
        self.rng = random.Random(seed)
        self.name = {ref: name for name, ref in api.hosts().items()}
        self.vm_name = {ref: name for name, ref in api.vms().items()}
        self.hosts = sorted(self.name)
        self.start = api.placement()
        self.on = collections.defaultdict(list)
        for vm, host in sorted(self.start.items()):
            self.on[host].append(vm)
        self.hot, self.leaves = self.hosts[:max(1, len(self.hosts) // 8)], self.hosts[2 if len(self.hosts) < 16 else 10]
        self.refusing = min(2, len(self.hosts) // 8)  # so many hosts refuse; after a failure at three a VM rests for a while
        self.choice = self.refusing + 2  # each VM can run on as many hosts: where it is, those that refuse, and one more
        self.needs, self.offers = {}, {}
        self.gpu, self.stay, self.apart, self.affine = set(), {}, [], []
        self.only = {}  # VM: the hosts that rules leave it
        self.load = {vm: mhz for host in self.hosts for vm, mhz in self.loads_of(host)}
        self.resources()
        self.settings = self.rules()

    def loads_of(self, host):
        """A hot host's VMs want 1.4 times its capacity, a cold one's a quarter."""
        mhz = HOST_MHZ * (1.4 if host in self.hot else 0.25) / len(self.on[host])
        return [(vm, int(mhz * self.rng.uniform(0.7, 1.3))) for vm in self.on[host]]

    def resources(self):
        groups = self.api.refs_by_name("DistributedVirtualPortgroup", "DVPG")
        stores = self.api.refs_by_name("Datastore", "")
        assert len(groups) == 3 and len(stores) == 2
        settings = []
        for i, host in enumerate(self.hosts):
            networks = [g for k, g in enumerate(groups) if i % 4 != k]
            datastores = [s for k, s in enumerate(stores) if i % 5 != k]
            profiles = [PROFILE] if i % 8 in (2, 3, 5) else []
            self.offers[host] = {*networks, *datastores, *profiles}
            settings += self.attached("HostSystem", host, networks, datastores)
            settings.append(("HostSystem", host, "config.sharedPassthruGpuTypes", "".join(f"<string>{p}</string>" for p in profiles),
                             "ArrayOfString"))
        for vm, host in sorted(self.start.items()):
            self.needs[vm] = self.rng.choice([{g, s} for g in groups for s in stores
                                              if {g, s} <= self.offers[host] and self.fit({g, s}) >= self.choice])
        for host in self.hosts:
            for vm in self.on[host][::8]:
                if PROFILE in self.offers[host] and self.fit({*self.needs[vm], PROFILE}) >= self.choice:
                    self.api.add_vgpu(vm, PROFILE)
                    self.needs[vm].add(PROFILE)
                    self.gpu.add(vm)
        for host in {self.hot[0], *self.hosts[::8]} - {self.leaves}:
            vm = next(vm for vm in self.on[host] if vm not in self.gpu)
            self.api.add_device(vm, "VirtualPCIPassthrough", '<backing xsi:type="VirtualPCIPassthroughDeviceBackingInfo">'
                                                             "<deviceName>x</deviceName></backing>")
            self.stay[vm] = "a passthrough device"
        for vm, needs in self.needs.items():
            settings += self.attached("VirtualMachine", vm, needs & {*groups}, needs & {*stores})
            for path, value in (("overallCpuUsage", self.load[vm]), ("guestMemoryUsage", 8), ("hostMemoryUsage", 16)):
                settings.append(("VirtualMachine", vm, f"summary.quickStats.{path}", value, "xsd:int"))
        self.api.set_all(settings)

    def fit(self, needs, among=None):
        return sum(needs <= self.offers[host] for host in among or self.hosts)

    def attached(self, kind, ref, networks, datastores):
        refs = (("network", "DistributedVirtualPortgroup", networks), ("datastore", "Datastore", datastores))
        return [(kind, ref, path, self.api.refs(of, *sorted(values)), "ArrayOfManagedObjectReference") for path, of, values in refs]

    def rules(self):
        """Makes the rules of vCenter, labels and tags; gives the service's settings."""
        free = [vm for vm in sorted(self.start) if vm not in self.gpu and vm not in self.stay]
        self.rng.shuffle(free)
        size = len(self.hosts) // 4

        def some(choice, among=None):
            chosen = [vm for vm in free if self.fit(self.needs[vm], among) >= choice][:size]
            assert len(chosen) == size
            free[:] = [vm for vm in free if vm not in chosen]
            return chosen

        licences, refused = [h for i, h in enumerate(self.hosts) if i % 4 != 3], self.hosts[1::8]
        others = [h for h in self.hosts if h not in refused]
        of_source, of_label, of_tag = (some(self.choice + size - 1) for _ in range(3))
        licensed, kept_off = some(self.choice, licences), some(self.choice, others)
        self.apart = [of_source, of_label, of_tag]
        self.api.add_rule("source-apart", of_source)
        tier, tags, licence = (self.api.add_field(f, "VirtualMachine") for f in ("tier", "tags", "license"))
        for vms, field, value in ((of_label, tier, "web"), (of_tag, tags, "prod;plb_anti_affinity_db"), (licensed, licence, "oracle")):
            for vm in vms:
                self.api.set_field(vm, field, value)
        self.only |= {vm: set(licences) for vm in licensed}
        self.api.add_vm_host_rule("source-not-there", kept_off, refused, apart=True)
        self.only |= {vm: set(others) for vm in kept_off}
        first = free.pop()
        second = next(vm for vm in free if self.needs[vm] == self.needs[first] and self.start[vm] != self.start[first])
        free.remove(second)
        self.affine = [[first, second]]
        unmoved = [vm for vm in free if self.start[vm] in self.hot[1:] + self.hosts[-1:]][:size]
        self.stay |= {vm: "a dongle" for vm in unmoved}
        return {
            "rules": {"web": {"kind": "anti-affinity", "vms": {"label": "tier=web"}},
                      "oracle": {"kind": "host-affinity", "vms": {"label": "license=ora*"}, "hosts": [self.name[h] for h in licences]},
                      "pair": {"kind": "affinity", "vms": [self.vm_name[first], self.vm_name[second]]}},
            "proxlb_tags": "mandatory",
            "vms": [{"name": [self.vm_name[vm] for vm in unmoved], "never_move": "a dongle"}],
        }

    def spread(self, where):
        total = dict.fromkeys(self.hosts, 0)
        for vm, host in where.items():
            total[host] += self.load[vm]
        return statistics.pstdev(mhz / HOST_MHZ for mhz in total.values())

    def allowed(self, vm, host):
        return self.needs[vm] <= self.offers[host] and host in self.only.get(vm, self.hosts)

    def broken(self, where):
        """The VMs that break a rule or lack something where they are."""
        wrong = {vm for vm, host in where.items() if not self.allowed(vm, host)}
        for group in self.apart:
            times = collections.Counter(where[vm] for vm in group)
            wrong |= {vm for vm in group if times[where[vm]] > 1}
        for group in self.affine:
            wrong |= set(group) if len({where[vm] for vm in group}) > 1 else set()
        return wrong

    def check(self, record):
        """No relocation was asked for that lacks something, breaks a rule, moves a VM that stays, or failed shortly before."""
        where, bound, refused = dict(self.start), {}, {}
        for e in record:
            vm, host = e["vm"], e["host"]
            if e["event"] == "begun":
                assert self.allowed(vm, host), (e, self.needs[vm] - self.offers[host], self.only.get(vm))
                assert vm not in self.stay, (e, self.stay[vm])
                assert vm not in bound and host != where[vm], e
                waited_ms = e["ms"] - refused.get((vm, host), -math.inf)
                assert waited_ms >= 1000 * (PAUSE_S - 1), f"tried again after {waited_ms} ms: {e}"  # the service counts whole seconds
                others = [o for group in self.apart if vm in group for o in group if o != vm]
                assert not [o for o in others if host in (where[o], bound.get(o))], e
                bound[vm] = host
            else:
                del bound[vm]
                if e["event"] == "arrived":
                    where[vm] = host
                else:
                    refused[vm, host] = e["ms"]
        assert where == self.api.placement()


def asked(record):
    return [(e["vm"], e["host"]) for e in record if e["event"] == "begun"]


def at_a_site(hosts, vms, fail_every):
    with vcsim.Vcsim(hosts=hosts, vms=vms, slow_ms=300, tls=False,
                     extra=("-portgroup", "3", "-ds", "2", "-checker", "-fail-every", str(fail_every))) as sim:
        api = sim.client()
        site = Site(api)
        source = {"kind": "vsphere", "url": sim.url, "username": sim.username, "password_file": sim.password_file, "timeout_s": 30}
        unbalanced, breaks = site.spread(site.start), site.broken(site.start)
        assert breaks
        with Daemon(source, **EAGER, automation="full", **site.settings) as d:
            d.start()

            def balanced():
                where = api.placement()
                return not site.broken(where) and site.spread(where) < unbalanced / 2 and not d.actions(*BUSY)

            wait_for("balance", balanced, 120, every=1)
            record = api.relocations()
            site.check(record)
            tried = asked(record)
            failed = [e for e in record if e["event"] == "failed"]
            print(f"  {hosts} hosts, {vms} VMs: {len(tried)} relocations, {len(failed)} failed; {len(breaks)} VMs broke rules; "
                  f"the spread fell from {unbalanced:.3f} to {site.spread(api.placement()):.3f}")
            assert len(failed) == len(tried) // fail_every > 0
            assert not site.gpu & {vm for vm, _ in tried}  # they move only if they must
            empties(site, d, api)
            leave_one(site, d, api)
            site.check(api.relocations())
            assert not site.broken(api.placement())
            d.stop()


def preferred(site, d):
    """The hosts that most VMs of the leaving host would go to."""
    snapshot = d.folder / "snapshot.json"
    snapshot.write_text(d.cli("snapshot"))
    done = subprocess.run([BALLAST, "what-if", "--snapshot", str(snapshot), "--config", str(d.config), "--maintenance",
                           site.name[site.leaves], "--format", "json"], capture_output=True, text=True, check=True)
    moves = json.loads(done.stdout)["recommendations"]
    to = collections.Counter(m["to"] for m in moves if m["action"] == "migrate" and m["from"] == site.leaves)
    return [host for host, _ in to.most_common(site.refusing)]


def empties(site, d, api):
    """The hosts that most VMs of the leaving host would go to refuse them: the host is emptied all the same."""
    refuses = preferred(site, d)
    done = len(api.relocations())
    api.refuse(*(site.name[host] for host in refuses))
    mine = {vm for vm, host in api.placement().items() if host == site.leaves}
    d.cli("maintenance", "enter", site.name[site.leaves])
    wait_for("an empty host", lambda: site.leaves not in api.placement().values(), 90, every=1)
    tried = [(vm, host) for vm, host in asked(api.relocations()[done:]) if vm in mine]
    there = [vm for vm, host in tried if host in refuses]
    print(f"  {len(mine)} VMs left in {len(tried)} relocations, {len(there)} of them to hosts that refuse")
    assert there and site.gpu & mine
    assert len(there) <= 8 * site.refusing  # three in a row at each, and those under way
    api.refuse()


def leave_one(site, d, api):
    """A VM with a passthrough device stays when its host is to be emptied, and the fault says why."""
    hot = site.hot[0]
    (stuck,) = [vm for vm in site.stay if site.start[vm] == hot]
    d.cli("maintenance", "enter", site.name[hot])
    wait_for("all but one leave", lambda: [vm for vm, host in api.placement().items() if host == hot] == [stuck], 120, every=1)
    fault = wait_for("a fault", lambda: [f["text"] for f in d.status()["faults"] if f["code"] == "cannot_evacuate"], 30)
    assert len(fault) == 1 and "passthrough device" in fault[0], fault


def test_small_site():
    at_a_site(8, 96, 7)


def test_large_site():
    at_a_site(32, 1000, 10)


if __name__ == "__main__":
    vcsim.main(lambda: vcsim.build() and sys.exit(run_tests(globals())))
