"""Judges every order of execution at once.

The moves of a plan may begin in any order that `depends_on` allows, and overlap. A moment of some such order is a
choice, for every move, of begun (b) and succeeded (s), where s needs b, and b needs the s of all that it depends on. While a
move has begun and not succeeded its VM counts on both hosts. The highest load that a host can get is thus the heaviest
choice that is closed under these needs: arrivals count when they have begun, departures when they have succeeded. That is
the maximum closure problem (Picard 1976), solved by a minimum cut; graphs here are small.
"""
from collections import deque


def heaviest_moment(arrivals, departures, depends_on, begun):
    """The largest Σ arrivals[i] over those begun, less Σ departures[j] over those succeeded, at any moment at
    which the move `begun` has begun. arrivals, departures: {id: weight}; depends_on: {id: set of all ids
    needed, directly or not}."""
    # Only moves to or from this host matter; the needs between them are transitive already.
    nodes = {}
    for i, weight in arrivals.items():
        nodes['b', i] = weight
    for j, weight in departures.items():
        nodes['s', j] = -weight
    gain_of_certain = 0.0
    certain = {('b', begun)} | {('s', j) for j in depends_on[begun] if j in departures}
    certain |= {('b', j) for j in depends_on[begun] if j in arrivals}
    for node in certain:
        gain_of_certain += nodes.pop(node)

    # Source -> what adds, what takes away -> sink, and from each to what it needs, without bound.
    edges = {}

    def edge(a, b, capacity):
        edges.setdefault(a, {})[b] = edges.get(a, {}).get(b, 0.0) + capacity
        edges.setdefault(b, {}).setdefault(a, 0.0)

    total = 0.0
    for node, weight in nodes.items():
        if weight > 0:
            edge('source', node, weight)
            total += weight
        elif weight < 0:
            edge(node, 'sink', -weight)
    for kind, i in nodes:
        for j in depends_on[i]:
            for needed in (('s', j), ('b', j)):
                if needed in nodes:
                    edge((kind, i), needed, float('inf'))
    return gain_of_certain + total - max_flow(edges, 'source', 'sink')


def max_flow(edges, source, sink):
    """Edmonds and Karp; changes the capacities in `edges`."""
    flow = 0.0
    while source in edges and sink in edges:
        came_from = {source: None}
        queue = deque([source])
        while queue and sink not in came_from:
            at = queue.popleft()
            for to, capacity in edges[at].items():
                if capacity > 1e-9 and to not in came_from:
                    came_from[to] = at
                    queue.append(to)
        if sink not in came_from:
            break
        path, at = [], sink
        while came_from[at] is not None:
            path.append((came_from[at], at))
            at = came_from[at]
        least = min(edges[a][b] for a, b in path)
        for a, b in path:
            edges[a][b] -= least
            edges[b][a] += least
        flow += least
    return flow


def closure(depends_on):
    """{id: set of direct needs} -> {id: all needs}; ids come in an order in which needs come first."""
    full = {}
    for i, needs in depends_on.items():
        full[i] = set(needs)
        for j in needs:
            full[i] |= full.get(j, set())
    return full
