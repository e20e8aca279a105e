/* events.h: the table of events, one row each, numbered 1, 2, 3 ...
 *
 * It is the service's event log for programs and the queue of events while the MQTT broker is away: an event
 * is kept until it was sent, or until pruning. A put inside a transaction of the engine (store_ops' begin()
 * ... commit()) becomes durable with the transaction; outside, at once.
 *
 * As for store_ops: 0 or a negative errno and a sentence; results are copied into the arena. */
#ifndef BALLAST_STORE_EVENTS_H
#define BALLAST_STORE_EVENTS_H

#include <ballast/arena.h>
#include <ballast/err.h>
#include <ballast/units.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

struct event_record {
    uint64_t id; /* 1, 2, ... */
    instant_s time;
    const char *kind;     /* a word of conf/names.md */
    const char *type;     /* the kind; for actions with the state: "action.running" */
    const char *severity; /* info, notice, warning or error */
    const char *subject;  /* id of the VM or host concerned; NULL */
    const char *vm;       /* ids of all that it is about, each may be NULL: the VM, ... */
    const char *host;     /* ... the host, of a move the one that the VM leaves, ... */
    const char *to_host;  /* ... and the one that a VM comes to */
    const char *data;     /* a JSON object on one line */
};

/* Stores the event under the next number; event->id is ignored. */
int store_put_event(struct store *s, const struct event_record *event, uint64_t *ret_id, struct err *err);

struct event_query {
    uint64_t after;   /* only events with a greater id */
    instant_s since;  /* only events at or after this time; 0: all */
    const char *kind; /* only this kind; NULL: all. "host": also hosts lost and back, failed wakes, and
                       * beginnings and ends of standby, wakes and maintenance */
    const char *vm;   /* only events about this VM; NULL: all */
    const char *host; /* only events about this host, also as one of the two of a move; NULL: all */
    unsigned limit;   /* at most this many ... */
    bool newest;      /* ... of the newest; false: of the oldest */
};

/* Lists events by ascending id. */
int store_list_events(struct store *s, const struct event_query *q, struct arena *a,
                      struct event_record **ret, size_t *ret_n, struct err *err);

/* The number of events that the query finds without its limit. */
int store_count_events(struct store *s, const struct event_query *q, uint64_t *ret, struct err *err);

/* The lowest id in the table (last + 1: the table is empty), and the highest ever assigned (0: none). */
int store_event_range(struct store *s, uint64_t *ret_first, uint64_t *ret_last, struct err *err);

/* Deletes events older than `before` with ids up to `sent`, a tenth of all at a time, and all events with ids
 * up to `floor`. */
int store_prune_events(struct store *s, instant_s before, uint64_t sent, uint64_t floor, struct err *err);

/* The value of a note; NULL: none with this key. */
int store_get_note(struct store *s, const char *key, struct arena *a, const char **ret, struct err *err);

/* Sets it at once, in a transaction of its own: on disk, or -EIO and as before. The key is the service's own:
 * it begins with "store:". */
int store_put_note(struct store *s, const char *key, const char *value, struct err *err);

/* Remembers the id of a command that came from outside, before it is carried out: for `keep_s` of the time
 * that the machine runs, whatever its clock says, and longer after a reboot. -EALREADY: it is remembered
 * already. -EUSERS: `most` are. */
int store_remember_command(struct store *s, const char *id, int64_t keep_s, int64_t most, struct err *err);

/* The time of the newest event, look or pass; 0: there is none. */
int store_newest(struct store *s, instant_s *ret, struct err *err);

/* The store's random name, made at its creation. */
int store_instance(struct store *s, struct arena *a, const char **ret, struct err *err);

/* The ids of all hosts in the table `hosts`. */
int store_host_ids(struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);

#endif
