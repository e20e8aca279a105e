/* observation.h: an inventory as passes and actions see it: completed with what is known, and made a
 * snapshot. */
#ifndef BALLAST_ENGINE_OBSERVATION_H
#define BALLAST_ENGINE_OBSERVATION_H

#include "engine/engine.h"

/* An inventory, made a snapshot. Shared by "now" and "the last pass", so it is counted. */
struct observation {
    unsigned references;
    struct collected seen;
    struct snapshot snap;
    uint64_t serial;
    instant_s asked; /* when the inventory was asked for: nothing in it is older */
    struct plan plan;
    bool decided;               /* plan is there */
    double reserved[RES_COUNT]; /* of the VMs that run; see power_preconditions.c */
    bool reserved_known;
    instant_s received;
    struct overlay_findings overlay_findings;
    struct collected answers; /* of external units */
    instant_s units_asked;    /* 0: none were */
    uint64_t changes;         /* of the engine, when they were asked; outdated: it has others since */
    bool outdated;
    struct fit *fit; /* its pipelines; NULL: not compiled yet */
};

/* Demand, cool-downs, moves under way, all that is known: then the snapshot. Takes over *collected. */
int observation_build(struct engine *e, struct collected *collected, uint64_t serial, instant_s now,
                      struct observation **ret, struct err *err);
/* Keeps with the snapshot the settings that are decided with. */
void observation_set_policy(struct observation *v, const struct policy *policy);
void observation_unref(struct observation *v);

#endif
