"""The selectors: from the weights of each unit to the chosen host. Lower weights are better. Ties go to the host that stands first."""


def points(weights, factors, hosts):
    """{unit: {host: points}} of the rank selector: factor x (n - 1 - hosts with a strictly lower weight); a host without a weight has 0."""
    table = {}
    for unit, of_hosts in weights.items():
        values = {host: of_hosts.get(host, 0) for host in hosts}
        table[unit] = {host: factors.get(unit, 1) * (len(hosts) - 1 - sum(other < values[host] for other in values.values())) for host in hosts}
    return table


def sums(table, hosts):
    return {host: sum(of_hosts.get(host, 0) for of_hosts in table.values()) for host in hosts}


def rank(weights, factors, hosts):
    """(sum of points of each host, chosen host): the greatest sum."""
    total = sums(points(weights, factors, hosts), hosts)
    return total, max(hosts, key=total.get, default=None)  # the first of equal ones


def basic(weights, factors, hosts):
    """(sum of factor x weight of each host that has a weight, chosen host): the least sum. Where none has a weight, all count."""
    recorded = [host for host in hosts if any(host in of_hosts for of_hosts in weights.values())] or hosts
    total = {host: sum(factors.get(unit, 1) * of_hosts.get(host, 0) for unit, of_hosts in weights.items()) for host in recorded}
    return total, min(recorded, key=total.get, default=None)


SELECTORS = {'RankSelector': rank, 'BasicWeighting': basic}
