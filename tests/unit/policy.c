/* The table of settings: every default is in range, and every bad value is refused with a message. */
#include "unit.h"

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
    {"migration_threshold", "0", NULL, "a whole number from 1 to 5"},
    {"migration_threshold", "6", NULL, "out of range"},
    {"migration_threshold", "2.5", NULL, "has a fraction"},
    {"migration_threshold", "three", NULL, "not a number"},
    {"migration_threshold", " 3", NULL, "not a number"},
    {"migration_threshold", "3 ", NULL, "not a number"},
    {"migration_threshold", "0x3", NULL, "not a number"},
    {"migration_threshold", "nan", NULL, "not a number"},
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
    {"mem_overcommit", "1e999", NULL, "not a number"},
    {"mem_idle_percent", "-0", "0", NULL},
    {"seed", "9007199254740991", "9007199254740991", NULL},
    {"seed", "9007199254740993", NULL, "out of range"},
    {"seed", "auto", NULL, "not a number"},
    {"dpm.automation", "disabled", "disabled", NULL},
    {"dpm.automation", "full", NULL, "disabled, manual or automatic"},
    {"dpm.target", "63.5", "63.5", NULL},
    {"dpm.hosts_min", "0", NULL, "1 to 1000000"},
    {"dpm.mem_min_mb", "1e12", "1000000000000", NULL},
    {"tolerance", "18", NULL, "did you mean dpm.tolerance"},
    {"dpm.tarjet", "63", NULL, "did you mean dpm.target"},
    {"migration_treshold", "3", NULL, "did you mean migration_threshold"},
    {"optional_moves", "false", NULL, "no such setting"},
    {"x", "1", NULL, "no such setting"},
    {"", "1", NULL, "no such setting"},
};

static const struct setting *find(const char *key)
{
    size_t n;
    const struct setting *settings = policy_settings(&n);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(settings[i].key, key) == 0)
            return &settings[i];
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
    size_t n;
    const struct setting *settings = policy_settings(&n);

    (void)state;
    policy_default(&p);
    assert_true(p.optional_moves);
    for (size_t i = 0; i < n; i++) {
        struct err err = {0};
        assert_int_equal(policy_set(&p, settings[i].key, settings[i].fallback, &err), 0);
        assert_string_equal(policy_get(&p, &settings[i], &a), settings[i].fallback);
        assert_true(*settings[i].meaning);
    }
    assert_int_equal(p.migration_threshold, 3);
    assert_int_equal(p.moves_max, MOVES_AUTO);
    assert_int_equal(p.automation, AUTOMATION_MANUAL);
    assert_int_equal(p.mem_admission, MEM_ADMISSION_CONSUMED);
    assert_true(p.cost_benefit && p.min_goodness && !p.dpm.enabled);
    assert_true(p.dpm.target == 63 && p.dpm.tolerance == 18 && p.dpm.ratio == 40);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
