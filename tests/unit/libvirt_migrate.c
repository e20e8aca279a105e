/* What follows from what both hosts of a migration show; names of tasks; statistics of jobs. */
#include "unit.h"

#include "actuators/libvirt/call.h"
#include "actuators/libvirt/decide.h"
#include "actuators/libvirt/task_name.h"
#include "actuators/libvirt/vm_look.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define VM "deadbeef-0000-4000-8000-00000000000a"

static const struct side silent = {.is = SIDE_SILENT};
static const struct side none = {.is = SIDE_NONE};
static const struct side off = {.is = SIDE_OFF, .defined = true};
static const struct side gone = {.is = SIDE_OFF, .defined = true, .moved_out = true};
static const struct side waits = {.is = SIDE_WAITING};
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
    bool settled;
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
    {&waits, &runs, CALL_NONE, false, VERDICT_ARRIVED, REPAIR_NONE, true},
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
    /* it ended: one definition is left, and never none */
    {&off, &none, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_NONE, true},
    {&off, &off, CALL_NONE, false, VERDICT_UNKNOWN, REPAIR_UNDEFINE_TO, true},
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
        struct decision d = decide_migration(cases[i].from, cases[i].to, cases[i].call, !cases[i].transient);

        if (d.verdict != cases[i].verdict || d.repair != cases[i].repair || d.settled != cases[i].settled)
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
        bool settled;
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
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(starts); i++) {
        struct decision d = decide_start(starts[i].from, starts[i].to, starts[i].call);

        if (d.verdict != starts[i].verdict || d.repair != starts[i].repair || d.settled != starts[i].settled)
            fail_msg("case %zu: verdict %d, repair %d, settled %d", i, (int)d.verdict, (int)d.repair,
                     (int)d.settled);
    }
}

/* Over all pairs of states: what must never be, whatever the table says. */
static void test_no_decision_loses_a_definition(void **state)
{
    static const struct side *const sides[] = {&silent, &none,      &off,   &gone,     &waits,
                                               &runs,   &undefined, &moves, &finishing};
    const size_t n = sizeof sides / sizeof sides[0];

    (void)state;
    for (size_t i = 0; i < n * n * 16; i++) {
        const struct side *from = sides[i % n], *to = sides[i / n % n];
        struct decision d = libvirt_decide(from, to, (enum call_state)(i / n / n % 4),
                                           (i / n / n / 4 & 1) != 0, (i / n / n / 8 & 1) != 0);

        if (d.repair == REPAIR_UNDEFINE_FROM)
            assert_true(from->is == SIDE_OFF && to->defined && to->is != SIDE_SILENT);
        if (d.repair == REPAIR_UNDEFINE_TO)
            assert_true(to->is == SIDE_OFF && from->defined && from->is != SIDE_SILENT);
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
        cmocka_unit_test(test_job_statistics),
        cmocka_unit_test(test_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
