"""One scheduling call (the sheet's section 1): hosts, filters in their order, delay, wishes, weights, selector, pending records."""
from cluster import Pending
from filters import judge, sequence
from quantities import pending_at
from host_selectors import SELECTORS, points
from weights import WEIGHTS

NO_HOSTS = 'There are no hosts to use. Check that the cluster contains at least one host in Up state.'
NONE_LEFT = 'Cannot {action} VM. There is no host that satisfies current scheduling constraints. See below for details:'
MANY_WAITING = 10
WAIT_LEAST_S, WAIT_MOST_S = 3, 10


class Call:
    """VMs that go to one host, and the parameters of the policy."""

    def __init__(self, cluster, vms, parameters=None):
        self.cluster, self.vms, self.parameters = cluster, vms, parameters or {}

    def number(self, name, default):
        value = self.parameters.get(name)
        return default if value in (None, '') else float(value) if '.' in str(value) else int(value)

    def is_true(self, name):
        return str(self.parameters.get(name, 'false')).lower() == 'true'

    def without(self, name):
        return Call(self.cluster, self.vms, {key: value for key, value in self.parameters.items() if key != name})


def candidates(cluster, black_list=(), white_list=()):
    """Hosts in status up, less the black list, within the white list; an empty white list is none."""
    return [h for h in cluster.up() if h.id not in black_list and (not white_list or h.id in white_list)]


def merged(cluster, vms, policy):
    """The VMs of a request as sets that go to one host each: those of overlapping hard positive groups, if the policy filters by groups."""
    sets = [[vm] for vm in vms]
    if not any(entry['unit'] == 'VmAffinityGroups' for entry in policy['filters']):
        return sets
    for group in cluster.groups:
        if group.vms_rule.enabled and group.vms_rule.enforcing and group.vms_rule.positive:
            members = set(cluster.members(group))
            joined = [s for s in sets if any(vm.id in members for vm in s)]
            if len(joined) > 1:
                at = sets.index(joined[0])
                sets[at] = [vm for vm in vms if any(vm in s for s in joined)]
                sets = [s for s in sets if s not in joined[1:]]
    return sets


def apply_filters(call, policy, hosts):
    """(hosts left, [(host, filter, words)] in the order in which hosts were refused, the filter that left none)."""
    refused, left = [], hosts
    for name in sequence(policy):
        passed = []
        for host in left:
            words = judge(name, call, host)
            if words is None:
                passed.append(host)
            else:
                refused.append((host, name, words))
        left = passed
        if not left:
            return left, refused, name
    return left, refused, None


def weigh(call, policy, hosts):
    """{unit: {host: weight}} of the units that the policy has, in its order."""
    return {entry['unit']: WEIGHTS[entry['unit']](call, hosts) for entry in policy['weights']}


def messages(refused, running):
    lines = [NONE_LEFT.format(action='migrate' if running else 'run')]
    for host, name, words in refused:
        lines.append(f'The host {host.label} did not satisfy internal filter {name}{" because " + words if words else ""}.')
    return lines


def wait_s(cluster, last_filter):
    """How long the engine waits before it tries once more, or None: memory is pending somewhere, and without it there might be room."""
    pending = any(p.real_mb + p.overcommit_mb > 0 for h in cluster.up() for p in pending_at(cluster, h))
    return min(max(cluster.data_age_s, WAIT_LEAST_S), WAIT_MOST_S) if last_filter == 'Memory' and pending else None


def schedule_set(cluster, policy, vms, request):
    """The answer for VMs that go to one host; README.md says what its fields mean."""
    call = Call(cluster, vms, policy.get('parameters'))
    answer = {'vms': [vm.id for vm in vms], 'refused': [], 'left': [], 'weights': {}, 'points': {}, 'sums': {}, 'chosen': None, 'wait_s': None,
              'messages': []}
    hosts = candidates(cluster, request.get('black_list', ()), request.get('white_list', ()))
    if not hosts:
        answer['messages'] = [NO_HOSTS]
        return answer
    left, refused, last_filter = apply_filters(call, policy, hosts)
    answer['refused'] = [{'host': host.id, 'filter': name, 'words': words or None} for host, name, words in refused]
    answer['left'] = [host.id for host in left]
    if not left:
        answer['wait_s'] = wait_s(cluster, last_filter)
        answer['messages'] = messages(refused, vms[0].running)
        return answer
    wished = [host for host in left if host.id in request.get('wished_hosts', ())]
    left = wished or left
    if len(left) == 1 or (cluster.optimisation == 'speed' and request.get('waiting', 0) > MANY_WAITING):
        answer['chosen'] = left[0].id
    else:
        names, factors = [host.id for host in left], {entry['unit']: entry.get('factor', 1) for entry in policy['weights']}
        selector = policy.get('selector', 'RankSelector')
        answer['weights'] = weigh(call, policy, left)
        if selector == 'RankSelector':
            answer['points'] = points(answer['weights'], factors, names)
        answer['sums'], answer['chosen'] = SELECTORS[selector](answer['weights'], factors, names)
    return answer


def record_pending(cluster, vms, chosen):
    host = cluster.host(chosen)
    for vm in vms:
        if vm.is_on(host):
            continue
        numa = {}
        for node in vm.pinned_nodes():
            numa[node['host_node']] = numa.get(node['host_node'], 0) + node['mem_mb']
        cluster.add_pending(Pending(vm.id, chosen, exclusive_cpus=free_cpus(cluster, host, vm.vcpus) if vm.exclusive else [], numa=numa))


def free_cpus(cluster, host, count):
    """The first CPUs that no VM has for itself."""
    taken = set(host.exclusive_cpus) | {cpu for p in cluster.pending_at(host) for cpu in p.exclusive_cpus}
    known = sorted(host.online_cpus or [cpu['id'] for cpu in host.cpus or []])
    return [cpu for cpu in known if cpu not in taken][:count]


def schedule(cluster, policy, request):
    """The answers for the sets of VMs of a request, in their order. What is chosen is pending for the sets after it."""
    answers = []
    for vms in merged(cluster, [cluster.vm(name) for name in request['vms']], policy):
        answer = schedule_set(cluster, policy, vms, request)
        answers.append(answer)
        if answer['chosen']:
            record_pending(cluster, vms, answer['chosen'])
    return answers
