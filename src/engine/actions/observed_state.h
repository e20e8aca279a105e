/* observed_state.h: where the newest inventory shows what an action is about. */
#ifndef BALLAST_ENGINE_ACTIONS_OBSERVED_STATE_H
#define BALLAST_ENGINE_ACTIONS_OBSERVED_STATE_H

#include <stdbool.h>

struct action;
struct hosts;
struct observation;
struct snapshot;

enum observed_state {
    AT_SOURCE, /* as before the action */
    AT_TARGET, /* as after it */
    ELSEWHERE, /* neither */
    GONE,      /* not in the inventory */
    NOT_SEEN,  /* its host is disconnected: nothing can be said */
};

/* By the newest inventory; there must be one. */
enum observed_state observed_state(const struct observation *seen, const struct hosts *hosts,
                                   const struct action *x);

/* Whether the newest inventory was asked for late enough to tell. */
bool observed_state_is_known(const struct observation *seen, const struct action *x);

bool observed_state_runs_on(const struct snapshot *s, const char *vm, const char *host);

#endif
