/* state.h: the parts of an engine. Each part is defined in its own header; only files that act on the whole
 * engine include this one. */
#ifndef BALLAST_ENGINE_STATE_H
#define BALLAST_ENGINE_STATE_H

#include "engine/engine.h"

struct engine {
    struct engine_ports port;
    struct engine_settings settings;
    char *cluster, *source_name;
    struct observation *now_seen; /* the newest inventory; NULL before the first */
    struct observation *awaits;   /* a newer one, about which external units are being asked; NULL: none */
    uint64_t changes;             /* approvals and new settings so far */
    bool paused;
    instant_s paused_since;
    char *paused_by;
    char *restored;    /* NOTE_RESTORED, until a person resumes; NULL: nothing is in doubt */
    char *unconfirmed; /* the setting that waits for a person (reclaim_confirm.h), a sentence; NULL: none */
    char *held_back;   /* why nothing but wakes is approved without a person, a sentence; NULL: it is */
    char *others_act;  /* the same, because others move its VMs (other_service.h) */
    instant_s others_acted; /* when they last did what was ours; 0: not that is known */
    instant_s ticked;       /* the last tick: actions are looked at again a while after it, however many
                               calls come in between */

    struct source_poll *poll;          /* source_poll.h */
    struct passes *passes;             /* decide.h */
    struct placements *placements;     /* placement.h */
    struct maintenance_roll *roll;     /* maintenance_roll.h */
    struct proofs *proofs;             /* proofs.h */
    struct four_eyes *four_eyes;       /* four_eyes.h */
    struct persist *persist;           /* persist.h */
    struct actions *actions;           /* actions/action.h */
    struct pool_updates *pool_updates; /* actions/pool_updates.h */
    struct knowledge *knowledge;       /* knowledge/knowledge.h */
};

#endif
