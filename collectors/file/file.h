/* file.h: a snapshot file as a source (`source: kind: file`), read anew at every pass. */
#ifndef BALLAST_COLLECTORS_FILE_H
#define BALLAST_COLLECTORS_FILE_H

#include <ballast/plugin.h>

/* Its own keys. */
struct file_settings {
    const char *file; /* the snapshot to read */
};

extern const struct source_kind file_source;
extern const struct collector_ops file_collector;
extern const struct plugin file_plugin;

#endif
