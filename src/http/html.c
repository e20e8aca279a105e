/* html.c: escapes text for HTML. */
#include "http/html.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* The code point of a valid UTF-8 character of this length. */
static uint32_t code_point(const unsigned char *s, size_t len)
{
    uint32_t c = len == 1 ? s[0] : s[0] & (0x7fu >> len);

    for (size_t i = 1; i < len; i++)
        c = c << 6 | (s[i] & 0x3fu);
    return c;
}

/* Controls, line and paragraph separators, and the marks of Unicode Standard Annex #9. */
static bool is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static const char *escape_of(uint32_t c)
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
        const size_t len = utf8_length(s);
        const uint32_t c = len > 0 ? code_point(s, len) : 0;

        if (len == 0 || is_unsafe(c))
            strbuf_puts(out, UTF8_REPLACEMENT);
        else if (escape_of(c))
            strbuf_puts(out, escape_of(c));
        else
            strbuf_add(out, s, len);
        s += len > 0 ? len : 1;
    }
}

void html_name(struct strbuf *out, const char *name)
{
    strbuf_puts(out, "<bdi>");
    html_text(out, name);
    strbuf_puts(out, "</bdi>");
}
