/* Events in the store: numbers that always grow, queries, and the deletion of old events. */
#include "store_place.h"

#include "base/cleanup.h"
#include "store/events.h"

#include <errno.h>

static uint64_t put(struct store *s, const char *kind, instant_s time)
{
    const struct event_record r = {
        .time = time, .kind = kind, .type = kind, .severity = "info", .data = "{}"};
    struct err err = {0};
    uint64_t id = 0;

    assert_int_equal(store_put_event(s, &r, &id, &err), 0);
    return id;
}

/* "1 2 5": the numbers of what is found. */
static const char *found(struct store *s, struct event_query q, struct arena *a)
{
    struct event_record *list = NULL;
    struct err err = {0};
    const char *text = "";
    size_t n = 0;

    assert_int_equal(store_list_events(s, &q, a, &list, &n, &err), 0);
    for (size_t i = 0; i < n; i++)
        text = arena_printf(a, "%s%s%d", text, i ? " " : "", (int)list[i].id);
    return text;
}

static const struct event_query all = {.limit = 1000};

static const struct {
    struct event_query q;
    const char *ids;
} queries[] = {
    {{.limit = 100}, "1 2 3 4 5 6"},
    {{.limit = 2}, "1 2"},
    {{.limit = 2, .newest = true}, "5 6"},
    {{.limit = 100, .after = 4}, "5 6"},
    {{.limit = 100, .after = 6}, ""},
    {{.limit = 100, .since = 1030}, "3 4 5 6"},
    {{.limit = 100, .since = 1030, .after = 3}, "4 5 6"},
    {{.limit = 100, .kind = "host"}, "2 4 6"},
    {{.limit = 2, .kind = "host", .newest = true}, "4 6"},
    {{.limit = 1, .kind = "host", .after = 2}, "4"},
    {{.limit = 100, .kind = "nothing"}, ""},
};

static void test_queries(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (int i = 1; i <= 6; i++)
        assert_int_equal(put(s, i % 2 ? "action" : "host", 1000 + 10 * i), i);
    for (size_t i = 0; i < ELEMENTS(queries); i++)
        assert_string_equal(found(s, queries[i].q, &a), queries[i].ids);
    store_close(s);
    remove_all(p.dir);
}

/* What happens to hosts: standby and wakes, but neither moves of VMs nor passes, nor steps between. */
static void test_hosts(void **state)
{
    static const struct {
        const char *kind, *type, *vm;
    } events[] = {
        {"host", "host.standby", NULL},         {"pass_done", "pass_done", NULL},
        {"action", "action.recommended", NULL}, {"action", "action.approved", NULL},
        {"action", "action.running", "v1"},     {"action", "action.running", NULL},
        {"action", "action.done", "v1"},        {"action", "action.failed", NULL},
        {"wake_failed", "wake_failed", NULL},   {"host_lost", "host_lost", NULL},
        {"host_back", "host_back", NULL},       {"action", "action.done", NULL},
        {"action", "action.cancelled", NULL},   {"fault", "fault", NULL},
    };
    const struct event_query q = {.limit = 2, .newest = true, .kind = "host"};
    CLEANUP(arena_releasep) struct arena a = {0};
    struct err err = {0};
    uint64_t n = 0;
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    for (size_t i = 0; i < ELEMENTS(events); i++) {
        const struct event_record r = {.time = 1,
                                       .kind = events[i].kind,
                                       .type = events[i].type,
                                       .vm = events[i].vm,
                                       .host = "h1",
                                       .severity = "info",
                                       .data = "{}"};

        assert_int_equal(store_put_event(s, &r, &n, &err), 0);
    }
    assert_string_equal(found(s, (struct event_query){.limit = 100, .kind = "host"}, &a),
                        "1 6 8 9 10 11 12 13");
    assert_string_equal(found(s, q, &a), "12 13");
    assert_int_equal(store_count_events(s, &q, &n, &err), 0);
    assert_int_equal(n, 8);
    assert_string_equal(found(s, (struct event_query){.limit = 100, .kind = "action"}, &a),
                        "3 4 5 6 7 8 12 13");
    store_close(s);
    remove_all(p.dir);
}

static void test_whole(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    const struct event_record r = {.time = 77,
                                   .kind = "action",
                                   .type = "action.done",
                                   .severity = "notice",
                                   .subject = "vm 'x' \xc3\xa9",
                                   .data = "{\"text\": \"a \\\"b\\\"\"}"};
    struct event_record *list = NULL;
    struct err err = {0};
    struct place p;
    uint64_t id;
    size_t n = 0;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_put_event(s, &r, &id, &err), 0);
    store_close(s);
    s = must_open(&p); /* it is on the disk */
    assert_int_equal(store_list_events(s, &all, &a, &list, &n, &err), 0);
    assert_true(n == 1 && list[0].id == 1 && list[0].time == 77);
    assert_string_equal(list[0].kind, r.kind);
    assert_string_equal(list[0].type, r.type);
    assert_string_equal(list[0].severity, r.severity);
    assert_string_equal(list[0].subject, r.subject);
    assert_string_equal(list[0].data, r.data);
    store_close(s);
    remove_all(p.dir);
}

static void test_transaction(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct err err = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(put(s, "frozen", 1), 1);
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(put(s, "thawed", 2), 2);
    store_sqlite.rollback(s);
    assert_string_equal(found(s, all, &a), "1"); /* nothing is told of what did not happen */
    assert_int_equal(store_sqlite.begin(s, &err), 0);
    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &full}, &err), 0);
    assert_int_equal(put(s, "thawed", 2), 2);
    assert_int_equal(store_sqlite.commit(s, &err), 0);
    store_close(s);
    s = must_open(&p);
    assert_string_equal(found(s, all, &a), "1 2");
    store_close(s);
    remove_all(p.dir);
}

/* Twelve events at 10, 20, ... 120. */
static const struct {
    instant_s before;
    uint64_t sent, floor;
    const char *left;
    uint64_t first;
} prunings[] = {
    {0, 12, 0, "1 2 3 4 5 6 7 8 9 10 11 12", 1},      {50, 12, 0, "5 6 7 8 9 10 11 12", 5},
    {50, 2, 0, "3 4 5 6 7 8 9 10 11 12", 3}, /* what was not sent stays, however old */
    {50, 0, 0, "1 2 3 4 5 6 7 8 9 10 11 12", 1},      {0, 0, 9, "10 11 12", 10}, /* unless it is too much */
    {30, UINT64_MAX, 0, "3 4 5 6 7 8 9 10 11 12", 3}, {1000, 12, 12, "", 13},
};

static void test_prune(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(prunings); i++) {
        CLEANUP(arena_releasep) struct arena a = {0};
        struct err err = {0};
        struct place p;
        uint64_t first = 0, last = 99;

        place_make(&p);
        struct store *s = must_open(&p);

        assert_int_equal(store_event_range(s, &first, &last, &err), 0);
        assert_true(first == 1 && last == 0);
        for (int k = 1; k <= 12; k++)
            (void)put(s, "action", 10 * k);
        for (int k = 0; k < 12; k++) /* a tenth at a time */
            assert_int_equal(
                store_prune_events(s, prunings[i].before, prunings[i].sent, prunings[i].floor, &err), 0);
        assert_string_equal(found(s, all, &a), prunings[i].left);
        assert_int_equal(store_event_range(s, &first, &last, &err), 0);
        assert_true(first == prunings[i].first && last == 12);
        assert_int_equal(put(s, "action", 0), 13); /* never a number twice, even of those that are gone */
        store_close(s);
        remove_all(p.dir);
    }
}

/* A command is carried out once, whatever restarts and reboots come between. */
static void test_commands(void **state)
{
    struct err err = {0};
    struct place p;
    char sql[160];

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_remember_command(s, "a", 900, 3, &err), 0);
    assert_int_equal(store_remember_command(s, "a", 900, 3, &err), -EALREADY);
    assert_non_null(strstr(err.text, "a command with the id \"a\" came before"));
    store_close(s); /* a restart */
    s = must_open(&p);
    assert_int_equal(store_remember_command(s, "a", 900, 3, &err), -EALREADY);
    tamper(&p, "UPDATE notes SET value = 4000000000 WHERE key = 'store:command/a'"); /* a reboot */
    assert_int_equal(store_remember_command(s, "b*'", 900, 3, &err), 0);
    assert_int_equal(store_remember_command(s, "a", 900, 3, &err), -EALREADY);
    assert_int_equal(store_remember_command(s, "c", 900, 3, &err), 0);
    /* none is forgotten for another one */
    assert_int_equal(store_remember_command(s, "d", 900, 3, &err), -EUSERS);
    assert_int_equal(store_remember_command(s, "a", 900, 3, &err), -EUSERS);
    (void)snprintf(sql, sizeof sql, "UPDATE notes SET value = value - 901 WHERE key = 'store:command/a'");
    tamper(&p, sql);
    assert_int_equal(store_remember_command(s, "d", 900, 3, &err), 0);
    assert_int_equal(store_remember_command(s, "b*'", 900, 4, &err), -EALREADY);
    store_close(s);
    remove_all(p.dir);
}

static void test_notes(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct err err = {0};
    const char *value = "untouched";
    const char *name = NULL;
    const char **hosts = NULL;
    size_t n = 9;
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_get_note(s, "k", &a, &value, &err), 0);
    assert_null(value);
    assert_int_equal(
        store_sqlite.put(s, &(struct record){RECORD_NOTE, .note = &(struct note){"k", "12"}}, &err), 0);
    assert_int_equal(store_get_note(s, "k", &a, &value, &err), 0);
    assert_string_equal(value, "12");
    assert_int_equal(store_instance(s, &a, &name, &err), 0);
    assert_string_equal(name, must_load(s, &a).instance);
    assert_int_equal(store_host_ids(s, &a, &hosts, &n, &err), 0);
    assert_int_equal(n, 0);
    assert_int_equal(
        store_sqlite.put(
            s, &(struct record){RECORD_HOST, .host = &(struct host_record){.host = "h2", .boot_s = UNKNOWN}},
            &err),
        0);
    assert_int_equal(
        store_sqlite.put(
            s, &(struct record){RECORD_HOST, .host = &(struct host_record){.host = "h1", .boot_s = UNKNOWN}},
            &err),
        0);
    assert_int_equal(store_host_ids(s, &a, &hosts, &n, &err), 0);
    assert_int_equal(n, 2);
    assert_string_equal(hosts[0], "h1");
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queries),     cmocka_unit_test(test_hosts), cmocka_unit_test(test_whole),
        cmocka_unit_test(test_transaction), cmocka_unit_test(test_prune), cmocka_unit_test(test_notes),
        cmocka_unit_test(test_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
