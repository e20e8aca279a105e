/* conf.c: nova.conf, in the form that oslo.config reads, and its options. */
#include "dialect/nova/internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define BLANKS " \t\r"

/* ---- the text ---- */

struct conf_reader {
    struct arena *a;
    struct err *err;
    json_t *root;
    json_t *section; /* NULL: before the first */
    const char *key; /* that further lines go on with; NULL: none */
    unsigned line;
};

/* A value may stand in quotes. */
static const char *unquoted(char *text)
{
    size_t n = strlen(text);

    if (n > 1 && text[0] == text[n - 1] && strchr("\"'", text[0])) {
        text[n - 1] = '\0';
        return text + 1;
    }
    return text;
}

static int read_section(struct conf_reader *r, const char *line)
{
    const char *end = strchr(line, ']');

    if (!end || end == line + 1)
        return err_set(r->err, -EINVAL, "nova.conf: line %u: a section without a name, expected \"[name]\"",
                       r->line);
    const char *name = arena_strndup(r->a, line + 1, (size_t)(end - line - 1));

    r->section = json_object_get(r->root, name);
    if (!r->section) {
        r->section = json_object();
        (void)json_object_set_new(r->root, name, r->section);
    }
    r->key = NULL;
    return 0;
}

static int read_option(struct conf_reader *r, const char *line)
{
    size_t n = strcspn(line, "=:");

    if (line[n] == '\0' || n == 0)
        return err_set(r->err, -EINVAL, "nova.conf: line %u: no option, expected \"name = value\"", r->line);
    if (!r->section)
        return err_set(r->err, -EINVAL,
                       "nova.conf: line %u: before the first section, expected \"[DEFAULT]\"", r->line);
    r->key = nova_stripped(line, n, BLANKS, r->a);
    const char *value = unquoted(nova_stripped(line + n + 1, strlen(line + n + 1), BLANKS, r->a));
    const char *before = json_string_value(json_object_get(r->section, r->key));

    if (before && strcmp(r->key, "available_filters") == 0) /* may be there several times */
        value = arena_printf(r->a, "%s,%s", before, value);
    if (before && strcmp(r->key, "alias") == 0) /* likewise, each JSON */
        value = arena_printf(r->a, "%s\n%s", before, value);
    (void)json_object_set_new(r->section, r->key, json_string(value));
    return 0;
}

static int read_continuation(struct conf_reader *r, const char *line)
{
    const char *text = nova_stripped(line, strlen(line), BLANKS, r->a);

    if (!r->key)
        return err_set(r->err, -EINVAL,
                       "nova.conf: line %u: a blank before the first word, but no option to go on with",
                       r->line);
    (void)json_object_set_new(
        r->section, r->key,
        json_string(
            arena_printf(r->a, "%s\n%s", json_string_value(json_object_get(r->section, r->key)), text)));
    return 0;
}

static int read_line(struct conf_reader *r, const char *line)
{
    size_t blanks = strspn(line, BLANKS);

    if (line[blanks] == '\0') {
        r->key = NULL;
        return 0;
    }
    if (line[0] == '#' || line[0] == ';')
        return 0;
    return blanks > 0       ? read_continuation(r, line)
           : line[0] == '[' ? read_section(r, line)
                            : read_option(r, line);
}

int nova_conf_read(const char *text, struct arena *a, json_t **ret, struct err *err)
{
    struct conf_reader r = {.a = a, .err = err, .root = json_object()};
    int e = 0;

    while (*text && e == 0) {
        const char *end = strchrnul(text, '\n');

        r.line++;
        e = read_line(&r, arena_strndup(a, text, (size_t)(end - text)));
        text = *end ? end + 1 : end;
    }
    if (e < 0)
        json_decref(r.root);
    else
        *ret = r.root;
    return e;
}

/* ---- options ---- */

static const json_t *option_of(const struct cloud *c, const char *section, const char *option)
{
    return json_object_get(json_object_get(c->conf, section), option);
}

const char *conf_text(const struct cloud *c, const char *section, const char *option)
{
    return nova_python_str(option_of(c, section, option), c->a);
}

struct words conf_list(const struct cloud *c, const char *section, const char *option, const char *fallback)
{
    const json_t *given = option_of(c, section, option);
    const char *text = given ? nova_python_str(given, c->a) : fallback;
    struct words ret = {0};
    size_t i;
    const json_t *item;

    json_array_foreach(given, i, item)
    {
        if (json_is_string(item))
            nova_words_add(&ret, json_string_value(item), c->a);
    }
    struct words parts = text ? nova_parts_split(text, ',', c->a) : (struct words){0};

    for (i = 0; i < parts.n; i++)
        if (*parts.items[i])
            nova_words_add(&ret, parts.items[i], c->a);
    return ret;
}

int conf_bool(const struct cloud *c, const char *section, const char *option, bool fallback, bool *ret)
{
    static const char *const words[2][5] = {{"false", "0", "off", "no", NULL},
                                            {"true", "1", "on", "yes", NULL}};
    const char *text = conf_text(c, section, option);

    *ret = fallback;
    if (!text)
        return 0;
    for (int is = 0; is < 2; is++)
        for (int i = 0; words[is][i]; i++)
            if (strcasecmp(text, words[is][i]) == 0) {
                *ret = is == 1;
                return 0;
            }
    return err_set(c->err, -EINVAL, "nova.conf: [%s] %s is \"%s\", expected true or false", section, option,
                   text);
}

int conf_whole(const struct cloud *c, const char *section, const char *option, json_int_t fallback,
               json_int_t *ret)
{
    const char *text = conf_text(c, section, option);

    *ret = fallback;
    return !text || nova_python_int(text, c->a, ret)
               ? 0
               : err_set(c->err, -EINVAL, "nova.conf: [%s] %s is \"%s\", expected a whole number", section,
                         option, text);
}

int conf_number(const struct cloud *c, const char *section, const char *option, double fallback, double *ret)
{
    const char *text = conf_text(c, section, option);

    *ret = fallback;
    return !text || (nova_python_float(text, c->a, ret) && isfinite(*ret))
               ? 0
               : err_set(c->err, -EINVAL, "nova.conf: [%s] %s is \"%s\", expected a number", section, option,
                         text);
}
