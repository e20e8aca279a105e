/* What follows from what both hosts of a migration show; names of tasks; statistics of jobs. */
#include "unit.h"

#include "actuators/libvirt/call.h"
#include "actuators/libvirt/decide.h"
#include "actuators/libvirt/leftover_list.h"
#include "actuators/libvirt/leftovers.h"
#include "actuators/libvirt/migrations.h"
#include "actuators/libvirt/task_name.h"
#include "actuators/libvirt/vm_look.h"
#include "net/libvirt/connections.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VM "deadbeef-0000-4000-8000-00000000000a"

static const struct side silent = {.is = SIDE_SILENT};
static const struct side none = {.is = SIDE_NONE};
static const struct side off = {.is = SIDE_OFF, .defined = true};
static const struct side gone = {.is = SIDE_OFF, .defined = true, .moved_out = true};
static const struct side waits = {.is = SIDE_WAITING, .job = true};
static const struct side left = {.is = SIDE_WAITING, .defined = true, .abandoned = true};
static const struct side halves = {.is = SIDE_WAITING, .defined = true, .in_post_copy = true};
static const struct side stopped = {.is = SIDE_RUNNING, .defined = true, .paused = true};
static const struct side runs = {.is = SIDE_RUNNING, .defined = true};
static const struct side undefined = {.is = SIDE_RUNNING};
static const struct side moves = {.is = SIDE_RUNNING, .defined = true, .job = true, .moving_out = true};
static const struct side finishing = {.is = SIDE_WAITING, .defined = true, .job = true, .moving_out = true};

static const struct {
    const struct side *from, *to;
    enum call_state call;
    bool transient;
    enum migration_verdict verdict;
    enum repair repair;
    bool settled, arrived, ambiguous;
} cases[] = {
    /* under way */
    {&moves, &waits, CALL_RUNS, false, VERDICT_GOES_ON, REPAIR_NONE, false},
    {&runs, &none, CALL_RUNS, false, VERDICT_GOES_ON, REPAIR_NONE, false},
    {&moves, &none, CALL_NONE, false, VERDICT_GOES_ON, REPAIR_NONE, false},
    {&moves, &silent, CALL_NONE, false, VERDICT_GOES_ON, REPAIR_NONE, false},
    {&finishing, &runs, CALL_NONE, false, VERDICT_GOES_ON, REPAIR_NONE, false},
    /* arrived */
    {&none, &runs, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_NONE, true},
    {&none, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, true},
    {&off, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_UNDEFINE_FROM, true},
    {&gone, &runs, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_UNDEFINE_FROM, true},
    {&gone, &undefined, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_DEFINE_TO, true},
    {&none, &undefined, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_DEFINE_TO, true},
    {&none, &undefined, CALL_DONE, true, VERDICT_ARRIVED, REPAIR_NONE, true},
    {&off, &runs, CALL_DONE, true, VERDICT_ARRIVED, REPAIR_NONE, true},
    {&silent, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    {&silent, &undefined, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    /* paused at the source for good, where it must never run again */
    {&left, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_END_FROM, false},
    {&left, &undefined, CALL_NONE, true, VERDICT_ARRIVED, REPAIR_END_FROM, false},
    {&left, &stopped, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    {&waits, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, false}, /* it comes back just now */
    {&halves, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    {&silent, &silent, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    {&none, &silent, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_NONE, true},
    /* it stayed */
    {&runs, &none, CALL_REFUSED, false, VERDICT_FAILED, REPAIR_NONE, true},
    {&runs, &none, CALL_NONE, false, VERDICT_FAILED, REPAIR_NONE, true},
    {&runs, &off, CALL_REFUSED, false, VERDICT_FAILED, REPAIR_UNDEFINE_TO, true},
    {&runs, &off, CALL_REFUSED, true, VERDICT_FAILED, REPAIR_NONE, true},
    {&undefined, &off, CALL_REFUSED, false, VERDICT_FAILED, REPAIR_NONE, true}, /* the last definition */
    {&runs, &waits, CALL_NONE, false, VERDICT_FAILED, REPAIR_NONE, false},
    {&runs, &silent, CALL_REFUSED, false, VERDICT_FAILED, REPAIR_NONE, false},
    {&waits, &none, CALL_NONE, false, VERDICT_FAILED, REPAIR_NONE, true}, /* paused there */
    {&left, &off, CALL_NONE, false, VERDICT_FAILED, REPAIR_NONE, false},  /* it may have run there since */
    {&runs, &off, CALL_NONE, false, VERDICT_FAILED, REPAIR_NONE, true, .arrived = true, .ambiguous = true},
    /* it ended: one definition is left, and never none */
    {&off, &none, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, true},
    {&off, &off, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, true, .ambiguous = true},
    {&off, &off, CALL_REFUSED, false, VERDICT_UNKNOWN, REPAIR_NONE, true, .ambiguous = true},
    {&off, &off, CALL_NONE, true, VERDICT_UNKNOWN, REPAIR_NONE, true},
    {&off, &off, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_UNDEFINE_FROM, true, .arrived = true},
    {&off, &none, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, false,
     .arrived = true}, /* it has gone on */
    {&off, &off, CALL_DONE, false, VERDICT_UNKNOWN, REPAIR_UNDEFINE_FROM, true},
    {&gone, &off, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_UNDEFINE_FROM, true},
    {&gone, &silent, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, false},
    {&gone, &silent, CALL_DONE, false, VERDICT_ARRIVED, REPAIR_NONE, false},
    {&none, &off, CALL_DONE, false, VERDICT_UNKNOWN, REPAIR_NONE, true},
    {&none, &none, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, true},
    /* not known */
    {&silent, &none, CALL_REFUSED, false, VERDICT_UNKNOWN, REPAIR_NONE, false},
    {&silent, &waits, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, false},
    {&silent, &off, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, false},
    {&silent, &silent, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, false},
    /* twice */
    {&runs, &runs, CALL_NONE, false, VERDICT_TWICE, REPAIR_NONE, true},
};

static void test_decisions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct decision d = decide_migration(cases[i].from, cases[i].to, cases[i].call, !cases[i].transient,
                                             cases[i].arrived);

        if (d.verdict != cases[i].verdict || d.repair != cases[i].repair || d.settled != cases[i].settled ||
            d.ambiguous != cases[i].ambiguous)
            fail_msg("case %zu: verdict %d, repair %d, settled %d", i, (int)d.verdict, (int)d.repair,
                     (int)d.settled);
    }
}

static void test_decisions_on_starts(void **state)
{
    static const struct {
        const struct side *from, *to;
        enum call_state call;
        enum migration_verdict verdict;
        enum repair repair;
        bool settled, off;
    } starts[] = {
        {&off, &none, CALL_RUNS, VERDICT_GOES_ON, REPAIR_NONE, false},
        {&none, &waits, CALL_NONE, VERDICT_GOES_ON, REPAIR_NONE, false},
        {&none, &runs, CALL_DONE, VERDICT_ARRIVED, REPAIR_NONE, true},
        {&off, &runs, CALL_NONE, VERDICT_ARRIVED, REPAIR_UNDEFINE_FROM, true},
        {&silent, &runs, CALL_NONE, VERDICT_ARRIVED, REPAIR_NONE, false},
        {&runs, &runs, CALL_NONE, VERDICT_TWICE, REPAIR_NONE, true},
        {&off, &none, CALL_REFUSED, VERDICT_FAILED, REPAIR_NONE, true},
        {&off, &off, CALL_NONE, VERDICT_FAILED, REPAIR_UNDEFINE_FROM, true},
        {&none, &off, CALL_REFUSED, VERDICT_FAILED, REPAIR_NONE, true}, /* it was there already, or is now */
        {&off, &silent, CALL_NONE, VERDICT_UNKNOWN, REPAIR_NONE, false},
        {&none, &silent, CALL_DONE, VERDICT_ARRIVED, REPAIR_NONE, false},
        /* it is not to run */
        {&none, &off, CALL_DONE, VERDICT_ARRIVED, REPAIR_NONE, true, true},
        {&off, &off, CALL_NONE, VERDICT_ARRIVED, REPAIR_UNDEFINE_FROM, true, true},
        {&off, &none, CALL_REFUSED, VERDICT_FAILED, REPAIR_NONE, true, true},
        {&runs, &off, CALL_NONE, VERDICT_FAILED, REPAIR_NONE, true, true}, /* a person has started it */
        {&none, &runs, CALL_DONE, VERDICT_ARRIVED, REPAIR_NONE, true, true},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(starts); i++) {
        struct decision d = decide_start(starts[i].from, starts[i].to, starts[i].call, starts[i].off);

        if (d.verdict != starts[i].verdict || d.repair != starts[i].repair || d.settled != starts[i].settled)
            fail_msg("case %zu: verdict %d, repair %d, settled %d", i, (int)d.verdict, (int)d.repair,
                     (int)d.settled);
    }
}

/* Over all pairs of states: what must never be, whatever the table says. */
static void test_no_decision_loses_a_definition(void **state)
{
    static const struct side *const sides[] = {&silent, &none,    &off,  &gone,      &waits, &left,
                                               &halves, &stopped, &runs, &undefined, &moves, &finishing};
    const size_t n = sizeof sides / sizeof sides[0];

    (void)state;
    for (size_t i = 0; i < n * n * 32; i++) {
        const struct side *from = sides[i % n], *to = sides[i / n % n];
        const enum call_state call = (enum call_state)(i / n / n % 4);
        const struct task_name t = {.start = (i / n / n / 4 & 1) != 0,
                                    .persistent = (i / n / n / 8 & 1) != 0,
                                    .arrived = (i / n / n / 16 & 1) != 0};
        struct decision d = libvirt_decide(from, to, call, &t);

        if (d.repair == REPAIR_UNDEFINE_FROM)
            assert_true(from->is == SIDE_OFF && to->defined && to->is != SIDE_SILENT);
        if (d.repair == REPAIR_UNDEFINE_TO)
            assert_true(to->is == SIDE_OFF && from->defined && from->is == SIDE_RUNNING && !t.arrived);
        if (d.repair == REPAIR_END_FROM)
            assert_true(from->abandoned && !from->job && to->is == SIDE_RUNNING && !to->paused);
        if (from->is == SIDE_OFF && to->is == SIDE_OFF && d.repair != REPAIR_NONE) /* evidence */
            assert_true(t.start || t.arrived || call == CALL_DONE || from->moved_out);
        if (from->is == SIDE_SILENT || to->is == SIDE_SILENT)
            assert_int_equal(d.repair, REPAIR_NONE);
        if (d.verdict == VERDICT_GOES_ON)
            assert_int_equal(d.repair, REPAIR_NONE);
    }
}

static void test_task_names(void **state)
{
    const struct task_name t = {
        .persistent = true, .post_copy = true, .vm = VM, .from = "hv1", .to = "hv 2:x"};
    struct task_name back;
    struct err err = {0};
    char text[TASK_NAME_MAX];

    (void)state;
    assert_int_equal(task_name_write(&t, text, &err), 0);
    assert_string_equal(text, "migrate/pc-/" VM "/hv1/hv 2:x");
    assert_int_equal(task_name_read(text, &back, &err), 0);
    assert_true(back.persistent && back.post_copy && !back.start);
    assert_string_equal(back.vm, VM);
    assert_string_equal(back.from, "hv1");
    assert_string_equal(back.to, "hv 2:x");
    assert_false(back.arrived);
    assert_int_equal(task_name_read("migrate/pad-/" VM "/a/b", &back, &err), 0);
    assert_true(back.arrived && back.autostart);
    assert_int_equal(task_name_read("start/-/" VM "/a/b", &back, &err), 0);
    assert_true(back.start && !back.persistent && !back.post_copy);
}

static void test_wrong_task_names(void **state)
{
    static const char *const wrong[] = {"",
                                        "task-42",
                                        "migrate",
                                        "migrate//" VM "/a/b",
                                        "migrate/x-/" VM "/a/b",
                                        "migrate/p/" VM "/a/b",
                                        "migrate/p-/" VM "/a",
                                        "migrate/p-/" VM "/a/",
                                        "migrate/p-/" VM "/a/b/c",
                                        "migrate/p-/deadbeef/a/b",
                                        "move/p-/" VM "/a/b"};
    struct task_name t = {.vm = VM, .from = "a", .to = "b/c"};
    char text[TASK_NAME_MAX], huge[2 * TASK_NAME_MAX];
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(task_name_read(wrong[i], &t, &err), -EINVAL);
    memset(huge, 'a', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    assert_int_equal(task_name_read(huge, &t, &err), -EINVAL);
    assert_int_equal(task_name_write(&t, text, &err), -EINVAL); /* a slash */
    memset(t.to, 'b', sizeof t.to - 1);
    assert_int_equal(task_name_write(&t, text, &err), -EINVAL); /* too long */
    t = (struct task_name){.vm = "vm1", .from = "a", .to = "b"};
    assert_int_equal(task_name_write(&t, text, &err), -EINVAL);
}

static struct task_name task(const char *from, const char *to)
{
    struct task_name t = {.persistent = true, .vm = VM};

    (void)snprintf(t.from, sizeof t.from, "%s", from);
    (void)snprintf(t.to, sizeof t.to, "%s", to);
    return t;
}

/* The VM goes on while two hosts are silent: neither is forgotten. */
static void test_leftovers_follow_the_vm(void **state)
{
    struct leftover_list l = {0};
    struct task_name t = task("a", "b");

    (void)state;
    leftover_list_add(&l, &t);
    leftover_list_add(&l, &t);
    assert_int_equal(l.n, 1);
    leftover_list_moved(&l, VM, "c");
    assert_int_equal(l.n, 2);
    assert_non_null(leftover_list_next(&l, "a", "c", 0));
    assert_non_null(leftover_list_next(&l, "b", "c", 0));
    assert_true(l.items[0].task.arrived && l.items[1].task.arrived);
    leftover_list_moved(&l, VM, "b"); /* where it is now, nothing is left over */
    assert_int_equal(l.n, 2);
    assert_non_null(leftover_list_next(&l, "a", "b", 0));
    const struct leftover *c = leftover_list_next(&l, "c", "b", 0);
    assert_non_null(c);
    assert_null(leftover_list_next(&l, "c", "b", c->number));
    t = c->task;
    leftover_list_drop(&l, &t);
    assert_int_equal(l.n, 1);
    leftover_list_moved(&l, "deadbeef-0000-4000-8000-00000000000b", "a");
    assert_non_null(leftover_list_next(&l, "a", "b", 0));
    leftover_list_release(&l);
}

static void test_notes_of_leftovers(void **state)
{
    char text[LEFTOVER_NOTE_MAX], more[LEFTOVER_NOTE_MAX];
    struct task_name t = task("a", "b");

    (void)state;
    assert_int_equal(leftovers_note_text(NULL, &t, true, text), 0);
    assert_string_equal(text, "<left-over task='migrate/p-/" VM "/a/b'></left-over>");
    t = task("c", "b");
    assert_int_equal(leftovers_note_text(text, &t, true, more), 0);
    assert_string_equal(more, "<left-over task='migrate/p-/" VM "/a/b'><also task='migrate/p-/" VM
                              "/c/b'/></left-over>");
    t = task("a", "d"); /* of the same host: the newer one */
    t.arrived = true;
    assert_int_equal(leftovers_note_text(more, &t, true, text), 0);
    assert_string_equal(text, "<left-over task='migrate/p-/" VM "/c/b'><also task='migrate/pd-/" VM
                              "/a/d'/></left-over>");
    t = task("c", "d");
    t.arrived = true;
    assert_int_equal(leftovers_note_text(text, &t, false, more), 0);
    assert_string_equal(more, "<left-over task='migrate/pd-/" VM "/a/d'></left-over>");
    t = task("a", "d"); /* who knows less removes nothing */
    for (int there = 0; there < 2; there++) {
        assert_int_equal(leftovers_note_text(more, &t, there, text), 0);
        assert_string_equal(text, more);
    }
    t = task("d", "a"); /* the same two the other way round */
    t.arrived = true;
    assert_int_equal(leftovers_note_text(more, &t, false, text), -ENOENT);
    assert_int_equal(leftovers_note_text("<x task=\"migrate/p-/" VM "/a/b\"/>", &t, true, text), 0);
    assert_non_null(strstr(text, "/a/b'><also"));
    assert_int_equal(leftovers_note_text("<x task='/><y task=\"z'", &t, false, text), -ENOENT);
    t = task("<", "b");
    assert_int_equal(leftovers_note_text(NULL, &t, true, text), -ENOENT);
}

/* A host that answers nothing more is asked nothing more, however many tasks are about it. */
static void test_a_stuck_host_is_asked_no_more(void **state)
{
    const struct libvirt_host host = {"hv1", "test:///default"};
    const struct libvirt_host_settings hosts[] = {{.name = "hv1", .uri = "test:///default"}};
    const struct libvirt_settings settings = {.hosts = {.items = hosts, .n = 1}};
    struct libvirt_connections *conns = libvirt_connections_new(&host, 1, NULL, NULL, NULL);
    struct migrations *m = migrations_new(conns, &settings);
    struct err err = {0};

    (void)state;
    for (int i = 0; i < MIGRATIONS_ASKING_MOST; i++)
        assert_int_equal(migrations_ask(m, 0, 1000 + i, &err), 0);
    assert_int_equal(migrations_ask(m, 0, 1100, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "hv1: 8 questions"));
    migrations_answered(m, 0, 2000);
    assert_int_equal(migrations_ask(m, 0, 2000 + MIGRATIONS_STUCK_MS, &err), 0);
    for (int i = 1; i < MIGRATIONS_ASKING_MOST; i++)
        migrations_answered(m, 0, 3000);
    assert_int_equal(migrations_ask(m, 0, 3001 + MIGRATIONS_STUCK_MS, &err), -ETIMEDOUT);
    assert_string_equal(err.text,
                        "hv1: no answer for 30 s; no more calls until it answers or its connection ends");
    migrations_answered(m, 0, 90000);
    assert_int_equal(migrations_ask(m, 0, 200000, &err), 0);
    migrations_answered(m, 0, 200000);
    migrations_release(m);
    libvirt_connections_release(conns);
}

static virTypedParameter number(const char *name, unsigned long long v)
{
    virTypedParameter p = {.type = VIR_TYPED_PARAM_ULLONG, .value.ul = v};

    (void)snprintf(p.field, sizeof p.field, "%s", name);
    return p;
}

static void test_job_statistics(void **state)
{
    const virTypedParameter params[] = {
        number("data_total", 1000),   number("data_remaining", 250), number("data_processed", 3u << 20),
        number("time_elapsed", 1500), number("downtime", 90),        number("downtime_net", 40)};
    const virTypedParameter rounds[] = {number("memory_remaining", 64u << 20), number("memory_iteration", 3),
                                        number("memory_bps", 50u << 20), number("memory_dirty_rate", 2560),
                                        number("memory_page_size", 4096)};
    const virTypedParameter slowed = {
        .field = "auto_converge_throttle", .type = VIR_TYPED_PARAM_INT, .value.i = 30};
    const virTypedParameter absurd[] = {number("data_total", 10), number("data_remaining", 11)};
    struct job_progress p;

    (void)state;
    vm_look_read_job(params, 6, &p);
    assert_int_equal(p.percent, 75);
    assert_within(p.elapsed_s, 1.5, 1e-9);
    assert_within(p.downtime_s, 0.04, 1e-9);
    assert_within(p.copied_mb, 3, 1e-9);
    vm_look_read_job(params, 5, &p);
    assert_within(p.downtime_s, 0.09, 1e-9);
    vm_look_read_job(rounds, 5, &p);
    assert_within(p.left_mb, 64, 1e-9);
    assert_within(p.rate_mb_s, 50, 1e-9);
    assert_within(p.dirty_mb_s, 10, 1e-9);
    assert_int_equal(p.round, 3);
    assert_true(isnan(p.slowed));
    vm_look_read_job(&slowed, 1, &p);
    assert_int_equal(p.slowed, 30);
    vm_look_read_job(absurd, 2, &p);
    assert_int_equal(p.percent, -1);
    vm_look_read_job(NULL, 0, &p);
    assert_true(p.percent == -1 && isnan(p.elapsed_s) && isnan(p.downtime_s));
}

static void test_flags(void **state)
{
    struct call c = {.task = {.persistent = true}, .how = {.mode = LIBVIRT_MIGRATION_P2P, .connections = 1}};

    (void)state;
    assert_int_equal(call_flags(&c), VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR | VIR_MIGRATE_PEER2PEER |
                                         VIR_MIGRATE_PERSIST_DEST | VIR_MIGRATE_UNDEFINE_SOURCE);
    c.task.persistent = false;
    c.how = (struct libvirt_migration){.mode = LIBVIRT_MIGRATION_MANAGED,
                                       .tls = true,
                                       .auto_converge = true,
                                       .post_copy = true,
                                       .connections = 2};
    assert_int_equal(call_flags(&c), VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR | VIR_MIGRATE_TLS |
                                         VIR_MIGRATE_AUTO_CONVERGE | VIR_MIGRATE_POSTCOPY |
                                         VIR_MIGRATE_PARALLEL);
    c.how = (struct libvirt_migration){.mode = LIBVIRT_MIGRATION_MANAGED, .copy_storage = LIBVIRT_COPY_FULL};
    assert_int_equal(call_flags(&c), VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR); /* all is shared */
    c.disks.targets.n = 1;
    assert_int_equal(call_flags(&c),
                     VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR | VIR_MIGRATE_NON_SHARED_DISK);
    c.how.copy_storage = LIBVIRT_COPY_INCREMENTAL;
    assert_int_equal(call_flags(&c),
                     VIR_MIGRATE_LIVE | VIR_MIGRATE_ABORT_ON_ERROR | VIR_MIGRATE_NON_SHARED_INC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decisions),
        cmocka_unit_test(test_decisions_on_starts),
        cmocka_unit_test(test_no_decision_loses_a_definition),
        cmocka_unit_test(test_task_names),
        cmocka_unit_test(test_wrong_task_names),
        cmocka_unit_test(test_leftovers_follow_the_vm),
        cmocka_unit_test(test_notes_of_leftovers),
        cmocka_unit_test(test_a_stuck_host_is_asked_no_more),
        cmocka_unit_test(test_job_statistics),
        cmocka_unit_test(test_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
