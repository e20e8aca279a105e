/* answer_text.c: from the bytes of an answer to JSON, and from its links to paths. It does not know what the
 * resources mean. */
#include "actuators/redfish/answer.h"

#include "base/cleanup.h"
#include "net/http.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* jansson goes as deep as the text does, up to 2,048; nothing of Redfish is nearly as deep. */
static bool too_deep(const char *text, size_t len)
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
            if (++depth > REDFISH_DEPTH_MAX)
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

int redfish_parse(const char *text, size_t len, json_t **ret, struct err *err)
{
    static const char bom[] = "\xef\xbb\xbf";
    json_error_t why;

    if (len > REDFISH_ANSWER_MAX)
        return err_set(err, -EPROTO, "the answer is larger than %zu KiB", REDFISH_ANSWER_MAX / 1024);
    if (len >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        len -= 3;
    }
    while (len > 0 && text[len - 1] == '\0')
        len--;
    if (too_deep(text, len))
        return err_set(err, -EPROTO, "the answer is nested more than %u deep", REDFISH_DEPTH_MAX);
    json_t *o = load(text, len, &why);
    if (!o)
        return err_set(err, -EPROTO, "the answer is not JSON (line %d)", why.line);
    if (!json_is_object(o)) {
        json_decref(o);
        return err_set(err, -EPROTO, "the answer is not a JSON object");
    }
    *ret = o;
    return 0;
}

static bool is_path(const char *path, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (path[i] <= ' ' || path[i] > '~' || path[i] == '\\')
            return false;
    }
    return path[0] == '/' && len < REDFISH_PATH_MAX;
}

static int keep_path(const char *path, struct redfish_path *ret)
{
    size_t len = strcspn(path, "#");

    if (!is_path(path, len))
        return -EPROTO;
    memcpy(ret->text, path, len);
    ret->text[len] = '\0';
    return 0;
}

int redfish_path_of(const char *link, struct redfish_path *ret)
{
    const char *authority = strstr(link, "://");
    const char *path = link;

    if (link[0] != '/')
        path = authority ? strchr(authority + 3, '/') : NULL;
    return path ? keep_path(path, ret) : -EPROTO;
}

int redfish_path_from(const char *page, const char *reference, struct redfish_path *ret)
{
    CLEANUP(freep) char *host = NULL;
    CLEANUP(freep) char *path = NULL;
    char base[REDFISH_PATH_MAX + 16];

    if (reference[0] == '/' && reference[1] != '/')
        return keep_path(reference, ret);
    (void)snprintf(base, sizeof base, "https://host%s", page);
    if (reference[0] == '\0' || http_resolve(base, reference, &host, &path) < 0)
        return -EPROTO;
    return keep_path(path, ret);
}

const json_t *redfish_property(const json_t *o, const char *name)
{
    const char *dot = strchr(name, '.');
    char outer[32];

    if (!dot)
        return json_object_get(o, name);
    (void)snprintf(outer, sizeof outer, "%.*s", (int)(dot - name), name);
    return json_object_get(json_object_get(o, outer), dot + 1);
}

bool redfish_path_in(const json_t *string, struct redfish_path *ret)
{
    const char *s = json_string_value(string);

    return s && redfish_path_of(s, ret) == 0;
}

bool redfish_link(const json_t *o, const char *name, struct redfish_path *ret)
{
    return redfish_path_in(json_object_get(redfish_property(o, name), "@odata.id"), ret);
}

bool redfish_link_at(const json_t *o, const char *name, size_t i, struct redfish_path *ret)
{
    return redfish_path_in(json_object_get(json_array_get(redfish_property(o, name), i), "@odata.id"), ret);
}
