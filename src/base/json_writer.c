#include "base/json_writer.h"

#include "base/number.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 2
#define WHOLE_MOST 1e15        /* whole numbers below it are exact, and readable without an exponent */
#define FIGURE_WHOLE_MOST 1e11 /* with a decimal, twelve digits */

static void new_line(struct json_writer *w)
{
    strbuf_puts(w->out, "\n");
    for (unsigned i = 0; i < w->depth * INDENT; i++)
        strbuf_add(w->out, " ", 1);
}

static void put_escaped(struct strbuf *out, unsigned char c)
{
    switch (c) {
    case '"':
        strbuf_puts(out, "\\\"");
        break;
    case '\\':
        strbuf_puts(out, "\\\\");
        break;
    case '\n':
        strbuf_puts(out, "\\n");
        break;
    case '\t':
        strbuf_puts(out, "\\t");
        break;
    default:
        strbuf_printf(out, "\\u%04x", c);
        break;
    }
}

static void put_string(struct strbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *plain = s; /* unchanged bytes are added in one piece */

    strbuf_add(out, "\"", 1);
    while (*s) {
        bool safe;
        const size_t n = utf8_step(s, &safe);

        if (safe && *s != '"' && *s != '\\') {
            s += n;
            continue;
        }
        strbuf_add(out, plain, (size_t)(s - plain));
        if (*s < 0x80)
            put_escaped(out, *s);
        else if (n == 1)
            strbuf_puts(out, UTF8_REPLACEMENT);
        else
            utf8_put_json(out, (const char *)s, n);
        s += n;
        plain = s;
    }
    strbuf_add(out, plain, (size_t)(s - plain));
    strbuf_add(out, "\"", 1);
}

/* Writes the comma, the line break and the key before a value. */
static void begin_value(struct json_writer *w, const char *key)
{
    if (w->depth > 0) {
        bool lines = w->open[w->depth - 1].layout == JW_LINES;
        if (!w->open[w->depth - 1].empty)
            strbuf_puts(w->out, lines ? "," : ", ");
        w->open[w->depth - 1].empty = false;
        if (lines)
            new_line(w);
    }
    assert(!key == (w->depth == 0 || w->open[w->depth - 1].container == JW_ARRAY));
    if (key) {
        put_string(w->out, key);
        strbuf_puts(w->out, ": ");
    }
}

void jw_begin(struct json_writer *w, const char *key, enum jw_container container, enum jw_layout layout)
{
    assert(w->depth < JW_DEPTH_MAX);
    begin_value(w, key);
    strbuf_puts(w->out, container == JW_OBJECT ? "{" : "[");
    w->open[w->depth].container = container;
    w->open[w->depth].layout = layout;
    w->open[w->depth].empty = true;
    w->depth++;
}

bool jw_begin_known(struct json_writer *w, const char *key, bool known)
{
    if (known)
        jw_begin(w, key, JW_OBJECT, JW_INLINE);
    else
        jw_text(w, key, NULL);
    return known;
}

void jw_end(struct json_writer *w)
{
    assert(w->depth > 0);
    w->depth--;
    if (w->open[w->depth].layout == JW_LINES && !w->open[w->depth].empty)
        new_line(w);
    strbuf_puts(w->out, w->open[w->depth].container == JW_OBJECT ? "}" : "]");
    if (w->depth == 0)
        strbuf_puts(w->out, "\n");
}

void jw_text(struct json_writer *w, const char *key, const char *value)
{
    begin_value(w, key);
    if (value)
        put_string(w->out, value);
    else
        strbuf_puts(w->out, "null");
}

void jw_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    strbuf_puts(w->out, value ? "true" : "false");
}

static void put_int(struct strbuf *out, int64_t value)
{
    char text[24];
    char *at = text + sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do {
        *--at = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0)
        *--at = '-';
    strbuf_add(out, at, (size_t)(text + sizeof text - at));
}

void jw_int(struct json_writer *w, const char *key, int64_t value)
{
    begin_value(w, key);
    put_int(w->out, value);
}

/* A fast path: most numbers of a snapshot are whole or have one decimal, and there are millions. A quotient
 * of two whole numbers is rounded correctly, so "n/10" as a decimal reads back as the same value. */
static bool put_simple(struct strbuf *out, double value)
{
    double tenths = value * 10;

    if (!(fabs(tenths) < WHOLE_MOST))
        return false;
    int64_t n = llround(tenths);
    if ((double)n / 10 != value)
        return false;
    if (n < 0)
        strbuf_add(out, "-", 1);
    n = n < 0 ? -n : n;
    put_int(out, n / 10);
    if (n % 10 != 0) {
        char digit[2] = {'.', (char)('0' + n % 10)};
        strbuf_add(out, digit, sizeof digit);
    }
    return true;
}

void jw_exact(struct json_writer *w, const char *key, double value)
{
    char text[NUMBER_TEXT_MAX];

    begin_value(w, key);
    if (!isfinite(value))
        strbuf_puts(w->out, "null");
    else if (!put_simple(w->out, value))
        strbuf_puts(w->out, number_format(value, text));
}

void jw_instant(struct json_writer *w, const char *key, instant_s t)
{
    char text[RFC3339_MAX];

    jw_text(w, key, t != 0 ? rfc3339_format(t, text) : NULL);
}

void jw_figure(struct json_writer *w, const char *key, double value)
{
    begin_value(w, key);
    value += 0.0; /* no negative zero */
    if (!isfinite(value))
        strbuf_puts(w->out, "null");
    else if (!(fabs(value) < FIGURE_WHOLE_MOST && put_simple(w->out, value)))
        strbuf_printf(w->out, "%.12g", value);
}

void jw_raw(struct json_writer *w, const char *key, const char *json)
{
    begin_value(w, key);
    strbuf_puts(w->out, json ? json : "null");
}

void jw_texts(struct json_writer *w, const char *key, const char *const *texts, size_t n,
              enum jw_layout layout)
{
    jw_begin(w, key, JW_ARRAY, layout);
    for (size_t i = 0; i < n; i++)
        jw_text(w, NULL, texts[i]);
    jw_end(w);
}
