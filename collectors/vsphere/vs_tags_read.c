/* vs_tags_read.c: reads the answers about tags, and makes labels of them. It sends no request. */
#include "collectors/vsphere/vs_tags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 1024 /* vCenter takes 256 characters */

static const char *text_of(const json_t *o, const char *name)
{
    const char *s = json_string_value(json_object_get(o, name));

    return s && s[0] && strlen(s) <= NAME_MAX_BYTES ? s : NULL;
}

static int not_a(const char *what, struct err *err)
{
    return err_set(err, -EPROTO, "the answer about tags is no %s", what);
}

static bool read_ids(const json_t *list, struct arena *a, struct ids *ret)
{
    size_t n = json_array_size(list);
    const char **items = arena_array(a, const char *, n);

    if (list && !json_is_array(list) && !json_is_null(list))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *id = json_string_value(json_array_get(list, i));
        if (!id || !id[0])
            return false;
        items[i] = arena_strdup(a, id);
    }
    *ret = (struct ids){.items = items, .n = (uint32_t)n};
    return true;
}

int vs_tags_read_attached(const json_t *answer, struct arena *a, struct idmap *ret, struct err *err)
{
    /* the peer may leave out an empty list */
    if (!json_is_array(answer) && !json_is_null(answer))
        return not_a("list of objects", err);
    for (size_t i = 0; i < json_array_size(answer); i++) {
        const json_t *o = json_array_get(answer, i);
        const char *object = text_of(json_object_get(o, "object_id"), "id");
        struct ids *ids = arena_new(a, struct ids);

        if (!object || !read_ids(json_object_get(o, "tag_ids"), a, ids))
            return not_a("list of objects with their tags", err);
        *idmap_slot(ret, object) = ids;
    }
    return 0;
}

int vs_tags_read_tag(const json_t *answer, struct arena *a, struct vs_tag *ret, struct err *err)
{
    const char *name = text_of(answer, "name");
    const char *category = text_of(answer, "category_id");

    if (!name || !category)
        return not_a("tag", err);
    *ret = (struct vs_tag){.name = arena_strdup(a, name), .category = arena_strdup(a, category)};
    return 0;
}

int vs_tags_read_category(const json_t *answer, struct arena *a, struct vs_tag *ret, struct err *err)
{
    const char *name = text_of(answer, "name");

    if (!name)
        return not_a("category", err);
    *ret = (struct vs_tag){.name = arena_strdup(a, name)};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct vs_tag *x = a;
    const struct vs_tag *y = b;
    int c = strcmp(x->category, y->category);

    return c ? c : strcmp(x->name, y->name);
}

struct labels vs_tags_labels(struct vs_tag *tags, size_t n, struct arena *a)
{
    struct label *items = arena_array(a, struct label, n);
    uint32_t n_items = 0;

    if (n > 1)
        qsort(tags, n, sizeof *tags, compare);
    for (size_t i = 0; i < n; i++) {
        struct label *last = n_items > 0 ? &items[n_items - 1] : NULL;

        if (last && strcmp(last->key, tags[i].category) == 0)
            last->value = arena_printf(a, "%s;%s", last->value, tags[i].name);
        else
            items[n_items++] = (struct label){.key = arena_strdup(a, tags[i].category),
                                              .value = arena_strdup(a, tags[i].name)};
    }
    return (struct labels){.items = items, .n = n_items};
}
