/* Elements of oVirt's REST API: each kind through XML and JSON and back, the forms of both versions, texts
 * that are meant to break them, and bodies that are refused. */
#include "unit.h"

#include "base/cleanup.h"
#include "http/rest/body.h"
#include "http/rest/write.h"
#include "net/xml.h"
#include "request/request.h"

#include <errno.h>
#include <string.h>

#define ID "\"id\":\"8d5d7bec-68de-4a67-b53e-0ac54686d579\""
#define SAME "\"name\":\"n\",\"description\":\"d\""
#define UNIT "\"scheduling_policy_unit\":{" ID "}"
#define PROPERTIES "[{\"name\":\"HighUtilization\",\"value\":\"70\"},{\"name\":\"a\",\"value\":\"\"}]"
#define VERSION "\"version\":{\"major\":4,\"minor\":7}"
#define CPU                                                                                                  \
    "\"cpu\":{\"architecture\":\"x86_64\",\"speed\":2400.5,\"topology\":{\"sockets\":1,\"cores\":8,"         \
    "\"threads\":2}}"
#define CLUSTER "\"cluster\":{" ID "}"
#define HOST "\"host\":{" ID "}"
#define STATISTICS                                                                                           \
    "\"statistics\":[{" ID ",\"name\":\"memory.used\",\"kind\":\"gauge\",\"type\":\"integer\",\"unit\":"     \
    "\"bytes\",\"values\":[{\"datum\":"                                                                      \
    "68719476736}],\"host\":{" ID "}}]"
#define RULE "{\"enabled\":true,\"positive\":false,\"enforcing\":true}"

/* An example of each kind, with every form of member that it has. */
static const struct {
    enum rest_kind kind;
    const char *neutral;
} examples[] = {
    {REST_API, "{\"product_info\":{\"name\":\"Ballast\",\"vendor\":\"v\"," VERSION
               "},\"time\":\"2026-01-01T00:00:00Z\"}"},
    {REST_SCHEDULING_POLICY,
     "{" ID "," SAME ",\"default_policy\":false,\"locked\":true,\"filters\":[{" ID ",\"position\":-1," UNIT
     "}],\"weights\":[{" ID ",\"factor\":3," UNIT "}],\"balances\":[{" ID "," UNIT "}],\"clone_of\":{" ID
     "},\"selector\":\"rank\",\"properties\":" PROPERTIES "}"},
    {REST_FILTER, "{" ID ",\"position\":1," UNIT "}"},
    {REST_WEIGHT, "{" ID ",\"factor\":0," UNIT "}"},
    {REST_BALANCE, "{" ID "," UNIT "}"},
    {REST_SCHEDULING_POLICY_UNIT,
     "{" ID "," SAME
     ",\"type\":\"load_balancing\",\"internal\":true,\"enabled\":false,\"properties\":" PROPERTIES "}"},
    {REST_CLUSTER, "{" ID "," SAME "," CPU ",\"data_center\":{" ID "}," VERSION
                   ",\"threads_as_cores\":false,\"scheduling_policy\":{" ID
                   "},\"custom_scheduling_policy_properties\":" PROPERTIES "}"},
    {REST_DATA_CENTER, "{" ID "," SAME ",\"local\":false,\"status\":\"up\"," VERSION "}"},
    {REST_HOST, "{" ID "," SAME ",\"address\":\"h1\",\"status\":\"up\",\"external_status\":\"ok\"," CLUSTER
                "," CPU ",\"memory\":9007199254740993,\"summary\":{\"active\":3,\"migrating\":0,\"total\":4},"
                "\"spm\":{\"status\":\"none\"},"
                "\"power_management\":{\"enabled\":true,\"automatic_pm_enabled\":false},\"device_"
                "passthrough\":{\"enabled\":false}," STATISTICS "}"},
    {REST_VM, "{" ID "," SAME ",\"status\":\"up\",\"type\":\"server\"," CLUSTER "," HOST "," CPU
              ",\"memory\":1073741824,\"memory_policy\":{\"guaranteed\":536870912},\"high_availability\":{"
              "\"enabled\":true},"
              "\"placement_policy\":{\"affinity\":\"migratable\",\"hosts\":[{" ID "}]}}"},
    {REST_STATISTIC, "{" ID ",\"name\":\"cpu.current.user\",\"kind\":\"gauge\",\"type\":\"decimal\",\"unit\":"
                     "\"percent\",\"values\":[{"
                     "\"datum\":0.1}],\"vm\":{" ID "}}"},
    {REST_AFFINITY_GROUP, "{" ID "," SAME ",\"vms\":[{" ID "},{" ID "}],\"hosts\":[]," CLUSTER
                          ",\"priority\":1.5,\"positive\":true,\"enforcing\":false,\"vms_rule\":" RULE
                          ",\"hosts_rule\":" RULE "}"},
    {REST_AFFINITY_LABEL, "{" ID "," SAME ",\"vms\":[{" ID "}],\"hosts\":[{" ID "}]}"},
    {REST_ACTION, "{" ID ",\"status\":\"failed\",\"async\":true,\"force\":false," HOST ",\"vm\":{" ID
                  "},\"fault\":{\"reason\":\"Operation Failed\",\"detail\":\"[no]\"}}"},
    {REST_FAULT,
     "{\"reason\":\"Operation Failed\",\"detail\":\"[Cannot add Scheduling Policy. Name is in use.]\"}"},
    {REST_PROPERTY, "{\"name\":\"n\",\"value\":\"v\"}"},
};

static json_t *parsed(const char *text)
{
    json_error_t where;
    json_t *ret = json_loads(text, 0, &where);

    if (!ret)
        fail_msg("%s: %s", text, where.text);
    return ret;
}

/* The href follows from the rest; it is not the example's. */
static void drop_href(json_t *v)
{
    const char *key;
    json_t *inner;
    size_t i;

    (void)json_object_del(v, "href");
    json_object_foreach(v, key, inner) drop_href(inner);
    json_array_foreach(v, i, inner) drop_href(inner);
}

static json_t *read_back(enum rest_kind kind, enum rest_format format, unsigned version, const char *text)
{
    struct err err = {0};
    json_t *ret = NULL;

    if (rest_read(kind, format, version, text, strlen(text), &ret, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return ret;
}

static void check_round_trip(enum rest_kind kind, const json_t *neutral, enum rest_format format,
                             unsigned version)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;

    rest_write(kind, neutral, format, version, &out);
    CLEANUP(json_decrefp) json_t *back = read_back(kind, format, version, out.text);
    drop_href(back);
    if (!json_equal(back, neutral))
        fail_msg("%s\nis read as %s", out.text, json_dumps(back, 0));
}

static void test_round_trip_of_each_kind(void **state)
{
    bool seen[REST_KINDS] = {false};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(examples); i++) {
        CLEANUP(json_decrefp) json_t *neutral = parsed(examples[i].neutral);

        seen[examples[i].kind] = true;
        for (unsigned way = 0; way < 4; way++)
            check_round_trip(examples[i].kind, neutral, way % 2 ? REST_XML : REST_JSON, way < 2 ? 3 : 4);
    }
    for (unsigned kind = REST_NONE + 1; kind <= REST_PROPERTY; kind++)
        assert_true(seen[kind]);
}

/* What each level of the table has below it, so that a body cannot lead the reader in a circle. */
static unsigned depth_of(enum rest_kind kind, unsigned above)
{
    unsigned most = 0;

    assert_true(above < 16);
    for (const struct rest_member *m = rest_element(kind)->members; m->name; m++) {
        const bool ends = m->inner == REST_NONE || m->form == REST_REFERENCE || m->flags & REST_REFERENCES;
        const unsigned depth = ends ? 1 : depth_of(m->inner, above + 1);

        assert_true(strlen(m->name) <= REST_NAME_MAX);
        most = depth > most ? depth : most;
    }
    return most + 1;
}

static void test_table_has_no_circle(void **state)
{
    (void)state;
    for (enum rest_kind kind = REST_NONE; kind < REST_KINDS; kind++) {
        assert_true(depth_of(kind, 0) <= 8);
        assert_non_null(rest_element(kind)->name);
    }
}

static void test_kinds_by_name(void **state)
{
    (void)state;
    assert_int_equal(rest_kind_of_element("scheduling_policy"), REST_SCHEDULING_POLICY);
    assert_int_equal(rest_kind_of_element("x"), REST_NONE);
    assert_int_equal(rest_kind_of_collection("schedulingpolicyunits"), REST_SCHEDULING_POLICY_UNIT);
    assert_int_equal(rest_kind_of_collection("vms"), REST_VM);
    assert_int_equal(rest_kind_of_collection("filters"), REST_NONE);
    assert_int_equal(rest_kind_of_collection(""), REST_NONE);
    assert_int_equal(rest_kind_of_collection(NULL), REST_NONE);
}

/* ---- the text, byte for byte ---- */

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define AT "/ovirt-engine/api"

static const struct {
    enum rest_kind kind;
    enum rest_format format;
    unsigned version;
    const char *neutral, *text;
} texts[] = {
    {REST_SCHEDULING_POLICY, REST_XML, 4,
     "{\"id\":\"a1\",\"name\":\"night\",\"locked\":false,\"policy\":\"x\",\"properties\":[{\"name\":\"H\","
     "\"value\":\"70\"}]}",
     XML "<scheduling_policy href=\"" AT
         "/schedulingpolicies/a1\" id=\"a1\">\n<name>night</name>\n<locked>false</locked>\n"
         "<link href=\"" AT "/schedulingpolicies/a1/filters\" rel=\"filters\">\n</link>\n"
         "<link href=\"" AT "/schedulingpolicies/a1/weights\" rel=\"weights\">\n</link>\n"
         "<link href=\"" AT "/schedulingpolicies/a1/balances\" rel=\"balances\">\n</link>\n"
         "<properties>\n<property>\n<name>H</name>\n<value>70</value>\n</property>\n</properties>\n</"
         "scheduling_policy>\n"},
    {REST_SCHEDULING_POLICY, REST_JSON, 3, "{\"id\":\"a1\",\"filters\":[{\"id\":\"u8\",\"position\":-1}]}",
     "{\"href\":\"" AT "/schedulingpolicies/a1\",\"id\":\"a1\",\"filters\":{\"filter\":[{\"href\":\"" AT
     "/schedulingpolicies/a1/filters/"
     "u8\",\"id\":\"u8\",\"position\":\"-1\",\"scheduling_policy_unit\":{\"href\":\"" AT
     "/schedulingpolicyunits/u8\",\"id\":\"u8\"}}]},\"link\":[{\"href\":\"" AT
     "/schedulingpolicies/a1/weights\",\"rel\":\"weights\"},{\"href\":\"" AT
     "/schedulingpolicies/a1/balances\",\"rel\":\"balances\"},{\"href\":\"" AT
     "/schedulingpolicies/a1/clusters\",\"rel\":\"clusters\"}]}"},
    {REST_SCHEDULING_POLICY_UNIT, REST_XML, 3, "{\"id\":\"u8\",\"name\":\"m\",\"type\":\"filter\"}",
     XML "<scheduling_policy_unit type=\"filter\" href=\"" AT
         "/schedulingpolicyunits/u8\" id=\"u8\">\n<name>m</name>\n"
         "</scheduling_policy_unit>\n"},
    {REST_SCHEDULING_POLICY_UNIT, REST_XML, 4, "{\"id\":\"u8\",\"type\":\"filter\"}",
     XML "<scheduling_policy_unit href=\"" AT
         "/schedulingpolicyunits/u8\" id=\"u8\">\n<type>filter</type>\n</scheduling_policy_unit>\n"},
    {REST_CLUSTER, REST_XML, 3,
     "{\"scheduling_policy\":{\"id\":\"a1\",\"name\":\"e\",\"policy\":\"e\",\"thresholds\":{\"high\":80,"
     "\"duration\":120}},\"version\":{\"major\":4,\"minor\":7}}",
     XML "<cluster>\n<version major=\"4\" minor=\"7\">\n</version>\n<scheduling_policy href=\"" AT
         "/schedulingpolicies/a1\" id=\"a1\">\n<name>e</name>\n<policy>e</policy>\n<thresholds high=\"80\" "
         "duration=\"120\">\n"
         "</thresholds>\n</scheduling_policy>\n</cluster>\n"},
    {REST_VM, REST_XML, 3,
     "{\"href\":\"/v\",\"status\":\"up\",\"host\":{\"id\":\"h\",\"name\":\"esx1\",\"href\":\"/no\"}}",
     XML
     "<vm href=\"/v\">\n<actions>\n<link href=\"/v/start\" rel=\"start\">\n</link>\n<link "
     "href=\"/v/migrate\" rel=\"migrate\">\n</link>\n"
     "<link href=\"/v/stop\" rel=\"stop\">\n</link>\n<link href=\"/v/shutdown\" rel=\"shutdown\">\n</link>\n"
     "<link href=\"/v/reboot\" rel=\"reboot\">\n</link>\n<link href=\"/v/ticket\" rel=\"ticket\">\n</link>\n"
     "<link href=\"/v/cancelmigration\" rel=\"cancelmigration\">\n</link>\n</actions>\n<link "
     "href=\"/v/statistics\" rel=\"statistics\">\n"
     "</link>\n<status>\n<state>up</state>\n</status>\n<host href=\"" AT
     "/hosts/h\" id=\"h\">\n</host>\n</vm>\n"},
    {REST_API, REST_JSON, 4, "{}",
     "{\"link\":[{\"href\":\"" AT "/clusters\",\"rel\":\"clusters\"},{\"href\":\"" AT
     "/clusters?search={query}\",\"rel\":\"clusters/search\"},{\"href\":\"" AT
     "/datacenters\",\"rel\":\"datacenters\"},{\"href\":\"" AT "/hosts\",\"rel\":\"hosts\"},{\"href\":\"" AT
     "/hosts?search={query}\",\"rel\":\"hosts/search\"},{\"href\":\"" AT
     "/vms\",\"rel\":\"vms\"},{\"href\":\"" AT "/vms?search={query}\",\"rel\":\"vms/search\"},{\"href\":\"" AT
     "/schedulingpolicies\",\"rel\":\"schedulingpolicies\"},{\"href\":\"" AT
     "/schedulingpolicyunits\",\"rel\":\"schedulingpolicyunits\"},{\"href\":\"" AT
     "/affinitylabels\",\"rel\":\"affinitylabels\"}]}"},
    {REST_FAULT, REST_XML, 4,
     "{\"reason\":\"<&>\\\"'\\u0001\\u202e\\n]]>\\u007f\\uffff\",\"detail\":5,\"more\":1}",
     XML "<fault>\n<reason>&lt;&amp;&gt;&quot;&#39;\xef\xbf\xbd&#8238;&#10;]]&gt;&#127;\xef\xbf\xbd</"
         "reason>\n<detail>5</detail>\n</fault>\n"},
    {REST_FAULT, REST_JSON, 4, "{\"reason\":\"\\u202e\\n\",\"detail\":null}", "{\"reason\":\"\\u202E\\n\"}"},
};

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
        CLEANUP(json_decrefp) json_t *neutral = parsed(texts[i].neutral);

        rest_write(texts[i].kind, neutral, texts[i].format, texts[i].version, &out);
        assert_string_equal(out.text, texts[i].text);
    }
}

static void test_collections(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
    CLEANUP(json_decrefp) json_t *two = parsed("[{\"id\":\"u8\"},{\"id\":\"u9\",\"factor\":3}]");
    CLEANUP(json_decrefp) json_t *none = json_array();

    (void)state;
    rest_write_list(REST_WEIGHT, two, "/p/weights", REST_XML, 4, &out);
    assert_string_equal(
        out.text, XML
        "<weights>\n<weight href=\"/p/weights/u8\" id=\"u8\">\n<scheduling_policy_unit href=\"" AT
        "/schedulingpolicyunits/u8\" id=\"u8\">\n</scheduling_policy_unit>\n</weight>\n"
        "<weight href=\"/p/weights/u9\" id=\"u9\">\n<factor>3</factor>\n<scheduling_policy_unit href=\"" AT
        "/schedulingpolicyunits/u9\" id=\"u9\">\n</scheduling_policy_unit>\n</weight>\n</weights>\n");
    strbuf_clear(&out);
    rest_write_list(REST_STATISTIC, two, NULL, REST_JSON, 4, &out);
    assert_string_equal(out.text, "{\"statistic\":[{\"id\":\"u8\"},{\"id\":\"u9\"}]}");
    strbuf_clear(&out);
    rest_write_list(REST_VM, none, NULL, REST_JSON, 4, &out);
    assert_string_equal(out.text, "{\"vm\":[]}");
    strbuf_clear(&out);
    rest_write_list(REST_VM, none, NULL, REST_XML, 4, &out);
    assert_string_equal(out.text, XML "<vms>\n</vms>\n");
}

/* Texts that are written to break XML or JSON come back as they were, but for what XML cannot hold. */
static void test_hostile_texts(void **state)
{
    static const char *const same[] = {"]]>",       "\"'<>&",    "<!--",         "&#0;",
                                       "a\r\nb\tc", "<![CDATA[", "\xe2\x80\xae", "\xf0\x9f\x98\x80",
                                       " a ",       "%s%n",      "{query}"};
    static const struct {
        const char *text, *as_read;
    } others[] = {{"\x01\x1f", "\xef\xbf\xbd\xef\xbf\xbd"},
                  {"\xef\xbf\xbe", "\xef\xbf\xbd"},
                  {"a\xff\xc3", "a\xef\xbf\xbd\xef\xbf\xbd"}};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(same); i++) {
        CLEANUP(json_decrefp)
        json_t *neutral = json_pack("{s:s, s:s}", "id", same[i], "description", same[i]);

        check_round_trip(REST_VM, neutral, REST_XML, 4);
        check_round_trip(REST_VM, neutral, REST_JSON, 3);
    }
    for (size_t i = 0; i < ELEMENTS(others); i++) {
        CLEANUP(strbuf_releasep) struct strbuf out = STRBUF_EMPTY;
        CLEANUP(json_decrefp) json_t *neutral = json_object();

        (void)json_object_set_new(neutral, "detail", json_string_nocheck(others[i].text));
        rest_write(REST_FAULT, neutral, REST_XML, 4, &out);
        CLEANUP(json_decrefp) json_t *back = read_back(REST_FAULT, REST_XML, 4, out.text);
        assert_string_equal(json_string_value(json_object_get(back, "detail")), others[i].as_read);
    }
}

/* ---- bodies ---- */

#define BARE "{\"id\":\"u8\",\"scheduling_policy_unit\":{\"id\":\"u8\"}}"

static const struct {
    enum rest_kind kind;
    enum rest_format format;
    unsigned version;
    const char *text, *neutral;
} bodies[] = {
    {REST_FILTER, REST_XML, 4,
     "<filter><position>-1</position><scheduling_policy_unit id=\"u8\"></scheduling_policy_unit></filter>",
     "{\"id\":\"u8\",\"position\":-1,\"scheduling_policy_unit\":{\"id\":\"u8\"}}"},
    {REST_FILTER, REST_XML, 4, "<filter id=\"u8\"/>", BARE},
    {REST_BALANCE, REST_XML, 3, "<base_resource id=\"u8\"/>", BARE},
    {REST_WEIGHT, REST_JSON, 4, "{\"id\":\"u8\"}", BARE},
    {REST_WEIGHT, REST_JSON, 4, "{\"id\":\"u7\",\"scheduling_policy_unit\":{\"id\":\"u8\"}}", BARE},
    {REST_WEIGHT, REST_JSON, 4, "{\"factor\":\"3\"}", "{\"factor\":3}"},
    {REST_SCHEDULING_POLICY, REST_XML, 4,
     "<p:scheduling_policy xmlns:p=\"x\" "
     "a=\"b\"><other><deep/></other><name><![CDATA[a<b]]></name></p:scheduling_policy>",
     "{\"name\":\"a<b\"}"},
    {REST_SCHEDULING_POLICY, REST_XML, 4,
     "<scheduling_policy><properties/><clone_of id=\"x\"/></scheduling_policy>",
     "{\"properties\":[],\"clone_of\":{\"id\":\"x\"}}"},
    {REST_SCHEDULING_POLICY, REST_JSON, 4,
     "{\"properties\":{\"property\":[{\"name\":\"a\",\"value\":70},{\"name\":\"b\",\"value\":true}]},"
     "\"link\":[1],\"actions\":3}",
     "{\"properties\":[{\"name\":\"a\",\"value\":\"70\"},{\"name\":\"b\",\"value\":\"true\"}]}"},
    {REST_SCHEDULING_POLICY, REST_JSON, 4,
     "{\"properties\":[],\"locked\":\"true\",\"name\":null,\"policy\":\"x\"}",
     "{\"properties\":[],\"locked\":true}"},
    {REST_SCHEDULING_POLICY_UNIT, REST_XML, 4, "<scheduling_policy_unit type=\"filter\"/>",
     "{\"type\":\"filter\"}"},
    {REST_HOST, REST_XML, 4, "<host><status><state>up</state></status></host>", "{\"status\":\"up\"}"},
    {REST_HOST, REST_JSON, 3, "{\"status\":{\"state\":\"up\"}}", "{\"status\":\"up\"}"},
    {REST_CLUSTER, REST_XML, 3,
     "<cluster><scheduling_policy><policy>power_saving</policy><thresholds low=\"20\" high=\"80\" "
     "duration=\"120\"/>"
     "</scheduling_policy></cluster>",
     "{\"scheduling_policy\":{\"name\":\"power_saving\"},\"custom_scheduling_policy_properties\":[{\"name\":"
     "\"HighUtilization\",\"value\":\"80\"},"
     "{\"name\":\"LowUtilization\",\"value\":\"20\"},{\"name\":\"CpuOverCommitDurationMinutes\",\"value\":"
     "\"2\"}]}"},
    {REST_CLUSTER, REST_JSON, 3,
     "{\"scheduling_policy\":{\"id\":\"a1\",\"policy\":\"p\",\"thresholds\":{\"high\":80},\"properties\":{"
     "\"property\":[{\"name\":\"HighUtilization\",\"value\":\"70\"}]}}}",
     "{\"scheduling_policy\":{\"id\":\"a1\"},\"custom_scheduling_policy_properties\":[{\"name\":"
     "\"HighUtilization\",\"value\":\"70\"}]}"},
    {REST_CLUSTER, REST_XML, 4,
     "<cluster><scheduling_policy id=\"\"><policy>p</policy></scheduling_policy></cluster>",
     "{\"scheduling_policy\":{\"id\":\"\"}}"},
    {REST_ACTION, REST_XML, 4, "<action />", "{}"},
    {REST_ACTION, REST_XML, 4, "<action><async>false</async></action>", "{\"async\":false}"},
    {REST_ACTION, REST_XML, 4, "", "{}"},
    {REST_ACTION, REST_JSON, 4, "", "{}"},
};

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(bodies); i++) {
        CLEANUP(json_decrefp) json_t *expected = parsed(bodies[i].neutral);
        CLEANUP(json_decrefp)
        json_t *is = read_back(bodies[i].kind, bodies[i].format, bodies[i].version, bodies[i].text);

        if (!json_equal(expected, is))
            fail_msg("%s\nis read as %s", bodies[i].text, json_dumps(is, 0));
    }
}

static const struct {
    enum rest_kind kind;
    enum rest_format format;
    const char *text, *why;
} refused[] = {
    {REST_FILTER, REST_XML, "<weight id=\"u8\"/>", "the body is an element weight, expected filter"},
    {REST_CLUSTER, REST_XML, "<base_resource id=\"u8\"/>",
     "the body is an element base_resource, expected cluster"},
    {REST_FILTER, REST_XML, "<filter><position>x</position></filter>",
     "the body: \"position\" of filter has another form, expected a number"},
    {REST_FILTER, REST_XML, "<filter><position>1e999</position></filter>",
     "the body: \"position\" of filter has another form, expected a number"},
    {REST_FILTER, REST_XML, "<filter><position><a/></position></filter>",
     "the body: \"position\" of filter has another form, expected a number"},
    {REST_FILTER, REST_JSON, "{\"position\":true}",
     "the body: \"position\" of filter has another form, expected a number"},
    {REST_FILTER, REST_JSON, "{\"scheduling_policy_unit\":\"u8\"}",
     "the body: \"scheduling_policy_unit\" of filter has another form, expected a reference with an id"},
    {REST_CLUSTER, REST_JSON, "{\"cpu\":{\"topology\":4}}",
     "the body: \"topology\" of cpu has another form, expected an object"},
    {REST_CLUSTER, REST_JSON, "{\"threads_as_cores\":1}",
     "the body: \"threads_as_cores\" of cluster has another form, expected true or false"},
    {REST_CLUSTER, REST_JSON, "{\"name\":[\"a\"]}",
     "the body: \"name\" of cluster has another form, expected a text"},
    {REST_CLUSTER, REST_JSON, "{\"name\":{\"state\":\"a\"}}",
     "the body: \"name\" of cluster has another form, expected a text"},
    {REST_HOST, REST_JSON, "{\"status\":{\"state\":{}}}",
     "the body: \"status\" of host has another form, expected a text"},
    {REST_HOST, REST_JSON, "{\"status\":{}}",
     "the body: \"status\" of host has another form, expected a text"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"properties\":\"a\"}",
     "the body: \"properties\" of scheduling_policy has another form, expected a list"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"properties\":{\"property\":\"a\"}}",
     "the body: \"properties\" of scheduling_policy has another form, expected a list"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"properties\":[1]}",
     "the body: property has another form, expected an object"},
    {REST_SCHEDULING_POLICY, REST_JSON, "[]",
     "the body: scheduling_policy has another form, expected an object"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{", "the body is not JSON"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"name\":\"a\",\"name\":\"b\"}",
     "the body is not JSON: duplicate object key"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"name\":\"\xff\"}", "the body is not JSON"},
    {REST_SCHEDULING_POLICY, REST_JSON, "{\"name\":\"\\u0000\"}", "the body is not JSON"},
    {REST_SCHEDULING_POLICY, REST_XML, "<scheduling_policy>",
     "the body: this is not XML, or only half of it"},
    {REST_SCHEDULING_POLICY, REST_XML, "<scheduling_policy><name>\xff</name></scheduling_policy>",
     "the body: this is not XML, or only half of it"},
    {REST_SCHEDULING_POLICY, REST_XML,
     "<!DOCTYPE a [<!ENTITY b \"c\">]><scheduling_policy><name>&b;</name></scheduling_policy>",
     "the body: the XML carries a document type, which is refused"},
};

static void test_refused_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(refused); i++) {
        struct err err = {0};
        json_t *ret = NULL;

        if (rest_read(refused[i].kind, refused[i].format, 4, refused[i].text, strlen(refused[i].text), &ret,
                      &err) != -EINVAL ||
            ret || strncmp(err.text, refused[i].why, strlen(refused[i].why)) != 0)
            fail_msg("%s: %s", refused[i].text, err.text);
    }
}

static void test_long_bodies(void **state)
{
    static char text[REQUEST_BYTES_MAX + 1];
    struct err err = {0};
    json_t *ret = NULL;

    (void)state;
    memset(text, ' ', sizeof text);
    memcpy(text, "{}", 2);
    assert_int_equal(rest_read(REST_VM, REST_JSON, 4, text, sizeof text, &ret, &err), -EINVAL);
    assert_null(ret);
    assert_int_equal(rest_read(REST_VM, REST_JSON, 4, text, sizeof text - 1, &ret, &err), 0);
    json_decref(ret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_of_each_kind),
        cmocka_unit_test(test_table_has_no_circle),
        cmocka_unit_test(test_kinds_by_name),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_collections),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_refused_bodies),
        cmocka_unit_test(test_long_bodies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
