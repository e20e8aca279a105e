/* source.h: how to reach a cluster, as the configuration says it (`source:`). */
#ifndef BALLAST_SOURCE_H
#define BALLAST_SOURCE_H

#include <stdatomic.h>
#include <stdbool.h>

struct pretend;      /* src/sim/pretend/pretend.h */
struct cluster;      /* src/sim/cluster/cluster.h */
struct power_config; /* actuators/power/power.h */

struct source_config {
    const char *kind;
    const char *url;
    const char *username;
    const char *password; /* read from password_file; never logged, never part of an error */
    const char *ca_file;  /* NULL: the system's */
    bool tls_verify;
    const char *cluster; /* the cluster's name at the source */
    const char
        *file; /* kind file: the snapshot to read; kind sim: the cluster to pretend, NULL: the built-in */
    const char *folder; /* kind sim: where the pretend cluster outlives the service; NULL: nowhere */
    const char *stats;  /* kind vsphere: "auto", "counters" or "quick", see collectors/vsphere; NULL: auto */
    unsigned timeout_s; /* for one collect() or one call of an actuator */
    const atomic_bool *stop;   /* the service is going down: return early. NULL: never */
    struct pretend *pretend;   /* kind sim: the cluster that collector and actuator share; not owned */
    struct cluster *simulated; /* the simulator: the same; not owned */
    const struct power_config
        *power; /* actuators/power: what it puts in front of the source's own; not owned */
};

#endif
