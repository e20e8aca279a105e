"""Adds constraints to a synthetic cluster: rules, reservations, limits, hosts that enter maintenance, incompatible hosts.

`ballast generate` makes clusters in which every VM may run on every host; errors show in other clusters. Each function here adds
one kind of constraint to some of the objects, by a seed. The result is always a valid snapshot.
"""
import random


def some(rng, items, share):
    """A random few of the items, at least one."""
    items = list(items)
    return rng.sample(items, max(1, round(len(items) * share))) if items else []


def running(snap):
    return [v for v in snap['vms'] if v['state'] == 'on']


def ids(objects):
    return [o['id'] for o in objects]


def leaving_hosts(snap, rng):
    for h in some(rng, snap['hosts'], 0.1):
        h['state'] = rng.choice(['entering_maintenance', 'entering_standby'])


def unseen_hosts(snap, rng):
    if len(snap['hosts']) > 4:
        for h in some(rng, snap['hosts'], 0.05):
            h['state'] = 'disconnected'


def reservations(snap, rng):
    for v in some(rng, running(snap), 0.25):
        for r in ('cpu', 'mem'):
            v[r]['reservation'] = round((v[r].get('demand') or 0) * rng.uniform(0.2, 1.0))
            limit = v[r].get('limit')
            if limit is not None:
                v[r]['limit'] = max(limit, v[r]['reservation'])
        v['mem']['reservation'] = min(v['mem']['reservation'], v['mem_mb'])


def limits(snap, rng):
    for v in some(rng, running(snap), 0.1):
        reserved = v['cpu'].get('reservation') or 0
        v['cpu']['limit'] = max(reserved, round((v['cpu'].get('demand') or 0) * rng.uniform(0.4, 1.2)) + 1)


def shares(snap, rng):
    for v in some(rng, snap['vms'], 0.3):
        v['cpu']['shares'] = rng.choice([500, 1000, 2000, 4000])


def overhead(snap, rng):
    for v in some(rng, running(snap), 0.5):
        v['mem']['overhead'] = rng.randint(20, 200)


def incompatible(snap, rng):
    for v in some(rng, snap['vms'], 0.2):
        hosts = set(some(rng, ids(snap['hosts']), 0.5))
        if v.get('host'):
            hosts.add(v['host'])
        v['compatible_hosts'] = sorted(hosts)


def held(snap, rng):
    for v in some(rng, snap['vms'], 0.05):
        v['automation'] = rng.choice(['disabled', 'manual'])


def moved_lately(snap, rng):
    for v in some(rng, running(snap), 0.1):
        v['last_migrated'] = snap['time']


def free_memory(snap, rng):
    for h in some(rng, snap['hosts'], 0.6):
        used = sum((v['mem'].get('consumed') or v['mem_mb']) + (v['mem'].get('overhead') or 0)
                   for v in running(snap) if v.get('host') == h['id'])
        h['mem_free_mb'] = max(0, round((h['mem_mb'] - used) * rng.uniform(0.3, 1.0)))
        h['own'] = {}


def own_use(snap, rng):
    for h in some(rng, snap['hosts'], 0.4):
        h['own'] = {'cpu_mhz': round(h['cpu_mhz'] * rng.uniform(0.0, 0.4)), 'mem_mb': round(h['mem_mb'] * rng.uniform(0.0, 0.2))}


def hypervisor_share(snap, rng):
    for h in some(rng, snap['hosts'], 0.5):
        h['cpu_reserved_mhz'] = round(h['cpu_mhz'] * rng.uniform(0.0, 0.1))
        h['mem_reserved_mb'] = round(h['mem_mb'] * rng.uniform(0.0, 0.05))


def rules(snap, rng):
    """Each VM stands in one rule at most, so that no two contradict each other by construction."""
    vms = ids(running(snap))
    rng.shuffle(vms)
    hosts = ids(h for h in snap['hosts'] if h['state'] == 'on')
    made = snap.setdefault('rules', [])
    for n in range(max(1, len(vms) // 12)):
        kind = rng.choice(['vm-vm-affine', 'vm-vm-anti-affine', 'vm-host-affine', 'vm-host-anti-affine'])
        size = rng.randint(2, 3) if kind.startswith('vm-vm') else rng.randint(1, 4)
        if len(vms) < size or len(hosts) < 4:
            break
        rule = {'id': f'rough-{n}', 'name': f'rough {n}', 'enabled': rng.random() < 0.9, 'kind': kind,
                'mandatory': rng.random() < 0.7, 'vms': [vms.pop() for _ in range(size)]}
        if kind.startswith('vm-host'):
            rule['hosts'] = some(rng, hosts, 0.6 if kind == 'vm-host-affine' else 0.2)
        made.append(rule)


def affinity(snap, rng):
    """Affinity rules for VMs that share a host: they may move as one group only."""
    by_host = {}
    for v in running(snap):
        by_host.setdefault(v['host'], []).append(v['id'])
    taken = {v for rule in snap.get('rules') or [] for v in rule['vms']}
    made = snap.setdefault('rules', [])
    for n, host in enumerate(some(rng, sorted(by_host), 0.5)):
        free = [v for v in by_host[host] if v not in taken]
        if len(free) >= 2:
            made.append({'id': f'pair-{n}', 'name': f'pair {n}', 'kind': 'vm-vm-affine', 'enabled': True,
                         'mandatory': True, 'vms': rng.sample(free, 2)})


def in_flight(snap, rng):
    on = [h['id'] for h in snap['hosts'] if h['state'] == 'on']
    for v in some(rng, [v for v in running(snap) if v['host'] in on], 0.02):
        to = [h for h in on if h != v['host'] and h in (v.get('compatible_hosts') or on)]
        if to and not any(v['id'] in rule['vms'] for rule in snap.get('rules') or []):
            snap.setdefault('migrations', []).append(
                {'vm': v['id'], 'from': v['host'], 'to': rng.choice(to), 'started': snap['time']})


def powered_off(snap, rng):
    for v in some(rng, snap['vms'], 0.05):
        v['state'] = 'off'
        v.pop('windows', None)
        v['cpu'].pop('demand', None)
        for field in ('demand', 'consumed', 'overhead'):
            v['mem'].pop(field, None)


# What follows comes after all that: those who chose among the troubles above must not choose others because of it.

def new_vm(vm_id, host, rng, **more):
    mem = 1024 * rng.randint(1, 8)
    return {'id': vm_id, 'name': vm_id, 'host': host, 'state': 'off', 'pool': None, 'vcpus': rng.randint(1, 4), 'mem_mb': mem,
            'cpu': {'reservation': 250 * rng.randint(0, 6), 'limit': None},
            'mem': {'reservation': rng.choice([0, mem // 2]), 'limit': None}, **more}


def free_of_rules(snap):
    """VMs that run, stay, and of which no rule says anything."""
    ruled = {v for rule in snap.get('rules') or [] for v in rule['vms']}
    flying = {m['vm'] for m in snap.get('migrations') or []}
    on = {h['id'] for h in snap['hosts'] if h['state'] == 'on'}
    return [v for v in running(snap) if v['id'] not in ruled | flying and v.get('host') in on]


def sleepers(snap, rng):
    like = snap['hosts'][0]
    for n in range(rng.randint(1, 3)):
        snap['hosts'].append({
            'id': f'sleeper-{n}', 'name': f'sleeper-{n}', 'state': rng.choice(['standby', 'standby', 'powering_on']),
            'cpu_mhz': like['cpu_mhz'], 'cores': like['cores'], 'mem_mb': like['mem_mb'], 'boot_s': 200,
            'dpm': rng.choice(['inherit', 'automatic', 'disabled'])})


def idle_agents(snap, rng):
    for n, h in enumerate(some(rng, [h for h in snap['hosts'] if h['state'] == 'on'], 0.2)):
        snap['vms'].append(new_vm(f'agent-{n}', h['id'], rng, kind='agent'))
        h.setdefault('agents_required', []).append(f'agent-{n}')


def ft_pairs(snap, rng):
    free = free_of_rules(snap)
    rng.shuffle(free)
    for _ in range(rng.randint(1, 3)):
        if len(free) < 2:
            return
        x, y = free.pop(), free.pop()
        x['kind'], y['kind'], x['ft_peer'] = 'ft_primary', 'ft_secondary', y['id']


def failures(snap, rng):
    for v in some(rng, running(snap), 0.3):
        for r, most in (('cpu', 2000), ('mem', v['mem_mb'] // 2)):
            v[r]['reservation'] = round(rng.uniform(0, most))
            if v[r].get('limit') is not None:
                v[r]['limit'] = max(v[r]['limit'], v[r]['reservation'])
    policy = rng.choice(['host_failures', 'host_failures', 'percent', 'dedicated'])
    snap['ha'] = {'policy': policy, 'hosts': 1, 'cpu_percent': rng.randint(0, 40), 'mem_percent': rng.randint(0, 40),
                  'failover_hosts': rng.sample(ids(snap['hosts']), 1) if policy == 'dedicated' else []}


def spare_vms(snap, rng):
    for n in range(rng.randint(1, 2)):
        snap['vms'].append(new_vm(f'spare-{n}', rng.choice([None, *ids(snap['hosts'])]), rng, kind='spare'))


def approved(snap, rng):
    on = [h['id'] for h in snap['hosts'] if h['state'] == 'on']
    for n in range(rng.randint(1, 3)):
        snap['vms'].append(new_vm(f'approved-{n}', None, rng))
        snap.setdefault('pending', []).append({'action': 'place', 'vm': f'approved-{n}', 'to': rng.choice(on)})


def newcomers(snap, rng):
    """To be placed, by whoever asks for it."""
    for n in range(rng.randint(1, 5)):
        snap['vms'].append(new_vm(f'new-{n}', None, rng))
    if rng.random() < 0.4 and any(v['id'] == 'new-1' for v in snap['vms']):
        x, y = (next(v for v in snap['vms'] if v['id'] == f'new-{n}') for n in (0, 1))
        x['kind'], y['kind'], x['ft_peer'] = 'ft_primary', 'ft_secondary', y['id']
    rules_about = [rule for rule in snap.get('rules') or [] if rule['kind'] != 'vm-vm-affine']
    for rule in some(rng, rules_about, 0.3):
        rule['vms'] = rule['vms'] + ['new-0']


def offers(snap, rng):
    """Hosts differ in networks, datastores, devices and CPU, and VMs need some of what their own host has."""
    for i, h in enumerate(snap['hosts']):
        h.update(networks=[f'net-{n}' for n in range(1, 9) if n <= 4 or rng.random() < 0.7],
                 datastores=['shared', f'store-{i // 16 + 1}'], devices=['grid_p40-2q'] if rng.random() < 0.1 else [],
                 cpu_vendor='intel', cpu_modes=['intel-broadwell', 'intel-skylake'][:1 + (i < (len(snap['hosts']) + 1) // 2)],
                 failure_detection='healthy')
    hosts = {h['id']: h for h in snap['hosts']}
    for v in snap['vms']:
        h = hosts[v['host']]
        v.update(networks=[rng.choice(h['networks'])], datastores=[rng.choice(h['datastores'])], cpu_vendor='intel')
        if rng.random() < 0.3:
            v['cpu_mode'] = rng.choice(h['cpu_modes'])
        if h['devices'] and rng.random() < 0.1:
            v.update(devices=h['devices'], mandatory_only='vGPU ' + h['devices'][0])
        if rng.random() < 0.01:
            v['immovable'] = 'a passthrough device'


# Off comes first, so that the others see who runs; rules come after hosts have left, flights after the rules.
TROUBLES = [powered_off, leaving_hosts, unseen_hosts, hypervisor_share, reservations, limits, shares, overhead, incompatible,
            held, moved_lately, free_memory, rules, affinity, in_flight]


MORE_TROUBLES = [sleepers, idle_agents, ft_pairs, failures, spare_vms, approved, newcomers]


def roughen(snap, seed):
    """Changes the snapshot in place; returns the names of the troubles that it got."""
    rng = random.Random(seed)
    chosen = [t for t in TROUBLES if rng.random() < 0.5]
    for trouble in chosen:
        trouble(snap, rng)
    rng = random.Random(f'{seed} more')
    more = [t for t in MORE_TROUBLES if rng.random() < 0.35]
    for trouble in more:
        trouble(snap, rng)
    rng = random.Random(f'{seed} own')
    if rng.random() < 0.3:
        own_use(snap, rng)
        more.append(own_use)
    return [t.__name__ for t in chosen + more]
