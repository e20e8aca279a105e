/* keys.c: the configuration keys of a vCenter (`source: kind: vsphere`). */
#include "collectors/vsphere/vsphere.h"

static const char *const url_schemes[] = {"https", "http", NULL};
static const char *const stats_words[] = {
    [VSPHERE_STATS_AUTO] = "auto",
    [VSPHERE_STATS_COUNTERS] = "counters",
    [VSPHERE_STATS_QUICK] = "quick",
    NULL,
};

static const struct field keys[] = {
    SOURCE_URL(url_schemes),
    SOURCE_KEY(username, FIELD_TEXT, .flags = FIELD_REQUIRED, .meaning = "the user to log in as"),
    SOURCE_PASSWORD_FILE(FIELD_REQUIRED | FIELD_REREAD),
    SOURCE_CA_FILE,
    SOURCE_KEY(tls_verify, FIELD_BOOL, .fallback = "true",
               .meaning = "false accepts any certificate; each start logs a warning"),
    SOURCE_CLUSTER("the cluster: its name, its path (/Datacenter/host/folder/name) or its id (domain-c8)"),
};

static const struct field settings[] = {
    FIELD_OF(struct vsphere_settings, stats, FIELD_WORD, .words = stats_words, .fallback = "auto",
             .meaning = "demand from performance counters, from quick stats, or from what the vCenter has"),
};

const struct source_kind vsphere_source = {
    .kind = "vsphere",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct vsphere_settings),
};
