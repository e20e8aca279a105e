/* source_kinds.h: the compiled-in kinds of sources with their configuration keys. Separate from plugins.h,
 * so that a program that only checks a configuration needs no plug-in's libraries. */
#ifndef BALLAST_PLUGINS_SOURCE_KINDS_H
#define BALLAST_PLUGINS_SOURCE_KINDS_H

#include <ballast/source.h>

/* All kinds, NULL at the end. */
extern const struct source_kind *const source_kinds[];

#endif
