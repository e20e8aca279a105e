/* The search language of oVirt's REST API: what matches, what is refused, how it is taken apart. */
#include "unit.h"

#include "base/cleanup.h"
#include "http/rest/search.h"

#include <errno.h>
#include <string.h>

#define WEB                                                                                                  \
    "{\"id\":\"v1\",\"name\":\"Web "                                                                         \
    "1\",\"status\":\"up\",\"cluster\":{\"id\":\"c1\",\"name\":\"prod\"},\"host\":{\"id\":\"h1\",\"name\":"  \
    "\"esx1\"}}"

static const struct {
    const char *text;
    bool matches;
} searches[] = {
    {"", true},
    {"page 2", true},
    {"name=\"Web 1\"", true},
    {"name='Web 1'", true},
    {"NAME = Web*", true},
    {"name=web*", false},
    {"name=\"Web+1\"", true},
    {"Web*", true},
    {"*", true},
    {"\"Web 1\"", true},
    {"db", false},
    {"name=Web", false},
    {"name=*1", true},
    {"name=W*b*1", true},
    {"name=W*b*2", false},
    {"name=\"\"", false},
    {"name=[W]*", false},
    {"name=?eb*", false},
    {"status=UP", true},
    {"status!=down", true},
    {"status!=up", false},
    {"status = d* or status = u*", true},
    {"id=v1", true},
    {"id=V1", false},
    {"id=v2 or id=v1", true},
    {"id=v2 OR id=v3", false},
    {"id=v2+or+id=v1", true},
    {"cluster=prod", true},
    {"cluster=c1", true},
    {"cluster!=c1", false},
    {"host=esx1 and status=up", true},
    {"host=h1 status=up", true},
    {"host=esx2 and status=up", false},
    {"host=esx2", false},
    {"id=v1 or id=v2 and status=down", true},
    {"id=v2 and status=down or id=v1", true},
    {"id=v2 and status=up or id=v3", false},
    {"id=v2 or id=v1 and status=down", false},
    {"status=up sortby name asc page 3", true},
    {"sortby name desc", true},
    {"name=or*", false},
    {"order", false},
    {"name!=page", true},
};

static struct rest_search parsed(const char *text, enum rest_kind kind, struct arena *a)
{
    struct rest_search ret = {0};
    struct err err = {0};

    if (rest_search_parse(text, kind, a, &ret, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return ret;
}

static void test_matches(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(json_decrefp) json_t *web = json_loads(WEB, 0, NULL);

    (void)state;
    assert_non_null(web);
    for (size_t i = 0; i < ELEMENTS(searches); i++) {
        const struct rest_search s = parsed(searches[i].text, REST_VM, &a);

        if (rest_search_matches(&s, web) != searches[i].matches)
            fail_msg("%s", searches[i].text);
    }
}

/* What an element lacks equals nothing. */
static void test_missing_members(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    CLEANUP(json_decrefp) json_t *off = json_loads("{\"id\":\"v2\",\"name\":5}", 0, NULL);
    const struct rest_search on = parsed("host=*", REST_VM, &a), other = parsed("host!=esx1", REST_VM, &a);
    const struct rest_search named = parsed("*", REST_VM, &a);

    (void)state;
    assert_false(rest_search_matches(&on, off));
    assert_true(rest_search_matches(&other, off));
    assert_false(rest_search_matches(&named, off));
}

static const struct {
    const char *text;
    enum rest_kind kind;
    const char *why;
} refused[] = {
    {"memory=5", REST_VM, "search: no field \"memory\", expected id, name, status, cluster or host"},
    {"host=esx1", REST_HOST, "search: no field \"host\", expected id, name, status, cluster"},
    {"name>a", REST_VM, "search: expected = or != behind \"name\""},
    {"name!a", REST_VM, "search: expected = or != behind \"name\""},
    {"name<=a", REST_VM, "search: expected = or != behind \"name\""},
    {"name=", REST_VM, "search: expected a value behind \"name\""},
    {"name=\"a", REST_VM, "search: expected a value behind \"name\""},
    {"name=a or", REST_VM, "search: expected a field or a name at \"\""},
    {"=a", REST_VM, "search: expected a field or a name at \"=a\""},
    {"\"a", REST_VM, "search: expected a field or a name at \"\"a\""},
    {"page", REST_VM, "search: expected a number from 1 behind page"},
    {"page 0", REST_VM, "search: expected a number from 1 behind page"},
    {"page x", REST_VM, "search: expected a number from 1 behind page"},
    {"page 1.5", REST_VM, "search: expected a number from 1 behind page"},
    {"page 1e30", REST_VM, "search: expected a number from 1 behind page"},
    {"sortby", REST_VM, "search: expected a field behind sortby"},
};

static void test_refused(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(refused); i++) {
        struct rest_search s = {.page = 77};
        struct err err = {0};
        const int r = rest_search_parse(refused[i].text, refused[i].kind, &a, &s, &err);

        if (r != -EINVAL || s.page != 77 || strcmp(err.text, refused[i].why) != 0)
            fail_msg("%s: %s", refused[i].text, err.text);
    }
}

static void test_name_and_page(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    static const char *const others[] = {"",       "name=web*",          "name!=web",
                                         "id=web", "name=web status=up", "name=\"a+b\""};

    (void)state;
    const struct rest_search s = parsed("name=web page 3", REST_CLUSTER, &a),
                             bare = parsed("web", REST_CLUSTER, &a);
    assert_string_equal(rest_search_name(&s), "web");
    assert_string_equal(rest_search_name(&bare), "web");
    assert_int_equal(s.page, 3);
    assert_int_equal(bare.page, 1);
    for (size_t i = 0; i < ELEMENTS(others); i++) {
        const struct rest_search other = parsed(others[i], REST_VM, &a);
        assert_null(rest_search_name(&other));
    }
}

/* Many * do not keep the matcher busy. */
static void test_many_stars(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    char text[8192], name[4096];

    (void)state;
    for (size_t i = 0; i < 4000; i++)
        memcpy(text + 5 + 2 * i, "*a", 2);
    memcpy(text, "name=", 5);
    memcpy(text + 8005, "b", 2);
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    CLEANUP(json_decrefp) json_t *v = json_pack("{s:s}", "name", name);
    const struct rest_search s = parsed(text, REST_VM, &a);
    assert_false(rest_search_matches(&s, v));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),    cmocka_unit_test(test_missing_members),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_name_and_page),
        cmocka_unit_test(test_many_stars),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
