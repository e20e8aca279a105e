/* keys.c: the configuration keys of this kind of source, below `source:`. */
#include "collectors/skeleton/skeleton.h"

static const char *const url_schemes[] = {"https", "http", NULL};

static const struct field keys[] = {
    {.name = "url",
     .type = FIELD_URL,
     .offset = offsetof(struct source_config, url),
     .words = url_schemes,
     .flags = FIELD_REQUIRED,
     .meaning = "the URL of the API"},
    {.name = "cluster",
     .type = FIELD_TEXT,
     .offset = offsetof(struct source_config, cluster),
     .meaning = "the name of the cluster at the source"},
};

/* Keys that no other source has go to a struct of its own: .settings and .settings_size (source.h). */
const struct source_kind skeleton_source = {
    .kind = "skeleton",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
};
