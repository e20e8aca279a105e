/* Targets and routes of the API over HTTP. */
#include "unit.h"

#include "http/route.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *raw;
    const char *says; /* part of the sentence; NULL: it is good */
} targets[] = {
    {"/", NULL},
    {"/a/b", NULL},
    {"/a/b?x=1&y=a%20b", NULL},
    {"/a/b%2Fc", NULL},
    {"/a/%c3%a9", NULL},
    {"", "does not begin with a /"},
    {"a", "does not begin with a /"},
    {"http://x/a", "does not begin with a /"},
    {"//a", "an empty segment"},
    {"/a//b", "an empty segment"},
    {"/a/", "an empty segment"},
    {"/a/../b", "a segment . or .."},
    {"/a/%2e%2e/b", "a segment . or .."},
    {"/a/%2E", "a segment . or .."},
    {"/a/%00", "begins no character"},
    {"/a/%0a", "a control character"},
    {"/a/%7f", "a control character"},
    {"/a/%ff", "no UTF-8"},
    {"/a/%c0%af", "no UTF-8"}, /* an overlong / */
    {"/a/%", "begins no character"},
    {"/a/%4", "begins no character"},
    {"/a/%zz", "begins no character"},
    {"/a?b", "a parameter without"},
    {"/a?=b", "a parameter without"},
    {"/a?b=1&b=2", "given twice"},
    {"/a?b=1&%62=2", "given twice"},
    {"/a/b/c/d/e/f/g/h/i/j/k/l/m", "more than 12 segments"},
    {"/?a=&b=&c=&d=&e=&f=&g=&h=&i=&j=&k=&l=&m=&n=&o=&p=&q=", "more than 16 parameters"},
};

static void test_targets(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(targets); i++) {
        struct target t;
        struct err err = {0};
        int r = target_parse(targets[i].raw, &t, &err);

        if ((r == 0) != (targets[i].says == NULL) || (r < 0 && !strstr(err.text, targets[i].says)))
            fail_msg("%s: %d, %s", targets[i].raw, r, err.text);
        target_release(&t);
    }
}

static void test_decoded(void **state)
{
    struct target t;
    struct err err;
    char text[32];

    (void)state;
    assert_int_equal(target_parse("/a%2Fb/c+d?e=1+2%26", &t, &err), 0);
    assert_int_equal(t.n_segments, 2);
    assert_string_equal(t.segments[0], "a/b");
    assert_string_equal(t.segments[1], "c+d");
    assert_string_equal(target_parameter(&t, "e"), "1+2&");
    assert_null(target_parameter(&t, "f"));
    target_release(&t);
    assert_int_equal(target_escape("a/b \"", 5, text, sizeof text), 0);
    assert_string_equal(text, "a%2Fb%20%22");
    assert_int_equal(target_escape("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 32, text, sizeof text), -ENOSPC);
}

#define AT "/api/v1/clusters/c"

static const struct {
    enum http_method method;
    const char *raw, *body;
    enum request_kind kind;
    const char *says; /* NULL: it is good */
} requests[] = {
    {HTTP_GET, AT "/status", NULL, REQUEST_STATUS, NULL},
    {HTTP_GET, AT "/hosts?limit=5&cursor=1~", NULL, REQUEST_HOSTS, NULL},
    {HTTP_GET, AT "/hosts?name=5", NULL, REQUEST_HOSTS, "\"name\": not a field of \"hosts\""},
    {HTTP_GET, AT "/hosts/x", NULL, REQUEST_HOSTS, NULL},
    {HTTP_GET, AT "/history?limit=5&host=esx1", NULL, REQUEST_HISTORY, NULL},
    {HTTP_GET, AT "/history?limit=x", NULL, REQUEST_HISTORY, "\"limit\": expected a number"},
    {HTTP_GET, AT "/history?command=pause", NULL, REQUEST_HISTORY, "\"command\": given twice"},
    {HTTP_POST, AT "/recommendations/4.2/apply", NULL, REQUEST_APPLY, NULL},
    {HTTP_POST, AT "/recommendations/4/apply", "{\"ids\": [1]}", REQUEST_APPLY, "\"ids\": given twice"},
    {HTTP_POST, AT "/recommendations/apply", "{\"ids\": [1, \"2.3\"]}", REQUEST_APPLY, NULL},
    {HTTP_POST, AT "/recommendations/apply", NULL, REQUEST_APPLY, "\"ids\": missing"},
    {HTTP_POST, AT "/pause", "[]", REQUEST_PAUSE, "not a JSON object"},
    {HTTP_POST, AT "/pause", "{\"command\": \"apply\"}", REQUEST_PAUSE, "not a field of \"pause\""},
    {HTTP_POST, AT "/passes", "{\"retry\": true}", REQUEST_RUN, NULL},
    {HTTP_POST, AT "/wake?verify=true", "{\"host\": \"a\"}", REQUEST_WAKE, NULL},
    {HTTP_GET, AT "/console/7", NULL, REQUEST_CONSOLE, NULL},
    {HTTP_GET, AT "/console/x", NULL, REQUEST_CONSOLE, "\"id\": expected the number"},
    {HTTP_POST, AT "/policies",
     "{\"verb\": \"POST\", \"path\": \"schedulingpolicies\", \"is\": {\"name\": \"night\"}}",
     REQUEST_POLICY_CHANGE, NULL},
    {HTTP_POST, AT "/policies", "{\"verb\": \"POST\", \"path\": \"schedulingpolicies\", \"is\": 3}",
     REQUEST_POLICY_CHANGE, "\"is\": expected an object"},
    {HTTP_GET, AT "/config/diff", NULL, REQUEST_CONFIG_DIFF, NULL},
    {HTTP_POST, AT "/config/diff", "{\"file\": \"/f\", \"text\": \"cluster: c\"}", REQUEST_CONFIG_DIFF, NULL},
    {HTTP_POST, AT "/config/diff", "{\"file\": \"f\", \"text\": \"\"}", REQUEST_CONFIG_DIFF,
     "\"file\": expected the absolute path"},
    {HTTP_DELETE, "/api/v1/tokens/ci", NULL, REQUEST_TOKEN_REVOKE, NULL},
};

static void test_requests(void **state)
{
    struct request *q = malloc(sizeof *q);

    (void)state;
    for (size_t i = 0; i < ELEMENTS(requests); i++) {
        json_t *body = requests[i].body ? json_loads(requests[i].body, 0, NULL) : NULL;
        struct route_values values;
        struct err err = {0};
        struct target t;
        unsigned methods;

        assert_int_equal(target_parse(requests[i].raw, &t, &err), 0);
        const struct route *r = route_find(requests[i].method, &t, &values, &methods);

        if (!r)
            fail_msg("%s: no route", requests[i].raw);
        int e = route_request(r, &values, &t, body, q, &err);

        if ((e == 0) != (requests[i].says == NULL) || (e < 0 && !strstr(err.text, requests[i].says)))
            fail_msg("%s: %d, %s", requests[i].raw, e, err.text);
        assert_int_equal(r->request, requests[i].kind);
        if (e == 0)
            assert_int_equal(q->kind, requests[i].kind);
        json_decref(body);
        target_release(&t);
    }
    free(q);
}

static void test_methods(void **state)
{
    struct route_values values;
    struct target t;
    struct err err;
    unsigned methods;

    (void)state;
    assert_int_equal(target_parse(AT "/maintenance/roll", &t, &err), 0);
    assert_non_null(route_find(HTTP_POST, &t, &values, &methods));
    assert_int_equal(methods, 1u << HTTP_GET | 1u << HTTP_POST);
    assert_null(route_find(HTTP_DELETE, &t, &values, &methods));
    target_release(&t);
    assert_int_equal(target_parse("/api", &t, &err), 0);
    assert_null(route_find(HTTP_GET, &t, &values, &methods));
    assert_int_equal(methods, 0);
    target_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_decoded),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
