/* fake_cluster_world.h: a fake cluster for a test, with a clock set by the test. */
#ifndef BALLAST_TESTS_UNIT_FAKE_CLUSTER_WORLD_H
#define BALLAST_TESTS_UNIT_FAKE_CLUSTER_WORLD_H

#include "fake_cluster_changes.h"
#include "unit.h"

#include "model/snapshot_build.h"
#include "sim/fake_cluster/fake_cluster.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EPOCH 1700000000

/* A cluster with its collector and actuator, and a clock that is set by hand. */
struct world {
    double now_s;
    struct fake_cluster *p;
    struct source_config cfg;
    struct collector *c;
    struct actuator *x;
};

static inline double clock_of(void *clock)
{
    return *(const double *)clock;
}

/* o: without the clock. */
static inline void world_begin(struct world *w, struct fake_cluster_options o)
{
    struct err err = {0};

    *w = (struct world){0};
    o.now_s = clock_of;
    o.clock = &w->now_s;
    o.epoch = EPOCH;
    assert_int_equal(fake_cluster_new(&o, &w->p, &err), 0);
    w->cfg = (struct source_config){.kind = "sim", .shared = w->p};
    assert_int_equal(fake_cluster_collector.create(&w->cfg, &w->c, &err), 0);
    assert_int_equal(fake_cluster_actuator.create(&w->cfg, &w->x, &err), 0);
}

static inline void world_init_fast(struct world *w, const char *file, double speed)
{
    world_begin(w, (struct fake_cluster_options){.file = file, .speed = speed, .seed = 7});
}

static inline void world_init(struct world *w, const char *file)
{
    world_init_fast(w, file, 1);
}

static inline void world_release(struct world *w)
{
    fake_cluster_collector.destroy(w->c);
    fake_cluster_actuator.destroy(w->x);
    fake_cluster_free(w->p);
}

/* Collects and freezes; the snapshot lives in the arena. */
static inline void look(struct world *w, struct arena *a, struct inventory *ret_inv, struct snapshot *ret)
{
    struct err err = {0};

    assert_int_equal(fake_cluster_collector.collect(w->c, a, ret_inv, &err), 0);
    int r = snapshot_build(ret_inv, a, ret, &err);

    if (r < 0)
        print_error("%s\n", err.text);
    assert_int_equal(r, 0);
}

static inline struct task_progress progress_of(struct world *w, const struct operation *q, const char *task)
{
    struct task_progress ret;

    assert_int_equal(fake_cluster_actuator.poll(w->x, q, task, &ret, NULL), 0);
    return ret;
}

/* Two hosts, a VM that runs and two that do not. */
static const char small_cluster[] =
    "{\"format\": \"ballast-snapshot/1\", \"cluster\": \"filed\", \"time\": \"2026-01-01T00:00:00Z\","
    " \"hosts\": [{\"id\": \"h1\", \"name\": \"h1\", \"state\": \"on\", \"cpu_mhz\": 10000, \"cores\": 4,"
    " \"mem_mb\": 8192}, {\"id\": \"h2\", \"name\": \"h2\", \"state\": \"on\", \"cpu_mhz\": 10000,"
    " \"cores\": 4, \"mem_mb\": 8192}, {\"id\": \"h3\", \"name\": \"h3\", \"state\": \"maintenance\","
    " \"cpu_mhz\": 10000, \"cores\": 4, \"mem_mb\": 8192}],"
    " \"vms\": [{\"id\": \"a\", \"name\": \"a\", \"host\": \"h1\", \"state\": \"on\", \"vcpus\": 1,"
    " \"mem_mb\": 1024, \"cpu\": {\"demand\": 500}, \"mem\": {\"demand\": 300}},"
    " {\"id\": \"b\", \"name\": \"b\", \"host\": \"h1\", \"state\": \"off\", \"vcpus\": 1, \"mem_mb\": 1000},"
    " {\"id\": \"c\", \"name\": \"c\", \"state\": \"suspended\", \"vcpus\": 1, \"mem_mb\": 1000}]}";

/* A file with the small cluster; its name is in path. */
static inline int write_cluster(char *path)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, small_cluster, strlen(small_cluster)), strlen(small_cluster));
    return fd;
}

#endif
