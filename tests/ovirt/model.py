"""Answers questions about oVirt clusters as its scheduler would: one JSON object on each line of standard input, one answer on each line of
standard output. README.md describes both."""
import json
import sys

from affinity import enforcement
from balances import balance, first_move, power_step
from cluster import load
from policies import built_in, mistakes, with_engine_names
from quantities import effective_load, load_of, max_scheduling_memory, shared_cpus
from scheduling import Call, schedule


def policy_of(question):
    policy = question.get('policy', 'none')
    if isinstance(policy, str):
        policy = built_in()[policy]
    policy = {'filters': [], 'weights': [], 'balance': 'None', **policy,
              'parameters': {**with_engine_names(policy.get('parameters', {})), **with_engine_names(question.get('parameters', {}))}}  # a cluster's override the policy's
    wrong = mistakes(policy)
    if wrong:
        raise ValueError('/policy: ' + '; '.join(wrong))
    return policy


def quantities(cluster):
    def of(host):
        flag = cluster.threads_as_cores
        return {'P': shared_cpus(cluster, host, flag), 'L': load_of(cluster, host, flag), 'L_pending': load_of(cluster, host, flag, True),
                'effective': effective_load(cluster, host, flag), 'S': max_scheduling_memory(cluster, host)}

    return {host.id: of(host) for host in cluster.hosts}


def answer(question):
    cluster, policy = load(question['cluster']), policy_of(question)
    request = question['request']
    if request['kind'] == 'schedule':
        return {'sets': schedule(cluster, policy, request)}
    if request['kind'] == 'balance':
        call = Call(cluster, [], policy['parameters'])
        found = balance(policy['balance'], call)
        power = power_step(call) if policy['balance'] == 'OptimalForPowerSaving' else None
        return {'moves': [list(move) for move in found], 'first_move': first_move(cluster, policy, found),
                'power': power and {'host': power[0], 'to': power[1]}}
    if request['kind'] == 'affinity':
        return {'first_move': enforcement(cluster, policy)}
    if request['kind'] == 'quantities':
        return {'hosts': quantities(cluster)}
    raise ValueError(f'/request/kind: {request["kind"]}')


def main():
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(answer(json.loads(line)), ensure_ascii=False), flush=True)


if __name__ == '__main__':
    main()
