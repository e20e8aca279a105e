/* events.h: the table of events, one row each, numbered 1, 2, 3 ...
 *
 * It is the service's log for programs, and where events wait while the broker is away: an event is kept
 * until it was sent, or until pruning. A put within a transaction of the engine (store_ops' begin() ...
 * commit()) becomes durable with it; outside, at once.
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
    const char *type;     /* the kind, for some with a state: "action.running" */
    const char *severity; /* info, notice, warning or error */
    const char *subject;  /* id of the VM or host that it is about; NULL */
    const char *data;     /* a JSON object on one line */
};

/* Stores the event under the next number; event->id is ignored. */
int store_put_event(struct store *s, const struct event_record *event, uint64_t *ret_id, struct err *err);

struct event_query {
    uint64_t after;   /* only events with a greater id */
    instant_s since;  /* only events of that time or later; 0: all */
    const char *kind; /* of this kind; NULL: of all */
    unsigned limit;   /* at most so many ... */
    bool newest;      /* ... the newest; else the oldest */
};

/* In the order of their ids, always. */
int store_list_events(struct store *s, const struct event_query *q, struct arena *a,
                      struct event_record **ret, size_t *ret_n, struct err *err);

/* The least id in the table (last + 1: the table is empty), and the greatest ever given out (0: none). */
int store_event_range(struct store *s, uint64_t *ret_first, uint64_t *ret_last, struct err *err);

/* Drops events from before an instant up to the id `sent`, and in any case all up to the id `floor`. */
int store_prune_events(struct store *s, instant_s before, uint64_t sent, uint64_t floor, struct err *err);

/* A word that put_note() keeps; NULL: there is none of that key. */
int store_get_note(struct store *s, const char *key, struct arena *a, const char **ret, struct err *err);

/* The store's random name. */
int store_instance(struct store *s, struct arena *a, const char **ret, struct err *err);

/* The ids of all hosts in the table of hosts. */
int store_host_ids(struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);

#endif
