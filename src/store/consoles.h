/* consoles.h: what hosts said on their consoles while an action woke them; kept as long as the action is. */
#ifndef BALLAST_STORE_CONSOLES_H
#define BALLAST_STORE_CONSOLES_H

#include "store/sqlite.h"

struct console_record {
    uint64_t action;
    const char *host; /* id */
    instant_s time;   /* of the last change */
    const char *why;  /* why nothing more came; NULL */
    const void *data; /* as it came: not to be shown without being cleaned */
    size_t n;
};

/* Inserts it, or replaces that of the same action. Durable when it returns 0. */
int store_put_console(struct store *s, const struct console_record *r, struct err *err);

/* -EINVAL: there is no such action; -ENOENT: there is none of it. Copies into the arena. */
int store_get_console(struct store *s, uint64_t action, struct arena *a, struct console_record *ret,
                      struct err *err);

/* Whether there is one. What cannot be read counts as none. */
bool store_has_console(struct store *s, uint64_t action);

#endif
