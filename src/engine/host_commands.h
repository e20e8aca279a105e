/* host_commands.h: parts of the commands on hosts, for maintenance_roll.c. */
#ifndef BALLAST_ENGINE_HOST_COMMANDS_H
#define BALLAST_ENGINE_HOST_COMMANDS_H

#include "engine/engine.h"

/* The host as it was last seen, by its id or name; the cluster must be readable. */
int host_commands_find(const struct engine *e, const char *word, const struct host_facts **ret,
                       struct err *err);

/* As engine_maintenance(), without carrying on at once. */
int host_commands_enter_maintenance(struct engine *e, const char *host, const char *by, instant_s now,
                                    uint64_t *ret_id, struct err *err);

#endif
