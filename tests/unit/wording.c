/* Every finding has a sentence, and parts that several sentences share are worded to the letter. The
 * sentences themselves are in the expected files of tests/scenarios. */
#include "unit.h"

#include "model/snapshot_build.h"
#include "render/wording/wording.h"

#include <string.h>

static void make_snapshot(struct arena *a, struct snapshot *ret)
{
    struct inventory inv = {.cluster = "prod", .time = 1767225600};
    struct err err = {0};

    struct seen_host *h = inventory_add_host(&inv, a);
    h->is.id = "h1";
    h->is.total[RES_CPU] = 10000;
    h->is.total[RES_MEM] = 4096;
    h->is.cores = 4;
    struct seen_vm *v = inventory_add_vm(&inv, a);
    v->is.vcpus = 1;
    v->is.mem_mb = 1024;
    vm_facts_default(&v->is);
    v->is.id = "v1";
    v->is.sample_bad = "its CPU use is given as -5 MHz";
    v->host = "h1";
    inventory_add_rule(&inv, a)->is.id = "r1";
    if (snapshot_build(&inv, a, ret, &err) < 0)
        fail_msg("%s", err.text);
}

/* With what a sentence cannot do without. */
static struct finding made(enum finding_code code, const struct finding *because)
{
    return (struct finding){
        .code = code,
        .check = CHECK_MEMORY,
        .subjects = {{SUBJECT_VM, 0}, {SUBJECT_OTHER_VM, 0}, {SUBJECT_HOST, 0}, {SUBJECT_RULE, 0}},
        .figures = {{FIGURE_HOSTS, 2},
                    {FIGURE_HOSTS_ALL, 3},
                    {FIGURE_HOSTS_MIN, 1},
                    {FIGURE_VMS, 2},
                    {FIGURE_VMS_ALL, 9},
                    {FIGURE_DAYS, 4},
                    {FIGURE_DAYS_ALL, 5},
                    {FIGURE_BOOT_S, 300},
                    {FIGURE_AT, 1767225600},
                    {FIGURE_UNTIL, 1767225600},
                    {FIGURE_READY_BY, 1767225600}},
        .because = because};
}

static bool is_sentence(const char *text)
{
    return text && strlen(text) > 1 && text[strlen(text) - 1] == '.' && !strstr(text, "(null)");
}

static void test_every_code(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int code = FIND_NONE + 1; code < finding_code_count; code++) {
        bool phrase = code >= FIND_SAMPLE_MARKED && code <= FIND_SAMPLE_OLD;
        const struct finding behind = {.code = FIND_NO_HOST};
        struct finding f = made((enum finding_code)code, &behind);
        const char *text = wording_text(&s, &f, &a);
        if (!text || (!phrase && !is_sentence(text)))
            fail_msg("code %d: %s", code, text ? text : "no sentence");
    }
    assert_null(wording_text(&s, NULL, &a));
    arena_release(&a);
}

static void test_every_check(void **state)
{
    const struct finding bad = {.code = FIND_SAMPLE_MARKED, .subjects = {{SUBJECT_VM, 0}}};
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int check = 0; check < check_count; check++) {
        struct finding f = made(FIND_CHECK, &bad);
        f.check = (enum check)check;
        if (!is_sentence(wording_text(&s, &f, &a)))
            fail_msg("%s: %s", check_name(f.check), wording_text(&s, &f, &a));
    }
    arena_release(&a);
}

static void test_every_power_check(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int check = 0; check < power_check_count; check++) {
        const struct finding f = {.code = FIND_POWER,
                                  .power = (enum power_check)check,
                                  .subjects = {{SUBJECT_VM, 0}, {SUBJECT_HOST, 0}, {SUBJECT_RULE, 0}},
                                  .figures = {{FIGURE_HOSTS, 2},
                                              {FIGURE_VMS, 2},
                                              {FIGURE_DAYS, 4},
                                              {FIGURE_DAYS_ALL, 5},
                                              {FIGURE_IS_S, 60},
                                              {FIGURE_LEAST_S, 90},
                                              {FIGURE_EVACUATE_S, 30},
                                              {FIGURE_AT, 1767225600},
                                              {FIGURE_UNTIL, 1767225600},
                                              {FIGURE_READY_BY, 1767225600}}};
        if (!is_sentence(wording_text(&s, &f, &a)))
            fail_msg("%s: %s", power_check_name(f.power), wording_text(&s, &f, &a));
    }
    arena_release(&a);
}

static void test_amounts(void **state)
{
    static const struct {
        enum resource r;
        double need;
        const char *expected;
    } cases[] = {
        {RES_CPU, 999,
         "It reserves 999 MHz of CPU, and the cluster has 0 MHz left to reserve: 1.5 GHz is missing."},
        {RES_CPU, 2500,
         "It reserves 2.5 GHz of CPU, and the cluster has 0 MHz left to reserve: 1.5 GHz is missing."},
        {RES_MEM, 1023,
         "It reserves 1023 MiB of memory, and the cluster has 0 MiB left to reserve: 1.5 GiB is missing."},
    };
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        const struct finding f = {
            .code = FIND_POOL_SHORTAGE,
            .resource = cases[i].r,
            .subjects = {{SUBJECT_POOL, IX_NONE}},
            .figures = {{FIGURE_NEED, cases[i].need}, {FIGURE_LEFT, 0}, {FIGURE_MISSING, 1540}}};
        assert_string_equal(wording_text(&s, &f, &a), cases[i].expected);
    }
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code),
        cmocka_unit_test(test_every_check),
        cmocka_unit_test(test_every_power_check),
        cmocka_unit_test(test_amounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
