/* Every finding has a sentence, every template parses and names only what exists, and a finding that lacks
 * everything is no reason to crash. The sentences themselves are in the expected files of tests/scenarios. */
#include "unit.h"

#include "model/snapshot_build.h"
#include "render/wording/templates.h"
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

/* A name that does not exist, and a brace that is not closed, stay in the text. */
static void assert_expands(const struct sentence *w, const char *text)
{
    const char *expanded = wording_expand(w, text);

    if (strpbrk(expanded, "{}"))
        fail_msg("%s: %s", text, expanded);
}

static bool is_word(const char *name, const char *text)
{
    enum reason reason;
    enum check check;
    enum power_check power;

    return strcmp(name, "reason") == 0  ? reason_parse(text, &reason) == 0
           : strcmp(name, "check") == 0 ? check_parse(text, &check) == 0
           : strcmp(name, "power") == 0 ? power_check_parse(text, &power) == 0
                                        : true;
}

/* "check=memory !kept at>{time}": each name, and what it is compared with, exists. */
static void assert_conditions(const struct sentence *w, const char *when)
{
    char *rest = arena_strdup(w->a, when);
    const char *condition;

    while ((condition = strsep(&rest, " ")) != NULL) {
        condition += *condition == '!';
        size_t len = strcspn(condition, "=<>");
        const char *name = arena_strndup(w->a, condition, len);
        if (len > 0)
            assert_expands(w, arena_printf(w->a, "{%s}", name));
        if (len == 0 ? *when != '\0' : condition[len] && !is_word(name, condition + len + 1))
            fail_msg("%s: %s", when, condition);
        assert_expands(w, condition);
    }
}

static bool is_used(const char *phrase, struct arena *a)
{
    const char *braces = arena_printf(a, "{%s}", phrase);
    const char *capital = arena_printf(a, "{^%s}", phrase);

    for (size_t i = 0; i < wording_templates_count; i++)
        if (strstr(wording_templates[i].text, braces) || strstr(wording_templates[i].text, capital))
            return true;
    for (size_t i = 0; i < wording_phrases_count; i++)
        if (strstr(wording_phrases[i].text, braces) || strstr(wording_phrases[i].text, capital))
            return true;
    return false;
}

static void test_every_template(void **state)
{
    const struct finding none = {.code = FIND_CHECK};
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int pass = 0; pass < 2; pass++) {
        const struct finding full = made(FIND_CHECK, &none);
        const struct sentence w = {.snap = &s, .f = pass == 0 ? &full : &none, .a = &a};
        for (size_t i = 0; i < wording_templates_count; i++) {
            assert_expands(&w, wording_templates[i].text);
            assert_conditions(&w, wording_templates[i].when);
        }
        for (size_t i = 0; i < wording_phrases_count; i++) {
            assert_expands(&w, wording_phrases[i].text);
            assert_conditions(&w, wording_phrases[i].when);
            if (!is_used(wording_phrases[i].name, &a))
                fail_msg("%s is not used", wording_phrases[i].name);
        }
    }
    arena_release(&a);
}

static void test_finding_without_anything(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int code = FIND_NONE + 1; code < finding_code_count; code++)
        assert_non_null(wording_text(&s, &(struct finding){.code = (enum finding_code)code}, &a));
    for (int i = 0; i < check_count; i++)
        assert_non_null(wording_text(&s, &(struct finding){.code = FIND_CHECK, .check = (enum check)i}, &a));
    for (int i = 0; i < power_check_count; i++)
        assert_non_null(
            wording_text(&s, &(struct finding){.code = FIND_POWER, .power = (enum power_check)i}, &a));
    arena_release(&a);
}

static void test_every_code(void **state)
{
    struct arena a = {0};
    struct snapshot s;

    (void)state;
    make_snapshot(&a, &s);
    for (int code = FIND_NONE + 1; code < finding_code_count; code++) {
        bool phrase = (code >= FIND_SAMPLE_MARKED && code <= FIND_UNEVEN_ELSEWHERE) ||
                      code == FIND_ROOM_MADE || code == FIND_RULE_MOVES;
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
         "The VM reserves 999 MHz of CPU, but the cluster has only 0 MHz left to reserve: 1.5 GHz is "
         "missing."},
        {RES_CPU, 2500,
         "The VM reserves 2.5 GHz of CPU, but the cluster has only 0 MHz left to reserve: 1.5 GHz is "
         "missing."},
        {RES_MEM, 1023,
         "The VM reserves 1023 MiB of memory, but the cluster has only 0 MiB left to reserve: 1.5 GiB is "
         "missing."},
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
        cmocka_unit_test(test_every_template),    cmocka_unit_test(test_finding_without_anything),
        cmocka_unit_test(test_every_code),        cmocka_unit_test(test_every_check),
        cmocka_unit_test(test_every_power_check), cmocka_unit_test(test_amounts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
