"""The balances of the sheet's section 5 as rules of a pipeline, in the words of a snapshot (conf/schema/snapshot.json).

A pipeline of these has the counts `guests` (VMs, and the grace of the SPM) and `vcpus`; memory is an expression of its own.
"""
LITTLE = 1e-6  # loads are whole percent in the sheet, and sums of fractions here
S = ['-', '$host.attributes.smem', '$host.used.mem']
COUNTS = [{'name': 'guests', 'count': 1}, {'name': 'vcpus', 'count': '$vm.vcpus'}, {'name': 'mem', 'count': '$vm.mem_mb'}]


class Parameters:
    """Of a policy, by the sheet's defaults."""

    def __init__(self, given=()):
        given = dict(given)
        self.high = given.get('HighUtilization', 80)
        self.low = given.get('LowUtilization', 20)
        self.minutes = given.get('CpuOverCommitDurationMinutes', 2)
        self.ratio = given.get('VCpuToPhysicalCpuRatio', 0)
        self.low_mb = given.get('MaxFreeMemoryForOverUtilized', 0)
        self.high_mb = given.get('MinFreeMemoryForUnderUtilized')  # None: no limit
        self.margin = min(80 * self.high // 100, self.high - 10)
        self.many = given.get('HighVmCount', 10)
        self.threshold = given.get('MigrationThreshold', 5)
        self.reserve = given.get('HostsInReserve', 0)


def over(p, percent):
    return ['and', ['>=', '$host.load', percent / 100 - LITTLE], ['>=', '$host.over_s', 60 * p.minutes], ['>', '$host.used.guests', 0]]


def under(p, percent, guests):
    return ['and', ['<', '$host.load', percent / 100 - LITTLE], ['>=', '$host.used.guests', guests],
            ['or', ['not', ['given', '$host.over_s']], ['>=', '$host.over_s', 60 * p.minutes]]]


def fits(p):
    return ['and', ['<=', ['+', '$host.load', ['/', '$vm.cpu_mhz', '$host.cpu_mhz']], p.high / 100 + LITTLE],
            ['>', ['-', S, '$vm.mem_mb'], p.low_mb]]


def rule(p, name, leave, to, **more):
    return {'name': name, 'from': leave, 'smallest': '$vm.cpu_mhz', 'to': to, 'fits': fits(p), **more}


def short(p):
    return ['and', ['<', S, p.low_mb], ['>', '$host.used.guests', 1]]


def even(p):
    crowded = ['>=', ['/', '$host.used.vcpus', '$host.cores'], p.ratio]
    rules = [rule(p, 'cpu', ['or', over(p, p.high), crowded] if p.ratio > 0 else over(p, p.high), under(p, p.margin, 0), first='$host.load')]
    return rules + ([rule(p, 'memory', short(p), ['>', S, p.high_mb])] if p.high_mb is not None and p.low_mb > 0 else [])


def power(p):
    rules = [rule(p, 'over', over(p, p.margin), ['not', over(p, p.high)]), rule(p, 'under', under(p, p.low, 1), ['not', over(p, p.high)])]
    if p.low_mb > 0:
        rules.append(rule(p, 'short', short(p), ['>', S, p.low_mb]))
    if p.high_mb is not None:
        rules.append(rule(p, 'ample', ['and', ['>', S, p.high_mb], ['>=', '$host.used.guests', 1]], ['>', S, p.low_mb]))
    return rules


def even_guests(p):
    slots = ['+', '$host.used.guests', ['default', '$host.attributes.spm_grace', 0]]
    return [rule(p, 'fullest', ['>=', slots, p.many], ['>=', slots, 0], first=slots, gap=p.threshold)]


BALANCES = {'OptimalForEvenDistribution': even, 'OptimalForPowerSaving': power, 'OptimalForEvenGuestDistribution': even_guests, 'None': lambda p: []}


def pipeline(name, parameters, weights, keeps_reserve=False):
    """Of a policy: its balance, its weights as stages, and the reserve of its power state machine."""
    p = Parameters(parameters)
    reserve = [{'name': 'reserve', 'reserve': ['given', '$host.id'], 'keep': p.reserve}] if keeps_reserve else []
    return {'name': 'p', 'balance': {'moves': 1, 'high': p.high, 'low': p.low},
            'stages': COUNTS + weights + BALANCES[name](p) + reserve}
