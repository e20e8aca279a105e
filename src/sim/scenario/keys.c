#include "sim/scenario/keys.h"

#include "base/number.h"
#include "config/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_LENGTH_MAX 1024
#define PATH_LENGTH_MAX 4095
#define SHOWN_MAX 60 /* of a wrong value, in a sentence */
#define SUGGESTIONS_MAX 64

/* ---- sentences ---- */

const char *file_place(const struct source_file *f, unsigned line)
{
    if (line < OVERRIDE_LINES)
        return arena_printf(f->a, "%s:%u", f->name, line);
    return arena_printf(f->a, "--set %.*s", SHOWN_MAX, f->options->overrides[line - OVERRIDE_LINES].path);
}

int file_refuse(const struct source_file *f, unsigned line, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return err_set(f->err, -EINVAL, "%s: %s", file_place(f, line), text);
}

const char *node_shown(const struct source_file *f, const struct node *n)
{
    if (n->kind == NODE_MAP)
        return "is a section";
    if (n->kind == NODE_LIST)
        return "is a list";
    if (node_is_null(n))
        return "has no value";
    char *shown =
        arena_printf(f->a, "is \"%.*s\"%s", SHOWN_MAX, n->text, strlen(n->text) > SHOWN_MAX ? "..." : "");

    for (char *c = shown; *c; c++) {
        if (iscntrl((unsigned char)*c))
            *c = '?';
    }
    return shown;
}

const char *words_shown(const struct source_file *f, const char *const *words)
{
    const char *all = words[0];

    for (size_t i = 1; words[i]; i++)
        all = arena_printf(f->a, "%s%s%s", all, words[i + 1] ? ", " : " or ", words[i]);
    return all;
}

static int refuse(const struct source_file *f, const struct node *n, const char *path, const char *expected)
{
    return file_refuse(f, n->line, "%s %s, expected %s", path, node_shown(f, n), expected);
}

static int refuse_unknown(const struct source_file *f, const struct node *n, const char *path,
                          struct keys keys)
{
    const char *names[SUGGESTIONS_MAX];
    const char *all = "";
    size_t n_names = 0;

    for (size_t i = 0; i < keys.n && i < SUGGESTIONS_MAX; i++) {
        names[n_names++] = keys.items[i].name;
        all = arena_printf(f->a, "%s%s%s", all, i ? ", " : "", keys.items[i].name);
    }
    const char *near = suggest(n->key, names, n_names);

    if (near)
        return file_refuse(f, n->line, "\"%s%.64s\" is not a known key, did you mean \"%s\"?", path, n->key,
                           near);
    return file_refuse(f, n->line, "\"%s%.64s\" is not a known key, expected one of %s", path, n->key, all);
}

/* ---- values ---- */

static bool is_printable(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return *text == '\0';
}

const char *file_relative(const struct source_file *f, const char *path)
{
    const char *slash = strrchr(f->name, '/');

    if (path[0] == '/' || !slash)
        return path;
    return arena_printf(f->a, "%.*s/%s", (int)(slash - f->name), f->name, path);
}

static int read_number(const struct source_file *f, const struct node *n, const char *path,
                       const struct key *key, void *at)
{
    const char *what = key->type == KEY_COUNT ? "a whole number" : "a number";
    const char *expected = isinf(key->max)
                               ? arena_printf(f->a, "%s, %.12g or more", what, key->min)
                               : arena_printf(f->a, "%s from %.12g to %.12g", what, key->min, key->max);
    double v;

    if (n->kind != NODE_SCALAR || !n->plain || !number_parse(n->text, &v) || !isfinite(v) || v < key->min ||
        v > key->max || (key->type == KEY_COUNT && v != floor(v)))
        return refuse(f, n, path, expected);
    if (key->type == KEY_COUNT)
        *(uint32_t *)at = (uint32_t)v;
    else
        *(double *)at = v + 0.0; /* no negative zero */
    return 0;
}

static int read_word(const struct source_file *f, const struct node *n, const char *path,
                     const struct key *key, int *ret)
{
    if (n->kind == NODE_SCALAR) {
        for (int i = 0; key->words[i]; i++) {
            if (strcmp(key->words[i], n->text) == 0) {
                *ret = i;
                return 0;
            }
        }
    }
    return refuse(f, n, path, words_shown(f, key->words));
}

static int read_text(const struct source_file *f, const struct node *n, const char *path,
                     const struct key *key, const char **ret)
{
    size_t most = key->type == KEY_PATH ? PATH_LENGTH_MAX : TEXT_LENGTH_MAX;

    if (n->kind != NODE_SCALAR || node_is_null(n) || n->text[0] == '\0')
        return refuse(f, n, path, key->meaning);
    const char *text = key->type == KEY_PATH ? file_relative(f, n->text) : n->text;

    if (strlen(text) > most || !is_printable(text))
        return file_refuse(f, n->line, "%s is too long or has a control character in it, expected %s", path,
                           key->meaning);
    *ret = text;
    return 0;
}

int key_read(const struct source_file *f, const struct node *n, const char *path, const struct key *key,
             void *at)
{
    switch (key->type) {
    case KEY_NUMBER:
    case KEY_COUNT:
        return read_number(f, n, path, key, at);
    case KEY_BOOL:
        if (n->kind != NODE_SCALAR || !n->plain ||
            (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
            return refuse(f, n, path, "true or false, without quotes");
        *(bool *)at = n->text[0] == 't';
        return 0;
    case KEY_TEXT:
    case KEY_PATH:
        return read_text(f, n, path, key, at);
    case KEY_WORD:
        return read_word(f, n, path, key, at);
    case KEY_NODE:
        *(const struct node **)at = n;
        return 0;
    case KEY_OWN:
        return key->read(f, n, path, at);
    }
    return -EINVAL;
}

int keys_read(const struct source_file *f, const struct node *map, const char *path, struct keys keys,
              void *base)
{
    if (map->kind != NODE_MAP && !node_is_null(map))
        return file_refuse(f, map->line, "%.*s %s, expected a section", (int)strlen(path) - 1, path,
                           node_shown(f, map));
    for (const struct node *n = map->first; n; n = n->next) {
        const struct key *key = NULL;

        for (size_t i = 0; i < keys.n && !key; i++) {
            if (strcmp(keys.items[i].name, n->key) == 0)
                key = &keys.items[i];
        }
        if (!key)
            return refuse_unknown(f, n, path, keys);
        int r = key_read(f, n, arena_printf(f->a, "%s%s", path, key->name), key, (char *)base + key->offset);

        if (r < 0)
            return r;
    }
    return 0;
}

int list_check(const struct source_file *f, const struct node *n, const char *path, const char *expected,
               size_t most)
{
    if (n->kind != NODE_LIST && !node_is_null(n))
        return refuse(f, n, path, expected);
    if (n->n > most)
        return file_refuse(f, n->line, "%s has %zu entries, expected %zu at most", path, n->n, most);
    return 0;
}
