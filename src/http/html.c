/* html.c: escapes text for HTML. */
#include "http/html.h"

#include "base/utf8.h"

#include <string.h>

static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(struct strbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");

    while (*s) {
        bool safe;
        const size_t len = utf8_step(s, &safe);

        if (!safe)
            strbuf_puts(out, UTF8_REPLACEMENT);
        else if (escape_of(*s))
            strbuf_puts(out, escape_of(*s));
        else
            strbuf_add(out, s, len);
        s += len;
    }
}

void html_name(struct strbuf *out, const char *name)
{
    strbuf_puts(out, "<bdi>");
    html_text(out, name);
    strbuf_puts(out, "</bdi>");
}
