/* keys.c: the configuration keys of this kind of source, below `source:`. */
#include "collectors/skeleton/skeleton.h"

static const char *const url_schemes[] = {"https", "http", NULL};

static const struct field keys[] = {
    SOURCE_URL(url_schemes),
    SOURCE_CLUSTER("the name of the cluster at the source"),
};

/* Keys that no other source has go to a struct of its own: .settings and .settings_size (source.h). */
const struct source_kind skeleton_source = {
    .kind = "skeleton",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
};
