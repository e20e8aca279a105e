/* The answers of external units: what is refused when they are read, what stages make of them, and what is
 * told of them. */
#include "rank_once.h"
#include "unit.h"

#include "base/strbuf.h"
#include "core/fit/rank.h"
#include "model/snapshot_build.h"
#include "model/snapshot_json.h"

#include <math.h>
#include <string.h>

#define HOST(id) "{\"id\":\"" id "\",\"state\":\"on\",\"cpu_mhz\":8000,\"cores\":4,\"mem_mb\":4096}"
#define VM(id)                                                                                               \
    "{\"id\":\"" id "\",\"host\":\"h1\",\"state\":\"on\",\"vcpus\":2,\"mem_mb\":512,\"pipeline\":\"p\"}"
#define HEAD                                                                                                 \
    "{\"format\":\"ballast-snapshot/"                                                                        \
    "1\",\"cluster\":\"c\",\"time\":\"2026-01-01T01:00:00Z\",\"hosts\":[" HOST("h1") "," HOST(               \
        "h2") "," HOST("h3") "],\"vms\":[" VM("a") "," VM("b") "],"
#define STAGES(stages) "\"pipelines\":[{\"name\":\"p\",\"stages\":[" stages "]}]"
#define ASKS "{\"name\":\"s\",\"external\":\"u\",\"filter\":\"$answer\"}"
#define AT ",\"at\":\"2026-01-01T00:59:30Z\""

static int make(const char *text, struct arena *a, struct snapshot *ret, struct err *err)
{
    struct inventory inv;
    int r = snapshot_read_inventory(text, strlen(text), a, &inv, NULL, err);

    return r < 0 ? r : snapshot_build(&inv, a, ret, err);
}

static const struct {
    const char *more, *wrong;
} mistakes[] = {
    {STAGES("{\"name\":\"s\",\"filter\":\"$answer\"}"),
     "/pipelines/0/stages/0: $answer without external, expected the external unit that answers"},
    {STAGES("{\"name\":\"s\",\"score\":1,\"multiplier\":\"$answer\"}"),
     "/pipelines/0/stages/0: $answer without external"},
    {STAGES("{\"name\":\"s\",\"external\":\"u\",\"filter\":true}"),
     "/pipelines/0/stages/0/external: without $answer"},
    {STAGES("{\"name\":\"s\",\"external\":\"\",\"filter\":\"$answer\"}"),
     "/pipelines/0/stages/0/external: empty or too long"},
    {STAGES("{\"name\":\"s\",\"external\":\"u\",\"count\":\"$answer\"}"),
     "/pipelines/0/stages/0/external: without $answer"},
    {STAGES("{\"name\":\"s\",\"count\":1,\"limit\":\"$answer\"}"),
     "/pipelines/0/stages/0: $answer in a count"},
    {STAGES("{\"name\":\"s\",\"external\":\"u\",\"score\":\"$answer\",\"on_failure\":\"ignore\"}"),
     "/pipelines/0/stages/0/on_failure: without external and filter"},
    {STAGES("{\"name\":\"s\",\"filter\":true,\"on_failure\":\"ignore\"}"),
     "/pipelines/0/stages/0/on_failure: without external and filter"},
    {STAGES("{\"name\":\"s\",\"external\":\"u\",\"filter\":\"$answer\",\"on_failure\":\"maybe\"}"),
     "/pipelines/0/stages/0/on_failure: \"maybe\", expected"},
    {"\"answers\":[{\"vms\":[\"a\"],\"hosts\":[]" AT "}]", "/answers/0/unit: missing"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[]}]", "/answers/0/at: missing"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"]" AT "}]", "/answers/0/hosts: neither hosts nor an error"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[],\"error\":\"x\"" AT "}]",
     "/answers/0/hosts: an error with hosts or scores"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[\"h1\"],\"scores\":[1,2]" AT "}]",
     "/answers/0/hosts: scores that are not as many as hosts"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[\"h1\"],\"scores\":[\"1\"]" AT "}]",
     "/answers/0/scores/0: \"1\", expected a number"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[\"h1\"],\"scores\":[1],\"multipliers\":[]" AT
     "}]",
     "/answers/0/hosts: multipliers that are not as many"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"x\"],\"hosts\":[]" AT "}]",
     "/answers/0/vms/0: no object of /vms"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[],\"hosts\":[\"h1\",\"x\"]" AT "}]",
     "/answers/0/hosts/1: no object of /hosts"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[],\"hosts\":[\"h1\",\"h1\"]" AT "}]",
     "/answers/0/hosts: \"h1\" is listed twice"},
    {"\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\",\"b\"],\"hosts\":[]" AT
     "},{\"unit\":\"u\",\"vms\":[\"b\"],\"hosts\":[]" AT "}]",
     "/answers/1: unit \"u\" answers about \"b\" twice"},
};

static void test_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(mistakes); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        const char *more = mistakes[i].more;
        const char *text = arena_printf(&a, "%s%s%s%s}", HEAD, strstr(more, "pipelines") ? "" : STAGES(ASKS),
                                        strstr(more, "pipelines") ? "" : ",", more);

        if (make(text, &a, &s, &err) == 0)
            fail_msg("%s is accepted", more);
        if (strncmp(err.text, mistakes[i].wrong, strlen(mistakes[i].wrong)) != 0)
            fail_msg("%s: %s", more, err.text);
        arena_release(&a);
    }
}

/* What one stage makes of one answer about VM a: the hosts to which it may come, stay at, as digits. */
static const struct {
    const char *stage, *answer, *place, *correct;
} answers[] = {
    {"\"filter\":\"$answer\"", "\"hosts\":[\"h2\"]" AT, "2", "2"},
    {"\"filter\":\"$answer\"", "\"hosts\":[]" AT, "", ""},
    {"\"filter\":[\"not\",\"$answer\"]", "\"hosts\":[\"h2\"]" AT, "13", "13"},
    {"\"filter\":[\">\",\"$answer\",1]", "\"hosts\":[\"h1\",\"h2\",\"h3\"],\"scores\":[1,2,-3]" AT, "2", "2"},
    {"\"filter\":[\">\",\"$answer\",-9]", "\"hosts\":[\"h1\"],\"scores\":[1]" AT, "1", "1"},
    {"\"filter\":\"$answer\"", "\"hosts\":[\"h1\"],\"scores\":[1]" AT, "", ""},
    {"\"filter\":[\"or\",\"$answer\",[\"=\",\"$host.id\",\"h3\"]]", "\"hosts\":[\"h1\"]" AT, "13", "13"},
    /* failed, too old, about another VM: refuse binds who comes, and moves nobody away */
    {"\"filter\":\"$answer\"", "\"error\":\"no answer in 5 s\"" AT, "", "123"},
    {"\"filter\":\"$answer\",\"on_failure\":\"refuse\"", "\"error\":\"no answer in 5 s\"" AT, "", "123"},
    {"\"filter\":\"$answer\",\"on_failure\":\"ignore\"", "\"error\":\"no answer in 5 s\"" AT, "123", "123"},
    {"\"filter\":\"$answer\"", "\"hosts\":[\"h2\"],\"at\":\"2026-01-01T00:50:00Z\"", "2", "2"},
    {"\"filter\":\"$answer\"", "\"hosts\":[\"h2\"],\"at\":\"2026-01-01T00:49:59Z\"", "", "123"},
    {"\"filter\":\"$answer\",\"on_failure\":\"ignore\"", "\"hosts\":[\"h2\"],\"at\":\"2026-01-01T00:49:59Z\"",
     "123", "123"},
    {"\"filter\":\"$answer\"", NULL, "", "123"},
    {"\"filter\":\"$answer\",\"on_failure\":\"ignore\"", NULL, "123", "123"},
    {"\"filter\":[\"default\",\"$answer\",[\"=\",\"$host.id\",\"h3\"]]", NULL, "3", "123"},
};

static void check_hosts(size_t i, const struct fit *fit, enum fit_use use, const char *expected,
                        struct arena *a)
{
    for (uint32_t h = 0; h < 3; h++) {
        bool fits = strchr(expected, (int)('1' + h)) != NULL;

        if (fit_refuses(fit, use, 0, h) == fits || (fit_refusal(fit, use, 0, h, NULL, a) == NULL) != fits)
            fail_msg("%s with %s: h%u to %s, expected %d", answers[i].stage, answers[i].answer, h + 1,
                     fit_use_name(use), fits);
    }
}

static void test_filters(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(answers); i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        struct fit fit;
        const char *text =
            arena_printf(&a,
                         "%s\"pipelines\":[{\"name\":\"p\",\"stages\":[{\"name\":\"s\",\"external\":\"u\",%s,"
                         "\"applies\":[\"place\",\"move\",\"correct\"]}]}],\"answers\":[{\"unit\":\"u\","
                         "\"vms\":[\"%s\"],%s}]}",
                         HEAD, answers[i].stage, answers[i].answer ? "a" : "b",
                         answers[i].answer ? answers[i].answer : "\"hosts\":[\"h2\"]" AT);

        if (make(text, &a, &s, &err) < 0)
            fail_msg("%s: %s", answers[i].stage, err.text);
        fit_compile(&s, &a, &fit);
        check_hosts(i, &fit, FIT_PLACE, answers[i].place, &a);
        check_hosts(i, &fit, FIT_CORRECT, answers[i].correct, &a);
        arena_release(&a);
    }
}

static double nothing(const void *with, uint32_t vm, const struct expression_node *variable, uint32_t host)
{
    (void)with, (void)vm, (void)variable, (void)host;
    return UNKNOWN;
}

/* The unit's scores rank hosts; a host without one gets none. */
static void test_scores(void **state)
{
    static const char text[] =
        HEAD STAGES("{\"name\":\"s\",\"external\":\"u\",\"score\":\"$answer\","
                    "\"multiplier\":[\"default\",\"$answer.multiplier\",2],\"normalise\":\"none\"},"
                    "{\"name\":\"t\",\"external\":\"v\",\"bucket\":[\"default\",\"$"
                    "answer\",7]}") ","
                                    "\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],"
                                    "\"hosts\":[\"h3\",\"h1\"],\"scores\":[4.5,-1],\"multipliers\":[2,-3]" AT
                                    "},"
                                    "{\"unit\":\"v\",\"vms\":[\"a\"],\"hosts\":["
                                    "\"h2\"],\"scores\":[3]" AT "}]}";
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct fit fit;
    const struct expression_live live = {.value = nothing};
    struct fit_ranked hosts[3] = {{.host = 0}, {.host = 1}, {.host = 2}};

    (void)state;
    if (make(text, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    fit_compile(&s, &a, &fit);
    rank_once(&fit, 0, &live, hosts, 3, &a);
    assert_within(hosts[0].score, 3, 0);
    assert_within(hosts[1].score, 0, 0);
    assert_within(hosts[2].score, 9, 0);
    assert_within(hosts[0].buckets[0], 7, 0);
    assert_within(hosts[1].buckets[0], 3, 0);
    rank_once(&fit, 1, &live, hosts, 3, &a); /* nobody has answered about b */
    assert_within(hosts[2].score, 0, 0);
    arena_release(&a);
}

/* VMs with one answer are a class; with different ones they are not. */
static void test_classes(void **state)
{
    static const char *const both[] = {"\"vms\":[\"a\",\"b\"],\"hosts\":[\"h1\"]" AT "}",
                                       "\"vms\":[\"a\"],\"hosts\":[\"h1\"]" AT
                                       "},{\"unit\":\"u\",\"vms\":[\"b\"],\"hosts\":[\"h1\"]" AT "}"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct arena a = {0};
        struct snapshot s;
        struct err err = {0};
        struct fit fit;

        if (make(arena_printf(&a, "%s,\"answers\":[{\"unit\":\"u\",%s]}", HEAD STAGES(ASKS), both[i]), &a, &s,
                 &err) < 0)
            fail_msg("%s", err.text);
        fit_compile(&s, &a, &fit);
        assert_int_equal(fit.n_classes, i + 1);
        arena_release(&a);
    }
}

/* Written and read again, answers are the same. */
static void test_round_trip(void **state)
{
    static const char text[] = HEAD STAGES(
        ASKS) ","
              "\"answers\":[{\"unit\":\"u\",\"vms\":[\"a\"],\"hosts\":[\"h1\",\"h3\"],\"words\":\"warm\"" AT
              "},"
              "{\"unit\":\"u\",\"vms\":[\"b\"],\"error\":\"it hangs\"" AT "},"
              "{\"unit\":\"w\",\"vms\":[\"b\",\"a\"],\"hosts\":[\"h3\",\"h2\"],\"scores\":[0.1,2]" AT "}]}";
    static const char *const written[] = {
        "\"external\": \"u\", \"filter\": \"$answer\"",
        "\"hosts\": [\"h1\", \"h3\"], \"at\": \"2026-01-01T00:59:30Z\", \"words\": \"warm\"",
        "\"vms\": [\"b\"], \"at\": \"2026-01-01T00:59:30Z\", \"error\": \"it hangs\"",
        "\"vms\": [\"a\", \"b\"], \"hosts\": [\"h2\", \"h3\"], \"scores\": [2, 0.1]"};
    struct arena a = {0};
    struct snapshot s;
    struct err err = {0};
    struct strbuf once;
    struct strbuf twice;

    (void)state;
    strbuf_init(&once, STRBUF_NO_LIMIT);
    strbuf_init(&twice, STRBUF_NO_LIMIT);
    if (make(text, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    snapshot_dump(&s, &once);
    for (size_t i = 0; i < ELEMENTS(written); i++)
        if (!strstr(once.text, written[i]))
            fail_msg("%s is not in %s", written[i], once.text);
    if (make(once.text, &a, &s, &err) < 0)
        fail_msg("%s", err.text);
    snapshot_dump(&s, &twice);
    assert_string_equal(once.text, twice.text);
    strbuf_release(&once);
    strbuf_release(&twice);
    arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_filters),    cmocka_unit_test(test_scores),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
