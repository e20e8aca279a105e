#!/usr/bin/env python3
"""An independent replay of the contract: is this plan right for this snapshot?

replay.py SNAPSHOT PLAN [--entitlements FILE]

Recomputes demand, entitlements, load, imbalance and the DPM scores, applies the recommendations one by one, and then judges
every other order that `depends_on` allows. Prints "PLAN: ok" (exit code 0), or each violation on a line of its own (1). It is
written from the contract and the algorithms alone.
"""
import argparse
import json
import math
import sys

import orders
from cluster import RESOURCES, STATES_LEAVING, Cluster, flat, seconds

RELATIVE = 1e-6  # of figures that were computed in another order
ABSOLUTE = 1e-7  # where they are close to zero, and for what was rounded on its way through JSON
BALANCE = ('balance_cpu', 'balance_mem', 'exchange')
FIXED_KINDS = ('agent', 'spare', 'ft_primary', 'ft_secondary')  # for balance
BUSY = ('power_off', 'enter_maintenance')
SEARCH_STEPS = 20000


def close(a, b):
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def fits(needed, available):
    return needed <= available * (1 + RELATIVE) + ABSOLUTE


class Replay:
    """newcomers: the ids of the VMs that the plan is to place (`ballast place`)."""

    def __init__(self, snapshot, plan, newcomers=()):
        self.cluster = Cluster(snapshot)
        self.newcomers = set(newcomers)
        self.plan = plan
        self.policy = flat(plan['policy'])
        self.violations = []
        self.moved = {}  # vm id -> its recommendation
        self.last_metrics = None, None  # where every VM was, and the figures for that
        self.moves = [r for r in plan['recommendations'] if r['action'] in ('migrate', 'place')]
        self.wakes = {r['host']: r['id'] for r in plan['recommendations'] if r['action'] == 'power_on'}
        self.entitlement = {r: self.cluster.entitlements(r)[0] for r in RESOURCES}
        core = max(h['cpu_mhz'] / h['cores'] for h in snapshot['hosts'] if h.get('cores'))
        for vm in (self.cluster.vms[i] for i in self.newcomers):
            vm.starts = True
            for r, most in (('cpu', vm.vcpus * core), ('mem', vm.mem_mb)):
                self.entitlement[r][vm.id] = min(max(most, vm.reservation[r]), vm.limit[r])
                for w in ('5m', '40m', '60m'):
                    vm.window[w, r] = (most, 0.0)
        self.spare = Spare(self.cluster)

    def wrong(self, text, *where):
        self.violations.append(': '.join([*(str(w) for w in where), text]))

    def equal(self, stated, computed, *where):
        if not close(stated, computed):
            self.wrong(f'says {stated!r}, computed {computed!r}', *where)

    def run(self):
        self.check_header()
        self.check_metrics('before')
        self.check_list()
        self.spare.begin(self.plan)
        for rec in self.plan['recommendations']:
            self.apply_recommendation(rec)
            for lost in self.spare.missing():
                self.wrong(f'{lost} could not restart', f'recommendation {rec["id"]}')
        self.check_metrics('after')
        if not self.newcomers:  # placing VMs mends nothing else
            self.check_left_undone()
        self.check_orders()
        return self.violations

    # The plan as a whole.

    def check_header(self):
        if self.plan['format'] != 'ballast-plan/1':
            self.wrong(f'format {self.plan["format"]!r}')
        if self.plan['time'] != self.cluster.time:
            self.wrong(f'time {self.plan["time"]}, the snapshot\'s is {self.cluster.time}')

    def check_list(self):
        seen = set()
        for n, rec in enumerate(self.plan['recommendations'], 1):
            where = f'recommendation {rec["id"]}'
            if rec['id'] != n:
                self.wrong(f'stands at place {n}', where)
            if rec['action'] not in ('migrate', 'power_on', 'power_off', 'place'):
                self.wrong(f'unknown action {rec["action"]!r}', where)
            for needed in rec.get('depends_on') or []:
                if needed not in seen:
                    self.wrong(f'depends on {needed}, which is not an earlier one', where)
            if not 1 <= rec['priority'] <= 5:
                self.wrong(f'priority {rec["priority"]}', where)
            if not rec.get('text'):
                self.wrong('no text', where)
            seen.add(rec['id'])
        limit = self.policy['moves_max']
        optional = sum(1 for m in self.moves if m['reason'] in BALANCE)
        if isinstance(limit, (int, float)) and optional and 0 < limit < len(self.moves):
            self.wrong(f'{len(self.moves)} moves, {optional} of them optional, moves_max is {limit}')

    def check_metrics(self, which):
        stated, computed = self.plan[which], self.metrics()
        for key in ('imbalance', 'imbalance_cpu', 'imbalance_mem', 'weight_cpu', 'weight_mem', 'target'):
            self.equal(stated[key], computed[key], which, key)
        for key, value in self.cluster.dpm_scores(self.policy).items():
            self.equal(stated['dpm'][key], value, which, 'dpm', key)
        stated_hosts = {h['id']: h for h in stated['hosts']}
        if sorted(stated_hosts) != [h['id'] for h in computed['hosts']]:
            self.wrong('not the hosts that can run VMs', which)
            return
        for h in computed['hosts']:
            for r in RESOURCES:
                self.equal(stated_hosts[h['id']][r], h[r], which, 'host', h['id'], r)

    def check_left_undone(self):
        """What the plan does not correct it must name in a fault, unless what is under way mends it. An affine set of which
        a VM is on its way is left until that has arrived."""
        faults = self.plan['faults']
        at, arriving = self.cluster.at, self.cluster.arriving
        blamed = {f.get(key) for f in faults for key in ('vm', 'rule', 'host')}
        for vm in self.cluster.vms.values():
            host = self.cluster.hosts.get(self.cluster.at[vm.id])
            if vm.state != 'on' or vm.kind in ('agent', 'spare') or host is None:
                continue
            if host.state not in STATES_LEAVING and not (host.failover and host.state == 'on'):
                continue
            if vm.id not in self.cluster.arriving and vm.id not in blamed and host.id not in blamed:
                self.wrong(f'stays on {host.id}, which is {host.state}, and no fault says why', f'VM {vm.id}')
        self.cluster.at = {**at, **arriving}
        for vm in self.cluster.vms.values():
            peer = self.cluster.vms.get(vm.ft_peer)
            if vm.kind != 'ft_secondary' or peer is None or not all(map(self.cluster.takes_part, (vm, peer))):
                continue
            on_one_host = self.cluster.at[vm.id] == self.cluster.at[peer.id]
            if on_one_host and not blamed & {vm.id, peer.id} and not arriving.keys() & {vm.id, peer.id}:
                self.wrong(f'is beside the other half of its pair on {self.cluster.at[vm.id]}', f'VM {vm.id}')
        for rule in self.cluster.rules:
            if not (rule.enabled and rule.mandatory) or rule.id in blamed:
                continue
            if rule.kind == 'vm-vm-affine' and arriving.keys() & set(rule.vms):
                continue
            broken = self.violated(rule)
            if rule.kind == 'vm-vm-anti-affine':
                broken = {pair for pair in broken if not blamed & set(pair)}
            if broken - blamed:
                self.wrong('is violated in the end, and no fault says why', f'rule {rule.id}')
        self.cluster.at = at

    def settled(self):
        """Nothing was left undone: no fault, and every rule is kept, the preferred ones too."""
        return not self.plan['faults'] and not any(rule.enabled and self.violated(rule) for rule in self.cluster.rules)

    # One recommendation after the other.

    def apply_recommendation(self, rec):
        where = f'recommendation {rec["id"]}'
        if rec['action'] == 'migrate':
            self.migrate(rec, where)
        elif rec['action'] == 'place':
            self.place(rec, where)
        else:
            self.power(rec, where)

    def power(self, rec, where):
        host = self.cluster.hosts.get(rec['host'])
        if host is None:
            self.wrong(f'there is no host {rec["host"]!r}', where)
            return
        if rec['action'] == 'power_on':
            if host.state != 'standby' or host.failover or host.dpm == 'disabled':
                self.wrong(f'host {host.id} is {host.state} (dpm {host.dpm}), and is woken', where)
            if any(p.get('host') == host.id for p in self.cluster.pending):
                self.wrong(f'host {host.id} is being woken already', where)
            host.woken = True
            self.equal(rec['imbalance_after'], self.metrics()['imbalance'], where, 'imbalance_after')
            return
        self.check_power_off(host, rec, where)
        host.state = 'standby'
        self.equal(rec['imbalance_after'], self.metrics()['imbalance'], where, 'imbalance_after')

    def check_power_off(self, host, rec, where):
        """Agents go down with their host."""
        if host.state != 'on' or host.failover or host.vsan or host.serves_storage or host.avoided:
            self.wrong(f'host {host.id} is {host.state}, and is put to standby', where)
        if not host.wake_verified or (host.dpm if host.dpm != 'inherit' else self.policy['dpm.automation']) == 'disabled':
            self.wrong(f'host {host.id} must not be put to standby', where)
        if any(v.state == 'on' and v.kind != 'agent' for v in self.cluster.vms_at(host.id)):
            self.wrong(f'host {host.id} is not empty', where)
        left = {m['id'] for m in self.moves if m['from'] == host.id}
        if left != set(rec.get('depends_on') or []):
            self.wrong(f'depends on {rec.get("depends_on")}, and {sorted(left)} leave the host', where)
        if any(m['to'] == host.id for m in self.moves):
            self.wrong(f'a VM is moved to host {host.id}', where)

    def metrics(self, woken=True):
        """Of the present. What follows a move is what stands before the next one, so the last figures are kept."""
        c = self.cluster
        present = ([h.id for h in c.hosts_on(woken)], list(c.at.values()), [v.state for v in c.vms.values()])
        if self.last_metrics[0] != present:
            self.last_metrics = present, c.metrics(self.policy, self.entitlement, woken)
        return self.last_metrics[1]

    def place(self, rec, where):
        vm = self.cluster.vms.get(rec['vm'])
        if vm is None or vm.state == 'on' or vm.id not in self.newcomers:
            self.wrong(f'VM {rec["vm"]!r} is unknown, runs already or was not asked for', where)
            return
        self.check_destination(vm, rec['to'], where)
        broken = {rule.id: self.violated(rule) for rule in self.cluster.rules}
        self.moved[vm.id] = rec
        vm.state = 'on'
        self.cluster.at[vm.id] = rec['to']
        self.check_rules(rec, broken, where)
        self.equal(rec['imbalance_after'], self.metrics()['imbalance'], where, 'imbalance_after')

    def migrate(self, rec, where):
        cluster = self.cluster
        vm = cluster.vms.get(rec['vm'])
        if vm is None:
            self.wrong(f'there is no VM {rec["vm"]!r}', where)
            return
        self.check_movable(vm, rec, where)
        self.check_destination(vm, rec['to'], where)
        before = self.metrics(woken=False)
        broken = {rule.id: self.violated(rule) for rule in cluster.rules}
        if vm.id in self.moved:
            rec['from_home'] = self.moved[vm.id]['from']
        self.moved[vm.id] = rec
        cluster.at[vm.id] = rec['to']
        after = self.metrics()
        self.check_rules(rec, broken, where)
        self.equal(rec['imbalance_after'], after['imbalance'], where, 'imbalance_after')
        for figure in ('cost', 'benefit'):
            for value in (rec.get(figure) or {}).values():
                if not (math.isfinite(value) and value >= 0) and figure == 'cost':
                    self.wrong(f'{figure} {value!r}', where)
        if rec['reason'] in BALANCE:
            self.check_balance(rec, before, where)

    def check_movable(self, vm, rec, where):
        cluster = self.cluster
        if vm.state != 'on':
            self.wrong(f'VM {vm.id} is {vm.state}', where)
        if cluster.at[vm.id] != rec['from']:
            self.wrong(f'VM {vm.id} is on {cluster.at[vm.id]}, not on {rec["from"]}', where)
        if rec['from'] == rec['to']:
            self.wrong('leads to where it comes from', where)
        if vm.id in self.moved and not self.waits_between(self.moved[vm.id], rec):
            self.wrong(f'VM {vm.id} is moved twice', where)
        if vm.id in cluster.arriving:
            self.wrong(f'VM {vm.id} is being migrated already', where)
        if not cluster.takes_part(vm):
            self.wrong(f'VM {vm.id} is on a host that is not seen', where)
        if vm.kind in ('agent', 'spare') or (vm.kind in FIXED_KINDS and rec['reason'] in BALANCE):
            self.wrong(f'VM {vm.id} is of kind {vm.kind}', where)
        if vm.automation == 'disabled':
            self.wrong(f'automation is disabled for VM {vm.id}', where)
        if vm.immovable or (vm.mandatory_only and rec['priority'] != 1):
            self.wrong(f'VM {vm.id} cannot be moved, or only when it must be', where)
        if rec['reason'] in BALANCE and vm.last_migrated:
            rest = self.policy.get('cool_down_s', 0)
            if seconds(cluster.time) - seconds(vm.last_migrated) < rest:
                self.wrong(f'VM {vm.id} was migrated {vm.last_migrated}, less than {rest} s before', where)

    def waits_between(self, first, rec):
        """In an exchange a VM may wait on a third host, and go on from there once it has arrived."""
        return (first.get('group') and first['group'] == rec.get('group') and 'exchange' in (first['reason'], rec['reason'])
                and first['id'] in (rec.get('depends_on') or []) and 'from_home' not in first)

    def check_destination(self, vm, to, where):
        cluster = self.cluster
        host = cluster.hosts.get(to)
        if host is None:
            return self.wrong(f'there is no host {to!r}', where)
        if host.state != 'on' and not host.woken:
            self.wrong(f'host {to} is {host.state}', where)
        if host.woken and self.wakes[to] not in (self.plan_of(vm.id).get('depends_on') or []):
            self.wrong(f'goes to {to}, and does not wait until it is on', where)
        if any(p.get('host') == to and p['action'] in BUSY for p in cluster.pending):
            self.wrong(f'host {to} is about to go', where)
        if vm.compatible is not None and to not in vm.compatible:
            self.wrong(f'VM {vm.id} cannot run on host {to}', where)
        for reason in host.refuses(vm):
            self.wrong(f'host {to} {reason}', where)
        if host.failover:
            self.wrong(f'host {to} is kept empty for failures', where)
        for agent in host.agents_required:
            if not host.woken and not (cluster.vms[agent].state == 'on' and cluster.at[agent] == to):
                self.wrong(f'agent VM {agent} is not on host {to}', where)
        there = cluster.vms_at(to)
        if vm.ft_peer and (any(v.id == vm.ft_peer for v in there) or cluster.expected.get(vm.ft_peer) == to):
            self.wrong(f'the other half of the pair of VM {vm.id} is on {to}', where)
        for weight, (what, needed, available) in zip(self.weights(), self.limits(host, there + [vm])):
            if weight(vm) > 0 and not fits(needed, available):
                self.wrong(f'{what} on host {to}: {needed:.6g} of {available:.6g}', where)
        if host.mem_free is not None:
            change = self.memory_change(host, there + [vm])
            free = self.memory_free(host)
            if not fits(change, free):
                self.wrong(f'host {to} has {free:.6g} MiB free, {change:.6g} MiB more arrive than leave', where)

    def plan_of(self, vm_id):
        return next((m for m in self.moves if m['vm'] == vm_id), {})

    def weights(self):
        admission = self.policy['mem_admission']
        return (lambda v: v.reservation['cpu'], lambda v: v.reservation['mem'], lambda v: v.mem_needed(admission))

    def limits(self, host, vms):
        """(what, needed, available) of each sum that must fit."""
        admission, overcommit = self.policy['mem_admission'], self.policy['mem_overcommit']
        vms = vms + self.cluster.held_at(host.id)
        yield 'CPU reservations', sum(v.reservation['cpu'] for v in vms), host.capacity['cpu'] - host.own['cpu']
        yield 'memory reservations', sum(v.reservation['mem'] for v in vms), host.capacity['mem'] - host.own['mem']
        yield 'memory', sum(v.mem_needed(admission) for v in vms), host.capacity['mem'] * overcommit - host.own['mem']

    def memory_free(self, host):
        """What is free there at the start, or may be taken back from its VMs."""
        return host.mem_free + sum(v.mem_idle(self.policy) for v in self.cluster.vms.values()
                                   if v.state == 'on' and v.kind != 'spare' and v.host == host.id and v.id not in self.newcomers)

    def memory_change(self, host, vms):
        """How much more arrives than has left, of those that the snapshot does not have on the host yet."""
        here = {v.id for v in vms}
        vms = vms + [self.cluster.vms[i] for i, h in self.cluster.expected.items() if h == host.id]
        arrived = sum(v.mem_backed(self.policy) for v in vms if v.id in self.cluster.expected or host.id not in (v.host, self.cluster.left.get(v.id)))
        left = sum(v.mem_freed(self.policy) for v in self.cluster.vms.values()
                   if v.state == 'on' and v.host == host.id and v.id not in here and v.id not in self.newcomers)
        return arrived - left

    def check_rules(self, rec, broken, where):
        group = rec.get('group') or 0
        for rule in self.cluster.rules:
            if not (rule.enabled and rule.mandatory) or rec['vm'] not in rule.vms:
                continue
            if rule.kind == 'vm-vm-affine' and group and any(
                    m['group'] == group and m['id'] > rec['id'] for m in self.moves):
                continue  # judged when the whole group has arrived
            now, before = self.violated(rule), broken[rule.id]
            if rule.kind == 'vm-vm-affine':
                if group:
                    before = self.violated(rule, before_group=group)
                worse = len(now) > len(before)  # further apart than they were
            else:
                worse = now - before
            if worse:
                self.wrong(f'rule {rule.id} ({rule.kind}) is newly violated', where)

    def violated(self, rule, before_group=None):
        """What breaks the rule now, as a set; empty if nothing does. A rule is only about VMs that take part."""
        cluster = self.cluster
        place = {}
        for vm_id in rule.vms:
            if cluster.takes_part(cluster.vms[vm_id]):
                place[vm_id] = cluster.at[vm_id]
                if before_group and vm_id in self.moved and self.moved[vm_id].get('group') == before_group:
                    place[vm_id] = self.moved[vm_id].get('from_home', self.moved[vm_id]['from'])
        if rule.kind == 'vm-vm-affine':
            hosts = set(place.values())
            return hosts if len(hosts) > 1 else set()
        if rule.kind == 'vm-vm-anti-affine':
            return {(a, b) for a in place for b in place if a < b and place[a] == place[b]}
        allowed = rule.kind == 'vm-host-affine'
        return {vm_id for vm_id, host in place.items() if (host in rule.hosts) != allowed}

    def check_balance(self, rec, before, where):
        """An accepted move lowers the imbalance, by the weights that stood when it was chosen, and pays. Moves of a
        group are one move."""
        group = [m for m in self.moves if rec.get('group') and m.get('group') == rec['group']] or [rec]
        if rec is group[0]:
            self.before_group = before
        if rec is not group[-1]:
            return
        before = self.before_group
        weight = {r: before['weight_' + r] for r in RESOURCES}
        after = self.metrics(woken=False)
        imbalance = sum(weight[r] * after['imbalance_' + r] for r in RESOURCES)
        if imbalance >= before['imbalance'] + ABSOLUTE:
            self.wrong(f'the imbalance goes from {before["imbalance"]:.9f} to {imbalance:.9f}', where)
        level = rec['priority']
        if not 2 <= level <= self.policy['migration_threshold']:
            self.wrong(f'priority {level} at migration threshold {self.policy["migration_threshold"]}', where)
        if self.policy['cost_benefit']:
            total = {r: sum(h.capacity[r] - h.own[r] for h in self.cluster.hosts_on(woken=False)) for r in RESOURCES}
            times = {2: 4, 3: 1, 4: 0.25, 5: 0}.get(level, 1)  # what a level asks of benefit over cost
            net = sum(weight[r] * (m['benefit'][r_key] - times * m['cost'][r_key]) / total[r] for m in group
                      for r, r_key in (('cpu', 'cpu_mhz_s'), ('mem', 'mem_mb_s')))
            if net <= -1e-9:
                self.wrong(f'gains too little for its cost ({net:.3g})', where)

    # All other orders.

    def check_orders(self):
        """At no moment of any order that depends_on allows, with moves overlapping, is a hard constraint violated."""
        recs = self.plan['recommendations']
        needs = orders.closure({r['id']: set(r.get('depends_on') or []) for r in recs})
        cluster = self.cluster
        for host in cluster.hosts.values():
            arriving = [m for m in self.moves if m['to'] == host.id and m['vm'] in cluster.vms]
            leaving = [m for m in self.moves if m.get('from') == host.id and m['vm'] in cluster.vms]
            if arriving:
                self.check_sums(host, arriving, leaving, needs)
                self.check_pairs(host, arriving, needs)

    def check_sums(self, host, arriving, leaving, needs):
        cluster, admission = self.cluster, self.policy['mem_admission']
        resident = [v for v in cluster.vms.values()
                    if v.state == 'on' and v.kind != 'spare' and v.id not in self.newcomers and
                    host.id in (v.host, cluster.arriving.get(v.id), cluster.left.get(v.id))]
        resident += cluster.held_at(host.id)
        sums = [('CPU reservations', lambda v: v.reservation['cpu']),
                ('memory reservations', lambda v: v.reservation['mem']),
                ('memory', lambda v: v.mem_needed(admission))]
        available = [a for _, _, a in self.limits(host, [])]
        checks = [(what, weight, weight, sum(weight(v) for v in resident), limit)
                  for (what, weight), limit in zip(sums, available)]
        if host.mem_free is not None:
            coming = [v for v in resident if v.id in cluster.expected or v.state == 'on' and
                      host.id not in (v.host, cluster.left.get(v.id))]
            checks.append(('free memory', lambda v: v.mem_backed(self.policy), lambda v: v.mem_freed(self.policy),
                           sum(v.mem_backed(self.policy) for v in coming), self.memory_free(host)))
        for what, taken, freed, start, limit in checks:
            plus = {m['id']: taken(cluster.vms[m['vm']]) for m in arriving}
            minus = {m['id']: freed(cluster.vms[m['vm']]) for m in leaving}
            if fits(start + sum(plus.values()), limit):
                continue  # fits whatever the order
            for m in arriving:
                most = start + orders.heaviest_moment(plus, minus, needs, m['id'])
                if plus[m['id']] > 0 and not fits(most, limit):
                    self.wrong(f'{what} on host {host.id} can reach {most:.6g} of {limit:.6g} while it runs',
                               f'recommendation {m["id"]}', 'in another order')

    def check_pairs(self, host, arriving, needs):
        """Two that must be apart can meet if the one that is there need not have left before the other begins."""
        cluster = self.cluster
        apart = [(f'rule {rule.id}', rule.vms) for rule in cluster.rules
                 if rule.enabled and rule.mandatory and rule.kind == 'vm-vm-anti-affine']
        apart += [('their pair', [v.id, v.ft_peer]) for v in cluster.vms.values() if v.kind == 'ft_primary' and v.ft_peer]
        for what, vms in apart:
            for m in arriving:
                for other in vms if m['vm'] in vms else ():
                    vm = cluster.vms[other]
                    expected = cluster.expected.get(other) == host.id
                    if other == m['vm'] or not (expected or vm.state == 'on' and vm.kind != 'spare'):
                        continue
                    home = None if other in self.newcomers else vm.host
                    mine = None if m['vm'] in self.newcomers else cluster.vms[m['vm']].host
                    if home is not None and home == mine:
                        continue
                    theirs = [move for move in self.moves if move['vm'] == other]
                    there = expected or home == host.id and not (theirs and theirs[0]['id'] in needs[m['id']])
                    later = [k for k, move in enumerate(theirs) if move['to'] == host.id]
                    if there or any(k + 1 == len(theirs) or theirs[k + 1]['id'] not in needs[m['id']] for k in later):
                        self.wrong(f'VM {m["vm"]} can meet VM {other} on host {host.id}, against {what}',
                                   f'recommendation {m["id"]}', 'in another order')


class Spare:
    """Room for what a failure would make homeless, where none is missing at the beginning: host_failures of one host, and
    percent, VM by VM. Tried out anew after each recommendation, by largest first and, where that fails, all ways."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.watched = False

    def begin(self, plan):
        ha = self.cluster.ha
        counts = ha.get('policy') == 'host_failures' and ha.get('hosts') == 1 or ha.get('policy') == 'percent' and (
            ha.get('cpu_percent') or ha.get('mem_percent'))
        spares = any(v.kind == 'spare' for v in self.cluster.vms.values())
        mends = any(r['reason'] == 'spare_capacity' for r in plan['recommendations'])
        faults = any(f['code'] == 'spare_missing' for f in plan['faults'])
        self.watched = bool(counts) and not spares and not mends and not faults and len(self.cluster.hosts_on()) > 1
        self.watched = self.watched and not self.missing()

    def missing(self):
        """The VMs that would be homeless, as texts."""
        if not self.watched:
            return []
        ret = []
        room = self.room()
        lost_with = {}  # host id -> the VMs that would be homeless
        for v in self.cluster.vms.values():
            if (any(v.reservation[r] > 0 for r in RESOURCES) and v.kind != 'agent' and v.id not in self.cluster.arriving
                    and self.cluster.takes_part(v)):
                lost_with.setdefault(self.cluster.at[v.id], []).append(v)
        for host in self.cluster.hosts_on():
            homeless = lost_with.get(host.id, [])
            sets = [[v] for v in homeless] if self.cluster.ha['policy'] == 'percent' else [homeless]
            if any(not self.have_places(vms, host.id, room) for vms in sets if vms):
                ret.append(f'were {host.id} lost, what it runs')
        return ret

    def room(self):
        """{host id: what it has left to reserve}, of those that could restart something."""
        residents = self.cluster.residents()
        ret = {}
        for host in self.cluster.hosts_on():
            agents = all(self.cluster.vms[i].state == 'on' and self.cluster.at[i] == host.id
                         for i in host.agents_required) or host.woken
            busy = any(p.get('host') == host.id and p['action'] in BUSY for p in self.cluster.pending)
            if busy or not agents:
                continue
            there = residents[host.id] + self.cluster.held_at(host.id)
            ret[host.id] = {r: host.capacity[r] - host.own[r] - sum(v.reservation[r] for v in there) for r in RESOURCES}
        return ret

    def have_places(self, vms, lost, room):
        left = {host: dict(amounts) for host, amounts in room.items() if host != lost}
        size = {r: max([h.capacity[r] for h in self.cluster.hosts.values()]) for r in RESOURCES}
        vms = sorted(vms, key=lambda v: -max(v.reservation[r] / size[r] for r in RESOURCES))
        self.steps = 0
        return self.search(vms, 0, left)

    def search(self, vms, n, left):
        if n == len(vms) or self.steps > SEARCH_STEPS:  # what takes longer is not judged
            return True
        for host_id, room in left.items():
            if not self.may_restart(vms[n], host_id):
                continue
            if any(vms[n].reservation[r] > 0 and not fits(vms[n].reservation[r], room[r]) for r in RESOURCES):
                continue
            self.steps += 1
            for r in RESOURCES:
                room[r] -= vms[n].reservation[r]
            found = self.search(vms, n + 1, left)
            for r in RESOURCES:
                room[r] += vms[n].reservation[r]
            if found:
                return True
        return False

    def may_restart(self, vm, host_id):
        if vm.compatible is not None and host_id not in vm.compatible or self.cluster.hosts[host_id].refuses(vm):
            return False
        return all((host_id in rule.hosts) == (rule.kind == 'vm-host-affine') for rule in self.cluster.rules
                   if rule.enabled and rule.mandatory and rule.kind.startswith('vm-host') and vm.id in rule.vms)


def check_entitlements(snapshot, stated):
    """The tree that `ballast entitlements` prints, against ours."""
    violations = []
    cluster = Cluster(snapshot)
    for r in RESOURCES:
        if r not in stated:
            continue
        nodes = {(n['kind'], n['id']): n for n in stated[r]}
        vms, pools = cluster.entitlements(r)
        computed = {('vm', i): value for i, value in vms.items()} | {('pool', i): value for i, value in pools.items()}
        for key, value in computed.items():
            node = nodes.pop(key, None)
            if node is None:
                violations.append(f'{r}: {key[0]} {key[1]} is missing')
            elif not close(node['entitlement'], value):
                violations.append(f'{r}: {key[0]} {key[1]}: entitlement {node["entitlement"]!r}, computed {value!r}')
        for kind, i in nodes:
            if nodes[kind, i]['entitlement'] > ABSOLUTE:
                violations.append(f'{r}: {kind} {i} takes no part, and is entitled to something')
        seen = set()
        for n in stated[r]:
            if n['id'] is not None and n['kind'] == 'pool' or n['kind'] == 'vm':
                if n['parent'] not in seen:
                    violations.append(f'{r}: {n["kind"]} {n["id"]} comes before its parent')
            if n['kind'] == 'pool':
                seen.add(n['id'])
    return violations


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(description='an independent replay of the contract')
    parser.add_argument('snapshot')
    parser.add_argument('plan')
    parser.add_argument('--entitlements', metavar='FILE')
    options = parser.parse_args()
    snapshot = load(options.snapshot)
    violations = Replay(snapshot, load(options.plan)).run()
    if options.entitlements:
        violations += check_entitlements(snapshot, load(options.entitlements))
    for text in violations:
        print(f'{options.plan}: {text}')
    if not violations:
        print(f'{options.plan}: ok')
    return 1 if violations else 0


if __name__ == '__main__':
    sys.exit(main())
