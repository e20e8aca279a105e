/* harmless.h: a configuration as it may be shown to anybody: what is known to be harmless, and nothing else.
 *
 * Harmless are the names of keys, true, false and null, numbers and known words where the key's table has
 * such, and of a command the program's name without its folder. For all else there is `***`: a new key is
 * hidden until its type says what it can hold. */
#ifndef BALLAST_CONFIG_HARMLESS_H
#define BALLAST_CONFIG_HARMLESS_H

#include "base/strbuf.h"
#include "schema/node.h"

/* Adds the value on one line; a whole file with a line for each key of the first level. */
void config_put_harmless(const struct node *n, struct arena *a, struct strbuf *out);

#endif
