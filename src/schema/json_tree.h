/* json_tree.h: a JSON text as a tree of nodes, as yaml_tree.h makes one of YAML.
 *
 * A list that may be long is not kept in the tree: its entries are handed over one by one, so that a snapshot
 * of a million VMs needs the memory of one.
 *
 * Refused with -EINVAL and "JSON-POINTER: line L, column C: what is there, expected ...": all that is not
 * JSON in UTF-8; a name given twice in an object; NUL in a text; whole numbers beyond 64 bits, and numbers
 * beyond a double; more than JSON_LEVELS_MAX levels. */
#ifndef BALLAST_SCHEMA_JSON_TREE_H
#define BALLAST_SCHEMA_JSON_TREE_H

#include "schema/json_text.h"
#include "schema/node.h"

#include <ballast/err.h>

#define JSON_LEVELS_MAX 2048

/* What to do with a list that is the document itself, or a member of the document. */
struct json_entries {
    /* Whether its entries are handed over; they are not in the tree then. The list has no entries yet. */
    bool (*taken)(void *context, const struct node *list);
    /* An entry, in the order of the text; its nodes and strings live until the return. */
    void (*entry)(void *context, const struct node *entry);
    void *context;
};

/* The tree lives in the arena. entries NULL: all is in the tree. Errors of the source keep their code. */
int json_tree_read(const struct json_source *source, const struct json_entries *entries, struct arena *a,
                   struct node **ret, struct err *err);

/* The whole text. */
int json_tree_parse(const char *text, struct arena *a, struct node **ret, struct err *err);

#endif
