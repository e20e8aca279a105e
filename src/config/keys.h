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

/* The keys below power.hosts.NAME; offsets in struct config_power_host. */
extern const struct config_key power_host_keys[];
extern const size_t n_power_host_keys;

#endif
