/* Events as JSON: one of each kind. unit-event_json --print writes them, a line each, for
 * tests/peers/test_replies.py, which compares them with conf/schema/events.json. */
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "daemon/events/event_json.h"
#include "engine/knowledge/night_record.h"

#include <stdio.h>
#include <string.h>

/* Of two hosts: one has all that a host can have, the other slept on. */
static void print_night(struct strbuf *out)
{
    struct night_record r = {.from = 1000, .until = 2000, .used_kwh = 3.5, .all_on_kwh = 5, .saved_kwh = 1.5};
    struct night_host *h = night_record_host(&r, "host-1", "esx1");

    h->from = 1100;
    h->until = 1900;
    h->asleep_s = 800;
    h->woke_s = 300;
    h->expected_s = 120;
    h->late = true;
    night_record_set_text(&h->why, "no answer");
    night_record_host(&r, "host-2", NULL)->from = 1200;
    night_record_set_text(&r.text, "last night");
    night_record_write(&r, out);
    night_record_release(&r);
}

/* Adds the data of an event of the kind that has all that such an event can have. */
static void data_of(enum event_kind kind, const char *night, struct strbuf *out)
{
    static const uint64_t after[] = {3, 4};
    const struct action_record move = {.id = 7,
                                       .version = 2,
                                       .uid = "a-7",
                                       .pass = 12,
                                       .state = ACTION_DONE,
                                       .kind = ACTION_MIGRATE,
                                       .priority = 3,
                                       .vm = "vm-1",
                                       .from = "host-1",
                                       .to = "host-2",
                                       .reason = REASON_BALANCE_CPU,
                                       .text = "a move",
                                       .depends_on = after,
                                       .n_depends_on = 2,
                                       .created = 1000,
                                       .ended = 2000,
                                       .result = {.predicted_at = 1000, .observed_at = 2000}};
    const struct action_record *const redirected[] = {&move};
    const struct recommendation_changes changes = {
        .n_new = 2, .n_gone = 1, .n_redirected = 1, .redirected = redirected};
    const struct event ev = {
        .kind = kind,
        .time = 2000,
        .action = kind == EVENT_ACTION || kind == EVENT_WAKE_FAILED ? &move : NULL,
        .changes = kind == EVENT_PASS_DONE ? &changes : NULL,
        .pass = 12,
        .text = "what happened",
        .target = kind == EVENT_ALARM_FAILED || kind == EVENT_ALARM_BACK ? "ops" : NULL,
        .unit = kind == EVENT_UNIT_FAILED || kind == EVENT_UNIT_BACK ? "quiet" : NULL,
        .night = kind == EVENT_NIGHT ? night : NULL,
        .by = "root",
        .vm = "vm-1",
        .host = "host-1",
        .fault = FAULT_QUARANTINE,
        .was = HOST_ON,
        .is = kind == EVENT_HOST_LOST ? host_state_count : HOST_STANDBY,
    };

    if (kind == EVENT_GAP)
        event_json_gap(&ev, 1, 63, out);
    else
        event_json_data(&ev, out);
}

static void print_all(void)
{
    CLEANUP(strbuf_releasep) struct strbuf night = {0};

    strbuf_init(&night, STRBUF_NO_LIMIT);
    print_night(&night);
    for (int i = 0; i < event_kind_count; i++) {
        CLEANUP(strbuf_releasep) struct strbuf data = {0};

        strbuf_init(&data, STRBUF_NO_LIMIT);
        data_of((enum event_kind)i, night.text, &data);
        (void)printf("%s %s\n", event_kind_name((enum event_kind)i), data.text);
    }
}

static void test_a_roll_names_its_host(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf data = {0};
    const struct event end = {.kind = EVENT_MAINTENANCE_ROLL, .text = "it has ended"};

    (void)state;
    strbuf_init(&data, STRBUF_NO_LIMIT);
    data_of(EVENT_MAINTENANCE_ROLL, NULL, &data);
    assert_non_null(strstr(data.text, "\"host\": \"host-1\""));
    strbuf_clear(&data);
    event_json_data(&end, &data);
    assert_null(strstr(data.text, "\"host\""));
}

static void test_a_gap_without_numbers(void **state)
{
    CLEANUP(strbuf_releasep) struct strbuf data = {0};
    const struct event ev = {.kind = EVENT_GAP, .text = "3 events are missing"};

    (void)state;
    strbuf_init(&data, STRBUF_NO_LIMIT);
    event_json_gap(&ev, 0, 3, &data);
    assert_non_null(strstr(data.text, "\"count\": 3"));
    assert_null(strstr(data.text, "\"from\""));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_roll_names_its_host),
                                       cmocka_unit_test(test_a_gap_without_numbers)};

    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        print_all();
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
