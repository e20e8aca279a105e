/* peer_json.c: from the bytes of an answer to JSON, within bounds, and single values out of it. */
#include "net/peer_json.h"

#include "base/cleanup.h"
#include "base/number.h"

#include <ballast/units.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* jansson goes as deep as the text does, up to 2,048. */
static bool too_deep(const char *text, size_t len, unsigned most)
{
    unsigned depth = 0;
    bool quoted = false;

    for (size_t i = 0; i < len; i++) {
        if (quoted) {
            if (text[i] == '\\')
                i++;
            else if (text[i] == '"')
                quoted = false;
        } else if (text[i] == '"') {
            quoted = true;
        } else if (text[i] == '{' || text[i] == '[') {
            if (++depth > most)
                return true;
        } else if ((text[i] == '}' || text[i] == ']') && depth > 0) {
            depth--;
        }
    }
    return false;
}

/* The length of the UTF-8 character that begins here; 0: there is none. jansson checks the rest. */
static size_t utf8_len(const unsigned char *c, size_t left)
{
    size_t len = c[0] >= 0xc2 && c[0] < 0xe0   ? 2
                 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                 : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                               : 0;

    for (size_t i = 1; i < len; i++) {
        if (i >= left || (c[i] & 0xc0) != 0x80)
            return 0;
    }
    return len;
}

/* Texts of old firmware: Latin-1 where UTF-8 should be, and bare control characters. The caller frees it. */
static char *mend(const char *text, size_t len, size_t *ret_len)
{
    const unsigned char *from = (const unsigned char *)text;
    char *to = malloc(2 * len + 1);
    size_t n = 0;

    for (size_t i = 0; to && i < len;) {
        size_t whole = utf8_len(from + i, len - i);
        if (from[i] < 0x80 || whole == 0) {
            if (from[i] >= 0x80)
                to[n++] = (char)(0xc0 | from[i] >> 6);
            to[n++] = (char)(from[i] < ' ' ? ' ' : from[i] < 0x80 ? from[i] : 0x80 | (from[i] & 0x3f));
            i++;
            continue;
        }
        memcpy(to + n, from + i, whole);
        n += whole;
        i += whole;
    }
    *ret_len = n;
    return to;
}

static json_t *load(const char *text, size_t len, json_error_t *why)
{
    /* Integers too large for 64 bits are no reason to drop a whole answer, nor is a \u0000 in a name: a
     * string ends there for us. */
    const size_t flags = JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    json_t *o = json_loadb(text, len, flags, why);

    if (o)
        return o;
    size_t mended_len = 0;
    CLEANUP(freep) char *mended = mend(text, len, &mended_len);
    json_error_t ignored;

    return mended ? json_loadb(mended, mended_len, flags, &ignored) : NULL;
}

int peer_json_read(const char *text, size_t len, unsigned depth_max, json_t **ret, struct err *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    json_error_t why;

    if (len >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        len -= 3;
    }
    while (len > 0 && text[len - 1] == '\0')
        len--;
    if (too_deep(text, len, depth_max))
        return err_set(err, -EPROTO, "the answer is nested more than %u deep", depth_max);
    json_t *o = load(text, len, &why);
    if (!o)
        return err_set(err, -EPROTO, "the answer is not JSON (line %d)", why.line);
    *ret = o;
    return 0;
}

const char *peer_json_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

double peer_json_number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    double number = UNKNOWN;

    if (json_is_number(v))
        number = json_number_value(v);
    else if (!json_is_string(v) || !number_parse(json_string_value(v), &number))
        return UNKNOWN;
    return isfinite(number) ? number : UNKNOWN;
}

bool peer_json_flag(const json_t *o, const char *key)
{
    static const char *const words[] = {"1", "yes", "on", "true"};
    const json_t *v = json_object_get(o, key);
    const char *text = json_string_value(v);

    for (size_t i = 0; text && i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(text, words[i]) == 0)
            return true;
    }
    return json_is_true(v) || (json_is_number(v) && json_number_value(v) != 0);
}
