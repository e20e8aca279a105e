/* vs_labels.c: custom attributes, tags and folders as labels and paths; tags of hosts as groups. */
#include "collectors/vsphere/vs_labels.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* folders in folders */

static struct vs_inventory_custom read_list(const xml_node *list, const char *item, const char *text,
                                            struct arena *a)
{
    struct vs_inventory_custom all = {0};
    struct vs_inventory_custom_value *items = NULL;
    size_t cap = 0;

    for (const xml_node *n = xml_child(list, item); n; n = xml_again(n)) {
        const char *value = xml_text(xml_child(n, text), a);
        int64_t key;

        if (!value || !value[0] || xml_int(xml_child(n, "key"), &key) < 0)
            continue;
        items = arena_grow(a, items, all.n, &cap, sizeof *items);
        items[all.n++] = (struct vs_inventory_custom_value){.key = key, .text = value};
    }
    all.items = items;
    return all;
}

struct vs_inventory_custom vs_labels_read(const xml_node *list, struct arena *a)
{
    return read_list(list, "CustomFieldValue", "value", a);
}

struct vs_inventory_custom vs_labels_fields(const xml_node *list, struct arena *a)
{
    return read_list(list, "CustomFieldDef", "name", a);
}

static const char *find_text(const struct vs_inventory_custom *c, int64_t key)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].key == key)
            return c->items[i].text;
    return NULL;
}

static struct label *find_label(struct label *items, uint32_t n, const char *key)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(items[i].key, key) == 0)
            return &items[i];
    return NULL;
}

/* A name that two attributes have (one of VMs, one of all objects) is a label once. A category of tags with
 * the name of an attribute adds its tags to the attribute's value, as if it were one of them. */
static struct labels labels_of(const struct vs_inventory *s, const struct vs_inventory_custom *c,
                               const struct labels *tags)
{
    struct label *items = arena_array(s->arena, struct label, c->n + tags->n);
    uint32_t n = 0;

    for (size_t i = 0; i < c->n; i++) {
        const char *name = find_text(&s->fields, c->items[i].key);

        if (name && !find_label(items, n, name))
            items[n++] = (struct label){.key = name, .value = c->items[i].text};
    }
    for (uint32_t i = 0; i < tags->n; i++) {
        const struct label *t = &tags->items[i];
        struct label *same = find_label(items, n, t->key);

        if (same)
            same->value = arena_printf(s->arena, "%s;%s", same->value, t->value);
        else
            items[n++] = (struct label){.key = arena_strdup(s->arena, t->key),
                                        .value = arena_strdup(s->arena, t->value)};
    }
    return (struct labels){.items = items, .n = n};
}

static const struct vs_inventory_folder *find_folder(const struct vs_inventory *s, const char *id)
{
    for (size_t i = 0; id && i < s->n_folders; i++)
        if (strcmp(s->folders[i].id, id) == 0)
            return &s->folders[i];
    return NULL;
}

/* From below the datacenter's own folder, whose parent is no folder: "/prod/db", or "/" for that one. NULL: a
 * VM in a vApp, or a folder that may not be read. */
static const char *path_of(const struct vs_inventory *s, const char *id)
{
    const struct vs_inventory_folder *f = find_folder(s, id);
    const struct vs_inventory_folder *up;
    const char *path = "";

    for (int depth = 0; f && depth < DEPTH_MAX && (up = find_folder(s, f->parent)) != NULL; depth++, f = up)
        path = arena_printf(s->arena, "/%s%s", f->name ? f->name : f->id, path);
    return !f ? NULL : path[0] ? path : "/";
}

/* ---- groups ---- */

/* A host has a tag of a category. */
struct tagged {
    const char *category, *tag, *host;
    size_t host_ix;
};

static int by_tag(const void *a, const void *b)
{
    const struct tagged *x = a;
    const struct tagged *y = b;
    int c = strcmp(x->category, y->category);

    if (c == 0)
        c = strcmp(x->tag, y->tag);
    return c != 0 ? c : (x->host_ix > y->host_ix) - (x->host_ix < y->host_ix);
}

/* The tags of a label, which has several of one category with ; between. */
static void add_tagged(const struct vs_inventory_host *host, size_t ix, const struct label *label,
                       struct arena *a, struct tagged **items, size_t *n, size_t *cap)
{
    char *rest = arena_strdup(a, label->value);

    for (char *tag = strsep(&rest, ";"); tag; tag = strsep(&rest, ";")) {
        if (!tag[0])
            continue;
        *items = arena_grow(a, *items, *n, cap, sizeof **items);
        (*items)[(*n)++] =
            (struct tagged){.category = label->key, .tag = tag, .host = host->id, .host_ix = ix};
    }
}

static void map_groups_of_tags(const struct vs_inventory *s, struct inventory *inv)
{
    CLEANUP(arena_releasep) struct arena work = {0};
    struct tagged *items = NULL;
    size_t n = 0;
    size_t cap = 0;

    for (size_t i = 0; i < s->n_hosts; i++)
        for (uint32_t k = 0; k < s->hosts[i].tags.n; k++)
            add_tagged(&s->hosts[i], i, &s->hosts[i].tags.items[k], &work, &items, &n, &cap);
    if (n > 0)
        qsort(items, n, sizeof *items, by_tag);
    for (size_t i = 0, next; i < n; i = next) {
        const struct tagged *first = &items[i];
        const char **hosts = arena_array(s->arena, const char *, n - i);
        uint32_t n_hosts = 0;

        for (next = i; next < n && strcmp(items[next].category, first->category) == 0 &&
                       strcmp(items[next].tag, first->tag) == 0;
             next++)
            if (next == i || items[next].host_ix != items[next - 1].host_ix)
                hosts[n_hosts++] = items[next].host;
        const char *kind = arena_printf(s->arena, "%s%s", GROUP_KIND_OF_TAGS, first->category);

        if (strlen(kind) > FACT_NAME_BYTES_MAX)
            continue;
        struct seen_group *g = inventory_add_group(inv, s->arena);

        g->is = (struct group_facts){.id = arena_printf(s->arena, "%s:%s", kind, first->tag),
                                     .name = arena_strdup(s->arena, first->tag),
                                     .kind = kind};
        g->hosts = (struct ids){.items = hosts, .n = n_hosts};
    }
}

void vs_labels_map(const struct vs_inventory *s, const bool *kept, struct inventory *inv)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_hosts; i++)
        inv->hosts[i].is.labels = labels_of(s, &s->hosts[i].custom, &s->hosts[i].tags);
    for (size_t i = 0; i < s->n_vms; i++) {
        if (!kept[i])
            continue;
        inv->vms[n].is.labels = labels_of(s, &s->vms[i].custom, &s->vms[i].tags);
        inv->vms[n++].is.folder = path_of(s, s->vms[i].folder);
    }
    map_groups_of_tags(s, inv);
}
