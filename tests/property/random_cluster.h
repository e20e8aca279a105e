/* random_cluster.h: small random clusters with everything in them, to judge by brute force. */
#ifndef BALLAST_TESTS_RANDOM_CLUSTER_H
#define BALLAST_TESTS_RANDOM_CLUSTER_H

#include "base/random.h"

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
};

/* Frozen; ends the test program when the cluster turns out invalid, which would be the generator's mistake.
 */
void random_cluster(struct rng *r, const struct cluster_options *o, struct arena *a, struct snapshot *ret);

/* Settings of all kinds. */
void random_policy(struct rng *r, struct policy *ret);

/* The seed to begin with and how many clusters to try: BALLAST_TEST_SEED repeats one alone,
 * BALLAST_TEST_CLUSTERS sets how many. */
uint64_t test_seed(void);
unsigned test_clusters(unsigned fallback);

#endif
