"""Adds to a generated cluster for the benchmarks: rules, pools, reservations, full memory, hosts that enter maintenance.

Hosts, VMs and demands stay as they are, so that decisions with and without the additions can be compared. Reproducible: a seed of
its own, and Python's random.Random, which gives the same numbers everywhere.
"""
import random

VIOLATED_ONE_IN = 50  # rules that are not kept at the beginning
HOSTS_PER_GROUP = 20  # of a VM-host rule, and at most a quarter of all hosts
DEPTH = 3
POOL_RESERVES = 0.05
FILL_SPREAD = 0.015  # by how much a host's memory may be fuller or emptier than the mean
FILL_MOST = 0.998
LOOSE = 1.5  # a pool's limit, of what is demanded in it


def vms_by_host(snap):
    by_host = {h['id']: [] for h in snap['hosts']}
    for vm in snap['vms']:
        by_host[vm['host']].append(vm['id'])
    return by_host


class Deck:
    """VMs, host by host, each dealt out once: no two rules of the cluster contradict each other."""

    def __init__(self, rng, snap):
        self.rng = rng
        self.hosts = [h['id'] for h in snap['hosts']]
        self.left = vms_by_host(snap)
        for vms in self.left.values():
            rng.shuffle(vms)

    def one_of(self, host):
        return self.left[host].pop() if self.left[host] else None

    def of_one_host(self, n, violated):
        """n VMs of one host; violated: one of them is elsewhere."""
        host, other = self.rng.sample(self.hosts, 2)
        return [vm for vm in [self.one_of(other if violated and i == 0 else host) for i in range(n)] if vm]

    def apart(self, n, violated):
        """n VMs of as many hosts; violated: two are on one."""
        hosts = self.rng.sample(self.hosts, min(n, len(self.hosts)))
        if violated:
            hosts[0] = hosts[1]
        return [vm for vm in map(self.one_of, hosts) if vm]

    def beside_hosts(self, n, hosts, violated):
        """n VMs of these hosts; violated: one is on another."""
        others = [h for h in self.hosts if h not in set(hosts)]
        return [vm for vm in [self.one_of(self.rng.choice(others if violated and i == 0 else hosts)) for i in range(n)] if vm]


def rule(deck, number, kind, violated):
    rng = deck.rng
    n = rng.randint(2, 8)
    made = {'id': f'r{number:05}', 'name': f'rule-{number}', 'enabled': True, 'kind': kind, 'mandatory': True}
    if kind == 'vm-vm-affine':
        return {**made, 'vms': sorted(deck.of_one_host(n, violated))}
    if kind == 'vm-vm-anti-affine':
        return {**made, 'vms': sorted(deck.apart(n, violated))}
    group = rng.sample(deck.hosts, max(1, min(HOSTS_PER_GROUP, len(deck.hosts) // 4)))
    inside = group if kind == 'vm-host-affine' else [h for h in deck.hosts if h not in set(group)]
    return {**made, 'vms': sorted(deck.beside_hosts(n, inside, violated)), 'hosts': sorted(group)}


KINDS = ('vm-vm-affine', 'vm-vm-anti-affine', 'vm-host-affine', 'vm-host-anti-affine')


def add_rules(snap, n, preferred):
    """n rules, a quarter of each kind, all mandatory or every other one of each kind only preferred. The same rules in both."""
    rng = random.Random(1)
    deck = Deck(rng, snap)
    rules = []
    for i in range(n):
        made = rule(deck, i, KINDS[i % len(KINDS)], i // len(KINDS) % VIOLATED_ONE_IN == 0)
        made['mandatory'] = not (preferred and i // len(KINDS) % 2 == 1)
        if len(made['vms']) > 1:
            rules.append(made)
    snap['rules'] = rules


def add_impossible_rule(snap):
    """A preferred rule that cannot be kept: two VMs are to be apart that mandatory ones keep on one host. A second pass is made
    without what is only preferred (§3.3.1)."""
    pair = next(r['vms'][:2] for r in snap['rules'] if r['kind'] == 'vm-vm-affine' and r['mandatory'])
    snap['rules'].append({'id': 'r99999', 'name': 'rule-99999', 'enabled': True, 'kind': 'vm-vm-anti-affine', 'mandatory': False,
                          'vms': pair})


def reserve_pools(demand, parent):
    """A lowest pool reserves a part of what is demanded in it, one above it what its children do: all of it can be met."""
    reserved = [{'cpu': 0, 'mem': 0} for _ in demand]
    for i in reversed(range(len(demand))):
        for what in ('cpu', 'mem'):
            reserved[i][what] = reserved[i][what] or round(demand[i][what] * POOL_RESERVES)
            if parent[i] is not None:
                reserved[parent[i]][what] += reserved[i][what]
    return reserved


def add_pools(snap, n):
    """n pools three deep (one of ten at the top, three in the middle), the VMs in the lowest. Their reservations are met, and some
    have limits that do not hurt: who is entitled to what stays as it was, so that the moves can be compared."""
    rng = random.Random(2)
    tops, middles = max(1, n // 10), max(1, 3 * n // 10)
    demand = [{'cpu': 0, 'mem': 0} for _ in range(n)]
    parent = [None if i < tops else rng.randrange(tops) if i < tops + middles else tops + rng.randrange(middles) for i in range(n)]
    for vm in snap['vms']:
        pool = tops + middles + rng.randrange(n - tops - middles)
        vm['pool'] = f'p{pool:04}'
        while pool is not None:
            for what in ('cpu', 'mem'):
                demand[pool][what] += vm[what]['demand']
            pool = parent[pool]
    reserved = reserve_pools(demand, parent)
    snap['pools'] = [{
        'id': f'p{i:04}', 'name': f'pool-{i}', 'parent': None if parent[i] is None else f'p{parent[i]:04}', 'scalable_shares': i % 7 == 0,
        **{what: {'reservation': reserved[i][what], 'expandable': i % 5 != 0, 'shares': 1000 * rng.randint(1, 8),
                  'limit': round(demand[i][what] * LOOSE) if i % 4 == 3 else None}
           for what in ('cpu', 'mem')}} for i in range(n)]


def add_reservations(snap, part):
    """So many of the VMs reserve half of what they demand."""
    rng = random.Random(3)
    for vm in snap['vms']:
        if rng.random() < part:
            for what in ('cpu', 'mem'):
                vm[what]['reservation'] = min(round(vm[what]['demand'] / 2), vm['mem_mb'] if what == 'mem' else vm['cpu']['demand'])


def fill_memory(snap, part, active=None):
    """VMs consume so much of their hosts' memory, each in proportion to what it consumed before, and are configured with at least
    that. active: they also demand this part of what they consume; without it, demands stay as they are."""
    rng = random.Random(4)
    on = {h['id']: [] for h in snap['hosts']}
    for vm in snap['vms']:
        on[vm['host']].append(vm)
    for host in snap['hosts']:
        vms = on[host['id']]
        usable = host['mem_mb'] - host.get('mem_reserved_mb', 0)
        full = min(rng.uniform(part - FILL_SPREAD, part + FILL_SPREAD), FILL_MOST) * usable
        overhead = sum(vm['mem']['overhead'] for vm in vms)
        scale = (full - overhead) / max(1, sum(vm['mem']['consumed'] for vm in vms))
        for vm in vms:
            mem = vm['mem']
            mem['consumed'] = int(mem['consumed'] * scale)
            wanted = mem['demand'] if active is None else int(mem['consumed'] * active)
            demand_memory(vm, min(wanted, mem['consumed']))
            vm['mem_mb'] = max(vm['mem_mb'], mem['consumed'])
        host['mem_free_mb'] = max(0, usable - sum(vm['mem']['consumed'] + vm['mem']['overhead'] for vm in vms))


def demand_memory(vm, demand):
    """Scales the memory demand of the VM, and that of the last hour, to this."""
    scale = demand / vm['mem']['demand'] if vm['mem']['demand'] else 0
    vm['mem']['demand'] = demand
    for window in vm['windows'].values():
        for what in window['mem']:
            window['mem'][what] = round(window['mem'][what] * scale, 1)


def keep_for_failures(snap, hosts):
    snap['ha'] = {'policy': 'host_failures', 'hosts': hosts}


def empty_hosts(snap, n):
    """n hosts, spread evenly, are to be serviced."""
    for host in snap['hosts'][::max(1, len(snap['hosts']) // n)][:n]:
        host['state'] = 'entering_maintenance'
