/* strbuf.h: a string that grows, without a limit or up to one that its owner sets.
 *
 *     CLEANUP(strbuf_releasep) struct strbuf text = STRBUF_EMPTY;
 *
 * The text is always terminated, and never NULL after STRBUF_EMPTY or strbuf_init(). Beyond the limit further
 * text is dropped and `overflow` is set; a reader of peer data checks it, so that an answer of 200 MB is an
 * error. */
#ifndef BALLAST_BASE_STRBUF_H
#define BALLAST_BASE_STRBUF_H

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *text;
    size_t len, cap, limit;
    bool overflow;
};

#define STRBUF_NO_LIMIT ((size_t)-1 / 4)

/* Empty, without a limit: cap 0, so that the text is nobody's to write to or to free. */
#define STRBUF_EMPTY                                                                                         \
    {                                                                                                        \
        .text = "", .limit = STRBUF_NO_LIMIT                                                                 \
    }

void strbuf_init(struct strbuf *b, size_t limit);
void strbuf_release(struct strbuf *b);
void strbuf_clear(struct strbuf *b);
void strbuf_add(struct strbuf *b, const void *data, size_t len);
void strbuf_puts(struct strbuf *b, const char *s);
void strbuf_printf(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* For CLEANUP(). */
static inline void strbuf_releasep(struct strbuf *b)
{
    strbuf_release(b);
}

#endif
