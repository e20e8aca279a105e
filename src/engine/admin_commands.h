/* admin_commands.h: checks that several commands share. */
#ifndef BALLAST_ENGINE_ADMIN_COMMANDS_H
#define BALLAST_ENGINE_ADMIN_COMMANDS_H

#include "engine/ports.h"

struct engine;

/* Whether the actuators can do that at all. -ENOTSUP with a sentence: no. */
int admin_command_check_operation(const struct engine *e, const struct action_record *r, struct err *err);
/* -EIO with a sentence: what was `done` holds all the same, but a restart would not know. */
int admin_command_not_stored(const struct engine *e, const char *done, struct err *err);

#endif
