/* demand_history.h: what each VM wanted over the last hour.
 *
 * The windows of a snapshot (5, 40 and 60 minutes; dpm.low_s instead of 40, and of 5 if shorter) are made
 * from samples that the engine took itself, each with the weight of one. Samples are at least
 * DEMAND_HISTORY_SPACING_S apart, less than the minute between looks by so much that five minutes always have
 * enough of them for demand_correlation.h; what comes sooner is not kept, but the present demand always takes
 * part in the windows. Looks come sooner while migrations end and hosts wake: were all of them kept, such
 * minutes would weigh several times as much as the others, and ten quiet ones outweigh thirty busy ones. What
 * was not observed is not made up: the windows cover what there is, and a VM that has just been met has
 * windows of its present demand.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_DEMAND_HISTORY_H
#define BALLAST_ENGINE_KNOWLEDGE_DEMAND_HISTORY_H

#include "engine/ports.h"

#include <ballast/facts.h>

#include <stdbool.h>

#define DEMAND_HISTORY_LENGTH_S 3600
#define DEMAND_HISTORY_SPACING_S 40
#define DEMAND_HISTORY_ENOUGH_S 1800
/* What rises more slowly is met by wakes: about the time until a pass sees it and the host has booted. */
#define DEMAND_HISTORY_RISE_S 600

struct demand_history;
struct demand_correlation;

struct demand_history *demand_history_new(void);
void demand_history_free(struct demand_history *h);

/* Adds one; whether it was kept. Refused: one older than, or too close to, the newest of its VM. */
bool demand_history_add(struct demand_history *h, const char *vm, instant_s time,
                        const double demand[RES_COUNT]);

/* Mean, population standard deviation, least and most of each window that ends now, and how long the recent
 * levels have lasted: back to the first sample that was away from the present level by more than a quarter of
 * it (and by more than a small absolute amount). A VM whose level has not changed since it was first seen,
 * less than DEMAND_HISTORY_ENOUGH_S ago, has not been watched for long enough to say: UNKNOWN. ret has
 * WINDOW_COUNT rows. low_s: dpm.low_s, the length of WINDOW_40M. all: where the VM is added to what all of
 * them do (demand_correlation.h), or NULL. */
void demand_history_describe(const struct demand_history *h, const char *vm, instant_s now, instant_s low_s,
                             const double demand[RES_COUNT], struct demand_correlation *all,
                             struct demand_stats ret[][RES_COUNT], double *ret_stable_s);

/* How much each VM's demand usually varies within an hour: the standard deviation about its mean of the hour,
 * over the last day or since it was first seen, raised as much as so few hours leave open. An hour by itself
 * shows too little of VMs whose demand comes in rare bursts. UNKNOWN: not watched yet. */
void demand_history_deviation(const struct demand_history *h, const char *vm, double ret[RES_COUNT]);

/* Takes note of how much each VM's demand has risen, or fallen, within DEMAND_HISTORY_RISE_S, if all of these
 * together rose more than at any look of the last hours. vms: those of which a look added a sample. */
void demand_history_look(struct demand_history *h, const struct sample_record *vms, size_t n, instant_s now);

/* How much the VM's demand rose when that of all VMs rose most, over the last day. UNKNOWN: it was not there,
 * or they never rose. */
void demand_history_rise(const struct demand_history *h, const char *vm, instant_s now,
                         double ret[RES_COUNT]);

/* For how many seconds until now the cluster has been watched without a gap longer than gap_s: of the VM of
 * which that holds the longest, DEMAND_HISTORY_LENGTH_S at most. */
instant_s demand_history_watched_s(const struct demand_history *h, instant_s now, instant_s gap_s);

/* The VM's demand when that was last known, within the last DEMAND_HISTORY_LENGTH_S; false: it is not known.
 */
bool demand_history_last(const struct demand_history *h, const char *vm, instant_s now,
                         double ret_demand[RES_COUNT]);

/* Drops what is older than DEMAND_HISTORY_LENGTH_S, and VMs of which nothing is left. */
void demand_history_forget(struct demand_history *h, instant_s now);

#endif
