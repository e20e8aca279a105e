/* contention.h: what VMs lack on a host because its hypervisor divides it otherwise than the configuration
 * says.
 *
 * VMs are entitled by the configuration; a host whose VMs want more than it has divides by the settings of
 * the source (divvy/enforced.h). A VM then lacks a part of its entitlement that it would use,
 * even where the entitlements of all VMs fit on the host: another VM takes more than its own.
 *
 * Each VM gets clamp(λ · weight, reservation, want) with one λ for the host: its want is its demand within
 * the limits of the source, its reservation the one that its host keeps for it, its weight its part of the
 * shares of the source's tree. So a pool's shares follow its VMs to their hosts (§3.1.7); what a VM leaves
 * goes to all VMs of the host alike, not to those of its pool first.
 *
 * Without anything that the configuration overrides, nothing is computed and nothing is lacking. */
#ifndef BALLAST_CORE_CONTENTION_H
#define BALLAST_CORE_CONTENTION_H

#include "core/layout/layout.h"

/* A VM's place in the division of a host; `entitled`: of its want. */
struct claim {
    double reservation, want, weight, entitled;
};

struct contention {
    const struct layout *l;         /* NULL: nothing is overridden */
    struct claim *claim[RES_COUNT]; /* by VM */
    struct unit_list *vms;          /* by slot; a migrating VM on its destination */
    double *wanted[RES_COUNT];      /* by slot: Σ want */
    double *lack[RES_COUNT];        /* by slot */
};

/* entitlement: by resource, then VM. */
void contention_init(struct contention *c, const struct layout *l, double *const entitlement[RES_COUNT],
                     struct arena *a);

/* Updates the slots for a move, beside layout_move(). */
void contention_move(struct contention *c, uint32_t unit, uint32_t from_slot, uint32_t to_slot);

/* The division itself; for the functions below. */
double contention_divide_with(const struct contention *c, enum resource r, uint32_t slot, uint32_t unit);
double contention_divide_without(const struct contention *c, enum resource r, uint32_t slot, uint32_t unit);

/* What the VMs of the slot lack: as they are; with the unit, which is elsewhere; without the unit. */
static inline double contention_lack(const struct contention *c, enum resource r, uint32_t slot)
{
    return c->l ? c->lack[r][slot] : 0;
}

static inline double contention_lack_with(const struct contention *c, enum resource r, uint32_t slot,
                                          uint32_t unit)
{
    return c->l ? contention_divide_with(c, r, slot, unit) : 0;
}

static inline double contention_lack_without(const struct contention *c, enum resource r, uint32_t slot,
                                             uint32_t unit)
{
    return c->l ? contention_divide_without(c, r, slot, unit) : 0;
}

#endif
