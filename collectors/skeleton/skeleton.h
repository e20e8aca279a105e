/* skeleton.h: a whole collector in one file, for a hypervisor that does not exist. Copy it to begin one. */
#ifndef BALLAST_COLLECTORS_SKELETON_H
#define BALLAST_COLLECTORS_SKELETON_H

#include <ballast/plugin.h>

extern const struct source_kind skeleton_source;
extern const struct collector_ops skeleton_collector;
extern const struct plugin skeleton_plugin;

#endif
