/* node.h: one value of a file, from YAML or from JSON.
 *
 * A file is a tree of nodes. YAML has text as scalars: the reader decides whether `5` is a number. A JSON
 * value already has its type. Every node knows its place in the file.
 */
#ifndef BALLAST_SCHEMA_NODE_H
#define BALLAST_SCHEMA_NODE_H

#include <ballast/arena.h>

#include <stdbool.h>
#include <stddef.h>

enum node_kind {
    NODE_MAP,
    NODE_LIST,
    NODE_SCALAR, /* text; in YAML also a number, a boolean or null */
    NODE_NUMBER,
    NODE_BOOL,
    NODE_NULL, /* these three: JSON only */
};

struct node {
    enum node_kind kind;
    bool plain;                /* YAML. NODE_SCALAR: not in quotes; NODE_MAP: not in braces */
    unsigned line;             /* YAML: the line of the key if there is one, else of the value; from 1 */
    const struct node *up;     /* the mapping or list around it; NULL: the document */
    const char *key;           /* in a mapping, else NULL */
    const char *former_key;    /* in the file, if key is its present name; else NULL */
    size_t ix;                 /* in a list: from 0 */
    const char *text;          /* NODE_SCALAR */
    double number;             /* NODE_NUMBER */
    bool truth;                /* NODE_BOOL */
    bool json;                 /* false: YAML */
    struct node *first, *next; /* children */
    size_t n;                  /* children */
};

/* A missing value, for an error about it. */
struct node node_absent(const struct node *in, const char *key);

/* The child with this key, or NULL. */
const struct node *node_child(const struct node *map, const char *key);

/* The node at the path, "dpm.windows", or NULL. */
const struct node *node_find(const struct node *map, const char *path);

/* Whether a mapping has the key. */
bool node_has(const struct node *map, const char *key);

/* YAML: whether both have the same values. The order of keys does not count, nor where they are. */
bool node_same(const struct node *x, const struct node *y);

/* null; in YAML also an empty value or ~. */
bool node_is_null(const struct node *n);

/* The value as text, number or boolean; NULL or false if it has another type. */
const char *node_text(const struct node *n);
bool node_number(const struct node *n, double *ret);
bool node_bool(const struct node *n, bool *ret);

/* The path: "vms.0.cpu" in YAML, a JSON pointer ("/vms/0/cpu") in JSON. Long paths are cut. */
#define NODE_PATH_MAX 256
const char *node_path(const struct node *n, char ret[NODE_PATH_MAX]);

/* The value for an error: `is "tru"`, `is a list` after a path, `"tru"`, `an array` after a pointer; cut to a
 * short length, without control characters. */
const char *node_shown(const struct node *n, struct arena *a);

#endif
