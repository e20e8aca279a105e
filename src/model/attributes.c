/* attributes.c: typed values by name: read, checked, written and found. */
#include "model/attributes.h"

#include "base/order.h"

#include <ballast/facts.h>

#include <errno.h>
#include <math.h>
#include <string.h>

static int read_text(const struct reader *r, const struct node *n, const char **ret)
{
    const char *text = node_text(n);

    if (!text)
        return reader_refuse(r, n, "a text");
    if (strlen(text) > FACT_NAME_BYTES_MAX)
        return reader_complain(r, n, "%s%zu bytes, expected at most %d", n->json ? "" : "has ", strlen(text),
                               FACT_NAME_BYTES_MAX);
    *ret = arena_strdup(r->a, text);
    return 0;
}

static int read_texts(const struct reader *r, const struct node *list, struct value *ret)
{
    const char **items = arena_array(r->a, const char *, list->n);
    uint32_t i = 0;
    int e = 0;

    if (list->n > ATTRIBUTE_TEXTS_MAX)
        return reader_complain(r, list, "%s%zu texts, expected at most %d", list->json ? "" : "has ", list->n,
                               ATTRIBUTE_TEXTS_MAX);
    for (const struct node *n = list->first; n && e == 0; n = n->next)
        e = read_text(r, n, &items[i++]);
    *ret = (struct value){.type = VALUE_TEXTS, .texts = {items, i}};
    return e;
}

/* A number, a truth or a text. */
int attributes_read_value(const struct reader *r, const struct node *n, struct value *ret)
{
    struct value v = {.type = VALUE_TEXT};

    if (n->kind == NODE_MAP || n->kind == NODE_LIST || node_is_null(n))
        return reader_refuse(r, n, "a number, a text, true or false");
    if (node_bool(n, &v.truth)) {
        v.type = VALUE_TRUTH;
    } else if (node_number(n, &v.number)) {
        v.type = VALUE_NUMBER;
        v.number += 0.0; /* no negative zero */
    } else {
        int e = read_text(r, n, &v.text);
        if (e < 0)
            return e;
    }
    *ret = v;
    return 0;
}

int attributes_read(const struct reader *r, const struct node *map, void *at)
{
    struct attributes *ret = at;
    uint32_t i = 0;
    int e = 0;

    if (map->kind != NODE_MAP)
        return reader_refuse(r, map, "{NAME: VALUE, ...}");
    if (map->n > ATTRIBUTES_MAX)
        return reader_complain(r, map, "%s%zu entries, expected at most %d", map->json ? "" : "has ", map->n,
                               ATTRIBUTES_MAX);
    struct attribute *items = arena_array(r->a, struct attribute, map->n);

    for (const struct node *n = map->first; n && e == 0; n = n->next, i++) {
        items[i].name = arena_strdup(r->a, n->key);
        if (!inventory_check_is_name(n->key))
            return reader_complain(r, n, "a name of %zu bytes, expected 1 to %d", strlen(n->key),
                                   FACT_NAME_BYTES_MAX);
        e = n->kind == NODE_LIST ? read_texts(r, n, &items[i].is) : attributes_read_value(r, n, &items[i].is);
    }
    *ret = (struct attributes){.items = items, .n = i};
    return e;
}

void attributes_write_value(struct json_writer *w, const char *key, const struct value *v)
{
    switch (v->type) {
    case VALUE_TRUTH:
        jw_bool(w, key, v->truth);
        return;
    case VALUE_NUMBER:
        jw_exact(w, key, v->number);
        return;
    case VALUE_TEXT:
    case VALUE_PARTS:
        jw_text(w, key, v->text);
        return;
    case VALUE_TEXTS:
        jw_texts(w, key, v->texts.items, v->texts.n, JW_INLINE);
        return;
    case VALUE_ABSENT:
        break;
    }
    jw_text(w, key, NULL);
}

void attributes_write(struct json_writer *w, const char *key, const void *at)
{
    const struct attributes *of = at;

    jw_begin(w, key, JW_OBJECT, JW_INLINE);
    for (uint32_t i = 0; i < of->n; i++)
        attributes_write_value(w, of->items[i].name, &of->items[i].is);
    jw_end(w);
}

struct value attributes_copy_value(const struct value *v, struct arena *a)
{
    struct value copy = *v;

    if (v->type == VALUE_TEXT)
        copy.text = arena_strdup(a, v->text);
    if (v->type == VALUE_TEXTS)
        copy.texts.items = arena_texts(a, v->texts.items, v->texts.n);
    return copy;
}

void attributes_copy(const void *from, void *to, struct arena *a)
{
    const struct attributes *of = from;
    struct attributes *ret = to;
    struct attribute *items = arena_array(a, struct attribute, of->n);

    for (uint32_t i = 0; i < of->n; i++)
        items[i] = (struct attribute){arena_strdup(a, of->items[i].name),
                                      attributes_copy_value(&of->items[i].is, a)};
    *ret = (struct attributes){.items = items, .n = of->n};
}

bool attributes_known(const void *at)
{
    return ((const struct attributes *)at)->n > 0;
}

struct value attributes_find(const struct attributes *of, const char *name)
{
    uint32_t from = 0;
    uint32_t to = of->n;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        int order = strcmp(of->items[middle].name, name);

        if (order == 0)
            return of->items[middle].is;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return (struct value){.type = VALUE_ABSENT};
}

/* ---- in an inventory ---- */

int attributes_check(const struct place *at, const char *field, const struct attributes *of)
{
    if (of->n > ATTRIBUTES_MAX)
        return inventory_check_refuse(at, field, "%u entries, expected at most %d", of->n, ATTRIBUTES_MAX);
    for (uint32_t i = 0; i < of->n; i++) {
        const struct attribute *x = &of->items[i];

        if (!inventory_check_is_name(x->name))
            return inventory_check_refuse(at, field, "entry %u has no name of 1 to %d bytes", i,
                                          FACT_NAME_BYTES_MAX);
        if (x->is.type == VALUE_ABSENT || x->is.type == VALUE_PARTS ||
            (x->is.type == VALUE_NUMBER && !isfinite(x->is.number)))
            return inventory_check_refuse(at, field,
                                          "\"%s\" has no value, expected a number, a text, true, "
                                          "false or texts",
                                          x->name);
    }
    return 0;
}

int attributes_sort(const struct place *at, const char *field, struct attributes *of, struct arena *a)
{
    const void *items = of->items;
    int r = inventory_check_sort(at, field, of->items, of->n, sizeof *of->items, a, &items);

    of->items = items;
    return r;
}
