/* look.h: what is kept of each look at the cluster: figures of the cluster, of every host, pool and running
 * VM, from which the past is shown and simulated again.
 *
 * Of a VM and a resource, at a look:
 *   demand       what the VM would use if nothing held it back (core/demand/demand.h)
 *   entitlement  its part of the whole cluster's capacity (core/divvy/divvy.h)
 *   delivered    the CPU that it used, as the hypervisor measured it; the host memory that backs it, with the
 *                hypervisor's own for it. Unknown where the source measures neither
 *
 *   score        100 x min(delivered, due) / due in percent, where due = min(demand, entitlement). 100 where
 *                due is 0; unknown where one of the three is
 *
 * A VM whose figures are missing or cannot be right (sample_guard.h) has no figures at that look.
 *
 * The figures of a pool (the pools below it included), a host and the cluster are the sums over the VMs of
 * which they are known; their score is 100 x sum of min(delivered, due) / sum of due.
 *
 * Looks are kept for LOOKS_KEPT_S, then as means over quarters of an hour (src/store/series.h), with the
 * highest demand and the lowest score of any look beside them. */
#ifndef BALLAST_ENGINE_LOOK_H
#define BALLAST_ENGINE_LOOK_H

#include <ballast/arena.h>
#include <ballast/names.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The order is part of the store's format: new ones at the end. */
#define LOOK_KINDS(X)                                                                                        \
    X(LOOK_CLUSTER, "cluster", "the cluster; its id is empty")                                               \
    X(LOOK_HOST, "host", "a host")                                                                           \
    X(LOOK_POOL, "pool", "a resource pool")                                                                  \
    X(LOOK_VM, "vm", "a VM")

NAME_DECLARE(look_kind, LOOK_KINDS)

#define LOOK_ALL (1u << LOOK_CLUSTER | 1u << LOOK_HOST | 1u << LOOK_POOL | 1u << LOOK_VM)
#define LOOK_POWERED (1u << LOOK_CLUSTER | 1u << LOOK_HOST)
#define LOOK_WHOLE (1u << LOOK_CLUSTER)

/* How the figure of several looks is made. */
enum look_sum { LOOK_MEAN, LOOK_HIGHEST, LOOK_LOWEST };

/* Enumerator, word, smallest step that is kept, kinds of objects that have it, how looks are summed up, and
 * the figure that this is taken of. The order is part of the store's format: new ones at the end. */
#define LOOK_FIGURES(X)                                                                                      \
    X(LOOK_CPU_DEMAND, "cpu_demand", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_CPU_DEMAND)                              \
    X(LOOK_MEM_DEMAND, "mem_demand", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_MEM_DEMAND)                              \
    X(LOOK_CPU_ENTITLEMENT, "cpu_entitlement", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_CPU_ENTITLEMENT)               \
    X(LOOK_MEM_ENTITLEMENT, "mem_entitlement", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_MEM_ENTITLEMENT)               \
    X(LOOK_CPU_DELIVERED, "cpu_delivered", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_CPU_DELIVERED)                     \
    X(LOOK_MEM_DELIVERED, "mem_delivered", 0.5, LOOK_ALL, LOOK_MEAN, LOOK_MEM_DELIVERED)                     \
    X(LOOK_CPU_SCORE, "cpu_score", 0.1, LOOK_ALL, LOOK_MEAN, LOOK_CPU_SCORE)                                 \
    X(LOOK_MEM_SCORE, "mem_score", 0.1, LOOK_ALL, LOOK_MEAN, LOOK_MEM_SCORE)                                 \
    X(LOOK_CPU_DEMAND_MAX, "cpu_demand_max", 0.5, LOOK_ALL, LOOK_HIGHEST, LOOK_CPU_DEMAND)                   \
    X(LOOK_MEM_DEMAND_MAX, "mem_demand_max", 0.5, LOOK_ALL, LOOK_HIGHEST, LOOK_MEM_DEMAND)                   \
    X(LOOK_CPU_SCORE_MIN, "cpu_score_min", 0.1, LOOK_ALL, LOOK_LOWEST, LOOK_CPU_SCORE)                       \
    X(LOOK_MEM_SCORE_MIN, "mem_score_min", 0.1, LOOK_ALL, LOOK_LOWEST, LOOK_MEM_SCORE)                       \
    X(LOOK_CPU_CAPACITY, "cpu_capacity", 0.5, LOOK_POWERED, LOOK_MEAN, LOOK_CPU_CAPACITY)                    \
    X(LOOK_MEM_CAPACITY, "mem_capacity", 0.5, LOOK_POWERED, LOOK_MEAN, LOOK_MEM_CAPACITY)                    \
    X(LOOK_POWER, "power_w", 0.1, LOOK_POWERED, LOOK_MEAN, LOOK_POWER)                                       \
    X(LOOK_HOSTS_ON, "on", 0.001, LOOK_POWERED, LOOK_MEAN, LOOK_HOSTS_ON)                                    \
    X(LOOK_HOSTS_STANDBY, "standby", 0.001, LOOK_POWERED, LOOK_MEAN, LOOK_HOSTS_STANDBY)                     \
    X(LOOK_HOSTS_OTHER, "other", 0.001, LOOK_POWERED, LOOK_MEAN, LOOK_HOSTS_OTHER)                           \
    X(LOOK_IMBALANCE_BEFORE, "imbalance_before", 0.0001, LOOK_WHOLE, LOOK_MEAN, LOOK_IMBALANCE_BEFORE)       \
    X(LOOK_IMBALANCE_AFTER, "imbalance_after", 0.0001, LOOK_WHOLE, LOOK_MEAN, LOOK_IMBALANCE_AFTER)          \
    X(LOOK_VMS_FROM_99, "vms_from_99", 0.01, LOOK_WHOLE, LOOK_MEAN, LOOK_VMS_FROM_99)                        \
    X(LOOK_VMS_FROM_95, "vms_from_95", 0.01, LOOK_WHOLE, LOOK_MEAN, LOOK_VMS_FROM_95)                        \
    X(LOOK_VMS_FROM_80, "vms_from_80", 0.01, LOOK_WHOLE, LOOK_MEAN, LOOK_VMS_FROM_80)                        \
    X(LOOK_VMS_BELOW_80, "vms_below_80", 0.01, LOOK_WHOLE, LOOK_MEAN, LOOK_VMS_BELOW_80)                     \
    X(LOOK_VMS_UNKNOWN, "vms_unknown", 0.01, LOOK_WHOLE, LOOK_MEAN, LOOK_VMS_UNKNOWN)

#define LOOK_FIGURE_ENUM(e, word, step, kinds, sum, of) e,
enum look_figure { LOOK_FIGURES(LOOK_FIGURE_ENUM) look_figure_count };

/* What the figures mean beyond the above: capacity of a host that can run VMs, else 0; power as accounted
 * (knowledge/host_power.h), of the cluster only where it is known of every host; on, standby, other: of a
 * host the part of the time, of the cluster the number of hosts; imbalance before and after the pass made
 * since the look before, unknown where there was none; vms_...: running VMs by the lower of their two scores.
 */
struct look_figure_is {
    const char *word;
    double step; /* smaller differences are not kept, nor those below 0.05 % */
    unsigned kinds;
    enum look_sum sum;
    enum look_figure of; /* itself, if it is a figure of its own at a look */
};

extern const struct look_figure_is look_figures[look_figure_count];

/* Whether objects of this kind have the figure. */
static inline bool look_has(enum look_kind kind, enum look_figure f)
{
    return look_figures[f].kinds >> kind & 1;
}

struct look_object {
    enum look_kind kind;
    const char *id;
    double of[look_figure_count]; /* UNKNOWN; those that are taken of another are not set */
};

/* A look at the cluster. It tells of the time from `covers_s` before it on: the figures of a hypervisor are
 * means since the look before. */
struct look {
    instant_s time, covers_s;
    const struct look_object *objects;
    size_t n;
};

/* Looks are kept for so long. */
#define LOOKS_KEPT_S (24 * 3600)

/* Then the means over so long. */
#define LOOK_MEANS_S 900

/* The score of a VM, by demand, entitlement and delivered. */
double look_score(double demand, double entitlement, double delivered);

/* The bounds of the counts of VMs by score. */
#define LOOK_SCORE_FULL 99
#define LOOK_SCORE_GOOD 95
#define LOOK_SCORE_FAIR 80

struct engine;
struct observation;

/* The figures of the newest observation, in the arena. */
void look_take(const struct engine *e, const struct observation *v, instant_s covers_s, struct arena *a,
               struct look *ret);

/* What each VM of the newest inventory, which there must be, was delivered: by resource and by the VM's index
 * in engine_snapshot(). UNKNOWN as above, and where the VM does not run. */
void look_delivered(const struct engine *e, struct arena *a, double *ret[RES_COUNT]);

#endif
