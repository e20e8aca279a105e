/* uuid.h: UUIDs as text (RFC 9562), lower case. */
#ifndef BALLAST_BASE_UUID_H
#define BALLAST_BASE_UUID_H

#include <stdbool.h>
#include <stddef.h>

#define UUID_TEXT 37 /* bytes, with the NUL */

/* A new one of version 4. -EIO: the system has no randomness. */
int uuid_random(char ret[static UUID_TEXT]);

/* The same one for the same bytes: version 5, in a name space of Ballast's own. */
void uuid_of(const void *bytes, size_t n, char ret[static UUID_TEXT]);

/* Whether the text is one, in whatever letters. */
bool uuid_is(const char *text);

#endif
