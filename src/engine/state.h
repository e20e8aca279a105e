/* state.h: what an engine consists of. Each part has a header of its own, which defines it; only the rooms
 * that decide and act share this one. */
#ifndef BALLAST_ENGINE_STATE_H
#define BALLAST_ENGINE_STATE_H

#include "engine/engine.h"

struct engine {
    struct engine_ports port;
    struct engine_settings settings;
    char *cluster, *source_name;
    struct observation *now_seen; /* the newest inventory; NULL before the first */
    bool paused;
    instant_s paused_since;
    instant_s ticked; /* the last tick: the next look at actions is due a while after it, however often
                         somebody asks meanwhile */

    struct source_poll *poll;          /* source_poll.h */
    struct passes *passes;             /* decide.h */
    struct placements *placements;     /* placement.h */
    struct persist *persist;           /* persist.h */
    struct actions *actions;           /* actions/action.h */
    struct pool_updates *pool_updates; /* actions/pool_updates.h */
    struct knowledge *knowledge;       /* knowledge/knowledge.h */
};

#endif
