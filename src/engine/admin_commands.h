/* admin_commands.h: checks that several commands share. */
#ifndef BALLAST_ENGINE_ADMIN_COMMANDS_H
#define BALLAST_ENGINE_ADMIN_COMMANDS_H

#include "engine/ports.h"

struct engine;

/* -EIO with a sentence: what was `done` holds all the same, but a restart would not know. */
int admin_command_not_stored(const struct engine *e, const char *done, struct err *err);

#endif
