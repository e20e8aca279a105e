/* admission.h: the reservations that can still be made, and where (§2.2).
 *
 * The reservations of a pool's children must not exceed the pool's own. A pool with an expandable reservation
 * takes the rest from its parent, and so on to the root, which has the capacity of the hosts that can run
 * VMs. No pool reserves more than its limit.
 *
 * A pool takes its own reservation from its parent, whether its children need it or not; an expanded pool
 * takes what its children reserve. VMs that take part count, and VMs with an approved power-on. To place
 * several VMs:
 *
 *     struct admission ad;
 *     admission_init(snap, a, &ad);
 *     for each VM:
 *         if (admission_fits(&ad, vm, &short_of))
 *             admission_take(&ad, vm); */
#ifndef BALLAST_CORE_ADMISSION_H
#define BALLAST_CORE_ADMISSION_H

#include <ballast/arena.h>
#include <ballast/snapshot.h>

struct admission {
    const struct snapshot *snap;
    double *used[RES_COUNT];    /* by pool, the root's last: expanded reservations of its children */
    double capacity[RES_COUNT]; /* of the root */
    uint32_t *order;            /* pools, children before parents */
};

/* Why a reservation cannot be made. */
enum admission_end {
    ADMISSION_FIXED,    /* the pool is full and may not expand */
    ADMISSION_LIMIT,    /* the pool would exceed its limit */
    ADMISSION_CAPACITY, /* the cluster is full */
};

struct shortage {
    enum resource r;
    enum admission_end end;
    uint32_t pool;         /* the VM's pool or an ancestor; IX_NONE: the cluster */
    double need, left, by; /* the reservation, the possible reservation, and the difference */
};

/* The state of the snapshot. Memory comes from a. */
void admission_init(const struct snapshot *snap, struct arena *a, struct admission *ret);

/* The largest reservation that a new VM in this pool (IX_NONE: the root) can have. ret_end and ret_pool (may
 * be NULL): what limits it. */
double admission_left(const struct admission *ad, enum resource r, uint32_t pool, enum admission_end *ret_end,
                      uint32_t *ret_pool);

/* Whether the VM's reservation can be made. If not, *ret_short has the shortage, of CPU first. The VM must
 * not be counted yet. */
bool admission_fits(const struct admission *ad, uint32_t vm, struct shortage *ret_short);

/* Counts the VM's reservation, or drops it. Checks nothing. */
void admission_take(struct admission *ad, uint32_t vm);
void admission_give_back(struct admission *ad, uint32_t vm);

/* Adds the capacity of a host that will be on, or drops it. */
void admission_add_host(struct admission *ad, uint32_t host);
void admission_drop_host(struct admission *ad, uint32_t host);

#endif
