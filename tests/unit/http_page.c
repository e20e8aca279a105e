/* The status page: text from data stays text. Forms: a field is read strictly. */
#include "unit.h"

#include "base/cleanup.h"
#include "http/form.h"
#include "http/html.h"
#include "http/status_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_text(void **state)
{
    static const struct {
        const char *text, *html;
    } list[] = {
        {NULL, ""},
        {"", ""},
        {"esx-1.example.com", "esx-1.example.com"},
        {"</script><b a='\"'>&amp;", "&lt;/script&gt;&lt;b a=&#39;&quot;&#39;&gt;&amp;amp;"},
        {"a\nb\tc\x1b[31m\x7f", "a\xef\xbf\xbd"
                                "b\xef\xbf\xbd"
                                "c\xef\xbf\xbd[31m\xef\xbf\xbd"},
        {"\xe2\x80\xae"
         "evil\xe2\x80\xac\xe2\x81\xa6\xd8\x9c",
         "\xef\xbf\xbd"
         "evil\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xc2\x85\xe2\x80\xa8", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xff\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"M\xc3\xbcller \xf0\x9f\x98\x80", "M\xc3\xbcller \xf0\x9f\x98\x80"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(list); i++) {
        CLEANUP(strbuf_releasep) struct strbuf out = {0};

        strbuf_init(&out, STRBUF_NO_LIMIT);
        html_text(&out, list[i].text);
        assert_string_equal(out.text, list[i].html);
    }
}

#define WILD "\"'><img src=x onerror=alert(1)></td></script><!--"
#define WILD_JSON "\\\"'><img src=x onerror=alert(1)></td></script><!--\\u202e\\u0007"

/* Every text of the replies is hostile. */
static void test_wild_names(void **state)
{
    static const char status[] =
        "{\"ok\": true, \"status\": {\"version\": \"" WILD_JSON "\", \"time\": \"" WILD_JSON
        "\", \"automation\": \"" WILD_JSON "\", \"source\": {\"state\": \"lost\", \"since\": \"" WILD_JSON
        "\", \"error\": \"" WILD_JSON "\"}, \"frozen\": true, \"frozen_by\": \"" WILD_JSON
        "\", \"asleep\": [{\"host_name\": \"" WILD_JSON "\"}], \"faults\": [{\"text\": \"" WILD_JSON
        "\"}], \"pass_error\": \"" WILD_JSON "\", \"store_error\": \"" WILD_JSON
        "\", \"configuration\": [\"" WILD_JSON "\"], \"logins_paused\": [{\"account\": \"" WILD_JSON "\"}]}}";
    static const char hosts[] = "{\"hosts\": [{\"name\": \"" WILD_JSON "\", \"state\": \"on\", \"vms\": 3, "
                                "\"cpu\": {\"load\": 2.5}, \"mem\": {\"load\": null}}, 7, null]}";
    static const char recommendations[] =
        "{\"recommendations\": [{\"state\": \"recommended\", \"action\": \"" WILD_JSON "\", \"vm\": \"v\", "
        "\"vm_name\": \"" WILD_JSON "\", \"from\": \"a\", \"from_name\": \"" WILD_JSON
        "\", \"to\": \"b\", \"to_name\": \"" WILD_JSON "\", \"text\": \"" WILD_JSON
        "\"}, {\"state\": \"running\", \"host_name\": \"" WILD_JSON "\", \"approved_by\": \"" WILD_JSON
        "\", \"started\": \"" WILD_JSON "\"}, [], {}]}";
    CLEANUP(strbuf_releasep) struct strbuf out = {0};
    json_t *replies[] = {json_loads(status, 0, NULL), json_loads(hosts, 0, NULL),
                         json_loads(recommendations, 0, NULL)};
    const struct status_page page = {.cluster = WILD,
                                     .who = WILD,
                                     .role = "viewer",
                                     .csrf = WILD,
                                     .refresh_s = 30,
                                     .status = replies[0],
                                     .hosts = replies[1],
                                     .recommendations = replies[2]};
    size_t n = 0;

    (void)state;
    strbuf_init(&out, STRBUF_NO_LIMIT);
    for (size_t i = 0; i < ELEMENTS(replies); i++)
        assert_non_null(replies[i]);
    status_page_write(&page, &out);
    assert_null(strstr(out.text, "<img"));
    assert_null(strstr(out.text, "<!--"));
    assert_null(strstr(out.text, "script>"));
    assert_null(strstr(out.text, "\"'"));
    assert_null(strstr(out.text, "\xe2\x80\xae"));
    assert_null(strchr(out.text, '\a'));
    for (const char *at = out.text; (at = strstr(at, "&lt;img src=x")) != NULL; at++)
        n++;
    assert_int_equal(n, 25);
    strbuf_clear(&out);
    status_page_write(&(struct status_page){.cluster = "c", .who = "w", .role = "viewer"},
                      &out); /* no replies */
    assert_non_null(strstr(out.text, "</html>"));
    strbuf_clear(&out);
    status_page_write_sign_in(WILD, WILD, &out);
    status_page_write_problem(WILD, WILD, &out);
    assert_null(strstr(out.text, "<img"));
    for (size_t i = 0; i < ELEMENTS(replies); i++)
        json_decref(replies[i]);
}

static void test_form(void **state)
{
    static const struct {
        const char *body;
        int code;
        const char *value;
    } list[] = {
        {"", -ENOENT, NULL},
        {"token", -ENOENT, NULL},
        {"xtoken=1&tokenx=2&Token=3", -ENOENT, NULL},
        {"token=", 0, ""},
        {"token=a+b%41%2b", 0, "a bA+"},
        {"x=1&token=abc&y", 0, "abc"},
        {"&&token=abc&&", 0, "abc"},
        {"token=a=b", 0, "a=b"},
        {"token=1&token=1", -EINVAL, NULL},
        {"token=%4", -EINVAL, NULL},
        {"token=%", -EINVAL, NULL},
        {"token=%4&1", -EINVAL, NULL},
        {"token=%zz", -EINVAL, NULL},
        {"token=%00", -EINVAL, NULL},
        {"token=a%0d%0a", -EINVAL, NULL},
        {"token=12345678", -EINVAL, NULL},
    };
    char value[8];

    (void)state;
    for (size_t i = 0; i < ELEMENTS(list); i++) {
        assert_int_equal(form_field(list[i].body, strlen(list[i].body), "token", value, sizeof value),
                         list[i].code);
        if (list[i].value)
            assert_string_equal(value, list[i].value);
    }
    assert_int_equal(form_field("token=a\0b", 9, "token", value, sizeof value), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_wild_names),
        cmocka_unit_test(test_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
