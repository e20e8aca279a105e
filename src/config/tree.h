/* tree.h: a YAML file as a small tree that knows its lines.
 *
 * Only what a configuration needs: one document of mappings, lists and scalars. Aliases (and with them merge
 * keys and the "billion laughs"), tags, keys that are not scalars, duplicate keys, a second document, NUL
 * bytes, and files that are too deep or have too many values are refused. Which type a scalar has is left to
 * the reader; whether it was written plainly or in quotes is kept. */
#ifndef BALLAST_CONFIG_TREE_H
#define BALLAST_CONFIG_TREE_H

#include <ballast/arena.h>
#include <ballast/err.h>

#include <stdbool.h>
#include <stddef.h>

enum node_kind { NODE_SCALAR, NODE_MAP, NODE_LIST };

struct node {
    enum node_kind kind;
    unsigned line;    /* of the key where there is one, else of the value; from 1 */
    const char *key;  /* in a mapping */
    const char *text; /* NODE_SCALAR */
    bool plain;       /* NODE_SCALAR: not in quotes */
    struct node *first, *next;
    size_t n; /* children */
};

/* -EINVAL with "FILE:LINE: ...". The tree lives in the arena. An empty file is an empty mapping. */
int tree_parse(const char *file, const char *text, size_t len, struct arena *a, struct node **ret,
               struct err *err);

/* The child with this key, or NULL. */
const struct node *tree_child(const struct node *map, const char *key);

/* Whether the scalar stands for nothing: empty, ~ or null. */
bool node_is_null(const struct node *n);

#endif
