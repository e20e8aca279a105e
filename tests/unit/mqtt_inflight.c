/* Messages in flight: the order of messages, which are sent again, and up to where they are acknowledged. A
 * script of steps on top. */
#include "unit.h"

#include "mqtt/inflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is sent is written down as "3" (event 3), "s" (the state s; "-s" taken back), each with its number as
 * connection.message: the broker's answers name it so. */
enum step_kind {
    END,
    EVENTS, /* up to number n */
    STATE,  /* text: topic, or -topic */
    SEND,   /* all that goes; text: what is expected to */
    ANSWER, /* to the nth that was sent on this connection, from 1 */
    LOSE,
    DROP, /* up to number n */
    OVER, /* up to number n is expected */
};

struct step {
    enum step_kind kind;
    unsigned n;
    const char *text;
};

static const struct {
    const char *what;
    struct step steps[24];
} cases[] = {
    {"in order, one answer after the other",
     {{EVENTS, 3, NULL},
      {SEND, 0, "1 2 3"},
      {OVER, 0, NULL},
      {ANSWER, 1, NULL},
      {OVER, 1, NULL},
      {ANSWER, 2, NULL},
      {ANSWER, 3, NULL},
      {OVER, 3, NULL},
      {SEND, 0, ""}}},
    {"answers out of order: over is what has no hole before it",
     {{EVENTS, 3, NULL},
      {SEND, 0, "1 2 3"},
      {ANSWER, 3, NULL},
      {ANSWER, 2, NULL},
      {OVER, 0, NULL},
      {ANSWER, 1, NULL},
      {OVER, 3, NULL}}},
    {"what was not answered is sent again, in its order",
     {{EVENTS, 4, NULL},
      {SEND, 0, "1 2 3 4"},
      {ANSWER, 1, NULL},
      {ANSWER, 3, NULL},
      {LOSE, 0, NULL},
      {EVENTS, 5, NULL},
      {SEND, 0, "2 4 5"},
      {ANSWER, 1, NULL},
      {OVER, 3, NULL},
      {ANSWER, 2, NULL},
      {ANSWER, 3, NULL},
      {OVER, 5, NULL}}},
    {"the window: sixteen at a time",
     {{EVENTS, 20, NULL},
      {SEND, 0, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"},
      {SEND, 0, ""},
      {ANSWER, 2, NULL},
      {SEND, 0, "17"},
      {ANSWER, 1, NULL},
      {ANSWER, 3, NULL},
      {SEND, 0, "18 19"},
      {OVER, 3, NULL},
      {LOSE, 0, NULL},
      {SEND, 0, "4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"}}},
    {"an answer that nobody waits for",
     {{EVENTS, 1, NULL},
      {ANSWER, 9, NULL},
      {SEND, 0, "1"},
      {ANSWER, 1, NULL},
      {ANSWER, 1, NULL},
      {OVER, 1, NULL}}},
    {"a state before events, the newest of each topic only",
     {{EVENTS, 1, NULL},
      {STATE, 0, "s"},
      {STATE, 0, "s"},
      {STATE, 0, "t"},
      {SEND, 0, "s t 1"},
      {SEND, 0, ""}}},
    {"a newer one while the older is on its way",
     {{STATE, 0, "s"},
      {SEND, 0, "s"},
      {STATE, 0, "s"},
      {SEND, 0, ""},
      {ANSWER, 1, NULL},
      {SEND, 0, "s"},
      {ANSWER, 2, NULL},
      {SEND, 0, ""}}},
    {"all states with each connection, but not what was taken back",
     {{STATE, 0, "s"},
      {STATE, 0, "t"},
      {SEND, 0, "s t"},
      {ANSWER, 1, NULL},
      {ANSWER, 2, NULL},
      {STATE, 0, "-t"},
      {SEND, 0, "-t"},
      {ANSWER, 3, NULL},
      {LOSE, 0, NULL},
      {SEND, 0, "s"}}},
    {"taken back, but nobody heard it",
     {{STATE, 0, "s"},
      {STATE, 0, "-s"},
      {SEND, 0, "-s"},
      {LOSE, 0, NULL},
      {SEND, 0, "-s"},
      {ANSWER, 1, NULL},
      {LOSE, 0, NULL},
      {SEND, 0, ""}}},
    {"dropped before it was sent; what is on its way is not",
     {{EVENTS, 20, NULL},
      {SEND, 0, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"},
      {DROP, 18, NULL},
      {OVER, 0, NULL},
      {ANSWER, 1, NULL},
      {SEND, 0, "19"},
      {LOSE, 0, NULL},
      {DROP, 18, NULL},
      {OVER, 18, NULL},
      {SEND, 0, "19 20"}}},
};

struct run {
    struct inflight *o;
    uint64_t given;
    int connection, n_sent;
};

static void send_all(struct run *r, const char *expected, const char *what)
{
    struct queued_message m;
    char sent[256] = "";
    size_t len = 0;

    while (inflight_next(r->o, &m)) {
        const char *space = len ? " " : "";

        if (m.event)
            len += (size_t)snprintf(sent + len, sizeof sent - len, "%s%d", space, (int)m.event);
        else
            len += (size_t)snprintf(sent + len, sizeof sent - len, "%s%s%s", space, m.payload[0] ? "" : "-",
                                    m.topic);
        inflight_sent(r->o, r->connection * 1000 + ++r->n_sent);
    }
    if (strcmp(sent, expected) != 0)
        fail_msg("%s: sent \"%s\", expected \"%s\"", what, sent, expected);
    assert_true(inflight_unacknowledged(r->o) <= PUBLISH_WINDOW);
}

static void take(struct run *r, const struct step *s, const char *what)
{
    struct queued_message m;
    bool back = s->text && s->text[0] == '-';

    switch (s->kind) {
    case EVENTS:
        while (r->given < s->n) {
            inflight_add_event(r->o, ++r->given, "e", "{}");
            inflight_add_event(r->o, r->given, "e", "again"); /* the same one twice is one */
        }
        break;
    case STATE:
        inflight_set_state(r->o, back ? s->text + 1 : s->text, back ? "" : "{}");
        break;
    case SEND:
        send_all(r, s->text, what);
        break;
    case ANSWER:
        (void)inflight_acknowledge(r->o, r->connection * 1000 + (int)s->n, &m);
        break;
    case LOSE:
        inflight_connection_lost(r->o);
        r->connection++;
        r->n_sent = 0;
        break;
    case DROP:
        inflight_drop_events(r->o, s->n);
        break;
    case OVER:
        if (inflight_last_done(r->o) != s->n)
            fail_msg("%s: over is %d, expected %u", what, (int)inflight_last_done(r->o), s->n);
        break;
    case END:
        break;
    }
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ELEMENTS(cases); i++) {
        struct run r = {.o = inflight_new()};

        for (const struct step *s = cases[i].steps; s->kind != END; s++)
            take(&r, s, cases[i].what);
        inflight_free(r.o);
    }
}

/* Whatever is lost when: at the receiver each comes, in order of its first arrival, and few come again. */
static void test_any_order(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 200; seed++) {
        struct inflight *o = inflight_new();
        struct queued_message m;
        uint64_t arrived = 0, given = 0;
        int mids[PUBLISH_WINDOW], n_mids = 0, mid = 0;
        unsigned random = seed;

        while (inflight_last_done(o) < 100) {
            random = random * 1103515245u + 12345u;
            unsigned dice = random >> 16 & 15;

            if (dice < 5 && given < 100) {
                inflight_add_event(o, ++given, "e", "{}");
            } else if (dice < 10 && inflight_next(o, &m)) {
                assert_true(m.event <= arrived + 1); /* nothing is overtaken */
                arrived = m.event > arrived ? m.event : arrived;
                assert_true(n_mids < PUBLISH_WINDOW);
                mids[n_mids++] = ++mid;
                inflight_sent(o, mid);
            } else if (dice < 15 && n_mids > 0) {
                int which = (int)(random >> 8) % n_mids;

                if (which < 0)
                    which = 0;
                assert_true(inflight_acknowledge(o, mids[which], &m));
                mids[which] = mids[--n_mids];
            } else if (dice == 15) {
                inflight_connection_lost(o);
                n_mids = 0;
            }
            assert_true(inflight_last_done(o) <= arrived);
        }
        inflight_free(o);
    }
}

static void refuse_next(struct inflight *o, uint64_t event, int mid, int64_t now)
{
    struct queued_message m;

    assert_true(inflight_next(o, &m) && m.event == event);
    inflight_sent(o, mid);
    assert_true(inflight_refuse(o, mid, now, &m) && m.event == event);
}

/* A refused event holds up nothing, is sent again when its owner says so, and ends with a confirmation or
 * with its time. */
static void test_refused(void **state)
{
    struct inflight *o = inflight_new();
    struct queued_message m;

    (void)state;
    for (uint64_t id = 1; id <= 3; id++)
        inflight_add_event(o, id, "e", "{}");
    refuse_next(o, 1, 1, 100);
    assert_int_equal(inflight_last_done(o), 1);
    refuse_next(o, 2, 2, 200);
    assert_int_equal(inflight_refused_kept(o), 2);
    assert_true(inflight_next(o, &m) && m.event == 3);
    inflight_sent(o, 3);
    assert_false(inflight_next(o, &m)); /* not before its time */
    inflight_retry_refused(o);
    refuse_next(o, 1, 4, 300); /* once more: its first refusal counts */
    assert_true(inflight_next(o, &m) && m.event == 2);
    inflight_sent(o, 5);
    inflight_connection_lost(o); /* all are sent again: the unconfirmed first */
    assert_true(inflight_next(o, &m) && m.event == 3);
    inflight_sent(o, 6);
    assert_int_equal(inflight_give_up_refused(o, 150), 1);
    assert_true(inflight_next(o, &m) && m.event == 2);
    inflight_sent(o, 7);
    assert_int_equal(inflight_give_up_refused(o, 1000), 0); /* an answer is on its way */
    assert_true(inflight_acknowledge(o, 7, &m) && inflight_acknowledge(o, 6, &m));
    assert_int_equal(inflight_refused_kept(o) + inflight_unacknowledged(o), 0);
    assert_int_equal(inflight_last_done(o), 3);
    /* a state is not kept: it is sent again when it changes */
    inflight_set_state(o, "s", "1");
    refuse_next(o, 0, 8, 400);
    assert_int_equal(inflight_refused_kept(o), 0);
    for (uint64_t id = 4; id < 4 + REFUSED_KEPT_MAX + 5; id++) {
        inflight_add_event(o, id, "e", "{}");
        refuse_next(o, id, (int)id + 10, 500);
    }
    assert_int_equal(inflight_refused_kept(o), REFUSED_KEPT_MAX);
    inflight_retry_refused(o);
    assert_true(inflight_next(o, &m) && m.event == 9); /* the oldest made room */
    inflight_free(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
