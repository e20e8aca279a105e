/* SOAP and XML: written text is escaped, reading is bounded, and prefixes do not matter. */
#include "unit.h"

#include "base/cleanup.h"
#include "net/soap.h"

#include <errno.h>
#include <string.h>

#define ENVELOPE(body)                                                                                       \
    "<e:Envelope xmlns:e=\"" SOAP_NS_ENVELOPE "\" xmlns:i=\"" XML_NS_XSI "\"><e:Body>" body                  \
    "</e:Body></e:Envelope>"

static const struct {
    const char *text, *escaped;
} texts[] = {
    {"", ""},
    {"plain", "plain"},
    {"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&apos;"},
    {"tab\tline\nreturn\r", "tab\tline\nreturn&#13;"},
    {"bell\a\x01\x1f.", "bell."}, /* XML has no place for them */
    {"]]>", "]]&gt;"},
    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
};

static void test_escaping(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(texts); i++) {
        CLEANUP(strbuf_releasep) struct strbuf b = {0};

        strbuf_init(&b, STRBUF_NO_LIMIT);
        soap_put_escaped(&b, texts[i].text);
        assert_string_equal(b.text, texts[i].escaped);
    }
}

static const struct {
    const char *text;
    int code;
    const char *payload; /* NULL: a fault */
    const char *fault_type, *fault_text, *fault_object;
} envelopes[] = {
    {ENVELOPE("<LoginResponse xmlns=\"urn:vim25\"/>"), 0, "LoginResponse", NULL, NULL, NULL},
    {ENVELOPE("<!-- c --> <v:X xmlns:v=\"urn:vim25\"/>"), 0, "X", NULL, NULL, NULL},
    {ENVELOPE("<e:Fault><faultcode>x</faultcode><faultstring>Login\n "
              "failed</faultstring><detail><InvalidLoginFault/>"
              "</detail></e:Fault>"),
     0, NULL, "InvalidLogin", "Login failed", ""},
    {ENVELOPE("<e:Fault><faultstring/><detail><RuntimeFaultFault i:type=\"v:ManagedObjectNotFound\"><obj "
              "type=\"Task\">task-1</obj></RuntimeFaultFault></detail></e:Fault>"),
     0, NULL, "ManagedObjectNotFound", "", "task-1"},
    {ENVELOPE("<e:Fault/>"), 0, NULL, "", "", ""},
    {ENVELOPE(""), -EPROTO, NULL, NULL, NULL, NULL},
    {"", -EPROTO, NULL, NULL, NULL, NULL},
    {"hello", -EPROTO, NULL, NULL, NULL, NULL},
    {"<html/>", -EPROTO, NULL, NULL, NULL, NULL},
    {"<Envelope><Body><X/></Body></Envelope>", -EPROTO, NULL, NULL, NULL, NULL}, /* of no namespace */
    {"<e:Envelope xmlns:e=\"urn:other\"><e:Body><X/></e:Body></e:Envelope>", -EPROTO, NULL, NULL, NULL, NULL},
    {"<e:Envelope xmlns:e=\"" SOAP_NS_ENVELOPE "\"><e:Body><X>", -EPROTO, NULL, NULL, NULL, NULL},
    {"<!DOCTYPE x [<!ENTITY a \"b\">]>" ENVELOPE("<X>&a;</X>"), -EPROTO, NULL, NULL, NULL, NULL},
    {ENVELOPE("<X>&undefined;</X>"), -EPROTO, NULL, NULL, NULL, NULL},
    {ENVELOPE("<u:X/>"), 0, "u:X", NULL, NULL, NULL}, /* a prefix that is not bound is part of the name */
};

static void test_envelopes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(envelopes); i++) {
        struct soap_answer answer = {0};
        struct err err = {0};
        int r = soap_parse(envelopes[i].text, strlen(envelopes[i].text), &answer, &err);

        if (r != envelopes[i].code)
            fail_msg("envelope %zu: %d %s", i, r, err.text);
        if (r < 0) {
            assert_null(answer.doc);
            continue;
        }
        assert_int_equal(answer.fault.present, envelopes[i].payload == NULL);
        if (envelopes[i].payload) {
            assert_string_equal(xml_name(answer.payload), envelopes[i].payload);
        } else {
            assert_string_equal(answer.fault.type, envelopes[i].fault_type);
            assert_string_equal(answer.fault.text, envelopes[i].fault_text);
            assert_string_equal(answer.fault.object, envelopes[i].fault_object);
        }
        soap_answer_release(&answer);
        assert_null(answer.doc);
    }
}

static const struct {
    const char *text;
    int code;
    int64_t value;
} numbers[] = {
    {"<n>0</n>", 0, 0},
    {"<n> -42\n</n>", 0, -42},
    {"<n>9223372036854775807</n>", 0, INT64_MAX},
    {"<n>9223372036854775808</n>", -EINVAL, 7},
    {"<n><![CDATA[1]]>2</n>", 0, 12},
    {"<n>1<!-- x -->2</n>", 0, 12},
    {"<n></n>", -EINVAL, 7},
    {"<n>1.5</n>", -EINVAL, 7},
    {"<n>0x10</n>", -EINVAL, 7},
    {"<n>many</n>", -EINVAL, 7},
    {"<n>1 2</n>", -EINVAL, 7},
    {"<n>00000000000000000000000000000000000001</n>", -EINVAL, 7},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(numbers); i++) {
        xml_doc *doc = NULL;
        int64_t value = 7;

        assert_int_equal(xml_parse(numbers[i].text, strlen(numbers[i].text), &doc, NULL), 0);
        assert_int_equal(xml_int(xml_root(doc), &value), numbers[i].code);
        assert_int_equal(value, numbers[i].value);
        xml_free(doc);
    }
    int64_t untouched = 7;
    assert_int_equal(xml_int(NULL, &untouched), -ENOENT);
    assert_int_equal(untouched, 7);
}

static void test_walking(void **state)
{
    static const char text[] =
        "<r xmlns:XMLSchema-instance=\"" XML_NS_XSI
        "\" xmlns:no=\"urn:no\">\n <a XMLSchema-instance:type=\"x:Kind\" "
        "type=\"plain\"><b><c>deep &amp; &#65;</c></b></a><v>1</v><w/><v no:type=\"Kind\">true</v></r>";
    CLEANUP(arena_releasep) struct arena a = {0};
    xml_doc *doc = NULL;

    (void)state;
    assert_int_equal(xml_parse(text, sizeof text - 1, &doc, NULL), 0);
    const xml_node *root = xml_root(doc);
    assert_string_equal(xml_text(xml_child(root, "a/b/c"), &a), "deep & A");
    assert_null(xml_child(root, "a/c"));
    assert_null(xml_child(NULL, "a"));
    assert_null(xml_text(NULL, &a));
    assert_true(xml_type_is(xml_child(root, "a"), "Kind"));
    assert_string_equal(xml_attribute(xml_child(root, "a"), "type", &a), "plain");
    const xml_node *v = xml_child(root, "v");
    assert_true(xml_bool(v));
    v = xml_again(v);
    assert_true(xml_bool(v));
    assert_false(xml_type_is(v, "Kind")); /* of another namespace */
    assert_null(xml_again(v));
    assert_false(xml_bool(xml_child(root, "w")));
    xml_free(doc);
}

/* An element with very many attributes takes the parser a time that grows with their square, and very many
 * elements take memory. */
static void test_tags(void **state)
{
    static const char *const fine[] = {"<a b='>' c=\">\"><!-- ' > \" --><![CDATA[ < ' ]]><?p '?></a>",
                                       "<a>it's</a>"};
    CLEANUP(strbuf_releasep) struct strbuf b = {0};
    xml_doc *doc = NULL;
    struct err err = {0};

    (void)state;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    strbuf_puts(&b, "<a x='>'");
    for (int i = 0; i < 5000; i++)
        strbuf_printf(&b, " b%d=''", i);
    strbuf_puts(&b, "/>");
    assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EPROTO);
    assert_non_null(strstr(err.text, "tag"));
    for (size_t i = 0; i < ELEMENTS(fine); i++) {
        strbuf_clear(&b);
        strbuf_puts(&b, fine[i]);
        assert_int_equal(xml_parse(b.text, b.len, &doc, &err), 0);
        xml_free(doc);
    }
    /* text may be as long as it likes */
    strbuf_clear(&b);
    strbuf_puts(&b, "<a>");
    for (int i = 0; i < 5000; i++)
        strbuf_puts(&b, "it's 5 bytes");
    strbuf_puts(&b, "</a>");
    assert_int_equal(xml_parse(b.text, b.len, &doc, &err), 0);
    xml_free(doc);
}

/* Documents of short pieces, which are many times as large in memory or slow to read. */
static void test_many(void **state)
{
    static const char *const many[] = {"<b c='' d='' e='' f=''/>", "<b>x</b>", "x<!---->", "<?x?>",
                                       "<![CDATA[x]]><b/>"};
    CLEANUP(strbuf_releasep) struct strbuf b = {0};
    xml_doc *doc = NULL;
    struct err err = {0};

    (void)state;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    /* few bytes in one tag, but many attributes in all */
    strbuf_clear(&b);
    strbuf_puts(&b, "<a");
    for (int i = 0; i < 33; i++)
        strbuf_printf(&b, " b%d=''", i);
    strbuf_puts(&b, "/>");
    assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EPROTO);
    assert_non_null(strstr(err.text, "more than 32 attributes"));
    for (size_t i = 0; i < ELEMENTS(many); i++) {
        strbuf_clear(&b);
        strbuf_puts(&b, "<a>");
        while (b.len < (size_t)64 << 20)
            strbuf_puts(&b, many[i]);
        strbuf_puts(&b, "</a>");
        assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EFBIG);
        assert_non_null(strstr(err.text, "elements, attributes and texts"));
    }
    for (size_t i = 0; i < 3; i++) { /* each different name makes the next one slower */
        strbuf_clear(&b);
        strbuf_puts(&b, "<a>");
        for (int k = 0; k < 500000; k++) {
            strbuf_puts(&b, i == 0 ? "<" : i == 1 ? "<b " : "<?");
            strbuf_printf(&b, "n%d", k);
            strbuf_puts(&b, i == 0 ? "/>" : i == 1 ? "=''/>" : "?>");
        }
        strbuf_puts(&b, "</a>");
        assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EPROTO);
        assert_non_null(strstr(err.text, "too many different names"));
    }
    /* an element of four bytes is thirty times as large in memory */
    strbuf_clear(&b);
    strbuf_puts(&b, "<a>");
    for (int i = 0; i < 5000000; i++)
        strbuf_puts(&b, "<b/>");
    strbuf_puts(&b, "</a>");
    assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EFBIG);
}

static void test_depth(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf b = {0};
    xml_doc *doc = NULL;
    struct err err;

    (void)state;
    strbuf_init(&b, STRBUF_NO_LIMIT);
    for (int i = 0; i < 100000; i++)
        strbuf_puts(&b, "<a>");
    assert_int_equal(xml_parse(b.text, b.len, &doc, &err), -EPROTO);
    assert_null(doc);
    for (int levels = 64; levels <= 65; levels++) {
        strbuf_clear(&b);
        for (int i = 0; i < levels; i++)
            strbuf_puts(&b, "<a>");
        for (int i = 0; i < levels; i++)
            strbuf_puts(&b, "</a>");
        assert_int_equal(xml_parse(b.text, b.len, &doc, &err), levels == 64 ? 0 : -EPROTO);
    }
    assert_non_null(strstr(err.text, "more than 64 levels"));
    xml_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escaping), cmocka_unit_test(test_envelopes), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_walking),  cmocka_unit_test(test_depth),     cmocka_unit_test(test_tags),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
