/* source_kinds.h: the kinds of sources that are compiled in, as the configuration knows them. Apart from
 * plugins.h, so that a program that only checks a configuration needs none of the plug-ins' libraries. */
#ifndef BALLAST_PLUGINS_SOURCE_KINDS_H
#define BALLAST_PLUGINS_SOURCE_KINDS_H

#include <ballast/source.h>

/* All of them, NULL at the end. */
extern const struct source_kind *const source_kinds[];

#endif
