/* pretend.h: a cluster that is not there, on the wall clock.
 *
 * For trying Ballast without a hypervisor and for the tests of the service: one object plays the hypervisor,
 * and a collector and an actuator (kind "sim") look at it and act on it as they would on a real one. It is
 * reached through source_config.pretend; whoever owns it frees it after them.
 *
 * It is the simulated cluster (sim/cluster/cluster.h) with a lock and a clock in front of it: every call
 * first lets happen what has become due, in the order in which it was due, whether or not somebody looked.
 * The demand of each VM wavers around its level. Every call is thread-safe: the collector and the workers are
 * different threads. What a collector returns borrows strings of the cluster, which must not be freed before
 * it is forgotten.
 *
 * How far time has gone is asked of a clock; `speed` makes everything that takes time take less of it. */
#ifndef BALLAST_SIM_PRETEND_H
#define BALLAST_SIM_PRETEND_H

#include <ballast/actuator.h>
#include <ballast/collector.h>

#include <stdint.h>

struct pretend;

struct pretend_options {
    const char *cluster;          /* its name; NULL: that of the file, or "pretend" */
    const char *file;             /* a snapshot to begin with; NULL: the built-in, imbalanced cluster */
    const char *folder;           /* where it outlives the process (outside.c); NULL: nowhere */
    double speed;                 /* how many times faster than real; 0: 1 */
    uint64_t seed;                /* of how demand wavers */
    double (*now_s)(void *clock); /* seconds that have gone by since some moment; NULL: the machine's clock */
    void *clock;
    instant_s epoch; /* the instant of which inventories say that now_s() was 0; 0: they tell the real time */
};

/* -EINVAL with "FILE: JSON-pointer: ..." for a file that is no snapshot, or what the system says. */
int pretend_new(const struct pretend_options *options, struct pretend **ret, struct err *err);

/* NULL is fine. */
void pretend_free(struct pretend *p);

extern const struct collector_ops pretend_collector;
extern const struct actuator_ops pretend_actuator;

/* ---- what a test does to it; -ENOENT where there is no such VM ---- */

enum pretend_fault {
    PRETEND_OBEYS,   /* as it should */
    PRETEND_REFUSES, /* check() and start() say no */
    PRETEND_FAILS,   /* it fails half way */
    PRETEND_HANGS,   /* it stays at half way until it is cancelled */
};

/* What becomes of the migrations and starts of this VM that begin from now on. */
int pretend_set_fault(struct pretend *p, const char *vm, enum pretend_fault fault);

/* Nobody answers: collect() and all the actuator's calls fail with -ECONNREFUSED. Tasks go on. */
void pretend_set_deaf(struct pretend *p, bool deaf);

/* Whether the host refuses settings of pools from now on. -ENOENT: there is no such host. */
int pretend_refuse_settings(struct pretend *p, const char *host, bool refuses);

/* How many times settings were taken by a host so far. */
unsigned pretend_settings_applied(struct pretend *p);

/* The VM's level of demand from now on; of memory, what a collector sees wanted, the hypervisor's own
 * included.
 */
int pretend_set_demand(struct pretend *p, const char *vm, double cpu_mhz, double mem_mb);

/* It is gone. */
int pretend_remove_vm(struct pretend *p, const char *vm);

/* Where the VM runs now: its host's id, valid as long as p; NULL if it does not, or is not there. */
const char *pretend_where(struct pretend *p, const char *vm);

/* How many migrations and starts of VMs have been begun so far, so that a test can see that nothing was begun
 * twice. */
unsigned pretend_migrations_begun(struct pretend *p);

#endif
