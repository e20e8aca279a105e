/* source_kinds.c: the keys of all plug-ins. list.h lists them. */
#include "plugins/source_kinds.h"

#include "plugins/list.h"

#include <stddef.h>

#define DECLARE(name) extern const struct source_kind name##_source;
#define ADDRESS(name) &name##_source,

PLUGIN_LIST(DECLARE)

const struct source_kind *const source_kinds[] = {PLUGIN_LIST(ADDRESS) NULL};
