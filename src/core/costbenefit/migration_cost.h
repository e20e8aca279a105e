/* migration_cost.h: whether a migration is worth its cost (§3.1.4).
 *
 * Cost and benefit are resource × time: MHz · s and MiB · s. The benefit is the shortage that the move ends,
 * on both hosts together, at today's loads, for the stable time. A host's load is what its VMs are entitled
 * to, so that under contention a move pays that serves shares. Shortage is load above the host's capacity
 * (an expected value, because demand varies; README.md states the variance and its sources), or what VMs lack
 * because the hypervisor does not enforce the configuration (contention.h), if that is more; and load that
 * its headroom should keep free, with growing weight. The cost is what others lose: the CPU of copying, the
 * workload's loss meanwhile, and the shortage of memory that the copy causes at the destination.
 *
 * Two conditions add nothing to the benefit but reject a move: the shortage at exactly today's loads, and in
 * the worst case (the source's VMs at their minimum of the last hour, the destination's VMs and the moved VM
 * at their maximum) must not grow.
 *
 * A migrating VM counts on its destination. Sums are kept per slot, so that estimating a move is O(1). */
#ifndef BALLAST_CORE_MIGRATION_COST_H
#define BALLAST_CORE_MIGRATION_COST_H

#include "core/costbenefit/contention.h"
#include "core/costbenefit/migration.h"
#include "core/costbenefit/rates.h"
#include "core/layout/layout.h"

/* Load of a unit, or of all units of a slot: what the VMs are entitled to. */
struct load_range {
    double load, variance; /* today's */
    double varying;        /* of `load`: of VMs that get all they demand, so that it follows their demand */
    double min, max;       /* of the last hour */
};

/* a, with b added so many times. */
static inline struct load_range load_range_plus(struct load_range a, const struct load_range *b, double times)
{
    a.load += times * b->load;
    a.varying += times * b->varying;
    a.variance += times * b->variance;
    a.min += times * b->min;
    a.max += times * b->max;
    return a;
}

/* Moving a unit at a copy rate. */
struct unit_copy {
    double rate_mb_s, cost, duration_s; /* cost: MHz · s */
};

/* Of a slot, each with the load that its headroom should keep free. */
struct load_shortage {
    double expected, today; /* an expected value, and at exactly the present load */
    double headroom;        /* that load alone */
};

/* A unit's slot without the unit. */
struct shortage_left {
    double min[RES_COUNT];                        /* load, as in struct load_range */
    double expected[RES_COUNT], today[RES_COUNT]; /* shortage */
    uint64_t since; /* the slot's change after which this was computed; 0: never */
};

struct migration_cost {
    const struct layout *l;
    double *demand[RES_COUNT], *entitlement[RES_COUNT]; /* by VM; the caller's */
    double
        *most[RES_COUNT]; /* by VM, under contention: entitlement if all demand their maximum; NULL: none */
    struct load_range *unit[RES_COUNT], *slot[RES_COUNT];
    double *unit_stable_s; /* stable time, s */
    double *slot_stable;   /* Σ stable × load, CPU */
    bool *short_for_long;  /* by slot: at first, its VMs demanded more than it has, in the mean of an hour */
    struct load_shortage *slot_shortage[RES_COUNT];
    struct shortage_left *left; /* by unit, computed when it is asked for */
    uint64_t *changed_at;       /* by slot: the number of its last change */
    uint64_t n_changes;
    double capacity[RES_COUNT]; /* of the cluster */
    struct contention contention;
    struct rates rates;        /* copy rates between the hosts */
    struct unit_copy *fastest; /* by unit: at the fastest rate off its slot */
    double *least;      /* lower bound of the CPU cost of moving each unit off its slot, to any destination */
    double *fixed;      /* of `least`: the part that does not depend on the copy rate */
    double stable_mean; /* over the cluster, s */
    double weight[RES_COUNT];
    double ratio; /* how many times its cost a move must gain at least; 0: it must only do no harm */
};

/* The capacity of the slot's host: MHz, MiB. */
static inline double migration_cost_capacity(const struct migration_cost *costs, int r, uint32_t slot)
{
    return costs->l->snap->hosts[costs->l->slot_host[slot]].capacity[r];
}

struct migration_worth {
    double cost[RES_COUNT], benefit[RES_COUNT]; /* MHz · s, MiB · s */
    double gain, loss; /* benefit and cost over the cluster's capacity, weighted like the imbalance; s */
    double worse_of[RES_COUNT]; /* growth of the shortage in the worst case: MHz, MiB */
    double more_of[RES_COUNT];  /* growth of the shortage at exactly today's loads: MHz, MiB */
    double worse;               /* the larger of the two, in the units of gain / s; <= 0: none */
    bool today;                 /* `worse` is the growth at today's loads */
    double duration_s;
    double reclaimed_mb; /* what the destination's hypervisor must reclaim from VMs; 0: enough is free */
    double stable_s; /* the time for which the benefit counts: today's loads are expected to last so long */
};

/* demand, entitlement: by resource, then VM; they must outlive *costs. */
void migration_cost_init(struct migration_cost *costs, const struct layout *l,
                         double *const demand[RES_COUNT], double *const entitlement[RES_COUNT],
                         struct arena *a);

/* For how long a VM that comes to the slot is expected to be stopped within so much time (both s): 0, unless
 * its host was lost lately. README.md says how likely another loss is. */
double migration_cost_stopped(const struct migration_cost *costs, uint32_t slot, double time_s);

/* Updates the sums for a move, beside layout_move(). */
void migration_cost_move(struct migration_cost *costs, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* Sets the weights of the imbalance. */
void migration_cost_set_weights(struct migration_cost *costs, const double weight[RES_COUNT]);

void migration_cost_worth(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                          struct migration_worth *ret);

/* Its two parts: all but the growth of the shortage; and only that (migration_worth.worse), which costs less
 * to compute. */
void migration_cost_benefit(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot,
                            struct migration_worth *ret);
double migration_cost_worse(const struct migration_cost *costs, uint32_t unit, uint32_t to_slot);

/* Whether the benefit is large enough for the cost. */
bool migration_cost_pays(const struct migration_cost *costs, const struct migration_worth *w);

/* Adds that the hypervisor reclaims so much memory for the move: its VMs do without while it is copied. */
static inline void migration_cost_add_reclaimed(struct migration_worth *w, double reclaimed_mb)
{
    w->reclaimed_mb += reclaimed_mb;
    w->cost[RES_MEM] += reclaimed_mb * w->duration_s;
}

/* The time after a migration off the slot for which its benefit counts. A shortage that has stood for an hour
 * has no known end: that it outlasts the migration is the less likely the longer that takes, but it may. */
double migration_cost_time_after(const struct migration_cost *costs, uint32_t slot, double stable_s,
                                 double duration_s);

/* Cost and duration only, between any two slots, wherever the unit is; without what is reclaimed. */
void migration_cost_between(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                            uint32_t to_slot, struct migration_worth *ret);

/* Whether the move could pay at any destination: the benefit counts once the VM has been copied. False only
 * if migration_cost_pays() is false for every destination. */
bool migration_cost_may_pay(const struct migration_cost *costs, uint32_t unit);

/* With different copy rates: the rate above which a move of the unit may pay; NO_LIMIT: it cannot.
 * migration_cost_pays() is false for every destination at this rate or below. */
double migration_cost_rate_needed(const struct migration_cost *costs, uint32_t unit);

/* Duration of the migration between these slots, s. */
double migration_cost_duration(const struct migration_cost *costs, uint32_t unit, uint32_t from_slot,
                               uint32_t to_slot);

/* How long loads stay as they are, s: the mean over the source's VMs, weighted by their loads, or over the
 * cluster's VMs (for the destination) if that is shorter. One value for all destinations. */
double migration_cost_stable_time(const struct migration_cost *costs, uint32_t slot);

/* The shortage of a slot with these loads. lack: the shortage of its VMs by contention (contention.h); at
 * least 0. */
struct load_shortage migration_cost_shortage(const struct migration_cost *costs, const struct load_range *o,
                                             int r, uint32_t slot, double lack);

/* MHz and MiB over the cluster's capacity, weighted like the imbalance. */
double migration_cost_over_capacity(const struct migration_cost *costs, const double amount[RES_COUNT]);

/* The number of migrations that can end within one interval: each uses one of the concurrent migrations of
 * its two hosts. */
int64_t migration_cost_moves_per_interval(const struct migration_cost *costs);

#endif
