/* keys.c: the configuration keys of the fake cluster (`source: kind: sim`). */
#include "sim/fake_cluster/fake_cluster.h"

static const struct field keys[] = {
    SOURCE_CLUSTER("the name of the cluster"),
};

static const struct field settings[] = {
    FIELD_OF(struct fake_cluster_settings, file, FIELD_PATH,
             .meaning = "a snapshot to begin with; a built-in cluster if not given"),
    FIELD_OF(
        struct fake_cluster_settings, scenario, FIELD_PATH,
        .meaning =
            "instead of file: a scenario of ballast-simulate(5), whose loads change and whose faults happen"),
    FIELD_OF(struct fake_cluster_settings, folder, FIELD_PATH,
             .meaning = "a folder that keeps the state of the simulated cluster across restarts"),
    FIELD_OF(struct fake_cluster_settings, speed, FIELD_COUNT, .min = 1, .max = 10000, .fallback = "1",
             .meaning =
                 "how many times faster than real time migrations, boots and the loads of a scenario are"),
};

const struct source_kind fake_cluster_source = {
    .kind = "sim",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct fake_cluster_settings),
};
