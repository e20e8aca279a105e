/* action_json.h: an action as JSON, for replies and events. README.md has the fields. */
#ifndef BALLAST_DAEMON_REPLIES_ACTION_JSON_H
#define BALLAST_DAEMON_REPLIES_ACTION_JSON_H

#include "base/json_writer.h"
#include "engine/ports.h"

/* s: maps ids to names; NULL before the first inventory. */
void action_json(struct json_writer *w, const char *key, const struct snapshot *s,
                 const struct action_record *r);

/* The members only, for a caller that adds more to the object. */
void action_json_fields(struct json_writer *w, const struct snapshot *s, const struct action_record *r);

#endif
