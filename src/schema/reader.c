/* reader.c: reads objects by their tables; finds missing and unknown fields. value.c reads single values. */
#include "schema/reader.h"

#include "schema/suggest.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BEGINNING_MIN 3 /* characters by which `password` is meant as `password_file` */
#define UNKNOWN_FIELDS_MAX 100
#define REQUIRED_MAX 64 /* fields of a table that has required ones */

/* ---- sentences ---- */

const char *reader_place(const struct reader *r, unsigned line)
{
    return r->place ? r->place(r, line) : arena_printf(r->a, "%s:%u", r->file, line);
}

int reader_complain_line(const struct reader *r, unsigned line, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (!r->file)
        return err_set(r->err, -EINVAL, "%s", text);
    return err_set(r->err, -EINVAL, "%s: %s", reader_place(r, line), text);
}

const char *reader_example(const struct reader *r, const char *path)
{
    const char *example = r->example ? r->example(path) : NULL;

    return example ? arena_printf(r->a, ", for example %s", example) : "";
}

int reader_complain(const struct reader *r, const struct node *n, const char *format, ...)
{
    char path[NODE_PATH_MAX], text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    (void)vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    (void)node_path(n, path);
    if (n->json)
        return err_set(r->err, -EINVAL, "%s: %s", path, text);
    return reader_complain_line(r, n->line, "%s%s%s%s", path, path[0] && !strchr(":.", text[0]) ? " " : "",
                                text, reader_example(r, path));
}

int reader_refuse(const struct reader *r, const struct node *n, const char *expected)
{
    return reader_complain(r, n, "%s, expected %s", node_shown(n, r->a), expected);
}

const char *reader_words(const struct reader *r, const char *const *words)
{
    const char *all = NULL;

    for (size_t i = 0; words[i]; i++) {
        if (!words[i][0])
            continue;
        if (!all)
            all = words[i];
        else
            all = arena_printf(r->a, "%s%s%s", all, words[i + 1] ? ", " : " or ", words[i]);
    }
    return all;
}

#define MISTAKES_MAX 100

int reader_note_mistake(const struct reader *r, int result)
{
    struct mistakes *m = r->mistakes;

    if (result != -EINVAL || !m || m->n >= MISTAKES_MAX || !r->err)
        return result;
    m->items = arena_grow(r->a, m->items, m->n, &m->cap, sizeof *m->items);
    m->items[m->n++] = arena_strdup(r->a, r->err->text);
    return 0;
}

/* ---- fields that no table has ---- */

/* The next name after the prefix on the way to the field; NULL: the field is not below the prefix. */
static const char *name_below(const struct reader *r, const struct field *f, const char *prefix)
{
    size_t len = strlen(prefix);

    if (strncmp(f->name, prefix, len) != 0)
        return NULL;
    return arena_strndup(r->a, f->name + len, strcspn(f->name + len, "."));
}

/* The names directly below a section, each once. */
static size_t names_below(const struct reader *r, const struct schema *schema, const char *prefix,
                          const char **ret)
{
    size_t n = 0;

    for (size_t i = 0; i < schema->n; i++) {
        const char *name = name_below(r, &schema->fields[i], prefix);
        bool known = !name;

        for (size_t k = 0; k < n && !known; k++)
            known = strcmp(ret[k], name) == 0;
        if (!known)
            ret[n++] = name;
    }
    return n;
}

/* The field with this name, or with this name in another section. */
static const char *find_elsewhere(const struct schema *schema, const char *word)
{
    for (size_t i = 0; i < schema->n; i++) {
        const char *dot = strrchr(schema->fields[i].name, '.');

        if (strcmp(schema->fields[i].name, word) == 0 || (dot && strcmp(dot + 1, word) == 0))
            return schema->fields[i].name;
    }
    return NULL;
}

static int refuse_unknown(const struct reader *r, const struct node *n, const struct schema *schema,
                          const char *prefix)
{
    char path[NODE_PATH_MAX];
    const char **names = arena_array(r->a, const char *, schema->n + 1);
    size_t n_names = names_below(r, schema, prefix, names);
    const char *near = suggest(n->key, names, n_names);
    const char *other = find_elsewhere(schema, n->key);
    const size_t len = strlen(n->key);

    for (size_t i = 0; i < n_names && !near && len >= BEGINNING_MIN; i++)
        near = strncmp(names[i], n->key, len) == 0 ? names[i] : NULL;

    (void)node_path(n, path);
    if (near)
        return reader_complain_line(r, n->line, "\"%s\" is not a known key, did you mean \"%s%s\"?", path,
                                    prefix, near);
    if (other && strchr(n->key, '.'))
        return reader_complain_line(r, n->line,
                                    "\"%s\" is not a known key, expected it nested, \"%.*s:\" and the rest "
                                    "below it",
                                    path, (int)strcspn(n->key, "."), n->key);
    if (other)
        return reader_complain_line(r, n->line, "\"%s\" is not a known key, did you mean \"%.*s%s\"?", path,
                                    (int)(strlen(path) - strlen(prefix) - strlen(n->key)), path, other);
    return reader_complain_line(r, n->line, "\"%s\" is not a known key, expected %s%s", path,
                                n_names > 1 ? "one of " : "", reader_words(r, names));
}

static void note_unknown(const struct reader *r, const struct node *n, const struct schema *schema)
{
    struct unknown_fields *u = r->unknown;
    char pointer[NODE_PATH_MAX];

    if (!u)
        return;
    for (size_t i = 0; i < u->n; i++) {
        if (u->items[i].what == schema->what && strcmp(u->items[i].name, n->key) == 0) {
            u->items[i].n++;
            return;
        }
    }
    if (u->n >= UNKNOWN_FIELDS_MAX) {
        u->more++;
        return;
    }
    u->items = arena_grow(r->a, u->items, u->n, &u->cap, sizeof *u->items);
    u->items[u->n++] = (struct unknown_field){
        .pointer = arena_strdup(r->a, node_path(n, pointer)),
        .what = schema->what,
        .name = arena_strdup(r->a, n->key),
        .n = 1,
    };
}

const char *reader_unknown_text(const struct unknown_field *u, struct arena *a)
{
    if (u->n == 1)
        return arena_printf(a, "%s: unknown field, ignored", u->pointer);
    return arena_printf(a, "%s: unknown field, ignored (as in %zu more of this kind)", u->pointer, u->n - 1);
}

/* ---- objects ---- */

/* Most files have fields in the table's order, so the search begins after the last field found. */
static const struct field *find_field(const struct schema *schema, const char *name, size_t *next)
{
    for (size_t i = 0; i < schema->n; i++) {
        size_t ix = *next + i < schema->n ? *next + i : *next + i - schema->n;

        if (strcmp(schema->fields[ix].name, name) == 0) {
            *next = ix + 1 < schema->n ? ix + 1 : 0;
            return &schema->fields[ix];
        }
    }
    return NULL;
}

static bool is_section(const struct schema *schema, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < schema->n; i++) {
        if (strncmp(schema->fields[i].name, name, len) == 0 && schema->fields[i].name[len] == '.')
            return true;
    }
    return false;
}

static int read_field(const struct reader *r, const struct node *n, const struct field *f, void *into)
{
    if (f->flags & FIELD_NULLABLE && node_is_null(n))
        return 0;
    if (f->given)
        *(bool *)((char *)into + f->given) = true;
    return reader_value(r, n, f, (char *)into + f->offset);
}

/* The fields below the prefix ("dpm."); *seen has a bit for each of the first fields of the table. */
static int read_members(const struct reader *r, const struct node *map, const struct schema *schema,
                        const char *prefix, void *into, uint64_t *seen)
{
    size_t next = 0;
    int e = 0;

    if (map->kind != NODE_MAP && ((map->json && !prefix[0]) || !node_is_null(map)))
        return reader_refuse(r, map, map->json ? "an object" : "a section");
    if (map->kind != NODE_MAP)
        return 0; /* all keys are commented out */
    for (const struct node *n = map->first; n && e == 0; n = n->next) {
        const char *name = prefix[0] ? arena_printf(r->a, "%s%.128s", prefix, n->key) : n->key;
        bool dotted = !n->json && strchr(n->key, '.');
        const struct field *f = dotted ? NULL : find_field(schema, name, &next);

        if (f) {
            if (f - schema->fields < REQUIRED_MAX)
                *seen |= (uint64_t)1 << (f - schema->fields);
            e = read_field(r, n, f, into);
        } else if (!dotted && is_section(schema, name)) {
            e = read_members(r, n, schema, arena_printf(r->a, "%s.", name), into, seen);
        } else if (n->json) {
            note_unknown(r, n, schema);
        } else {
            e = refuse_unknown(r, n, schema, prefix);
        }
        e = reader_note_mistake(r, e);
    }
    return e;
}

static int refuse_missing(const struct reader *r, const struct node *n, const char *name, const char *what)
{
    const struct node missing = node_absent(n, name);

    return reader_complain(r, &missing, "missing, expected it in every %s", what);
}

int reader_object(const struct reader *r, const struct node *n, const struct schema *schema, void *into)
{
    uint64_t seen = 0;
    int e = read_members(r, n, schema, "", into, &seen);

    for (size_t i = 0; i < schema->n && e == 0; i++) {
        if (!(schema->fields[i].flags & FIELD_REQUIRED))
            continue;
        assert(i < REQUIRED_MAX);
        if (!(seen >> i & 1))
            e = refuse_missing(r, n, schema->fields[i].name, schema->what);
    }
    return e;
}

int reader_set(const struct reader *r, const struct schema *schema, const char *path, const char *text,
               void *into)
{
    const char *dot = strchr(path, '.');
    size_t next = 0;
    const struct field *f = find_field(schema, path, &next);
    struct node root = {.kind = NODE_MAP, .n = 1};
    struct node section = {.kind = NODE_MAP, .up = &root, .n = 1};
    struct node value = {.kind = NODE_SCALAR, .up = &root, .key = path, .text = text, .plain = true};

    if (f)
        return reader_value(r, &value, f, (char *)into + f->offset);
    root.first = &value;
    if (dot) {
        root.first = &section;
        section.key = arena_strndup(r->a, path, (size_t)(dot - path));
        section.first = &value;
        value.up = &section;
        value.key = dot + 1;
    }
    return reader_object(r, &root, schema, into); /* says what is wrong with the path */
}
