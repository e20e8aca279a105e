/* shared_text.h: a text that does not change any more, for any number of readers in any thread. It is freed
 * with its last reference. */
#ifndef BALLAST_BASE_SHARED_TEXT_H
#define BALLAST_BASE_SHARED_TEXT_H

#include "base/strbuf.h"

struct shared_text;

/* Takes the text over and leaves *text as strbuf_release() does. The caller has one reference. */
struct shared_text *shared_text_new(struct strbuf *text);

struct shared_text *shared_text_ref(struct shared_text *t);
void shared_text_unref(struct shared_text *t); /* NULL is fine */

const char *shared_text_bytes(const struct shared_text *t); /* terminated */
size_t shared_text_length(const struct shared_text *t);

/* For CLEANUP(). */
static inline void shared_text_unrefp(struct shared_text **t)
{
    shared_text_unref(*t);
}

#endif
