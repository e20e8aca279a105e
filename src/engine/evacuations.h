/* evacuations.h: mandatory moves that failed because of what may pass: a pass runs when each may be tried
 * again. */
#ifndef BALLAST_ENGINE_EVACUATIONS_H
#define BALLAST_ENGINE_EVACUATIONS_H

#include "engine/engine.h"

/* The next pass runs no later than the end of the first such wait. Call it whenever the time of the next pass
 * was set anew, and when such a move has failed. */
void evacuations_want_pass(struct engine *e, instant_s now);

#endif
