/* pool_settings.h: what pools have on the hosts (§3.1.7), as far as we set it.
 *
 * A source that sees what its hosts have is believed; of others the engine remembers what it set. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_POOL_SETTINGS_H
#define BALLAST_ENGINE_KNOWLEDGE_POOL_SETTINGS_H

#include "engine/knowledge/knowledge.h"

extern const struct knowledge_ops pool_settings_ops;

/* gone: nothing is set there any more. dirty: the store does not know it yet. */
void pool_settings_remember(struct known_pool_settings *all, const char *host, const char *pool,
                            const struct alloc alloc[RES_COUNT], bool gone, bool dirty);
/* A pool that was deleted took its settings along. */
void pool_settings_forget_deleted(struct known_pool_settings *all, const struct snapshot *s);

#endif
