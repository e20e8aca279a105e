/* Requests on the socket: which are accepted. */
#include "unit.h"

#include "request/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *line;
    int code;
    enum request_kind kind;
    const char *says; /* part of the sentence */
} cases[] = {
    {"{\"command\": \"status\"}", 0, REQUEST_STATUS, NULL},
    {"{\"command\":\"apply\",\"ids\":[3,1]}", 0, REQUEST_APPLY, NULL},
    {"{\"command\": \"history\", \"limit\": 5}", 0, REQUEST_HISTORY, NULL},
    {"{\"command\": \"samples\"}", 0, REQUEST_SAMPLES, NULL},
    {"{\"command\": \"maintenance\", \"mode\": \"exit\", \"host\": \"esx1\"}", 0, REQUEST_MAINTENANCE, NULL},
    {"{\"command\": \"place\", \"vms\": [\"web 1\", \"vm-2\"], \"apply\": true}", 0, REQUEST_PLACE, NULL},
    {"{\"command\": \"migrate\", \"vm\": \"web 1\", \"apply\": true}", 0, REQUEST_MIGRATE, NULL},
    {"{\"command\": \"standby\", \"host\": \"esx2\"}", 0, REQUEST_STANDBY, NULL},
    {"{\"command\": \"wake\", \"host\": \"esx2\", \"verify\": true}", 0, REQUEST_WAKE, NULL},
    {"{\"command\": \"pause\"}", 0, REQUEST_PAUSE, NULL},
    {"{\"command\": \"freeze\"}", 0, REQUEST_PAUSE, NULL}, /* an older command */
    {"{\"command\": \"thaw\"}", 0, REQUEST_RESUME, NULL},
    {"{\"command\": \"migrate\", \"apply\": true}", -EINVAL, 0, "\"vm\": missing in \"migrate\""},
    {"{\"command\": \"wake\"}", -EINVAL, 0, "\"host\": missing in \"wake\""},
    {"{\"command\": \"wake\", \"host\": \"a\", \"verify\": 1}", -EINVAL, 0, "\"verify\": expected true"},
    {"{\"command\": \"standby\", \"host\": \"a\", \"verify\": true}", -EINVAL, 0, "\"verify\": not a field"},
    {"", -EINVAL, 0, "not a JSON object"},
    {"status", -EINVAL, 0, "not a JSON object"},
    {"[]", -EINVAL, 0, "expected a JSON object"},
    {"{}", -EINVAL, 0, "\"command\": missing"},
    {"{\"command\": 7}", -EINVAL, 0, "\"command\": missing, or not a text"},
    {"{\"command\": \"destroy\"}", -EINVAL, 0, "\"destroy\" is not a command"},
    {"{\"command\": \"status\", \"command\": \"run\"}", -EINVAL, 0, "not a JSON object"},
    {"{\"command\": \"status\"} {}", -EINVAL, 0, "not a JSON object"},
    {"{\"command\": \"status\", \"ids\": [1]}", -EINVAL, 0, "\"ids\": not a field of \"status\""},
    {"{\"command\": \"apply\"}", -EINVAL, 0, "\"ids\": missing in \"apply\""},
    {"{\"command\": \"apply\", \"ids\": []}", -EINVAL, 0, "\"ids\": expected a list"},
    {"{\"command\": \"apply\", \"ids\": [0]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [1, -4]}", -EINVAL, 0, "element 1 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [1.5]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [3, \"4.2\"]}", 0, REQUEST_APPLY, NULL},
    {"{\"command\": \"apply\", \"ids\": [\"3\"]}", -EINVAL, 0, "such as 3 or \"3.2\""},
    {"{\"command\": \"apply\", \"ids\": [\"3.\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"3.0\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"0.1\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"-3.1\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"3.+1\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"3.4294967296\"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [\"99999999999999999999.1\"]}", -EINVAL, 0, "element 0 is not"},
    {"{\"command\": \"apply\", \"ids\": [\"3.2 \"]}", -EINVAL, 0, "element 0 is not the number"},
    {"{\"command\": \"apply\", \"ids\": [99999999999999999999]}", -EINVAL, 0, "not a JSON object"},
    {"{\"command\": \"reject\", \"ids\": \"1\"}", -EINVAL, 0, "\"ids\": expected a list"},
    {"{\"command\": \"history\", \"limit\": 0}", -EINVAL, 0, "\"limit\": expected"},
    {"{\"command\": \"events\", \"follow\": true, \"after\": 0, \"kind\": \"host\"}", 0, REQUEST_EVENTS,
     NULL},
    {"{\"command\": \"events\", \"since\": \"2026-01-31T00:00:00+01:00\", \"limit\": 9}", 0, REQUEST_EVENTS,
     NULL},
    {"{\"command\": \"events\", \"follow\": 1}", -EINVAL, 0, "\"follow\": expected"},
    {"{\"command\": \"events\", \"after\": -1}", -EINVAL, 0, "\"after\": expected"},
    {"{\"command\": \"events\", \"after\": \"1\"}", -EINVAL, 0, "\"after\": expected"},
    {"{\"command\": \"events\", \"since\": \"noon\"}", -EINVAL, 0, "\"since\": expected"},
    {"{\"command\": \"events\", \"kind\": \"Host\"}", -EINVAL, 0, "\"kind\": \"Host\" is no kind of event"},
    {"{\"command\": \"events\", \"kind\": 1}", -EINVAL, 0, "\"kind\": "},
    {"{\"command\": \"history\", \"since\": \"2026-01-31T00:00:00Z\", \"vm\": \"web 7\", \"host\": \"h\", "
     "\"state\": \"failed\"}",
     0, REQUEST_HISTORY, NULL},
    {"{\"command\": \"events\", \"vm\": \"web 7\", \"host\": \"h\", \"kind\": \"action\"}", 0, REQUEST_EVENTS,
     NULL},
    {"{\"command\": \"summary\", \"since\": \"2026-01-31T00:00:00Z\"}", 0, REQUEST_SUMMARY, NULL},
    {"{\"command\": \"plan\", \"set\": {\"migration_threshold\": 5, \"mem_overcommit\": 1.5, \"automation\": "
     "\"full\", "
     "\"dpm.enabled\": true}}",
     0, REQUEST_PLAN, NULL},
    {"{\"command\": \"plan\", \"set\": {}}", 0, REQUEST_PLAN, NULL},
    {"{\"command\": \"plan\", \"set\": \"seed=1\"}", -EINVAL, 0, "\"set\": expected settings, such as"},
    {"{\"command\": \"plan\", \"set\": {\"seed\": null}}", -EINVAL, 0, "\"set\": \"seed\" is not a setting"},
    {"{\"command\": \"plan\", \"set\": {\"a=b\": 1}}", -EINVAL, 0, "\"set\": \"a=b\" is not a setting"},
    {"{\"command\": \"plan\", \"vm\": \"web-7\"}", -EINVAL, 0, "\"vm\": not a field of \"plan\""},
    {"{\"command\": \"explain\", \"vm\": \"web-7\", \"host\": \"esx1\", \"set\": {\"seed\": \"1\"}}", 0,
     REQUEST_EXPLAIN, NULL},
    {"{\"command\": \"what_if\", \"host_off\": [\"a\", \"b\"], \"host_on\": [\"c\"], \"maintenance\": "
     "[\"d\"], "
     "\"demand\": {\"x=y\": 1e3, \"z\": 4}}",
     0, REQUEST_WHAT_IF, NULL},
    {"{\"command\": \"what_if\", \"host_off\": []}", -EINVAL, 0, "\"host_off\": expected a list of 1 to"},
    {"{\"command\": \"what_if\", \"maintenance\": [1]}", -EINVAL, 0,
     "\"maintenance\": element 0 is not the id"},
    {"{\"command\": \"what_if\", \"demand\": {}}", -EINVAL, 0, "\"demand\": expected MHz by the id"},
    {"{\"command\": \"what_if\", \"demand\": {\"web\": \"1\"}}", -EINVAL, 0,
     "\"demand\": \"web\": expected a number"},
    {"{\"command\": \"entitlements\", \"resource\": \"mem\", \"wide\": true}", 0, REQUEST_ENTITLEMENTS, NULL},
    {"{\"command\": \"entitlements\", \"resource\": \"disk\"}", -EINVAL, 0, "\"resource\": expected \"cpu\""},
    {"{\"command\": \"summary\"}", -EINVAL, 0, "\"since\": missing in \"summary\""},
    {"{\"command\": \"status\", \"since\": \"2026-01-31T00:00:00Z\"}", -EINVAL, 0, "\"since\": not a field"},
    {"{\"command\": \"history\", \"state\": \"running\"}", -EINVAL, 0,
     "\"running\" is not a state of an action that has ended, expected done, failed,"},
    {"{\"command\": \"history\", \"state\": 3}", -EINVAL, 0, "is not a state of an action that has ended"},
    {"{\"command\": \"history\", \"vm\": \"\"}", -EINVAL, 0, "\"vm\": expected the id or the name of a VM"},
    {"{\"command\": \"events\", \"vm\": 7}", -EINVAL, 0, "\"vm\": expected the id or the name of a VM"},
    {"{\"command\": \"events\", \"state\": \"failed\"}", -EINVAL, 0, "\"state\": not a field"},
    {"{\"command\": \"status\", \"host\": \"a\"}", -EINVAL, 0, "\"host\": not a field"},
    {"{\"command\": \"history\", \"follow\": true}", -EINVAL, 0, "\"follow\": not a field"},
    {"{\"command\": \"energy\"}", 0, REQUEST_ENERGY, NULL},
    {"{\"command\": \"energy\", \"since\": \"2026-01-31T00:00:00Z\", \"by\": \"host\"}", 0, REQUEST_ENERGY,
     NULL},
    {"{\"command\": \"energy\", \"since\": \"yesterday\"}", -EINVAL, 0, "\"since\": expected a time"},
    {"{\"command\": \"energy\", \"since\": 5}", -EINVAL, 0, "\"since\": expected a time"},
    {"{\"command\": \"energy\", \"by\": \"year\"}", -EINVAL, 0, "\"by\": expected"},
    {"{\"command\": \"energy\", \"by\": null}", -EINVAL, 0, "\"by\": expected"},
    {"{\"command\": \"history\", \"by\": \"day\"}", -EINVAL, 0, "\"by\": not a field"},
    {"{\"command\": \"maintenance\", \"mode\": \"leave\", \"host\": \"esx1\"}", -EINVAL, 0,
     "\"mode\": expected"},
    {"{\"command\": \"maintenance\", \"mode\": \"enter\"}", -EINVAL, 0, "\"host\": missing"},
    {"{\"command\": \"maintenance\", \"mode\": \"enter\", \"host\": \"\"}", -EINVAL, 0, "\"host\": expected"},
    {"{\"command\": \"maintenance\", \"mode\": \"enter\", \"host\": \"a\\u0000b\"}", -EINVAL, 0,
     "not a JSON"},
    {"{\"command\": \"place\"}", -EINVAL, 0, "\"vms\": missing in \"place\""},
    {"{\"command\": \"place\", \"vms\": []}", -EINVAL, 0, "\"vms\": expected a list of 1 to"},
    {"{\"command\": \"place\", \"vms\": \"a\"}", -EINVAL, 0, "\"vms\": expected a list of 1 to"},
    {"{\"command\": \"place\", \"vms\": [\"a\", \"\"]}", -EINVAL, 0, "element 1 is not the id or the name"},
    {"{\"command\": \"place\", \"vms\": [7]}", -EINVAL, 0, "element 0 is not the id or the name"},
    {"{\"command\": \"place\", \"vms\": [\"a\"], \"apply\": 1}", -EINVAL, 0, "\"apply\": expected true"},
    {"{\"command\": \"st\xff\"}", -EINVAL, 0, "not a JSON object"},
};

static void test_requests(void **state)
{
    struct request *q = calloc(1, sizeof *q);

    (void)state;
    assert_non_null(q);
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct err err = {0};

        print_message("  %s\n", cases[i].line);
        assert_int_equal(request_parse(cases[i].line, strlen(cases[i].line), q, &err), cases[i].code);
        if (cases[i].code == 0)
            assert_int_equal(q->kind, cases[i].kind);
        else
            assert_non_null(strstr(err.text, cases[i].says));
    }
    assert_int_equal(request_parse(cases[1].line, strlen(cases[1].line), q, NULL), 0);
    assert_int_equal(q->n_ids, 2);
    assert_int_equal(q->ids[0], 3);
    assert_int_equal(q->versions[0], 1);
    const char *line = "{\"command\": \"apply\", \"ids\": [3, \"4.2\"]}";

    assert_int_equal(request_parse(line, strlen(line), q, NULL), 0);
    assert_int_equal(q->versions[0], 1);
    assert_int_equal(q->ids[1], 4);
    assert_int_equal(q->versions[1], 2);
    assert_int_equal(request_parse(cases[4].line, strlen(cases[4].line), q, NULL), 0);
    assert_string_equal(q->host, "esx1");
    assert_false(q->enter);
    assert_int_equal(request_parse(cases[5].line, strlen(cases[5].line), q, NULL), 0);
    assert_int_equal(q->n_vms, 2);
    assert_string_equal(q->vms, "web 1");
    assert_string_equal(q->vms + 6, "vm-2");
    assert_true(q->apply);
    assert_int_equal(request_parse(cases[6].line, strlen(cases[6].line), q, NULL), 0);
    assert_string_equal(q->vm, "web 1");
    assert_true(q->apply);
    assert_int_equal(request_parse(cases[8].line, strlen(cases[8].line), q, NULL), 0);
    assert_string_equal(q->host, "esx2");
    assert_true(q->verify);
    free(q);
}

/* Several lists of one request, whatever the order of its members. */
static void test_words(void **state)
{
    static const char line[] =
        "{\"demand\": {\"x=y\": 1e3, \"z\": 4}, \"host_on\": [\"c\"], \"command\": \"what_if\", "
        "\"set\": {\"seed\": 1, \"dpm.enabled\": true}, \"host_off\": [\"a\", \"b\"]}";
    static const char *const words[] = {"x=y=1000", "z=4", "c", "seed=1", "dpm.enabled=true", "a", "b"};
    struct request *q = calloc(1, sizeof *q);
    size_t at = 0;

    (void)state;
    assert_non_null(q);
    assert_int_equal(request_parse(line, strlen(line), q, NULL), 0);
    for (size_t i = 0; i < ELEMENTS(words); i++) {
        assert_string_equal(q->vms + at, words[i]);
        at += strlen(words[i]) + 1;
    }
    assert_int_equal(q->words_len, at);
    assert_int_equal(q->changes[CHANGE_DEMAND].n, 2);
    assert_int_equal(q->changes[CHANGE_HOST_OFF].n, 2);
    assert_string_equal(q->vms + q->changes[CHANGE_HOST_OFF].at, "a");
    assert_string_equal(q->vms + q->changes[CHANGE_HOST_ON].at, "c");
    assert_int_equal(q->changes[CHANGE_MAINTENANCE].n, 0);
    assert_string_equal(q->vms + q->sets.at, "seed=1");
    assert_int_equal(q->sets.n, 2);
    free(q);
}

/* As deep, as long, as many as the line may be. */
static void test_bounds(void **state)
{
    struct request *q = calloc(1, sizeof *q);
    char *line = malloc(REQUEST_BYTES_MAX + 2);
    struct err err;
    size_t n;

    (void)state;
    assert_non_null(q);
    assert_non_null(line);
    memset(line, '[', REQUEST_BYTES_MAX + 1);
    assert_int_equal(request_parse(line, REQUEST_BYTES_MAX, q, &err), -EINVAL);
    assert_int_equal(request_parse(line, REQUEST_BYTES_MAX + 1, q, &err), -EINVAL);
    n = (size_t)snprintf(line, REQUEST_BYTES_MAX, "{\"command\": \"apply\", \"ids\": [1");
    for (int i = 0; i < REQUEST_IDS_MAX; i++) {
        memcpy(line + n, ",1", 2);
        n += 2;
    }
    memcpy(line + n, "]}", 2);
    assert_int_equal(request_parse(line, n + 2, q, &err), -EINVAL); /* one too many */
    memcpy(line + n - 2, "]}", 2);
    assert_int_equal(request_parse(line, n, q, &err), 0);
    assert_int_equal(q->n_ids, REQUEST_IDS_MAX);
    n = (size_t)snprintf(line, REQUEST_BYTES_MAX, "{\"command\": \"place\", \"vms\": [\"");
    memset(line + n, 'x', REQUEST_BYTES_MAX - n);
    memcpy(line + REQUEST_BYTES_MAX - 3, "\"]}", 3);
    assert_int_equal(request_parse(line, REQUEST_BYTES_MAX, q, &err), 0);
    assert_int_equal(strlen(q->vms), REQUEST_BYTES_MAX - n - 3);
    free(line);
    free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
