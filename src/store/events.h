/* events.h: what has happened, one row an event, with numbers that grow for ever.
 *
 * They are the service's log for programs, and the outbox of what is sent to a broker: an event stays until
 * it was sent, or more are kept than the caller wants. Used within a transaction of the engine's (store_ops'
 * begin() ... commit()), the puts become durable with it; outside, each at once.
 *
 * As for store_ops: 0 or a negative errno and a sentence, what is returned is copied into the arena. */
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
    const char *type;     /* the kind, and for some what it became: "action.running" */
    const char *severity; /* info, notice, warning or error */
    const char *subject;  /* id of the VM or host that it is about; NULL */
    const char *data;     /* a JSON object on one line */
};

/* Gives it the next number, whatever event->id is. */
int store_put_event(struct store *s, const struct event_record *event, uint64_t *ret_id, struct err *err);

struct event_query {
    uint64_t after;   /* only those with a greater id */
    instant_s since;  /* that happened then or later; 0: whenever */
    const char *kind; /* of this kind; NULL: of all */
    unsigned limit;   /* at most so many ... */
    bool newest;      /* ... the newest; else the oldest */
};

/* In the order of their ids, always. */
int store_list_events(struct store *s, const struct event_query *q, struct arena *a,
                      struct event_record **ret, size_t *ret_n, struct err *err);

/* The least id that is kept (last + 1: none is), and the greatest that was ever given out (0: none was). */
int store_event_range(struct store *s, uint64_t *ret_first, uint64_t *ret_last, struct err *err);

/* Drops what happened before an instant, up to the id `sent`, and, in any case, all up to the id `floor`. */
int store_prune_events(struct store *s, instant_s before, uint64_t sent, uint64_t floor, struct err *err);

/* A word that put_note() keeps; NULL: there is none of that key. */
int store_get_note(struct store *s, const char *key, struct arena *a, const char **ret, struct err *err);

/* The store's random name. */
int store_instance(struct store *s, struct arena *a, const char **ret, struct err *err);

/* The ids of all hosts of which something is remembered. */
int store_host_ids(struct store *s, struct arena *a, const char ***ret, size_t *ret_n, struct err *err);

#endif
