/* Times at which hosts may go to standby and must be on: windows, ready_by, and both changes of the clocks
 * in Berlin, at 01:00 UTC of 2026-03-29 and 2026-10-25. tests/peers/test_calendar.py compares single
 * expressions with systemd. */
#include "unit.h"

#include "schedule/schedule.h"
#include "schedule/span.h"
#include "schedule/zone.h"

#include "base/cleanup.h"
#include "base/rfc3339.h"

#include <errno.h>
#include <string.h>

#define ZONE "Europe/Berlin"
#define MOST 3

static instant_s at(const char *text)
{
    instant_s t;

    if (rfc3339_parse(text, &t) < 0)
        fail_msg("%s", text);
    return t;
}

static const char *shown(instant_s t, char text[RFC3339_MAX])
{
    return t == 0 ? "-" : rfc3339_format(t, text);
}

/* What is next after a moment, and what was last at that one. */
static const struct {
    const char *expression, *from, *next;
} next_cases[] = {
    {"07:30", "2026-03-28T06:29:59Z", "2026-03-28T06:30:00Z"},
    {"07:30", "2026-03-28T06:30:00Z", "2026-03-29T05:30:00Z"}, /* the hour that is left out */
    {"07:30", "2026-10-24T05:30:00Z", "2026-10-25T06:30:00Z"},
    {"02:30", "2026-03-28T02:00:00Z", "2026-03-30T00:30:00Z"}, /* there is none on the 29th */
    {"02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"}, /* the first of two */
    {"02:30", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"},
    {"02:30", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z"}, /* asked in between */
    {"*:00/30", "2026-10-25T00:30:00Z", "2026-10-25T02:00:00Z"},
    {"*:*:*", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"},
    {"*-*~1 22:00 UTC", "2028-02-28T22:00:00Z", "2028-02-29T22:00:00Z"},
    {"Mon *-05~07/1 UTC", "2026-01-01T00:00:00Z", "2026-05-25T00:00:00Z"},
    {"Mon *-02-29 UTC", "2026-01-01T00:00:00Z", "2044-02-29T00:00:00Z"},
    {"2199-12-31 23:59:59 UTC", "2026-01-01T00:00:00Z", "2199-12-31T23:59:59Z"},
    {"2025-06-01 12:00", "2026-01-01T00:00:00Z", NULL}, /* it has been */
    {"daily Pacific/Apia", "2011-12-29T12:00:00Z",
     "2011-12-30T10:00:00Z"}, /* a day that there never was there */
};

static void test_next_and_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(next_cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct calendar c;
        struct err err = {0};
        instant_s found = 0;
        instant_s back = 0;
        char text[RFC3339_MAX];

        print_message("  %s from %s\n", next_cases[i].expression, next_cases[i].from);
        if (calendar_parse(next_cases[i].expression, ZONE, &a, &c, &err) < 0)
            fail_msg("%s", err.text);
        bool any = calendar_next(&c, at(next_cases[i].from), &found);
        assert_int_equal(any, next_cases[i].next != NULL);
        if (!any)
            continue;
        assert_string_equal(shown(found, text), next_cases[i].next);
        assert_true(calendar_last(&c, found, &back));
        assert_int_equal(back, found);
        if (calendar_last(&c, found - 1, &back))
            assert_true(back <= at(next_cases[i].from));
    }
}

struct gap_case {
    const char *expression, *from, *next;
};

/* Each instant is found from both sides. */
static void check_gap(const struct gap_case *gap,
                      bool (*next)(const struct calendar *c, instant_s from, instant_s *ret),
                      bool (*last)(const struct calendar *c, instant_s at, instant_s *ret))
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct calendar c;
    struct err err = {0};
    instant_s found = 0;
    instant_s back = 0;
    char text[RFC3339_MAX];

    print_message("  %s from %s\n", gap->expression, gap->from);
    if (calendar_parse(gap->expression, ZONE, &a, &c, &err) < 0)
        fail_msg("%s", err.text);
    assert_true(next(&c, at(gap->from), &found));
    assert_string_equal(shown(found, text), gap->next);
    assert_true(last(&c, found, &back));
    assert_int_equal(back, found);
    if (last(&c, found - 1, &back))
        assert_true(back <= at(gap->from));
}

/* What protects: a time that the clocks skip is the instant of the change. */
static const struct gap_case protecting_cases[] = {
    {"02:30", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"},
    {"02:30", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z"},
    {"02:30", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"},
    {"02:00", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"},
    {"*-*-* 02,03:00", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"}, /* the same instant */
    {"02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"},          /* the first of two, as ever */
    {"07:30", "2026-03-28T06:30:00Z", "2026-03-29T05:30:00Z"},
    {"02:15 Australia/Lord_Howe", "2026-10-03T00:00:00Z",
     "2026-10-03T15:30:00Z"}, /* half an hour is skipped */
};

static void test_protecting(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(protecting_cases); i++)
        check_gap(&protecting_cases[i], calendar_next_or_after_gap, calendar_last_or_after_gap);
}

/* A window that protects, in the night in which 02:30 does not come. */
static void test_window_in_the_gap(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct schedule_window window;
    struct schedule s = {.windows = &window, .n_windows = 1, .zone = ZONE};
    struct schedule_state at_change;

    (void)state;
    assert_int_equal(schedule_window_parse("02:30 for 1h", ZONE, &a, &window, NULL), 0);
    schedule_at(&s, at("2026-03-29T01:30:00Z"), &at_change);
    assert_false(at_change.open);
    s.protects = true;
    schedule_at(&s, at("2026-03-29T01:30:00Z"), &at_change);
    assert_true(at_change.open);
    assert_int_equal(at_change.changes, at("2026-03-29T02:00:00Z"));
    schedule_at(&s, at("2026-03-29T00:30:00Z"), &at_change);
    assert_false(at_change.open);
    assert_int_equal(at_change.changes, at("2026-03-29T01:00:00Z"));
}

/* Deadlines: a time that the clocks skip is the earlier instant. */
static const struct gap_case due_cases[] = {
    {"02:30", "2026-03-28T02:00:00Z", "2026-03-29T00:30:00Z"},
    {"02:30", "2026-03-29T00:30:00Z", "2026-03-30T00:30:00Z"},
    {"02:30", "2026-03-29T00:45:00Z", "2026-03-30T00:30:00Z"}, /* asked in the hour before the change */
    {"02:00", "2026-03-28T02:00:00Z", "2026-03-29T00:00:00Z"},
    {"03:00", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"},
    {"*-*-* 01,02:45", "2026-03-29T00:00:00Z", "2026-03-29T00:45:00Z"}, /* both mean the same */
    {"*-*-29 02:10", "2026-03-28T02:00:00Z", "2026-03-29T00:10:00Z"},
    {"02:30", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"}, /* the first of two, as ever */
    {"07:30", "2026-03-28T06:30:00Z", "2026-03-29T05:30:00Z"},
    {"02:15 Australia/Lord_Howe", "2026-10-03T00:00:00Z",
     "2026-10-03T15:15:00Z"}, /* half an hour is skipped */
};

static void test_due(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(due_cases); i++)
        check_gap(&due_cases[i], calendar_next_due, calendar_last_due);
}

/* What the clocks skip, 02:10, is earlier than what is written before it, 01:50. */
static void test_due_in_order(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    static const char *const expected[] = {"2026-03-29T00:10:00Z", "2026-03-29T00:50:00Z"};
    instant_s t = at("2026-03-29T00:05:00Z");
    char text[RFC3339_MAX];

    (void)state;
    struct calendar early;
    struct calendar late;

    assert_int_equal(calendar_parse("02:10", ZONE, &a, &early, NULL), 0);
    assert_int_equal(calendar_parse("*-*-* 01..02:10/40", ZONE, &a, &late, NULL), 0);
    const struct schedule s = {.ready_by = (const struct calendar[]){late, early},
                               .n_ready_by = 2,
                               .zone = ZONE,
                               .ready_percent = 100};

    for (size_t i = 0; i < ELEMENTS(expected); i++) {
        assert_true(schedule_next_ready(&s, t, &t));
        assert_string_equal(shown(t, text), expected[i]);
    }
    for (size_t i = ELEMENTS(expected); i-- > 0; t--) {
        assert_true(calendar_last_due(&late, t, &t));
        assert_string_equal(shown(t, text), expected[i]);
    }
}

/* ---- what holds at a moment ---- */

static const struct {
    const char *name;
    const char *windows[MOST], *ready[MOST];
    const char *now;
    bool power_off;
    const char *changes, *ready_by; /* "-": none */
} state_cases[] = {
    {"nothing is said", {0}, {0}, "2026-03-27T12:00:00Z", true, "-", "-"},
    {"before the window",
     {"Mon..Fri 20:00 for 10h"},
     {0},
     "2026-03-25T18:59:59Z",
     false,
     "2026-03-25T19:00:00Z",
     "-"},
    {"it begins", {"Mon..Fri 20:00 for 10h"}, {0}, "2026-03-25T19:00:00Z", true, "2026-03-26T05:00:00Z", "-"},
    {"its last second",
     {"Mon..Fri 20:00 for 10h"},
     {0},
     "2026-03-26T04:59:59Z",
     true,
     "2026-03-26T05:00:00Z",
     "-"},
    {"it is over",
     {"Mon..Fri 20:00 for 10h"},
     {0},
     "2026-03-26T05:00:00Z",
     false,
     "2026-03-26T19:00:00Z",
     "-"},
    {"clocks set forward: until seven by the clock",
     {"*-*-* 20:00 for 10h"},
     {0},
     "2026-03-29T04:59:59Z",
     true,
     "2026-03-29T05:00:00Z",
     "-"},
    {"clocks set back: until five",
     {"*-*-* 20:00 for 10h"},
     {0},
     "2026-10-25T03:59:59Z",
     true,
     "2026-10-25T04:00:00Z",
     "-"},
    {"two that overlap are one",
     {"Fri 20:00 for 10h", "Sat 02:00 for 46h"},
     {0},
     "2026-03-27T20:00:00Z",
     true,
     "2026-03-29T23:00:00Z",
     "-"},
    {"two that touch are one",
     {"12:00 UTC for 1h", "13:00 UTC for 1h"},
     {0},
     "2026-03-27T12:30:00Z",
     true,
     "2026-03-27T14:00:00Z",
     "-"},
    {"all day, every day: no end", {"00:00 UTC for 24h"}, {0}, "2026-03-27T12:30:00Z", true, "-", "-"},
    {"every second: no end either", {"*:*:* for 2s"}, {0}, "2026-03-27T12:30:00Z", true, "-", "-"},
    {"it has been, and never comes again",
     {"2025-06-01 for 1d"},
     {0},
     "2026-03-27T12:30:00Z",
     false,
     "-",
     "-"},
    {"ready_by ends a window",
     {"Mon..Fri 20:00 UTC for 12h"},
     {"07:30 UTC"},
     "2026-03-26T07:00:00Z",
     true,
     "2026-03-26T07:30:00Z",
     "2026-03-26T07:30:00Z"},
    {"and it stays closed, though the window lasts",
     {"Mon..Fri 20:00 UTC for 12h"},
     {"07:30 UTC"},
     "2026-03-26T07:30:00Z",
     false,
     "2026-03-26T20:00:00Z",
     "2026-03-26T07:30:00Z"},
    {"what is late still counts for an hour",
     {"20:00 UTC for 10h"},
     {"07:30 UTC"},
     "2026-03-26T08:29:59Z",
     false,
     "2026-03-26T20:00:00Z",
     "2026-03-26T07:30:00Z"},
    {"then the next one",
     {"20:00 UTC for 10h"},
     {"07:30 UTC"},
     "2026-03-26T08:30:00Z",
     false,
     "2026-03-26T20:00:00Z",
     "2026-03-27T07:30:00Z"},
    {"a window that begins at that moment",
     {"07:30 UTC for 2h"},
     {"07:30 UTC"},
     "2026-03-26T07:30:00Z",
     true,
     "2026-03-26T09:30:00Z",
     "2026-03-27T07:30:00Z"},
    {"without windows: until it passes",
     {0},
     {"07:30 UTC"},
     "2026-03-26T07:29:59Z",
     true,
     "2026-03-26T07:30:00Z",
     "2026-03-26T07:30:00Z"},
    {"then an hour",
     {0},
     {"07:30 UTC"},
     "2026-03-26T07:30:00Z",
     false,
     "2026-03-26T08:30:00Z",
     "2026-03-26T07:30:00Z"},
    {"then again",
     {0},
     {"07:30 UTC"},
     "2026-03-26T08:30:00Z",
     true,
     "2026-03-27T07:30:00Z",
     "2026-03-27T07:30:00Z"},
    {"two within the hour: an hour from the second",
     {0},
     {"07:30 UTC", "08:00 UTC"},
     "2026-03-26T07:40:00Z",
     false,
     "2026-03-26T09:00:00Z",
     "2026-03-26T07:30:00Z"},
    {"every half hour: never",
     {0},
     {"*:00/30 UTC"},
     "2026-03-26T07:40:00Z",
     false,
     "-",
     "2026-03-26T07:30:00Z"},
};

static void fill(struct schedule *s, struct arena *a, const char *const *windows, const char *const *ready)
{
    struct schedule_window *w = arena_array(a, struct schedule_window, MOST);
    struct calendar *r = arena_array(a, struct calendar, MOST);

    *s = (struct schedule){.windows = w, .ready_by = r, .zone = ZONE, .ready_percent = 100};
    for (; s->n_windows < MOST && windows[s->n_windows]; s->n_windows++)
        assert_int_equal(schedule_window_parse(windows[s->n_windows], ZONE, a, &w[s->n_windows], NULL), 0);
    for (; s->n_ready_by < MOST && ready[s->n_ready_by]; s->n_ready_by++)
        assert_int_equal(calendar_parse(ready[s->n_ready_by], ZONE, a, &r[s->n_ready_by], NULL), 0);
}

static void test_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(state_cases); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct schedule s;
        struct schedule_state is;
        char text[RFC3339_MAX];

        print_message("  %s\n", state_cases[i].name);
        fill(&s, &a, state_cases[i].windows, state_cases[i].ready);
        schedule_at(&s, at(state_cases[i].now), &is);
        assert_int_equal(is.open, state_cases[i].power_off);
        assert_string_equal(shown(is.changes, text), state_cases[i].changes);
        assert_string_equal(shown(is.ready_by, text), state_cases[i].ready_by);
    }
}

/* Whatever is said of a moment to come is what holds then: followed for weeks over both changes of clocks. */
static void test_changes_are_kept(void **state)
{
    static const char *const windows[] = {"Mon..Thu 20:00 for 10h", "Fri 20:00 for 58h",
                                          "*-*-* 02:30 for 90min"};
    static const char *const ready[] = {"Mon..Fri 07:30", "Sun 03:00 America/New_York", NULL};
    static const char *const from[] = {"2026-03-16T00:00:00Z", "2026-10-12T00:00:00Z"};

    (void)state;
    for (size_t i = 0; i < ELEMENTS(from); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct schedule s;
        struct schedule_state is;
        struct schedule_state was;

        fill(&s, &a, windows, ready);
        schedule_at(&s, at(from[i]), &was);
        for (instant_s t = at(from[i]) + 300; t < at(from[i]) + 21 * 86400; t += 300) {
            schedule_at(&s, t, &is);
            bool foreseen = was.changes != 0 && t >= was.changes;
            assert_int_equal(is.open, was.open != foreseen);
            if (!foreseen)
                assert_int_equal(is.changes, was.changes);
            assert_true(is.changes > t);
            was = is;
        }
    }
}

/* ---- text ---- */

static const char *const wrong_windows[] = {
    "",          "20:00",         "20:00 for",      "20:00 for ",      "for 10h",
    " for 10h",  "20:00 for 0s",  "20:00 for 401d", "20:00 for 1.5h",  "20:00 for -1h",
    "20:00 10h", "Feb 30 for 1h", "*-02-30 for 1h", "20:00 for 500ms", "20:00 CEST for 1h",
};

static void test_wrong_windows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(wrong_windows); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct schedule_window w = {.span_s = 7};
        struct err err = {0};

        print_message("  \"%s\"\n", wrong_windows[i]);
        assert_int_equal(schedule_window_parse(wrong_windows[i], ZONE, &a, &w, &err), -EINVAL);
        assert_non_null(strstr(err.text, "expected"));
        assert_int_equal(w.span_s, 7);
    }
}

static void test_long_text(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    char text[4096];
    struct schedule_window w;
    struct calendar c;

    (void)state;
    memset(text, '1', sizeof text);
    for (size_t i = 1; i < sizeof text; i += 2)
        text[i] = ',';
    text[sizeof text - 1] = '\0';
    assert_int_equal(calendar_parse(text, ZONE, &a, &c, NULL), -EINVAL);
    assert_int_equal(schedule_window_parse(text, ZONE, &a, &w, NULL), -EINVAL);
}

static void test_zones(void **state)
{
    char text[ZONE_TEXT_MAX];

    (void)state;
    assert_true(zone_is_known("UTC") && zone_is_known("Europe/Berlin") && zone_is_known("CET"));
    assert_false(zone_is_known("") || zone_is_known("CEST") || zone_is_known("Mars/Olympus") ||
                 zone_is_known("Etc/Unknown") || zone_is_known("GMT+3:17") || zone_is_known("\xc3\xa4"));
    assert_string_equal(zone_text(ZONE, at("2026-03-29T00:59:59Z"), text), "Sun 2026-03-29 01:59:59 +01:00");
    assert_string_equal(zone_text(ZONE, at("2026-03-29T01:00:00Z"), text), "Sun 2026-03-29 03:00:00 +02:00");
    assert_string_equal(zone_text("America/St_Johns", at("2026-01-01T00:00:00Z"), text),
                        "Wed 2025-12-31 20:30:00 -03:30");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_next_and_last),    cmocka_unit_test(test_due),
        cmocka_unit_test(test_protecting),       cmocka_unit_test(test_window_in_the_gap),
        cmocka_unit_test(test_due_in_order),     cmocka_unit_test(test_state),
        cmocka_unit_test(test_changes_are_kept), cmocka_unit_test(test_wrong_windows),
        cmocka_unit_test(test_long_text),        cmocka_unit_test(test_zones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
