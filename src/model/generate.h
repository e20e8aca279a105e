/* generate.h: artificial clusters, for trials and measurements.
 *
 * Deterministic: the same options give the same cluster on every machine. Plausible: VMs have one to eight
 * vCPUs and an hour of history each; the memory in use fits the hosts, the configured memory may not. Valid:
 * snapshot_build() accepts the cluster, and no rule is violated.
 */
#ifndef BALLAST_MODEL_GENERATE_H
#define BALLAST_MODEL_GENERATE_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/inventory.h>

#define GENERATE_HOSTS_MAX 100000u
#define GENERATE_VMS_MAX 1000000u

#define GENERATE_SHAPES(X)                                                                                   \
    X(SHAPE_UNIFORM, "uniform") /* every host about half loaded: nothing to do */                            \
    X(SHAPE_SKEWED, "skewed")   /* host CPU loads from .1 to 1, mean .55 and standard deviation .25 */       \
    X(SHAPE_SPIKE, "spike") /* four pools of small VMs, half of them just woken up, all on half the hosts */ \
    X(SHAPE_POOLS, "pools") /* pools three deep, contention, two sizes of hosts and rules of every kind */

#define SHAPE_ENUM(e, word) e,
enum generate_shape { GENERATE_SHAPES(SHAPE_ENUM) SHAPE_COUNT };

const char *generate_shape_name(enum generate_shape shape);
int generate_shape_parse(const char *word, enum generate_shape *ret);

struct generate_options {
    uint32_t hosts, vms; /* at least one host */
    uint64_t seed;
    enum generate_shape shape;
};

/* -EINVAL: too many hosts or VMs, or no host. */
int generate(const struct generate_options *options, struct arena *a, struct inventory *ret, struct err *err);

#endif
