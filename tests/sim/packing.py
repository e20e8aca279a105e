"""packing.py: the least energy that a day of PlanetLab's traces can take, however its VMs are placed.

Only servers of the more efficient of CloudSim's two kinds are on, as few as possible, fractions included; they share the load equally. Perfect packing:
the servers just serve the demand of the VMs at each moment. With a rule: on each server the mean of 40 minutes plus some standard deviations of its
VMs stays below a part of its capacity, with independent VMs.
"""
import math
import statistics

MHZ = 2 * 2660
WATTS = (93.7, 97, 101, 105, 110, 116, 121, 125, 129, 133, 135)  # as in experiments/planetlab.yaml
VCPU_MHZ = (2500, 2000, 1000, 500)  # by quarters of the traces
SAMPLE_S = 300
WINDOW = 9  # samples in 40 minutes, both ends included
SAMPLES = 287  # CloudSim's last round is at 86,100 s


def watts(load):
    at = min(load, 1) * 10
    below = min(int(at), 9)
    return WATTS[below] + (WATTS[below + 1] - WATTS[below]) * (at - below)


def servers(mean, variance, deviations, top):
    """The least h with mean / h + deviations * sqrt(variance / h) = top * MHZ: a quadratic equation in 1 / sqrt(h)."""
    spread = deviations * math.sqrt(variance)
    root = (-spread + math.sqrt(spread * spread + 4 * mean * top * MHZ)) / (2 * mean)
    return 1 / (root * root)


def least_kwh(folder, rules):
    """The kWh of the day whose traces are in the folder, by perfect packing and for each rule (deviations, top)."""
    names = sorted(path.name for path in folder.iterdir())
    vms = []
    for i, name in enumerate(names):
        mhz = VCPU_MHZ[i * len(VCPU_MHZ) // len(names)]
        vms.append([int(x) / 100 * mhz for x in (folder / name).read_text().split()[:SAMPLES]])
    ret = [0] * (1 + len(rules))
    for t in range(SAMPLES):
        windows = [vm[max(0, t + 1 - WINDOW):t + 1] for vm in vms]
        mean = sum(map(statistics.fmean, windows))
        variance = sum(map(statistics.pvariance, windows))
        now = sum(vm[t] for vm in vms)
        least = now / MHZ
        for i, h in enumerate((least, *(max(least, servers(mean, variance, *rule)) for rule in rules))):
            ret[i] += h * watts(now / h / MHZ) * SAMPLE_S / 3.6e6
    return ret
