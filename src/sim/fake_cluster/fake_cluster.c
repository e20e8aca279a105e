/* fake_cluster.c: opens and closes a fake cluster, and keeps its time. plugin.c is its collector and
 * actuator. */
#include "sim/fake_cluster/fake_cluster_internal.h"

#include "base/rfc3339.h"
#include "base/xalloc.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"
#include "sim/scenario/scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

/* A process numbers its tasks from a random number, so that an earlier process's tasks are not mistaken
 * for its own; below this, and as many remain. */
#define FIRST_TASK_MOST 0x7fffffffu

static double machine_clock(void *clock)
{
    struct timespec t;

    (void)clock;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

instant_s fake_cluster_instant(const struct fake_cluster *p)
{
    return p->epoch ? p->epoch + (instant_s)p->now_s(p->clock) : (instant_s)time(NULL);
}

static int read_snapshot(struct fake_cluster *p, const struct fake_cluster_options *o, struct snapshot *ret,
                         struct err *err)
{
    int r;

    if (o->file) {
        r = snapshot_load(o->file, &p->arena, ret, NULL, err);
    } else {
        struct inventory inv = {.time = fake_cluster_instant(p)};

        fake_cluster_fill(&inv, &p->arena, "pretend");
        r = snapshot_build(&inv, &p->arena, ret, err);
    }
    if (r == 0 && o->cluster)
        ret->cluster = arena_strdup(&p->arena, o->cluster);
    return r;
}

static uint32_t first_task(void)
{
    uint32_t drawn;

    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        drawn = (uint32_t)time(NULL);
    return 1 + drawn % FIRST_TASK_MOST;
}

/* The scenario's t = 0 is now. Its settings, schedule and script are for `ballast simulate`: here the
 * service's configuration and its admin decide. */
static int read_scenario(struct fake_cluster *p, const struct fake_cluster_options *o, struct err *err)
{
    char start[RFC3339_MAX];
    const struct scenario_override now = {"start", start};
    const struct scenario_options options = {.overrides = &now, .n_overrides = 1};

    (void)rfc3339_format(fake_cluster_instant(p), start);
    int r = scenario_read(o->scenario, &options, &p->arena, &p->s, err);

    if (r == 0) {
        p->s.parts_unset = true;
        if (o->cluster)
            p->s.initial.cluster = arena_strdup(&p->arena, o->cluster);
    }
    return r;
}

static int build(struct fake_cluster *p, const struct fake_cluster_options *o, struct err *err)
{
    struct snapshot snap;
    int r;

    if (o->file && o->scenario)
        return err_set(err, -EINVAL, "source: file and scenario are given, expected one of them");
    r = o->scenario ? read_scenario(p, o, err) : read_snapshot(p, o, &snap, err);
    if (r < 0)
        return r;
    if (!o->scenario)
        fake_cluster_scenario(&snap, fake_cluster_instant(p), o->seed, &p->arena, &p->s);
    p->cluster = cluster_new(&p->s);
    cluster_number_tasks_from(p->cluster, first_task());
    return 0;
}

/* Frees what exists, without the lock. */
static void discard(struct fake_cluster *p)
{
    control_folder_free(p->outside);
    cluster_free(p->cluster);
    arena_release(&p->arena);
    free(p);
}

int fake_cluster_new(const struct fake_cluster_options *options, struct fake_cluster **ret, struct err *err)
{
    struct fake_cluster *p = xcalloc(1, sizeof *p);
    int r;

    p->speed = options->speed > 0 ? options->speed : 1;
    p->now_s = options->now_s ? options->now_s : machine_clock;
    p->clock = options->clock;
    p->epoch = options->epoch;
    p->began_s = p->now_s(p->clock);
    if ((r = build(p, options, err)) < 0 ||
        (options->folder && (r = control_folder_open(p, options->folder, err)) < 0)) {
        discard(p);
        return r;
    }
    (void)pthread_mutex_init(&p->lock, NULL);
    *ret = p;
    return 0;
}

void fake_cluster_free(struct fake_cluster *p)
{
    if (!p)
        return;
    (void)pthread_mutex_destroy(&p->lock);
    discard(p);
}

void fake_cluster_enter(struct fake_cluster *p)
{
    (void)pthread_mutex_lock(&p->lock);
    p->advanced_s = fmax(p->advanced_s, (p->now_s(p->clock) - p->began_s) * p->speed);
    cluster_advance(p->cluster, p->advanced_s);
    if (p->outside)
        control_folder_read(p);
}

void fake_cluster_leave(struct fake_cluster *p)
{
    if (p->outside)
        control_folder_write(p);
    (void)pthread_mutex_unlock(&p->lock);
}
