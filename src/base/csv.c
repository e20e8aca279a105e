/* csv.c: texts as fields of CSV, and back. */
#include "base/csv.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define FORMULA "=+-@\t\r"

/* Shown as it is, once it has a ' before it. */
static bool needs_mark(char first)
{
    return first != '\0' && strchr(FORMULA "'", first);
}

/* Readers leave out blanks that are not in quotes. */
static bool ends_with_blank(const char *text)
{
    const size_t len = strlen(text);

    return len > 0 && (text[0] == ' ' || text[len - 1] == ' ');
}

void csv_put_text(struct strbuf *out, const char *text)
{
    const bool mark = needs_mark(*text);
    const char *plain = text;
    bool safe = true;

    while (*plain && safe)
        plain += utf8_step((const unsigned char *)plain, &safe);
    if (safe && !mark && text[strcspn(text, ",\"\r\n\t")] == '\0' && !ends_with_blank(text)) {
        strbuf_puts(out, text);
        return;
    }
    strbuf_puts(out, mark ? "\"'" : "\"");
    for (const char *c = text; *c;) {
        const size_t n = utf8_step((const unsigned char *)c, &safe);

        if (*c == '"')
            strbuf_puts(out, "\"\"");
        else if (safe || strchr("\n\r\t", *c))
            strbuf_add(out, c, n);
        else
            strbuf_puts(out, UTF8_REPLACEMENT);
        c += n;
    }
    strbuf_puts(out, "\"");
}

/* Where the quoted field ends that begins here, behind its quote; NULL: it does not end. */
static const char *end_of_quoted(const char *at, const char *end)
{
    while (++at < end) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at)
            return NULL;
        if (at + 1 == end || at[1] != '"')
            return at + 1;
        at++;
    }
    return NULL;
}

size_t csv_line_length(const char *text, size_t len)
{
    const char *end = text + len;
    const char *line = memchr(text, '\n', len);
    const char *at = text;

    while (line && at < line) {
        const char *behind = *at == '"' ? end_of_quoted(at, end) : NULL;

        if (behind > line) { /* the break was in quotes */
            line = memchr(behind, '\n', (size_t)(end - behind));
            at = behind;
        }
        const char *comma = line ? memchr(at, ',', (size_t)(line - at)) : NULL;

        if (!comma)
            break;
        at = comma + 1;
    }
    return (size_t)((line ? line : end) - text);
}

const char *csv_text(const char *field, size_t len, struct arena *a)
{
    char *text = arena_strndup(a, field, len);
    size_t n = 0;

    if (len < 2 || *field != '"' || end_of_quoted(field, field + len) != field + len)
        return text;
    for (size_t i = 1; i + 1 < len; i++) {
        text[n++] = field[i];
        i += field[i] == '"' ? 1 : 0; /* of two, one */
    }
    text[n] = '\0';
    return text[0] == '\'' && needs_mark(text[1]) ? text + 1 : text;
}
