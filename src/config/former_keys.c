/* former_keys.c: renames former keys in the tree, or takes them out, before any other reader. */
#include "config/sections.h"

#include <string.h>

/* Both names are in one section; `key` is the last part of the present name. */
static const struct {
    const char *path, *key;
} former[] = {
    {"history.mb", "passes_mb"},
};

/* The child at the path "a.b", which may be renamed; *ret_in: the mapping that holds it. */
static struct node *find(struct node *map, const char *path, struct node **ret_in)
{
    size_t len = strcspn(path, ".");

    *ret_in = map;
    for (struct node *n = map->kind == NODE_MAP ? map->first : NULL; n; n = n->next) {
        if (strncmp(n->key, path, len) == 0 && n->key[len] == '\0')
            return path[len] ? find(n, path + len + 1, ret_in) : n;
    }
    return NULL;
}

static void take_out(struct node *map, struct node *n)
{
    struct node **at = &map->first;

    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    map->n--;
}

static void take_out_settings(const struct section *s, struct node *root)
{
    for (size_t i = policy_settings.n; i < policy_recorded.n; i++) {
        const char *key = policy_recorded.fields[i].name;
        struct node *in;
        struct node *n = find(root, key, &in);

        if (!n)
            continue;
        section_warn(s, n->line, POLICY_FORMER_SETTING_WARNING, key);
        take_out(in, n);
    }
}

int former_keys_rename(const struct section *s, struct node *root)
{
    take_out_settings(s, root);
    for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); i++) {
        struct node *in;
        struct node *n = find(root, former[i].path, &in);

        if (!n)
            continue;
        if (node_child(n->up, former[i].key))
            return reader_complain_line(&s->reader, n->line, "%s is called %s now, expected one of them",
                                        former[i].path, former[i].key);
        section_warn(s, n->line, "%s is called %s now", former[i].path, former[i].key);
        n->former_key = n->key;
        n->key = former[i].key;
    }
    return 0;
}
