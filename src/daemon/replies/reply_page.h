/* reply_page.h: a reply that is one page of a longer list says how to ask for the next one. */
#ifndef BALLAST_DAEMON_REPLIES_REPLY_PAGE_H
#define BALLAST_DAEMON_REPLIES_REPLY_PAGE_H

#include "base/json_writer.h"

/* The member "next": {field: value}, to be added to the fields of the request; null behind the last page. */
static inline void reply_page_put_next(struct json_writer *w, bool more, const char *field, uint64_t value)
{
    if (!more) {
        jw_text(w, "next", NULL);
        return;
    }
    jw_begin(w, "next", JW_OBJECT, JW_INLINE);
    jw_int(w, field, (int64_t)value);
    jw_end(w);
}

#endif
