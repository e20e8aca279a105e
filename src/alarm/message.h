/* message.h: what is sent to a target: events that it asked for, a digest, or a test.
 *
 * A message has an id that stays the same in each attempt, also after a restart, so that a receiver can tell
 * the events seen so far. Names come from outside: the subject is one line, control characters become blanks.
 */
#ifndef BALLAST_ALARM_MESSAGE_H
#define BALLAST_ALARM_MESSAGE_H

#include <ballast/arena.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alarm_message {
    const char *id; /* letters, digits, _ and - */
    instant_s time; /* of its events */
    const char *subject;
    const char *text; /* lines, each ended by a newline */
    const char *json; /* a CloudEvent, on one line */
};

/* Whose alarms these are. */
struct alarm_origin {
    const char *cluster;
    const char *instance; /* the store's name */
    const char *target;
};

#define ALARM_LISTED_MAX 20

/* An event to send. */
struct alarm_event {
    instant_s time;
    const char *severity, *kind;
    const char *text; /* the sentence */
    const char *json; /* as in a reply (event_json_record()) */
};

/* Events that go together. */
struct alarm_batch {
    struct alarm_event listed[ALARM_LISTED_MAX];
    size_t n;          /* of them */
    uint64_t more;     /* that are not listed */
    uint64_t upto;     /* the number of the last event of the store that was looked at */
    const char *worst; /* severity of the worst of all */
};

void alarm_message_of_events(const struct alarm_origin *o, const struct alarm_batch *b, struct arena *a,
                             struct alarm_message *ret);

/* text: lines. summary: JSON. */
void alarm_message_of_digest(const struct alarm_origin *o, instant_s since, instant_s until, const char *text,
                             const char *summary, struct arena *a, struct alarm_message *ret);

void alarm_message_of_test(const struct alarm_origin *o, instant_s now, const char *by, uint64_t number,
                           struct arena *a, struct alarm_message *ret);

void alarm_message_copy(const struct alarm_message *from, struct alarm_message *ret, struct arena *a);

/* One line of valid UTF-8 without control characters. */
const char *alarm_line(const char *text, struct arena *a);

#endif
