/* rejection_key.h: what a rejected move is remembered by, beside its VM: the purpose of the move. It stands
 * where other entries of failed_moves.h have a host, and no host has such an id. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_REJECTION_KEY_H
#define BALLAST_ENGINE_KNOWLEDGE_REJECTION_KEY_H

#include "engine/ports.h"

#define REJECTION_KEY_MAX 64

/* Written to ret, and returned; "": such actions are not remembered. */
const char *rejection_key(const struct action_record *r, char ret[REJECTION_KEY_MAX]);

/* The word of the reason in a key; NULL: it is none. Points into the key. */
const char *rejection_key_reason(const char *key);

#endif
