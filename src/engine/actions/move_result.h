/* move_result.h: how long a move was expected to take, and took; what it was expected to do to its two hosts,
 * and what they showed ten minutes after it.
 *
 * The load of a host is what its VMs want, by their mean demand of five minutes and their own limits, as a
 * part of the host's capacity; what is above 1 is its shortage. It is predicted when the move begins, from
 * the VMs that the hosts have then and the moves that are approved by then, and observed with the first
 * inventory ten minutes after the move's end. If no inventory comes within another ten minutes (the service
 * was down, the source was lost), nothing is observed.
 *
 * A move that did harm is counted, unless it emptied a host (knowledge/failed_moves.h): many of them pause
 * such moves. */
#ifndef BALLAST_ENGINE_ACTIONS_MOVE_RESULT_H
#define BALLAST_ENGINE_ACTIONS_MOVE_RESULT_H

#include "engine/ports.h"

struct action;
struct engine;

/* The move begins: what both hosts will be like after it and the other approved moves. Nothing for other
 * actions. */
void move_result_predict(const struct engine *e, struct action *x);

/* The move is done: how long it took. */
void move_result_end(struct action *x);

/* A new inventory: observes the hosts of the moves that ended long enough ago. */
void move_result_observe(struct engine *e, instant_s now);

/* Whether an inventory may still observe the hosts of this move, which is done. */
bool move_result_is_awaited(const struct action_record *r, instant_s now);

/* Whether each load was observed within a fifth of what was predicted, or within 1 % of the host's capacity.
 * For results that were observed. */
bool move_result_agrees(const struct move_result *r);

/* How long the whole action takes, with what copying takes as a part: as predicted when it began (UNKNOWN: no
 * earlier migration has taught the overhead), and from its begin to its end. */
double move_result_predicted_action_s(const struct action_record *r);
double move_result_action_s(const struct action_record *r);

/* "took 7 s, copying 0.2 s; predicted: 6 s, copying 0.2 s", of a move that is done; "": it was not watched.
 */
const char *move_result_times(const struct action_record *r, struct arena *a);

/* The same of the duration, within a fifth; false where it is not known. */
bool move_result_duration_agrees(const struct move_result *r, double predicted_s);

/* Whether the move did harm: its hosts lack more than if the VM had stayed (1 % of capacity), or the VM lacks
 * a tenth more of its CPU demand than before, on a host that has room by its figures, so that the figures are
 * wrong. False where it is not known. */
bool move_result_harmed(const struct move_result *r);

/* The part of its load that the host cannot give. */
double move_result_shortage(double load);

#endif
