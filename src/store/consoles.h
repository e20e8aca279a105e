/* consoles.h: stores the console output of a host while an action wakes it; kept as long as the action. */
#ifndef BALLAST_STORE_CONSOLES_H
#define BALLAST_STORE_CONSOLES_H

#include "store/sqlite.h"

struct console_record {
    uint64_t action;
    const char *host; /* id */
    instant_s time;   /* of the last change */
    const char *why;  /* why the capture ended; NULL */
    const void *data; /* raw; cleaned before display (base/console_text.h) */
    size_t n;
};

/* Inserts the record or replaces the action's earlier one. Durable when it returns 0. */
int store_put_console(struct store *s, const struct console_record *r, struct err *err);

/* -EINVAL: the action does not exist; -ENOENT: the action has no record. Copies into the arena. */
int store_get_console(struct store *s, uint64_t action, struct arena *a, struct console_record *ret,
                      struct err *err);

/* Whether the action has a record. False if the table cannot be read. */
bool store_has_console(struct store *s, uint64_t action);

#endif
