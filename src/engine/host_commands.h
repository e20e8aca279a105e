/* host_commands.h: parts of the commands on hosts, for maintenance_roll.c and approval.c. */
#ifndef BALLAST_ENGINE_HOST_COMMANDS_H
#define BALLAST_ENGINE_HOST_COMMANDS_H

#include "engine/engine.h"

/* The host as it was last seen, by its id or name; the cluster must be readable. */
int host_commands_find(const struct engine *e, const char *word, const struct host_facts **ret,
                       struct err *err);

/* As engine_maintenance(), without carrying on at once. */
int host_commands_enter_maintenance(struct engine *e, const char *host, const char *by, instant_s now,
                                    uint64_t *ret_id, struct err *err);

struct action;

/* The maintenance or the standby for which the service empties the host that the move leaves; NULL. */
struct action *host_commands_find_emptying(const struct engine *e, const struct action_record *move);

/* Stops it, with the moves that have not begun, because a person rejected this one. */
void host_commands_stop_emptying(struct engine *e, struct action *x, const struct action_record *move,
                                 const char *by, instant_s now);

#endif
