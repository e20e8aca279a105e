/* demand_profile.h: what the cluster wanted at each time of the day, and what it is therefore expected to
 * want (§7.1).
 *
 * The demand of all VMs together is kept by slots of a quarter of an hour: its mean, and the highest mean of
 * a minute within it, which is what hosts have to be there for. Slots of DEMAND_DAYS are kept. One that
 * was not watched for half of its time is a gap, and a gap is nothing: neither a quiet time nor a miss.
 *
 * A slot to come is expected to want what the same slot of days alike has wanted. Days alike are the last
 * working days (Monday to Friday), the last days of weekends, or the same weekday of the weeks before; the
 * last comes first where there are three such weeks that agree. Each day is weighed by how large the VMs that
 * run now are against those that ran at this time on that day; where that is more than twice or less than
 * half the day says nothing. One day alike is enough: to wake hosts for a rise that does not come costs some
 * energy once, and to miss one costs users each morning until it is known. Of the days' figures the upper
 * quartile is expected, and only where the days agree: two thirds of them, and two of the last three, came to
 * 85 % of it at least; and not where it did not come on the last two days on which it was expected. So a
 * single holiday changes nothing, two days in a row without the rise end it, and demand without a pattern is
 * not expected.
 *
 * While a day turns out to be another one, nothing is expected of the rest of it: after two slots in a row
 * that stayed below what was expected of them, until one comes as expected again (as at night after a
 * holiday).
 *
 * Days and times of the day are those of demand_profile_set_zone(), so that a change of clocks changes
 * nothing. Where that is UTC, and people live by another clock, a rise moves by an hour twice a year: it is
 * then not foreseen (spring), or expected an hour too early (autumn), until the days since outweigh those
 * before, two weeks at most. Hosts are woken by what is wanted all the same. */
#ifndef BALLAST_ENGINE_KNOWLEDGE_DEMAND_PROFILE_H
#define BALLAST_ENGINE_KNOWLEDGE_DEMAND_PROFILE_H

#include "engine/ports.h"

#define DEMAND_SLOT_S FORECAST_SLOT_S
#define DEMAND_DAYS 36
#define DEMAND_SLOTS (DEMAND_DAYS * 24 * 3600 / DEMAND_SLOT_S)

struct demand_profile;

struct demand_profile *demand_profile_new(void);
void demand_profile_free(struct demand_profile *p);

/* How far local time is ahead of UTC at that instant, in seconds. NULL: days are those of UTC. It is asked
 * once for a slot. */
typedef int64_t (*utc_offset_fn)(void *zone, instant_s at);
void demand_profile_set_zone(struct demand_profile *p, utc_offset_fn offset, void *zone);

/* A look: what all VMs that run want together, clipped at their limits, and how large they are. */
struct cluster_demand_sums {
    double demand[RES_COUNT];
    double size[RES_COUNT]; /* vCPUs, configured MiB */
};

/* Looks in the order of time; one that is not later than the last is passed over. */
void demand_profile_add(struct demand_profile *p, instant_s now, const struct cluster_demand_sums *look);

/* A host was woken for what is expected. */
void demand_profile_woke(struct demand_profile *p, instant_s now);

/* What the days alike say of the slot that `at` lies in, whatever this day has been so far. False: nothing is
 * expected, ret->demand is UNKNOWN for both resources. */
bool demand_forecast_at(const struct demand_profile *p, instant_s at, instant_s now, struct expected *ret);

/* Since when this day is another one than expected, so that nothing is expected of it; 0: it is not. */
instant_s demand_forecast_doubted_since(const struct demand_profile *p, instant_s now);

/* The slot that `now` lies in and those after it, as far as something is expected; none while this day is
 * doubted. At most `slots`; in the arena. */
size_t demand_forecast_next(const struct demand_profile *p, instant_s now, uint32_t slots, struct arena *a,
                            struct expected **ret);

/* How long the present quiet is expected to last, by level and resource, for struct snapshot: 0 where nothing
 * has been watched. foresees: hosts are woken before a rise that is expected, so such a rise ends a quiet
 * without a shortage. needs_s: sleep_worth_enough_s(). In the arena. */
size_t demand_quiet(const struct demand_profile *p, instant_s now, bool foresees, double needs_s,
                    struct arena *a, struct quiet **ret);

/* The slots from `since` until now that were watched or expected, oldest first; in the arena. */
size_t demand_profile_slots(const struct demand_profile *p, instant_s since, instant_s now, struct arena *a,
                            struct demand_profile_record **ret);

/* The CPU demand of the last day, by slots: the highest minute of each. */
struct demand_day {
    double half;  /* halfway from the slot that wanted least to the one that wanted most */
    double quiet; /* a quarter of the slots wanted this or less; at most half */
    double last;  /* the newest slot that is over */
};
/* False: a quarter of the day or more was not watched, or the newest slot was not. */
bool demand_profile_day(const struct demand_profile *p, instant_s now, struct demand_day *ret);

/* ---- the store ------------------------------------------------------------------------------- */

/* Whether slots have come to an end that are not stored, and which; in the arena. */
bool demand_profile_dirty(const struct demand_profile *p);
size_t demand_profile_unstored(const struct demand_profile *p, struct arena *a,
                               struct demand_profile_record **ret);
void demand_profile_stored(struct demand_profile *p);

/* Out of the store. */
void demand_profile_recall(struct demand_profile *p, const struct demand_profile_record *r);

#endif
