/* keys.c: the configuration keys of the fake cluster (`source: kind: sim`). */
#include "sim/fake_cluster/fake_cluster.h"

static const struct field keys[] = {
    SOURCE_CLUSTER("the name of the cluster"),
};

static const struct field settings[] = {
    {.name = "file",
     .type = FIELD_PATH,
     .offset = offsetof(struct fake_cluster_settings, file),
     .meaning = "a snapshot to begin with; a built-in cluster if not given"},
    {.name = "scenario",
     .type = FIELD_PATH,
     .offset = offsetof(struct fake_cluster_settings, scenario),
     .meaning =
         "instead of file: a scenario of ballast-simulate(5), whose loads change and whose faults happen"},
    {.name = "folder",
     .type = FIELD_PATH,
     .offset = offsetof(struct fake_cluster_settings, folder),
     .meaning = "a folder that keeps the state of the simulated cluster across restarts"},
    {.name = "speed",
     .type = FIELD_COUNT,
     .offset = offsetof(struct fake_cluster_settings, speed),
     .min = 1,
     .max = 10000,
     .fallback = "1",
     .meaning = "how many times faster than real time migrations, boots and the loads of a scenario are"},
};

const struct source_kind fake_cluster_source = {
    .kind = "sim",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct fake_cluster_settings),
};
