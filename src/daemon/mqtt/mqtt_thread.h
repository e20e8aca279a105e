/* mqtt_thread.h: the thread that talks to the broker (src/mqtt), so that the main thread never waits for it.
 *
 * It receives events and states through one queue and reports its progress through another; commands that
 * come from the broker go through a third. It connects and reconnects by itself. Unconfirmed events are lost
 * with the thread: its owner (mqtt_feed.h) remembers the last confirmed one. */
#ifndef BALLAST_DAEMON_MQTT_MQTT_THREAD_H
#define BALLAST_DAEMON_MQTT_MQTT_THREAD_H

#include "daemon/queue.h"
#include "mqtt/broker.h"
#include "mqtt/command.h"

#include <ballast/err.h>

#include <stdbool.h>
#include <stdint.h>

/* More commands than these are dropped: a person's hand, or a script's, stays far below; a flood does not. */
#define COMMAND_WINDOW_S 10
#define COMMANDS_A_WINDOW 100

struct mqtt_thread;

/* The thread's state, pushed whenever it changes. */
struct mqtt_report {
    struct queue_item item;
    bool connected;
    uint64_t over;      /* all events up to this one were confirmed or refused */
    uint64_t refused;   /* messages refused so far */
    uint64_t kept;      /* refused events that are sent again */
    uint64_t dropped;   /* commands that came too fast */
    struct err error;   /* why there is no connection; code 0: no error */
    struct err refusal; /* the last refusal; code 0: none */
};

/* A message on a topic of commands; its texts are its own, payload and correlation with a NUL behind them. */
struct mqtt_thread_received {
    struct queue_item item;
    struct command_message message;
};

void mqtt_thread_received_free(struct queue_item *item);

struct mqtt_thread_options {
    const struct broker_options *broker;     /* must outlive the thread, as all below */
    const char *filters[BROKER_FILTERS_MAX]; /* topics of commands */
    struct queue *reports;                   /* of struct mqtt_report */
    struct queue *received;                  /* of struct mqtt_thread_received */
};

/* Starts the thread. */
int mqtt_thread_start(const struct mqtt_thread_options *options, struct mqtt_thread **ret, struct err *err);

/* Both copy their strings; ids ascend. payload "": clears the retained message of the topic. */
void mqtt_thread_publish_event(struct mqtt_thread *t, uint64_t id, const char *topic, const char *payload);
void mqtt_thread_publish_state(struct mqtt_thread *t, const char *topic, const char *payload);

/* Publishes an answer if the broker is connected, and once. Copies. correlation NULL: none. */
void mqtt_thread_publish_reply(struct mqtt_thread *t, const char *topic, const char *payload,
                               const void *correlation, size_t correlation_len);

/* Whether the topics of commands are read; at first they are not. */
void mqtt_thread_listen(struct mqtt_thread *t, bool listen);

/* Drops events up to this one that were not published yet. */
void mqtt_thread_drop_events(struct mqtt_thread *t, uint64_t id);

/* Publishes remaining messages, disconnects and ends; waits until the deadline (CLOCK_REALTIME, seconds) at
 * most. -ETIMEDOUT: the thread still runs, so nothing that it uses may be freed. */
int mqtt_thread_stop(struct mqtt_thread *t, int64_t deadline_s);
void mqtt_thread_free(struct mqtt_thread *t); /* after the thread has ended; NULL is fine */

#endif
