/* plugins.c: finds the plug-in of a kind of source, in list.h. */
#include "plugins/plugins.h"

#include "plugins/list.h"

#include <stddef.h>
#include <string.h>

#define DECLARE(name) extern const struct plugin name##_plugin;
#define ADDRESS(name) &name##_plugin,

PLUGIN_LIST(DECLARE)

static const struct plugin *const all[] = {PLUGIN_LIST(ADDRESS)};

const struct plugin *plugins_find(const char *kind)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i]->collector->kind, kind) == 0)
            return all[i];
    }
    return NULL;
}
