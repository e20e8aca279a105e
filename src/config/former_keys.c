/* former_keys.c: renames former keys in the tree, before any other reader. */
#include "config/former_keys.h"

#include <string.h>

/* Both names are in one section; `key` is the last part of the present name. */
static const struct {
    const char *path, *key;
} former[] = {
    {"history.mb", "passes_mb"},
};

/* The child at the path "a.b", which may be renamed. */
static struct node *find(struct node *map, const char *path)
{
    size_t len = strcspn(path, ".");

    for (struct node *n = map->kind == NODE_MAP ? map->first : NULL; n; n = n->next) {
        if (strncmp(n->key, path, len) == 0 && n->key[len] == '\0')
            return path[len] ? find(n, path + len + 1) : n;
    }
    return NULL;
}

int former_keys_rename(const struct section *s, struct node *root)
{
    for (size_t i = 0; i < sizeof(former) / sizeof(former[0]); i++) {
        struct node *n = find(root, former[i].path);

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
