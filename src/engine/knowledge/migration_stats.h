/* migration_stats.h: what migrations that have happened taught: how fast memory is copied between two hosts,
 * and how fast each VM writes to its own (§3.1.4).
 *
 * One migration has one duration, and two things decide it. So each is learned with the other as it was known
 * before: the rate of the pair with the VM's dirty rate (that of the source, or learned, or the model's
 * guess), the VM's dirty rate with the pair's rate, where that is known from another migration. What each
 * explains too much of, the next migrations correct: all are exponential moving averages, in which the newest
 * counts for a quarter.
 *
 * A migration teaches nothing when it was too short to be timed (MIGRATION_TIMED_LEAST_S), or when the rate
 * that follows is absurd. One that shared a host with another migration says that the link gives at least so
 * much: it counts where that is more than is known, and says nothing of its VM.
 *
 * Where the bytes of a copy are known, its rate is seen while it copies, and so is what its VM writes; a copy
 * that was given up teaches both, too.
 *
 * An action takes longer than its copying: its preconditions are checked, the hypervisor prepares both hosts,
 * an inventory confirms the end. This overhead costs the hosts next to nothing, so that no pass counts it;
 * with the pass's duration of copying it predicts how long the whole action takes. It is learned from the
 * stored actions, also after a restart.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_MIGRATION_STATS_H
#define BALLAST_ENGINE_KNOWLEDGE_MIGRATION_STATS_H

#include "engine/knowledge/knowledge.h"

#define MIGRATION_MEASURED_LEAST_S 1 /* the same where the hypervisor has measured the copying alone */
#define MIGRATION_TIMED_LEAST_S 5    /* shorter ones are asking and setting up more than copying */
#define MIGRATION_RATE_LEAST 1.0     /* MiB/s; a link slower than this ... */
#define MIGRATION_RATE_MOST 100000   /* ... or faster than this is a mistake */

extern const struct knowledge_ops migration_stats_ops;

/* A migration that ended well. */
struct timed_migration {
    const char *vm, *from, *to;
    double mem_mb;     /* what backed the VM when it began; UNKNOWN */
    double dirty_mb_s; /* what the source says of the VM; UNKNOWN: it says nothing */
    double duration_s; /* of the copying */
    bool measured;     /* by the hypervisor; else by asking it now and then */
    double rate_mb_s,
        wrote_mb_s; /* of copying, and that the VM wrote, by the bytes of its rounds; 0: not known */
    bool shared;    /* with another migration that one of its hosts took part in, for some of the time */
};

struct migration_stats *migration_stats_new(void);
void migration_stats_free(struct migration_stats *l);

/* Whether it taught anything. */
bool migration_stats_take(struct migration_stats *l, const struct timed_migration *lesson, instant_s now);

/* A copy that had its links to itself went on at this rate, by its bytes. */
void migration_stats_see_rate(struct migration_stats *l, const char *from, const char *to, double mb_s,
                              instant_s now);

/* Of the link of a host, out of it or into it: what its copies had together, and whether one more would have
 * slowed them down: each had less than it has alone. UNKNOWN: no copy has shown it. */
void migration_stats_see_link(struct migration_stats *l, const char *host, bool in, double mb_s, bool full);
double migration_stats_link(const struct migration_stats *l, const char *host, bool in);

/* What VMs wrote to their memory while they were copied off the host, the newest one for a quarter; UNKNOWN:
 * none was yet. */
void migration_stats_see_wrote(struct migration_stats *l, const char *host, double mb_s);
double migration_stats_wrote(const struct migration_stats *l, const char *host);

/* How many copies may use a host at a time, since one of several had no end; 0: as many as the settings say.
 */
void migration_stats_set_most(struct migration_stats *l, const char *host, uint32_t most);
uint32_t migration_stats_most(const struct migration_stats *l, const char *host);

/* A copy of the VM was given up at this rate, because it had no end. Until one ends well. */
void migration_stats_take_no_end(struct migration_stats *l, const struct timed_migration *lesson,
                                 instant_s now);
double migration_stats_no_end(const struct migration_stats *l, const char *vm); /* MiB/s; UNKNOWN: none was */

/* How long the action took beyond copying, if it has ended well at the first attempt. */
void migration_stats_take_overhead(struct migration_stats *l, const struct action_record *r);

/* s, or UNKNOWN: no migration has taught it yet. */
double migration_stats_overhead_s(const struct migration_stats *l);

/* MiB/s, or UNKNOWN. The rate of a host is that of its migrations with any other, in and out. */
double migration_stats_pair_rate(const struct migration_stats *l, const char *from, const char *to);
double migration_stats_host_rate(const struct migration_stats *l, const char *host);
double migration_stats_dirty(const struct migration_stats *l, const char *vm);

/* Calls back for every pair, in no particular order. */
void migration_stats_each_pair(const struct migration_stats *l,
                               void (*pair)(const char *from, const char *to, double rate_mb_s, void *ctx),
                               void *ctx);

/* To and from the store: what is known of a pair (of a host: `to` is ""), or of a VM. False: nothing is. The
 * strings are the caller's. */
bool migration_stats_rate_record(const struct migration_stats *l, const char *from, const char *to,
                                 struct rate_record *ret);
bool migration_stats_dirty_record(const struct migration_stats *l, const char *vm, struct dirty_record *ret);
void migration_stats_recall_rate(struct migration_stats *l, const struct rate_record *r);
void migration_stats_recall_dirty(struct migration_stats *l, const struct dirty_record *r);

/* Drops what no migration has taught since. */
void migration_stats_forget(struct migration_stats *l, instant_s before);

#endif
