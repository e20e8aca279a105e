/* fake_cluster.h: a simulated cluster on the wall clock.
 *
 * For trying Ballast without a hypervisor and for the service's tests: one object plays the hypervisor; a
 * collector and an actuator (kind "sim") read it and act on it as on a real one. They reach it by
 * source_config.shared; its owner closes it after them.
 *
 * It is sim/cluster/cluster.h with a lock and a clock: every call first handles all events that are due by
 * now, in their order. Each VM's demand varies around its level. Every call is thread-safe: the collector and
 * the workers are different threads. An inventory borrows strings of the cluster, which must outlive it.
 *
 * The clock can be replaced; `speed` makes everything faster that takes time.
 */
#ifndef BALLAST_SIM_FAKE_CLUSTER_H
#define BALLAST_SIM_FAKE_CLUSTER_H

#include <ballast/plugin.h>

#include <stdint.h>

struct fake_cluster;

struct fake_cluster_options {
    const char *cluster;          /* its name; NULL: that of the file, or "pretend" */
    const char *file;             /* a snapshot to begin with; NULL: the built-in, imbalanced cluster */
    const char *scenario;         /* a scenario (sim/scenario) instead; NULL: none */
    const char *folder;           /* where it outlives the process (control_folder.c); NULL: nowhere */
    double speed;                 /* speed-up; 0: 1 */
    uint64_t seed;                /* of how demand wavers */
    double (*now_s)(void *clock); /* seconds that have gone by since some moment; NULL: the machine's clock */
    void *clock;
    instant_s epoch; /* the instant of which inventories say that now_s() was 0; 0: they tell the real time */
};

/* -EINVAL with "FILE: JSON-pointer: ..." for a file that is no snapshot, with "FILE:LINE: ..." for one that
 * is no scenario, or what the system says. */
int fake_cluster_new(const struct fake_cluster_options *options, struct fake_cluster **ret, struct err *err);

/* NULL is fine. */
void fake_cluster_free(struct fake_cluster *p);

/* Its own keys of the configuration. */
struct fake_cluster_settings {
    const char *file;     /* the snapshot to begin with; NULL: a built-in cluster */
    const char *scenario; /* instead of it; NULL: none */
    const char *folder;   /* where the cluster outlives the service; NULL: nowhere */
    uint32_t speed;       /* how many times faster than real */
};

/* The plug-in of kind "sim" (ballast/plugin.h). cfg->shared is a struct fake_cluster. */
extern const struct source_kind fake_cluster_source;
extern const struct collector_ops fake_cluster_collector;
extern const struct actuator_ops fake_cluster_actuator;
extern const struct plugin fake_cluster_plugin;

#endif
