/* console_text.c: cleans the bytes of a serial line: removes escape sequences, control characters and
 * invalid UTF-8. It does not read consoles. */
#include "base/console_text.h"

#include "base/utf8.h"

#include <string.h>

#define ESC 0x1b
#define LINE_MAX_BYTES 4096u /* a longer line is broken here */

struct cleaner {
    const unsigned char *at, *end;
    struct strbuf *to;
    char line[LINE_MAX_BYTES + 8]; /* the current line */
    size_t len;
    bool restarted; /* after "\r": further text replaces the line */
    bool any;       /* a line has been written */
    bool blank;     /* an empty line precedes the next one */
};

static void end_line(struct cleaner *c)
{
    while (c->len > 0 && c->line[c->len - 1] == ' ')
        c->len--;
    if (c->len == 0) {
        c->blank = c->any;
    } else {
        if (c->blank)
            strbuf_puts(c->to, "\n");
        strbuf_add(c->to, c->line, c->len);
        strbuf_puts(c->to, "\n");
        c->any = true;
        c->blank = false;
    }
    c->len = 0;
    c->restarted = false;
}

static void write_bytes(struct cleaner *c, const void *bytes, size_t n)
{
    if (c->restarted)
        c->len = 0;
    c->restarted = false;
    if (c->len + n > LINE_MAX_BYTES)
        end_line(c);
    memcpy(c->line + c->len, bytes, n);
    c->len += n;
}

static void write_replacement(struct cleaner *c)
{
    size_t n = sizeof UTF8_REPLACEMENT - 1;

    if (c->restarted || c->len < n || memcmp(c->line + c->len - n, UTF8_REPLACEMENT, n) != 0)
        write_bytes(c, UTF8_REPLACEMENT, n);
}

static void take_back(struct cleaner *c)
{
    while (c->len > 0 && ((unsigned char)c->line[--c->len] & 0xc0) == 0x80)
        continue;
}

static void take_character(struct cleaner *c)
{
    const size_t left = (size_t)(c->end - c->at);
    unsigned char next[UTF8_BYTES_MAX + 1] = {0}; /* the data has no NUL behind it */
    bool safe;

    memcpy(next, c->at, left < UTF8_BYTES_MAX ? left : UTF8_BYTES_MAX);
    const size_t n = utf8_step(next, &safe);

    if (safe)
        write_bytes(c, c->at, n);
    else
        write_replacement(c);
    c->at += n;
}

/* Behind "ESC [": parameters 30h...3Fh, intermediates 20h...2Fh, a final byte 40h...7Eh (ECMA-48, 5.4). */
static void skip_csi(struct cleaner *c)
{
    while (c->at < c->end && *c->at >= 0x20 && *c->at <= 0x3f)
        c->at++;
    if (c->at == c->end || *c->at < 0x40 || *c->at > 0x7e)
        return; /* incomplete: the rest is plain text */
    if (strchr("HfdABEFJ", *c->at) && c->len > 0)
        end_line(c);
    c->at++;
}

/* Behind "ESC ]", "ESC P", "ESC X", "ESC ^", "ESC _": text up to BEL or "ESC \". Another escape or the end of
 * the line ends an incomplete sequence. */
static void skip_string(struct cleaner *c)
{
    while (c->at < c->end && *c->at != '\a' && *c->at != ESC && *c->at != '\n')
        c->at++;
    if (c->at < c->end && *c->at == '\a')
        c->at++;
    else if (c->end - c->at >= 2 && c->at[0] == ESC && c->at[1] == '\\')
        c->at += 2;
}

static void skip_escape(struct cleaner *c)
{
    c->at++;
    if (c->at == c->end)
        return;
    unsigned char kind = *c->at;
    if (kind == '[') {
        c->at++;
        skip_csi(c);
    } else if (kind && strchr("]PX^_", kind)) {
        c->at++;
        skip_string(c);
    } else {
        while (c->at < c->end && *c->at >= 0x20 && *c->at <= 0x2f)
            c->at++;
        if (c->at < c->end && *c->at >= 0x30 && *c->at <= 0x7e)
            c->at++;
    }
}

static void take_control(struct cleaner *c)
{
    switch (*c->at++) {
    case '\n':
        end_line(c);
        break;
    case '\r':
        c->restarted = c->len > 0;
        break;
    case '\b':
        take_back(c);
        break;
    case '\t':
        do
            write_bytes(c, " ", 1);
        while (c->len % 8 != 0);
        break;
    default:
        break;
    }
}

void console_text_clean(const void *data, size_t n, struct strbuf *to)
{
    if (n == 0)
        return;
    struct cleaner c = {.at = data, .end = (const unsigned char *)data + n, .to = to};

    while (c.at < c.end) {
        if (*c.at == ESC)
            skip_escape(&c);
        else if (*c.at < 0x20 || *c.at == 0x7f)
            take_control(&c);
        else if (*c.at < 0x80)
            write_bytes(&c, c.at++, 1);
        else
            take_character(&c);
    }
    if (c.len > 0)
        end_line(&c);
}
