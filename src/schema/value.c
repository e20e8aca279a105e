/* value.c: reads one value by its field's type. */
#include "schema/reader.h"

#include "base/mac.h"
#include "base/number.h"
#include "base/remote_address.h"
#include "base/rfc3339.h"

#include <ballast/inventory.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LENGTH_MAX 1024
#define PATH_LENGTH_MAX 4095

/* ---- text ---- */

static bool is_printable(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text))
        text++;
    return *text == '\0';
}

/* The nodes of JSON may be gone after the reading; a YAML tree lives as long as the values read from it. */
static int read_text(const struct reader *r, const struct node *n, const char *expected, const char **ret)
{
    const char *text = node_text(n);

    if (!text || (!n->json && text[0] == '\0'))
        return reader_refuse(r, n, expected ? expected : "a string");
    if (n->json) {
        *ret = arena_strdup(r->a, text);
        return 0;
    }
    if (strlen(text) > TEXT_LENGTH_MAX)
        return reader_complain(r, n, "is too long, expected at most %d bytes", TEXT_LENGTH_MAX);
    if (!is_printable(text))
        return reader_complain(r, n, "has a control character in it, expected text on one line");
    *ret = text;
    return 0;
}

static int read_checked(const struct reader *r, const struct node *n, const struct field *f, const char **ret)
{
    int e = read_text(r, n, f->meaning, ret);
    const char *expected = e == 0 && f->check ? f->check(*ret) : NULL;

    return expected ? reader_refuse(r, n, expected) : e;
}

/* The path, relative to the file's folder. */
static const char *from_folder(const struct reader *r, const char *path)
{
    const char *slash = strrchr(r->file, '/');

    if (path[0] == '/' || !slash)
        return path;
    return arena_printf(r->a, "%.*s/%s", (int)(slash - r->file), r->file, path);
}

/* A relative path starts at the file's own folder: a service's working directory is arbitrary. */
static int read_path(const struct reader *r, const struct node *n, const char *expected, const char **ret)
{
    const char *text = node_text(n);

    if (!text || text[0] == '\0')
        return reader_refuse(r, n, expected);
    if (!is_printable(text))
        return reader_complain(r, n, "has a control character in it, expected a path");
    const char *path = from_folder(r, text);

    if (strlen(path) > PATH_LENGTH_MAX)
        return reader_complain(r, n, "is too long, expected a path of at most %d bytes", PATH_LENGTH_MAX);
    *ret = path;
    return 0;
}

/* host, host:port or [address]:port; without userinfo. */
static bool is_authority(const char *s, size_t len)
{
    struct remote_address at;
    char text[REMOTE_PART_MAX];

    return snprintf(text, sizeof text, "%.*s", (int)len, s) < (int)sizeof text &&
           remote_address_parse(text, &at) == 0 && !at.user[0];
}

static const char *url_forms(const struct reader *r, const char *const *schemes)
{
    const char *all = "";

    for (size_t i = 0; schemes[i]; i++)
        all = arena_printf(r->a, "%s%s%s://HOST[:PORT]", all, i ? " or " : "", schemes[i]);
    return all;
}

static int read_url(const struct reader *r, const struct node *n, const struct field *f, const char **ret)
{
    const char *text = node_text(n);
    const char *rest = text ? strstr(text, "://") : NULL;
    bool known = false;

    for (size_t i = 0; rest && f->words[i]; i++)
        known = known || (strlen(f->words[i]) == (size_t)(rest - text) &&
                          strncmp(text, f->words[i], strlen(f->words[i])) == 0);
    if (!known)
        return reader_refuse(r, n, url_forms(r, f->words));
    rest += strlen("://");
    size_t authority = strcspn(rest, "/?#");

    if (memchr(rest, '@', authority)) /* not quoted: it may contain a password */
        return reader_complain(r, n,
                               "has a user or a password in it, expected them in username and password_file");
    if (!is_authority(rest, authority))
        return reader_refuse(r, n, "HOST, HOST:PORT or [ADDRESS]:PORT after the scheme");
    return read_text(r, n, f->meaning, ret);
}

/* An address in libc's syntax, also with a port; an IPv6 address also without brackets. */
static int read_address(const struct reader *r, const struct node *n, const struct field *f, const char **ret)
{
    struct in6_addr six;
    int e = read_text(r, n, f->meaning, ret);

    if (e == 0 && !is_authority(*ret, strlen(*ret)) && inet_pton(AF_INET6, *ret, &six) != 1)
        e = reader_refuse(r, n, "HOST, HOST:PORT or [ADDRESS]:PORT");
    return e;
}

static int read_mac(const struct reader *r, const struct node *n, const char **ret)
{
    const char *text = node_text(n);
    struct mac mac;

    if (!text || mac_parse(text, &mac) < 0)
        return reader_refuse(r, n, "an Ethernet address like \"02:00:00:00:00:01\"");
    if (!mac_is_station(&mac))
        return reader_refuse(r, n, "the address of one network card");
    *ret = text;
    return 0;
}

/* The index of the word, or -1. */
static int find_word(const struct node *n, const char *const *words)
{
    const char *text = node_text(n);

    for (int i = 0; text && text[0] && words[i]; i++) {
        if (strcmp(words[i], text) == 0)
            return i;
    }
    return -1;
}

static int read_word(const struct reader *r, const struct node *n, const struct field *f, int *ret)
{
    int found = find_word(n, f->words);

    if (found < 0)
        return reader_refuse(r, n, reader_words(r, f->words));
    *ret = found;
    return 0;
}

/* ---- numbers ---- */

static bool is_whole_type(const struct field *f)
{
    return f->type == FIELD_INT || f->type == FIELD_COUNT;
}

static bool has_range(const struct field *f)
{
    return f->min != f->max || f->type == FIELD_COUNT;
}

static double max_of(const struct field *f)
{
    return f->min != f->max ? f->max : INT32_MAX;
}

/* The end of what was expected of a value that is no text. */
static const char *unquoted(const struct node *n)
{
    return !n->json && n->kind == NODE_SCALAR && !n->plain ? ", without quotes" : "";
}

static int refuse_number(const struct reader *r, const struct node *n, const struct field *f)
{
    const char *what = is_whole_type(f) ? "a whole number" : "a number";
    const char *word = f->type == FIELD_LIMIT ? " or null" : field_has_auto(f) ? " or auto" : "";
    char min[NUMBER_TEXT_MAX], max[NUMBER_TEXT_MAX];

    if (!has_range(f))
        return reader_refuse(r, n, arena_printf(r->a, "%s%s%s", what, word, unquoted(n)));
    return reader_refuse(r, n,
                         arena_printf(r->a, "%s from %s to %s%s%s", what, number_format(f->min, min),
                                      number_format(max_of(f), max), word, unquoted(n)));
}

static int read_number(const struct reader *r, const struct node *n, const struct field *f, double *ret)
{
    double v;

    if (field_has_auto(f) && node_text(n) && strcmp(node_text(n), f->fallback) == 0) {
        *ret = FIELD_AUTO;
        return 0;
    }
    if (!node_number(n, &v) || (has_range(f) && (v < f->min || v > max_of(f))) ||
        (is_whole_type(f) && v != floor(v)))
        return refuse_number(r, n, f);
    *ret = v + 0.0; /* no negative zero */
    return 0;
}

static int read_whole(const struct reader *r, const struct node *n, const struct field *f, void *at)
{
    double v;
    int e = read_number(r, n, f, &v);

    if (e == 0 && f->type == FIELD_INT)
        *(int64_t *)at = (int64_t)v;
    else if (e == 0)
        *(uint32_t *)at = (uint32_t)v;
    return e;
}

static int read_limit(const struct reader *r, const struct node *n, const struct field *f, double *ret)
{
    if (!node_is_null(n))
        return read_number(r, n, f, ret);
    *ret = NO_LIMIT;
    return 0;
}

static int read_bool(const struct reader *r, const struct node *n, bool *ret)
{
    if (!node_bool(n, ret))
        return reader_refuse(r, n, arena_printf(r->a, "true or false%s", unquoted(n)));
    return 0;
}

static int read_instant(const struct reader *r, const struct node *n, instant_s *ret)
{
    const char *text = node_text(n);
    instant_s t;

    if (!text || rfc3339_parse(text, &t) < 0 || t < 0)
        return reader_refuse(r, n, "an instant like \"2026-01-01T00:00:00Z\"");
    *ret = t;
    return 0;
}

/* ---- lists ---- */

int reader_list_check(const struct reader *r, const struct node *n, const char *expected, size_t most)
{
    if (n->kind != NODE_LIST && !node_is_null(n))
        return reader_refuse(r, n, expected);
    if (n->n > most)
        return reader_complain(r, n, "has %zu entries, expected %zu at most", n->n, most);
    return 0;
}

/* Texts, with a NULL after the last. */
static int read_texts(const struct reader *r, const struct node *list, const char *const **ret)
{
    const char **items = arena_array(r->a, const char *, list->n + 1);
    size_t i = 0;
    int e = 0;

    for (const struct node *n = list->first; n && e == 0; n = n->next)
        e = read_text(r, n, n->json ? NULL : "a word", &items[i++]);
    *ret = items;
    return e;
}

static int read_list(const struct reader *r, const struct node *n, const struct field *f,
                     const char *const **ret)
{
    if (n->kind == NODE_SCALAR &&
        !node_is_null(n)) /* a command line, say, with a password: not to be quoted */
        return reader_complain(r, n, "is no list, expected a list");
    if (n->kind != NODE_LIST)
        return reader_refuse(r, n, "a list");
    if (n->n > (size_t)f->max)
        return reader_complain(r, n, "is too long, expected at most %.12g words", f->max);
    int e = read_texts(r, n, ret);

    for (const char *const *w = *ret; e == 0 && f->check && *w; w++) {
        const char *expected = f->check(*w);

        if (expected)
            e = reader_complain(r, n, "has \"%.40s\" in it, expected %s", *w, expected);
    }
    return e;
}

static int check_ids(const struct reader *r, const struct node *n, const struct field *f,
                     const struct ids *ids)
{
    for (uint32_t i = 0; f->check && i < ids->n; i++) {
        const char *expected = f->check(ids->items[i]);

        if (expected)
            return reader_complain(r, n, "has \"%.40s\" in it, expected %s", ids->items[i], expected);
    }
    return 0;
}

static int read_ids(const struct reader *r, const struct node *n, const struct field *f, struct ids *ret)
{
    const char *expected = n->json ? "an array of ids" : "a name or a list of names";
    const char *const *items = NULL;
    int e;

    if (!n->json && n->kind == NODE_SCALAR) { /* a single entry needs no brackets */
        const char **one = arena_array(r->a, const char *, 1);

        if ((e = read_text(r, n, expected, one)) == 0)
            *ret = (struct ids){.items = one, .n = 1};
        return e < 0 ? e : check_ids(r, n, f, ret);
    }
    if (n->kind != NODE_LIST)
        return reader_refuse(r, n, expected);
    if (!n->json && n->n > (size_t)f->max)
        return reader_complain(r, n, "has %zu entries, expected %.12g at most", n->n, f->max);
    if ((e = read_texts(r, n, &items)) == 0)
        *ret = (struct ids){.items = items, .n = (uint32_t)n->n};
    return e < 0 ? e : check_ids(r, n, f, ret);
}

static int read_labels(const struct reader *r, const struct node *map, struct labels *ret)
{
    struct label *items = arena_array(r->a, struct label, map->n);
    uint32_t i = 0;
    int e = 0;

    if (map->kind != NODE_MAP)
        return reader_refuse(r, map, "{KEY: TEXT, ...}");
    for (const struct node *n = map->first; n && e == 0; n = n->next) {
        e = read_text(r, n, NULL, &items[i].value);
        items[i++].key = n->json ? arena_strdup(r->a, n->key) : n->key;
    }
    *ret = (struct labels){.items = items, .n = i};
    return e;
}

static int read_flags(const struct reader *r, const struct node *list, const struct field *f, unsigned *ret)
{
    unsigned flags = 0;

    if (list->kind != NODE_LIST)
        return reader_refuse(r, list, arena_printf(r->a, "a list of %s", reader_words(r, f->words)));
    for (const struct node *n = list->first; n; n = n->next) {
        int found = find_word(n, f->words);

        if (found < 0)
            return reader_refuse(r, n, reader_words(r, f->words));
        flags |= 1u << found;
    }
    *ret = flags;
    return 0;
}

static int read_curve(const struct reader *r, const struct node *list, const struct field *f,
                      struct power_curve *ret)
{
    const struct field number = {.type = FIELD_NUMBER, .min = f->min, .max = f->max};
    uint32_t i = 0;
    int e = 0;

    if (list->kind != NODE_LIST)
        return reader_refuse(r, list, "a list of watts such as [120, 310], from no load to full load");
    if (list->n < 2 || list->n > POWER_POINTS_MAX)
        return reader_complain(r, list, "%s%zu figures, expected 2 to %d, from no load to full load",
                               list->json ? "" : "has ", list->n, POWER_POINTS_MAX);
    double *watts = arena_array(r->a, double, list->n);

    for (const struct node *n = list->first; n && e == 0; n = n->next)
        e = read_number(r, n, &number, &watts[i++]);
    if (e == 0)
        *ret = (struct power_curve){.watts = watts, .n = i};
    return e;
}

#define OBJECTS_MAX 4096

static int read_objects(const struct reader *r, const struct node *map, const struct field *f,
                        struct objects *ret)
{
    uint32_t i = 0;
    int e = 0;

    if (map->kind != NODE_MAP)
        return reader_refuse(r, map, f->meaning);
    if (map->n > OBJECTS_MAX)
        return reader_complain(r, map, "has %zu entries, expected at most %d", map->n, OBJECTS_MAX);
    char *items = arena_alloc(r->a, map->n, f->size);

    for (const struct node *n = map->first; n && e == 0; n = n->next, i++) {
        reader_defaults(r, f->inner, items + i * f->size);
        *(const char **)(items + i * f->size) = n->key;
        e = reader_object(r, n, f->inner, items + i * f->size);
    }
    if (e == 0)
        *ret = (struct objects){.items = items, .n = i};
    return e;
}

/* ---- lists of objects ---- */

static int read_rows(const struct reader *r, const struct node *list, const struct field *f,
                     struct objects *ret)
{
    uint32_t i = 0;
    int e = 0;

    if (list->kind != NODE_LIST)
        return reader_refuse(r, list, list->json ? "an array of objects" : "a list of sections");
    if (list->n > (size_t)f->max)
        return reader_complain(r, list, "%s%zu entries, expected at most %.12g", list->json ? "" : "has ",
                               list->n, f->max);
    char *items = arena_alloc(r->a, list->n, f->size);

    for (const struct node *n = list->first; n && e == 0; n = n->next, i++) {
        if (f->flags & FIELD_DEFAULTED)
            reader_defaults(r, f->inner, items + i * f->size);
        e = reader_object(r, n, f->inner, items + i * f->size);
    }
    if (e == 0)
        *ret = (struct objects){.items = items, .n = i};
    return e;
}

/* ---- all of them ---- */

int reader_value(const struct reader *r, const struct node *n, const struct field *f, void *at)
{
    int word = 0;
    int e;

    switch (f->type) {
    case FIELD_TEXT:
        return read_checked(r, n, f, at);
    case FIELD_PATH:
    case FIELD_SECRET: /* only the caller knows which user must read the file */
        return read_path(r, n, f->meaning, at);
    case FIELD_URL:
        return read_url(r, n, f, at);
    case FIELD_ADDRESS:
        return read_address(r, n, f, at);
    case FIELD_MAC:
        return read_mac(r, n, at);
    case FIELD_CHOICE:
        if ((e = read_word(r, n, f, &word)) == 0)
            *(const char **)at = f->words[word];
        return e;
    case FIELD_WORD:
        return read_word(r, n, f, at);
    case FIELD_NUMBER:
        return read_number(r, n, f, at);
    case FIELD_LIMIT:
        return read_limit(r, n, f, at);
    case FIELD_INT:
    case FIELD_COUNT:
        return read_whole(r, n, f, at);
    case FIELD_BOOL:
        return read_bool(r, n, at);
    case FIELD_INSTANT:
        return read_instant(r, n, at);
    case FIELD_LIST:
        return read_list(r, n, f, at);
    case FIELD_IDS:
        return read_ids(r, n, f, at);
    case FIELD_LABELS:
        return read_labels(r, n, at);
    case FIELD_FLAGS:
        return read_flags(r, n, f, at);
    case FIELD_CURVE:
        return read_curve(r, n, f, at);
    case FIELD_OBJECT:
        return reader_object(r, n, f->inner, at);
    case FIELD_OBJECTS:
        return read_objects(r, n, f, at);
    case FIELD_NODE:
        *(const struct node **)at = n;
        return 0;
    case FIELD_ROWS:
        return read_rows(r, n, f, at);
    case FIELD_OWN:
        return f->read(r, n, at);
    case FIELD_SKIPPED:
        return 0;
    }
    return -EINVAL;
}

void reader_defaults(const struct reader *r, const struct schema *schema, void *into)
{
    static const char *const no_words[] = {NULL};

    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        const struct node n = {.kind = NODE_SCALAR, .plain = true, .text = f->fallback};
        void *at = (char *)into + f->offset;

        if (f->type == FIELD_LIST)
            *(const char *const **)at = no_words;
        else if (f->type == FIELD_NUMBER && !f->fallback)
            *(double *)at = UNKNOWN;
        else if (f->type != FIELD_OWN && f->fallback)
            (void)reader_value(r, &n, f, at); /* a test checks that the defaults of all tables are valid */
    }
}
