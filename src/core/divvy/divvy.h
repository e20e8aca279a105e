/* divvy.h: who is entitled to what (§2.3).
 *
 * A pool's quantity is shared out among its children by reservation, then shares, never past limit: a
 * child gets clamp(λ · shares, reservation, limit), with the one λ that hands out everything. For
 * entitlements the quantity at the root is the capacity of the hosts that can run VMs and the limits are
 * replaced by demand.
 *
 * Invariants, checked by tests/property: reservation <= entitlement <= max(reservation, min(limit, demand));
 * the children get no more than their parent; nothing stays idle while a child still wants it.
 *
 * A pool whose reservation is expandable reserves what its children reserve together where that is more than
 * its own setting; a pool whose reservation is not, and whose children reserve more than it has, is
 * overcommitted: the reservations are scaled down in proportion.
 */
#ifndef BALLAST_CORE_DIVVY_H
#define BALLAST_CORE_DIVVY_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct divvy_child {
    double reservation, limit, shares;
};

/* The primitive. Fills portion[i] = clamp(λ · shares_i, reservation_i, limit_i) with Σ portion = quantity; if
 * the limits add up to less, each gets its limit; if the reservations add up to more, each gets its
 * reservation scaled down. O(k log k). Needs reservation <= limit. scratch: space for 2k doubles and 2k
 * indices is taken from a. */
void divvy_solve_shares(const struct divvy_child *children, uint32_t k, double quantity, struct arena *a,
                        double *portion);

enum divvy_kind { DIVVY_POOL, DIVVY_VM };

struct divvy_node {
    enum divvy_kind kind;
    uint32_t ix;     /* of the pool or the VM; IX_NONE: the root */
    uint32_t parent; /* node; IX_NONE: the root */
    uint32_t depth;
    uint32_t first_child, n_children; /* the children of a node stand side by side */
    struct alloc set;                 /* as configured; the root: what is divided */
    double demand;                    /* within reservation and limit */
    struct divvy_child divvied;       /* the three divvies' results */
    double entitlement;
    double reserve; /* its reservation; of an expandable pool, what is reserved below it */
    double weight;  /* its shares among its siblings; scaled where the pool says so */
    uint32_t n_vms; /* at it and below that take part */
};

struct divvy_tree {
    struct divvy_node *nodes; /* the root first, parents before children */
    uint32_t n;
    bool overcommitted;          /* some reservations had to be scaled down */
    uint32_t overcommitted_node; /* the first such node */
};

/* The whole tree for one resource: the VMs that take part and every pool. demand: of each VM, by index. */
void divvy_build(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                 struct divvy_tree *ret);

/* The same tree with other divvied reservations: those that are to be kept where the VMs run
 * (pool_parts.h). Limits and entitlements are not divvied, divvied.shares is the weight. It differs from
 * divvy_build() in three things:
 *   - The root hands down what is reserved below it, at most the capacity. What nobody reserved must stay
 *     free for whoever is powered on next: hypervisors refuse what does not fit beside the reservations.
 *   - Where demand is less than what is handed out, everybody gets its demand before shares decide about the
 *     rest. With shares alone half of the pool's VMs could be left without what the pool has reserved for
 *     them and nobody else wants.
 *   - A pool without VMs gets nothing: there is no host where it could be kept. */
void divvy_build_reserved(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                          struct divvy_tree *ret);

/* The entitlement of every VM, by index; 0 for those that take no part. Returns whether the tree is
 * overcommitted. */
bool divvy_entitle(const struct snapshot *snap, enum resource r, const double *demand, struct arena *a,
                   double *ret_entitlement);

/* Whether any pool has a limit for the resource. */
bool divvy_has_limits(const struct snapshot *snap, enum resource r);

/* Lowers the demand of each VM, by index, to what the limits of the pools above it leave of it, whatever the
 * hosts have: a pool whose children want more than its limit shares that among them by reservation and
 * shares, as it shares its entitlement. Demands below a limit that does not bind stay as they are, to the
 * last digit. The VMs' own limits are the caller's. Returns whether any pool's binds. t: by divvy_build(), of
 * any demand.
 */
bool divvy_limit(const struct divvy_tree *t, struct arena *a, double *demand);

#endif
