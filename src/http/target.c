/* target.c: takes the target of a request apart. Routes are route.c's. */
#include "http/target.h"

#include "base/utf8.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static bool is_text(const char *text)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t len = utf8_length(at);

        if (len == 0 || *at < ' ' || *at == 0x7f)
            return false;
        at += len;
    }
    return true;
}

/* In place: it never grows. */
static int decode(char *text, struct err *err)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        int high = hex_digit(from[1]);
        int low = high < 0 ? -1 : hex_digit(from[2]);

        if (low < 0 || high * 16 + low == 0)
            return err_set(err, -EINVAL, "the target of the request has a %% that begins no character");
        *to++ = (char)(high * 16 + low);
        from += 2;
    }
    *to = '\0';
    return is_text(text)
               ? 0
               : err_set(err, -EINVAL,
                         "the target of the request has a control character, or bytes that are no UTF-8");
}

static int take_path(char *path, struct target *t, struct err *err)
{
    char *save = NULL;
    int r;

    if (path[0] != '/')
        return err_set(err, -EINVAL, "the target of the request does not begin with a /");
    if (path[1] == '\0')
        return 0;
    const size_t len = strlen(path);

    if (strncmp(path, "/ovirt-engine/", 14) == 0 && path[len - 1] == '/') /* as clients of oVirt write it */
        path[len - 1] = '\0';
    for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
        if (at[1] == '/' || at[1] == '\0')
            return err_set(err, -EINVAL, "the path has an empty segment");
    }
    for (char *s = strtok_r(path, "/", &save); s; s = strtok_r(NULL, "/", &save)) {
        if (t->n_segments == TARGET_SEGMENTS_MAX)
            return err_set(err, -EINVAL, "the path has more than %d segments", TARGET_SEGMENTS_MAX);
        if ((r = decode(s, err)) < 0)
            return r;
        if (strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
            return err_set(err, -EINVAL, "the path has a segment . or ..");
        t->segments[t->n_segments++] = s;
    }
    return 0;
}

static int take_parameters(char *query, struct target *t, struct err *err)
{
    char *save = NULL;
    int r;

    for (char *name = strtok_r(query, "&", &save); name; name = strtok_r(NULL, "&", &save)) {
        char *value = strchr(name, '=');

        if (!value || value == name)
            return err_set(err, -EINVAL, "a parameter without a name or a value, expected NAME=VALUE");
        *value++ = '\0';
        if ((r = decode(name, err)) < 0 || (r = decode(value, err)) < 0)
            return r;
        if (target_parameter(t, name))
            return err_set(err, -EINVAL, "\"%.40s\": a parameter that is given twice", name);
        if (t->n_parameters == TARGET_PARAMETERS_MAX)
            return err_set(err, -EINVAL, "more than %d parameters", TARGET_PARAMETERS_MAX);
        t->parameters[t->n_parameters].name = name;
        t->parameters[t->n_parameters++].value = value;
    }
    return 0;
}

int target_parse(const char *raw, struct target *ret, struct err *err)
{
    *ret = (struct target){0};
    if (strlen(raw) > TARGET_BYTES_MAX)
        return err_set(err, -EINVAL, "the target of the request has more than %d bytes", TARGET_BYTES_MAX);
    ret->text = xstrdup(raw);
    char *query = strchr(ret->text, '?');

    if (query)
        *query++ = '\0';
    int r = take_path(ret->text, ret, err);

    return r < 0 || !query ? r : take_parameters(query, ret, err);
}

void target_release(struct target *t)
{
    free(t->text);
    *t = (struct target){0};
}

const char *target_parameter(const struct target *t, const char *name)
{
    for (size_t i = 0; i < t->n_parameters; i++) {
        if (strcmp(t->parameters[i].name, name) == 0)
            return t->parameters[i].value;
    }
    return NULL;
}

int target_escape(const char *text, size_t len, char *ret, size_t size)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool plain = isalnum(c) || strchr("-._~", c) != NULL;

        if (n + 4 > size)
            return -ENOSPC;
        if (plain && c != '\0') {
            ret[n++] = (char)c;
        } else {
            ret[n++] = '%';
            ret[n++] = digits[c >> 4];
            ret[n++] = digits[c & 15];
        }
    }
    ret[n] = '\0';
    return 0;
}
