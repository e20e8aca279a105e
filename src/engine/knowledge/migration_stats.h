/* migration_stats.h: what migrations that have happened taught: how fast memory is copied between two hosts,
 * and how fast each VM writes to its own (§3.1.4).
 *
 * One migration has one duration, and two things decide it. So each is learned with the other as it was known
 * before: the rate of the pair with the VM's dirty rate (that of the source, or learned, or the model's
 * guess), the VM's dirty rate with the pair's rate, where that is known from another migration. What each
 * explains too much of, the next migrations correct: all are exponential moving averages, in which the newest
 * counts for a quarter.
 *
 * A migration teaches nothing when it was too short to be timed (LESSON_LEAST_S), or when the rate that
 * follows is absurd. One that shared a host with another migration says that the link gives at least so much:
 * it counts where that is more than is known, and says nothing of its VM.
 */
#ifndef BALLAST_ENGINE_KNOWLEDGE_MIGRATION_STATS_H
#define BALLAST_ENGINE_KNOWLEDGE_MIGRATION_STATS_H

#include "engine/ports.h"

#define LESSON_LEAST_S 5        /* shorter ones are asking and setting up more than copying */
#define LESSON_RATE_LEAST 1.0   /* MiB/s; a link slower than this ... */
#define LESSON_RATE_MOST 100000 /* ... or faster than this is a mistake */

struct learned;

/* A migration that ended well. */
struct lesson {
    const char *vm, *from, *to;
    double mem_mb;     /* what backed the VM when it began; UNKNOWN */
    double dirty_mb_s; /* what the source says of the VM; UNKNOWN: it says nothing */
    double duration_s; /* of the copying */
    bool shared;       /* with another migration that one of its hosts took part in, for some of the time */
};

struct learned *learned_new(void);
void learned_free(struct learned *l);

/* Whether it taught anything. */
bool learned_take(struct learned *l, const struct lesson *lesson, instant_s now);

/* MiB/s, or UNKNOWN. The rate of a host is that of its migrations with any other, in and out. */
double learned_pair_rate(const struct learned *l, const char *from, const char *to);
double learned_host_rate(const struct learned *l, const char *host);
double learned_dirty(const struct learned *l, const char *vm);

/* Calls back for every pair, in no particular order. */
void learned_each_pair(const struct learned *l,
                       void (*pair)(const char *from, const char *to, double rate_mb_s, void *ctx),
                       void *ctx);

/* To and from the store: what is known of a pair (of a host: `to` is ""), or of a VM. False: nothing is. The
 * strings are the caller's. */
bool learned_rate_record(const struct learned *l, const char *from, const char *to, struct rate_record *ret);
bool learned_dirty_record(const struct learned *l, const char *vm, struct dirty_record *ret);
void learned_recall_rate(struct learned *l, const struct rate_record *r);
void learned_recall_dirty(struct learned *l, const struct dirty_record *r);

/* Drops what no migration has taught since. */
void learned_forget(struct learned *l, instant_s before);

#endif
