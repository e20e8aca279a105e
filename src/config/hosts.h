/* hosts.h: the section power:, whose hosts have tables of their own. Inside config only. */
#ifndef BALLAST_CONFIG_HOSTS_H
#define BALLAST_CONFIG_HOSTS_H

#include "config/read.h"

/* Reads `power:` (NULL: it is not there), after all else was: the defaults first, then each host. */
int read_power(const struct reader *r, const struct node *power);

/* Whether the host is switched by it: it has it, and does not leave it out of its methods. */
bool power_is_used(const struct config_power_host *h, enum power_method_kind kind);

/* "[a, b]" */
const char *config_words_text(const char *const *words, struct arena *a);

/* "8.5"; NULL where it is not known. "[120, 310]"; NULL for none. */
const char *config_number_text(double v, struct arena *a);
const char *config_watts_text(const struct power_curve *c, struct arena *a);

/* All that is set, as one line; NULL for none. */
const char *power_hosts_text(const struct config_power_host *hosts, size_t n, struct arena *a);

/* What differs, for a log: how many hosts there were and are, and which have changed. */
void power_change_text(const struct config *old, const struct config *now, struct arena *a,
                       const char **ret_from, const char **ret_to);

/* Whether what stands in some file has changed, and not which file it is. */
bool power_secrets_changed(const struct config *old, const struct config *now);

/* Puts the hosts of `old` into `now`, copied to the arena. */
void power_keep(const struct config *old, struct config *now, struct arena *a);

#endif
