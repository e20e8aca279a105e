/* migration_timing.c: migrations are timed while they are carried out, and what they taught goes into the
 * next snapshot.
 */
#include "engine/actions/migration_timing.h"

#include "engine/actions/action.h"
#include "engine/knowledge/knowledge.h"
#include "engine/knowledge/migration_stats.h"
#include "engine/observation.h"

#include <string.h>

/* ---- timing ---------------------------------------------------------------------------------- */

static bool meets_at(const char *from, const char *to, const struct action *x)
{
    return strcmp(from, x->r.from) == 0 || strcmp(from, x->r.to) == 0 || strcmp(to, x->r.from) == 0 ||
           strcmp(to, x->r.to) == 0;
}

static bool is_copying(const struct action *x)
{
    return action_copies(x) && action_under_way(x);
}

/* With those of a host of x that copy. */
static void share_links(const struct action_list *there, struct action *x)
{
    for (size_t i = 0; i < there->n; i++) {
        struct action *y = there->items[i];

        if (y == x || !is_copying(y) || !meets_at(y->r.from, y->r.to, x))
            continue;
        x->copy.shared = true;
        y->copy.shared = true;
    }
}

void migration_timing_begin(struct actions *all, struct action *x, instant_s now)
{
    if (!action_copies(x))
        return;
    const struct snapshot *s = all->usage.snap;
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    x->copy = (struct copy_timing){.began = now, .mem_mb = UNKNOWN, .dirty_mb_s = UNKNOWN};
    if (ix != IX_NONE) {
        x->copy.mem_mb = s->vms[ix].is.consumed_mb;
        x->copy.dirty_mb_s = s->vms[ix].is.dirty_mb_s;
        x->copy.disks_mb = s->vms[ix].is.disks_copied_mb;
    }
    share_links(&slot_usage_of_host(all, x->r.from)->actions, x);
    share_links(&slot_usage_of_host(all, x->r.to)->actions, x);
}

double migration_timing_mem_mb(const struct actions *all, const struct action *x)
{
    const struct snapshot *s = all->usage.snap;
    uint32_t ix = x->r.kind == ACTION_MIGRATE && s ? snapshot_find_vm(s, x->r.vm) : IX_NONE;

    return x->copy.began != 0 ? x->copy.mem_mb : ix == IX_NONE ? UNKNOWN : s->vms[ix].is.consumed_mb;
}

/* What others move takes of the links, too. */
void migration_timing_observe(struct actions *all)
{
    const struct action_list *committed = &all->usage.committed;

    for (size_t i = 0; i < committed->n && all->usage.snap->n_migrations > 0; i++) {
        struct action *x = committed->items[i];

        if (is_copying(x) && !x->copy.shared)
            x->copy.shared = slot_usage_sees_others(all, x);
    }
}

void migration_timing_polled(struct action *x, const struct task_progress *p, instant_s now)
{
    if (x->r.kind == ACTION_MIGRATE && p->state == TASK_SUCCEEDED) {
        x->copy.took_s = p->took_s;
        x->r.result.downtime_s = p->downtime_s > 0 ? p->downtime_s : UNKNOWN;
    }
    if (x->copy.began == 0) /* begun by an earlier process: not timed */
        return;
    switch (p->state) {
    case TASK_QUEUED: /* it has not begun yet */
        x->copy.began = now;
        return;
    case TASK_RUNNING:
        x->copy.ran = now;
        return;
    case TASK_SUCCEEDED:
        x->copy.ended = now;
        return;
    case TASK_FAILED:
        return;
    }
}

/* It ended somewhere between the last two questions, if the hypervisor has not measured it. Nothing is
 * learned from what was not watched from beginning to end, was begun more than once, took so long that it
 * was to be stopped, or copied disks: they are read and written at another rate than memory. */
void migration_timing_end(struct migration_stats *stats, const struct action *x, instant_s now)
{
    const struct copy_timing *c = &x->copy;

    if (c->began == 0 || c->ended == 0 || x->r.attempts != 1 || x->r.cancel_asked || c->disks_mb > 0)
        return;
    instant_s ran = c->ran > c->began ? c->ran : c->began;
    double told = c->dirty_mb_s == migration_stats_dirty(stats, x->r.vm) ? UNKNOWN : c->dirty_mb_s;
    const struct timed_migration lesson = {
        .vm = x->r.vm,
        .from = x->r.from,
        .to = x->r.to,
        .mem_mb = c->mem_mb,
        .dirty_mb_s = told, /* what stood in the snapshot was perhaps what had been learned before */
        .duration_s =
            c->took_s > 0 ? c->took_s : ((double)(ran - c->began) + (double)(c->ended - c->began)) / 2,
        .measured = c->took_s > 0,
        .rate_mb_s = x->progress.rate_mb_s,
        .wrote_mb_s = x->progress.dirty_mb_s,
        .shared = c->shared,
    };

    (void)migration_stats_take(stats, &lesson, now);
}
