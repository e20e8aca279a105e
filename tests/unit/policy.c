/* The table of settings: every default is in range, and every bad value is refused with a message. */
#include "unit.h"

#include "model/snapshot_json.h"

#include <ballast/inventory.h>
#include <ballast/policy.h>

#include <errno.h>
#include <string.h>

static const struct {
    const char *key, *value;
    const char *back;  /* what policy_get() then says; NULL: it is refused */
    const char *wrong; /* what the sentence must contain */
} cases[] = {
    {"automation", "full", "full", NULL},
    {"automation", "disabled", NULL, "expected manual, partial or full"},
    {"automation", "", NULL, "expected manual, partial or full"},
    {"migration_threshold", "1", "1", NULL},
    {"migration_threshold", "5", "5", NULL},
    {"migration_threshold", "0", NULL, "migration_threshold is \"0\", expected a whole number from 1 to 5"},
    {"migration_threshold", "6", NULL, "is \"6\", expected a whole number"},
    {"migration_threshold", "2.5", NULL, "is \"2.5\", expected a whole number"},
    {"migration_threshold", "three", NULL, "is \"three\", expected a whole number"},
    {"migration_threshold", " 3", NULL, "is \" 3\", expected a whole number"},
    {"migration_threshold", "3 ", NULL, "is \"3 \", expected a whole number"},
    {"migration_threshold", "0x3", NULL, "is \"0x3\", expected a whole number"},
    {"migration_threshold", "nan", NULL, "is \"nan\", expected a whole number"},
    {"target", "auto", "auto", NULL},
    {"target", "0.05", "0.05", NULL},
    {"target", "0", "0", NULL},
    {"target", "-1", NULL, "or auto"},
    {"target", "1.5", NULL, "or auto"},
    {"moves_max", "auto", "auto", NULL},
    {"moves_max", "0", "0", NULL},
    {"moves_max", "1e3", "1000", NULL},
    {"moves_max", "-1", NULL, "or auto"},
    {"moves_max", "inf", NULL, "or auto"},
    {"cost_benefit", "false", "false", NULL},
    {"cost_benefit", "no", NULL, "true or false"},
    {"mem_overcommit", "1.25", "1.25", NULL},
    {"mem_overcommit", "0.05", NULL, "0.1 to 10"},
    {"mem_overcommit", "1e999", NULL, "is \"1e999\", expected a number"},
    {"mem_idle_percent", "-0", "0", NULL},
    {"seed", "9007199254740991", "9007199254740991", NULL},
    {"seed", "9007199254740993", NULL, "is \"9007199254740993\", expected a whole number"},
    {"seed", "auto", NULL, "is \"auto\", expected a whole number"},
    {"dpm.automation", "disabled", "disabled", NULL},
    {"dpm.automation", "full", NULL, "disabled, manual or automatic"},
    {"dpm.target", "63.5", "63.5", NULL},
    {"dpm.hosts_min", "0", NULL, "1 to 1000000"},
    {"dpm.mem_min_mb", "1e12", "1000000000000", NULL},
    {"tolerance", "18", NULL, "did you mean \"dpm.tolerance\""},
    {"dpm.tarjet", "63", NULL, "did you mean \"dpm.target\""},
    {"migration_treshold", "3", NULL, "did you mean \"migration_threshold\""},
    {"optional_moves", "false", NULL, "is not a known key, expected one of automation"},
    {"x", "1", NULL, "is not a known key, expected one of automation"},
    {"", "1", NULL, "is not a known key, expected one of automation"},
};

static const struct field *find(const char *key)
{
    for (size_t i = 0; i < policy_settings.n; i++) {
        if (strcmp(policy_settings.fields[i].name, key) == 0)
            return &policy_settings.fields[i];
    }
    return NULL;
}

static void test_cases(void **state)
{
    struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct policy p;
        struct policy before;
        struct err err = {0};
        policy_default(&p);
        before = p;
        int r = policy_set(&p, cases[i].key, cases[i].value, &err);
        if (cases[i].back) {
            assert_int_equal(r, 0);
            assert_string_equal(policy_get(&p, find(cases[i].key), &a), cases[i].back);
            continue;
        }
        print_message("%s=%s: %s\n", cases[i].key, cases[i].value, err.text);
        assert_int_equal(r, -EINVAL);
        assert_int_equal(err.code, -EINVAL);
        assert_non_null(strstr(err.text, cases[i].wrong));
        assert_memory_equal(&p, &before, sizeof p);
    }
    arena_release(&a);
}

/* Each default is one that policy_set() takes, and policy_get() gives it back. */
static void test_defaults(void **state)
{
    struct arena a = {0};
    struct policy p;

    (void)state;
    policy_default(&p);
    assert_true(p.optional_moves);
    for (size_t i = 0; i < policy_settings.n; i++) {
        const struct field *f = &policy_settings.fields[i];
        struct err err = {0};
        assert_int_equal(policy_set(&p, f->name, f->fallback, &err), 0);
        assert_string_equal(policy_get(&p, f, &a), f->fallback);
        assert_true(*f->meaning);
    }
    for (size_t i = 0; i < policy_recorded.n; i++) {
        const struct field *f = &policy_recorded.fields[i];

        assert_int_equal(i >= policy_settings.n, f->type == FIELD_SKIPPED);
        assert_int_equal(policy_is_former_setting(f->name), f->type == FIELD_SKIPPED);
    }
    assert_int_equal(policy_set(&p, "dpm.off_max_s", "5", NULL), 0);
    assert_int_equal(p.migration_threshold, 3);
    assert_int_equal(p.moves_max, MOVES_AUTO);
    assert_int_equal(p.automation, AUTOMATION_MANUAL);
    assert_int_equal(p.mem_admission, MEM_ADMISSION_CONSUMED);
    assert_true(p.cost_benefit && p.min_goodness && !p.dpm.enabled);
    assert_true(p.dpm.target == 63 && p.dpm.tolerance == 18 && p.dpm.ratio == 40);
    arena_release(&a);
}

#define SNAPSHOT(policy)                                                                                     \
    "{\"format\":\"ballast-snapshot/1\",\"time\":\"2026-01-01T00:00:00Z\",\"cluster\":\"c\",\"hosts\":[],"   \
    "\"policy\":" policy "}"

static int read_snapshot(const char *text, struct arena *a, struct inventory *ret,
                         struct unknown_fields *unknown, struct err *err)
{
    return snapshot_read_inventory(text, strlen(text), a, ret, unknown, err);
}

/* In a snapshot, what has no value, and what is not used any more, keeps the default; a name of no version is
 * noted. */
static void test_json(void **state)
{
    struct unknown_fields unknown = {0};
    struct arena a = {0};
    struct inventory inv;
    struct err err = {0};
    struct policy expected;

    (void)state;
    policy_default(&expected);
    expected.moves_max = 7;
    expected.dpm.enabled = true;
    if (read_snapshot(SNAPSHOT("{\"moves_max\":7,\"target\":\"auto\",\"seed\":null,\"room\":null,"
                               "\"dpm\":{\"enabled\":true,\"off_max_s\":600,\"low_s\":null,\"foo\":1},"
                               "\"bar\":{\"foo\":1}}"),
                      &a, &inv, &unknown, &err) < 0)
        fail_msg("%s", err.text);
    assert_memory_equal(inv.policy, &expected, sizeof expected);
    assert_int_equal(unknown.n, 2);
    assert_string_equal(unknown.items[0].pointer, "/policy/dpm/foo");
    assert_string_equal(unknown.items[1].pointer, "/policy/bar");
    arena_release(&a);
}

static void test_wrong_json(void **state)
{
    static const struct {
        const char *text, *wrong;
    } wrong[] = {
        {SNAPSHOT("7"), "/policy: 7, expected an object"},
        {SNAPSHOT("{\"dpm\":7}"), "/policy/dpm: 7, expected an object"},
        {SNAPSHOT("{\"dpm\":{\"target\":120}}"), "/policy/dpm/target: 120, expected a number from 0 to 100"},
        {SNAPSHOT("{\"moves_max\":\"most\"}"),
         "/policy/moves_max: \"most\", expected a whole number from 0 to 1000000 or auto"},
        {SNAPSHOT("{\"automation\":\"automatic\"}"),
         "/policy/automation: \"automatic\", expected manual, partial or full"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong); i++) {
        struct arena a = {0};
        struct inventory inv;
        struct err err = {0};

        assert_int_equal(read_snapshot(wrong[i].text, &a, &inv, NULL, &err), -EINVAL);
        assert_string_equal(err.text, wrong[i].wrong);
        arena_release(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_wrong_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
