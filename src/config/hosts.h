/* hosts.h: the section power:, whose hosts have tables of their own. Inside config only. */
#ifndef BALLAST_CONFIG_HOSTS_H
#define BALLAST_CONFIG_HOSTS_H

#include "config/section.h"

/* Reads `power:`, where it is there, after all else was: the defaults first, then each host. */
int config_read_power(const struct section *s);

/* Whether the host is switched by it: it has it, and does not leave it out of its methods. */
bool config_power_uses(const struct config_power_host *h, enum power_method_kind kind);

/* All that is set, as one line; NULL for none. */
const char *config_power_text(const struct config_power_host *hosts, size_t n, struct arena *a);

/* What differs, for a log: how many hosts there were and are, and which have changed. */
void config_power_change_text(const struct config *old, const struct config *now, struct arena *a,
                              const char **ret_from, const char **ret_to);

/* Whether what stands in some file has changed, and not which file it is. */
bool config_power_secrets_changed(const struct config *old, const struct config *now, struct arena *a);

/* Puts the hosts of `old` into `now`, copied to the arena. */
void config_power_keep(const struct config *old, struct config *now, struct arena *a);

#endif
