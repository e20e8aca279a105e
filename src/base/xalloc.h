/* xalloc.h: allocation that cannot fail, for values that outlive an arena. Like the arena, it ends the
 * process with a message when memory runs out: half a decision is worse than a restart. */
#ifndef BALLAST_BASE_XALLOC_H
#define BALLAST_BASE_XALLOC_H

#include <stddef.h>

void *xcalloc(size_t n, size_t size);
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s); /* NULL gives NULL */

/* Replaces what *place owns by a copy of s. s may be *place itself, or NULL. */
void xstrset(char **place, const char *s);

#endif
