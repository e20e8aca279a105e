/* sim_world.h: a simulated cluster for a test: made like a small cluster, then run.
 *
 *     struct sim w;
 *     sim_init(&w);
 *     small_host(&w.small, "h1", 10000, 16384);
 *     small_vm(&w.small, "v1", "h1", 2000, 1024);      constant demand
 *     sim_build(&w);                                  models with plain numbers, which may be changed now
 *     sim_begin(&w);
 */
#ifndef BALLAST_TESTS_UNIT_SIM_WORLD_H
#define BALLAST_TESTS_UNIT_SIM_WORLD_H

#include "unit.h"

#include "model/snapshot_build.h"
#include "sim/cluster/cluster.h"
#include "sim_contradiction.h"
#include "small_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EPOCH 1700000000
#define NEAR(x, y) assert_true(sim_near((x), (y)))

static inline bool sim_near(double x, double y)
{
    if (fabs(x - y) > 1e-6 * fmax(1, fabs(y)))
        print_error("%f, expected %f\n", x, y);
    return fabs(x - y) <= 1e-6 * fmax(1, fabs(y));
}

struct sim {
    struct small small;
    struct scenario s;
    struct cluster *c;
    unsigned uids;
    char uid[32];
};

static inline void sim_init(struct sim *w)
{
    *w = (struct sim){0};
    small_init(&w->small);
}

/* 100 W + 100 W, 100 MiB/s links, boots in 100 s; VMs want what the snapshot says, always. */
static inline void sim_build(struct sim *w)
{
    struct arena *a = &w->small.a;

    small_build(&w->small);
    const struct snapshot *snap = &w->small.snap;

    w->s = (struct scenario){.name = "test",
                             .start = EPOCH,
                             .duration_s = 86400,
                             .seed = 1,
                             .policy = w->small.policy,
                             .initial = *snap,
                             .restart_s = 60,
                             .migration = {.rate_mb_s = 1000, .downtime_s = 0.5, .rounds_max = 10}};
    w->s.hosts = arena_array(a, struct host_model, snap->n_hosts);
    w->s.vms = arena_array(a, struct vm_model, snap->n_vms);
    for (uint32_t i = 0; i < snap->n_hosts; i++)
        w->s.hosts[i] = (struct host_model){.watts = {100, 200},
                                            .n_watts = 2,
                                            .standby_w = 5,
                                            .boot_w = 150,
                                            .sleep_w = 120,
                                            .boot_s = 100,
                                            .sleep_s = 20,
                                            .link_mb_s = 100};
    for (uint32_t i = 0; i < snap->n_vms; i++) {
        const struct vm_facts *f = &snap->vms[i].is;

        w->s.vms[i].leaves_s = INFINITY;
        for (int r = 0; r < RES_COUNT; r++)
            w->s.vms[i].of[r] =
                (struct workload){.kind = WORKLOAD_CONSTANT, .level = f->demand[r], .scale = 1, .max = 1e9};
    }
}

static inline void sim_begin(struct sim *w)
{
    w->c = cluster_new(&w->s);
}

static inline void sim_release(struct sim *w)
{
    cluster_free(w->c);
    small_release(&w->small);
}

static inline uint32_t sim_vm(const struct sim *w, const char *id)
{
    return snapshot_find_vm(&w->s.initial, id);
}

static inline uint32_t sim_host(const struct sim *w, const char *id)
{
    return snapshot_find_host(&w->s.initial, id);
}

static inline void sim_check(struct sim *w)
{
    const char *why = sim_contradiction(w->c, &w->small.a);

    if (why)
        print_error("%s\n", why);
    assert_null(why);
}

static inline void sim_run(struct sim *w, double t_s)
{
    cluster_advance(w->c, t_s);
    sim_check(w);
}

static inline struct operation sim_of_host(struct sim *w, enum operation_kind operation, const char *host)
{
    (void)snprintf(w->uid, sizeof w->uid, "u%u", ++w->uids);
    return (struct operation){.uid = w->uid, .kind = operation, .host = host};
}

static inline struct operation sim_of_vm(struct sim *w, enum operation_kind operation, const char *vm,
                                         const char *from, const char *to)
{
    (void)snprintf(w->uid, sizeof w->uid, "u%u", ++w->uids);
    return (struct operation){.uid = w->uid, .kind = operation, .vm = vm, .from = from, .to = to};
}

static inline int sim_start(struct sim *w, const struct operation *q, char task[TASK_NAME_MAX])
{
    char ignored[TASK_NAME_MAX];
    struct err err = {0};
    int r = cluster_start(w->c, q, task ? task : ignored, &err);

    sim_check(w);
    return r;
}

static inline int sim_move(struct sim *w, const char *vm, const char *from, const char *to,
                           char task[TASK_NAME_MAX])
{
    struct operation q = sim_of_vm(w, OPERATION_MIGRATE, vm, from, to);

    return sim_start(w, &q, task);
}

static inline int sim_do(struct sim *w, enum operation_kind operation, const char *host,
                         char task[TASK_NAME_MAX])
{
    struct operation q = sim_of_host(w, operation, host);

    return sim_start(w, &q, task);
}

static inline struct task_progress sim_poll(struct sim *w, const char *task)
{
    struct task_progress ret;

    assert_int_equal(cluster_poll(w->c, task, &ret, NULL), 0);
    return ret;
}

/* Collects and freezes; everything lives in the test's arena. */
static inline void sim_look(struct sim *w, struct inventory *ret_inv, struct snapshot *ret)
{
    struct err err = {0};

    assert_int_equal(cluster_collect(w->c, &w->small.a, ret_inv, &err), 0);
    int r = snapshot_build(ret_inv, &w->small.a, ret, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
}

static inline double sim_gets(const struct sim *w, const char *vm, enum resource r)
{
    return cluster_vm(w->c, sim_vm(w, vm))->gets[r];
}

#endif
