"""manager.py: what HA's manager does by itself, where Ha.acts: it recovers the guests of a dead node, empties nodes in maintenance and sends
their guests back afterwards, and takes guests to the node that their rule prefers (failback). One step a round.

A node that an admin shuts down with shutdown_policy=migrate counts as in maintenance until it is back. Only HA's guests move; nobody may
hold them back.
"""
from . import tasks


def failed(cluster, name):
    """A node dies: of its guests nothing is known any more, and HA fences it."""
    node = cluster.nodes[name]
    node.online, node.dead, node.died = False, True, cluster.clock()


def repaired(cluster, name):
    """It boots again; only guests that HA has recovered have gone on meanwhile."""
    node = cluster.nodes[name]
    node.dead, node.died, node.comes_up = False, None, cluster.clock() + cluster.boot_s
    for g in cluster.guests_of(name):
        g.status, g.lock = "stopped", ""


def shut_down(cluster, name):
    """By an admin, with shutdown_policy=migrate: the node goes when HA has emptied it."""
    cluster.nodes[name].maintenance = cluster.nodes[name].leaves = True


def _managed(cluster):
    return [g for g in cluster.guests.values() if cluster.ha.resources.get(g.sid(), {}).get("state") in ("started", "enabled")]


def _node_rule(cluster, guest):
    """({node: priority}, strict)"""
    for r in cluster.ha.rules.values():
        if r["type"] == "node-affinity" and not r.get("disable") and guest.sid() in r["resources"].split(","):
            nodes = dict((n.partition(":")[0], int(n.partition(":")[2] or 0)) for n in r["nodes"].split(","))
            return nodes, bool(r.get("strict"))
    return {}, False


def partner_of(cluster, guest):
    """One that a positive rule keeps with the guest."""
    for r in cluster.ha.rules.values():
        sids = r["resources"].split(",")
        if r["type"] == "resource-affinity" and r.get("affinity") == "positive" and guest.sid() in sids:
            return next((g for g in cluster.guests.values() if g.sid() in sids and g is not guest), None)
    return None


def _fit(cluster, guest):
    """Where the manager would have it: nodes of the highest priority, not beside what a rule keeps away."""
    up = [n.name for n in cluster.nodes.values() if n.online and not n.maintenance and not n.goes_down]
    up = [n for n in up if not any(tasks.apart(cluster, guest, g) for g in cluster.guests_of(n))]
    ranks, strict = _node_rule(cluster, guest)
    ranked = [n for n in up if n in ranks]
    if ranked:
        return [n for n in ranked if ranks[n] == max(ranks[m] for m in ranked)]
    return [] if strict else up


def _best(cluster, guest):
    fit, partner = _fit(cluster, guest), partner_of(cluster, guest)
    if partner is not None and cluster.ha.moving.get(partner.sid(), partner.node) in fit:
        return cluster.ha.moving.get(partner.sid(), partner.node)
    return min(fit, key=lambda n: len(cluster.guests_of(n)), default=None)


def _recover(cluster, guest, now):
    node = cluster.nodes[guest.node]
    target = _best(cluster, guest) if node.died is not None and now - node.died >= cluster.ha.fence_s and cluster.is_quorate() else None
    if target:
        guest.node, guest.status, guest.lock = target, "running", ""
        cluster.ha.recovered.append(guest.vmid)


def _wants(cluster, guest):
    """Where the manager takes the guest by itself, or None."""
    ha, node = cluster.ha, cluster.nodes[guest.node]
    if node.maintenance:
        return _best(cluster, guest)
    home = ha.away.get(guest.sid())
    if home and cluster.nodes[home].online and not cluster.nodes[home].maintenance and cluster.clock() >= cluster.nodes[home].ready:
        del ha.away[guest.sid()]
        return home if home != guest.node else None
    fit = _fit(cluster, guest)
    ranks, _ = _node_rule(cluster, guest)
    if not home and ranks and fit and guest.node not in fit and ha.resources[guest.sid()].get("failback", 1):
        return next((n for n in fit if cluster.clock() >= cluster.nodes[n].ready), None)
    return None


def advance(cluster, now):
    ha = cluster.ha
    this_round = cluster.manager_clock()
    if not ha.acts or this_round == ha.last_round or not cluster.is_quorate():
        return
    ha.last_round = this_round
    for guest in _managed(cluster):
        node = cluster.nodes[guest.node]
        if not node.online:
            _recover(cluster, guest, now)
            continue
        target = None if guest.sid() in ha.moving or guest.lock or guest.status != "running" else _wants(cluster, guest)
        if target and target != guest.node:
            if node.maintenance:
                ha.away[guest.sid()] = guest.node
            ha.moving[guest.sid()] = target
            ha.own.append((guest.vmid, guest.node, target))
    for node in cluster.nodes.values():
        if node.leaves and node.online and not node.goes_down and not [g for g in _managed(cluster) if g.node == node.name]:
            node.goes_down = now + cluster.down_s
            node.comes_up = node.goes_down + cluster.boot_s
