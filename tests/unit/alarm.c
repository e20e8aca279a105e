/* Alarms: the signature against the specification's example, names in a line, pauses, the end of patience,
 * what a restart finds. */
#include "unit.h"

#include "alarm/message.h"
#include "alarm/progress.h"
#include "alarm/selection.h"
#include "alarm/signature.h"
#include "base/cleanup.h"

#include <string.h>

/* The example of the libraries of Standard Webhooks. */
static void test_signature(void **state)
{
    static const char body[] = "{\"test\": 2432232314}";
    char sum[ALARM_SIGNATURE_MAX];

    (void)state;
    assert_int_equal(alarm_sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                                1614265330, body, sizeof body - 1, sum),
                     0);
    assert_string_equal(sum, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_true(alarm_sign("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "i", 1, "", 0, sum) < 0);
    assert_true(alarm_sign("whsec_", "i", 1, "", 0, sum) < 0);
    assert_true(alarm_sign("whsec_@@@@", "i", 1, "", 0, sum) < 0);
}

/* What a name may hold that would end a line, or make the line read as something else. */
static void test_line(void **state)
{
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"", ""},
        {"db-1 \xc3\xa9\xe2\x98\x83", "db-1 \xc3\xa9\xe2\x98\x83"},
        {"a\r\nBcc: x@y", "a  Bcc: x@y"},
        {"\x1b[31m\x7f\xc2\x9b"
         "31m",
         " [31m  31m"},
        {"a\xe2\x80\xa8"
         "b\xe2\x80\xa9"
         "c",
         "a b c"},
        {"\xe2\x80\xae"
         "evil\xe2\x81\xa6\xe2\x81\xa9\xe2\x80\xaa",
         " evil   "},
        {"\xe2\x80\xaf\xe2\x80\x8b", "\xe2\x80\xaf "},
        {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
    };

    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};

        assert_string_equal(alarm_line(cases[i].before, &a), cases[i].after);
    }
}

static void test_pauses(void **state)
{
    static const instant_s pauses[] = {5, 10, 20, 40, 80, 160, 320, 600, 600};
    struct alarm_progress p = {.position = 3};
    instant_s now = 1000;

    (void)state;
    alarm_progress_begin_events(&p, 9, now);
    for (size_t i = 0; i < ELEMENTS(pauses); i++) {
        enum alarm_failure f = alarm_progress_failed(&p, false, 0, now);

        assert_int_equal(p.next - now, pauses[i]);
        assert_true(f == ALARM_FAILS || now - p.failing >= ALARM_TELL_S);
        now = p.next;
    }
    assert_true(p.told && p.position == 3); /* told once */
    (void)alarm_progress_failed(&p, false, 100000, now);
    assert_int_equal(p.next - now, ALARM_RETRY_AFTER_MAX_S);
    assert_true(alarm_progress_delivered(&p, now));
    assert_true(p.position == 9 && p.next == 0 && p.failing == 0 && !alarm_progress_is_under_way(&p));
}

static void test_given_up(void **state)
{
    (void)state;
    for (int refused = 0; refused < 2; refused++) {
        struct alarm_progress p = {.position = 3};
        const instant_s most = refused ? ALARM_REFUSED_S : ALARM_GIVE_UP_S;
        instant_s now = 1000;

        alarm_progress_begin_events(&p, 9, now);
        while (alarm_progress_failed(&p, refused, 0, now) != ALARM_FAILS_GIVEN_UP)
            now = p.next;
        assert_true(now - 1000 >= most && now - 1000 <= most + ALARM_PAUSE_MAX_S);
        assert_true(p.position == 9 && p.given_up == 1 && p.next > now && !alarm_progress_is_under_way(&p));
    }
}

static void test_restart(void **state)
{
    struct alarm_progress p = {.position = 3}, q;

    (void)state;
    alarm_progress_begin_events(&p, 9, 1000);
    assert_int_equal(alarm_progress_failed(&p, false, 0, 1000), ALARM_FAILS);
    assert_int_equal(alarm_progress_failed(&p, false, 0, 1000 + ALARM_TELL_S), ALARM_FAILS_TELL);
    json_t *json = alarm_progress_json(&p);

    assert_true(alarm_progress_read(json, 20, 2000, &q));
    assert_true(q.position == 3 && q.upto == 9 && q.first_tried == 1000);
    /* told once, also over a restart; and that it is back */
    assert_true(q.failing == 1000 && q.told);
    assert_int_equal(alarm_progress_failed(&q, false, 0, 3000), ALARM_FAILS);
    assert_true(alarm_progress_delivered(&q, 3001));
    assert_true(alarm_progress_read(json, 5, 2000, &q)); /* a restored store is older */
    assert_true(q.position == 3 && q.upto == 0 && !alarm_progress_is_under_way(&q));
    json_decref(json);
    assert_false(alarm_progress_read(NULL, 5, 2000, &q));
    json = json_loads(
        "{\"position\": -1, \"upto\": 0, \"first_tried\": 0, \"digest_until\": 0, \"digested\": 0}", 0, NULL);
    assert_false(alarm_progress_read(json, 5, 2000, &q));
    json_decref(json);
    json =
        json_loads("{\"position\": 1, \"upto\": 2, \"first_tried\": 3, \"digest_until\": 0, \"digested\": 0}",
                   0, NULL); /* of an earlier version */
    assert_true(alarm_progress_read(json, 5, 2000, &q));
    assert_true(q.upto == 2 && q.failing == 0 && !q.told);
    json_decref(json);
    alarm_progress_skip(&p, 9);
    assert_true(p.position == 9 && !alarm_progress_is_under_way(&p));
}

static void test_selection(void **state)
{
    static const char *const none[] = {NULL}, *const kinds[] = {"host", NULL},
                             *const hosts[] = {"esx1", "host-7", NULL};
    struct config_alarm t = {
        .name = "ops", .severity = ALARM_SEVERITY_WARNING, .kinds = none, .hosts = none, .vms = none};
    struct alarm_candidate e = {
        .kind = "host", .severity = "warning", .host = "host-1", .data = "{\"host_name\": \"esx1\"}"};
    struct alarm_candidate own = {
        .kind = "alarm_failed", .severity = "warning", .data = "{\"target\": \"ops\"}"};

    (void)state;
    assert_true(alarm_selects(&t, &e));
    assert_false(alarm_selects(&t, &own));
    own.data = "{\"target\": \"other\"}";
    assert_true(alarm_selects(&t, &own));
    e.severity = "notice";
    assert_false(alarm_selects(&t, &e));
    e.severity = "error";
    t.kinds = kinds;
    t.hosts = hosts;
    assert_true(alarm_selects(&t, &e));
    e.data = "{\"host_name\": \"esx2\"}";
    assert_false(alarm_selects(&t, &e));
    e.to_host = "host-7";
    assert_true(alarm_selects(&t, &e));
    e.kind = "fault";
    assert_false(alarm_selects(&t, &e));
    t.severity = ALARM_SEVERITY_NONE;
    assert_false(alarm_selects(&t, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_signature), cmocka_unit_test(test_line),
                                       cmocka_unit_test(test_pauses),    cmocka_unit_test(test_given_up),
                                       cmocka_unit_test(test_restart),   cmocka_unit_test(test_selection)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
