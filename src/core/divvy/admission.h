/* admission.h: what may still be reserved, and where (§2.2).
 *
 * What the children of a pool reserve together must not exceed what the pool reserves itself. A pool whose
 * reservation is expandable takes what is missing from its parent, that one from its own, and so on to the
 * root, which has the capacity of the hosts that can run VMs. Never is more reserved in a pool than its
 * limit.
 *
 * A pool takes from its parent what it reserves itself, whether its children need it or not; one that has
 * expanded, what its children reserve. Of VMs those count that take part, or are about to be powered on by an
 * approved recommendation. VMs that are placed together are
 * taken one after the other, each asked for when the ones before it have been taken:
 *
 *     struct admission ad;
 *     admission_init(snap, a, &ad);
 *     if (admission_fits(&ad, vm, &short_of))
 *         admission_take(&ad, vm);
 */
#ifndef BALLAST_CORE_ADMISSION_H
#define BALLAST_CORE_ADMISSION_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct admission {
    const struct snapshot *snap;
    double *used[RES_COUNT];    /* by pool, the root's last: what its children reserve, expanded */
    double capacity[RES_COUNT]; /* of the root */
    uint32_t *order;            /* the pools, children before their parents */
};

/* Why no more can be reserved. */
enum admission_end {
    ADMISSION_FIXED,    /* the pool has no more, and may not expand */
    ADMISSION_LIMIT,    /* the pool would be past its limit */
    ADMISSION_CAPACITY, /* the cluster has no more */
};

struct shortage {
    enum resource r;
    enum admission_end end;
    uint32_t pool;         /* where it ends: the VM's own or one above it; IX_NONE: the cluster */
    double need, left, by; /* what is reserved, what could be, and the difference */
};

/* The state as the snapshot has it. Memory comes from a. */
void admission_init(const struct snapshot *snap, struct arena *a, struct admission *ret);

/* How much a new VM in this pool (IX_NONE: the root) can reserve. ret_end and ret_pool (may be NULL): what
 * keeps it from being more. */
double admission_left(const struct admission *ad, enum resource r, uint32_t pool, enum admission_end *ret_end,
                      uint32_t *ret_pool);

/* Whether what the VM reserves is there, in its pool or above. If not, *ret_short says what is missing of the
 * resource that is short, CPU first. The VM must not be counted already: it is off, or was given back. */
bool admission_fits(const struct admission *ad, uint32_t vm, struct shortage *ret_short);

/* The VM reserves what it does, or no longer. Nothing is checked. */
void admission_take(struct admission *ad, uint32_t vm);
void admission_give_back(struct admission *ad, uint32_t vm);

/* A host that is about to be able to run VMs: the root has its capacity too. */
void admission_add_host(struct admission *ad, uint32_t host);
void admission_drop_host(struct admission *ad, uint32_t host); /* it is not after all */

#endif
