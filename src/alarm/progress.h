/* progress.h: how far the delivery to a target has come, and when it is tried next. No network, no clock.
 *
 * One message is under way at a time, so messages arrive in order. Before its first attempt its end is stored
 * (`upto`): whatever moment the process dies at, the next one makes the same message again, with the same id.
 * A message that cannot be delivered is given up after a day, one whose content the receiver refuses
 * after an hour: a target that is gone does not keep events in the store for ever. */
#ifndef BALLAST_ALARM_PROGRESS_H
#define BALLAST_ALARM_PROGRESS_H

#include <ballast/units.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define ALARM_GIVE_UP_S (24 * 3600)
#define ALARM_REFUSED_S 3600
#define ALARM_TELL_S 600 /* failing so long is an event */
#define ALARM_PAUSE_FIRST_S 5
#define ALARM_PAUSE_MAX_S 600
#define ALARM_RETRY_AFTER_MAX_S 3600

struct alarm_progress {
    /* stored */
    uint64_t position;      /* events up to this one are delivered, were not asked for, or were given up */
    uint64_t upto;          /* the last event of the message under way; 0: none of events is */
    instant_s first_tried;  /* the message under way; 0: none is */
    instant_s digest_until; /* end of the digest under way; 0: none is */
    instant_s digested;     /* end of the last digest */
    instant_s
        failing; /* since the first failure in a row; 0: the last attempt succeeded, or there was none */
    bool told;   /* an event has said that it fails */

    unsigned failures; /* in a row */
    instant_s next;    /* the next attempt, not before this */
    instant_s delivered_at;
    uint64_t delivered, attempts_failed, given_up; /* messages, attempts, messages */
};

bool alarm_progress_is_under_way(const struct alarm_progress *p);

/* A message of events, or a digest, is tried for the first time. */
void alarm_progress_begin_events(struct alarm_progress *p, uint64_t upto, instant_s now);
void alarm_progress_begin_digest(struct alarm_progress *p, instant_s until, instant_s now);

/* The message under way arrived. True: its target had been told to fail. */
bool alarm_progress_delivered(struct alarm_progress *p, instant_s now);

enum alarm_failure { ALARM_FAILS, ALARM_FAILS_TELL, ALARM_FAILS_GIVEN_UP };

/* An attempt failed. refused: for what the message is; retry_after_s: what the receiver asks for, 0: nothing.
 * ALARM_FAILS_TELL: an event should say so, once; ALARM_FAILS_GIVEN_UP: the message is not tried again. */
enum alarm_failure alarm_progress_failed(struct alarm_progress *p, bool refused, int64_t retry_after_s,
                                         instant_s now);

/* Of another configuration: the next attempt is at once. */
void alarm_progress_retry(struct alarm_progress *p);

/* Events up to this one are no longer stored. */
void alarm_progress_skip(struct alarm_progress *p, uint64_t id);

/* The stored part as JSON, and back; what makes no sense reads as false. */
json_t *alarm_progress_json(const struct alarm_progress *p);
bool alarm_progress_read(const json_t *from, uint64_t last, instant_s now, struct alarm_progress *ret);

#endif
