/* keys.c: what the configuration says of a snapshot file (`source: kind: file`). */
#include "collectors/file/file.h"

static const struct field keys[] = {
    {.name = "file",
     .type = FIELD_PATH,
     .offset = offsetof(struct source_config, file),
     .flags = FIELD_REQUIRED,
     .meaning = "the snapshot to read"},
};

const struct source_kind file_source = {"file", {"source", keys, sizeof keys / sizeof *keys}};
