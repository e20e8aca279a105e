/* counters.h: what the VMs used, and what the hosts draw, from the performance counters of vCenter.
 *
 * The real-time counters are means and sums over 20 s, kept by the hosts and asked for in batches. Which
 * number a counter has differs between installations, so the numbers are looked up by name,
 * group.counter.rollup.
 *
 * Source: vSphere Web Services API, PerformanceManager, PerfQuerySpec, PerfEntityMetricCSV.
 */
#ifndef BALLAST_COLLECTORS_VSPHERE_COUNTERS_H
#define BALLAST_COLLECTORS_VSPHERE_COUNTERS_H

#include "collectors/vsphere/vs_inventory.h"

enum counter {
    COUNTER_CPU_USED,
    COUNTER_CPU_READY,
    COUNTER_CPU_RUN,
    COUNTER_CPU_WAIT,
    COUNTER_MEM_ACTIVE,
    COUNTER_MEM_CONSUMED,
    COUNTER_MEM_OVERHEAD,
    COUNTER_COUNT
};

struct counters {
    bool known;
    int64_t number[COUNTER_COUNT]; /* -1: the peer has no such counter */
    int64_t power;                 /* of a host: power.power.average, W; the same */
};

/* Reads the value of PerformanceManager.perfCounter. */
void counters_read_numbers(const xml_node *list, struct counters *ret);

/* Takes one answer of QueryPerf (its payload) into the samples of the VMs that it names; gives how many VMs.
 */
size_t counters_read(const struct counters *c, const xml_node *payload, struct vs_inventory *s);

/* Asks for all running VMs of the inventory; *c is filled by the first call and kept by the caller. Only what
 * was answered changes the samples. A VM that turns out to be gone is taken out of the inventory (state_known
 * false). Gives in *ret_vms how many have counters now. -ENOTSUP: the peer has no usable counters. */
int counters_collect(struct vsphere *v, struct counters *c, struct vs_inventory *s, size_t *ret_vms,
                     struct err *err);

/* Takes one answer of QueryPerf into the hosts that it names. */
void counters_read_power(const struct counters *c, const xml_node *payload, struct vs_inventory *s);

/* Asks what the hosts draw that are on, with the numbers that counters_collect() has looked up. It is a
 * matter of the account only: where it goes wrong, or a host has no meter, power_w stays as it is. */
void counters_collect_power(struct vsphere *v, const struct counters *c, struct vs_inventory *s);

#endif
