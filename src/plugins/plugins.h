/* plugins.h: every kind of source that is compiled in. */
#ifndef BALLAST_PLUGINS_H
#define BALLAST_PLUGINS_H

#include <ballast/plugin.h>

/* The plug-in for the word after `source: kind:`; NULL: there is none. */
const struct plugin *plugins_find(const char *kind);

#endif
