/* strbuf.c: strings that grow up to a limit; what exceeds the limit is dropped. */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void reserve(struct strbuf *b, size_t more)
{
    if (b->cap - b->len > more)
        return;
    size_t cap = b->cap ? b->cap : 64;

    while (cap - b->len <= more)
        cap *= 2;
    char *bigger = realloc(b->cap ? b->text : NULL, cap);
    if (!bigger) {
        (void)fprintf(stderr, "out of memory: %zu bytes could not be had\n", cap);
        abort();
    }
    b->text = bigger;
    b->cap = cap;
}

void strbuf_init(struct strbuf *b, size_t limit)
{
    *b = (struct strbuf){.limit = limit};
    reserve(b, 1);
    b->text[0] = '\0';
}

void strbuf_release(struct strbuf *b)
{
    if (b->cap)
        free(b->text);
    *b = (struct strbuf){0};
}

void strbuf_clear(struct strbuf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->cap)
        b->text[0] = '\0';
}

void strbuf_add(struct strbuf *b, const void *data, size_t len)
{
    if (len > b->limit - b->len) {
        b->overflow = true;
        len = b->limit - b->len;
    }
    if (len == 0)
        return;
    reserve(b, len);
    memcpy(b->text + b->len, data, len);
    b->len += len;
    b->text[b->len] = '\0';
}

void strbuf_puts(struct strbuf *b, const char *s)
{
    strbuf_add(b, s, strlen(s));
}

void strbuf_printf(struct strbuf *b, const char *format, ...)
{
    va_list ap;
    char small[256];

    va_start(ap, format);
    int len = vsnprintf(small, sizeof small, format, ap);
    va_end(ap);
    if (len < 0)
        return;
    if ((size_t)len < sizeof small) {
        strbuf_add(b, small, (size_t)len);
        return;
    }
    char *large = malloc((size_t)len + 1);
    if (!large)
        abort();
    va_start(ap, format);
    (void)vsnprintf(large, (size_t)len + 1, format, ap);
    va_end(ap);
    strbuf_add(b, large, (size_t)len);
    free(large);
}
