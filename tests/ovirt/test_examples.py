#!/usr/bin/env python3
"""Small examples, reckoned by hand from the rules, for what no result of vectors.json covers."""
import sys

from affinity import enforcement
from balances import balance, first_move, power_step
from cluster import load
from filters import judge
from policies import built_in
from quantities import (effective_load, load_of, max_scheduling_memory, overcommit_need, pending_at, real_need, shared_cpus, static_overhead,
                        total_need)
from scheduling import Call, schedule
from weights import WEIGHTS

HOST = {'sockets': 2, 'cores': 8, 'threads': 16, 'cpu_percent': 10, 'physical_mb': 10000, 'mem_free_mb': 8000, 'name': 'node', 'address': '10.0.0.1'}
SOURCE = {**HOST, 'id': 's', 'name': 'source', 'address': '10.0.0.9'}
RUNNING = {'status': 'up', 'host': 's', 'cpu_percent': 10}
HERE = {**RUNNING, 'host': 'h'}
ENGINE = {'id': 'e', 'mem_mb': 9000, 'engine': True, **RUNNING}


def made(host=(), vm=(), others=(), hosts=(), **rest):
    """A cluster with host h, the source s and VM v."""
    return load({'hosts': [{**HOST, 'id': 'h', **dict(host)}, SOURCE, *hosts], 'vms': [{'id': 'v', 'mem_mb': 1024, **dict(vm)}, *others], **rest})


def words(unit, parameters=None, vms=('v',), **world):
    """What the filter says of host h."""
    cluster = made(**world)
    return judge(unit, Call(cluster, [cluster.vm(name) for name in vms], parameters), cluster.host('h'))


# (filter, whether host h passes, what is special)
FILTERS = (
    ('PinToHost', True, {}),
    ('PinToHost', True, {'vm': {'affinity': 'pinned', 'hosts': ['h', 's']}}),
    ('PinToHost', False, {'vm': {'affinity': 'pinned', 'hosts': ['s']}}),
    ('PinToHost', True, {'vm': {'affinity': 'pinned'}}),
    ('PinToHost', False, {'vm': {'affinity': 'pinned', **RUNNING}}),
    ('PinToHost', True, {'vm': {'affinity': 'migratable', 'hosts': ['s']}}),
    ('CPUTopology', True, {}),
    ('CPUTopology', False, {'host': {'threads': None}}),
    ('CPUTopology', False, {'vm': {'cpu_policy': 'resize_and_pin'}}),  # no NUMA nodes
    ('CPUTopology', True, {'vm': {'cpu_policy': 'resize_and_pin'}, 'host': {'numa': [{'id': 0}, {'id': 1}]}}),
    ('CPUTopology', False, {'vm': {'cpu_policy': 'resize_and_pin'}, 'host': {'numa': [{'id': 0}, {'id': 1}], 'cores': 2, 'threads': 2}}),
    ('CPUTopology', True, {'vm': {'cpu_policy': 'dedicated', 'threads': 2}}),
    ('CPUTopology', False, {'vm': {'cpu_policy': 'dedicated', 'threads': 4}}),
    ('CpuPinning', True, {}),
    ('CpuPinning', True, {'vm': {'pinning': {'0': [1, 2]}}, 'host': {'online_cpus': [0, 1, 2]}}),
    ('CpuPinning', False, {'vm': {'pinning': {'0': [1, 3]}}, 'host': {'online_cpus': [0, 1, 2]}}),
    ('CPU-Level', True, {'host': {'cpu_level': None}}),
    ('CPU-Level', True, {'vm': {'cpu': {'maker': 'Intel', 'level': 5}}, 'host': {'cpu_maker': 'Intel', 'cpu_level': 5}}),
    ('CPU-Level', False, {'vm': {'cpu': {'maker': 'Intel', 'level': 6}}, 'host': {'cpu_maker': 'Intel', 'cpu_level': 5}}),
    ('CPU-Level', False, {'vm': {'cpu': {'maker': 'AMD', 'level': 1}}, 'host': {'cpu_maker': 'Intel', 'cpu_level': 5}}),
    ('CPU-Level', False, {'vm': {'cpu': {'maker': 'Intel', 'level': None}}, 'host': {'cpu_maker': 'Intel', 'cpu_level': 5}}),
    ('CPU-Level', True, {'vm': {'cpu': {'passthrough': True, 'flags': ['x']}}}),
    ('CPU-Level', False, {'vm': {'cpu': {'passthrough': True, 'flags': ['x']}, **RUNNING}}),
    ('CPU-Level', True, {'vm': {'cpu': {'passthrough': True, 'flags': ['x']}, **RUNNING}, 'host': {'cpu_flags': ['x', 'y']}}),
    ('Compatibility-Version', True, {}),
    ('Compatibility-Version', False, {'vm': {'compatibility_version': '4.3'}, 'host': {'compatibility_versions': ['4.6']}}),
    ('Compatibility-Version', True, {'vm': {'compatibility_version': '4.6'}, 'host': {'compatibility_versions': ['4.6']}}),
    ('HostDevice', True, {}),
    ('HostDevice', False, {'vm': {'host_devices': [{'name': 'usb', 'pci': False}]}, 'host': {'free_devices': ['usb']}}),
    ('HostDevice', True, {'vm': {'host_devices': [{'name': 'usb', 'pci': False}], 'hosts': ['h']}, 'host': {'free_devices': ['usb']}}),
    ('HostDevice', False, {'vm': {'host_devices': [{'name': 'usb', 'pci': False}], 'hosts': ['h', 's']}, 'host': {'free_devices': ['usb']}}),
    ('HostDevice', False, {'vm': {'host_devices': [{'name': 'gpu', 'pci': True}], 'hosts': ['h']}, 'host': {'free_devices': ['gpu']}}),
    ('HostDevice', False, {'vm': {'host_devices': [{'name': 'gpu', 'pci': True}], 'hosts': ['h']}, 'host': {'device_passthrough': True}}),
    ('MDevice', True, {'vm': {'vgpus': ['a', 'b']}, 'host': {'vgpus': {'a': 1, 'b': 1}}}),
    ('MDevice', False, {'vm': {'vgpus': ['a', 'a']}, 'host': {'vgpus': {'a': 1}}}),
    ('VM leases ready', True, {'vm': {'lease_domain': 'd'}}),
    ('VM leases ready', True, {'vm': {'lease_domain': 'd'}, 'host': {'lease_domains': {'d': True}}}),
    ('VM leases ready', False, {'vm': {'lease_domain': 'd'}, 'host': {'lease_domains': {'d': False}}}),
    ('CPU', False, {'host': {'exclusive_cpus': [0, 1, 2, 3, 4, 5, 6]}, 'vm': {'cores': 2}}),  # 8 - 7 < 2
    ('CPU', True, {'host': {'exclusive_cpus': [0, 1, 2, 3, 4, 5]}, 'vm': {'cores': 2, 'threads': 4}}),  # threads do not count
    ('CPU', False, {'others': [{'id': 'o', 'sockets': 3, 'cores': 3, **HERE}]}),  # a VM that runs there
    ('CPU', False, {'pending': [{'vm': 'o', 'host': 'h', 'cores': 9}]}),
    ('CPU', True, {'vm': {'cores': 8, 'cpu_policy': 'dedicated'}}),
    ('CPU', False, {'vm': {'cores': 9, 'cpu_policy': 'dedicated'}}),
    ('CPU', False, {'vm': {'cores': 8, 'cpu_policy': 'dedicated'}, 'pending': [{'vm': 'o', 'host': 'h', 'cores': 1}]}),
    ('CPUOverloaded', True, {'host': {'cpu_percent': 90, 'over_s': 500}}),  # 90 is not over 90
    ('CPUOverloaded', False, {'host': {'cpu_percent': 91, 'over_s': 120}}),
    ('CPUOverloaded', True, {'host': {'cpu_percent': 91, 'over_s': 119}}),
    ('CPUOverloaded', True, {'host': {'cpu_percent': 91, 'over_s': None}}),
    ('CPUOverloaded', False, {'host': {'cpu_percent': 90, 'over_s': 120, 'spm': True}}),  # 730/8 is 91.25
    ('CPUOverloaded', False, {'host': {'cpu_percent': None}}),
    ('CPUOverloaded', True, {'host': {'cpu_percent': 61, 'over_s': 60}, 'parameters': {'HighUtilization': '60'}}),
    ('CPUOverloaded', False, {'host': {'cpu_percent': 61, 'over_s': 60},
                              'parameters': {'HighUtilization': '60', 'CpuOverCommitDurationMinutes': '1'}}),
    ('Memory', True, {'host': {'mem_free_mb': 1090}}),  # 1024 + 1024/512 + 64
    ('Memory', False, {'host': {'mem_free_mb': 1089}}),
    ('Memory', True, {'host': {'mem_free_mb': 1089, 'swap_free_mb': 1}}),
    ('Memory', True, {'host': {'mem_free_mb': 0}, 'vm': HERE}),
    ('Memory', True, {'host': {'mem_free_mb': 0}, 'vm': {**RUNNING, 'status': 'paused'}}),
    ('Memory', False, {'host': {'mem_free_mb': None}}),
    ('Memory', True, {'host': {'committed_mb': 8902}}),  # 1090 and 8 for one vCPU
    ('Memory', False, {'host': {'committed_mb': 8903}}),
    ('Memory', False, {'host': {'committed_mb': 8902}, 'vm': {'io_threads': 1}}),
    ('Memory', False, {'host': {'committed_mb': 8900}, 'vm': {'video_mb': 3}}),
    ('Memory', True, {'host': {'committed_mb': 13902}, 'overcommit_percent': 150}),
    ('Memory', False, {'host': {'mem_free_mb': 2180}, 'others': [{'id': 'o', 'mem_mb': 1024}], 'pending': [{'vm': 'o', 'host': 'h', 'real_mb': 1091}]}),
    ('Memory', True, {'host': {'mem_free_mb': 1156}, 'others': [{'id': 'o', 'mem_mb': 1024}], 'pending': [{'vm': 'o', 'host': 'h'}]}),
    ('Memory', False, {'host': {'mem_free_mb': 1155}, 'others': [{'id': 'o', 'mem_mb': 1024}], 'pending': [{'vm': 'o', 'host': 'h'}]}),
    ('Memory', True, {'host': {'mem_free_mb': 578, 'huge_free': {'2048': 256}}, 'vm': {'huge_page_kb': 2048}}),  # 256 pages of 2 MiB missing, 66
    ('Memory', False, {'host': {'mem_free_mb': 577, 'huge_free': {'2048': 256}}, 'vm': {'huge_page_kb': 2048}}),
    ('Memory', True, {'host': {'committed_mb': 8902, 'huge_free': {'2048': 512}}, 'vm': {'huge_page_kb': 2048}}),
    ('Memory', False, {'host': {'committed_mb': 8903, 'huge_free': {'2048': 512}}, 'vm': {'huge_page_kb': 2048}}),
    ('Memory', False, {'host': {'mem_free_mb': 2179}, 'others': [{'id': 'o', 'mem_mb': 1024}], 'vms': ('v', 'o')}),  # as a sum
    ('Memory', True, {'host': {'mem_free_mb': 2180}, 'others': [{'id': 'o', 'mem_mb': 1024}], 'vms': ('v', 'o')}),
    ('Swap', True, {}),
    ('Swap', True, {'host': {'swap_total_mb': 9000, 'swap_free_mb': 901, 'mem_free_mb': 8000}}),  # 99 of 10000 MiB: 0 %
    ('Swap', False, {'host': {'swap_total_mb': 9000, 'swap_free_mb': 900, 'mem_free_mb': 8000}}),
    ('Swap', True, {'host': {'swap_total_mb': 9000, 'swap_free_mb': 900, 'mem_free_mb': 8000}, 'parameters': {'MaximumAllowedSwapUsage': '1'}}),
    ('Swap', True, {'host': {'swap_total_mb': 9000, 'swap_free_mb': 900, 'mem_free_mb': 8000}, 'settings': {'swap_check': False}}),
    ('Swap', True, {'host': {'swap_total_mb': 9000, 'swap_free_mb': 900, 'mem_free_mb': 8000}, 'vm': {**RUNNING, 'status': 'paused'}}),
    ('Migration', True, {'host': {'name': 'source'}}),
    ('Migration', True, {'vm': RUNNING}),
    ('Migration', False, {'vm': RUNNING, 'host': {'name': 'source'}}),
    ('Migration', False, {'vm': RUNNING, 'host': {'address': '10.0.0.9'}}),
    ('Migration', False, {'vm': RUNNING, 'host': {'address': '127.0.0.1'}}),
    ('Migration', True, {'vm': HERE, 'host': {'address': '127.0.0.1'}}),
    ('Network', True, {'vm': {'nics': [{'network': 'red', 'plugged': True, 'passthrough': False}]}, 'host': {'networks': {'red': False}}}),
    ('Network', False, {'vm': {'nics': [{'network': 'red', 'plugged': True, 'passthrough': False}]}}),
    ('Network', True, {'vm': {'nics': [{'network': 'red', 'plugged': False, 'passthrough': False}]}}),
    ('Network', False, {'display_network': 'red', 'host': {'networks': {'red': False}}}),
    ('Network', True, {'display_network': 'red', 'host': {'networks': {'red': True}}}),
    ('Network', False, {'vm': {'nics': [{'network': 'red', 'plugged': True, 'passthrough': True}]}, 'host': {'networks': {'red': False}}}),
    ('Network', True, {'vm': {'nics': [{'network': 'red', 'plugged': True, 'passthrough': True}]},
                       'host': {'networks': {'red': False}, 'free_vfs': {'red': 1}}}),
    ('NUMA', True, {}),
    ('NUMA', False, {'vm': {'vnuma': [{'mem_mb': 10, 'vcpus': [0], 'host_node': 0}]}}),
    ('NUMA', True, {'vm': {'vnuma': [{'mem_mb': 10, 'vcpus': [0], 'host_node': 0}]}, 'host': {'numa': [{'id': 0, 'free_mb': 10}]}}),
    ('NUMA', False, {'vm': {'vnuma': [{'mem_mb': 10, 'vcpus': [0], 'host_node': 1}]}, 'host': {'numa': [{'id': 0, 'free_mb': 10}]}}),
    ('NUMA', False, {'vm': {'vnuma': [{'mem_mb': 6, 'vcpus': [0], 'host_node': 0}] * 2}, 'host': {'numa': [{'id': 0, 'free_mb': 11}]}}),
    ('NUMA', True, {'vm': {'numa_mode': 'preferred', 'vnuma': [{'mem_mb': 11, 'vcpus': [0], 'host_node': 0}]}, 'host': {'numa': [{'id': 0, 'free_mb': 10}]}}),
    ('NUMA', False, {'vm': {'vnuma': [{'mem_mb': 10, 'vcpus': [0], 'host_node': 0}]}, 'host': {'numa': [{'id': 0, 'free_mb': 10}]},
                     'pending': [{'vm': 'o', 'host': 'h', 'numa': {'0': 1}}]}),
    ('HugePages', True, {'vm': {**HERE, 'huge_page_kb': 2048}}),
    ('HugePages', True, {'vm': {'mem_mb': 3, 'huge_page_kb': 2048}, 'host': {'huge_free': {'2048': 2}}}),
    ('HugePages', False, {'vm': {'mem_mb': 3, 'huge_page_kb': 2048}, 'host': {'huge_free': {'2048': 1}}}),
    ('Emulated-Machine', True, {}),
    ('Emulated-Machine', False, {'vm': {'emulated_machine': 'q35'}}),
    ('Emulated-Machine', True, {'vm': {'emulated_machine': 'q35'}, 'host': {'emulated_machines': ['pc', 'q35']}}),
    ('HA', True, {}),
    ('HA', False, {'vm': {'engine': True}}),
    ('HA', True, {'vm': {'engine': True}, 'host': {'he_score': 1}}),
    ('HA', False, {'vm': {'engine': True, **HERE, 'host': 'o'}, 'host': {'he_score': 2600}, 'hosts': [{**SOURCE, 'id': 'o', 'he_score': 3400}]}),
    ('HA', True, {'vm': {'engine': True, **HERE, 'host': 'o'}, 'host': {'he_score': 2601}, 'hosts': [{**SOURCE, 'id': 'o', 'he_score': 3400}]}),
    # S is 10000: a spare for 9000 + 17 + 64, no room for 1024 + 66 besides
    ('HostedEngineSpares', False, {'host': {'he_score': 1}, 'others': [ENGINE], 'parameters': {'HeSparesCount': '1'}}),
    ('HostedEngineSpares', True, {'host': {'he_score': 1, 'he_local_maintenance': True}, 'others': [ENGINE], 'parameters': {'HeSparesCount': '1'}}),
    ('HostedEngineSpares', True, {'host': {'he_score': 1}, 'others': [ENGINE]}),
    ('Migration-Tsc-Frequency', True, {'vm': {'tsc_hz': 1000000}}),
    ('Migration-Tsc-Frequency', True, {'vm': {'tsc_hz': 1000000, **RUNNING}, 'host': {'tsc_hz': 1000250}}),
    ('Migration-Tsc-Frequency', False, {'vm': {'tsc_hz': 1000000, **RUNNING}, 'host': {'tsc_hz': 999749}}),
    ('Migration-Tsc-Frequency', True, {'vm': {'tsc_hz': 1000000, **RUNNING}, 'host': {'tsc_hz': 1, 'tsc_scaling': True}}),
    ('Host-hooks', False, {'vm': {'custom_properties': {'sap_agent': 'true'}}}),
    ('Host-hooks', True, {'vm': {'custom_properties': {'sap_agent': 'true'}}, 'host': {'hooks': ['50_vhostmd']}}),
    ('Host-hooks', True, {'vm': {'custom_properties': {'sap_agent': 'false'}}}),
    ('ClusterInMaintenance', False, {}),
    ('ClusterInMaintenance', True, {'vm': {'ha': True}}),
    ('ClusterInMaintenance', True, {'vm': RUNNING}),
    ('InClusterUpgrade', True, {'host': {'os': None}}),
    ('InClusterUpgrade', True, {'vm': {**RUNNING, 'host': 'o'}, 'host': {'os': 'RHEL - 8.1 - x'}, 'hosts': [{**SOURCE, 'id': 'o', 'os': 'RHEL - 8.6 - x'}]}),
    ('InClusterUpgrade', False, {'vm': {**RUNNING, 'host': 'o'}, 'host': {'os': 'RHEL - 7.9 - x'}, 'hosts': [{**SOURCE, 'id': 'o', 'os': 'RHEL - 8.6 - x'}]}),
    ('InClusterUpgrade', False, {'vm': {**RUNNING, 'host': 'o'}, 'host': {'os': 'Fedora - 9 - x'}, 'hosts': [{**SOURCE, 'id': 'o', 'os': 'RHEL - 8.6 - x'}]}),
)


def rule(positive, enforcing, enabled=True):
    return {'enabled': enabled, 'positive': positive, 'enforcing': enforcing}


def of_vms(positive, enforcing=True, **group):
    return {'id': 'g', 'vms': ['v', 'o'], 'vms_rule': rule(positive, enforcing), **group}


def of_hosts(positive, hosts, enforcing=True, **group):
    return {'id': 'g', 'vms': ['v'], 'hosts': hosts, 'hosts_rule': rule(positive, enforcing), **group}


OTHER_ON_S, OTHER_HERE, OTHER_OFF = [{'id': 'o', **RUNNING}], [{'id': 'o', **HERE}], [{'id': 'o'}]
AFFINITY = (
    ('VmAffinityGroups', False, {'groups': [of_vms(True)], 'others': OTHER_ON_S}),
    ('VmAffinityGroups', True, {'groups': [of_vms(True)], 'others': OTHER_HERE}),
    ('VmAffinityGroups', True, {'groups': [of_vms(True)], 'others': OTHER_OFF}),
    ('VmAffinityGroups', True, {'groups': [of_vms(True, False)], 'others': OTHER_ON_S}),
    ('VmAffinityGroups', False, {'groups': [of_vms(True)], 'others': OTHER_OFF, 'pending': [{'vm': 'o', 'host': 's'}]}),
    ('VmAffinityGroups', False, {'groups': [of_vms(False)], 'others': OTHER_HERE}),
    ('VmAffinityGroups', True, {'groups': [of_vms(False)], 'others': OTHER_ON_S}),
    ('VmAffinityGroups', False, {'groups': [of_vms(False)], 'others': OTHER_OFF, 'vms': ('v', 'o')}),
    ('VmAffinityGroups', False, {'groups': [of_vms(False, vms=['v'], vm_labels=['l'])], 'labels': [{'id': 'l', 'vms': ['o']}], 'others': OTHER_HERE}),
    ('VmToHostsAffinityGroups', True, {'groups': [of_hosts(True, ['h'])]}),
    ('VmToHostsAffinityGroups', False, {'groups': [of_hosts(True, ['s'])]}),
    ('VmToHostsAffinityGroups', False, {'groups': [of_hosts(True, ['h', 's']), of_hosts(True, ['s'], id='g2')]}),
    ('VmToHostsAffinityGroups', False, {'groups': [of_hosts(False, ['h'])]}),
    ('VmToHostsAffinityGroups', True, {'groups': [of_hosts(False, ['h'], False)]}),
    ('VmToHostsAffinityGroups', False, {'groups': [of_hosts(True, ['s'], host_labels=['l'])], 'labels': [{'id': 'l', 'hosts': ['x']}]}),
    ('VmToHostsAffinityGroups', True, {'groups': [of_hosts(True, ['s'], host_labels=['l'])], 'labels': [{'id': 'l', 'hosts': ['h']}]}),
    ('VmToHostsAffinityGroups', False, {'labels': [{'id': 'l', 'vms': ['v'], 'hosts': ['s']}], 'level': '4.3'}),
    ('VmToHostsAffinityGroups', True, {'labels': [{'id': 'l', 'vms': ['v'], 'hosts': ['s']}], 'level': '4.4'}),
)

SAID = (
    ('CPUOverloaded', 'its CPU is too loaded', {'host': {'cpu_percent': 91, 'over_s': 120}}),
    ('Memory', 'its available memory is too low (1000 MB) to run the VM', {'host': {'mem_free_mb': 990, 'swap_free_mb': 10}}),
    ('Memory', 'its available memory is too low (100 MB) to run the VM', {'host': {'committed_mb': 9900}}),
    ('Swap', 'it is swapping too much', {'host': {'swap_total_mb': 9000, 'swap_free_mb': 900, 'mem_free_mb': 8000}}),
    ('VmAffinityGroups', 'it matched negative affinity rules', {'groups': [of_vms(False)], 'others': OTHER_HERE}),
    ('Network', 'network(s) red, blue are missing',
     {'vm': {'nics': [{'network': name, 'plugged': True, 'passthrough': False} for name in ('red', 'blue', 'red')]}}),
    ('PinToHost', 'the host is not present in the pinning list', {'vm': {'affinity': 'pinned', 'hosts': ['s']}}),
)


# ---- weights ----

def weights(unit, hosts, vm=(), parameters=None, vms=(), **rest):
    """The weights of hosts a, b, …"""
    cluster = load({'hosts': [{**HOST, 'id': 'abcdef'[n], **host} for n, host in enumerate(hosts)],
                    'vms': [{'id': 'v', 'mem_mb': 1024, **dict(vm)}, *vms], **rest})
    return list(WEIGHTS[unit](Call(cluster, [cluster.vm('v')], parameters), cluster.hosts).values())


ON_A, ON_B = {**RUNNING, 'host': 'a'}, {**RUNNING, 'host': 'b'}
EVEN_CPU, POWER_CPU = 'OptimalForCpuEvenDistribution', 'OptimalForCpuPowerSaving'
EVEN_MEMORY, POWER_MEMORY = 'OptimalForMemoryEvenDistribution', 'OptimalForMemoryPowerSaving'
LOADS = [{'cpu_percent': percent} for percent in (10, 30, 50)]
ROOM = [{'committed_mb': committed} for committed in (0, 5000, 9000)]  # S 10000, 5000, 1000
WEIGHED = (
    # (80 + 10)/8 = 11.25, 250/8 = 31.25, 410/8 = 51.25: 11, 31, 51
    ('even: idlest first', [1, 501, 1000], EVEN_CPU, LOADS, {}),
    ('even: all equal', [1, 1], EVEN_CPU, [{}, {}], {}),
    ('even: no figure', [1, 1000, 1000], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': None}, {'cpu_percent': 30}], {}),
    # a: (80 + 24 x 20)/8 = 70; b, where it runs: 240/8 = 30
    ('even: nothing to add where it runs', [1000, 1], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 30}],
     {'vm': {**ON_B, 'cores': 24, 'cpu_percent': 20}}),
    # pending load: 80 + 10 + 300 against 240 + 10
    ('even: what is pending counts', [1000, 1], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 30}],
     {'pending': [{'vm': 'o', 'host': 'a', 'cpu_load': 300}]}),
    # SPM: 90 + 10 = 100/8 = 12.5 -> 13; b 90/8 = 11.25 -> 11
    ('even: the SPM', [1000, 1], EVEN_CPU, [{'spm': True}, {}], {}),
    # ratio 0.5: a has 3 + 1 vCPUs on 8: crowded, 1000 x
    ('even: crowded', [1000, 1], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 90}],
     {'parameters': {'VCpuToPhysicalCpuRatio': '0.5'}, 'vms': [{'id': 'o', 'cores': 3, **ON_A}]}),
    ('even: not crowded', [1, 1000], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 90}],
     {'parameters': {'VCpuToPhysicalCpuRatio': '0.5'}, 'vms': [{'id': 'o', 'cores': 2, **ON_A}]}),
    ('even: crowded by what is pending', [1000, 1], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 90}],
     {'parameters': {'VCpuToPhysicalCpuRatio': '0.5'}, 'vms': [{'id': 'o', 'cores': 3}], 'pending': [{'vm': 'o', 'host': 'a'}]}),
    ('power: no limit', [1000, 1], POWER_CPU, [{'cpu_percent': 90}, {'cpu_percent': 99}], {}),
    # (80 + 20)/(8 - 2) = 16.7 against (208 + 20)/(16 - 2) = 16.3; none left of two
    ('even: exclusive CPUs of its own', [1000, 1, 1000], EVEN_CPU, [{'cpu_percent': 10}, {'cpu_percent': 13, 'cores': 16}, {'cores': 2}],
     {'vm': {'cores': 2, 'cpu_policy': 'dedicated'}}),
    ('even: exclusive CPUs where it runs', [1, 1000], EVEN_CPU, [{}, {}], {'vm': {**ON_A, 'cores': 8, 'cpu_policy': 'dedicated'}}),
    ('even: per-CPU figures', [1000, 1], EVEN_CPU, [{'cpus': [{'id': 0, 'percent': 50}, {'id': 1, 'percent': 50}]},
                                                    {'cpus': [{'id': 0, 'percent': 99}, {'id': 1, 'percent': 5}], 'exclusive_cpus': [0]}], {}),
    ('even: threads', [1000, 1], EVEN_CPU, [{'threads': 8}, {'threads': 16}], {'threads_as_cores': True, 'vm': {'cores': 4}}),  # 120/8, 200/16
    ('power: fullest first', [1000, 501, 1], POWER_CPU, LOADS, {}),
    ('power: just not too full', [1000, 501, 1], POWER_CPU, LOADS, {'parameters': {'HighUtilization': '50'}}),
    ('power: too full', [1000, 1, 1000], POWER_CPU, LOADS, {'parameters': {'HighUtilization': '50'},
                                                            'pending': [{'vm': 'o', 'host': 'c', 'cpu_load': 1}]}),
    ('power: the ratio does not count', [1, 1000], POWER_CPU, [{'cpu_percent': 50}, {'cpu_percent': 10}],
     {'parameters': {'VCpuToPhysicalCpuRatio': '0.5'}, 'vms': [{'id': 'o', 'cores': 4, **ON_B}]}),
    # need 1024 + 66 + 8 = 1098: 1000 - round(8901 x 999/9999) = 1000 - 889; 3901: 390; -99: -10
    ('memory even', [111, 610, 1010], EVEN_MEMORY, ROOM, {}),
    # it runs on b: 4999 x 999/9999 = 499.45
    ('memory even: no need where it runs', [111, 501, 1010], EVEN_MEMORY, ROOM, {'vm': ON_B}),
    ('memory even: pending', [111, 710, 1010], EVEN_MEMORY, ROOM, {'pending': [{'vm': 'o', 'host': 'b', 'overcommit_mb': 1000}]}),
    # m = 11000: 8902 -> 808.4; 3902 -> 354.3; -98 -> min(11000, inf) = 999
    ('memory power', [809, 355, 1000], POWER_MEMORY, ROOM, {}),
    # low 4000, high 6000: 3902 -> 6098 -> 553.8; -98 -> 10098 -> 917.08
    ('memory power: limits', [809, 554, 918], POWER_MEMORY, ROOM,
     {'parameters': {'MaxFreeMemoryForOverUtilized': '4000', 'MinFreeMemoryForUnderUtilized': '6000'}}),
    ('guests', [6, 2, 1], 'OptimalForEvenGuestDistribution', [{'spm': True}, {}, {}],
     {'parameters': {}, 'vms': [{'id': 'o', **ON_A}, {'id': 'p', **ON_B}], 'pending': [{'vm': 'x', 'host': 'b'}, {'vm': 'y', 'host': 'c'}]}),
    ('guests: given count', [3, 8], 'OptimalForEvenGuestDistribution', [{'active_vms': 3}, {'active_vms': 7, 'spm': True}],
     {'parameters': {'SpmVmGrace': '1'}}),
    ('preferred', [0, 10000], 'PreferredHosts', [{}, {}], {'vm': {'hosts': ['a']}}),
    ('preferred: none', [0, 0], 'PreferredHosts', [{}, {}], {}),
    ('preferred: running', [0, 0], 'PreferredHosts', [{}, {}], {'vm': {'hosts': ['a'], **ON_A}}),
    # 2 of 3: 67, 3 of 3: 100
    ('HA reservation', [67, 100, 0], 'OptimalForHaReservation', [{}, {}, {}],
     {'vm': {'ha': True}, 'ha_reservation': True, 'vms': [{'id': f'o{n}', 'ha': True, **(ON_A if n < 2 else ON_B)} for n in range(5)]}),
    ('HA reservation: scale', [10, 15, 0], 'OptimalForHaReservation', [{}, {}, {}],
     {'vm': {'ha': True}, 'ha_reservation': True, 'vms': [{'id': f'o{n}', 'ha': True, **(ON_A if n < 2 else ON_B)} for n in range(5)],
      'parameters': {'ScaleDown': '7'}}),
    ('HA reservation: cluster reserves nothing', [0, 0], 'OptimalForHaReservation', [{}, {}], {'vm': {'ha': True}, 'vms': [{'id': 'o', 'ha': True, **ON_A}]}),
    ('HA reservation: not for others', [0, 0], 'OptimalForHaReservation', [{}, {}], {'ha_reservation': True, 'vms': [{'id': 'o', 'ha': True, **ON_A}]}),
    ('engine', [0, 500, 1000], 'HA', [{'he_score': 3400}, {'he_score': 1700}, {}], {'vm': {'engine': True}}),
    ('engine: others', [1, 1], 'HA', [{'he_score': 3400}, {}], {}),
    ('high performance', [1, 1000, 1000], 'CPU for high performance VMs', [{}, {'sockets': 1}, {'threads': 8}],
     {'vm': {'type': 'high_performance', 'sockets': 2, 'cores': 4, 'threads': 2}}),
    # 2008, 3008 and 1016: 1 + 992/1992 x 999 = 498.5 less a little
    ('high performance: exclusive', [498, 1000, 1], 'CPU for high performance VMs', [{}, {'sockets': 3}, {'sockets': 1, 'cores': 16}],
     {'vm': {'cpu_policy': 'dedicated'}}),
    ('pinnings agree', [1, 1000], 'CPU and NUMA pinning compatibility',
     [{'numa': [{'id': 0, 'cpus': [0, 1]}]}, {'numa': [{'id': 0, 'cpus': [0]}, {'id': 1, 'cpus': [1]}]}],
     {'vm': {'pinning': {'0': [1]}, 'vnuma': [{'mem_mb': 1, 'vcpus': [0], 'host_node': 0}]}}),
    ('pinnings: no vNUMA', [1, 1], 'CPU and NUMA pinning compatibility', [{}, {}], {'vm': {'pinning': {'0': [1]}}}),
    ('soft host rules', [2, 1, 3], 'VmToHostsAffinityGroups', [{}, {}, {}],
     {'groups': [of_hosts(True, ['a', 'b'], False, priority=2), of_hosts(True, ['b', 'c'], False, id='g2', priority=1)]}),
    ('hard host rules are no weight', [1, 1], 'VmToHostsAffinityGroups', [{}, {}], {'groups': [of_hosts(True, ['a'])]}),
    ('two that break nothing', [1, 1, 3], 'VmAffinityGroups', [{}, {}, {}], {'groups': [of_vms(False)], 'vms': [{'id': 'o', **RUNNING, 'host': 'c'}]}),
    # more members decide where all break the group
    ('more members', [2, 1, 3], 'VmAffinityGroups', [{}, {}, {}],
     {'groups': [of_vms(True, False, vms=['v', 'o', 'p', 'q'])], 'vms': [{'id': 'o', **ON_A}, {'id': 'p', **ON_B}, {'id': 'q', **ON_B}]}),
)


# ---- the rest, as sentences ----

def check_quantities():
    cluster = made(vm={'mem_mb': 6001, 'video_mb': 32, 'io_threads': 2, 'cores': 4})
    vm = cluster.vm('v')
    assert (static_overhead(cluster, vm), total_need(cluster, vm)) == (75, 6001 + 75 + 32 + 32 + 16)
    assert (real_need(cluster, vm), overcommit_need(cluster, vm)) == (6076, total_need(cluster, vm))
    cluster.architecture = 'ppc64le'
    assert static_overhead(cluster, vm) == 100 + 8192 // 64
    vm.huge_page_kb = 2048
    assert (real_need(cluster, vm), overcommit_need(cluster, vm)) == (228, 228 + 32 + 32 + 16)

    cluster = made(vm={'cores': 2, 'mem_mb': 1024, **RUNNING}, others=[{'id': 'o', 'cores': 3, 'threads': 2, 'mem_mb': 3, 'huge_page_kb': 2048}],
                   pending=[{'vm': 'v', 'host': 'h'}, {'vm': 'o', 'host': 'h', 'exclusive_cpus': [3]}],
                   host={'committed_mb': 1000, 'reserved_mb': 321}, overcommit_percent=150)
    host, (v, o) = cluster.host('h'), pending_at(cluster, cluster.host('h'))
    assert (v.vcpus, v.cores, v.real_mb, v.overcommit_mb, v.huge, v.cpu_load) == (2, 2, 66, 1106, {}, 20)
    assert (o.vcpus, o.cores, o.real_mb, o.overcommit_mb, o.huge, o.cpu_load) == (6, 3, 64, 112, {2048: 2}, 60)
    assert max_scheduling_memory(cluster, host) == 15000 - 1000 - 321 - 1106 - 112 - 4
    assert (load_of(cluster, host, False), load_of(cluster, host, True), load_of(cluster, host, False, True)) == (80, 160, 160)
    cluster.pending[0].overcommit_mb = 99999
    assert max_scheduling_memory(cluster, host) == 0
    host.cpus = [{'id': n, 'percent': 0} for n in range(4)]
    assert (shared_cpus(cluster, host, False), load_of(cluster, host, False), effective_load(cluster, host, False)) == (3, 80, 27)
    host.cpus[3]['percent'] = 99  # pending alone: not one of those that are shared
    host.cpus[0]['percent'] = 1
    assert effective_load(cluster, host, False) == 1


def check_schedule():
    policy = {'filters': [{'unit': 'Memory'}, {'unit': 'CPU', 'position': -1}], 'weights': [{'unit': EVEN_CPU, 'factor': 2}], 'parameters': {}}
    cluster = made(host={'mem_free_mb': 1000}, hosts=[{**SOURCE, 'id': 't', 'cores': None}])
    one = schedule(cluster, policy, {'vms': ['v']})[0]
    assert [(r['host'], r['filter']) for r in one['refused']] == [('t', 'CPUTopology'), ('h', 'Memory')] and one['chosen'] == 's'
    assert one['weights'] == {} and cluster.pending[-1].vm == 'v' and one['messages'] == []

    one = schedule(made(host={'mem_free_mb': 0, 'exclusive_cpus': list(range(8))}), policy, {'vms': ['v']})[0]
    assert one['refused'] == [{'host': 'h', 'filter': 'CPU', 'words': None}]  # at -1: before Memory, though listed after it

    one = schedule(made(), policy, {'vms': ['v']})[0]  # equal hosts: the first
    assert one['chosen'] == 'h' and one['points'] == {EVEN_CPU: {'h': 2, 's': 2}} and one['sums'] == {'h': 2, 's': 2}
    assert schedule(made(), policy, {'vms': ['v'], 'wished_hosts': ['s']})[0]['chosen'] == 's'
    assert schedule(made(), policy, {'vms': ['v'], 'wished_hosts': ['x']})[0]['chosen'] == 'h'
    assert schedule(made(), policy, {'vms': ['v'], 'black_list': ['h']})[0]['chosen'] == 's'
    assert schedule(made(), policy, {'vms': ['v'], 'white_list': ['s']})[0]['chosen'] == 's'
    busy = {'host': {'cpu_percent': 90}, 'optimisation': 'speed'}
    assert schedule(made(**busy), policy, {'vms': ['v'], 'waiting': 11})[0]['chosen'] == 'h'
    assert schedule(made(**busy), policy, {'vms': ['v'], 'waiting': 10})[0]['chosen'] == 's'

    full = {'host': {'mem_free_mb': 1000}, 'data_age_s': 5, 'others': OTHER_OFF, 'pending': [{'vm': 'o', 'host': 's'}]}
    one = schedule(made(**full), policy, {'vms': ['v'], 'black_list': ['s']})[0]
    assert (one['chosen'], one['wait_s']) == (None, 5)
    assert one['messages'] == ['Cannot run VM. There is no host that satisfies current scheduling constraints. See below for details:',
                               'The host node did not satisfy internal filter Memory because its available memory is too low (1000 MB) to run the VM.']
    assert schedule(made(**{**full, 'pending': []}), policy, {'vms': ['v'], 'black_list': ['s']})[0]['wait_s'] is None
    assert schedule(made(**{**full, 'data_age_s': 99}), policy, {'vms': ['v'], 'black_list': ['s']})[0]['wait_s'] == 10
    assert 'at least one host in Up' in schedule(made(), policy, {'vms': ['v'], 'white_list': ['x']})[0]['messages'][0]


def check_sets():
    policy = built_in()['none']
    attached = {'groups': [of_vms(True)], 'others': OTHER_OFF}
    assert [one['vms'] for one in schedule(made(**attached), policy, {'vms': ['v', 'o']})] == [['v', 'o']]
    assert [one['vms'] for one in schedule(made(**attached), {**policy, 'filters': []}, {'vms': ['v', 'o']})] == [['v'], ['o']]
    apart = {'groups': [of_vms(False)], 'others': OTHER_OFF}
    assert [one['chosen'] for one in schedule(made(**apart), policy, {'vms': ['v', 'o']})] == ['h', 's']  # the first is pending


def check_balances():
    busy, idle = {'cpu_percent': 90, 'over_s': 120}, {'id': 't', **{**HOST, 'cpu_percent': 20}}
    vms = [{'id': 'o', **HERE, 'cores': 2}, {'id': 'p', **HERE}, {'id': 'q', **HERE, 'affinity': 'pinned'}, {'id': 'r', **HERE, 'status': 'paused'}]
    limits = {'HighUtilization': '80'}

    def moves(unit, parameters=None, **world):
        return balance(unit, Call(made(**world), [], {**limits, **(parameters or {})}))

    even, power, guests = 'OptimalForEvenDistribution', 'OptimalForPowerSaving', 'OptimalForEvenGuestDistribution'
    world = {'host': busy, 'others': vms, 'hosts': [idle]}
    assert moves(even, **world) == [('p', ['h', 's', 't']), ('o', ['h', 's', 't'])]  # the lesser load first
    assert moves('None', **world) == []
    assert moves(even, **{**world, 'host': {**busy, 'over_s': 119}}) == []
    assert moves(even, **{**world, 'host': {**busy, 'cpu_percent': 79}}) == []
    assert moves(even, {'CpuOverCommitDurationMinutes': '3'}, **world) == []
    assert moves(even, **{**world, 'pending': [{'vm': 'x', 'host': 't'}]}) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(even, **{**world, 'others': vms + [{'id': 'm', **HERE, 'status': 'migrating'}]}) == []
    # margin min(80 x 80/100, 70) = 64: 64 is not under it
    assert moves(even, **{**world, 'hosts': [{**idle, 'cpu_percent': 64}]}) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(even, **{**world, 'hosts': [{**idle, 'cpu_percent': 63}]}) == [('p', ['h', 's', 't']), ('o', ['h', 's', 't'])]
    assert moves(even, **{**world, 'hosts': [{**idle, 'over_s': 119}]}) == [('p', ['h', 's']), ('o', ['h', 's'])]
    # (60 x 8 + 10 x 16)/8 = 80 is not over 80
    assert moves(even, **{'host': busy, 'others': [{'id': 'o', **HERE, 'cores': 16}], 'hosts': [{**idle, 'cpu_percent': 61}]}) == [('o', ['h', 's'])]
    assert moves(even, **{'host': busy, 'others': [{'id': 'o', **HERE, 'cores': 16}], 'hosts': [{**idle, 'cpu_percent': 60}]}) \
        == [('o', ['h', 's', 't'])]
    # five vCPUs of h on eight cores
    assert moves(even, {'VCpuToPhysicalCpuRatio': '0.6'}, others=vms) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(even, {'VCpuToPhysicalCpuRatio': '0.7'}, others=vms) == []
    assert moves(even, {'VCpuToPhysicalCpuRatio': '0.6'}, others=vms, threads_as_cores=True) == []
    memory = {'MaxFreeMemoryForOverUtilized': '2000', 'MinFreeMemoryForUnderUtilized': '6000'}
    assert moves(even, memory, host={'committed_mb': 8001}, others=vms) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(even, memory, host={'committed_mb': 8000}, others=vms) == []
    assert moves(even, memory, host={'committed_mb': 8001, 'active_vms': 1}, others=vms) == []
    assert moves(even, memory, host={'committed_mb': 8001, 'exclusive_cpus': []}, others=[{'id': 'o', **HERE, 'mem_mb': 8000}, vms[1]]) \
        == [('p', ['h', 's'])]  # 10000 - 8000 is not over 2000

    assert moves(even, memory, host={'committed_mb': 8001}, others=vms[:1], hosts=[{**idle, 'committed_mb': 4000}, {**idle, 'id': 'u', 'committed_mb': 3999}]) == []
    assert moves(even, memory, host={'committed_mb': 8001}, others=vms[:2], hosts=[{**idle, 'committed_mb': 4000}, {**idle, 'id': 'u', 'committed_mb': 3999}]) \
        == [('p', ['h', 's', 'u']), ('o', ['h', 's', 'u'])]

    low = {'LowUtilization': '20'}
    # at the high limit with VMs: no destination; without: one, for a VM that uses nothing
    world = {'host': {'cpu_percent': 10}, 'others': [{'id': 'o', **HERE, 'cpu_percent': 0}], 'hosts': [{**idle, 'cpu_percent': 80, 'over_s': 120}]}
    assert moves(power, low, **world) == [('o', ['h', 's', 't'])]
    world['hosts'][0]['active_vms'] = 1
    assert moves(power, low, **world) == [('o', ['h', 's'])]
    assert moves(power, low, host={'cpu_percent': 19}, others=vms, hosts=[]) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(power, low, host={'cpu_percent': 20}, others=vms) == []
    # over the margin of 64 is a source, under 80 still a destination
    assert moves(power, host={'cpu_percent': 64, 'over_s': 120}, others=vms) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(power, host={'cpu_percent': 63, 'over_s': 120}, others=vms) == []
    assert moves(power, {'MinFreeMemoryForUnderUtilized': '9999'}, others=vms) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(power, {'MinFreeMemoryForUnderUtilized': '10000'}, others=vms) == []

    counts = {'HighVmCount': '4', 'MigrationThreshold': '4', 'SpmVmGrace': '1'}
    assert moves(guests, counts, others=vms) == [('p', ['h', 's']), ('o', ['h', 's'])]
    assert moves(guests, {**counts, 'HighVmCount': '5'}, others=vms) == []
    assert moves(guests, {**counts, 'MigrationThreshold': '5'}, others=vms) == []
    assert moves(guests, counts, others=vms, hosts=[{**idle, 'spm': True}]) == [('p', ['h', 's']), ('o', ['h', 's'])]

    cluster, policy = made(host=busy, others=vms[:2]), built_in()['evenly_distributed']
    found = balance(even, Call(cluster, [], policy['parameters']))
    assert first_move(cluster, policy, found) == {'vm': 'p', 'host': 's'} and cluster.pending == []
    assert first_move(cluster, {**policy, 'filters': policy['filters'] + [{'unit': 'ClusterInMaintenance'}]}, [('p', ['h'])]) is None


PAIR = [{'id': 'p', **RUNNING}, {'id': 'q', **RUNNING}]


def check_power_steps():
    able = {'power_management': True, 'automatic_power': True}
    parked = {**SOURCE, **able, 'id': 'm', 'parked_by_policy': True, 'status': 'maintenance'}

    def step(reserve, host=(), hosts=(), **rest):
        cluster = made(host={**able, **dict(host)}, hosts=hosts, vm={'status': 'up', 'host': 's', **rest})  # the source has a VM
        return power_step(Call(cluster, [], {'EnableAutomaticHostPowerManagement': 'true', 'HostsInReserve': reserve}))

    assert step(0) == ('h', 'maintenance') and step(1) is None
    for unfit in ({'spm': True}, {'power_management': False}, {'automatic_power': False}, {'external_status': 'error'}, {'status': 'down'}):
        assert step(0, unfit) is None, unfit
    assert step(0, status='migrating', migrating_to='h') is None
    assert step(2, hosts=[parked]) == ('m', 'up')
    assert step(2, hosts=[{**parked, 'status': 'down'}]) == ('m', 'up')
    for kept in ({'parked_by_policy': False}, {'automatic_power': False}, {'status': 'down', 'external_status': 'error'}, {'status': 'non_responsive'}):
        assert step(2, hosts=[{**parked, **kept}]) is None, kept
    assert step(2, hosts=[{**parked, 'external_status': 'error'}]) == ('m', 'up')
    assert step(1, hosts=[{**parked, 'external_status': 'error'}]) is None and step(1, hosts=[parked]) == ('m', 'down')
    cluster = made(host=able, pending=[{'vm': 'v', 'host': 'h'}], hosts=[parked])
    assert power_step(Call(cluster, [], {'EnableAutomaticHostPowerManagement': 'true', 'HostsInReserve': '1'})) == ('m', 'down')  # only s is empty


def check_enforcement():
    policy, vm = built_in()['none'], {'vm': HERE}
    for world, wanted in (
            ({**vm}, None),
            ({**vm, 'groups': [of_hosts(True, ['s'])]}, {'vm': 'v', 'host': 's'}),
            ({**vm, 'groups': [of_hosts(True, ['s'])], 'upgrading': True}, None),
            ({**vm, 'groups': [of_hosts(True, ['s'])], 'others': [{'id': 'm', **HERE, 'status': 'migrating'}]}, None),
            ({'vm': {**HERE, 'affinity': 'user_migratable'}, 'groups': [of_hosts(True, ['s'])]}, None),
            ({'vm': {**HERE, 'engine': True}, 'groups': [of_hosts(True, ['s'])]}, None),
            ({**vm, 'others': OTHER_HERE, 'groups': [of_vms(False)]}, {'vm': 'v', 'host': 's'}),
            ({**vm, 'others': OTHER_ON_S, 'groups': [of_vms(True)]}, {'vm': 'v', 'host': 's'}),
            # hard before soft, rules about hosts before those about VMs
            ({**vm, 'others': OTHER_HERE, 'groups': [of_hosts(True, ['s'], False), of_hosts(True, ['s'], True, id='g2', vms=['o'])]},
             {'vm': 'o', 'host': 's'}),
            ({**vm, 'others': OTHER_HERE, 'groups': [of_vms(False, False), of_hosts(True, ['s'], False, id='g2', vms=['o'])]}, {'vm': 'o', 'host': 's'}),
            # fewest violations first
            ({**vm, 'others': OTHER_HERE, 'groups': [of_hosts(True, ['s']), of_hosts(False, ['h'], id='g2'), of_hosts(True, ['s'], id='g3', vms=['o'])]},
             {'vm': 'o', 'host': 's'}),
            # soft: no better place
            ({**vm, 'groups': [of_hosts(True, ['x'], False)]}, None),
            ({**vm, 'groups': [of_hosts(True, ['s'], False)]}, {'vm': 'v', 'host': 's'}),
            # a rule about hosts counts more than one about VMs
            ({**vm, 'others': OTHER_HERE, 'groups': [of_vms(False, False, priority=9), of_hosts(True, ['h'], False, id='g2', vms=['v', 'o'])]}, None),
            # positive: the host with fewest members gives; negative: the one with most
            ({**vm, 'others': OTHER_HERE + [{'id': 'p', **RUNNING}], 'groups': [of_vms(True, vms=['v', 'o', 'p'])]}, {'vm': 'p', 'host': 'h'}),
            ({**vm, 'others': [{'id': 'q', **RUNNING}, {'id': 'r', **RUNNING}, {'id': 'o', **HERE}, {'id': 'p', **HERE}],
              'hosts': [{**SOURCE, 'id': 't', 'name': 'third', 'address': '10.0.0.3'}], 'groups': [of_vms(False, vms=['v', 'o', 'p', 'q', 'r'])]},
             {'vm': 'v', 'host': 't'}),
            # the larger group; then the one with the greater smallest id; soft: the one with the higher priority
            ({**vm, 'others': OTHER_HERE + PAIR, 'groups': [of_vms(False), of_vms(False, id='g2', vms=['p', 'q', 'x'])]}, {'vm': 'p', 'host': 'h'}),
            ({**vm, 'others': OTHER_HERE + PAIR, 'groups': [of_vms(False, id='z'), of_vms(False, id='g', vms=['p', 'q'])]}, {'vm': 'p', 'host': 'h'}),
            ({**vm, 'others': OTHER_HERE + PAIR, 'groups': [of_vms(False, False, vms=['v', 'o', 'x']), of_vms(False, False, priority=2, vms=['p', 'q'])]},
             {'vm': 'p', 'host': 'h'}),
            # a host with a VM that may not move is skipped
            ({**vm, 'others': [{'id': 'o', **HERE, 'affinity': 'pinned', 'hosts': ['h']}], 'groups': [of_vms(False)]}, None)):
        told = enforcement(made(**world), policy)
        assert told == wanted, (world, told, wanted)


def main():
    wrong = []
    for unit, passes, world in FILTERS + AFFINITY:
        said = words(unit, **world)
        if (said is None) != passes:
            wrong.append(f'{unit}: {world}: {"passes" if said is None else "is refused"}')
    for unit, wanted, world in SAID:
        if words(unit, **world) != wanted:
            wrong.append(f'{unit}: {world}: {words(unit, **world)}')
    for name, wanted, unit, hosts, more in WEIGHED:
        told = weights(unit, hosts, **more)
        if told != wanted:
            wrong.append(f'{name}: {told}, by hand {wanted}')
    for line in wrong:
        print(line)
    for check in (check_quantities, check_schedule, check_sets, check_balances, check_power_steps, check_enforcement):
        check()
    print(f'{len(FILTERS) + len(AFFINITY) + len(SAID) + len(WEIGHED)} examples, {len(wrong)} wrong')
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
