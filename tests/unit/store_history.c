/* Filters of actions and events, and what is known of VMs and hosts that are gone. */
#include "store_place.h"

#include "base/cleanup.h"
#include "store/events.h"
#include "store/history.h"

#include <errno.h>

static void put_action(struct store *s, const struct action_record *like, uint64_t id,
                       enum action_state state, instant_s ended)
{
    struct action_record r = *like;
    char uid[32];
    struct err err = {0};

    (void)snprintf(uid, sizeof uid, "uid-%d", (int)id);
    r.id = id;
    r.uid = uid;
    r.state = state;
    r.ended = ended;
    assert_int_equal(store_sqlite.put(s, &(struct record){RECORD_ACTION, .action = &r}, &err), 0);
}

/* A move a -> b of v1, one b -> a of v2, one b -> c of v1, a power-off of c. */
static void put_actions(struct store *s)
{
    struct action_record m = full;

    m.vm = "v1", m.from = "a", m.to = "b";
    put_action(s, &m, 1, ACTION_DONE, 100);
    put_action(s, &m, 2, ACTION_EXPIRED, 150);
    m.vm = "v2", m.from = "b", m.to = "a";
    put_action(s, &m, 3, ACTION_FAILED, 200);
    m.vm = "v1", m.from = "b", m.to = "c";
    put_action(s, &m, 4, ACTION_DONE, 300);
    m = bare;
    m.kind = ACTION_POWER_OFF, m.host = "c";
    put_action(s, &m, 5, ACTION_DONE, 400);
    put_action(s, &m, 6, ACTION_RUNNING, 0);
    put_action(s, &m, 7, ACTION_CANCELLED, 400);
}

static const struct {
    struct action_query q;
    const char *ids;
    uint64_t more;
} action_cases[] = {
    {{.state = action_state_count, .limit = 100}, "7 5 4 3 1", 0},
    {{.state = action_state_count, .limit = 5}, "7 5 4 3 1", 0},
    {{.state = action_state_count, .limit = 2}, "7 5", 3},
    {{.state = action_state_count, .since = 200, .limit = 100}, "7 5 4 3", 0},
    {{.state = action_state_count, .since = 201, .limit = 100}, "7 5 4", 0},
    {{.state = action_state_count, .since = 401, .limit = 100}, "", 0},
    {{.state = action_state_count, .vm = "v1", .limit = 100}, "4 1", 0},
    {{.state = action_state_count, .vm = "v1", .limit = 1}, "4", 1},
    {{.state = action_state_count, .host = "a", .limit = 100}, "3 1", 0},   /* either host of a move */
    {{.state = action_state_count, .host = "c", .limit = 100}, "7 5 4", 0}, /* and the host itself */
    {{.state = action_state_count, .vm = "v1", .host = "c", .limit = 100}, "4", 0},
    {{.state = ACTION_FAILED, .limit = 100}, "3", 0},
    {{.state = ACTION_DONE, .host = "b", .limit = 1}, "4", 1},
    {{.state = ACTION_EXPIRED, .limit = 100}, "2", 0},
    {{.state = ACTION_REJECTED, .limit = 100}, "", 0},
    {{.state = action_state_count, .vm = "v' OR 1", .limit = 100}, "", 0},
};

static void test_actions(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_actions(s);
    for (size_t i = 0; i < ELEMENTS(action_cases); i++) {
        struct action_record *list = NULL;
        struct err err = {0};
        const char *text = "";
        uint64_t more = 99;
        size_t n = 0;

        assert_int_equal(store_list_actions(s, &action_cases[i].q, &a, &list, &n, &more, &err), 0);
        for (size_t k = 0; k < n; k++)
            text = arena_printf(&a, "%s%s%d", text, k ? " " : "", (int)list[k].id);
        assert_string_equal(text, action_cases[i].ids);
        assert_true(more == action_cases[i].more);
    }
    store_close(s);
    remove_all(p.dir);
}

/* "100:done 200:failed": each end, and how. */
struct seen_ends {
    struct arena *a;
    const char *text;
    const struct action_record *like;
};

static void see_end(void *ctx, const struct action_record *r)
{
    struct seen_ends *x = ctx;

    x->text = arena_printf(x->a, "%s%s%d:%s", x->text, *x->text ? " " : "", (int)r->ended,
                           action_state_name(r->state));
    if (!r->vm) { /* a host's */
        assert_string_equal(r->host, "c");
        return;
    }
    assert_true(r->duration_s == x->like->duration_s && r->started == x->like->started);
    assert_string_equal(r->why, x->like->why);
    assert_true(r->from && r->to && r->result.observed_at == x->like->result.observed_at);
    assert_true(r->result.predicted[MOVE_TO][RES_MEM] == x->like->result.predicted[MOVE_TO][RES_MEM]);
    assert_true(r->result.overlaps == x->like->result.overlaps);
}

static const struct {
    instant_s since;
    const char *text;
} ends_cases[] = {
    {0, "100:done 200:failed 300:done 400:done 400:cancelled"},
    {200, "200:failed 300:done 400:done 400:cancelled"},
    {401, ""},
};

static void test_each_end(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_actions(s);
    for (size_t i = 0; i < ELEMENTS(ends_cases); i++) {
        struct seen_ends x = {.a = &a, .text = "", .like = &full};
        struct err err = {0};

        assert_int_equal(store_each_end(s, ends_cases[i].since, see_end, &x, &err), 0);
        assert_string_equal(x.text, ends_cases[i].text);
    }
    store_close(s);
    remove_all(p.dir);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void put_event(struct store *s, const char *vm, const char *host, const char *to, const char *data)
{
    const struct event_record r = {.time = 10,
                                   .kind = "action",
                                   .type = "action.done",
                                   .severity = "info",
                                   .subject = vm,
                                   .vm = vm,
                                   .host = host,
                                   .to_host = to,
                                   .data = data};
    struct err err = {0};
    uint64_t id;

    assert_int_equal(store_put_event(s, &r, &id, &err), 0);
}

static void put_events(struct store *s)
{
    put_event(s, "v1", "a", "b",
              "{\"action\": {\"vm\": \"v1\", \"from\": \"a\", \"to\": \"b\", \"host\": null, \"vm_name\": "
              "\"web\", \"from_name\": \"esx1\", \"to_name\": \"esx2\"}}");
    put_event(s, "v2", NULL, "b",
              "{\"action\": {\"vm\": \"v2\", \"from\": null, \"to\": \"b\", \"vm_name\": \"twin\", "
              "\"to_name\": \"esx2\"}}");
    put_event(s, NULL, "c", NULL, "{\"action\": {\"vm\": null, \"host\": \"c\", \"host_name\": \"esx3\"}}");
    put_event(s, "v3", "a", NULL,
              "{\"code\": \"rule_violated\", \"vm\": \"v3\", \"vm_name\": \"twin\", \"host\": \"a\", "
              "\"host_name\": \"esx1\"}");
    put_event(s, NULL, NULL, NULL, "{\"text\": \"of no VM\"}");
}

static const struct {
    const char *vm, *host;
    const char *ids;
} event_cases[] = {
    {NULL, NULL, "1 2 3 4 5"}, {"v1", NULL, "1"}, {"v3", NULL, "4"}, {NULL, "a", "1 4"}, {NULL, "b", "1 2"},
    {NULL, "c", "3"},          {"v2", "b", "2"},  {"v2", "a", ""},   {"a", NULL, ""},    {NULL, "v1", ""},
};

/* found: those that the query returns, and their count. */
static void check_events(struct store *s)
{
    CLEANUP(arena_releasep) struct arena a = {0};

    for (size_t i = 0; i < ELEMENTS(event_cases); i++) {
        struct event_query q = {.vm = event_cases[i].vm, .host = event_cases[i].host, .limit = 100};
        struct event_record *list = NULL;
        struct err err = {0};
        const char *text = "";
        uint64_t all = 99;
        size_t n = 0;

        assert_int_equal(store_list_events(s, &q, &a, &list, &n, &err), 0);
        for (size_t k = 0; k < n; k++)
            text = arena_printf(&a, "%s%s%d", text, k ? " " : "", (int)list[k].id);
        assert_string_equal(text, event_cases[i].ids);
        q.newest = true;
        q.limit = 1;
        assert_int_equal(store_count_events(s, &q, &all, &err), 0);
        assert_true(all == n);
        assert_int_equal(store_list_events(s, &q, &a, &list, &n, &err), 0);
        assert_true(n == (all > 0) && (n == 0 || list[0].id == (uint64_t)(text[strlen(text) - 1] - '0')));
    }
}

static void test_events(void **state)
{
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_events(s);
    check_events(s);
    store_close(s);
    remove_all(p.dir);
}

static void put_fault(struct store *s, const char *kind, instant_s time, const char *data)
{
    const struct event_record r = {
        .time = time, .kind = kind, .type = kind, .severity = "warning", .host = "h", .data = data};
    struct err err = {0};
    uint64_t id;

    assert_int_equal(store_put_event(s, &r, &id, &err), 0);
}

static void test_faults(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct fault_event *list = NULL;
    struct err err = {0};
    instant_s from = 99;
    struct place p;
    size_t n = 9;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    assert_int_equal(store_list_faults(s, &a, &list, &n, &from, &err), 0);
    assert_true(n == 0 && from == 0);
    put_fault(s, "fault", 10, "{\"code\": \"avoid\"}");
    put_fault(s, "host", 20, "{}");
    put_fault(s, "fault_cleared", 30, "{\"code\": \"avoid\"}");
    put_fault(s, "fault", 40, "{\"code\": null}");
    assert_int_equal(store_list_faults(s, &a, &list, &n, &from, &err), 0);
    assert_true(n == 3 && from == 0); /* nothing was deleted */
    assert_true(list[0].time == 10 && !list[0].cleared && list[1].time == 30 && list[1].cleared);
    assert_string_equal(list[1].code, "avoid");
    assert_string_equal(list[1].host, "h");
    assert_true(!list[1].vm && !list[2].code);
    assert_int_equal(store_prune_events(s, 0, 0, 1, &err), 0);
    assert_int_equal(store_list_faults(s, &a, &list, &n, &from, &err), 0);
    assert_true(n == 2 && from == 20);
    store_close(s);
    remove_all(p.dir);
}

/* ---- VMs and hosts that are gone ------------------------------------------------------------- */

static const struct {
    enum store_subject what;
    const char *word, *id; /* NULL: not known */
} subjects[] = {
    {STORE_VM, "v1", "v1"},         {STORE_VM, "web", "v1"},
    {STORE_VM, "v9", NULL},         {STORE_VM, "a", NULL},
    {STORE_VM, "esx1", NULL},       {STORE_VM, "only", "only"}, /* of an action alone */
    {STORE_HOST, "a", "a"},         {STORE_HOST, "b", "b"},
    {STORE_HOST, "c", "c"},         {STORE_HOST, "esx1", "a"},
    {STORE_HOST, "esx2", "b"},      {STORE_HOST, "esx3", "c"},
    {STORE_HOST, "there", "there"}, {STORE_HOST, "web", NULL},
    {STORE_HOST, "", NULL},
};

static void test_subjects(void **state)
{
    CLEANUP(arena_releasep) struct arena a = {0};
    struct action_record m = full;
    struct err err = {0};
    const char *id = NULL;
    struct place p;

    (void)state;
    place_make(&p);
    struct store *s = must_open(&p);

    put_events(s);
    m.vm = "only", m.from = "here", m.to = "there";
    put_action(s, &m, 1, ACTION_DONE, 100);
    for (size_t i = 0; i < ELEMENTS(subjects); i++) {
        int r = store_find_subject(s, subjects[i].what, subjects[i].word, &a, &id, &err);

        assert_int_equal(r, subjects[i].id ? 0 : -ENOENT);
        if (subjects[i].id)
            assert_string_equal(id, subjects[i].id);
    }
    assert_int_equal(store_find_subject(s, STORE_VM, "twin", &a, &id, &err), -EINVAL);
    assert_non_null(strstr(err.text, "several VMs had the name \"twin\""));
    assert_true(strstr(err.text, "v2") && strstr(err.text, "v3"));
    store_close(s);
    remove_all(p.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_actions), cmocka_unit_test(test_each_end), cmocka_unit_test(test_events),
        cmocka_unit_test(test_faults),  cmocka_unit_test(test_subjects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
