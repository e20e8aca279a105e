/* keys.h: the tables of keys. Inside config only. */
#ifndef BALLAST_CONFIG_KEYS_H
#define BALLAST_CONFIG_KEYS_H

#include "config/config.h"

/* The offset of the kind's own settings in config.source_settings. */
size_t config_source_settings_at(const struct source_kind *kind);

/* The words of all kinds, NULL at the end. */
const char *const *config_source_words(struct arena *a);

/* The keys below power.hosts.NAME; offsets in struct config_power_host. */
struct schema config_power_keys(struct arena *a);

/* All keys of all kinds, to know what one can hold: the top level's, then those of hosts and alarms. */
struct schema config_all_keys(struct arena *a);

/* The keys below alarms.NAME; offsets in struct config_alarm. */
extern const struct schema config_alarm_keys;

#endif
