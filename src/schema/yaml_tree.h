/* yaml_tree.h: a YAML file as a tree of nodes that know their lines.
 *
 * The tree holds one document of mappings, lists and scalars. Refused: aliases (and with them merge keys and
 * the "billion laughs"), tags, keys that are not scalars, duplicate keys, a second document, NUL bytes, and
 * files that are too deep or have too many values.
 */
#ifndef BALLAST_SCHEMA_YAML_TREE_H
#define BALLAST_SCHEMA_YAML_TREE_H

#include "schema/node.h"

#include <ballast/err.h>

/* -EINVAL with "FILE:LINE: ...". The tree lives in the arena. An empty file is an empty mapping. */
int yaml_tree_parse(const char *file, const char *text, size_t len, struct arena *a, struct node **ret,
                    struct err *err);

#endif
