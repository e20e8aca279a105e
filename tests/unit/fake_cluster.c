/* The fake cluster behaves like a hypervisor as far as the service can observe. */
#include "fake_cluster_world.h"

#include "base/cleanup.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct operation move(const char *vm, const char *from, const char *to)
{
    return (struct operation){.uid = "u1", .kind = OPERATION_MIGRATE, .vm = vm, .from = from, .to = to};
}

static void test_is_imbalanced(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    struct snapshot s;
    double used[8] = {0};

    (void)state;
    world_init(&w, NULL);
    look(&w, &a, &inv, &s);
    assert_int_equal(s.n_hosts, 4);
    assert_in_range(s.n_vms, 35, 45);
    assert_int_equal(s.n_rules, 1);
    assert_true(s.time == EPOCH);
    for (uint32_t i = 0; i < s.n_vms; i++)
        used[s.vms[i].host] += s.vms[i].is.demand[RES_CPU] / s.hosts[0].capacity[RES_CPU];
    assert_true(used[0] > 0.88 && used[0] < 1.0);
    for (int h = 1; h < 4; h++)
        assert_true(used[h] < 0.55);
    for (uint32_t h = 0; h < s.n_hosts; h++)
        assert_true(s.hosts[h].is.mem_free_mb > 0);
    world_release(&w);
}

/* Used plus the weighed ready time is what the VM wants, where its host has room. */
static void test_samples_tell_the_demand(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    struct snapshot s;

    (void)state;
    world_init(&w, NULL);
    look(&w, &a, &inv, &s);
    for (size_t i = 0; i < inv.n_vms; i++) {
        const struct vm_sample *m = &inv.vms[i].sample;
        double all_ms = m->interval_ms * inv.vms[i].is.vcpus;

        assert_true(m->present);
        assert_true(fabs(m->cpu_used_mhz - inv.vms[i].is.demand[RES_CPU]) < 1e-6);
        assert_true(fabs(m->cpu_run_ms + m->cpu_ready_ms + m->cpu_sleep_ms - all_ms) < 1e-6);
        double mem = m->mem_active_mb + 0.25 * (m->mem_consumed_mb - m->mem_active_mb) + m->mem_overhead_mb;

        assert_true(fabs(mem - inv.vms[i].is.demand[RES_MEM]) < 1);
    }
    /* an overloaded host lets its VMs wait */
    assert_int_equal(fake_cluster_set_demand(w.p, "web-01", 5000, 2000), 0);
    assert_int_equal(fake_cluster_set_demand(w.p, "app-01", 10000, 2000), 0);
    look(&w, &a, &inv, &s);
    uint32_t vm = snapshot_find_vm(&s, "app-01");

    assert_true(inv.vms[vm].sample.cpu_ready_ms > 0);
    assert_true(inv.vms[vm].sample.cpu_used_mhz < inv.vms[vm].is.demand[RES_CPU]);
    /* no VM is seen to use more than its vCPUs have */
    assert_int_equal(fake_cluster_set_demand(w.p, "web-01", 1e6, 2000), 0);
    look(&w, &a, &inv, &s);
    vm = snapshot_find_vm(&s, "web-01");
    assert_true(inv.vms[vm].is.demand[RES_CPU] <= inv.vms[vm].is.vcpus * inv.vms[vm].sample.core_mhz);
    world_release(&w);
}

static void test_demand_wavers_by_the_seed(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w, same;
    struct inventory i1, i2, i3;
    struct snapshot s;

    (void)state;
    world_init(&w, NULL);
    world_init(&same, NULL);
    look(&w, &a, &i1, &s);
    look(&same, &a, &i2, &s);
    w.now_s = 200;
    look(&w, &a, &i3, &s);
    for (size_t i = 0; i < i1.n_vms; i++) {
        double then = i1.vms[i].is.demand[RES_CPU], now = i3.vms[i].is.demand[RES_CPU];

        assert_true(then == i2.vms[i].is.demand[RES_CPU]);
        assert_true(now != then && fabs(now - then) < 0.1 * then);
    }
    world_release(&w);
    world_release(&same);
}

static void test_migration_takes_its_time(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX], again[TASK_NAME_MAX];
    struct operation q = move("web-01", "pretend-1", "pretend-3");

    (void)state;
    world_init(&w, NULL);
    assert_int_equal(fake_cluster_actuator.check(w.x, &q, NULL), 0);
    q.only_adopt = true;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), -ESRCH);
    q.only_adopt = false;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, again, NULL), 0);
    assert_string_equal(task, again); /* adopted, not begun twice */
    q.only_adopt = true;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, again, NULL), 0);
    assert_string_equal(task, again);
    q.only_adopt = false;
    assert_int_equal(fake_cluster_migrations_begun(w.p), 1);
    w.now_s = 5;
    struct task_progress g = progress_of(&w, &q, task);

    assert_int_equal(g.state, TASK_RUNNING);
    assert_in_range(g.percent, 10, 90);
    assert_string_equal(fake_cluster_where(w.p, "web-01"), "pretend-1");
    look(&w, &a, &inv, &s);
    assert_int_equal(s.n_migrations, 1);
    assert_true(s.migrations[0].started == EPOCH);
    w.now_s = 60;
    g = progress_of(&w, &q, task);
    assert_int_equal(g.state, TASK_SUCCEEDED);
    assert_string_equal(fake_cluster_where(w.p, "web-01"), "pretend-3");
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, again, NULL), -ESTALE);
    assert_int_equal(fake_cluster_actuator.check(w.x, &q, NULL), -ESTALE);
    world_release(&w);
}

static void test_slots(void **state)
{
    struct world w;
    char task[6][TASK_NAME_MAX];
    struct operation q[6];
    static const char *const vms[] = {"web-01", "web-02", "web-03", "web-04", "web-05", "web-06"};

    (void)state;
    world_init(&w, NULL);
    for (int i = 0; i < 6; i++) {
        q[i] = move(vms[i], "pretend-1", "pretend-3");
        assert_int_equal(fake_cluster_actuator.start(w.x, &q[i], task[i], NULL), 0);
    }
    assert_int_equal(progress_of(&w, &q[3], task[3]).state, TASK_RUNNING);
    assert_int_equal(progress_of(&w, &q[4], task[4]).state, TASK_QUEUED);
    w.now_s = 15;
    assert_int_equal(progress_of(&w, &q[3], task[3]).state, TASK_SUCCEEDED);
    assert_int_equal(progress_of(&w, &q[5], task[5]).state, TASK_RUNNING);
    w.now_s = 30; /* they went on while nobody looked */
    assert_int_equal(progress_of(&w, &q[5], task[5]).state, TASK_SUCCEEDED);
    world_release(&w);
}

static const struct {
    const char *vm, *from, *to;
    enum fake_cluster_fault fault;
    int start;               /* what start() gives */
    enum task_state at_half; /* and a little later */
    enum task_state at_end;
} migrations[] = {
    {"web-01", "pretend-1", "pretend-2", FAKE_CLUSTER_OBEYS, 0, TASK_RUNNING, TASK_SUCCEEDED},
    {"web-01", "pretend-1", "pretend-2", FAKE_CLUSTER_FAILS, 0, TASK_FAILED, TASK_FAILED},
    {"web-01", "pretend-1", "pretend-2", FAKE_CLUSTER_HANGS, 0, TASK_RUNNING, TASK_RUNNING},
    {"web-01", "pretend-1", "pretend-2", FAKE_CLUSTER_REFUSES, -EPERM, TASK_FAILED, TASK_FAILED},
    {"web-01", "pretend-2", "pretend-3", FAKE_CLUSTER_OBEYS, -ESTALE, TASK_FAILED, TASK_FAILED},
    {"web-01", "pretend-2", "pretend-1", FAKE_CLUSTER_OBEYS, -ESTALE, TASK_FAILED, TASK_FAILED},
    {"none", "pretend-1", "pretend-2", FAKE_CLUSTER_OBEYS, -ENOENT, TASK_FAILED, TASK_FAILED},
    {"web-01", "pretend-1", "none", FAKE_CLUSTER_OBEYS, -EINVAL, TASK_FAILED, TASK_FAILED},
};

static void test_migrations(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(migrations); i++) {
        struct world w;
        char task[TASK_NAME_MAX];
        struct err err = {0};
        struct operation q = move(migrations[i].vm, migrations[i].from, migrations[i].to);

        world_init(&w, NULL);
        (void)fake_cluster_set_fault(w.p, migrations[i].vm, migrations[i].fault);
        assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, &err), migrations[i].start);
        if (migrations[i].start == 0) {
            w.now_s = 7;
            assert_int_equal(progress_of(&w, &q, task).state, migrations[i].at_half);
            w.now_s = 1000;
            assert_int_equal(progress_of(&w, &q, task).state, migrations[i].at_end);
        } else {
            assert_true(strlen(err.text) > 10);
        }
        world_release(&w);
    }
}

static void test_cancel(void **state)
{
    struct world w;
    char task[TASK_NAME_MAX];
    struct operation q = move("web-01", "pretend-1", "pretend-2");

    (void)state;
    world_init(&w, NULL);
    assert_int_equal(fake_cluster_set_fault(w.p, "web-01", FAKE_CLUSTER_HANGS), 0);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s = 500;
    assert_int_equal(fake_cluster_actuator.cancel(w.x, &q, task, NULL), 0);
    struct task_progress g = progress_of(&w, &q, task);

    assert_int_equal(g.state, TASK_FAILED);
    assert_false(g.gone);
    assert_string_equal(fake_cluster_where(w.p, "web-01"), "pretend-1");
    assert_true(progress_of(&w, &q, "task-of-an-earlier-life").gone);
    world_release(&w);
}

static void test_vm_vanishes(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX];
    struct operation q = move("db-01", "pretend-1", "pretend-2");

    (void)state;
    world_init(&w, NULL);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(fake_cluster_remove_vm(w.p, "db-01"), 0);
    assert_int_equal(progress_of(&w, &q, task).state, TASK_FAILED);
    assert_int_equal(fake_cluster_actuator.check(w.x, &q, NULL), -ENOENT);
    assert_null(fake_cluster_where(w.p, "db-01"));
    assert_int_equal(fake_cluster_remove_vm(w.p, "db-01"), -ENOENT);
    look(&w, &a, &inv, &s);
    assert_int_equal(snapshot_find_vm(&s, "db-01"), IX_NONE);
    assert_int_equal(inv.n_migrations, 0);
    world_release(&w);
}

static enum host_state state_of(struct world *w, const char *host)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct inventory inv;
    struct snapshot s;

    look(w, &a, &inv, &s);
    return s.hosts[snapshot_find_host(&s, host)].is.state;
}

/* Moves everything from a host to another one. */
static void evacuate(struct world *w, const char *from, const char *to)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct inventory inv;
    struct snapshot s;
    char task[TASK_NAME_MAX];

    look(w, &a, &inv, &s);
    for (uint32_t i = 0; i < s.n_vms; i++) {
        if (strcmp(s.hosts[s.vms[i].host].is.id, from) == 0) {
            struct operation q = move(s.vms[i].is.id, from, to);

            assert_int_equal(fake_cluster_actuator.start(w->x, &q, task, NULL), 0);
        }
    }
    for (int i = 0; i < 20; i++) {
        w->now_s += 100;
        look(w, &a, &inv, &s);
    }
    assert_int_equal(inv.n_migrations, 0);
}

static void test_host_goes_and_comes_back(void **state)
{
    struct world w;
    char task[TASK_NAME_MAX];
    struct operation q = {.uid = "m", .kind = OPERATION_ENTER_MAINTENANCE, .host = "pretend-3"};

    (void)state;
    world_init(&w, NULL);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s = 100;
    assert_int_equal(progress_of(&w, &q, task).state, TASK_RUNNING);
    assert_int_equal(state_of(&w, "pretend-3"), HOST_ENTERING_MAINTENANCE);
    evacuate(&w, "pretend-3", "pretend-4");
    assert_int_equal(progress_of(&w, &q, task).state, TASK_SUCCEEDED);
    assert_int_equal(state_of(&w, "pretend-3"), HOST_MAINTENANCE);
    struct operation in = move("web-01", "pretend-1", "pretend-3");

    assert_int_equal(fake_cluster_actuator.start(w.x, &in, task, NULL), -EHOSTDOWN);
    q.kind = OPERATION_EXIT_MAINTENANCE;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s += 100;
    assert_int_equal(state_of(&w, "pretend-3"), HOST_ON);
    q.kind = OPERATION_STANDBY;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(state_of(&w, "pretend-3"), HOST_ENTERING_STANDBY);
    w.now_s += 100;
    assert_int_equal(state_of(&w, "pretend-3"), HOST_STANDBY);
    q.kind = OPERATION_WAKE;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(state_of(&w, "pretend-3"), HOST_POWERING_ON);
    w.now_s += 179;
    assert_int_equal(state_of(&w, "pretend-3"), HOST_POWERING_ON);
    w.now_s += 2;
    assert_int_equal(state_of(&w, "pretend-3"), HOST_ON);
    q = (struct operation){.uid = "s", .kind = OPERATION_STANDBY, .host = "pretend-1"};
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), -EBUSY); /* VMs run on it */
    world_release(&w);
}

static void test_maintenance_is_called_off(void **state)
{
    struct world w;
    char task[TASK_NAME_MAX];
    struct operation q = {.uid = "m", .kind = OPERATION_ENTER_MAINTENANCE, .host = "pretend-2"};

    (void)state;
    world_init(&w, NULL);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(fake_cluster_actuator.cancel(w.x, &q, task, NULL), 0);
    assert_int_equal(progress_of(&w, &q, task).state, TASK_FAILED);
    assert_int_equal(state_of(&w, "pretend-2"), HOST_ON);
    world_release(&w);
}

static void test_deaf(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv = {0};
    struct err err = {0};
    struct operation q = move("web-01", "pretend-1", "pretend-2");

    (void)state;
    world_init(&w, NULL);
    fake_cluster_set_deaf(w.p, true);
    assert_int_equal(fake_cluster_collector.collect(w.c, &a, &inv, &err), -ECONNREFUSED);
    assert_null(inv.hosts);
    assert_int_equal(fake_cluster_actuator.check(w.x, &q, &err), -ECONNREFUSED);
    fake_cluster_set_deaf(w.p, false);
    assert_int_equal(fake_cluster_collector.collect(w.c, &a, &inv, &err), 0);
    world_release(&w);
}

/* What pools have on hosts is kept, shown, and taken as a whole or not at all. */
static void test_settings(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv = {0};
    struct snapshot s;
    struct err err = {0};
    struct pool_setting list[] = {
        {.pool = "test", .alloc = {{100, 500, 7, false}, {0, NO_LIMIT, 9, false}}},
        {.pool = "production", .alloc = {{200, NO_LIMIT, 8, false}, {0, NO_LIMIT, 9, false}}},
    };
    struct pool_settings q = {.host = "pretend-2", .settings = list, .n_settings = 2};

    (void)state;
    world_init(&w, NULL);
    look(&w, &a, &inv, &s);
    assert_true(inv.settings_seen && s.n_settings == 0);
    for (int i = 0; i < 2; i++) /* repeating does no harm */
        assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), 0);
    q.host = "pretend-1";
    q.n_settings = 1;
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), 0);
    look(&w, &a, &inv, &s);
    assert_int_equal(s.n_settings, 3);
    assert_true(s.settings[0].host == 0 && s.settings[0].alloc[RES_CPU].limit == 500);
    assert_true(s.settings[1].alloc[RES_CPU].reservation == 200 && s.settings[2].alloc[RES_CPU].shares == 7);
    list[0].nothing = true;
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), 0);
    look(&w, &a, &inv, &s);
    assert_true(s.n_settings == 2 && s.settings[0].host == 1);

    list[1].pool = "nobody's";
    q.n_settings = 2;
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), -ENOENT);
    q.host = "nowhere";
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), -ENOENT);
    q.host = "pretend-2";
    q.n_settings = 1;
    assert_int_equal(fake_cluster_refuse_settings(w.p, "pretend-2", true), 0);
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), -EPERM);
    fake_cluster_set_deaf(w.p, true);
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), -ECONNREFUSED);
    fake_cluster_set_deaf(w.p, false);
    assert_int_equal(fake_cluster_refuse_settings(w.p, "nowhere", true), -ENOENT);
    list[0] = (struct pool_setting){.pool = "test", .alloc = {{9, 8, 1, false}, {0, NO_LIMIT, 1, false}}};
    assert_int_equal(fake_cluster_refuse_settings(w.p, "pretend-2", false), 0);
    assert_int_equal(fake_cluster_actuator.apply_settings(w.x, &q, &err), -EINVAL);
    look(&w, &a, &inv, &s);
    assert_true(s.n_settings == 2 && fake_cluster_settings_applied(w.p) == 4);
    world_release(&w);
}

static void test_from_a_file(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    struct snapshot s;
    char path[] = "/tmp/ballast-simulated-XXXXXX";
    CLEANUP(closep) int fd = write_cluster(path);
    struct err err = {0};
    struct fake_cluster *none = NULL;

    (void)state;
    world_init(&w, path);
    look(&w, &a, &inv, &s);
    assert_string_equal(inv.cluster, "filed");
    assert_int_equal(s.n_vms, 3);
    assert_true(fabs(s.vms[0].is.demand[RES_CPU] - 500) < 25);
    assert_true(s.vms[1].is.demand[RES_CPU] == 0 && !inv.vms[1].sample.present);
    world_release(&w);
    assert_int_equal(ftruncate(fd, 100), 0);
    assert_int_equal(fake_cluster_new(&(struct fake_cluster_options){.file = path}, &none, &err), -EINVAL);
    assert_non_null(strstr(err.text, path));
    assert_null(none);
    (void)unlink(path);
}

static const struct host_facts *facts_of(struct world *w, struct arena *a, struct inventory *inv,
                                         const char *host)
{
    struct snapshot s;

    look(w, a, inv, &s);
    return &s.hosts[snapshot_find_host(&s, host)].is;
}

/* What takes time takes a twentieth of it, and is told in the time of whoever has waited for it. */
static void test_speed(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct world w;
    struct inventory inv;
    char path[] = "/tmp/ballast-simulated-XXXXXX", task[TASK_NAME_MAX];
    CLEANUP(closep) int fd = write_cluster(path);
    struct operation q = {.uid = "s", .kind = OPERATION_STANDBY, .host = "h2"};

    (void)state;
    world_init_fast(&w, path, 20);
    w.now_s = 100;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s = 102.9;
    assert_int_equal(facts_of(&w, &a, &inv, "h2")->state, HOST_ENTERING_STANDBY);
    assert_in_range(progress_of(&w, &q, task).percent, 95, 98);
    w.now_s = 110;
    const struct host_facts *h = facts_of(&w, &a, &inv, "h2");

    assert_int_equal(h->state, HOST_STANDBY);
    assert_true(h->standby_since == EPOCH + 103);
    q.kind = OPERATION_WAKE;
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s = 130;
    h = facts_of(&w, &a, &inv, "h2");
    assert_int_equal(h->state, HOST_ON);
    assert_true(h->on_since == EPOCH + 119 && inv.time == EPOCH + 130);
    assert_true(inv.vms[0].sample.measured == EPOCH + 130);
    assert_true(fabs(inv.vms[0].sample.interval_ms - 20000) < 1e-6); /* since the last look */
    q = move("a", "h1", "h2");
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    w.now_s = 130.1; /* of about 0.2 s */
    (void)facts_of(&w, &a, &inv, "h2");
    assert_int_equal(inv.n_migrations, 1);
    assert_true(inv.migrations[0].started == EPOCH + 130);
    world_release(&w);
    (void)unlink(path);
}

/* A task of an earlier process is not taken for one of this. */
static void test_tasks_of_two_processes(void **state)
{
    struct world w, next;
    char task[TASK_NAME_MAX], its[TASK_NAME_MAX];
    struct operation q = move("web-01", "pretend-1", "pretend-3");

    (void)state;
    world_init(&w, NULL);
    world_init(&next, NULL);
    assert_int_equal(fake_cluster_actuator.start(w.x, &q, task, NULL), 0);
    assert_int_equal(fake_cluster_actuator.start(next.x, &q, its, NULL), 0);
    assert_false(progress_of(&w, &q, task).gone);
    assert_true(progress_of(&next, &q, task).gone);
    world_release(&w);
    world_release(&next);
}

/* The collector and two workers at the same time; for the thread sanitizer. */
static void *hammer(void *arg)
{
    struct world *w = arg;
    struct actuator *x = NULL;

    if (fake_cluster_actuator.create(&w->cfg, &x, NULL) < 0)
        return NULL;
    for (int i = 0; i < 200; i++) {
        char task[TASK_NAME_MAX];
        const char *from = i % 2 ? "pretend-2" : "pretend-1";
        struct operation q = move("web-01", from, i % 2 ? "pretend-1" : "pretend-2");
        struct task_progress g;

        if (fake_cluster_actuator.start(x, &q, task, NULL) == 0)
            (void)fake_cluster_actuator.poll(x, &q, task, &g, NULL);
    }
    fake_cluster_actuator.destroy(x);
    return NULL;
}

static void test_threads(void **state)
{
    struct world w = {0};
    pthread_t threads[2];
    struct err err;

    (void)state;
    assert_int_equal(fake_cluster_new(&(struct fake_cluster_options){.speed = 10000}, &w.p, &err), 0);
    w.cfg = (struct source_config){.kind = "sim", .shared = w.p};
    assert_int_equal(fake_cluster_collector.create(&w.cfg, &w.c, &err), 0);
    assert_int_equal(fake_cluster_actuator.create(&w.cfg, &w.x, &err), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &w), 0);
    for (int i = 0; i < 100; i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct inventory inv;
        struct snapshot s;

        look(&w, &a, &inv, &s);
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_imbalanced),
        cmocka_unit_test(test_samples_tell_the_demand),
        cmocka_unit_test(test_demand_wavers_by_the_seed),
        cmocka_unit_test(test_migration_takes_its_time),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_migrations),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_vm_vanishes),
        cmocka_unit_test(test_host_goes_and_comes_back),
        cmocka_unit_test(test_maintenance_is_called_off),
        cmocka_unit_test(test_deaf),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_from_a_file),
        cmocka_unit_test(test_speed),
        cmocka_unit_test(test_tasks_of_two_processes),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
