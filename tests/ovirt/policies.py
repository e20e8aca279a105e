"""Units with their UUIDs and parameters, the built-in policies, and what a policy may be."""
import re

from filters import FILTERS, MANDATORY
from host_selectors import SELECTORS
from weights import WEIGHTS

UUIDS = {
    'filter': {
        'CPU': '6d636bf6-a35c-4f9d-b68d-0731f720cddc',
        'CPUOverloaded': '98842bc5-4094-4b83-8224-7b50f86a94c9',
        'Memory': 'c9ddbb34-0e1d-4061-a8d7-b0893fa80932',
        'Swap': '43b9e654-337f-4b0d-a896-cbb22ce5a7fc',
        'Migration': 'e659c871-0bf1-4ccc-b748-f28f5d08ddda',
        'Network': '72163d1c-9468-4480-99d9-0888664eb143',
        'VmAffinityGroups': '84e6ddee-ab0d-42dd-82f0-c297779db566',
        'VmToHostsAffinityGroups': 'e69808a9-8a41-40f1-94ba-dd5d385d82d8',
        'NUMA': 'fcbfe4b1-b83e-4428-b9d3-b3d348b93be6',
        'HugePages': '23e07b34-66dd-4735-bc45-bcddded02c05',
        'Emulated-Machine': '58894b5b-d55d-4f85-8f82-5bf217e640b0',
        'HA': 'e659c871-0bf1-4ccc-b748-f28f5d08dffd',
        'HostedEngineSpares': '53bff075-8306-446f-a53b-9c872a29d197',
        'Migration-Tsc-Frequency': '47ea3cd0-8a2f-438d-9f63-49534178882a',
        'Host-hooks': 'aae8c702-4756-4934-b84c-8daf59efc134',
        'ClusterInMaintenance': '0bd8fef9-bcb4-4250-9998-410f01608d9b',
        'InClusterUpgrade': '84e6ddee-ab0d-42dd-82f0-c298889db567',
        'PinToHost': '12262ab6-9690-4bc3-a2b3-35573b172d54',
        'CPUTopology': '35c2f1a5-8928-48e9-81ac-4c49eb49d60e',
        'CpuPinning': '6d636bf6-a35c-4f9d-b68d-0731f731cddc',
        'CPU-Level': '438b052c-90ab-40e8-9be0-a22560202ea6',
        'Compatibility-Version': '3e4a7d54-9e7f-11e5-8994-feff819cdc9f',
        'HostDevice': '728a21f1-f97e-4d32-bc3e-b3cc49756abb',
        'MDevice': 'aa604ea6-f758-4d28-8e05-bf5f4a0818bd',
        'VM leases ready': 'b454ae40-f767-45b1-949a-7e5bd04d83ab',
    },
    'weight': {
        'OptimalForCpuEvenDistribution': '7db4ab05-81ab-42e8-868a-aee2df483edb',
        'OptimalForMemoryEvenDistribution': '4134247a-9c58-4b9a-8593-530bb9e37c59',
        'OptimalForCpuPowerSaving': '736999d0-1023-46a4-9a75-1316ed50e15b',
        'OptimalForMemoryPowerSaving': '9dfe6086-646d-43b8-8eef-4d94de8472c8',
        'OptimalForEvenGuestDistribution': '3ba8c988-f779-42c0-90ce-caa8243edee7',
        'PreferredHosts': '591cdb81-ba67-45b4-9642-e28f61a97d57',
        'OptimalForHaReservation': '7f262d70-6cac-11e3-981f-0800200c9a66',
        'HA': '98e92667-6161-41fb-b3fa-34f820ccbc4b',
        'VmAffinityGroups': '84e6ddee-ab0d-42dd-82f0-c297779db567',
        'VmToHostsAffinityGroups': '427aed70-dae3-48ba-8fe9-a902a9d563c8',
        'CPU for high performance VMs': '71931e14-f0e6-4f91-a7c8-d494a26e3a09',
        'CPU and NUMA pinning compatibility': '1b14ac11-20e9-4593-a149-2eb83c60a330',
        'Fit VM to single host NUMA node': 'f58c1cb9-d91f-48a6-a196-c6d22fb10c4e',
        'InClusterUpgrade': '84e6ddee-ab0d-42dd-82f0-c298889db568',
    },
    'balance': {
        'None': '38440000-8cf0-14bd-c43e-10b96e4ef00a',
        'OptimalForEvenDistribution': '7db4ab05-81ab-42e8-868a-aee2df483ed2',
        'OptimalForPowerSaving': '736999d0-1023-46a4-9a75-1316ed50e151',
        'OptimalForEvenGuestDistribution': 'd58c8e32-44e1-418f-9222-52cd887bf9e0',
    },
    'selector': {
        'RankSelector': 'b280e7de-5df8-401e-b004-a1414d79a687',
        'BasicWeighting': '0c89f215-9c4f-4bbb-8419-31a2d43ae7ea',
    },
}

EVEN = ('HighUtilization', 'MaxFreeMemoryForOverUtilized', 'MinFreeMemoryForUnderUtilized', 'CpuOverCommitDurationMinutes',
        'VCpuToPhysicalCpuRatio')
PARAMETERS = {
    ('balance', 'OptimalForEvenDistribution'): EVEN,
    ('balance', 'OptimalForPowerSaving'): EVEN[:-1] + ('LowUtilization', 'EnableAutomaticHostPowerManagement', 'HostsInReserve'),
    ('balance', 'OptimalForEvenGuestDistribution'): ('SpmVmGrace', 'HighVmCount', 'MigrationThreshold'),
    ('filter', 'CPUOverloaded'): ('HighUtilization', 'CpuOverCommitDurationMinutes'),
    ('filter', 'Swap'): ('MaximumAllowedSwapUsage',),
    ('filter', 'HostedEngineSpares'): ('HeSparesCount',),
    ('weight', 'OptimalForCpuEvenDistribution'): ('VCpuToPhysicalCpuRatio',),
    ('weight', 'OptimalForCpuPowerSaving'): ('HighUtilization',),
    ('weight', 'OptimalForMemoryPowerSaving'): ('MaxFreeMemoryForOverUtilized', 'MinFreeMemoryForUnderUtilized'),
    ('weight', 'OptimalForEvenGuestDistribution'): ('SpmVmGrace',),
    ('weight', 'OptimalForHaReservation'): ('ScaleDown',),
}

POSITIVE = '[1-9][0-9]*'
COUNT = '[0-9]|[1-9][0-9]+'
PATTERNS = {
    'HighUtilization': '[5-9][0-9]',
    'LowUtilization': '[0-9]|[1-4][0-9]',
    'CpuOverCommitDurationMinutes': POSITIVE,
    'MaxFreeMemoryForOverUtilized': POSITIVE,
    'MinFreeMemoryForUnderUtilized': POSITIVE,
    'HighVmCount': COUNT,
    'SpmVmGrace': COUNT,
    'MigrationThreshold': '[2-9]|[1-9][0-9]+',
    'VCpuToPhysicalCpuRatio': r'[0-2](\.[0-9]+)?',
    'HostsInReserve': '[0-9]+',
    'HeSparesCount': '[0-9]+',
    'EnableAutomaticHostPowerManagement': 'true|false',
    'ScaleDown': '100|[1-9]|[1-9][0-9]',
    'MaximumAllowedSwapUsage': '1?[0-9]?[0-9]',
}

BUILT_IN_FILTERS = ('CPU', 'CPUOverloaded', 'Emulated-Machine', 'HA', 'Swap', 'Memory', 'NUMA', 'HugePages', 'Migration', 'VmAffinityGroups',
                    'VmToHostsAffinityGroups', 'Network', 'HostedEngineSpares', 'Migration-Tsc-Frequency', 'Host-hooks')
BUILT_IN_WEIGHTS = {'PreferredHosts': 99, 'HA': 1, 'OptimalForHaReservation': 1, 'VmAffinityGroups': 1, 'VmToHostsAffinityGroups': 20,
                    'CPU for high performance VMs': 4, 'CPU and NUMA pinning compatibility': 5}
EVEN_WEIGHTS = {'OptimalForCpuEvenDistribution': 2, 'OptimalForMemoryEvenDistribution': 1}
POWER_WEIGHTS = {'OptimalForCpuPowerSaving': 2, 'OptimalForMemoryPowerSaving': 1}
ALL_PARAMETERS = {'CpuOverCommitDurationMinutes': '2', 'HighUtilization': '80'}


def built_in_policy(name, uuid, balance, weights, parameters, default=False, more_filters=()):
    names = tuple(more_filters) + BUILT_IN_FILTERS
    positions = {names[0]: -1, names[-1]: 1}
    return {'id': uuid, 'name': name, 'locked': True, 'default': default, 'selector': 'RankSelector', 'balance': balance,
            'filters': [{'unit': unit, 'position': positions.get(unit, 0)} for unit in names],
            'weights': [{'unit': unit, 'factor': factor} for unit, factor in {**weights, **BUILT_IN_WEIGHTS}.items()],
            'parameters': {**ALL_PARAMETERS, **parameters}}


def built_in():
    """{name: policy}, made anew."""
    spares = {'HeSparesCount': '0'}
    policies = (
        built_in_policy('none', 'b4ed2332-a7ac-4d5f-9596-99a439cb2812', 'None', EVEN_WEIGHTS, {}, default=True),
        built_in_policy('cluster_maintenance', '7677771e-5eab-422e-83fa-dc04080d21b7', 'None', EVEN_WEIGHTS, {},
                        more_filters=('ClusterInMaintenance',)),
        built_in_policy('evenly_distributed', '20d25257-b4bd-4589-92a6-c4c5c5d3fd1a', 'OptimalForEvenDistribution', EVEN_WEIGHTS,
                        {**spares, 'VCpuToPhysicalCpuRatio': '0'}),
        built_in_policy('power_saving', '5a2b0939-7d46-4b73-a469-e9c2c7fc6a53', 'OptimalForPowerSaving', POWER_WEIGHTS,
                        {**spares, 'LowUtilization': '20'}),
        built_in_policy('vm_evenly_distributed', '8d5d7bec-68de-4a67-b53e-0ac54686d579', 'OptimalForEvenGuestDistribution',
                        {'OptimalForEvenGuestDistribution': 2}, {**spares, 'HighVmCount': '10', 'MigrationThreshold': '5', 'SpmVmGrace': '5'}),
    )
    return {policy['name']: policy for policy in policies}


def with_engine_names(parameters):
    """Parameters by the engine's names; the design page has others for two of them."""
    names = {'HighCpuUtilization': 'HighUtilization', 'LowCpuUtilization': 'LowUtilization'}
    renamed = {names[name]: value for name, value in parameters.items() if name in names}
    return {**renamed, **{name: value for name, value in parameters.items() if name not in names}}


def units_of(policy):
    yield from (('filter', entry['unit']) for entry in policy['filters'])
    yield from (('weight', entry['unit']) for entry in policy['weights'])
    yield 'balance', policy['balance']


def mistakes(policy):
    """What is wrong with a policy, one sentence each."""
    known = {'filter': set(FILTERS) | set(MANDATORY), 'weight': set(WEIGHTS), 'balance': set(UUIDS['balance'])}
    units = list(units_of(policy))
    found = [f'{unit}: no such {kind}' for kind, unit in units if unit not in known[kind]]
    found += [f'{unit}: twice among the {kind}s' for kind, unit in dict.fromkeys(units) if units.count((kind, unit)) > 1]
    positions = [entry.get('position', 0) for entry in policy['filters']]
    found += [f'{place}: no position' for place in positions if place not in (-1, 0, 1)]
    found += [f'two filters at position {place}' for place in (-1, 1) if positions.count(place) > 1]
    found += [f'{entry["unit"]}: factor {entry["factor"]}' for entry in policy['weights'] if entry.get('factor', 1) < 0]
    if policy.get('selector', 'RankSelector') not in SELECTORS:
        found.append(f'{policy["selector"]}: no such selector')
    belong = {name for unit in units for name in PARAMETERS.get(unit, ())}
    for name, value in policy.get('parameters', {}).items():
        if name not in belong:
            found.append(f'{name}: no unit of the policy has this parameter')
        elif not re.fullmatch(PATTERNS[name], str(value)):
            found.append(f'{name}: {value} is not one of {PATTERNS[name]}')
    return found
