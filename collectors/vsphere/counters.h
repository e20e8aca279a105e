/* counters.h: the VMs' use, the hosts' draw and what they swap in, from vCenter's performance counters.
 *
 * The real-time counters are means and sums over 20 s, kept by the hosts and read in batches. A counter's
 * number differs between installations, so the numbers are looked up by name, group.counter.rollup.
 *
 * Source: vSphere Web Services API, PerformanceManager, PerfQuerySpec, PerfEntityMetricCSV.
 */
#ifndef BALLAST_COLLECTORS_VSPHERE_COUNTERS_H
#define BALLAST_COLLECTORS_VSPHERE_COUNTERS_H

#include "collectors/vsphere/vs_inventory.h"
#include "net/vsphere/parallel.h"

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

enum host_counter { HOST_COUNTER_POWER, HOST_COUNTER_SWAP_IN, HOST_COUNTER_COUNT };

struct counters {
    bool known;
    int64_t number[COUNTER_COUNT]; /* -1: the peer has no such counter */
    int64_t host[HOST_COUNTER_COUNT];
};

/* Reads the value of PerformanceManager.perfCounter. */
void counters_read_numbers(const xml_node *list, struct counters *ret);

/* Reads one answer of QueryPerf (its payload) into the samples of these VMs, which are sorted by id; others
 * are ignored. Returns the number of VMs. */
size_t counters_read(const struct counters *c, const xml_node *payload, struct vs_inventory_vm **vms,
                     size_t n);

/* The newest samples that make up the time since the last reading, `elapsed_ms` ago (negative: none yet): 1
 * to 3, which is a minute. Older ones would count twice, or say little of now. */
unsigned counters_samples_since(int64_t elapsed_ms);

/* Reads the counters of all running VMs of the inventory, as means over that many samples; the first call
 * fills *c, the caller keeps it. Only answered VMs' samples change. A VM that turns out to be gone is taken
 * out of the inventory (state_known false). *ret_vms: VMs with counters. -ENOTSUP: the peer has no usable
 * counters. */
int counters_collect(struct parallel **p, struct vsphere *v, struct counters *c, unsigned samples,
                     struct vs_inventory *s, size_t *ret_vms, struct err *err);

/* Reads one answer of QueryPerf into its hosts. */
void counters_read_hosts(const struct counters *c, const xml_node *payload, struct vs_inventory *s);

/* Reads the draw of the hosts that are on, over so many samples, and the least of what they swapped in over
 * five minutes, with the numbers that counters_collect() has looked up. Pass and energy account can do
 * without them: after an error, or for a host without a meter, they stay unchanged. */
void counters_collect_hosts(struct vsphere *v, const struct counters *c, unsigned samples,
                            struct vs_inventory *s);

#endif
