/* alarm_feed.h: sends events from the store, and digests, to the targets of `alarms:`.
 *
 * Each target has its own position among the stored events (src/alarm/progress.h), kept in the note `alarms`,
 * and its own attempts: a target that hangs delays no other. A new target begins with events from now. What
 * happens within a target's interval goes together, so that a storm is one message. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_FEED_H
#define BALLAST_DAEMON_ALARMS_ALARM_FEED_H

#include "config/config.h"
#include "daemon/alarms/alarm_tests.h"
#include "engine/engine.h"
#include "store/events.h"

#include <systemd/sd-event.h>

struct alarm_feed;

struct alarm_feed_options {
    sd_event *loop;
    struct store *store;
    void (*wake)(void *ctx); /* calls alarm_feed_update(): an answer is there, or something is due */
    void *ctx;
};

/* last: the newest event's number. */
int alarm_feed_start(const struct config *c, const struct alarm_feed_options *options, uint64_t last,
                     instant_s now, struct alarm_feed **ret, struct err *err);

/* Targets of a reloaded configuration: those of known names go on where they were. */
void alarm_feed_change(struct alarm_feed *f, const struct config *c, instant_s now);

/* Looks at new events up to `last`, and sends what is due. f may be NULL, here and below. */
void alarm_feed_update(struct alarm_feed *f, struct engine *e, const struct config *c, uint64_t last,
                       instant_s now);

/* All targets have dealt with events up to this one; UINT64_MAX without targets. */
uint64_t alarm_feed_sent(const struct alarm_feed *f);

/* Events up to this one were pruned from the store. */
void alarm_feed_skip(struct alarm_feed *f, uint64_t id);

struct alarm_status {
    const char *name, *address; /* borrowed */
    bool failing;
    instant_s failing_since;              /* 0: not failing */
    instant_s delivered_at;               /* the last message; 0: none since the start */
    uint64_t waiting;                     /* events that were asked for and have not arrived */
    uint64_t delivered, failed, given_up; /* messages, attempts, messages: since the start */
    const char *error;                    /* of the last attempt; NULL */
    instant_s next_attempt;               /* 0: none is due */
};

/* Target i of n. */
size_t alarm_feed_count(const struct alarm_feed *f);
void alarm_feed_status(const struct alarm_feed *f, size_t i, struct arena *a, struct alarm_status *ret);

/* Sends a test message. -ENOENT: no such target; -EUSERS: too many are under way. */
int alarm_feed_test(struct alarm_feed *f, const struct config *c, const char *target, const char *by,
                    instant_s now, uint64_t *ret_ticket, struct err *err);

/* All tests, also the one of the ticket. */
struct alarm_tests *alarm_feed_tests(struct alarm_feed *f);

/* Ends all attempts; waits until the deadline (CLOCK_REALTIME, seconds). -ETIMEDOUT: a thread still runs. */
int alarm_feed_stop(struct alarm_feed *f, int64_t deadline_s);
void alarm_feed_free(struct alarm_feed *f);

#endif
