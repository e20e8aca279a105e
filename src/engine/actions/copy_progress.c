/* copy_progress.c: follows the rounds of a copy by what its hypervisor says of them. */
#include "engine/actions/copy_progress.h"

#include "engine/actions/action.h"
#include "engine/actions/copy_links.h"

#include <math.h>
#include <stdio.h>

#define HANG_S 300      /* without any change */
#define SLOWEST_MB_S 5  /* ... for as long as copying takes at this rate, where only a percentage is said */
#define NO_END_ROUNDS 3 /* over which what remains has not shrunk, ... */
#define NO_END_S 60     /* ... and for so long: short rounds may be a short burst of writes */
#define SHRUNK 0.99     /* times what remained before */
#define RATE_S 10       /* over which a rate is measured, ... */
#define ROUND_LEAST_S 5 /* a shorter round says nothing of how much is written in it */
#define MIB_PER_GIB 1024

/* ---- rounds ---------------------------------------------------------------------------------- */

static void get_on(struct copy_progress *c, double least_mb, instant_s now)
{
    c->least_mb = least_mb;
    c->least_round = c->round;
    c->least_at = now;
}

/* What the present round has to copy. Where only the rates are said, what is written while all is copied
 * once: 0 while the VM writes less than is copied. */
static double remains(const struct task_progress *p, double mem_mb)
{
    if (p->left_mb > 0)
        return p->left_mb;
    return p->dirty_mb_s > p->rate_mb_s && p->rate_mb_s > 0 ? mem_mb * p->dirty_mb_s / p->rate_mb_s : 0;
}

/* What the newest round began with: what was copied since the last answer is the rest of the round before,
 * and what this one has copied. Of several rounds since then it is their mean. */
static double round_began_with(const struct copy_progress *c, const struct task_progress *p)
{
    double sum = p->left_mb + (p->copied_mb - c->copied_mb) - c->left_mb;

    return p->copied_mb > 0 && c->round > 0 ? fmax(sum / (p->round - c->round), p->left_mb) : p->left_mb;
}

/* What the VM wrote in the round before is what this one began with. */
static void take_new_round(struct copy_progress *c, const struct task_progress *p, double began_mb,
                           instant_s now)
{
    double ago_s = p->rate_mb_s > 0 ? (began_mb - p->left_mb) / p->rate_mb_s : 0;
    double took_s = (double)now - ago_s - c->round_at;

    if (p->round == c->round + 1 && p->left_mb > 0 && c->round > 0 && took_s >= ROUND_LEAST_S)
        c->dirty_mb_s = began_mb / took_s;
    c->round = p->round;
    c->round_at = (double)now - ago_s;
}

static void take_round(struct copy_progress *c, const struct task_progress *p, double mem_mb, instant_s now)
{
    const bool begins = p->round > c->round;
    double left = remains(p, mem_mb);

    if (begins && p->left_mb > 0)
        left = round_began_with(c, p);
    if (begins)
        take_new_round(c, p, left, now);
    if (p->dirty_mb_s > 0)
        c->dirty_mb_s = p->dirty_mb_s;
    if (c->least_at == 0 || p->slowed > c->slowed || (p->round > 0 && left == 0))
        get_on(c, left, now);
    else if (begins && left < c->least_mb * SHRUNK)
        get_on(c, left, now);
    c->slowed = p->slowed;
    c->may_slow = p->may_slow;
}

static void take_rate(struct copy_progress *c, double copied_mb, instant_s now)
{
    if (c->rated_at == 0 || copied_mb < c->rated_mb) {
        c->rated_at = now;
        c->rated_mb = copied_mb;
    } else if (now - c->rated_at >= RATE_S) {
        c->rate_mb_s = (copied_mb - c->rated_mb) / (double)(now - c->rated_at);
        c->rated_at = now;
        c->rated_mb = copied_mb;
    }
}

bool copy_progress_take(struct copy_progress *c, const struct task_progress *p, double mem_mb, instant_s now)
{
    bool got_on = p->state == TASK_QUEUED || p->round > c->round || p->slowed != c->slowed ||
                  p->percent != c->percent || p->copied_mb != c->copied_mb || p->left_mb != c->left_mb;

    c->percent = p->percent;
    if (p->state != TASK_RUNNING)
        return got_on;
    if (p->copied_mb > 0)
        take_rate(c, p->copied_mb, now);
    if (p->round > 0)
        take_round(c, p, isnan(mem_mb) ? 1 : mem_mb, now);
    c->copied_mb = p->copied_mb;
    c->left_mb = p->left_mb;
    return got_on;
}

/* ---- giving up ------------------------------------------------------------------------------- */

instant_s copy_progress_patience_s(const struct copy_progress *c, double mem_mb)
{
    double once_s = c->copied_mb > 0 || isnan(mem_mb) ? 0 : mem_mb / SLOWEST_MB_S;

    return once_s > HANG_S ? (instant_s)once_s : HANG_S;
}

static bool does_not_shrink(const struct copy_progress *c, instant_s now)
{
    return c->least_at != 0 && c->round >= c->least_round + NO_END_ROUNDS && now >= c->least_at + NO_END_S &&
           !c->may_slow;
}

bool copy_progress_has_no_end(const struct actions *all, const struct action *x, instant_s now)
{
    struct copy_cursor at = {0};
    bool alone = true, another = false, younger = false;

    if (!does_not_shrink(&x->progress, now))
        return false;
    for (const struct action *y; (y = copy_links_next(all, x, &at)) != NULL;) {
        bool same = does_not_shrink(&y->progress, now);

        alone = false;
        another = another || same;
        younger = younger || (same && y->r.id > x->r.id);
    }
    return alone || (another && !younger);
}

void copy_progress_links_changed(const struct actions *all, const struct action *ended, instant_s now)
{
    struct copy_cursor at = {0};

    for (struct action *y; (y = copy_links_next(all, ended, &at)) != NULL;) {
        if (y->progress.least_at != 0)
            get_on(&y->progress, y->progress.least_mb, now);
    }
}

void copy_progress_say(const struct copy_progress *c, char *text, size_t size)
{
    (void)snprintf(
        text, size,
        "given up in round %u, after %.1f GiB: what remains has not shrunk since round %u (%.1f GiB), "
        "because the VM writes at least %.0f MiB/s while %.0f MiB/s are copied; cancellation requested from "
        "the hypervisor",
        c->round, c->copied_mb / MIB_PER_GIB, c->least_round, c->least_mb / MIB_PER_GIB, c->dirty_mb_s,
        c->rate_mb_s);
}
