"""The meaning of a ballast-snapshot/1: demand, divvy, load, imbalance, the DPM scores.

Written from the contract and the algorithms only, in another language and as plainly as possible, so that it does not share
errors with the C code. Slow on purpose: every figure is computed anew.
"""
import calendar
import math
import time

RESOURCES = ('cpu', 'mem')
INF = math.inf
SHARES_PER_VCPU = 1000.0
SHARES_PER_MB = 10.0
POOL_SHARES = {'cpu': 4000.0, 'mem': 163840.0}
STATES_OF_THE_DIVVY = ('on', 'entering_maintenance', 'entering_standby')
STATES_LEAVING = ('entering_maintenance', 'entering_standby')
FULL = 1 + 1e-9  # a host that is exactly full may come out a rounding above 1
OFFERED = ('networks', 'datastores', 'devices', 'cpu_modes')
MANDATORY_BY_DEFAULT = ('vm-vm-affine', 'vm-vm-anti-affine')


def number(value, default):
    return default if value is None else float(value)


def flat(j, prefix=''):
    """{"dpm": {"target": 63}} and {"dpm.target": 63} alike."""
    ret = {}
    for key, value in j.items():
        ret.update(flat(value, f'{prefix}{key}.') if isinstance(value, dict) else {prefix + key: value})
    return ret


def seconds(instant):
    return calendar.timegm(time.strptime(instant[:19], '%Y-%m-%dT%H:%M:%S'))


class Host:
    def __init__(self, j):
        self.id = j['id']
        self.state = j['state']
        self.capacity = {'cpu': j['cpu_mhz'] - number(j.get('cpu_reserved_mhz'), 0.0),
                         'mem': j['mem_mb'] - number(j.get('mem_reserved_mb'), 0.0)}
        self.mem_free = j.get('mem_free_mb')
        self.own = {'cpu': 0.0, 'mem': 0.0}
        self.seen = j
        self.dpm = j.get('dpm') or 'inherit'
        self.wake_verified = bool(j.get('wake_verified'))
        self.failover = False  # kept empty for failures
        self.woken = False  # by the plan
        self.agents_required = j.get('agents_required') or []
        self.avoided = bool(j.get('quarantine')) or (self.state == 'on' and j.get('failure_detection') == 'unhealthy')
        self.vsan = bool(j.get('vsan'))
        self.serves_storage = bool(j.get('serves_storage'))
        vendor = j.get('cpu_vendor')
        self.offers = {kind: j.get(kind) for kind in OFFERED}  # None: not known
        self.offers['cpu_vendor'] = None if vendor is None else [vendor]

    def refuses(self, vm):
        """Why it takes the VM by no means."""
        lacks = [name for kind, names in vm.needs.items() if self.offers[kind] is not None
                 for name in names if name not in self.offers[kind]]
        return [f'does not offer {name}' for name in lacks] + ['is in quarantine or not watched'] * self.avoided


class Vm:
    def __init__(self, j):
        self.id = j['id']
        self.host = j.get('host')
        self.state = j['state']
        self.kind = j.get('kind') or 'normal'
        self.ft_peer = j.get('ft_peer')
        self.starts = False  # it is about to be powered on, and may use all it can
        self.vcpus = j['vcpus']
        self.automation = j.get('automation') or 'inherit'
        self.pool = j.get('pool')
        self.compatible = j.get('compatible_hosts')
        self.needs = {kind: j.get(kind) or [] for kind in ('networks', 'datastores', 'devices')}
        self.needs['cpu_vendor'] = [j['cpu_vendor']] if j.get('cpu_vendor') else []
        self.needs['cpu_modes'] = [j['cpu_mode']] if j.get('cpu_mode') else []
        self.immovable = j.get('immovable')
        self.mandatory_only = j.get('mandatory_only')
        self.last_migrated = j.get('last_migrated')
        self.mem_mb = float(j['mem_mb'])
        self.reservation, self.limit, self.shares, self.demand = {}, {}, {}, {}
        default_shares = {'cpu': SHARES_PER_VCPU * j['vcpus'], 'mem': SHARES_PER_MB * self.mem_mb}
        for r in RESOURCES:
            a = j.get(r) or {}
            self.reservation[r] = number(a.get('reservation'), 0.0)
            self.limit[r] = number(a.get('limit'), INF)
            self.shares[r] = number(a.get('shares'), default_shares[r])
            self.demand[r] = number(a.get('demand'), 0.0)
        mem = j.get('mem') or {}
        self.consumed = number(mem.get('consumed'), self.mem_mb)
        self.overhead = number(mem.get('overhead'), 0.0)
        self.keeps_memory = self.state != 'on' or bool(mem.get('no_reclaim')) or 'demand' not in mem or bool(j.get('sample_bad'))
        self.unsure = bool(j.get('sample_bad')) or bool(j.get('demand_unknown'))
        self.keeps_memory = self.keeps_memory or self.unsure or 'demand' not in (j.get('cpu') or {})
        windows = j.get('windows') or {}
        self.window = {}
        for w in ('5m', '40m', '60m'):
            for r in RESOURCES:
                given = (windows.get(w) or {}).get(r) or {}
                mean = number(given.get('mean'), self.demand[r])
                self.window[w, r] = (mean, number(given.get('stddev'), 0.0))

    def within_limit(self, w, r):
        """Mean and variance of what it wants as far as it may have it: nothing between 0 and L varies by more than m (L - m)."""
        mean, stddev = self.window[w, r]
        mean = min(mean, self.limit[r])
        return mean, stddev * stddev if self.limit[r] == INF else min(stddev * stddev, mean * (self.limit[r] - mean))

    def mem_needed(self, admission):
        """What it takes at its destination, by the plan's setting mem_admission."""
        if admission == 'configured':
            return self.mem_mb + self.overhead
        if admission == 'reservation':
            return self.reservation['mem'] + self.overhead
        return max(self.mem_mb if self.starts else self.consumed, self.reservation['mem']) + self.overhead

    def mem_backed(self, policy):
        """The host memory that must be there for it: what settings let the hypervisor take back need not be."""
        needed, consumed = self.mem_needed(policy['mem_admission']), (self.mem_mb if self.starts else self.consumed) + self.overhead
        most = max(needed, consumed)
        times = max(policy['mem_overcommit'], 1)
        if self.starts or self.keeps_memory or (times == 1 and policy['mem_admission'] != 'reservation'):
            return most
        return min(most, max(needed / times, self.demand['mem'], self.reservation['mem'] + self.overhead))

    def mem_freed(self, policy):
        """What its host has more of, once it has left."""
        return min(self.consumed + self.overhead, self.mem_backed(policy))

    def mem_idle(self, policy):
        """What the hypervisor may take back of it."""
        return self.consumed + self.overhead - self.mem_freed(policy)


class Pool:
    def __init__(self, j):
        self.id = j['id']
        self.parent = j.get('parent')
        self.scalable = bool(j.get('scalable_shares'))
        self.reservation, self.limit, self.shares, self.expandable = {}, {}, {}, {}
        for r in RESOURCES:
            a = j.get(r) or {}
            self.reservation[r] = number(a.get('reservation'), 0.0)
            self.limit[r] = number(a.get('limit'), INF)
            self.shares[r] = number(a.get('shares'), POOL_SHARES[r])
            self.expandable[r] = a.get('expandable', True)


class Rule:
    def __init__(self, j):
        self.id = j['id']
        self.kind = j['kind']
        self.enabled = j.get('enabled', True)
        self.mandatory = j.get('mandatory', self.kind in MANDATORY_BY_DEFAULT)
        self.vms = j.get('vms') or []
        self.hosts = set(j.get('hosts') or [])


class Cluster:
    """A snapshot, and the present place of each VM: at[vm id] = host id."""

    def __init__(self, j):
        assert j['format'] == 'ballast-snapshot/1'
        self.time = j['time']
        self.hosts = {h['id']: Host(h) for h in j['hosts']}
        self.vms = {v['id']: Vm(v) for v in j.get('vms') or []}
        self.pools = {p['id']: Pool(p) for p in j.get('pools') or []}
        self.rules = [Rule(r) for r in j.get('rules') or []]
        self.migrations = j.get('migrations') or []
        self.pending = j.get('pending') or []
        self.ha = j.get('ha') or {}
        if self.ha.get('policy') == 'dedicated':
            for host_id in self.ha.get('failover_hosts') or []:
                self.hosts[host_id].failover = True
        for vm in self.vms.values():
            if vm.ft_peer:
                self.vms[vm.ft_peer].ft_peer = vm.id
        self.at = {v.id: v.host for v in self.vms.values()}
        self.arriving = {}  # vm id -> host id, of migrations in flight and of those approved
        for m in self.pending:
            if m.get('action') == 'migrate':
                self.arriving[m['vm']] = m['to']
        self.left = {}  # vm id -> host id that has not let go of it: the migration has switched over and not ended
        self.expected = {}  # vm id -> host id, of those that are about to be powered on there
        for p in self.pending:
            if p.get('action') == 'place' and self.vms[p['vm']].state != 'on':
                self.expected[p['vm']] = p['to']
                self.vms[p['vm']].starts = True
        for m in self.migrations:
            self.arriving[m['vm']] = m['to']
            if self.at[m['vm']] == m['to']:
                self.left[m['vm']] = m['from']
        for h in self.hosts.values():
            if h.state in STATES_OF_THE_DIVVY:
                self._set_own_use(h)

    def _set_own_use(self, host):
        """Beyond what is reserved. Not given: of memory what its VMs do not explain."""
        own = host.seen.get('own')
        there = [v for v in self.vms.values() if v.state == 'on' and v.host == host.id]
        if own is None:
            moving = any(host.id in (m['from'], m['to']) for m in self.migrations)
            known = host.mem_free is not None and not moving and not any(v.unsure for v in there)
            own = {'mem_mb': host.seen['mem_mb'] - host.mem_free - sum(v.consumed + v.overhead for v in there) if known else 0.0}
        for r, used, reserved in (('cpu', 'cpu_mhz', 'cpu_reserved_mhz'), ('mem', 'mem_mb', 'mem_reserved_mb')):
            beyond = max(0.0, number(own.get(used), 0.0) - number(host.seen.get(reserved), 0.0))
            host.own[r] = min(beyond, host.capacity[r])

    def takes_part(self, vm):
        host = self.hosts.get(self.at[vm.id])
        return vm.state == 'on' and vm.kind != 'spare' and host is not None and (
            host.state in STATES_OF_THE_DIVVY or host.woken)

    def hosts_on(self, woken=True):
        """Those that run VMs: not what is kept empty for failures. woken: with those that the plan has woken."""
        return sorted((h for h in self.hosts.values()
                       if not h.failover and not h.avoided and (h.state == 'on' or woken and h.woken)), key=lambda h: h.id)

    def residents(self):
        """{host id: the VMs that run there, and those on their way to it}."""
        ret = {h: [] for h in self.hosts}
        for vm in self.vms.values():
            if vm.state == 'on' and vm.kind != 'spare':
                for host_id in self.places(vm):
                    ret[host_id].append(vm)
        return ret

    def places(self, vm):
        """The hosts that have to carry it: more than one while it is between them."""
        at = self.at[vm.id]
        if at is not None and vm.id not in self.arriving and vm.id not in self.left:
            return (at,)
        return {at, self.arriving.get(vm.id), self.left.get(vm.id)} - {None}

    def vms_at(self, host_id):
        return [vm for vm in self.vms.values() if vm.state == 'on' and vm.kind != 'spare' and host_id in (
            self.at[vm.id], self.arriving.get(vm.id), self.left.get(vm.id))]

    def idle_agents(self, host):
        """What reserves on its host before it runs: agents are part of the platform."""
        return [self.vms[i] for i in host.agents_required
                if self.vms[i].state != 'on' and self.vms[i].host == host.id]

    def held_at(self, host_id):
        """Those that have room there and do not run yet: idle agents, approved placements."""
        return self.idle_agents(self.hosts[host_id]) + [self.vms[i] for i, h in self.expected.items() if h == host_id]

    def _children(self):
        children = {None: []}
        for pool in self.pools.values():
            children.setdefault(pool.id, [])
            children.setdefault(pool.parent, []).append(pool)
        for vm in self.vms.values():
            if self.takes_part(vm):
                children[vm.pool].append(vm)
        return children

    # Who is entitled to what.

    def entitlements(self, r):
        """{vm id: entitlement} of those that take part, and {pool id: entitlement}."""
        children = self._children()
        of_vm, of_pool = {}, {}
        self._divide(None, sum(h.capacity[r] - h.own[r] for h in self.hosts_on(woken=False)), children, r, of_vm, of_pool)
        return of_vm, of_pool

    def _reservation(self, node, children, r):
        own = node.reservation[r]
        if isinstance(node, Pool) and node.expandable[r]:
            own = max(own, sum(self._reservation(c, children, r) for c in children[node.id]))
        return min(own, node.limit[r])

    def _demand(self, node, children, r):
        raw = node.demand[r] if isinstance(node, Vm) else sum(self._demand(c, children, r) for c in children[node.id])
        return min(max(raw, self._reservation(node, children, r)), node.limit[r])

    def _shares(self, node, children, r):
        if isinstance(node, Pool) and node.scalable:
            return node.shares[r] * sum(self._shares(c, children, r) for c in children[node.id])
        return node.shares[r]

    def _divide(self, pool_id, quantity, children, r, of_vm, of_pool):
        of_pool[pool_id] = quantity
        nodes = children[pool_id]
        reservations = [self._reservation(n, children, r) for n in nodes]
        limits = [max(self._demand(n, children, r), low) for n, low in zip(nodes, reservations)]
        shares = [self._shares(n, children, r) for n in nodes]
        for node, amount in zip(nodes, share_divvy(quantity, shares, reservations, limits)):
            if isinstance(node, Vm):
                of_vm[node.id] = amount
            else:
                self._divide(node.id, amount, children, r, of_vm, of_pool)

    # What the limits of pools leave of what VMs want, were the hosts without end.

    def given(self, r, wants):
        """{vm id: as much of it}, shared within a pool as its entitlement is."""
        children = self._children()
        of = {}

        def want(node):
            return wants[node.id] if isinstance(node, Vm) else min(math.fsum(map(want, children[node.id])), node.limit[r])

        def divide_down(nodes, quantity):
            limits = [want(n) for n in nodes]
            amounts = limits
            if math.fsum(limits) > quantity * (1 + 1e-9):
                reservations = [min(self._reservation(n, children, r), l) for n, l in zip(nodes, limits)]
                amounts = share_divvy(quantity, [self._shares(n, children, r) for n in nodes], reservations, limits)
            for node, amount in zip(nodes, amounts):
                if isinstance(node, Vm):
                    of[node.id] = amount
                else:
                    divide_down(children[node.id], amount)

        divide_down(children[None], INF)
        return of

    def within_limits(self, w, r):
        """{vm id: (mean, variance)}: of the sum over a pool, too, the variance is no more than the limit lets it."""
        own = {vm.id: vm.within_limit(w, r) for vm in self.vms.values()}
        mean = self.given(r, {i: m for i, (m, _) in own.items()})
        variance = {i: own[i][1] for i in mean}
        children = self._children()

        def lessen(pool):
            vms = []
            for c in children[pool.id]:
                vms += [c.id] if isinstance(c, Vm) else lessen(c)
            most = INF
            if pool.limit[r] < INF:
                sum_of = math.fsum(mean[i] for i in vms)
                most = max(sum_of * (pool.limit[r] - sum_of), 0.0)
            all_of = math.fsum(variance[i] for i in vms)
            if all_of > most:
                for i in vms:
                    variance[i] *= most / all_of
            return vms

        for pool in children[None]:
            if not isinstance(pool, Vm):
                lessen(pool)
        return {i: (mean[i], variance[i]) for i in mean}

    # How loaded and how even.

    def metrics(self, policy, ent, woken=True):
        """The object that a plan has as `before` and `after`, but for the DPM scores. ent: the entitlements."""
        on = self.hosts_on(woken)
        residents = self.residents()
        load = {h.id: {r: (h.own[r] + math.fsum([ent[r].get(vm.id, 0.0) for vm in residents[h.id]])) / h.capacity[r]
                       for r in RESOURCES} for h in on}
        sigma = {r: stddev([load[h.id][r] for h in on]) for r in RESOURCES}
        over = {r: any(load[h.id][r] > FULL for h in on) for r in RESOURCES}
        weight = weights(over)
        n = len(on)
        ret = {
            'imbalance': sum(weight[r] * sigma[r] for r in RESOURCES),
            'target': 0.1 * (5 - policy['migration_threshold']) * math.sqrt(2.0 / n) if n else 0.0,
            'hosts': [{'id': h.id, **load[h.id]} for h in on],
        }
        for r in RESOURCES:
            ret['imbalance_' + r] = sigma[r]
            ret['weight_' + r] = weight[r]
        return ret

    def dpm_scores(self, policy):
        high_at = (policy['dpm.target'] + policy['dpm.tolerance']) / 100.0
        low_at = (policy['dpm.target'] - policy['dpm.tolerance']) / 100.0
        scores = {}
        leaving = {p.get('host') for p in self.pending if p['action'] in ('power_off', 'enter_maintenance')}
        will_be = {h: [] for h in self.hosts}  # a VM on its way counts where it will be
        for vm in self.vms.values():
            if self.takes_part(vm):
                will_be[self.arriving.get(vm.id, self.at[vm.id])].append(vm)
        counted = [h for h in self.hosts_on() if h.id not in leaving]
        gets = {r: self.given(r, {vm.id: min(vm.demand[r], vm.limit[r]) for vm in self.vms.values()}) for r in RESOURCES}
        now = {(h.id, r): (h.own[r] + sum(gets[r][vm.id] for vm in will_be[h.id])) / h.capacity[r] for h in counted for r in RESOURCES}
        surge = any(of > 1 + 1e-9 for of in now.values())  # then the present stands in for the mean where it is more
        for r in RESOURCES:
            high = low = 0.0
            within = {w: self.within_limits(w, r) for w in ('5m', '40m')}
            for h in counted:
                u = {}
                for w in ('5m', '40m'):
                    figures = [within[w][vm.id] for vm in will_be[h.id]]
                    mean = sum(m for m, _ in figures)
                    variance = sum(v for _, v in figures)
                    u[w] = (h.own[r] + mean + 2.0 * math.sqrt(variance)) / h.capacity[r]
                if surge:
                    u['5m'] = max(u['5m'], now[h.id, r])
                high += max(0.0, u['5m'] - high_at) ** 2
                low += max(0.0, low_at - u['40m']) ** 2
            scores[r + '_high'], scores[r + '_low'] = math.sqrt(high), math.sqrt(low)
        return scores


def weights(over):
    """1/2 : 1/2, or 3 : 1 towards the one resource with a host over its capacity."""
    if over['cpu'] == over['mem']:
        return {'cpu': 0.5, 'mem': 0.5}
    return {r: 0.75 if over[r] else 0.25 for r in RESOURCES}


def stddev(values):
    if not values:
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))


def share_divvy(quantity, shares, reservations, limits):
    """clamp(λ · shares, reservation, limit) of each, with the λ at which they sum up to the quantity."""
    reserved = math.fsum(reservations)
    if reserved > quantity:
        return [r * quantity / reserved for r in reservations]
    if math.fsum(limits) <= quantity:
        return list(limits)
    if math.fsum(l if s > 0 else r for s, r, l in zip(shares, reservations, limits)) <= quantity:
        # All who have shares are satisfied: nothing stays idle while one without any still wants it.
        return share_divvy(quantity, [0.0 if s > 0 else 1.0 for s in shares],
                          [l if s > 0 else r for s, r, l in zip(shares, reservations, limits)], limits)

    def at(lam):
        return [min(max(lam * s, r), l) for s, r, l in zip(shares, reservations, limits)]

    # Between two neighbouring breakpoints the sum is a straight line in λ: find the pair, then solve.
    points = sorted({0.0} | {b / s for s, r, l in zip(shares, reservations, limits) if s > 0
                             for b in (r, l) if math.isfinite(b)})
    low = 0
    high = len(points) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if math.fsum(at(points[middle])) <= quantity:
            low = middle
        else:
            high = middle - 1
    # Who grows there is asked in the middle of the piece, where rounding cannot decide it.
    middle = (points[low] + points[low + 1]) / 2 if low + 1 < len(points) else 2 * points[low] + 1
    grows = [r < middle * s < l for s, r, l in zip(shares, reservations, limits)]
    held = math.fsum(p for p, g in zip(at(middle), grows) if not g)
    rate = math.fsum(s for s, g in zip(shares, grows) if g)
    lam = (quantity - held) / rate if rate > 0 else points[low]
    return [lam * s if g else p for s, p, g in zip(shares, at(middle), grows)]
