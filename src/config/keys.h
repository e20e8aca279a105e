/* keys.h: the tables of keys, and the kinds of sources that there are. Inside config only. */
#ifndef BALLAST_CONFIG_KEYS_H
#define BALLAST_CONFIG_KEYS_H

#include "config/config.h"

/* What a kind of source asks for, and what it can make use of. */
#define USES_URL (1u << 0)
#define USES_LOGIN (1u << 1)
#define USES_TLS (1u << 2)
#define USES_CLUSTER (1u << 3)
#define USES_FILE (1u << 4)
#define USES_STATS (1u << 5)
#define USES_SPEED (1u << 6)

struct source_kind {
    const char *word;
    bool here; /* this version has it */
    unsigned needs, uses;
};

extern const struct source_kind source_kinds[]; /* a NULL word at the end */

/* What may stand below power.hosts.NAME; offsets in struct config_power_host. */
extern const struct schema power_host_schema;

/* The setting of a pass by its key; NULL: the key is none. */
const struct setting *config_setting(const char *key);

#endif
