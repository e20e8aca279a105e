/* json_text.c: from bytes to strings, numbers and words of JSON; lines and columns. */
#include "schema/json_text.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES ((size_t)256 * 1024)

void json_text_init(struct json_text *t, const struct json_source *source)
{
    const char *text = source->text;

    *t = (struct json_text){.line = 1, .source = *source};
    if (source->read) {
        t->cap = WINDOW_BYTES;
        text = t->window = malloc(t->cap);
        if (!text)
            t->error = -ENOMEM;
    } else if (source->most > 0 && source->len > source->most) {
        t->error = -EFBIG;
    }
    t->at = t->token = t->line_start = text;
    t->end = t->error < 0 || source->read ? text : text + source->len;
}

void json_text_release(struct json_text *t)
{
    free(t->window);
    *t = (struct json_text){0};
}

/* ---- the window ---- */

static size_t characters(const char *from, const char *to)
{
    size_t n = 0;

    for (; from < to; from++)
        n += ((unsigned char)*from & 0xc0) != 0x80;
    return n;
}

static bool grow(struct json_text *t)
{
    char *bigger = realloc(t->window, t->cap * 2);

    if (!bigger) {
        t->error = -ENOMEM;
        return false;
    }
    t->window = bigger;
    t->cap *= 2;
    return true;
}

/* Reads on, keeping the bytes from the token's beginning, which may move. False: there are no more. */
static bool fill(struct json_text *t)
{
    if (!t->source.read || t->error < 0)
        return false;
    const char *kept = t->token;
    size_t n = (size_t)(t->end - kept);
    size_t taken = (size_t)(t->at - kept);

    if (t->line_start < kept) {
        t->column_before += characters(t->line_start, kept);
        t->line_start = kept;
    }
    size_t line_start = (size_t)(t->line_start - kept);

    memmove(t->window, kept, n);
    bool room = n < t->cap || grow(t);
    ssize_t more = room ? t->source.read(t->source.from, t->window + n, t->cap - n) : 0;

    if (more < 0)
        t->error = (int)more;
    else if (t->source.most > 0 && (t->bytes += (size_t)more) > t->source.most)
        t->error = -EFBIG;
    more = t->error < 0 ? 0 : more;
    t->token = t->window;
    t->at = t->window + taken;
    t->line_start = t->window + line_start;
    t->end = t->window + n + more;
    return more > 0;
}

int json_text_peek(struct json_text *t)
{
    for (;;) {
        for (; t->at < t->end; t->at++) {
            unsigned char c = (unsigned char)*t->at;

            if (c == '\n') {
                t->line++;
                t->line_start = t->at + 1;
                t->column_before = 0;
            } else if (c != ' ' && c != '\t' && c != '\r') {
                t->token = t->at;
                return c;
            }
        }
        t->token = t->at;
        if (!fill(t))
            return -1;
    }
}

size_t json_text_column(const struct json_text *t)
{
    return t->column_before + characters(t->line_start, t->at) + (t->at < t->end);
}

/* ---- strings ---- */

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The value of four hexadecimal digits; -1: there are not four. */
static int hex(const char *s)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

/* \uXXXX, or two of them that make one character. */
static const char *decode_unicode(const char **from, char **to)
{
    int c = hex(*from + 2);

    if (c < 0)
        return "four hexadecimal digits after \\u";
    if (c == 0)
        return "a text without NUL";
    if (c >= 0xd800 && c <= 0xdfff) {
        bool pair = c < 0xdc00 && (*from)[6] == '\\' && (*from)[7] == 'u';
        int low = pair ? hex(*from + 8) : -1;

        if (low < 0xdc00 || low > 0xdfff)
            return "a surrogate pair such as \\ud83d\\ude00";
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        *from += 6;
    }
    *to = put_utf8(*to, (unsigned)c);
    *from += 6;
    return NULL;
}

static const char *decode_escape(const char **from, char **to)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    char letter = (*from)[1];
    const char *found = letter ? strchr(letters, letter) : NULL;

    if (letter == 'u')
        return decode_unicode(from, to);
    if (!found)
        return "one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX";
    *(*to)++ = meant[found - letters];
    *from += 2;
    return NULL;
}

/* Decodes the raw string in place; a NUL follows it. *ret_at: how far it came. */
static const char *decode(char *raw, size_t len, size_t *ret_at)
{
    const char *from = raw;
    char *to = raw;
    const char *wrong = NULL;

    while (from < raw + len && !wrong) {
        unsigned char c = (unsigned char)*from;
        size_t n = utf8_length((const unsigned char *)from);

        if (c == '\\') {
            wrong = decode_escape(&from, &to);
        } else if (c < ' ') {
            wrong = "control characters escaped, such as \\n or \\u001f";
        } else if (n == 0) {
            wrong = "UTF-8";
        } else {
            memmove(to, from, n);
            from += n;
            to += n;
        }
    }
    *ret_at = (size_t)(from - raw);
    if (!wrong)
        *to = '\0';
    return wrong;
}

/* The end of the string that begins at the token: its closing quote, or the end of the text. */
static const char *find_quote(struct json_text *t)
{
    for (size_t i = 1;;) {
        size_t n = (size_t)(t->end - t->token);

        for (; i < n && t->token[i] != '"'; i++)
            i += t->token[i] == '\\';
        if (i < n)
            return t->token + i;
        if (!fill(t))
            return t->end;
    }
}

const char *json_text_string(struct json_text *t, struct arena *a, const char **ret)
{
    const char *end = t->at + 1;

    while (end < t->end && is_plain((unsigned char)*end))
        end++;
    if (end < t->end && *end == '"') { /* most are like this */
        size_t len = (size_t)(end - t->at - 1);
        char *copy = arena_alloc(a, len + 1, 1);

        memcpy(copy, t->at + 1, len);
        *ret = copy;
        t->at = end + 1;
        return NULL;
    }
    end = find_quote(t);
    size_t at, len = (size_t)(end - t->token - 1);
    char *copy = arena_alloc(a, len + 1, 1);

    memcpy(copy, t->token + 1, len);
    const char *wrong = decode(copy, len, &at);

    t->at = wrong ? t->token + 1 + at : end;
    if (!wrong && end == t->end)
        wrong = "the rest of a text and a quote";
    if (!wrong)
        t->at++;
    *ret = copy;
    return wrong;
}

/* ---- numbers ---- */

struct decimal {
    uint64_t digits; /* without sign and point */
    int exponent;    /* of ten */
    bool negative, whole;
    bool is_long; /* too long for the two above */
};

#define EXPONENT_MOST 100000 /* far beyond a double's */

static const char *take_digits(const char *s, const char *end, struct decimal *d, int each)
{
    for (; s < end && isdigit((unsigned char)*s); s++) {
        if (d->digits > (UINT64_MAX - 9) / 10)
            d->is_long = true;
        else
            d->digits = d->digits * 10 + (uint64_t)(*s - '0');
        if (d->exponent > -EXPONENT_MOST)
            d->exponent += each;
        else
            d->is_long = true;
    }
    return s;
}

static const char *take_exponent(const char *s, const char *end, struct decimal *d)
{
    bool negative = s < end && *s == '-';
    int e = 0;

    if (s < end && (*s == '-' || *s == '+'))
        s++;
    if (s == end || !isdigit((unsigned char)*s))
        return s;
    for (; s < end && isdigit((unsigned char)*s); s++)
        e = e < EXPONENT_MOST ? e * 10 + (*s - '0') : e;
    d->is_long |= e >= EXPONENT_MOST;
    d->exponent += negative ? -e : e;
    return s;
}

/* Where the number ends; its last byte is no digit if it is incomplete. */
static const char *take_number(const char *s, const char *end, struct decimal *d)
{
    *d = (struct decimal){.negative = *s == '-', .whole = true};
    s += d->negative;
    if (s < end && *s == '0')
        s++;
    else
        s = take_digits(s, end, d, 0);
    if (s < end && *s == '.' && isdigit((unsigned char)s[-1])) {
        d->whole = false;
        s = take_digits(s + 1, end, d, -1);
    }
    if (s < end && (*s == 'e' || *s == 'E') && isdigit((unsigned char)s[-1])) {
        d->whole = false;
        s = take_exponent(s + 1, end, d);
    }
    return s;
}

/* A product or a quotient of two numbers that doubles hold exactly is rounded once, so correctly. */
static bool value_simple(const struct decimal *d, double *ret)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int most = sizeof tens / sizeof *tens - 1;

    if (FLT_EVAL_METHOD != 0 || d->is_long || d->digits > (uint64_t)1 << DBL_MANT_DIG || d->exponent > most ||
        d->exponent < -most)
        return false;
    double v = (double)d->digits;

    v = d->exponent < 0 ? v / tens[-d->exponent] : v * tens[d->exponent];
    *ret = d->negative ? -v : v;
    return true;
}

static const char *value_whole(const struct decimal *d, double *ret)
{
    if (d->is_long || d->digits > (uint64_t)INT64_MAX + d->negative)
        return "a whole number of 64 bits at most";
    *ret = d->digits == 0 ? 0 : d->negative ? -(double)d->digits : (double)d->digits;
    return NULL;
}

/* strtod() needs a NUL behind it. */
static double value_any(const char *s, size_t len)
{
    char text[64];
    char *copy = len < sizeof text ? text : malloc(len + 1);

    if (!copy)
        return INFINITY;
    memcpy(copy, s, len);
    copy[len] = '\0';
    double v = strtod(copy, NULL);

    if (copy != text)
        free(copy);
    return v;
}

const char *json_text_number(struct json_text *t, double *ret)
{
    struct decimal d;
    size_t len;

    do
        len = (size_t)(take_number(t->at, t->end, &d) - t->at);
    while (t->at + len == t->end && fill(t)); /* it may go on */
    const char *end = t->at + len;

    if (!isdigit((unsigned char)end[-1]) || (end < t->end && isdigit((unsigned char)*end))) {
        t->at = end;
        return isdigit((unsigned char)end[-1]) ? "no digit after a leading 0" : "a digit";
    }
    if (d.whole) {
        const char *wrong = value_whole(&d, ret);

        t->at = wrong ? t->at : end;
        return wrong;
    }
    if (!value_simple(&d, ret))
        *ret = value_any(t->at, len);
    if (!isfinite(*ret))
        return "a number of 1.8e308 at most";
    t->at = end;
    return NULL;
}

/* ---- words ---- */

const char *json_text_word(struct json_text *t, const char *word)
{
    for (const char *w = word; *w; w++, t->at++) {
        if (t->at == t->end && !fill(t))
            return "true, false or null";
        if (*t->at != *w)
            return "true, false or null";
    }
    return NULL;
}
