/* format.c: moves the lines of a configuration file into the order of conf/ballast.yaml. It checks no value.
 */
#include "config/format.h"

#include "config/key_order.h"
#include "schema/yaml_tree.h"

#include "base/cleanup.h"
#include "base/texts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HOSTS "power.hosts."
#define DEFAULTS "power.defaults."
#define FIRST_HOST "power.hosts.esx1." /* the example in conf/ballast.yaml */
#define UNKNOWN_RANK ((size_t)-1)

struct text {
    const char **lines; /* [n] is the end of the text */
    size_t n;
    struct arena *a;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static struct text lines_of(const char *text, size_t len, struct arena *a)
{
    struct text t = {.a = a};
    const char *const end = text + len;
    size_t n = 1;

    for (const char *c = text; c < end; c++)
        n += *c == '\n';
    t.lines = arena_array(a, const char *, n + 1);
    while (text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));

        t.lines[t.n++] = text;
        text = eol ? eol + 1 : end;
    }
    t.lines[t.n] = end;
    return t;
}

static size_t length(const struct text *t, size_t line)
{
    return (size_t)(t->lines[line + 1] - t->lines[line]);
}

static size_t indent(const struct text *t, size_t line)
{
    size_t n = 0;

    while (n < length(t, line) && t->lines[line][n] == ' ')
        n++;
    return n;
}

static char first_char(const struct text *t, size_t line)
{
    size_t at = indent(t, line);

    return at < length(t, line) ? t->lines[line][at] : '\n';
}

static bool is_blank(const struct text *t, size_t line)
{
    char c = first_char(t, line);

    return c == '\n' || c == '\r';
}

/* A key that is commented out stands behind a # in the first column, with its indentation. */
static size_t comment_indent(const struct text *t, size_t line)
{
    const char *c = t->lines[line];
    size_t n = 0;

    if (*c != '#')
        return indent(t, line);
    while (n + 1 < length(t, line) && c[n + 1] == ' ')
        n++;
    return n >= 2 ? n : 0;
}

/* ---- the order ------------------------------------------------------------------------------- */

static size_t index_of(const char *path)
{
    for (size_t i = 0; config_key_order[i]; i++) {
        if (strcmp(config_key_order[i], path) == 0)
            return i;
    }
    return UNKNOWN_RANK;
}

/* Hosts of power.hosts have the keys of power.defaults, and those of the example before them. */
static size_t rank_of(const char *path, struct arena *a)
{
    const char *name = strncmp(path, HOSTS, strlen(HOSTS)) == 0 ? path + strlen(HOSTS) : NULL;
    const char *key = name ? strchr(name, '.') : NULL;

    if (!key)
        return name ? UNKNOWN_RANK : index_of(path);
    size_t n_keys = 0;
    size_t rank = index_of(arena_printf(a, DEFAULTS "%s", key + 1));

    while (config_key_order[n_keys])
        n_keys++;
    return rank != UNKNOWN_RANK ? n_keys + rank : index_of(arena_printf(a, FIRST_HOST "%s", key + 1));
}

/* Sections whose keys are names of the user's. */
static bool is_of_names(const char *path)
{
    static const char *const sections[] = {"rules",     "pools",       "groups",       "units",
                                           "pipelines", "roles.users", "roles.groups", "power.hosts"};

    return texts_have(sections, sizeof sections / sizeof *sections, path);
}

/* ---- blocks: a key with its value and the comments above it ---------------------------------- */

struct block {
    const struct node *node;
    const char *path;
    size_t from, to; /* lines */
    size_t key;      /* its line */
    size_t rank, ix;
};

static int by_rank(const void *x, const void *y)
{
    const struct block *a = x, *b = y;

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->ix > b->ix) - (a->ix < b->ix);
}

/* Where the comments begin that belong to the key in this line; not before `first`. */
static size_t comments_from(const struct text *t, size_t key, size_t first, bool of_section)
{
    size_t from = key;
    const size_t at = indent(t, key);

    for (size_t i = key; i > first; i--) {
        if (is_blank(t, i - 1)) {
            if (of_section) /* what is above belongs to the section, or to the file */
                break;
            continue;
        }
        if (first_char(t, i - 1) != '#' || comment_indent(t, i - 1) > at)
            break;
        from = i - 1;
    }
    return from;
}

/* Each key begins a line, at one indentation. */
static bool is_in_lines(const struct text *t, const struct node *map)
{
    const size_t at = indent(t, map->first->line - 1);
    unsigned before = map->up ? map->line : 0;

    for (const struct node *n = map->first; n; n = n->next) {
        if (n->line <= before || n->line > t->n || indent(t, n->line - 1) != at)
            return false;
        before = n->line;
    }
    return map->plain;
}

static void put_lines(const struct text *t, size_t from, size_t to, struct strbuf *out)
{
    if (from >= to)
        return;
    strbuf_add(out, t->lines[from], (size_t)(t->lines[to] - t->lines[from]));
    if (out->len > 0 && out->text[out->len - 1] != '\n')
        strbuf_puts(out, "\n");
}

/* Lines from..to hold the children of the map and nothing else. */
static void put_map(const struct text *t, const struct node *map, const char *path, size_t from, size_t to,
                    struct strbuf *out)
{
    size_t n = 0;

    if (map->kind != NODE_MAP || map->n == 0 || !is_in_lines(t, map)) {
        put_lines(t, from, to, out);
        return;
    }
    struct block *blocks = arena_array(t->a, struct block, map->n);

    for (const struct node *c = map->first; c; c = c->next, n++) {
        const size_t key = c->line - 1;
        const char *child = path[0] ? arena_printf(t->a, "%s.%s", path, c->key) : c->key;

        blocks[n] = (struct block){.node = c,
                                   .path = child,
                                   .key = key,
                                   .ix = n,
                                   .from = comments_from(t, key, n ? blocks[n - 1].key + 1 : from, n == 0),
                                   .rank = is_of_names(path) ? 0 : rank_of(child, t->a)};
        if (n > 0)
            blocks[n - 1].to = blocks[n].from;
    }
    blocks[n - 1].to = to;
    put_lines(t, from, blocks[0].from, out);
    qsort(blocks, n, sizeof *blocks, by_rank);
    for (size_t i = 0; i < n; i++) {
        put_lines(t, blocks[i].from, blocks[i].key + 1, out);
        put_map(t, blocks[i].node, blocks[i].path, blocks[i].key + 1, blocks[i].to, out);
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

int config_format(const char *file, const char *text, size_t len, struct arena *a, struct strbuf *out,
                  struct err *err)
{
    CLEANUP(strbuf_releasep) struct strbuf moved = STRBUF_EMPTY;
    struct node *before = NULL, *after = NULL;
    int r = yaml_tree_parse(file, text, len, a, &before, err);

    if (r < 0)
        return r;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) { /* it belongs at the beginning only */
        text += 3;
        len -= 3;
    }
    const struct text t = lines_of(text, len, a);

    put_map(&t, before, "", 0, t.n, &moved);
    if (yaml_tree_parse(file, moved.text, moved.len, a, &after, NULL) < 0 || !node_same(before, after))
        return err_set(err, -EINVAL, "%s: its lines cannot be moved without a change of their meaning", file);
    strbuf_add(out, moved.text, moved.len);
    return 0;
}

const char *config_without_comments(const char *text, size_t len, struct arena *a, size_t *ret_len)
{
    const struct text t = lines_of(text, len, a);
    struct node *before = NULL, *after = NULL;
    char *made = arena_array(a, char, len + 1);
    size_t n = 0;

    for (size_t i = 0; i < t.n; i++) {
        if (first_char(&t, i) == '#') {
            made[n++] = '\n';
            continue;
        }
        memcpy(made + n, t.lines[i], length(&t, i));
        n += length(&t, i);
    }
    *ret_len = len;
    if (yaml_tree_parse("", text, len, a, &before, NULL) < 0 ||
        yaml_tree_parse("", made, n, a, &after, NULL) < 0 || !node_same(before, after))
        return text;
    *ret_len = n;
    return made;
}
