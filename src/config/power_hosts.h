/* power_hosts.h: the section `power:`, whose hosts have tables of their own. Inside config only. */
#ifndef BALLAST_CONFIG_POWER_HOSTS_H
#define BALLAST_CONFIG_POWER_HOSTS_H

#include "config/section.h"

/* Reads `power:`, if present, after all other keys: the defaults first, then each host. */
int config_read_power(const struct section *s);

/* Whether this method switches the host: the host has the method, and `methods` does not leave it out. */
bool config_power_uses(const struct config_power_host *h, enum power_method_kind kind);

/* All set keys on one line; NULL for none. */
const char *config_power_text(const struct config_power_host *hosts, size_t n, struct arena *a);

/* The differences, for a log: the numbers of hosts before and after, and the names of changed hosts. */
void config_power_change_text(const struct config *old, const struct config *now, struct arena *a,
                              const char **ret_from, const char **ret_to);

/* Whether the content of a file has changed, under an unchanged path. */
bool config_power_secrets_changed(const struct config *old, const struct config *now, struct arena *a);

/* Puts the hosts of `old` into `now`, copied to the arena. */
void config_power_keep(const struct config *old, struct config *now, struct arena *a);

#endif
