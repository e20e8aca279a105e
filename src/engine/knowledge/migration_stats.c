#include "engine/knowledge/migration_stats.h"

#include "base/idmap.h"
#include "base/xalloc.h"
#include "core/costbenefit/migration.h"

#include <stdlib.h>

#define NEWEST_PART 0.25

struct average {
    double value;      /* MiB/s; of the overhead: s */
    instant_s learned; /* 0: nothing was yet */
};

/* A host, and the destinations that it copies to. */
struct host_rates {
    double link[2]; /* out, in: what copies had together; 0: not known */
    struct average wrote;
    uint32_t most; /* copies at a time; 0: as many as the settings say */
    struct average own;
    struct idmap to; /* host id -> struct average */
};

/* In the place of a host: its destinations are VMs, each with the rate at which its copy had no end, or 0. */
#define NO_END ""

/* A migration that changed what is known, since that was last stored. */
struct taught {
    char *vm, *from, *to;
};

struct migration_stats {
    struct idmap hosts; /* id -> struct host_rates */
    struct idmap dirty; /* VM id -> struct average */
    struct average overhead;
    struct taught *taught;
    size_t n_taught, cap_taught;
};

struct migration_stats *migration_stats_new(void)
{
    return xcalloc(1, sizeof(struct migration_stats));
}

static void free_average(void *value)
{
    free(value);
}

static void free_host(void *value)
{
    struct host_rates *h = value;

    if (!h)
        return;
    idmap_release(&h->to, free_average);
    free(h);
}

static void taught_clear(struct migration_stats *l)
{
    for (size_t i = 0; i < l->n_taught; i++) {
        free(l->taught[i].vm);
        free(l->taught[i].from);
        free(l->taught[i].to);
    }
    l->n_taught = 0;
}

static void taught_add(struct migration_stats *l, const struct timed_migration *x)
{
    l->taught = xalloc_grow(l->taught, l->n_taught, &l->cap_taught, sizeof *l->taught);
    l->taught[l->n_taught++] =
        (struct taught){.vm = xstrdup(x->vm), .from = xstrdup(x->from), .to = xstrdup(x->to)};
}

void migration_stats_free(struct migration_stats *l)
{
    if (!l)
        return;
    idmap_release(&l->hosts, free_host);
    idmap_release(&l->dirty, free_average);
    taught_clear(l);
    free(l->taught);
    free(l);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static double value_of(const struct average *a)
{
    return a && a->learned != 0 ? a->value : UNKNOWN;
}

static const struct average *find_rate(const struct migration_stats *l, const char *from, const char *to)
{
    const struct host_rates *h = idmap_get(&l->hosts, from);

    if (!h)
        return NULL;
    return *to ? idmap_get(&h->to, to) : &h->own;
}

double migration_stats_pair_rate(const struct migration_stats *l, const char *from, const char *to)
{
    return value_of(find_rate(l, from, to));
}

double migration_stats_host_rate(const struct migration_stats *l, const char *host)
{
    return value_of(find_rate(l, host, ""));
}

double migration_stats_dirty(const struct migration_stats *l, const char *vm)
{
    return value_of(idmap_get(&l->dirty, vm));
}

double migration_stats_overhead_s(const struct migration_stats *l)
{
    return value_of(&l->overhead);
}

void migration_stats_each_pair(const struct migration_stats *l,
                               void (*pair)(const char *from, const char *to, double rate_mb_s, void *ctx),
                               void *ctx)
{
    for (size_t i = 0; i < l->hosts.cap; i++) {
        const struct host_rates *h = l->hosts.entries[i].value;

        for (size_t k = 0; l->hosts.entries[i].key && k < h->to.cap; k++) {
            if (h->to.entries[k].key)
                pair(l->hosts.entries[i].key, h->to.entries[k].key, value_of(h->to.entries[k].value), ctx);
        }
    }
}

/* ---- learning -------------------------------------------------------------------------------- */

static struct average *average_of(struct idmap *m, const char *id)
{
    return idmap_make(m, id, sizeof(struct average));
}

static struct host_rates *host_of(struct migration_stats *l, const char *id)
{
    return idmap_make(&l->hosts, id, sizeof(struct host_rates));
}

static struct average *rate_of(struct migration_stats *l, const char *from, const char *to)
{
    struct host_rates *h = host_of(l, from);

    return *to ? average_of(&h->to, to) : &h->own;
}

static void mix(struct average *a, double value, instant_s now)
{
    a->value = a->learned == 0 ? value : a->value + NEWEST_PART * (value - a->value);
    a->learned = now;
}

/* What shared its link is no more than a lower bound, and nothing where nothing is known. */
static bool learn_rate(struct migration_stats *l, const char *from, const char *to, double mb_s,
                       bool at_least, instant_s now)
{
    if (at_least && !(mb_s > value_of(find_rate(l, from, to))))
        return false;
    mix(rate_of(l, from, to), mb_s, now);
    return true;
}

static bool learn_rates(struct migration_stats *l, const char *from, const char *to, double mb_s,
                        bool at_least, instant_s now)
{
    bool any = learn_rate(l, from, to, mb_s, at_least, now);

    any = learn_rate(l, from, "", mb_s, at_least, now) || any;
    return learn_rate(l, to, "", mb_s, at_least, now) || any;
}

static bool is_rate(double mb_s)
{
    return mb_s >= MIGRATION_RATE_LEAST && mb_s <= MIGRATION_RATE_MOST;
}

void migration_stats_see_rate(struct migration_stats *l, const char *from, const char *to, double mb_s,
                              instant_s now)
{
    if (is_rate(mb_s))
        (void)learn_rates(l, from, to, mb_s, false, now);
}

void migration_stats_see_link(struct migration_stats *l, const char *host, bool in, double mb_s, bool full)
{
    double *known = &host_of(l, host)->link[in];

    *known = full ? mb_s : fmax(*known, mb_s);
}

double migration_stats_link(const struct migration_stats *l, const char *host, bool in)
{
    const struct host_rates *h = idmap_get(&l->hosts, host);

    return h && h->link[in] > 0 ? h->link[in] : UNKNOWN;
}

void migration_stats_see_wrote(struct migration_stats *l, const char *host, double mb_s)
{
    mix(&host_of(l, host)->wrote, mb_s, 1);
}

double migration_stats_wrote(const struct migration_stats *l, const char *host)
{
    const struct host_rates *h = idmap_get(&l->hosts, host);

    return h ? value_of(&h->wrote) : UNKNOWN;
}

void migration_stats_set_most(struct migration_stats *l, const char *host, uint32_t most)
{
    host_of(l, host)->most = most;
}

uint32_t migration_stats_most(const struct migration_stats *l, const char *host)
{
    const struct host_rates *h = idmap_get(&l->hosts, host);

    return h ? h->most : 0;
}

double migration_stats_no_end(const struct migration_stats *l, const char *vm)
{
    double rate = value_of(find_rate(l, NO_END, vm));

    return rate > 0 ? rate : UNKNOWN;
}

static void set_no_end(struct migration_stats *l, const char *vm, double mb_s, instant_s now)
{
    *rate_of(l, NO_END, vm) = (struct average){.value = mb_s, .learned = now};
}

void migration_stats_take_no_end(struct migration_stats *l, const struct timed_migration *x, instant_s now)
{
    if (!is_rate(x->rate_mb_s))
        return;
    set_no_end(l, x->vm, x->rate_mb_s, now);
    *average_of(&l->dirty, x->vm) =
        (struct average){.value = fmax(x->wrote_mb_s, x->rate_mb_s), .learned = now};
    (void)learn_rates(l, x->from, x->to, x->rate_mb_s, x->shared, now);
    taught_add(l, x);
}

bool migration_stats_take(struct migration_stats *l, const struct timed_migration *x, instant_s now)
{
    bool told = !isnan(x->dirty_mb_s);
    double dirty = told ? x->dirty_mb_s : migration_stats_dirty(l, x->vm);
    double known = migration_stats_pair_rate(l, x->from, x->to);

    const double least_s = x->measured ? MIGRATION_MEASURED_LEAST_S : MIGRATION_TIMED_LEAST_S;

    bool any = !isnan(migration_stats_no_end(l, x->vm));

    if (any) /* it ends, after all */
        set_no_end(l, x->vm, 0, now);
    if (!(x->mem_mb > 0) || !(x->duration_s >= least_s))
        return false;
    double rate = is_rate(x->rate_mb_s) ? x->rate_mb_s : migration_rate_of(x->mem_mb, dirty, x->duration_s);

    if (!is_rate(rate))
        return false;
    any = learn_rates(l, x->from, x->to, rate, x->shared, now) || any;
    if (!told && x->wrote_mb_s > 0)
        mix(average_of(&l->dirty, x->vm), x->wrote_mb_s, now);
    else if (!told && !x->shared && !isnan(known))
        mix(average_of(&l->dirty, x->vm), migration_dirty_of(x->mem_mb, known, x->duration_s), now);
    if (any)
        taught_add(l, x);
    return any;
}

void migration_stats_take_overhead(struct migration_stats *l, const struct action_record *r)
{
    const struct move_result *m = &r->result;
    const double whole_s = (double)(r->ended - r->started);

    if (r->kind == ACTION_MIGRATE && r->state == ACTION_DONE && r->attempts == 1 && !r->cancel_asked &&
        m->predicted_at != 0 && whole_s >= m->duration_s)
        mix(&l->overhead, whole_s - m->duration_s, r->ended);
}

/* ---- the store ------------------------------------------------------------------------------- */

bool migration_stats_rate_record(const struct migration_stats *l, const char *from, const char *to,
                                 struct rate_record *ret)
{
    const struct average *a = find_rate(l, from, to);

    if (isnan(value_of(a)))
        return false;
    *ret = (struct rate_record){.from = from, .to = to, .mb_s = a->value, .learned = a->learned};
    return true;
}

bool migration_stats_dirty_record(const struct migration_stats *l, const char *vm, struct dirty_record *ret)
{
    const struct average *a = idmap_get(&l->dirty, vm);

    if (isnan(value_of(a)))
        return false;
    *ret = (struct dirty_record){.vm = vm, .mb_s = a->value, .learned = a->learned};
    return true;
}

/* What stands in a file may have been written by anybody. */
void migration_stats_recall_rate(struct migration_stats *l, const struct rate_record *r)
{
    if (r->from && r->to && r->learned > 0 && r->mb_s >= MIGRATION_RATE_LEAST &&
        r->mb_s <= MIGRATION_RATE_MOST)
        *rate_of(l, r->from, r->to) = (struct average){.value = r->mb_s, .learned = r->learned};
}

void migration_stats_recall_dirty(struct migration_stats *l, const struct dirty_record *r)
{
    if (r->vm && r->learned > 0 && r->mb_s >= 0 && r->mb_s <= MIGRATION_RATE_MOST)
        *average_of(&l->dirty, r->vm) = (struct average){.value = r->mb_s, .learned = r->learned};
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static bool keep_average(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    const struct average *a = value;

    (void)key;
    if (a->learned >= *before)
        return true;
    free(value);
    return false;
}

static bool keep_host(const char *key, void *value, void *ctx)
{
    const instant_s *before = ctx;
    struct host_rates *h = value;

    (void)key;
    idmap_keep(&h->to, keep_average, ctx);
    if (h->own.learned < *before)
        h->own = (struct average){0};
    if (h->own.learned != 0 || h->to.n > 0)
        return true;
    free_host(value);
    return false;
}

void migration_stats_forget(struct migration_stats *l, instant_s before)
{
    idmap_keep(&l->dirty, keep_average, &before);
    idmap_keep(&l->hosts, keep_host, &before);
    if (l->overhead.learned < before)
        l->overhead = (struct average){0};
}

/* ---- as a piece of knowledge ---------------------------------------------------------------- */

struct filling {
    struct inventory *inv;
    struct arena *a;
    struct idmap hosts;
};

static void add_pair(const char *from, const char *to, double rate_mb_s, void *ctx)
{
    struct filling *f = ctx;
    const struct seen_host *x = idmap_get(&f->hosts, from);
    const struct seen_host *y = idmap_get(&f->hosts, to);

    if (x && y)
        *inventory_add_migration_rate(f->inv, f->a) =
            (struct seen_migration_rate){.from = x->is.id, .to = y->is.id, .rate_mb_s = rate_mb_s};
}

/* A VM that writes to its memory faster than it is copied, and is not slowed down meanwhile: its migration
 * has no end, so that it is tried only where the VM must leave. */
static void hold_endless(const struct filling *f, const struct policy *policy, struct seen_vm *v)
{
    const struct seen_host *h = v->host ? idmap_get(&f->hosts, v->host) : NULL;
    const double known = h ? h->is.migration_rate_mb_s : UNKNOWN;
    double rate = isnan(known) ? policy->migration_rate_mb_s : known;
    struct migration_model m;

    if (v->copy_most_mb_s > 0 && v->copy_most_mb_s < rate)
        rate = v->copy_most_mb_s;
    if (!v->unthrottled || v->is.mandatory_only || isnan(v->is.dirty_mb_s) || v->is.state != VM_ON ||
        !(rate > 0))
        return;
    migration_model(v->is.consumed_mb, v->is.dirty_mb_s, rate, &m);
    if (!m.converges)
        v->is.mandatory_only =
            arena_printf(f->a, "memory that it writes to at %.0f MiB/s, while it is copied at %.0f MiB/s",
                         v->is.dirty_mb_s, rate);
}

/* What the source says itself stands. */
static void fill(void *piece, const struct knowledge_context *c, struct inventory *inv, struct arena *a)
{
    const struct migration_stats *l = piece;
    struct filling f = {.inv = inv, .a = a};

    for (size_t i = 0; i < inv->n_hosts; i++) {
        struct host_facts *h = &inv->hosts[i].is;

        if (!h->id)
            continue;
        *idmap_slot(&f.hosts, h->id) = &inv->hosts[i];
        if (isnan(h->migration_rate_mb_s))
            h->migration_rate_mb_s = migration_stats_host_rate(l, h->id);
    }
    for (size_t i = 0; i < inv->n_vms; i++) {
        struct vm_facts *v = &inv->vms[i].is;

        if (v->id && isnan(v->dirty_mb_s))
            v->dirty_mb_s = migration_stats_dirty(l, v->id);
        hold_endless(&f, &c->settings->policy, &inv->vms[i]);
    }
    if (inv->n_migration_rates == 0)
        migration_stats_each_pair(l, add_pair, &f);
    idmap_release(&f.hosts, NULL);
}

static bool is_dirty(const void *piece)
{
    const struct migration_stats *l = piece;

    return l->n_taught > 0;
}

static int put_taught(const struct migration_stats *l, const struct taught *m, const struct store_ops *ops,
                      struct store *s, struct err *err)
{
    const char *const pairs[][2] = {{m->from, m->to}, {m->from, ""}, {m->to, ""}, {NO_END, m->vm}};
    struct rate_record rate;
    struct dirty_record dirty;
    int r;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (migration_stats_rate_record(l, pairs[i][0], pairs[i][1], &rate) &&
            (r = ops->put(s, &(struct record){RECORD_RATE, .rate = &rate}, err)) < 0)
            return r;
    }
    return migration_stats_dirty_record(l, m->vm, &dirty)
               ? ops->put(s, &(struct record){RECORD_DIRTY, .dirty = &dirty}, err)
               : 0;
}

static int persist(const void *piece, const struct store_ops *ops, struct store *s, struct err *err)
{
    const struct migration_stats *l = piece;
    int r = 0;

    for (size_t i = 0; r == 0 && i < l->n_taught; i++)
        r = put_taught(l, &l->taught[i], ops, s, err);
    return r;
}

static void stored(void *piece)
{
    taught_clear(piece);
}

static void recall(void *piece, const struct stored *s, instant_s now)
{
    (void)now;
    for (size_t i = 0; i < s->n_rates; i++)
        migration_stats_recall_rate(piece, &s->rates[i]);
    for (size_t i = 0; i < s->n_dirties; i++)
        migration_stats_recall_dirty(piece, &s->dirties[i]);
    for (size_t i = 0; i < s->n_actions; i++)
        migration_stats_take_overhead(piece, &s->actions[i]);
}

static void forget(void *piece, const struct retention *keep, instant_s now)
{
    (void)now;
    migration_stats_forget(piece, keep->learned_before);
}

static void *create(void)
{
    return migration_stats_new();
}

static void release(void *piece)
{
    migration_stats_free(piece);
}

const struct knowledge_ops migration_stats_ops = {
    .create = create,
    .release = release,
    .fill = fill,
    .is_dirty = is_dirty,
    .persist = persist,
    .stored = stored,
    .recall = recall,
    .forget = forget,
};
