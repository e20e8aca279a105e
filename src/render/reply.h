/* reply.h: reads the fields of a service's reply. A field that is missing, or of another type, reads as
 * empty: a newer command may talk to an older service. */
#ifndef BALLAST_RENDER_REPLY_H
#define BALLAST_RENDER_REPLY_H

#include "base/strbuf.h"

#include <jansson.h>
#include <stdint.h>

const char *reply_text(const json_t *object, const char *key);    /* NULL */
const char *reply_or_dash(const json_t *object, const char *key); /* "-" in the place of NULL */
double reply_number(const json_t *object, const char *key);       /* UNKNOWN */
int64_t reply_int(const json_t *object, const char *key);         /* 0 */

/* Prints the reply, or one member of it, for --format json. */
void reply_dump(const json_t *value, struct strbuf *out);

#endif
