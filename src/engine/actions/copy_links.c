/* copy_links.c: which copies share a link, how fast each is then, and whether one more may begin. */
#include "engine/actions/copy_links.h"

#include "core/costbenefit/migration.h"
#include "engine/actions/action.h"
#include "engine/actions/migration_timing.h"
#include "engine/actions/preconditions.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/observation.h"
#include "engine/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SOON_S 5 /* a copy that is over within this time alone: hardly longer than to begin one */
#define SOON_PART                                                                                            \
    0.5 /* of a part of the link, that VMs may write while one of two copies is over soon ...                \
         */
#define LONG_PART 0.125 /* ... and else: an eighth of all memory is sent again */
#define FULL 0.9        /* of the rate alone: the link gives each copy less */
#define LEARN_S 60      /* between two lessons of one copy */
#define AGAIN 1.1       /* times a rate: no other one */
#define WELL 1.5        /* times a VM's memory that a copy sends which ends well */

enum { LINK_OUT, LINK_IN, LINK_COUNT };

/* ---- who shares ------------------------------------------------------------------------------ */

static bool copies(const struct action *x)
{
    return action_copies(x) && (action_under_way(x) || (x->r.state == ACTION_APPROVED && x->job_out));
}

static const char *end_of(const struct action *x, int end)
{
    return end == LINK_OUT ? x->r.from : x->r.to;
}

/* One that shares both links is found at the first. */
static bool shares(const struct action *x, const struct action *y, int end)
{
    bool out = strcmp(x->r.from, y->r.from) == 0;

    return end == LINK_OUT ? out : !out && strcmp(x->r.to, y->r.to) == 0;
}

struct action *copy_links_next(const struct actions *all, const struct action *x, struct copy_cursor *at)
{
    for (; at->end < LINK_COUNT; at->end++, at->i = 0) {
        const struct action_list *there = &slot_usage_of_host(all, end_of(x, at->end))->actions;

        while (at->i < there->n) {
            struct action *y = there->items[at->i++];

            if (y != x && copies(y) && shares(x, y, at->end))
                return y;
        }
    }
    return NULL;
}

/* Copies beside x on its link at this end. sum: what they have, and x has; NAN: not known of each. */
static uint32_t beside(const struct actions *all, const struct action *x, int end, double *sum)
{
    const struct action_list *there = &slot_usage_of_host(all, end_of(x, end))->actions;
    uint32_t n = 0;

    *sum = x->progress.rate_mb_s > 0 ? x->progress.rate_mb_s : UNKNOWN;
    for (size_t i = 0; i < there->n; i++) {
        const struct action *y = there->items[i];

        if (y == x || !copies(y) || strcmp(end_of(y, end), end_of(x, end)) != 0)
            continue;
        *sum += y->progress.rate_mb_s > 0 ? y->progress.rate_mb_s : UNKNOWN;
        n++;
    }
    return n;
}

/* That others than the engine move, off or to the host. */
static uint32_t theirs(const struct actions *all, const char *host)
{
    uint32_t ix = all->usage.snap ? snapshot_find_host(all->usage.snap, host) : IX_NONE;

    return ix == IX_NONE ? 0 : all->usage.seen[ix].theirs;
}

/* ---- how fast -------------------------------------------------------------------------------- */

static double told_of_host(const struct engine *e, const char *host)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_host(s, host);
    double rate = ix == IX_NONE ? UNKNOWN : s->hosts[ix].is.migration_rate_mb_s;

    return rate > 0 ? rate : UNKNOWN;
}

/* Of a copy that has its links to itself. Where none has shown it, one may take all that was seen on a link.
 */
static double rate_alone(const struct engine *e, const struct action *x)
{
    const struct migration_stats *m = e->knowledge->migrations;
    double pair = migration_stats_pair_rate(m, x->r.from, x->r.to);
    double hosts = fmin(told_of_host(e, x->r.from), told_of_host(e, x->r.to));

    if (pair > 0 || hosts > 0)
        return pair > 0 ? pair : hosts;
    return fmax(e->settings.policy.migration_rate_mb_s,
                fmax(migration_stats_link(m, x->r.from, false), migration_stats_link(m, x->r.to, true)));
}

/* Of x beside those that copy now. A link that has not shown what it gives several gives them what it gives
 * one. */
static double rate_shared(const struct engine *e, const struct action *x, double alone)
{
    double rate = alone, sum;

    for (int end = LINK_OUT; end < LINK_COUNT; end++) {
        double link = migration_stats_link(e->knowledge->migrations, end_of(x, end), end == LINK_IN);
        uint32_t n = beside(e->actions, x, end, &sum) + theirs(e->actions, end_of(x, end));

        rate = fmin(rate, (link > alone ? link : alone) / (n + 1));
    }
    return rate;
}

/* What the VM writes; UNKNOWN. What its own copy has shown counts before what was known. */
static double writes(const struct engine *e, const struct action *x)
{
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    if (x->progress.dirty_mb_s > 0)
        return x->progress.dirty_mb_s;
    return ix == IX_NONE ? UNKNOWN : s->vms[ix].is.dirty_mb_s;
}

/* What x still has to copy would take, alone. How much of its first round is copied again is not known. */
static double left_s(const struct engine *e, const struct action *x, double alone)
{
    double left = x->progress.round > 1 && x->progress.left_mb > 0 ? x->progress.left_mb
                                                                   : migration_timing_mem_mb(e->actions, x);

    return isnan(left) ? INFINITY : left / alone;
}

/* ---- may it begin? --------------------------------------------------------------------------- */

bool copy_links_had_no_end(const struct engine *e, const struct action *x)
{
    const struct migration_stats *m = e->knowledge->migrations;
    double before = migration_stats_no_end(m, x->r.vm);

    if (!e->now_seen || x->r.kind != ACTION_MIGRATE || isnan(before))
        return false;
    double wrote = writes(e, x);

    return rate_alone(e, x) <= before * AGAIN && !(wrote < before / 2);
}

/* Beside a copy that is over soon, or not. Of a VM about which nothing is known, what the last ones off its
 * host wrote says enough where both copies are over soon. */
static bool may_share(const struct engine *e, const struct action *x, double rate, bool x_soon, bool y_soon)
{
    double wrote = writes(e, x);

    if (!isnan(wrote))
        return wrote <= rate * (x_soon || y_soon ? SOON_PART : LONG_PART);
    return x_soon && y_soon && migration_stats_wrote(e->knowledge->migrations, x->r.from) <= rate * LONG_PART;
}

/* Each two of them must do. */
static bool fits_beside(const struct engine *e, const struct action *x, double alone, double rate)
{
    const bool full = rate < alone * FULL;
    const bool soon = left_s(e, x, alone) <= SOON_S;
    struct copy_cursor at = {0};

    for (const struct action *y; (y = copy_links_next(e->actions, x, &at)) != NULL;) {
        bool y_soon = left_s(e, y, rate_alone(e, y)) <= SOON_S;

        if (full && (!may_share(e, x, rate, soon, y_soon) || !may_share(e, y, rate, y_soon, soon)))
            return false;
    }
    return true;
}

static bool is_most(const struct engine *e, const struct action *x)
{
    double sum;

    for (int end = LINK_OUT; end < LINK_COUNT; end++) {
        uint32_t most = migration_stats_most(e->knowledge->migrations, end_of(x, end));

        if (most > 0 && beside(e->actions, x, end, &sum) >= most)
            return true;
    }
    return false;
}

bool copy_links_admit(const struct engine *e, const struct action *x, char *why)
{
    double alone = rate_alone(e, x), rate = rate_shared(e, x, alone), wrote = writes(e, x);
    struct copy_cursor at = {0};
    const struct action *other = copy_links_next(e->actions, x, &at);

    if (!other || (!is_most(e, x) && fits_beside(e, x, alone, rate)))
        return true;
    int n = snprintf(why, WHY_MAX, "it waits for copies that share a link with it, of VM %s for one",
                     snapshot_vm_name(&e->now_seen->snap, other->r.vm));
    if (wrote > rate * SOON_PART)
        (void)snprintf(why + n, WHY_MAX - (size_t)n,
                       ": the VM writes %.0f MiB/s, and is to have the link alone", wrote);
    return false;
}

/* ---- learning -------------------------------------------------------------------------------- */

void copy_links_begin(const struct engine *e, struct action *x)
{
    struct migration_model m;

    if (x->r.kind != ACTION_MIGRATE || !(x->copy.mem_mb > 0))
        return;
    double alone = rate_alone(e, x), rate = rate_shared(e, x, alone);

    if (rate >= alone)
        return;
    migration_model(x->copy.mem_mb, writes(e, x), rate, &m);
    migration_add_disks(x->copy.disks_mb, rate, &m);
    x->r.duration_s = fmax(x->r.duration_s, m.duration_s);
}

void copy_links_learn(struct engine *e, struct action *x, instant_s now)
{
    struct migration_stats *m = e->knowledge->migrations;
    uint32_t most = 0;

    if (x->r.kind != ACTION_MIGRATE || !e->now_seen || x->progress.rated_at != now ||
        x->progress.rate_mb_s <= 0)
        return;
    for (int end = LINK_OUT; end < LINK_COUNT; end++) {
        double sum;
        uint32_t n = beside(e->actions, x, end, &sum) + theirs(e->actions, end_of(x, end));

        most = n > most ? n : most;
        if (!isnan(sum))
            migration_stats_see_link(m, end_of(x, end), end == LINK_IN, sum,
                                     n > 0 && sum < rate_alone(e, x) * (n + 1) * FULL);
    }
    if (most > 0 || (x->progress.taught_at != 0 && now - x->progress.taught_at < LEARN_S))
        return;
    x->progress.taught_at = now;
    migration_stats_see_rate(m, x->r.from, x->r.to, x->progress.rate_mb_s, now);
}

static void end_badly(struct engine *e, const struct action *x)
{
    double sum;

    for (int end = LINK_OUT; end < LINK_COUNT; end++) {
        uint32_t n = beside(e->actions, x, end, &sum) + 1;

        if (n > 1)
            migration_stats_set_most(e->knowledge->migrations, end_of(x, end), n / 2);
    }
}

static void end_well(struct engine *e, const struct action *x)
{
    struct migration_stats *m = e->knowledge->migrations;

    for (int end = LINK_OUT; end < LINK_COUNT; end++) {
        uint32_t most = migration_stats_most(m, end_of(x, end));

        if (most > 0)
            migration_stats_set_most(m, end_of(x, end),
                                     most < e->settings.policy.migrations_per_host ? most + 1 : 0);
    }
}

void copy_links_end(struct engine *e, const struct action *x, instant_s now)
{
    const struct timed_migration lesson = {.vm = x->r.vm,
                                           .from = x->r.from,
                                           .to = x->r.to,
                                           .rate_mb_s = x->progress.rate_mb_s,
                                           .wrote_mb_s = x->progress.dirty_mb_s,
                                           .shared = x->copy.shared};

    double again_mb = x->progress.copied_mb - x->copy.mem_mb;
    double took_s = (double)(now - x->copy.began);

    if (x->progress.dirty_mb_s > 0 || again_mb <= 0)
        migration_stats_see_wrote(e->knowledge->migrations, x->r.from, x->progress.dirty_mb_s);
    else if (x->copy.began != 0 && took_s >= 1)
        migration_stats_see_wrote(e->knowledge->migrations, x->r.from, again_mb / took_s);
    if (x->progress.has_no_end)
        migration_stats_take_no_end(e->knowledge->migrations, &lesson, now);
    if (x->progress.has_no_end || x->progress.copied_mb > 2 * x->copy.mem_mb)
        end_badly(e, x);
    else if (!(x->progress.copied_mb > WELL * x->copy.mem_mb))
        end_well(e, x);
}
