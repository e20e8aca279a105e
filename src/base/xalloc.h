/* xalloc.h: allocation that cannot fail, for values that outlive an arena. Out of memory ends the process
 * with a message, as in the arena: half a decision is worse than a restart. */
#ifndef BALLAST_BASE_XALLOC_H
#define BALLAST_BASE_XALLOC_H

#include <stddef.h>

void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);

/* Grows an array when it is full (n == *cap), to twice its capacity, and returns the new place; as
 * arena_grow(). */
void *xalloc_grow(void *items, size_t n, size_t *cap, size_t size);

char *xstrdup(const char *s); /* NULL gives NULL */

/* Frees *place and sets it to a copy of s. s may be *place itself, or NULL. */
void xstrset(char **place, const char *s);

/* The same for the text of a record that owns it. */
void xalloc_set_text(const char **place, const char *s);

#endif
