/* pretend_internal.h: the pretend cluster from within. Everything here is called with the lock held. */
#ifndef BALLAST_SIM_PRETEND_INTERNAL_H
#define BALLAST_SIM_PRETEND_INTERNAL_H

#include "sim/cluster/cluster.h"
#include "sim/pretend/pretend.h"

#include <pthread.h>

struct outside; /* outside.c */

struct pretend {
    pthread_mutex_t lock;
    struct arena arena;
    struct scenario s;
    struct cluster *cluster;
    struct source_config cfg;   /* by which it is reached */
    struct collector *eyes;     /* the cluster's own */
    struct actuator *actuators; /* the cluster's own */
    unsigned settings_applied;  /* calls that were obeyed */
    double advanced_s, began_s; /* on the cluster's clock; on ours */
    double speed;
    double (*now_s)(void *clock);
    void *clock;
    instant_s epoch;
    struct outside *outside; /* NULL: there is no folder */
};

/* The built-in cluster, in the arena. */
void pretend_fill(struct inventory *inv, struct arena *a, const char *cluster);

/* What is simulated: the snapshot, whose VMs waver around what they want in it, from start on. In the arena.
 */
void pretend_scenario(const struct snapshot *snap, instant_s start, uint64_t seed, struct arena *a,
                      struct scenario *ret);

/* The VM's level of demand from now on; mem_mb is what a collector makes of it, the hypervisor's own
 * included. */
void pretend_set_level(struct scenario *s, uint32_t vm, double cpu_mhz, double mem_mb);

/* Makes the folder, and makes the cluster what it says. -EINVAL, or what the system says, with a sentence. */
int outside_open(struct pretend *p, const char *folder, struct err *err);
void outside_free(struct outside *o); /* NULL is fine */

/* Does what somebody has written there since the last look; writes what has become of the cluster. */
void outside_look(struct pretend *p);
void outside_tell(struct pretend *p);

/* Takes the lock, and lets everything happen that has become due; gives the lock back. */
void pretend_enter(struct pretend *p);
void pretend_leave(struct pretend *p);

/* The time that an inventory tells. */
instant_s pretend_instant(const struct pretend *p);

#endif
