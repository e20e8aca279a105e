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
    {.name = "url",
     .type = FIELD_URL,
     .offset = offsetof(struct source_config, url),
     .words = url_schemes,
     .flags = FIELD_REQUIRED,
     .meaning = "the URL of the API"},
    {.name = "username",
     .type = FIELD_TEXT,
     .offset = offsetof(struct source_config, username),
     .flags = FIELD_REQUIRED,
     .meaning = "the user to log in as"},
    {.name = "password_file",
     .type = FIELD_SECRET,
     .offset = offsetof(struct source_config, password_file),
     .secret = offsetof(struct source_config, password),
     .flags = FIELD_REQUIRED | FIELD_REREAD,
     .meaning = "a file with the password on its only line; only the service should be able to read it"},
    {.name = "ca_file",
     .type = FIELD_PATH,
     .offset = offsetof(struct source_config, ca_file),
     .flags = FIELD_READABLE,
     .meaning = "PEM certificates of the authorities to trust; default: the system's"},
    {.name = "tls_verify",
     .type = FIELD_BOOL,
     .offset = offsetof(struct source_config, tls_verify),
     .fallback = "true",
     .meaning = "false accepts any certificate; each start logs a warning"},
    {.name = "cluster",
     .type = FIELD_TEXT,
     .offset = offsetof(struct source_config, cluster),
     .meaning = "the cluster: its name, its path (/Datacenter/host/folder/name) or its id (domain-c8)"},
};

static const struct field settings[] = {
    {.name = "stats",
     .type = FIELD_WORD,
     .offset = offsetof(struct vsphere_settings, stats),
     .words = stats_words,
     .fallback = "auto",
     .meaning = "demand from performance counters, from quick stats, or from what the vCenter has"},
};

const struct source_kind vsphere_source = {
    .kind = "vsphere",
    .keys = {"source", keys, sizeof keys / sizeof *keys},
    .settings = {"source", settings, sizeof settings / sizeof *settings},
    .settings_size = sizeof(struct vsphere_settings),
};
