"""Enforcement of affinity (the sheet's section 6): each minute one VM that breaks a rule, and the host that it goes to. Order: hard rules
about hosts, hard rules about VMs, soft rules about hosts, soft rules about VMs."""
from balances import is_migratable
from scheduling import schedule
from weights import broken_priorities


def enforcement(cluster, policy):
    """{'vm', 'host'}, or None."""
    if cluster.upgrading or any(vm.status == 'migrating' for vm in cluster.vms):
        return None
    for hard in (True, False):
        for vm in [*breaking_host_rules(cluster, hard), *breaking_vm_rules(cluster, hard)]:
            host = better_host(cluster, policy, vm, hard)
            if host:
                return {'vm': vm.id, 'host': host}
    return None


def better_host(cluster, policy, vm, hard):
    """Where the policy would put a VM that may move; for a soft rule, only if that is better."""
    if not is_migratable(vm) or vm.engine:
        return None
    chosen = schedule(cluster, policy, {'vms': [vm.id], 'black_list': [vm.host]})[0]['chosen']
    cluster.clear_pending(vm.id)
    if chosen is None or hard:
        return chosen
    return chosen if soft_key(cluster, policy, vm, chosen) < soft_key(cluster, policy, vm, vm.host) else None


# ---- rules about hosts ----

def breaks_host_rule(cluster, group, hard, name, host):
    rule = group.hosts_rule
    return rule.enabled and rule.enforcing == hard and name in cluster.members(group) \
        and (host in cluster.group_hosts(group)) != rule.positive


def breaking_host_rules(cluster, hard):
    """Running VMs that break such rules, those that break fewest first."""
    counts = {vm.id: sum(breaks_host_rule(cluster, group, hard, vm.id, vm.host) for group in cluster.groups)
              for vm in cluster.vms if vm.running}
    return sorted((vm for vm in cluster.vms if counts.get(vm.id)), key=lambda vm: counts[vm.id])


# ---- rules about VMs ----

def members_by_host(cluster, group):
    """{host: VMs of the group that run there}, in the cluster's order."""
    members = set(cluster.members(group))
    found = {host.id: [vm for vm in cluster.vms_on(host) if vm.id in members] for host in cluster.hosts}
    return {host: vms for host, vms in found.items() if vms}


def is_broken(cluster, group):
    places = members_by_host(cluster, group)
    return len(places) > 1 if group.vms_rule.positive else any(len(vms) > 1 for vms in places.values())


def breaking_vm_rules(cluster, hard):
    """VMs to move for the broken groups: greater priority (soft), larger group, greater smallest id."""
    groups = [g for g in cluster.groups if g.vms_rule.enabled and g.vms_rule.enforcing == hard and is_broken(cluster, g)]
    groups.sort(key=lambda g: (0 if hard else g.priority, len(cluster.members(g)), min(cluster.members(g))), reverse=True)
    for group in groups:
        places = members_by_host(cluster, group).values()
        if group.vms_rule.positive:
            places = sorted(places, key=len)
        else:
            places = sorted((vms for vms in places if len(vms) > 1), key=len, reverse=True)
        for vms in places:
            if all(is_migratable(vm) for vm in vms):
                yield from vms


# ---- whether a host is better for soft rules ----

def soft_key(cluster, policy, vm, host):
    """Less is better. Rules about hosts come first, unless their weight has the lesser factor; within a kind the priorities decide."""
    factors = {entry['unit']: entry.get('factor', 1) for entry in policy['weights']}
    about_hosts = broken_priorities(g.priority for g in cluster.groups if breaks_host_rule(cluster, g, False, vm.id, host))
    about_vms = broken_priorities(g.priority for g in cluster.groups if breaks_vm_rule(cluster, g, vm, host))
    if factors.get('VmToHostsAffinityGroups', 0) >= factors.get('VmAffinityGroups', 0):
        return about_hosts, about_vms
    return about_vms, about_hosts


def breaks_vm_rule(cluster, group, vm, host):
    members = cluster.members(group)
    if not group.vms_rule.enabled or group.vms_rule.enforcing or vm.id not in members:
        return False
    others = [at for name in members if name != vm.id for at in cluster.hosts_of_member(name)]
    return any(at != host for at in others) if group.vms_rule.positive else host in others
