/* random_cluster.h: small random clusters with every feature, to judge by brute force. */
#ifndef BALLAST_TESTS_RANDOM_CLUSTER_H
#define BALLAST_TESTS_RANDOM_CLUSTER_H

#include "base/rng.h"

#include <ballast/arena.h>
#include <ballast/policy.h>
#include <ballast/snapshot.h>

struct cluster_options {
    uint32_t hosts_max, vms_max;
    bool mixed_hosts;   /* several sizes */
    bool rules;         /* of all four kinds, and lists of compatible hosts */
    bool tight;         /* memory and reservations that often do not fit */
    bool evacuate;      /* some hosts are entering maintenance */
    bool in_flight;     /* migrations under way, and approved ones */
    bool agents;        /* some hosts require agent VMs, which are not always there */
    bool rates;         /* hosts that copy memory at different rates */
    bool pairs;         /* pairs of hosts of which past migrations are known */
    uint32_t pools_max; /* 0: four */

    /* What follows comes after all that is above, so that a seed's cluster is the same without it. */
    bool deep_pools;  /* pools three deep, that reserve and limit */
    bool sleeping;    /* more hosts, in standby or on their way back */
    bool idle_agents; /* agents that are off on the host that requires them, and reserve all the same */
    bool ft;          /* fault-tolerant pairs, some of them on one host, some of them off */
    bool ha;          /* a policy for failures of any kind, spare VMs, reservations that matter */
    bool own_ha;      /* with ha: a policy of the configuration, too, or alone, and restart priorities */
    bool newcomers;   /* VMs that are off, on no host mostly, to be placed: those of new_vms() */
    bool approved;    /* approved placements and wakes, hosts that are about to be switched off */
    bool full;        /* VMs fill the memory of most hosts, and many reserve it */
    bool exchange;    /* a VM that may leave only after another one has left a host full of reservations */
    bool cells;       /* NUMA cells and devices */
    bool scores;      /* pipelines whose scores and buckets apply to moves, for most VMs */
    bool matched;     /* equal hosts; VMs use as large a part of their memory as of their CPU */
    bool power;       /* hosts that can be woken, and often little to do; settings: random_dpm() */
    bool room;        /* settings: random_room() */
    bool deep;        /* settings: deep_policy() */
};

/* Frozen; ends the test program when the cluster turns out invalid, which would be the generator's mistake.
 */
void random_cluster(struct rng *r, const struct cluster_options *o, struct arena *a, struct snapshot *ret);

/* The VMs that were added to be placed, ascending; nobody is about to power them on. */
uint32_t *new_vms(const struct snapshot *s, struct arena *a, uint32_t *ret_n);

/* random_extras.c: everything from deep_pools on. */
void random_extras(struct rng *r, const struct cluster_options *o, struct inventory *inv, struct arena *a);

/* Settings of all kinds. */
void random_policy(struct rng *r, struct policy *ret);

/* Power management is on, with settings of all kinds. */
void random_dpm(struct rng *r, struct policy *ret);

/* Moves for balance are found by a short deep search. */
void deep_policy(struct policy *ret);

/* Room is made, or kept, for VMs of some size. */
void random_room(struct rng *r, struct policy *ret);

/* Quiet times of the past: of any length, ended by any rise. */
void random_quiet(struct rng *r, struct arena *a, struct snapshot *s);

/* The seed to begin with and how many clusters to try: BALLAST_TEST_SEED repeats one alone,
 * BALLAST_TEST_CLUSTERS sets how many. Without them a slow run
 * (sanitizers) that is not a long one tries a tenth. */
uint64_t test_seed(void);
unsigned test_clusters(unsigned fallback);

/* Of so many clusters that take long: all in a long run, otherwise a third. A tenth of all is left to a slow
 * run. */
unsigned test_some(unsigned all);

/* Enough clusters are tried: what is to be tested must have come up often enough. */
bool test_is_usual(void);

#endif
