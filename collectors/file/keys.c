/* keys.c: the configuration keys of a snapshot file (`source: kind: file`). */
#include "collectors/file/file.h"

static const struct field keys[] = {
    FIELD_OF(struct file_settings, file, FIELD_PATH, .flags = FIELD_REQUIRED,
             .meaning = "the snapshot to read"),
};

const struct source_kind file_source = {
    .kind = "file",
    .settings = {"source", keys, sizeof keys / sizeof *keys},
    .settings_size = sizeof(struct file_settings),
};
