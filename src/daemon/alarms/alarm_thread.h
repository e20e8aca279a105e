/* alarm_thread.h: one attempt to deliver a message (src/alarm/attempt.h) in a thread of its own, so that the
 * main thread never waits for a receiver, nor one receiver for another. */
#ifndef BALLAST_DAEMON_ALARMS_ALARM_THREAD_H
#define BALLAST_DAEMON_ALARMS_ALARM_THREAD_H

#include "alarm/attempt.h"
#include "daemon/queue.h"

#include <pthread.h>

struct alarm_thread {
    struct queue_item item;    /* in the queue of results once the attempt is over */
    struct alarm_thread *next; /* the owner's list */
    struct arena memory;       /* holds the copies below */
    struct config_alarm target;
    struct alarm_message message;
    instant_s now;
    uint64_t ticket; /* a test that a client waits for; 0: an alarm */
    atomic_bool stop;
    struct alarm_answer answer; /* once it is over */
    struct queue *results;
    pthread_t thread;
};

/* Copies target and message. */
int alarm_thread_start(const struct config_alarm *target, const struct alarm_message *message, instant_s now,
                       uint64_t ticket, struct queue *results, struct alarm_thread **ret, struct err *err);

/* Joins it and frees it: only of what the queue has given, or after alarm_thread_wait(). */
void alarm_thread_free(struct alarm_thread *t);

/* Waits until the deadline (CLOCK_REALTIME, seconds) for its end. -ETIMEDOUT. */
int alarm_thread_wait(struct alarm_thread *t, int64_t deadline_s);

#endif
