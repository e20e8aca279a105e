/* migration_timing.c: migrations are timed while they are carried out, and what they taught goes into the
 * next snapshot.
 */
#include "engine/internal.h"

#include "engine/knowledge/migration_stats.h"

#include <string.h>

/* ---- timing ---------------------------------------------------------------------------------- */

static bool meets_at(const char *from, const char *to, const struct action *x)
{
    return strcmp(from, x->r.from) == 0 || strcmp(from, x->r.to) == 0 || strcmp(to, x->r.from) == 0 ||
           strcmp(to, x->r.to) == 0;
}

static bool is_copying(const struct action *x)
{
    return x->r.kind == ACTION_MIGRATE && action_under_way(x);
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

void learn_begins(struct engine *e, struct action *x, instant_s now)
{
    if (x->r.kind != ACTION_MIGRATE)
        return;
    const struct snapshot *s = &e->now_seen->snap;
    uint32_t ix = snapshot_find_vm(s, x->r.vm);

    x->copy = (struct copy){.began = now, .mem_mb = UNKNOWN, .dirty_mb_s = UNKNOWN};
    if (ix != IX_NONE) {
        x->copy.mem_mb = s->vms[ix].is.consumed_mb;
        x->copy.dirty_mb_s = s->vms[ix].is.dirty_mb_s;
    }
    share_links(&host_use(e, x->r.from)->actions, x);
    share_links(&host_use(e, x->r.to)->actions, x);
}

/* What others move takes of the links, too. */
void learn_looks(struct engine *e)
{
    const struct action_list *all = &e->occupancy.committed;

    for (size_t i = 0; i < all->n && e->now_seen->snap.n_migrations > 0; i++) {
        struct action *x = all->items[i];

        if (is_copying(x) && !x->copy.shared)
            x->copy.shared = occupancy_sees_others(e, x);
    }
}

void learn_polled(struct action *x, enum task_state state, instant_s now)
{
    if (x->copy.began == 0) /* of an earlier process: nobody knows */
        return;
    switch (state) {
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

/* It ended somewhere between the last two questions. Nothing is learned from what was not watched from
 * beginning to end, was begun more than once, or took so long that it was to be stopped. */
bool learn_ends(struct engine *e, const struct action *x, instant_s now)
{
    const struct copy *c = &x->copy;

    if (c->began == 0 || c->ended == 0 || x->r.attempts != 1 || x->r.cancel_asked)
        return false;
    instant_s ran = c->ran > c->began ? c->ran : c->began;
    double told = c->dirty_mb_s == learned_dirty(e->learned, x->r.vm) ? UNKNOWN : c->dirty_mb_s;
    const struct lesson lesson = {
        .vm = x->r.vm,
        .from = x->r.from,
        .to = x->r.to,
        .mem_mb = c->mem_mb,
        .dirty_mb_s = told, /* what stood in the snapshot was perhaps what had been learned before */
        .duration_s = ((double)(ran - c->began) + (double)(c->ended - c->began)) / 2,
        .shared = c->shared,
    };

    return learned_take(e->learned, &lesson, now);
}

/* ---- into the snapshot ----------------------------------------------------------------------- */

struct fill {
    struct inventory *inv;
    struct arena *a;
    struct idmap hosts;
};

static void add_pair(const char *from, const char *to, double rate_mb_s, void *ctx)
{
    struct fill *f = ctx;
    const struct seen_host *x = idmap_get(&f->hosts, from);
    const struct seen_host *y = idmap_get(&f->hosts, to);

    if (x && y)
        *inventory_add_migration_rate(f->inv, f->a) =
            (struct seen_migration_rate){.from = x->is.id, .to = y->is.id, .rate_mb_s = rate_mb_s};
}

/* What the source says itself stands. */
void learn_fill(const struct engine *e, struct inventory *inv, struct arena *a)
{
    struct fill f = {.inv = inv, .a = a};

    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *h = &inv->hosts[i].is;

        if (!h->id)
            continue;
        *idmap_slot(&f.hosts, h->id) = &inv->hosts[i];
        if (isnan(h->migration_rate_mb_s))
            h->migration_rate_mb_s = learned_host_rate(e->learned, h->id);
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;

        if (v->id && isnan(v->dirty_mb_s))
            v->dirty_mb_s = learned_dirty(e->learned, v->id);
    }
    if (inv->n_migration_rates == 0)
        learned_each_pair(e->learned, add_pair, &f);
    idmap_release(&f.hosts, NULL);
}

/* ---- the store ------------------------------------------------------------------------------- */

int learn_store(const struct engine *e, const struct migration_record *m, struct err *err)
{
    const struct store_ops *ops = e->port.store_ops;
    const char *const pairs[][2] = {{m->from, m->to}, {m->from, ""}, {m->to, ""}};
    struct rate_record rate;
    struct dirty_record dirty;
    int r;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (learned_rate_record(e->learned, pairs[i][0], pairs[i][1], &rate) &&
            (r = ops->put_rate(e->port.store, &rate, err)) < 0)
            return r;
    }
    return learned_dirty_record(e->learned, m->vm, &dirty) ? ops->put_dirty(e->port.store, &dirty, err) : 0;
}

void learn_recall(struct engine *e, const struct stored *s)
{
    for (size_t i = 0; i < s->n_rates; i++)
        learned_recall_rate(e->learned, &s->rates[i]);
    for (size_t i = 0; i < s->n_dirties; i++)
        learned_recall_dirty(e->learned, &s->dirties[i]);
}
