/* source_kinds.c: the list of kinds, in the order of the documentation. */
#include "plugins/source_kinds.h"

#include "plugins/list.h"

#include <stddef.h>

#define DECLARE(name) extern const struct source_kind name##_source;
#define ADDRESS(name) &name##_source,

PLUGIN_LIST(DECLARE)

const struct source_kind *const source_kinds[] = {PLUGIN_LIST(ADDRESS) NULL};
