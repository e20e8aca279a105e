/* invariants.h: the invariants at every tick of a simulated week, under faults of every kind.
 *
 * Given to simulate() as its `watch`. It reads the engine through its public interface and the true state
 * of the cluster, and remembers the actions that it has seen begin. */
#ifndef BALLAST_TESTS_SIM_INVARIANTS_H
#define BALLAST_TESTS_SIM_INVARIANTS_H

#include "sim/cluster/cluster.h"
#include "sim/run/simulate.h"

#include <ballast/names.h>

#define FAILURE_MAX 512

struct known_action {
    enum action_state state;
    enum action_kind kind;
    bool begun;
    unsigned attempts;      /* start was called so often */
    double seen_s, begun_s; /* first */
};

/* A move that its destination refused, and when. */
struct refused_move {
    uint32_t vm, host;
    double at_s;
};

struct invariants {
    const struct scenario *scenario;
    struct known_action *actions; /* by id; [0] is nobody's */
    size_t n_actions, cap_actions;
    struct known_vm *vms;
    struct refused_move *refused;
    size_t n_refused, cap_refused;
    double *out_s;                      /* by host: when it was last not on */
    uint64_t refusals;                  /* in all */
    uint32_t *power_offs, *power_ons;   /* asked for, by host */
    bool *put_down;                     /* by host: an action did, and it sleeps since */
    double short_since_s, short_most_s; /* capacity has been short since, NAN: it is not; at the longest */
    uint64_t ticks, begun;
    bool talks;                /* each change of an action is printed */
    char failure[FAILURE_MAX]; /* empty: nothing is wrong */
};

void invariants_init(struct invariants *inv, const struct scenario *s);
void invariants_release(struct invariants *inv);

/* The watch; ctx: struct invariants. -1 when something is wrong. */
int invariants_watch(void *ctx, const struct engine *engine, const struct cluster *cluster, double t_s);

/* At the end, where nothing has gone wrong for the last quiet_s: whatever was begun before that has ended. */
bool invariants_end(struct invariants *inv, double quiet_s);

#endif
