/* The status page's list of faults: what the status reply has of them, as text and not as markup. */
#include "unit.h"

#include "base/cleanup.h"
#include "http/status_page.h"

#include <string.h>

static const char fine[] =
    "{\"status\": {\"time\": \"2026-01-01T00:00:00Z\", \"source\": {\"state\": \"up\", \"error\": null}, "
    "\"pass_error\": null,"
    " \"store_error\": null, \"store\": {\"warning\": null}, \"faults\": [], \"configuration\": [], "
    "\"logins_paused\": [],"
    " \"mqtt\": {\"url\": \"mqtt://b\", \"connected\": true, \"since\": null, \"error\": null, \"unsent\": "
    "0},"
    " \"alarms\": [{\"target\": \"ops\", \"failing_since\": null, \"error\": null, \"waiting\": 0}]}}";

static const char wrong[] =
    "{\"status\": {\"time\": \"2026-01-01T00:00:00Z\", \"source\": {\"state\": \"lost\", \"error\": \"no "
    "route\"},"
    " \"pass_error\": \"p\", \"store_error\": \"disk full\", \"store\": {\"warning\": \"near its limit\"},"
    " \"faults\": [{\"text\": \"<b>h1</b>\"}], \"configuration\": [\"a rule\"], \"logins_paused\": "
    "[{\"account\": \"root@h\"}],"
    " \"mqtt\": {\"url\": \"mqtt://b\", \"connected\": false, \"since\": \"2026-01-01T00:00:01Z\", "
    "\"error\": \"refused\", \"unsent\": 7},"
    " \"alarms\": [{\"target\": \"<i>ops\", \"failing_since\": \"2026-01-01T00:00:02Z\", \"error\": \"timed "
    "out\", \"waiting\": 3},"
    "              {\"target\": \"desk\", \"failing_since\": null, \"error\": null, \"waiting\": 0}]}}";

static const char *const sentences[] = {
    "The source cannot be read: no route",
    "The last pass failed: p",
    "The store fails: disk full",
    "<li class=\"bad\">near its limit",
    "The MQTT broker is not connected: mqtt://b since 2026-01-01T00:00:01Z: refused; 7 events wait",
    "Alarms are not delivered to &lt;i&gt;ops since 2026-01-01T00:00:02Z: timed out; 3 events wait",
    "&lt;b&gt;h1&lt;/b&gt;",
    "Configuration: a rule",
    "the account is not used for now: root@h",
};

/* The part of the page; the caller releases it. */
static void write_faults(const char *status, struct strbuf *out)
{
    CLEANUP(json_decrefp) json_t *reply = json_loads(status, 0, NULL);
    struct status_page page = {.cluster = "c", .who = "w", .role = "viewer", .status = reply};

    assert_non_null(reply);
    strbuf_init(out, STRBUF_NO_LIMIT);
    status_page_write(&page, out);
    char *begin = strstr(out->text, "<h2>Faults</h2>");
    char *end = strstr(out->text, "<h2>Waiting");

    assert_true(begin && end && begin < end);
    *end = '\0';
    memmove(out->text, begin, strlen(begin) + 1);
}

static void test_faults(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf none = {0};
    CLEANUP(strbuf_releasep) struct strbuf all = {0};

    (void)state;
    write_faults(fine, &none);
    assert_string_equal(none.text, "<h2>Faults</h2>\n<p>None.</p>\n");
    write_faults(wrong, &all);
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        assert_non_null(strstr(all.text, sentences[i]));
    assert_null(strstr(all.text, "desk"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
