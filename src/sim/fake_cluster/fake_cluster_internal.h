/* fake_cluster_internal.h: the inside of the fake cluster. Every function is called with the lock held. */
#ifndef BALLAST_SIM_FAKE_CLUSTER_INTERNAL_H
#define BALLAST_SIM_FAKE_CLUSTER_INTERNAL_H

#include "sim/cluster/cluster.h"
#include "sim/fake_cluster/fake_cluster.h"

#include <pthread.h>

struct control_folder; /* control_folder.c */

struct fake_cluster {
    pthread_mutex_t lock;
    struct arena arena;
    struct scenario s;
    struct cluster *cluster;
    unsigned settings_applied;  /* applied settings of pools */
    double advanced_s, began_s; /* on the cluster's clock; on ours */
    double speed;
    double (*now_s)(void *clock);
    void *clock;
    instant_s epoch;
    struct control_folder *outside; /* NULL: there is no folder */
};

/* The built-in cluster, in the arena. */
void fake_cluster_fill(struct inventory *inv, struct arena *a, const char *cluster);

/* The scenario of the snapshot, whose VMs' demand varies around the snapshot's from start on. In the
 * arena.
 */
void fake_cluster_scenario(const struct snapshot *snap, instant_s start, uint64_t seed, struct arena *a,
                           struct scenario *ret);

/* Sets the VM's level of demand; mem_mb as a collector computes it, including the hypervisor's own. */
void fake_cluster_set_level(struct scenario *s, uint32_t vm, double cpu_mhz, double mem_mb);

/* Creates the folder, and applies its files to the cluster. -EINVAL, or the system's error, with a
 * sentence. */
int control_folder_open(struct fake_cluster *p, const char *folder, struct err *err);
void control_folder_free(struct control_folder *o); /* NULL is fine */

/* Applies other programs' changes since the last call; writes the cluster's state. */
void control_folder_read(struct fake_cluster *p);
void control_folder_write(struct fake_cluster *p);

/* Takes the lock and handles all due events; releases the lock. */
void fake_cluster_enter(struct fake_cluster *p);
void fake_cluster_leave(struct fake_cluster *p);

/* The time of an inventory. */
instant_s fake_cluster_instant(const struct fake_cluster *p);

#endif
