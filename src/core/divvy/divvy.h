/* divvy.h: entitlements by reservations, limits and shares (§2.3).
 *
 * A pool's quantity is divided among its children by reservation, then shares, never above a limit: a child
 * gets clamp(λ · shares, reservation, limit), with the one λ that hands out all. For entitlements, the root's
 * quantity is the capacity of the hosts that can run VMs, and demand replaces the limits.
 *
 * Invariants, checked by tests/property: reservation <= entitlement <= max(reservation, min(limit, demand));
 * the children get no more than their parent; no capacity stays idle while a child wants it.
 *
 * An expandable pool reserves what its children reserve, if that is more than its own setting. A pool that is
 * not expandable and whose children reserve more is overcommitted: their reservations are scaled down in
 * proportion. */
#ifndef BALLAST_CORE_DIVVY_H
#define BALLAST_CORE_DIVVY_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct divvy_child {
    double reservation, limit, shares;
};

/* Fills portion[i] = clamp(λ · shares_i, reservation_i, limit_i) with Σ portion = quantity. If the limits sum
 * up to less, each child gets its limit; if the reservations sum up to more, each gets its reservation scaled
 * down. O(k log k). Requires reservation <= limit. Takes scratch space for 2k doubles and 2k indices from a.
 */
void divvy_solve_shares(const struct divvy_child *children, uint32_t k, double quantity, struct arena *a,
                        double *portion);

enum divvy_kind { DIVVY_POOL, DIVVY_VM };

struct divvy_node {
    enum divvy_kind kind;
    uint32_t ix;     /* index of the pool or the VM; IX_NONE: the root */
    uint32_t parent; /* node; IX_NONE: the root */
    uint32_t depth;
    uint32_t first_child, n_children; /* siblings are adjacent */
    struct alloc set;                 /* as configured; the root: the quantity to divide */
    double demand;                    /* within reservation and limit */
    struct divvy_child divvied;       /* results of the three divvies */
    double entitlement;
    double reserve; /* its reservation; expandable pools: that of their children */
    double weight;  /* its shares; scaled if the pool says so */
    uint32_t n_vms; /* VMs at the node and below that take part */
};

struct divvy_tree {
    struct divvy_node *nodes; /* the root first, parents before children */
    uint32_t n;
    bool overcommitted;          /* some reservations were scaled down */
    uint32_t overcommitted_node; /* the first such node */
};

/* Builds the tree for one resource: the VMs that take part and every pool. demand: by VM. */
void divvy_build(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                 struct divvy_tree *ret);

/* Builds the tree with the reservations that the hosts keep (pool_parts.h). Limits and entitlements are not
 * divided; divvied.shares is the weight. It differs from divvy_build() in three things:
 *   - The root hands down the reservations below it, at most the capacity. Unreserved capacity must stay
 *     free for the next power-on: hypervisors refuse a VM that does not fit beside the reservations.
 *   - If the demand is less than the quantity, each child gets its demand before shares divide the rest. With
 *     shares alone, half of a pool's VMs could lack the reservation that the other half does not use.
 *   - A pool without VMs gets nothing: no host could keep it. */
void divvy_build_reserved(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                          struct divvy_tree *ret);

/* The entitlement by VM; 0 for VMs that take no part. Returns whether the tree is overcommitted. */
bool divvy_entitle(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                   double *ret_entitlement);

/* Whether any pool has a limit for the resource. */
bool divvy_has_limits(const struct snapshot *snap, enum resource r);

/* Caps the demand of each VM by the limits of its pools, whatever the capacity: a pool whose children want
 * more than its limit divides the limit by reservation and shares, as it divides its entitlement. Demands
 * below a limit that does not bind stay equal to the last digit. The caller applies the VMs' own limits.
 * Returns whether any pool limit binds. t: from divvy_build(), with any demand. */
bool divvy_limit(const struct divvy_tree *t, struct arena *a, double *demand);

#endif
