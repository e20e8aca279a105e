/* Answers of a Redfish service, and the results read from them. */
#include "unit.h"

#include "actuators/redfish/answer.h"
#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *parsed(const char *text)
{
    json_t *o = NULL;
    struct err err = {0};

    if (redfish_parse(text, strlen(text), &o, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return o;
}

static void test_parse(void **state)
{
    static const char *const bad[] = {
        "", "{", "[]", "\"text\"", "{} {}", "{\"a\": 1e999}", "<html>", "{'a': 1}", "{\"a\":\xff}"};
    static const char *const good[] = {"{}", "{\"a\": 123456789012345678901234567890}",
                                       " {\"a\": \"[[[[\"} "};
    char deep[2 * REDFISH_DEPTH_MAX + 16] = "{\"a\":";
    json_t *o = NULL;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(bad); i++)
        assert_int_equal(redfish_parse(bad[i], strlen(bad[i]), &o, &err), -EPROTO);
    for (size_t i = 0; i < ELEMENTS(good); i++)
        json_decref(parsed(good[i]));
    for (unsigned depth = REDFISH_DEPTH_MAX - 1; depth <= REDFISH_DEPTH_MAX; depth++) {
        (void)snprintf(deep + 5, sizeof deep - 5, "%.*s%.*s}", (int)depth,
                       "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", (int)depth,
                       "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
        int r = redfish_parse(deep, strlen(deep), &o, &err);
        assert_int_equal(r, depth < REDFISH_DEPTH_MAX ? 0 : -EPROTO);
        if (r == 0)
            json_decref(o);
    }
    char *large = calloc(1, REDFISH_ANSWER_MAX + 1);
    assert_non_null(large);
    assert_int_equal(redfish_parse(large, REDFISH_ANSWER_MAX + 1, &o, &err), -EPROTO);
    free(large);
}

#define BYTES(text) text, sizeof(text) - 1

/* What firmware writes, and what is read of it. */
static const struct {
    const char *text;
    size_t len;
    const char *a;
} untidy[] = {
    {BYTES("\xef\xbb\xbf{\"a\": \"bom\"}"), "bom"},
    {BYTES("{\"a\": \"nul\"}\0"), "nul"},
    {BYTES("{\"a\": \"nuls\"}\n\0\0\0"), "nuls"},
    {BYTES("{\"a\": \"board\\u0000\\u0000\"}"), "board"},
    {BYTES("{\"a\": \"Geh\xe4use 2\"}"), "Geh\xc3\xa4use 2"},
    {BYTES("{\"a\": \"caf\xc3\xa9 \xb0\x43\"}"), "caf\xc3\xa9 \xc2\xb0\x43"},
    {BYTES("{\"a\": \"two\nlines\"}"), "two lines"},
    {BYTES("{\"a\": \"\xff\"}"), "\xc3\xbf"},
};

static void test_untidy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(untidy); i++) {
        json_t *o = NULL;
        struct err err;
        assert_int_equal(redfish_parse(untidy[i].text, untidy[i].len, &o, &err), 0);
        assert_string_equal(json_string_value(json_object_get(o, "a")), untidy[i].a);
        json_decref(o);
    }
}

/* A page's link to the next page: RFC 3986, section 5. */
static const struct {
    const char *page, *reference, *path; /* NULL: refused */
} references[] = {
    {"/redfish/v1/Systems", "?$skip=1", "/redfish/v1/Systems?$skip=1"},
    {"/redfish/v1/Systems?$skip=1", "?$skip=2", "/redfish/v1/Systems?$skip=2"},
    {"/redfish/v1/Systems", "Systems?$skip=1", "/redfish/v1/Systems?$skip=1"},
    {"/redfish/v1/Systems/x", "../Systems?p=2", "/redfish/v1/Systems?p=2"},
    {"/redfish/v1/Systems", "/redfish/v1/Systems?$skip=1", "/redfish/v1/Systems?$skip=1"},
    {"/redfish/v1/Systems", "https://other.example/redfish/v1/Systems?p=2", "/redfish/v1/Systems?p=2"},
    {"/redfish/v1/Systems", "//other.example/p", "/p"},
    {"/redfish/v1/Systems", "", NULL},
    {"/redfish/v1/Systems", "/a b", NULL},
    {"/redfish/v1/Systems", "?a\r\nX-Evil: 1", NULL},
};

static void test_references(void **state)
{
    struct redfish_path path;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(references); i++) {
        int r = redfish_path_from(references[i].page, references[i].reference, &path);
        assert_int_equal(r, references[i].path ? 0 : -EPROTO);
        if (r == 0)
            assert_string_equal(path.text, references[i].path);
    }
}

static const struct {
    const char *text;
    bool full;
} logins[] = {
    {"{\"error\": {\"@Message.ExtendedInfo\": [{\"MessageId\": \"IDRAC.2.4.RAC0218\"}]}}", true},
    {"{\"error\": {\"@Message.ExtendedInfo\": [{\"MessageId\": \"Base.1.8.SessionLimitExceeded\"}]}}", true},
    {"{\"error\": {\"message\": \"Maximum number of sessions reached\"}}", true},
    {"{\"error\": {\"message\": \"There is no valid session\"}}", false},
    {"{\"error\": {\"message\": \"The password exceeds the limit\"}}", false},
    {"{}", false},
};

static void test_full(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(logins); i++) {
        json_t *o = parsed(logins[i].text);
        assert_int_equal(redfish_sessions_are_full(o), logins[i].full);
        json_decref(o);
    }
}

static const struct {
    const char *link, *path; /* NULL: refused */
} paths[] = {
    {"/redfish/v1/Systems/1", "/redfish/v1/Systems/1"},
    {"/redfish/v1/Systems?$skip=2", "/redfish/v1/Systems?$skip=2"},
    {"/redfish/v1/Chassis/1/Power#/PowerControl/0", "/redfish/v1/Chassis/1/Power"},
    {"https://bmc.example/redfish/v1/SessionService/Sessions/7", "/redfish/v1/SessionService/Sessions/7"},
    {"https://evil.example:1234/x", "/x"},    /* asked of the configured host */
    {"//evil.example/x", "//evil.example/x"}, /* so is this */
    {"https://evil.example", NULL},
    {"Systems/1", NULL},
    {"", NULL},
    {"javascript:alert(1)", NULL},
    {"/a b", NULL},
    {"/a\r\nX-Evil: 1", NULL},
    {"/\\evil", NULL},
    {"/caf\xc3\xa9", NULL},
};

static void test_paths(void **state)
{
    struct redfish_path path;
    char longest[REDFISH_PATH_MAX + 1];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(paths); i++) {
        int r = redfish_path_of(paths[i].link, &path);
        if (r != (paths[i].path ? 0 : -EPROTO))
            fail_msg("%s: %d", paths[i].link, r);
        if (r == 0)
            assert_string_equal(path.text, paths[i].path);
    }
    memset(longest, 'a', sizeof longest);
    longest[0] = '/';
    longest[REDFISH_PATH_MAX] = '\0';
    assert_int_equal(redfish_path_of(longest, &path), -EPROTO);
    longest[REDFISH_PATH_MAX - 1] = '\0';
    assert_int_equal(redfish_path_of(longest, &path), 0);
}

static const struct {
    const char *path, *id;
} ids[] = {{"/redfish/v1/Systems/437XR", "437XR"}, {"/redfish/v1/Systems/1/", "1"}, {"/", ""}, {"//", ""}};

static void test_links(void **state)
{
    json_t *o = parsed(
        "{\"Systems\": {\"@odata.id\": \"/s\"}, \"Links\": {\"Chassis\": [{\"@odata.id\": \"/c/1\"}, 7]},"
        " \"Bad\": {\"@odata.id\": 5}}");
    struct redfish_path path;
    char id[REDFISH_ID_MAX];

    (void)state;
    assert_true(redfish_link(o, "Systems", &path));
    assert_string_equal(path.text, "/s");
    assert_true(redfish_link_at(o, "Links.Chassis", 0, &path));
    assert_string_equal(path.text, "/c/1");
    assert_false(redfish_link_at(o, "Links.Chassis", 1, &path));
    assert_false(redfish_link_at(o, "Links.Chassis", 2, &path));
    assert_false(redfish_link(o, "Bad", &path));
    assert_false(redfish_link(o, "Links.Sessions", &path));
    assert_false(redfish_link(NULL, "Systems", &path));
    json_decref(o);
    for (size_t i = 0; i < ELEMENTS(ids); i++) {
        (void)snprintf(path.text, sizeof path.text, "%s", ids[i].path);
        redfish_id_of(&path, id);
        assert_string_equal(id, ids[i].id);
    }
}

static void test_search(void **state)
{
    json_t *first = parsed("{\"Members\": [{\"@odata.id\": \"/s/a\"}, {\"@odata.id\": \"/s/b\"}],"
                           " \"Members@odata.nextLink\": \"/s?$skip=2\"}");
    json_t *last = parsed("{\"Members\": [{\"@odata.id\": \"/s/c\"}]}");
    json_t *bad[] = {parsed("{}"), parsed("{\"Members\": {}}"), parsed("{\"Members\": [{}]}")};
    const struct redfish_path page = {"/s"};
    struct redfish_search s = {.id = "c"}, any = {.id = NULL};
    struct err err;

    (void)state;
    assert_int_equal(redfish_search_page(first, &page, &s, &err), 0);
    assert_string_equal(s.next.text, "/s?$skip=2");
    assert_int_equal(redfish_search_page(last, &page, &s, &err), 0);
    assert_string_equal(s.next.text, "");
    assert_int_equal(s.n_members, 3);
    assert_int_equal(s.n_found, 1);
    assert_string_equal(s.found.text, "/s/c");
    assert_string_equal(s.ids, "a, b, c");
    assert_int_equal(redfish_search_page(first, &page, &any, &err), 0);
    assert_int_equal(any.n_found, 2);
    assert_string_equal(any.found.text, "/s/a");
    for (int i = 0; i < 1000; i++) /* a collection whose pages never end */
        (void)redfish_search_page(first, &page, &any, &err);
    assert_int_equal(redfish_search_page(first, &page, &any, &err), -EPROTO);
    for (size_t i = 0; i < ELEMENTS(bad); i++) {
        assert_int_equal(redfish_search_page(bad[i], &page, &s, &err), -EPROTO);
        json_decref(bad[i]);
    }
    json_decref(first);
    json_decref(last);
}

/* The end of a list is where the service says so, and nowhere else. */
static const struct {
    const char *text, *id, *next; /* next NULL: refused */
} ends[] = {
    {"{\"Members\": [], \"Members@odata.nextLink\": \"?$skip=1\"}", NULL, "/s?$skip=1"},
    {"{\"Members\": [], \"Members@odata.nextLink\": 7}", "c", NULL},
    {"{\"Members\": [], \"Members@odata.nextLink\": {\"@odata.id\": \"/s?p=2\"}}", NULL, NULL},
    {"{\"Members\": [], \"Members@odata.nextLink\": \"/a b\"}", NULL, NULL},
    {"{\"Members\": [{\"@odata.id\": \"/s/a\"}], \"Members@odata.nextLink\": null}", NULL, ""},
    {"{\"Members\": [{\"@odata.id\": \"/s/a\"}], \"Members@odata.count\": 1}", NULL, ""},
    {"{\"Members\": [{\"@odata.id\": \"/s/a\"}], \"Members@odata.count\": 3}", NULL, NULL},
    {"{\"Members\": [{\"@odata.id\": \"/s/a\"}], \"Members@odata.count\": 3}", "a", ""},
};

static void test_ends(void **state)
{
    const struct redfish_path page = {"/s"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(ends); i++) {
        struct redfish_search s = {.id = ends[i].id};
        struct err err;
        json_t *o = parsed(ends[i].text);
        assert_int_equal(redfish_search_page(o, &page, &s, &err), ends[i].next ? 0 : -EPROTO);
        if (ends[i].next)
            assert_string_equal(s.next.text, ends[i].next);
        json_decref(o);
    }
}

static const struct {
    const char *text;
    int code;
    enum redfish_power power;
} powers[] = {
    {"{\"PowerState\": \"On\"}", 0, REDFISH_ON},
    {"{\"PowerState\": \"Off\"}", 0, REDFISH_OFF},
    {"{\"PowerState\": \"PoweringOn\"}", 0, REDFISH_POWERING_ON},
    {"{\"PowerState\": \"PoweringOff\"}", 0, REDFISH_POWERING_OFF},
    {"{\"PowerState\": \"Paused\"}", 0, REDFISH_PAUSED},
    {"{\"PowerState\": \"off\"}", 0, REDFISH_OFF},
    {"{\"PowerState\": \"Reset\"}", 0, REDFISH_POWERING_ON},
    {"{\"PowerState\": \"Unknown\"}", -EBUSY, REDFISH_POWER_COUNT},
    {"{\"PowerState\": \"Maybe\"}", -EPROTO, REDFISH_POWER_COUNT},
    {"{\"PowerState\": false}", -EPROTO, REDFISH_POWER_COUNT},
    {"{\"PowerState\": null}", -EBUSY, REDFISH_POWER_COUNT},
    {"{}", -ENOTSUP, REDFISH_POWER_COUNT},
};

static void test_power(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(powers); i++) {
        enum redfish_power power = REDFISH_POWER_COUNT;
        struct err err;
        json_t *o = parsed(powers[i].text);
        assert_int_equal(redfish_power_state(o, &power, &err), powers[i].code);
        assert_int_equal(power, powers[i].power);
        json_decref(o);
    }
}

#define ACTION(more) "{\"Actions\": {\"#ComputerSystem.Reset\": {\"target\": \"/r\"" more "}}}"

static const struct {
    const char *text;
    int code;
    bool listed;
    unsigned allowed;
    const char *info;
} actions[] = {
    {ACTION(", \"ResetType@Redfish.AllowableValues\": [\"On\", \"ForceOff\", \"Nmi\", 3]"), 0, true,
     1u << RESET_ON | 1u << RESET_FORCE_OFF, ""},
    {ACTION(", \"ResetType@Redfish.AllowableValues\": []"), 0, true, 0, ""},
    {ACTION(", \"ResetType@Redfish.AllowableValues\": \"On\""), 0, false, 0, ""},
    {ACTION(", \"@Redfish.ActionInfo\": \"/info\""), 0, false, 0, "/info"},
    {ACTION(""), 0, false, 0, ""},
    {"{\"Actions\": {\"#ComputerSystem.Reset\": {\"target\": 1}}}", -EPROTO, false, 0, ""},
    {"{\"Actions\": {\"#ComputerSystem.Reset\": 1}}", -ENOTSUP, false, 0, ""},
    {"{\"Actions\": []}", -ENOTSUP, false, 0, ""},
    {"{}", -ENOTSUP, false, 0, ""},
};

static const struct {
    const char *system, *uuid, *mark;
} identities[] = {
    {"{\"UUID\": \"4C4C4544-0042-5110-8036-B6C04F593132\", \"SerialNumber\": \" CZJ1234 \"}",
     "4c4c4544-0042-5110-8036-b6c04f593132", "serial CZJ1234"},
    {"{\"UUID\": null, \"SerialNumber\": null}", "", ""}, /* before the first boot */
    {"{}", "", ""},
    {"{\"UUID\": \"4C4C4544-0042-5110-8036\", \"SerialNumber\": \"   \"}", "", ""},
    {"{\"UUID\": 7, \"SerialNumber\": \"a\\u001b[2Jb\"}", "", ""},
    {"{\"SerialNumber\": \"To Be Filled By O.E.M.\"}", "", ""}, /* in every machine of a series */
    {"{\"SerialNumber\": \"00000000\"}", "", ""},
    {"{\"SerialNumber\": \" none \"}", "", ""},
    {"{\"SerialNumber\": \"00000001\"}", "", "serial 00000001"},
};

static void test_identity(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(identities); i++) {
        struct controller_identity is = {.uuid = "x", .mark = "x"};
        struct err err = {0};
        json_t *o = NULL;

        assert_int_equal(redfish_parse(identities[i].system, strlen(identities[i].system), &o, &err), 0);
        redfish_identity(o, &is);
        json_decref(o);
        assert_string_equal(is.uuid, identities[i].uuid);
        assert_string_equal(is.mark, identities[i].mark);
    }
}

static void test_actions(void **state)
{
    struct redfish_action a;
    struct err err;

    (void)state;
    for (size_t i = 0; i < ELEMENTS(actions); i++) {
        json_t *o = parsed(actions[i].text);
        assert_int_equal(redfish_action(o, &a, &err), actions[i].code);
        json_decref(o);
        if (actions[i].code < 0)
            continue;
        assert_string_equal(a.target.text, "/r");
        assert_int_equal(a.listed, actions[i].listed);
        assert_int_equal(a.allowed, actions[i].allowed);
        assert_string_equal(a.info.text, actions[i].info);
    }
    json_t *info = parsed(
        "{\"Parameters\": [7, {\"Name\": \"Other\", \"AllowableValues\": [\"On\"]}, {\"Name\": \"ResetType\","
        " \"AllowableValues\": [\"GracefulShutdown\", \"ForceOn\"]}]}");
    a = (struct redfish_action){.listed = false};
    redfish_action_info(info, &a);
    json_decref(info);
    assert_true(a.listed);
    assert_int_equal(a.allowed, 1u << RESET_GRACEFUL_SHUTDOWN | 1u << RESET_FORCE_ON);
    assert_string_equal(a.values, "GracefulShutdown, ForceOn");
}

#define SYSTEM "\"RelatedItem\": [{\"@odata.id\": \"/redfish/v1/Systems/2/\"}]"
#define CHASSIS "\"RelatedItem\": [{\"@odata.id\": \"/redfish/v1/Chassis/2\"}]"
#define OTHER "\"RelatedItem\": [{\"@odata.id\": \"/redfish/v1/Systems/1\"}]"
#define METRIC(id, value, when)                                                                              \
    "{\"MetricId\": \"" id "\", \"MetricValue\": \"" value "\", \"Timestamp\": \"" when "\"}"

/* What a system draws: /redfish/v1/Systems/2 in /redfish/v1/Chassis/2, alone in it, or with others. */
static const struct {
    enum redfish_source source;
    const char *text;
    int code, shared_code;
    double watts, shared_watts;
} meters[] = {
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": 374.5}}", 0, -ENOTSUP, 374.5, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": 0}}", 0, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": null}}", -EBUSY, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": \"374\"}}", -EPROTO, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": -1}}", -EPROTO, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": {\"Reading\": 1e300}}", -EPROTO, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerWatts\": 12}", -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{\"PowerLimitWatts\": {\"SetPoint\": 0}}", -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_POWER_CONTROL,
     "{\"PowerControl\": [{\"PowerConsumedWatts\": 210}, {\"PowerConsumedWatts\": 90}]}", 0, -ENOTSUP, 210,
     0},
    {REDFISH_POWER_CONTROL, "{\"PowerControl\": [{\"Name\": \"no meter\"}, {\"PowerConsumedWatts\": 90}]}", 0,
     -ENOTSUP, 90, 0},
    {REDFISH_POWER_CONTROL,
     "{\"PowerControl\": [{\"PowerConsumedWatts\": null}, {\"PowerConsumedWatts\": 90}]}", 0, -ENOTSUP, 90,
     0},
    {REDFISH_POWER_CONTROL, "{\"PowerControl\": [{\"PowerConsumedWatts\": null}]}", -EBUSY, -ENOTSUP, 0, 0},
    {REDFISH_POWER_CONTROL, "{\"PowerControl\": [{\"PowerConsumedWatts\": []}]}", -EPROTO, -ENOTSUP, 0, 0},
    {REDFISH_POWER_CONTROL, "{\"PowerControl\": {\"PowerConsumedWatts\": 1}}", -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_POWER_CONTROL,
     "{\"PowerControl\": [{\"PowerConsumedWatts\": 900, " CHASSIS "}, {\"PowerConsumedWatts\": 400, " OTHER
     "}, {\"PowerConsumedWatts\": 500, " SYSTEM "}]}",
     0, 0, 500, 500},
    {REDFISH_POWER_CONTROL,
     "{\"PowerControl\": [{\"PowerConsumedWatts\": 60, " OTHER "}, {\"PowerConsumedWatts\": 300, " CHASSIS
     "}]}",
     0, -ENOTSUP, 300, 0},
    {REDFISH_POWER_CONTROL, "{\"PowerControl\": [{\"PowerConsumedWatts\": 60, " OTHER "}]}", -ENOTSUP,
     -ENOTSUP, 0, 0},
    {REDFISH_SUPPLY, "{\"InputPowerWatts\": {\"Reading\": 120}}", 0, -ENOTSUP, 120, 0},
    {REDFISH_SENSOR, "{\"ReadingType\": \"Power\", \"Reading\": 232}", 0, -ENOTSUP, 232, 0},
    {REDFISH_SENSOR, "{\"ReadingType\": \"Power\", \"Reading\": 232, " SYSTEM "}", 0, 0, 232, 232},
    {REDFISH_SENSOR, "{\"ReadingType\": \"Power\", \"Reading\": 232, " OTHER "}", -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_SENSOR, "{\"ReadingUnits\": \"W\", \"Reading\": null}", -EBUSY, -ENOTSUP, 0, 0},
    {REDFISH_SENSOR, "{\"ReadingType\": \"Temperature\", \"ReadingUnits\": \"Cel\", \"Reading\": 32}",
     -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_SENSOR, "{\"ReadingType\": \"Power\", \"Reading\": 0, \"Status\": {\"State\": \"Absent\"}}",
     -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "301", "2024-01-01T00:00:01Z") ", " METRIC(
         "SystemPowerConsumption", "305.5", "2024-01-01T00:00:02Z") ", " METRIC("TotalCPUPower", "90",
                                                                                "2024-01-01T00:00:03Z") "]}",
     0, -ENOTSUP, 305.5, 0},
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "lots", "2024-01-01T00:00:01Z") "]}", -EPROTO,
     -ENOTSUP, 0, 0},
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "nan", "2024-01-01T00:00:01Z") "]}", -EPROTO,
     -ENOTSUP, 0, 0},
    {REDFISH_REPORT,
     "{\"Timestamp\": \"2023-12-31T19:00:30-05:00\", \"MetricValues\": [{\"MetricProperty\": "
     "\"/redfish/v1/Systems/2/Power#/PowerControl/0/PowerConsumedWatts\", "
     "\"MetricValue\": \"77\"}]}",
     0, 0, 77, 77},
    /* too old, of the future, not dated, newest of two time zones */
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "301", "2023-12-31T23:58:59Z") "]}", -EBUSY,
     -ENOTSUP, 0, 0},
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "301", "2024-01-01T00:03:01Z") "]}", -EBUSY,
     -ENOTSUP, 0, 0},
    {REDFISH_REPORT, "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "301", "today") "]}", -EBUSY,
     -ENOTSUP, 0, 0},
    {REDFISH_REPORT,
     "{\"MetricValues\": [" METRIC("SystemPowerConsumption", "302", "2023-12-31T19:00:50-05:00") ", " METRIC(
         "SystemPowerConsumption", "301", "2024-01-01T00:00:40Z") "]}",
     0, -ENOTSUP, 302, 0},
    {REDFISH_REPORT, "{}", -ENOTSUP, -ENOTSUP, 0, 0},
    {REDFISH_ENVIRONMENT, "{}", -ENOTSUP, -ENOTSUP, 0, 0},
};

#define CLOCK 1704067260 /* 2024-01-01T00:01:00Z */

static void test_watts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(meters); i++) {
        json_t *o = parsed(meters[i].text);
        for (int shared = 0; shared < 2; shared++) {
            const struct redfish_metered whose = {.system = {"/redfish/v1/Systems/2"},
                                                  .chassis = {"/redfish/v1/Chassis/2"},
                                                  .shared = shared,
                                                  .alone = !shared,
                                                  .clock = CLOCK};
            double w = 0;
            struct err err;
            assert_int_equal(redfish_watts(meters[i].source, o, &whose, &w, &err),
                             shared ? meters[i].shared_code : meters[i].code);
            assert_true(w == (shared ? meters[i].shared_watts : meters[i].watts));
        }
        json_decref(o);
    }
}

static const struct {
    const char *text;
    enum redfish_task state;
} tasks[] = {
    {"{\"TaskState\": \"Completed\"}", REDFISH_TASK_DONE},
    {"{\"TaskState\": \"Completed\", \"TaskStatus\": \"OK\"}", REDFISH_TASK_DONE},
    {"{\"TaskState\": \"Completed\", \"TaskStatus\": \"Critical\"}", REDFISH_TASK_FAILED},
    {"{\"TaskState\": \"Running\", \"TaskStatus\": \"Critical\"}", REDFISH_TASK_GOES_ON},
    {"{\"TaskState\": \"Exception\"}", REDFISH_TASK_FAILED},
    {"{\"TaskState\": \"Killed\"}", REDFISH_TASK_FAILED},
    {"{\"TaskState\": \"Interrupted\"}", REDFISH_TASK_GOES_ON},
    {"{\"TaskState\": \"Running\"}", REDFISH_TASK_GOES_ON},
    {"{\"TaskState\": \"Whatever\"}", REDFISH_TASK_GOES_ON},
    {"{\"TaskState\": 1}", REDFISH_NO_TASK},
    {"{}", REDFISH_NO_TASK},
};

static void test_tasks(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(tasks); i++) {
        json_t *o = parsed(tasks[i].text);
        assert_int_equal(redfish_task_state(o), tasks[i].state);
        json_decref(o);
    }
}

#define SAID(messages)                                                                                       \
    "{\"error\": {\"code\": \"x\", \"message\": \"General.\", \"@Message.ExtendedInfo\": " messages "}}"

static const struct {
    long status;
    const char *text, *words;
    int code;
} refusals[] = {
    {403, SAID("[{\"MessageId\": \"Base.1.8.InsufficientPrivilege\", \"Message\": \"Not you.\"}]"),
     "Not you.", -EPERM},
    {400, SAID("[{\"MessageId\": \"iLO.2.14.InvalidOperationForSystemState\"}]"),
     "iLO.2.14.InvalidOperationForSystemState", -EBUSY},
    {400, SAID("[{\"Message\": \"One.\"}, {\"Message\": \"Two.\"}, {\"Message\": \"Three.\"}]"), "One. Two.",
     -EPROTO},
    {400, SAID("[{\"MessageId\": \"ActionParameterNotSupported\", \"Message\": 7}]"),
     "ActionParameterNotSupported", -ENOTSUP},
    {503, SAID("[]"), "General.", -EBUSY},
    {503, SAID("{}"), "General.", -EBUSY},
    {500, SAID("[7, null]"), "General.", -EBUSY},
    {404, "{}", "", -ENOTSUP},
    {401, "{\"error\": 5}", "", -EACCES},
    {418, "{\"error\": []}", "", -EPROTO},
    {409, "{\"Messages\": [{\"Message\": \" line\\n\\u001b[31m red\\u0085 \"}]}", "line [31m red", -EBUSY},
};

static void test_refusals(void **state)
{
    char words[REDFISH_WORDS_MAX];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(refusals); i++) {
        json_t *o = parsed(refusals[i].text);
        redfish_words(o, words);
        assert_string_equal(words, refusals[i].words);
        assert_int_equal(redfish_refusal(refusals[i].status, o), refusals[i].code);
        json_decref(o);
    }
    assert_int_equal(redfish_refusal(405, NULL), -ENOTSUP);
}

/* Long ones are cut, and not in the middle of a character. */
static void test_long_words(void **state)
{
    struct strbuf b;
    char words[REDFISH_WORDS_MAX];

    (void)state;
    for (unsigned shift = 0; shift < 3; shift++) {
        strbuf_init(&b, STRBUF_NO_LIMIT);
        strbuf_printf(&b, "{\"error\": {\"message\": \"%.*s", (int)shift, "xx");
        for (int i = 0; i < 500; i++)
            strbuf_puts(&b, "\xe2\x82\xac");
        strbuf_puts(&b, "\"}}");
        json_t *o = parsed(b.text);
        redfish_words(o, words);
        assert_true(strlen(words) > REDFISH_WORDS_MAX - 8);
        json_t *still = json_string(words); /* NULL unless it is UTF-8 */
        assert_non_null(still);
        json_decref(still);
        json_decref(o);
        strbuf_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),    cmocka_unit_test(test_untidy),     cmocka_unit_test(test_references),
        cmocka_unit_test(test_full),     cmocka_unit_test(test_ends),       cmocka_unit_test(test_paths),
        cmocka_unit_test(test_links),    cmocka_unit_test(test_search),     cmocka_unit_test(test_power),
        cmocka_unit_test(test_actions),  cmocka_unit_test(test_watts),      cmocka_unit_test(test_tasks),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_long_words), cmocka_unit_test(test_identity),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
