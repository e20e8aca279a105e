/* Single headers of a request. */
#include "unit.h"

#include "http/header.h"

#define ETAG "\"abc\""

static void test_etags(void **state)
{
    (void)state;
    assert_true(header_has_etag("*", ETAG));
    assert_true(header_has_etag("\"x\", \"abc\"", ETAG));
    assert_false(header_has_etag("\"ab\"", ETAG));
    assert_false(header_has_etag("", ETAG));
    assert_false(header_has_etag(NULL, ETAG));
}

static void test_types(void **state)
{
    (void)state;
    assert_true(header_is_json("application/json"));
    assert_true(header_is_json("Application/JSON; charset=utf-8"));
    assert_false(header_is_json("application/jsonx"));
    assert_false(header_is_json("text/plain"));
    assert_false(header_is_json(NULL));
}

static const struct {
    const char *host, *name;
    bool same;
} hosts[] = {
    {"localhost", "localhost", true},
    {"LocalHost:8480", "localhost", true},
    {"127.0.0.1:1", "127.0.0.1:8480", true},
    {"[::1]:8480", "[::1]", true},
    {"[::1", "[::1]", false},
    {"localhost.evil.example", "localhost", false},
    {"evil.example:localhost", "localhost", false},
    {"", "localhost", false},
    {NULL, "localhost", false},
};

static void test_hosts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(hosts); i++) {
        if (header_names_host(hosts[i].host, hosts[i].name) != hosts[i].same)
            fail_msg("%s and %s", hosts[i].host, hosts[i].name);
    }
}

static void test_event_numbers(void **state)
{
    static const char *const none[] = {NULL, "", "-1", "+1", " 1", "1 ", "1x", "9999999999999999999", "0x10"};
    uint64_t id = 7;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(none); i++)
        assert_false(header_event_id(none[i], &id));
    assert_int_equal(id, 7);
    assert_true(header_event_id("0", &id));
    assert_int_equal(id, 0);
    assert_true(header_event_id("999999999999999999", &id));
    assert_int_equal(id, 999999999999999999);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_etags), cmocka_unit_test(test_types),
                                       cmocka_unit_test(test_hosts), cmocka_unit_test(test_event_numbers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
